// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares the whole fabric with the file. Facts are collected between two sweeps, a limited number
 * per tick, and again if another sweep comes; the comparison is a job. Nothing is done if the
 * fabric was compared already.
 */
#include <string.h>

#include "sm/base/job.h"
#include "sm/expected/expected_internal.h"
#include "util/bisect.h"
#include "util/hash.h"
#include "util/mem.h"

#define FACTS_PER_TICK 2048u /* nodes and ports, which take less than a millisecond */

struct compare_job {
	struct meant *want;
	struct expect_builder *facts;
	struct drift *ret;
	bool is_off[EXPECT_KINDS];
	bool port_guids, names;
	/* set if a node with the same name is accepted: expected_topology_node_guid off */
	bool same_name_counts;
	uint64_t hash;
};

/* ---- the facts ------------------------------------------------------------------------------- */

static struct expect_rate best_of(const struct port *p)
{
	return p->known ? expect_best_of(p->info, fabric_speed_sets(p)) : (struct expect_rate){ 0 };
}

static struct expect_port end_of(const struct port *p)
{
	return (struct expect_port){ .guid = node_is_switch(p->node) ? 0 : p->guid,
				     .node = p->node->index,
				     .number = p->num,
				     .rate = expected_rate(p),
				     .best = best_of(p) };
}

static uint64_t hash_port(uint64_t h, const struct expect_port *p)
{
	const uint64_t words[] = { p->guid, (uint64_t)p->node << 8 | p->number,
				   (uint64_t)p->rate.width << 16 | p->rate.speed,
				   (uint64_t)p->best.width << 16 | p->best.speed };

	return hash_bytes(h, words, sizeof(words));
}

static uint64_t add_cables(struct expect_builder *b, const struct node *n, uint64_t h)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];
		struct expect_port one, two;

		if (!p->peer || p->peer == p || p->peer->node->index < n->index ||
		    (p->peer->node == n && p->peer->num < i))
			continue;
		one = end_of(p);
		two = end_of(p->peer);
		expect_add_cable(b, &one, &two);
		h = hash_port(hash_port(h, &one), &two);
	}
	return h;
}

static uint64_t add_node(struct expect_builder *b, const struct node *n, bool by_name, uint64_t h)
{
	const struct expect_node node = { .guid = n->guid,
					  .sysimg_guid = n->sysimg_guid,
					  .type = expected_seen(&n->ports[0]).type,
					  .name = by_name ? expected_name(n) : n->desc,
					  .size = n->n_ports };

	expect_add_node(b, &node);
	h = hash_bytes(h, &n->guid, sizeof(n->guid));
	return hash_bytes(h, node.name, strlen(node.name));
}

/* Collects facts: first all nodes, then their cables. False: `budget` is spent before the end. */
static bool collect(const struct sm *sm, struct facts *f, uint32_t budget)
{
	uint32_t n = sm->fabric->n_nodes, spent = 0;

	while (f->at < 2 * n && spent < budget) {
		const struct node *node = sm->fabric->nodes[f->at % n];

		f->hash = f->at < n ? add_node(f->builder, node, f->by_name, f->hash)
				    : add_cables(f->builder, node, f->hash);
		spent += f->at < n ? 1 : node->n_ports + 1u;
		f->at++;
	}
	return f->at == 2 * n;
}

static struct facts facts_new(void)
{
	return (struct facts){ .builder = expect_builder_new(), .hash = HASH_START };
}

void expected_drop_facts(struct sm *sm)
{
	struct expected *e = sm->m.expected;

	e->stale |= e->facts.builder != NULL;
	e->facts.builder = expect_builder_free(e->facts.builder);
}

/* ---- the job --------------------------------------------------------------------------------- */

static bool is_told(const struct compare_job *job, const struct expect_finding *f)
{
	bool replaced = f->kind == EXPECT_REPLACED_HCA || f->kind == EXPECT_REPLACED_SWITCH;

	if (replaced && job->same_name_counts && f->node.name[0] &&
	    !strcmp(f->node.name, f->other.name))
		return false;
	return !job->is_off[f->kind];
}

static int by_key(const void *va, const void *vb)
{
	const struct drift_row *a = va, *b = vb;

	return COMPARE(a->key, b->key) ?: COMPARE(a->finding, b->finding);
}

static void make_rows(const struct compare_job *job, struct drift *d)
{
	const struct expect_report *r = d->report;

	d->rows = xcalloc(r->n_findings + 1u, sizeof(*d->rows));
	for (uint32_t i = 0; i < r->n_findings; i++) {
		const struct expect_finding *f = &r->findings[i];

		if (!is_told(job, f))
			continue;
		d->of_kind[f->kind]++;
		d->rows[d->n++] = (struct drift_row){ .key = expect_finding_key(r, f),
						      .finding = i,
						      .kind = f->kind,
						      .text = expect_finding_str(r, f) };
	}
	qsort(d->rows, d->n, sizeof(*d->rows), by_key);
}

/* Does the file give rates? They are then compared, and not the capabilities of devices. */
static bool says_rates(const struct expect *x)
{
	for (uint32_t i = 0; i < x->n_ports; i++)
		if (x->ports[i].rate.speed)
			return true;
	return false;
}

static void forget_best(struct expect *x)
{
	for (uint32_t i = 0; i < x->n_ports; i++)
		x->ports[i].best = (struct expect_rate){ 0 };
}

static int run_compare(void *data)
{
	struct compare_job *job = data;
	struct drift *d = job->ret = xcalloc(1, sizeof(*d));

	d->refs = 1;
	d->have = expect_build(take(job->facts));
	d->want = expect_resolved(job->want->x, d->have) ?: expect_dup(job->want->x);
	d->learnt = job->want->learnt;
	d->format = expect_text_format(job->want->text, job->want->len);
	if (says_rates(d->want))
		forget_best(d->have);
	d->report = expect_compare(d->want, d->have);
	expect_check_names(d->report, d->want, d->have, job->port_guids, job->names);
	make_rows(job, d);
	return 0;
}

static void end_compare(struct sm *sm, void *data, int error)
{
	struct expected *e = sm->m.expected;
	struct compare_job *job = data;

	e->comparing = false;
	/* Another file, or another manager, may be in force by now. */
	if (job->ret && e->now == job->want && sm->state == SM_MASTER) {
		e->compared = job->hash;
		expected_tell(sm, take(job->ret));
	}
	if (e->stale && sm->sweep == SWEEP_NONE)
		expected_compare(sm);
}

static void free_compare(void *data)
{
	struct compare_job *job = data;

	drift_unref(job->ret);
	expect_builder_free(job->facts);
	meant_unref(job->want);
	free(job);
}

static bool is_off(const char *mode)
{
	return !strcmp(mode, "off");
}

static void set_modes(struct compare_job *job, const struct sm *sm)
{
	const struct conf *c = sm->conf;
	bool no_links =
		is_off(c->expected_topology_links) && !(expected_modes(sm) & EXPECT_FLAW_LINK);

	for (unsigned i = 0; i < EXPECT_KINDS; i++)
		job->is_off[i] = no_links && i != EXPECT_DUPLICATE_GUID && i != EXPECT_TYPE_CHANGED;
	job->is_off[EXPECT_REPLACED_HCA] = job->is_off[EXPECT_REPLACED_SWITCH] =
		no_links && is_off(c->expected_topology_node_guid);
	job->is_off[EXPECT_DEGRADED] = is_off(c->expected_topology_rate);
	job->port_guids = !is_off(c->expected_topology_port_guid);
	job->names = !is_off(c->expected_topology_description);
	job->is_off[EXPECT_PORT_GUID] = job->is_off[EXPECT_RENAMED] = false;
	job->same_name_counts = is_off(c->expected_topology_node_guid);
}

static void submit(struct sm *sm)
{
	struct expected *e = sm->m.expected;
	struct compare_job *job = xcalloc(1, sizeof(*job));
	uint64_t modes = HASH_START;

	set_modes(job, sm);
	modes = hash_bytes(modes, job->is_off, sizeof(job->is_off));
	modes = hash_bytes(modes, &job->port_guids, sizeof(job->port_guids));
	modes = hash_bytes(modes, &job->names, sizeof(job->names));
	job->facts = take(e->facts.builder);
	job->hash = hash_bytes(e->facts.hash, &modes, sizeof(modes));
	if (!e->now || job->hash == e->compared) {
		expect_builder_free(job->facts);
		free(job);
		return;
	}
	job->want = e->now;
	job->want->refs++;
	e->comparing = true;
	job_start(sm, JOB("comparing the topology", run_compare, end_compare, free_compare), job);
}

void expected_compare(struct sm *sm)
{
	struct expected *e = sm->m.expected;

	expected_drop_facts(sm);
	if (!e->now || !e->stale || e->comparing || sm->state != SM_MASTER)
		return;
	e->stale = false;
	e->facts = facts_new();
	e->facts.by_name = e->now->x->slots;
}

void expected_collect(struct sm *sm)
{
	if (collect(sm, &sm->m.expected->facts, FACTS_PER_TICK))
		submit(sm);
}
