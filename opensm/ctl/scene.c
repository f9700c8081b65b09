// SPDX-License-Identifier: BSD-2-Clause
/* What is kept of events, because nobody else does: how sweeps went, since when, and who went. */
#include "ctl/scene.h"

#include <stdio.h>
#include <string.h>

static struct scene_sweep *row_of(struct scene_memory *m, const char *kind)
{
	for (unsigned i = 0; i < SCENE_SWEEPS; i++)
		if (!m->sweeps[i].kind[0] || !strcmp(m->sweeps[i].kind, kind))
			return &m->sweeps[i];
	return &m->sweeps[SCENE_SWEEPS - 1];
}

static void note_sweep(struct scene_memory *m, const struct sm_event *e)
{
	struct scene_sweep *row = row_of(m, e->sweep.kind);

	*row = (struct scene_sweep){
		.n_gets = e->sweep.n_gets,
		.n_sets = e->sweep.n_sets,
		.errors = e->sweep.errors,
		.ms = e->sweep.ms,
		.through = e->sweep.through,
		.ended = e->at,
	};
	snprintf(row->kind, sizeof(row->kind), "%s", e->sweep.kind);
	snprintf(row->why, sizeof(row->why), "%s", e->sweep.why);
}

/* Its own row if it has one, else an empty one, else the oldest. */
static struct scene_gone *gone_row(struct scene_memory *m, guid_t node_guid)
{
	struct scene_gone *ret = &m->gone[0];

	for (unsigned i = 0; i < SCENE_GONE; i++) {
		struct scene_gone *g = &m->gone[i];

		if (g->node_guid == node_guid)
			return g;
		if (ret->node_guid && (!g->node_guid || g->at < ret->at))
			ret = g;
	}
	return ret;
}

static void note_node(struct scene_memory *m, const struct sm_event *e)
{
	struct scene_gone *row = gone_row(m, e->node.node_guid);

	if (e->node.came) {
		if (row->node_guid == e->node.node_guid)
			*row = (struct scene_gone){ 0 };
		return;
	}
	*row = (struct scene_gone){
		.node_guid = e->node.node_guid,
		.port_guid = e->node.port_guid,
		.behind_guid = e->node.behind_guid,
		.behind_port = e->node.behind_port,
		.lid = e->node.lid,
		.at = e->at,
	};
	snprintf(row->name, sizeof(row->name), "%s", e->node.desc ? e->node.desc : "");
}

void scene_note(struct scene *scene, const struct sm_event *event)
{
	struct scene_memory *m = &scene->memory;

	if (event->kind == SM_EVENT_SWEEP_DONE)
		note_sweep(m, event);
	if (event->kind == SM_EVENT_NODE)
		note_node(m, event);
	if (event->kind == SM_EVENT_STATE)
		m->state_since = event->at;
	if (event->kind == SM_EVENT_ROUTES) {
		m->routing_ms = event->routes.ms;
		m->unreachable = event->routes.unreachable;
		snprintf(m->engine, sizeof(m->engine), "%s", event->routes.engine);
	}
}
