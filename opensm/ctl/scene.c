// SPDX-License-Identifier: BSD-2-Clause
/* What is kept of events, because nobody else does: how sweeps went, and since when. */
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

void scene_note(struct scene *scene, const struct sm_event *event)
{
	struct scene_memory *m = &scene->memory;

	if (event->kind == SM_EVENT_SWEEP_DONE)
		note_sweep(m, event);
	if (event->kind == SM_EVENT_STATE)
		m->state_since = event->at;
	if (event->kind == SM_EVENT_ROUTES) {
		m->routing_ms = event->routes.ms;
		m->unreachable = event->routes.unreachable;
		snprintf(m->engine, sizeof(m->engine), "%s", event->routes.engine);
	}
}
