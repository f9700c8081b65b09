// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events: the last ones, as sentences. Of a start or a change of thousands of devices the last
 * DAEMON_EVENTS are kept; written blocks of tables, and light sweeps, which come all the time,
 * never.
 */
#include <stdio.h>

#include "control/control_internal.h"
#include "util/mem.h"

static bool is_routine(const struct sm_event *e)
{
	switch (e->kind) {
	case SM_EVENT_LFT:
	case SM_EVENT_SWEEP_START:
	case SM_EVENT_DISCOVERED:
		return true;
	case SM_EVENT_SWEEP_DONE:
		return e->sweep.kind == SWEEP_LIGHT && e->sweep.through;
	default:
		return false;
	}
}

void control_remember(struct daemon_api *api, const struct sm_event *event)
{
	struct daemon_memory *m = &api->memory;
	struct daemon_event *row = &m->events[m->n_events % DAEMON_EVENTS];
	struct json_object *o, *text;

	if (is_routine(event))
		return;
	if (event->more >= DAEMON_EVENTS) { /* newer ones fill all rows */
		m->n_events++;
		return;
	}
	o = json_object_new_object();
	control_put_event(o, api, event);
	text = json_object_object_get(o, "text");
	row->realtime_us = daemon_api_realtime(api, event->at);
	row->kind = control_event_name(event->kind);
	snprintf(row->text, sizeof(row->text), "%s", text ? json_object_get_string(text) : "");
	m->n_events++;
	json_object_put(o);
}

#define EVENT_FIELDS(F)                                                                            \
	F("kind", STR, row->kind)                                                                  \
	F("time", TIME, row->realtime_us)                                                          \
	F("text", STR, row->text)

static const struct json_field event_fields[] = FIELDS_TABLE(EVENT_FIELDS);

/* The latest first. */
#define HISTORY_FIELDS(F)                                                                          \
	F("events", LIST(event_fields),                                                            \
	  JSON_LIST_OF(const struct daemon_event *row,                                             \
		       i < n && (row = &m->events[(m->n_events - 1 - i) % DAEMON_EVENTS]),         \
		       FIELDS_ITEM(EVENT_FIELDS)))                                                 \
	F("forgotten", INT, m->n_events - n)

const struct json_field control_history_fields[] = FIELDS_TABLE(HISTORY_FIELDS);

struct json_object *control_history(const struct daemon_api *api, struct json_object *parameters,
				    struct control_error *err)
{
	const struct daemon_memory *m = &api->memory;
	uint64_t n = MIN(m->n_events, (uint64_t)DAEMON_EVENTS);

	return FIELDS_NEW(HISTORY_FIELDS);
}
