// SPDX-License-Identifier: BSD-2-Clause
/*
 * For each receiver the path of each switch with senders is followed: first of all pairs that stay
 * as they are, then of those that have to go around, which find the loads of the former. Distances
 * of what is left are found once for the receivers of a switch, and only if a path leads over a
 * missing cable.
 */
#include "control/control_detour.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"

#define FAR UINT16_MAX

struct walk {
	const struct routes *r;
	const struct topo *t;
	const bool *missing;
	uint32_t *senders;	/* by switch: number of senders */
	uint32_t *now, *after;	/* load, per entry of topo->ports */
	uint16_t *left;		/* by switch: hops to the switch `to` without missing cables */
	uint32_t to;		/* TOPO_NONE: not found yet */
	uint32_t *chosen;	/* per switch: the entry around for this receiver, or TOPO_NONE */
	uint32_t *queue;
};

bool *detour_missing(const struct topo *t, guid_t guid, unsigned port, bool hosts)
{
	uint32_t sw = topo_find_switch(t, guid);
	bool *missing;

	if (sw == TOPO_NONE || port > t->switches[sw].n_ports)
		return NULL;
	missing = xcalloc(topo_n_entries(t) + 1u, sizeof(*missing));
	for (unsigned i = port ? port : 1; i <= (port ? port : t->switches[sw].n_ports); i++) {
		const struct topo_port *p = topo_port(t, sw, i);

		if (p->sw == TOPO_NONE && !(hosts && p->host != TOPO_NONE))
			continue;
		missing[p - t->ports] = true;
		if (p->sw != TOPO_NONE)
			missing[topo_port(t, p->sw, p->port) - t->ports] = true;
	}
	return missing;
}

/* ---- around ---------------------------------------------------------------------------------- */

static void find_distances(struct walk *w, uint32_t to)
{
	const struct topo *t = w->t;
	uint32_t head = 0, tail = 0;

	memset(w->left, 0xFF, t->n_switches * sizeof(*w->left));
	w->to = to;
	w->left[to] = 0;
	w->queue[tail++] = to;
	while (head < tail) {
		uint32_t s = w->queue[head++];

		for (unsigned i = 1; i <= t->switches[s].n_ports; i++) {
			const struct topo_port *p = topo_port(t, s, i);

			if (p->sw == TOPO_NONE || w->missing[p - t->ports] ||
			    w->left[p->sw] != FAR)
				continue;
			w->left[p->sw] = (uint16_t)(w->left[s] + 1);
			w->queue[tail++] = p->sw;
		}
	}
}

static bool is_nearer(const struct walk *w, uint32_t s, uint32_t at)
{
	const struct topo_port *p = &w->t->ports[at];

	return p->sw != TOPO_NONE && !w->missing[at] && w->left[p->sw] + 1 == w->left[s];
}

/* Load of the busier of this cable and of the one that the table behind it takes. */
static uint32_t busier(const struct walk *w, uint32_t at, lid_t lid)
{
	uint32_t next = routes_channel(w->r, w->t->ports[at].sw, lid);

	return next == TOPO_NONE ? w->after[at] : MAX(w->after[at], w->after[next]);
}

/* The least loaded cable of `s` that leads nearer; TOPO_NONE: there is none. */
static uint32_t choose(struct walk *w, uint32_t s, lid_t lid)
{
	uint32_t best = TOPO_NONE;

	if (w->chosen[s] != TOPO_NONE || w->left[s] == FAR)
		return w->chosen[s];
	for (unsigned i = 1; i <= w->t->switches[s].n_ports; i++) {
		uint32_t at = w->t->switches[s].first_port + i;

		if (is_nearer(w, s, at) &&
		    (best == TOPO_NONE || busier(w, at, lid) < busier(w, best, lid)))
			best = at;
	}
	w->chosen[s] = best;
	return best;
}

/*
 * Adds the load of `n` pairs from the end of a missing cable to the receiver. False: it is not
 * reachable.
 */
static bool go_around(struct walk *w, uint32_t s, lid_t lid, uint32_t n)
{
	while (s != w->to) {
		uint32_t at = routes_channel(w->r, s, lid);

		/* The present entry is kept if it leads nearer. */
		if (at == TOPO_NONE || !is_nearer(w, s, at))
			at = choose(w, s, lid);
		if (at == TOPO_NONE)
			return false;
		w->after[at] += n;
		s = w->t->ports[at].sw; /* nearer each time */
	}
	return true;
}

/* ---- one receiver ---------------------------------------------------------------------------- */

/* Adds to `load` up to the receiver (TOPO_NONE), or up to a missing cable, which it returns. */
static uint32_t follow(const struct walk *w, uint32_t s, const struct topo_host *to, uint32_t n,
		       uint32_t *load)
{
	for (uint32_t hops = 0; s != to->sw && hops < w->t->n_switches; hops++) {
		uint32_t at = routes_channel(w->r, s, to->lid);

		if (at == TOPO_NONE)
			return TOPO_NONE;
		if (w->missing[at])
			return at;
		load[at] += n;
		s = w->t->ports[at].sw;
	}
	return TOPO_NONE;
}

/* Adds to the present load along the present tables. True: the path uses a missing cable. */
static bool follow_now(const struct walk *w, uint32_t s, const struct topo_host *to, uint32_t n)
{
	bool is_over = false;

	for (uint32_t hops = 0; s != to->sw && hops < w->t->n_switches; hops++) {
		uint32_t at = routes_channel(w->r, s, to->lid);

		if (at == TOPO_NONE)
			return false;
		is_over |= w->missing[at];
		w->now[at] += n;
		s = w->t->ports[at].sw;
	}
	return is_over;
}

static bool is_reached(const struct walk *w, const struct topo_host *to)
{
	return !w->missing[w->t->switches[to->sw].first_port + to->sw_port];
}

/* Pairs that stay as they are. True: others do not. */
static bool keep_pairs(struct walk *w, const struct topo_host *to)
{
	bool some = false;

	for (uint32_t s = 0; s < w->t->n_switches; s++) {
		if (!w->senders[s])
			continue;
		if (follow_now(w, s, to, w->senders[s]))
			some = true;
		else if (is_reached(w, to))
			follow(w, s, to, w->senders[s], w->after);
	}
	return some && is_reached(w, to);
}

/* Adds the load of pairs that must move. Returns their number. */
static uint64_t move_pairs(struct walk *w, const struct topo_host *to)
{
	uint64_t moved = 0;

	memset(w->chosen, 0xFF, w->t->n_switches * sizeof(*w->chosen));
	if (w->to != to->sw)
		find_distances(w, to->sw);
	for (uint32_t s = 0; s < w->t->n_switches; s++) {
		uint32_t at = w->senders[s] && w->left[s] != FAR
				      ? follow(w, s, to, 0, w->after)
				      : TOPO_NONE;

		if (at == TOPO_NONE)
			continue;
		follow(w, s, to, w->senders[s], w->after);
		if (go_around(w, topo_switch_with(w->t, at), to->lid, w->senders[s]))
			moved += w->senders[s];
	}
	return moved;
}

/* The most loaded channel; cables of stubs are left out, as in a verdict (check.h). */
static struct detour_peak peak_of(const struct topo *t, const bool *counted, const uint32_t *flows)
{
	struct detour_peak p = { .at = TOPO_NONE };

	for (uint32_t i = 0, n = topo_n_entries(t); i < n; i++)
		if (counted[i] && topo_load(t->paces, i, flows[i]) > p.pairs)
			p = (struct detour_peak){
				.pairs = topo_load(t->paces, i, flows[i]), .at = i
			};
	return p;
}

void detour_of(const struct routes *r, const bool *missing, struct detour *ret)
{
	const struct topo *t = r->topo;
	uint32_t n = topo_n_entries(t);
	_cleanup_free_ uint32_t *senders = topo_count_senders(t);
	_cleanup_free_ bool *counted = topo_find_counted(t);
	_cleanup_(arena_done) struct arena memory = { NULL };
	struct walk w = {
		.r = r, .t = t, .missing = missing, .senders = senders, .to = TOPO_NONE,
	};
	bool *moves;

	assert(missing && ret);
	ARENA_ARRAY(&memory, w.now, n);
	ARENA_ARRAY(&memory, w.after, n);
	ARENA_ARRAY(&memory, w.chosen, t->n_switches);
	ARENA_ARRAY(&memory, w.queue, t->n_switches);
	ARENA_ARRAY(&memory, w.left, t->n_switches);
	ARENA_ARRAY(&memory, moves, t->n_hosts);
	*ret = (struct detour){ 0 };
	for (uint32_t h = 0; h < t->n_hosts; h++)
		moves[h] = t->hosts[h].sw != TOPO_NONE && t->hosts[h].lid &&
			   keep_pairs(&w, &t->hosts[h]);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (moves[h])
			ret->moved += move_pairs(&w, &t->hosts[h]);
	ret->now = peak_of(t, counted, w.now);
	ret->after = peak_of(t, counted, w.after);
}
