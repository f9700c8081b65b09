// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the dumps show, copied in one go from the fabric so that a worker can write it at leisure.
 *
 * Made and freed on the main thread (it holds a reference of routes); read from any thread.
 * Some 50 bytes per port and 130 per node.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/files.h"
#include "fabric/fabric.h"
#include "plan/qos.h"
#include "route/routes.h"
#include "util/types.h"

#define DUMP_NONE UINT32_MAX

struct dump_port {
	guid_t guid;       /* of a switch: port 0's */
	uint32_t node;     /* index in view->nodes */
	uint32_t peer;     /* index in view->ports; DUMP_NONE: none known */
	lid_t lid, sm_lid; /* of a switch: port 0's */
	/* Tenths of Gb/s per lane, with and without extended speeds; 0 unknown. */
	uint16_t speed, speed_plain;
	uint8_t num, lmc, state, width, mtu; /* mtu: code of NeighborMTU */
	uint8_t phys, mtu_cap, vl_cap, vls;  /* codes of PortInfo, 0 unknown */
	bool known;
	bool ext_capable; /* the node says it knows extended speeds */
	bool is_own;      /* the SM's port; of a switch: all */
	bool had_cable;   /* somebody was met behind it */
	uint8_t met_port; /* the other end of the last cable that was met, which may be gone; 0: none */
	guid_t met_guid;
};

struct dump_node {
	guid_t guid, sysimg_guid;
	uint32_t vendor_id, revision;
	uint32_t first_port; /* view->ports[first_port + p] is port p, 0..n_ports */
	uint16_t device_id;
	uint8_t type, n_ports;
	bool is_enhanced; /* a switch with enhanced port 0 */
	char desc[NODE_DESC_STRLEN];
	char *mapped; /* from the node-name map; NULL: desc counts */
	struct mft_have mft;
};

struct dump_view {
	uint32_t n_nodes, n_ports;
	struct dump_node *nodes; /* in the fabric's order */
	struct dump_port *ports;
	struct routes *routes; /* one reference; may be NULL */
	struct qos_plan qos;   /* nothing is wanted without dump_view_add_qos() */
	uint8_t max_op_vls;    /* code; 0: no limit */
	struct conf *conf;     /* of dump_view_add_engine(); NULL without */
	struct conf_files *files;
};

/* `routes` and `names` may be NULL. */
struct dump_view *dump_view_new(const struct fabric *f, const struct routes *routes,
				const struct conf_names *names);
/* Copies multicast tables too: as known, and what is on its way. `f` as it was for dump_view_new(). */
void dump_view_add_mfts(struct dump_view *v, const struct fabric *f);
/* And which VL is planned for which SL, with these options and the routes of the view. */
void dump_view_add_qos(struct dump_view *v, const struct conf *conf);
/* And what its engine went by. Both are shared by reference; `files` may be NULL. */
void dump_view_add_engine(struct dump_view *v, const struct conf *conf, const struct conf_files *files);
struct dump_view *dump_view_free(struct dump_view *v);
void dump_view_freep(struct dump_view **v);

static inline const char *dump_node_name(const struct dump_node *n)
{
	return n->mapped ? n->mapped : n->desc;
}

/*
 * The order of the peer's tables: GUIDs compare from their last byte to their first (files.md 1).
 */
static inline guid_t dump_rank(guid_t guid)
{
	return __builtin_bswap64(guid);
}

/* Indices of the nodes in that order; the caller frees. */
uint32_t *dump_view_order(const struct dump_view *v);
/* By node GUID; NULL if there is none. `order` is that of dump_view_order(). */
const struct dump_node *dump_view_find(const struct dump_view *v, const uint32_t *order,
				       guid_t guid);
