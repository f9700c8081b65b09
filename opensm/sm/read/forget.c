// SPDX-License-Identifier: BSD-2-Clause
/*
 * After discovery: a node that was not met is either silent, and is kept for a while, or gone. It
 * counts as silent if its cable is still up at a neighbour that answers; nodes behind it are kept
 * with it. After MAX_MISSES sweeps it is removed.
 */
#include <assert.h>

#include "sm/read/discover_internal.h"
#include "sm/base/changes.h"
#include "sm/base/events.h"
#include "sm/base/news.h"

/* Is the node behind a port that is up but silent, or behind a node that is kept itself? */
static bool is_merely_silent(const struct sm *sm, const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *peer = n->ports[i].peer;

		if (!peer || port_state(peer) == IB_PORT_DOWN)
			continue;
		if (peer->node->seen == sm->sweep_no &&
		    (peer->silent || peer->seen != sm->sweep_no))
			return true;
	}
	return false;
}

/* Is a host silent while its neighbour answers? */
static bool is_silent_itself(const struct node *n)
{
	for (unsigned i = 1; !node_is_switch(n) && i <= n->n_ports; i++)
		if (n->ports[i].peer && !n->ports[i].peer->node->misses)
			return true;
	return false;
}

/* Keeps silent nodes, level by level, with the nodes that are connected through them. */
static void keep_silent_nodes(struct sm *sm)
{
	bool again = true;

	while (again) {
		again = false;
		FABRIC_EACH_NODE(sm->fabric, n) {
			if (n->seen == sm->sweep_no || n->misses >= MAX_MISSES ||
			    !is_merely_silent(sm, n))
				continue;
			if (is_silent_itself(n))
				node_desc_say_silent(sm, n);
			n->seen = sm->sweep_no;
			n->misses++;
			observe_shown(n);
			again = true;
		}
	}
}

void forget_node(struct sm *sm, struct node *n)
{
	assert(n != sm->fabric->own);
	mad_cancel(sm->mad, sm, &n->target);
	for (unsigned i = 0; i <= n->n_ports; i++)
		discover_cancel_probes(sm, &n->ports[i]);
	tell_news(sm, NEWS_NODE_GOES, .node = n);
	observe_node_gone(sm->fabric, n);
}

/* Removes ports of a multi-port CA that were not met. True: there were some. */
static bool forget_stale_ports(struct sm *sm, struct node *n)
{
	bool any = false;

	if (node_is_switch(n) || n->misses)
		return false;
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];

		if (p->seen == sm->sweep_no || p->peer_seen == sm->sweep_no ||
		    (p->peer && p->peer->silent))
			continue;
		any |= observe_port_gone(sm->fabric, p);
	}
	return any;
}

/*
 * Decides if tables written lately are certain. Sets travel by directed routes: if a cable on the
 * way was moved, another switch may have got them, and they are written again. True: a multicast
 * table is.
 */
static bool prove_tables(struct sm *sm, struct node *n)
{
	bool astray = n->path_changed && sm->m.discover->cables_changed,
	     multicast = astray && n->mft.unproven;

	if (n->misses)
		return false;
	if (astray && n->lft.unproven)
		observe_tables_lost(n);
	else if (multicast)
		observe_mft_lost(n);
	observe_tables_proved(n);
	return multicast;
}

void forget_stray_mfts(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n)
		if (n->changed || n->path_changed)
			observe_mft_lost(n);
}

/*
 * Marks the tables of a port as proven, unless links of its switch came or went, so that writes may
 * be lost, or cables did, so that they may have reached another port.
 */
static void prove_port(struct sm *sm, struct port *p)
{
	const struct node *sw = node_is_switch(p->node) || !p->peer ? p->node : p->peer->node;

	if (!fabric_cells_unproven(p) || p->node->misses || sw->misses)
		return;
	if (sw->changed || (sw->path_changed && sm->m.discover->cables_changed)) {
		observe_blocks_lost(sm->fabric, p);
		return;
	}
	observe_blocks_proved(p);
}

/*
 * Decides this for tables of ports: if cables were down while Sets were under way, other ports may
 * have got them.
 */
static void prove_cells(struct sm *sm)
{
	bool astray = false;

	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports && sm->m.discover->cables_moved; i++)
			astray |= fabric_cells_unproven(&n->ports[i]);
	}
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++) {
			if (astray)
				observe_blocks_lost(sm->fabric, &n->ports[i]);
			else
				prove_port(sm, &n->ports[i]);
		}
	}
}

static void prove_all(struct sm *sm)
{
	bool astray = false;

	FABRIC_EACH_NODE(sm->fabric, n)
		astray |= prove_tables(sm, n);
	if (astray)
		forget_stray_mfts(sm);
	prove_cells(sm);
}

void discover_settled(struct sm *sm)
{
	sm->m.discover->picture = sm->sweep_no;
}

uint32_t discover_picture(const struct sm *sm)
{
	return sm->m.discover->picture;
}

bool picture_holds(const struct sm *sm)
{
	return sm->m.discover->picture == sm->sweep_no && sm->fabric->own;
}

void discover_finish(struct sm *sm)
{
	struct fabric *f = sm->fabric;
	bool gone = false;

	assert(f->own && f->own->seen == sm->sweep_no);
	keep_silent_nodes(sm);
	for (uint32_t i = 0; i < f->n_nodes;) {
		struct node *n = f->nodes[i];

		if (n->seen == sm->sweep_no) {
			i++;
			continue;
		}
		changes_node_went(sm, n);
		forget_node(sm, n);
		gone = true;
	}
	FABRIC_EACH_NODE(f, n)
		gone |= forget_stale_ports(sm, n);
	if (gone)
		tell_news(sm, NEWS_GUID_FREE);
	if (!sm->m.discover->partial)
		prove_all(sm);
	discover_settled(sm);
	tell_news(sm, NEWS_PICTURE);
}
