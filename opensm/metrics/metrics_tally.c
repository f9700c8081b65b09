// SPDX-License-Identifier: BSD-2-Clause
/* Counting events. */
#include "metrics/metrics_tally.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

const unsigned metric_bucket_ms[METRIC_BUCKETS] = { 1,	  5,	10,   50,    100,   250,  500,
						    1000, 2500, 5000, 10000, 30000, 60000 };

static unsigned bucket_of(unsigned ms)
{
	unsigned i = 0;

	while (i < METRIC_BUCKETS && ms > metric_bucket_ms[i])
		i++;
	return i;
}

static void note_sweep(struct metrics_tally *t, const struct sm_event *e, int64_t realtime)
{
	struct metrics_sweep *s = &t->sweeps[e->sweep.kind];

	s->ended++;
	s->failed += e->sweep.errors > 0;
	s->bucket[bucket_of(e->sweep.ms)]++;
	s->ms += e->sweep.ms;
	s->last = (uint64_t)(realtime / MONO_S);
}

void metrics_tally_event(struct metrics_tally *t, const struct sm_event *e, int64_t realtime)
{
	assert(t && e);
	switch (e->kind) {
	case SM_EVENT_STATE:
		t->state_changes++;
		break;
	case SM_EVENT_SWEEP_DONE:
		note_sweep(t, e, realtime);
		break;
	case SM_EVENT_ROUTES:
		t->routings++;
		t->routing_ms = e->routes.ms;
		t->unreachable = e->routes.unreachable;
		t->lanes = e->routes.lanes;
		snprintf(t->engine, sizeof(t->engine), "%s", e->routes.engine);
		break;
	case SM_EVENT_LFT:
		t->table_blocks += !e->lft.top_changed;
		break;
	case SM_EVENT_NODE:
		t->nodes_came += e->node.came;
		t->nodes_went += !e->node.came;
		break;
	case SM_EVENT_LINK:
		t->links_up += e->link.up;
		t->links_down += !e->link.up;
		break;
	case SM_EVENT_SA_DUMPED:
		t->databases++;
		break;
	case SM_EVENT_SWEEP_START:
	case SM_EVENT_DISCOVERED:
	case SM_EVENT_SUBNET_UP:
	case SM_EVENT_TRAP:
	case SM_EVENT_MANAGER:
	case SM_EVENT_PORT_DOWN:
	case SM_EVENT_SECURITY:
	case SM_EVENT_KINDS:
		break;
	}
}
