// SPDX-License-Identifier: BSD-2-Clause
/* MultiPathRecord: sa.md 5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sa/base/sa_internal.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"
#include "view/path_walk.h"
#include "view/view_policy.h"

#define BIT(FIELD) (1ull << MPR_C(FIELD))
#define COUNTS	   (BIT(MPR_SGID_COUNT) | BIT(MPR_DGID_COUNT))

/* A request for `n_src` names, then `n_dst` names. */
static void blank_multi(struct desk *d, unsigned n_src, unsigned n_dst, const char *const *names)
{
	desk_blank(d);
	d->rmpp = true;
	ib_put(d->record, MPR_SGID_COUNT, n_src);
	ib_put(d->record, MPR_DGID_COUNT, n_dst);
	for (unsigned i = 0; i < n_src + n_dst; i++)
		desk_gid(d, names[i], d->record + MPR_BYTES + 16 * i);
}

static const struct desk_message *multi(struct desk *d, uint64_t mask)
{
	return desk_ask(d, MAD_SA_GET_MULTI, SA_MULTI_PATH_RECORD, mask);
}

static void expect_pair(const struct desk_message *a, unsigned i, struct desk *d, const char *src,
			const char *dst)
{
	const uint8_t *r = desk_record(a, i);

	assert_int_equal(ib_get(r, PR_SLID), desk_lid(d, src));
	assert_int_equal(ib_get(r, PR_DLID), desk_lid(d, dst));
}

static void all_pairs_are_answered_with_path_records(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;

	blank_multi(d, 1, 2, (const char *[]){ "h0", "h2", "h3" });
	a = multi(d, COUNTS);
	assert_int_equal(a->status, 0);
	assert_int_equal(a->method, 0x94);
	assert_int_equal(a->attr, SA_PATH_RECORD);
	assert_int_equal(a->stride, PR_BYTES);
	assert_int_equal(ib_get(a->mad, SAH_RMPP_FLAGS) & RMPP_ACTIVE, RMPP_ACTIVE);
	assert_int_equal(a->n, 2);
	expect_pair(a, 0, d, "h0", "h2");
	expect_pair(a, 1, d, "h0", "h3");
	blank_multi(d, 2, 2, (const char *[]){ "h0", "h1", "h2", "h3" });
	assert_int_equal(multi(d, COUNTS)->n, 4);
}

static void the_record_is_that_of_a_path_request(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	uint8_t record[PR_BYTES];

	desk_blank(d);
	desk_gid(d, "h0", ib_at(d->record, PR_SGID));
	desk_gid(d, "h2", ib_at(d->record, PR_DGID));
	memcpy(record,
	       desk_record(desk_get(d, SA_PATH_RECORD, SA_COMP(PR_SGID) | SA_COMP(PR_DGID)), 0),
	       PR_BYTES);
	blank_multi(d, 1, 1, (const char *[]){ "h0", "h2" });
	assert_memory_equal(desk_record(multi(d, COUNTS), 0), record, PR_BYTES);
}

static void without_rmpp_it_is_invalid(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;

	blank_multi(d, 1, 1, (const char *[]){ "h0", "h2" });
	d->rmpp = false;
	a = multi(d, COUNTS);
	assert_int_equal(a->status, SA_REQ_INVALID);
	assert_int_equal(a->attr, SA_PATH_RECORD);
	assert_int_equal(a->method, 0x94);
}

static void both_counts_are_needed(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	blank_multi(d, 1, 1, (const char *[]){ "h0", "h2" });
	assert_int_equal(multi(d, BIT(MPR_SGID_COUNT))->status, SA_REQ_INSUFFICIENT_COMPONENTS);
	assert_int_equal(multi(d, BIT(MPR_DGID_COUNT))->status, SA_REQ_INSUFFICIENT_COMPONENTS);
	assert_int_equal(multi(d, 0)->status, SA_REQ_INSUFFICIENT_COMPONENTS);
	assert_int_equal(multi(d, COUNTS | BIT(MPR_SERVICE_ID_MSB))->status,
			 SA_REQ_INSUFFICIENT_COMPONENTS);
	assert_int_equal(multi(d, COUNTS | BIT(MPR_SERVICE_ID_LSB))->status,
			 SA_REQ_INSUFFICIENT_COMPONENTS);
}

static void counts_of_nothing_or_of_more_than_came_are_invalid(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	blank_multi(d, 1, 0, (const char *[]){ "h0" });
	assert_int_equal(multi(d, COUNTS)->status, SA_REQ_INVALID);
	blank_multi(d, 0, 1, (const char *[]){ "h0" });
	assert_int_equal(multi(d, COUNTS)->status, SA_REQ_INVALID);
	blank_multi(d, 1, 1, (const char *[]){ "h0", "h2" });
	ib_put(d->record, MPR_DGID_COUNT, 11); /* eleven fit in all */
	assert_int_equal(multi(d, COUNTS)->status, SA_REQ_INVALID);
	ib_put(d->record, MPR_SGID_COUNT, 255);
	ib_put(d->record, MPR_DGID_COUNT, 255);
	assert_int_equal(multi(d, COUNTS)->status, SA_REQ_INVALID);
}

static void an_unknown_gid_is_named_invalid(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	blank_multi(d, 1, 2, (const char *[]){ "h0", "h2", "h3" });
	d->record[MPR_BYTES + 47] ^= 0x80;
	assert_int_equal(multi(d, COUNTS)->status, SA_REQ_INVALID_GID);
	d->record[MPR_BYTES + 47] ^= 0x80;
	d->record[MPR_BYTES] = 0x20; /* another subnet */
	assert_int_equal(multi(d, COUNTS)->status, SA_REQ_INVALID_GID);
}

static void it_has_no_get_and_no_table(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	blank_multi(d, 1, 1, (const char *[]){ "h0", "h2" });
	assert_int_not_equal(desk_get(d, SA_MULTI_PATH_RECORD, COUNTS)->status, 0);
	assert_int_not_equal(desk_table(d, SA_MULTI_PATH_RECORD, COUNTS)->status, 0);
}

static void numb_path_limits_the_whole_answer(void **state)
{
	_desk_ d = desk_new_lmc("tree 2 2 1", 1);

	blank_multi(d, 2, 2, (const char *[]){ "h0", "h1", "h2", "h3" });
	assert_int_equal(multi(d, COUNTS)->n, 16);
	ib_put(d->record, MPR_NUMB_PATH, 5);
	assert_int_equal(multi(d, COUNTS | BIT(MPR_NUMB_PATH))->n, 5);
	ib_put(d->record, MPR_NUMB_PATH, 0);
	assert_int_equal(multi(d, COUNTS | BIT(MPR_NUMB_PATH))->n, 0);
}

static void selectors_count_here_too(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	uint64_t mtu = BIT(MPR_MTU_SEL) | BIT(MPR_MTU);

	blank_multi(d, 1, 1, (const char *[]){ "h0", "h2" });
	ib_put(d->record, MPR_MTU_SEL, SA_EXACT);
	ib_put(d->record, MPR_MTU, IB_MTU_1024);
	assert_int_equal(ib_get(desk_record(multi(d, COUNTS | mtu), 0), PR_MTU), IB_MTU_1024);
	ib_put(d->record, MPR_MTU, 0);
	assert_int_equal(multi(d, COUNTS | mtu)->status, SA_REQ_INVALID);
	ib_put(d->record, MPR_PKEY, 0x8001);
	assert_int_equal(multi(d, COUNTS | BIT(MPR_PKEY))->n, 0);
	ib_put(d->record, MPR_SL, 4);
	assert_int_equal(ib_get(desk_record(multi(d, COUNTS | BIT(MPR_SL)), 0), PR_SL), 4);
}

/* As of a GID that no port has: else the answer would tell that there is one. */
static void who_may_not_see_an_end_gets_no_path_to_it(void **state)
{
	static const uint16_t other[] = { 0x8005 };
	_desk_ d = desk_new("tree 2 2 1");

	desk_keys(d, "h2", 1, other);
	blank_multi(d, 1, 2, (const char *[]){ "h0", "h2", "h3" });
	assert_int_equal(multi(d, COUNTS)->status, SA_REQ_INVALID_GID);
	d->sm_key = 1; /* trusted: the ends share no partition still */
	blank_multi(d, 1, 2, (const char *[]){ "h0", "h2", "h3" });
	assert_int_equal(multi(d, COUNTS)->n, 1);
}

/* ---- independence --------------------------------------------------------------------------- */

static void two_by_two_gives_two_paths_of_different_ends(void **state)
{
	_desk_ d = desk_new("tree 2 2 2");
	const struct desk_message *a;

	blank_multi(d, 2, 2, (const char *[]){ "h0", "h1", "h2", "h3" });
	ib_put(d->record, MPR_INDEPENDENCE, 1);
	a = multi(d, COUNTS | BIT(MPR_INDEPENDENCE));
	assert_int_equal(a->n, 2);
	assert_int_not_equal(ib_get(desk_record(a, 0), PR_SLID),
			     ib_get(desk_record(a, 1), PR_SLID));
	assert_int_not_equal(ib_get(desk_record(a, 0), PR_DLID),
			     ib_get(desk_record(a, 1), PR_DLID));
}

/* h0 and h1 share leaf1, h2 and h3 leaf2: neighbours do not meet the other pair at all. */
static void the_pairs_that_share_less_are_taken(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;

	blank_multi(d, 2, 2, (const char *[]){ "h0", "h2", "h3", "h1" });
	ib_put(d->record, MPR_INDEPENDENCE, 1);
	a = multi(d, COUNTS | BIT(MPR_INDEPENDENCE));
	assert_int_equal(a->n, 2);
	expect_pair(a, 0, d, "h0", "h1");
	expect_pair(a, 1, d, "h2", "h3");
	blank_multi(d, 2, 2, (const char *[]){ "h0", "h2", "h1", "h3" });
	ib_put(d->record, MPR_INDEPENDENCE, 1);
	a = multi(d, COUNTS | BIT(MPR_INDEPENDENCE));
	assert_int_equal(a->n, 2);
	expect_pair(a, 0, d, "h0", "h1");
	expect_pair(a, 1, d, "h2", "h3");
}

static void one_broken_pairing_leaves_the_other(void **state)
{
	static const uint16_t odd[] = { 0x8001 }, both[] = { 0x8001, 0xFFFF };
	_desk_ d = desk_new("tree 2 2 1");
	const struct desk_message *a;

	desk_keys(d, "h0", 2, both);
	desk_keys(d, "h2", 1, odd);
	desk_keys(d, "h1", 1, odd);
	d->from = "h0";
	blank_multi(d, 2, 2, (const char *[]){ "h0", "h2", "h3", "h1" });
	ib_put(d->record, MPR_INDEPENDENCE, 1);
	a = multi(d, COUNTS | BIT(MPR_INDEPENDENCE)); /* h2 reaches h1 only */
	assert_int_equal(a->n, 2);
	expect_pair(a, 0, d, "h0", "h3");
	expect_pair(a, 1, d, "h2", "h1");
}

/* The switches in the middle of the ways that an answer names, each once; ways of two cables. */
static unsigned count_middles(const struct desk *d, const struct desk_message *a)
{
	const struct view *v = d->view;
	uint32_t seen[16], ports[PATH_SWITCHES_MAX + 1];
	unsigned n = 0;

	for (unsigned i = 0; i < a->n; i++) {
		const uint8_t *r = desk_record(a, i);
		uint32_t src = view_port_at(v, (unsigned)ib_get(r, PR_SLID));
		uint32_t dst = view_port_at(v, (unsigned)ib_get(r, PR_DLID)), middle;
		struct path_way way;
		bool is_new = true;

		assert_true(path_trace(v, src, (lid_t)ib_get(r, PR_DLID), dst, &way, ports));
		assert_int_equal(way.n, 3);
		middle = v->ports[ports[2]].node;
		for (unsigned k = 0; k < n; k++)
			is_new &= seen[k] != middle;
		if (is_new)
			seen[n++] = middle;
	}
	return n;
}

/* One port to one: what a host with LMC asks for automatic path migration, or to stripe over. */
static void the_lids_of_one_pair_come_by_independence(void **state)
{
	static const unsigned spines[] = { 1, 2, 3, 4 };

	for (unsigned i = 0; i < ARRAY_SIZE(spines); i++)
		for (unsigned numb = 1; numb <= 5; numb++) {
			char words[32];
			snprintf(words, sizeof(words), "tree 2 2 %u", spines[i]);
			_desk_ d = desk_new_lmc(words, 2);
			const struct desk_message *a;

			blank_multi(d, 1, 1, (const char *[]){ "h0", "h3" });
			ib_put(d->record, MPR_INDEPENDENCE, 1);
			ib_put(d->record, MPR_NUMB_PATH, numb);
			a = multi(d, COUNTS | BIT(MPR_INDEPENDENCE) | BIT(MPR_NUMB_PATH));
			assert_int_equal(a->n, MIN(numb, 4)); /* not 16: each DLID once */
			assert_int_equal(count_middles(d, a), MIN(a->n, spines[i]));
			for (unsigned k = 1; k < a->n; k++)
				assert_int_not_equal(ib_get(desk_record(a, k), PR_DLID),
						     ib_get(desk_record(a, k - 1), PR_DLID));
		}
}

/* Of two by two, too, the LIDs count: with one LID each both ways might meet at a spine. */
static void two_by_two_choose_among_lids(void **state)
{
	static const char *const names[][4] = {
		{ "h0", "h1", "h2", "h3" }, { "h0", "h1", "h3", "h2" }, { "h2", "h3", "h0", "h1" },
	};
	_desk_ d = desk_new_lmc("tree 2 2 2", 1);

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		const struct desk_message *a;

		blank_multi(d, 2, 2, names[i]);
		ib_put(d->record, MPR_INDEPENDENCE, 1);
		a = multi(d, COUNTS | BIT(MPR_INDEPENDENCE));
		assert_int_equal(a->n, 2);
		assert_int_equal(count_middles(d, a), 2);
	}
}

/* Maybe more GIDs than one MAD holds, of the hosts in turn: `n_src` from h0 on, then `n_dst`. */
static void post_many(struct desk *d, unsigned n_src, unsigned n_dst, unsigned hosts, uint64_t mask)
{
	size_t len = SA_DATA + MPR_BYTES + 16u * (n_src + n_dst);
	_cleanup_free_ uint8_t *mad = xcalloc(1, MAX(len, (size_t)MAD_SIZE));

	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, MAD_SA_GET_MULTI);
	ib_put(mad, SAH_TID, ++d->tid);
	ib_put(mad, SAH_ATTR_ID, SA_MULTI_PATH_RECORD);
	ib_put(mad, SAH_RMPP_FLAGS, RMPP_ACTIVE);
	ib_put(mad, SAH_COMP_MASK, mask | COUNTS | BIT(MPR_INDEPENDENCE));
	memcpy(mad + SA_DATA, d->record, MPR_BYTES);
	ib_put(mad + SA_DATA, MPR_INDEPENDENCE, 1);
	ib_put(mad + SA_DATA, MPR_SGID_COUNT, n_src);
	ib_put(mad + SA_DATA, MPR_DGID_COUNT, n_dst);
	for (unsigned i = 0; i < n_src + n_dst; i++) {
		char name[16];

		snprintf(name, sizeof(name), "h%u", i % hosts);
		desk_gid(d, name, mad + SA_DATA + MPR_BYTES + 16 * i);
	}
	free(d->answer.mad);
	d->answer = (struct desk_message){ 0 };
	d->waits = true;
	desk_post_raw(d, mad, MAX(len, (size_t)MAD_SIZE));
}

static unsigned count_slices(struct desk *d)
{
	unsigned n = 1;

	while (sa_dispatch(d->sa, d->now))
		n++;
	return n;
}

/* With many LIDs, too, each pair of ports is compared: 4 times 64 ways are too many. */
static void two_by_two_give_two_with_any_number_of_lids(void **state)
{
	for (uint8_t lmc = 0; lmc <= 7; lmc++) {
		_desk_ d = desk_new_lmc("tree 2 2 2", lmc);
		const struct desk_message *a;
		lid_t mask = (lid_t)(0xFFFF << lmc);

		blank_multi(d, 2, 2, (const char *[]){ "h0", "h1", "h2", "h3" });
		ib_put(d->record, MPR_INDEPENDENCE, 1);
		a = multi(d, COUNTS | BIT(MPR_INDEPENDENCE));
		assert_int_equal(a->n, 2);
		assert_int_not_equal(ib_get(desk_record(a, 0), PR_SLID) & mask,
				     ib_get(desk_record(a, 1), PR_SLID) & mask);
		assert_int_not_equal(ib_get(desk_record(a, 0), PR_DLID) & mask,
				     ib_get(desk_record(a, 1), PR_DLID) & mask);
	}
}

static unsigned count_destinations(struct desk *d, const struct desk_message *a)
{
	_cleanup_free_ bool *seen = xcalloc(d->view->n_ports, sizeof(*seen));
	unsigned n = 0;

	for (unsigned i = 0; i < a->n; i++) {
		uint32_t at = view_port_at(d->view, (unsigned)ib_get(desk_record(a, i), PR_DLID));

		n += !seen[at];
		seen[at] = true;
	}
	return n;
}

static void every_destination_is_in_the_answer(void **state)
{
	static const unsigned many[] = { 2, 3, 5, 8, 33, 63, 64, 65, 100 };

	/* Above 64 pairs it is all ways of pair after pair, NumbPath of them: with one LID all. */
	for (unsigned i = 0; i < ARRAY_SIZE(many); i++)
		for (uint8_t lmc = 0; lmc <= (many[i] > 64 ? 0 : 3); lmc += 3) {
			_desk_ d = desk_new_lmc("tree 2 51 2", lmc);

			desk_blank(d);
			post_many(d, 1, many[i], 102, 0);
			desk_settle(d);
			assert_non_null(desk_reply(d));
			assert_int_equal(count_destinations(d, desk_reply(d)), many[i]);
			if (!lmc)
				assert_int_equal(desk_reply(d)->n, many[i]);
		}
}

/* A row is one way at most, whether or not it is a path: else one request would stop all others. */
static void a_wish_that_nothing_meets_takes_turns(void **state)
{
	_desk_ d = desk_new_lmc("tree 2 10 2", 4);

	desk_blank(d);
	ib_put(d->record, MPR_PKEY, 0x8001);
	post_many(d, 255, 255, 20, BIT(MPR_PKEY));
	assert_null(desk_reply(d));
	assert_in_range(count_slices(d), 255 * 255 / d->sa->limits.rows_a_slice, 1000);
	assert_int_equal(desk_reply(d)->n, 0);
	d->sa->limits.rows_at_once = d->sa->limits.rows_a_turn = d->sa->limits.rows_a_slice = 8;
	post_many(d, 8, 8, 20, BIT(MPR_PKEY));
	assert_null(desk_reply(d));
	assert_in_range(count_slices(d), 8 * 8 * 16 / 8, 1000);
	assert_int_equal(desk_reply(d)->n, 0);
}

/* To compare takes turns as well; the answer is the same wherever it stops. */
static void independent_paths_may_stop_after_any_row(void **state)
{
	static const unsigned sides[][2] = { { 1, 1 }, { 2, 2 }, { 3, 4 } };

	for (unsigned i = 0; i < ARRAY_SIZE(sides); i++) {
		_desk_ d = desk_new_lmc("tree 2 4 2", 2);
		_cleanup_free_ uint8_t *whole = NULL;
		size_t len;

		desk_blank(d);
		post_many(d, sides[i][0], sides[i][1], 8, 0);
		assert_non_null(desk_reply(d));
		len = desk_reply(d)->len - SA_DATA;
		whole = xmemdup(desk_reply(d)->mad + SA_DATA, len);
		for (uint32_t rows = 1; rows < 40; rows++) {
			d->sa->limits.rows_at_once = d->sa->limits.rows_a_turn = rows;
			post_many(d, sides[i][0], sides[i][1], 8, 0);
			desk_settle(d);
			assert_int_equal(desk_reply(d)->len - SA_DATA, len);
			assert_memory_equal(desk_reply(d)->mad + SA_DATA, whole, len);
		}
	}
}

static void a_rule_counts_once_for_each_pair(void **state)
{
	_desk_ d = desk_new_lmc("tree 2 2 2", 2);

	desk_policy(d, "qos-ulps\ndefault: 0\nend-qos-ulps\n");
	desk_blank(d);
	post_many(d, 2, 2, 4, 0);
	assert_int_equal(desk_reply(d)->n, 2);
	assert_int_equal(sa_rules_decided(d->sa, view_policy(d->view))[0], 4);
	post_many(d, 1, 3, 4, 0);
	assert_int_equal(desk_reply(d)->n, 12);
	assert_int_equal(sa_rules_decided(d->sa, view_policy(d->view))[0], 4 + 3);
}

static void independence_zero_asks_for_all_pairs(void **state)
{
	_desk_ d = desk_new("tree 2 2 2");

	blank_multi(d, 2, 2, (const char *[]){ "h0", "h1", "h2", "h3" });
	assert_int_equal(multi(d, COUNTS | BIT(MPR_INDEPENDENCE))->n, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_pairs_are_answered_with_path_records),
		cmocka_unit_test(the_record_is_that_of_a_path_request),
		cmocka_unit_test(without_rmpp_it_is_invalid),
		cmocka_unit_test(both_counts_are_needed),
		cmocka_unit_test(counts_of_nothing_or_of_more_than_came_are_invalid),
		cmocka_unit_test(an_unknown_gid_is_named_invalid),
		cmocka_unit_test(it_has_no_get_and_no_table),
		cmocka_unit_test(numb_path_limits_the_whole_answer),
		cmocka_unit_test(selectors_count_here_too),
		cmocka_unit_test(who_may_not_see_an_end_gets_no_path_to_it),
		cmocka_unit_test(two_by_two_gives_two_paths_of_different_ends),
		cmocka_unit_test(the_pairs_that_share_less_are_taken),
		cmocka_unit_test(one_broken_pairing_leaves_the_other),
		cmocka_unit_test(the_lids_of_one_pair_come_by_independence),
		cmocka_unit_test(two_by_two_choose_among_lids),
		cmocka_unit_test(two_by_two_give_two_with_any_number_of_lids),
		cmocka_unit_test(every_destination_is_in_the_answer),
		cmocka_unit_test(a_wish_that_nothing_meets_takes_turns),
		cmocka_unit_test(independent_paths_may_stop_after_any_row),
		cmocka_unit_test(a_rule_counts_once_for_each_pair),
		cmocka_unit_test(independence_zero_asks_for_all_pairs),
	};

	return cmocka_run_group_tests_name("sa-multipath", tests, NULL, NULL);
}
