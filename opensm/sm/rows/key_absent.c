// SPDX-License-Identifier: BSD-2-Clause
#include "sm/rows/key_absent.h"

#include <assert.h>
#include <string.h>

#include "fabric/store.h"
#include "sm/sm_internal.h"
#include "util/bisect.h"
#include "util/guidmap.h"
#include "util/mem.h"

bool absent_key_is_here(const struct sm *sm, guid_t guid)
{
	const struct port *p = fabric_find_port(sm->fabric, guid);

	return p && fabric_knows_mkey(p);
}

static bool next_absent(const struct sm *sm, size_t *pos, struct absent_key *ret)
{
	while (store_next_mkey(sm->store, pos, &ret->guid, &ret->key)) {
		if (ret->guid && ret->key && !absent_key_is_here(sm, ret->guid))
			return true;
	}
	return false;
}

static int by_guid(const void *a, const void *b)
{
	return COMPARE(((const struct absent_key *)a)->guid, ((const struct absent_key *)b)->guid);
}

/*
 * Collects all absent ports. qsort() may copy to the heap without overwriting the copy, so GUIDs
 * are sorted without their keys.
 */
static void collect(const struct sm *sm, struct absent_keys *a)
{
	struct absent_key k = { 0 };
	size_t cap = 0;

	for (size_t pos = 0; next_absent(sm, &pos, &k);)
		APPEND(a->keys, a->n, cap) = (struct absent_key){ .guid = k.guid };
	explicit_bzero(&k, sizeof(k));
	SORT(a->keys, a->n, by_guid);
	for (size_t i = 0; i < a->n; i++)
		store_mkey(sm->store, a->keys[i].guid, &a->keys[i].key);
}

/* ---- when there are too many ----------------------------------------------------------------- */

/* Switch ports that lead to absent nodes, numbered from 1. */
struct places {
	const struct sm *sm;
	struct guidmap *of;
	guid_t *reached; /* nodes in order of distance */
	size_t n, cap;
	uint32_t n_ports;
};

static uint32_t place_of(const struct places *p, guid_t guid)
{
	return (uint32_t)(uintptr_t)guidmap_get(p->of, guid);
}

static void reach(struct places *p, guid_t guid, uint32_t place)
{
	const struct fabric *f = p->sm->fabric;

	if (fabric_find_node(f, guid) || fabric_find_port(f, guid) || place_of(p, guid))
		return;
	guidmap_put(p->of, guid, (void *)(uintptr_t)place);
	APPEND(p->reached, p->n, p->cap) = guid;
}

/*
 * Adds the nodes behind this one, by the file neighbors. `place` 0: each port of it is one of its
 * own.
 */
static void reach_behind(struct places *p, guid_t guid, uint32_t place)
{
	unsigned n = store_n_neighbors(p->sm->store, guid);

	for (unsigned port = 1; n && port <= UINT8_MAX; port++) {
		uint8_t far_port;
		guid_t far;

		if (!store_neighbor(p->sm->store, guid, (uint8_t)port, &far, &far_port))
			continue;
		n--;
		reach(p, far, place ? place : ++p->n_ports);
	}
}

static void find_places(struct places *p)
{
	FABRIC_EACH_NODE(p->sm->fabric, n) {
		if (node_is_switch(n))
			reach_behind(p, n->guid, 0);
	}
	for (size_t i = 0; i < p->n; i++)
		reach_behind(p, p->reached[i], place_of(p, p->reached[i]));
}

/* The number of keys kept if each switch port has at most `each`. */
static size_t kept_with(const size_t *counts, size_t n, size_t each)
{
	size_t sum = 0;

	for (size_t i = 1; i <= n; i++)
		sum += MIN(counts[i], each);
	return sum;
}

/* Reduces counts to `max` in total. `counts`: by place; [0] is for ports without one. */
static void share(size_t *counts, size_t n, size_t max)
{
	size_t each = BISECT(i, (size_t)1, max + 1, kept_with(counts, n, i) <= max) - 1;

	counts[0] = MIN(counts[0], max - kept_with(counts, n, each));
	for (size_t i = 1; i <= n; i++)
		counts[i] = MIN(counts[i], each);
}

static void leave_out(const struct sm *sm, struct absent_keys *a, size_t max)
{
	struct places p = { .sm = sm, .of = guidmap_new() };
	_cleanup_free_ size_t *counts = NULL;
	size_t kept = 0;

	find_places(&p);
	counts = xcalloc(p.n_ports + 1, sizeof(*counts));
	for (size_t i = 0; i < a->n; i++)
		counts[place_of(&p, a->keys[i].guid)]++;
	share(counts, p.n_ports, max);
	for (size_t i = 0; i < a->n; i++) {
		size_t *rest = &counts[place_of(&p, a->keys[i].guid)];

		if (!*rest)
			continue;
		--*rest;
		a->keys[kept++] = a->keys[i];
	}
	a->left_out = a->n - kept;
	explicit_bzero(a->keys + kept, a->left_out * sizeof(*a->keys));
	a->n = kept;
	guidmap_free(p.of);
	free(p.reached);
}

void absent_keys_find(const struct sm *sm, size_t max, struct absent_keys *ret)
{
	assert(max > 0);
	*ret = (struct absent_keys){ 0 };
	collect(sm, ret);
	if (ret->n > max)
		leave_out(sm, ret, max);
}

void absent_keys_clear(struct absent_keys *a)
{
	free_wiped(a->keys, a->n * sizeof(*a->keys));
	*a = (struct absent_keys){ 0 };
}

const struct absent_key *absent_keys_at(const struct absent_keys *a, guid_t guid)
{
	size_t at = BISECT(i, (size_t)0, a->n, a->keys[i].guid < guid);

	return at < a->n && a->keys[at].guid == guid ? &a->keys[at] : NULL;
}
