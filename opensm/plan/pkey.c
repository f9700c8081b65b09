// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Key tables of all ports, and of the switch ports that face them. Ports that want the same, hold
 * the same and have the same room get the same answer, which is worked out once.
 */
#include "plan/pkey.h"

#include <assert.h>
#include <string.h>

#include "plan/pkey_internal.h"
#include "util/mem.h"

/* All that the answer for a port depends on. */
struct question {
	uint32_t wants;			   /* pkey_rights_kind() */
	uint32_t have, memory, peer_before; /* tables */
	uint16_t capacity, peer_capacity;
};

struct planner {
	const struct pkey_job *job;
	const struct pkey_rights *rights;
	struct pkey_plan *plan;
	struct pkey_pool *pool;
	struct pkey_kinds kinds;
	struct intern questions;
	struct pkey_port_plan *answers; /* by number of the question */
	size_t answers_cap;
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

static uint32_t pooled(struct planner *p, struct pkey_table table)
{
	return pkey_pool_table(p->pool, table.keys, table.n);
}

static void ask_question(struct planner *p, const struct pkey_port *port, struct question *ret)
{
	const struct pkey_plan *last = p->job->previous;
	size_t at = last ? pkey_plan_find(last, port->guid) : SIZE_MAX;
	const struct pkey_port_plan *before = at == SIZE_MAX ? NULL : &last->ports[at];
	const struct pkey_pool *pool = last ? last->pool : NULL;
	bool is_still = pkey_is_still(p->job->tenants, port);

	memset(ret, 0, sizeof(*ret));
	ret->wants = pkey_rights_kind(p->rights, p->job->tenants, port, &p->kinds);
	ret->have = pooled(p, pkey_have(p->job, port));
	ret->memory = pooled(p, pkey_memory(p->job, pool, before, is_still));
	ret->peer_before = pooled(p, pkey_peer_before(p->job, pool, before, is_still));
	ret->capacity = port->capacity;
	ret->peer_capacity = port->peer_capacity;
}

static void answer_question(struct planner *p, const struct pkey_port *port,
			    const struct question *q, struct pkey_port_plan *ret)
{
	struct pkey_answer *a = p->pool->answer;
	struct pkey_input in = {
		.have = pkey_pool_get(p->pool, q->have),
		.memory = pkey_pool_get(p->pool, q->memory),
		.peer_before = pkey_pool_get(p->pool, q->peer_before),
		.capacity = q->capacity,
		.peer_capacity = q->peer_capacity,
		.enforce = p->job->enforce,
		.allow_both = p->job->allow_both,
	};

	pkey_rights_wants(p->rights, p->job, port, &a->wants);
	pkey_answer_make(a, &in);
	pkey_answer_keep(a, p->pool, p->job->enforce, ret);
}

static void plan_port(struct planner *p, size_t i)
{
	const struct pkey_port *port = &p->job->ports[i];
	struct question q;
	uint32_t id;
	size_t known = p->questions.n;

	ask_question(p, port, &q);
	id = pkey_intern_put(&p->questions, &q, sizeof(q));
	if (id == known) {
		GROW(p->answers, known + 1, p->answers_cap);
		answer_question(p, port, &q, &p->answers[id]);
	}
	p->plan->ports[i] = p->answers[id];
	if (p->answers[id].n_dropped)
		p->plan->n_dropped++;
	if (p->answers[id].peer_too_small)
		p->plan->n_peer_too_small++;
}

static void map_ports(const struct pkey_job *job, struct guidmap *ports)
{
	for (size_t i = 0; i < job->n_ports; i++)
		if (job->ports[i].guid)
			guidmap_put(ports, job->ports[i].guid, (void *)(uintptr_t)(i + 1));
}

struct pkey_plan *pkey_plan(const struct pkey_job *job)
{
	_cleanup_(pkey_rights_freep) struct pkey_rights *own =
		job->rights ? NULL : pkey_rights_new(job->partitions);
	struct pkey_plan *plan = xcalloc(1, sizeof(*plan));
	struct planner p = { .job = job, .plan = plan, .rights = own ? own : job->rights };

	assert(job->partitions && (!job->n_ports || job->ports));
	plan->pool = p.pool = pkey_pool_new();
	plan->pool->answer = xcalloc(1, sizeof(*plan->pool->answer));
	plan->n_ports = job->n_ports;
	plan->ports = xcalloc(job->n_ports + 1, sizeof(*plan->ports));
	map_ports(job, plan->pool->ports);
	for (size_t i = 0; i < job->n_ports; i++)
		plan_port(&p, i);
	plan->n_tables = (uint32_t)plan->pool->tables.n;
	plan->n_sets = (uint32_t)plan->pool->sets.n;
	plan->pool->n_fresh = plan->pool->tables.n;
	pkey_kinds_clear(&p.kinds);
	pkey_intern_clear(&p.questions);
	free(p.answers);
	return plan;
}

struct pkey_plan *pkey_plan_free(struct pkey_plan *plan)
{
	if (plan) {
		pkey_answer_free(plan->pool->answer);
		pkey_pool_free(plan->pool);
		free(plan->ports);
		free(plan);
	}
	return NULL;
}

const uint16_t *pkey_plan_dropped(const struct pkey_plan *plan, size_t port)
{
	assert(port < plan->n_ports);
	return plan->pool->dropped + plan->ports[port].dropped;
}

void pkey_table_block(struct pkey_table table, unsigned block, uint16_t ret[PKEY_BLOCK])
{
	size_t start = (size_t)block * PKEY_BLOCK;

	memset(ret, 0, PKEY_BLOCK * sizeof(*ret));
	if (start < table.n)
		memcpy(ret, table.keys + start,
		       MIN(table.n - start, (size_t)PKEY_BLOCK) * sizeof(*ret));
}
