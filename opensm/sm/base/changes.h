// SPDX-License-Identifier: BSD-2-Clause
/*
 * Changes of the fabric, for the log of the master: links that went down or came up, nodes that
 * went or came. events.c tells each change; when reading has settled, a record for each is written,
 * and one for the rest of many at once.
 *
 *   reading: links and nodes are noted --settled--> records; a link of a node that went or came
 *   with it, and what this manager caused itself (a link that is out of use) has none
 *
 * A standby notes and writes nothing: the master does. Nor is the first picture a change.
 */
#pragma once

#include "sm/sm_internal.h"

/* The link at `p` came up, or went down; `far`, `far_port`: its other end. */
void changes_link(struct sm *sm, const struct port *p, guid_t far, unsigned far_port, bool up);
/* The node is about to be removed, or was met for the first time. */
void changes_node_went(struct sm *sm, const struct node *n);
void changes_node_came(struct sm *sm, const struct node *n);
/* Reading has settled: writes the records. */
void changes_settled(struct sm *sm);
