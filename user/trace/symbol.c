// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names for code. DWARF tells functions with those inlined in them, and lines; the symbol table
 * tells functions where there is no DWARF.
 */
#include "symbol.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* as in <cxxabi.h> */
typedef char *demangle_function(const char *name, char *buffer, size_t *size, int *status);

/*
 * The C++ library has it. It is looked for when it is needed: the command is C, and a machine
 * without a C++ library has the mangled names.
 */
static demangle_function *find_demangler(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	void *function = library ? dlsym(library, "__cxa_demangle") : NULL;
	demangle_function *result;

	if (!function && library)
		dlclose(library);
	memcpy(&result, &function, sizeof(result)); /* ISO C has no cast for it */
	return result;
}

/* Rust's first scheme ends in a hash that says nothing to people: ::h0123456789abcdef */
static size_t length_without_hash(const char *name)
{
	size_t length = strlen(name);
	const char *hash = length > 19 ? name + length - 19 : NULL;

	if (hash && !strncmp(hash, "::h", 3) && strspn(hash + 3, "0123456789abcdef") == 16)
		return length - 19;
	return length;
}

const char *symbol__name(const char *mangled, struct strings *strings)
{
	demangle_function *demangle;
	const char *result;
	char *name = NULL;
	int status = -1;

	if (strncmp(mangled, "_Z", 2) != 0)
		return strings__add(strings, mangled, strlen(mangled));
	demangle = find_demangler();
	if (demangle)
		name = demangle(mangled, NULL, NULL, &status);
	if (status)
		return strings__add(strings, mangled, strlen(mangled));
	result = strings__add(strings, name, length_without_hash(name));
	free(name);
	return result;
}

/* --- DWARF --- */

/* .debug_aranges has it at once, if the compiler made one (clang does not) */
static bool unit_at(Dwarf *dwarf, uint64_t address, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	if (dwarf_addrdie(dwarf, address, unit))
		return true;
	while (!dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, NULL))
		if (dwarf_haspc(&die, address) > 0) {
			*unit = die;
			return true;
		}
	return false;
}

static const char *die__name(Dwarf_Die *die, struct strings *strings)
{
	Dwarf_Attribute memory;
	const char *name;

	name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &memory));
	if (!name)
		name = dwarf_formstring(
			dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &memory));
	if (!name)
		name = dwarf_diename(die);
	return name ? symbol__name(name, strings) : NULL;
}

static void frame__set_line(struct trace_frame *frame, Dwarf_Die *unit, uint64_t address,
			    struct strings *strings)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;

	if (!file || dwarf_lineno(line, &frame->line))
		return;
	frame->file = strings__add(strings, file, strlen(file));
}

/* where an inlined function was called: a line of the function around it */
static void frame__set_call(struct trace_frame *frame, Dwarf_Die *unit, Dwarf_Die *inlined,
			    struct strings *strings)
{
	Dwarf_Attribute memory;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	const char *name;
	size_t count;

	frame->file = NULL;
	frame->line = 0;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &memory), &line) ||
	    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &memory), &file) ||
	    dwarf_getsrcfiles(unit, &files, &count) || file >= count)
		return;
	name = dwarf_filesrc(files, file, NULL, NULL);
	if (!name)
		return;
	frame->file = strings__add(strings, name, strlen(name));
	frame->line = (int)line;
}

/* the scopes that hold the address, from the innermost out */
static int scopes_at(Dwarf_Die *unit, uint64_t address, Dwarf_Die **scopes)
{
	Dwarf_Die *lexical = NULL;
	int count = dwarf_getscopes(unit, address, &lexical);

	*scopes = NULL;
	if (count <= 0)
		return 0;
	/* those of an inlined function's source; ours are those around its code */
	count = dwarf_getscopes_die(&lexical[0], scopes);
	free(lexical);
	return count > 0 ? count : 0;
}

static size_t frames_by_dwarf(const struct object *object, uint64_t address,
			      struct trace_frame *frames, struct strings *strings)
{
	Dwarf_Die unit, *scopes, *inner = NULL;
	size_t count = 0;
	int scope_count;

	if (!object->dwarf || !unit_at(object->dwarf, address, &unit))
		return 0;
	scope_count = scopes_at(&unit, address, &scopes);
	for (int i = 0; i < scope_count && count < SYMBOL_INLINED_MAX; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		if (inner)
			frame__set_call(&frames[count], &unit, inner, strings);
		else
			frame__set_line(&frames[count], &unit, address, strings);
		frames[count].function = die__name(&scopes[i], strings);
		frames[count].inlined = tag == DW_TAG_inlined_subroutine;
		inner = &scopes[i];
		count++;
		if (tag == DW_TAG_subprogram)
			break;
	}
	free(scopes);
	return count;
}

size_t symbol__frames(const struct object *object, uint64_t address, struct trace_frame *frames,
		      struct strings *strings)
{
	const struct object_symbol *symbol = object__symbol(object, address);
	size_t count;

	memset(frames, 0, SYMBOL_INLINED_MAX * sizeof(*frames));
	count = frames_by_dwarf(object, address, frames, strings);
	if (!count)
		count = 1;
	if (!frames[count - 1].function && symbol)
		frames[count - 1].function = symbol__name(symbol->name, strings);
	for (size_t i = 0; i < count; i++) {
		frames[i].binary = strings__add(strings, object->path, strlen(object->path));
		frames[i].build_id =
			strings__add(strings, object->build_id, strlen(object->build_id));
		frames[i].address = address;
	}
	return count;
}
