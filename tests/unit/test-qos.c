// SPDX-License-Identifier: BSD-2-Clause
/*
 * SL2VL and VL arbitration as planned: what the options say (qos.md 6), what lanes say, and both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/qos.h"
#include "tests/lib/topogen.h"
#include "util/mem.h"

#define TWO_VLS	  2
#define FOUR_VLS  3
#define EIGHT_VLS 4
#define ALL_VLS	  5

static void set(conf_string *option, const char *value)
{
	*option = xstrdup(value);
}

static void assert_row(const struct qos_plan *plan, enum qos_kind kind, unsigned pair, unsigned vls,
		       const char *expected)
{
	uint8_t row[SMP_DATA_SIZE];
	char text[QOS_SLS + 1] = "";

	qos_sl2vl(plan, kind, pair, vls, row);
	for (unsigned sl = 0; sl < QOS_SLS; sl++)
		text[sl] = "0123456789abcdef"[ib_bits_get(row, sl * 4, 4)];
	assert_string_equal(text, expected);
}

/* "vl:weight ..." of the entries that there are. */
static void assert_shares(const struct qos_plan *plan, enum qos_kind kind, unsigned block,
			  unsigned n, unsigned vls, const char *expected)
{
	uint8_t payload[SMP_DATA_SIZE];
	char text[32 * 8] = "";
	size_t len = 0;

	qos_vlarb(plan, kind, block, n, vls, payload);
	for (unsigned i = 0; i < QOS_PER_BLOCK; i++) {
		unsigned vl = (unsigned)ib_bits_get(payload, i * 16, 8),
			 weight = (unsigned)ib_bits_get(payload, i * 16 + 8, 8);

		if (i >= n)
			assert_int_equal(vl + weight, 0);
		else
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u:%u",
						i ? " " : "", vl, weight);
	}
	assert_string_equal(text, expected);
}

/*
 * ---- options ----------------------------------------------------------------------------------
 */

static void nothing_is_wanted_by_default(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	struct qos_plan plan;

	set(&c->qos_sl2vl, "1,1,1");
	qos_plan_make(c, NULL, &plan);
	assert_false(plan.wanted);
	assert_int_equal(qos_high_limit(&plan, QOS_CA, ALL_VLS), -1);
	assert_row(&plan, QOS_CA, 0, ALL_VLS, "0123456789abcde7");
}

static void qos_alone_means_built_in_values(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	struct qos_plan plan;

	c->qos = true;
	qos_plan_make(c, NULL, &plan);
	assert_true(plan.wanted);
	for (unsigned kind = 0; kind < QOS_KINDS; kind++) {
		assert_row(&plan, kind, 0, ALL_VLS, "0123456789abcde7");
		assert_row(&plan, kind, 0, EIGHT_VLS, "0123456701234567");
		assert_row(&plan, kind, 0, FOUR_VLS, "0123012301230123");
		assert_row(&plan, kind, 0, TWO_VLS, "0101010101010101");
		assert_row(&plan, kind, 0, 1, "0000000000000000");
		assert_row(&plan, kind, 0, 0, "0000000000000000");
		assert_shares(&plan, kind, 1, 8, EIGHT_VLS, "0:0 1:4 2:4 3:4 4:4 5:4 6:4 7:4");
		assert_shares(&plan, kind, 3, 4, TWO_VLS, "0:4 1:0 0:0 1:0");
		assert_int_equal(qos_high_limit(&plan, kind, ALL_VLS), 0);
	}
	assert_shares(&plan, QOS_CA, 2, 8, ALL_VLS, "0:0 0:0 0:0 0:0 0:0 0:0 0:0 0:0");
}

static void what_a_kind_says_goes_before_what_all_say(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	struct qos_plan plan;

	c->qos = true;
	set(&c->qos_sl2vl, "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,15");
	set(&c->qos_swe_sl2vl, "7,6,5");
	set(&c->qos_ca_vlarb_low, "0:10,1:300,17:2");
	c->qos_high_limit = 9;
	c->qos_rtr_high_limit = 255;
	qos_plan_make(c, NULL, &plan);
	assert_row(&plan, QOS_CA, 0, ALL_VLS, "012301230123012f");
	assert_row(&plan, QOS_CA, 0, TWO_VLS, "010101010101010f"); /* 15 stays 15 */
	assert_row(&plan, QOS_SWITCH, 0, ALL_VLS, "7650000000000000");
	assert_shares(&plan, QOS_CA, 1, 4, ALL_VLS, "0:10 1:44 2:2 0:0");
	assert_shares(&plan, QOS_SWITCH, 1, 3, ALL_VLS, "0:0 1:4 2:4");
	assert_int_equal(qos_high_limit(&plan, QOS_CA, ALL_VLS), 9);
	assert_int_equal(qos_high_limit(&plan, QOS_ROUTER, ALL_VLS), 255);
	assert_int_equal(qos_high_limit(&plan, QOS_ROUTER, 1), 0);
	assert_int_equal(qos_usable_sls(&plan, QOS_CA), 0x7FFF);
	assert_int_equal(qos_usable_sls(&plan, QOS_SWITCH), 0xFFFF);
}

/*
 * Whatever stands in a list, as OpenSM reads it: one character between two numbers, and it is a
 * number then.
 */
/* What a plan wants of ports of one kind. */
struct wants {
	uint8_t row[SMP_DATA_SIZE], low[SMP_DATA_SIZE], high[SMP_DATA_SIZE];
	int limit;
};

static void wants_of(const struct conf *c, struct wants ret[QOS_KINDS])
{
	struct qos_plan plan;

	memset(ret, 0, QOS_KINDS * sizeof(*ret));
	qos_plan_make(c, NULL, &plan);
	for (unsigned kind = 0; kind < QOS_KINDS; kind++) {
		qos_sl2vl(&plan, kind, 0, ALL_VLS, ret[kind].row);
		qos_vlarb(&plan, kind, 1, 8, ALL_VLS, ret[kind].low);
		qos_vlarb(&plan, kind, 3, 8, ALL_VLS, ret[kind].high);
		ret[kind].limit = qos_high_limit(&plan, kind, ALL_VLS);
	}
}

/* Each key of each set changes what it names at the ports that it names, and nothing else. */
static void every_key_has_an_effect_or_is_in_the_list_of_those_without(void **state)
{
	static const struct {
		const char *set;
		unsigned kinds; /* a bit each */
	} sets[] = {
		{ "qos_", (1u << QOS_KINDS) - 1 }, { "qos_ca_", 1u << QOS_CA },
		{ "qos_sw0_", 1u << QOS_SWITCH0 }, { "qos_swe_", 1u << QOS_SWITCH },
		{ "qos_rtr_", 1u << QOS_ROUTER },
	};
	static const struct {
		const char *key, *value;
		bool row, low, high, limit;
	} keys[] = {
		{ "sl2vl", "5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5", .row = true },
		{ "vlarb_low", "3:3", .low = true },
		{ "vlarb_high", "4:4", .high = true },
		{ "high_limit", "77", .limit = true },
		{ "max_vls", "4", .row = false }, /* without effect, in OpenSM too */
	};

	for (unsigned i = 0; i < ARRAY_SIZE(sets) * ARRAY_SIZE(keys); i++) {
		unsigned s = i / ARRAY_SIZE(keys), k = i % ARRAY_SIZE(keys);
		_cleanup_(conf_unrefp) struct conf *c = conf_new();
		struct wants before[QOS_KINDS], after[QOS_KINDS];
		struct conf_report r = { 0 };
		struct conf_place at = { 0 };
		char name[64];

		c->qos = true;
		wants_of(c, before);
		snprintf(name, sizeof(name), "%s%s", sets[s].set, keys[k].key);
		assert_int_equal(conf_set(c, conf_option_find(name), keys[k].value, &at, &r), 0);
		wants_of(c, after);
		for (unsigned kind = 0; kind < QOS_KINDS; kind++) {
			bool named = sets[s].kinds >> kind & 1;
			struct wants *x = &before[kind], *y = &after[kind];

			assert_int_equal(!!memcmp(x->row, y->row, sizeof(x->row)),
					 named && keys[k].row);
			assert_int_equal(!!memcmp(x->low, y->low, sizeof(x->low)),
					 named && keys[k].low);
			assert_int_equal(!!memcmp(x->high, y->high, sizeof(x->high)),
					 named && keys[k].high);
			assert_int_equal(x->limit != y->limit, named && keys[k].limit);
		}
	}
}

static void lists_are_read_as_they_always_were(void **state)
{
	static const char *const lists[] = { "", ",", ":::", "x", "1", "1:", "0x3;4 5/6", "-1:-1",
					     "99999999999999999999:1,2", "\t1 \t2" };
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	struct qos_plan plan;

	c->qos = true;
	for (unsigned i = 0; i < ARRAY_SIZE(lists); i++) {
		free(c->qos_vlarb_low);
		free(c->qos_sl2vl);
		set(&c->qos_vlarb_low, lists[i]);
		set(&c->qos_sl2vl, lists[i]);
		qos_plan_make(c, NULL, &plan);
	}
	free(c->qos_vlarb_low);
	set(&c->qos_vlarb_low, "0x3;4 5/6");
	qos_plan_make(c, NULL, &plan);
	assert_shares(&plan, QOS_CA, 1, 3, ALL_VLS, "3:4 5:6 0:0");
}

/*
 * ---- lanes ------------------------------------------------------------------------------------
 */

static struct routes *with_lanes(struct topo *t, unsigned n_vls, enum sl2vl_by by,
				 unsigned n_classes)
{
	struct routes *r = routes_new(t, "mine", t->max_lid);

	r->lanes = sl2vl_new(t, n_vls, by, r->row_size, n_classes);
	topo_unref(t);
	return r;
}

static struct topo *ring(unsigned n)
{
	return topogen_torus((const unsigned[]){ n, 1, 1 }, 1, NULL);
}

static void lanes_say_it_without_qos(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	_cleanup_(routes_unrefp) struct routes *r = with_lanes(ring(4), 3, SL2VL_BY_SWITCHES, 1);
	struct qos_plan plan;

	qos_plan_make(c, r, &plan);
	assert_true(plan.wanted);
	assert_row(&plan, QOS_SWITCH, 0, EIGHT_VLS, "0120120120120120");
	assert_row(&plan, QOS_CA, 0, EIGHT_VLS, "0120120120120120");
	assert_row(&plan, QOS_CA, 0, TWO_VLS, "0100100100100100"); /* a host with less */
	assert_shares(&plan, QOS_SWITCH, 1, 8, EIGHT_VLS, "0:66 1:66 2:66 0:0 0:0 0:0 0:0 0:0");
	assert_shares(&plan, QOS_SWITCH, 3, 8, EIGHT_VLS, "0:0 0:0 0:0 0:0 0:0 0:0 0:0 0:0");
	for (unsigned kind = 0; kind < QOS_KINDS; kind++) {
		uint8_t shares[SMP_DATA_SIZE];

		qos_vlarb(&plan, kind, 1, 8, TWO_VLS, shares);
		assert_true(qos_shares_are_lanes(shares));
		qos_vlarb(&plan, kind, 3, 8, TWO_VLS, shares);
		assert_false(qos_shares_are_lanes(shares));
	}
	assert_int_equal(qos_high_limit(&plan, QOS_SWITCH, ALL_VLS), -1);
	assert_string_equal(plan.note, "");
}

static void rows_follow_the_classes_of_both_ports(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	_cleanup_(routes_unrefp) struct routes *r = with_lanes(ring(4), 4, SL2VL_BY_NOTHING, 2);
	struct sl2vl *l = r->lanes;
	struct qos_plan plan;

	l->class_of = xcalloc(64, 1);
	l->class_of[r->topo->switches[2].first_port + 1] = 1;
	for (unsigned i = 0; i < 4 * QOS_SLS; i++)
		l->vl[i] = (uint8_t)(i / QOS_SLS);
	qos_plan_make(c, r, &plan);
	assert_int_equal(qos_n_pairs(&plan), 4);
	assert_int_equal(qos_pair(&plan, 2, 1, 2), 2);
	assert_int_equal(qos_pair(&plan, 2, 2, 1), 1);
	assert_int_equal(qos_pair(&plan, 1, 2, 1), 0);
	assert_row(&plan, QOS_SWITCH, 2, EIGHT_VLS, "2222222222222222");
	assert_row(&plan, QOS_SWITCH, 1, EIGHT_VLS, "1111111111111111");
}

static void the_administrators_sl2vl_yields_to_lanes(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	_cleanup_(routes_unrefp) struct routes *r = with_lanes(ring(4), 2, SL2VL_BY_LID, 1);
	struct qos_plan plan;

	c->qos = true;
	set(&c->qos_sl2vl, "3,3,3");
	set(&c->qos_vlarb_low, "0:7,1:9,2:11");
	qos_plan_make(c, r, &plan);
	assert_row(&plan, QOS_SWITCH, 0, EIGHT_VLS, "0101010101010101");
	/* all lanes have a share */
	assert_shares(&plan, QOS_SWITCH, 1, 3, EIGHT_VLS, "0:7 1:9 2:11");
	/* These routes were made without a place for levels. */
	assert_string_equal(plan.note, "mine uses 2 VLs for each QoS level: of 2 levels (VLs of "
				       "qos_swe_sl2vl) 1 fits into 16 SLs, so all SLs share them");
	free(c->qos_sl2vl);
	set(&c->qos_sl2vl, "3,3,3,3,3,3,3,3,3,3,3,3,3,3,3,3");
	qos_plan_make(c, r, &plan);
	assert_string_equal(plan.note, "mine decides which SL takes which of 2 VLs: qos_*sl2vl are "
				       "without effect");
}

static void a_lane_without_a_share_gets_one(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	_cleanup_(routes_unrefp) struct routes *r = with_lanes(ring(4), 3, SL2VL_BY_LID, 1);
	struct qos_plan plan;

	c->qos = true;
	c->qos_high_limit = 7;
	set(&c->qos_vlarb_low, "0:7,1:9");
	set(&c->qos_vlarb_high, "0:1");
	qos_plan_make(c, r, &plan);
	assert_shares(&plan, QOS_SWITCH, 1, 4, EIGHT_VLS, "0:66 1:66 2:66 0:0");
	assert_shares(&plan, QOS_SWITCH, 3, 2, EIGHT_VLS, "0:0 0:0");
	assert_int_equal(qos_high_limit(&plan, QOS_SWITCH, ALL_VLS), 0);
	assert_non_null(strstr(plan.note, "qos_*vlarb_*"));
	free(c->qos_vlarb_high);
	set(&c->qos_vlarb_high, "2:1"); /* a share all the same */
	qos_plan_make(c, r, &plan);
	assert_shares(&plan, QOS_SWITCH, 1, 2, EIGHT_VLS, "0:7 1:9");
}

/*
 * Levels are copies of one scheme: lane and level are told apart again, and no cable lacks a lane
 * of any.
 */
static void levels_have_lanes_of_their_own(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	_cleanup_(routes_unrefp) struct routes *r = with_lanes(ring(4), 2, SL2VL_BY_NOTHING, 1);
	struct qos_plan plan;

	memset(r->lanes->vl, 1, QOS_SLS);
	memset(r->lanes->host_vl, 0, QOS_SLS);
	c->qos = true;
	set(&c->qos_swe_sl2vl, "0,1,2,3,4,5,14,15");
	qos_plan_make(c, r, &plan); /* 8 lanes on every cable: 4 levels */
	assert_int_equal(plan.n_levels, 4);
	assert_row(&plan, QOS_SWITCH, 0, EIGHT_VLS, "1357777f11111111");
	assert_row(&plan, QOS_CA, 0, EIGHT_VLS, "0246666f00000000");
	assert_int_equal(qos_usable_sls(&plan, QOS_CA), 0xFF7F);
	c->max_op_vls = FOUR_VLS;
	qos_plan_make(c, r, &plan);
	assert_int_equal(plan.n_levels, 2);
	assert_row(&plan, QOS_SWITCH, 0, FOUR_VLS, "1333333f11111111");
	c->max_op_vls = 1;
	qos_plan_make(c, r, &plan);
	assert_int_equal(plan.n_levels, 1);
}

/* One class, SL by path: a level is the upper bits of an SL, and its VLs are its own. */
static void levels_of_paths_have_lanes_of_their_own(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	_cleanup_(routes_unrefp) struct routes *r = with_lanes(ring(4), 2, SL2VL_BY_LID, 1);
	struct qos_plan plan;

	c->qos = true;
	set(&c->qos_swe_sl2vl, "0,0,5,5,7,7,7,7,7,7,7,7,7,7,7,15");
	assert_int_equal(qos_levels_asked(c), 3);
	r->lanes->sl[1] = 1;
	assert_int_equal(sl2vl_add_levels(r->lanes, 3, 8), 3);
	assert_int_equal(r->lanes->n_vls, 6);
	assert_int_equal(sl2vl_own_vls(r->lanes), 2);
	/* Once is enough. */
	assert_int_equal(sl2vl_add_levels(r->lanes, 3, 8), 3);
	assert_int_equal(r->lanes->n_vls, 6);
	qos_plan_make(c, r, &plan);
	assert_string_equal(plan.note, "mine uses 2 VLs for each of 3 QoS levels (VLs of "
				       "qos_swe_sl2vl)");
	assert_row(&plan, QOS_SWITCH, 0, EIGHT_VLS, "0123454545454545");
	assert_row(&plan, QOS_CA, 0, EIGHT_VLS, "0123454545454545");
	assert_int_equal(qos_level_sl(&plan, 1), 0);
	assert_int_equal(qos_level_sl(&plan, 2), 2);
	assert_int_equal(qos_level_sl(&plan, 4), 4);
	assert_int_equal(sl2vl_sl(r->lanes, 0, 0, 1, qos_level_sl(&plan, 4)), 5);
	assert_int_equal(sl2vl_sl(r->lanes, 0, 0, 0, qos_level_sl(&plan, 2)), 2);
	/* Those that do not fit share the last one. */
	free(c->qos_swe_sl2vl);
	set(&c->qos_swe_sl2vl, "0,1,2,3,4");
	qos_plan_make(c, r, &plan);
	assert_non_null(strstr(plan.note, "of 5 levels (VLs of qos_swe_sl2vl) 3 fit into 8 VLs, "
					  "the others share the last one"));
	assert_int_equal(qos_level_sl(&plan, 4), 4);
}

static void levels_that_do_not_fit_are_not_made(void **state)
{
	_cleanup_(routes_unrefp) struct routes *three = with_lanes(ring(4), 3, SL2VL_BY_LID, 1);
	_cleanup_(routes_unrefp) struct routes *any = with_lanes(ring(4), 2, SL2VL_BY_NOTHING, 1);
	_cleanup_(routes_unrefp) struct routes *five = with_lanes(ring(4), 5, SL2VL_BY_LID, 1);

	assert_int_equal(sl2vl_add_levels(three->lanes, 3, 5), 1); /* VLs */
	assert_int_equal(three->lanes->n_vls, 3);
	assert_int_equal(three->lanes->sl_mask, 15);
	assert_int_equal(sl2vl_add_levels(any->lanes, 3, 8), 1);
	assert_int_equal(sl2vl_add_levels(five->lanes, 3, 15), 2); /* SLs: 8 for five VLs */
	assert_int_equal(five->lanes->n_vls, 10);
	assert_int_equal(five->lanes->vl[8 + 4], 9);
	/* A table of its own that uses all SLs. */
	three->lanes->vl[9] = 1;
	assert_int_equal(sl2vl_add_levels(three->lanes, 3, 15), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_wanted_by_default),
		cmocka_unit_test(qos_alone_means_built_in_values),
		cmocka_unit_test(what_a_kind_says_goes_before_what_all_say),
		cmocka_unit_test(every_key_has_an_effect_or_is_in_the_list_of_those_without),
		cmocka_unit_test(lists_are_read_as_they_always_were),
		cmocka_unit_test(lanes_say_it_without_qos),
		cmocka_unit_test(rows_follow_the_classes_of_both_ports),
		cmocka_unit_test(the_administrators_sl2vl_yields_to_lanes),
		cmocka_unit_test(a_lane_without_a_share_gets_one),
		cmocka_unit_test(levels_have_lanes_of_their_own),
		cmocka_unit_test(levels_of_paths_have_lanes_of_their_own),
		cmocka_unit_test(levels_that_do_not_fit_are_not_made),
	};

	return cmocka_run_group_tests_name("qos", tests, NULL, NULL);
}
