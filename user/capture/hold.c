// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads that wait for us before they run what they have just mapped, or are about to run
 * (bpf/hold.bpf.h). They do so as long as we get on, and a second longer.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../base/say.h"
#include "session.h"
#include "specs.h"

#define BEAT_US 100000
#define BEAT_NICE (-15)

/*
 * What is found may take seconds on a busy machine: the kernel looks at the programs of probe specs,
 * large binaries are read. So a thread says that the tracer lives and is at it; if it is stopped or
 * killed nobody says so.
 */
struct beat {
	pthread_t thread;
	__u64 *alive;
	bool working, over;
};

static void *beat__run(void *ctx)
{
	struct beat *beat = ctx;

	/* of this thread; as the reader does later */
	setpriority(PRIO_PROCESS, 0, BEAT_NICE);
	while (!__atomic_load_n(&beat->over, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(&beat->working, __ATOMIC_ACQUIRE))
			__atomic_store_n(beat->alive, now__monotonic(), __ATOMIC_RELEASE);
		usleep(BEAT_US);
	}
	return NULL;
}

void session__start_beat(struct session *session)
{
	struct beat *beat = calloc(1, sizeof(*beat));
	sigset_t all, before;
	int err;

	if (!beat)
		return;
	beat->alive = &session->bpf->bss->loader_alive;
	/* signals are for the thread that looks for them */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&beat->thread, NULL, beat__run, beat);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		free(beat);
	else
		session->beat = beat;
}

void session__stop_beat(struct session *session)
{
	if (!session->beat)
		return;
	__atomic_store_n(&session->beat->over, true, __ATOMIC_RELEASE);
	pthread_join(session->beat->thread, NULL);
	free(session->beat);
	session->beat = NULL;
}

void session__work(struct session *session, bool working)
{
	session->bpf->bss->loader_alive = now__monotonic();
	if (session->beat)
		__atomic_store_n(&session->beat->working, working, __ATOMIC_RELEASE);
}

/* tickets are given in order but may be read in another: a thread goes on when all up to its own
 * are done */
static void session__answer(struct session *session, uint64_t ticket)
{
	__u64 *answered = &session->bpf->bss->tickets_answered;
	uint64_t *done;
	size_t i = 0;

	done = reallocarray(session->tickets_done, session->ticket_count + 1, sizeof(*done));
	if (!done)
		return;
	session->tickets_done = done;
	done[session->ticket_count++] = ticket;
	while (i < session->ticket_count) {
		if (done[i] != *answered + 1) {
			i++;
			continue;
		}
		__atomic_store_n(answered, *answered + 1, __ATOMIC_RELEASE);
		done[i] = done[--session->ticket_count];
		i = 0;
	}
}

/* The thread went on before we had looked. */
static void session__tell_late(struct session *session, const struct rec_loaded *late)
{
	char *text;

	if (session->finishing)
		return;
	text = sentence__new(
		"process %u: went on after %.1f s, before points and probes of what it loaded were "
		"attached (a busy machine?): its first events may be missing",
		late->pid, (double)late->ticket / 1e9);
	if (!text)
		return;
	say__info("%s", text);
	session__tell_message(session, late->pid, late->tid, text);
	free(text);
}

/* A file that a process is about to run. If it is none, execve() will say so. */
static void session__prepare_run(struct session *session, const struct rec_will_run *run)
{
	pid_t pid = (pid_t)run->asks.pid;
	char path[sizeof(run->path) + 32];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/%s%.*s", pid, *run->path == '/' ? "root" : "cwd/",
		 (int)sizeof(run->path), run->path);
	if (session->finishing || !session__add_process(session, pid, false) ||
	    stat(path, &status) || !S_ISREG(status.st_mode))
		return;
	session__scan_file(session, pid, path);
}

static void session__await_run(struct session *session, pid_t pid)
{
	struct process *process = session__find_process(session, pid);

	if (process && !session->finishing)
		session__await_libraries(session, process);
}

bool session__take_waiting(struct session *session, const void *record)
{
	const struct rec_loaded *asks = record;

	if (asks->h.kind != REC_LOADED && asks->h.kind != REC_WILL_RUN &&
	    asks->h.kind != REC_EXECUTING && asks->h.kind != REC_WENT_ON)
		return false;
	if (asks->h.kind == REC_WENT_ON) {
		session__tell_late(session, asks);
		return true;
	}
	session__work(session, true);
	if (asks->h.kind == REC_LOADED)
		session__rescan(session, (pid_t)asks->pid, false);
	else if (asks->h.kind == REC_WILL_RUN)
		session__prepare_run(session, record);
	else
		session__await_run(session, (pid_t)asks->pid);
	if (asks->ticket)
		session__answer(session, asks->ticket);
	session__work(session, false);
	return true;
}
