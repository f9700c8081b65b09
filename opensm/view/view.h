// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fabric as it is shown: an immutable picture, shared by reference, which any thread may read.
 *
 * One is published when tables have been programmed, and replaced by the next sweep: Subnet
 * Administration answers from it, metrics count in it. Dumps and documents of the control socket
 * show the fabric of the moment: they have a view of their own made (sm_view_copy()).
 *
 * Where nothing but P_Keys of some ports has changed, a view is derived from the one before
 * (view_with_pkeys()).
 *
 * Nodes are ordered by GUID; the ports of a node stand together: 0..n of a switch, 1..n of others.
 * What changes between sweeps (groups, services, subscriptions, alias GUIDs) is not here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "conf/files.h"
#include "conf/partitions/partitions.h"
#include "fabric/fabric.h"
#include "ib/attrs.h"
#include "plan/qos.h"
#include "route/core/routes.h"
#include "util/guidmap.h"
#include "util/mem.h"

struct pkey_plan;
struct pkey_set;
struct policy_ports;
struct view_sets;

#define VIEW_NONE UINT32_MAX

struct view_node {
	guid_t guid, sysimg_guid;
	uint32_t first_port; /* ports[first_port + i] is port i of a switch, port i + 1 of others */
	uint32_t topo_sw;    /* index in routes->topo; TOPO_NONE: no switch, or not routed */
	uint32_t vendor_id, revision;
	uint16_t device_id, partition_cap;
	uint8_t type; /* enum ib_node_type */
	uint8_t n_ports;
	bool switch_known;
	uint8_t switch_info[SI_BYTES];
	char desc[65];
};

struct view_port {
	guid_t guid;   /* port GUID; 0 of external switch ports */
	uint32_t node; /* index */
	uint32_t peer; /* index of the port at the other end of the cable; VIEW_NONE: none */
	lid_t lid;     /* base LID of the end port that answers for it; 0: none */
	uint8_t lmc, num;
	uint8_t state;	      /* enum ib_port_state */
	uint8_t mtu_cap;      /* enum ib_mtu */
	uint8_t neighbor_mtu; /* NeighborMTU as programmed; of switch port 0: MTUCap */
	/* SA rate code of active width and speed; 0: link down. Port 0: see sa/path */
	uint8_t rate;
	bool known; /* info[] holds an observation */
	bool fdr10; /* set if the link runs at FDR10, which PortInfo shows as QDR */
	/* port number at the far end of its last cable, which may be gone; 0: none */
	uint8_t met_port;
	guid_t met_guid; /* node GUID of that far end */
	/* PortInfo, with the M_Key: clear it for untrusted requesters */
	uint8_t info[SMP_DATA_SIZE];
};

/* A known subnet manager; we are the first. */
struct view_sm {
	guid_t guid; /* port GUID */
	uint32_t port;
	uint32_t act_count;
	uint8_t priority, state;
};

struct view {
	_Atomic unsigned refs;
	const struct conf *conf;	/* one reference */
	const struct conf_files *files; /* one reference; NULL: no file was read */
	/* Routes in force, one reference; NULL: back to back without a switch. */
	const struct routes *routes;
	struct qos_plan qos;		   /* made of `conf` and `routes` */
	uint16_t usable_sls[QOS_KINDS];	   /* qos_usable_sls() of `qos`, by kind */
	uint16_t usable_wishes[QOS_KINDS]; /* qos_usable_wishes() of `qos`, by kind */
	uint16_t good_sls, good_wishes;	   /* intersection over all kinds; without `qos` all SLs */
	uint64_t prefix;		   /* GID prefix of the subnet */
	uint32_t sm_port;		   /* index of our own port */
	struct view_node *nodes;
	struct view_port *ports;
	uint32_t n_nodes, n_ports;
	/* LID_MAX_UCAST + 1 entries: index of the end port; VIEW_NONE: none */
	uint32_t *by_lid;
	struct guidmap *by_guid;     /* port GUID -> struct view_port */
	struct mft_have *mfts;	     /* multicast tables by node; NULL without VIEW_TREES */
	struct view_sets *sets;	     /* P_Key sets of the ports: view_pkeys() */
	struct policy_ports *policy; /* view/view_policy.h; NULL: no policy */
	struct view_sm *sms;
	uint32_t n_sms;
	struct path_map *paths; /* view/path_walk.h; NULL without VIEW_PATHS */
	/*
	 * Root view that owns all members but `refs` and `sets`, one reference; NULL: this is a
	 * root view.
	 */
	const struct view *base;
};

enum view_parts {
	VIEW_PATHS = 1, /* paths can be walked */
	VIEW_TREES = 2, /* multicast tables as known, with Sets under way */
};

/* The sources of a view; they are copied or referenced. */
struct view_source {
	const struct conf *conf;
	const struct conf_files *files; /* NULL: none */
	const struct fabric *fabric;
	const struct routes *routes; /* NULL: none */
	/* NULL: no P_Keys are known, and no port shares one with another. */
	const struct pkey_plan *pkeys;
	const struct partitions *partitions; /* by name, for the QoS policy; NULL: none */
	const struct view_sm *sms;	     /* ourselves first; `port` is filled in */
	unsigned n_sms;
	unsigned parts; /* enum view_parts */
};

/* One reference. Copies all nodes and ports, some 120 bytes each. `conf` and `fabric` are given. */
struct view *view_new(const struct view_source *from);
/* New P_Keys of an end port. */
struct view_pkey_change {
	guid_t port;		    /* port GUID; ignored if not in the view */
	const struct pkey_set *set; /* set of a plan, copied; NULL: none are known */
};
/*
 * A view that differs from `v` in the P_Keys of some ports, and shares everything else. One
 * reference. Costs four bytes per port, and the sets changed since the last root view. Of two
 * changes of one port the later applies.
 */
struct view *view_with_pkeys(const struct view *v, const struct view_pkey_change *changes,
			     size_t n);
/* view_with_pkeys() with other partitions: names in the QoS policy may stand for other P_Keys. */
struct view *view_with_partitions(const struct view *v, const struct view_pkey_change *changes,
				  size_t n, const struct partitions *partitions);
struct view *view_ref(const struct view *v);
struct view *view_unref(const struct view *v);
FREEP(view_unref, struct view)

/* Finds a node; NULL: none. */
const struct view_node *view_find_node(const struct view *v, guid_t guid);
/*
 * The switch that contains an aggregation node (quirks_file); NULL: `n` is no such node, or its
 * cable leads to no switch.
 */
const struct view_node *view_switch_around(const struct view *v, const struct view_node *n);
/* The name from the node-name map, else the NodeDescription. */
const char *view_node_name(const struct view *v, const struct view_node *n);
/* The link speed sets of the node of a port, from its own PortInfo or that of a switch's port 0. */
enum ib_speed_set view_speed_sets(const struct view *v, const struct view_port *p);
/* SA rate code of width x speed in a PortInfo (sa.md 4.3), of the sets up to `most`. 0: none. */
unsigned view_rate_of(const uint8_t *port_info, enum ib_speed_set most, bool fdr10);

/* The end port that has a LID; VIEW_NONE: none. */
static inline uint32_t view_port_at(const struct view *v, unsigned lid)
{
	return lid_is_unicast(lid) ? v->by_lid[lid] : VIEW_NONE;
}

static inline uint32_t view_port_of_guid(const struct view *v, guid_t guid)
{
	const struct view_port *p = guid ? guidmap_get(v->by_guid, guid) : NULL;

	return p ? (uint32_t)(p - v->ports) : VIEW_NONE;
}

static inline bool view_is_switch(const struct view *v, const struct view_port *p)
{
	return v->nodes[p->node].type == IB_NODE_SWITCH;
}

/* Does the port own a LID: a CA or router port, or switch port 0? */
static inline bool view_port_is_end(const struct view *v, const struct view_port *p)
{
	return !view_is_switch(v, p) || p->num == 0;
}

/* The index of the end port that answers for `port`: itself, or port 0 of its switch. */
static inline uint32_t view_end_port(const struct view *v, uint32_t port)
{
	const struct view_port *p = &v->ports[port];

	if (p->guid)
		return port;
	return view_is_switch(v, p) ? v->nodes[p->node].first_port : port;
}

static inline bool view_is_enhanced0(const struct view_node *n)
{
	return n->switch_known && ib_get(n->switch_info, SI_ENHANCED_PORT0);
}

/*
 * The GUID by which a port is known: its own, of external switch ports that of port 0. 0: not
 * known.
 */
static inline guid_t view_guid_of(const struct view *v, const struct view_port *p)
{
	guid_t guid = v->ports[view_end_port(v, (uint32_t)(p - v->ports))].guid;

	return guid || !view_is_switch(v, p) ? guid : v->nodes[p->node].guid;
}

/* The index of port `num` of a node; VIEW_NONE: no such port. */
static inline uint32_t view_node_port(const struct view_node *n, unsigned num)
{
	unsigned first = n->type == IB_NODE_SWITCH ? 0 : 1;

	return num >= first && num <= n->n_ports ? n->first_port + num - first : VIEW_NONE;
}

/*
 * The SL (0..15) of packets from end port `src` to LID `dlid` of end port `dst`, for which a policy
 * gives `wish`: `wish`, unless the routes choose VLs by path. VIEW_NONE: not known.
 */
uint8_t view_path_sl(const struct view *v, uint32_t src, uint32_t dst, lid_t dlid, uint8_t wish);
/* view_path_sl() for a request that insists on an SL: the level is that of its upper bits. */
uint8_t view_asked_sl(const struct view *v, uint32_t src, uint32_t dst, lid_t dlid, uint8_t asked);
/*
 * May a path have this SL if a partition or policy gives `wish`? Any value will do in the bits that
 * routes decide.
 */
bool view_sl_is_of(const struct view *v, uint8_t sl, uint8_t wish);
/* Do the options give the SL of a partition or policy a VL, from end port `src` on? */
bool view_wish_passes(const struct view *v, uint32_t src, uint8_t wish);
/* Do all tables on the way from end port `src` give this SL a VL? */
bool view_sl_passes(const struct view *v, uint32_t src, uint8_t sl);
/* The SL (0..15) of a multicast group that asks for `wish`, as the routes allow it. */
uint8_t view_group_sl(const struct view *v, uint8_t wish);

/* The P_Keys of the end port behind `port`, valid as long as the view; NULL: not known. */
const struct pkey_set *view_pkeys(const struct view *v, uint32_t port);
/* A set of P_Keys by their base: bit `base % 64` of word `base / 64`. */
struct view_bases {
	uint64_t words[(PKEY_BASE + 1) / 64];
};
static inline bool view_bases_have(const struct view_bases *b, uint16_t pkey)
{
	return b->words[(pkey & PKEY_BASE) / 64] >> (pkey & 63) & 1;
}
/* Fills in the P_Keys that some port holds, full or limited. O(distinct sets). */
void view_known_pkeys(const struct view *v, struct view_bases *ret);
/* P_Keys of some ports: those that one holds at all, those that one holds as a full member. */
struct view_reach {
	struct view_bases any, full;
};
/* Former P_Keys of the ports that hold less in a later view. */
struct view_losses {
	struct view_reach lost; /* P_Keys that they lost, or hold as limited members only */
	struct view_reach held; /* all that they held */
};
/*
 * Fills in the P_Keys that ports held in `before` and do not hold in `after`, of ports in both.
 * False: none, and `ret` is empty. O(ports).
 */
bool view_lost_pkeys(const struct view *before, const struct view *after, struct view_losses *ret);
/* Has the end port behind `port` of `before` lost P_Keys? False also if it is not in `after`. */
bool view_port_lost(const struct view *before, uint32_t port, const struct view *after);
/* Would the end port behind `port` share a partition with a port that holds these P_Keys? */
bool view_reaches(const struct view *v, uint32_t port, const struct view_reach *reach);
/*
 * Do the end ports behind two ports share a partition (one full member at least)? ret_pkey (may be
 * NULL): the first common key in the order of sa.md 4.4, with the membership bit of `a`.
 */
bool view_share_pkey(const struct view *v, uint32_t a, uint32_t b, uint16_t *ret_pkey);
/* Does the end port behind `port` hold this base key, full or limited? */
bool view_has_pkey(const struct view *v, uint32_t port, uint16_t pkey);
/* The forms in which it holds this key: PKEY_SET_FULL, PKEY_SET_LIMITED (plan/pkey.h); 0: none. */
unsigned view_pkey_forms(const struct view *v, uint32_t port, uint16_t pkey);
