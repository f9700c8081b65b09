// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which VL a packet takes at every port, and how VLs share a cable: SL2VL rows (14.2.5.8),
 * VL arbitration (14.2.5.9, 7.6.9) and VLHighLimit, from two sources.
 *
 *   VLs       of routes (route/core/sl2vl.h): SL2VL by the classes of the ports in and out. Without
 *             them the routes can block each other, so they go before everything else.
 *   options   qos_* of the configuration, while `qos` is TRUE: a table per kind of port
 *
 * With both, the options still say how VLs share a cable, as long as every VL gets a share; and as
 * far as there are VLs enough, every QoS level (a VL of qos_swe_sl2vl) has a set of VLs of its own:
 * copies of one scheme that never meet. Where the VLs leave the SL free the copies are made here,
 * and a proof for one holds for all. Where the SL depends on the path, a routing job is told how
 * many levels there are, and routes come with copies proved as a whole (route/core/sl2vl.h);
 * a level is then the upper bits of an SL, and qos_level_sl() says which.
 *
 * With neither, nothing is wanted; tables known to be left from before get the built-in values.
 *
 * VLs that a port does not have are cut off by a mask, as OpenSM does (qos.md 6): of cables to
 * hosts only, because VLs fit all cables between switches. A packet on the last cable waits for no
 * other.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "ib/attrs.h"
#include "route/core/routes.h"

#define QOS_SLS	      16
#define QOS_ENTRIES   64 /* most entries of an arbitration table */
#define QOS_BLOCKS    4	 /* VLArb blocks: 1, 2 low priority; 3, 4 high priority */
#define QOS_PER_BLOCK 32
#define QOS_VL_NONE   15 /* SL2VL value for no data VL: packets are discarded (7.6.6) */
#define QOS_CODES     6	 /* highest code of VLCap and OperationalVLs, plus 1; codes are 1..5 */

enum qos_kind { QOS_CA, QOS_ROUTER, QOS_SWITCH0, QOS_SWITCH, QOS_KINDS };

struct qos_share {
	uint8_t vl, weight;
};

/* The qos options for one kind of port. */
struct qos_set {
	uint8_t vl[QOS_SLS];
	struct qos_share low[QOS_ENTRIES], high[QOS_ENTRIES];
	uint8_t high_limit;
};

/* The QoS level of each SL. */
struct qos_levels {
	unsigned n;	     /* number of levels; 1: all SLs belong together */
	uint8_t of[QOS_SLS]; /* level of an SL, from 0; QOS_VL_NONE: the options give it no VL */
};

/* Makes a level of each VL in the table of switches, in their order. `qos` FALSE: one level. */
void qos_levels_read(const struct conf *conf, struct qos_levels *ret);
/* The number of levels that the administrator requests by setting a table; 1: none is set. */
unsigned qos_levels_asked(const struct conf *conf);

/* Borrows routes and configuration, which must stay valid. */
struct qos_plan {
	bool wanted;		   /* false: left-over tables get built-in values */
	bool by_options;	   /* set if `qos` is TRUE */
	const struct sl2vl *lanes; /* VLs of the routes; NULL: options alone */
	const struct topo *topo;   /* topo of `lanes` */
	uint8_t n_levels;	   /* number of sets of VLs; 1: the SL does not choose among them */
	uint8_t level_of[QOS_SLS]; /* level of each SL; QOS_VL_NONE: the options give it no VL */
	uint8_t level_sl[QOS_SLS]; /* result of qos_level_sl(), by SL */
	struct qos_set sets[QOS_KINDS];
	char note[240]; /* options without effect; "": none */
};

/* Makes a plan; `routes` may be NULL. */
void qos_plan_make(const struct conf *conf, const struct routes *routes, struct qos_plan *ret);

/* The number of VLs for a code of VLCap or OperationalVLs: 1, 2, 4, 8 or 15. */
unsigned qos_vls(unsigned code);

/*
 * The number of distinct SL2VL rows of switches, which depend on the classes of both ports alone.
 */
unsigned qos_n_pairs(const struct qos_plan *plan);
unsigned qos_pair(const struct qos_plan *plan, uint32_t sw, unsigned in, unsigned out);
/* qos_pair() in two steps, for loops: pair = class of in * qos_n_classes() + class of out. */
unsigned qos_n_classes(const struct qos_plan *plan);
unsigned qos_class(const struct qos_plan *plan, uint32_t sw, unsigned port);
/*
 * Writes an SL2VL table. `pair`: 0 for end ports; `vls`: code of the VLs that the port out, or the
 * end port, uses.
 */
void qos_sl2vl(const struct qos_plan *plan, enum qos_kind kind, unsigned pair, unsigned vls,
	       uint8_t ret[SMP_DATA_SIZE]);
/* Writes VLArb block 1..4 of a port that has room for `n` entries (0..32) in it. */
void qos_vlarb(const struct qos_plan *plan, enum qos_kind kind, unsigned block, unsigned n,
	       unsigned vls, uint8_t ret[SMP_DATA_SIZE]);
/*
 * Is this VLArb block 1 the one that VLs of routes get if the options say nothing? Then routes used
 * VLs here, whichever manager wrote it.
 */
bool qos_shares_are_lanes(const uint8_t payload[SMP_DATA_SIZE]);
/* The VLHighLimit of a port whose VLCap has this code; -1: stays as it is. */
int qos_high_limit(const struct qos_plan *plan, enum qos_kind kind, unsigned vl_cap);

/*
 * The bits of an SL for the level of `sl`, which a partition or policy names; paths add theirs.
 * `sl` itself if routes have no copies for levels.
 */
static inline uint8_t qos_level_sl(const struct qos_plan *plan, uint8_t sl)
{
	return plan->level_sl[sl % QOS_SLS];
}

/* The SLs, as bits, that no table of this kind of port, or of switches, drops. */
uint16_t qos_usable_sls(const struct qos_plan *plan, enum qos_kind kind);
/*
 * qos_usable_sls() by the options alone: SLs that a partition or policy may name. Tables of routes,
 * in which a path may have another SL, drop none of them.
 */
uint16_t qos_usable_wishes(const struct qos_plan *plan, enum qos_kind kind);
