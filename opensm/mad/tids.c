// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ids from the kernel's random numbers, a block at a time; and a table of those that have ended, in
 * which an id has one place: its low bits, which are as random as the rest.
 */
#include "mad/tids.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ib/mad.h"
#include "util/hash.h"
#include "util/mem.h"

/* An id that can be guessed is worse than none: without random numbers there is no manager. */
static void draw_random(void *arg, void *ret, size_t len)
{
	ssize_t n;

	do
		n = getrandom(ret, len, 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)len)
		abort();
}

void tids_init(struct tids *t, const struct mad_draw *draw)
{
	assert(t && draw);
	memset(t, 0, sizeof(*t));
	t->draw = *draw;
	if (!t->draw.fn)
		t->draw.fn = draw_random;
}

static const struct tid_ended *place_of(const struct tids *t, enum tid_kind kind, uint32_t tid)
{
	return &t->ended[kind][tid & (TIDS_ENDED - 1)];
}

static bool is_remembered(const struct tids *t, uint32_t tid)
{
	for (enum tid_kind kind = 0; kind < TID_KINDS; kind++)
		if (place_of(t, kind, tid)->tid == tid)
			return true;
	return false;
}

uint32_t tids_next(struct tids *t)
{
	uint32_t tid;

	do {
		if (!t->left) {
			t->draw.fn(t->draw.arg, t->block, sizeof(t->block));
			t->left = TIDS_BLOCK;
		}
		tid = t->block[--t->left];
	} while (!tid || is_remembered(t, tid));
	return tid;
}

/* ---- where an answer is to come from --------------------------------------------------------- */

/* Above all LIDs. */
static uint32_t number_of_path(unsigned hops, const uint8_t *hop)
{
	return hash_fold(hash_bytes(HASH_START, hop + 1, MIN(hops, IB_MAX_HOPS))) | 1u << 31;
}

uint32_t tid_whence(const struct dr_path *path, lid_t lid)
{
	return path ? number_of_path(path->length, path->hop) : lid;
}

uint32_t tid_whence_of(const struct transport_addr *from, const uint8_t *mad)
{
	if (ib_get(mad, SMP_CLASS) == MAD_CLASS_SMI_DR)
		return number_of_path((unsigned)ib_get(mad, SMP_HOP_COUNT), mad + SMP_INITIAL_PATH);
	return from->lid;
}

/* ---- ids that have ended --------------------------------------------------------------------- */

void tids_note(struct tids *t, enum tid_kind kind, uint32_t tid, uint32_t whence)
{
	assert(tid && kind < TID_KINDS);
	t->ended[kind][tid & (TIDS_ENDED - 1)] = (struct tid_ended){ tid, whence };
}

bool tids_was(const struct tids *t, enum tid_kind kind, uint32_t tid, uint32_t whence)
{
	const struct tid_ended *place = place_of(t, kind, tid);

	return tid && place->tid == tid && place->whence == whence;
}
