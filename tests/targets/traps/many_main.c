// SPDX-License-Identifier: BSD-2-Clause
/* many_main LIBRARY...: loads libraries with points and uses each from two threads. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static void (*used[256])(uint64_t, uint64_t);
static int count;

static void *user(void *argument)
{
	for (int i = 0; i < count; i++)
		used[i](0, 10);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	for (count = 0; count + 1 < argc; count++) {
		void *library = dlopen(argv[count + 1], RTLD_NOW);

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		used[count] = (void (*)(uint64_t, uint64_t))(uintptr_t)dlsym(library, "plugin_count");
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, user, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
