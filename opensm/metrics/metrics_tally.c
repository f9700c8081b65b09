// SPDX-License-Identifier: BSD-2-Clause
/* Counting events. */
#include "metrics/metrics_tally.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

const unsigned metric_bucket_ms[METRIC_BUCKETS] = { 1,	  5,	10,   50,    100,   250,  500,
						    1000, 2500, 5000, 10000, 30000, 60000 };

const unsigned metric_patch_bucket_us[METRIC_PATCH_BUCKETS] = {
	1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000, 5000000,
};

/* The first of `n` buckets whose upper end `value` does not exceed; n: none. */
static unsigned bucket_of(const unsigned *ends, unsigned n, unsigned value)
{
	unsigned i = 0;

	while (i < n && value > ends[i])
		i++;
	return i;
}

static void note_sweep(struct metrics_tally *t, const struct sm_event *e, int64_t realtime)
{
	struct metrics_sweep *s = &t->sweeps[e->sweep.kind];

	s->ended++;
	s->failed += e->sweep.errors > 0;
	s->bucket[bucket_of(metric_bucket_ms, METRIC_BUCKETS, e->sweep.ms)]++;
	s->ms += e->sweep.ms;
	s->last = (uint64_t)(realtime / MONO_S);
}

static void note_patch(struct metrics_patches *p, const struct patch_tally *t)
{
	p->n++;
	p->cables += t->cables;
	p->bucket[bucket_of(metric_patch_bucket_us, METRIC_PATCH_BUCKETS, t->us)]++;
	p->us += t->us;
	for (unsigned how = 0; how < PATCH_HOWS; how++)
		p->destinations[how] += t->destinations[how];
	p->groups += t->groups;
	p->branches_waiting += t->branches_waiting;
}

static void count_change(bool better, uint64_t *come, uint64_t *gone)
{
	if (better)
		++*come;
	else
		++*gone;
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
		if (!e->lft.top_changed)
			t->table_blocks++;
		break;
	case SM_EVENT_NODE:
		count_change(e->node.came, &t->nodes_came, &t->nodes_went);
		break;
	case SM_EVENT_LINK:
		count_change(e->link.up, &t->links_up, &t->links_down);
		break;
	case SM_EVENT_SA_DUMPED:
		t->databases++;
		break;
	case SM_EVENT_PATCH:
		note_patch(&t->patches, e->patch.tally);
		break;
	case SM_EVENT_SWEEP_START:
	case SM_EVENT_DISCOVERED:
	case SM_EVENT_SUBNET_UP:
	case SM_EVENT_TRAP:
	case SM_EVENT_MANAGER:
	case SM_EVENT_PORT_DOWN:
	case SM_EVENT_SECURITY:
	case SM_EVENT_DRIFT:
	case SM_EVENT_HEALTH:
	case SM_EVENT_MARK:
	case SM_EVENT_ALARM:
	case SM_EVENT_KINDS:
		break;
	}
}

static bool is_whole(const struct sm *sm)
{
	const struct sm_stats *st = sm_stats(sm);

	return st->up && !st->silent_nodes && !st->ports_pending && !sm_own_silent(sm);
}

void metrics_tally_whole(struct metrics_tally *t, const struct sm *sm, mono_t now)
{
	bool broken = sm_state(sm) == SM_MASTER && !is_whole(sm);

	assert(t && sm);
	if (broken && !t->broken)
		t->broken_since = now;
	t->broken = broken;
}

mono_t metrics_tally_broken(const struct metrics_tally *t, const struct sm *sm, mono_t now)
{
	assert(t && sm);
	if (!t->broken || sm_state(sm) != SM_MASTER || is_whole(sm))
		return 0;
	return now - t->broken_since;
}
