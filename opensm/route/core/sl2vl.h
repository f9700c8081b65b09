// SPDX-License-Identifier: BSD-2-Clause
/*
 * VLs: which service level a path has, and which VL a packet takes on each cable.
 *
 * A switch chooses the VL of a packet from its SL, the port it came in by and the port it leaves by
 * (SL2VL, 7.6.6, 14.2.5.8); it does not know the VL it came in on. So a scheme has two parts:
 *
 *   sl     by where a path begins and ends; what PathRecords say. Only the bits of `sl_mask` are
 *          the scheme's; partitions and policies decide the others.
 *   vl     by (class of the port in, class of the port out, SL). Ports of all switches share a few
 *          classes, so that a fabric of millions of SL2VL rows is one small table.
 *
 *   lash, dfsssp, nue   one class, vl = SL, the SL by path or by destination
 *   torus-2QoS          classes are dimensions, the SL says which datelines a path crosses
 *   dragonfly           classes are host, local, global; every SL will do
 *   by port class       the class is the VL on which packets go on; every SL will do
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topo/topo.h"
#include "util/mem.h"

#define SL2VL_SLS     16
#define SL2VL_VLS_MAX 15 /* data VLs; VL 15 is management's */
#define SL2VL_VL_DROP 15 /* in SL2VL tables: packets of this SL are dropped (7.6.6) */

enum sl2vl_by {
	SL2VL_BY_NOTHING,    /* `sl` is NULL: any SL will do */
	SL2VL_BY_LID,	     /* sl[lid], row_size entries */
	SL2VL_BY_SWITCHES,   /* sl[source switch * n_switches + switch of the destination] */
	SL2VL_BY_SWITCH_LID, /* sl[source switch * row_size + lid] */
};

/* Immutable once it is in routes; owned by them. */
struct sl2vl {
	/* number of data VLs in use, 0..n_vls-1; every cable between switches has as many */
	uint8_t n_vls;
	/* Number of VLs that would be enough, the others reduce blocking; 0: all are needed. */
	uint8_t n_needed;
	uint8_t sl_mask; /* mask of SL bits that `sl` decides; 0 with SL2VL_BY_NOTHING */
	/*
	 * Number of copies of the scheme that share no VL, one for each service level, chosen by
	 * the SL bits above sl_mask. 0 and 1: one.
	 */
	uint8_t n_levels;
	/* set if groups must have an SL with no bit of sl_mask set (torus-2QoS) */
	bool mcast_mask_zero;
	enum sl2vl_by by;
	uint32_t n_switches, row_size; /* as in the routes */
	uint8_t *sl;
	uint32_t n_classes; /* 1..255 */
	/* By index of topo->ports, port 0 of a switch included; NULL: all class 0. */
	uint8_t *class_of;
	/* vl[(in * n_classes + out) * SL2VL_SLS + sl] < n_vls; from files also SL2VL_VL_DROP. */
	uint8_t *vl;
	uint8_t host_vl[SL2VL_SLS]; /* SL2VL of the end ports themselves */
};

/*
 * A scheme for `t` with `n_vls` VLs in which every SL has VL (SL mod n_vls), one class, and all of
 * `sl` (by != NOTHING) is 0. The caller fills in the rest, and frees it or passes it to routes.
 */
struct sl2vl *sl2vl_new(const struct topo *t, unsigned n_vls, enum sl2vl_by by, uint32_t row_size,
			unsigned n_classes);
/* Ports to a switch `peer` get the class (< n_classes) of class_of(); others, and port 0: 0. */
void sl2vl_set_classes(struct sl2vl *l, const struct topo *t,
		       unsigned (*class_of)(const void *arg, uint32_t sw, uint32_t peer),
		       const void *arg);
/* A copy for the same fabric with rows of another size. */
struct sl2vl *sl2vl_copy(const struct topo *t, const struct sl2vl *l, uint32_t row_size);
struct sl2vl *sl2vl_free(struct sl2vl *l);
FREEP(sl2vl_free, struct sl2vl)
/*
 * Makes copies of the scheme for as many of `levels` as SLs and `vls` VLs suffice for. Returns
 * their number; 1: `l` is unchanged. The SL of a path in level n is that of level 0 plus
 * sl2vl_level_sl(l, n). A scheme in which any SL will do has no SL bits for a level.
 */
unsigned sl2vl_add_levels(struct sl2vl *l, unsigned levels, unsigned vls);
/* The SL bits of a level; 0 without copies. */
uint8_t sl2vl_level_sl(const struct sl2vl *l, unsigned level);
/* Has some SL of `mask` an entry that drops packets? `l` may be NULL. */
bool sl2vl_drops(const struct sl2vl *l, uint16_t mask);
/* Number of VLs of one copy. */
static inline unsigned sl2vl_own_vls(const struct sl2vl *l)
{
	return l->n_levels > 1 ? (unsigned)l->n_vls / l->n_levels : l->n_vls;
}
/* n_needed of one copy. */
static inline uint8_t sl2vl_own_needed(const struct sl2vl *l)
{
	return l->n_levels > 1 ? l->n_needed / l->n_levels : l->n_needed;
}
/* Number of entries of `sl`. */
size_t sl2vl_n_sl(const struct sl2vl *l);

/*
 * The SL of packets from end ports on switch `src` to `lid` on switch `dst`, for which a policy
 * gives `wish`. `l` NULL: the wish.
 */
uint8_t sl2vl_sl(const struct sl2vl *l, uint32_t src, uint32_t dst, lid_t lid, uint8_t wish);

/*
 * The VL by which packets leave `sw` at port `out` that came by port `in` (0: sent by the switch).
 */
static inline uint8_t sl2vl_vl(const struct sl2vl *l, const struct topo *t, uint32_t sw,
			       unsigned in, unsigned out, uint8_t sl)
{
	uint32_t first = t->switches[sw].first_port;
	unsigned a = l->class_of ? l->class_of[first + in] : 0;
	unsigned b = l->class_of ? l->class_of[first + out] : 0;

	return l->vl[(a * l->n_classes + b) * SL2VL_SLS + sl];
}

/* The least number of data VLs of any cable between two switches, 1..15; 15: no such cable. */
unsigned sl2vl_available(const struct topo *t);
