// SPDX-License-Identifier: BSD-2-Clause
/*
 * A thread is interrupted by signals whose handler has points, while it runs through points itself.
 *	signals fast		literals, so the interrupted points are inlined ones
 *	signals slow		names made at run time, in both
 *	signals first		many threads; the first point of each may be the handler's or be interrupted
 *	signals jump		the handler leaves by siglongjmp now and then
 * Goes on until enough signals have come; prints how often each counter was recorded.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tracer/tracer.h>

static _Atomic uint64_t handled;
static int slow, jumps, jumps_left;
static volatile sig_atomic_t may_jump;
static sigjmp_buf back;

static void handler(int signal)
{
	char name[16];
	uint64_t n;

	(void)signal;
	/* one thread at a time is interrupted, and the signal is blocked in here */
	n = atomic_load_explicit(&handled, memory_order_relaxed);
	if (slow) {
		/* different contents, so that windows need NAME records of the handler's too */
		memcpy(name, "handler?", 9);
		name[7] = (char)('a' + n % 8);
		TRACER_COUNTER(name, n);
	} else {
		TRACER_COUNTER("handler", n);
	}
	atomic_store_explicit(&handled, n + 1, memory_order_relaxed);
	if (may_jump && jumps_left && n % 25 == 24) {
		jumps_left--;
		may_jump = 0;
		siglongjmp(back, 1);
	}
}

/* every 20 us of time passed; a kernel's timer, so that a busy machine does not starve it */
static void start_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec every = {{0, 20000}, {0, 20000}};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL))
		abort();
}

static uint64_t loop(uint64_t signals)
{
	static volatile uint64_t i;
	char name[16] = "main?";

	if (jumps)
		sigsetjmp(back, 1);
	while (atomic_load_explicit(&handled, memory_order_relaxed) < signals || jumps_left) {
		uint64_t n = i;

		if (slow) {
			name[4] = (char)('a' + n % 8);
			TRACER_COUNTER(name, n);
		} else if (jumps) {
			/* the point before the jump may not have returned: not counted on */
			may_jump = 1;
			TRACER_MESSAGE("may be left");
			may_jump = 0;
			TRACER_COUNTER("main", n);
		} else {
			TRACER_COUNTER("main", n);
		}
		i = n + 1;
	}
	return i;
}

/* short-lived threads: their first point while signals come in */
static pthread_barrier_t barrier;

static void *short_lived(void *argument)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 3; i++)
		TRACER_QUEUE_DEPTH(1, (uintptr_t)argument);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void first_points(uintptr_t threads)
{
	pthread_barrier_init(&barrier, NULL, 2);
	for (uintptr_t i = 0; i < threads; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, short_lived, (void *)i);
		pthread_barrier_wait(&barrier);
		for (int k = 0; k < 20; k++)
			pthread_kill(thread, SIGUSR1);
		pthread_barrier_wait(&barrier);
		pthread_join(thread, NULL);
	}
	printf("%ju %ju\n", (uintmax_t)threads, (uintmax_t)atomic_load(&handled));
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "fast";
	struct sigaction action = {.sa_handler = handler};
	uint64_t count;

	slow = !strcmp(kind, "slow");
	jumps = jumps_left = strcmp(kind, "jump") ? 0 : 20;
	sigaction(SIGUSR1, &action, NULL);
	if (!strcmp(kind, "first")) {
		first_points(500);
		return 0;
	}
	start_timer();
	count = loop(1000);
	signal(SIGUSR1, SIG_IGN);
	printf("%ju %ju %d\n", (uintmax_t)count, (uintmax_t)atomic_load(&handled), jumps - jumps_left);
	return 0;
}
