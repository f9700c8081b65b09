// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables and sets of P_Keys stored once each, and the questions of subnet administration about
 * sets.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "plan/pkey_internal.h"
#include "util/bisect.h"
#include "util/hash.h"
#include "util/mem.h"

/* --- Byte strings --------------------------------------------------------------------------- */

static bool is_row(const struct intern *in, uint32_t id, const void *bytes, size_t len)
{
	const struct intern_row *row = &in->rows[id];

	return row->len == len && (!len || memcmp(in->bytes + row->at, bytes, len) == 0);
}

uint32_t pkey_intern_put(struct intern *in, const void *bytes, size_t len)
{
	uint64_t key = hash_bytes(HASH_START ^ len, bytes, len) | 1;
	uintptr_t found;

	if (!in->ids)
		in->ids = guidmap_new();
	/* Other strings with this hash took the next keys: as many steps as there are of them. */
	while ((found = (uintptr_t)guidmap_get(in->ids, key))) {
		if (is_row(in, (uint32_t)found - 1, bytes, len))
			return (uint32_t)found - 1;
		key += 2;
	}
	GROW(in->rows, in->n + 1, in->rows_cap);
	GROW(in->bytes, in->used + len + 8, in->cap);
	in->rows[in->n] = (struct intern_row){ in->used, len };
	if (len)
		memcpy(in->bytes + in->used, bytes, len);
	in->used += (len + 7) & ~(size_t)7; /* what is read back as numbers is aligned */
	guidmap_put(in->ids, key, (void *)(uintptr_t)(in->n + 1));
	return (uint32_t)in->n++;
}

const void *pkey_intern_get(const struct intern *in, uint32_t id, size_t *ret_len)
{
	assert(id < in->n);
	*ret_len = in->rows[id].len;
	return in->bytes + in->rows[id].at;
}

void pkey_intern_clear(struct intern *in)
{
	free(in->bytes);
	free(in->rows);
	guidmap_free(in->ids);
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
		for (size_t i = 0; i < pool->sets.n; i++)
			free(pool->set_rows[i]);
		pkey_intern_clear(&pool->tables);
		pkey_intern_clear(&pool->sets);
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

static int compare_entries(const void *va, const void *vb)
{
	const struct pkey_entry *a = va, *b = vb;

	return a->order - b->order;
}

/* Returns how many. */
static size_t set_entries(struct pkey_table table, struct pkey_entry *ret)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < table.n; i++) {
		uint16_t order = partition_order(table.keys[i]);
		bool full = table.keys[i] & PKEY_FULL;

		if (order)
			ret[n++] = (struct pkey_entry){ order, full ? PKEY_SET_FULL
								    : PKEY_SET_LIMITED };
	}
	qsort(ret, n, sizeof(*ret), compare_entries);
	for (size_t i = 0; i < n; i++) {
		if (kept && ret[kept - 1].order == ret[i].order)
			ret[kept - 1].forms |= ret[i].forms;
		else
			ret[kept++] = ret[i];
	}
	return kept;
}

static uint16_t self_pkey(const struct pkey_entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (entries[i].forms & PKEY_SET_FULL)
			return (uint16_t)(partition_pkey(entries[i].order) | PKEY_FULL);
	}
	return 0;
}

/* A set with its entries behind it, in one block. */
static struct pkey_set *new_set(uint32_t id, const struct pkey_entry *entries, size_t n)
{
	struct pkey_set *set = xcalloc(1, sizeof(*set) + n * sizeof(*entries));
	struct pkey_entry *own = (struct pkey_entry *)(set + 1);

	if (n)
		memcpy(own, entries, n * sizeof(*entries));
	*set = (struct pkey_set){
		.id = id,
		.n = (uint16_t)n,
		.self_pkey = self_pkey(entries, n),
		.entries = own,
	};
	return set;
}

uint32_t pkey_pool_set(struct pkey_pool *pool, uint32_t table)
{
	struct pkey_table t = pkey_pool_get(pool, table);
	_cleanup_free_ struct pkey_entry *entries = xcalloc(t.n + 1u, sizeof(*entries));
	size_t n = set_entries(t, entries), known = pool->sets.n;
	uint32_t id = pkey_intern_put(&pool->sets, entries, n * sizeof(*entries));

	if (id == known) {
		GROW(pool->set_rows, known + 1, pool->set_rows_cap);
		pool->set_rows[id] = new_set(id, entries, n);
	}
	return id;
}

/* --- Questions ------------------------------------------------------------------------------ */

struct pkey_table pkey_plan_table(const struct pkey_plan *plan, uint32_t id)
{
	return pkey_pool_get(plan->pool, id);
}

const struct pkey_set *pkey_plan_set(const struct pkey_plan *plan, uint32_t id)
{
	assert(id < plan->n_sets);
	return plan->pool->set_rows[id];
}

size_t pkey_plan_find(const struct pkey_plan *plan, guid_t guid)
{
	const void *found = guid ? guidmap_get(plan->pool->ports, guid) : NULL;

	return found ? (size_t)((uintptr_t)found - 1) : SIZE_MAX;
}

static uint16_t shared_pkey(const struct pkey_set *a, size_t at)
{
	return (uint16_t)(partition_pkey(a->entries[at].order) |
			  (a->entries[at].forms & PKEY_SET_FULL ? PKEY_FULL : 0));
}

bool pkey_share(const struct pkey_set *a, const struct pkey_set *b, uint16_t *ret_pkey)
{
	uint16_t pkey = 0;

	assert(a && b);
	if (a == b)
		pkey = a->self_pkey;
	for (size_t i = 0, k = 0; a != b && i < a->n && k < b->n;) {
		if (a->entries[i].order == b->entries[k].order) {
			if ((a->entries[i].forms | b->entries[k].forms) & PKEY_SET_FULL) {
				pkey = shared_pkey(a, i);
				break;
			}
			i++;
			k++;
		} else if (a->entries[i].order < b->entries[k].order) {
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
	size_t at = BISECT(i, 0, set->n, set->entries[i].order < order);

	return at < set->n && set->entries[at].order == order ? set->entries[at].forms : 0;
}
