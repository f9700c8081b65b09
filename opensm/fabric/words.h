// SPDX-License-Identifier: BSD-2-Clause
/*
 * The text for nodes and ports in logs, status line and console: here, and in no other file. Names
 * are those of the node-name map or, where it has none, descriptions; both are printable.
 */
#pragma once

#include "fabric/fabric.h"

/* The name of an aggregation node after its switch; 64 bytes at most. */
#define AGGREGATION_NAME "%.46s aggregation node"

/* Sets the name from the node-name map (copied); NULL: it has none any more. */
void node_set_alias(struct node *n, const char *alias);

static inline const char *node_name(const struct node *n)
{
	return n->alias ? n->alias : n->desc;
}

/* The LID of the port, as assigned or as in its PortInfo; 0: not known. */
lid_t fabric_lid_of(const struct port *p);

/* "'leaf3' (0x0002c90300a1b2c3)". Returns `ret`. */
#define NODE_STRLEN 96
char *fabric_node_str(const struct node *n, char ret[NODE_STRLEN]);

/*
 * Writes the port with all that helps to find it: "'h3' port 1 (0x...), LID 7, behind 'leaf1' port
 * 5"; "'leaf1' port 5 (0x...), LID 3, cabled to 'h3' port 1"; "'leaf1' (0x...), LID 3" for port 0;
 * "an unknown port" for NULL. Returns `ret`.
 */
#define PLACE_STRLEN 256
char *fabric_place_str(const struct port *p, char ret[PLACE_STRLEN]);
