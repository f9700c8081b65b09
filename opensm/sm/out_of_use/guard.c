// SPDX-License-Identifier: BSD-2-Clause
/*
 * A cable that is the only path between two parts of the fabric is used whatever its reasons; of
 * several that could be that path, the one with the mildest reasons. The same holds for switches
 * that take no tables, or are isolated as a whole.
 */
#include <stdlib.h>

#include "fabric/observe.h"
#include "sm/out_of_use/bad_cable.h"
#include "util/bisect.h"
#include "util/mem.h"
#include "util/sets.h"

/* ---- parts ---------------------------------------------------------------------------------- */

typedef bool link_fn(const struct port *p);

/* Joins the parts of two nodes. True: they were separate. */
static bool join_parts(uint32_t *root, const struct node *a, const struct node *b)
{
	return sets_join(root, a->index, b->index);
}

static bool joins_switches(const struct port *p)
{
	return fabric_link_is_up(p) && node_is_switch(p->peer->node) && node_is_routable(p->node) &&
	       node_is_routable(p->peer->node);
}

static uint32_t count_routable(const struct fabric *f)
{
	uint32_t ret = 0;

	FABRIC_EACH_NODE(f, n)
		ret += node_is_switch(n) && node_is_routable(n);
	return ret;
}

/* Joins parts over the links of a node, each cable once. Returns how many joins there were. */
static uint32_t join_links(uint32_t *root, const struct node *n, link_fn *counts)
{
	uint32_t ret = 0;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i], *far = p->peer;

		if (far && far > p && joins_switches(p) && (counts(p) || counts(far)))
			ret += join_parts(root, n, far->node);
	}
	return ret;
}

/*
 * Finds the parts of the fabric over links for which `counts` returns true; stops when there is
 * only one.
 */
static uint32_t *find_parts(const struct fabric *f, link_fn *counts)
{
	uint32_t *root = xcalloc(f->n_nodes + 1u, sizeof(*root));
	uint32_t parts = count_routable(f);

	for (uint32_t i = 0; i < f->n_nodes; i++)
		root[i] = i;
	for (uint32_t i = 0; i < f->n_nodes && parts > 1; i++)
		if (node_is_switch(f->nodes[i]))
			parts -= join_links(root, f->nodes[i], counts);
	return root;
}

static bool is_not_avoided(const struct port *p)
{
	return port_is_in_use(p) && port_is_in_use(p->peer);
}

uint32_t *out_of_use_parts(const struct fabric *f)
{
	uint32_t *root = find_parts(f, is_not_avoided);

	for (uint32_t i = 0; i < f->n_nodes; i++)
		root[i] = sets_root(root, i);
	return root;
}

/* ---- cables left out ------------------------------------------------------------------------ */

static bool is_not_bad(const struct port *p)
{
	return !p->out.cable || !cable_reasons(p->out.cable);
}

/* Orders cables, better ones first; GUIDs make the order definite. */
static int compare_cables(const void *a, const void *b)
{
	const struct bad_cable *x = *(struct bad_cable *const *)a;
	const struct bad_cable *y = *(struct bad_cable *const *)b;

	return COMPARE(cable_reasons(x), cable_reasons(y)) ?:
	       COMPARE(x->flaps.level, y->flaps.level) ?:
	       COMPARE(x->end[0].node, y->end[0].node) ?:
	       COMPARE(x->end[0].port, y->end[0].port);
}

/*
 * Keeps a cable between switches in use, although it has a reason to be left out, if without it the
 * fabric would fall into separate parts.
 */
static void spare_cables(struct out_of_use *h, uint32_t *root)
{
	_cleanup_free_ struct bad_cable **bad = xcalloc(h->n + 1u, sizeof(struct bad_cable *));
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->n; i++) {
		struct bad_cable *c = h->cables[i];

		if (cable_reasons(c) && !c->forced && cable_is_between_switches(c) &&
		    c->end[0].at && c->end[1].at && joins_switches(c->end[0].at))
			bad[n++] = c;
	}
	qsort(bad, n, sizeof(struct bad_cable *), compare_cables);
	for (uint32_t i = 0; i < n; i++)
		bad[i]->spared |=
			join_parts(root, bad[i]->end[0].at->node, bad[i]->end[1].at->node);
}

/* Does a host need the switch? Not one that is isolated with it, nor its aggregation node. */
static bool is_host_in_use(const struct sm *sm, const struct port *p)
{
	return !node_is_switch(p->peer->node) && !out_of_use_has(p, OUT_ISOLATED) &&
	       !node_quirk(sm, p->peer->node, QUIRK_AGGREGATION);
}

/* The need for a switch that takes no tables. */
enum need {
	NEED_NOTHING,
	NEED_HOSTS, /* a few hosts, as on a spine: paths to it, and none through it */
	/* two parts are separate without it; or a leaf, whose hosts need all its cables */
	NEED_WAY,
};

static enum need need_of(const struct sm *sm, uint32_t *root, const struct node *n)
{
	uint32_t part = UINT32_MAX, hosts = 0, cables = 0;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (!fabric_link_is_up(p) || !node_is_routable(p->peer->node))
			continue;
		if (!node_is_switch(p->peer->node)) {
			hosts += is_host_in_use(sm, p);
			continue;
		}
		if ((part != UINT32_MAX && part != sets_root(root, p->peer->node->index)))
			return NEED_WAY;
		part = sets_root(root, p->peer->node->index);
		cables++;
	}
	if (!hosts)
		return NEED_NOTHING;
	return 2 * hosts > cables || n->isolated ? NEED_WAY : NEED_HOSTS;
}

/* The only cable to a switch that takes no tables; 0: all its neighbours are such switches. */
static uint8_t way_to(const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (joins_switches(p) && is_not_bad(p) && !p->peer->node->way)
			return (uint8_t)i;
	}
	return 0;
}

/* Joins a switch that is used again, with one cable or all of them. */
static void join_switch(uint32_t *root, struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (!joins_switches(p) || !is_not_bad(p) || (n->way && n->way != i))
			continue;
		p->peer->node->way = 0;
		join_parts(root, n, p->peer->node);
	}
}

/*
 * Leaves out switches that take no tables if the others are connected without them. Their entries
 * for other hosts are old, so one that only its hosts need has no path through it.
 */
static void spare_switches(const struct sm *sm, uint32_t *root)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		enum need need = NEED_NOTHING;

		if (n->avoided && n->isolated != NODE_ISOLATED_FORCED)
			need = need_of(sm, root, n);
		if (need == NEED_NOTHING)
			continue;
		n->avoided = false;
		n->way = need == NEED_HOSTS ? way_to(n) : 0;
		observe_shown(n);
		join_switch(root, n);
	}
}

/* Is there a switch that takes no tables, or is isolated? */
static bool doubt_switches(const struct fabric *f)
{
	bool any = false;

	FABRIC_EACH_NODE(f, n) {
		bool avoided = n->sync.lft_failures >= NODE_LFT_TRIES || n->isolated;

		if (avoided != n->avoided)
			observe_shown(n);
		n->avoided = avoided;
		n->way = 0;
		any |= avoided;
	}
	return any;
}

void guard_last_ways(struct sm *sm)
{
	_cleanup_free_ uint32_t *root = NULL;
	struct out_of_use *h = sm->m.out_of_use;
	bool doubt = doubt_switches(sm->fabric);

	for (uint32_t i = 0; i < h->n; i++)
		h->cables[i]->spared = false;
	if (!h->n && !doubt)
		return;
	root = find_parts(sm->fabric, is_not_bad);
	spare_cables(h, root);
	if (!doubt)
		return;
	spare_switches(sm, root);
	spare_cables(h, root); /* cables of the switches that are used again */
}
