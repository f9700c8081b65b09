// SPDX-License-Identifier: BSD-2-Clause
/*
 * Results of the forwarding tables of a view: the owner of a LID, the hops to it, and the ports
 * on shortest paths.
 *
 * Hops between switches are those the engine worked with (weights included); if it left none, the
 * cables are counted.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "topo/topo.h"
#include "util/mem.h"
#include "view/view.h"

#define HOPS_NONE    0xFFu
#define HOPS_UNKNOWN UINT16_MAX

struct lid_owner {
	uint32_t sw;		     /* switch of the owner; TOPO_NONE: none */
	const struct topo_host *end; /* NULL: the switch itself */
	uint8_t port;		     /* port of the switch that leads there; 0: the switch itself */
	bool owned;
	bool direct;		      /* set if every entry for this LID is on a shortest path */
	const struct view_node *node; /* node of the owner; NULL: not in the view */
};

/* The switch behind a port; one array per switch. */
struct port_hops {
	uint32_t to;  /* switch, or TOPO_NONE */
	uint8_t cost; /* hops; 1 unless the engine weighs cables */
};

struct lid_hops {
	const struct view *view;     /* borrowed */
	const struct routes *routes; /* routes of the view */
	const struct topo *topo;
	struct lid_owner *lids; /* 0..routes->top */
	const uint8_t *hops;	/* hops as in routes->hops */
	uint8_t *counted;	/* allocated `hops`, if the engine left none */
};

/* Computes the hops for a view, which must stay valid; NULL: the view has no routes. */
struct lid_hops *lid_hops_new(const struct view *v);
struct lid_hops *lid_hops_free(struct lid_hops *h);
FREEP(lid_hops_free, struct lid_hops)

/* In all functions below `sw` is a switch of `topo`, and `lid` at most routes->top. */

static inline const struct lid_owner *lid_hops_owner(const struct lid_hops *h, lid_t lid)
{
	assert(lid <= h->routes->top);
	return &h->lids[lid];
}

/* Fills in ports 0..255 of a switch. */
void lid_hops_by_port(const struct lid_hops *h, uint32_t sw, struct port_hops ret[256]);

static inline const uint8_t *lid_hops_to(const struct lid_hops *h, uint32_t dst)
{
	assert(dst < h->topo->n_switches);
	return h->hops + (size_t)dst * h->topo->n_switches;
}

/* Least hops from `sw` to an owned LID, the last one to a host included; HOPS_UNKNOWN: no path. */
unsigned lid_hops_least(const struct lid_hops *h, uint32_t sw, lid_t lid);
/* The number of hops by the forwarding tables; HOPS_UNKNOWN: they do not lead there. */
unsigned lid_hops_real(const struct lid_hops *h, uint32_t sw, lid_t lid);
/* The lowest port on a shortest path from `sw`; LFT_NO_PORT: none. */
uint8_t lid_hops_best_port(const struct lid_hops *h, uint32_t sw, lid_t lid);
/*
 * Fills in the ports on a shortest path, ascending; returns their number. At the owner's switch:
 * the port to the owner, 0 for the switch itself.
 */
unsigned lid_hops_shortest(const struct lid_hops *h, uint32_t sw, lid_t lid, uint8_t ret[256]);
/* Counts the owned LIDs that leave the switch by each port. */
void lid_hops_loads(const struct lid_hops *h, uint32_t sw, uint32_t ret[256]);
