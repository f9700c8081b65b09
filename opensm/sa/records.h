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
 * Cursor, in q->at: the next LID, the last LID, and two numbers for the type, 0 at the first row of
 * each port.
 */
enum { WALK_LID, WALK_LAST, WALK_OWN, WALK_OWN2, WALK_CURSORS };

/* For start(): walks over the port of the request's LID, or over all ports. Returns 0. */
uint16_t walk_start(struct sa_query *q);
/* walk_start() over end port `port` alone; VIEW_NONE: over none. */
uint16_t walk_start_at(struct sa_query *q, uint32_t port);
/*
 * For next(): calls the type's of_port() for one end port after the other. The LID in the row and
 * q->subject are set already; the type's own numbers are reset while a device is waited for.
 */
enum sa_step walk_next(struct sa_query *q, uint8_t *ret);
/* Moves the cursor past this port: of_port() returns the last row of it, or none. */
void walk_on(struct sa_query *q);
/* The node of an end port. */
static inline const struct view_node *walk_node(const struct sa_query *q, uint32_t end)
{
	return &q->view->nodes[q->view->ports[end].node];
}
