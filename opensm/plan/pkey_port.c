// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables of one port: its own, and that of the switch port that faces it. Within a plan that
 * stands (pkey_plan_port()), as a trial, or for pkey.c, which plans all ports.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "plan/pkey_internal.h"
#include "util/mem.h"

/* --- Switch ports --------------------------------------------------------------------------- */

int pkey_peer_table(struct pkey_table table, uint16_t capacity, uint16_t *ret)
{
	uint64_t full[PKEY_FULL / 64] = { 0 }; /* bases that are there as full keys */
	int n = 0;

	for (size_t i = 0; i < table.n; i++) {
		unsigned base = table.keys[i] & PKEY_BASE;

		if (table.keys[i] & PKEY_FULL)
			full[base / 64] |= 1ull << base % 64;
	}
	for (size_t i = 0; i < table.n; i++) {
		uint16_t key = table.keys[i];

		if (!(key & PKEY_BASE))
			continue;
		if (!(key & PKEY_FULL) && full[key / 64] & 1ull << key % 64)
			continue;
		if (n == capacity)
			return -ENOSPC;
		ret[n++] = key;
	}
	return n;
}

static void make_peer(struct pkey_answer *a, const struct pkey_input *in)
{
	struct pkey_table table = { a->place.table, (uint16_t)a->place.capacity };
	int n;

	a->has_peer = a->peer_too_small = false;
	a->n_peer = 0;
	if (!in->peer_capacity || in->enforce == PKEY_ENFORCE_OFF)
		return;
	GROW(a->peer, MAX(table.n, in->peer_capacity) + 1u, a->peer_cap);
	n = pkey_peer_table(table, in->peer_capacity, a->peer);
	if (n < 0) {
		a->peer_too_small = true;
		return;
	}
	a->has_peer = true;
	a->n_peer = (size_t)n;
	if (in->peer_before.n)
		a->n_peer = place_peer(&a->place, a->peer, a->n_peer, in->peer_capacity,
				       in->peer_before);
}

/* --- Answers -------------------------------------------------------------------------------- */

void pkey_answer_make(struct pkey_answer *a, const struct pkey_input *in)
{
	a->place.allow_both = in->allow_both;
	place_keys(&a->place, &a->wants, in->capacity, in->have, in->memory);
	make_peer(a, in);
}

struct pkey_answer *pkey_answer_free(struct pkey_answer *a)
{
	if (a) {
		free(a->wants.keys);
		place_clear(&a->place);
		free(a->peer);
		free(a);
	}
	return NULL;
}

static void keep_dropped(const struct place *place, struct pkey_pool *pool,
			 struct pkey_port_plan *ret)
{
	size_t kept = MIN(place->n_dropped, (size_t)PKEY_DROPPED_KEPT);

	ret->n_dropped = (uint16_t)MIN(place->n_dropped, (size_t)UINT16_MAX);
	ret->dropped = (uint32_t)pool->n_dropped;
	GROW(pool->dropped, pool->n_dropped + kept + 1, pool->dropped_cap);
	if (kept)
		memcpy(pool->dropped + pool->n_dropped, place->dropped,
		       kept * sizeof(*pool->dropped));
	pool->n_dropped += kept;
}

void pkey_answer_keep(const struct pkey_answer *a, struct pkey_pool *pool,
		      enum pkey_enforce enforce, struct pkey_port_plan *ret)
{
	const struct place *place = &a->place;

	*ret = (struct pkey_port_plan){ .peer_table = PKEY_NO_TABLE,
					.peer_enforce = PKEY_ENFORCE_OFF,
					.peer_too_small = a->peer_too_small };
	ret->table = pkey_pool_table(pool, place->table, place->capacity);
	ret->memory = pkey_pool_table(pool, place->memory_after, place->n_memory);
	ret->set = pkey_pool_set(pool, ret->table);
	keep_dropped(place, pool, ret);
	if (a->has_peer) {
		ret->peer_table = pkey_pool_table(pool, a->peer, a->n_peer);
		ret->peer_enforce = enforce;
	}
}

struct pkey_table pkey_have(const struct pkey_job *job, const struct pkey_port *port)
{
	struct pkey_table ret = { 0 };

	if (job->keep_indexes && port->have) {
		ret.keys = port->have;
		ret.n = MIN(port->n_have, port->capacity);
	}
	return ret;
}

struct pkey_table pkey_memory(const struct pkey_job *job, const struct pkey_pool *pool,
			      const struct pkey_port_plan *before, bool is_still)
{
	if (!before || !job->keep_indexes)
		return (struct pkey_table){ 0 };
	return pkey_pool_get(pool, is_still ? before->table : before->memory);
}

struct pkey_table pkey_peer_before(const struct pkey_job *job, const struct pkey_pool *pool,
				   const struct pkey_port_plan *before, bool is_still)
{
	if (!before || !job->keep_indexes || !is_still || before->peer_table == PKEY_NO_TABLE)
		return (struct pkey_table){ 0 };
	return pkey_pool_get(pool, before->peer_table);
}

/* --- One port of a plan --------------------------------------------------------------------- */

/* Into plan->pool->answer. `before`: of the port in the plan; NULL: it is not there. */
static void answer_port(const struct pkey_plan *plan, const struct pkey_job *job,
			const struct pkey_port *port, const struct pkey_port_plan *before)
{
	_cleanup_(pkey_rights_freep) struct pkey_rights *own =
		job->rights ? NULL : pkey_rights_new(job->partitions);
	struct pkey_answer *a = plan->pool->answer;
	struct pkey_input in = {
		.have = pkey_have(job, port),
		.capacity = port->capacity,
		.peer_capacity = port->peer_capacity,
		.enforce = job->enforce,
		.allow_both = job->allow_both,
	};

	pkey_rights_wants(own ? own : job->rights, job, port, &a->wants);
	in.memory = pkey_memory(job, plan->pool, before, a->wants.is_still);
	in.peer_before = pkey_peer_before(job, plan->pool, before, a->wants.is_still);
	pkey_answer_make(a, &in);
}

void pkey_plan_port(struct pkey_plan *plan, const struct pkey_job *job,
		    const struct pkey_port *port)
{
	size_t at = pkey_plan_find(plan, port->guid);
	struct pkey_port_plan *row = at == SIZE_MAX ? NULL : &plan->ports[at];

	assert(job->partitions);
	if (!row)
		return;
	answer_port(plan, job, port, row);
	plan->n_dropped -= row->n_dropped ? 1 : 0;
	plan->n_peer_too_small -= row->peer_too_small ? 1 : 0;
	pkey_answer_keep(plan->pool->answer, plan->pool, job->enforce, row);
	plan->n_dropped += row->n_dropped ? 1 : 0;
	plan->n_peer_too_small += row->peer_too_small ? 1 : 0;
	plan->n_tables = (uint32_t)plan->pool->tables.n;
	plan->n_sets = (uint32_t)plan->pool->sets.n;
}

bool pkey_plan_is_bloated(const struct pkey_plan *plan)
{
	const struct pkey_pool *pool = plan->pool;
	size_t tables = MAX(4 * plan->n_ports, 2 * pool->n_fresh) + 1024;
	size_t dropped = 2 * PKEY_DROPPED_KEPT * (plan->n_ports + 1024);

	return pool->tables.n > tables || pool->n_dropped > dropped;
}

void pkey_plan_try(const struct pkey_plan *plan, const struct pkey_job *job,
		   const struct pkey_port *port, struct pkey_trial *ret)
{
	size_t at = pkey_plan_find(plan, port->guid);
	const struct pkey_answer *a = plan->pool->answer;
	size_t n = port->capacity;

	assert(job->partitions);
	answer_port(plan, job, port, at == SIZE_MAX ? NULL : &plan->ports[at]);
	while (n && !a->place.table[n - 1])
		n--;
	*ret = (struct pkey_trial){
		.keys = xmemdup(a->place.table, (n + 1) * sizeof(*a->place.table)),
		.n = (uint16_t)n,
		.peer_too_small = a->peer_too_small,
		.n_dropped = a->place.n_dropped,
		.first_dropped = a->place.n_dropped ? a->place.dropped[0] : 0,
	};
	if (a->has_peer) {
		ret->peer_enforce = job->enforce;
		ret->peer_keys = xmemdup(a->peer, (a->n_peer + 1) * sizeof(*a->peer));
		ret->n_peer = (uint16_t)a->n_peer;
	}
}

void pkey_trial_clear(struct pkey_trial *trial)
{
	free(trial->keys);
	free(trial->peer_keys);
	*trial = (struct pkey_trial){ 0 };
}
