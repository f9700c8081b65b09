// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Key tables of all ports, and of the switch ports that face them. Ports that want the same, hold
 * the same and have the same room get the same answer, which is worked out once.
 */
#include "plan/pkey.h"

#include <errno.h>
#include <string.h>

#include "plan/pkey_private.h"
#include "util/mem.h"

/* All that the answer for a port depends on. */
struct question {
	uint32_t wants;	       /* members_kind() */
	uint32_t have, memory; /* tables */
	uint16_t capacity, peer_capacity;
};

struct planner {
	const struct pkey_job *job;
	struct pkey_plan *plan;
	struct pkey_pool *pool;
	struct members *members;
	struct pkey_wants wants;
	struct place place;
	struct intern questions;
	struct pkey_port_plan *answers; /* by number of the question */
	size_t answers_cap;
	uint16_t *peer; /* room for one table */
	size_t peer_cap;
};

enum pkey_enforce pkey_enforce_mode(const struct conf *conf)
{
	static const struct {
		const char *word;
		enum pkey_enforce mode;
	} words[] = {
		{ "in", PKEY_ENFORCE_IN },
		{ "out", PKEY_ENFORCE_OUT },
		{ "off", PKEY_ENFORCE_OFF },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(conf->part_enforce, words[i].word) == 0)
			return words[i].mode;
	return PKEY_ENFORCE_BOTH;
}

void pkey_job_options(struct pkey_job *job, const struct conf *conf)
{
	job->enforce = pkey_enforce_mode(conf);
	job->allow_both = conf->allow_both_pkeys;
	job->keep_indexes = conf->keep_pkey_indexes;
}

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

static void plan_peer(struct planner *p, uint16_t capacity, struct pkey_port_plan *ret)
{
	struct pkey_table table = pkey_pool_get(p->pool, ret->table);
	int n;

	ret->peer_table = PKEY_NO_TABLE;
	ret->peer_enforce = PKEY_ENFORCE_OFF;
	if (!capacity || p->job->enforce == PKEY_ENFORCE_OFF)
		return;
	GROW(p->peer, table.n + 1u, p->peer_cap);
	n = pkey_peer_table(table, capacity, p->peer);
	if (n < 0) {
		ret->peer_too_small = true;
		return;
	}
	ret->peer_table = pkey_pool_table(p->pool, p->peer, (size_t)n);
	ret->peer_enforce = p->job->enforce;
}

/* --- End ports ------------------------------------------------------------------------------ */

static uint32_t have_of(struct planner *p, const struct pkey_port *port)
{
	if (!p->job->keep_indexes || !port->have)
		return pkey_pool_table(p->pool, NULL, 0);
	return pkey_pool_table(p->pool, port->have, MIN(port->n_have, port->capacity));
}

static uint32_t memory_of(struct planner *p, const struct pkey_port *port)
{
	const struct pkey_plan *before = p->job->keep_indexes ? p->job->previous : NULL;
	size_t at = before ? pkey_plan_find(before, port->guid) : SIZE_MAX;
	struct pkey_table memory = { 0 };

	if (at != SIZE_MAX)
		memory = pkey_plan_table(before, before->ports[at].memory);
	return pkey_pool_table(p->pool, memory.keys, memory.n);
}

static void keep_dropped(struct planner *p, struct pkey_port_plan *ret)
{
	struct pkey_pool *pool = p->pool;

	size_t kept = MIN(p->place.n_dropped, (size_t)PKEY_DROPPED_KEPT);

	ret->n_dropped = (uint16_t)MIN(p->place.n_dropped, (size_t)UINT16_MAX);
	ret->dropped = (uint32_t)pool->n_dropped;
	GROW(pool->dropped, pool->n_dropped + kept + 1, pool->dropped_cap);
	if (kept)
		memcpy(pool->dropped + pool->n_dropped, p->place.dropped,
		       kept * sizeof(*pool->dropped));
	pool->n_dropped += kept;
}

static struct pkey_port_plan answer(struct planner *p, size_t port, const struct question *q)
{
	struct pkey_port_plan ret = { 0 };
	struct place *place = &p->place;

	members_wants(p->members, port, &p->wants);
	place_keys(place, &p->wants, q->capacity, pkey_pool_get(p->pool, q->have),
		   pkey_pool_get(p->pool, q->memory));
	ret.table = pkey_pool_table(p->pool, place->table, q->capacity);
	ret.memory = pkey_pool_table(p->pool, place->memory_after, place->n_memory);
	ret.set = pkey_pool_set(p->pool, ret.table);
	keep_dropped(p, &ret);
	plan_peer(p, q->peer_capacity, &ret);
	return ret;
}

static void plan_port(struct planner *p, size_t i)
{
	const struct pkey_port *port = &p->job->ports[i];
	struct question q;
	uint32_t id;
	size_t known = p->questions.n;

	memset(&q, 0, sizeof(q));
	q.wants = members_kind(p->members, i);
	q.have = have_of(p, port);
	q.memory = memory_of(p, port);
	q.capacity = port->capacity;
	q.peer_capacity = port->peer_capacity;
	id = pkey_intern_put(&p->questions, &q, sizeof(q));
	if (id == known) {
		GROW(p->answers, known + 1, p->answers_cap);
		p->answers[id] = answer(p, i, &q);
	}
	p->plan->ports[i] = p->answers[id];
	p->plan->n_dropped += p->answers[id].n_dropped > 0;
	p->plan->n_peer_too_small += p->answers[id].peer_too_small;
}

static void map_ports(const struct pkey_job *job, struct guidmap *ports)
{
	for (size_t i = 0; i < job->n_ports; i++)
		if (job->ports[i].guid)
			guidmap_put(ports, job->ports[i].guid, (void *)(uintptr_t)(i + 1));
}

struct pkey_plan *pkey_plan(const struct pkey_job *job)
{
	_cleanup_(members_freep) struct members *members = NULL;
	struct pkey_plan *plan = xcalloc(1, sizeof(*plan));
	_cleanup_free_ struct planner *p = xcalloc(1, sizeof(*p));

	plan->pool = pkey_pool_new();
	plan->n_ports = job->n_ports;
	plan->n_partitions = job->partitions->n;
	plan->ports = xcalloc(job->n_ports + 1, sizeof(*plan->ports));
	plan->n_members = xcalloc(plan->n_partitions + 1, sizeof(*plan->n_members));
	map_ports(job, plan->pool->ports);
	members = members_new(job, plan->pool->ports, plan->n_members);
	p->job = job;
	p->plan = plan;
	p->pool = plan->pool;
	p->members = members;
	p->place.allow_both = job->allow_both;
	p->wants.keys = xcalloc(plan->n_partitions * 2 + 1, sizeof(*p->wants.keys));
	for (size_t i = 0; i < job->n_ports; i++)
		plan_port(p, i);
	pkey_pool_seal(plan->pool);
	plan->n_tables = (uint32_t)plan->pool->tables.n;
	plan->n_sets = (uint32_t)plan->pool->sets.n;
	place_clear(&p->place);
	pkey_intern_clear(&p->questions);
	free(p->wants.keys);
	free(p->answers);
	free(p->peer);
	return plan;
}

struct pkey_plan *pkey_plan_free(struct pkey_plan *plan)
{
	if (plan) {
		pkey_pool_free(plan->pool);
		free(plan->ports);
		free(plan->n_members);
		free(plan);
	}
	return NULL;
}

void pkey_plan_freep(struct pkey_plan **plan)
{
	*plan = pkey_plan_free(*plan);
}

const uint16_t *pkey_plan_dropped(const struct pkey_plan *plan, size_t port)
{
	return plan->pool->dropped + plan->ports[port].dropped;
}

size_t pkey_plan_find(const struct pkey_plan *plan, guid_t guid)
{
	const void *found = guid ? guidmap_get(plan->pool->ports, guid) : NULL;

	return found ? (size_t)((uintptr_t)found - 1) : SIZE_MAX;
}

void pkey_table_block(struct pkey_table table, unsigned block, uint16_t ret[PKEY_BLOCK])
{
	size_t start = (size_t)block * PKEY_BLOCK;

	memset(ret, 0, PKEY_BLOCK * sizeof(*ret));
	if (start < table.n)
		memcpy(ret, table.keys + start,
		       MIN(table.n - start, (size_t)PKEY_BLOCK) * sizeof(*ret));
}
