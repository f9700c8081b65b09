// SPDX-License-Identifier: BSD-2-Clause
/*
 * Limits of what hosts may register and ask: each holds as configured, its refusal names it in the
 * log, and a new value counts at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sa/base/sa_internal.h"
#include "tests/unit/mc-desk.h"
#include "tests/unit/sa-events.h"

static char said[4096];

static void overhear(void *arg, unsigned bits, const char *text)
{
	size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%s\n", text);
}

static bool was_said(const char *words)
{
	bool found = strstr(said, words) != NULL;

	if (!found)
		fprintf(stderr, "# said: %s# not: %s\n", said, words);
	said[0] = '\0';
	return found;
}

static uint16_t register_service(struct desk *d, unsigned id)
{
	uint8_t *r = desk_blank(d);

	ib_put(r, SVR_ID, 0x1000 + id);
	desk_gid(d, d->from, ib_at(r, SVR_GID));
	return desk_set(d, SA_SERVICE_RECORD, SA_COMP(SVR_ID) | SA_COMP(SVR_GID))->status;
}

static uint16_t subscribe_to(struct desk *d, unsigned trap)
{
	info_any(d->record);
	ib_put(d->record, INF_TRAP, trap);
	d->sm_key = d->conf->sa_key;
	return inform_by(d, 1);
}

static uint16_t create_group(struct desk *d, unsigned n)
{
	char words[120];

	snprintf(words, sizeof(words),
		 "mgid=ff12:a0b0::%x port=%s join=1 qkey=5 pkey=0xffff tclass=0 flow=0 sl=0", n + 1,
		 d->from);
	return mc_set(d, words);
}

/*
 * What one port may register: `option` of it, then the log names the option; one more after it was
 * raised.
 */
static void each(const char *option, uint16_t (*ask)(struct desk *d, unsigned n))
{
	_desk_ d = desk_new("tree 2 2 1");
	_cleanup_free_ char *words = xasprintf("this port has reached %s, which is 3", option);

	log_set_sink(overhear, NULL);
	desk_conf(d, option, "3");
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(ask(d, i), 0);
	assert_int_equal(ask(d, 3), SA_NO_RESOURCES);
	assert_true(was_said(words));
	desk_conf(d, option, "4");
	assert_int_equal(ask(d, 3), 0);
	assert_int_equal(ask(d, 4), SA_NO_RESOURCES);
	log_set_sink(NULL, NULL);
	said[0] = '\0';
}

static void what_one_port_may_have_is_an_option(void **state)
{
	each("sa_max_services_per_port", register_service);
	each("sa_max_subscriptions_per_port", subscribe_to);
	each("sa_max_groups_per_port", create_group);
	each("sa_max_members_per_port", create_group);
}

/* 16 in all: the last two of them only for ports that have few. */
static void all_together(const char *option, uint16_t (*ask)(struct desk *d, unsigned n))
{
	_desk_ d = desk_new("tree 2 2 1");
	_cleanup_free_ char *words =
		xasprintf("all ports together have reached %s, which is 16", option);

	log_set_sink(overhear, NULL);
	desk_conf(d, option, "16");
	for (unsigned i = 0; i < 16 && ask(d, i) == 0; i++)
		;
	d->from = "h1";
	for (unsigned i = 16; i < 24 && ask(d, i) == 0; i++)
		;
	assert_int_equal(ask(d, 30), SA_NO_RESOURCES);
	assert_true(was_said(words));
	desk_conf(d, option, "32");
	assert_int_equal(ask(d, 30), 0);
	log_set_sink(NULL, NULL);
	said[0] = '\0';
}

static void what_all_ports_may_have_is_an_option(void **state)
{
	all_together("sa_max_services", register_service);
	all_together("sa_max_subscriptions", subscribe_to);
	all_together("sa_max_groups", create_group);
}

static void questions_in_turn_are_options(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	assert_int_equal(d->sa->limits.queries, d->conf->sa_max_queries);
	assert_int_equal(d->sa->limits.queries_each, d->conf->sa_max_queries_per_port);
	assert_int_equal(d->sa->limits.big_each, d->conf->sa_max_long_answers_per_port);
	desk_conf(d, "sa_max_queries", "100");
	desk_conf(d, "sa_max_queries_per_port", "7");
	desk_conf(d, "sa_max_long_answers_per_port", "5");
	assert_int_equal(d->sa->limits.queries, 100);
	assert_int_equal(d->sa->limits.queries_each, 7);
	assert_int_equal(d->sa->limits.big_each, 5);
}

/* A table of some 400 records. */
static uint16_t ask_for_links(struct desk *d)
{
	desk_blank(d);
	desk_post(d, MAD_SA_GET_TABLE, SA_LINK_RECORD, 0);
	for (unsigned i = 0; i < 100 && !desk_reply(d); i++)
		sa_dispatch(d->sa, d->now);
	assert_non_null(desk_reply(d));
	return desk_reply(d)->status;
}

static void bounds_of_answers_are_named(void **state)
{
	static const struct {
		size_t at;
		const char *words;
	} bounds[] = {
		{ offsetof(struct sa_limits, answer_bytes),
		  "of LinkRecord refused (no resources): one answer has 100 bytes at most" },
		{ offsetof(struct sa_limits, answers_bytes),
		  "of LinkRecord refused (no resources): answers in the making, of all ports "
		  "together, have 100 bytes at most" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
		_desk_ d = desk_new("tree 8 16 8");

		log_set_sink(overhear, NULL);
		*(size_t *)((char *)&d->sa->limits + bounds[i].at) = 100;
		assert_int_equal(ask_for_links(d), SA_NO_RESOURCES);
		assert_true(was_said(bounds[i].words));
		log_set_sink(NULL, NULL);
	}
}

/* One long answer at a time. */
static void long_answers_are_an_option(void **state)
{
	_desk_ d = desk_new("tree 8 16 8");

	log_set_sink(overhear, NULL);
	desk_conf(d, "sa_max_long_answers_per_port", "1");
	d->sa->limits.big_bytes = 100;
	d->sa->limits.rows_at_once = 8;
	d->sa->limits.rows_a_turn = 8;
	d->sa->limits.rows_a_slice = 8;
	desk_blank(d);
	desk_post(d, MAD_SA_GET_TABLE, SA_LINK_RECORD, 0);
	assert_int_equal(ask_for_links(d), SA_NO_RESOURCES);
	assert_true(was_said("this port has reached sa_max_long_answers_per_port, which is 1"));
	log_set_sink(NULL, NULL);
}

/* The window of what was sent to one port. */
static void tables_on_their_way_are_bounded_and_named(void **state)
{
	_desk_ d = desk_new("tree 8 16 8");

	log_set_sink(overhear, NULL);
	d->sa->limits.sent_bytes_each = 100;
	assert_int_equal(ask_for_links(d), 0);
	assert_int_equal(ask_for_links(d), SA_NO_RESOURCES);
	assert_true(was_said("this port gets 100 bytes of tables in 10 s at most"));
	log_set_sink(NULL, NULL);
}

static void blocks_read_from_devices_are_bounded_and_named(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	log_set_sink(overhear, NULL);
	d->sa->limits.cells = 0;
	desk_blank(d);
	assert_int_equal(desk_ask(d, MAD_SA_GET_TABLE, SA_SL2VL_RECORD, 0)->status,
			 SA_NO_RESOURCES);
	assert_true(was_said("one query has 0 blocks of tables read from devices at most"));
	log_set_sink(NULL, NULL);
}

static guid_t register_alias(struct desk *d, unsigned place)
{
	uint8_t *r = desk_blank(d);
	const struct desk_message *a;

	ib_put(r, GIR_LID, desk_lid(d, d->from));
	a = desk_set(d, SA_GUID_INFO_RECORD, SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK) |
						     SA_COMP(GIR_GUID0) << place);
	assert_int_equal(a->status, 0);
	return ib_bits_get(desk_record(a, 0), GIR_GUID0 + 64 * place, 64);
}

/* The answer has 0 in the place of the GUID, as other managers have it. */
static void alias_guids_are_an_option(void **state)
{
	_desk_ d = desk_new("tree 2 2 1");

	log_set_sink(overhear, NULL);
	desk_conf(d, "sa_max_alias_guids", "2");
	assert_true(register_alias(d, 1) && register_alias(d, 2));
	assert_string_equal(said, "");
	assert_int_equal(register_alias(d, 3), 0);
	assert_true(was_said("answered without a GUID: all ports together have reached "
			     "sa_max_alias_guids, which is 2"));
	desk_conf(d, "sa_max_alias_guids", "3");
	assert_true(register_alias(d, 3));
	log_set_sink(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_port_may_have_is_an_option),
		cmocka_unit_test(what_all_ports_may_have_is_an_option),
		cmocka_unit_test(questions_in_turn_are_options),
		cmocka_unit_test(bounds_of_answers_are_named),
		cmocka_unit_test(long_answers_are_an_option),
		cmocka_unit_test(tables_on_their_way_are_bounded_and_named),
		cmocka_unit_test(blocks_read_from_devices_are_bounded_and_named),
		cmocka_unit_test(alias_guids_are_an_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
