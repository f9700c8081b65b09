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
 * The ring of all rows; the caller frees. `*ret_in_force`: its first seed is the one in force, and
 * not merely one that some manager knows. Empty without rows.
 */
struct key_ring *key_seeds_ring(const struct sm *sm, bool *ret_in_force);
/*
 * The same of rows that other managers wrote, for the start: this one may have ended before what it
 * wrote came into force.
 */
struct key_ring *key_seeds_of_others(const struct sm *sm);

/* The first seed of the ring has a row. */
bool key_seeds_have(const struct sm *sm, const struct key_ring *ring);

/* The greatest number of a row of a seed. */
uint64_t key_seeds_number(const struct sm *sm);

/*
 * Epochs of the ring's seeds are at least those of their rows: a seed that was in use before the
 * last KEY_RING_SEEDS goes on in its epoch.
 */
void key_seeds_raise(const struct sm *sm, struct key_ring *ring);

/* How seeds of a ring are written. */
enum key_seeds_use {
	SEEDS_IN_FORCE, /* the first one is in force */
	SEEDS_KNOWN,	/* none of them need be */
};
/* Writes what rows lack of the ring; `done` is told then. False: they lack nothing. */
bool key_seeds_write(struct sm *sm, const struct key_ring *ring, enum key_seeds_use use,
		     settle_done_fn *done, void *arg);
