// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds a topo from the fabric. Everything in the fabric counts: vanished nodes and ports were
 * removed at the end of discovery, and silent ones keep their place.
 */
#include "fabric/snapshot.h"

#include "util/mem.h"

/*
 * Cables that are avoided are left out: held down, complained about, or stuck; and those by which a
 * switch that takes no tables would lead on.
 */
static bool link_counts(const struct port *p)
{
	return fabric_link_is_up(p) && node_is_routable(p->peer->node) && port_is_in_use(p) &&
	       port_is_in_use(p->peer);
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

static void add_hosts(struct topo_builder *b, const struct node *n, bool aside)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];
		const struct topo_host host = {
			.guid = p->guid,
			.node_guid = n->guid,
			.sysimg_guid = n->sysimg_guid,
			.node_port = i,
			.router = n->type == IB_NODE_ROUTER,
			.aside = aside,
			.lid = p->lid,
			.lmc = p->lmc,
		};

		if (p->guid && p->known)
			topo_add_host(b, &host);
	}
}

/*
 * The best speed that both ends support, as ib_link_speed() has it. FDR10 does not count as faster.
 */
static unsigned best_speed(const struct port *p, const struct port *q)
{
	enum ib_speed_set most = MIN(fabric_speed_sets(p), fabric_speed_sets(q));
	unsigned best = 0;

	for (unsigned set = 0; set <= most; set++) {
		unsigned both = ib_speed_bits(p->info, set, IB_SPEED_SUPPORTED) &
				ib_speed_bits(q->info, set, IB_SPEED_SUPPORTED);

		for (size_t i = 0; i < IB_SPEEDS; i++)
			if (ib_speeds[i].bit[set] & both)
				best = ib_speeds[i].tenths;
	}
	return best;
}

/* Is the cable slower, or narrower, than both its ends support? */
static bool is_throttled(const struct port *p)
{
	const struct port *q = p->peer;
	const struct ib_width *widest;

	if (!p->known || !q->known)
		return false;
	widest = ib_widest(ib_get(p->info, PI_WIDTH_SUPPORTED) &
			   ib_get(q->info, PI_WIDTH_SUPPORTED));
	return (widest && ib_link_width(p->info) < widest->lanes) ||
	       ib_link_speed(p->info, fabric_speed_sets(p), false) < best_speed(p, q);
}

static uint16_t rate_of(const struct port *p)
{
	bool fdr10 = p->ext_known && (p->ext_active & EPI_SPEED_FDR10);

	return p->known ? (uint16_t)ib_data_rate(
				  ib_link_width(p->info),
				  ib_link_speed(p->info, fabric_speed_sets(p), fdr10))
			: 0;
}

/* Both ends of a cable are asked, topo takes the lesser. */
static void add_facts(struct topo_builder *b, const struct node *n, const struct port *p)
{
	unsigned vls = p->known ? ib_data_vls((unsigned)ib_get(p->info, PI_VL_CAP)) : 0;

	topo_set_port(b, n->guid, p->num,
		      (struct topo_port_facts){ (uint8_t)vls, is_throttled(p), rate_of(p) });
}

/* Tables that are replaced may lead over it until they are. */
static bool is_left_out(const struct port *p)
{
	return fabric_link_is_up(p) && port_state(p) > IB_PORT_INIT &&
	       node_is_switch(p->peer->node) && !link_counts(p);
}

static void add_links(struct topo_builder *b, const struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (is_left_out(p))
			topo_leave_out(b, n->guid, p->num, p->peer->node->guid);
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

struct topo *fabric_snapshot(const struct fabric *f,
			     bool (*is_aside)(const void *arg, const struct node *ca),
			     const void *arg)
{
	struct topo_builder *b = topo_builder_new();

	FABRIC_EACH_NODE(f, n) {
		if (node_is_switch(n) && node_is_routable(n))
			add_switch(b, n);
		else if (!node_is_switch(n))
			add_hosts(b, n, n->type == IB_NODE_CA && is_aside && is_aside(arg, n));
	}
	FABRIC_EACH_NODE(f, n) {
		if (node_is_switch(n) && node_is_routable(n))
			add_links(b, n);
	}
	return topo_build(b);
}
