// SPDX-License-Identifier: BSD-2-Clause
/* InstProf's two macros, as its manual says: 3 threads, each 40 items in 4 rounds; and recursion. */
#include "instprof.h"
#include <thread>

static volatile int sink;

static void item()
{
	IP_FUNC_SCOPE();
	sink = sink + 1;
}

static void rounds()
{
	IP_FUNC_SCOPE();
	for (int i = 0; i < 4; i++) {
		IP_NAMED_SCOPE("round");
		for (int k = 0; k < 10; k++)
			item();
	}
}

static int recurse(int depth)
{
	IP_NAMED_SCOPE("recurse");
	return depth ? recurse(depth - 1) : 0;
}

int main()
{
	IP_FUNC_SCOPE();
	std::thread a(rounds), b(rounds);

	rounds();
	a.join();
	b.join();
	return recurse(7);
}
