// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the forwarding tables come to: who owns a LID, and how many hops it takes to get there.
 *
 * Hops between switches are those the engine worked with (weights included); if it left none, the
 * cables are counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ctl/dump_view.h"
#include "topo/topo.h"

#define HOPS_NONE    0xFFu
#define HOPS_UNKNOWN UINT16_MAX

struct dump_lid {
	uint32_t sw;   /* switch the LID hangs on; TOPO_NONE: none */
	uint32_t host; /* TOPO_NONE: the switch itself */
	uint8_t port;  /* port of the switch that leads there; 0: the switch itself */
	bool owned;
	bool direct;                  /* every entry for this LID is on a shortest path */
	const struct dump_node *node; /* NULL: not in the view */
};

/* Where a port of a switch leads; one array per switch. */
struct dump_turn {
	uint32_t to;  /* switch, or TOPO_NONE */
	uint8_t cost; /* hops; 1 unless the engine weighs cables */
};

struct dump_paths {
	const struct routes *routes; /* borrowed from the view */
	const struct topo *topo;
	uint32_t *order;  /* switches in the peer's order */
	uint32_t *by_lid; /* switches with a LID, ascending */
	uint32_t n_by_lid;
	struct dump_lid *lids; /* 0..routes->top */
	const uint8_t *hops;   /* as routes->hops */
	uint8_t *counted;      /* owned; `hops` when the engine left none */
};

struct dump_paths *dump_paths_new(const struct dump_view *v, const uint32_t *order);
struct dump_paths *dump_paths_free(struct dump_paths *p);
void dump_paths_freep(struct dump_paths **p);

/* Fills `ret` for ports 0..255 of a switch. */
void dump_turns(const struct dump_paths *p, uint32_t sw, struct dump_turn ret[256]);

static inline const uint8_t *dump_hops_to(const struct dump_paths *p, uint32_t dst)
{
	return p->hops + (size_t)dst * p->topo->n_switches;
}

/* Least hops from `sw` to an owned LID, the last one to a host included; HOPS_UNKNOWN: no way. */
unsigned dump_least_hops(const struct dump_paths *p, uint32_t sw, lid_t lid);
/* Hops that the tables really take; HOPS_UNKNOWN: they do not lead there. */
unsigned dump_real_hops(const struct dump_paths *p, uint32_t sw, lid_t lid);
/* The lowest port on a shortest path from `sw`; LFT_NO_PORT: none. */
uint8_t dump_best_port(const struct dump_paths *p, uint32_t sw, lid_t lid);
