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

struct keys;

/* Behind lids_new(). */
void keys_new(struct sm *sm, const struct sm_paths *paths);
void keys_free(struct sm *sm);

/* NULL: no port is to have a key. */
const struct key_ring *keys_ring(const struct sm *sm);
/* Ports have a key each, made from a seed, or are to have one once there is a seed. */
bool keys_are_single(const struct sm *sm);
/* The same for a run that writes keys: empty as long as keys_are_unstored(). */
const struct key_ring *keys_to_write(const struct sm *sm);
/* The ring in force has an epoch that a port showed, and is not stored: keys_use() of a copy. */
bool keys_are_unstored(const struct sm *sm);
/* The ring known from before, in force or not; never NULL. */
const struct key_ring *keys_known(const struct sm *sm);
/*
 * The ring that options ask for now, made of the one that is known; the caller frees. NULL: the
 * known one is that, or no port is to have a key. What is wrong with the seed is logged.
 */
struct key_ring *keys_asked_for(struct sm *sm);
/*
 * Writes a ring to CACHE/m_key_ring, from any thread: 0, or -errno, and the old one stays. `path`
 * is that of keys_path(); NULL: nothing is kept.
 */
int keys_store(const char *path, const struct key_ring *ring);
/* Takes over `ring`. Another thread stores it; then `done` is told: 0 or -errno. */
void keys_store_later(struct sm *sm, struct key_ring *ring,
		      void (*done)(struct sm *sm, const struct key_ring *ring, int error));
/* No ring was on the disk when this process started: the known one is of options, or drawn. */
bool keys_are_fresh(const struct sm *sm);
/* The known ring is on the disk, or nothing is kept. */
bool keys_are_kept(const struct sm *sm);
const char *keys_path(const struct sm *sm);
/*
 * Takes over `ring`: it is known, and in force if options say so. It is stored, or no port is given
 * a key of it (sm_release_keys()).
 */
void keys_use(struct sm *sm, struct key_ring *ring);
/*
 * The same, and another manager has ruled with it: it is not stored here yet. As MASTER: not in
 * force yet, but keys of it are tried (keys_later()).
 */
void keys_follow(struct sm *sm, struct key_ring *ring);
/* The state has changed: a manager that is not MASTER any more uses the later epoch at once. */
void keys_state_changed(struct sm *sm);
/* As MASTER: the known ring in a later epoch of another manager; NULL: none was met. */
const struct key_ring *keys_later(const struct sm *sm);
/* Adds to `ring` seeds and epochs that have become known since it was made. True: it changes. */
bool keys_add_known(const struct sm *sm, struct key_ring *ring);
/* The ring of another manager that is to be stored, and put in force, here and now; NULL: none. */
const struct key_ring *keys_found(const struct sm *sm);

/* The key that the end port is to have; 0: none, or the one it has stays. */
uint64_t keys_wanted(const struct sm *sm, guid_t port_guid);
/*
 * The `nth` key to try on a port, which may be any number: the likeliest first, and from the
 * beginning again. `port_guid` 0: not known. Of our own port the keys of epochs to come are among
 * these, of switches and of keys_manager_met() those of the next few; of other hosts none.
 */
uint64_t keys_expected(const struct sm *sm, guid_t port_guid, unsigned nth);
/*
 * A manager that knows our sm_key, which is a secret, was met on this end port. It may have the
 * ring, and rotates keys if it is cut off from the others: then its own port has one of an epoch to
 * come, and a master that does not try that reaches it never, as its manager asks it all the time,
 * and the lease does not end.
 */
void keys_manager_met(struct sm *sm, guid_t port_guid);
/* Another manager was met: it may have given ports keys that are not known here. */
bool keys_has_managers(const struct sm *sm);
/*
 * Keys may be sent to managers that prove to know sm_key and sa_key: no stranger knows these, as
 * neither is 0, or the well-known 1.
 */
bool keys_may_be_sent(const struct sm *sm);
/*
 * With a key for each port: another key than the first of keys_expected() that the port may have,
 * if a manager ended while it wrote keys. 0: none.
 */
uint64_t keys_rival(const struct sm *sm, guid_t port_guid);
/*
 * A request of another manager with this key is for us: our own port has it or is given it, as far
 * as known, or has none.
 */
bool keys_open_own(const struct sm *sm, uint64_t key);
/*
 * The port has shown its key, as it does when asked with it: another manager may have rotated keys
 * while this one was away, or could not reach it. That is believed of our own port, of switches and
 * of keys_manager_met().
 */
void keys_shown(struct sm *sm, guid_t port_guid, uint64_t key);
/*
 * Another manager has ruled, and may have rotated keys, or says that the known ring is in force.
 * Until keys_met(), which all ports of a sweep are, keys that the ring makes are tried before what
 * guid2mkey says.
 */
void keys_ruled(struct sm *sm);
bool keys_others_ruled(const struct sm *sm);
/*
 * As standby, before ports are looked at: the keys that the master was to give them some time ago
 * are tried before those that they had at the last look.
 */
void keys_look(struct sm *sm);
/* A number that changes when other keys are likely than before; 0: there is no ring. */
uint64_t keys_likely(const struct sm *sm);
/* A ring came into force lately: some ports may have keys of it already, and others not yet. */
bool keys_may_be_mixed(const struct sm *sm);
void keys_met(struct sm *sm);
/* Of how many keys keys_expected() chooses. */
unsigned keys_n_expected(const struct sm *sm, guid_t port_guid);
/*
 * A question to the SMA of the port with this key was not answered: it got lost, or the key is
 * another. The key that was known last and the others are tried in turn.
 */
void keys_doubt(struct sm *sm, struct port *p, uint64_t m_key);
/*
 * `nth` of keys_expected() for each try: likely keys are tried again before each round that goes
 * twice as far as the one before, as the port may have been silent when they were tried.
 */
unsigned keys_of_turn(unsigned turn);
/* The key of the port is another: the next one is tried. */
void keys_next(struct sm *sm, struct port *p);
