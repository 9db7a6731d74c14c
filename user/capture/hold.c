// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads that wait for us before they run what they have just mapped, or are about to run
 * (bpf/hold.bpf.h). They do so as long as we get on, and a second longer.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../base/say.h"
#include "bpf/return.skel.h"
#include "session.h"
#include "specs.h"

/* --- the programs ----------------------------------------------------------------------------- */

static int returns__load(const struct session *session, struct return_bpf *bpf)
{
	const struct tracer_bpf *others = session->bpf;
	const struct {
		struct bpf_map *mine;
		const struct bpf_map *its;
	} maps[] = {
		{bpf->maps.targets, others->maps.targets},
		{bpf->maps.buffers, others->maps.buffers},
		{bpf->maps.counters, others->maps.counters},
		{bpf->maps.holding, others->maps.holding},
	};
	int err = 0;
	size_t i;

	for (i = 0; i < sizeof(maps) / sizeof(*maps) && !err; i++)
		err = bpf_map__reuse_fd(maps[i].mine, bpf_map__fd(maps[i].its));
	bpf_program__set_autoload(bpf->progs.hold_program, true);
	bpf_program__set_autoload(bpf->progs.hold_child, true);
	features__use_uprobe(&session->features, bpf->progs.hold_library);
	return err ? err : return_bpf__load(bpf);
}

/* what this kernel, or the next one, refuses is done without */
static void session__load_returns(struct session *session)
{
	struct return_bpf *bpf;
	int err;

	if (!session->features.task_work || !session->options->follow)
		return;
	bpf = return_bpf__open();
	err = bpf ? returns__load(session, bpf) : -errno;
	if (!err) {
		session->returns = bpf;
		return;
	}
	say__verbose("programs are not held before they run: %s", strerror(-err));
	return_bpf__destroy(bpf);
}

static size_t hold_state__size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE); /* it is smaller */
}

int session__load_holding(struct session *session)
{
	void *state = mmap(NULL, hold_state__size(), PROT_READ | PROT_WRITE, MAP_SHARED,
			   bpf_map__fd(session->bpf->maps.holding), 0);

	if (state == MAP_FAILED)
		return -errno;
	session->hold = state;
	session__load_returns(session);
	return 0;
}

int session__attach_holding(struct session *session)
{
	int err;

	if (!session->returns)
		return 0;
	err = session__add_link(session, session->returns->progs.hold_program);
	if (!err)
		err = session__add_link(session, session->returns->progs.hold_child);
	session->bpf->bss->holds_programs = !err;
	return err;
}

void session__let_go(struct session *session)
{
	__atomic_store_n(&session->hold->answered, UINT64_MAX, __ATOMIC_RELEASE);
}

void session__unload_holding(struct session *session)
{
	return_bpf__destroy(session->returns);
	if (session->hold)
		munmap(session->hold, hold_state__size());
}

/* --- the beat --------------------------------------------------------------------------------- */

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
	beat->alive = &session->hold->alive;
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
	session->hold->alive = now__monotonic();
	if (session->beat)
		__atomic_store_n(&session->beat->working, working, __ATOMIC_RELEASE);
}

/* --- answers ------------------------------------------------------------------------------------ */

/* tickets are given in order but may be read in another: a thread goes on when all up to its own
 * are done */
static void session__answer(struct session *session, uint64_t ticket)
{
	__u64 *answered = &session->hold->answered;
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
	const struct process *process = session__find_process(session, (pid_t)late->pid);
	double seconds = (double)late->ticket / 1e9;

	/* else nothing of what it went on with had points that were not open */
	if (process && (process->opened || process->unread || session->specs))
		session__miss(session, process->pid,
			      "went on after %.1f s, before points and probes of what it loaded "
			      "were attached (a busy machine?): its first events may be missing",
			      seconds);
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
	struct process *process;

	if (asks->h.kind != REC_LOADED && asks->h.kind != REC_WILL_RUN &&
	    asks->h.kind != REC_EXECUTING && asks->h.kind != REC_WENT_ON)
		return false;
	if (asks->h.kind == REC_WENT_ON) {
		session__tell_late(session, asks);
		return true;
	}
	session__work(session, true);
	session->answering = asks->ticket != 0;
	process = session__find_process(session, (pid_t)asks->pid);
	if (process && asks->ticket)
		process->opened = process->unheld = false;
	if (asks->h.kind == REC_LOADED)
		session__rescan(session, (pid_t)asks->pid, false);
	else if (asks->h.kind == REC_WILL_RUN)
		session__prepare_run(session, record);
	else
		session__await_run(session, (pid_t)asks->pid);
	session->answering = false;
	if (asks->ticket)
		session__answer(session, asks->ticket);
	session__work(session, false);
	return true;
}
