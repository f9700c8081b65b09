// SPDX-License-Identifier: BSD-2-Clause
/* A topofile while it is being read: nodes by the names that cables refer to. */
#pragma once

#include "conf/text/lines.h"
#include "topo/topofile.h"

/* A line about a port with a cable; all lines about one port have to agree. */
struct topofile_claim {
	struct topofile_port port; /* .node: id of its node */
	uint32_t peer_id;
	uint8_t peer_number;
	guid_t peer_guid; /* port GUID of a CA or router; 0: not given */
	lid_t peer_lid;
	unsigned line;
};

struct topofile_draft {
	struct topofile_node node;
	uint32_t id;
	unsigned line;
	bool grows; /* set if the kind of file does not give the number of ports */
};

struct topofile_reader {
	const char *path;
	struct conf_report *report;
	struct topofile_draft *drafts;
	size_t n_drafts, cap_drafts;
	struct topofile_claim *claims;
	size_t n_claims, cap_claims;
	char **ids;	    /* interned names */
	uint32_t *draft_of; /* by id; TOPO_NONE: none */
	size_t n_ids, cap_ids, cap_draft_of;
	uint32_t *slots; /* hash table of ids */
	size_t n_slots;
	struct topofile_node ahead; /* values from lines before the one that begins a node */
	/* Next GUID by topofile_type, for nodes without one, as ibsim counts; 0: the first. */
	guid_t next_guid[3];
	uint32_t current; /* draft whose port lines follow; TOPO_NONE: none */
	bool lmc_unknown;
};

/* The number of a name; equal texts have equal numbers. */
uint32_t topofile_id(struct topofile_reader *t, const char *text, size_t len);
/*
 * Adds a node with name `id`, and takes over node->name. False: the name is in use, and a finding
 * was added.
 */
bool topofile_add_node(struct topofile_reader *t, const struct topofile_node *node, uint32_t id,
		       bool grows, const struct conf_place *at);
struct topofile_claim *topofile_add_claim(struct topofile_reader *t);
/* An error at `p` (into the line): "TEXT; expected EXPECTED; the file is not used". */
void topofile_expected(struct topofile_reader *t, const struct line *line, const char *p,
		       const char *expected);
/* Splits "4xSDR", "4x" into width and speed; other text leaves both unchanged. */
void topofile_rate(char *text, struct topofile_port *port);
char *topofile_clean_name(const char *text, size_t len);

/* Reads a line of `ibnetdiscover -p`, or of opensm-subnet.lst. False: it is neither. */
bool topofile_ports_line(struct topofile_reader *t, struct line *line);
bool topofile_lst_line(struct topofile_reader *t, struct line *line);
/* Nodes in order, cables with both ends; NULL: contradictions. Empties the reader. */
struct topofile *topofile_join(struct topofile_reader *t);
