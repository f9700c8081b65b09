// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the topology records share: walking end ports by LID, and the port a request names.
 */
#pragma once

#include "sa/impl.h"

/*
 * Cursor of a walk over end ports in order of their base LIDs, in q->at[0..1]: the LID to look at
 * next, and the last one. A request that names a LID (of any port's LMC range) walks over one port.
 */
enum { WALK_LID, WALK_LAST, WALK_OWN }; /* WALK_OWN..: the type's */

/* Begins the walk; component 0 is the LID, its value `lid`. Always 0, as a start() returns it. */
uint16_t walk_start(struct sa_query *q, bool given, lid_t lid);
/* The end port at the cursor; VIEW_NONE: no more. It stays there until walk_on(). */
uint32_t walk_port(struct sa_query *q);
void walk_on(struct sa_query *q);
/* start() of types whose component 0 is a LID in the first two bytes of the record. */
uint16_t walk_start_lid(struct sa_query *q);
/* match() of the same: the walk has seen to component 0. */
bool walk_match_lid(const struct sa_query *q, const uint8_t *row, uint64_t *ret_done);
