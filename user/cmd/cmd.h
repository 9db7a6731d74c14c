/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands of the command line, and what they share. */
#ifndef TRACER_CMD_CMD_H
#define TRACER_CMD_CMD_H

#include <argp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACER_VERSION "0.1.0"

/* Exit statuses of the tracer itself; `record -- COMMAND` has others (see record.c). */
#define STATUS_OK 0
#define STATUS_REFUSED 1 /* a refusal, or a failure on the way */
#define STATUS_USAGE 2	 /* the command line makes no sense */
#define STATUS_TRACER_FAILED 125

/* Each takes its own name as argv[0] and returns the exit status. */
int record__main(int argc, char **argv);
int export__main(int argc, char **argv);
int report__main(int argc, char **argv);
int merge__main(int argc, char **argv);
int list__main(int argc, char **argv);
int doctor__main(int argc, char **argv);
int ctl__main(int argc, char **argv);

/* Where an option's value comes from; `name` is what the user wrote: "--duration",
 * "TRACER_DURATION" */
struct option_origin {
	const char *name;
	bool environment;
};

/*
 * A command's options. The same table serves the command line (argp) and the environment:
 * TRACER_<LONG NAME>, dashes to underscores; taken first, so that the command line wins.
 */
struct cmd_parser {
	const struct argp_option *options;
	const char *operands; /* as in "Usage: tracer export [OPTION...] CAPTURE" */
	const char *doc;      /* one line, \v, examples */
	int usage_status;     /* exit status if the command line makes no sense */
	void *ctx;
	/* both return 0, or -EINVAL after telling the user */
	int (*set)(void *ctx, int key, const char *value, const struct option_origin *origin);
	int (*operand)(void *ctx, const char *operand);
};

/* cmd__parse() - environment, then command line; 0 or an exit status. --help prints and exits. */
int cmd__parse(struct cmd_parser *parser, int argc, char **argv);

/* Operands that are the files of one capture. */
struct operands {
	const char **paths;
	size_t count;
};

/* operands__add() - 0 or -ENOMEM */
int operands__add(struct operands *operands, const char *path);
/* operands__hint() - a single file that is one of several: says that the others can be named, too
 */
void operands__hint(const struct operands *operands, const char *command);

/* Values of options; each returns 0, or -EINVAL after naming @origin, @text and what would be
 * right. */
int option__duration(const char *text, const struct option_origin *origin, uint64_t *ns);
int option__size(const char *text, const struct option_origin *origin, uint64_t *bytes);
int option__number(const char *text, const struct option_origin *origin, uint64_t least,
		   uint64_t most, uint64_t *number);
/* option__word() - index of @text in @words (NULL at the end) */
int option__word(const char *text, const struct option_origin *origin, const char *const words[],
		 unsigned int *index);
/* option__categories() - "task,steal" to bits */
int option__categories(const char *text, const struct option_origin *origin, uint32_t *bits);
/* option__speech() - the keys q and v, which every command has */
int option__speech(int key);

#define OPTIONS_SPEECH                                                                    \
	{"quiet", 'q', NULL, 0, "Say only what goes wrong", 90},                          \
	{                                                                                 \
		"verbose", 'v', NULL, 0, "Say more; -vv for developers of the tracer", 90 \
	}

/*
 * signals__catch() - SIGINT, SIGTERM and SIGHUP count instead of killing
 * @pipes: and SIGPIPE does nothing, since nobody who stops reading our words ends the work
 */
void signals__catch(bool pipes);
/* signals__flag() - how many came since signals__next() */
const volatile sig_atomic_t *signals__flag(void);
/* signals__snapshots() - from here on SIGUSR1 counts, too; how many came */
const volatile sig_atomic_t *signals__snapshots(void);
/* signals__next() - one has been answered: the flag now holds what came after it */
void signals__next(void);

#endif /* TRACER_CMD_CMD_H */
