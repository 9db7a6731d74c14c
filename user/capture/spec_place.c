// SPDX-License-Identifier: BSD-2-Clause
/*
 * Places of probes.
 *
 * A return is probed at each instruction that leaves the function: its rets, and jumps to the begin
 * of another function (whose own return is then the return here; there is no result yet). The
 * kernel's own return probes replace return addresses, which runtimes that move or walk stacks do
 * not survive: Go's, and C++ exceptions. The price is that the function's code has to be decoded.
 *
 * A probe at a function's begin may stand some instructions later, if those change nothing that it
 * reads and nothing jumps in between: on an instruction that the kernel emulates instead of
 * single-stepping it, which costs a third.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../base/say.h"
#include "spec_place.h"

#define CODE_MAX (4U << 20)
#define MOVE_MAX 16 /* instructions */

struct search {
	struct places *places;
	const struct spec_probe *probe;
	struct symbols *symbols;
	bool nop5_is_call;
	int error;
};

static void places__say(struct places *places, char *why)
{
	if (places->why)
		free(why);
	else
		places->why = why;
}

static void search__add(struct search *search, const struct place *place)
{
	struct places *places = search->places;
	struct place *more;
	uint64_t offset;

	if (!symbols__offset(search->symbols, place->address, &offset))
		return;
	more = reallocarray(places->all, places->count + 1, sizeof(*more));
	if (!more) {
		search->error = -ENOMEM;
		return;
	}
	places->all = more;
	more[places->count] = *place;
	more[places->count++].offset = offset;
}

static bool decode_at(struct symbols *symbols, uint64_t address, struct insn *insn)
{
	uint8_t bytes[16];
	size_t size = symbols__read(symbols, address, bytes, sizeof(bytes));

	return size && insn__decode(symbols__machine(symbols), bytes, size, address, insn);
}

static bool is_refused(const struct search *search, const struct insn *insn)
{
	return insn->cost == INSN_REFUSED && (search->nop5_is_call || insn->kind == INSN_TRAP);
}

/* is @address where an instruction begins? Only if the function can be decoded up to there */
static bool is_boundary(struct symbols *symbols, uint64_t begin, uint64_t address)
{
	struct insn insn;

	while (begin < address && decode_at(symbols, begin, &insn))
		begin += insn.len;
	return begin == address;
}

static void entry__take(void *ctx, const struct symbol *symbol)
{
	struct search *search = ctx;
	struct place place = {
		.address = symbol->address + search->probe->offset,
		.begin = symbol->address,
		.function = search->places->functions++,
	};
	struct insn insn;

	if (search->probe->offset &&
	    !is_boundary(search->symbols, symbol->address, place.address)) {
		places__say(search->places,
			    sentence__new("%s+%llu is not where an instruction begins",
					  symbol->name, (unsigned long long)search->probe->offset));
		return;
	}
	if (!decode_at(search->symbols, place.address, &insn)) {
		places__say(search->places,
			    sentence__new("%s: its code can't be read", symbol->name));
		return;
	}
	place.cost = insn.cost;
	if (insn.cost == INSN_UNFIT && search->probe->offset) {
		places__say(search->places,
			    sentence__new("%s+%llu has a prefix that the kernel takes no probe on",
					  symbol->name, (unsigned long long)search->probe->offset));
		return;
	}
	if (is_refused(search, &insn) && search->probe->offset) {
		places__say(search->places,
			    sentence__new("%s+%llu is a 5-byte nop, on which this kernel's probes "
					  "damage the program",
					  symbol->name, (unsigned long long)search->probe->offset));
		return;
	}
	search__add(search, &place);
}

/*
 * A jump that leaves the function for good: to the begin of another one, not to its own cold part.
 * Where no symbol tells the two apart: once the frame is gone there is nothing to come back to.
 */
static bool leaves(struct search *search, const struct symbol *symbol, uint64_t end,
		   uint64_t target, bool has_frame)
{
	const struct symbol *other;
	size_t len = strlen(symbol->name);

	if (target >= symbol->address && target < end)
		return false;
	other = symbols__at(search->symbols, target);
	if (!other)
		return !has_frame || symbols__is_stub(search->symbols, target);
	if (!strncmp(other->name, symbol->name, len) && !strncmp(other->name + len, ".cold", 5))
		return false;
	return other->address == target;
}

static void returns__take(struct search *search, const struct symbol *symbol, const uint8_t *code,
			  size_t size)
{
	uint32_t function = search->places->functions - 1;
	size_t at = 0, before = search->places->count;
	bool pushes = false, pops = false;
	struct insn insn;

	while (at < size) {
		uint64_t address = symbol->address + at;

		if (!insn__decode(symbols__machine(search->symbols), code + at, size - at, address,
				  &insn)) {
			places__say(search->places,
				    sentence__new("%s: its code is not understood at "
						  "+%zu: returns behind are missing",
						  symbol->name, at));
			break;
		}
		if (insn.kind == INSN_RETURN ||
		    (insn.kind == INSN_JUMP &&
		     leaves(search, symbol, symbol->address + size, insn.target, pushes && !pops)))
			search__add(search, &(struct place){
						    .address = address,
						    .begin = symbol->address,
						    .function = function,
						    .no_retval = insn.kind == INSN_JUMP,
						    .cost = insn.cost,
					    });
		pushes |= insn.stack > 0;
		pops = insn.stack < 0;
		at += insn.len;
	}
	if (search->places->count == before)
		places__say(search->places, sentence__new("%s has no return", symbol->name));
}

static void return__take(void *ctx, const struct symbol *symbol)
{
	struct search *search = ctx;
	size_t size = symbol->size < CODE_MAX ? symbol->size : CODE_MAX;
	struct insn first;
	uint8_t *code;

	search->places->functions++;
	if (!size) {
		places__say(search->places, sentence__new("%s: where it ends is not known, so "
							  "neither are its returns",
							  symbol->name));
		return;
	}
	code = malloc(size);
	if (!code) {
		search->error = -ENOMEM;
		return;
	}
	size = symbols__read(search->symbols, symbol->address, code, size);
	if (search->probe->entry_count)
		search__add(search,
			    &(struct place){
				    .address = symbol->address,
				    .begin = symbol->address,
				    .function = search->places->functions - 1,
				    .saves_entry = true,
				    .cost = decode_at(search->symbols, symbol->address, &first)
						    ? first.cost
						    : INSN_STEPPED,
			    });
	returns__take(search, symbol, code, size);
	free(code);
}

static void usdt__take(struct search *search, const struct binary_usdt *usdt)
{
	struct place place = {
		.address = usdt->address,
		.count = usdt->semaphore,
		.args = usdt->args ? usdt->args : "",
		.function = search->places->functions++,
	};
	struct insn insn;

	if (!decode_at(search->symbols, usdt->address, &insn)) {
		places__say(search->places, sentence__new("%s:%s: its code can't be read",
							  usdt->provider, usdt->name));
		return;
	}
	place.cost = insn.cost;
	if (is_refused(search, &insn)) {
		places__say(search->places,
			    sentence__new("%s:%s stands on a 5-byte nop, on which this kernel's "
					  "probes damage the program",
					  usdt->provider, usdt->name));
		return;
	}
	search__add(search, &place);
}

int places__find(struct places *places, const struct spec_probe *probe, struct symbols *symbols,
		 const struct binary *binary, bool nop5_is_call)
{
	struct search search = {
		.places = places,
		.probe = probe,
		.symbols = symbols,
		.nop5_is_call = nop5_is_call,
	};
	size_t i, found = 0;

	*places = (struct places){0};
	switch (probe->kind) {
	case PLACE_ENTRY:
	case PLACE_RETURN:
		found = symbols__match(symbols, probe->pattern, probe->is_regex,
				       probe->kind == PLACE_ENTRY ? entry__take : return__take,
				       &search);
		break;
	case PLACE_USDT:
		for (i = 0; binary && i < binary->usdt_count; i++) {
			const struct binary_usdt *usdt = &binary->usdt[i];

			if (!pattern__matches(probe->provider, usdt->provider) ||
			    !pattern__matches(probe->pattern, usdt->name))
				continue;
			usdt__take(&search, usdt);
			found++;
		}
		break;
	default:
		break;
	}
	if (!found)
		places->why =
			sentence__new(probe->kind == PLACE_USDT ? "it has no such USDT probe"
				      : symbols__is_stripped(symbols)
					      ? "no such function in it, as far as a stripped "
						"binary tells"
					      : "no such function in it");
	return search.error;
}

/* does something in the function jump between its begin and there? */
static bool is_jumped_to(struct symbols *symbols, const struct symbol *symbol, uint64_t first,
			 uint64_t last)
{
	size_t size = symbol->size < CODE_MAX ? symbol->size : CODE_MAX, at = 0;
	uint8_t *code = size ? malloc(size) : NULL;
	bool found = !code;
	struct insn insn;

	if (code)
		size = symbols__read(symbols, symbol->address, code, size);
	while (!found && at < size) {
		if (!insn__decode(symbols__machine(symbols), code + at, size - at,
				  symbol->address + at, &insn))
			break;
		if ((insn.kind == INSN_JUMP || insn.kind == INSN_BRANCH) && insn.target > first &&
		    insn.target <= last)
			found = true;
		at += insn.len;
	}
	free(code);
	return found;
}

void place__move(struct place *place, struct symbols *symbols, uint64_t reads, bool nop5_is_call)
{
	const struct symbol *symbol = symbols__at(symbols, place->address);
	uint64_t address = place->address, offset;
	uint32_t shift = 0;
	struct insn insn;
	int i;

	if (symbols__machine(symbols) != EM_X86_64 || !symbol || symbol->address != address)
		return;
	for (i = 0; i < MOVE_MAX && decode_at(symbols, address, &insn); i++) {
		bool is_nop5 = insn.cost == INSN_REFUSED && nop5_is_call;

		/* of a begin and a return on one instruction the return would act first */
		if (insn.kind == INSN_JUMP)
			return;
		if (insn.cost == INSN_EMULATED)
			break;
		if (insn.kind != INSN_OTHER || (insn.writes & reads) || insn.writes == UINT64_MAX)
			return;
		shift += insn.frame;
		address += insn.len;
		if (is_nop5 && decode_at(symbols, address, &insn) && insn.cost < INSN_REFUSED)
			break;
	}
	if (i == MOVE_MAX || address == place->address ||
	    is_jumped_to(symbols, symbol, place->address, address) ||
	    !symbols__offset(symbols, address, &offset))
		return;
	place->address = address;
	place->offset = offset;
	place->cost = insn.cost;
	place->shift = shift;
}

void places__free(struct places *places)
{
	free(places->all);
	free(places->why);
	*places = (struct places){0};
}
