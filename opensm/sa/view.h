// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fabric as Subnet Administration shows it: an immutable picture, published when tables have
 * been programmed, shared by reference, replaced whole by the next sweep.
 *
 * Nodes are ordered by GUID; each node's ports stand together: 0..n of a switch, 1..n of others.
 * What changes between sweeps (groups, services, subscriptions, alias GUIDs) is not here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "fabric/fabric.h"
#include "ib/attrs.h"
#include "plan/qos.h"
#include "route/routes.h"
#include "util/guidmap.h"

struct pkey_plan;
struct pkey_set;

#define VIEW_NONE UINT32_MAX

struct view_node {
	guid_t guid, sysimg_guid;
	uint32_t first_port; /* ports[first_port + i] is port i of a switch, port i + 1 of others */
	uint32_t topo_sw;    /* in routes->topo; TOPO_NONE: no switch, or not routed */
	uint32_t vendor_id, revision;
	uint16_t device_id, partition_cap;
	uint8_t type; /* enum ib_node_type */
	uint8_t n_ports;
	bool switch_known;
	uint8_t switch_info[SI_BYTES];
	char desc[65];
};

struct view_port {
	guid_t guid;	/* of end ports; 0 of external switch ports */
	uint32_t node;	/* index */
	uint32_t peer;	/* other end of the cable, index of a port; VIEW_NONE */
	uint32_t pkeys; /* which of pkey_sets; VIEW_NONE: none known (external switch ports) */
	lid_t lid;	/* base LID of the end port that answers for it; 0 none */
	uint8_t lmc, num;
	uint8_t state;	      /* enum ib_port_state */
	uint8_t mtu_cap;      /* enum ib_mtu */
	uint8_t neighbor_mtu; /* as programmed; of switch port 0: MTUCap */
	uint8_t rate;	      /* SA rate code of active width and speed; 0: link down. Port 0: see sa/path */
	bool known;	      /* info[] holds an observation */
	uint8_t info[SMP_DATA_SIZE]; /* PortInfo, M_Key included: zero it for the untrusted */
};

/* Subnet managers known: ourselves first. */
struct view_sm {
	guid_t guid; /* port GUID */
	uint32_t port;
	uint32_t act_count;
	uint8_t priority, state;
};

struct view {
	_Atomic unsigned refs;
	const struct conf *conf;     /* one reference */
	const struct routes *routes; /* installed ones, one reference; NULL: back to back without a switch */
	struct qos_plan qos;	     /* of the two above */
	uint64_t prefix;	     /* of the subnet */
	uint32_t sm_port;	     /* ours */
	struct view_node *nodes;
	struct view_port *ports;
	uint32_t n_nodes, n_ports;
	uint32_t *by_lid;	    /* LID_MAX_UCAST + 1 rows: end port that owns it, VIEW_NONE */
	struct guidmap *by_guid;    /* port GUID -> struct view_port */
	struct guidmap *node_by_guid; /* node GUID -> struct view_node */
	struct pkey_set *pkey_sets;  /* distinct ones: see view_share_pkey() */
	uint32_t n_pkey_sets;
	struct view_sm *sms;
	uint32_t n_sms;
	struct path_map *paths; /* path-walk.h: made of all the above */
};

/* What a view is made from; everything is copied or takes a reference of its own. */
struct view_source {
	const struct conf *conf;
	const struct fabric *fabric;
	const struct routes *routes;   /* NULL: none */
	const struct pkey_plan *pkeys; /* NULL: no partitions known, nobody sees anybody */
	const struct view_sm *sms;     /* ourselves first; `port` is filled in */
	unsigned n_sms;
};

/* One reference. */
struct view *view_new(const struct view_source *from);
struct view *view_ref(const struct view *v);
struct view *view_unref(struct view *v);

/* VIEW_NONE for a LID that nobody has. */
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

/* Ports that own a LID: CA and router ports, switch port 0. */
static inline bool view_port_is_end(const struct view *v, const struct view_port *p)
{
	return !view_is_switch(v, p) || p->num == 0;
}

/* The end port that answers for `port`: itself, or port 0 of its switch. */
static inline uint32_t view_end_port(const struct view *v, uint32_t port)
{
	const struct view_port *p = &v->ports[port];

	if (p->guid)
		return port;
	return view_is_switch(v, p) ? v->nodes[p->node].first_port : port;
}

/* Port `num` of a node; VIEW_NONE if it has none such. */
static inline uint32_t view_node_port(const struct view_node *n, unsigned num)
{
	unsigned first = n->type == IB_NODE_SWITCH ? 0 : 1;

	return num >= first && num <= n->n_ports ? n->first_port + num - first : VIEW_NONE;
}

/*
 * The SL of packets from the end port `src` to LID `dlid`, which is the end port `dst`, where a policy would
 * have `wish`; wish if no lanes are in the way. VIEW_NONE is nowhere.
 */
uint8_t view_path_sl(const struct view *v, uint32_t src, uint32_t dst, lid_t dlid, uint8_t wish);
/* Do all tables that a packet of this SL meets on the way from end port `src` give it a VL? */
bool view_sl_passes(const struct view *v, uint32_t src, uint8_t sl);
/* What a multicast group that would have this SL may have. */
uint8_t view_group_sl(const struct view *v, uint8_t wish);

/*
 * Do the end ports behind two ports share a partition (one full member at least)? ret_pkey (may be
 * NULL): the first common key in the order of sa.md 4.4, with the membership bit of `a`.
 */
bool view_share_pkey(const struct view *v, uint32_t a, uint32_t b, uint16_t *ret_pkey);
/* Does the end port behind `port` hold this base key, full or limited? */
bool view_has_pkey(const struct view *v, uint32_t port, uint16_t pkey);
/* In which forms: PKEY_SET_FULL, PKEY_SET_LIMITED (plan/pkey.h); 0: not at all. */
unsigned view_pkey_forms(const struct view *v, uint32_t port, uint16_t pkey);
