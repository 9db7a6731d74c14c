/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters: what is left is a trace without anomalies, in which tasks run as long as they do in the
 * part of the whole that was asked for.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "told.h"
#include "trace/filter.h"

/* --- by hand --- */

struct through { /* script -> filter -> model */
	struct filter *filter;
	struct told told;
};

static void feed_through(void *ctx, const struct event *event)
{
	struct through *through = ctx;
	struct event out;

	assert_int_equal(filter__take(through->filter, event), 0);
	while (filter__give(through->filter, &out))
		told__feed(&through->told, &out);
}

static void expect(const char *script, const struct trace_filter *what, const char *expected)
{
	struct through through = {.filter = filter__new(what)};

	assert_non_null(through.filter);
	told__open(&through.told);
	script__run(script, feed_through, &through);
	fflush(through.told.out);
	if (!told__matches(through.told.text, expected)) {
		fprintf(stderr, "--- told:\n%s--- expected:\n%s---\n", through.told.text, expected);
		fail();
	}
	assert_int_equal(through.told.begun, through.told.ended);
	assert_int_equal(through.told.born, through.told.gone);
	for (int k = 0; k < ANOMALY_KINDS; k++)
		assert_int_equal(model__anomalies(through.told.model, (enum model_anomaly)k), 0);
	told__close(&through.told);
	filter__free(through.filter);
}

static const char two_tasks[] = "0 t1 process demo -\n"
				"0 t1 worker_start w0 -\n"
				"1 t2 worker_start w1 -\n"
				"2 t1 created a alpha 0\n"
				"3 t1 created b beta a\n"
				"10 t1 begin a w0\n"
				"12 t1 zone_begin outer - -\n"
				"14 t2 begin b w1\n"
				"20 t1 suspended a wait f\n"
				"25 t2 resumed a set f\n"
				"30 t2 completed b\n"
				"31 t2 destroyed b\n"
				"32 t2 begin a w1\n"
				"40 t2 zone_end\n"
				"50 t2 completed a\n"
				"60 t1 finish\n";

static void one_task_by_name(void **state)
{
	const char *names[] = {"alp*"};
	struct trace_filter what = {.tasks = names, .task_count = 1, .to = UINT64_MAX};

	(void)state;
	expect(two_tasks, &what,
	       "...\n"
	       "2 born a#1 alpha parent 0#0\n"
	       "...\n"
	       "10 run a#1 t1 w0 number 0\n"
	       "...\n"
	       "50 completed a#1 t2\n"
	       "60 gone a#1 finished completed name alpha run 28 self 28 suspended 5 ready 15\n");
}

static void a_window_in_the_middle(void **state)
{
	struct trace_filter what = {.from = 22000, .to = 35000};

	(void)state;
	expect(two_tasks, &what,
	       "22 born a#1 alpha parent 0#0\n"
	       "22 gap a#1 suspended for wait on f\n"
	       "22 born b#2 beta parent a#1\n"
	       "22 worker t2 w1 -\n"
	       "22 run b#2 t2 w1 number 0\n"
	       "22 worker t1 w0 -\n"
	       "25 resumed a#1 t2\n"
	       "25 over a#1 suspended 3 by set\n"
	       "25 waker #2 t2 object f\n"
	       "25 gap a#1 ready\n"
	       "30 stop b#2 completed after 8\n"
	       "30 completed b#2 t2\n"
	       "31 destroyed b#2 t2\n"
	       "31 gone b#2 finished completed name beta run 8 self 8 suspended 0 ready 0\n"
	       "32 over a#1 ready 7\n"
	       "32 run a#1 t2 w1 number 0\n"
	       "35 stop a#1 cut after 3\n"
	       "35 gone a#1 unfinished running name alpha run 3 self 3 suspended 3 ready 7\n");
}

/* --- by chance: a scheduler that makes sense --- */

#define TASKS 12
#define WORKERS 4
#define STEPS 6000

struct stay_sum { /* of stays, clipped to a window */
	uint64_t from, to;
	uint64_t run[TASKS]; /* by identity - 1 */
	bool seen[TASKS];
	uint64_t first, last;
	uint32_t worker; /* UINT32_MAX: all */
};

static void sum_stay(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how)
{
	struct stay_sum *sum = ctx;
	uint64_t from = stay->begin > sum->from ? stay->begin : sum->from;
	uint64_t to = time < sum->to ? time : sum->to;

	(void)how;
	if (to > from && (sum->worker == UINT32_MAX || sum->worker == stay->worker))
		sum->run[stay->task->identity - 1] += to - from;
}

static void sum_born(void *ctx, struct model_task *task, uint64_t time)
{
	struct stay_sum *sum = ctx;

	(void)time;
	sum->seen[task->identity - 1] = true;
}

static const struct model_ops sum_ops = {.stay_end = sum_stay, .task_born = sum_born};

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct program {
	struct event *events;
	size_t count, room;
	uint64_t time, random;
	int on[WORKERS];  /* task that runs there, or -1 */
	int state[TASKS]; /* 0 none, 1 ready, 2 runs, 3 suspended */
	int zones[TASKS];
	bool asleep[WORKERS];
};

static struct event *say(struct program *p, int worker, uint16_t type, int nargs)
{
	struct event *event;

	if (p->count == p->room) {
		p->room = p->room ? 2 * p->room : 1024;
		p->events = realloc(p->events, p->room * sizeof(*p->events));
		assert_non_null(p->events);
	}
	event = &p->events[p->count++];
	p->time += 2000 + random_next(&p->random) % 3000;
	*event = (struct event){.time = p->time,
				.type = (uint16_t)type,
				.nargs = (uint8_t)nargs,
				.pid = 100,
				.tid = 200 + (uint32_t)worker};
	return event;
}

static const char *const names[] = {"red", "green", "blue"};

static void stop(struct program *p, int worker, uint16_t type, int state)
{
	int task = p->on[worker];

	for (; type == EV_task_completed && p->zones[task]; p->zones[task]--)
		say(p, worker, EV_zone_end, 0);
	say(p, worker, type, 3)->args[0].u = (uint64_t)task + 1;
	p->on[worker] = -1;
	p->state[task] = state;
	if (type == EV_task_suspended)
		p->events[p->count - 1].args[1].s = names[task % 3];
	if (!state)
		say(p, worker, EV_task_destroyed, 1)->args[0].u = (uint64_t)task + 1;
}

/* what a worker does while a task runs on it */
static void run_step(struct program *p, int worker, unsigned int what)
{
	int task = p->on[worker];
	struct event *event;

	switch (what % 8) {
	case 0:
		stop(p, worker, EV_task_suspended, 3);
		break;
	case 1:
		stop(p, worker, EV_task_yielded, 1);
		break;
	case 2:
		stop(p, worker, EV_task_completed, 0);
		break;
	case 3:
	case 4:
		event = say(p, worker, EV_zone_begin, 3);
		event->args[0].s = event->args[1].s = event->args[2].s = names[what % 3];
		p->zones[task]++;
		break;
	case 5:
		if (p->zones[task]) {
			say(p, worker, EV_zone_end, 0);
			p->zones[task]--;
		}
		break;
	default:
		event = say(p, worker, EV_continuation_begin, 2);
		event->args[0].u = 7;
		event->args[1].u = 0x900 + (uint64_t)worker;
		event = say(p, worker, EV_continuation_end, 2);
		event->args[0].u = 7;
		event->args[1].u = 0x900 + (uint64_t)worker;
	}
}

static void idle_step(struct program *p, int worker, int task, unsigned int what)
{
	struct event *event;

	if (p->asleep[worker] || what % 8 == 0) {
		say(p, worker, p->asleep[worker] ? EV_worker_sleep_end : EV_worker_sleep_begin, 2)
			->args[0]
			.u = (uint64_t)worker;
		p->asleep[worker] = !p->asleep[worker];
	} else if (p->state[task] == 0) {
		event = say(p, worker, EV_task_created, 3);
		event->args[0].u = (uint64_t)task + 1;
		event->args[1].s = names[task % 3];
		p->state[task] = 1;
	} else if (p->state[task] == 1) {
		event = say(p, worker, EV_task_begin, 2);
		event->args[0].u = (uint64_t)task + 1;
		event->args[1].u = (uint64_t)worker;
		p->state[task] = 2;
		p->on[worker] = task;
	} else if (p->state[task] == 3) {
		event = say(p, worker, EV_task_resumed, 3);
		event->args[0].u = (uint64_t)task + 1;
		event->args[1].s = "set";
		p->state[task] = 1;
	}
}

static void program__run(struct program *p, uint64_t seed)
{
	struct event *event;

	*p = (struct program){.random = seed, .time = 1000000};
	event = say(p, 0, EV_process, 2);
	event->args[0].s = "demo";
	for (int w = 0; w < WORKERS; w++) {
		say(p, w, EV_worker_start, 2)->args[0].u = (uint64_t)w;
		p->on[w] = -1;
	}
	for (int step = 0; step < STEPS; step++) {
		unsigned int dice = (unsigned int)(random_next(&p->random) >> 20);
		int worker = (int)(dice % WORKERS);

		if (p->on[worker] >= 0)
			run_step(p, worker, dice / 64);
		else
			idle_step(p, worker, (int)(dice / 8 % TASKS), dice / 512);
	}
	say(p, 0, EV_end, 0);
}

/* events through a filter (or NULL) and a model; fails on an anomaly */
static void sum_up(const struct program *p, const struct trace_filter *what, struct stay_sum *sum)
{
	struct filter *filter = what ? filter__new(what) : NULL;
	struct model *model = model__new();
	struct event event;
	uint64_t last = 0;

	assert_int_equal(model__add_sink(model, &sum_ops, sum), 0);
	for (size_t i = 0; i < p->count; i++) {
		event = p->events[i];
		if (filter)
			assert_int_equal(filter__take(filter, &event), 0);
		while (!filter || filter__give(filter, &event)) {
			assert_true(event.time >= last);
			last = event.time;
			if (what && what->to != UINT64_MAX)
				assert_true(event.time <= p->events[0].time + what->to);
			assert_int_equal(model__event(model, &event), 0);
			if (!filter)
				break;
		}
	}
	assert_int_equal(event.type, EV_end);
	assert_int_equal(model__end(model, last), 0);
	for (int k = 0; k < ANOMALY_KINDS; k++)
		if (model__anomalies(model, (enum model_anomaly)k))
			fail_msg("%" PRIu64 " %s", model__anomalies(model, (enum model_anomaly)k),
				 model__anomaly_name((enum model_anomaly)k));
	model__free(model);
	filter__free(filter);
}

static void compare(const struct program *p, const struct trace_filter *what, uint32_t worker,
		    const char *only)
{
	struct stay_sum whole = {.from = p->events[0].time + what->from,
				 .to = what->to == UINT64_MAX ? UINT64_MAX
							      : p->events[0].time + what->to,
				 .worker = worker};
	struct stay_sum part = {.to = UINT64_MAX, .worker = UINT32_MAX};

	sum_up(p, NULL, &whole);
	sum_up(p, what, &part);
	for (int task = 0; task < TASKS; task++) {
		bool wanted = !only || !strcmp(only, names[task % 3]);

		assert_int_equal(part.run[task], wanted ? whole.run[task] : 0);
		if (!wanted)
			assert_false(part.seen[task]);
	}
}

static void as_long_as_in_the_whole(void **state)
{
	const char *one[] = {"green"};
	struct program p;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t length, from, to;
		struct filter_range workers = {(uint32_t)(seed % WORKERS),
					       (uint32_t)(seed % WORKERS)};

		program__run(&p, seed * 7919);
		length = p.time - p.events[0].time;
		from = random_next(&p.random) % length;
		to = from + 1 + random_next(&p.random) % (length - from);
		compare(&p, &(struct trace_filter){.to = UINT64_MAX}, UINT32_MAX, NULL);
		compare(&p, &(struct trace_filter){.from = from, .to = to}, UINT32_MAX, NULL);
		compare(&p, &(struct trace_filter){.tasks = one, .task_count = 1, .to = UINT64_MAX},
			UINT32_MAX, "green");
		compare(&p,
			&(struct trace_filter){
				.workers = &workers, .worker_count = 1, .to = UINT64_MAX},
			workers.first, NULL);
		compare(&p,
			&(struct trace_filter){.tasks = one,
					       .task_count = 1,
					       .workers = &workers,
					       .worker_count = 1,
					       .from = from,
					       .to = to},
			workers.first, "green");
		/* zones that stop with their tasks, although the tasks are left out */
		sum_up(&p, &(struct trace_filter){.categories = 1U << 5, .to = UINT64_MAX},
		       &(struct stay_sum){0});
		sum_up(&p,
		       &(struct trace_filter){
			       .categories = 1U << 5 | 1U << 3, .from = from, .to = to},
		       &(struct stay_sum){0});
		free(p.events);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_task_by_name),
		cmocka_unit_test(a_window_in_the_middle),
		cmocka_unit_test(as_long_as_in_the_whole),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
