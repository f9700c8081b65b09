// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports that try out keys, or are refused again and again: each is told once, with its switch port;
 * the rows of the attack table that are about subnet administration.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sa/base/sa_internal.h"
#include "tests/unit/mc-desk.h"

static char said[1 << 16];

static void overhear(void *arg, unsigned bits, const char *text)
{
	size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%s\n", text);
}

static void listen_anew(void)
{
	said[0] = '\0';
	log_set_sink(overhear, NULL);
}

/* ---- guesses: attack row 11 ----------------------------------------------------------------- */

static void guess(struct desk *d, unsigned n)
{
	desk_blank(d);
	for (unsigned i = 0; i < n; i++) {
		d->sm_key = 0xbad0000 + i;
		assert_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	}
	d->sm_key = 0;
}

static unsigned lines_with(const char *words)
{
	unsigned n = 0;

	for (const char *at = said; (at = strstr(at, words)); at++)
		n++;
	return n;
}

static void guesses_of_a_port_are_one_event(void **state)
{
	_desk_ d = mc_start();

	desk_conf(d, "sa_key", "0x5ec4e75ec4e75ec4");
	listen_anew();
	guess(d, SA_GUESSES - 1);
	d->from = "h1";
	guess(d, SA_GUESSES - 1);
	assert_int_equal(d->key_guessers, 0);
	guess(d, 1);
	assert_int_equal(d->key_guessers, 1);
	assert_int_equal(d->guesser_last, desk_end(d, "h1")->guid);
	guess(d, 10000);
	assert_int_equal(d->key_guessers, 1);
	assert_int_equal(lines_with("keys are tried out there"), 1);
	assert_non_null(strstr(said, "'h1' port 1"));
	assert_non_null(strstr(said, "behind 'leaf1'"));
	assert_null(strstr(said, "bad0")); /* no key is logged, the tried ones neither */
	assert_null(strstr(said, "5ec4e7"));
	assert_int_equal(sa_stats(d->sa)->key_guesses, 2 * SA_GUESSES - 1 + 10000);
	assert_int_equal(sa_stats(d->sa)->key_guessers, 1);
	log_set_sink(NULL, NULL);
}

static void guesses_after_a_quiet_time_are_another_event(void **state)
{
	_desk_ d = mc_start();

	desk_conf(d, "sa_key", "0x5ec4e75ec4e75ec4");
	log_set_sink(mc_not_shown, NULL);
	guess(d, SA_GUESSES);
	d->now += SA_GUESS_QUIET - MONO_S;
	guess(d, SA_GUESSES);
	assert_int_equal(d->key_guessers, 1);
	d->now += SA_GUESS_QUIET;
	guess(d, SA_GUESSES - 1);
	assert_int_equal(d->key_guessers, 1);
	guess(d, 1);
	assert_int_equal(d->key_guessers, 2);
	log_set_sink(NULL, NULL);
}

/* A LID of no port is a place of its own; there are no more than LIDs. */
static void guesses_from_any_lid_are_bounded(void **state)
{
	_desk_ d = mc_start();

	desk_conf(d, "sa_key", "0x5ec4e75ec4e75ec4");
	log_set_sink(mc_not_shown, NULL);
	for (unsigned i = 0; i < 3 * 65536; i++) {
		d->way.lid = (lid_t)(i & 0xFFFF);
		guess(d, 1);
	}
	assert_int_equal(d->key_guessers, 0);
	assert_int_equal(sa_stats(d->sa)->key_guesses, 3 * 65536);
	log_set_sink(NULL, NULL);
}

/* ---- refusals that are told ------------------------------------------------------------------ */

/* A desk where requests without the key are refused for each of the reasons. */
static struct desk *guarded(void)
{
	struct desk *d = mc_start();

	desk_conf(d, "sa_key", "0x5ec4e75ec4e75ec4");
	desk_conf(d, "sa_enhanced_trust_model", "TRUE");
	desk_conf(d, "sa_etm_max_num_srvcs", "32");
	desk_conf(d, "sa_check_sgid_spoofing", "TRUE");
	return d;
}

static void ask_table(struct desk *d, unsigned i)
{
	desk_blank(d);
	desk_table(d, SA_NODE_RECORD, 0);
}

static void register_service(struct desk *d, const char *of, uint64_t id)
{
	uint8_t *r = desk_blank(d);

	ib_put(r, SVR_ID, id);
	desk_gid(d, of, ib_at(r, SVR_GID));
	desk_set(d, SA_SERVICE_RECORD, SA_COMP(SVR_ID) | SA_COMP(SVR_GID));
}

static void ask_for_another(struct desk *d, unsigned i)
{
	register_service(d, "h3", i);
}

static void ask_victims_guid(struct desk *d, unsigned i)
{
	uint8_t *r = desk_blank(d);

	ib_put(r, GIR_LID, desk_lid(d, "h0"));
	ib_put(r, GIR_GUID1, desk_end(d, "h3")->guid);
	desk_set(d, SA_GUID_INFO_RECORD,
		 SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK) | SA_COMP(GIR_GUID1));
}

static void ask_too_much(struct desk *d, unsigned i)
{
	register_service(d, "h0", 1000 + i);
}

static void ask_too_often(struct desk *d, unsigned i)
{
	desk_conf(d, "sa_rate_threshold", "1");
	desk_blank(d);
	desk_get(d, SA_CLASS_PORT_INFO, 0);
}

/* What each does SA_ABUSE_MANY times before it is told; `free`: so many pass before. */
static const struct abuse {
	const char *what, *words;
	void (*ask)(struct desk *d, unsigned i);
	unsigned free;
} abuses[] = {
	{ "sa_model", "that only hosts with sa_key may send", ask_table, 0 },
	{ "sa_claim", "in their names", ask_for_another, 0 },
	{ "sa_alias", "those of other ports", ask_victims_guid, 0 },
	{ "sa_quota", "more than one port may register", ask_too_much, 32 },
	{ "sa_rate", "beyond sa_rate_threshold", ask_too_often, 1 },
};

static void many_refusals_of_a_kind_are_one_event_an_hour(void **state)
{
	for (size_t k = 0; k < ARRAY_SIZE(abuses); k++) {
		const struct abuse *abuse = &abuses[k];
		_desk_ d = guarded();
		unsigned n = abuse->free + SA_ABUSE_MANY;

		listen_anew();
		for (unsigned i = 0; i < n - 1; i++)
			abuse->ask(d, i);
		assert_int_equal(d->abuses, 0);
		abuse->ask(d, n);
		assert_int_equal(d->abuses, 1);
		assert_string_equal(d->abuse_last, abuse->what);
		assert_int_equal(lines_with(abuse->words), 1);
		assert_non_null(strstr(said, "'h0' port 1"));
		assert_non_null(strstr(said, "behind 'leaf1'"));
		for (unsigned i = 0; i < 1000; i++)
			abuse->ask(d, 10000 + i);
		assert_int_equal(d->abuses, 1);
		d->now += SA_ABUSE_QUIET;
		for (unsigned i = 0; i < n; i++)
			abuse->ask(d, 20000 + i);
		assert_int_equal(d->abuses, 2);
		log_set_sink(NULL, NULL);
	}
}

static void a_few_refusals_are_no_event(void **state)
{
	_desk_ d = guarded();

	log_set_sink(mc_not_shown, NULL);
	for (unsigned w = 0; w < 10; w++) {
		for (unsigned i = 0; i < SA_ABUSE_MANY - 1; i++)
			ask_table(d, i);
		d->now += SA_ABUSE_WINDOW;
	}
	assert_int_equal(d->abuses, 0);
	d->from = "h1";
	ask_table(d, 0);
	assert_int_equal(d->abuses, 0);
	log_set_sink(NULL, NULL);
}

/* ---- records of refused joins ---------------------------------------------------------------- */

/* Of a partition that the port is not in; each of another group. */
static void join_foreign(struct desk *d, const char *host, unsigned group)
{
	char words[120];

	snprintf(words, sizeof(words),
		 "mgid=ff12:a0b0::%x join=1 qkey=1 tclass=0 pkey=0x8001 "
		 "flow=0 sl=0",
		 group);
	assert_int_equal(mc_join(d, host, words), SA_REQ_INVALID);
}

/* util/log_flood.h would write no more than that, either; here no text is made of the others. */
static void refused_joins_of_a_port_are_told_60_at_once_then_one_a_second(void **state)
{
	_desk_ d = mc_start();

	listen_anew();
	for (unsigned i = 1; i <= 1000; i++)
		join_foreign(d, "h1", i);
	assert_int_equal(lines_with("multicast join of"), 60);
	assert_int_equal(lines_with("more since"), 0);
	join_foreign(d, "h2", 1); /* another port has its own */
	assert_int_equal(lines_with("'h2' port 1"), 1);
	d->now += MONO_S;
	join_foreign(d, "h1", 1001);
	join_foreign(d, "h1", 1002);
	assert_int_equal(lines_with("multicast join of"), 62);
	assert_int_equal(lines_with("ff12:a0b0::3e9 refused (invalid request): the port is not in "
				    "partition 0x8001 (and 940 more since the last such line)"),
			 1);
	log_set_sink(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guesses_of_a_port_are_one_event),
		cmocka_unit_test(guesses_after_a_quiet_time_are_another_event),
		cmocka_unit_test(guesses_from_any_lid_are_bounded),
		cmocka_unit_test(many_refusals_of_a_kind_are_one_event_an_hour),
		cmocka_unit_test(a_few_refusals_are_no_event),
		cmocka_unit_test(refused_joins_of_a_port_are_told_60_at_once_then_one_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
