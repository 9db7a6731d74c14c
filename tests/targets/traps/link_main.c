// SPDX-License-Identifier: BSD-2-Clause
/* Records 100 values of a counter called as the program was: what came through its linking. */
#include <stdint.h>
#include <string.h>
#include <tracer/tracer.h>

#ifdef LIBRARIES
void library_c(void);
void library_cxx(void);
#endif

/* nobody calls it: its probe goes with it if sections are collected */
void never_called(void);
void never_called(void)
{
	TRACER_FRAME("dead");
}

int main(int argc, char **argv)
{
	const char *name = argc > 0 && strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];

	for (uint64_t i = 0; i < 100; i++) {
		TRACER_COUNTER(name, i);
		TRACER_TASK_CREATED(i + 1, "a literal", 0);
	}
#ifdef LIBRARIES
	library_c();
	library_cxx();
#endif
	return 0;
}
