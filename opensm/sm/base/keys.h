// SPDX-License-Identifier: BSD-2-Clause
/*
 * M_Keys: which one each end port is to have, and which ones are tried on a port that does not
 * answer, or hides its key.
 *
 *   options, CACHE/m_key_ring --keys_new()--> ring in force --plan of a run--> ports
 *                                                  ^
 *                       keys_use(), once a new ring is with the standbys and on the disk
 *                       keys_shown(): an epoch of another manager; ports are given no key until
 *                       keys_use() says that it is there, too
 *
 * At the start the ring in force is the one that was kept; options ask for a seed of theirs when
 * the manager is master and has met all ports. Before, a seed that its own port shows is followed.
 *
 * One key for all (m_key_per_port FALSE) is a ring, too, that has that key in front; without any
 * key there is no ring. With m_key_per_port and no ring that could be kept, the ring in force is
 * empty: ports keep the keys that they have.
 */
#pragma once

#include "keys/key_ring.h"
#include "sm/sm.h"

/* Called after lids_new(). */
void keys_new(struct sm *sm, const struct sm_paths *paths);
void keys_free(struct sm *sm);

/* The ring in force; NULL: no port is to have a key. */
const struct key_ring *keys_ring(const struct sm *sm);
/* Has each port a key of its own, made from a seed, or will have once there is a seed? */
bool keys_are_single(const struct sm *sm);
/* keys_ring() for a run that writes keys: empty as long as keys_are_unstored(). */
const struct key_ring *keys_to_write(const struct sm *sm);
/*
 * Has the ring in force an epoch that a port showed, and that no keys_use() of a copy stored yet?
 */
bool keys_are_unstored(const struct sm *sm);
/* The known ring, in force or not; never NULL. */
const struct key_ring *keys_known(const struct sm *sm);
/*
 * The ring that options ask for now, made from the known one; the caller frees. NULL: the known
 * ring is the same, or no port is to have a key. A wrong seed is logged.
 */
struct key_ring *keys_asked_for(struct sm *sm);
/*
 * Writes a ring to CACHE/m_key_ring, from any thread. Returns 0; or -errno, and the old file stays.
 * `path`: keys_path(); NULL: no file is kept.
 */
int keys_store(const char *path, const struct key_ring *ring);
/* Takes over `ring` and has another thread store it; then calls `done` with 0 or -errno. */
void keys_store_later(struct sm *sm, struct key_ring *ring,
		      void (*done)(struct sm *sm, const struct key_ring *ring, int error));
/* Was no ring on the disk at the start? Then the known one is made from options or at random. */
bool keys_are_fresh(const struct sm *sm);
/* Is the known ring on the disk, or is no file kept? */
bool keys_are_kept(const struct sm *sm);
const char *keys_path(const struct sm *sm);
/*
 * Takes over `ring`, which becomes the known one, and is in force if options say so. The caller has
 * stored it, or no port is given a key of it (sm_release_keys()).
 */
void keys_use(struct sm *sm, struct key_ring *ring);
/*
 * keys_use() for a ring that another manager has used, and that is not stored here yet. As MASTER
 * it is not in force yet, but keys of it are tried (keys_later()).
 */
void keys_follow(struct sm *sm, struct key_ring *ring);
/* After each change of state: a manager that left MASTER uses the later epoch at once. */
void keys_state_changed(struct sm *sm);
/* As MASTER: the known ring in a later epoch of another manager; NULL: none was found. */
const struct key_ring *keys_later(const struct sm *sm);
/* Adds to `ring` the seeds and epochs that became known since it was made. True: it has changed. */
bool keys_add_known(const struct sm *sm, struct key_ring *ring);
/* The ring of another manager that is to be stored and put in force here now; NULL: none. */
const struct key_ring *keys_found(const struct sm *sm);

/* The key that the end port is to have; 0: none, or the one it has stays. */
uint64_t keys_wanted(const struct sm *sm, guid_t port_guid);
/*
 * The `nth` key to try on a port, for any `nth`: the likeliest first, and from the first one again
 * after the last. `port_guid` 0: not known. For our own port keys of all later epochs tried are
 * among them, for switches and ports of keys_manager_met() those of the next few; for other hosts
 * none.
 */
uint64_t keys_expected(const struct sm *sm, guid_t port_guid, unsigned nth);
/*
 * Called when a manager that knows our sm_key, a secret, was found on this end port. It may have
 * the ring and rotate keys while it is cut off: then its own port has a key of a later epoch. A
 * master that does not try that key never reaches it: its manager keeps polling that port, so the
 * lease never ends.
 */
void keys_manager_met(struct sm *sm, guid_t port_guid);
/* Was another manager found? It may have given ports keys that are unknown here. */
bool keys_has_managers(const struct sm *sm);
/*
 * May keys be sent to managers that prove to know sm_key and sa_key? Neither is 0 or the well-known
 * 1 then.
 */
bool keys_may_be_sent(const struct sm *sm);
/*
 * With a key for each port: a key besides the first of keys_expected() that the port may have if a
 * manager ended while it wrote keys; 0: none.
 */
uint64_t keys_rival(const struct sm *sm, guid_t port_guid);
/*
 * Is a request of another manager with this key valid for our own port, which has that key, is
 * being given it, or has none?
 */
bool keys_open_own(const struct sm *sm, uint64_t key);
/*
 * Called when a port has shown its key, as it does if asked with it: another manager may have
 * rotated keys meanwhile. The key is believed of our own port, of switches and of ports of
 * keys_manager_met().
 */
void keys_shown(struct sm *sm, guid_t port_guid, uint64_t key);
/*
 * Called when another manager was master, and may have rotated keys, or says that the known ring is
 * in force. Until keys_met() (all ports of a sweep were met), keys of the ring are tried before
 * those of guid2mkey.
 */
void keys_ruled(struct sm *sm);
bool keys_others_ruled(const struct sm *sm);
/*
 * Called as standby before ports are read: keys that the master gave ports some time ago are tried
 * before those that ports had at the last reading.
 */
void keys_look(struct sm *sm);
/* A number that changes whenever other keys become likely; 0: there is no ring. */
uint64_t keys_likely(const struct sm *sm);
/* Did a ring come into force lately, so that only some ports may have keys of it? */
bool keys_may_be_mixed(const struct sm *sm);
void keys_met(struct sm *sm);
/* The number of keys that keys_expected() chooses from. */
unsigned keys_n_expected(const struct sm *sm, guid_t port_guid);
/*
 * Called when a request to the SMA of the port with this key was not answered: it got lost, or the
 * key is wrong. The key known last and the others are tried in turn.
 */
void keys_doubt(struct sm *sm, struct port *p, uint64_t m_key);
/*
 * `nth` of keys_expected() for try number `turn`: likely keys are tried again before each round,
 * and each round has twice as many keys as the one before, as the port may have been silent
 * earlier.
 */
unsigned keys_of_turn(unsigned turn);
/* Called when the port refuses the key: the next one is tried. */
void keys_next(struct sm *sm, struct port *p);
