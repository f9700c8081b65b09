// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Key tables: the rules of partitions-conf.md 7 one by one. Random fabrics: test-pkey-random.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
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

/* --- Small fabrics -------------------------------------------------------------------------- */

/* A host h (the SM's), b, c; a switch d; a router e. */
enum { H, B, C, D, E, N_PORTS };
#define GUID(port) (0x10u + (port))

struct fabric {
	struct pkey_port ports[N_PORTS];
	uint16_t tables[N_PORTS][64];
	struct pkey_job job;
	struct partitions *partitions;
};

/* Room for 64 keys, nothing in the tables, as the options are by default. */
static void fabric_init(struct fabric *f, const char *text)
{
	static const uint8_t types[] = { IB_NODE_CA, IB_NODE_CA, IB_NODE_CA, IB_NODE_SWITCH,
					 IB_NODE_ROUTER };

	memset(f, 0, sizeof(*f));
	f->partitions = partitions_of(text);
	for (unsigned i = 0; i < N_PORTS; i++)
		f->ports[i] = (struct pkey_port){
			.guid = GUID(i),
			.node_type = types[i],
			.is_sm = i == H,
			.capacity = 64,
			.have = f->tables[i],
			.n_have = 64,
			.peer_capacity = i == D ? 0 : 32,
		};
	f->job = (struct pkey_job){
		.partitions = f->partitions,
		.ports = f->ports,
		.n_ports = N_PORTS,
		.enforce = PKEY_ENFORCE_BOTH,
		.keep_indexes = true,
	};
}

static void fabric_clear(struct fabric *f)
{
	f->partitions = partitions_unref(f->partitions);
}

/* The partitions change; the rest stays. */
static void fabric_partitions(struct fabric *f, const char *text)
{
	partitions_unref(f->partitions);
	f->partitions = partitions_of(text);
	f->job.partitions = f->partitions;
}

/* "ffff 8001 0000 8002" */
static char *words_of(struct pkey_table table, char ret[64 * 5 + 1])
{
	size_t len = 0;

	ret[0] = '\0';
	for (unsigned i = 0; i < table.n; i++)
		len += (size_t)snprintf(ret + len, 64 * 5 + 1 - len, "%s%04x", i ? " " : "",
					table.keys[i]);
	return ret;
}

static void assert_table(const struct pkey_plan *plan, unsigned port, const char *expected)
{
	char words[64 * 5 + 1];

	words_of(pkey_plan_table(plan, plan->ports[port].table), words);
	if (strcmp(words, expected) != 0)
		fail_msg("port %u holds %s, expected %s", port, words, expected);
}

static void set_table(struct fabric *f, unsigned port, const char *words)
{
	memset(f->tables[port], 0, sizeof(f->tables[port]));
	for (unsigned i = 0; *words; i++) {
		char *end;

		f->tables[port][i] = (uint16_t)strtoul(words, &end, 16);
		words = end;
	}
}

/* What was planned is written. */
static void apply(struct fabric *f, const struct pkey_plan *plan)
{
	for (unsigned i = 0; i < N_PORTS; i++)
		for (unsigned block = 0; block < 2; block++)
			pkey_table_block(pkey_plan_table(plan, plan->ports[i].table), block,
					 f->tables[i] + block * PKEY_BLOCK);
}

/* --- Members -------------------------------------------------------------------------------- */

/* Expected tables of H, B, C, D, E. */
static const struct {
	const char *text;
	bool allow_both;
	const char *tables[N_PORTS];
} memberships[] = {
	/* the subnet manager's port (H) is full in 0x7fff even where the file makes it limited */
	{ "Default:ALL;", false, { "ffff", "7fff", "7fff", "7fff", "7fff" } },
	{ "Default:0x10,ALL=both,SELF;", true,
	  { "ffff", "ffff 7fff", "ffff 7fff", "ffff 7fff", "ffff 7fff" } },
	{ "Default:;", false, { "ffff", "7fff", "7fff", "7fff", "7fff" } },
	{ "Default:ALL=full;", false, { "ffff", "ffff", "ffff", "ffff", "ffff" } },
	{ "A=1:ALL_CAS=full;", false, { "ffff 8001", "7fff 8001", "7fff 8001", "7fff", "7fff" } },
	{ "A=1:ALL_SWITCHES;", false, { "ffff", "7fff", "7fff", "7fff 0001", "7fff" } },
	{ "A=1:ALL_ROUTERS;", false, { "ffff", "7fff", "7fff", "7fff", "7fff 0001" } },
	{ "A=1:SELF=full;", false, { "ffff 8001", "7fff", "7fff", "7fff", "7fff" } },
	{ "A=1:0x11=full,0x13,0x99;", false, { "ffff", "7fff 8001", "7fff", "7fff 0001", "7fff" } },
	/* the last item that matches counts */
	{ "A=1:0x11=full,ALL;",
	  false,
	  { "ffff 0001", "7fff 0001", "7fff 0001", "7fff 0001", "7fff 0001" } },
	{ "A=1:ALL,0x11=full,SELF=full;A=1:0x10,0x13=full,ALL_SWITCHES;",
	  false,
	  { "ffff 0001", "7fff 8001", "7fff 0001", "7fff 0001", "7fff 0001" } },
	{ "Default:0x11=full,0x11,0x12=full,0x12=full;",
	  false,
	  { "ffff", "7fff", "ffff", "7fff", "7fff" } },
	/* both is full, unless allowed */
	{ "A=1:0x11=both;", false, { "ffff", "7fff 8001", "7fff", "7fff", "7fff" } },
	{ "A=1:0x11=both,0x12=both,0x12;B=2:0x11=full,0x11=both,0x12=both,0x12=full;",
	  true,
	  { "ffff", "7fff 0001 8001 0002 8002", "7fff 0001 8002", "7fff", "7fff" } },
	/* order: low byte first; index 0 */
	{ "A=1:0x11;B=0x100:0x11;C=2:0x11;",
	  false,
	  { "ffff", "7fff 0100 0001 0002", "7fff", "7fff", "7fff" } },
	{ "A=0x10,indx0:0x11=full;B=0x11:0x11=full;",
	  false,
	  { "ffff", "8010 8011 7fff", "7fff", "7fff", "7fff" } },
	{ "Default:ALL=both;P=0x10:0x11=both;",
	  true,
	  { "ffff 7fff", "ffff 0010 8010 7fff", "ffff 7fff", "ffff 7fff", "ffff 7fff" } },
	{ "P=0x10,indx0:0x11=both;", true, { "ffff", "0010 8010 7fff", "7fff", "7fff", "7fff" } },
	/* the last indx0 of the file counts, whatever the order of the keys */
	{ "A=0x10,indx0:ALL=full;B=0x11,indx0:0x11=full,0x12;C=8,indx0:0x12=full;",
	  false,
	  { "8010 ffff", "8011 8010 7fff", "8008 8010 0011 7fff", "8010 7fff", "8010 7fff" } },
	{ "A=1,indx0:0x11;B=2,indx0:0x11,0x12;A,indx0:0x12;",
	  false,
	  { "ffff", "0002 0001 7fff", "0001 0002 7fff", "7fff", "7fff" } },
	{ "C=8,indx0:0x12=full;A=0x10,indx0:ALL=full;A:0x11=full;",
	  false,
	  { "8010 ffff", "7fff 8010", "8010 8008 7fff", "8010 7fff", "8010 7fff" } },
};

static void ports_get_the_keys_of_their_partitions(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(memberships); i++) {
		struct fabric f;
		_plan_ plan = NULL;

		fabric_init(&f, memberships[i].text);
		f.job.allow_both = memberships[i].allow_both;
		plan = pkey_plan(&f.job);
		for (unsigned k = 0; k < N_PORTS; k++)
			assert_table(plan, k, memberships[i].tables[k]);
		assert_int_equal(plan->n_dropped, 0);
		fabric_clear(&f);
	}
}

static void equal_tables_are_one(void **state)
{
	struct fabric f;
	_plan_ plan = NULL;

	fabric_init(&f, "A=1:0x11,0x12;");
	set_table(&f, C, "7fff 0000 0001");
	plan = pkey_plan(&f.job);
	assert_int_equal(plan->ports[D].table, plan->ports[E].table);
	assert_int_equal(plan->ports[D].set, plan->ports[E].set);
	assert_int_not_equal(plan->ports[B].table, plan->ports[C].table);
	assert_int_equal(plan->ports[B].set, plan->ports[C].set);
	assert_ptr_equal(pkey_plan_set(plan, plan->ports[B].set),
			 pkey_plan_set(plan, plan->ports[C].set));
	assert_int_equal(plan->n_sets, 3);
	fabric_clear(&f);
}

/* --- Where keys go -------------------------------------------------------------------------- */

/* Tables of B as read, and as planned by a process that remembers nothing. */
static const struct {
	const char *text, *have, *expected;
	bool allow_both;
} layouts[] = {
	/* a key keeps its index, and changes its form in place */
	{ "A=1:0x11=full;B=2:0x11;", "7fff 0000 0002 8001", "7fff 0000 0002 8001", false },
	{ "A=1:0x11=full;B=2:0x11;", "ffff 8002 0001", "7fff 0002 8001", false },
	{ "A=1:0x11=full;", "7fff 0001", "7fff 8001", false },
	/* holes are not filled, what goes leaves one, what is not wanted above does not count */
	{ "B=2:0x11=full;C=3:0x11=full;", "7fff 8001 8002", "7fff 0000 8002 8003", false },
	{ "B=2:0x11=full;D=4:0x11=full;", "7fff 0000 8002 8003", "7fff 0000 8002 8004", false },
	{ "A=1:0x11;", "7fff 0005 0006", "7fff 0001", false },
	/* index 0 has an owner */
	{ "A=1:0x11=full;", "8001 7fff", "7fff 8001", false },
	{ "A=1:0x11=full;B=2:0x11;", "8001 0002 7fff", "7fff 0002 8001", false },
	{ "A=1:0x11=full;", "8001 0000 0000 7fff 0000", "7fff 8001", false },
	{ "A=1,indx0:0x11=full;", "7fff 8001", "8001 7fff", false },
	{ "A=1,indx0:0x11=full;B=2:0x11;", "7fff 8001 0002", "8001 0000 0002 7fff", false },
	{ "Default:0x11=full;", "0000 0000 7fff", "ffff", false },
	/* the same key twice: the lower index, but not index 0 */
	{ "A=1:0x11=full;", "7fff 0001 8001", "7fff 8001", false },
	{ "A=1:0x11=full;", "8001 0000 8001", "7fff 0000 8001", false },
	/* with both forms each has its place */
	{ "A=1:0x11=both;", "7fff 8001 0001", "7fff 8001 0001", true },
	{ "A=1:0x11=both;", "7fff 8001", "7fff 8001 0001", true },
	{ "A=1:0x11=full;", "7fff 0001", "7fff 8001", true },
	{ "Default:0x11=both;A=1:0x11;", "7fff 0001", "ffff 0001 7fff", true },
};

static void keys_stay_where_they_are(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(layouts); i++) {
		struct fabric f;
		_plan_ plan = NULL;

		fabric_init(&f, layouts[i].text);
		f.job.allow_both = layouts[i].allow_both;
		set_table(&f, B, layouts[i].have);
		plan = pkey_plan(&f.job);
		assert_table(plan, B, layouts[i].expected);
		fabric_clear(&f);
	}
}

static void without_keep_pkey_indexes_tables_are_made_anew(void **state)
{
	struct fabric f;
	_plan_ first = NULL;
	_plan_ second = NULL;

	fabric_init(&f, "A=1:0x11=full;B=2:0x11=full;");
	f.job.keep_indexes = false;
	set_table(&f, B, "7fff 0000 8002 8003");
	first = pkey_plan(&f.job);
	assert_table(first, B, "7fff 8001 8002");
	fabric_partitions(&f, "B=2:0x11=full;D=4:0x11=full;");
	f.job.previous = first;
	second = pkey_plan(&f.job);
	assert_table(second, B, "7fff 8002 8004");
	fabric_clear(&f);
}

static void an_unknown_table_is_an_empty_one(void **state)
{
	struct fabric f;
	_plan_ plan = NULL;

	fabric_init(&f, "A=1:0x11;");
	f.ports[B].have = NULL;
	plan = pkey_plan(&f.job);
	assert_table(plan, B, "7fff 0001");
	fabric_clear(&f);
}

/*
 * A key that comes back goes where it was; no other key takes its place as long as there is room.
 */
static void places_are_remembered(void **state)
{
	struct fabric f;
	_plan_ first = NULL;
	_plan_ second = NULL;
	_plan_ third = NULL;
	_plan_ fresh = NULL;

	fabric_init(&f, "A=1:0x11=full;B=2:0x11=full;");
	first = pkey_plan(&f.job);
	assert_table(first, B, "7fff 8001 8002");
	apply(&f, first);
	fabric_partitions(&f, "C=3:0x11=full;");
	f.job.previous = first;
	second = pkey_plan(&f.job);
	assert_table(second, B, "7fff 0000 0000 8003");
	apply(&f, second);
	fabric_partitions(&f, "A=1:0x11;B=2:0x11=full;C=3:0x11=full;");
	f.job.previous = second;
	third = pkey_plan(&f.job);
	assert_table(third, B, "7fff 0001 8002 8003");
	f.job.previous = NULL;
	fresh = pkey_plan(&f.job);
	assert_table(fresh, B, "7fff 0000 0000 8003 0001 8002");
	fabric_clear(&f);
}

static void memory_is_that_of_the_port(void **state)
{
	struct fabric f;
	_plan_ first = NULL;
	_plan_ second = NULL;

	fabric_init(&f, "A=1:0x11=full;");
	first = pkey_plan(&f.job);
	fabric_partitions(&f, "B=2:ALL=full;");
	f.ports[C].guid = GUID(B); /* they change places */
	f.ports[B].guid = GUID(C);
	f.job.previous = first;
	second = pkey_plan(&f.job);
	assert_table(second, B, "7fff 8002");
	assert_table(second, C, "7fff 0000 8002");
	fabric_clear(&f);
}

/* --- Too many ------------------------------------------------------------------------------- */

/* "K1=1:GUID=full;..." */
static char *many_partitions(unsigned from, unsigned to, const char *more)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (unsigned i = from; i <= to; i++)
		fprintf(out, "=%u:0x11=full;\n", i);
	fputs(more, out);
	fclose(out);
	return text;
}

static void what_finds_no_place_is_dropped(void **state)
{
	_cleanup_free_ char *text = many_partitions(1, 0x4f, "Default:ALL=full;");
	struct fabric f;
	_plan_ plan = NULL;
	struct pkey_table table;

	fabric_init(&f, text);
	plan = pkey_plan(&f.job);
	table = pkey_plan_table(plan, plan->ports[B].table);
	assert_int_equal(table.n, 64);
	assert_int_equal(table.keys[0], 0xFFFF);
	for (unsigned i = 1; i < 64; i++)
		assert_int_equal(table.keys[i], 0x8000 | i);
	assert_int_equal(plan->ports[B].n_dropped, 16);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(pkey_plan_dropped(plan, B)[i], 0x8040 + i);
	assert_int_equal(plan->n_dropped, 1);
	assert_int_equal(plan->ports[C].n_dropped, 0);
	assert_false(pkey_set_find(pkey_plan_set(plan, plan->ports[B].set), 0x8040));
	fabric_clear(&f);
}

static void holes_are_filled_when_nothing_else_is_left(void **state)
{
	struct fabric f;
	_plan_ first = NULL;
	_plan_ second = NULL;

	fabric_init(&f, "A=1:0x11;B=2:0x11;C=3:0x11;");
	f.ports[B].capacity = 4;
	first = pkey_plan(&f.job);
	assert_table(first, B, "7fff 0001 0002 0003");
	apply(&f, first);
	fabric_partitions(&f, "B=2:0x11;D=4:0x11;E=5:0x11;F=6:0x11;");
	f.job.previous = first;
	second = pkey_plan(&f.job);
	assert_table(second, B, "7fff 0004 0002 0005");
	assert_int_equal(second->ports[B].n_dropped, 1);
	assert_int_equal(pkey_plan_dropped(second, B)[0], 6);
	fabric_clear(&f);
}

/* Capacity, tables of B expected. */
static const struct {
	const char *text, *expected;
	uint16_t capacity, n_dropped;
	bool allow_both;
} tight[] = {
	{ "A=1:0x11;", "7fff", 1, 1, false },
	{ "A=1,indx0:0x11;", "0001 7fff", 2, 0, false },
	{ "A=1,indx0:0x11;", "7fff", 1, 1, false },
	{ "A=1,indx0:0x11;B=2:0x11;", "0001 7fff", 2, 1, false },
	{ "A=1,indx0:0x11;B=2:0x11;C=3:0x11;", "0001 0002 7fff", 3, 1, false },
	{ "Default,indx0:0x11=full;B=2:0x11;", "ffff", 1, 1, false },
	{ "A=1,indx0:0x11;Default:0x11=both;", "0001 ffff", 2, 1, true },
	{ "A=1,indx0:0x11;Default:0x11=both;", "0001 7fff ffff", 3, 0, true },
	{ "Default:0x11=both;", "ffff", 1, 1, true },
	{ "A=1:0x11;", "", 0, 2, false },
};

static void the_default_key_is_not_dropped(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(tight); i++) {
		struct fabric f;
		_plan_ plan = NULL;
		_plan_ again = NULL;

		fabric_init(&f, tight[i].text);
		f.ports[B].capacity = tight[i].capacity;
		f.job.allow_both = tight[i].allow_both;
		plan = pkey_plan(&f.job);
		assert_table(plan, B, tight[i].expected);
		assert_int_equal(plan->ports[B].n_dropped, tight[i].n_dropped);
		apply(&f, plan);
		again = pkey_plan(&f.job);
		assert_table(again, B, tight[i].expected);
		fabric_clear(&f);
	}
}

static void what_is_beyond_the_table_does_not_count(void **state)
{
	struct fabric f;
	_plan_ plan = NULL;

	fabric_init(&f, "A=1:0x11;");
	set_table(&f, B, "7fff 0000 0000 0001");
	f.ports[B].capacity = 3;
	plan = pkey_plan(&f.job);
	assert_table(plan, B, "7fff 0001");
	fabric_clear(&f);
}

static void blocks_are_filled_up_with_zeros(void **state)
{
	static const uint16_t keys[] = { 1, 2, 3 };
	struct pkey_table table = { .keys = keys, .n = 3 };
	uint16_t block[PKEY_BLOCK];

	memset(block, 0xFF, sizeof(block));
	pkey_table_block(table, 0, block);
	assert_int_equal(block[2], 3);
	assert_int_equal(block[3], 0);
	assert_int_equal(block[31], 0);
	memset(block, 0xFF, sizeof(block));
	pkey_table_block(table, 1, block);
	assert_int_equal(block[0], 0);
}

/* --- Switch ports --------------------------------------------------------------------------- */

static void peer_tables_are_compact(void **state)
{
	static const uint16_t keys[] = { 0x7FFF, 0, 0x8001, 2, 0x8002, 0, 3, 0xFFFF };
	static const uint16_t expected[] = { 0x8001, 0x8002, 3, 0xFFFF };
	struct pkey_table table = { .keys = keys, .n = ARRAY_SIZE(keys) };
	uint16_t got[ARRAY_SIZE(keys)];

	assert_int_equal(pkey_peer_table(table, 32, got), 4);
	assert_memory_equal(got, expected, sizeof(expected));
	assert_int_equal(pkey_peer_table(table, 4, got), 4);
	assert_int_equal(pkey_peer_table(table, 3, got), -ENOSPC);
	assert_int_equal(pkey_peer_table(table, 0, got), -ENOSPC);
}

static const struct {
	const char *word;
	enum pkey_enforce bits;
} modes[] = {
	{ "both", PKEY_ENFORCE_BOTH },
	{ "in", PKEY_ENFORCE_IN },
	{ "out", PKEY_ENFORCE_OUT },
	{ "off", PKEY_ENFORCE_OFF },
};

static void switch_ports_enforce_as_the_option_says(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();

	for (unsigned i = 0; i < ARRAY_SIZE(modes); i++) {
		struct conf_place at = { 0 };
		struct conf_report r = { 0 };
		struct fabric f;
		_plan_ plan = NULL;

		fabric_init(&f, "A=1:0x11;");
		assert_int_equal(conf_set(c, CONF_ID_part_enforce, modes[i].word, &at, &r), 0);
		pkey_job_options(&f.job, c);
		assert_true(f.job.keep_indexes);
		assert_false(f.job.allow_both);
		set_table(&f, B, "7fff 0000 0001");
		plan = pkey_plan(&f.job);
		assert_int_equal(plan->ports[B].peer_enforce, modes[i].bits);
		assert_int_equal(plan->ports[B].peer_table == PKEY_NO_TABLE,
				 modes[i].bits == PKEY_ENFORCE_OFF);
		if (modes[i].bits) {
			char words[64 * 5 + 1];

			words_of(pkey_plan_table(plan, plan->ports[B].peer_table), words);
			assert_string_equal(words, "7fff 0001");
		}
		assert_int_equal(plan->ports[D].peer_table, PKEY_NO_TABLE);
		assert_int_equal(plan->ports[D].peer_enforce, PKEY_ENFORCE_OFF);
		assert_false(plan->ports[D].peer_too_small);
		fabric_clear(&f);
	}
}

static void what_does_not_fit_is_not_enforced(void **state)
{
	_cleanup_free_ char *text = many_partitions(1, 31, "");
	struct fabric f;
	_plan_ fits = NULL;
	_plan_ not = NULL;

	fabric_init(&f, text);
	fits = pkey_plan(&f.job);
	assert_int_equal(fits->ports[B].peer_enforce, PKEY_ENFORCE_BOTH);
	assert_int_equal(pkey_plan_table(fits, fits->ports[B].peer_table).n, 32);
	assert_int_equal(fits->n_peer_too_small, 0);
	f.ports[B].peer_capacity = 31;
	not = pkey_plan(&f.job);
	assert_int_equal(not ->ports[B].peer_enforce, PKEY_ENFORCE_OFF);
	assert_int_equal(not ->ports[B].peer_table, PKEY_NO_TABLE);
	assert_true(not ->ports[B].peer_too_small);
	assert_int_equal(not ->n_peer_too_small, 1);
	fabric_clear(&f);
}

/* --- Pairs that may talk -------------------------------------------------------------------- */

/* Sets of B and C, and what B and C get; 0: nothing. */
static const struct {
	const char *text;
	bool allow_both;
	uint16_t of_b, of_c;
} talks[] = {
	{ "Default:ALL=full;", false, 0xFFFF, 0xFFFF },
	{ "Default:ALL;", false, 0, 0 },
	{ "Default:0x11=full;", false, 0xFFFF, 0x7FFF },
	{ "A=1:0x11,0x12=full;", false, 0x0001, 0x8001 },
	{ "A=1:0x11,0x12;", false, 0, 0 },
	{ "A=1:0x11=full;B=2:0x12=full;", false, 0, 0 },
	{ "A=1:0x11,0x12;B=2:0x11,0x12=full;Default:ALL=full;", false, 0x0002, 0x8002 },
	/* the low byte decides which is first */
	{ "A=1:0x11=full,0x12;B=0x200:0x11,0x12=full;", false, 0x0200, 0x8200 },
	{ "A=1:0x11=both,0x12;", true, 0x8001, 0x0001 },
	{ "A=1:0x11=both,0x12=both;", true, 0x8001, 0x8001 },
};

static void ports_talk_when_they_share_a_key_and_one_is_full(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(talks); i++) {
		const struct pkey_set *b, *c;
		struct fabric f;
		uint16_t got = 0x1234;
		_plan_ plan = NULL;
		_plan_ other = NULL;

		fabric_init(&f, talks[i].text);
		f.job.allow_both = talks[i].allow_both;
		plan = pkey_plan(&f.job);
		other = pkey_plan(&f.job);
		b = pkey_plan_set(plan, plan->ports[B].set);
		c = pkey_plan_set(plan, plan->ports[C].set);
		assert_int_equal(pkey_share(b, c, &got), talks[i].of_b != 0);
		assert_int_equal(got, talks[i].of_b ? talks[i].of_b : 0x1234);
		assert_int_equal(pkey_share(c, b, &got), talks[i].of_c != 0);
		if (talks[i].of_c)
			assert_int_equal(got, talks[i].of_c);
		assert_int_equal(pkey_share(b, c, NULL), talks[i].of_b != 0);
		/* sets of another plan do as well */
		b = pkey_plan_set(other, other->ports[B].set);
		assert_int_equal(pkey_share(b, c, NULL), talks[i].of_b != 0);
		fabric_clear(&f);
	}
}

static void sets_know_their_keys(void **state)
{
	const struct pkey_set *set;
	struct fabric f;
	_plan_ plan = NULL;

	fabric_init(&f, "A=1:0x11;B=0x200:0x11=full;C=3:0x11=both;");
	f.job.allow_both = true;
	plan = pkey_plan(&f.job);
	set = pkey_plan_set(plan, plan->ports[B].set);
	assert_int_equal(set->n, 4);
	assert_int_equal(pkey_set_find(set, 0x8001), PKEY_SET_LIMITED);
	assert_int_equal(pkey_set_find(set, 0x0200), PKEY_SET_FULL);
	assert_int_equal(pkey_set_find(set, 3), PKEY_SET_FULL | PKEY_SET_LIMITED);
	assert_int_equal(pkey_set_find(set, 2), 0);
	assert_int_equal(pkey_set_find(set, 0), 0);
	assert_int_equal(pkey_plan_find(plan, GUID(B)), B);
	assert_int_equal(pkey_plan_find(plan, 0x99), SIZE_MAX);
	assert_int_equal(pkey_plan_find(plan, 0), SIZE_MAX);
	fabric_clear(&f);
}

static void a_fabric_without_ports_has_a_plan(void **state)
{
	struct fabric f;
	_plan_ plan = NULL;

	fabric_init(&f, "A=1:0x11;");
	f.job.n_ports = 0;
	plan = pkey_plan(&f.job);
	assert_int_equal(plan->n_ports, 0);
	assert_null(pkey_plan_free(NULL));
	fabric_clear(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_get_the_keys_of_their_partitions),
		cmocka_unit_test(equal_tables_are_one),
		cmocka_unit_test(keys_stay_where_they_are),
		cmocka_unit_test(without_keep_pkey_indexes_tables_are_made_anew),
		cmocka_unit_test(an_unknown_table_is_an_empty_one),
		cmocka_unit_test(places_are_remembered),
		cmocka_unit_test(memory_is_that_of_the_port),
		cmocka_unit_test(what_finds_no_place_is_dropped),
		cmocka_unit_test(holes_are_filled_when_nothing_else_is_left),
		cmocka_unit_test(the_default_key_is_not_dropped),
		cmocka_unit_test(what_is_beyond_the_table_does_not_count),
		cmocka_unit_test(blocks_are_filled_up_with_zeros),
		cmocka_unit_test(peer_tables_are_compact),
		cmocka_unit_test(switch_ports_enforce_as_the_option_says),
		cmocka_unit_test(what_does_not_fit_is_not_enforced),
		cmocka_unit_test(ports_talk_when_they_share_a_key_and_one_is_full),
		cmocka_unit_test(sets_know_their_keys),
		cmocka_unit_test(a_fabric_without_ports_has_a_plan),
	};

	return cmocka_run_group_tests_name("pkey", tests, NULL, NULL);
}
