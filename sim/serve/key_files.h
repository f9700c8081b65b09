// SPDX-License-Identifier: BSD-2-Clause
/*
 * Can managers open the ports with what lies on their disks? Their cache folders are followed:
 * after each Set that a device has done, each of them must have the M_Key of that device, and
 * after a file has changed, that of every device; in guid2mkey, or as one that m_key_ring or a seed
 * in ledger.db makes: what a manager tries (sm/base/keys.c).
 * A port with a key and a level above 0 that one of the folders does not open is locked out.
 *
 * What a Set opens is found by sim/key_watch.c.
 */
#pragma once

#include <stdio.h>

#include "sim/sim.h"
#include "util/mem.h"

#define KEY_FOLDERS_MAX 4

struct key_files;

/* Follows these folders from now on; n may be 0: none. Only one at a time of a simulator. */
struct key_files *key_files_new(struct sim *sim, char *const *folders, unsigned n);
/* Accepts NULL. */
struct key_files *key_files_free(struct key_files *k);
FREEP(key_files_free, struct key_files)

/* Other folders; what has been found stays. */
void key_files_follow(struct key_files *k, char *const *folders, unsigned n);
/* How often a port was found locked out that was not before. */
unsigned long long key_files_locked_out(const struct key_files *k);
/* Numbers, and a line for each of the first ports that were locked out. */
void key_files_show(const struct key_files *k, FILE *out);
