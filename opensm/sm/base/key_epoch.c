// SPDX-License-Identifier: BSD-2-Clause
#include "sm/base/key_epoch.h"

#include <string.h>

#include "keys/key_proof.h"
#include "keys/key_ring.h"
#include "sm/base/drawn_key.h"
#include "sm/base/keys.h"
#include "util/mem.h"

#define AHEAD_MAX 4096 /* most epochs ahead: eleven years of daily rotations */

/* A seed and its epoch, as of key_ring_at(); epoch 0: one key for all ports. */
struct sent {
	uint8_t bytes[KEY_SEED_SENT];
};

static uint32_t epoch_of(const struct sent *s)
{
	return (uint32_t)ib_bits_get(s->bytes + KEY_SEED_BYTES, 0, 32);
}

static uint32_t mark_of(const struct sm *sm, const struct sent *s)
{
	const struct key_proof_keys keys = { .sm_key = sm_sm_key(sm) };
	uint8_t mark[KEY_PROOF_BYTES];

	key_proof_make(&keys, "SMInfo seed", s->bytes, KEY_SEED_BYTES, mark);
	return (uint32_t)ib_bits_get(mark, 0, 32);
}

void key_epoch_put(const struct sm *sm, uint8_t info[SMP_DATA_SIZE])
{
	struct sent s;

	if (!keys_ring(sm) || !key_ring_at(keys_known(sm), 0, s.bytes))
		return;
	if (epoch_of(&s)) {
		ib_put(info, SMX_SEED, mark_of(sm, &s));
		ib_put(info, SMX_EPOCH, epoch_of(&s));
	}
	explicit_bzero(&s, sizeof(s));
}

/* Finds the seed with this mark. False: it is unknown. */
static bool find_seed(const struct sm *sm, uint32_t mark, struct sent *ret)
{
	for (unsigned i = 0; key_ring_at(keys_known(sm), i, ret->bytes); i++) {
		if (epoch_of(ret) && mark_of(sm, ret) == mark)
			return true;
	}
	return false;
}

bool key_epoch_told(struct sm *sm, const uint8_t *info)
{
	uint32_t epoch = (uint32_t)ib_get(info, SMX_EPOCH);
	_cleanup_(key_ring_unrefp) struct key_ring *ring = NULL;
	struct sent s = { 0 };
	bool is_later = false;

	if (epoch && keys_ring(sm) && keys_may_be_sent(sm) &&
	    find_seed(sm, (uint32_t)ib_get(info, SMX_SEED), &s) &&
	    epoch <= (uint64_t)epoch_of(&s) + AHEAD_MAX) {
		ib_bits_put(s.bytes + KEY_SEED_BYTES, 0, 32, epoch);
		ring = key_ring_copy(keys_later(sm) ? keys_later(sm) : keys_known(sm));
		is_later = key_ring_take(ring, s.bytes);
	}
	if (is_later) {
		log_info("M_Keys were rotated by another manager, as it tells");
		keys_follow(sm, take(ring));
	}
	explicit_bzero(&s, sizeof(s));
	return is_later;
}
