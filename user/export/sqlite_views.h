/* SPDX-License-Identifier: BSD-2-Clause */
/* Views for the questions that are asked most; docs/formats.md has an example of each. */
#ifndef TRACER_EXPORT_SQLITE_VIEWS_H
#define TRACER_EXPORT_SQLITE_VIEWS_H

static const char *const sqlite_views[] = {
	/* figures of the tasks of one name */
	"CREATE VIEW task_summary AS"
	" SELECT name, count(*) AS count, sum(stays) AS stays, sum(run_ns) AS run_ns,"
	" sum(self_ns) AS self_ns, sum(suspended_ns) AS suspended_ns, sum(ready_ns) AS ready_ns,"
	" min(run_ns) AS min_run_ns, avg(run_ns) AS mean_run_ns, max(run_ns) AS max_run_ns"
	" FROM tasks GROUP BY name ORDER BY sum(run_ns) DESC",

	/* what tasks wait for, and how long */
	"CREATE VIEW suspension_summary AS"
	" SELECT reason, count(*) AS count, sum(end_ns - begin_ns) AS total_ns,"
	" avg(end_ns - begin_ns) AS mean_ns, max(end_ns - begin_ns) AS max_ns"
	" FROM gaps WHERE kind = 'suspended' GROUP BY reason ORDER BY total_ns DESC",

	/* who makes tasks go on, and how long it takes until they do */
	"CREATE VIEW wake_summary AS"
	" SELECT cause, count(*) AS count, avg(end_ns - begin_ns) AS mean_ready_to_run_ns,"
	" max(end_ns - begin_ns) AS max_ready_to_run_ns"
	" FROM gaps WHERE kind = 'ready' AND resumed AND NOT cut GROUP BY cause ORDER BY count "
	"DESC",

	/* each stay with the names that its numbers stand for */
	"CREATE VIEW runs AS"
	" SELECT s.task, t.name, t.identity, p.pid, h.tid, s.worker, s.number, s.begin_ns,"
	" s.end_ns, s.end_ns - s.begin_ns AS run_ns, s.self_ns, s.how, s.migrated"
	" FROM stays s JOIN tasks t USING (task) JOIN threads h ON h.thread = s.thread"
	" JOIN processes p ON p.process = h.process",

	/* each wait, with who ended it */
	"CREATE VIEW waits AS"
	" SELECT g.task, t.name, g.reason, g.object, g.begin_ns, g.end_ns,"
	" g.end_ns - g.begin_ns AS wait_ns, g.cause, g.waker, w.name AS waker_name, g.waker_tid"
	" FROM gaps g JOIN tasks t USING (task) LEFT JOIN tasks w ON w.task = g.waker"
	" WHERE g.kind = 'suspended'",

	/* what each worker spent its time with */
	"CREATE VIEW worker_summary AS"
	" SELECT h.process, h.worker, h.tid, h.name, h.last_ns - h.first_ns AS life_ns,"
	" (SELECT coalesce(sum(end_ns - begin_ns), 0) FROM stays s"
	" WHERE s.thread = h.thread AND s.inside IS NULL) AS busy_ns,"
	" (SELECT coalesce(sum(end_ns - begin_ns), 0) FROM spans s"
	" WHERE s.thread = h.thread AND s.kind = 'sleep') AS sleep_ns,"
	" (SELECT coalesce(sum(end_ns - begin_ns), 0) FROM spans s"
	" WHERE s.thread = h.thread AND s.kind = 'background') AS background_ns,"
	" (SELECT count(*) FROM stays s WHERE s.thread = h.thread) AS stays,"
	" (SELECT count(*) FROM steals s WHERE s.thread = h.thread AND NOT s.failed) AS steals"
	" FROM threads h WHERE h.worker IS NOT NULL",

	/* who steals from whom */
	"CREATE VIEW steal_pairs AS"
	" SELECT thief, victim, count(*) AS count, avg(victim_depth) AS mean_victim_depth"
	" FROM steals WHERE NOT failed GROUP BY thief, victim ORDER BY count DESC",

	/* zones by call site; a recursive one is counted at each depth */
	"CREATE VIEW zone_summary AS"
	" SELECT name, function, file, line, count(*) AS count,"
	" sum(end_ns - begin_ns - gap_ns) AS inclusive_ns, sum(self_ns) AS self_ns,"
	" min(end_ns - begin_ns - gap_ns) AS min_ns, avg(end_ns - begin_ns - gap_ns) AS mean_ns,"
	" max(end_ns - begin_ns - gap_ns) AS max_ns, max(depth) AS max_depth"
	" FROM zones GROUP BY name, function, file, line ORDER BY self_ns DESC",

	"CREATE VIEW marker_summary AS"
	" SELECT process, channel, name, count(*) AS count, sum(end_ns - begin_ns) AS total_ns"
	" FROM markers GROUP BY process, channel, name ORDER BY total_ns DESC",

	"CREATE VIEW counter_summary AS"
	" SELECT name, count(*) AS count, min(value) AS min, max(value) AS max, avg(value) AS mean"
	" FROM counters GROUP BY name ORDER BY name",

	/* both ends of messages */
	"CREATE VIEW message_pairs AS"
	" SELECT s.id, s.time_ns AS sent_ns, r.time_ns AS received_ns,"
	" r.time_ns - s.time_ns AS flight_ns, s.bytes, s.thread AS sender, r.thread AS receiver"
	" FROM transfers s JOIN transfers r ON r.id = s.id AND r.event = 'received'"
	" WHERE s.event = 'sent'",

	/* tasks that had not ended when the capture did */
	"CREATE VIEW unfinished AS"
	" SELECT task, name, identity, state, first_ns, end_ns - first_ns AS age_ns FROM tasks"
	" WHERE NOT finished ORDER BY age_ns DESC",

	/* who created whom, one row for each task that is not a root */
	"CREATE VIEW edges AS"
	" SELECT c.parent AS from_task, p.name AS from_name, c.task AS to_task, c.name AS to_name,"
	" c.first_ns AS time_ns FROM tasks c LEFT JOIN tasks p ON p.task = c.parent"
	" WHERE c.parent IS NOT NULL",
	NULL,
};

#endif /* TRACER_EXPORT_SQLITE_VIEWS_H */
