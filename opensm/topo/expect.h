// SPDX-License-Identifier: BSD-2-Clause
/*
 * A fabric as it was meant beside the fabric as it is: two pictures in, findings out, each with the
 * smallest cause that explains the difference (a cable in the wrong port, two cables swapped).
 *
 * A picture (struct expect) is made by a builder, from a file (expect_file.h) or from what a sweep
 * has found, and is never changed. The comparison is pure: no clock, no log, no file; it takes
 * O(cables log cables) steps. A GUID may be in a picture twice; a port has one cable.
 */
#pragma once

#include <stdio.h>

#include "ib/codes.h"
#include "topo/topo.h"
#include "util/mem.h"

enum expect_type { EXPECT_ANY_TYPE, EXPECT_SWITCH, EXPECT_CA, EXPECT_ROUTER };

/* What a picture says of a cable: it is there, it has to be absent, or it may be either. */
enum expect_use { EXPECT_UP, EXPECT_OFF, EXPECT_EITHER };

/* Lanes, and tenths of Gb/s of each (struct ib_speed); 0: not known. */
struct expect_rate {
	uint8_t width;
	uint16_t speed;
};

/* Of a PortInfo, with the sets of speeds that its node has: as it runs; the best that it can. */
struct expect_rate expect_rate_of(const uint8_t *port_info, enum ib_speed_set most);
struct expect_rate expect_best_of(const uint8_t *port_info, enum ib_speed_set most);

struct expect_node {
	guid_t guid, sysimg_guid;
	enum expect_type type;
	const char *name;	/* "": none */
	uint32_t first_port, n_ports; /* its rows in expect->ports, numbers ascend */
	uint8_t size;		      /* how many ports it has; 0: not known */
};

/* A port with a cable. */
struct expect_port {
	guid_t guid;		/* of a CA's port; 0: not known */
	uint32_t node, peer;	/* peer: row of the other end */
	uint8_t number;
	enum expect_use use;
	struct expect_rate rate, best; /* that runs; that the port supports */
};

struct expect {
	struct expect_node *nodes; /* by GUID, then type */
	struct expect_port *ports; /* by node, then number */
	uint32_t n_nodes, n_ports;
	struct arena names;
	/*
	 * Of a picture that knows nodes by their names alone, which differ: a hash of them, nodes
	 * or TOPO_NONE. NULL: it knows them by GUIDs.
	 */
	uint32_t *slots;
	uint32_t n_slots;
};

struct expect_builder;
struct expect_builder *expect_builder_new(void);
struct expect_builder *expect_builder_free(struct expect_builder *b);
FREEP(expect_builder_free, struct expect_builder)
/* The number of the node for expect_add_cable(). The name is copied; first_port is not read. */
uint32_t expect_add_node(struct expect_builder *b, const struct expect_node *node);
/*
 * A cable between two ports, of which .peer is not read. Of cables at one port the one added first
 * counts, and a cable from a port to itself does not.
 */
void expect_add_cable(struct expect_builder *b, const struct expect_port *one,
		      const struct expect_port *two);
/* Ends the builder. */
struct expect *expect_build(struct expect_builder *b);
struct expect *expect_free(struct expect *x);
FREEP(expect_free, struct expect)
/* The row of a port; TOPO_NONE: no cable there. */
uint32_t expect_find_port(const struct expect *x, uint32_t node, uint8_t number);
/* The first node with this GUID, TOPO_NONE. */
uint32_t expect_find_node(const struct expect *x, guid_t guid);
/* Cables that have to be there. */
uint32_t expect_count_cables(const struct expect *x);
/*
 * `x`, or a new picture in its place (`x` is freed), in which port 1 of a GUID that is the port
 * GUID of a CA of `other`, and no node's, is that port of that CA: NVIDIA's CSV has such lines. Of
 * a picture that knows nodes by names: those that `other` has, with their GUIDs and descriptions.
 */
struct expect *expect_resolve(struct expect *x, const struct expect *other);

/* --- Nodes that are known by name (expect_resolve.c) ---------------------------------------- */

#define EXPECT_CALLED_MAX 160
/* How a board of a system is called, "": the system. False: that is too long. */
bool expect_called(char ret[EXPECT_CALLED_MAX], const char *system, size_t len, const char *board);
/* The node is in the picture, by its GUID or, where that has names alone, by those: TOPO_NONE. */
uint32_t expect_seek(const struct expect *x, guid_t guid, guid_t sysimg, const char *name);
/* In place of the GUID of the i-th node of such a picture; no device has it. */
guid_t expect_number_guid(uint32_t i);
bool expect_guid_is_number(guid_t guid);
void expect_index_names(struct expect *x);

struct expect *expect_dup(const struct expect *x);
/* The same as a new picture; NULL: nothing is to be changed. */
struct expect *expect_resolved(const struct expect *x, const struct expect *other);

/* --- One cable ------------------------------------------------------------------------------ */

/* What is wrong with a cable that is found: a set of these. */
enum expect_flaw {
	EXPECT_FLAW_LINK = 1,	   /* it is not in the picture, or has to be absent */
	EXPECT_FLAW_NODE = 2,	   /* it is, but for the GUID of one node, which is not there */
	EXPECT_FLAW_PORT_GUID = 4, /* it is, with another port GUID */
	EXPECT_FLAW_NAME = 8,	   /* with another description */
	EXPECT_FLAW_RATE = 16	   /* it is slower */
};

struct expect_seen {
	guid_t node, port_guid; /* port_guid: of a CA's port; 0: none */
	guid_t system;		/* SystemImageGUID; 0: not known */
	uint32_t at;		/* the node, by expect_seek() */
	enum expect_type type;
	const char *name;
	uint8_t port;
};

struct expect_question {
	struct expect_seen end[2];
	struct expect_rate rate;
	bool by_name; /* a node counts as the absent one with its description */
	bool (*is_there)(void *arg, guid_t node);
	void *arg;
};

/* Of a cable that was found: a set of enum expect_flaw. O(log ports). */
unsigned expect_judge(const struct expect *want, const struct expect_question *q);
/* The port is in the picture: the switch port that it belongs to. False: it has no such cable. */
bool expect_home(const struct expect *want, const struct expect_seen *end, guid_t *ret_switch,
		 uint8_t *ret_port);

/* --- The comparison ------------------------------------------------------------------------- */

enum expect_kind {
	EXPECT_DUPLICATE_GUID, /* node: the GUID; changes: where each of them is */
	EXPECT_TYPE_CHANGED,   /* node; want_type, have_type */
	EXPECT_REPLACED_HCA,   /* node became other */
	EXPECT_REPLACED_SWITCH,
	EXPECT_SWAPPED_NODES,  /* node is in the place of other, and back */
	EXPECT_SWAPPED,	       /* changes: each of the cables */
	EXPECT_WRONG_RAIL,     /* changes: ports of one host */
	EXPECT_SHIFTED,	       /* changes: cables of `node`, ports from..to, off by step */
	EXPECT_MOVED,	       /* one change */
	EXPECT_MISSING,	       /* one change without .is; n_nodes are not found behind it */
	EXPECT_MISSING_NODE,   /* node, n_nodes with it; changes: cables to it from what is found */
	EXPECT_EXTRA,	       /* one change without .was */
	EXPECT_UNKNOWN_NODE,   /* node, n_nodes with it; changes: cables to it, what was there */
	EXPECT_DEGRADED,       /* one change without .is; want, have */
	EXPECT_PORT_GUID,      /* node: the port; other: the GUID that is found, in .guid */
	EXPECT_RENAMED,	       /* node; other: the same with the name that is found */
	EXPECT_KINDS
};

/* A port, or a node (port 0). GUID 0: none. Names are the pictures'. */
struct expect_end {
	guid_t guid;
	const char *name;
	uint8_t port;
};

/* Port `at` leads to `is` instead of `was`. */
struct expect_change {
	struct expect_end at, was, is;
};

struct expect_finding {
	enum expect_kind kind;
	struct expect_end node, other;
	uint32_t first_change, n_changes; /* in report->changes */
	uint32_t n_nodes;		  /* nodes that are not found, or not known */
	enum expect_type want_type, have_type;
	struct expect_rate want, have;
	bool by_ends;			  /* .want is what both ends support */
	bool forbidden;			  /* the cable has to be absent */
	uint8_t from, to;		  /* ports */
	guid_t port_guid;		  /* that was expected */
	int step;
};

struct expect_report {
	struct expect_finding *findings; /* by kind, then place */
	uint32_t n_findings;
	size_t cap_findings;
	struct expect_change *changes;
	uint32_t n_changes;
	size_t cap_changes;
};

/* The pictures have to live as long as the report. */
struct expect_report *expect_compare(const struct expect *want, const struct expect *have);
/*
 * Adds findings about ports of the same nodes: another port GUID, another description. Of all that
 * expect_compare() says, and this, the same finding has the same key in each comparison.
 */
void expect_check_names(struct expect_report *r, const struct expect *want,
			const struct expect *have, bool port_guids, bool names);
uint64_t expect_finding_key(const struct expect_report *r, const struct expect_finding *f);
/*
 * `want` as it is with this finding accepted: the ports it is about as they are in `have`. NULL
 * finding: all as in `have`. A new picture.
 */
struct expect *expect_accept(const struct expect *want, const struct expect *have,
			     const struct expect_report *r, const struct expect_finding *f);
struct expect_report *expect_report_free(struct expect_report *r);
FREEP(expect_report_free, struct expect_report)

/* "wrong rail" */
const char *expect_kind_name(enum expect_kind kind);
/* One line without its end: the thing, what is found, what was expected. The caller frees. */
char *expect_finding_str(const struct expect_report *r, const struct expect_finding *f);
/* "leaf36/18 (0x0002c90300001234)" on `out`. */
void expect_write_end(FILE *out, const struct expect_end *e);
/* "4xNDR"; what is not known is left out. */
#define EXPECT_RATE_STRLEN 16
const char *expect_rate_str(struct expect_rate rate, char ret[static EXPECT_RATE_STRLEN]);
