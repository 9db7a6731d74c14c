/* SPDX-License-Identifier: BSD-2-Clause */
/* Ctrl-C and its relatives: counted, so that the first can end a capture and the second its export.
 */
#include "cmd.h"

static volatile sig_atomic_t came;
static volatile sig_atomic_t snapshots;

static void signal__count(int number)
{
	(void)number;
	came = came + 1;
}

static void signal__snapshot(int number)
{
	(void)number;
	snapshots = snapshots + 1;
}

/* not SIG_IGN: a command would inherit that */
static void signal__pass_over(int number)
{
	(void)number;
}

void signals__catch(bool pipes)
{
	struct sigaction action = {.sa_handler = signal__count};

	/* no SA_RESTART: who waits shall look at the flag */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	if (!pipes)
		return;
	action.sa_handler = signal__pass_over;
	sigaction(SIGPIPE, &action, NULL);
}

const volatile sig_atomic_t *signals__flag(void)
{
	return &came;
}

const volatile sig_atomic_t *signals__snapshots(void)
{
	struct sigaction action = {.sa_handler = signal__snapshot};

	sigaction(SIGUSR1, &action, NULL);
	return &snapshots;
}

void signals__next(void)
{
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (came)
		came = came - 1;
	sigprocmask(SIG_SETMASK, &before, NULL);
}
