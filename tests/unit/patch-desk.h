// SPDX-License-Identifier: BSD-2-Clause
/*
 * Switches that hold tables, and get those of patches one entry at a time: what they do to packets
 * at every moment, and to each other at rest. Shares nothing with the patches but topo and rows.
 */
#pragma once

#include "route/patch/patch.h"
#include "route/proof/cdg.h"
#include "tests/lib/topocut.h"
#include "tests/unit/route-desk.h"
#include "util/random.h"

struct patch_desk {
	const struct topo *topo;
	struct patch_ground *ground;
	const struct routes *now; /* tables in force */
	uint8_t *held;		  /* by switch and LID: what switches hold */
	bool *dead;		  /* by entry of topo->ports */
	uint32_t *at;		  /* by LID: switch; TOPO_NONE: not assigned */
	uint8_t *at_port;
	bool *sends;		 /* by switch: has it an end port? */
	bool safe;		 /* have the first tables no cycle? */
	struct patch_entry *due; /* Sets that are on their way */
	size_t n_due, cap_due;
	uint32_t waiting; /* entries that wait, at the last patch */
	struct patch_entry *waits;
};

static inline uint8_t *desk_held(const struct patch_desk *d, uint32_t sw, lid_t lid)
{
	return &d->held[(size_t)sw * d->now->row_size + lid];
}

/* The switch to which `sw` sends the LID; TOPO_NONE: it ends here. */
static inline uint32_t desk_next(const struct patch_desk *d, uint32_t sw, lid_t lid)
{
	uint8_t port = *desk_held(d, sw, lid);
	uint32_t first = d->topo->switches[sw].first_port;

	if (sw == d->at[lid] || !port || port > d->topo->switches[sw].n_ports ||
	    d->dead[first + port])
		return TOPO_NONE;
	return d->topo->ports[first + port].sw;
}

/* What comes of packets to a LID at each switch. */
enum desk_end { DESK_UNSEEN, DESK_ON_WAY, DESK_LOST, DESK_ARRIVES };

/* Walks from every switch; loops are a failure. `ret`: enum desk_end by switch. */
static inline void desk_walk(const struct patch_desk *d, lid_t lid, uint8_t *ret)
{
	uint32_t n = d->topo->n_switches, *way = xmalloc((n + 1) * sizeof(*way));

	memset(ret, DESK_UNSEEN, n);
	for (uint32_t from = 0; from < n; from++) {
		uint32_t len = 0, s = from;
		uint8_t end;

		while (s != TOPO_NONE && ret[s] == DESK_UNSEEN) {
			ret[s] = DESK_ON_WAY;
			way[len++] = s;
			s = desk_next(d, s, lid);
		}
		if (s != TOPO_NONE && ret[s] == DESK_ON_WAY)
			fail_msg("LID %u loops at switch %u", lid, s);
		if (s != TOPO_NONE)
			end = ret[s];
		else
			end = way[len - 1] == d->at[lid] &&
					      *desk_held(d, way[len - 1], lid) == d->at_port[lid]
				      ? DESK_ARRIVES
				      : DESK_LOST;
		while (len-- > 0)
			ret[way[len]] = end;
	}
	free(way);
}

/* The tables that switches hold, on the fabric without the dead cables. One reference. */
static inline struct routes *desk_tables(const struct patch_desk *d)
{
	struct topocut *cut = topocut_new(d->topo);
	struct topo *t;
	struct routes *r;

	memcpy(cut->ports, d->dead, topo_n_entries(d->topo) * sizeof(*d->dead));
	t = topocut_apply(d->topo, cut);
	topocut_free(cut);
	r = routes_new(t, "desk", d->now->top);
	for (uint32_t s = 0; s < t->n_switches; s++)
		memcpy(routes_row(r, s), d->held + (size_t)s * d->now->row_size, d->now->row_size);
	if (d->now->lanes)
		r->lanes = sl2vl_copy(t, d->now->lanes, d->now->row_size);
	topo_unref(t);
	return r;
}

static inline bool desk_is_acyclic(const struct patch_desk *d)
{
	struct routes *r = desk_tables(d);
	struct cdg *g = cdg_of(r, 1);
	bool ok = cdg_is_acyclic(g);

	cdg_free(g);
	routes_unref(r);
	return ok;
}

/* Takes over the reference of `r`. */
static inline struct patch_desk desk_new(struct routes *r)
{
	const struct topo *t = r->topo;
	struct patch_desk d = { .topo = t, .now = r, .ground = patch_ground_new(r) };
	size_t size = (size_t)t->n_switches * r->row_size;

	d.held = xmalloc(size + 1);
	for (uint32_t s = 0; s < t->n_switches; s++)
		memcpy(d.held + (size_t)s * r->row_size, routes_row(r, s), r->row_size);
	d.dead = xcalloc(topo_n_entries(t) + 1u, sizeof(*d.dead));
	d.at = xmalloc_ones(r->top + 1u, sizeof(*d.at));
	d.at_port = xcalloc(r->top + 1u, 1);
	for (uint32_t s = 0; s < t->n_switches; s++)
		TOPO_EACH_LID(&t->switches[s], lid)
	d.at[lid] = s;
	for (uint32_t i = 0; i < t->n_hosts + t->n_asides; i++) {
		const struct topo_host *h =
			i < t->n_hosts ? &t->hosts[i] : &t->asides[i - t->n_hosts];

		TOPO_EACH_LID(h, lid)
		{
			d.at[lid] = h->sw;
			d.at_port[lid] = h->sw_port;
		}
	}
	d.sends = xcalloc(t->n_switches + 1u, sizeof(*d.sends));
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE && t->hosts[h].lid)
			d.sends[t->hosts[h].sw] = true;
	d.safe = desk_is_acyclic(&d);
	return d;
}

static inline void desk_done(struct patch_desk *d)
{
	patch_ground_free(d->ground);
	routes_unref(d->now);
	FREE_ALL(d->held, d->dead, d->at, d->at_port, d->due, d->waits, d->sends);
}

static inline uint8_t desk_port(const void *arg, uint32_t sw, lid_t lid)
{
	const struct patch_desk *d = arg;
	uint8_t port = *desk_held(d, sw, lid);

	return port == routes_port(d->now, sw, lid) ? LFT_NO_PORT : port;
}

/* Cables die: a patch is made, and its entries are due. Returns the number of changes. */
static inline size_t desk_patch(struct patch_desk *d, const uint32_t *dead, size_t n)
{
	const struct patch_held held = { desk_port, d };
	struct patch *p;
	size_t changes = 0;

	for (size_t i = 0; i < n; i++)
		d->dead[dead[i]] = d->dead[topo_peer(d->topo, dead[i])] = true;
	p = patch_make(d->ground, d->now, dead, n, d->n_due ? &held : NULL);
	d->waiting = p->counts[PATCH_WAITING];
	d->waits = xrealloc(d->waits, d->waiting + 1u, sizeof(*d->waits));
	for (size_t i = 0, w = 0; i < p->n; i++) {
		const struct patch_entry *e = &p->entries[i];

		assert_int_equal(routes_port(d->now, e->sw, e->lid), e->was);
		if (i)
			assert_true(e->sw > e[-1].sw || (e->sw == e[-1].sw && e->lid > e[-1].lid));
		if (e->how == PATCH_WAITING) {
			assert_int_equal(e->was, e->now);
			d->waits[w++] = *e;
			continue;
		}
		assert_int_not_equal(e->was, e->now);
		assert_int_equal(routes_port(p->routes, e->sw, e->lid), e->now);
		APPEND(d->due, d->n_due, d->cap_due) = *e;
		changes++;
	}
	assert_int_equal(!p->routes, !changes);
	if (p->routes) {
		routes_unref(d->now);
		d->now = routes_ref(p->routes);
	}
	patch_free(p);
	return changes;
}

/* One Set arrives, of those that are due: the switch holds what is in force by now. */
static inline void desk_apply(struct patch_desk *d, size_t which)
{
	const struct patch_entry e = d->due[which];
	uint8_t *ends = xmalloc(d->topo->n_switches + 1u);

	d->due[which] = d->due[--d->n_due];
	*desk_held(d, e.sw, e.lid) = routes_port(d->now, e.sw, e.lid);
	desk_walk(d, e.lid, ends);
	free(ends);
}

/* `most` Sets that are due arrive, in random order. */
static inline void desk_apply_some(struct patch_desk *d, size_t most, uint64_t *seed)
{
	for (; d->n_due && most; most--)
		desk_apply(d, (size_t)(random_next(seed) % d->n_due));
}
