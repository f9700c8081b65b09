// SPDX-License-Identifier: BSD-2-Clause
/*
 * Storage of transactions: lists, the TID table, the pool. A steady state allocates nothing.
 */
#include "mad/xact.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"

/* Links `x` behind `after`; NULL: first. */
static void insert_after(struct mad_xacts *list, struct mad_xact *after, struct mad_xact *x)
{
	x->in = list;
	x->prev = after;
	x->next = after ? after->next : list->first;
	if (x->prev)
		x->prev->next = x;
	else
		list->first = x;
	if (x->next)
		x->next->prev = x;
	else
		list->last = x;
}

void xacts_append(struct mad_xacts *list, struct mad_xact *x)
{
	insert_after(list, list->last, x);
}

void xacts_insert_by_seq(struct mad_xacts *list, struct mad_xact *x)
{
	struct mad_xact *after = list->last;

	if (list->first && x->seq < list->first->seq)
		after = NULL;
	while (after && after->seq > x->seq)
		after = after->prev;
	insert_after(list, after, x);
}

void xacts_remove(struct mad_xact *x)
{
	struct mad_xacts *list = x->in;

	if (!list)
		return;
	if (x->prev)
		x->prev->next = x->next;
	else
		list->first = x->next;
	if (x->next)
		x->next->prev = x->prev;
	else
		list->last = x->prev;
	x->prev = x->next = NULL;
	x->in = NULL;
}

void xacts_join_target(struct mad_xact *x)
{
	struct mad_xacts *members = &x->rq.target->members;

	x->t_prev = members->last;
	x->t_next = NULL;
	if (x->t_prev)
		x->t_prev->t_next = x;
	else
		members->first = x;
	members->last = x;
}

void xacts_leave_target(struct mad_xact *x)
{
	struct mad_xacts *members = &x->rq.target->members;

	if (x->t_prev)
		x->t_prev->t_next = x->t_next;
	else
		members->first = x->t_next;
	if (x->t_next)
		x->t_next->t_prev = x->t_prev;
	else
		members->last = x->t_prev;
	x->t_prev = x->t_next = NULL;
}

static void pool_grow(struct xact_pool *pool)
{
	struct mad_xact *chunk = xcalloc(XACT_CHUNK, sizeof(*chunk));

	GROW(pool->chunks, pool->n_chunks + 1, pool->cap_chunks);
	pool->chunks[pool->n_chunks++] = chunk;
	for (unsigned i = XACT_CHUNK; i-- > 0;) {
		chunk[i].next = pool->free;
		pool->free = &chunk[i];
	}
}

/* The tries of one transaction; `next` counts while no transaction has them. */
struct xact_tries {
	struct xact_try try[XACT_TRIES];
	struct xact_tries *next;
};

void xact_pool_tries(struct xact_pool *pool, struct mad_xact *x)
{
	struct xact_tries *t = pool->tries;

	if (x->try)
		return;
	if (t)
		pool->tries = t->next;
	else
		t = xcalloc(1, sizeof(*t));
	x->try = t->try;
}

static void tries_put(struct xact_pool *pool, struct xact_try *try)
{
	struct xact_tries *t = (struct xact_tries *)try; /* first member */

	if (!t)
		return;
	t->next = pool->tries;
	pool->tries = t;
}

static void tries_clear(struct xact_pool *pool)
{
	struct mad_xact *x;

	for (size_t i = 0; (x = xact_pool_at(pool, i)); i++)
		if (x->state != XACT_FREE)
			tries_put(pool, take(x->try));
	for (struct xact_tries *t = pool->tries, *next; t; t = next) {
		next = t->next;
		free(t);
	}
}

struct mad_xact *xact_pool_get(struct xact_pool *pool)
{
	struct mad_xact *x;

	if (!pool->free)
		pool_grow(pool);
	x = pool->free;
	pool->free = x->next;
	memset(x, 0, offsetof(struct mad_xact, path));
	return x;
}

void xact_pool_put(struct xact_pool *pool, struct mad_xact *x)
{
	tries_put(pool, x->try);
	x->try = NULL;
	x->next = pool->free;
	pool->free = x;
}

struct mad_xact *xact_pool_at(const struct xact_pool *pool, size_t i)
{
	size_t chunk = i / XACT_CHUNK;

	return chunk < pool->n_chunks ? &pool->chunks[chunk][i % XACT_CHUNK] : NULL;
}

void xact_pool_clear(struct xact_pool *pool)
{
	tries_clear(pool);
	for (size_t i = 0; i < pool->n_chunks; i++)
		free(pool->chunks[i]);
	free(pool->chunks);
	*pool = (struct xact_pool){ 0 };
}

/* TIDs are drawn at random (tids.h): their low bits spread. */
static struct xact_try **bucket(const struct xact_tids *tids, uint32_t tid)
{
	return &tids->buckets[tid & (tids->n_buckets - 1)];
}

struct xact_try *xact_tids_find(const struct xact_tids *tids, uint32_t tid)
{
	struct xact_try *try;

	if (!tids->n_buckets)
		return NULL;
	try = *bucket(tids, tid);
	while (try && try->tid != tid)
		try = try->h_next;
	return try;
}

static void tids_link(struct xact_tids *tids, struct xact_try *try)
{
	struct xact_try **head = bucket(tids, try->tid);

	try->h_next = *head;
	*head = try;
}

static void tids_grow(struct xact_tids *tids)
{
	struct xact_tids old = *tids;

	tids->n_buckets = old.n_buckets ? old.n_buckets * 2 : 64;
	tids->buckets = xcalloc(tids->n_buckets, sizeof(struct xact_try *));
	for (size_t i = 0; i < old.n_buckets; i++) {
		for (struct xact_try *try = old.buckets[i], *next; try; try = next) {
			next = try->h_next;
			tids_link(tids, try);
		}
	}
	free(old.buckets);
}

void xact_tids_add(struct xact_tids *tids, struct xact_try *try)
{
	if (tids->count >= tids->n_buckets)
		tids_grow(tids);
	tids_link(tids, try);
	tids->count++;
}

void xact_tids_remove(struct xact_tids *tids, struct xact_try *try)
{
	struct xact_try **p = bucket(tids, try->tid);

	while (*p != try) {
		assert(*p); /* it was added */
		p = &(*p)->h_next;
	}
	*p = try->h_next;
	try->h_next = NULL;
	tids->count--;
}

void xact_tids_clear(struct xact_tids *tids)
{
	free(tids->buckets);
	*tids = (struct xact_tids){ 0 };
}
