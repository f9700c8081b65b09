// SPDX-License-Identifier: BSD-2-Clause
/* Traps in words; between traps.c and trap_text.c. */
#pragma once

#include "fabric/words.h"
#include "ib/notices.h"
#include "sm/sm_internal.h"

/*
 * The port at the other end of a directed route that ended at end port `at`. `path[0..hops-1]`: the
 * ports through which it came in, in the order of a return path. NULL: no cables are known there.
 */
struct port *trap_walk_back(struct port *at, const uint8_t *path, unsigned hops);

/*
 * The end port that sent the packets which traps 256 to 259 complain of, as far as the notice
 * tells; NULL: an unknown port. *ret_witness: the port whose violation counter must have grown if
 * the notice is true; NULL: there is no such counter.
 */
struct port *trap_key_offender(const struct sm *sm, struct port *p, const uint8_t *notice,
			       struct port **ret_witness);

#define TRAP_KEY_STRLEN (4 * PLACE_STRLEN)
/* Writes the text of traps 256 to 259, without any M_Key. `p`: sender of the notice. */
char *trap_key_text(const struct sm *sm, struct port *p, const uint8_t *notice,
		    char ret[TRAP_KEY_STRLEN]);
