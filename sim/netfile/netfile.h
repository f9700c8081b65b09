// SPDX-License-Identifier: BSD-2-Clause
/*
 * A fabric as text: the format of ibnetdiscover and ibsim. No state, no protocol: a list of nodes
 * with their ports and cables.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/mem.h"
#include "util/types.h"

#define NETFILE_DEFAULT_SPEED 25
#define NETFILE_DEFAULT_WIDTH 4

struct netfile_port {
	int peer_node;       /* index into nodes; -1: not connected */
	uint8_t peer_port;
	uint8_t width;       /* lanes supported and enabled: 1, 2, 4, 8, 12; 0: the default (4) */
	/* speed as in ib_link_speed(): 25 SDR ... 2000 XDR, 103 FDR10; 0: the default (25) */
	uint16_t speed;
	/* limit of the cable, at both of its ends; 0: none but those of the ports */
	uint8_t cable_width;
	uint16_t cable_speed;
	bool silent;         /* set if the cable loses all SMPs; at both ends */
	lid_t lid;           /* LID at the start; 0: none */
	uint8_t lmc;
	guid_t guid;         /* GUID of CA and router ports; 0 for external switch ports */
};

struct netfile_node {
	char id[65];         /* text between the quotes, unique */
	char desc[65];       /* NodeDescription; the id if the file has none */
	uint8_t type;        /* enum ib_node_type */
	uint8_t nports;
	bool enhanced_port0;
	bool silent;         /* set if the management agent does not answer */
	guid_t guid, sysimg_guid;
	uint32_t vendor_id;
	uint16_t device_id;
	struct netfile_port *ports; /* nports + 1 ports; index 0 is switch port 0 */
};

struct netfile {
	struct netfile_node *nodes;
	size_t n_nodes, cap_nodes;
	guid_t next_guid[4]; /* next automatic GUID, by enum ib_node_type */
};

/* Limits of netfile_parse(), so that no file can exhaust memory. */
#define NETFILE_MAX_BYTES (64u << 20)
#define NETFILE_MAX_LINE 1023
#define NETFILE_MAX_NODES 65536
#define NETFILE_MAX_PORTS (2u << 20) /* of all nodes together */

struct netfile *netfile_new(void);
struct netfile *netfile_free(struct netfile *net);
FREEP(netfile_free, struct netfile)

/*
 * Appends a node with all ports unconnected. Returns its index. The array may move. `id` is
 * truncated to 64 characters, must be unique (not checked here) and is the description until one is
 * set. `guid` 0: ibsim's automatic numbering (CA from 0x100000, port GUID = node GUID + port;
 * switch from 0x200000; routers, to which ibsim gives GUID 0, from 0x300000).
 */
int netfile_add(struct netfile *net, uint8_t type, const char *id, uint8_t nports, guid_t guid);
/* Connects two free ports. 0, -EINVAL (no such port), -EBUSY (already connected). */
int netfile_link(struct netfile *net, int a, uint8_t a_port, int b, uint8_t b_port);
int netfile_find(const struct netfile *net, const char *id_or_desc); /* index or -1 */

/*
 * Parses text. On error NULL and `err` = "line:column: what was found, what was expected". Errors
 * are also ids, GUIDs or cables described twice, and cables of which one end is missing.
 * ibsim's own commands (module, include, do, aliases, relative GUID bases) are refused.
 */
struct netfile *netfile_parse(const char *text, size_t len, char *err, size_t err_len);
/*
 * Writes text that ibsim and netfile_parse() read back to the same fabric. Properties that the
 * format lacks are left out: width, speed, LID and GUID of ports without a cable. If only one of
 * width and speed is set, the default of the other is written. A slow cable is "1xSDR (4xEDR)", its
 * own speed and that of its end; "silent" stands behind the rest of a node or port. For other
 * programs these words are comments: ibsim's hosts answer, its cables are as fast as their ends.
 */
void netfile_write(const struct netfile *net, FILE *out);
