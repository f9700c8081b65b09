// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables and sets of P_Keys stored once each, and the questions that subnet administration has about
 * sets.
 */
#include <stdlib.h>
#include <string.h>

#include "plan/pkey_private.h"
#include "util/mem.h"

/* --- Byte strings --------------------------------------------------------------------------- */

static uint32_t hash_bytes(const uint8_t *bytes, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull ^ len;

	for (size_t i = 0; i < len; i++)
		h = (h ^ bytes[i]) * 0x100000001b3ull;
	return (uint32_t)(h ^ h >> 32);
}

static uint32_t *find_slot(const struct intern *in, uint32_t hash, const void *bytes, size_t len)
{
	for (size_t at = hash;; at++) {
		uint32_t *slot = &in->slots[at & (in->n_slots - 1)];
		const struct intern_row *row = *slot ? &in->rows[*slot - 1] : NULL;

		if (!row || (row->hash == hash && row->len == len &&
			     (!len || memcmp(in->bytes + row->at, bytes, len) == 0)))
			return slot;
	}
}

static void grow_slots(struct intern *in)
{
	free(in->slots);
	in->n_slots = MAX(in->n_slots * 2, (size_t)64);
	in->slots = xcalloc(in->n_slots, sizeof(*in->slots));
	for (size_t i = 0; i < in->n; i++) {
		const struct intern_row *row = &in->rows[i];

		*find_slot(in, row->hash, in->bytes + row->at, row->len) = (uint32_t)i + 1;
	}
}

uint32_t pkey_intern_put(struct intern *in, const void *bytes, size_t len)
{
	uint32_t hash = hash_bytes(bytes, len), *slot;

	if (in->n * 2 >= in->n_slots)
		grow_slots(in);
	slot = find_slot(in, hash, bytes, len);
	if (*slot)
		return *slot - 1;
	GROW(in->rows, in->n + 1, in->rows_cap);
	GROW(in->bytes, in->used + len + 1, in->cap);
	in->rows[in->n] = (struct intern_row){ in->used, (uint32_t)len, hash };
	if (len)
		memcpy(in->bytes + in->used, bytes, len);
	in->used += (len + 7) & ~(size_t)7; /* what is read back as numbers is aligned */
	GROW(in->bytes, in->used + 1, in->cap);
	*slot = (uint32_t)++in->n;
	return *slot - 1;
}

const void *pkey_intern_get(const struct intern *in, uint32_t id, size_t *ret_len)
{
	*ret_len = in->rows[id].len;
	return in->bytes + in->rows[id].at;
}

void pkey_intern_clear(struct intern *in)
{
	free(in->bytes);
	free(in->rows);
	free(in->slots);
	*in = (struct intern){ 0 };
}

/* --- Tables and sets ------------------------------------------------------------------------ */

struct pkey_pool *pkey_pool_new(void)
{
	struct pkey_pool *pool = xcalloc(1, sizeof(*pool));

	pool->ports = guidmap_new();
	return pool;
}

struct pkey_pool *pkey_pool_free(struct pkey_pool *pool)
{
	if (pool) {
		pkey_intern_clear(&pool->tables);
		pkey_intern_clear(&pool->sets);
		free(pool->table_set);
		for (size_t i = 0; i < pool->set_rows_cap; i++) {
			free((void *)pool->set_rows[i].order);
			free((void *)pool->set_rows[i].forms);
		}
		free(pool->set_rows);
		free(pool->dropped);
		guidmap_free(pool->ports);
		free(pool);
	}
	return NULL;
}

uint32_t pkey_pool_table(struct pkey_pool *pool, const uint16_t *keys, size_t n)
{
	while (n && !keys[n - 1])
		n--;
	return pkey_intern_put(&pool->tables, keys, n * sizeof(*keys));
}

struct pkey_table pkey_pool_get(const struct pkey_pool *pool, uint32_t table)
{
	size_t len;
	const uint16_t *keys = pkey_intern_get(&pool->tables, table, &len);

	return (struct pkey_table){ .keys = keys, .n = (uint16_t)(len / sizeof(*keys)) };
}

static int compare_u32(const void *va, const void *vb)
{
	const uint32_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

/* Entries of a set as one number each: order above, forms below. Returns how many. */
static size_t set_entries(struct pkey_table table, uint32_t *ret)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < table.n; i++) {
		uint32_t order = partition_order(table.keys[i]);

		if (order)
			ret[n++] = order << 8 |
				   (table.keys[i] & PKEY_FULL ? PKEY_SET_FULL : PKEY_SET_LIMITED);
	}
	qsort(ret, n, sizeof(*ret), compare_u32);
	for (size_t i = 0; i < n; i++) {
		if (kept && ret[kept - 1] >> 8 == ret[i] >> 8)
			ret[kept - 1] |= ret[i];
		else
			ret[kept++] = ret[i];
	}
	return kept;
}

uint32_t pkey_pool_set(struct pkey_pool *pool, uint32_t table)
{
	struct pkey_table t = pkey_pool_get(pool, table);
	_cleanup_free_ uint32_t *entries = NULL;
	size_t old = pool->table_set_cap;

	GROW(pool->table_set, table + 1, pool->table_set_cap);
	if (pool->table_set_cap > old)
		memset(pool->table_set + old, 0,
		       (pool->table_set_cap - old) * sizeof(*pool->table_set));
	if (!pool->table_set[table]) {
		entries = xcalloc(t.n + 1u, sizeof(*entries));
		pool->table_set[table] =
			1 + pkey_intern_put(&pool->sets, entries,
					    set_entries(t, entries) * sizeof(*entries));
	}
	return pool->table_set[table] - 1;
}

static struct pkey_set unpack_set(const uint32_t *entries, size_t n, uint32_t id)
{
	uint16_t *order = xcalloc(n + 1, sizeof(*order)), self = 0;
	uint8_t *forms = xcalloc(n + 1, sizeof(*forms));

	for (size_t i = 0; i < n; i++) {
		order[i] = (uint16_t)(entries[i] >> 8);
		forms[i] = (uint8_t)entries[i];
		if (!self && (forms[i] & PKEY_SET_FULL))
			self = (uint16_t)(partition_pkey(order[i]) | PKEY_FULL);
	}
	return (struct pkey_set){
		.id = id,
		.n = (uint16_t)n,
		.self_pkey = self,
		.order = order,
		.forms = forms,
	};
}

void pkey_pool_seal(struct pkey_pool *pool)
{
	pool->set_rows = xcalloc(pool->sets.n + 1, sizeof(*pool->set_rows));
	pool->set_rows_cap = pool->sets.n;
	for (size_t i = 0; i < pool->sets.n; i++) {
		size_t len;
		const uint32_t *entries = pkey_intern_get(&pool->sets, (uint32_t)i, &len);

		pool->set_rows[i] = unpack_set(entries, len / sizeof(*entries), (uint32_t)i);
	}
}

/* --- Questions ------------------------------------------------------------------------------ */

struct pkey_table pkey_plan_table(const struct pkey_plan *plan, uint32_t id)
{
	return pkey_pool_get(plan->pool, id);
}

const struct pkey_set *pkey_plan_set(const struct pkey_plan *plan, uint32_t id)
{
	return &plan->pool->set_rows[id];
}

static uint16_t shared_pkey(const struct pkey_set *a, size_t at)
{
	return (uint16_t)(partition_pkey(a->order[at]) |
			  (a->forms[at] & PKEY_SET_FULL ? PKEY_FULL : 0));
}

bool pkey_share(const struct pkey_set *a, const struct pkey_set *b, uint16_t *ret_pkey)
{
	uint16_t pkey = 0;

	if (a == b)
		pkey = a->self_pkey;
	for (size_t i = 0, k = 0; a != b && i < a->n && k < b->n;) {
		if (a->order[i] == b->order[k]) {
			if ((a->forms[i] | b->forms[k]) & PKEY_SET_FULL) {
				pkey = shared_pkey(a, i);
				break;
			}
			i++;
			k++;
		} else if (a->order[i] < b->order[k]) {
			i++;
		} else {
			k++;
		}
	}
	if (pkey && ret_pkey)
		*ret_pkey = pkey;
	return pkey != 0;
}

unsigned pkey_set_find(const struct pkey_set *set, uint16_t pkey)
{
	uint16_t order = partition_order(pkey);
	size_t low = 0, high = set->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (set->order[middle] < order)
			low = middle + 1;
		else
			high = middle;
	}
	return low < set->n && set->order[low] == order ? set->forms[low] : 0;
}

bool pkey_set_matches(const struct pkey_set *set, uint16_t pkey)
{
	unsigned forms = pkey_set_find(set, pkey);

	return forms && (pkey & PKEY_FULL || forms & PKEY_SET_FULL);
}
