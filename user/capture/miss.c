// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events that no count tells of: of processes whose gates were opened too late, or not at all. What a closed
 * gate's points would have recorded was never written, so it is not lost, but it is missing.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "../base/say.h"
#include "session.h"
#include "specs.h"
#include "proc.h"

/* what goes wrong for all of a thousand processes is clear after some lines */
#define LINES_MAX 20

static char *miss__sentence(pid_t pid, const char *format, va_list args)
{
	struct proc_info info;
	char *reason, *text;

	if (vasprintf(&reason, format, args) < 0)
		return NULL;
	if (proc__read(pid, &info))
		text = sentence__new("process %d (it has ended): %s", pid, reason);
	else
		text = sentence__new("process %d (%s): %s", pid, info.name, reason);
	free(reason);
	return text;
}

void session__miss(struct session *session, pid_t pid, const char *format, ...)
{
	struct process *process = session__find_process(session, pid);
	va_list args;
	char *text;

	if (session->finishing || (process && process->missed))
		return;
	if (process)
		process->missed = true;
	session->missed++;
	va_start(args, format);
	text = miss__sentence(pid, format, args);
	va_end(args);
	if (!text)
		return;
	session__tell_message(session, (uint32_t)pid, (uint32_t)pid, text);
	if (session->missed <= LINES_MAX)
		say__error(session->missed < LINES_MAX ? "%s" : "%s (no more lines of this)", text);
	free(text);
}

void session__miss_first(struct session *session, struct process *process, const struct dso *dso)
{
	process->opened = true;
	/* before the beginning nothing is wanted; who waits, or is going to, has run nothing */
	if (!session->started || session->answering)
		return;
	if (process->linker_count || session->everywhere || session->returns) {
		process->unheld = true;
		return;
	}
	session__miss(session, process->pid,
		      "it ran %s before its gates were open: its first events may be missing",
		      dso->binary->path);
}

void session__miss_unheld(struct session *session, const struct process *process)
{
	if (process->unheld)
		session__miss(session, process->pid,
			      "it was quicker than the opening of its gates: its first events may "
			      "be missing");
}

void session__tell_not_held(const struct session *session)
{
	uint64_t count = session__counter(session, COUNT_NOT_HELD);

	if (count)
		say__error("%llu times a thread could not wait until what it runs was attached to: "
			   "the buffers were full; first events may be missing",
			   (unsigned long long)count);
}
