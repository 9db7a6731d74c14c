/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `tracer record`. */
#include "record.h"
#include "stacks_option.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../base/say.h"
#include "specs.h"

enum record_key {
	KEY_SAMPLE = 256,
	KEY_TRACKS,
	KEY_NO_FOLLOW,
	KEY_NO_SCHED,
	KEY_WAIT_POINTS,
	KEY_WITHOUT,
	KEY_ON_FULL,
	KEY_BUFFER_SIZE,
	KEY_FLUSH_INTERVAL,
	KEY_POLL_INTERVAL,
	KEY_CPU,
	KEY_CLOCK,
	KEY_REPORT,
	KEY_READY_FD,
	KEY_SUMMARY,
	KEY_FORCE,
	KEY_SPEC,
	KEY_RUNTIME,
	KEY_MAX_OVERHEAD,
	KEY_FLIGHT_RECORDER,
	KEY_TRIGGER,
	KEY_TRIGGER_AFTER,
	KEY_MAX_FILE_SIZE,
	KEY_MAX_FILES,
	KEY_START_PAUSED,
	KEY_STACKS,
	KEY_STATS_ONLY,
};

static const struct argp_option options[] = {
	{"pid", 'p', "PID", 0, "Trace this process; may be given again", 0},
	{"output", 'o', "FILE", 0,
	 "x.trc: a capture; x.pftrace, x.pftrace.gz, x.pftrace.zst: Perfetto; x.json, x.prv, "
	 "x.sqlite, ...: what tracer export makes of such a name "
	 "(default tracer-<pid>.pftrace in this folder; with COMMAND, <pid> is the tracer's own)",
	 0},
	{"duration", 'd', "DURATION", 0, "End after 500ms, 5s, 2m, ...", 0},
	{"categories", 'c', "LIST", 0,
	 "Of task, worker, steal, future, lock, zone, marker, flow, counter, message, frame; "
	 "comma-separated (default all)",
	 0},
	{"sample", KEY_SAMPLE, "N", 0,
	 "One task in N, chosen by its identity's hash (default 1: all); whole lives, with what "
	 "belongs "
	 "to them",
	 1},
	{"no-follow", KEY_NO_FOLLOW, NULL, 0, "Leave children out", 1},
	{"wait-points", KEY_WAIT_POINTS, NULL, 0,
	 "Go on if a target has no points yet: a library it loads later may have some", 1},
	{"without", KEY_WITHOUT, "LIST", 0,
	 "Do as if the kernel lacked these features (names as in tracer doctor --json)", 4},
	{"no-sched", KEY_NO_SCHED, NULL, 0, "Leave the kernel's scheduling out", 1},
	{"tracks", KEY_TRACKS, "lanes|task|workers", 0, "Rows of the Tasks group", 2},
	{"force", KEY_FORCE, NULL, 0, "Replace output files that are there", 2},
	{"report", KEY_REPORT, "text|json", OPTION_ARG_OPTIONAL,
	 "Print the report at the end (default text)", 2},
	{"stats-only", KEY_STATS_ONLY, NULL, 0,
	 "Figures without a trace, in constant memory: the report at the end, or to --summary; so "
	 "far "
	 "on SIGUSR1",
	 2},
	{"summary", KEY_SUMMARY, "FILE", 0, "Write the capture's figures there, as JSON", 2},
	{"ready-fd", KEY_READY_FD, "N", 0, "Write one byte to descriptor N once attached", 3},
	{"buffer-size", KEY_BUFFER_SIZE, "SIZE", 0,
	 "Per CPU: 4M, 16M, ... (default from the machine's memory; `tracer doctor` shows it)", 3},
	{"on-full", KEY_ON_FULL, "stop|overwrite|drop", 0,
	 "When buffers or the disk are full: drop and count (default), end with an error, or "
	 "remove the oldest files",
	 3},
	{"flush-interval", KEY_FLUSH_INTERVAL, "DURATION", 0,
	 "How long records may wait to be written", 3},
	{"poll-interval", KEY_POLL_INTERVAL, "DURATION", 0, "How the reader waits (0: busy)", 3},
	{"cpu", KEY_CPU, "N", 0, "The reader runs on this CPU", 3},
	{"clock", KEY_CLOCK, "auto|tsc|monotonic", 0, "Source of the records' time stamps", 3},
	{"spec", KEY_SPEC, "FILE", 0,
	 "Probe a runtime without points as this spec says (tracer-spec(5)); may be given again",
	 1},
	{"runtime", KEY_RUNTIME, "NAME,...", 0,
	 "Probe it as a spec that comes with the command says: tracer list --specs names them. "
	 "Without it a target without points is recognised; none: it is not",
	 1},
	{"max-overhead", KEY_MAX_OVERHEAD, "PERCENT", 0,
	 "Of the targets' CPU time that hits of a spec's probes may cost: beyond, the least "
	 "important ones are left out while running",
	 1},
	{"flight-recorder", KEY_FLIGHT_RECORDER, "SIZE", 0,
	 "Keep the last SIZE in memory; it is written to FILE, FILE.1, ... on tracer ctl snapshot, "
	 "SIGUSR1, a trigger, a target's death, and at the end",
	 4},
	{"trigger", KEY_TRIGGER, "CONDITION", 0,
	 "Write the flight recorder's window when a task 'ran>10ms' (one stay on a worker), was "
	 "'ready>5ms' or 'suspended>1s'; may be given again. In a shell > needs quotes; : does as "
	 "well",
	 4},
	{"trigger-after", KEY_TRIGGER_AFTER, "DURATION", 0,
	 "Go on for so long after a trigger, then write (default 0)", 4},
	{"max-file-size", KEY_MAX_FILE_SIZE, "SIZE", 0,
	 "Begin another file of the capture (FILE.1, FILE.2, ...) before one is larger; each can "
	 "be "
	 "read alone",
	 4},
	{"max-files", KEY_MAX_FILES, "N", 0,
	 "Remove the oldest file when there would be more (default 0: never; snapshots: 16)", 4},
	{"start-paused", KEY_START_PAUSED, NULL, 0, "Record nothing until tracer ctl start", 4},
	{"stacks", KEY_STACKS, "CATEGORY[:DEPTH],...", 0,
	 "Call stacks at these events: suspend, steal, message, zone, lock, ... or an event's "
	 "name; "
	 "DEPTH frames at most (default 64). Such a point traps: 5 us and more instead of 15 ns",
	 1},
	OPTIONS_SPEECH,
	{0},
};

static const char doc[] =
	"Traces the tasks of running processes (-p) or of a program that it starts (COMMAND)."
	"\v"
	"Each option can also come from the environment, as TRACER_<LONG NAME> "
	"(TRACER_BUFFER_SIZE=16M, TRACER_NO_SCHED=1); the command line wins.\n\n"
	"Examples:\n"
	"  sudo tracer -p 4711 -d 5s                       tracer-4711.pftrace\n"
	"  sudo tracer -p 4711 -c task,steal -o x.trc      a capture, for tracer export and "
	"report\n"
	"  sudo tracer -o fib.pftrace.gz -- ./fib 30       a whole run\n"
	"  sudo tracer --report -o run.trc -- ./solver     and its figures\n"
	"  sudo tracer --runtime go -p 4711 -d 5s          goroutines of a program without "
	"points\n\n"
	"Exit status: 0; with COMMAND the command's own (128 + N if signal N ended it). "
	"1 the tracer refused or failed, 2 the command line is wrong; with COMMAND 125 for both, "
	"126 the command cannot be run, 127 it is not found.";

/* of files, or of what is kept: there has to be room for what each begins with */
static int record__set_size(const char *value, const struct option_origin *origin, uint64_t *size)
{
	if (option__size(value, origin, size))
		return -EINVAL;
	if (*size >= CAPTURE_FILE_MIN)
		return 0;
	say__error("%s: %s is too small; 64K is the least, 16M or more make sense", origin->name,
		   value);
	return -EINVAL;
}

/* "ran>10ms", also "task-ran>10ms" and with : or = */
static int record__add_trigger(struct record *record, const char *value,
			       const struct option_origin *origin)
{
	static const char *const kinds[] = {"ran", "ready", "suspended"};
	const char *word = strncmp(value, "task-", 5) ? value : value + 5;
	size_t length = strcspn(word, ">:="), i;
	struct capture_trigger *trigger = &record->triggers[record->capture.trigger_count];

	if (record->capture.trigger_count == RECORD_TRIGGERS_MAX) {
		say__error("%s: more than %d", origin->name, RECORD_TRIGGERS_MAX);
		return -EINVAL;
	}
	for (i = 0; i < CAPTURE_TRIGGERS; i++) {
		if (strlen(kinds[i]) == length && !strncmp(kinds[i], word, length))
			break;
	}
	if (i == CAPTURE_TRIGGERS || !word[length]) {
		say__error("%s: '%s' is no condition; write 'ran>10ms', 'ready>5ms' or "
			   "'suspended>1s' (with the quotes, or ran:10ms)",
			   origin->name, value);
		return -EINVAL;
	}
	*trigger = (struct capture_trigger){.kind = (enum capture_trigger_kind)i, .text = value};
	if (option__duration(word + length + 1, origin, &trigger->ns))
		return -EINVAL;
	record->capture.trigger_count++;
	return 0;
}

static int record__add_pid(struct record *record, const char *value,
			   const struct option_origin *origin)
{
	uint64_t number;

	if (option__number(value, origin, 1, INT32_MAX, &number))
		return -EINVAL;
	if (record->pids_of_environment && !origin->environment)
		record->capture.pid_count = 0;
	record->pids_of_environment = origin->environment;
	for (int i = 0; i < record->capture.pid_count; i++)
		if (record->pids[i] == (pid_t)number)
			return 0;
	if (record->capture.pid_count == RECORD_PIDS_MAX) {
		say__error("%s: more than %d processes", origin->name, RECORD_PIDS_MAX);
		return -EINVAL;
	}
	record->pids[record->capture.pid_count++] = (pid_t)number;
	return 0;
}

/* one variable can name several: TRACER_PID=4711,4712 */
static int record__add_pids(struct record *record, const char *value,
			    const struct option_origin *origin)
{
	char *copy = strdup(value), *rest = copy, *word;
	int rc = copy ? 0 : -ENOMEM;

	while (!rc && (word = strsep(&rest, ",")))
		rc = record__add_pid(record, word, origin);
	free(copy);
	return rc;
}

static int record__set_ready_fd(struct record *record, const char *value,
				const struct option_origin *origin)
{
	uint64_t number;

	if (option__number(value, origin, 0, INT32_MAX, &number))
		return -EINVAL;
	if (fcntl((int)number, F_GETFD) < 0) {
		say__error("%s: descriptor %llu is not open; open it in the shell: tracer ... "
			   "%llu>file",
			   origin->name, (unsigned long long)number, (unsigned long long)number);
		return -EINVAL;
	}
	record->capture.ready_fd = (int)number;
	return 0;
}

static int record__set_duration(struct record *record, const char *value,
				const struct option_origin *origin)
{
	if (option__duration(value, origin, &record->capture.duration_ns))
		return -EINVAL;
	if (record->capture.duration_ns)
		return 0;
	say__error("%s: a capture of no length; leave the option out for one without a limit",
		   origin->name);
	return -EINVAL;
}

static int record__set_categories(struct record *record, const char *value,
				  const struct option_origin *origin)
{
	return option__categories(value, origin, &record->capture.categories);
}

static int record__set_word(struct record *record, int key, const char *value,
			    const struct option_origin *origin)
{
	static const char *const clocks[] = {"auto", "tsc", "monotonic", NULL};
	static const char *const fulls[] = {"drop", "stop", "overwrite", NULL};
	static const char *const tracks[] = {"lanes", "task", "workers", NULL};
	unsigned int index;

	switch (key) {
	case KEY_CLOCK:
		if (option__word(value, origin, clocks, &index))
			return -EINVAL;
		record->capture.clock = (enum capture_clock)index;
		return 0;
	case KEY_ON_FULL:
		if (option__word(value, origin, fulls, &index))
			return -EINVAL;
		record->capture.on_full = (enum capture_on_full)index;
		return 0;
	default:
		if (option__word(value, origin, tracks, &index))
			return -EINVAL;
		record->tracks = (enum export_tracks)index;
		return 0;
	}
}

static int record__set_report(struct record *record, const char *value,
			      const struct option_origin *origin)
{
	static const char *const words[] = {"text", "json", NULL};
	unsigned int index = 0;
	static const char *const yes[] = {"1", "yes", "on", "true"};
	static const char *const no[] = {"0", "no", "off", "false"};
	bool plain = !value;

	/* TRACER_REPORT=1 and =0, as for options without a value */
	for (int i = 0; value && origin->environment && i < 4; i++) {
		if (!strcmp(value, no[i]))
			return 0;
		plain |= !strcmp(value, yes[i]);
	}
	if (!plain && option__word(value, origin, words, &index))
		return -EINVAL;
	record->report = true;
	record->report_json = index == 1;
	return 0;
}

static int record__set_number(struct record *record, int key, const char *value,
			      const struct option_origin *origin)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t number;

	if (key == KEY_MAX_FILES) {
		record->max_files_given = true;
		return option__number(value, origin, 0, UINT32_MAX, &record->capture.max_files);
	}
	if (key == KEY_CPU) {
		if (option__number(value, origin, 0, cpus > 0 ? (uint64_t)cpus - 1 : 0, &number))
			return -EINVAL;
		record->capture.cpu = (int)number;
		return 0;
	}
	if (option__number(value, origin, 1, UINT32_MAX, &number))
		return -EINVAL;
	record->capture.sample = (uint32_t)number;
	return 0;
}

static int record__set_specs(struct record *record, int key, const char *value,
			     const struct option_origin *origin)
{
	struct capture_options *capture = &record->capture;
	char *end;

	if (key == KEY_SPEC)
		return specs__add_file(&capture->specs, value);
	if (key == KEY_RUNTIME) {
		record->no_specs = !strcmp(value, "none");
		return record->no_specs ? 0 : specs__add_runtimes(&capture->specs, value, origin);
	}
	capture->max_overhead = strtod(value, &end);
	if (end != value && (!*end || !strcmp(end, "%")) && capture->max_overhead > 0 &&
	    capture->max_overhead <= 100)
		return 0;
	say__error("%s: '%s' is no percentage above 0; as in: --max-overhead 5", origin->name,
		   value);
	return -EINVAL;
}

static int record__set(void *ctx, int key, const char *value, const struct option_origin *origin)
{
	struct record *record = ctx;
	struct capture_options *capture = &record->capture;

	switch (key) {
	case 'p':
		return record__add_pids(record, value, origin);
	case 'o':
		record->output = value;
		return 0;
	case 'd':
		return record__set_duration(record, value, origin);
	case 'c':
		return record__set_categories(record, value, origin);
	case 'q':
	case 'v':
		return option__speech(key);
	case KEY_SAMPLE:
	case KEY_MAX_FILES:
	case KEY_CPU:
		return record__set_number(record, key, value, origin);
	case KEY_TRACKS:
	case KEY_ON_FULL:
	case KEY_CLOCK:
		return record__set_word(record, key, value, origin);
	case KEY_NO_FOLLOW:
		capture->follow = false;
		return 0;
	case KEY_NO_SCHED:
		capture->sched = false;
		return 0;
	case KEY_WAIT_POINTS:
		capture->allow_no_points = true;
		return 0;
	case KEY_WITHOUT:
		capture->without = value;
		return 0;
	case KEY_BUFFER_SIZE:
		return option__size(value, origin, &capture->buffer_size);
	case KEY_MAX_FILE_SIZE:
		return record__set_size(value, origin, &capture->max_file_size);
	case KEY_FLIGHT_RECORDER:
		return record__set_size(value, origin, &capture->flight_size);
	case KEY_TRIGGER:
		return record__add_trigger(record, value, origin);
	case KEY_TRIGGER_AFTER:
		return option__duration(value, origin, &capture->trigger_after_ns);
	case KEY_START_PAUSED:
		capture->start_paused = true;
		return 0;
	case KEY_FLUSH_INTERVAL:
		return option__duration(value, origin, &capture->flush_interval_ns);
	case KEY_POLL_INTERVAL:
		return option__duration(value, origin, &capture->poll_interval_ns);
	case KEY_STACKS:
		return option__stacks(value, origin, &record->stacks);
	case KEY_REPORT:
		return record__set_report(record, value, origin);
	case KEY_STATS_ONLY:
		record->stats_only = true;
		return 0;
	case KEY_READY_FD:
		return record__set_ready_fd(record, value, origin);
	case KEY_SUMMARY:
		record->summary = value;
		return 0;
	case KEY_FORCE:
		record->force = true;
		return 0;
	case KEY_SPEC:
	case KEY_RUNTIME:
	case KEY_MAX_OVERHEAD:
		return record__set_specs(record, key, value, origin);
	default:
		return -EINVAL;
	}
}

static int record__refuse_operand(void *ctx, const char *operand)
{
	(void)ctx;
	say__error("'%s': to start a program put -- before it: tracer [OPTION...] -- %s", operand,
		   operand);
	return -EINVAL;
}

static uint32_t categories__all(void)
{
	uint32_t all = 0;

#define TRACER_CATEGORY(number, name, doc) all |= 1U << (number);
#include "../../usdt/tracer/events.def"
	return all;
}

int record__parse(struct record *record, int argc, char **argv)
{
	struct cmd_parser parser = {
		.options = options,
		.operands = "-p PID\n-- COMMAND [ARG]...",
		.doc = doc,
		.usage_status = STATUS_USAGE,
		.ctx = record,
		.set = record__set,
		.operand = record__refuse_operand,
	};
	struct capture_options *capture = &record->capture;
	int end = 1, rc;

	*record = (struct record){
		.capture =
			{
				.categories = categories__all(),
				.sample = 1,
				.follow = true,
				.sched = true,
				.poll_interval_ns = UINT64_MAX,
				.flush_interval_ns = UINT64_MAX,
				.cpu = -1,
				.ready_fd = -1,
				.compress = true,
			},
	};
	/* what follows the first "--" is the command's, options and all */
	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (end < argc) {
		capture->command = argv + end + 1;
		parser.usage_status = STATUS_TRACER_FAILED;
		argv[end] = NULL;
	}
	rc = cmd__parse(&parser, end, argv);
	if (rc)
		return rc;
	if (capture->command && !capture->command[0]) {
		say__error("no command after --; write: tracer [OPTION...] -- COMMAND [ARG]...");
		return parser.usage_status;
	}
	if (capture->command && record->pids_of_environment)
		capture->pid_count = 0;
	if (capture->command && capture->pid_count) {
		say__error("-p and a command at once; trace one or the other");
		return parser.usage_status;
	}
	if (record->stats_only && (capture->flight_size || capture->max_file_size)) {
		say__error("--stats-only writes no trace, so there is none to cut (%s); leave one "
			   "of them "
			   "out",
			   capture->flight_size ? "--flight-recorder" : "--max-file-size");
		return parser.usage_status;
	}
	if (record->stats_only && record->output) {
		say__error("--stats-only writes no trace, so -o %s has no meaning; leave one of "
			   "them out (figures go to --summary FILE)",
			   record->output);
		return parser.usage_status;
	}
	if (!capture->command && !capture->pid_count) {
		say__error("nothing to trace; write: tracer -p PID, or: tracer -- COMMAND");
		return parser.usage_status;
	}
	if (capture->flight_size && capture->max_file_size) {
		say__error(
			"--flight-recorder and --max-file-size at once; a recorder's files are as "
			"large as what it keeps: leave --max-file-size out");
		return parser.usage_status;
	}
	if (record->stats_only && capture->on_full == CAPTURE_ON_FULL_OVERWRITE) {
		say__error("--stats-only keeps figures, and no records that could go: leave "
			   "--on-full overwrite out, or --stats-only");
		return parser.usage_status;
	}
	if (capture->trigger_count && !capture->flight_size) {
		say__error(
			"--trigger without --flight-recorder: there is no window to write; say how "
			"much to keep: --flight-recorder 64M");
		return parser.usage_status;
	}
	capture->triggers = record->triggers;
	if (capture->flight_size && !record->max_files_given)
		capture->max_files = SNAPSHOTS_MAX;
	if (capture->max_files && !capture->flight_size && !capture->max_file_size) {
		say__error("--max-files without --max-file-size: there is one file; give its size, "
			   "too");
		return parser.usage_status;
	}
	capture->pids = record->pids;
	capture->stacks = &record->stacks;
	if (capture->specs || record->no_specs)
		return 0;
	capture->specs_automatic = true;
	return specs__add_all(&capture->specs) ? parser.usage_status : 0;
}
