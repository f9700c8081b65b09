// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Key tables of random partitions, ports and tables, and of a large fabric: what holds for all of
 * them. The seed is printed; TEST_SEED repeats a run. The rules one by one: test-pkey.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/attrs.h"
#include "plan/pkey.h"
#include "util/mem.h"

#define _plan_	     _cleanup_(pkey_plan_freep) struct pkey_plan *
#define _partitions_ _cleanup_(partitions_unrefp) struct partitions *

static struct partitions *partitions_of(const char *text)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	struct conf_report r = { 0 };
	struct partitions *p = NULL;

	if (partitions_parse(text, strlen(text), "test", c, &r, &p) < 0)
		fail_msg("%s: %s", text, r.findings[0].text);
	conf_report_clear(&r);
	return p;
}

enum { MAX_PORTS = 24, MAX_KEYS = 48 };

static uint64_t dice;

static unsigned roll(unsigned n)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (unsigned)(dice >> 33) % n;
}

struct random_fabric {
	struct pkey_port ports[MAX_PORTS];
	uint16_t tables[MAX_PORTS][MAX_KEYS];
	struct pkey_job job;
};

static struct partitions *random_partitions(void)
{
	static const char *const who[] = { "ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS",
					   "SELF" };
	static const char *const members[] = { "full", "limited", "both" };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct partitions *p;

	fputs("Default:;", out);
	for (unsigned n = roll(30); n > 0; n--) {
		unsigned key = 1 + roll(8);

		key += roll(3) * 0x100;
		fprintf(out, "=%u%s:", key, roll(6) ? "" : ",indx0");
		for (unsigned items = 1 + roll(6); items > 0; items--) {
			if (roll(3))
				fprintf(out, "%u", 1 + roll(MAX_PORTS + 2));
			else
				fputs(who[roll(ARRAY_SIZE(who))], out);
			fprintf(out, "=%s,", members[roll(3)]);
		}
		fputs(";\n", out);
	}
	fclose(out);
	p = partitions_of(text);
	free(text);
	return p;
}

static void random_ports(struct random_fabric *f)
{
	memset(f, 0, sizeof(*f));
	f->job.n_ports = 1 + roll(MAX_PORTS);
	f->job.ports = f->ports;
	f->job.enforce = PKEY_ENFORCE_BOTH;
	f->job.allow_both = roll(2);
	f->job.keep_indexes = roll(8) != 0;
	for (unsigned i = 0; i < f->job.n_ports; i++) {
		unsigned capacity = roll(3) ? MAX_KEYS : 1 + roll(8), type = 1 + roll(3);

		f->ports[i] = (struct pkey_port){
			.guid = 1 + i,
			.node_type = (uint8_t)type,
			.is_sm = i == 0,
			.capacity = (uint16_t)capacity,
			.have = f->tables[i],
			.n_have = (uint16_t)capacity,
			.peer_capacity = (uint16_t)roll(24),
		};
		for (unsigned k = 0; k < capacity && !roll(2); k++) {
			unsigned base = roll(6) ? roll(10) : 0x7FFF;

			f->tables[i][k] = (uint16_t)((roll(2) << 15) + base);
		}
	}
}

/* What the items say, one by one. */
static unsigned forms_by_hand(const struct pkey_job *job, const struct partition *p, size_t port)
{
	const struct pkey_port *at = &job->ports[port];
	unsigned forms = 0;

	for (size_t i = 0; i < p->n_items; i++) {
		const struct partition_item *item = &p->items[i];
		const bool matches[] = {
			[PARTITION_GUID] = item->guid == at->guid,
			[PARTITION_ALL] = true,
			[PARTITION_ALL_CAS] = at->node_type == IB_NODE_CA,
			[PARTITION_ALL_SWITCHES] = at->node_type == IB_NODE_SWITCH,
			[PARTITION_ALL_ROUTERS] = at->node_type == IB_NODE_ROUTER,
			[PARTITION_SELF] = at->is_sm,
		};

		if (!matches[item->ports])
			continue;
		if (item->member == PARTITION_LIMITED)
			forms = PKEY_SET_LIMITED;
		else if (item->member == PARTITION_FULL || !job->allow_both)
			forms = PKEY_SET_FULL;
		else
			forms = PKEY_SET_FULL | PKEY_SET_LIMITED;
	}
	return forms;
}

/* Every key that is wanted is there once, or was dropped for lack of room; no other is there. */
static void check_port(const struct pkey_job *job, const struct pkey_plan *plan, size_t port)
{
	struct pkey_table table = pkey_plan_table(plan, plan->ports[port].table);
	const struct pkey_set *set = pkey_plan_set(plan, plan->ports[port].set);
	unsigned wanted = 0, held = 0, zeros = 0;

	for (size_t i = 0; i < job->partitions->n; i++) {
		const struct partition *p = &job->partitions->list[i];
		unsigned forms = forms_by_hand(job, p, port), got = pkey_set_find(set, p->pkey);

		assert_int_equal(got & ~forms, 0);
		wanted += (forms & 1) + (forms >> 1);
		held += (got & 1) + (got >> 1);
		if (p->pkey == PKEY_DEFAULT)
			assert_int_not_equal(got, 0);
	}
	for (unsigned i = 0; i < table.n; i++)
		zeros += !table.keys[i];
	assert_true(table.n <= job->ports[port].capacity);
	assert_int_equal(table.n - zeros, held);
	assert_int_equal(wanted - held, plan->ports[port].n_dropped);
	if (wanted > held)
		assert_int_equal(held, job->ports[port].capacity);
	assert_true(table.n && table.keys[0]);
}

static void check_talks(const struct pkey_plan *plan)
{
	for (size_t a = 0; a < plan->n_ports; a++) {
		size_t b = roll((unsigned)plan->n_ports);
		const struct pkey_set *x = pkey_plan_set(plan, plan->ports[a].set);
		const struct pkey_set *y = pkey_plan_set(plan, plan->ports[b].set);
		unsigned first = 0;
		uint16_t key;

		for (unsigned order = 1; order < 0x10000 && !first; order++) {
			unsigned fx = pkey_set_find(x, partition_pkey((uint16_t)order));
			unsigned fy = pkey_set_find(y, partition_pkey((uint16_t)order));

			if (!(order & 0x80) && fx && fy && (fx | fy) & PKEY_SET_FULL)
				first = partition_pkey((uint16_t)order) |
					(fx & PKEY_SET_FULL ? 0x8000u : 0);
		}
		assert_int_equal(pkey_share(x, y, &key), first != 0);
		if (first)
			assert_int_equal(key, first);
	}
}

static void assert_same_tables(const struct pkey_plan *a, const struct pkey_plan *b)
{
	for (size_t i = 0; i < a->n_ports; i++) {
		struct pkey_table x = pkey_plan_table(a, a->ports[i].table);
		struct pkey_table y = pkey_plan_table(b, b->ports[i].table);

		assert_int_equal(x.n, y.n);
		assert_memory_equal(x.keys, y.keys, x.n * sizeof(*x.keys));
		assert_int_equal(a->ports[i].peer_enforce, b->ports[i].peer_enforce);
	}
}

/* After the tables were written: with memory and, after a restart, without. */
static void check_repeated(struct random_fabric *f, const struct pkey_plan *plan)
{
	_plan_ again = NULL;
	_plan_ restarted = NULL;

	for (size_t i = 0; i < f->job.n_ports; i++)
		for (unsigned k = 0; k < MAX_KEYS; k++) {
			struct pkey_table t = pkey_plan_table(plan, plan->ports[i].table);

			f->tables[i][k] = k < t.n ? t.keys[k] : 0;
		}
	f->job.previous = plan;
	again = pkey_plan(&f->job);
	assert_same_tables(plan, again);
	f->job.previous = NULL;
	restarted = pkey_plan(&f->job);
	assert_same_tables(plan, restarted);
}

/* The ports in another order: no table changes. */
static void check_order(const struct random_fabric *f, const struct pkey_plan *plan)
{
	struct pkey_port backwards[MAX_PORTS];
	struct pkey_job job = f->job;
	_plan_ other = NULL;

	for (size_t i = 0; i < job.n_ports; i++)
		backwards[job.n_ports - 1 - i] = f->ports[i];
	job.ports = backwards;
	other = pkey_plan(&job);
	for (size_t i = 0; i < job.n_ports; i++) {
		size_t at = pkey_plan_find(other, f->ports[i].guid);
		struct pkey_table x = pkey_plan_table(plan, plan->ports[i].table);
		struct pkey_table y = pkey_plan_table(other, other->ports[at].table);

		assert_int_equal(x.n, y.n);
		assert_memory_equal(x.keys, y.keys, x.n * sizeof(*x.keys));
	}
	assert_int_equal(plan->n_tables, other->n_tables);
	assert_int_equal(plan->n_sets, other->n_sets);
}

static void random_fabrics_keep_the_rules(void **state)
{
	const char *seed = getenv("TEST_SEED");

	dice = seed ? strtoull(seed, NULL, 0) : 0x9A7717105ull;
	print_message("# TEST_SEED=0x%llx\n", (unsigned long long)dice);
	for (unsigned round = 0; round < 150; round++) {
		struct random_fabric f;
		_plan_ before = NULL;

		random_ports(&f);
		for (unsigned step = 0; step < 4; step++) {
			_partitions_ p = random_partitions();
			struct pkey_plan *plan;

			f.job.partitions = p;
			f.job.previous = before;
			plan = pkey_plan(&f.job);
			for (size_t i = 0; i < f.job.n_ports; i++)
				check_port(&f.job, plan, i);
			check_order(&f, plan);
			check_repeated(&f, plan);
			pkey_plan_free(before);
			before = plan;
		}
		check_talks(before);
	}
}

/* 48K ports named one by one in one partition, 1,000 others for all: the size is what is tested. */
static void large_fabrics_have_few_tables(void **state)
{
	enum { N = 49152 };
	struct pkey_port *ports = xcalloc(N, sizeof(*ports));
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	_partitions_ p = NULL;
	_plan_ plan = NULL;

	for (unsigned i = 1; i <= 1000; i++)
		fprintf(out, "=%u:ALL_CAS;", i);
	fputs("=2000:", out);
	for (unsigned i = 0; i < N; i++) {
		ports[i] = (struct pkey_port){ .guid = i + 1, .node_type = 1, .capacity = 128 };
		fprintf(out, "%u%s,", i + 1, i % 3 ? "" : "=full");
	}
	fclose(out);
	p = partitions_of(text);
	plan = pkey_plan(&(struct pkey_job){
		.partitions = p, .ports = ports, .n_ports = N, .keep_indexes = true });
	assert_int_equal(plan->n_dropped, N);
	assert_int_equal(plan->ports[0].n_dropped, 1000 + 2 - 128);
	assert_true(plan->n_tables <= 4);
	free(ports);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_fabrics_keep_the_rules),
		cmocka_unit_test(large_fabrics_have_few_tables),
	};

	return cmocka_run_group_tests_name("pkey-random", tests, NULL, NULL);
}
