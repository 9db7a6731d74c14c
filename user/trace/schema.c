// SPDX-License-Identifier: BSD-2-Clause
/* What records look like: from events.def, and from the capture for events that came later. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "schema.h"

#define ARGS_MAX 16 /* of a row in a text; events show the first EVENT_ARGS */

struct builtin {
	uint8_t number;
	const char *name;
	const char *category;
	const char *args[EVENT_ARGS * 2]; /* type, name */
};

static const struct builtin builtins[] = {
#define TRACER_EVENT0(n, name, category, by, doc) {n, #name, #category, {0}},
#define TRACER_EVENT1(n, name, category, by, t1, a1, doc) {n, #name, #category, {#t1, #a1}},
#define TRACER_EVENT2(n, name, category, by, t1, a1, t2, a2, doc) \
	{n, #name, #category, {#t1, #a1, #t2, #a2}},
#define TRACER_EVENT3(n, name, category, by, t1, a1, t2, a2, t3, a3, doc) \
	{n, #name, #category, {#t1, #a1, #t2, #a2, #t3, #a3}},
#define TRACER_EVENT4(n, name, category, by, t1, a1, t2, a2, t3, a3, t4, a4, doc) \
	{n, #name, #category, {#t1, #a1, #t2, #a2, #t3, #a3, #t4, #a4}},
#include "../../usdt/tracer/events.def"
};

static const struct event_schema own[] = {
	{EV_process, 2, "process", "trace", {"name", "cmdline"}, {'s', 's'}},
	{EV_fork, 1, "fork", "trace", {"parent"}, {'u'}},
	{EV_exec, 0, "exec", "trace", {0}, {0}},
	{EV_thread_exit, 0, "thread_exit", "trace", {0}, {0}},
	{EV_process_exit, 1, "process_exit", "trace", {"status"}, {'n'}},
	{EV_lost, 4, "lost", "trace", {"records", "from", "to", "cause"}, {'q', 'q', 'q', 'u'}},
	{EV_off_cpu, 4, "off_cpu", "sched", {"cpu", "state", "next", "comm"}, {'u', 'u', 'u', 's'}},
	{EV_on_cpu, 4, "on_cpu", "sched", {"cpu", "prio", "comm", "prev"}, {'u', 'n', 's', 'u'}},
	{EV_waking,
	 4,
	 "waking",
	 "sched",
	 {"waker", "comm", "cpu", "interrupt"},
	 {'u', 's', 'u', 'u'}},
	{EV_foreign_off_cpu,
	 4,
	 "foreign_off_cpu",
	 "sched",
	 {"cpu", "state", "next", "comm"},
	 {'u', 'u', 'u', 's'}},
	{EV_foreign_on_cpu,
	 4,
	 "foreign_on_cpu",
	 "sched",
	 {"cpu", "prio", "comm", "prev"},
	 {'u', 'n', 's', 'u'}},
	{EV_sched_lost, 2, "sched_lost", "sched", {"events", "cpu"}, {'q', 'u'}},
	{EV_task_known, 3, "task_known", "trace", {"task", "name", "parent"}, {'i', 's', 'i'}},
	{EV_task_state,
	 4,
	 "task_state",
	 "trace",
	 {"task", "state", "reason", "object"},
	 {'i', 'u', 's', 'i'}},
	{EV_task_waits, 3, "task_waits", "trace", {"task", "reason", "object"}, {'i', 's', 'i'}},
	{EV_handler_created,
	 4,
	 "handler_created",
	 "trace",
	 {"handler", "operation", "path", "native"},
	 {'i', 's', 's', 'q'}},
	{EV_handler_invoked,
	 4,
	 "handler_invoked",
	 "trace",
	 {"handler", "error", "value", "args"},
	 {'i', 's', 'q', 'u'}},
	{EV_handler_left, 2, "handler_left", "trace", {"handler", "how"}, {'i', 'u'}},
	{EV_handler_syscall,
	 4,
	 "handler_syscall",
	 "trace",
	 {"handler", "call", "error", "bytes"},
	 {'i', 's', 's', 'q'}},
	{EV_handler_operation,
	 3,
	 "handler_operation",
	 "trace",
	 {"object", "operation", "native"},
	 {'i', 's', 'q'}},
	{EV_pause, 1, "pause", "trace", {"paused"}, {'u'}},
	{EV_worker_known, 2, "worker_known", "trace", {"worker", "name"}, {'u', 's'}},
	{EV_end, 0, "end", "trace", {0}, {0}},
};

static const struct {
	const char *name;
	char letter;
	uint8_t size;
} types[] = {
	{"id", 'i', 8},	 {"u32", 'u', 4}, {"u64", 'q', 8},
	{"num", 'n', 8}, {"str", 's', 8}, {"lit", 'l', 4},
};

/* adds an argument to a row; false: its type is not known, so neither is the size of the row */
static bool row__add(struct schema_row *row, unsigned int *args, unsigned int *size,
		     const char *type, size_t type_len, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strlen(types[i].name) == type_len && !memcmp(types[i].name, type, type_len))
			break;
	}
	if (i == sizeof(types) / sizeof(types[0]) || *args == ARGS_MAX)
		return false;
	*size = (*size + types[i].size - 1U) / types[i].size * types[i].size;
	if (*args < EVENT_ARGS) {
		row->event.arg_types[*args] = types[i].letter;
		row->event.arg_names[*args] = name;
		row->offsets[*args] = *size;
		row->event.nargs = *args + 1;
	}
	*size += types[i].size;
	(*args)++;
	return true;
}

static void schema__put(struct schema *schema, const struct schema_row *row, unsigned int size)
{
	unsigned int number = row->event.type;
	bool has_num = memchr(row->event.arg_types, 'n', row->event.nargs) != NULL;

	size = (size + 7) & ~7U;
	schema->rows[number] = *row;
	schema->sizes[number] = size;
	if (has_num && number + 1 < SCHEMA_TYPES && !schema->sizes[number + 1]) {
		schema->rows[number + 1] = *row;
		schema->rows[number + 1].real = true;
		schema->sizes[number + 1] = size;
	}
}

void schema__init(struct schema *schema)
{
	const struct builtin *from;
	unsigned int args, size;
	struct schema_row row;
	size_t i;

	memset(schema, 0, sizeof(*schema));
	for (i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++) {
		from = &builtins[i];
		memset(&row, 0, sizeof(row));
		row.event.type = from->number;
		row.event.name = from->name;
		row.event.category = from->category;
		size = 8;
		for (args = 0; args < EVENT_ARGS && from->args[args * 2];)
			row__add(&row, &args, &size, from->args[args * 2],
				 strlen(from->args[args * 2]), from->args[args * 2 + 1]);
		schema__put(schema, &row, size);
	}
}

void schema__ask(struct schema *schema, uint32_t categories)
{
	static const struct {
		const char *name;
		unsigned int number;
	} known[] = {
#define TRACER_CATEGORY(number, name, doc) {#name, number},
#include "../../usdt/tracer/events.def"
	};
	const char *category;
	size_t i, k;

	for (i = 0; i < SCHEMA_TYPES; i++) {
		category = schema->rows[i].event.category;
		if (!category || !strcmp(category, "capture"))
			continue;
		for (k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
			if (!strcmp(category, known[k].name))
				schema->rows[i].unasked = !(categories & 1U << known[k].number);
		}
	}
}

/* next word of a line; its length, 0 at the end */
static size_t word(const char **at, const char *end, const char **start)
{
	while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
		(*at)++;
	*start = *at;
	while (*at < end && **at != ' ' && **at != '\t' && **at != '\r')
		(*at)++;
	return *at - *start;
}

/* names of a capture end up in other files and on terminals */
static bool is_name(const char *start, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (!isalnum((unsigned char)start[i]) && start[i] != '_')
			return false;
	}
	return len > 0 && len < 64;
}

/* "19 task_begin task arg1 id:task u32:worker"; returns the record's size, 0: no valid row */
static unsigned int row__parse(struct schema_row *row, struct strings *strings, const char *at,
			       const char *end)
{
	unsigned int args = 0, size = 8, number = 0;
	const char *start, *colon;
	size_t len, i;

	memset(row, 0, sizeof(*row));
	len = word(&at, end, &start);
	for (i = 0; i < len && i < 4; i++) {
		if (start[i] < '0' || start[i] > '9')
			return 0;
		number = number * 10 + (start[i] - '0');
	}
	if (len == 0 || len > 3 || number < SCHEMA_FIRST || number >= SCHEMA_TYPES)
		return 0;
	row->event.type = number;
	len = word(&at, end, &start);
	if (!is_name(start, len))
		return 0;
	row->event.name = strings__add(strings, start, len);
	len = word(&at, end, &start);
	if (!is_name(start, len))
		return 0;
	row->event.category = strings__add(strings, start, len);
	word(&at, end, &start); /* sampled_by */
	while ((len = word(&at, end, &start))) {
		colon = memchr(start, ':', len);
		if (!colon || !is_name(colon + 1, start + len - colon - 1) ||
		    !row__add(row, &args, &size, start, colon - start,
			      strings__add(strings, colon + 1, start + len - colon - 1)))
			return 0;
	}
	return (size + 7) & ~7U;
}

static bool row__extends(const struct schema_row *row, const struct schema_row *known)
{
	return row->event.nargs >= known->event.nargs &&
	       !memcmp(row->event.arg_types, known->event.arg_types, known->event.nargs);
}

void schema__learn(struct schema *schema, struct strings *strings, const char *text, size_t len,
		   uint16_t sizes[SCHEMA_TYPES])
{
	const char *at, *end, *stop = text + strnlen(text, len);
	uint16_t own[SCHEMA_TYPES] = {0};
	struct schema_row row, *known;
	unsigned int size, number;

	for (at = text; at < stop; at = end + 1) {
		end = memchr(at, '\n', stop - at);
		if (!end)
			end = stop;
		size = row__parse(&row, strings, at, end);
		if (!size)
			continue;
		number = row.event.type;
		known = &schema->rows[number];
		if (!schema->sizes[number]) {
			schema__put(schema, &row, size);
		} else if (size > schema->sizes[number] && !known->real &&
			   row__extends(&row, known)) {
			own[number] = size;
			if (number + 1 < SCHEMA_TYPES && schema->rows[number + 1].real)
				own[number + 1] = size;
		}
	}
	memcpy(sizes, schema->sizes, sizeof(schema->sizes));
	for (number = 0; number < SCHEMA_TYPES; number++) {
		if (own[number])
			sizes[number] = own[number];
	}
}

const struct event_schema *schema__own(uint16_t type)
{
	return type >= EV_process && type <= EV_end ? &own[type - EV_process] : NULL;
}
