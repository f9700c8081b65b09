// SPDX-License-Identifier: BSD-2-Clause
/*
 * One column that goes anywhere: longer ways, dead ends, circles. Followed switch by switch until the fate
 * of each is known; then flows are summed in order of hops to the end.
 */
#include <string.h>

#include "route/check_private.h"
#include "util/mem.h"

enum fate {
	FATE_UNKNOWN,
	FATE_WALKING,
	FATE_ARRIVES,
	FATE_LOST,
	FATE_LOOPS,
};

#define ARRIVED (TOPO_NONE - 1)
#define LOST TOPO_NONE

/* Where switch `s` sends what leaves through `port`. */
static uint32_t step(const struct judge *j, uint32_t s, uint8_t port, struct target to)
{
	uint32_t behind;

	if (s == to.sw && port == to.port)
		return ARRIVED;
	if (!port || port > j->topo->switches[s].n_ports)
		return LOST;
	behind = j->behind[j->topo->switches[s].first_port + port];
	return behind == BEHIND_NONE ? LOST : behind >> 8;
}

/* Follows one switch until its fate is known, then writes it to all on the way. */
static void follow(struct witness *w, uint32_t s)
{
	uint32_t n = 0, hops = 0;
	enum fate fate;

	while (s < w->j->topo->n_switches && w->fate[s] == FATE_UNKNOWN) {
		w->fate[s] = FATE_WALKING;
		w->path[n++] = s;
		s = w->next[s];
	}
	if (s == ARRIVED)
		fate = FATE_ARRIVES;
	else if (s == LOST)
		fate = FATE_LOST;
	else
		fate = w->fate[s] == FATE_WALKING ? FATE_LOOPS : (enum fate)w->fate[s];
	if (s < w->j->topo->n_switches)
		hops = w->hops[s] + 1;
	while (n-- > 0) {
		w->fate[w->path[n]] = (uint8_t)fate;
		w->hops[w->path[n]] = hops++;
	}
}

static void follow_all(struct witness *w, const uint8_t *column, struct target to)
{
	uint32_t n = w->j->topo->n_switches;

	for (uint32_t s = 0; s < n; s++)
		w->next[s] = step(w->j, s, column[s], to);
	memset(w->fate, FATE_UNKNOWN, n);
	for (uint32_t s = 0; s < n; s++)
		follow(w, s);
}

/* Sorts by hops to the end, farthest first, into w->path. Returns how many switches have this fate. */
static uint32_t sort_by_hops(struct witness *w, enum fate fate)
{
	uint32_t n = w->j->topo->n_switches, sum = 0, far = 0;

	for (uint32_t s = 0; s < n; s++)
		if (w->fate[s] == fate)
			far = MAX(far, w->hops[s]);
	memset(w->bucket, 0, ((size_t)far + 1) * sizeof(*w->bucket));
	for (uint32_t s = 0; s < n; s++)
		if (w->fate[s] == fate)
			w->bucket[w->hops[s]]++;
	for (uint32_t h = far + 1; h-- > 0;) {
		uint32_t here = w->bucket[h];

		w->bucket[h] = sum;
		sum += here;
	}
	for (uint32_t s = 0; s < n; s++)
		if (w->fate[s] == fate)
			w->path[w->bucket[w->hops[s]]++] = s;
	return sum;
}

static void note_dependencies(struct witness *w, const uint8_t *column, lid_t lid, uint32_t at, uint32_t n)
{
	dependency_add_column(w->walk, &(struct dependency_column){
		.ports = column, .next = w->next, .order = w->path, .n_order = n, .at = at, .lid = lid,
	});
}

/* Loads of what arrives; dependencies of whatever end ports send, whether it arrives or not. */
static void sum_ways(struct witness *w, const uint8_t *column, lid_t lid, uint32_t to)
{
	const struct judge *j = w->j;
	uint32_t n = sort_by_hops(w, FATE_ARRIVES);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = w->path[i], flow = w->flow[s];

		if (!flow || s == to)
			continue;
		w->load[j->topo->switches[s].first_port + column[s]] += (uint32_t)w->sign * flow;
		w->flow[w->next[s]] += flow;
	}
	if (w->sign < 0)
		return; /* dependencies only grow */
	note_dependencies(w, column, lid, to, n);
	n = sort_by_hops(w, FATE_LOST);
	note_dependencies(w, column, lid, to, n);
	for (uint32_t s = 0; s < j->topo->n_switches; s++)
		if (w->fate[s] == FATE_LOOPS && j->sources[s])
			dependency_add_way(w->walk, &(struct dependency_column){
				.ports = column, .next = w->next, .at = to, .lid = lid }, s);
}

/* Sets fits[]: from where any table could lead to `to`, given how many LIDs the tables have room for. */
static void find_fitting(struct witness *w, lid_t lid, uint32_t to)
{
	const struct judge *j = w->j;
	const struct topo *t = j->topo;
	const uint16_t *dist = distances_from(j->distances, to);
	bool all = true;
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		w->fits[s] = dist[s] != DISTANCE_NONE;
		all &= !w->fits[s] || lid < t->switches[s].lft_cap;
	}
	if (all)
		return;
	memset(w->fits, 0, t->n_switches * sizeof(*w->fits));
	if (lid >= t->switches[to].lft_cap)
		return;
	w->fits[to] = true;
	w->path[n++] = to;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = j->graph->first[w->path[i]]; k < j->graph->first[w->path[i] + 1]; k++) {
			uint32_t s = j->graph->groups[k].to;

			if (w->fits[s] || lid >= t->switches[s].lft_cap)
				continue;
			w->fits[s] = true;
			w->path[n++] = s;
		}
}

void verdict_note_lost(struct route_verdict *v, const struct route_lost *lost)
{
	if (!v->lost_example.to || lost->to < v->lost_example.to ||
	    (lost->to == v->lost_example.to && lost->from < v->lost_example.from))
		v->lost_example = *lost;
}

/* `n` pairs from switch `s` have no path. */
static void count_missing(struct witness *w, uint32_t s, lid_t lid, uint64_t n)
{
	uint32_t end = s;

	w->v.unreachable += n;
	if (!w->fits[s]) {
		w->v.cut += n;
		return;
	}
	w->v.lost += n;
	for (uint32_t i = 0; i < w->hops[s]; i++)
		end = w->next[end];
	verdict_note_lost(&w->v, &(struct route_lost){ .to = lid, .from = s, .end = end,
						       .loops = w->fate[s] == FATE_LOOPS });
}

void judge_any(struct witness *w, const uint8_t *column, lid_t lid)
{
	const struct judge *j = w->j;
	struct target to = j->targets[lid];
	const uint16_t *dist = distances_from(j->distances, to.sw);
	uint32_t n = j->topo->n_switches;

	follow_all(w, column, to);
	find_fitting(w, lid, to.sw);
	memcpy(w->flow, j->sources, n * sizeof(*w->flow));
	w->v.pairs += (uint64_t)((int64_t)(j->n_sources - 1) * w->sign);
	for (uint32_t s = 0; s < n; s++) {
		uint64_t own = (uint64_t)((int64_t)(j->sources[s] - (s == to.sw)) * w->sign);

		if (!own)
			continue;
		if (w->fate[s] == FATE_LOOPS)
			w->v.looping += own;
		if (w->fate[s] != FATE_ARRIVES) {
			count_missing(w, s, lid, own);
			continue;
		}
		w->pairs_at[w->hops[s]] += own;
		w->v.detours += w->hops[s] != dist[s] ? own : 0;
	}
	sum_ways(w, column, lid, to.sw);
}

void judge_switch(struct witness *w, const uint8_t *column, lid_t lid)
{
	follow_all(w, column, w->j->targets[lid]);
	for (uint32_t s = 0; s < w->j->topo->n_switches; s++)
		if (w->fate[s] != FATE_ARRIVES)
			w->v.switch_unreachable += (uint64_t)(int64_t)w->sign;
}

void judge_column_of(const struct judge *j, lid_t lid, uint8_t *ret)
{
	const struct topo *t = j->topo;

	for (uint32_t s = 0; s < t->n_switches; s++)
		ret[s] = lid < t->switches[s].lft_cap ? routes_port(j->routes, s, lid) : LFT_NO_PORT;
}
