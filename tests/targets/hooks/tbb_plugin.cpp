// SPDX-License-Identifier: BSD-2-Clause
/*
 * For hooks_tbb.py: with -DPLUGIN a library with work for oneTBB, without it the program that loads
 * it, which knows of no C++ library itself.
 */
#ifdef PLUGIN
#include <atomic>
#include <tbb/task_group.h>

extern "C" int work(int count)
{
	std::atomic<int> done{0};
	tbb::task_group group;

	for (int i = 0; i < count; i++)
		group.run([&done] { done++; });
	group.wait();
	return done;
}
#else
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*work)(int) = plugin ? (int (*)(int))dlsym(plugin, "work") : NULL;

	if (!work)
		return 1;
	printf("%d\n", work(100));
	return 0;
}
#endif
