// SPDX-License-Identifier: BSD-2-Clause
/* Tasks of HPX without a stack of their own, and one forked: prints "stackless N". */
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/latch.hpp>
#include <hpx/thread.hpp>

#include <cstdio>

static int forked()
{
	return 1;
}

int hpx_main()
{
	constexpr int count = 20;
	hpx::latch latch(count + 1);

	for (int i = 0; i < count; i++)
	{
		hpx::threads::thread_init_data data(
		    hpx::threads::make_thread_function_nullary([&latch] { latch.count_down(1); }), "stackless",
		    hpx::threads::thread_priority::normal, hpx::threads::thread_schedule_hint(),
		    hpx::threads::thread_stacksize::nostack);
		hpx::threads::register_work(data);
	}
	latch.arrive_and_wait();
	hpx::async(hpx::launch::fork, &forked).get();
	std::printf("stackless %d\n", count);
	return hpx::local::finalize();
}

int main(int argc, char** argv)
{
	hpx::local::init_params params;
	return hpx::local::init(hpx_main, argc, argv, params);
}
