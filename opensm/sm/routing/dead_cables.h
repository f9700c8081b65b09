// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cables between switches that died, until a routing has taken that in: tables of a routing that
 * began before lead over them, and must not come into force.
 */
#pragma once

#include "sm/sm.h"

struct routes;

struct dead_cable {
	guid_t guid; /* switch of one end */
	uint8_t port;
	bool in_picture; /* set if its PortInfo was taken in */
};

/*
 * Notes that the link at switch port `p` is down. `in_picture`: its PortInfo was taken in, so the
 * next routing knows; else (observe_fell()) the one that begins after a sweep has read it.
 */
void dead_cables_add(struct sm *sm, const struct port *p, bool in_picture);
/* Called when the picture of the fabric is taken for a routing. */
void dead_cables_routed(struct sm *sm);
/* Do these tables use a cable that has died since? */
bool dead_cables_in(const struct sm *sm, const struct routes *r);
/*
 * The entry of r->topo->ports of a cable between switches at this switch port; TOPO_NONE: the
 * tables do not know one there.
 */
uint32_t dead_cable_entry(const struct routes *r, guid_t guid, unsigned port);
/* The number of cables whose ends, one or both, these n_dead entries of r->topo->ports are. */
uint32_t dead_cables_count(const struct routes *r, const uint32_t *dead, size_t n_dead);
/* The i-th cable, valid until the next call of another function; NULL: there are fewer. */
const struct dead_cable *dead_cables_at(const struct sm *sm, size_t i);
void dead_cables_free(struct sm *sm);
