// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names and inode numbers of the file system: one tree for all nodes of the fabric.
 *
 *   ctl  stats  check  nodes  keys  state  pkeys
 *   node/17/dev/umad0 issm0                          becomes /dev/infiniband of programs on node 17
 *   node/17/sys/infiniband_mad/abi_version umad0/... becomes /sys/class
 *   node/17/sys/infiniband/sim0/node_guid ports/1/state gids/0 pkeys/0 ...
 *   node/17/sys/infiniband/smi0/...                  beside it where the node has two (hosts.h)
 *
 * A place is a number; texts are made when they are read, so they are never stale. Nothing here
 * changes the simulator.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/serve/hosts.h"
#include "sim/sim.h"

#define TREE_ROOT 1
#define TREE_NAME_MAX 72
#define TREE_TEXT_MAX 256

enum place_kind {
	PLACE_NONE,
	PLACE_ROOT,
	PLACE_CTL,
	PLACE_STATS,
	PLACE_CHECK,
	PLACE_NODES,
	PLACE_KEYS,
	PLACE_STATE,
	PLACE_ALL_PKEYS,
	PLACE_NODE_LIST, /* node/ */
	PLACE_NODE,      /* node/17 */
	PLACE_DEV,
	PLACE_UMAD,
	PLACE_ISSM,
	PLACE_SYS,
	PLACE_NET,
	PLACE_MAD_CLASS, /* infiniband_mad */
	PLACE_ABI,
	PLACE_MAD_UMAD,
	PLACE_MAD_ISSM,
	PLACE_MAD_IBDEV,
	PLACE_MAD_PORT,
	PLACE_IB_CLASS, /* infiniband */
	PLACE_DEVICE,
	PLACE_DEVICE_TEXT,
	PLACE_PORTS,
	PLACE_PORT,
	PLACE_PORT_TEXT,
	PLACE_GIDS,
	PLACE_GID,
	PLACE_PKEYS,
	PLACE_PKEY,
};

/*
 * A place: a kind, and if the kind has them a node, a device, a port (as programs count it), a row.
 */
struct place {
	enum place_kind kind;
	int node;
	unsigned device; /* enum device; DEVICE_ETHERNET + k is the k-th of these */
	unsigned port;
	unsigned row;
};

struct tree {
	struct sim *sim;
	/* Are the port of this node, and this device, present? */
	bool (*present)(void *owner, int node, unsigned device, unsigned port);
	const struct host *(*host)(void *owner, int node);
	void *owner;
};

uint64_t tree_number(const struct place *p);
/* False: there is no such place, or no more. */
bool tree_place(const struct tree *t, uint64_t number, struct place *ret);
bool tree_is_folder(enum place_kind kind);
/* Entry `i` of a folder: 1; 0: left out, continue; -1: there are no more. */
int tree_entry(const struct tree *t, const struct place *folder, unsigned i,
	       char name[TREE_NAME_MAX], struct place *ret);
bool tree_lookup(const struct tree *t, const struct place *folder, const char *name,
		 struct place *ret);
/* Writes the content of a file of /sys/class. Returns its length. */
size_t tree_text(const struct tree *t, const struct place *p, char text[TREE_TEXT_MAX]);
