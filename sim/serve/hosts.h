// SPDX-License-Identifier: BSD-2-Clause
/*
 * The devices of a node as its programs see them. Usually one, with all ports; else
 *
 *   split      sim0 for GMPs (IsSMDisabled), smi0 for SMPs and issm of the same GUIDs
 *   ethernet   eth000, eth001 ... in front of them, which carry no MADs
 *
 * and each of the two of a split node may be away while the other is there. Nodes that were never
 * changed are not stored.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum device { DEVICE_MAIN, DEVICE_SMI, DEVICE_ETHERNET };
#define DEVICE_NAME_MAX 16
#define ETHERNET_MAX 200

struct host {
	struct host *next;
	int node;
	bool split;
	bool away[2]; /* missing devices: DEVICE_MAIN, DEVICE_SMI */
	unsigned ethernet;
	unsigned gmp_lid; /* LID that DEVICE_MAIN reports; 0: the real one */
};

/* The devices of this node; never NULL. */
const struct host *host_of(const struct host *first, int node);
/* The devices of this node for changes: stored if they were not. */
struct host *host_make(struct host **first, int node);
void hosts_free(struct host *first);

/*
 * The name of device number `i` of the node (DEVICE_ETHERNET and up: Ethernet). False: there is
 * none.
 */
bool host_device(const struct host *h, unsigned i, char name[DEVICE_NAME_MAX]);
