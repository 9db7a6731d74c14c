/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stages joined by bounded channels, several tasks a stage; producers and consumers suspend when a
 * channel is full or empty. The last stage sends each item to a sink outside of the runtime: a
 * thread, or with --fork a process.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "demo.h"

#define STAGES 3U
#define TASKS_PER_STAGE 2U
#define CAPACITY 8U
#define CHANNEL_DRAIN 2
#define CHANNEL_SINK 3
#define MARK_EVERY 64U

struct message {
	uint64_t id;
	int64_t value;
	uint64_t source;
};

struct sums {
	uint64_t count;
	int64_t sum;
};

struct stage {
	struct pipeline *pipeline;
	uint32_t number;
};

struct pipeline {
	const struct demo_options *options;
	struct channel *channels[STAGES + 1];
	struct fiber_mutex *mutex;
	struct sums sums; /* under the mutex */
};

/* The sink outlives the runtime, and a run: static, as the demo has one. */
static struct {
	int in, out;	/* the pipe that it reads */
	int results[2]; /* and, as a process, the one it answers by */
	pid_t pid;
	pthread_t thread;
	struct sums sums;
	struct sums expected;
} sink;

static int64_t transform(int64_t value, uint32_t stage)
{
	return (value * 31 + stage) % 1000003;
}

/* unique in all processes and over repeated runs */
static uint64_t message_id(uint64_t item)
{
	return (uint64_t)getpid() << 32 | (sink.expected.count + item);
}

static void *sink__main(void *unused)
{
	struct message message;

	(void)unused;
	POINT2(CHANNEL_NAME, channel_name, CHANNEL_SINK, "sink");
	while (read(sink.in, &message, sizeof(message)) == sizeof(message)) {
		POINT_ZONE("sink");
		POINT3(RECEIVED, received, message.id, message.source, sizeof(message));
		POINT1(FLOW_SHARED_END, flow_shared_end, message.id);
		if (message.id % MARK_EVERY == 0) {
			POINT3(MARKER_SET, marker_set, CHANNEL_SINK, "batch", message.id);
			POINT2(MARKER_FLOW_END, marker_flow_end, CHANNEL_SINK, message.id);
		}
		sink.sums.count++;
		sink.sums.sum += message.value;
	}
	POINT1(MARKER_RESET, marker_reset, CHANNEL_SINK);
	return NULL;
}

static int before(const struct demo_options *options)
{
	int fds[2];
	bool ok;

	if (pipe(fds) || (options->fork && pipe(sink.results)))
		return -errno;
	sink.in = fds[0];
	sink.out = fds[1];
	if (!options->fork)
		return -pthread_create(&sink.thread, NULL, sink__main, NULL);
	sink.pid = fork();
	if (sink.pid < 0)
		return -errno;
	if (sink.pid)
		return close(sink.results[1]);
	journal__forked();
	close(sink.out);
	sink__main(NULL);
	ok = write(sink.results[1], &sink.sums, sizeof(sink.sums)) == sizeof(sink.sums);
	_exit(ok ? 0 : 1);
}

static int after(const struct demo_options *options)
{
	int status = 0, wrong = 0;

	close(sink.out);
	if (options->fork) {
		wrong = read(sink.results[0], &sink.sums, sizeof(sink.sums)) != sizeof(sink.sums);
		close(sink.results[0]);
		waitpid(sink.pid, &status, 0);
		wrong |= status != 0;
	} else {
		pthread_join(sink.thread, NULL);
	}
	close(sink.in);
	wrong |= demo__check("pipeline: messages received", (int64_t)sink.sums.count,
			     (int64_t)sink.expected.count);
	return wrong | demo__check("pipeline: sum of messages", sink.sums.sum, sink.expected.sum);
}

static int producer(void *arg, int64_t *value)
{
	struct pipeline *pipeline = arg;

	for (uint64_t item = 1; item <= pipeline->options->size; item++) {
		POINT_ZONE("produce");
		POINT1(FLOW_START, flow_start, message_id(item));
		runtime__work(pipeline->options->work_ns);
		channel__send(pipeline->channels[0], (int64_t)item);
	}
	channel__sender_done(pipeline->channels[0]);
	*value = 0;
	return 0;
}

/* An item is its number below its value: number + value << 32. */
static int stage_main(void *arg, int64_t *value)
{
	struct stage *stage = arg;
	struct pipeline *pipeline = stage->pipeline;
	int64_t item;

	while (channel__receive(pipeline->channels[stage->number], &item)) {
		uint64_t number = (uint32_t)item;

		POINT_ZONE("stage");
		POINT1(FLOW_STEP, flow_step, message_id(number));
		runtime__work(pipeline->options->work_ns);
		item = transform(item >> 32, stage->number) << 32 | (int64_t)number;
		channel__send(pipeline->channels[stage->number + 1], item);
	}
	channel__sender_done(pipeline->channels[stage->number + 1]);
	*value = 0;
	return 0;
}

static void pass_on(const struct demo_options *options, uint64_t number, int64_t value)
{
	struct message message = {message_id(number), value, (uint64_t)getpid()};
	uint64_t destination = (uint64_t)(options->fork ? sink.pid : getpid());

	POINT1(FLOW_END, flow_end, message.id);
	POINT1(FLOW_SHARED_START, flow_shared_start, message.id);
	if (message.id % MARK_EVERY == 0) {
		POINT3(MARKER_SET, marker_set, CHANNEL_DRAIN, "batch", number);
		POINT2(MARKER_FLOW_START, marker_flow_start, CHANNEL_DRAIN, message.id);
	}
	POINT3(SENT, sent, message.id, destination, sizeof(message));
	if (write(sink.out, &message, sizeof(message)) != sizeof(message))
		abort();
}

static int drain(void *arg, int64_t *value)
{
	struct pipeline *pipeline = arg;
	int64_t item;

	while (channel__receive(pipeline->channels[STAGES], &item)) {
		POINT_ZONE("drain");
		pass_on(pipeline->options, (uint32_t)item, item >> 32);
		fiber_mutex__lock(pipeline->mutex);
		pipeline->sums.count++;
		pipeline->sums.sum += item >> 32;
		/* so that the others come to wait */
		if (pipeline->sums.count % 16 == 0)
			task__yield();
		fiber_mutex__unlock(pipeline->mutex);
		DEMO_COUNTER("items", item & 0xffffffff);
	}
	*value = 0;
	return 0;
}

static int root(void *arg, int64_t *value)
{
	struct pipeline *pipeline = arg;
	struct future *futures[1 + (STAGES + 1) * TASKS_PER_STAGE];
	struct stage stages[STAGES];
	uint32_t count = 0;
	char name[32];

	futures[count++] = task__spawn(NULL, "producer", producer, pipeline);
	for (uint32_t i = 0; i < STAGES; i++) {
		stages[i] = (struct stage){pipeline, i};
		snprintf(name, sizeof(name), "stage %u", i);
		for (uint32_t j = 0; j < TASKS_PER_STAGE; j++)
			futures[count++] = task__spawn_named(NULL, name, stage_main, &stages[i]);
	}
	for (uint32_t j = 0; j < TASKS_PER_STAGE; j++)
		futures[count++] = task__spawn(NULL, "drain", drain, pipeline);
	for (uint32_t i = 0; i < count; i++) {
		future__wait(futures[i], NULL);
		future__release(futures[i]);
	}
	*value = 0;
	return 0;
}

static int run(struct runtime *runtime, const struct demo_options *options)
{
	struct pipeline pipeline = {.options = options};
	struct future *future;
	int64_t expected = 0;
	int wrong;

	POINT2(CHANNEL_NAME, channel_name, CHANNEL_DRAIN, "drain");
	pipeline.mutex = fiber_mutex__new("pipeline sums");
	for (uint32_t i = 0; i <= STAGES; i++)
		pipeline.channels[i] = channel__new("stage", CAPACITY, i ? TASKS_PER_STAGE : 1);
	for (uint64_t item = 1; item <= options->size; item++) {
		int64_t value = 0;

		for (uint32_t i = 0; i < STAGES; i++)
			value = transform(value, i);
		expected += value;
	}
	future = task__spawn(runtime, "pipeline root", root, &pipeline);
	future__wait(future, NULL);
	future__release(future);
	wrong = demo__check("pipeline: items", (int64_t)pipeline.sums.count,
			    (int64_t)options->size);
	wrong |= demo__check("pipeline: sum", pipeline.sums.sum, expected);
	sink.expected.count += options->size;
	sink.expected.sum += expected;
	POINT1(MARKER_RESET, marker_reset, CHANNEL_DRAIN);
	for (uint32_t i = 0; i <= STAGES; i++)
		channel__free(pipeline.channels[i]);
	fiber_mutex__free(pipeline.mutex);
	return wrong;
}

const struct demo demo_pipeline = {
	.name = "pipeline",
	.doc = "stages with bounded channels and a sink outside; size: items",
	.default_size = 1000,
	.before = before,
	.run = run,
	.after = after,
};
