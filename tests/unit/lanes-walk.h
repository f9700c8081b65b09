// SPDX-License-Identifier: BSD-2-Clause
/*
 * What tables with lanes do, found out in the plainest way: every packet from every switch to every
 * LID is followed hop by hop, with the SL that PathRecords give it and the VL that every cable
 * gives it. Shares nothing with the judge of route/proof/check.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "route/core/sl2vl.h"
#include "route/mcast/mcast.h"
#include "route/core/routes.h"
#include "util/mem.h"

struct lanes_walk {
	/* from switches with end ports to LIDs of end ports; no end, or a wrong one */
	uint64_t walks, lost;
	uint64_t own_walks, own_lost; /* from every switch to every LID of a switch */
	bool cycle;              /* of (channel, VL) */
	unsigned max_hops, vls;  /* vls: highest VL used + 1 */
	uint64_t hops, pairs;    /* by end ports */
	uint64_t max_load;       /* pairs of end ports on one channel */
};

/* Turns seen: (channel, VL) to (channel, VL), each once. */
struct lanes_turns {
	uint64_t *slots;
	size_t cap, n;
};

static inline void lanes_turn_add(struct lanes_turns *t, uint64_t turn)
{
	size_t at;

	if (2 * (t->n + 1) > t->cap) {
		struct lanes_turns more = { .cap = MAX(t->cap * 2, 1024u) };

		more.slots = xcalloc(more.cap, sizeof(*more.slots));
		for (size_t i = 0; i < t->cap; i++)
			if (t->slots[i])
				lanes_turn_add(&more, t->slots[i]);
		free(t->slots);
		*t = more;
	}
	at = (size_t)(turn * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (t->cap - 1);
	while (t->slots[at] && t->slots[at] != turn)
		at = (at + 1) & (t->cap - 1);
	t->n += !t->slots[at];
	t->slots[at] = turn;
}

static inline int lanes_by_turn(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Takes away what waits for nothing, until nothing is left or the rest wait for each other. Frees
 * the slots.
 */
static inline bool lanes_turns_cycle(struct lanes_turns *t, uint32_t n_vertices)
{
	uint32_t *first = xcalloc(n_vertices + 2u, sizeof(*first)),
		 *waits = xcalloc(n_vertices + 1u, sizeof(*waits));
	uint32_t *queue = xcalloc(n_vertices + 1u, sizeof(*queue)), n = 0;
	size_t used = 0;

	for (size_t i = 0; i < t->cap; i++)
		if (t->slots[i])
			t->slots[used++] = t->slots[i];
	if (used)
		qsort(t->slots, used, sizeof(*t->slots), lanes_by_turn);
	for (size_t i = 0; i < used; i++) {
		first[(t->slots[i] >> 32) + 1]++;
		waits[(uint32_t)t->slots[i]]++;
	}
	for (uint32_t v = 0; v < n_vertices; v++)
		first[v + 1] += first[v];
	for (uint32_t v = 0; v < n_vertices; v++)
		if (!waits[v])
			queue[n++] = v;
	for (uint32_t done = 0; done < n; done++)
		for (uint32_t i = first[queue[done]]; i < first[queue[done] + 1]; i++)
			if (!--waits[(uint32_t)t->slots[i]])
				queue[n++] = (uint32_t)t->slots[i];
	free(t->slots);
	free(first);
	free(waits);
	free(queue);
	return n < n_vertices;
}

struct lanes_walker {
	const struct routes *r;
	const struct topo *t;
	uint32_t *sources;  /* per switch: end ports with a LID */
	uint64_t *load;
	bool all;           /* turns of switches' own packets count as well */
	struct lanes_turns turns;
	const bool *dead; /* by entry of topo->ports: no packet waits for it; NULL: none */
	struct lanes_walk *ret;
};

static inline void lanes_turn(struct lanes_walker *w, uint32_t from, uint32_t to)
{
	if (!w->dead || (!w->dead[from / SL2VL_SLS] && !w->dead[to / SL2VL_SLS]))
		lanes_turn_add(&w->turns, (uint64_t)from << 32 | to);
}

/* From `src` to `lid` of switch `dst`, where it leaves by `port` (0: the switch). Hops, or -1. */
static inline int lanes_follow(struct lanes_walker *w, uint32_t src, uint32_t dst, lid_t lid,
			       uint8_t port)
{
	const struct topo *t = w->t;
	const struct sl2vl *l = w->r->lanes;
	uint8_t sl = sl2vl_sl(l, src, dst, lid, 0);
	uint32_t at = src, last = TOPO_NONE;
	unsigned in = 0;
	int hops = 0;

	while (hops <= 255) {
		uint8_t out = routes_port(w->r, at, lid), vl;
		const struct topo_port *p;
		uint32_t here;

		if (at == dst && out == port)
			return hops;
		if (!out || out > t->switches[at].n_ports)
			return -1;
		p = topo_port(t, at, out);
		if (p->sw == TOPO_NONE)
			return -1;
		vl = l ? sl2vl_vl(l, t, at, in, out, sl) : 0;
		w->ret->vls = MAX(w->ret->vls, vl + 1u);
		here = (t->switches[at].first_port + out) * SL2VL_SLS + vl;
		if ((port || w->all) && last != TOPO_NONE)
			lanes_turn(w, last, here);
		if (port)
			w->load[here / SL2VL_SLS] += w->sources[src];
		last = here;
		in = p->port;
		at = p->sw;
		hops++;
	}
	return -1;
}

static inline void lanes_walk_host(struct lanes_walker *w, uint32_t h)
{
	const struct topo_host *host = &w->t->hosts[h];

	if (host->sw == TOPO_NONE || !host->lid)
		return;
	for (unsigned k = 0; k < 1u << host->lmc; k++)
		for (uint32_t s = 0; s < w->t->n_switches; s++) {
			int hops;

			if (!w->sources[s] && !w->all)
				continue;
			hops = lanes_follow(w, s, host->sw, (lid_t)(host->lid + k), host->sw_port);
			w->ret->walks++;
			w->ret->lost += hops < 0;
			if (hops < 0 || k)
				continue;
			w->ret->max_hops = MAX(w->ret->max_hops, (unsigned)hops);
			w->ret->pairs += w->sources[s] - (s == host->sw);
			w->ret->hops += (uint64_t)hops * w->sources[s];
		}
}

static inline void lanes_walk_switch(struct lanes_walker *w, uint32_t to)
{
	const struct topo_switch *sw = &w->t->switches[to];

	for (unsigned k = 0; sw->lid && k < 1u << sw->lmc; k++)
		for (uint32_t s = 0; s < w->t->n_switches; s++) {
			w->ret->own_walks++;
			w->ret->own_lost += lanes_follow(w, s, to, (lid_t)(sw->lid + k), 0) < 0;
		}
}

/* In by any port of the row, out by every other one; on schemes in which the VL is the SL. */
static inline void lanes_walk_row(struct lanes_walker *w, const struct mcast_row *row, unsigned vl)
{
	const struct topo *t = w->t;

	for (unsigned in = 1; in <= t->switches[row->sw].n_ports; in++) {
		const struct topo_port *from = topo_port(t, row->sw, in);

		if (from->sw == TOPO_NONE || !(row->mask[in / 64] >> in % 64 & 1))
			continue;
		for (unsigned out = 1; out <= t->switches[row->sw].n_ports; out++)
			if (out != in && row->mask[out / 64] >> out % 64 & 1 &&
			    topo_port(t, row->sw, out)->sw != TOPO_NONE)
				lanes_turn(w,
					   (t->switches[from->sw].first_port + from->port) *
							   SL2VL_SLS + vl,
					   (t->switches[row->sw].first_port + out) * SL2VL_SLS +
						   vl);
	}
}

/*
 * `all`: switches that send, and are sent to, must not close a cycle either. `trees`: on VL 0.
 * `dead`: by entry of topo->ports; NULL: all cables live.
 */
static inline struct lanes_walk lanes_walk_living(const struct routes *r, bool all,
						  struct mcast_tree *const *trees,
						  unsigned n_trees, const bool *dead)
{
	struct lanes_walk ret = { 0 };
	struct lanes_walker w = { .r = r, .t = r->topo, .all = all, .ret = &ret, .dead = dead };
	uint32_t n_ports = 1;

	for (uint32_t s = 0; s < w.t->n_switches; s++)
		n_ports += w.t->switches[s].n_ports + 1u;
	w.sources = xcalloc(w.t->n_switches + 1u, sizeof(*w.sources));
	w.load = xcalloc(n_ports, sizeof(*w.load));
	for (uint32_t h = 0; h < w.t->n_hosts; h++)
		if (w.t->hosts[h].sw != TOPO_NONE && w.t->hosts[h].lid)
			w.sources[w.t->hosts[h].sw]++;
	for (uint32_t h = 0; h < w.t->n_hosts; h++)
		lanes_walk_host(&w, h);
	for (uint32_t s = 0; s < w.t->n_switches; s++)
		lanes_walk_switch(&w, s);
	for (unsigned i = 0; i < n_trees; i++)
		for (uint32_t k = 0; k < trees[i]->n_rows; k++)
			lanes_walk_row(&w, &trees[i]->rows[k], 0);
	for (uint32_t i = 0; i < n_ports; i++)
		ret.max_load = MAX(ret.max_load, w.load[i]);
	ret.cycle = lanes_turns_cycle(&w.turns, n_ports * SL2VL_SLS);
	free(w.sources);
	free(w.load);
	return ret;
}

static inline struct lanes_walk lanes_walk_trees(const struct routes *r, bool all,
						 struct mcast_tree *const *trees, unsigned n_trees)
{
	return lanes_walk_living(r, all, trees, n_trees, NULL);
}

static inline struct lanes_walk lanes_walk(const struct routes *r, bool all)
{
	return lanes_walk_trees(r, all, NULL, 0);
}
