// SPDX-License-Identifier: BSD-2-Clause
/* Steering a capture from outside: the recorder's side of tracer ctl. */
#include "control.h"

#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "../base/say.h"
#include "keep.h"

#define WAITERS 16
#define REQUEST_WAIT_MS 200

struct control {
	struct session *session;
	int fd;
	int waiters[WAITERS]; /* connections that wait for a snapshot */
	size_t waiting;
};

struct control *control__new(struct session *session)
{
	struct control *control = calloc(1, sizeof(*control));
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int length;

	if (!control)
		return NULL;
	control->session = session;
	control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* abstract: a NUL first, gone with the process */
	length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, CONTROL_NAME "%d",
			  getpid());
	if (control->fd >= 0 &&
	    (bind(control->fd, (struct sockaddr *)&address,
		  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) ||
	     listen(control->fd, WAITERS))) {
		say__verbose("no control socket: %s; tracer ctl will not reach this capture",
			     strerror(errno));
		close(control->fd);
		control->fd = -1;
	}
	return control;
}

int control__descriptor(const struct control *control)
{
	return control ? control->fd : -1;
}

static void connection__answer(int fd, const char *word, const char *text)
{
	char *line = sentence__new(*text ? "%s %s\n" : "%s\n", word, text);

	if (line && send(fd, line, strlen(line), MSG_NOSIGNAL) < 0)
		say__verbose("tracer ctl went away: %s", strerror(errno));
	free(line);
	close(fd);
}

static void connection__status(const struct session *session, int fd)
{
	struct json_object *json = json_object_new_object(), *pids = json_object_new_array();
	const struct process *process;

	for (process = session->processes; process; process = process->next) {
		if (process->given)
			json_object_array_add(pids, json_object_new_int(process->pid));
	}
	json_object_object_add(json, "pid", json_object_new_int(getpid()));
	json_object_object_add(json, "state",
			       json_object_new_string(session->paused ? "paused" : "recording"));
	json_object_object_add(json, "file", json_object_new_string(session->options->path));
	json_object_object_add(json, "targets", pids);
	json_object_object_add(json, "sample", json_object_new_int64(session->sample));
	json_object_object_add(json, "chunks", json_object_new_int64((int64_t)session->chunks));
	json_object_object_add(json, "bytes", json_object_new_int64((int64_t)session->chunk_bytes));
	json_object_object_add(
		json, "duration_ns",
		json_object_new_int64((int64_t)(now__boottime() - session->started)));
	json_object_object_add(json, "files", json_object_new_int64((int64_t)session->files_made));
	if (session->options->flight_size)
		json_object_object_add(json, "window_bytes",
				       json_object_new_int64((int64_t)keep__window(session->keep)));
	connection__answer(fd, "ok", json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN));
	json_object_put(json);
}

static void control__snapshot(struct control *control, int fd)
{
	if (!control->session->options->flight_size) {
		connection__answer(
			fd, "error",
			"this capture is no flight recorder; record with --flight-recorder SIZE");
		return;
	}
	if (control->waiting == WAITERS) {
		connection__answer(fd, "error",
				   "too many snapshots are asked for at once; try again");
		return;
	}
	control->waiters[control->waiting++] = fd;
	keep__snapshot(control->session->keep);
}

static void control__sample(struct session *session, int fd, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end || !n || n > UINT32_MAX) {
		connection__answer(fd, "error",
				   "sample: a whole number from 1, one task in so many");
		return;
	}
	if (session__set_sample(session, (uint32_t)n))
		connection__answer(fd, "error", "the rate can't be changed; the recorder says why");
	else
		connection__answer(fd, "ok", "");
}

static void control__answer(struct control *control, int fd, char *line)
{
	struct session *session = control->session;

	line[strcspn(line, "\n")] = '\0';
	if (!strcmp(line, "status")) {
		connection__status(session, fd);
	} else if (!strcmp(line, "snapshot")) {
		control__snapshot(control, fd);
	} else if (!strncmp(line, "sample ", 7)) {
		control__sample(session, fd, line + 7);
	} else if (!strcmp(line, "stop") || !strcmp(line, "start")) {
		if (line[2] == 'o' ? session__pause(session) : session__resume(session))
			connection__answer(fd, "error",
					   "its gates can't be opened; the recorder says why");
		else
			connection__answer(fd, "ok", session->paused ? "paused" : "recording");
	} else {
		connection__answer(fd, "error",
				   "not understood; is that tracer as old as this one?");
	}
}

static bool peer__may(int fd)
{
	struct ucred peer = {0};
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
	       (!peer.uid || peer.uid == geteuid());
}

void control__serve(struct control *control)
{
	char line[CONTROL_LINE];
	struct pollfd poll_fd;
	ssize_t got;
	int fd;

	while (control && control->fd >= 0 &&
	       (fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		poll_fd = (struct pollfd){.fd = fd, .events = POLLIN};
		if (!peer__may(fd)) {
			connection__answer(fd, "error",
					   "only root may steer a capture; sudo tracer ctl ...");
			continue;
		}
		got = poll(&poll_fd, 1, REQUEST_WAIT_MS) == 1 ? recv(fd, line, sizeof(line) - 1, 0)
							      : -1;
		if (got <= 0) {
			close(fd);
			continue;
		}
		line[got] = '\0';
		control__answer(control, fd, line);
	}
}

void control__tell_snapshot(struct control *control, const char *path)
{
	while (control && control->waiting)
		connection__answer(control->waiters[--control->waiting], path ? "ok" : "error",
				   path ? path
					: "the window could not be written; the recorder says why");
}

void control__free(struct control *control)
{
	if (!control)
		return;
	control__tell_snapshot(control, NULL);
	if (control->fd >= 0)
		close(control->fd);
	free(control);
}
