// SPDX-License-Identifier: BSD-2-Clause
/* Kept of events: the last sweep of each kind, since when a state holds, and nodes that left. */
#include "api/daemon_api.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static struct daemon_sweep *row_of(struct daemon_memory *m, enum sweep_kind kind)
{
	unsigned i = 0;

	while (m->sweeps[i].kind && m->sweeps[i].kind != kind)
		i++;
	return &m->sweeps[i];
}

static void note_sweep(struct daemon_memory *m, const struct sm_event *e)
{
	struct daemon_sweep *row = row_of(m, e->sweep.kind);

	*row = (struct daemon_sweep){
		.kind = e->sweep.kind,
		.n_gets = e->sweep.n_gets,
		.n_sets = e->sweep.n_sets,
		.errors = e->sweep.errors,
		.ms = e->sweep.ms,
		.through = e->sweep.through,
		.ended = e->at,
	};
	snprintf(row->why, sizeof(row->why), "%s", e->sweep.why);
}

/* Its own row if it has one, else an empty one, else the oldest. */
static struct daemon_gone *gone_row(struct daemon_memory *m, guid_t node_guid)
{
	struct daemon_gone *ret = &m->gone[0];

	for (unsigned i = 0; i < DAEMON_GONE; i++) {
		struct daemon_gone *g = &m->gone[i];

		if (g->node_guid == node_guid)
			return g;
		if (ret->node_guid && (!g->node_guid || g->at < ret->at))
			ret = g;
	}
	return ret;
}

static void note_node(struct daemon_memory *m, const struct sm_event *e)
{
	struct daemon_gone *row = gone_row(m, e->node.node_guid);

	if (e->node.came) {
		if (row->node_guid == e->node.node_guid)
			*row = (struct daemon_gone){ 0 };
		return;
	}
	*row = (struct daemon_gone){
		.node_guid = e->node.node_guid,
		.port_guid = e->node.port_guid,
		.behind_guid = e->node.behind_guid,
		.behind_port = e->node.behind_port,
		.lid = e->node.lid,
		.at = e->at,
	};
	snprintf(row->name, sizeof(row->name), "%s", e->node.desc ? e->node.desc : "");
}

void daemon_api_note(struct daemon_api *api, const struct sm_event *event)
{
	struct daemon_memory *m = &api->memory;

	assert(event);
	if (event->kind == SM_EVENT_SWEEP_DONE)
		note_sweep(m, event);
	if (event->kind == SM_EVENT_NODE)
		note_node(m, event);
	if (event->kind == SM_EVENT_STATE) {
		m->state_since = event->at;
		api->terms++;
	}
	if (event->kind == SM_EVENT_ROUTES) {
		m->n_routings++;
		m->routing_ms = event->routes.ms;
		m->unreachable = event->routes.unreachable;
		snprintf(m->engine, sizeof(m->engine), "%s", event->routes.engine);
	}
}

void daemon_api_sm_gone(struct daemon_api *api)
{
	api->sm = NULL;
	api->port_name[0] = '\0';
	api->terms++;
}

mono_t daemon_api_now(const struct daemon_api *api)
{
	assert(api && api->clock);
	int64_t realtime;
	mono_t now;

	api->clock(api->arg, &now, &realtime);
	return now;
}

int64_t daemon_api_realtime(const struct daemon_api *api, mono_t at)
{
	int64_t realtime;
	mono_t now;

	api->clock(api->arg, &now, &realtime);
	return realtime - (now - at);
}
