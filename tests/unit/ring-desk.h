// SPDX-License-Identifier: BSD-2-Clause
/* A fabric by hand: a ring of three switches with a host each, and its routes. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/fabric_internal.h"
#include "fabric/snapshot.h"
#include "route/core/routes.h"
#include "util/mem.h"

enum { RING_A = 2, RING_B = 3, RING_C = 4, RING_HA = 1, RING_HB = 5, RING_HC = 6 }; /* LIDs */

static inline void set_port(struct port *p, unsigned state)
{
	p->known = true;
	ib_put(p->info, PI_PORT_STATE, state);
	ib_put(p->info, PI_WIDTH_ACTIVE, 2);
	ib_put(p->info, PI_SPEED_ACTIVE, 1);
	ib_put(p->info, PI_NEIGHBOR_MTU, IB_MTU_2048);
	ib_put(p->info, PI_MASTER_SM_LID, 1);
}

static inline struct node *add_node(struct fabric *f, unsigned type, guid_t guid, unsigned n_ports,
			     const char *desc)
{
	uint8_t ni[SMP_DATA_SIZE] = { 0 };
	struct node *n;

	ib_put(ni, NI_NODE_TYPE, type);
	ib_put(ni, NI_NUM_PORTS, n_ports);
	ib_put(ni, NI_SYSTEM_IMAGE_GUID, guid);
	ib_put(ni, NI_NODE_GUID, guid);
	ib_put(ni, NI_PORT_GUID, guid);
	ib_put(ni, NI_REVISION, 0xA1);
	ib_put(ni, NI_LOCAL_PORT, 1);
	n = fabric_add_node(f, ni);
	snprintf(n->desc, sizeof(n->desc), "%s", desc);
	for (unsigned i = 0; type == IB_NODE_SWITCH && i <= n_ports; i++)
		set_port(&n->ports[i], i ? IB_PORT_DOWN : IB_PORT_ACTIVE);
	if (type == IB_NODE_SWITCH) {
		n->switch_known = true;
		ib_put(n->switch_info, SI_LINEAR_FDB_CAP, 0xC000);
	}
	return n;
}

static inline struct port *port_at(struct fabric *f, guid_t node, unsigned num)
{
	return &fabric_find_node(f, node)->ports[num];
}

static inline void cable(struct fabric *f, guid_t a, unsigned a_port, guid_t b, unsigned b_port)
{
	set_port(port_at(f, a, a_port), IB_PORT_ACTIVE);
	set_port(port_at(f, b, b_port), IB_PORT_ACTIVE);
	fabric_connect(port_at(f, a, a_port), port_at(f, b, b_port));
}

static inline struct node *add_switch(struct fabric *f, guid_t guid, lid_t lid, const char *desc)
{
	struct node *n = add_node(f, IB_NODE_SWITCH, guid, 6, desc);

	n->ports[0].lid = lid;
	return n;
}

/* A host with one port, on port 1 of a switch. */
static inline void add_host(struct fabric *f, guid_t guid, lid_t lid, const char *desc, guid_t sw)
{
	struct node *n = add_node(f, IB_NODE_CA, guid, 1, desc);

	fabric_set_port_guid(f, &n->ports[1], guid + 1);
	n->ports[1].lid = lid;
	cable(f, guid, 1, sw, 1);
}

/* Switches A, B, C with a host each: port 2 leads on, port 3 back. */
static inline struct fabric *ring(void)
{
	struct fabric *f = fabric_new();

	add_switch(f, 0x200002, RING_C, "C"); /* the order of discovery must not matter */
	add_switch(f, 0x200000, RING_A, "A");
	add_switch(f, 0x200001, RING_B, "B");
	add_host(f, 0x100004, RING_HC, "HC", 0x200002);
	add_host(f, 0x100000, RING_HA, "HA", 0x200000);
	add_host(f, 0x100002, RING_HB, "HB", 0x200001);
	cable(f, 0x200000, 2, 0x200001, 3);
	cable(f, 0x200001, 2, 0x200002, 3);
	cable(f, 0x200000, 3, 0x200002, 2);
	f->own_port = port_at(f, 0x100000, 1);
	f->own = f->own_port->node;
	return f;
}

/* Rows for LIDs 1..6; A reaches B the long way round, B has nothing for LID 6. */
static inline struct routes *ring_routes(const struct fabric *f)
{
	static const uint8_t rows[3][6] = {
		{ 1, 0, 3, 3, 3, 3 },
		{ 3, 3, 0, 2, 1, LFT_NO_PORT },
		{ 2, 2, 3, 0, 3, 1 },
	};
	static const uint8_t hops[9] = { 0, 1, 1, 1, 0, 1, 1, 1, 0 };
	_cleanup_(topo_unrefp) struct topo *t = fabric_snapshot(f, NULL, NULL);
	struct routes *r = routes_new(t, "by hand", t->max_lid);

	assert_int_equal(t->n_switches, 3);
	assert_int_equal(t->max_lid, 6);
	for (unsigned s = 0; s < 3; s++)
		memcpy(routes_row(r, s) + 1, rows[s], sizeof(rows[s]));
	r->hops = xmemdup(hops, sizeof(hops));
	return r;
}
