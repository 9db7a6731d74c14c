/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capturing: attach to processes, move what their points write to a file, leave.
 *
 * The stage decodes nothing. capture__new() validates and loads BPF, capture__run() attaches, says
 * ready, and blocks until it is over. Messages to the user go through base/say.h.
 */
#ifndef TRACER_CAPTURE_CAPTURE_H
#define TRACER_CAPTURE_CAPTURE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum capture_clock { CAPTURE_CLOCK_AUTO, CAPTURE_CLOCK_TSC, CAPTURE_CLOCK_MONOTONIC };
enum capture_on_full { CAPTURE_ON_FULL_DROP, CAPTURE_ON_FULL_STOP, CAPTURE_ON_FULL_OVERWRITE };

struct spec;

/* --stacks: frames that are wanted of each event's call stack, by the event's number; 0 none */
struct capture_stacks {
	uint8_t depth[256];
	bool any;
};

enum capture_trigger_kind {
	CAPTURE_TRIGGER_RAN, /* one stay on a worker */
	CAPTURE_TRIGGER_READY,
	CAPTURE_TRIGGER_SUSPENDED,
	CAPTURE_TRIGGERS
};

/* a task was in that state for longer than so many ns */
struct capture_trigger {
	enum capture_trigger_kind kind;
	uint64_t ns;
	const char *text; /* as the user wrote it */
};

/* Files and windows below this have no room for what each begins with. */
#define CAPTURE_FILE_MIN (64U << 10)

struct capture_options {
	const pid_t *pids; /* processes to trace... */
	int pid_count;
	char **command;	      /* ...or one to start, argv with NULL at the end; or NULL */
	const char *path;     /* capture file (.trc) to create; the caller checked --force */
	uint64_t duration_ns; /* 0: no limit */
	uint32_t categories;  /* bit n: category n of events.def */
	uint32_t sample;      /* one task in this many, 1 all */
	bool follow;	      /* children too */
	bool sched;	      /* kernel scheduling too */
	enum capture_clock clock;
	enum capture_on_full on_full;
	uint64_t buffer_size;	    /* bytes per CPU, 0: default from the machine's memory */
	uint64_t poll_interval_ns;  /* UINT64_MAX: default; 0: busy */
	uint64_t flush_interval_ns; /* how long a record may wait for the file; UINT64_MAX: default
				     */
	int cpu;		    /* the reader runs there; -1 anywhere */
	int ready_fd;		    /* one byte is written to it once attached; -1 none */
	bool compress;		    /* zstd, as far as the machine keeps up */
	bool repack;		    /* and what it did not keep up with afterwards: repack.c */
	bool allow_no_points;	    /* go on: libraries with points may be loaded later */
	struct spec *specs;	    /* probe specs to use, or NULL */
	bool specs_automatic; /* they are all that there are: use those that recognise the target */
	double max_overhead;  /* percent of the targets' CPU time that hits may cost; 0: any */
	const char *without;  /* features of this kernel not to use, comma-separated; or NULL */
	/*
	 * asked with the bytes written so far before more is taken from the buffers, or NULL; true:
	 * who reads the file is behind, so wait. The buffers fill meanwhile, and what does not fit
	 * is lost and counted.
	 */
	bool (*hold)(void *ctx, uint64_t bytes);
	void *hold_ctx;
	const struct capture_stacks *stacks; /* or NULL: none */
	uint64_t max_file_size; /* a file of the capture has no more than this; 0: one file */
	uint64_t max_files;	/* the oldest are unlinked beyond; 0: none is */
	bool start_paused;	/* record nothing until told to: control.c */
	uint64_t flight_size; /* keep the last so many bytes, write when asked; 0: write as it comes
			       */
	const struct capture_trigger *triggers; /* of a flight recorder */
	size_t trigger_count;
	uint64_t trigger_after_ns; /* it goes on for so long before it writes */
	/* before a file is created, or NULL; 0, or a negative errno after telling the user */
	int (*claim)(void *ctx, const char *path);
	void *claim_ctx;
	/* counts what asks for a snapshot: SIGUSR1; or NULL */
	const volatile sig_atomic_t *snapshots_wanted;
	/* a flight recorder's window was written there; or NULL */
	void (*snapshot_done)(void *ctx, const char *path);
	void *snapshot_ctx;
	bool progress; /* standard error is a terminal: say how it goes, once a second */
};

struct capture_result {
	int command_status; /* exit status for the shell (128+N for a signal); -1 without command */
	uint64_t duration_ns;
	uint64_t bytes;	       /* of the file */
	uint64_t buffer_bytes; /* per-CPU buffers, all together */
	uint64_t chunks, chunk_bytes;
	uint64_t files_made,
		files_gone; /* path, path.1, ... up to files_made - 1; those gone first */
	bool any_event;	    /* at least one record was captured */
	bool probed;	    /* probe specs found something in the targets */
	bool interrupted;   /* SIGINT or SIGTERM ended it */
};

/*
 * capture__run() - the whole of a capture
 * @stop: set to non-zero by a signal handler to end it early (and cleanly)
 * Returns 0, or an exit status for main (125, 126, 127; 1 for a refusal) after telling the user
 * why.
 */
int capture__run(const struct capture_options *options, struct capture_result *result,
		 const volatile sig_atomic_t *stop);

#endif /* TRACER_CAPTURE_CAPTURE_H */
