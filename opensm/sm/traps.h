// SPDX-License-Identifier: BSD-2-Clause
/* Traps in words; between traps.c and trap_words.c. */
#pragma once

#include "ib/notices.h"
#include "sm/impl.h"

#define TRAP_WHO_STRLEN (2 * PORT_STRLEN + 32)
/* "'h5' port 1 (0x...), LID 9, at 'leaf1' port 3 (0x...)"; "an unknown port" for NULL. */
char *trap_who(const struct port *p, char ret[TRAP_WHO_STRLEN]);

/*
 * Who is at the other end of a directed route that ended at `at` (an end port): `path[0..hops-1]` are the
 * ports through which it came in on its way, as return paths list them. NULL if no cables are known there.
 */
struct port *trap_walk_back(struct port *at, const uint8_t *path, unsigned hops);

#define TRAP_KEY_STRLEN (4 * TRAP_WHO_STRLEN)
/* What traps 256 to 259 say, with no key of ours in it. `p` sent the notice. */
char *trap_key_words(const struct sm *sm, struct port *p, const uint8_t *notice,
		     char ret[TRAP_KEY_STRLEN]);
