// SPDX-License-Identifier: BSD-2-Clause
/*
 * Markers, channels and flows. markers WAY: what it does is known beforehand, and tests/e2e/markers.py
 * expects it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <tracer/tracer.h>

#define CHANNELS 65536

static void work(long us)
{
	struct timespec time = {0, us * 1000};

	nanosleep(&time, NULL);
}

/* a set ends the one before; extras; colours, given and not; a name that comes after the markers */
static void plain(void)
{
	TRACER_MARKER_COLOR("red", 0xff0000);
	TRACER_MARKER_SET(7, "red", 1);
	work(2000);
	TRACER_MARKER_SET(7, "first", 2);
	work(2000);
	TRACER_MARKER_SET(7, "second", TRACER_UNKNOWN);
	work(1000);
	TRACER_MARKER_SET(7, "first", 0);
	TRACER_MARKER_RESET(7);
	TRACER_MARKER_RESET(7);
	TRACER_MARKER_SET(8, "left open", 3);
	TRACER_CHANNEL_NAME(7, "seventh");
	TRACER_CHANNEL_NAME(8, "eighth");
}

/* as many channels as there can be, and a name of its own for each marker */
static void many(void)
{
	char name[32];
	uint32_t i;

	for (i = 0; i < CHANNELS; i++) {
		snprintf(name, sizeof(name), "marker %u", i);
		TRACER_MARKER_SET(i, name, i);
		if (!(i % 1024))
			TRACER_CHANNEL_NAME(i, name);
	}
	for (i = 0; i < CHANNELS; i++)
		TRACER_MARKER_RESET(i);
}

static void *receive(void *arg)
{
	(void)arg;
	TRACER_MARKER_SET(1, "receive", 0);
	TRACER_MARKER_FLOW_END(1, 501);
	{
		TRACER_ZONE("receiver");

		TRACER_FLOW_END(502);
	}
	TRACER_MARKER_RESET(1);
	return NULL;
}

/* arrows across channels, threads and processes */
static void flows(void)
{
	pthread_t id;
	pid_t child;
	int ends[2];
	char byte;

	TRACER_MARKER_SET(0, "send", 0);
	TRACER_MARKER_FLOW_START(0, 501);
	{
		TRACER_ZONE("sender");

		TRACER_FLOW_START(502);
		TRACER_FLOW_SHARED_START(503);
	}
	if (pthread_create(&id, NULL, receive, NULL))
		exit(1);
	pthread_join(id, NULL);
	if (pipe(ends))
		exit(1);
	child = fork();
	if (!child) {
		if (read(ends[0], &byte, 1) != 1)
			_exit(1);
		TRACER_MARKER_SET(0, "in another process", 0);
		TRACER_MARKER_FLOW_END(0, 504);
		TRACER_FLOW_SHARED_END(503);
		TRACER_MARKER_RESET(0);
		_exit(0);
	}
	TRACER_MARKER_FLOW_START(0, 504);
	if (write(ends[1], "x", 1) != 1)
		exit(1);
	waitpid(child, NULL, 0);
	TRACER_MARKER_RESET(0);
}

/* nothing is shown from OFF to ON */
static void off_and_on(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		TRACER_MARKER_SET(2, "seen", i);
		TRACER_MARKER_RESET(2);
		TRACER_CAPTURE_OFF();
		TRACER_MARKER_SET(2, "not seen", i);
		TRACER_MARKER_RESET(2);
		TRACER_CAPTURE_ON();
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (!strcmp(way, "plain"))
		plain();
	else if (!strcmp(way, "many"))
		many();
	else if (!strcmp(way, "flows"))
		flows();
	else if (!strcmp(way, "off"))
		off_and_on();
	else
		return 2;
	return 0;
}
