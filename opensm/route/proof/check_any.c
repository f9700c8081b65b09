// SPDX-License-Identifier: BSD-2-Clause
/*
 * One destination whose paths go anywhere: detours, dead ends, circles. Followed switch by switch
 * until the state of each path is known; then flows are summed in order of hops to the end.
 */
#include <string.h>

#include "route/proof/check_internal.h"
#include "util/mem.h"

enum path_state {
	PATH_UNKNOWN,
	PATH_WALKING,
	PATH_ARRIVES,
	PATH_LOST,
	PATH_LOOPS,
};

#define ARRIVED (TOPO_NONE - 1)
#define LOST TOPO_NONE
#define NEAR_NO_ROOM (DISTANCE_NONE - 1)

/* The switch that `s` sends to through `port`. */
static uint32_t step(const struct verifier *j, uint32_t s, uint8_t port, struct target to)
{
	uint32_t behind;

	if (s == to.sw && port == to.port)
		return ARRIVED;
	if (!port || port > j->topo->switches[s].n_ports)
		return LOST;
	behind = j->behind[j->topo->switches[s].first_port + port];
	return behind == BEHIND_NONE ? LOST : behind >> 8;
}

/* Follows the path from one switch until its state is known, which all switches on it have. */
static void follow_path(struct check_worker *w, uint32_t s)
{
	uint32_t n = 0, hops = 0;
	enum path_state state;

	while (s < w->j->topo->n_switches && w->state[s] == PATH_UNKNOWN) {
		w->state[s] = PATH_WALKING;
		w->path[n++] = s;
		s = w->next[s];
	}
	if (s == ARRIVED)
		state = PATH_ARRIVES;
	else if (s == LOST)
		state = PATH_LOST;
	else
		state = w->state[s] == PATH_WALKING ? PATH_LOOPS : (enum path_state)w->state[s];
	if (s < w->j->topo->n_switches)
		hops = w->hops[s] + 1;
	while (n-- > 0) {
		w->state[w->path[n]] = (uint8_t)state;
		w->hops[w->path[n]] = hops++;
	}
}

static void follow_all(struct check_worker *w, const uint8_t *column, struct target to)
{
	uint32_t n = w->j->topo->n_switches;

	for (uint32_t s = 0; s < n; s++)
		w->next[s] = step(w->j, s, column[s], to);
	memset(w->state, PATH_UNKNOWN, n);
	for (uint32_t s = 0; s < n; s++)
		follow_path(w, s);
}

uint32_t check_sort_by_hops(struct check_worker *w, uint8_t state, uint32_t *ret)
{
	uint32_t n = w->j->topo->n_switches, sum = 0, far = 0;

	for (uint32_t s = 0; s < n; s++)
		if (w->state[s] == state)
			far = MAX(far, w->hops[s]);
	memset(w->bucket, 0, ((size_t)far + 1) * sizeof(*w->bucket));
	for (uint32_t s = 0; s < n; s++)
		if (w->state[s] == state)
			w->bucket[w->hops[s]]++;
	for (uint32_t h = far + 1; h-- > 0;) {
		uint32_t here = w->bucket[h];

		w->bucket[h] = sum;
		sum += here;
	}
	for (uint32_t s = 0; s < n; s++)
		if (w->state[s] == state)
			ret[w->bucket[w->hops[s]]++] = s;
	return sum;
}

static void note_dependencies(struct check_worker *w, const uint8_t *column, lid_t lid, uint32_t at,
			      uint32_t n)
{
	cdg_add_column(w->walk, &(struct cdg_column){
					.ports = column,
					.next = w->next,
					.order = w->path,
					.n_order = n,
					.at = at,
					.lid = lid,
				});
}

/* Loads of flows that arrive; dependencies of all that end ports send, arriving or not. */
static void sum_ways(struct check_worker *w, const uint8_t *column, lid_t lid, uint32_t to)
{
	const struct verifier *j = w->j;
	uint32_t n = check_sort_by_hops(w, PATH_ARRIVES, w->path);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = w->path[i], flow = w->flow[s];

		if (!flow || s == to)
			continue;
		w->load[j->topo->switches[s].first_port + column[s]] += flow;
		w->flow[w->next[s]] += flow;
	}
	note_dependencies(w, column, lid, to, n);
	n = check_sort_by_hops(w, PATH_LOST, w->path);
	note_dependencies(w, column, lid, to, n);
	for (uint32_t s = 0; s < j->topo->n_switches; s++)
		if (w->state[s] == PATH_LOOPS && j->sources[s])
			cdg_add_way(w->walk, &(struct cdg_column){
				.ports = column, .next = w->next, .at = to, .lid = lid }, s);
}

/*
 * Sets near[]: hops over switches that have room for the LID, as tables could lead there. Others
 * count as reached already.
 */
static void find_near(struct check_worker *w, lid_t lid, uint32_t to)
{
	const struct verifier *j = w->j;
	const struct topo *t = j->topo;
	const uint16_t *dist = distances_from(j->distances, to);
	bool all = true;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		bool has_room = lid < t->switches[s].lft_cap;

		w->near[s] = has_room ? DISTANCE_NONE : NEAR_NO_ROOM;
		all &= has_room || dist[s] == DISTANCE_NONE;
	}
	if (all) {
		memcpy(w->near, dist, t->n_switches * sizeof(*w->near));
	} else if (w->near[to] != NEAR_NO_ROOM) {
		w->near[to] = 0;
		graph_flood(j->graph, w->near, w->path);
	}
}

void verdict_note_lost(struct route_verdict *v, const struct route_lost *lost)
{
	if (!v->lost_example.to || lost->to < v->lost_example.to ||
	    (lost->to == v->lost_example.to && lost->from < v->lost_example.from))
		v->lost_example = *lost;
}

/* `n` pairs from switch `s` have no path. */
static void count_missing(struct check_worker *w, uint32_t s, lid_t lid, uint64_t n)
{
	uint32_t end = s;

	w->v.unreachable += n;
	if (w->near[s] >= NEAR_NO_ROOM) {
		w->v.cut += n;
		return;
	}
	w->v.lost += n;
	for (uint32_t i = 0; i < w->hops[s]; i++)
		end = w->next[end];
	verdict_note_lost(&w->v, &(struct route_lost){ .to = lid, .from = s, .end = end,
						       .loops = w->state[s] == PATH_LOOPS });
}

void verify_any(struct check_worker *w, const uint8_t *column, lid_t lid)
{
	const struct verifier *j = w->j;
	struct target to = j->targets[lid];
	const uint16_t *dist = distances_from(j->distances, to.sw);
	uint32_t n = j->topo->n_switches;

	follow_all(w, column, to);
	find_near(w, lid, to.sw);
	memcpy(w->flow, j->sources, n * sizeof(*w->flow));
	w->v.pairs += j->n_sources - !to.aside;
	for (uint32_t s = 0; s < n; s++) {
		uint64_t own = verifier_pairs(j, s, to);

		if (!own)
			continue;
		if (w->state[s] == PATH_LOOPS)
			w->v.looping += own;
		if (w->state[s] != PATH_ARRIVES) {
			count_missing(w, s, lid, own);
			continue;
		}
		w->pairs_at[w->hops[s]] += own;
		w->v.detours += w->hops[s] != dist[s] ? own : 0;
	}
	if (!to.aside)
		sum_ways(w, column, lid, to.sw);
}

void verify_switch(struct check_worker *w, const uint8_t *column, lid_t lid)
{
	follow_all(w, column, w->j->targets[lid]);
	for (uint32_t s = 0; s < w->j->topo->n_switches; s++)
		w->v.switch_unreachable += w->state[s] != PATH_ARRIVES;
}

void verifier_column_of(const struct verifier *j, lid_t lid, uint8_t *ret)
{
	const struct topo *t = j->topo;

	for (uint32_t s = 0; s < t->n_switches; s++)
		ret[s] =
			lid < t->switches[s].lft_cap ? routes_port(j->routes, s, lid) : LFT_NO_PORT;
}
