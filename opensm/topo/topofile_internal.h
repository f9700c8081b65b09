// SPDX-License-Identifier: BSD-2-Clause
/* A topofile while it is read: nodes by the names that cables refer to. */
#pragma once

#include "conf/text/lines.h"
#include "topo/topofile.h"

/* One line about a port with a cable; rows of the same port have to agree. */
struct topofile_claim {
	struct topofile_port port; /* .node: the id of the node it is on */
	uint32_t peer_id;
	uint8_t peer_number;
	guid_t peer_guid;          /* of a CA or router; 0: not said */
	lid_t peer_lid;
	unsigned line;
};

struct topofile_draft {
	struct topofile_node node;
	uint32_t id;
	unsigned line;
	bool grows;                /* the kind of file does not say how many ports there are */
};

struct topofile_reader {
	const char *path;
	struct conf_report *report;
	struct topofile_draft *drafts;
	size_t n_drafts, cap_drafts;
	struct topofile_claim *claims;
	size_t n_claims, cap_claims;
	char **ids;                /* interned */
	uint32_t *draft_of;        /* per id; TOPO_NONE */
	size_t n_ids, cap_ids, cap_draft_of;
	uint32_t *slots;           /* hash of ids */
	size_t n_slots;
	struct topofile_node ahead; /* values from before the line that begins a node */
	/* by topofile_type: for nodes that are given none, as ibsim counts; 0: its beginning */
	guid_t next_guid[3];
	uint32_t current;          /* draft whose port lines follow; TOPO_NONE */
	bool lmc_unknown;
};

/* The number of a name, the same for the same text. */
uint32_t topofile_id(struct topofile_reader *t, const char *text, size_t len);
/*
 * A new node with name `id`; false: the name is taken, and a finding was added. Takes over
 * node->name.
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

/*
 * The lines of `ibnetdiscover -p` and of opensm-subnet.lst. Returns false if the line is neither.
 */
bool topofile_ports_line(struct topofile_reader *t, struct line *line);
bool topofile_lst_line(struct topofile_reader *t, struct line *line);
/* Nodes in order, cables with both ends; NULL: contradictions. Empties the reader. */
struct topofile *topofile_join(struct topofile_reader *t);
