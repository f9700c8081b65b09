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
/* Keys that key_ring_former() gives at most. */
#define KEY_RING_FORMER 16
#define KEY_SEED_SENT	(KEY_SEED_BYTES + 4)
#define KEY_RING_TEXT	4096 /* bytes of a text at most */

struct key_seed {
	uint8_t bytes[KEY_SEED_BYTES];
};

/* The seed that option m_key is, for ports with keys of their own. */
void key_seed_of_number(uint64_t m_key, struct key_seed *ret);
/* 64 hexadecimal digits, blanks around them. False: something else. */
bool key_seed_parse(const char *text, struct key_seed *ret);

/* The first 8 bytes of HMAC-SHA-256: what is made of a seed, or says that two secrets differ. */
uint64_t key_digest(const struct key_seed *seed, const void *bytes, size_t len);

struct key_ring;

/* Without a seed; one reference. Only a ring with one reference may be changed. */
struct key_ring *key_ring_new(void);
struct key_ring *key_ring_copy(const struct key_ring *r);
/* Accept NULL. The last reference overwrites what it holds. */
struct key_ring *key_ring_ref(const struct key_ring *r);
struct key_ring *key_ring_unref(const struct key_ring *r);
FREEP(key_ring_unref, struct key_ring)

bool key_ring_is_empty(const struct key_ring *r);
/*
 * The seed is in use from now on, in its former epoch if the ring has it, else in epoch 1; the
 * oldest of more than KEY_RING_SEEDS is dropped. True: another one was in use before.
 */
bool key_ring_use(struct key_ring *r, const struct key_seed *seed);
/* The same with one key for all ports, not 0. */
bool key_ring_use_shared(struct key_ring *r, uint64_t m_key);
/* One key for all ports is in use. */
bool key_ring_is_shared(const struct key_ring *r);
/* The next epoch. False: there is no seed in use, or no epoch left. */
bool key_ring_turn(struct key_ring *r);
/* Of the seed in use; 0: there is none, or one key for all ports. */
uint32_t key_ring_epoch(const struct key_ring *r);

#define KEY_CLASS_SMP 0x01
#define KEY_CLASS_CC  0x21
/*
 * The key of the port for MADs of another class than SMPs, as it was `back` epochs ago; the ring
 * has a seed. 0: there was no such epoch.
 */
uint64_t key_ring_class_key(const struct key_ring *r, uint8_t mad_class, guid_t port_guid,
			    uint32_t back);
/* The key of the port; the ring has a seed. */
uint64_t key_ring_key(const struct key_ring *r, guid_t port_guid);
/* The one it has so many epochs later. */
uint64_t key_ring_key_ahead(const struct key_ring *r, guid_t port_guid, uint32_t ahead);
/*
 * Keys that the port may hold from before, the likeliest first: of the epoch before, of former
 * seeds, and of older epochs. At most `max`; returns how many.
 */
unsigned key_ring_former(const struct key_ring *r, guid_t port_guid, uint64_t ret[KEY_RING_FORMER],
			 unsigned max);

/* The one it has by former seed `nth` (from 0) so many epochs later; 0: there is no such seed. */
uint64_t key_ring_former_ahead(const struct key_ring *r, unsigned nth, guid_t port_guid,
			       uint32_t ahead);

/*
 * The key of the port in the epoch behind the one that `key` is of, which the port had when it went
 * away, perhaps many rotations ago; a microsecond for each epoch. 0: `key` is the one in force, or
 * none of the last 256 epochs of a seed.
 */
uint64_t key_ring_after(const struct key_ring *r, guid_t port_guid, uint64_t key);

/*
 * Looks for the key that the port has among those of the `ahead` epochs behind the last known one
 * of each seed; a microsecond each. True: another manager has rotated, and this epoch is the last
 * known one now.
 */
bool key_ring_find(struct key_ring *r, guid_t port_guid, uint64_t key, uint32_t ahead);

/*
 * The port has this key by the last known epoch of a former seed: that seed is in use from now on.
 * False: it has it by none of these.
 */
bool key_ring_use_of(struct key_ring *r, guid_t port_guid, uint64_t key);

/* Seeds of `other` that the ring has not are put behind its own; later epochs count. True: any. */
bool key_ring_merge(struct key_ring *r, const struct key_ring *other);
/*
 * Seeds of `other` that the ring has not are put behind its own; the last one of a full ring gives
 * way. The one in use stays, in its epoch. True: any.
 */
bool key_ring_keep(struct key_ring *r, const struct key_ring *other);
/*
 * Seed `nth` (0: in use) and its epoch (0: one key for all ports), for another manager; secret.
 * False: there is none.
 */
bool key_ring_at(const struct key_ring *r, unsigned nth, uint8_t ret[KEY_SEED_SENT]);
/* Takes what key_ring_at() gave behind its own seeds, or its later epoch. True: it is new. */
bool key_ring_take(struct key_ring *r, const uint8_t sent[KEY_SEED_SENT]);
/* Ports are to have the same keys by both. */
bool key_ring_is_alike(const struct key_ring *a, const struct key_ring *b);
/* Equal rings, and no others, have equal marks; a mark says nothing of the seeds. */
uint64_t key_ring_mark(const struct key_ring *r);

/* The text that is kept and sent: secret. The caller frees. */
char *key_ring_text(const struct key_ring *r, size_t *ret_len);
/* `lines` between the head and the check line of a text, whatever they are; for tests. */
char *key_ring_sealed(const char *lines, size_t len, size_t *ret_len);
/* 0, or -EBADMSG: not a text of key_ring_text(), or damaged. Nothing of a text is ever told. */
int key_ring_read(const char *text, size_t len, struct key_ring **ret);
