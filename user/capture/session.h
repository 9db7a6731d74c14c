/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture under way, shared by the files of this stage:
 *
 *	loader.c	BPF programs, per-CPU buffers, counters
 *	probe.c		uprobes on sites of a binary
 *	target.c	processes and their binaries: found, told to the file, attached to
 *	command.c	`-- COMMAND`
 *	finish.c	what is left in the rings at the end
 *	repack.c	the file packed, where there was no time for it
 *	capture.c	the order of it all, and the loop that moves chunks to the file
 */
#ifndef TRACER_CAPTURE_SESSION_H
#define TRACER_CAPTURE_SESSION_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "bpf/tracer.skel.h"
#include "records.h"
#include "state.h"
#include "binary.h"
#include "buffer.h"
#include "capture.h"
#include "clock.h"
#include "features.h"
#include "file.h"
#include "keep.h"

struct session;
struct specs;
struct return_bpf;

/* A file with points (or a dynamic linker), attached to once, or once a process with --no-follow.
 */
struct dso {
	struct dso *next;
	uint32_t id;
	uint64_t device, inode;
	pid_t pid;	       /* --no-follow: for this process only; else 0 */
	struct binary *binary; /* NULL: nothing for us in there */
	bool told;	       /* its block is in the file */
	struct probe *flush, *how, *gates;
	struct probe *stacks; /* --stacks */
	uint64_t used;	      /* when last mapped by a target, as far as was looked */
	struct probe *loaded; /* session->everywhere; else each process has its own */
};

struct process {
	struct process *next;
	pid_t pid;
	bool given;	/* by -p or as COMMAND */
	uint32_t *maps; /* ids of the DSOs told for it */
	uint64_t *bases;
	size_t map_count;
	uint32_t *linkers; /* ids of the DSOs in which its `loaded` probes are */
	struct probe **loaded;
	size_t linker_count;
	bool unscanned; /* it runs another program */
	bool unread;	/* gone, when it was to be scanned */
	bool opened;	/* gates were, for it, since it last waited for us */
	bool unheld;	/* and it was not seen to wait */
	bool missed;	/* session__miss() */
};

struct session {
	const struct capture_options *options;
	struct features features;
	struct tracer_bpf *bpf;
	struct return_bpf *returns; /* hold.c; NULL: this kernel can't */
	struct hold_state *hold;    /* mapped, shared with the programs */
	struct bpf_link **links;    /* of programs that are no uprobes */
	size_t link_count;
	int cpus;
	struct buffer *buffers;	     /* one per possible CPU */
	uint64_t *until;	     /* positions at which the present pass ends, likewise */
	const uint64_t *complete_to; /* of each CPU, see tracer.bpf.c; NULL: no ticks */
	bool *ticks;		     /* on which CPUs */
	uint64_t buffer_size;
	struct file_writer *writer;
	struct dso *dsos;
	uint32_t dso_count;
	struct process *processes;
	bool gates_open; /* DSOs found from now on are opened at once */
	bool use_monotonic;
	int sample_level;
	char *refusal; /* sentence: why a process can't be traced */
	bool points_found;
	bool everywhere;  /* every process of the machine waits for us in its dynamic linker */
	uint64_t started; /* ns, CLOCK_BOOTTIME */
	uint64_t chunks, chunk_bytes;
	bool target_exited;
	int target_status; /* wait(2) status of the first target */
	pid_t first_pid;
	uint64_t *tickets_done; /* answered out of order */
	size_t ticket_count;
	struct beat *beat;	 /* hold.c */
	struct harvest *harvest; /* finish.c */
	struct stacks *stacks;	 /* stacks.c; NULL: none are wanted */
	bool answering;		 /* the process that is looked at waits for us */
	uint64_t missed;	 /* see session__miss() */
	struct probe **retired;	 /* of processes that are gone */
	size_t retired_count;
	bool finishing;
	uint64_t adopted;    /* rings, so far */
	struct specs *specs; /* specs.h; NULL without probe specs */
	bool command_exits;  /* COMMAND was reaped */
	uint64_t taken;	     /* bytes of records, so far */
	uint64_t told_round; /* as many at the last ROUND, and when */
	uint64_t round_time, clock_time, clock_interval, check_time;
	struct keep *keep;   /* NULL: one file, written as it comes */
	char id[17];	     /* of the capture, in each of its files */
	uint32_t sample;     /* one task in this many, now */
	uint64_t files_made; /* numbers 0 to files_made - 1 */
	uint64_t files_gone; /* unlinked, from the oldest on */
	uint64_t snapshots;
	struct control *control;
	struct shedder *shedder; /* shed.c */
	struct full *full;	 /* --on-full drop: what a full disk has no room for */
	bool full_told;
	bool paused;
	size_t sched_links; /* the first of session__attach_sched() in links, plus one */
	int signals_seen;   /* of options->snapshots_wanted */
};

/* loader.c: 0 or -errno after saying why */
int session__load(struct session *session);
/* up to when all that was stamped is in the buffers, but for what REC_HELD tells; 0: not known */
uint64_t session__complete(const struct session *session, uint64_t now);
/* scheduler, tick, fork, exec, exit */
int session__attach_kernel(struct session *session);
/* a program that is no uprobe; 0 or -errno after saying why */
int session__add_link(struct session *session, const struct bpf_program *program);
/* the kernel's scheduling of the targets: last, as nothing of it is wanted from before */
int session__attach_sched(struct session *session);
void session__detach_sched(struct session *session);
void session__detach_kernel(struct session *session);
uint64_t session__counter(const struct session *session, enum counter which);
/* switches and wakings that are not in the capture although they should be */
uint64_t session__sched_lost(const struct session *session);
void session__unload(struct session *session);

/* probe.c */
struct probe;
struct probe_site {
	uint64_t offset; /* file offset of the instruction */
	uint64_t count;	 /* file offset of the count it raises; 0 none */
};
/* @pid: 0 every process that maps the file. Returns 0 or -errno. */
int probe__attach(struct probe **probe, const struct session *session,
		  const struct bpf_program *program, const char *path, pid_t pid,
		  const struct probe_site *sites, size_t count);
/* likewise, each program run told its site's cookie */
int probe__attach_cookies(struct probe **probe, const struct session *session,
			  const struct bpf_program *program, const char *path, pid_t pid,
			  const struct probe_site *sites, const uint64_t *cookies, size_t count);
/* @probe, just attached, goes together with @other from now on; each may be NULL */
struct probe *probe__join(struct probe *probe, struct probe *other);
void probe__detach(struct probe *probe);
/* many at once take hardly longer than one; NULLs are skipped */
void probe__detach_all(struct probe **probes, size_t count);

/* target.c */
struct process *session__find_process(const struct session *session, pid_t pid);
struct process *session__add_process(struct session *session, pid_t pid, bool given);
void session__remove_process(struct session *session, pid_t pid);
/* look through its mappings for binaries with points, tell the file, attach; 0 or -errno */
int session__scan(struct session *session, struct process *process);
/* the process is about to run another program: it will wait where that has mapped its libraries */
void session__await_libraries(struct session *session, struct process *process);
/* a binary that will be run, by process @pid */
int session__scan_file(struct session *session, pid_t pid, const char *path);
void session__forget_maps(struct process *process);
int session__open_gates(struct session *session);
/* the number of sample sites of all open DSOs is another one now; 0 or -errno after saying why */
int session__change_how(struct session *session);
void session__close_gates(struct session *session);
void session__detach_flush(struct session *session);
void session__forget_targets(struct session *session);
void session__tell_process(struct session *session, pid_t pid, pid_t parent);

/* adopt.c: rings that the process's threads have in the DSO whose struct tracer_dso is at @dso */
int session__adopt_rings(struct session *session, const struct process *process, uint64_t dso);
/* runs the task iterator; what it writes goes to @take, item by item */
int session__each_task(struct session *session, enum iterator_mode mode,
		       void (*take)(struct session *session, const struct harvested_ring *ring));

/* command.c */
struct command;
/* a child that waits to become COMMAND; 0, or an exit status (126, 127, 125) after saying why */
int command__prepare(struct command **command, struct session *session, char **argv);
pid_t command__pid(const struct command *command);
/* lets it go on; 0 or an exit status if it could not be run */
int command__release(struct command *command, struct session *session);
bool command__reap(struct command *command, int *status);
void command__free(struct command *command);

/* pause.c: each 0 or -errno after saying why */
int session__pause(struct session *session);
int session__resume(struct session *session);
void session__tell_pause(struct session *session, enum rec_paused paused);
int session__set_sample(struct session *session, uint32_t sample);
/* sample sites to probe for one task in @sample */
int sample__level(uint32_t sample);

/* shed.c: now and then, and before the last probes are detached */
void session__shed(struct session *session);
void session__end_shedding(struct session *session);

/* repack.c: the file, which is closed, of whose records so many bytes are not compressed */
void session__repack(struct session *session, uint64_t unpacked);

/* finish.c */
void session__harvest(struct session *session);

/* tell.c: blocks, and the files they are in; @start: of this file, 0 that of the capture */
struct keep;
void session__make_id(struct session *session);
void session__tell_meta(const struct session *session, struct file_writer *writer, uint64_t start,
			uint64_t number, struct showing showing);
void session__tell_clock(struct session *session);
int shell_status(int status);
/* @end: 0, or where this file ends although the capture does not; @continues: in the next */
void session__tell_end(struct session *session, struct file_writer *writer, uint64_t duration,
		       uint64_t end, bool continues);
const char *session__schema(void);
int session__claim(const struct session *session, const char *path);
/* the next file's, to be freed, the oldest made room for it; NULL after saying why */
bool session__unlink_oldest(void *session);
char *session__next_path(struct session *session);
void session__tell_snapshot(struct session *session, const char *path);

/* capture.c: reads all buffers until they are empty */
void session__consume(struct session *session);
/* looks again at what a process has mapped; @execed: it runs another program */
void session__rescan(struct session *session, pid_t pid, bool execed);

/*
 * miss.c: events of the process are missing, and nobody can say how many: the capture is not complete. Said
 * in a line, once for each process, and told in the capture.
 */
void session__miss(struct session *session, pid_t pid, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* gates were opened for a process that may have run past them already */
void session__miss_first(struct session *session, struct process *process, const struct dso *dso);
/* it ends, or the capture does */
void session__miss_unheld(struct session *session, const struct process *process);
/* those that nobody could name, at the end */
void session__tell_not_held(const struct session *session);

/* hold.c: as session->bpf was loaded; 0 or -errno */
int session__load_holding(struct session *session);
int session__attach_holding(struct session *session);
/* the capture ends: whoever waits goes on */
void session__let_go(struct session *session);
void session__unload_holding(struct session *session);
/* false if the record is none of a thread that waits for us */
bool session__take_waiting(struct session *session, const void *record);
/* while it beats, whoever waits for us waits on */
void session__start_beat(struct session *session);
void session__stop_beat(struct session *session);
/*
 * What takes time now is what others may wait for, too: placing a probe, the kernel waits for every
 * process that has mapped the file, and those that wait for us sleep with their memory locked.
 */
void session__work(struct session *session, bool working);

#endif /* TRACER_CAPTURE_SESSION_H */
