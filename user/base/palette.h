/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colours of markers. A name has the colour that the program gave it; a name without one takes the
 * next of a fixed palette, in the order in which such names are first asked for: the same capture
 * has the same colours in every format.
 */
#ifndef TRACER_BASE_PALETTE_H
#define TRACER_BASE_PALETTE_H

#include <stdbool.h>
#include <stdint.h>
#include "map.h"

#define PALETTE_COLORS 22U

struct palette {
	struct map by_name; /* names are interned: their addresses tell */
	uint32_t taken;	    /* of the fixed colours, so far */
	uint32_t limit;	    /* names that are remembered; those beyond share the first colour */
};

/* a fixed colour, 0xrrggbb; those of Paraver's first states, so that the formats look alike */
uint32_t palette__fixed(uint32_t index);
/* the program gives @name a colour; 0 or -ENOMEM */
int palette__set(struct palette *palette, const char *name, uint32_t rgb);
/* the colour of @name; @given receives whether the program gave it, may be NULL */
uint32_t palette__get(struct palette *palette, const char *name, bool *given);
void palette__free(struct palette *palette);

#endif /* TRACER_BASE_PALETTE_H */
