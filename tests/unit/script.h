/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events for the model as text, and what it tells its sinks as text.
 *
 * A script has an event a line: TIME THREAD EVENT [ARG]...
 *	TIME	microseconds, with up to three decimals
 *	THREAD	t1, t2, ...: thread 1, 2, ... of process 0 (pid 100); u1, ...: of process 1
 *	EVENT	the name in events.def without "task_", or process, fork, exec, thread_exit,
 *		process_exit, lost, finish (the end of the capture)
 *	ARG	identities: one word of letters and digits, or 0; workers: w0, w- (none);
 *		others: numbers, - for a missing string
 * Missing arguments are 0 and NULL.
 */
#ifndef TRACER_TESTS_SCRIPT_H
#define TRACER_TESTS_SCRIPT_H

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/model.h"

struct script_row {
	uint16_t type;
	const char *name;
	char types[5]; /* a letter an argument: i u q s n */
};

#define SCRIPT_TYPE_id 'i'
#define SCRIPT_TYPE_u32 'u'
#define SCRIPT_TYPE_u64 'q'
#define SCRIPT_TYPE_str 's'
#define SCRIPT_TYPE_lit 's'
#define SCRIPT_TYPE_num 'n'
#define SCRIPT_T(t) SCRIPT_TYPE_##t

static const char *script__intern(const char *text)
{
	static char *strings[512];
	size_t i = 0;

	for (; i < 511 && strings[i]; i++)
		if (!strcmp(strings[i], text))
			return strings[i];
	return strings[i] = strdup(text);
}

static const struct script_row *script__row(const char *name)
{
	static const struct script_row rows[] = {
#define TRACER_EVENT0(n, name, c, s, d) {n, #name, {0}},
#define TRACER_EVENT1(n, name, c, s, t1, a1, d) {n, #name, {SCRIPT_T(t1)}},
#define TRACER_EVENT2(n, name, c, s, t1, a1, t2, a2, d) {n, #name, {SCRIPT_T(t1), SCRIPT_T(t2)}},
#define TRACER_EVENT3(n, name, c, s, t1, a1, t2, a2, t3, a3, d) \
	{n, #name, {SCRIPT_T(t1), SCRIPT_T(t2), SCRIPT_T(t3)}},
#define TRACER_EVENT4(n, name, c, s, t1, a1, t2, a2, t3, a3, t4, a4, d) \
	{n, #name, {SCRIPT_T(t1), SCRIPT_T(t2), SCRIPT_T(t3), SCRIPT_T(t4)}},
#include "../../usdt/tracer/events.def"
		{EV_process, "process", "ss"},
		{EV_fork, "fork", "q"},
		{EV_exec, "exec", ""},
		{EV_thread_exit, "thread_exit", ""},
		{EV_process_exit, "process_exit", "q"},
		{EV_lost, "lost", "qttq"},
		{EV_on_cpu, "on_cpu", "qnsq"},
		{EV_off_cpu, "off_cpu", "qqqs"},
		{EV_waking, "waking", "qsqq"},
		{EV_foreign_on_cpu, "foreign_on_cpu", "qnsq"},
		{EV_foreign_off_cpu, "foreign_off_cpu", "qqqs"},
		{EV_sched_lost, "sched_lost", "qq"},
		{EV_end, "finish", ""},
		{200, "from_the_future", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(rows[i].name, name) ||
		    (!strncmp(rows[i].name, "task_", 5) && !strcmp(rows[i].name + 5, name)))
			return &rows[i];
	fprintf(stderr, "script: no event %s\n", name);
	abort();
}

static uint64_t script__time(const char *text)
{
	return (uint64_t)(strtod(text, NULL) * 1000 + 0.5);
}

/* a word of up to eight letters and digits is an identity that can be printed again */
static uint64_t script__identity(const char *text)
{
	uint64_t id = 0;

	if (!strcmp(text, "0"))
		return 0;
	for (; *text; text++)
		id = id << 8 | (unsigned char)*text;
	return id;
}

static inline const char *script__word(uint64_t id)
{
	static char words[8][9];
	static int next;
	char *to = words[next++ & 7], *p = to;

	for (int shift = 56; shift >= 0; shift -= 8)
		if (id >> shift & 255)
			*p++ = (char)(id >> shift & 255);
	*p = 0;
	return id ? to : "0";
}

static void script__arg(struct event *event, int n, char type, const char *text)
{
	union event_arg *arg = &event->args[n];

	switch (type) {
	case 'i':
		arg->u = script__identity(text);
		break;
	case 's':
		arg->s = strcmp(text, "-") ? script__intern(text) : NULL;
		break;
	case 't':
		arg->u = script__time(text);
		break;
	case 'n':
		event->real = strchr(text, '.') != NULL;
		if (event->real)
			arg->d = strtod(text, NULL);
		else
			arg->i = strtoll(text, NULL, 0);
		break;
	default:
		text += *text == 'w';
		arg->u = *text == '-' ? (type == 'u' ? UINT32_MAX : UINT64_MAX)
				      : strtoull(text, NULL, 0);
	}
}

static struct event script__event(char *line)
{
	char *save = NULL, *time = strtok_r(line, " \t", &save), *thread, *name, *text;
	struct event event = {0};
	const struct script_row *row;

	thread = strtok_r(NULL, " \t", &save);
	name = strtok_r(NULL, " \t", &save);
	row = script__row(name);
	event.time = script__time(time);
	event.type = row->type;
	event.nargs = (uint8_t)strlen(row->types);
	event.process = thread[0] == 'f' ? EVENT_NO_PROCESS : thread[0] == 'u';
	event.pid = 100 + event.process;
	event.tid = (uint32_t)atoi(thread + 1);
	for (int i = 0; i < event.nargs && (text = strtok_r(NULL, " \t", &save)); i++)
		script__arg(&event, i, row->types[i], text);
	return event;
}

/* calls @each for every event of the script */
static void script__run(const char *script, void (*each)(void *ctx, const struct event *event),
			void *ctx)
{
	char *copy = strdup(script), *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct event event = script__event(line);

		each(ctx, &event);
	}
	free(copy);
}

#endif /* TRACER_TESTS_SCRIPT_H */
