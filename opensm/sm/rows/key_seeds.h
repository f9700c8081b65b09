// SPDX-License-Identifier: BSD-2-Clause
/*
 * Seeds of M_Keys as rows of the ledger (LEDGER_SEED), and the ring that they are.
 *
 *   digest of the seed -> seed (32), epoch (4), turn (8)
 *
 * Epoch 0: one key for all ports, in place of a seed. The turn says when the seed was taken into
 * use last: the seed with the greatest one is in force, those behind it are former ones, in this
 * order. With turn 0 it never was: a manager knows it of its own options. So an epoch of a former
 * seed that a port shows can be written down without bringing the seed into force.
 *
 * Of values that did not know each other the one with the later epoch counts: ports may have keys
 * of it.
 */
#pragma once

#include "keys/key_ring.h"
#include "sm/ledger/settle.h"

/*
 * The ring of all rows, empty without rows; the caller frees. `*ret_in_force`: is its first seed in
 * force, and not merely known to some manager?
 */
struct key_ring *key_seeds_ring(const struct sm *sm, bool *ret_in_force);
/*
 * key_seeds_ring() of rows that other managers wrote, for the start: this one may have ended before
 * what it wrote came into force.
 */
struct key_ring *key_seeds_of_others(const struct sm *sm);

/* Has the first seed of the ring a row? */
bool key_seeds_have(const struct sm *sm, const struct key_ring *ring);

/* The greatest number of a row of seeds. */
uint64_t key_seeds_number(const struct sm *sm);

/*
 * Raises epochs of the ring's seeds to those of their rows: a seed that was in use before the last
 * KEY_RING_SEEDS continues in its epoch.
 */
void key_seeds_raise(const struct sm *sm, struct key_ring *ring);

/* The state in which seeds of a ring are written. */
enum key_seeds_use {
	SEEDS_IN_FORCE, /* the first seed is in force */
	SEEDS_KNOWN,	/* no seed need be in force */
};
/* Writes rows that lack something of the ring, then calls `done`. False: no row lacks anything. */
bool key_seeds_write(struct sm *sm, const struct key_ring *ring, enum key_seeds_use use,
		     settle_done_fn *done, void *arg);
