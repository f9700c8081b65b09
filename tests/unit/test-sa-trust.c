// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which requests are answered at all: each row of the trust model, each cap, claimed GIDs, rates;
 * rows 8 to 12 of the attack table. Every refusal is silent, is counted under its reason, and
 * leaves no trace. Which ports are named for what they ask: test-sa-askers.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sa/base/sa_internal.h"
#include "tests/unit/mc-desk.h"
#include "tests/unit/sa-events.h"

#define SA_KEY 0x5ec4e75ec4e75ec4ull

static char said[1 << 16];
static unsigned n_said;

static void overhear(void *arg, unsigned bits, const char *text)
{
	size_t len = strlen(said);

	n_said++;
	snprintf(said + len, sizeof(said) - len, "%s\n", text);
}

static void listen_anew(void)
{
	said[0] = '\0';
	n_said = 0;
	log_set_sink(overhear, NULL);
}

/* A desk with a key that is not the default, for requests without it. */
static struct desk *guarded(void)
{
	struct desk *d = mc_start();

	desk_conf(d, "sa_key", "0x5ec4e75ec4e75ec4");
	desk_conf(d, "sa_enhanced_trust_model", "TRUE");
	return d;
}

static uint64_t dropped(const struct desk *d, const char *word)
{
	unsigned n;
	const struct sa_drop_count *rows = sa_drop_counts(d->sa, &n);
	uint64_t all = 0;

	for (unsigned i = 0; i < n; i++) {
		/* a label of metrics */
		assert_int_equal(strspn(rows[i].why->word, "abcdefghijklmnopqrstuvwxyz_"),
				 strlen(rows[i].why->word));
		if (strstr(rows[i].why->text, word))
			all += rows[i].n;
	}
	return all;
}

static bool is_answered(struct desk *d, uint8_t method, uint16_t attr, uint64_t mask)
{
	return desk_ask(d, method, attr, mask) != NULL;
}

/* ---- the table ------------------------------------------------------------------------------ */

static const uint8_t methods[] = {
	MAD_GET, MAD_SET, MAD_SA_GET_TABLE, MAD_SA_DELETE, MAD_SA_GET_MULTI, MAD_SA_GET_TRACE_TABLE,
};

/* What passes with every component of the mask set (so that both ends are named). */
static bool is_allowed(uint16_t attr, uint8_t method)
{
	bool is_read = method == MAD_GET, is_change = method == MAD_SET || method == MAD_SA_DELETE;
	bool is_table = method == MAD_SA_GET_TABLE;

	switch (attr) {
	case SA_CLASS_PORT_INFO:
		return is_read;
	case SA_MC_MEMBER_RECORD:
		return is_read || is_change;
	case SA_PATH_RECORD:
		return is_read || is_table;
	case SA_SERVICE_RECORD:
		return is_read || is_change || is_table;
	case SA_INFORM_INFO:
		return method == MAD_SET;
	case SA_GUID_INFO_RECORD:
		return is_change;
	}
	return false;
}

static const uint16_t attrs[] = {
#define ATTR(NAME, name) SA_##NAME,
	SA_TYPES(ATTR)
#undef ATTR
		0x0000,
	0x00F3,
	0xFF4D,
	0xFFFF,
};

static void every_attribute_and_method_is_as_the_table_says(void **state)
{
	for (unsigned trusted = 0; trusted < 2; trusted++) {
		_desk_ d = guarded();

		listen_anew();
		d->sm_key = trusted ? SA_KEY : 0;
		for (size_t a = 0; a < ARRAY_SIZE(attrs); a++) {
			for (size_t m = 0; m < ARRAY_SIZE(methods); m++) {
				uint64_t before = dropped(d, "sa_enhanced_trust_model");
				bool allowed = trusted || is_allowed(attrs[a], methods[m]);

				desk_blank(d);
				desk_ask(d, methods[m], attrs[a], UINT64_MAX);
				assert_int_equal(dropped(d, "sa_enhanced_trust_model") - before,
						 !allowed);
			}
		}
		assert_int_equal(strstr(said, "only with sa_key") != NULL, !trusted);
		log_set_sink(NULL, NULL);
	}
}

/* Attack row 8. */
static void whole_tables_are_for_the_trusted(void **state)
{
	_desk_ d = guarded();

	listen_anew();
	desk_blank(d);
	assert_false(is_answered(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0));
	assert_non_null(strstr(said, "GetTable of NodeRecord from 'h0' port 1"));
	assert_non_null(strstr(said, "behind 'leaf1'"));
	assert_false(is_answered(d, MAD_SA_GET_TABLE, SA_PATH_RECORD, 0));
	assert_false(is_answered(d, MAD_SA_GET_TABLE, SA_PKEY_TABLE_RECORD, 0));
	assert_false(is_answered(d, MAD_SA_GET_TABLE, SA_MC_MEMBER_RECORD, 0));
	d->sm_key = SA_KEY;
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 7);
	assert_true(desk_table(d, SA_PATH_RECORD, 0)->n > 7);
	log_set_sink(NULL, NULL);
}

static void by_default_all_of_it_is_answered(void **state)
{
	_desk_ d = mc_start();

	desk_blank(d);
	assert_int_equal(desk_table(d, SA_NODE_RECORD, 0)->n, 7);
	assert_true(desk_table(d, SA_PATH_RECORD, 0)->n > 7);
	assert_int_equal(sa_stats(d->sa)->dropped, 0);
}

/* The log of a flood stays readable. */
static void a_flood_of_refused_requests_is_a_few_lines(void **state)
{
	_desk_ d = guarded();

	listen_anew();
	desk_blank(d);
	for (unsigned i = 0; i < 100000; i++)
		assert_false(is_answered(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0));
	assert_in_range(n_said, 1, 5 + 1); /* and that it is a flood */
	assert_int_equal(dropped(d, "sa_enhanced_trust_model"), 100000);
	d->now += 11 * MONO_S;
	assert_false(is_answered(d, MAD_SA_GET_TABLE, SA_NODE_RECORD, 0));
	assert_non_null(strstr(said, "(and 99995 more since"));
	log_set_sink(NULL, NULL);
}

/* Linux and Open MPI ask like this. */
static void a_table_of_paths_needs_both_ends(void **state)
{
	static const struct {
		uint64_t mask;
		bool answered;
	} cases[] = {
		{ 0, false },
		{ SA_COMP(PR_SLID), false },
		{ SA_COMP(PR_SGID), false },
		{ SA_COMP(PR_DLID), false },
		{ SA_COMP(PR_DGID), false },
		{ SA_COMP(PR_PKEY) | SA_COMP(PR_NUMB_PATH), false },
		{ SA_COMP(PR_SLID) | SA_COMP(PR_SGID), false },
		{ SA_COMP(PR_DLID) | SA_COMP(PR_DGID), false },
		{ SA_COMP(PR_SLID) | SA_COMP(PR_DLID), true },
		{ SA_COMP(PR_SGID) | SA_COMP(PR_DGID), true },
		{ SA_COMP(PR_SGID) | SA_COMP(PR_DLID), true },
		{ SA_COMP(PR_SLID) | SA_COMP(PR_DGID), true },
	};
	_desk_ d = guarded();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t *r = desk_blank(d);

		ib_put(r, PR_SLID, desk_lid(d, "h0"));
		ib_put(r, PR_DLID, desk_lid(d, "h1"));
		ib_put(r, PR_PKEY, 0xFFFF);
		ib_put(r, PR_NUMB_PATH, 1);
		desk_gid(d, "h0", ib_at(r, PR_SGID));
		desk_gid(d, "h1", ib_at(r, PR_DGID));
		assert_int_equal(is_answered(d, MAD_SA_GET_TABLE, SA_PATH_RECORD, cases[i].mask),
				 cases[i].answered);
		if (cases[i].answered)
			assert_int_equal(d->answer.n, 1);
		/* Get has one answer at most. */
		assert_true(is_answered(d, MAD_GET, SA_PATH_RECORD, cases[i].mask));
	}
}

static uint16_t register_service(struct desk *d, const char *of, uint64_t id)
{
	uint8_t *r = desk_blank(d);

	ib_put(r, SVR_ID, id);
	memcpy(ib_at(r, SVR_NAME), "store", 5);
	desk_gid(d, of, ib_at(r, SVR_GID));
	if (!desk_set(d, SA_SERVICE_RECORD, SA_COMP(SVR_ID) | SA_COMP(SVR_GID) | SA_COMP(SVR_NAME)))
		return MC_NO_ANSWER;
	return d->answer.status;
}

static void services_are_found_by_id_or_name_and_not_listed(void **state)
{
	_desk_ d = guarded();

	assert_int_equal(register_service(d, "h0", 0x77), SA_OK);
	d->from = "h3";
	desk_blank(d);
	ib_put(d->record, SVR_ID, 0x77);
	memcpy(ib_at(d->record, SVR_NAME), "store", 5);
	assert_int_equal(desk_table(d, SA_SERVICE_RECORD, SA_COMP(SVR_ID))->n, 1);
	assert_int_equal(desk_table(d, SA_SERVICE_RECORD, SA_COMP(SVR_NAME))->n, 1);
	assert_null(desk_table(d, SA_SERVICE_RECORD, 0));
	assert_null(desk_table(d, SA_SERVICE_RECORD, SA_COMP(SVR_PKEY)));
	assert_null(desk_table(d, SA_SERVICE_RECORD, SA_COMP(SVR_GID)));
}

static void security_traps_are_for_the_trusted(void **state)
{
	_desk_ d = guarded();

	for (unsigned trap = 250; trap < 265; trap++) {
		bool is_secret = trap >= 256 && trap <= 259;

		info_any(d->record);
		ib_put(d->record, INF_TRAP, trap);
		assert_int_equal(is_answered(d, MAD_SET, SA_INFORM_INFO, 0), !is_secret);
		d->sm_key = SA_KEY;
		assert_int_equal(desk_set(d, SA_INFORM_INFO, 0)->status, SA_OK);
		d->sm_key = 0;
	}
	info_any(d->record);
	assert_int_equal(desk_set(d, SA_INFORM_INFO, 0)->status, SA_OK);
}

/* With sa_key 0 all requests would be trusted ones. */
static void a_key_of_zero_trusts_no_request_under_the_model(void **state)
{
	_desk_ d = mc_start();

	desk_conf(d, "sa_key", "0");
	desk_blank(d);
	assert_non_null(desk_table(d, SA_PKEY_TABLE_RECORD, 0));
	desk_conf(d, "sa_enhanced_trust_model", "TRUE");
	assert_null(desk_table(d, SA_PKEY_TABLE_RECORD, 0));
	assert_null(desk_table(d, SA_NODE_RECORD, 0));
}

/* ---- alias GUIDs ---------------------------------------------------------------------------- */

#define ALIAS 0x0011223344556677ull

static bool asks_alias(struct desk *d, uint8_t method, const char *of, guid_t guid)
{
	uint8_t *r = desk_blank(d);

	ib_put(r, GIR_LID, desk_lid(d, of));
	ib_bits_put(r, GIR_GUID0 + 64, 64, guid);
	return is_answered(d, method, SA_GUID_INFO_RECORD,
			   SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK) | SA_COMP(GIR_GUID0) << 1);
}

static void as_vf(struct desk *d, guid_t id)
{
	d->way.global = true;
	ib_bits_put(d->way.grh.gid, 0, 64, d->conf->subnet_prefix);
	ib_bits_put(d->way.grh.gid, 64, 64, id);
}

static void alias_guids_may_be_for_the_trusted(void **state)
{
	_desk_ d = guarded();

	assert_true(asks_alias(d, MAD_SET, "h0", ALIAS));
	assert_true(asks_alias(d, MAD_SA_DELETE, "h0", ALIAS));
	assert_false(asks_alias(d, MAD_GET, "h0", 0));
	desk_conf(d, "sa_etm_allow_untrusted_guidinfo_rec", "FALSE");
	assert_false(asks_alias(d, MAD_SET, "h0", ALIAS));
	assert_false(asks_alias(d, MAD_SA_DELETE, "h0", ALIAS));
	assert_int_equal(sa_stats(d->sa)->guids, 0);
	d->sm_key = SA_KEY;
	assert_true(asks_alias(d, MAD_SET, "h0", ALIAS));
	assert_int_equal(sa_stats(d->sa)->guids, 1);
}

static void virtual_functions_may_be_refused_with_the_key_too(void **state)
{
	_desk_ d = guarded();

	for (unsigned trusted = 0; trusted < 2; trusted++) {
		d->sm_key = trusted ? SA_KEY : 0;
		assert_true(asks_alias(d, MAD_SET, "h0", ALIAS));
		desk_conf(d, "sa_etm_allow_guidinfo_rec_by_vf", "FALSE");
		assert_true(asks_alias(d, MAD_SA_DELETE, "h0", 0)); /* the port itself */
		as_vf(d, desk_end(d, "h0")->guid);
		assert_true(asks_alias(d, MAD_SET, "h0", ALIAS));
		as_vf(d, ALIAS);
		assert_false(asks_alias(d, MAD_SET, "h0", ALIAS + 1));
		assert_false(asks_alias(d, MAD_SA_DELETE, "h0", 0));
		assert_int_equal(sa_stats(d->sa)->guids, 1);
		as_vf(d, ALIAS + 99); /* of no port */
		assert_false(asks_alias(d, MAD_SET, "h0", ALIAS + 1));
		as_vf(d, desk_end(d, "h0")->guid);
		ib_bits_put(d->way.grh.gid, 0, 64, 0xfec0000000000001ull);
		assert_false(asks_alias(d, MAD_SET, "h0", ALIAS + 1));
		desk_conf(d, "sa_etm_allow_guidinfo_rec_by_vf", "TRUE");
		d->way.global = false;
	}
	assert_int_equal(dropped(d, "by_vf"), 8);
}

/* Attack row 12: the answer shows 0 in its place, and the victim keeps its paths. */
static void an_alias_is_never_a_victims_guid(void **state)
{
	_desk_ d = guarded();
	guid_t victim = desk_end(d, "h3")->guid;

	assert_true(asks_alias(d, MAD_SET, "h0", victim));
	assert_int_equal(d->answer.status, SA_OK);
	assert_int_equal(ib_bits_get(desk_record(&d->answer, 0), GIR_GUID0 + 64, 64), 0);
	desk_blank(d);
	ib_put(d->record, PR_SLID, desk_lid(d, "h1"));
	desk_gid(d, "h3", ib_at(d->record, PR_DGID));
	desk_get(d, SA_PATH_RECORD, SA_COMP(PR_SLID) | SA_COMP(PR_DGID));
	assert_int_equal(ib_get(desk_record(&d->answer, 0), PR_DLID), desk_lid(d, "h3"));
}

/* ---- claims: attack row 10 ------------------------------------------------------------------ */

/* All that registers something for another port. */
static unsigned proxies_answered(struct desk *d, const char *of)
{
	char join[160];
	unsigned n = 0;

	snprintf(join, sizeof(join), "mgid=ff12:a0b0::9 port=%s " MC_NEW, of);
	n += mc_set(d, join) != MC_NO_ANSWER;
	n += mc_delete(d, join) != MC_NO_ANSWER;
	n += register_service(d, of, 0x99) != MC_NO_ANSWER;
	n += is_answered(d, MAD_SA_DELETE, SA_SERVICE_RECORD, SA_COMP(SVR_ID) | SA_COMP(SVR_GID));
	n += asks_alias(d, MAD_SET, of, 0);
	n += asks_alias(d, MAD_SA_DELETE, of, 0);
	return n;
}

static void a_proxy_needs_the_key_if_so_configured(void **state)
{
	_desk_ d = guarded();

	assert_int_equal(proxies_answered(d, "h3"), 6);
	desk_conf(d, "sa_etm_allow_untrusted_proxy_requests", "FALSE");
	assert_int_equal(proxies_answered(d, "h3"), 0);
	assert_int_equal(dropped(d, "proxy_requests"), 6);
	assert_int_equal(proxies_answered(d, "h0"), 6); /* for itself */
	d->sm_key = SA_KEY;
	assert_int_equal(proxies_answered(d, "h3"), 6);
	d->sm_key = 0;
	desk_conf(d, "sa_enhanced_trust_model", "FALSE"); /* without it, it has no effect */
	assert_int_equal(proxies_answered(d, "h3"), 6);
}

static void an_alias_of_its_own_is_the_port_itself(void **state)
{
	_desk_ d = guarded();

	assert_true(asks_alias(d, MAD_SET, "h0", ALIAS));
	desk_conf(d, "sa_etm_allow_untrusted_proxy_requests", "FALSE");
	desk_conf(d, "sa_check_sgid_spoofing", "TRUE");
	as_vf(d, ALIAS);
	assert_int_equal(mc_set(d, "mgid=ff12:a0b0::9 gid=fe80::11:2233:4455:6677 " MC_NEW), SA_OK);
	d->from = "h1";
	assert_int_equal(mc_set(d, "mgid=ff12:a0b0::9 gid=fe80::11:2233:4455:6677 " MC_NEW),
			 MC_NO_ANSWER);
	d->way.global = false;
	assert_int_equal(mc_set(d, "mgid=ff12:a0b0::9 gid=fe80::11:2233:4455:6677 " MC_NEW),
			 MC_NO_ANSWER);
}

/* By its LID a host of a full partition could name the port of the manager, and of any member. */
static void alias_guids_of_another_port_get_no_answer(void **state)
{
	_desk_ d = guarded();
	static const char *const of[] = { "h3", "h1" };

	desk_conf(d, "sa_check_sgid_spoofing", "TRUE");
	for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
		assert_false(asks_alias(d, MAD_SET, of[i], ALIAS));
		assert_false(asks_alias(d, MAD_SET, of[i], 0));
		assert_false(asks_alias(d, MAD_SA_DELETE, of[i], 0));
	}
	assert_int_equal(dropped(d, "sa_check_sgid_spoofing"), 6);
	assert_int_equal(sa_port_of_interface_id(d->sa, d->sa->view, ALIAS), VIEW_NONE);
	assert_true(asks_alias(d, MAD_SET, "h0", ALIAS));
	assert_true(asks_alias(d, MAD_SA_DELETE, "h0", 0));
	d->sm_key = SA_KEY;
	assert_true(asks_alias(d, MAD_SET, "h3", ALIAS));
}

static void forged_gids_get_no_answer(void **state)
{
	_desk_ d = mc_start(); /* without the trust model */

	desk_conf(d, "sa_key", "0x5ec4e75ec4e75ec4");
	as_vf(d, desk_end(d, "h3")->guid);
	desk_blank(d);
	assert_non_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	desk_conf(d, "sa_check_sgid_spoofing", "TRUE");
	assert_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	as_vf(d, 0);
	assert_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	as_vf(d, UINT64_MAX);
	assert_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	as_vf(d, desk_end(d, "h0")->guid);
	assert_non_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	ib_bits_put(d->way.grh.gid, 0, 64, 0xfe80000000000000ull); /* link-local */
	assert_non_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	ib_bits_put(d->way.grh.gid, 0, 64, 0xfec0000000000001ull); /* another subnet, no router */
	assert_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	desk_node(d, "h0")->type = IB_NODE_ROUTER;
	desk_publish(d);
	assert_non_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	as_vf(d, desk_end(d, "h3")->guid); /* a router has no GIDs of ours to forward */
	assert_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	d->sm_key = SA_KEY;
	assert_non_null(desk_get(d, SA_CLASS_PORT_INFO, 0));
	assert_int_equal(dropped(d, "GRH"), 5);
}

static void claimed_gids_are_checked_without_the_model(void **state)
{
	_desk_ d = mc_start();

	desk_conf(d, "sa_key", "0x5ec4e75ec4e75ec4");
	desk_conf(d, "sa_check_sgid_spoofing", "TRUE");
	assert_int_equal(proxies_answered(d, "h3"), 0);
	assert_int_equal(dropped(d, "alias GUIDs of another port"), 2);
	assert_int_equal(sa_stats(d->sa)->services, 0);
	assert_null(mc_group(d, "ff12:a0b0::9"));
	assert_int_equal(proxies_answered(d, "h0"), 6);
	/* The GID of nothing, and one of another subnet. */
	assert_int_equal(mc_set(d, "mgid=ff12:a0b0::9 gid=:: " MC_NEW), MC_NO_ANSWER);
	assert_int_equal(mc_set(d, "mgid=ff12:a0b0::9 gid=fec0::1 " MC_NEW), MC_NO_ANSWER);
	d->sm_key = SA_KEY;
	assert_int_equal(proxies_answered(d, "h3"), 6);
}

/* ---- caps: attack row 9 --------------------------------------------------------------------- */

static unsigned joins(struct desk *d, unsigned n)
{
	char words[160];

	snprintf(words, sizeof(words), "mgid=ff12:a0b0::%x:%x port=%s " MC_NEW, n >> 16,
		 (n + 1) & 0xFFFF, d->from);
	return mc_set(d, words);
}

static unsigned services(struct desk *d, unsigned n)
{
	return register_service(d, d->from, 0x1000 + n);
}

static unsigned subscriptions(struct desk *d, unsigned n)
{
	info_any(d->record);
	ib_put(d->record, INF_TRAP, 1000 + n);
	return desk_set(d, SA_INFORM_INFO, 0) ? d->answer.status : MC_NO_ANSWER;
}

static const struct cap {
	const char *option, *each;
	unsigned (*ask)(struct desk *d, unsigned n);
} caps[] = {
	{ "sa_etm_max_num_mcgs", "sa_max_members_per_port", joins },
	{ "sa_etm_max_num_srvcs", "sa_max_services_per_port", services },
	{ "sa_etm_max_num_event_subs", "sa_max_subscriptions_per_port", subscriptions },
};

static void a_cap_holds_for_each_port_without_the_key(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		const struct cap *c = &caps[i];
		_desk_ d = guarded();

		desk_conf(d, c->option, "3");
		for (unsigned n = 0; n < 3; n++)
			assert_int_equal(c->ask(d, n), SA_OK);
		assert_int_equal(c->ask(d, 3), MC_NO_ANSWER);
		assert_int_equal(c->ask(d, 2), SA_OK); /* what it has, it has */
		assert_int_equal(dropped(d, c->option), 1);
		d->from = "h1";
		assert_int_equal(c->ask(d, 10), SA_OK);
		d->from = "h0";
		desk_conf(d, c->option, "4");
		assert_int_equal(c->ask(d, 3), SA_OK);
		assert_int_equal(c->ask(d, 4), MC_NO_ANSWER);
		d->sm_key = SA_KEY; /* the trusted have the other limits */
		assert_int_equal(c->ask(d, 4), SA_OK);
		d->sm_key = 0;
		desk_conf(d, c->option, "0");
		assert_int_equal(c->ask(d, 5), SA_OK);
	}
}

static void the_lower_limit_counts(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		_desk_ d = guarded();

		desk_conf(d, caps[i].option, "9");
		desk_conf(d, caps[i].each, "2");
		assert_int_equal(caps[i].ask(d, 0), SA_OK);
		assert_int_equal(caps[i].ask(d, 1), SA_OK);
		assert_int_equal(caps[i].ask(d, 2), SA_NO_RESOURCES);
		desk_conf(d, caps[i].option, "1");
		assert_int_equal(caps[i].ask(d, 2), MC_NO_ANSWER);
		desk_conf(d, "sa_enhanced_trust_model", "FALSE");
		assert_int_equal(caps[i].ask(d, 2), SA_NO_RESOURCES);
	}
}

static void loops_of_one_port_leave_room_for_others(void **state)
{
	_desk_ d = guarded();
	uint32_t used, max;

	desk_conf(d, "sa_etm_max_num_mcgs", "128");
	desk_conf(d, "sa_etm_max_num_srvcs", "32");
	desk_conf(d, "sa_etm_max_num_event_subs", "32");
	for (unsigned i = 0; i < 100000; i++)
		caps[i % ARRAY_SIZE(caps)].ask(d, i);
	assert_in_range(sa_stats(d->sa)->members, 100, 128);
	assert_int_equal(sa_stats(d->sa)->services, 32);
	assert_int_equal(sa_stats(d->sa)->subscriptions, 32);
	sa_mlids(d->sa, &used, &max);
	assert_true(used <= 129 && max > 500);
	d->from = "h1";
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		assert_int_equal(caps[i].ask(d, 200000), SA_OK);
}

/* ---- rates ---------------------------------------------------------------------------------- */

static unsigned answered_of(struct desk *d, unsigned n)
{
	unsigned ret = 0;

	desk_blank(d);
	for (unsigned i = 0; i < n; i++)
		ret += desk_get(d, SA_CLASS_PORT_INFO, 0) != NULL;
	return ret;
}

static void a_port_has_so_many_requests_in_100_ms(void **state)
{
	_desk_ d = mc_start();

	desk_conf(d, "sa_key", "0x5ec4e75ec4e75ec4");
	assert_int_equal(answered_of(d, 50), 50);
	desk_conf(d, "sa_rate_threshold", "20");
	assert_int_equal(answered_of(d, 50), 20);
	d->from = "h1"; /* others do not notice */
	assert_int_equal(answered_of(d, 20), 20);
	d->from = "h0";
	d->now += 99 * MONO_MS;
	assert_int_equal(answered_of(d, 1), 0);
	d->now += 1 * MONO_MS;
	assert_int_equal(answered_of(d, 50), 20);
	d->sm_key = SA_KEY;
	assert_int_equal(answered_of(d, 50), 50);
	assert_int_equal(dropped(d, "sa_rate_threshold"), 61);
}

/* All LIDs of a port are one port. */
static void the_rate_is_of_a_port_with_all_its_lids(void **state)
{
	_desk_ d = desk_new_lmc("tree 2 2 1", 2);
	unsigned n = 0;

	desk_conf(d, "sa_rate_threshold", "6");
	for (unsigned i = 0; i < 4; i++) {
		d->way.lid = (lid_t)(desk_lid(d, "h0") + i);
		n += answered_of(d, 4);
	}
	assert_int_equal(n, 6);
}

static void all_pairs_may_be_for_the_trusted(void **state)
{
	_desk_ d = mc_start();

	desk_conf(d, "sa_key", "0x5ec4e75ec4e75ec4");
	desk_conf(d, "sa_pr_full_world_queries_allowed", "FALSE");
	desk_blank(d);
	ib_put(d->record, PR_SLID, desk_lid(d, "h0"));
	ib_put(d->record, PR_DLID, desk_lid(d, "h0"));
	assert_null(desk_table(d, SA_PATH_RECORD, 0));
	assert_null(desk_table(d, SA_PATH_RECORD, SA_COMP(PR_NUMB_PATH) | SA_COMP(PR_PKEY)));
	assert_true(desk_table(d, SA_PATH_RECORD, SA_COMP(PR_SLID))->n > 3);
	assert_true(desk_table(d, SA_PATH_RECORD, SA_COMP(PR_DLID))->n > 3);
	d->sm_key = SA_KEY;
	assert_true(desk_table(d, SA_PATH_RECORD, 0)->n > 7);
}

/* ---- a key that is drawn -------------------------------------------------------------------- */

static void a_drawn_key_takes_the_place_of_sa_key(void **state)
{
	static const char *const asked[][2] = {
		{ "sa_key", "0xffffffffffffffff" },
		{ "randomize_sa_key", "TRUE" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		_desk_ d = mc_start();

		log_set_sink(mc_not_shown, NULL);
		desk_conf(d, asked[i][0], asked[i][1]);
		desk_blank(d);
		/* None could be drawn: no request is trusted. */
		d->sm_key = d->conf->sa_key;
		assert_null(desk_table(d, SA_PKEY_TABLE_RECORD, 0));
		d->sm_key = 0;
		assert_int_equal(desk_table(d, SA_PKEY_TABLE_RECORD, 0)->status, SA_REQ_INVALID);
		sa_set_drawn_key(d->sa, SA_KEY);
		d->sm_key = d->conf->sa_key;
		assert_null(desk_table(d, SA_PKEY_TABLE_RECORD, 0));
		d->sm_key = SA_KEY;
		assert_int_equal(desk_table(d, SA_PKEY_TABLE_RECORD, 0)->status, SA_OK);
		log_set_sink(NULL, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_attribute_and_method_is_as_the_table_says),
		cmocka_unit_test(whole_tables_are_for_the_trusted),
		cmocka_unit_test(by_default_all_of_it_is_answered),
		cmocka_unit_test(a_flood_of_refused_requests_is_a_few_lines),
		cmocka_unit_test(a_table_of_paths_needs_both_ends),
		cmocka_unit_test(services_are_found_by_id_or_name_and_not_listed),
		cmocka_unit_test(security_traps_are_for_the_trusted),
		cmocka_unit_test(a_key_of_zero_trusts_no_request_under_the_model),
		cmocka_unit_test(alias_guids_may_be_for_the_trusted),
		cmocka_unit_test(virtual_functions_may_be_refused_with_the_key_too),
		cmocka_unit_test(an_alias_is_never_a_victims_guid),
		cmocka_unit_test(a_proxy_needs_the_key_if_so_configured),
		cmocka_unit_test(an_alias_of_its_own_is_the_port_itself),
		cmocka_unit_test(alias_guids_of_another_port_get_no_answer),
		cmocka_unit_test(forged_gids_get_no_answer),
		cmocka_unit_test(claimed_gids_are_checked_without_the_model),
		cmocka_unit_test(a_cap_holds_for_each_port_without_the_key),
		cmocka_unit_test(the_lower_limit_counts),
		cmocka_unit_test(loops_of_one_port_leave_room_for_others),
		cmocka_unit_test(a_port_has_so_many_requests_in_100_ms),
		cmocka_unit_test(the_rate_is_of_a_port_with_all_its_lids),
		cmocka_unit_test(all_pairs_may_be_for_the_trusted),
		cmocka_unit_test(a_drawn_key_takes_the_place_of_sa_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
