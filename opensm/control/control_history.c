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

/* The latest first. */
struct json_object *control_history(const struct daemon_api *api, struct json_object *parameters,
				    struct control_error *err)
{
	const struct daemon_memory *m = &api->memory;
	struct json_object *ret = json_object_new_object();
	struct json_object *events = json_add_array(ret, "events");
	uint64_t n = MIN(m->n_events, (uint64_t)DAEMON_EVENTS);

	json_add_int(ret, "forgotten", (int64_t)(m->n_events - n));
	for (uint64_t i = 1; i <= n; i++) {
		const struct daemon_event *row = &m->events[(m->n_events - i) % DAEMON_EVENTS];
		struct json_object *o = json_append_object(events);

		json_add_str(o, "kind", row->kind);
		json_add_int(o, "realtime_us", row->realtime_us);
		json_add_str(o, "text", row->text);
	}
	return ret;
}
