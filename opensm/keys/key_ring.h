// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ring of seeds from which the M_Keys of single ports are made.
 *
 *   key = first 8 bytes of HMAC-SHA-256(seed, "opensm" || class || port GUID || epoch)
 *
 * (never 0, never all ones). A port key that leaked gives neither the seed nor another key. The
 * first seed is in use, with its epoch; each rotation is the next epoch. Seeds behind it were in
 * use before: ports that were away since hold keys of theirs, or of a former epoch. In place of a
 * seed there may be one key for all ports (m_key without m_key_per_port), which has no epochs.
 *
 * A ring is made, changed, and put in force as a whole: standbys have it, and the file that keeps
 * it is written, before a port is given a key of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/mem.h"
#include "util/types.h"

#define KEY_SEED_BYTES	32
#define KEY_RING_SEEDS	8
/* Most keys that key_ring_former() returns. */
#define KEY_RING_FORMER 16
#define KEY_SEED_SENT	(KEY_SEED_BYTES + 4)
#define KEY_RING_TEXT	4096 /* bytes of a text at most */

struct key_seed {
	uint8_t bytes[KEY_SEED_BYTES];
};

/* The seed that option m_key is, for ports with keys of their own. */
void key_seed_of_number(uint64_t m_key, struct key_seed *ret);
/* Reads 64 hexadecimal digits with blanks around them. False: other text. */
bool key_seed_parse(const char *text, struct key_seed *ret);

/* The first 8 bytes of HMAC-SHA-256: made from a seed, or tells whether two secrets differ. */
uint64_t key_digest(const struct key_seed *seed, const void *bytes, size_t len);

struct key_ring;

/* A ring without a seed, one reference. Only a ring with one reference may be changed. */
struct key_ring *key_ring_new(void);
struct key_ring *key_ring_copy(const struct key_ring *r);
/* Both accept NULL. Releasing the last reference overwrites the seeds. */
struct key_ring *key_ring_ref(const struct key_ring *r);
struct key_ring *key_ring_unref(const struct key_ring *r);
FREEP(key_ring_unref, struct key_ring)

bool key_ring_is_empty(const struct key_ring *r);
/*
 * Puts the seed in use, in its former epoch if the ring has it, else in epoch 1; of more than
 * KEY_RING_SEEDS the oldest is dropped. True: another seed was in use before.
 */
bool key_ring_use(struct key_ring *r, const struct key_seed *seed);
/* key_ring_use() of one key for all ports, not 0. */
bool key_ring_use_shared(struct key_ring *r, uint64_t m_key);
/* Is one key for all ports in use? */
bool key_ring_is_shared(const struct key_ring *r);
/* Begins the next epoch. False: no seed is in use, or no epoch is left. */
bool key_ring_turn(struct key_ring *r);
/* The epoch of the seed in use; 0: no seed, or one key for all ports. */
uint32_t key_ring_epoch(const struct key_ring *r);

#define KEY_CLASS_SMP 0x01
#define KEY_CLASS_CC  0x21
/*
 * The key of the port for MADs of another class than SMPs, `back` epochs ago; the ring must have a
 * seed. 0: there was no such epoch.
 */
uint64_t key_ring_class_key(const struct key_ring *r, uint8_t mad_class, guid_t port_guid,
			    uint32_t back);
/* The key of the port; the ring must have a seed. */
uint64_t key_ring_key(const struct key_ring *r, guid_t port_guid);
/* The key of the port `ahead` epochs later. */
uint64_t key_ring_key_ahead(const struct key_ring *r, guid_t port_guid, uint32_t ahead);
/*
 * Fills in at most `max` keys that the port may hold from before, the likeliest first: of the last
 * epoch, of former seeds, and of older epochs. Returns their number.
 */
unsigned key_ring_former(const struct key_ring *r, guid_t port_guid, uint64_t ret[KEY_RING_FORMER],
			 unsigned max);

/* The key of the port by former seed `nth` (from 0), `ahead` epochs later; 0: no such seed. */
uint64_t key_ring_former_ahead(const struct key_ring *r, unsigned nth, guid_t port_guid,
			       uint32_t ahead);

/*
 * The key of the port in the epoch after that of `key`, which the port had when it went away,
 * perhaps many rotations ago; takes a microsecond per epoch. 0: `key` is in force, or of none of
 * the last 256 epochs of a seed.
 */
uint64_t key_ring_after(const struct key_ring *r, guid_t port_guid, uint64_t key);

/*
 * Searches the `ahead` epochs after the last known one of each seed for the key that the port has;
 * takes a microsecond each. True: another manager has rotated keys, and the epoch found is the last
 * known one now.
 */
bool key_ring_find(struct key_ring *r, guid_t port_guid, uint64_t key, uint32_t ahead);

/*
 * Puts the former seed in use by whose last known epoch the port has this key. False: there is
 * none.
 */
bool key_ring_use_of(struct key_ring *r, guid_t port_guid, uint64_t key);

/* Appends the seeds of `other` that the ring lacks; takes later epochs over. True: it changed. */
bool key_ring_merge(struct key_ring *r, const struct key_ring *other);
/*
 * Appends the seeds of `other` that the ring lacks; the last one of a full ring is dropped. The
 * seed in use stays, in its epoch. True: it changed.
 */
bool key_ring_keep(struct key_ring *r, const struct key_ring *other);
/*
 * Writes seed `nth` (0: in use) and its epoch (0: one key for all ports) for another manager;
 * secret. False: no such seed.
 */
bool key_ring_at(const struct key_ring *r, unsigned nth, uint8_t ret[KEY_SEED_SENT]);
/* Appends the seed that key_ring_at() wrote, or takes its later epoch. True: it is new. */
bool key_ring_take(struct key_ring *r, const uint8_t sent[KEY_SEED_SENT]);
/* Do ports get the same keys from both? */
bool key_ring_is_alike(const struct key_ring *a, const struct key_ring *b);
/* A hash: equal for equal rings only; it tells nothing of the seeds. */
uint64_t key_ring_mark(const struct key_ring *r);

/* The secret text that is kept and sent. The caller frees. */
char *key_ring_text(const struct key_ring *r, size_t *ret_len);
/* A text with `lines`, of any content, between its head and its check line; for tests. */
char *key_ring_sealed(const char *lines, size_t len, size_t *ret_len);
/* 0, or -EBADMSG: no text of key_ring_text(), or damaged. Nothing of it is ever logged. */
int key_ring_read(const char *text, size_t len, struct key_ring **ret);
