// SPDX-License-Identifier: BSD-2-Clause
/*
 * What HPX's performance counter of active continuations says, from inside and outside of continuations:
 * prints "before B inside I after A cumulative C", where I is the most that three nested ones saw.
 */
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/modules/tracing.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>

static std::int64_t nested(int depth)
{
	hpx::promise<void> promise;
	auto done = promise.get_future().then(hpx::launch::sync, [depth](hpx::future<void>) {
		std::int64_t const seen = hpx::tracing::active_continuations();
		return depth > 1 ? std::max(seen, nested(depth - 1)) : seen;
	});

	promise.set_value();
	return done.get();
}

int hpx_main()
{
	/* nobody asked for the counter yet */
	nested(3);
	std::int64_t const before = hpx::tracing::cumulative_continuations(false);
	/* what the creation of the counter does, from inside a continuation that it must not miss the end of */
	hpx::promise<void> promise;
	auto starts = promise.get_future().then(
	    hpx::launch::sync, [](hpx::future<void>) { hpx::tracing::count_continuations(); });
	promise.set_value();
	starts.get();
	std::int64_t const inside = nested(3);
	std::int64_t const after = hpx::tracing::active_continuations();

	std::printf("before %ld inside %ld after %ld cumulative %ld\n", static_cast<long>(before),
	    static_cast<long>(inside), static_cast<long>(after),
	    static_cast<long>(hpx::tracing::cumulative_continuations(false)));
	return hpx::local::finalize();
}

int main(int argc, char** argv)
{
	hpx::local::init_params params;
	return hpx::local::init(hpx_main, argc, argv, params);
}
