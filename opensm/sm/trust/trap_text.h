// SPDX-License-Identifier: BSD-2-Clause
/* Traps in words; between traps.c and trap_text.c. */
#pragma once

#include "fabric/words.h"
#include "ib/notices.h"
#include "sm/sm_internal.h"

/*
 * The port at the other end of a directed route that ended at `at` (an end port): `path[0..hops-1]`
 * are the ports through which it came in on its way, as return paths list them. NULL if no cables
 * are known there.
 */
struct port *trap_walk_back(struct port *at, const uint8_t *path, unsigned hops);

/*
 * The end port that sent what traps 256 to 259 complain of, as far as the notice tells; NULL: a
 * port that is not known. *ret_witness: the port whose counter of violations has to grow if that is
 * true and no invention; NULL: the notice is all that there is.
 */
struct port *trap_key_offender(const struct sm *sm, struct port *p, const uint8_t *notice,
			       struct port **ret_witness);

#define TRAP_KEY_STRLEN (4 * PLACE_STRLEN)
/* The text of traps 256 to 259, without any M_Key. `p` sent the notice. */
char *trap_key_text(const struct sm *sm, struct port *p, const uint8_t *notice,
		     char ret[TRAP_KEY_STRLEN]);
