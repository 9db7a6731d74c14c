// SPDX-License-Identifier: BSD-2-Clause
/*
 * Recording less for a while: not at all (tracer ctl stop, start), or another share of the tasks
 * (ctl sample). Gates open and close one after the other, so what comes while they do is of no use:
 * the file says from when to when, and readers show nothing in between (REC_PAUSE).
 */
#include <errno.h>
#include "../base/say.h"
#include "session.h"

void session__tell_pause(struct session *session, enum rec_paused paused)
{
	struct rec_pause record = {
		.h = {sizeof(record), REC_PAUSE, 0, now__boottime()},
		.paused = paused,
		.sample = session->sample,
	};

	file_writer__record(session->writer, &record, sizeof(record));
}

int session__pause(struct session *session)
{
	if (session->paused)
		return 0;
	session->paused = true;
	session__tell_pause(session, REC_PAUSED);
	session__close_gates(session);
	session__detach_sched(session);
	say__verbose("paused");
	return 0;
}

int session__resume(struct session *session)
{
	int err;

	if (!session->paused)
		return 0;
	err = session__attach_sched(session);
	if (!err)
		err = session__open_gates(session);
	if (err) {
		session__close_gates(session);
		session__detach_sched(session);
		return err;
	}
	session->paused = false;
	session__tell_pause(session, REC_SHOWN);
	say__verbose("recording");
	return 0;
}

/* the gates know powers of two; the reader leaves out the rest */
int sample__level(uint32_t sample)
{
	int level = 16;

	for (; sample > 1 && level > 0; sample /= 2)
		level--;
	return level;
}

int session__set_sample(struct session *session, uint32_t sample)
{
	bool paused = session->paused;
	int err = 0;

	if (sample == session->sample)
		return 0;
	if (!paused)
		session__tell_pause(session, REC_PAUSED);
	session->sample = sample;
	session->sample_level = sample__level(sample);
	if (!paused)
		err = session__change_how(session);
	session__tell_pause(session, paused ? REC_PAUSED : REC_SHOWN);
	say__verbose("one task in %u", sample);
	return err;
}
