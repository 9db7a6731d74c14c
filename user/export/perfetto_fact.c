// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is told of a task, whether it runs or not: texts, values, dependences. Instants on its row,
 * titled after the key.
 */
#include "perfetto.h"

static void depends__annotate(struct perfetto *px, const struct event *event)
{
	annotate__hex(px, ANNOTATION_OBJECT, event->args[1].u);
}

static void value__annotate(struct perfetto *px, const struct event *event, uint32_t iid)
{
	struct note note = {
		.name = event->args[1].s ? event->args[1].s : "value",
		.kind = event->real ? NOTE_DOUBLE : NOTE_INT,
		.value = event->args[2],
	};

	annotate__note(px, &note, iid);
}

/* @task: whom the event is about; NULL: nobody knows it */
void fact__draw(struct perfetto *px, const struct event *event, const struct model_task *task,
		const struct row *row, uint64_t time)
{
	bool depends = event->type == EV_task_depends;
	const char *key = depends ? event->args[2].s : event->args[1].s;
	uint32_t value_iid = 0, title;

	if (!task)
		return;
	key = key && *key ? key : NULL;
	/* interning writes packets of its own, so before the event is opened */
	title = key ? intern__text(px, TABLE_NAMES, FORM_PLAIN, key) : CATEGORY_TASK_FACT + 1;
	if (event->type == EV_task_value)
		value_iid = intern__text(px, TABLE_ANNOTATIONS, FORM_PLAIN, key ? key : "value");
	event__open(px, row, EVENT_INSTANT, time);
	event__title(px, CATEGORY_TASK_FACT, title, FORM_PLAIN, key);
	if (depends)
		depends__annotate(px, event);
	else if (event->type == EV_task_value)
		value__annotate(px, event, value_iid);
	else
		annotate__text(px, ANNOTATION_TEXT, 0, event->args[2].s ? event->args[2].s : "");
	event__close(px);
	px->tally.instants[CATEGORY_TASK_FACT]++;
}
