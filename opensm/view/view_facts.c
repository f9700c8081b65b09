// SPDX-License-Identifier: BSD-2-Clause
#include "view/view_facts.h"

static enum expect_type type_of(const struct view_node *n)
{
	return n->type == IB_NODE_SWITCH   ? EXPECT_SWITCH
	       : n->type == IB_NODE_ROUTER ? EXPECT_ROUTER
					   : EXPECT_CA;
}

static struct expect_port end_of(const struct view *v, const struct view_port *p)
{
	enum ib_speed_set most = view_speed_sets(v, p);
	struct expect_port ret = { .guid = view_is_switch(v, p) ? 0 : p->guid,
				   .node = p->node,
				   .number = p->num };

	if (p->known && p->state != IB_PORT_DOWN)
		ret.rate = expect_rate_of(p->info, most);
	if (p->known)
		ret.best = expect_best_of(p->info, most);
	return ret;
}

struct expect_builder *view_facts(const struct view *v)
{
	struct expect_builder *b = expect_builder_new();

	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const struct view_node *n = &v->nodes[i];
		const struct expect_node node = { .guid = n->guid,
						  .sysimg_guid = n->sysimg_guid,
						  .type = type_of(n),
						  .name = n->desc,
						  .size = n->n_ports };

		expect_add_node(b, &node);
	}
	for (uint32_t i = 0; i < v->n_ports; i++) {
		struct expect_port one, two;

		/* Each cable once; one from a port to itself is none. */
		if (v->ports[i].peer == VIEW_NONE || v->ports[i].peer <= i)
			continue;
		one = end_of(v, &v->ports[i]);
		two = end_of(v, &v->ports[v->ports[i].peer]);
		expect_add_cable(b, &one, &two);
	}
	return b;
}
