// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which entries of found tables count, which engine might have made them, and whether they hold
 * that way.
 *
 * Switches do not say which engine made their tables. Tables of an engine without VLs, or with VLs
 * by port class, are verified with those of today, which depend on the fabric only. Service levels
 * by path stand in no switch, so they are dealt out anew.
 */
#include "route/select/adopt_found.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "route/select/engines.h"
#include "route/proof/keep_policy.h"
#include "route/core/unassigned.h"
#include "route/sp/balance.h"
#include "route/vl/port_class.h"
#include "util/mem.h"

/* ---- entries ------------------------------------------------------------------------------- */

/* Returns how many entries were not found. */
static uint64_t take_row(struct routes *r, uint32_t sw, const struct adopt_job *s,
			 const uint32_t *at)
{
	uint32_t was = topo_find_switch(s->found->topo, r->topo->switches[sw].guid);
	uint8_t *row = routes_row(r, sw);
	uint64_t missing = 0;

	for (unsigned lid = 1; lid <= r->top; lid++) {
		uint8_t port =
			was == TOPO_NONE ? LFT_NO_PORT : routes_port(s->found, was, (lid_t)lid);

		row[lid] = routes_port(s->base, sw, (lid_t)lid);
		if (at[lid] == TOPO_NONE || at[lid] == sw || row[lid] == LFT_NO_PORT)
			continue;
		if (topo_behind(r->topo, sw, port) != TOPO_NONE)
			row[lid] = port;
		else
			missing++;
	}
	return missing;
}

/* Does every entry lead along a path that the engine of `base` has? */
static bool goes_its_ways(const struct routes *r, const struct routes *base, const uint32_t *at)
{
	const struct topo *t = r->topo;
	uint32_t n = base->hops && !route_engine_of(base)->detours ? t->n_switches : 0;

	for (uint32_t sw = 0; sw < n; sw++)
		for (unsigned lid = 1; lid <= r->top; lid++) {
			uint32_t next = at[lid] == TOPO_NONE || at[lid] == sw
						? TOPO_NONE
						: topo_behind(t, sw, routes_row(r, sw)[lid]);

			if (next != TOPO_NONE && !balance_is_path(base, sw, next, at[lid]))
				return false;
		}
	return true;
}

/* Of engines of shortest paths, and where options say which ways there are, others will not do. */
static bool must_go_its_ways(const struct adopt_job *s)
{
	const struct route_options *o = &s->job->options;

	if (o->n_weights || o->n_order || o->roots.n || o->n_ids)
		return true;
	return !s->base->by[0] && s->base->hops && !s->base->places;
}

static void describe(struct routes *r, const struct routes *base, bool its_ways)
{
	size_t n = r->topo->n_switches, words = (n + 63) / 64;

	memcpy(r->by, base->by, sizeof(r->by));
	if (base->hops)
		r->hops = xmemdup(base->hops, n * n);
	if (base->master_tree)
		r->master_tree = xmemdup(base->master_tree, n);
	if (!its_ways)
		return;
	if (base->places)
		r->places = xmemdup(base->places, n * sizeof(*base->places));
	if (base->downs)
		r->downs = xmemdup(base->downs, n * words * sizeof(*base->downs));
	r->options = base->options;
	r->expected_load = base->expected_load;
}

static struct routes *take_entries(const struct adopt_job *s)
{
	_cleanup_(routes_unrefp) struct routes *r = NULL;
	_cleanup_free_ uint32_t *at = NULL;
	uint64_t missing = 0;
	bool its_ways;

	r = routes_new(s->job->topo, s->base->engine, unassigned_top(s->job->topo, s->found));
	at = unassigned_owners(r->topo, r->top);
	for (uint32_t sw = 0; sw < r->topo->n_switches; sw++)
		missing += take_row(r, sw, s, at);
	if (missing && s->whole)
		return NULL;
	its_ways = goes_its_ways(r, s->base, at);
	if (!its_ways && must_go_its_ways(s))
		return NULL;
	unassigned_keep(r, s->found);
	describe(r, s->base, its_ways);
	return take(r);
}

/* ---- VLs ----------------------------------------------------------------------------------- */

/* False: there are not enough. */
static bool take_vls(const struct adopt_job *s, struct routes *r, const struct sl2vl *lanes)
{
	const struct route_engine *engine = route_engine_of(r);
	struct route_job job = *s->job;

	/* as many levels of service as the engine had VLs for (run_engine() in choose.c) */
	if (lanes && lanes->by != SL2VL_BY_NOTHING)
		job.options.levels = MIN(job.options.levels, MAX(lanes->n_levels, 1u));
	if (engine->deal_vls && engine->deal_vls != dfsssp_deal_vls && engine->deal_vls(&job, r))
		return true;
	if ((lanes && (lanes->by == SL2VL_BY_SWITCH_LID || lanes->by == SL2VL_BY_SWITCHES)) ||
	    engine->deal_vls == dfsssp_deal_vls)
		return dfsssp_deal_vls(&job, r);
	r->lanes = lanes ? sl2vl_copy(r->topo, lanes, r->row_size) : NULL;
	return true;
}

/* Takes `r`. NULL: it does not hold with `lanes`. */
static struct routes *proved(const struct adopt_job *s, struct routes *r, const struct sl2vl *lanes,
			     struct route_verdict *ret)
{
	bool fits = take_vls(s, r, lanes);

	route_complete(s->job, r);
	if (fits)
		port_class_check(NULL, s->job, NULL, r, ret);
	if (fits && (!route_fault(ret) || s->unsafe) &&
	    !keep_is_clearly_worse(route_engine_load_rule(r), ret, s->fresh)) {
		r->balanced_load = r->compared_load = ret->max_load;
		if (route_engine_of(r)->by_load)
			r->expected_load = ret->max_load;
		return r;
	}
	routes_unref(r);
	return NULL;
}

/* As if auto had taken `name`. */
static struct routes *try_as(const struct adopt_job *s, const char *name, const char *maker,
			     struct route_verdict *ret)
{
	struct route_job job = *s->job;
	_cleanup_(routes_unrefp) struct routes *made = NULL;
	struct adopt_job as = *s;
	struct routes *r;
	char why[160];

	job.previous = NULL;
	made = route_engine_run(route_engine_find(maker), &job, why, sizeof(why));
	if (!made)
		return NULL;
	snprintf(made->by, sizeof(made->by), "%s", name);
	snprintf(made->engine, sizeof(made->engine), "auto");
	as.base = made;
	as.whole = true;
	r = take_entries(&as);
	if (!r)
		return NULL;
	snprintf(r->note, sizeof(r->note), "%.*s: as found, with the VLs of %s",
		 (int)strcspn(s->base->note, ":"), s->base->note, name);
	return proved(s, r, made->lanes, ret);
}

static struct routes *try_others(const struct adopt_job *s, struct route_verdict *ret)
{
	static const struct {
		const char *name, *maker;
		bool small; /* of small fabrics only */
	} others[] = {
		{ "dragonfly", "dragonfly", true }, { "hyperx", "hyperx", true },
		{ "dor", "dor", true }, { "torus-2QoS", "torus-2QoS", true },
		{ "dfsssp", "minhop", false }, { "nue", "nue", true },
	};
	bool small = keep_may_compare(s->job->topo);
	struct routes *r = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(others) && !r; i++)
		if ((small || !others[i].small) && strcmp(others[i].name, s->base->by) != 0)
			r = try_as(s, others[i].name, others[i].maker, ret);
	return r;
}

struct routes *adopt_found(const struct adopt_job *s, struct route_verdict *ret)
{
	struct routes *r;

	assert(s->job && s->found && s->base && s->fresh && ret);
	r = take_entries(s);
	if (r) {
		memcpy(r->note, s->base->note, sizeof(r->note));
		r = proved(s, r, s->base->lanes, ret);
	}
	return r || !s->base->by[0] ? r : try_others(s, ret);
}
