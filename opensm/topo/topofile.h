// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fabrics as text: what ibnetdiscover writes (plain, -g, -f, -p), net files of ibsim (the same with
 * names of their own), and opensm-subnet.lst. Read into nodes and cables, made into a topo, written
 * back as ibnetdiscover does.
 *
 * The kind of a file follows from its lines. A contradiction is an error and gives nothing; a
 * missing part (the other end of a cable, a node that a cable leads to) is a warning.
 */
#pragma once

#include <stdio.h>

#include "conf/conf.h"
#include "ib/codes.h"
#include "topo/topo.h"
#include "util/mem.h"

/* opensm-subnet.lst of 43,904 hosts is 120 MB. */
#define TOPOFILE_MAX ((size_t)1 << 30)

enum topofile_type { TOPOFILE_SWITCH, TOPOFILE_CA, TOPOFILE_ROUTER }; /* in order of a file */

static inline enum ib_node_type topofile_node_type(enum topofile_type type)
{
	return type == TOPOFILE_SWITCH ? IB_NODE_SWITCH
	       : type == TOPOFILE_CA   ? IB_NODE_CA
				       : IB_NODE_ROUTER;
}

struct topofile_node {
	enum topofile_type type;
	guid_t guid, sysimg_guid;
	guid_t port_guid; /* port GUID; of a switch that of port 0 */
	uint32_t vendor, device;
	/* Its rows are ports[first_port .. first_port + n_rows - 1], numbers ascending. */
	uint32_t first_port;
	uint32_t n_rows;
	uint8_t n_ports;
	bool enhanced0;
	lid_t lid; /* LID of a switch; 0: not in the file */
	uint8_t lmc;
	char *name; /* NodeDescription; printable, never NULL */
};

/* A port with a cable. */
struct topofile_port {
	guid_t guid; /* port GUID of a CA or router; 0 on a switch */
	uint32_t node;
	uint32_t peer; /* row of the other end; TOPO_NONE: not in the file */
	uint8_t number;
	uint8_t lmc;   /* LMC of a CA or router port */
	lid_t lid;     /* LID of a CA or router port; 0: none */
	uint8_t width; /* 4 of "4xSDR"; 0: not given */
	uint8_t vls;   /* data VLs; 0: not given */
	char speed[8]; /* "SDR" ... "NDR"; "": not given */
};

struct topofile {
	struct topofile_node *nodes; /* switches, CAs, routers; GUIDs ascend within each */
	uint32_t n_nodes;
	struct topofile_port *ports;
	uint32_t n_ports;
	bool lmc_unknown; /* set if the kind of file has no LMCs: all are 0 */
};

/* Reads a file. NULL: at least one error is in `r`, and nothing is used. */
struct topofile *topofile_read(const char *path, struct conf_report *r);
struct topofile *topofile_read_text(const char *path, const char *text, size_t len,
				    struct conf_report *r);
struct topofile *topofile_free(struct topofile *f);
FREEP(topofile_free, struct topofile)

/* `vls`: data VLs of cables that the file says nothing of; 0: what topo has then. One reference. */
struct topo *topofile_topo(const struct topofile *f, unsigned vls);
/* In the format of `ibnetdiscover`. topofile_read() of it gives the same again. */
void topofile_write(const struct topofile *f, FILE *out);
/* The description of the node with this GUID; NULL: no such node. */
const char *topofile_name(const struct topofile *f, guid_t node_guid);
/* The node of this type and GUID: its number or TOPO_NONE. */
uint32_t topofile_find(const struct topofile *f, enum topofile_type type, guid_t guid);
/* Makes a file of a topo; names are "switch N" and "host N". The caller frees. */
struct topofile *topofile_from_topo(const struct topo *t);
