// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Key tables of ports with rights made at run time, and plans that are changed for one port: the
 * rules one by one, then random lives, whose seed is printed (TEST_SEED repeats a run).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/tenants/tenants.h"
#include "ib/attrs.h"
#include "plan/pkey.h"
#include "util/mem.h"

enum { MAX_PORTS = 12, MAX_KEYS = 256 };
#define GUID(port) (0x10u + (port))

struct life {
	struct pkey_port ports[MAX_PORTS];
	uint16_t tables[MAX_PORTS][MAX_KEYS];
	struct partitions *partitions;
	struct pkey_rights *rights;
	struct tenants *tenants;
	struct pkey_job job;
	struct pkey_plan *plan;
};

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

static void set_partitions(struct life *l, const char *text)
{
	pkey_rights_free(l->rights);
	partitions_unref(l->partitions);
	l->partitions = partitions_of(text);
	l->rights = pkey_rights_new(l->partitions);
	l->job.partitions = l->partitions;
	l->job.rights = l->rights;
}

/* Hosts with room for 128 keys, and as much before them, their tables empty. */
static void life_init(struct life *l, unsigned n_ports, const char *text)
{
	memset(l, 0, sizeof(*l));
	for (unsigned i = 0; i < n_ports; i++)
		l->ports[i] = (struct pkey_port){
			.guid = GUID(i),
			.node_type = IB_NODE_CA,
			.is_sm = i == 0,
			.capacity = 128,
			.have = l->tables[i],
			.n_have = 128,
			.peer_capacity = 128,
		};
	l->tenants = tenants_new();
	l->job = (struct pkey_job){
		.ports = l->ports,
		.n_ports = n_ports,
		.tenants = l->tenants,
		.enforce = PKEY_ENFORCE_BOTH,
		.keep_indexes = true,
	};
	set_partitions(l, text);
}

static void life_clear(struct life *l)
{
	pkey_plan_free(l->plan);
	pkey_rights_free(l->rights);
	partitions_unref(l->partitions);
	tenants_free(l->tenants);
}

/* What the device holds is what was planned. */
static void apply(struct life *l, unsigned port)
{
	struct pkey_table t = pkey_plan_table(l->plan, l->plan->ports[port].table);

	for (unsigned k = 0; k < MAX_KEYS; k++)
		l->tables[port][k] = k < t.n ? t.keys[k] : 0;
}

static void plan_whole(struct life *l)
{
	struct pkey_plan *plan;

	l->job.previous = l->plan;
	plan = pkey_plan(&l->job);
	pkey_plan_free(l->plan);
	l->plan = plan;
	l->job.previous = NULL;
}

static void grant(struct life *l, unsigned port, uint16_t pkey, bool full, bool index0)
{
	struct tenant_row rows[] = {
		{ .kind = TENANT_ROW_PARTITION, .pkey = pkey, .fields = { .name = "t" } },
		{ .kind = TENANT_ROW_MEMBER,
		  .pkey = pkey,
		  .member = { GUID(port), full, index0 } },
	};
	struct tenant_entry e = { .generation = tenants_generation(l->tenants) + 1,
				  .rows = rows,
				  .n_rows = ARRAY_SIZE(rows) };

	tenants_play(l->tenants, &e);
}

static void revoke(struct life *l, unsigned port, uint16_t pkey)
{
	struct tenant_row row = { .kind = TENANT_ROW_LEFT,
				  .pkey = pkey,
				  .member = { .guid = GUID(port) } };
	struct tenant_entry e = { .generation = tenants_generation(l->tenants) + 1,
				  .rows = &row,
				  .n_rows = 1 };

	if (tenants_find(l->tenants, pkey))
		tenants_play(l->tenants, &e);
}

static void plan_and_apply(struct life *l, unsigned port)
{
	pkey_plan_port(l->plan, &l->job, &l->ports[port]);
	apply(l, port);
}

static void words_of(const uint16_t *keys, unsigned n, char *ret, size_t size)
{
	size_t len = 0;

	ret[0] = '\0';
	for (unsigned i = 0; i < n && len < size; i++)
		len += (size_t)snprintf(ret + len, size - len, "%s%04x", i ? " " : "", keys[i]);
}

/* The tables of host 1, and of the switch port that faces it. */
static void assert_tables(const struct life *l, const char *own, const char *peer)
{
	const struct pkey_port_plan *p = &l->plan->ports[1];
	struct pkey_table of_port = pkey_plan_table(l->plan, p->table);
	struct pkey_table of_peer = pkey_plan_table(l->plan, p->peer_table);
	char words[400];

	words_of(of_port.keys, of_port.n, words, sizeof(words));
	assert_string_equal(words, own);
	words_of(of_peer.keys, of_peer.n, words, sizeof(words));
	assert_string_equal(words, peer);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void new_keys_take_the_lowest_free_index(void **state)
{
	struct life l;

	life_init(&l, 2, "A=1:0x11=full;B=2:0x11=full;");
	plan_whole(&l);
	apply(&l, 1);
	assert_tables(&l, "7fff 8001 8002", "7fff 8001 8002");
	grant(&l, 1, 5, true, false);
	grant(&l, 1, 6, false, false);
	plan_and_apply(&l, 1);
	assert_tables(&l, "7fff 8001 8002 8005 0006", "7fff 8001 8002 8005 0006");
	revoke(&l, 1, 5);
	plan_and_apply(&l, 1);
	assert_tables(&l, "7fff 8001 8002 0000 0006", "7fff 8001 8002 0000 0006");
	grant(&l, 1, 7, true, false);
	grant(&l, 1, 5, true, false);
	plan_and_apply(&l, 1);
	assert_tables(&l, "7fff 8001 8002 8005 0006 8007", "7fff 8001 8002 8005 0006 8007");
	life_clear(&l);
}

static void membership_changes_in_place(void **state)
{
	for (unsigned both = 0; both < 2; both++) {
		struct life l;

		life_init(&l, 2, "A=1:0x11=full;");
		l.job.allow_both = both;
		plan_whole(&l);
		grant(&l, 1, 5, true, false);
		grant(&l, 1, 6, true, false);
		plan_and_apply(&l, 1);
		grant(&l, 1, 5, false, false);
		plan_and_apply(&l, 1);
		assert_tables(&l, "7fff 8001 0005 8006", "7fff 8001 0005 8006");
		life_clear(&l);
	}
}

/* The occupant of index 0 goes to a free index and comes back; no other key moves. */
static void index0_goes_and_the_default_key_is_back(void **state)
{
	struct life l;

	life_init(&l, 2, "A=1:0x11=full;");
	plan_whole(&l);
	apply(&l, 1);
	grant(&l, 1, 5, true, true);
	plan_and_apply(&l, 1);
	assert_tables(&l, "8005 8001 7fff", "7fff 8001 8005");
	grant(&l, 1, 6, true, true); /* the later claim counts */
	plan_and_apply(&l, 1);
	assert_tables(&l, "8006 8001 7fff 8005", "7fff 8001 8005 8006");
	revoke(&l, 1, 6);
	plan_and_apply(&l, 1);
	assert_tables(&l, "7fff 8001 0000 8005", "7fff 8001 8005");
	revoke(&l, 1, 5);
	plan_and_apply(&l, 1);
	assert_tables(&l, "7fff 8001", "7fff 8001");
	life_clear(&l);
}

/* Partitions of the file for host 1, and what run time says of P_Key 1. */
static const struct {
	const char *text;
	bool full, index0;
	const char *own;
} joined[] = {
	{ "A=1:0x11=full;", false, false, "7fff 0001" },
	{ "A=1:0x11;", true, false, "7fff 8001" },
	{ "A=1:ALL=full;", false, false, "7fff 0001" },
	{ "A=1:0x11=both;", true, false, "7fff 8001" },
	{ "A=1,indx0:0x11=full;", true, false, "7fff 8001" },
	{ "A=1:0x11=full;B=2,indx0:0x11;", true, true, "8001 0002 7fff" },
	{ "B=2,indx0:0x11;", true, false, "0002 8001 7fff" },
	{ "B=2:0x12;", true, false, "7fff 8001" },
};

static void run_time_decides_behind_the_file(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(joined); i++) {
		struct life l;
		char words[400];
		struct pkey_table t;

		life_init(&l, 2, joined[i].text);
		grant(&l, 1, 1, joined[i].full, joined[i].index0);
		plan_whole(&l);
		t = pkey_plan_table(l.plan, l.plan->ports[1].table);
		words_of(t.keys, t.n, words, sizeof(words));
		if (strcmp(words, joined[i].own) != 0)
			fail_msg("%s: %s, expected %s", joined[i].text, words, joined[i].own);
		life_clear(&l);
	}
}

static void the_default_partition_may_be_given_at_run_time(void **state)
{
	struct life l;

	life_init(&l, 2, "Default:ALL;");
	grant(&l, 1, PKEY_DEFAULT, true, false);
	plan_whole(&l);
	assert_tables(&l, "ffff", "ffff");
	revoke(&l, 1, PKEY_DEFAULT);
	plan_and_apply(&l, 1);
	assert_tables(&l, "7fff", "7fff");
	life_clear(&l);
}

/* Before the first change is written a second one comes: the first key stays where it was given. */
static void keys_on_their_way_keep_their_index(void **state)
{
	struct life l;

	life_init(&l, 2, "Default:ALL;");
	plan_whole(&l);
	apply(&l, 1);
	grant(&l, 1, 6, true, false);
	pkey_plan_port(l.plan, &l.job, &l.ports[1]);
	grant(&l, 1, 5, true, false);
	pkey_plan_port(l.plan, &l.job, &l.ports[1]);
	assert_tables(&l, "7fff 8006 8005", "7fff 8006 8005");
	l.ports[1].have = NULL; /* it went, and came back unread */
	pkey_plan_port(l.plan, &l.job, &l.ports[1]);
	assert_tables(&l, "7fff 8006 8005", "7fff 8006 8005");
	life_clear(&l);
}

static void ports_not_planned_are_ignored(void **state)
{
	struct pkey_port stranger = { .guid = 0x99, .node_type = IB_NODE_CA, .capacity = 32 };
	struct life l;
	struct pkey_trial trial;

	life_init(&l, 2, "A=1:ALL=full;");
	plan_whole(&l);
	pkey_plan_port(l.plan, &l.job, &stranger);
	assert_int_equal(l.plan->n_ports, 2);
	pkey_plan_try(l.plan, &l.job, &stranger, &trial);
	assert_int_equal(trial.n, 2);
	assert_int_equal(trial.keys[1], 0x8001);
	assert_null(trial.peer_keys);
	pkey_trial_clear(&trial);
	life_clear(&l);
}

/* ---- room ------------------------------------------------------------------------------------ */

/* Keys besides the default key, and which blocks hold them. */
static void sizes_of_tables(void **state)
{
	static const unsigned sizes[] = { 1, 32, 33, 64, 127, 128, 129, 255 };

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct life l;
		const struct pkey_port_plan *row;
		unsigned fits = MIN(sizes[i], 127u);

		life_init(&l, 2, "Default:ALL;");
		plan_whole(&l);
		for (unsigned k = 1; k <= sizes[i]; k++) {
			grant(&l, 1, (uint16_t)k, true, false);
			plan_and_apply(&l, 1);
		}
		row = &l.plan->ports[1];
		assert_int_equal(pkey_plan_table(l.plan, row->table).n, fits + 1);
		assert_int_equal(pkey_plan_table(l.plan, row->peer_table).n, fits + 1);
		assert_int_equal(row->n_dropped, sizes[i] - fits);
		assert_int_equal(l.plan->n_dropped, sizes[i] > fits ? 1 : 0);
		for (unsigned k = 1; k <= fits; k++)
			assert_int_equal(pkey_plan_table(l.plan, row->table).keys[k], 0x8000 | k);
		if (sizes[i] > fits)
			assert_int_equal(pkey_plan_dropped(l.plan, 1)[0], 0x8080);
		life_clear(&l);
	}
}

/* Room of the port and of its switch port; what a third key comes to. */
static const struct {
	uint16_t capacity, peer;
	unsigned dropped;
	bool too_small;
} edges[] = {
	{ 0, 32, 3, false }, { 1, 32, 2, false }, { 2, 32, 1, false },	{ 3, 32, 0, false },
	{ 32, 0, 0, false }, { 32, 1, 0, true },  { 32, 2, 0, true },	{ 32, 3, 0, false },
	{ 31, 31, 0, false }, { 33, 33, 0, false }, { 128, 128, 0, false },
};

static void the_trial_tells_what_finds_no_room(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(edges); i++) {
		struct pkey_trial trial;
		struct life l;

		life_init(&l, 2, "Default:ALL;A=1:0x11=full;");
		l.ports[1].capacity = edges[i].capacity;
		l.ports[1].peer_capacity = edges[i].peer;
		plan_whole(&l);
		grant(&l, 1, 0x33, true, false);
		pkey_plan_try(l.plan, &l.job, &l.ports[1], &trial);
		assert_int_equal(trial.n_dropped, edges[i].dropped);
		assert_int_equal(trial.peer_too_small, edges[i].too_small);
		assert_int_equal(trial.peer_keys != NULL,
				 edges[i].peer && !edges[i].too_small);
		assert_int_equal(trial.first_dropped != 0, edges[i].dropped != 0);
		assert_true(trial.n <= edges[i].capacity);
		pkey_trial_clear(&trial);
		life_clear(&l);
	}
}

/* A full table has room again when one key goes, and only there. */
static void full_tables_take_a_key_for_one_that_goes(void **state)
{
	struct life l;
	struct pkey_trial trial;

	life_init(&l, 2, "Default:ALL;");
	l.ports[1].capacity = l.ports[1].peer_capacity = 32;
	plan_whole(&l);
	for (uint16_t k = 1; k <= 31; k++)
		grant(&l, 1, k, true, false);
	plan_and_apply(&l, 1);
	assert_int_equal(l.plan->ports[1].n_dropped, 0);
	grant(&l, 1, 0x50, true, false);
	pkey_plan_try(l.plan, &l.job, &l.ports[1], &trial);
	assert_int_equal(trial.n_dropped, 1);
	assert_int_equal(trial.first_dropped, 0x8050);
	pkey_trial_clear(&trial);
	revoke(&l, 1, 9);
	pkey_plan_try(l.plan, &l.job, &l.ports[1], &trial);
	assert_int_equal(trial.n_dropped, 0);
	assert_int_equal(trial.keys[9], 0x8050);
	assert_int_equal(trial.peer_keys[9], 0x8050);
	pkey_trial_clear(&trial);
	life_clear(&l);
}

/* ---- random lives ---------------------------------------------------------------------------- */

static uint64_t dice;

static unsigned roll(unsigned n)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (unsigned)(dice >> 33) % n;
}

static void assert_same_keys(const char *what, struct pkey_table a, struct pkey_table b)
{
	if (a.n != b.n || (a.n && memcmp(a.keys, b.keys, a.n * sizeof(*a.keys)) != 0))
		fail_msg("%s differ", what);
}

static void assert_same_set(const struct pkey_set *a, const struct pkey_set *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->self_pkey, b->self_pkey);
	assert_memory_equal(a->entries, b->entries, a->n * sizeof(*a->entries));
}

static int compare_keys(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* In any order: one that was dropped for the default key is last at first. */
static void assert_same_dropped(const struct pkey_plan *a, const struct pkey_plan *b, size_t port)
{
	size_t n = a->ports[port].n_dropped;
	uint16_t x[PKEY_DROPPED_KEPT], y[PKEY_DROPPED_KEPT];

	assert_true(n <= PKEY_DROPPED_KEPT);
	memcpy(x, pkey_plan_dropped(a, port), n * sizeof(*x));
	memcpy(y, pkey_plan_dropped(b, port), n * sizeof(*y));
	qsort(x, n, sizeof(*x), compare_keys);
	qsort(y, n, sizeof(*y), compare_keys);
	assert_memory_equal(x, y, n * sizeof(*x));
}

static void assert_same_plans(const struct pkey_plan *a, const struct pkey_plan *b)
{
	for (size_t i = 0; i < a->n_ports; i++) {
		const struct pkey_port_plan *x = &a->ports[i], *y = &b->ports[i];

		assert_same_keys("tables", pkey_plan_table(a, x->table),
				 pkey_plan_table(b, y->table));
		assert_same_keys("memories", pkey_plan_table(a, x->memory),
				 pkey_plan_table(b, y->memory));
		assert_same_set(pkey_plan_set(a, x->set), pkey_plan_set(b, y->set));
		assert_int_equal(x->peer_enforce, y->peer_enforce);
		assert_int_equal(x->peer_too_small, y->peer_too_small);
		assert_int_equal(x->n_dropped, y->n_dropped);
		assert_same_dropped(a, b, i);
		assert_int_equal(x->peer_table == PKEY_NO_TABLE, y->peer_table == PKEY_NO_TABLE);
		if (x->peer_table != PKEY_NO_TABLE)
			assert_same_keys("tables of switch ports",
					 pkey_plan_table(a, x->peer_table),
					 pkey_plan_table(b, y->peer_table));
	}
	assert_int_equal(a->n_dropped, b->n_dropped);
	assert_int_equal(a->n_peer_too_small, b->n_peer_too_small);
}

static void assert_trial(const struct life *l, unsigned port, const struct pkey_trial *trial)
{
	const struct pkey_port_plan *p = &l->plan->ports[port];

	assert_same_keys("tried and planned tables", pkey_plan_table(l->plan, p->table),
			 (struct pkey_table){ trial->keys, trial->n });
	assert_int_equal(trial->n_dropped, p->n_dropped);
	assert_int_equal(trial->first_dropped,
			 p->n_dropped ? pkey_plan_dropped(l->plan, port)[0] : 0);
	assert_int_equal(trial->peer_too_small, p->peer_too_small);
	assert_int_equal(trial->peer_enforce, p->peer_enforce);
	assert_int_equal(!trial->peer_keys, p->peer_table == PKEY_NO_TABLE);
	if (trial->peer_keys)
		assert_same_keys("tried and planned tables of switch ports",
				 pkey_plan_table(l->plan, p->peer_table),
				 (struct pkey_table){ trial->peer_keys, trial->n_peer });
}

static const char *const texts[] = {
	"Default:ALL;",
	"Default:ALL=full;A=1:0x11=full,0x12;",
	"A=1,indx0:ALL_CAS=full;B=2:0x11=both,0x13;C=3:0x14,0x15=full;",
	"Default:ALL=both;B=2:ALL=full,SELF;D=0x104:0x11,0x11=full;E=5,indx0:0x11=full;",
};

static void random_init(struct life *l)
{
	life_init(l, 2 + roll(MAX_PORTS - 2), texts[roll(ARRAY_SIZE(texts))]);
	l->job.allow_both = roll(2);
	l->job.keep_indexes = roll(8) != 0;
	for (unsigned i = 0; i < l->job.n_ports; i++) {
		if (roll(3) == 0)
			l->ports[i].capacity = (uint16_t)roll(8);
		if (roll(3) == 0)
			l->ports[i].peer_capacity = (uint16_t)roll(12);
		if (roll(6) == 0)
			l->ports[i].have = NULL;
	}
}

/* One to three changes of rights of this port, or its table is another one. */
static void random_change(struct life *l, unsigned port)
{
	for (unsigned n = 1 + roll(3); n > 0; n--) {
		uint16_t pkey = roll(10) ? (uint16_t)(1 + roll(8) + (roll(4) ? 0 : 0x100))
					 : PKEY_DEFAULT;

		if (roll(3))
			grant(l, port, pkey, roll(2), roll(5) == 0);
		else
			revoke(l, port, pkey);
	}
	for (unsigned k = 0; !roll(8) && k < 8; k++)
		l->tables[port][k] =
			(uint16_t)(roll(3) ? (roll(2) << 15) + roll(10) : 0x7FFFu | roll(2) << 15);
}

static void random_step(struct life *l)
{
	unsigned port = roll((unsigned)l->job.n_ports);
	struct pkey_plan *whole;
	struct pkey_trial trial;

	random_change(l, port);
	l->job.previous = l->plan;
	whole = pkey_plan(&l->job);
	l->job.previous = NULL;
	pkey_plan_try(l->plan, &l->job, &l->ports[port], &trial);
	pkey_plan_port(l->plan, &l->job, &l->ports[port]);
	assert_same_plans(l->plan, whole);
	assert_trial(l, port, &trial);
	pkey_trial_clear(&trial);
	pkey_plan_free(whole);
	/* Written, or on its way still. */
	if (roll(3))
		apply(l, port);
}

static void one_port_is_planned_as_in_a_whole_plan(void **state)
{
	const char *seed = getenv("TEST_SEED");

	dice = seed ? strtoull(seed, NULL, 0) : 0x7E9A97501ull;
	print_message("# TEST_SEED=0x%llx\n", (unsigned long long)dice);
	for (unsigned round = 0; round < 60; round++) {
		struct life l;

		random_init(&l);
		plan_whole(&l);
		for (unsigned step = 0; step < 60; step++) {
			if (roll(20) == 0) {
				set_partitions(&l, texts[roll(ARRAY_SIZE(texts))]);
				plan_whole(&l);
			}
			random_step(&l);
		}
		life_clear(&l);
	}
}

/* A change of one key changes one block of each table, whatever else was done before. */
static unsigned blocks_changed(struct pkey_table a, struct pkey_table b)
{
	unsigned n = 0;

	for (unsigned block = 0; block < 4; block++) {
		uint16_t x[PKEY_BLOCK], y[PKEY_BLOCK];

		pkey_table_block(a, block, x);
		pkey_table_block(b, block, y);
		n += memcmp(x, y, sizeof(x)) ? 1 : 0;
	}
	return n;
}

static void one_key_is_one_block(void **state)
{
	struct life l;

	dice = 0x1B10C4ull;
	life_init(&l, 2, "Default:ALL;");
	grant(&l, 1, 0x500, true, false); /* one that stays */
	plan_whole(&l);
	apply(&l, 1);
	for (unsigned step = 0; step < 500; step++) {
		struct pkey_trial trial;
		const struct pkey_port_plan *row = &l.plan->ports[1];

		if (roll(5) < 3)
			grant(&l, 1, (uint16_t)(1 + roll(120)), roll(2), false);
		else
			revoke(&l, 1, (uint16_t)(1 + roll(120)));
		pkey_plan_try(l.plan, &l.job, &l.ports[1], &trial);
		assert_true(blocks_changed(pkey_plan_table(l.plan, row->table),
					   (struct pkey_table){ trial.keys, trial.n }) <= 1);
		assert_true(blocks_changed(pkey_plan_table(l.plan, row->peer_table),
					   (struct pkey_table){ trial.peer_keys, trial.n_peer }) <=
			    1);
		pkey_trial_clear(&trial);
		plan_and_apply(&l, 1);
	}
	life_clear(&l);
}

/* Sets stay where they are while the plan grows; in the end it asks to be replaced. */
static void plans_grow_and_are_replaced(void **state)
{
	struct life l;
	const struct pkey_set *set;
	unsigned steps = 0;

	life_init(&l, 2, "Default:ALL;A=1:0x10=full;");
	plan_whole(&l);
	set = pkey_plan_set(l.plan, l.plan->ports[0].set);
	while (!pkey_plan_is_bloated(l.plan) && steps < 5000) {
		grant(&l, 1, (uint16_t)(2 + steps % 100), steps / 100 % 2, steps % 3 == 0);
		if (steps % 7 == 0)
			revoke(&l, 1, (uint16_t)(2 + steps / 7 % 100));
		plan_and_apply(&l, 1);
		steps++;
	}
	assert_true(steps > 100 && steps < 5000);
	assert_ptr_equal(set, pkey_plan_set(l.plan, l.plan->ports[0].set));
	assert_int_equal(pkey_set_find(set, 1), PKEY_SET_FULL);
	plan_whole(&l);
	assert_false(pkey_plan_is_bloated(l.plan));
	life_clear(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_keys_take_the_lowest_free_index),
		cmocka_unit_test(membership_changes_in_place),
		cmocka_unit_test(index0_goes_and_the_default_key_is_back),
		cmocka_unit_test(run_time_decides_behind_the_file),
		cmocka_unit_test(the_default_partition_may_be_given_at_run_time),
		cmocka_unit_test(keys_on_their_way_keep_their_index),
		cmocka_unit_test(ports_not_planned_are_ignored),
		cmocka_unit_test(sizes_of_tables),
		cmocka_unit_test(the_trial_tells_what_finds_no_room),
		cmocka_unit_test(full_tables_take_a_key_for_one_that_goes),
		cmocka_unit_test(one_port_is_planned_as_in_a_whole_plan),
		cmocka_unit_test(one_key_is_one_block),
		cmocka_unit_test(plans_grow_and_are_replaced),
	};

	return cmocka_run_group_tests_name("pkey-port", tests, NULL, NULL);
}
