// SPDX-License-Identifier: BSD-2-Clause
/*
 * Background work of HPX that posts tasks: prints "children N". The work is what networks' progress is in a distributed
 * HPX: called again and again by a task of its own on each worker, which lasts as long as the worker does.
 */
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/thread.hpp>

#include <atomic>
#include <cstddef>
#include <cstdio>

namespace {

	constexpr int enough = 10;
	std::atomic<int> wanted{0}, posted{0}, ran{0};

	void child_of_background_work()
	{
		++ran;
	}

	bool works(std::size_t)
	{
		if (posted.load() >= wanted.load() || posted++ >= wanted.load())
			return false;
		hpx::post(&child_of_background_work);
		return true;
	}
}    // namespace

int hpx_main()
{
	wanted = enough;
	while (ran.load() < enough)
		hpx::this_thread::yield();
	std::printf("children %d\n", ran.load());
	return hpx::local::finalize();
}

int main(int argc, char** argv)
{
	hpx::local::init_params params;

	params.rp_callback = [](hpx::resource::partitioner& partitioner, hpx::program_options::variables_map const&) {
		partitioner.create_thread_pool("default", hpx::resource::scheduling_policy::local_priority_fifo,
		    hpx::threads::policies::scheduler_mode::default_, &works);
	};
	return hpx::local::init(hpx_main, argc, argv, params);
}
