// SPDX-License-Identifier: BSD-2-Clause
/*
 * Can managers open the ports with the contents of their disks? Their cache folders are followed:
 * after each Set that a device has executed, each folder must have the M_Key of that device, and
 * after a file has changed, the M_Key of every device: in guid2mkey, or derived from m_key_ring or
 * a seed in ledger.db, as a manager tries them (sm/base/keys.c). A port with a key and a level
 * above 0 that one of the folders does not open is locked out.
 *
 * What a Set opens is found by sim/key_watch.c.
 */
#pragma once

#include <stdio.h>

#include "sim/sim.h"
#include "util/mem.h"

#define KEY_FOLDERS_MAX 4

struct key_files;

/* Follows these folders; n may be 0: none. Only one at a time for a simulator. */
struct key_files *key_files_new(struct sim *sim, char *const *folders, unsigned n);
/* Accepts NULL. */
struct key_files *key_files_free(struct key_files *k);
FREEP(key_files_free, struct key_files)

/* Follows other folders; results are kept. */
void key_files_follow(struct key_files *k, char *const *folders, unsigned n);
/* Number of times that a port became locked out. */
unsigned long long key_files_locked_out(const struct key_files *k);
/* Prints numbers, and a line for each of the first ports that were locked out. */
void key_files_show(const struct key_files *k, FILE *out);
