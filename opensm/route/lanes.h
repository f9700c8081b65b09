// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lanes: which service level a path has, and which virtual lane a packet takes on each cable.
 *
 * A switch chooses the VL of a packet from its SL, the port it came in by and the port it leaves by
 * (SL2VL, 7.6.6, 14.2.5.8); it does not know the VL it came in on. So a scheme has two parts:
 *
 *   sl     by where a path begins and ends; what PathRecords say. Only the bits of `sl_mask` are the
 *          scheme's; the others belong to partitions and policies.
 *   vl     by (class of the port in, class of the port out, SL). Ports of all switches share a few
 *          classes, so that a fabric of millions of SL2VL rows is one small table.
 *
 *   lash, dfsssp, nue   one class, vl = SL, the SL by path or by destination
 *   torus-2QoS          classes are dimensions, the SL says which datelines a path crosses
 *   dragonfly           classes are host, local, global; every SL will do
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topo/topo.h"

#define LANES_SLS     16
#define LANES_VLS_MAX 15 /* data VLs; VL 15 is management's */

enum lanes_by {
	LANES_BY_NOTHING,     /* sl NULL: the scheme does not care */
	LANES_BY_LID,	      /* sl[lid], row_size entries */
	LANES_BY_SWITCHES,    /* sl[source switch * n_switches + switch of the destination] */
	LANES_BY_SWITCH_LID,  /* sl[source switch * row_size + lid] */
};

/* Immutable once it is in routes; owned by them. */
struct lanes {
	uint8_t n_vls;	   /* data VLs 0..n_vls-1 are in use; every cable between switches has as many */
	uint8_t n_needed;  /* so many would do, the others lower what waits for each other; 0: all are needed */
	uint8_t sl_mask;   /* bits of an SL that `sl` decides; 0 with LANES_BY_NOTHING */
	bool mcast_mask_zero; /* groups must have an SL with no bit of sl_mask set (torus-2QoS) */
	enum lanes_by by;
	uint32_t n_switches, row_size; /* as in the routes */
	uint8_t *sl;
	uint32_t n_classes; /* 1..255 */
	uint8_t *class_of;  /* per entry of topo->ports, port 0 of a switch included; NULL: all class 0 */
	uint8_t *vl;	    /* vl[(in * n_classes + out) * LANES_SLS + sl], 0..n_vls-1 */
	uint8_t host_vl[LANES_SLS]; /* SL2VL of the end ports themselves */
};

/*
 * A scheme for `t` with `n_vls` lanes in which every SL leads to VL (SL mod n_vls), one class, and all of
 * `sl` (by != NOTHING) is 0. The caller fills in the rest and frees or gives it to routes.
 */
struct lanes *lanes_new(const struct topo *t, unsigned n_vls, enum lanes_by by, uint32_t row_size,
			unsigned n_classes);
/* The same scheme for the same fabric, with rows of another size. */
struct lanes *lanes_copy(const struct topo *t, const struct lanes *l, uint32_t row_size);
struct lanes *lanes_free(struct lanes *l);
void lanes_freep(struct lanes **l);
/* Entries of `sl`. */
size_t lanes_n_sl(const struct lanes *l);
size_t lanes_bytes(const struct lanes *l);

/*
 * The SL of packets from end ports on switch `src` to `lid` on switch `dst`, where a policy would have
 * `wish`. `l` NULL: the wish.
 */
uint8_t lanes_sl(const struct lanes *l, uint32_t src, uint32_t dst, lid_t lid, uint8_t wish);

/* The VL on the cable behind port `out` of switch `sw` of what came in by port `in` (0: the switch itself). */
static inline uint8_t lanes_vl(const struct lanes *l, const struct topo *t, uint32_t sw, unsigned in,
			       unsigned out, uint8_t sl)
{
	uint32_t first = t->switches[sw].first_port;
	unsigned a = l->class_of ? l->class_of[first + in] : 0;
	unsigned b = l->class_of ? l->class_of[first + out] : 0;

	return l->vl[(a * l->n_classes + b) * LANES_SLS + sl];
}

/* Fewest data VLs of any cable between two switches, 1..15; 15 if there is none. */
unsigned lanes_available(const struct topo *t);
