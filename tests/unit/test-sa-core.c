// SPDX-License-Identifier: BSD-2-Clause
/*
 * Admission of Subnet Administration: which requests get an answer at all, and what answers look
 * like.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sa/base/sa_internal.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"

/* LIDs: h0 1, h1 2 (on leaf1), h2 3, h3 4 (on leaf2), then the switches. */
#define SMALL "tree 2 2 1"

/* Any question that has one answer. */
static const struct desk_message *ask_for_h2(struct desk *d)
{
	ib_put(desk_blank(d), NR_LID, 3);
	return desk_get(d, SA_NODE_RECORD, SA_COMP(NR_LID));
}

static void post_for_h2(struct desk *d)
{
	ib_put(desk_blank(d), NR_LID, 3);
	desk_post(d, MAD_GET, SA_NODE_RECORD, SA_COMP(NR_LID));
}

/* ---- admission ---- */

static void nothing_is_answered_before_the_first_view(void **state)
{
	_desk_ d = desk_new(SMALL);

	sa_publish(d->sa, NULL, d->now);
	assert_null(ask_for_h2(d));
	assert_int_equal(sa_stats(d->sa)->dropped, 1);
	sa_publish(d->sa, d->view, d->now);
	assert_non_null(ask_for_h2(d));
}

static void a_wrong_sm_key_gets_no_answer(void **state)
{
	_desk_ d = desk_new(SMALL);

	d->sm_key = d->conf->sa_key + 1;
	assert_null(ask_for_h2(d));
	d->sm_key = d->conf->sa_key;
	assert_non_null(ask_for_h2(d));
	d->sm_key = 0;
	assert_non_null(ask_for_h2(d));
	assert_int_equal(sa_stats(d->sa)->dropped, 1);
}

static void an_unknown_attribute_is_told_so(void **state)
{
	static const uint16_t unknown[] = { 0x0000, 0x0016, 0x0019, 0x0039,
					    0x003B, 0x00F2, 0x0100, 0xFFFF };
	_desk_ d = desk_new(SMALL);

	for (unsigned i = 0; i < ARRAY_SIZE(unknown); i++) {
		const struct desk_message *a = desk_get(d, unknown[i], 0);

		assert_int_equal(a->status, MAD_STATUS_BAD_METHOD_ATTR);
		assert_int_equal(a->attr, unknown[i]);
	}
}

static void a_method_that_an_attribute_lacks_is_told_so(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct desk_message *a = desk_set(d, SA_NODE_RECORD, 0);

	assert_int_equal(a->status, MAD_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(a->method, MAD_GET_RESP);
	a = desk_delete(d, SA_NODE_RECORD, 0);
	assert_int_equal(a->status, MAD_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(a->method, MAD_SA_DELETE | MAD_RESPONSE_BIT);
	a = desk_get(d, SA_INFORM_INFO, 0);
	assert_int_equal(a->status, MAD_STATUS_BAD_METHOD_ATTR);
	a = desk_ask(d, MAD_SA_GET_TRACE_TABLE, SA_NODE_RECORD, 0);
	assert_int_equal(a->status, MAD_STATUS_BAD_METHOD_ATTR);
	assert_int_equal(a->method, 0x93);
	d->rmpp = true;
	a = desk_ask(d, MAD_SA_GET_MULTI, SA_NODE_RECORD, 0);
	assert_int_equal(a->status, MAD_STATUS_BAD_METHOD_ATTR);
}

static void responses_and_strange_methods_get_no_answer(void **state)
{
	static const uint8_t methods[] = {
		0x00, MAD_SEND, 0x04,	      MAD_TRAP, MAD_REPORT, MAD_TRAP_REPRESS, 0x10, 0x11,
		0x16, 0x7F,	MAD_GET_RESP, 0x92,	0xFF
	};
	_desk_ d = desk_new(SMALL);

	for (unsigned i = 0; i < ARRAY_SIZE(methods); i++)
		assert_null(desk_ask(d, methods[i], SA_NODE_RECORD, 0));
	assert_int_equal(sa_stats(d->sa)->dropped, ARRAY_SIZE(methods));
	assert_int_equal(d->n_sent, 0);
}

static void a_lid_that_nobody_has_gets_no_answer(void **state)
{
	static const lid_t lids[] = { 0, 100, LID_MAX_UCAST, 0xC000, LID_PERMISSIVE };
	_desk_ d = desk_new(SMALL);

	for (unsigned i = 1; i < ARRAY_SIZE(lids); i++) {
		d->way.lid = lids[i];
		assert_null(ask_for_h2(d));
	}
	d->way.lid = 100;
	assert_int_equal(desk_set(d, SA_INFORM_INFO, 0)->status, SA_REQ_INVALID);
}

static void any_lid_of_the_range_is_its_port(void **state)
{
	_desk_ d = desk_new_lmc(SMALL, 2);

	d->way.lid = (lid_t)(desk_lid(d, "h1") + 3);
	assert_non_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	assert_int_equal(d->answer.to.lid, d->way.lid);
}

static void short_and_foreign_messages_are_no_requests(void **state)
{
	_desk_ d = desk_new(SMALL);
	uint8_t mad[MAD_SIZE] = { 1, MAD_CLASS_SA, 2, MAD_GET };

	desk_post_raw(d, mad, SA_DATA - 1);
	mad[2] = 1;
	desk_post_raw(d, mad, sizeof(mad));
	mad[2] = 2;
	mad[1] = MAD_CLASS_PERF;
	desk_post_raw(d, mad, sizeof(mad));
	assert_int_equal(sa_stats(d->sa)->requests, 0);
	mad[1] = MAD_CLASS_SA;
	d->deaf = true;
	desk_post_raw(d, mad, SA_DATA); /* no data at all: taken for zeroes */
	assert_int_equal(sa_stats(d->sa)->requests, 1);
	assert_int_equal(d->n_sent, 1);
}

static void a_request_beyond_all_bounds_is_dropped(void **state)
{
	_desk_ d = desk_new(SMALL);
	_cleanup_free_ uint8_t *mad = xcalloc(1, 1 << 20);

	mad[0] = 1;
	mad[1] = MAD_CLASS_SA;
	mad[2] = 2;
	mad[3] = MAD_GET;
	ib_put(mad, SAH_ATTR_ID, SA_CLASS_PORT_INFO);
	d->deaf = true;
	desk_post_raw(d, mad, 1 << 20);
	assert_int_equal(d->n_sent, 0);
	desk_post_raw(d, mad, 10000);
	assert_int_equal(d->n_sent, 1);
}

static void count_lines(void *arg, unsigned bits, const char *text)
{
	unsigned *n = arg;

	if (strstr(text, "LID 1") && strstr(text, "SM_Key"))
		(*n)++;
}

static void drops_are_logged_with_the_lid_but_not_each(void **state)
{
	_desk_ d = desk_new(SMALL);
	unsigned n = 0;

	log_set_sink(count_lines, &n);
	d->sm_key = 99;
	for (unsigned i = 0; i < 1000; i++)
		assert_null(ask_for_h2(d));
	log_set_sink(NULL, NULL);
	assert_int_equal(sa_stats(d->sa)->dropped, 1000);
	assert_in_range(n, 1, 10);
}

/* ---- answers ---- */

static void an_answer_goes_back_the_way_the_question_came(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct transport_addr *to;

	d->way = (struct transport_addr){
		.sl = 3,
		.path_bits = 2,
		.qp = 0x1234,
		.qkey = 5,
		.pkey_index = 7,
		.global = true,
		.grh = { .gid = { 0xFE, 0x80, [15] = 9 },
			 .flow_label = 0x12345,
			 .gid_index = 4,
			 .hop_limit = 64,
			 .traffic_class = 8 },
	};
	to = &ask_for_h2(d)->to;
	assert_int_equal(to->lid, 1);
	assert_int_equal(to->sl, 3);
	assert_int_equal(to->path_bits, 2);
	assert_int_equal(to->qp, 0x1234);
	assert_int_equal(to->qkey, 0x80010000);
	assert_int_equal(to->pkey_index, 7);
	assert_true(to->global);
	assert_memory_equal(to->grh.gid, d->way.grh.gid, 16);
	assert_int_equal(to->grh.flow_label, 0x12345);
	assert_int_equal(to->grh.gid_index, 0);
	assert_int_equal(to->grh.hop_limit, 64);
	assert_int_equal(to->grh.traffic_class, 8);
	assert_int_equal(d->answer.timeout_ms, 0);
}

static void the_header_of_an_answer(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct desk_message *a;

	d->mod = 0x12345678;
	d->sm_key = d->conf->sa_key;
	a = ask_for_h2(d);
	assert_int_equal(ib_get(a->mad, SAH_BASE_VERSION), 1);
	assert_int_equal(ib_get(a->mad, SAH_CLASS), MAD_CLASS_SA);
	assert_int_equal(ib_get(a->mad, SAH_CLASS_VERSION), 2);
	assert_int_equal(a->method, MAD_GET_RESP);
	assert_int_equal(ib_get(a->mad, SAH_TID), d->tid);
	assert_int_equal(ib_get(a->mad, SAH_ATTR_ID), SA_NODE_RECORD);
	assert_int_equal(ib_get(a->mad, SAH_ATTR_MOD), 0x12345678);
	assert_int_equal(ib_get(a->mad, SAH_COMP_MASK), SA_COMP(NR_LID));
	assert_int_equal(ib_get(a->mad, SAH_SM_KEY), 0);
	assert_int_equal(ib_get(a->mad, SAH_ATTR_OFFSET), 14);
	assert_int_equal(ib_get(a->mad, SAH_RMPP_FLAGS), 0);
	assert_int_equal(a->len, SA_DATA + 112);
}

static void records_are_padded_with_zeroes(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct desk_message *a = desk_table(d, SA_PORT_INFO_RECORD, 0);

	assert_int_equal(a->stride, 72);
	for (unsigned i = 0; i < a->n; i++)
		assert_int_equal(ib_bits_get(desk_record(a, i), 68 * 8, 32), 0);
	a = desk_table(d, SA_LINK_RECORD, 0);
	assert_int_equal(a->stride, 8);
	for (unsigned i = 0; i < a->n; i++)
		assert_int_equal(ib_bits_get(desk_record(a, i), 48, 16), 0);
}

static void inform_info_has_the_offset_of_the_peer(void **state)
{
	_desk_ d = desk_new(SMALL);
	uint8_t *r = desk_blank(d);
	const struct desk_message *a;

	memset(r, 0xFF, INF_BYTES);
	ib_put(r, INF_SUBSCRIBE, 1);
	ib_put(r, INF_IS_GENERIC, 1);
	memset(r, 0, 16);
	a = desk_set(d, SA_INFORM_INFO, 0);
	assert_int_equal(a->status, 0);
	assert_int_equal(ib_get(a->mad, SAH_ATTR_OFFSET), 4);
	assert_in_range(a->len, SA_DATA + INF_BYTES, MAD_SIZE);
}

static void a_table_is_active_rmpp(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct desk_message *a = desk_table(d, SA_NODE_RECORD, 0);

	assert_int_equal(a->n, 7);
	assert_int_equal(a->method, 0x92);
	assert_int_equal(a->status, 0);
	assert_int_equal(ib_get(a->mad, SAH_RMPP_FLAGS), RMPP_ACTIVE);
	assert_int_equal(ib_get(a->mad, SAH_ATTR_OFFSET), 14);
	assert_int_equal(a->len, SA_DATA + 7 * 112);
}

static void an_empty_table_is_no_error(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct desk_message *a;

	ib_put(desk_blank(d), NR_LID, 99);
	a = desk_table(d, SA_NODE_RECORD, SA_COMP(NR_LID));
	assert_int_equal(a->status, 0);
	assert_int_equal(a->len, SA_DATA);
	assert_int_equal(ib_get(a->mad, SAH_ATTR_OFFSET), 0);
	assert_int_equal(ib_get(a->mad, SAH_RMPP_FLAGS), RMPP_ACTIVE);
}

static void errors_echo_the_request(void **state)
{
	_desk_ d = desk_new(SMALL);
	const struct desk_message *a;

	memset(desk_blank(d), 0x5A, SA_DATA_SIZE);
	a = desk_get(d, SA_NODE_RECORD, SA_COMP(NR_LID));
	assert_int_equal(a->status, SA_NO_RECORDS);
	assert_int_equal(a->len, MAD_SIZE);
	assert_memory_equal(a->mad + SA_DATA, d->record, SA_DATA_SIZE);
	a = desk_get(d, SA_NODE_RECORD, 0);
	assert_int_equal(a->status, SA_TOO_MANY_RECORDS);
	assert_memory_equal(a->mad + SA_DATA, d->record, SA_DATA_SIZE);
	a = desk_table(d, SA_PKEY_TABLE_RECORD, 0);
	assert_int_equal(a->status, SA_REQ_INVALID);
	assert_int_equal(a->len, MAD_SIZE);
	assert_int_equal(ib_get(a->mad, SAH_RMPP_FLAGS), 0);
	assert_int_equal(ib_get(a->mad, SAH_ATTR_OFFSET), 0);
	assert_memory_equal(a->mad + SA_DATA, d->record, SA_DATA_SIZE);
	assert_int_equal(sa_stats(d->sa)->refused, 3);
}

static void components_that_do_not_exist_are_not_looked_at(void **state)
{
	_desk_ d = desk_new(SMALL);

	memset(desk_blank(d), 0x5A, SA_DATA_SIZE);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, ~0ull << 15)->n, 7);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 1 << NR_RSV1_C)->n, 7);
}

static void an_answer_that_cannot_be_sent_is_counted(void **state)
{
	_desk_ d = desk_new(SMALL);

	d->refuse = -EAGAIN;
	assert_null(ask_for_h2(d));
	assert_int_equal(sa_stats(d->sa)->dropped, 1);
	assert_int_equal(sa_stats(d->sa)->answered, 0);
	d->refuse = 0;
	assert_non_null(ask_for_h2(d));
	assert_int_equal(sa_stats(d->sa)->answered, 1);
}

/* ---- turns ---- */

/* Long questions are made of few rows here: what counts is the order of things. */
static struct desk *slow_desk(void)
{
	struct desk *d = desk_new("tree 2 20 1");

	d->sa->limits.rows_at_once = 2;
	d->sa->limits.rows_a_turn = 4;
	d->sa->limits.rows_a_slice = 8;
	return d;
}

static void a_long_question_is_answered_by_and_by(void **state)
{
	_desk_ d = slow_desk();
	unsigned slices = 0;

	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	assert_null(desk_reply(d));
	assert_int_equal(sa_stats(d->sa)->queries, 1);
	while (sa_dispatch(d->sa, d->now))
		slices++;
	assert_int_equal(desk_reply(d)->n, 43);
	assert_in_range(slices, 4, 8);
	assert_int_equal(sa_stats(d->sa)->queries, 0);
}

/* Wherever it stops: also where there is just no room for one more record (63 of 64 bytes). */
static void a_question_may_stop_after_any_row(void **state)
{
	_desk_ d = desk_new("tree 2 64 1");

	for (uint32_t rows = 1; rows < 140; rows++) {
		d->sa->limits.rows_at_once = rows;
		assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 131);
		ib_put(desk_blank(d), PR_SLID, 1);
		assert_int_equal(desk_table(d, SA_PATH_RECORD, SA_COMP(PR_SLID))->n, 131);
	}
}

static void a_short_question_does_not_wait_for_a_long_one(void **state)
{
	_desk_ d = slow_desk();

	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	assert_int_equal(d->n_sent, 0);
	post_for_h2(d);
	assert_non_null(desk_reply(d));
	d->from = "h5";
	post_for_h2(d);
	assert_non_null(desk_reply(d));
	assert_int_equal(sa_stats(d->sa)->queries, 1);
}

static void requesters_come_in_turn(void **state)
{
	_desk_ d = slow_desk();

	d->deaf = true; /* counts only: whose answer comes is told by when */
	d->sa->limits.queries_each = 100;
	for (unsigned i = 0; i < 50; i++)
		desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	d->from = "h7";
	d->deaf = false;
	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	d->deaf = true;
	/* 43 rows, 4 a turn, every other turn: not after 50 times 43 rows of the one before. */
	for (unsigned i = 0; i < 13; i++)
		sa_dispatch(d->sa, d->now);
	assert_int_equal(sa_stats(d->sa)->queries, 50);
	desk_settle(d);
	assert_int_equal(sa_stats(d->sa)->queries, 0);
}

static void one_requester_has_so_many_questions_open(void **state)
{
	_desk_ d = slow_desk();

	d->deaf = true;
	d->sa->limits.queries_each = 3;
	for (unsigned i = 0; i < 10; i++)
		desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	assert_int_equal(sa_stats(d->sa)->queries, 3);
	assert_int_equal(sa_stats(d->sa)->dropped, 7);
	d->from = "h1";
	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	assert_int_equal(sa_stats(d->sa)->queries, 4);
	desk_settle(d);
	assert_int_equal(d->n_sent, 4);
}

static void all_requesters_have_so_many_questions_open(void **state)
{
	static const char *const hosts[] = { "h0", "h1", "h2", "h3" };
	_desk_ d = slow_desk();

	d->deaf = true;
	d->sa->limits.queries = 5;
	for (unsigned i = 0; i < 20; i++) {
		d->from = hosts[i % ARRAY_SIZE(hosts)];
		desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	}
	assert_int_equal(sa_stats(d->sa)->queries, 5);
	desk_settle(d);
	assert_int_equal(d->n_sent, 5);
}

static void who_has_nothing_waiting_finds_room(void **state)
{
	_desk_ d = slow_desk();

	d->deaf = true;
	d->sa->limits.queries = 16;
	d->sa->limits.queries_each = 100;
	for (unsigned i = 0; i < 20; i++)
		desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	assert_int_equal(sa_stats(d->sa)->queries, 14);
	d->from = "h1";
	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	assert_int_equal(sa_stats(d->sa)->queries, 15);
}

static void short_answers_are_not_long_for_their_buffer(void **state)
{
	_desk_ d = slow_desk();

	d->sa->limits.big_bytes = SA_DATA + 43 * 112; /* none is longer */
	d->sa->limits.big_each = 1;
	d->deaf = true;
	for (unsigned i = 0; i < 3; i++)
		desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	desk_settle(d);
	assert_int_equal(sa_stats(d->sa)->answered, 3);
	assert_int_equal(sa_stats(d->sa)->refused, 0);
}

/* A table of tables that are read from devices has all rows, or is refused. */
static void rows_that_cannot_be_read_now_are_not_left_out(void **state)
{
	_desk_ d = desk_new(SMALL);

	d->reads_nothing = true;
	assert_int_equal(desk_ask(d, MAD_SA_GET_TABLE, SA_SL2VL_RECORD, 0)->status,
			 SA_NO_RESOURCES);
	d->reads_nothing = false;
	desk_post(d, MAD_SA_GET_TABLE, SA_SL2VL_RECORD, 0);
	assert_true(d->n_cells > 0);
}

static void short_answers_find_room_beside_long_ones(void **state)
{
	_desk_ d = desk_new(SMALL);

	d->mute = true; /* questions that wait for a device, and hold 4096 bytes */
	d->sa->limits.answers_bytes = 8192;
	d->sa->limits.big_bytes = 1024;
	ib_put(desk_blank(d), SLR_LID, 2);
	desk_post(d, MAD_GET, SA_SL2VL_RECORD, SA_COMP(SLR_LID));
	d->from = "h1";
	desk_post(d, MAD_GET, SA_SL2VL_RECORD, SA_COMP(SLR_LID));
	assert_int_equal(desk_reply(d)->status, SA_NO_RESOURCES);
	d->sa->limits.big_bytes = 4096;
	desk_post(d, MAD_GET, SA_SL2VL_RECORD, SA_COMP(SLR_LID));
	assert_int_equal(sa_stats(d->sa)->queries, 2);
}

static void a_long_search_needs_no_room(void **state)
{
	_desk_ d = slow_desk();

	d->sa->limits.sent_bytes_each = 1;
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 43);
	ib_put(desk_blank(d) + NR_BYTES, NI_NODE_GUID, desk_node(d, "h39")->guid);
	assert_int_equal(desk_get(d, SA_NODE_RECORD, 1 << 7)->status, 0);
}

static void an_answer_too_long_is_refused(void **state)
{
	_desk_ d = slow_desk();
	const struct desk_message *a;

	d->sa->limits.answer_bytes = 4096;
	a = desk_table(d, SA_NODE_RECORD, 0);
	assert_int_equal(a->status, SA_NO_RESOURCES);
	d->sa->limits.answer_bytes = SA_DATA + 43 * 112;
	a = desk_table(d, SA_NODE_RECORD, 0);
	assert_int_equal(a->n, 43);
	d->sa->limits.answer_bytes = SA_DATA + 43 * 112 - 1;
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->status, SA_NO_RESOURCES);
	assert_int_equal(desk_get(d, SA_NODE_RECORD, 0)->status, SA_TOO_MANY_RECORDS);
}

static void all_answers_in_the_making_have_a_bound(void **state)
{
	_desk_ d = slow_desk();

	d->sa->limits.answers_bytes = 20000;
	d->sa->limits.queries_each = 100;
	d->deaf = true;
	for (unsigned i = 0; i < 20; i++)
		desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	assert_in_range(sa_stats(d->sa)->queries, 1, 4); /* 4096 bytes each */
	assert_int_equal(sa_stats(d->sa)->refused + sa_stats(d->sa)->queries, 20);
	desk_settle(d);
	d->deaf = false;
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 43); /* all was given back */
}

static void one_requester_has_so_many_long_answers(void **state)
{
	_desk_ d = slow_desk();

	d->sa->limits.big_bytes = 4096;
	d->sa->limits.big_each = 1;
	d->deaf = true;
	for (unsigned i = 0; i < 3; i++)
		desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	desk_settle(d);
	assert_int_equal(sa_stats(d->sa)->answered, 3);
	assert_int_equal(sa_stats(d->sa)->refused, 2);
	d->deaf = false;
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 43);
}

static void tables_on_their_way_have_a_bound(void **state)
{
	_desk_ d = slow_desk();

	d->sa->limits.sent_bytes_each = 10000; /* two of 43 * 112 bytes */
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 43);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 43);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->status, SA_NO_RESOURCES);
	assert_int_equal(ask_for_h2(d)->status, 0);
	d->from = "h1";
	desk_blank(d);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 43);
	d->from = "h0";
	desk_wait(d, 10 * MONO_S);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 43);
}

static void overload_drops_questions_not_changes(void **state)
{
	_desk_ d = slow_desk();

	d->sa->limits.queries_each = 100;
	d->sa->limits.rows_a_slice = 4; /* one turn */
	d->deaf = true;
	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	d->now += 11 * MONO_S; /* more than max_msg_fifo_timeout */
	sa_dispatch(d->sa, d->now);
	desk_post(d, MAD_GET, SA_CLASS_PORT_INFO, 0);
	assert_int_equal(d->n_sent, 0);
	assert_int_equal(sa_stats(d->sa)->dropped, 1);
	desk_post(d, MAD_SET, SA_INFORM_INFO, 0);
	assert_int_equal(d->n_sent, 1);
	desk_conf(d, "max_msg_fifo_timeout", "0");
	desk_post(d, MAD_GET, SA_CLASS_PORT_INFO, 0);
	assert_int_equal(d->n_sent, 2);
	desk_settle(d);
	desk_conf(d, "max_msg_fifo_timeout", "10000");
	d->deaf = false;
	assert_non_null(ask_for_h2(d));
}

/* ---- views ---- */

static void a_question_ends_on_the_view_it_began_with(void **state)
{
	_desk_ d = slow_desk();

	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	sa_dispatch(d->sa, d->now);
	desk_remove(d, "h19");
	desk_settle(d);
	assert_int_equal(desk_reply(d)->n, 43);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 42);
}

static void a_question_does_not_hold_on_to_old_views_for_ever(void **state)
{
	_desk_ d = slow_desk();

	d->sa->limits.views = 2;
	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	for (unsigned i = 0; i < 2; i++)
		desk_publish(d);
	sa_dispatch(d->sa, d->now);
	assert_int_equal(sa_stats(d->sa)->queries, 1);
	desk_publish(d);
	sa_dispatch(d->sa, d->now);
	assert_int_equal(sa_stats(d->sa)->queries, 0);
	assert_int_equal(sa_stats(d->sa)->dropped, 1);
	assert_null(desk_reply(d));
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 43);
}

static void losing_mastership_ends_all_questions(void **state)
{
	_desk_ d = slow_desk();

	desk_post(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0);
	sa_publish(d->sa, NULL, d->now);
	desk_settle(d);
	assert_null(desk_reply(d));
	assert_int_equal(sa_stats(d->sa)->queries, 0);
}

static void a_device_may_answer_when_nobody_waits_any_more(void **state)
{
	_desk_ d = desk_new(SMALL);

	d->mute = true;
	ib_put(desk_blank(d), SLR_LID, 2);
	desk_post(d, MAD_GET, SA_SL2VL_RECORD, SA_COMP(SLR_LID));
	assert_int_equal(sa_stats(d->sa)->queries, 1);
	sa_publish(d->sa, NULL, d->now);
	assert_int_equal(sa_stats(d->sa)->queries, 0);
	desk_answer_cells(d);
	desk_settle(d);
	assert_null(desk_reply(d));
	sa_publish(d->sa, d->view, d->now);
	desk_post(d, MAD_GET, SA_SL2VL_RECORD, SA_COMP(SLR_LID));
	desk_answer_cells(d);
	desk_settle(d);
	assert_int_equal(desk_reply(d)->status, 0);
}

static void who_waits_for_a_device_does_not_hold_up_others(void **state)
{
	_desk_ d = desk_new(SMALL);

	d->mute = true;
	ib_put(desk_blank(d), SLR_LID, 2);
	desk_post(d, MAD_GET, SA_SL2VL_RECORD, SA_COMP(SLR_LID));
	assert_false(sa_dispatch(d->sa, d->now));
	assert_non_null(ask_for_h2(d));
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_answered_before_the_first_view),
		cmocka_unit_test(a_wrong_sm_key_gets_no_answer),
		cmocka_unit_test(an_unknown_attribute_is_told_so),
		cmocka_unit_test(a_method_that_an_attribute_lacks_is_told_so),
		cmocka_unit_test(responses_and_strange_methods_get_no_answer),
		cmocka_unit_test(a_lid_that_nobody_has_gets_no_answer),
		cmocka_unit_test(any_lid_of_the_range_is_its_port),
		cmocka_unit_test(short_and_foreign_messages_are_no_requests),
		cmocka_unit_test(a_request_beyond_all_bounds_is_dropped),
		cmocka_unit_test(drops_are_logged_with_the_lid_but_not_each),
		cmocka_unit_test(an_answer_goes_back_the_way_the_question_came),
		cmocka_unit_test(the_header_of_an_answer),
		cmocka_unit_test(records_are_padded_with_zeroes),
		cmocka_unit_test(inform_info_has_the_offset_of_the_peer),
		cmocka_unit_test(a_table_is_active_rmpp),
		cmocka_unit_test(an_empty_table_is_no_error),
		cmocka_unit_test(errors_echo_the_request),
		cmocka_unit_test(components_that_do_not_exist_are_not_looked_at),
		cmocka_unit_test(an_answer_that_cannot_be_sent_is_counted),
		cmocka_unit_test(a_long_question_is_answered_by_and_by),
		cmocka_unit_test(a_question_may_stop_after_any_row),
		cmocka_unit_test(a_short_question_does_not_wait_for_a_long_one),
		cmocka_unit_test(requesters_come_in_turn),
		cmocka_unit_test(one_requester_has_so_many_questions_open),
		cmocka_unit_test(all_requesters_have_so_many_questions_open),
		cmocka_unit_test(who_has_nothing_waiting_finds_room),
		cmocka_unit_test(short_answers_are_not_long_for_their_buffer),
		cmocka_unit_test(rows_that_cannot_be_read_now_are_not_left_out),
		cmocka_unit_test(short_answers_find_room_beside_long_ones),
		cmocka_unit_test(a_long_search_needs_no_room),
		cmocka_unit_test(an_answer_too_long_is_refused),
		cmocka_unit_test(all_answers_in_the_making_have_a_bound),
		cmocka_unit_test(one_requester_has_so_many_long_answers),
		cmocka_unit_test(tables_on_their_way_have_a_bound),
		cmocka_unit_test(overload_drops_questions_not_changes),
		cmocka_unit_test(a_question_ends_on_the_view_it_began_with),
		cmocka_unit_test(a_question_does_not_hold_on_to_old_views_for_ever),
		cmocka_unit_test(losing_mastership_ends_all_questions),
		cmocka_unit_test(a_device_may_answer_when_nobody_waits_any_more),
		cmocka_unit_test(who_waits_for_a_device_does_not_hold_up_others),
	};

	return cmocka_run_group_tests_name("sa-core", tests, NULL, NULL);
}
