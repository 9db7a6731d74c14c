// SPDX-License-Identifier: BSD-2-Clause
/* Two pools of HPX, one with a worker of its own, each with tasks: prints "tasks N", how many each pool gets. */
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/modules/executors.hpp>
#include <hpx/modules/resource_partitioner.hpp>
#include <hpx/modules/runtime_local.hpp>
#include <hpx/modules/threadmanager.hpp>

#include <cstdio>
#include <vector>

static int in_the_default_pool()
{
	return 1;
}

static long in_the_other_pool()
{
	return 2;
}

int hpx_main()
{
	constexpr int count = 30;
	hpx::execution::parallel_executor other(&hpx::resource::get_thread_pool("other"));
	std::vector<hpx::future<int>> here;
	std::vector<hpx::future<long>> there;

	for (int i = 0; i < count; i++)
	{
		here.push_back(hpx::async(&in_the_default_pool));
		there.push_back(hpx::async(other, &in_the_other_pool));
	}
	hpx::wait_all(here);
	hpx::wait_all(there);
	std::printf("tasks %d\n", count);
	return hpx::local::finalize();
}

int main(int argc, char** argv)
{
	hpx::local::init_params params;

	params.rp_callback = [](hpx::resource::partitioner& partitioner, hpx::program_options::variables_map const&) {
		partitioner.create_thread_pool("other", hpx::resource::scheduling_policy::static_);
		partitioner.add_resource(partitioner.numa_domains()[0].cores()[0].pus()[0], "other");
	};
	return hpx::local::init(hpx_main, argc, argv, params);
}
