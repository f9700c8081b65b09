// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cost of doing without a cable, or without a switch: by the picture as it is, before
 * anything is done.
 *
 * Losses are found by joining what stays to parts, as guard.c does. Pairs that use the
 * cables now are found in the tables: for each receiver a walk over the switches, each of which is
 * passed once. Receivers to which no table leads over these cables are passed over: on a fat tree
 * of 3,456 hosts a cable or a spine takes 2 to 3 ms, so it is done at once, in the loop.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sm/out_of_use/bad_cable.h"
#include "sm/marks/marks_internal.h"
#include "util/mem.h"
#include "util/sets.h"

struct cut {
	const struct node *sw;	 /* switch of the cut: only port `p`, or all its cables */
	const struct port *p;	 /* NULL: all cables */
	const struct port *host; /* the host port that is itself the target, or NULL */
	enum mark_kind kind;
};

/*
 * Was the cable marked or found bad after routes were computed, so that the next routes avoid it?
 */
static bool is_condemned(const struct port *p)
{
	const struct bad_cable *c = p->out.cable;

	return c && cable_reasons(c) && !c->spared;
}

static bool is_link_in_use(const struct port *p)
{
	return !is_condemned(p) && fabric_link_is_up(p) && node_is_routable(p->node) &&
	       node_is_routable(p->peer->node) && port_is_in_use(p) && port_is_in_use(p->peer);
}

static bool is_between_switches(const struct port *p)
{
	return node_is_switch(p->node) && node_is_switch(p->peer->node);
}

/* Is the cable of this port cut? */
static bool is_cut(const struct cut *c, const struct port *p)
{
	if (c->p)
		return p == c->p || p->peer == c->p;
	return (p->node == c->sw || p->peer->node == c->sw) &&
	       (c->kind == MARK_ISOLATE || is_between_switches(p));
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Joins switches to parts of the fabric, without cut cables; `c` NULL: none is cut. */
static uint32_t *join_switches(const struct fabric *f, const struct cut *c)
{
	uint32_t *set = xcalloc(f->n_nodes + 1u, sizeof(*set));

	for (uint32_t i = 0; i < f->n_nodes; i++)
		set[i] = i;
	FABRIC_EACH_NODE(f, n) {
		for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++) {
			const struct port *p = &n->ports[i];

			if (p->peer && is_link_in_use(p) && is_between_switches(p) &&
			    !(c && is_cut(c, p)))
				sets_join(set, n->index, p->peer->node->index);
		}
	}
	return set;
}

/* The part that a host port belongs to; UINT32_MAX: none. */
static uint32_t part_of(uint32_t *set, const struct port *p, const struct cut *c)
{
	if (!p->peer || !is_link_in_use(p) || !node_is_switch(p->peer->node) || (c && is_cut(c, p)))
		return UINT32_MAX;
	return sets_root(set, p->peer->node->index);
}

static uint64_t count_pairs(const uint32_t *hosts, uint32_t n)
{
	uint64_t pairs = 0;

	for (uint32_t i = 0; i < n; i++)
		if (hosts[i])
			pairs += (uint64_t)hosts[i] * (hosts[i] - 1);
	return pairs;
}

struct loss {
	const struct fabric *f;
	const struct cut *cut;
	uint32_t *before, *after;	/* parts of switches, without and with the cut */
	uint32_t *n_before, *n_after;	/* number of hosts by part */
	uint32_t own_before, own_after; /* part of the manager; UINT32_MAX: none */
};

static void look_at_host(struct loss *l, const struct port *p, struct mark_cost *ret)
{
	uint32_t was = part_of(l->before, p, NULL), is = part_of(l->after, p, l->cut);

	if (p == l->cut->host || was == UINT32_MAX)
		return;
	l->n_before[was]++;
	if (is != UINT32_MAX)
		l->n_after[is]++;
	ret->hosts += was == l->own_before && is != l->own_after;
}

static void look_at_switch(struct loss *l, const struct node *n, struct mark_cost *ret)
{
	bool is_target = !l->cut->p && n == l->cut->sw;

	if (!node_is_routable(n) || is_target || sets_root(l->before, n->index) != l->own_before)
		return;
	ret->switches += sets_root(l->after, n->index) != l->own_after;
}

static void count_losses(const struct sm *sm, struct loss *l, struct mark_cost *ret)
{
	FABRIC_EACH_NODE(l->f, n) {
		if (node_is_switch(n))
			look_at_switch(l, n, ret);
		if (node_quirk(sm, n, QUIRK_AGGREGATION))
			continue; /* belongs to its switch, and is lost with it */
		for (unsigned i = 1; !node_is_switch(n) && i <= n->n_ports; i++)
			look_at_host(l, &n->ports[i], ret);
	}
	ret->pairs_lost =
		count_pairs(l->n_before, l->f->n_nodes) - count_pairs(l->n_after, l->f->n_nodes);
}

static void find_losses(const struct sm *sm, const struct cut *c, struct mark_cost *ret)
{
	const struct fabric *f = sm->fabric;
	const struct node *own = out_of_use_first_switch(f);
	_cleanup_free_ uint32_t *before = join_switches(f, NULL), *after = join_switches(f, c);
	_cleanup_free_ uint32_t *n_before = xcalloc(f->n_nodes + 1u, sizeof(*n_before)),
				*n_after = xcalloc(f->n_nodes + 1u, sizeof(*n_after));
	struct loss l = { .f = f,
			  .cut = c,
			  .before = before,
			  .after = after,
			  .n_before = n_before,
			  .n_after = n_after,
			  .own_before = own ? sets_root(before, own->index) : UINT32_MAX - 1,
			  .own_after = own ? sets_root(after, own->index) : UINT32_MAX - 1 };

	count_losses(sm, &l, ret);
}

/* ---- pairs that use it ----------------------------------------------------------------------- */

enum way { WAY_UNKNOWN, WAY_NONE, WAY_CLEAR, WAY_OVER };

struct walk {
	const struct routes *r;
	uint32_t sw;	/* switch of the cut, which cut hosts are on */
	bool *cut;	/* by entry of topo->ports: set if it is cut */
	uint32_t *cuts; /* entries by which it is decided if a receiver is examined */
	uint32_t n_cuts;
	uint8_t *way;		     /* by switch: enum way to the receiver */
	uint32_t *stack;	     /* switches whose path is being found */
	/* by switch: number of hosts, and of those whose own link is cut */
	uint32_t *hosts, *cut_hosts;
};

static void add_entry(struct walk *w, const struct port *p, bool decides)
{
	const struct topo *t = w->r->topo;
	uint32_t sw = node_is_switch(p->node) ? topo_find_switch(t, p->node->guid) : TOPO_NONE;
	uint32_t entry;

	if (sw == TOPO_NONE || p->num > t->switches[sw].n_ports)
		return;
	entry = t->switches[sw].first_port + p->num;
	w->cut[entry] = true;
	if (decides)
		w->cuts[w->n_cuts++] = entry;
}

/*
 * Adds a cut. Packets through a switch reach it first, so its own tables matter only for its hosts.
 */
static void add_cut(struct walk *w, const struct cut *c)
{
	for (unsigned i = 1; i <= c->sw->n_ports; i++) {
		const struct port *p = &c->sw->ports[i];

		if (!p->peer || !is_cut(c, p))
			continue;
		add_entry(w, p, c->p || !node_is_switch(p->peer->node));
		add_entry(w, p->peer, true);
	}
}

static bool is_led_over(const struct walk *w, lid_t lid)
{
	for (uint32_t i = 0; i < w->n_cuts; i++) {
		uint32_t sw = topo_switch_with(w->r->topo, w->cuts[i]);

		if (routes_port(w->r, sw, lid) == w->cuts[i] - w->r->topo->switches[sw].first_port)
			return true;
	}
	return false;
}

/* Finds the path of `sw` to the receiver, and those of all switches on it. */
static void find_way(struct walk *w, uint32_t sw, lid_t lid)
{
	const struct topo *t = w->r->topo;
	uint32_t n = 0;
	enum way way;

	while (w->way[sw] == WAY_UNKNOWN && n < t->n_switches) {
		uint32_t channel = routes_channel(w->r, sw, lid);

		if (channel == TOPO_NONE) {
			w->way[sw] = WAY_NONE;
			break;
		}
		w->stack[n++] = sw;
		sw = t->ports[channel].sw;
	}
	way = w->way[sw] == WAY_UNKNOWN ? WAY_NONE : w->way[sw];
	while (n) {
		sw = w->stack[--n];
		if (way != WAY_NONE && w->cut[routes_channel(w->r, sw, lid)])
			way = WAY_OVER;
		w->way[sw] = (uint8_t)way;
	}
}

/* Counts pairs with this receiver; `led_over` false: only senders that are cut themselves. */
static uint64_t count_senders(struct walk *w, const struct topo_host *to, bool led_over)
{
	const struct topo *t = w->r->topo;
	uint32_t last = t->switches[to->sw].first_port + to->sw_port;
	uint32_t first = led_over ? 0 : w->sw, end = led_over ? t->n_switches : w->sw + 1;
	uint64_t n = 0;

	memset(w->way, WAY_UNKNOWN, t->n_switches);
	w->way[to->sw] = w->cut[last] ? WAY_OVER : WAY_CLEAR;
	for (uint32_t i = first; i < end; i++) {
		if (!w->hosts[i])
			continue;
		find_way(w, i, to->lid);
		if (w->way[i] == WAY_OVER)
			n += w->hosts[i] - (i == to->sw);
		else if (w->way[i] == WAY_CLEAR)
			n += w->cut_hosts[i];
	}
	return n;
}

static bool is_routed(const struct topo_host *h)
{
	return h->sw != TOPO_NONE && h->lid;
}

static uint64_t count_pairs_over(struct walk *w)
{
	const struct topo *t = w->r->topo;
	bool all =
		/* hosts of `sw` are cut, so every receiver has senders whose links are cut */
		false;
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->n_hosts; i++) {
		const struct topo_host *h = &t->hosts[i];

		if (!is_routed(h))
			continue;
		w->hosts[h->sw]++;
		if (w->cut[t->switches[h->sw].first_port + h->sw_port]) {
			w->cut_hosts[h->sw]++;
			all = true;
		}
	}
	for (uint32_t i = 0; i < t->n_hosts; i++) {
		bool led_over = is_routed(&t->hosts[i]) && is_led_over(w, t->hosts[i].lid);

		if (led_over || (all && is_routed(&t->hosts[i])))
			n += count_senders(w, &t->hosts[i], led_over);
	}
	return n;
}

static uint64_t find_pairs_over(const struct routes *r, const struct cut *c)
{
	const struct topo *t = r->topo;
	_cleanup_free_ bool *cut = xcalloc(topo_n_entries(t) + 1u, sizeof(*cut));
	_cleanup_free_ uint32_t *cuts = xcalloc(2u * c->sw->n_ports + 1u, sizeof(*cuts));
	_cleanup_free_ uint8_t *way = xcalloc(t->n_switches + 1u, 1);
	_cleanup_free_ uint32_t *stack = xcalloc(t->n_switches + 1u, sizeof(*stack)),
				*hosts = xcalloc(t->n_switches + 1u, sizeof(*hosts)),
				*cut_hosts = xcalloc(t->n_switches + 1u, sizeof(*cut_hosts));
	struct walk w = { .r = r,
			  .cut = cut,
			  .cuts = cuts,
			  .way = way,
			  .stack = stack,
			  .hosts = hosts,
			  .cut_hosts = cut_hosts };

	w.sw = topo_find_switch(t, c->sw->guid);
	add_cut(&w, c);
	return w.n_cuts && w.sw != TOPO_NONE ? count_pairs_over(&w) : 0;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool has_row(const struct port *p, lid_t mlid)
{
	uint64_t mask[4] = { 0 };

	return p && node_is_switch(p->node) && mft_have_row(&p->node->mft, mlid, mask) &&
	       (mask[p->num / 64] >> p->num % 64 & 1);
}

static unsigned count_groups(const struct cut *c)
{
	unsigned end = mft_have_end(&c->sw->mft), n = 0;
	uint64_t mask[4];

	if (c->p && c->p->peer && node_is_switch(c->p->peer->node))
		end = MAX(end, mft_have_end(&c->p->peer->node->mft));
	for (unsigned mlid = MFT_FIRST_MLID; mlid < end; mlid++) {
		if (c->p)
			n += has_row(c->p, (lid_t)mlid) || has_row(c->p->peer, (lid_t)mlid);
		else
			n += mft_have_row(&c->sw->mft, (lid_t)mlid, mask);
	}
	return n;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static unsigned count_cables(const struct cut *c)
{
	unsigned n = 0;

	for (unsigned i = 1; i <= c->sw->n_ports; i++) {
		const struct port *p = &c->sw->ports[i];

		n += p->peer && is_cut(c, p) && fabric_link_is_up(p);
	}
	return n;
}

/* The number of cables of `n` to other switches that are in use, without cut ones. */
static unsigned count_ways(const struct node *n, const struct cut *c)
{
	unsigned ways = 0;

	for (unsigned i = 1; n && i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		ways += p->peer && is_between_switches(p) && is_link_in_use(p) &&
			!(c && is_cut(c, p));
	}
	return ways;
}

static bool is_own(const struct sm *sm, const struct cut *c, const struct mark_cost *cost)
{
	const struct port *own = sm->fabric->own_port;
	const struct node *first = out_of_use_first_switch(sm->fabric);

	if (!own)
		return false;
	if (!c->p && (c->sw == first || c->sw == own->node))
		return true;
	if (c->p && (c->p == own || c->p->peer == own))
		return true;
	if (count_ways(first, NULL) && !count_ways(first, c))
		return true;
	return c->p && (c->sw == first || (c->p->peer && c->p->peer->node == first)) &&
	       cost->switches + cost->hosts;
}

void sm_mark_cost(const struct sm *sm, const struct routes *routes, enum mark_kind kind,
		  const struct node *n, unsigned port, struct mark_cost *ret)
{
	bool whole = !port || port == MARK_WHOLE_SWITCH;
	struct cut c = { .sw = n, .p = whole ? NULL : &n->ports[port], .kind = kind };

	assert(node_is_switch(n) && (whole || port <= n->n_ports));
	if (c.p && c.p->peer && !node_is_switch(c.p->peer->node))
		c.host = c.p->peer;
	*ret = (struct mark_cost){ .cables = count_cables(&c), .groups = count_groups(&c) };
	find_losses(sm, &c, ret);
	ret->own = is_own(sm, &c, ret);
	ret->manager = c.host && c.host != sm->fabric->own_port &&
		       (fabric_cap_mask(c.host) & IB_CAP(IB_CAP_IS_SM));
	if (routes)
		ret->pairs_over = find_pairs_over(routes, &c);
}
