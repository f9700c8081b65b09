// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random lives of a table against a model that is as simple as can be: a square of partitions and
 * ports. What holds at every step: the same answer, the same table, both ways to a member; an
 * inverse restores exactly; the file comes to the same table. The seed is printed; TEST_SEED
 * repeats a run. The rules one by one: test-tenants.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/tenants/tenants_import.h"
#include "tests/unit/tenants-desk.h"
#include "tests/unit/tenants-text.h"
#include "util/mem.h"
#include "util/random.h"

#define STEPS	     20000
#define COMPACT_FROM 300000u /* bytes */

enum { PORTS = 90, KEYS = 9 };

static const uint16_t keys[KEYS] = { 1, 2, 5, 6, 0x105, 0x205, 0x305, 0x7ffe, 0x7fff };

#define FILE_TEXT                                                                                  \
	"Default=0x7fff, ipoib, api : ALL=limited;"                                                \
	"one=0x1, ipoib, mtu=5, rate=16, api : 0x1=full;"                                          \
	"two=0x2 : 0x2=full;"

enum { IN = 1, FULL = 2, INDEX0 = 4 };

struct part {
	bool there;
	struct tenant_fields fields;
	uint64_t generation;
	uint8_t member[PORTS];
};

struct model {
	struct part part[KEYS];
	uint64_t generation;
};

static uint64_t dice;

static unsigned roll(unsigned n)
{
	return (unsigned)(random_next(&dice) >> 33) % n;
}

/* GUIDs in an order of their own. */
static guid_t guid_of(unsigned port)
{
	return 1 + port * 37u % PORTS;
}

static unsigned port_of(guid_t guid)
{
	unsigned port = 0;

	while (guid_of(port) != guid)
		port++;
	return port;
}

/* --- The model ------------------------------------------------------------------------------ */

static bool is_filed(unsigned key)
{
	return keys[key] <= 2 || keys[key] == PKEY_DEFAULT;
}

static struct tenant_fields first_fields(unsigned key)
{
	struct tenant_fields f = { .name = "Default", .ipoib = true, .mtu = 4, .rate = 3 };

	if (keys[key] == 1)
		f = (struct tenant_fields){ .name = "one", .ipoib = true, .mtu = 5, .rate = 16 };
	else if (keys[key] != PKEY_DEFAULT)
		f = (struct tenant_fields){ .ipoib = true, .mtu = 4, .rate = 2 };
	if (!*f.name)
		snprintf(f.name, sizeof(f.name), "api_pkey_0x%x", keys[key]);
	return f;
}

static bool fields_equal(const struct tenant_fields *a, const struct tenant_fields *b)
{
	return !strcmp(a->name, b->name) && a->ipoib == b->ipoib && a->mtu == b->mtu &&
	       a->rate == b->rate && a->sl == b->sl;
}

static struct tenant_fields fields_after(const struct part *p, unsigned key,
					 const struct tenant_request *rq)
{
	struct tenant_fields f = p->there && !is_filed(key) ? p->fields : first_fields(key);

	if (rq->has & TENANT_NAME)
		memcpy(f.name, rq->fields.name, sizeof(f.name));
	if (rq->has & TENANT_IPOIB)
		f.ipoib = rq->fields.ipoib;
	if (rq->has & TENANT_MTU)
		f.mtu = rq->fields.mtu;
	if (rq->has & TENANT_RATE)
		f.rate = rq->fields.rate;
	if (rq->has & TENANT_SL)
		f.sl = rq->fields.sl;
	return f;
}

static enum tenant_fault model_fields(struct part *p, unsigned key, const struct tenant_request *rq)
{
	struct tenant_fields was = fields_after(p, key, &(struct tenant_request){ 0 }),
			     is = fields_after(p, key, rq);
	bool known = p->there || is_filed(key), same = fields_equal(&was, &is);

	if (rq->action == TENANT_CREATE && known)
		return same ? TENANT_FINE : TENANT_EXISTS;
	if (rq->action == TENANT_CONFIGURE && !known)
		return TENANT_UNKNOWN;
	if (is_filed(key) && !same)
		return TENANT_READ_ONLY;
	if (rq->action == TENANT_CONFIGURE && same)
		return TENANT_FINE;
	if (!p->there || !same)
		p->fields = is;
	p->there = true;
	return TENANT_FINE;
}

static void model_members(struct model *m, unsigned key, const struct tenant_request *rq)
{
	struct part *p = &m->part[key];
	size_t left = 0, gone = 0;

	if (rq->action == TENANT_SET)
		memset(p->member, 0, sizeof(p->member));
	for (size_t i = 0; i < rq->n_members; i++) {
		const struct tenant_member *member = &rq->members[i];
		unsigned port = port_of(member->guid);

		for (unsigned k = 0; rq->action != TENANT_REMOVE && member->index0 && k < KEYS; k++)
			m->part[k].member[port] &= (uint8_t)~INDEX0;
		gone += rq->action == TENANT_REMOVE && p->member[port];
		p->member[port] = rq->action == TENANT_REMOVE
					  ? 0
					  : (uint8_t)(IN | (member->full ? FULL : 0) |
						      (member->index0 ? INDEX0 : 0));
	}
	for (unsigned i = 0; i < PORTS; i++)
		left += p->member[i] != 0;
	if (gone && !left && !rq->keep_empty && keys[key] != PKEY_DEFAULT)
		p->there = false;
}

static bool is_contradictory(const struct tenant_request *rq)
{
	for (size_t i = 0; i < rq->n_members; i++)
		for (size_t k = 0; k < i; k++)
			if (rq->members[i].guid == rq->members[k].guid &&
			    (rq->members[i].full != rq->members[k].full ||
			     rq->members[i].index0 != rq->members[k].index0))
				return rq->action != TENANT_REMOVE;
	return false;
}

/* Generations of what differs. */
static void model_count(struct model *m, const struct model *before)
{
	bool differs[KEYS], any = false;

	for (unsigned k = 0; k < KEYS; k++) {
		const struct part *a = &m->part[k], *b = &before->part[k];

		differs[k] = a->there != b->there ||
			     (a->there && (!fields_equal(&a->fields, &b->fields) ||
					   memcmp(a->member, b->member, sizeof(a->member)) != 0));
		any = any || differs[k];
	}
	m->generation += any ? 1 : 0;
	for (unsigned k = 0; k < KEYS; k++) {
		if (differs[k])
			m->part[k].generation = m->generation;
		if (!m->part[k].there)
			m->part[k] = (struct part){ 0 };
	}
}

static enum tenant_fault model_ask(struct model *m, unsigned key, const struct tenant_request *rq)
{
	const struct model before = *m;
	struct part *p = &m->part[key];
	enum tenant_fault fault = TENANT_FINE;

	if (is_contradictory(rq))
		return TENANT_INVALID;
	if (keys[key] == 2 || (rq->action == TENANT_DELETE && keys[key] == PKEY_DEFAULT))
		return TENANT_READ_ONLY;
	if (rq->if_generation && rq->generation != (p->there ? p->generation : 0))
		return TENANT_OVERTAKEN;
	if (rq->action == TENANT_DELETE) {
		if (!p->there && !is_filed(key))
			return TENANT_UNKNOWN;
		p->there = false;
	} else if (rq->action == TENANT_REMOVE) {
		if (p->there)
			model_members(m, key, rq);
	} else {
		fault = model_fields(p, key, rq);
		if (fault)
			*m = before;
		else if (rq->action == TENANT_ADD || rq->action == TENANT_SET)
			model_members(m, key, rq);
	}
	if (!fault)
		model_count(m, &before);
	return fault;
}

/* --- The table is the model ----------------------------------------------------------------- */

static void check_partition(const struct tenants *t, const struct part *p, uint16_t pkey,
			    size_t *count)
{
	const struct tenant_partition *is = tenants_find(t, pkey);
	size_t n = 0;

	assert_int_equal(is != NULL, p->there);
	if (!is)
		return;
	assert_true(fields_equal(&is->fields, &p->fields));
	assert_int_equal(is->generation, p->generation);
	for (unsigned i = 0; i < PORTS; i++) {
		const struct tenant_member *m = tenants_member(is, guid_of(i));
		unsigned want = m ? IN | (m->full ? FULL : 0) | (m->index0 ? INDEX0 : 0) : 0;

		assert_int_equal(p->member[i], want);
		n += m ? 1 : 0;
	}
	assert_int_equal(is->n_members, n);
	for (size_t i = 1; i < n; i++)
		assert_true(is->members[i - 1].guid < is->members[i].guid);
	*count += n;
}

static void check_rights(const struct tenants *t, const struct model *m)
{
	size_t ports = 0, at = 0;

	for (unsigned i = 0; i < PORTS; i++) {
		size_t n, wanted = 0;
		const struct tenant_right *r = tenants_of_port(t, guid_of(i), &n);

		for (unsigned k = 0; k < KEYS; k++)
			wanted += m->part[k].member[i] != 0;
		assert_int_equal(n, wanted);
		assert_int_equal(r != NULL, n != 0);
		for (size_t x = 0; x < n; x++) {
			unsigned k = 0;

			while (keys[k] != r[x].pkey)
				k++;
			assert_int_equal(m->part[k].member[i],
					 IN | (r[x].full ? FULL : 0) | (r[x].index0 ? INDEX0 : 0));
			assert_true(!x ||
				    partition_order(r[x - 1].pkey) < partition_order(r[x].pkey));
		}
		ports += n ? 1 : 0;
	}
	while (tenants_each_port(t, &at))
		ports--;
	assert_int_equal(ports, 0);
}

static void check_table(const struct tenants *t, const struct model *m)
{
	size_t n = 0, n_members = 0, there = 0;

	for (unsigned k = 0; k < KEYS; k++) {
		check_partition(t, &m->part[k], keys[k], &n_members);
		there += m->part[k].there ? 1 : 0;
	}
	for (; tenants_at(t, n); n++)
		assert_true(!n || tenants_at(t, n - 1)->pkey < tenants_at(t, n)->pkey);
	assert_int_equal(n, there);
	assert_int_equal(tenants_members(t), n_members);
	assert_int_equal(tenants_generation(t), m->generation);
	check_rights(t, m);
}

/* --- A life --------------------------------------------------------------------------------- */

/* Mostly few members, sometimes many, and then in any order. */
static void roll_members(struct tenant_request *rq)
{
	unsigned n = roll(8) ? roll(4) : roll(PORTS), from = roll(PORTS), turn = roll(8);

	rq->members = xcalloc(n + 2, sizeof(*rq->members));
	for (unsigned i = 0; i < n; i++)
		rq->members[rq->n_members++] =
			(struct tenant_member){ guid_of((from + i) % PORTS),
						turn & 1 ? roll(2) : turn & 2,
						roll(turn + 1) == 1 };
	if (n && !roll(8)) {
		rq->members[rq->n_members] = rq->members[roll(n)];
		if (!roll(3))
			rq->members[rq->n_members].full = roll(2);
		rq->n_members++;
	}
}

static struct tenant_request roll_request(const struct model *m, unsigned key)
{
	struct tenant_request rq = { .action = roll(6), .pkey = keys[key] };

	if (rq.action == TENANT_DELETE && roll(4))
		rq.action = TENANT_ADD;
	if (rq.action == TENANT_ADD || rq.action == TENANT_REMOVE || rq.action == TENANT_SET)
		roll_members(&rq);
	if (!roll(3))
		rq.has = roll(32);
	snprintf(rq.fields.name, sizeof(rq.fields.name), roll(2) ? "one" : "x \"y\" \\z");
	rq.fields.ipoib = roll(2);
	rq.fields.mtu = (uint8_t)(4 + roll(2));
	rq.fields.rate = roll(2) ? 2 : 16;
	rq.fields.sl = (uint8_t)roll(2);
	rq.keep_empty = !roll(4);
	rq.if_generation = !roll(4);
	rq.generation = roll(2) ? m->part[key].generation : roll(3);
	return rq;
}

static void require_text(const struct tenants *t, const char *text)
{
	_cleanup_free_ char *is = table_text(t);

	assert_string_equal(is, text);
}

/* There, back, and there again. */
static void play_twice(struct tenants *t, const struct tenant_entry *e)
{
	_cleanup_free_ char *before = table_text(t), *after = NULL;
	struct tenant_entry back = { 0 };

	tenants_inverse(t, e, &back);
	tenants_play(t, e);
	after = table_text(t);
	tenants_play(t, &back);
	require_text(t, before);
	tenants_play(t, e);
	require_text(t, after);
	tenant_entry_clear(&back);
}

struct journal {
	char *text;
	size_t len, cap;
};

static void journal_set(struct journal *j, size_t at, const char *text, size_t len)
{
	GROW(j->text, at + len + 1, j->cap);
	memcpy(j->text + at, text, len);
	j->len = at + len;
}

static void check_journal(const struct journal *j, const struct tenants *t)
{
	struct conf_report r = { 0 };
	_tenants_ read = NULL;
	_cleanup_free_ char *text = NULL;

	assert_int_equal(tenants_import_text(j->text, j->len, "journal", &r, &read), 0);
	assert_int_equal(r.n, 0);
	text = table_text(t);
	require_text(read, text);
}

static void write_entry(struct journal *j, const struct tenant_entry *e)
{
	_cleanup_free_ char *text = entry_line(e);

	journal_set(j, j->len, text, strlen(text));
}

/* Returns the fault. */
static enum tenant_fault live_once(struct tenants *t, struct model *m, struct journal *j,
				   const struct partitions *file)
{
	unsigned key = roll(KEYS);
	struct tenant_request rq = roll_request(m, key);
	struct tenant_entry e = { 0 };
	char why[300];
	enum tenant_fault is = tenants_judge(t, file, &rq, 5, &e, why, sizeof(why));

	assert_int_equal(is, model_ask(m, key, &rq));
	assert_int_equal(is != TENANT_FINE, *why != '\0');
	free(rq.members);
	if (e.n_rows) {
		assert_int_equal(e.generation, m->generation);
		write_entry(j, &e);
		play_twice(t, &e);
	}
	tenant_entry_clear(&e);
	return is;
}

static void lives_are_as_the_model_has_them(void **state)
{
	const char *seed = getenv("TEST_SEED");
	_conf_ c = conf_new();
	struct conf_report r = { 0 };
	_partitions_ file = NULL;
	_tenants_ t = tenants_new();
	struct model m = { 0 };
	struct journal j = { 0 };
	unsigned met[TENANT_TOO_MANY + 1] = { 0 }, compacted = 0;
	_cleanup_free_ char *first = NULL;

	dice = seed ? strtoull(seed, NULL, 0) : 0x7e4a47;
	printf("# TEST_SEED=0x%llx\n", (unsigned long long)dice);
	assert_int_equal(partitions_parse(FILE_TEXT, strlen(FILE_TEXT), "p", c, &r, &file), 0);
	first = table_text(t);
	journal_set(&j, 0, first, strlen(first));
	for (unsigned step = 0; step < STEPS; step++) {
		met[live_once(t, &m, &j, file)]++;
		check_table(t, &m);
		if (step % 500 == 0 || j.len > COMPACT_FROM)
			check_journal(&j, t);
		if (j.len > COMPACT_FROM) {
			_cleanup_free_ char *text = table_text(t);

			journal_set(&j, 0, text, strlen(text));
			compacted++;
		}
	}
	check_journal(&j, t);
	for (unsigned i = 0; i < TENANT_TOO_MANY; i++)
		assert_true(met[i] > 10);
	assert_true(compacted);
	free(j.text);
}

/* --- Any entry ------------------------------------------------------------------------------ */

/* As another manager may have made it: in any order, the same thing twice, runs of many members. */
static struct tenant_entry roll_entry(uint64_t generation)
{
	struct tenant_entry e = { .generation = generation, .at = roll(1000) };
	struct tenant_row row = { .pkey = 5, .fields = first_fields(4) };
	unsigned run = 0;

	e.n_rows = 1 + roll(roll(4) ? 5 : 3 * PORTS);
	e.rows = xcalloc(e.n_rows, sizeof(*e.rows));
	for (size_t i = 0; i < e.n_rows; i++) {
		if (!run && !roll(3))
			run = roll(2 * PORTS);
		row.kind = roll(2) ? TENANT_ROW_MEMBER : roll(4);
		if (run) {
			run--;
			row.kind = roll(3) ? TENANT_ROW_MEMBER : TENANT_ROW_LEFT;
			row.member.guid += roll(8) ? 1 : 0;
		} else {
			row.pkey = keys[roll(KEYS)];
			row.member.guid = 1 + roll(PORTS);
			row.fields.ipoib = roll(2);
		}
		row.member.guid = MAX(1u, row.member.guid % PORTS);
		row.member.full = roll(2);
		row.member.index0 = !roll(3);
		e.rows[i] = row;
		if (row.kind == TENANT_ROW_LEFT)
			e.rows[i].member.full = e.rows[i].member.index0 = false;
	}
	return e;
}

static void check_index0(const struct tenants *t)
{
	guid_t guid;
	size_t at = 0, n, total = 0;

	while ((guid = tenants_each_port(t, &at))) {
		const struct tenant_right *r = tenants_of_port(t, guid, &n);
		unsigned claims = 0;

		for (size_t i = 0; i < n; i++) {
			const struct tenant_member *m =
				tenants_member(tenants_find(t, r[i].pkey), guid);

			assert_non_null(m);
			assert_int_equal(m->full, r[i].full);
			assert_int_equal(m->index0, r[i].index0);
			claims += r[i].index0 ? 1 : 0;
		}
		assert_true(claims <= 1);
		total += n;
	}
	assert_int_equal(total, tenants_members(t));
}

/* At once or row by row: the same; and back. */
static void any_entry_can_be_played(void **state)
{
	_tenants_ t = tenants_new();
	_tenants_ slow = tenants_new();

	dice = 0xA11;
	for (unsigned step = 1; step < 3000; step++) {
		struct tenant_entry e = roll_entry(step);
		_cleanup_free_ char *text = NULL;

		for (size_t i = 0; i < e.n_rows; i++) {
			struct tenant_entry row = { e.generation, e.at, &e.rows[i], 1 };

			tenants_play(slow, &row);
		}
		play_twice(t, &e);
		text = table_text(slow);
		require_text(t, text);
		check_index0(t);
		tenant_entry_clear(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_entry_can_be_played),
		cmocka_unit_test(lives_are_as_the_model_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
