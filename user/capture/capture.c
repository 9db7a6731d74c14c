// SPDX-License-Identifier: BSD-2-Clause
/*
 * A capture from beginning to end.
 *
 * Order at the start: the hooks of the kernel, the targets, their flush probes, the rings they have
 * already, and the gates last: from the first record on, everything that drains is in place. At the
 * end the other way round: gates, flush probes, what is left in the rings, hooks.
 *
 * In between the loop moves chunks from the buffers to the file and looks at three kinds of records
 * only: a process was forked, runs another program, or has mapped libraries. Those threads wait
 * (bpf/, loaded()) until their new binaries are attached to.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sched.h>
#include <unistd.h>
#include "../base/say.h"
#include "control.h"
#include "full.h"
#include "keep.h"
#include "session.h"
#include "specs.h"
#include "proc.h"
#include "stacks.h"

#define STATUS_REFUSED 1
#define STATUS_FAILED 125
#define NS_PER_MS 1000000ULL
#define DEFAULT_POLL_NS (10 * NS_PER_MS)
#define DEFAULT_FLUSH_NS (100 * NS_PER_MS)
#define SECOND_NS (1000 * NS_PER_MS)
#define CONSUME_ATTEMPTS 1000
#define ROUND_BYTES (2ULL << 20) /* of records between two ROUND blocks, and then the pass's rest */
#define COMMAND_GRACE_US 200000
#define READER_NICE (-15)
#define SCANS_AT_ONCE 50

/* --- records ---------------------------------------------------------------------------------- */

void session__rescan(struct session *session, pid_t pid, bool execed)
{
	struct process *process = session__find_process(session, pid);

	if (!process || session->finishing)
		return;
	stacks__consume(session); /* taken in what was mapped until now */
	if (execed) {
		session__forget_maps(process);
		session__tell_process(session, pid, 0);
	}
	/* it waits for us, and says so next */
	process->unscanned = execed && session->returns;
	if (!process->unscanned)
		session__scan(session, process);
	/* who knows what it ran? unless it waits for us yet */
	if (execed && process->unread && !session->everywhere)
		process->unheld = true;
}

static void session__take_task(struct session *session, const struct rec_task *task)
{
	pid_t pid = (pid_t)task->pid;
	const struct process *process;

	switch (task->h.kind) {
	case REC_FORK:
		session__add_process(session, pid, false);
		stacks__forked(session, pid, (pid_t)task->parent);
		session__tell_process(session, pid, (pid_t)task->parent);
		break;
	case REC_EXEC:
		session__work(session, true);
		session__rescan(session, pid, true);
		session__work(session, false);
		break;
	case REC_PROCESS_EXIT:
		if (pid == session->first_pid) {
			session->target_exited = true;
			session->target_status = task->status;
		}
		/* the last one's death ends the capture, and the window is written then */
		process = session__find_process(session, pid);
		if (process)
			session__miss_unheld(session, process);
		if (process && process->given && session->keep)
			keep__snapshot(session->keep);
		session__remove_process(session, pid);
		break;
	}
}

static void session__take(struct session *session, const void *record, size_t size)
{
	const struct rec_header *header = record;

	if (header->size > size)
		return;
	if (session__take_waiting(session, record))
		return;
	session->taken += size;
	if (header->kind == REC_FOREIGN) {
		session__take_foreign(session, record, header->size);
		return;
	}
	/* who cuts by time waits long enough, and tells no reader what is complete */
	if (header->kind == REC_HELD && session->keep)
		return;
	/* before what happens next in that process, after what happened before */
	file_writer__record(session->writer, record, header->size);
	if (header->kind == REC_CHUNK) {
		session->chunks++;
		session->chunk_bytes += ((const struct rec_chunk *)record)->len;
	} else if (header->kind != REC_HELD) {
		session__take_task(session, record);
	}
}

/* switches and wakings need no order among CPUs (trace/merge.c), and there may be many: in one go
 */
static void session__take_sched(struct session *session, struct buffer *buffer, uint64_t until)
{
	const struct rec_header *header;

	while (buffer->position < until && buffer__peek(buffer)) {
		header = buffer->record;
		if (header->kind != REC_SWITCH && header->kind != REC_WAKING &&
		    header->kind != REC_FOREIGN)
			break;
		session__take(session, header, buffer->record_size);
		buffer__advance(buffer);
	}
}

/* the buffer with the oldest record, among those that had one when the pass began */
static struct buffer *session__oldest(struct session *session, const uint64_t *until)
{
	struct buffer *oldest = NULL, *buffer;
	uint64_t time, best = UINT64_MAX;
	int cpu;

	for (cpu = 0; cpu < session->cpus; cpu++) {
		buffer = &session->buffers[cpu];
		/* who cuts by time wants all in its order */
		if (!session->keep)
			session__take_sched(session, buffer, until[cpu]);
		if (buffer->position >= until[cpu] || !buffer__peek(buffer))
			continue;
		time = ((const struct rec_header *)buffer->record)->time;
		if (time < best) {
			best = time;
			oldest = buffer;
		}
	}
	return oldest;
}

/*
 * Moves what is in the buffers now to the file. Returns false if a record that is still being
 * written stands before others in one of them, so that not all was moved.
 */
static bool session__pass(struct session *session)
{
	uint64_t *until = session->until, waiting = 0;
	struct buffer *buffer;
	bool blocked = false;
	int cpu;

	for (cpu = 0; cpu < session->cpus; cpu++) {
		until[cpu] =
			session->buffers[cpu].position + buffer__waiting(&session->buffers[cpu]);
		if (buffer__waiting(&session->buffers[cpu]) > waiting)
			waiting = buffer__waiting(&session->buffers[cpu]);
	}
	file_writer__set_pressure(session->writer, waiting > session->buffer_size / 8);
	while ((buffer = session__oldest(session, until)) && !file_writer__error(session->writer)) {
		session__take(session, buffer->record, buffer->record_size);
		buffer__advance(buffer);
	}
	for (cpu = 0; cpu < session->cpus; cpu++)
		blocked |= session->buffers[cpu].position < until[cpu];
	return !blocked;
}

void session__consume(struct session *session)
{
	uint64_t waiting;
	int cpu, attempt;

	/* a thread that was preempted while it handed over comes back within some milliseconds */
	for (attempt = 0; attempt < CONSUME_ATTEMPTS; attempt++) {
		session__pass(session);
		for (cpu = 0, waiting = 0; cpu < session->cpus; cpu++)
			waiting += buffer__waiting(&session->buffers[cpu]);
		if (!waiting || file_writer__error(session->writer))
			break;
		if (attempt)
			usleep(1000);
	}
}

/* a ROUND promises that all that was handed over before @time stands above it, and all that was
 * stamped before @complete */
static void session__end_pass(struct session *session, uint64_t time, uint64_t complete,
			      uint64_t monotonic)
{
	uint64_t interval = session->options->flush_interval_ns == UINT64_MAX
				    ? DEFAULT_FLUSH_NS
				    : session->options->flush_interval_ns;
	struct file_round round = {time, complete};

	if (session->keep)
		keep__round(session->keep, time);
	if (monotonic - session->round_time < interval &&
	    session->taken - session->told_round < ROUND_BYTES)
		return;
	file_writer__block(session->writer, FILE_ROUND, &round, sizeof(round));
	session->round_time = monotonic;
	session->told_round = session->taken;
	if (monotonic - session->clock_time > session->clock_interval) {
		session__tell_clock(session);
		session->clock_interval = session->keep ? DEFAULT_FLUSH_NS : SECOND_NS;
	}
}

/* --- start ------------------------------------------------------------------------------------ */

static int session__take_targets(struct session *session)
{
	const struct capture_options *options = session->options;
	struct process *process;
	struct proc_info info;
	pid_t pid;
	int i, err;

	for (i = 0; i < options->pid_count; i++) {
		pid = proc__thread_group(options->pids[i]);
		if (pid <= 0) {
			say__error(
				"no process %d: it has ended, or is in another PID namespace; see "
				"ps -e",
				options->pids[i]);
			return STATUS_REFUSED;
		}
		process = session__add_process(session, pid, true);
		if (!process)
			return STATUS_FAILED;
		if (!session->first_pid)
			session->first_pid = pid;
		session__tell_process(session, pid, 0);
		err = session__scan(session, process);
		if (err == -EACCES || err == -EPERM) {
			say__error(
				"process %d: its memory map can't be read: %s; run as root (sudo "
				"tracer ...)",
				pid, strerror(-err));
			return STATUS_REFUSED;
		}
		if (err)
			return STATUS_REFUSED;
	}
	if (session->refusal) {
		say__error("%s", session->refusal);
		return STATUS_REFUSED;
	}
	if (!session->points_found && !options->allow_no_points &&
	    !session__specs_attached(session)) {
		session__say_specs(session, false);
		pid = session->first_pid;
		proc__read(pid, &info);
		say__error("process %d (%s): no points in it or its libraries", pid, info.name);
		say__error(
			"build it, or its runtime, with <tracer/tracer.h>, or write a probe spec "
			"for it (--spec); 'tracer list -p %d' shows what is there; --wait-points "
			"traces what it loads later",
			pid);
		return STATUS_REFUSED;
	}
	return 0;
}

static void session__say_ready(const struct session *session)
{
	const struct capture_options *options = session->options;
	ssize_t done;

	if (options->ready_fd >= 0) {
		done = write(options->ready_fd, "", 1);
		if (done != 1)
			say__verbose("--ready-fd %d: %s", options->ready_fd, strerror(errno));
	}
	say__verbose("attached; buffers of %llu KiB on each of %d CPUs",
		     (unsigned long long)session->buffer_size >> 10, session->cpus);
	if (options->follow)
		say__verbose("other processes that run the same binaries record too while this "
			     "lasts, and are left out (--no-follow avoids it)");
}

static int session__begin(struct session *session)
{
	const struct capture_options *options = session->options;
	int err;
	struct file_clock first;

	/* two readings, a loading apart: a capture that is killed in its first second has a rate
	 * too */
	clocks__read(&first);
	features__detect(&session->features);
	if (options->without && features__withhold(&session->features, options->without)) {
		say__error("--without %s: names of features that can be done without, separated by "
			   "commas; 'tracer doctor --json' has them",
			   options->without);
		return STATUS_REFUSED;
	}
	if (!session->features.btf) {
		say__error(
			"this kernel has no type information (/sys/kernel/btf/vmlinux); boot one "
			"built with CONFIG_DEBUG_INFO_BTF=y");
		return STATUS_REFUSED;
	}
	session__make_id(session);
	session->sample = options->sample;
	session->sample_level = sample__level(options->sample);
	session->use_monotonic = options->clock == CAPTURE_CLOCK_MONOTONIC ||
				 (options->clock == CAPTURE_CLOCK_AUTO && !counter__is_steady());
	if (session__load(session) || session__load_specs(session) || stacks__load(session))
		return STATUS_REFUSED;
	session__start_beat(session);
	session->until = calloc((size_t)session->cpus, sizeof(*session->until));
	if (!session->until)
		return STATUS_FAILED;
	err = file_writer__create(&session->writer, options->flight_size ? NULL : options->path,
				  options->compress);
	if (err) {
		say__error("%s: can't be written: %s", options->path, strerror(-err));
		return STATUS_REFUSED;
	}
	if (options->on_full == CAPTURE_ON_FULL_DROP && !options->flight_size)
		session->full = full__new();
	if (options->on_full == CAPTURE_ON_FULL_OVERWRITE && options->max_file_size)
		file_writer__overwrite_when_full(session->writer, session__unlink_oldest, session);
	if (session->full)
		file_writer__drop_when_full(session->writer, full__drop, session->full);
	session->files_made = options->flight_size ? 0 : 1;
	session__tell_meta(session, session->writer, 0, 0,
			   (struct showing){session->paused, session->sample});
	err = options->max_file_size || options->flight_size ? keep__new(&session->keep, session)
							     : 0;
	if (err)
		return STATUS_FAILED;
	file_writer__block(session->writer, FILE_CLOCK, &first, sizeof(first));
	session__tell_clock(session);
	return session__attach_kernel(session) ? STATUS_REFUSED : 0;
}

/* --- the loop --------------------------------------------------------------------------------- */

static void session__check_processes(struct session *session)
{
	struct process *process, *next;
	int scans = 0;

	for (process = session->processes; process; process = next) {
		next = process->next;
		/* its exit may have found a full buffer */
		if (proc__thread_group(process->pid) <= 0)
			session__remove_process(session, process->pid);
		else if ((!process->linker_count || process->unscanned) && scans++ < SCANS_AT_ONCE)
			session__rescan(session, process->pid, false); /* it does not wait for us */
	}
}

static void session__tell_full(struct session *session)
{
	if (session->full_told || !file_writer__is_full(session->writer))
		return;
	session->full_told = true;
	say__error(
		"%s: no room left on the disk; what comes is dropped and counted (--on-full drop); "
		"Ctrl-C ends, --max-file-size with --max-files keeps the newest instead",
		session->options->path);
}

static void session__show_progress(const struct session *session, uint64_t elapsed)
{
	if (session->options->progress)
		say__progress("%llu s, %llu MB captured; Ctrl-C ends",
			      (unsigned long long)(elapsed / SECOND_NS),
			      (unsigned long long)(session->chunk_bytes / 1000000));
}

static bool session__is_over(struct session *session, struct command *command,
			     const volatile sig_atomic_t *stop, uint64_t elapsed)
{
	const struct capture_options *options = session->options;
	int status;

	if (command && command__reap(command, &status)) {
		session->command_exits = true;
		session->target_exited = true;
		session->target_status = status;
	}
	return *stop || !session->processes || file_writer__error(session->writer) ||
	       (options->duration_ns && elapsed >= options->duration_ns) ||
	       (options->on_full == CAPTURE_ON_FULL_STOP &&
		session__counter(session, COUNT_OVERRUNS));
}

/* so much has come during the pass that there is no time to sleep */
static bool session__is_filling(const struct session *session)
{
	int cpu;

	for (cpu = 0; cpu < session->cpus; cpu++) {
		if (buffer__waiting(&session->buffers[cpu]) > session->buffer_size / 64)
			return true;
	}
	return false;
}

static int session__make_epoll(const struct session *session)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(EPOLL_CLOEXEC), cpu;

	for (cpu = 0; cpu < session->cpus && epoll >= 0; cpu++) {
		event.data.fd = session->buffers[cpu].fd;
		epoll_ctl(epoll, EPOLL_CTL_ADD, session->buffers[cpu].fd, &event);
	}
	event.data.fd = control__descriptor(session->control);
	if (epoll >= 0 && event.data.fd >= 0)
		epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
	if (epoll >= 0 && stacks__descriptor(session) >= 0)
		epoll_ctl(epoll, EPOLL_CTL_ADD, stacks__descriptor(session), &event);
	return epoll;
}

/* true: whoever reads the file behind us asks for time */
static bool session__is_held(const struct session *session)
{
	const struct capture_options *options = session->options;

	if (!options->hold ||
	    !options->hold(options->hold_ctx, file_writer__bytes(session->writer)))
		return false;
	usleep(1000);
	return true;
}

/* a signal asks for the flight recorder's window */
static void session__look_for_signals(struct session *session)
{
	const volatile sig_atomic_t *wanted = session->options->snapshots_wanted;

	if (!wanted || *wanted == session->signals_seen)
		return;
	session->signals_seen = *wanted;
	if (session->keep)
		keep__snapshot(session->keep);
}

static void session__loop(struct session *session, struct command *command,
			  const volatile sig_atomic_t *stop)
{
	const struct capture_options *options = session->options;
	uint64_t poll = options->poll_interval_ns == UINT64_MAX ? DEFAULT_POLL_NS
								: options->poll_interval_ns;
	uint64_t begin = now__monotonic(), now = begin, time, complete, wait;
	struct epoll_event events[16];
	int epoll = session__make_epoll(session);
	bool all;

	while (!session__is_over(session, command, stop, now - begin)) {
		session__look_for_signals(session);
		control__serve(session->control);
		time = now__boottime();
		complete = session__complete(session, time);
		all = !session__is_held(session) && session__pass(session);
		stacks__consume(session);
		now = now__monotonic();
		if (all)
			session__end_pass(session, time, complete, now);
		if (now - session->check_time > SECOND_NS) {
			session__check_processes(session);
			session__shed(session);
			session__tell_full(session);
			session__watch_specs(session);
			session__show_progress(session, now - begin);
			session->check_time = now;
		}
		wait = poll;
		if (options->duration_ns && begin + options->duration_ns - now < wait)
			wait = begin + options->duration_ns - now;
		if (poll && !session__is_filling(session))
			epoll_wait(epoll, events, 16, (int)((wait + NS_PER_MS - 1) / NS_PER_MS));
	}
	close(epoll);
}

/* --- end -------------------------------------------------------------------------------------- */

static int session__end(struct session *session, uint64_t duration)
{
	const struct process *process;
	struct file_round round;
	int err;

	for (process = session->processes; process; process = process->next)
		session__miss_unheld(session, process);
	if (!session->paused)
		session__tell_pause(session, REC_ENDED);
	session__close_gates(session);
	session__let_go(session);
	session__detach_specs(session);
	session__detach_flush(session);
	session__consume(session);
	session->finishing = true;
	session__harvest(session);
	session__detach_kernel(session);
	setpriority(PRIO_PROCESS, 0, 0);
	session__consume(session);
	stacks__consume(session);
	stacks__end_file(session);
	if (session->full && file_writer__is_full(session->writer)) {
		session__tell_full(session);
		file_writer__flush(session->writer);
		file_writer__end_anyway(session->writer);
		full__tell(session->full, session->writer);
	}
	session__tell_not_held(session);
	round.complete = round.time = now__boottime();
	file_writer__block(session->writer, FILE_ROUND, &round, sizeof(round));
	session__tell_clock(session);
	if (session->keep)
		keep__finish(session->keep);
	if (session->keep)
		session__tell_end(session, session->writer,
				  now__boottime() - keep__start(session->keep), 0, false);
	else
		session__tell_end(session, session->writer, duration, 0, false);
	err = file_writer__error(session->writer);
	if (err)
		say__error("%s: writing failed: %s; what was captured until then is in the file",
			   session->options->path, strerror(-err));
	return err;
}

/* COMMAND outlives the capture: Ctrl-C ends it too, the end of --duration does not */
static int command__finish(struct command *command, bool interrupted)
{
	int status = 0, i;

	for (i = 0; interrupted && i < 2 && !command__reap(command, &status); i++) {
		usleep(COMMAND_GRACE_US);
		if (!i && !command__reap(command, &status))
			kill(command__pid(command), SIGTERM);
	}
	if (command__reap(command, &status))
		return shell_status(status);
	say__info("process %d goes on", command__pid(command));
	return 0;
}

/*
 * The reader comes before the targets when the machine is full: while it waits for a CPU the
 * buffers fill, and what does not fit is lost. It runs for short moments otherwise.
 */
static void take_precedence(int cpu)
{
	cpu_set_t set;

	if (setpriority(PRIO_PROCESS, 0, READER_NICE))
		say__verbose("the reader runs at ordinary priority: %s", strerror(errno));
	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		say__error("--cpu %d: %s; the reader runs anywhere", cpu, strerror(errno));
}

static int session__run(struct session *session, struct capture_result *result,
			const volatile sig_atomic_t *stop)
{
	const struct capture_options *options = session->options;
	struct command *command = NULL;
	uint64_t begin;
	int status = session__begin(session);

	if (!status && options->command)
		status = command__prepare(&command, session, options->command);
	else if (!status)
		status = session__take_targets(session);
	if (!status && session->refusal) {
		say__error("%s", session->refusal);
		status = STATUS_REFUSED;
	}
	if (!status && options->start_paused) {
		session->paused = true;
		session__tell_pause(session, REC_PAUSED);
	} else if (!status && (session__attach_sched(session) || session__open_gates(session))) {
		status = STATUS_REFUSED;
	}
	if (status)
		goto out;
	begin = now__monotonic();
	session__say_specs(session, false);
	session->started = now__boottime();
	session->control = control__new(session);
	session__say_ready(session);
	if (command) {
		status = command__release(command, session);
		if (status)
			goto out;
	}
	take_precedence(options->cpu);
	session__loop(session, command, stop);
	result->interrupted = *stop;
	result->duration_ns = now__monotonic() - begin;
	if (session__end(session, result->duration_ns))
		status = STATUS_REFUSED;
	if (command)
		result->command_status = command__finish(command, result->interrupted);
	if (options->on_full == CAPTURE_ON_FULL_STOP && session__counter(session, COUNT_OVERRUNS)) {
		say__error(
			"the buffers were full (--on-full stop); take larger ones (--buffer-size), "
			"or fewer categories (-c)");
		status = STATUS_REFUSED;
	}
out:
	command__free(command);
	return status;
}

int capture__run(const struct capture_options *options, struct capture_result *result,
		 const volatile sig_atomic_t *stop)
{
	struct session session = {.options = options, .clock_interval = DEFAULT_FLUSH_NS};
	uint64_t unpacked;
	int status;

	*result = (struct capture_result){.command_status = -1};
	status = session__run(&session, result, stop);
	result->chunks = session.chunks;
	result->chunk_bytes = session.chunk_bytes;
	result->any_event = session.chunk_bytes > 0 || session__foreign_records(&session);
	result->probed = session__specs_attached(&session);
	result->buffer_bytes = session.buffer_size * (uint64_t)session.cpus;
	session__close_gates(&session);
	session__detach_flush(&session);
	session__forget_targets(&session);
	if (session.writer) {
		unpacked = file_writer__unpacked(session.writer);
		if (!file_writer__close(session.writer) && !status)
			session__repack(&session, unpacked);
	}
	session__unload_specs(&session);
	stacks__free(&session);
	session__stop_beat(&session);
	session__unload(&session);
	result->files_made = session.files_made;
	result->files_gone = session.files_gone;
	control__free(session.control);
	full__free(session.full);
	keep__free(session.keep);
	free(session.until);
	free(session.refusal);
	free(session.tickets_done);
	return status;
}
