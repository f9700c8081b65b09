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

/* The expectation about a cable: it has to be up, it has to be absent, or either. */
enum expect_use { EXPECT_UP, EXPECT_OFF, EXPECT_EITHER };

/* Lanes, and tenths of Gb/s of each (struct ib_speed); 0: not known. */
struct expect_rate {
	uint8_t width;
	uint16_t speed;
};

/* The present rate of the link of a PortInfo, and its best one; `most`: its node's speed sets. */
struct expect_rate expect_rate_of(const uint8_t *port_info, enum ib_speed_set most);
struct expect_rate expect_best_of(const uint8_t *port_info, enum ib_speed_set most);

struct expect_node {
	guid_t guid, sysimg_guid;
	enum expect_type type;
	const char *name;	      /* "": no name */
	uint32_t first_port, n_ports; /* its rows in expect->ports, numbers ascending */
	uint8_t size;		      /* number of ports; 0: not known */
};

/* A port with a cable. */
struct expect_port {
	guid_t guid;	     /* port GUID of a CA; 0: not known */
	uint32_t node, peer; /* peer: row of the other end */
	uint8_t number;
	enum expect_use use;
	struct expect_rate rate, best; /* present rate; best rate that the port supports */
};

struct expect {
	struct expect_node *nodes; /* sorted by GUID, then type */
	struct expect_port *ports; /* sorted by node, then number */
	uint32_t n_nodes, n_ports;
	struct arena names;
	/*
	 * Hash table of names, for a picture that has no GUIDs but different names: nodes, or
	 * TOPO_NONE. NULL: nodes have GUIDs.
	 */
	uint32_t *slots;
	uint32_t n_slots;
};

struct expect_builder;
struct expect_builder *expect_builder_new(void);
struct expect_builder *expect_builder_free(struct expect_builder *b);
FREEP(expect_builder_free, struct expect_builder)
/* Adds a node. Returns its number for expect_add_cable(). Copies the name, ignores first_port. */
uint32_t expect_add_node(struct expect_builder *b, const struct expect_node *node);
/*
 * Adds a cable between two ports, whose .peer is ignored. Of several cables at a port the first one
 * is used; a cable from a port to itself is ignored.
 */
void expect_add_cable(struct expect_builder *b, const struct expect_port *one,
		      const struct expect_port *two);
/* Makes the picture and frees the builder. */
struct expect *expect_build(struct expect_builder *b);
struct expect *expect_free(struct expect *x);
FREEP(expect_free, struct expect)
/* The row of a port; TOPO_NONE: it has no cable. */
uint32_t expect_find_port(const struct expect *x, uint32_t node, uint8_t number);
/* The first node with this GUID; TOPO_NONE: none. */
uint32_t expect_find_node(const struct expect *x, guid_t guid);
/* The number of cables that have to be up. */
uint32_t expect_count_cables(const struct expect *x);
/*
 * Returns `x`, or a new picture in its place (`x` is freed). In it port 1 of a GUID that is a port
 * GUID of a CA of `other`, and no node's, is that port of that CA, as in lines of NVIDIA's CSV. If
 * `x` has names alone, nodes that `other` has get their GUIDs and descriptions.
 */
struct expect *expect_resolve(struct expect *x, const struct expect *other);

/* --- Nodes that are known by name (expect_resolve.c) ---------------------------------------- */

#define EXPECT_CALLED_MAX 160
/* Writes the name of a board of a system; board "": of the system. False: too long. */
bool expect_called(char ret[EXPECT_CALLED_MAX], const char *system, size_t len, const char *board);
/*
 * The name of a board by a description: "h1 HCA-2" is h1/U2, "MF0;core1:CS7500/L01/U1" core1/L01.
 * False: it is no such description, or too long.
 */
bool expect_called_label(char ret[EXPECT_CALLED_MAX], const char *label);
/* Finds a node in the picture by its GUID or, if that has names alone, by name; TOPO_NONE: none. */
uint32_t expect_seek(const struct expect *x, guid_t guid, guid_t sysimg, const char *name);
/* A number in place of the GUID of the i-th node of a picture with names; no device has it. */
guid_t expect_number_guid(uint32_t i);
bool expect_guid_is_number(guid_t guid);
void expect_index_names(struct expect *x);

struct expect *expect_dup(const struct expect *x);
/* expect_resolve() as a new picture; NULL: nothing would change. */
struct expect *expect_resolved(const struct expect *x, const struct expect *other);

/* --- One cable ------------------------------------------------------------------------------ */

/* Faults of a cable that was found, as a bit mask. */
enum expect_flaw {
	EXPECT_FLAW_LINK = 1, /* it is not expected, or has to be absent */
	/* it is expected but for the GUID of one node, which is absent */
	EXPECT_FLAW_NODE = 2,
	EXPECT_FLAW_PORT_GUID = 4, /* it is expected with another port GUID */
	EXPECT_FLAW_NAME = 8,	   /* it is expected with another description */
	EXPECT_FLAW_RATE = 16	   /* it is slower than expected */
};

struct expect_seen {
	guid_t node, port_guid; /* port_guid: of a CA; 0: none */
	guid_t system;		/* SystemImageGUID; 0: not known */
	uint32_t at;		/* index of the node, by expect_seek() */
	enum expect_type type;
	const char *name;
	uint8_t port;
};

struct expect_question {
	struct expect_seen end[2];
	struct expect_rate rate;
	bool by_name; /* set if a node is matched with an absent one by its description */
	bool (*is_there)(void *arg, guid_t node);
	void *arg;
};

/*
 * Compares a cable of the fabric with the expected ones. Returns its differences, a bit mask of
 * enum expect_flaw; 0: it is as expected. O(log ports).
 */
unsigned expect_judge(const struct expect *want, const struct expect_question *q);
/* The switch port at which this port is expected. False: no such cable is expected. */
bool expect_home(const struct expect *want, const struct expect_seen *end, guid_t *ret_switch,
		 uint8_t *ret_port);

/* --- The comparison ------------------------------------------------------------------------- */

enum expect_kind {
	EXPECT_DUPLICATE_GUID, /* node: the GUID; changes: the places where it is */
	EXPECT_TYPE_CHANGED,   /* node; want_type, have_type */
	EXPECT_REPLACED_HCA,   /* node was replaced by other */
	EXPECT_REPLACED_SWITCH,
	EXPECT_SWAPPED_NODES, /* node and other have exchanged their places */
	EXPECT_SWAPPED,	      /* changes: each of the cables */
	EXPECT_WRONG_RAIL,    /* changes: ports of one host */
	EXPECT_SHIFTED,	      /* changes: cables of `node`, ports from..to, shifted by step */
	EXPECT_MOVED,	      /* one change */
	EXPECT_MISSING,	      /* one change without .is; n_nodes behind it are missing */
	/* node, and n_nodes with it; changes: cables to it from nodes that are found */
	EXPECT_MISSING_NODE,
	EXPECT_EXTRA, /* one change without .was */
	/* node, and n_nodes with it; changes: cables to it, and those expected there */
	EXPECT_UNKNOWN_NODE,
	EXPECT_DEGRADED,  /* one change without .is; want, have */
	EXPECT_PORT_GUID, /* node: the port; other: the GUID found, in .guid */
	EXPECT_RENAMED,	  /* node; other: with the name found */
	EXPECT_KINDS
};

/* A port, or a node (port 0). GUID 0: none. Names belong to the pictures. */
struct expect_end {
	guid_t guid;
	const char *name;
	uint8_t port;
};

/* Port `at` leads to `is`, and was expected to lead to `was`. */
struct expect_change {
	struct expect_end at, was, is;
};

struct expect_finding {
	enum expect_kind kind;
	struct expect_end node, other;
	uint32_t first_change, n_changes; /* index in report->changes */
	uint32_t n_nodes;		  /* nodes that are missing or not expected */
	enum expect_type want_type, have_type;
	struct expect_rate want, have;
	bool by_ends;	  /* set if .want is the best that both ends support */
	bool forbidden;	  /* set if the cable has to be absent */
	uint8_t from, to; /* range of ports */
	guid_t port_guid; /* expected port GUID */
	int step;
};

struct expect_report {
	struct expect_finding *findings; /* sorted by kind, then place */
	uint32_t n_findings;
	size_t cap_findings;
	struct expect_change *changes;
	uint32_t n_changes;
	size_t cap_changes;
};

/* Compares two pictures, which must stay valid as long as the report. */
struct expect_report *expect_compare(const struct expect *want, const struct expect *have);
/*
 * Adds findings about ports of the same nodes: another port GUID, another description. A finding
 * has the same key in each comparison: expect_finding_key().
 */
void expect_check_names(struct expect_report *r, const struct expect *want,
			const struct expect *have, bool port_guids, bool names);
uint64_t expect_finding_key(const struct expect_report *r, const struct expect_finding *f);
/*
 * A new picture: `want` with this finding accepted, that is with its ports as in `have`; NULL
 * finding: all as in `have`.
 */
struct expect *expect_accept(const struct expect *want, const struct expect *have,
			     const struct expect_report *r, const struct expect_finding *f);
struct expect_report *expect_report_free(struct expect_report *r);
FREEP(expect_report_free, struct expect_report)

/* Text such as "wrong rail". */
const char *expect_kind_name(enum expect_kind kind);
/* One line without its end: the thing, what is found, what was expected. The caller frees. */
char *expect_finding_str(const struct expect_report *r, const struct expect_finding *f);
/* Writes "leaf36/18 (0x0002c90300001234)" to `out`. */
void expect_write_end(FILE *out, const struct expect_end *e);
/* Writes "4xNDR"; unknown parts are left out. Returns `ret`. */
#define EXPECT_RATE_STRLEN 16
const char *expect_rate_str(struct expect_rate rate, char ret[static EXPECT_RATE_STRLEN]);
