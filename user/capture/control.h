/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steering a capture from outside (tracer ctl): an abstract Unix socket "tracer-ctl.PID", PID the
 * recorder's. A request is one line, its answer is one, and the connection ends; only root, and the
 * user whose recorder it is, may ask.
 *
 *	start | stop | snapshot | sample N | status
 *
 *	ok [TEXT]	done; TEXT is the snapshot's file, or the status as JSON
 *	error TEXT	a sentence
 */
#ifndef TRACER_CAPTURE_CONTROL_H
#define TRACER_CAPTURE_CONTROL_H

#define CONTROL_NAME "tracer-ctl."
#define CONTROL_LINE 4096

#ifndef CONTROL_NAME_ONLY
#include "session.h"

struct control;
/* without a socket the capture goes on, it can't be steered then */
struct control *control__new(struct session *session);
/* a descriptor to poll, or -1 */
int control__descriptor(const struct control *control);
void control__serve(struct control *control);
/* answers those who wait for a snapshot; @path NULL: it failed */
void control__tell_snapshot(struct control *control, const char *path);
void control__free(struct control *control);
#endif

#endif /* TRACER_CAPTURE_CONTROL_H */
