/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer: a binary that may be anything. It is handed over as a file, as the tracer gets it.
 * The first seeds are real: the folder tests/fuzz/corpus is not needed, any ELF file will do.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "capture/binary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct binary *binary;
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	binary = binary__open(path, NULL);
	if (binary) {
		unsigned char *image = malloc(binary->image_size + 1);

		if (image)
			binary__image(binary, image);
		free(image);
	}
	binary__free(binary);
	close(fd);
	return 0;
}
