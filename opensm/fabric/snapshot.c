// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds a topo from the fabric. Everything in the fabric counts: what vanished was taken out at
 * the end of discovery, and what is only silent keeps its place.
 */
#include "fabric/snapshot.h"

#include "util/mem.h"

/* What is avoided is left out: the cable is held down, complained about, or stuck. */
static bool link_counts(const struct port *p)
{
	return fabric_link_is_up(p) && node_is_routable(p->peer->node) && !p->avoided &&
	       !p->peer->avoided;
}

static void add_switch(struct topo_builder *b, const struct node *n)
{
	const struct topo_switch sw = {
		.guid = n->guid,
		.sysimg_guid = n->sysimg_guid,
		.n_ports = n->n_ports,
		.lid = n->ports[0].lid,
		.lmc = n->ports[0].lmc,
		.lft_cap = ib_get(n->switch_info, SI_LINEAR_FDB_CAP),
	};

	topo_add_switch(b, &sw);
}

static void add_hosts(struct topo_builder *b, const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];
		const struct topo_host host = {
			.guid = p->guid,
			.node_guid = n->guid,
			.sysimg_guid = n->sysimg_guid,
			.node_port = i,
			.router = n->type == IB_NODE_ROUTER,
			.lid = p->lid,
			.lmc = p->lmc,
		};

		if (p->guid && p->known)
			topo_add_host(b, &host);
	}
}

/* Lanes of the widest of a set of LinkWidth bits (14.2.5.6). */
static unsigned widest(unsigned bits)
{
	static const uint8_t lanes[] = { 1, 4, 8, 12, 2 };
	unsigned most = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(lanes); i++)
		if (bits >> i & 1)
			most = MAX(most, lanes[i]);
	return most;
}

/* The best speed that both ends can do, as ib_link_speed() has it. FDR10 is no speed that anybody waits for. */
static unsigned best_speed(const struct port *p, const struct port *q)
{
	static const uint16_t plain[] = { 25, 50, 100 }, extended[] = { 140, 250, 500, 1000 };
	bool both = fabric_cap_mask(p) & fabric_cap_mask(q) & IB_CAP(IB_CAP_EXTENDED_SPEEDS);
	unsigned more = both ? ib_get(p->info, PI_SPEED_EXT_SUPPORTED) & ib_get(q->info, PI_SPEED_EXT_SUPPORTED) : 0;
	unsigned common = ib_get(p->info, PI_SPEED_SUPPORTED) & ib_get(q->info, PI_SPEED_SUPPORTED), best = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(plain); i++)
		best = common >> i & 1 ? plain[i] : best;
	for (unsigned i = 0; i < ARRAY_SIZE(extended); i++)
		best = more >> i & 1 ? extended[i] : best;
	return best;
}

/* Does the cable run slower, or narrower, than both its ends can? */
static bool is_throttled(const struct port *p)
{
	const struct port *q = p->peer;

	if (!p->known || !q->known)
		return false;
	return ib_link_width(p->info) <
		       widest((unsigned)(ib_get(p->info, PI_WIDTH_SUPPORTED) & ib_get(q->info, PI_WIDTH_SUPPORTED))) ||
	       ib_link_speed(p->info, fabric_cap_mask(p), false) < best_speed(p, q);
}

/* Both ends of a cable are asked, topo takes the lesser. Code 1..5 of VLCap: 1, 2, 4, 8, 15 lanes. */
static void add_facts(struct topo_builder *b, const struct node *n, const struct port *p)
{
	static const uint8_t vls[] = { 0, 1, 2, 4, 8, 15 };
	unsigned code = p->known ? (unsigned)ib_get(p->info, PI_VL_CAP) : 0;

	topo_set_port(b, n->guid, p->num, code < ARRAY_SIZE(vls) ? vls[code] : 0, is_throttled(p));
}

static void add_links(struct topo_builder *b, const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (!link_counts(p))
			continue;
		add_facts(b, n, p);
		if (!node_is_switch(p->peer->node)) {
			if (p->peer->guid && p->peer->known)
				topo_add_host_link(b, p->peer->guid, n->guid, i);
		} else if (n->guid < p->peer->node->guid ||
			   (p->peer->node == n && i < p->peer->num)) {
			topo_add_link(b, n->guid, i, p->peer->node->guid, p->peer->num);
		}
	}
}

struct topo *fabric_snapshot(const struct fabric *f)
{
	struct topo_builder *b = topo_builder_new();

	FABRIC_EACH_NODE(f, n) {
		if (node_is_switch(n) && node_is_routable(n))
			add_switch(b, n);
		else if (!node_is_switch(n))
			add_hosts(b, n);
	}
	FABRIC_EACH_NODE(f, n) {
		if (node_is_switch(n) && node_is_routable(n))
			add_links(b, n);
	}
	return topo_build(b);
}
