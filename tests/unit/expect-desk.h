// SPDX-License-Identifier: BSD-2-Clause
/* Small fabrics that can be miswired, and what a comparison says of them. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "topo/expect.h"
#include "util/mem.h"

#define WORLD_NODES 64
#define WORLD_CABLES 256

struct world_end {
	unsigned node;
	uint8_t port;
};

/* An end that is lower in the tree, and an upper one, which is a switch's. */
struct world_cable {
	struct world_end end[2];
	bool gone, slow;
};

struct world {
	struct {
		guid_t guid, system;
		enum expect_type type;
		char name[16];
		uint8_t n_ports;
	} nodes[WORLD_NODES];
	struct world_cable cables[WORLD_CABLES];
	unsigned n_nodes, n_cables;
};

static inline unsigned world_node(struct world *w, enum expect_type type, const char *name,
				  unsigned number, uint8_t n_ports)
{
	unsigned i = w->n_nodes++;

	assert_true(i < WORLD_NODES);
	w->nodes[i].guid = (type == EXPECT_SWITCH ? 0x200 : 0x100) + i;
	w->nodes[i].type = type;
	w->nodes[i].n_ports = n_ports;
	snprintf(w->nodes[i].name, sizeof(w->nodes[i].name), "%s%u", name, number);
	return i;
}

static inline void world_cable(struct world *w, unsigned a, unsigned p, unsigned b, unsigned q)
{
	assert_true(w->n_cables < WORLD_CABLES);
	w->cables[w->n_cables++] = (struct world_cable){
		.end = { { a, (uint8_t)p }, { b, (uint8_t)q } },
	};
}

/* The cable at a port, or NULL. */
static inline struct world_cable *world_at(struct world *w, unsigned node, unsigned port)
{
	for (unsigned i = 0; i < w->n_cables; i++)
		for (unsigned k = 0; k < 2; k++)
			if (!w->cables[i].gone && w->cables[i].end[k].node == node &&
			    w->cables[i].end[k].port == port)
				return &w->cables[i];
	return NULL;
}

/*
 * Leaves with `hosts` of one port and `dual` hosts with a port on each leaf of a pair, and spines.
 * The last port of each switch is free. Node 0 is a spine.
 */
static inline struct world world_tree(unsigned leaves, unsigned spines, unsigned hosts,
				      unsigned dual)
{
	struct world w = { .n_nodes = 0 };

	for (unsigned s = 0; s < spines; s++)
		world_node(&w, EXPECT_SWITCH, "spine", s + 1, (uint8_t)(leaves + 1));
	for (unsigned l = 0; l < leaves; l++)
		world_node(&w, EXPECT_SWITCH, "leaf", l + 1, (uint8_t)(hosts + dual + spines + 1));
	for (unsigned l = 0; l < leaves; l++)
		for (unsigned s = 0; s < spines; s++)
			world_cable(&w, spines + l, hosts + dual + s + 1, s, l + 1);
	for (unsigned l = 0; l < leaves; l++)
		for (unsigned h = 0; h < hosts; h++)
			world_cable(&w, world_node(&w, EXPECT_CA, "h", l * hosts + h + 1, 1), 1,
				    spines + l, h + 1);
	for (unsigned l = 0; l + 1 < leaves; l += 2)
		for (unsigned d = 0; d < dual; d++) {
			unsigned node = world_node(&w, EXPECT_CA, "d", l * dual + d + 1, 2);

			world_cable(&w, node, 1, spines + l, hosts + d + 1);
			world_cable(&w, node, 2, spines + l + 1, hosts + d + 1);
		}
	return w;
}

/* The nodes that a manager at node 0 finds: CAs lead no further. */
static inline void world_reach(const struct world *w, bool reached[static WORLD_NODES])
{
	memset(reached, 0, WORLD_NODES);
	reached[0] = true;
	for (unsigned round = 0; round < w->n_nodes; round++)
		for (unsigned i = 0; i < w->n_cables; i++)
			for (unsigned k = 0; k < 2; k++) {
				unsigned from = w->cables[i].end[k].node;

				if (!w->cables[i].gone && reached[from] &&
				    w->nodes[from].type == EXPECT_SWITCH)
					reached[w->cables[i].end[1 - k].node] = true;
			}
}

static inline struct expect *world_picture(const struct world *w)
{
	struct expect_builder *b = expect_builder_new();
	bool reached[WORLD_NODES];
	uint32_t number[WORLD_NODES];

	world_reach(w, reached);
	for (unsigned i = 0; i < w->n_nodes; i++)
		if (reached[i])
			number[i] = expect_add_node(
				b, &(struct expect_node){ .guid = w->nodes[i].guid,
							  .sysimg_guid = w->nodes[i].system,
							  .type = w->nodes[i].type,
							  .name = w->nodes[i].name });
	for (unsigned i = 0; i < w->n_cables; i++) {
		const struct world_cable *c = &w->cables[i];
		struct expect_port ends[2];

		if (c->gone || !reached[c->end[0].node] || !reached[c->end[1].node])
			continue;
		for (unsigned k = 0; k < 2; k++)
			ends[k] = (struct expect_port){ .node = number[c->end[k].node],
							.number = c->end[k].port,
							.rate = { c->slow ? 2 : 4, 1000 } };
		expect_add_cable(b, &ends[0], &ends[1]);
	}
	return expect_build(b);
}
