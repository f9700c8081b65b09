// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as partitions.conf, then planned on a small fabric. What is accepted is in order
 * and in range, and means the same when it is read again; what is not accepted has an error that
 * says where; planning what was planned changes nothing.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/pkey.h"
#include "util/mem.h"

#define NAME	 "partitions.conf"
#define N_PORTS	 6
#define CAPACITY 5

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void require_list(const struct partitions *p)
{
	require(p->n >= 1 && partitions_find(p, PKEY_DEFAULT));
	for (size_t i = 0; i < p->n; i++) {
		const struct partition *a = &p->list[i];

		require(a->pkey >= 1 && a->pkey <= PKEY_BASE && a->sl <= 15);
		require(a->n_items || a->api);
		require(a->name[0] && strlen(a->name) <= PARTITION_NAME_MAX);
		require(!i || partition_order(p->list[i - 1].pkey) < partition_order(a->pkey));
		require(partitions_find(p, a->pkey) == a);
		for (size_t k = 0; k < a->n_items; k++)
			require((a->items[k].guid != 0) == (a->items[k].ports == PARTITION_GUID) &&
				a->items[k].ports <= PARTITION_SELF &&
				a->items[k].member <= PARTITION_BOTH);
	}
}

static void require_groups(const struct partitions *p)
{
	require(p->n_groups <= PARTITION_GROUPS_MAX);
	for (size_t i = 0; i < p->n_groups; i++) {
		const struct partition_group *g = &p->groups[i];

		require(g->mgid[0] == 0xFF && (g->mgid[1] & 0xF) == g->scope && g->scope);
		require(g->partition < p->n && g->pkey == (p->list[g->partition].pkey | PKEY_FULL));
		require(g->mtu >= 1 && g->mtu <= 5 && g->rate >= 2 && g->rate <= 24);
		require(g->sl <= 15 && g->flow <= 0xFFFFF && g->hop == (g->scope == 2 ? 0 : 255));
		for (size_t k = 0; k < i; k++)
			require(memcmp(g->mgid, p->groups[k].mgid, 16) != 0);
	}
}

static void require_findings(const struct conf_report *r, const char *text, size_t len)
{
	unsigned lines = 1;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	for (size_t i = 0; i < r->n; i++) {
		require(r->findings[i].line <= lines && r->findings[i].text[0]);
		for (const char *s = r->findings[i].text; *s; s++)
			require((unsigned char)*s >= ' ' && (unsigned char)*s < 0x7F);
	}
}

static void require_steady(const struct partitions *p, bool allow_both)
{
	uint16_t tables[N_PORTS][CAPACITY] = { 0 };
	struct pkey_port ports[N_PORTS] = { 0 };
	struct pkey_job job = { .partitions = p,
				.ports = ports,
				.n_ports = N_PORTS,
				.allow_both = allow_both,
				.keep_indexes = true };
	_cleanup_(pkey_plan_freep) struct pkey_plan *plan = NULL, *again = NULL;

	for (unsigned i = 0; i < N_PORTS; i++)
		ports[i] = (struct pkey_port){ .guid = i + 1,
					       .node_type = (uint8_t)(1 + i % 3),
					       .is_sm = !i,
					       .capacity = CAPACITY,
					       .have = tables[i],
					       .n_have = CAPACITY };
	plan = pkey_plan(&job);
	for (unsigned i = 0; i < N_PORTS; i++) {
		struct pkey_table t = pkey_plan_table(plan, plan->ports[i].table);

		require(t.n <= CAPACITY &&
			pkey_set_find(pkey_plan_set(plan, plan->ports[i].set), PKEY_DEFAULT));
		memcpy(tables[i], t.keys, t.n * sizeof(*t.keys));
	}
	again = pkey_plan(&job);
	for (unsigned i = 0; i < N_PORTS; i++) {
		struct pkey_table t = pkey_plan_table(again, again->ports[i].table);

		require(memcmp(tables[i], t.keys, t.n * sizeof(*t.keys)) == 0);
	}
}

static void try_text(const char *text, size_t len, const struct conf *c)
{
	_cleanup_(partitions_unrefp) struct partitions *p = NULL, *again = NULL;
	struct conf_report r = { 0 }, none = { 0 };
	int e = partitions_parse(text, len, NAME, c, &r, &p);
	size_t saved;

	require(e == 0 || e == -EINVAL);
	require((e < 0) == (r.errors > 0) && (e < 0) == (p == NULL));
	require_findings(&r, text, len);
	if (p) {
		require_list(p);
		require_groups(p);
		partitions_text(p, &saved);
		/* partitions_builtin(), of a file without a statement, has no text. */
		require(!saved || (saved == len && memcmp(p->text, text, len) == 0));
		require(!saved || partitions_parse(p->text, saved, NAME, c, &none, &again) == 0);
		require(!saved || (partitions_equal(p, again) && none.n == r.n));
		require_steady(p, c->allow_both_pkeys);
	}
	conf_report_clear(&r);
	conf_report_clear(&none);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();

	try_text((const char *)input, len, c);
	c->qos = true;
	c->allow_both_pkeys = true;
	c->ipoib_mcgroup_creation_validation = false;
	try_text((const char *)input, len, c);
	return 0;
}
