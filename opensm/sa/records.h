// SPDX-License-Identifier: BSD-2-Clause
/*
 * The walk over end ports that the topology records share.
 *
 * Ports come in order of their base LIDs. A request that names a LID (of any port's LMC range)
 * walks over one port. Component 0 of these records is the LID, in their first 16 bits.
 */
#pragma once

#include "sa/base/sa_internal.h"

/*
 * Cursor, in q->at: the LID to look at next, the last one, and two numbers of the type's own, 0 at
 * each port's first row.
 */
enum { WALK_LID, WALK_LAST, WALK_OWN, WALK_OWN2, WALK_CURSORS };

/* start(): over the port of the request's LID, or over all. Always 0. */
uint16_t walk_start(struct sa_query *q);
/* The same over end port `port` alone; VIEW_NONE: over none. */
uint16_t walk_start_at(struct sa_query *q, uint32_t port);
/*
 * next(): asks the type's of_port() for the rows of one end port after the other. The LID is in the
 * row and q->subject is the port already; the type's own numbers go back when a device is waited
 * for.
 */
enum sa_step walk_next(struct sa_query *q, uint8_t *ret);
/* Leaves the port at the cursor: of_port() gives the last row of it, or none. */
void walk_on(struct sa_query *q);
/* The node of an end port. */
static inline const struct view_node *walk_node(const struct sa_query *q, uint32_t end)
{
	return &q->view->nodes[q->view->ports[end].node];
}
