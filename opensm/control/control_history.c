// SPDX-License-Identifier: BSD-2-Clause
/*
 * The past, as this manager has seen it.
 *
 * Events: the last ones, as sentences. Of a start or a change of thousands of devices the last
 * DAEMON_EVENTS are kept; written blocks of tables, and light sweeps, which come all the time,
 * never.
 *
 * CableHistory: the last day of every cable. Links up and down, findings of health, marks and
 * patches of the routes are rows of one ring, the growth of error counters those of another, a row
 * for each port and hour: a cable with many errors does not displace the fall of another. The
 * cables that are found when the manager starts are no facts: they were there before.
 */
#include <stdio.h>
#include <stdlib.h>

#include "control/control_internal.h"
#include "control/control_smp.h"
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

/* ---- cables: what is kept -------------------------------------------------------------------- */

static struct daemon_cables *cables_of(struct daemon_api *api)
{
	if (!api->memory.cables)
		api->memory.cables = xcalloc(1, sizeof(*api->memory.cables));
	return api->memory.cables;
}

/* The next row of a ring of facts; `text` (NULL: none) is copied. */
static void add_fact(struct daemon_api *api, const struct sm_event *event, enum cable_fact fact,
		     const guid_t guid[2], const uint8_t port[2], const char *text)
{
	struct daemon_cables *c = cables_of(api);
	struct daemon_cable *row = &c->facts[c->n_facts++ % DAEMON_CABLES];

	free(row->text);
	*row = (struct daemon_cable){
		.realtime_us = daemon_api_realtime(api, event->at),
		.guid = { guid[0], guid[1] },
		.port = { port[0], port[1] },
		.fact = fact,
		.text = text ? xstrdup(text) : NULL,
	};
}

static void remember_mark(struct daemon_api *api, const struct sm_event *event)
{
	const guid_t guid[2] = { event->mark.guid, 0 };
	const uint8_t port[2] = { event->mark.whole_switch ? 0 : event->mark.port, 0 };

	add_fact(api, event, CABLE_MARK, guid, port, event->mark.text);
}

static void remember_cable(struct daemon_api *api, const struct sm_event *event)
{
	bool is_start = api->memory.sweeps[0].kind == SWEEP_NONE;

	if (event->kind == SM_EVENT_LINK && event->more < DAEMON_CABLES && !is_start)
		add_fact(api, event, event->link.up ? CABLE_UP : CABLE_DOWN, event->link.guid,
			 event->link.port, NULL);
	else if (event->kind == SM_EVENT_HEALTH)
		add_fact(api, event, CABLE_HEALTH, event->health.guid, event->health.port,
			 event->health.text);
	else if (event->kind == SM_EVENT_MARK)
		remember_mark(api, event);
	else if (event->kind == SM_EVENT_PATCH && event->patch.guid[0])
		add_fact(api, event, CABLE_PATCH, event->patch.guid, event->patch.port,
			 event->patch.text);
}

#define HOUR_US (3600 * MONO_S)
#define DAY_US	(24 * HOUR_US)

/* The row of this port and hour, the latest first; NULL: there is none. */
static struct daemon_cable *errors_row(struct daemon_cables *c, guid_t guid, uint8_t port,
				       int64_t hour)
{
	for (uint64_t i = c->n_errors; i > 0 && i + DAEMON_CABLE_ERRORS > c->n_errors; i--) {
		struct daemon_cable *row = &c->errors[(i - 1) % DAEMON_CABLE_ERRORS];

		if (row->realtime_us < hour)
			return NULL;
		if (row->guid[0] == guid && row->port[0] == port)
			return row;
	}
	return NULL;
}

/* Counters that say something of a cable: bits that were lost or repaired, links that fell. */
static const enum perf_error of_cables[] = {
	PERF_SYMBOL, PERF_LINK_RECOVER, PERF_LINK_DOWNED, PERF_RCV, PERF_LINK_INTEGRITY,
};

void control_remember_errors(struct daemon_api *api, guid_t node_guid, uint8_t port,
			     const uint64_t deltas[PERF_ERRORS])
{
	int64_t now = daemon_api_realtime(api, daemon_api_now(api)), hour = now - now % HOUR_US;
	struct daemon_cables *c;
	struct daemon_cable *row;
	uint64_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(of_cables); i++)
		n += deltas[of_cables[i]];
	if (!n)
		return;
	c = cables_of(api);
	row = errors_row(c, node_guid, port, hour);
	if (!row) {
		row = &c->errors[c->n_errors++ % DAEMON_CABLE_ERRORS];
		*row = (struct daemon_cable){ .realtime_us = hour,
					      .guid = { node_guid },
					      .port = { port },
					      .fact = CABLE_ERRORS };
	}
	row->n += n;
}

void control_forget(struct daemon_api *api)
{
	struct daemon_cables *c = api->memory.cables;

	for (size_t i = 0; c && i < DAEMON_CABLES; i++)
		free(c->facts[i].text);
	free(c);
	api->memory.cables = NULL;
}

/* ---- events: what is kept -------------------------------------------------------------------- */

void control_remember(struct daemon_api *api, const struct sm_event *event)
{
	struct daemon_memory *m = &api->memory;
	struct daemon_event *row = &m->events[m->n_events % DAEMON_EVENTS];
	struct json_object *o, *text;

	remember_cable(api, event);
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

/* Those of the kinds that were asked for, the latest first. */
static struct json_object *events_of(const struct daemon_memory *m, uint64_t n,
				     struct json_object *parameters)
{
	struct json_object *list = json_object_new_array();

	for (uint64_t i = 0; i < n; i++) {
		const struct daemon_event *row = &m->events[(m->n_events - 1 - i) % DAEMON_EVENTS];

		/* a row of a flood may be counted and not yet filled: it has no kind */
		if (row->kind && control_kind_is_wanted(parameters, row->kind))
			json_object_array_add(list, FIELDS_NEW(EVENT_FIELDS));
	}
	return list;
}

#define HISTORY_FIELDS(F)                                                                          \
	F("events", LIST(event_fields), events_of(m, n, parameters))                               \
	F("forgotten", INT, m->n_events - n)

const struct json_field control_history_fields[] = FIELDS_TABLE(HISTORY_FIELDS);

struct json_object *control_history(const struct daemon_api *api, struct json_object *parameters,
				    struct control_error *err)
{
	const struct daemon_memory *m = &api->memory;
	uint64_t n = MIN(m->n_events, (uint64_t)DAEMON_EVENTS);

	if (!control_kinds_are_known(parameters, err))
		return NULL;
	return FIELDS_NEW(HISTORY_FIELDS);
}

/* ---- cables: the answer ---------------------------------------------------------------------- */

static const char *const fact_names[CABLE_FACTS] = {
	[CABLE_UP] = "up",     [CABLE_DOWN] = "down",	[CABLE_HEALTH] = "health",
	[CABLE_MARK] = "mark", [CABLE_PATCH] = "patch", [CABLE_ERRORS] = "errors",
};

#define CABLE_END_FIELDS(F)                                                                        \
	F("node_guid", GUID, row->guid[end])                                                       \
	F("port", KNOWN, row->port[end], row->port[end])

static const struct json_field cable_end_fields[] = FIELDS_TABLE(CABLE_END_FIELDS);

static struct json_object *ends_of(const struct daemon_cable *row)
{
	struct json_object *list = json_object_new_array();

	for (unsigned end = 0; end < 2 && row->guid[end]; end++)
		json_object_array_add(list, FIELDS_NEW(CABLE_END_FIELDS));
	return list;
}

#define CABLE_FIELDS(F)                                                                            \
	F("time", TIME, row->realtime_us)                                                          \
	F("fact", STR, fact_names[row->fact])                                                      \
	F("ends", LIST(cable_end_fields), ends_of(row))                                            \
	F("count", IF(row->n, INT), (int64_t)MIN(row->n, (uint64_t)INT64_MAX))                     \
	F("text", IF(row->text, STR), row->text)

static const struct json_field cable_fields[] = FIELDS_TABLE(CABLE_FIELDS);

/* Is the row of the last day, and of this cable (guid 0: any)? */
static bool is_asked_for(const struct daemon_cable *row, int64_t from, guid_t guid, unsigned port)
{
	if (row->realtime_us < from)
		return false;
	if (!guid)
		return true;
	for (unsigned end = 0; end < 2; end++)
		if (row->guid[end] == guid && (!port || !row->port[end] || row->port[end] == port))
			return true;
	return false;
}

/* Adds rows of a ring, the latest first. */
static void add_rows(struct json_object *list, const struct daemon_cable *ring, uint64_t size,
		     uint64_t n, const struct daemon_cable *asked)
{
	for (uint64_t i = n; i > 0 && i + size > n; i--) {
		const struct daemon_cable *row = &ring[(i - 1) % size];

		if (is_asked_for(row, asked->realtime_us, asked->guid[0], asked->port[0]))
			json_object_array_add(list, FIELDS_NEW(CABLE_FIELDS));
	}
}

static struct json_object *rows_of(const struct daemon_cables *c, const struct daemon_cable *asked)
{
	struct json_object *list = json_object_new_array();

	if (!c)
		return list;
	add_rows(list, c->facts, DAEMON_CABLES, c->n_facts, asked);
	add_rows(list, c->errors, DAEMON_CABLE_ERRORS, c->n_errors, asked);
	return list;
}

/* The time of the oldest row that a ring still has, if older ones had to go; 0: none had. */
static int64_t lost_before(const struct daemon_cable *ring, uint64_t size, uint64_t n)
{
	return n > size ? ring[n % size].realtime_us : 0;
}

static int64_t whole_since(const struct daemon_cables *c, int64_t from)
{
	if (!c)
		return from;
	from = MAX(from, lost_before(c->facts, DAEMON_CABLES, c->n_facts));
	return MAX(from, lost_before(c->errors, DAEMON_CABLE_ERRORS, c->n_errors));
}

#define CABLES_FIELDS(F)                                                                           \
	F("since", TIME, whole_since(c, from))                                                     \
	F("errors_counted", BOOL, perf_status(api->perf)->state == PERF_ENABLED)                   \
	F("cables", LIST(cable_fields), rows_of(c, &asked))

const struct json_field control_cables_fields[] = FIELDS_TABLE(CABLES_FIELDS);

struct json_object *control_cables(const struct daemon_api *api, struct json_object *parameters,
				   struct control_error *err)
{
	const char *target = json_str(parameters, "target");
	int64_t now = daemon_api_realtime(api, daemon_api_now(api));
	/* From an hour on, so that the answer is another one when something is, not each time. */
	int64_t day = now - now % HOUR_US - DAY_US;
	int64_t from = MAX(day, api->started_realtime * MONO_S);
	const struct daemon_cables *c = api->memory.cables;
	struct daemon_cable asked = { .realtime_us = from };
	unsigned port = 0;

	if (!control_manager(api, err))
		return NULL;
	if (target &&
	    !control_find_place(sm_fabric(api->sm), target, &asked.guid[0], &port, err))
		return NULL;
	asked.port[0] = (uint8_t)port;
	/* A row of errors has the time at which its hour began. */
	asked.realtime_us -= HOUR_US;
	return FIELDS_NEW(CABLES_FIELDS);
}
