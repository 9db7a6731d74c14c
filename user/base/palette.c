// SPDX-License-Identifier: BSD-2-Clause
#include "palette.h"

#define LIMIT 65536U
#define GIVEN (1ULL << 33) /* and bit 32: black is a colour too, but no pointer */
#define THERE (1ULL << 32)

static const uint32_t fixed[PALETTE_COLORS] = {
	0x0082c8, 0xe6194b, 0x3cb44b, 0xffe119, 0xf58230, 0x911eb4, 0x46f0f0, 0xf032e6,
	0xd2f53c, 0xfabed4, 0x008080, 0xdcbeff, 0xaa6e28, 0xfffac8, 0x800000, 0xaaffc3,
	0x808000, 0xffd7b4, 0x000080, 0x808080, 0xd9d9d9, 0x0000ff,
};

uint32_t palette__fixed(uint32_t index)
{
	return fixed[index % PALETTE_COLORS];
}

int palette__set(struct palette *palette, const char *name, uint32_t rgb)
{
	uint64_t value = (rgb & 0xffffff) | THERE | GIVEN;

	if (palette->by_name.count >= (palette->limit ? palette->limit : LIMIT) &&
	    !map__get(&palette->by_name, (uintptr_t)name, 0))
		return 0;
	return map__put(&palette->by_name, (uintptr_t)name, 0, (void *)(uintptr_t)value);
}

uint32_t palette__get(struct palette *palette, const char *name, bool *given)
{
	uint64_t value = (uintptr_t)map__get(&palette->by_name, (uintptr_t)name, 0);

	if (!value && palette->by_name.count < (palette->limit ? palette->limit : LIMIT)) {
		value = palette__fixed(palette->taken++) | THERE;
		/* without memory the next one asks for its colour anew, and gets another */
		map__put(&palette->by_name, (uintptr_t)name, 0, (void *)(uintptr_t)value);
	}
	if (given)
		*given = value & GIVEN;
	return value ? (uint32_t)value & 0xffffff : palette__fixed(0);
}

void palette__free(struct palette *palette)
{
	map__free(&palette->by_name);
}
