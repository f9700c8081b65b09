// SPDX-License-Identifier: BSD-2-Clause
/* Sets of eight places each: a key looks at its own set only, and only that can be crowded. */
#include "rest/auth/penalty.h"

#include <assert.h>
#include <string.h>

#include "rest/auth/secret.h"

#define WAYS 8
#define SETS (PENALTY_KEYS / WAYS)

struct place {
	uint64_t key; /* 0: free */
	unsigned failures;
	mono_t last, until;
};

struct penalty {
	struct penalty_limit limit;
	/* prevents that addresses are chosen to share a set */
	uint8_t secret[SECRET_BYTES];
	struct place places[SETS][WAYS];
};

struct penalty *penalty_new(const struct penalty_limit *limit)
{
	struct penalty *p = xcalloc(1, sizeof(*p));

	assert(limit && limit->free && limit->first > 0 && limit->most >= limit->first);
	p->limit = *limit;
	secret_random(p->secret, sizeof(p->secret));
	return p;
}

struct penalty *penalty_free(struct penalty *p)
{
	free(p);
	return NULL;
}

static uint64_t number_of(const struct penalty *p, const char *key)
{
	uint8_t mac[SECRET_BYTES];
	uint64_t number;

	secret_mac(p->secret, key, strlen(key), mac);
	memcpy(&number, mac, sizeof(number));
	return number | 1;
}

static const struct place *find_place(const struct penalty *p, uint64_t key)
{
	const struct place *set = p->places[(key >> 1) % SETS];

	for (size_t i = 0; i < WAYS; i++)
		if (set[i].key == key)
			return &set[i];
	return NULL;
}

mono_t penalty_wait(const struct penalty *p, const char *key, mono_t now)
{
	const struct place *at;

	assert(p && key);
	at = find_place(p, number_of(p, key));
	return at && at->until > now ? at->until - now : 0;
}

/* A place of its own: the one it has, a free one, or that of the key that failed longest ago. */
static struct place *place_for(struct penalty *p, uint64_t key, mono_t now)
{
	struct place *set = p->places[(key >> 1) % SETS], *best = &set[0];

	for (size_t i = 0; i < WAYS; i++) {
		if (set[i].key == key) {
			best = &set[i];
			break;
		}
		if (best->key && (!set[i].key || set[i].last < best->last))
			best = &set[i];
	}
	if (best->key != key || now - best->last > PENALTY_FORGET)
		*best = (struct place){ .key = key };
	return best;
}

void penalty_failed(struct penalty *p, const char *key, mono_t now)
{
	struct place *at;
	mono_t wait;

	assert(p && key);
	at = place_for(p, number_of(p, key), now);
	at->last = now;
	if (at->failures < p->limit.free + 20)
		at->failures++;
	if (at->failures <= p->limit.free)
		return;
	wait = p->limit.first << (at->failures - p->limit.free - 1);
	at->until = now + mono_min(wait, p->limit.most);
}

void penalty_passed(struct penalty *p, const char *key)
{
	uint64_t number;
	const struct place *at;

	assert(p && key);
	number = number_of(p, key);
	at = find_place(p, number);
	if (at)
		p->places[(number >> 1) % SETS][at - p->places[(number >> 1) % SETS]] =
			(struct place){ 0 };
}
