// SPDX-License-Identifier: BSD-2-Clause
/*
 * The security checklist: every line passes on a subnet that has everything, and fails when its
 * setting is taken away. Lines of what is not supported are unknown in either case.
 */
#include "tests/unit/tenancy-desk.h"

#include "api/security.h"
#include "sm/base/keys.h"

enum { FIRST_SM = 0, SECOND_SM = 11 }; /* hosts */

enum {
	M_KEY = 1,
	PER_PORT,
	SM_KEY,
	SA_KEY,
	DEFAULT_PARTITION,
	TENANT_PARTITIONS,
	PROTECTION,
	CLASS_KEYS,
	TRUST_MODEL,
	MANAGERS,
	TOPOLOGY,
	REST,
	CC_KEY
};

static const struct setting {
	const char *name, *value;
} settings[] = {
	{ "m_key", "0x5ec4e70000000001" },     { "m_key_per_port", "TRUE" },
	{ "sm_key", "0x5ec4e70000000002" },    { "sa_key", "0x5ec4e70000000003" },
	{ "m_key_protection_level", "2" },     { "m_key_lease_period", "60" },
	{ "sa_enhanced_trust_model", "TRUE" }, { "sa_etm_max_num_mcgs", "128" },
	{ "sa_etm_max_num_srvcs", "32" },      { "sa_etm_max_num_event_subs", "32" },
};

/* False: this version does not have the option. */
static bool put(struct conf *c, const char *name, const char *value)
{
	const struct conf_place nowhere = { 0 };
	enum conf_id id = conf_option_find(name);
	struct conf_report r = { 0 };

	if (id == CONF_N_OPTIONS)
		return false;
	assert_int_equal(conf_set(c, id, value, &nowhere, &r), 0);
	conf_report_clear(&r);
	return true;
}

static void allow(struct desk *d, guid_t a, guid_t b)
{
	_cleanup_free_ char *text = xasprintf("0x%016" PRIx64 ", 0x%016" PRIx64, a, b);

	put(d->conf, "allowed_sm_guids", text);
}

static void start_first(struct desk *d, const char *partitions)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		put(d->conf, settings[i].name, settings[i].value);
	allow(d, d->guid[FIRST_SM], d->guid[SECOND_SM]);
	write_text(d->file, partitions);
	start(d);
}

static void start_secure(struct desk *d, const char *partitions)
{
	start_first(d, partitions);
	assert_true(rig_start(d->rig, "h11", 0, d->conf, NULL) >= 0);
	run_for(d, 20 * MONO_S);
	assert_int_equal(sm_state(sm_of(d)), SM_MASTER);
}

static int setup_secure(void **state)
{
	struct desk *d = desk_new();

	start_secure(d, "Default=0x7fff, api: ALL=limited, SELF=full;\nOne=0x1: ALL=limited;\n");
	*state = d;
	return 0;
}

#define SECURE(f) cmocka_unit_test_setup_teardown(f, setup_secure, teardown)

static struct security look(const struct desk *d)
{
	_cleanup_free_ char *path = xasprintf("%s/opensm.conf", d->dir);
	const struct daemon_api api = { .conf = d->conf, .sm = sm_of(d), .conf_path = path };
	struct security s;

	security_judge(&api, SECURITY_WITH_FILES, &s);
	return s;
}

static enum security_verdict verdict_of(const struct security *s, unsigned line)
{
	return s->checks[line - 1].verdict;
}

/* What a secure subnet has in a line: UNKNOWN where this version has no such thing. */
static enum security_verdict best_of(unsigned line)
{
	bool is_missing =
		line == CLASS_KEYS || line == TOPOLOGY || line == CC_KEY ||
		(line == PER_PORT && conf_option_find("m_key_per_port") == CONF_N_OPTIONS) ||
		(line == TRUST_MODEL &&
		 conf_option_find("sa_enhanced_trust_model") == CONF_N_OPTIONS);

	return is_missing ? SECURITY_UNKNOWN : SECURITY_PASS;
}

/* All lines are as on a secure subnet, but this one fails (0: none does) and says these words. */
static void assert_fails(const struct security *s, unsigned failing, const char *words)
{
	for (unsigned line = 1; line <= SECURITY_CHECKS; line++) {
		const struct security_check *c = &s->checks[line - 1];
		/* With sm_key a host becomes master, and is told sa_key. */
		bool fails = line == failing || (line == SA_KEY && failing == SM_KEY);
		enum security_verdict expected = fails ? SECURITY_FAIL : best_of(line);

		if (c->verdict != expected)
			fail_msg("line %u is %s: %s", line, security_verdict_name(c->verdict),
				 c->present);
		if (line == failing && !strstr(c->present, words))
			fail_msg("'%s' does not say '%s'", c->present, words);
		assert_true(c->advice[0] && c->present[0]);
		assert_null(strcasestr(c->present, "5ec4e7"));
	}
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_secure_subnet_passes(void **state)
{
	struct security s = look(*state);

	assert_fails(&s, 0, "");
	assert_int_equal(s.n_ports, 0);
	assert_int_equal(security_count(&s, SECURITY_FAIL), 0);
	assert_int_equal(security_count(&s, SECURITY_PASS) + security_count(&s, SECURITY_UNKNOWN),
			 SECURITY_CHECKS);
	/* Two switches and a spine, twelve hosts. */
	assert_non_null(strstr(s.checks[PROTECTION - 1].present, " ports have it so"));
}

/* Off is no fault; on without a key, or with one that can be read, is. */
static void congestion_control_needs_a_key(void **state)
{
	struct desk *d = *state;
	struct security s;

	put(d->conf, "congestion_control", "TRUE");
	s = look(d);
	assert_fails(&s, CC_KEY, "cc_key_enable 0");
	put(d->conf, "cc_key_enable", "2");
	put(d->conf, "cc_key_protect_bit", "0");
	s = look(d);
	assert_fails(&s, CC_KEY, "can read CC_Keys");
	put(d->conf, "cc_key_protect_bit", "1");
	s = look(d);
	assert_fails(&s, 0, "");
	put(d->conf, "m_key_per_port", "FALSE");
	s = look(d);
	assert_int_equal(verdict_of(&s, CC_KEY), SECURITY_FAIL);
}

static const struct {
	unsigned line;
	struct setting other;
	const char *words;
} taken[] = {
	{ M_KEY, { "m_key", "0" }, "m_key is 0" },
	{ SM_KEY, { "sm_key", "1" }, "the default, 1" },
	{ SM_KEY, { "sm_key", "0" }, "no key is asked for" },
	{ SA_KEY, { "sa_key", "1" }, "the default, 1" },
	{ SA_KEY, { "sa_key", "0" }, "no key is asked for" },
	{ PROTECTION, { "m_key_protection_level", "1" }, "m_key_protection_level 1" },
	{ PROTECTION, { "m_key_protection_level", "0" }, "m_key_protection_level 0" },
	{ PROTECTION, { "m_key_protection_level", "3" }, "0 of " },
	{ PROTECTION, { "m_key_lease_period", "0" }, "m_key_lease_period 0" },
	{ PROTECTION, { "m_key_lease_period", "61" }, "0 of " },
	{ TRUST_MODEL, { "sa_enhanced_trust_model", "FALSE" }, "FALSE" },
	{ TRUST_MODEL, { "sa_etm_max_num_mcgs", "0" }, "sa_etm_max_num_mcgs 0" },
	{ TRUST_MODEL, { "sa_etm_max_num_mcgs", "129" }, "sa_etm_max_num_mcgs 129" },
	{ TRUST_MODEL, { "sa_etm_max_num_srvcs", "33" }, "sa_etm_max_num_srvcs 33" },
	{ TRUST_MODEL, { "sa_etm_max_num_event_subs", "0" }, "sa_etm_max_num_event_subs 0" },
	{ MANAGERS, { "allowed_sm_guids", "(null)" }, "is not set" },
};

static void each_line_fails_without_its_setting(void **state)
{
	struct desk *d = *state;

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		const struct setting *other = &taken[i].other;
		enum conf_id id = conf_option_find(other->name);
		_cleanup_free_ char *was =
			id == CONF_N_OPTIONS ? NULL : conf_value_text(d->conf, id);
		struct security s;

		/* Keys made from a seed need no m_key. */
		if (taken[i].line == M_KEY && best_of(PER_PORT) == SECURITY_PASS)
			continue;
		if (!put(d->conf, other->name, other->value))
			continue;
		s = look(d);
		assert_fails(&s, taken[i].line, taken[i].words);
		put(d->conf, other->name, was);
	}
}

/*
 * Shown is no secret, unless ports answer no host: each level, drawn or not, with and without key.
 */
static void an_sm_key_that_is_shown_fails(void **state)
{
	static const char *const levels[] = { "0", "1", "2", "3" };
	struct desk *d = *state;
	struct security s;

	put(d->conf, "sm_key_shown", "TRUE");
	s = look(d);
	assert_fails(&s, 0, "");
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		enum security_verdict want = i < 2 ? SECURITY_FAIL : SECURITY_PASS;

		put(d->conf, "m_key_protection_level", levels[i]);
		s = look(d);
		assert_int_equal(verdict_of(&s, SM_KEY), want);
		assert_int_equal(verdict_of(&s, SA_KEY), want);
	}
	put(d->conf, "m_key_per_port", "FALSE");
	s = look(d);
	assert_int_equal(verdict_of(&s, SM_KEY), SECURITY_PASS);
	put(d->conf, "m_key", "0");
	s = look(d);
	assert_int_equal(verdict_of(&s, SM_KEY), SECURITY_FAIL);
	put(d->conf, "randomize_sm_key", "TRUE");
	put(d->conf, "sm_key", "1");
	s = look(d);
	assert_int_equal(verdict_of(&s, SM_KEY), SECURITY_FAIL);
	assert_non_null(strstr(s.checks[SM_KEY - 1].present, "shown to every host"));
	put(d->conf, "sm_key_shown", "FALSE");
	s = look(d);
	assert_int_equal(verdict_of(&s, SM_KEY), SECURITY_PASS);
	assert_int_equal(verdict_of(&s, SA_KEY), SECURITY_PASS);
}

/* OpenSM, say: it has our sm_key, and shows it to every host. */
static void answer_with_key(struct desk *d, struct transport *tr)
{
	struct transport_event ev;

	while (transport_receive(tr, &ev) > 0) {
		uint8_t info[SMP_DATA_SIZE] = { 0 };

		free(ev.whole);
		if (ev.kind != TRANSPORT_MAD || ib_get(ev.mad, SMP_METHOD) != MAD_GET)
			continue;
		ib_put(info, SMI_GUID, tr->port_guid);
		ib_put(info, SMI_SM_KEY, d->conf->sm_key);
		ib_put(info, SMI_STATE, SM_STANDBY);
		smp_make_response(ev.mad, 0, info);
		transport_send(tr, &ev.from, ev.mad, MAD_SIZE, 0);
	}
}

static void a_manager_that_shows_sm_key_fails(void **state)
{
	struct desk *d = desk_new();
	struct transport *tr = sim_attach(d->rig->sim, "h11", 0);
	struct security s;
	mono_t until;

	assert_non_null(tr);
	start_first(d, "Default=0x7fff, api: ALL=limited, SELF=full;\nOne=0x1: ALL=limited;\n");
	s = look(d);
	assert_int_equal(verdict_of(&s, SM_KEY), SECURITY_PASS);
	transport_set_issm(tr, true);
	until = sim_now(d->rig->sim) + 60 * MONO_S;
	while (rig_step(d->rig, until))
		answer_with_key(d, tr);
	s = look(d);
	assert_int_equal(verdict_of(&s, SM_KEY), SECURITY_FAIL);
	assert_int_equal(verdict_of(&s, SA_KEY), SECURITY_FAIL);
	assert_non_null(strstr(s.checks[SM_KEY - 1].present, "shows sm_key to every host"));
	transport_close(tr);
	desk_free(d);
}

/* Each port has the key that was made for it, and not the one that is wanted now. */
static void ports_with_another_key_fail(void **state)
{
	struct desk *d = *state;
	struct security s;
	struct key_ring *ring = key_ring_copy(keys_known(rig_master(d->rig)));

	put(d->conf, "m_key_per_port", "FALSE");
	key_ring_use_shared(ring, 0x77);
	keys_use(rig_master(d->rig), ring);
	s = look(d);
	assert_int_equal(verdict_of(&s, M_KEY), SECURITY_PASS);
	assert_int_equal(verdict_of(&s, PER_PORT), SECURITY_FAIL);
	assert_int_equal(verdict_of(&s, PROTECTION), SECURITY_FAIL);
	assert_non_null(strstr(s.checks[PROTECTION - 1].present, "; 0 of "));
}

/* Its level is written, and no key is there: ports are open. */
static void keys_without_a_seed_fail(void **state)
{
	struct desk *d = desk_new();
	struct security s;

	put(d->conf, "m_key_seed_file", "/nonexistent/seed");
	start_secure(d, "Default=0x7fff: ALL=limited, SELF=full;\nOne=0x1: ALL=limited;\n");
	s = look(d);
	assert_int_equal(verdict_of(&s, M_KEY), SECURITY_FAIL);
	assert_int_equal(verdict_of(&s, PER_PORT), SECURITY_FAIL);
	assert_int_equal(verdict_of(&s, PROTECTION), SECURITY_FAIL);
	assert_non_null(strstr(s.checks[PER_PORT - 1].present, "no seed that can be used"));
	assert_non_null(strstr(s.checks[PROTECTION - 1].present, "; 0 of "));
	desk_free(d);
}

/* First as one that missed a sweep, then as a link with nothing behind it. */
static void a_port_that_does_not_answer_fails(void **state)
{
	struct desk *d = *state;
	struct security s;

	sim_set_silent(d->rig->sim, host_node(d, 5), SIM_SILENT, 0);
	for (unsigned i = 0; i < 12; i++) {
		sm_request_heavy(sm_of(d), NULL);
		run_for(d, 30 * MONO_S);
		s = look(d);
		assert_fails(&s, PROTECTION, " ports have it so");
		assert_int_equal(s.n_ports, 1);
	}
	assert_null(fabric_find_port(sm_fabric(sm_of(d)), d->guid[5]));
}

static void a_policy_of_places_is_remarked(void **state)
{
	struct desk *d = *state;
	struct security s;

	put(d->conf, "guid_location_policy", "hold");
	s = look(d);
	assert_non_null(strstr(s.checks[TOPOLOGY - 1].present, "is held"));
	put(d->conf, "guid_location_policy", "report");
	s = look(d);
	assert_non_null(strstr(s.checks[TOPOLOGY - 1].present, "is taken for moved"));
}

/* Options may be as they should be, and devices not. */
static void ports_without_protection_are_named(void **state)
{
	struct desk *d = *state;
	struct security s;

	put(d->conf, "m_key_lease_period", "61");
	s = look(d);
	assert_true(s.n_ports > 12 && s.n_ports < SECURITY_PORTS_MAX);
	for (unsigned i = 0; i < s.n_ports; i++)
		assert_non_null(strstr(s.ports[i], "0x"));
}

static void each_manager_must_be_in_the_list(void **state)
{
	struct desk *d = *state;
	struct security s;

	allow(d, d->guid[FIRST_SM], d->guid[5]);
	s = look(d);
	assert_fails(&s, MANAGERS, "h11");
	allow(d, d->guid[5], d->guid[SECOND_SM]);
	s = look(d);
	assert_fails(&s, MANAGERS, "this manager");
}

static void full_members_of_the_default_partition_fail(void **state)
{
	struct desk *d = desk_new();
	struct security s;

	start_secure(d, "Default=0x7fff: ALL=limited, ALL_CAS=full;\nOne=0x1: ALL=limited;\n");
	s = look(d);
	assert_fails(&s, DEFAULT_PARTITION, "full members");
	desk_free(d);
}

static void tenants_in_the_default_partition_fail(void **state)
{
	struct desk *d = *state;
	struct security s;

	assert_done(add(d, 0x7FFF, 3));
	s = look(d);
	assert_fails(&s, TENANT_PARTITIONS, "1 ports were put");
}

static void a_subnet_without_tenants_is_unknown(void **state)
{
	struct desk *d = desk_new();
	struct security s;

	start_secure(d, "Default=0x7fff: ALL=limited, SELF=full;\n");
	s = look(d);
	assert_int_equal(verdict_of(&s, TENANT_PARTITIONS), SECURITY_UNKNOWN);
	assert_int_equal(verdict_of(&s, DEFAULT_PARTITION), SECURITY_PASS);
	desk_free(d);
}

static void passwords_in_the_clear_fail(void **state)
{
	struct desk *d = *state;
	_cleanup_free_ char *path = xasprintf("%s/opensm-rest.conf", d->dir);
	const struct daemon_api api = { .conf = d->conf, .sm = sm_of(d), .conf_path = path };
	struct security s;

	write_text(path, "# plain_http = yes\nknown_only = yes\nplain_http = no\n");
	s = look(d);
	assert_fails(&s, 0, "");
	write_text(path, "listen_http = 10.0.0.1:80\n\tplain_http\t =yes \n");
	s = look(d);
	assert_fails(&s, REST, "plain_http = yes");
	security_judge(&api, SECURITY_OF_MEMORY, &s);
	assert_int_equal(verdict_of(&s, REST), SECURITY_UNKNOWN);
}

/* What a host without a port can know: its configuration. */
static void without_a_port_the_subnet_is_unknown(void **state)
{
	struct desk *d = *state;
	const struct daemon_api api = { .conf = d->conf };
	struct security s;

	security_judge(&api, SECURITY_WITH_FILES, &s);
	assert_int_equal(security_count(&s, SECURITY_FAIL), 0);
	assert_int_equal(verdict_of(&s, M_KEY), SECURITY_PASS);
	assert_int_equal(verdict_of(&s, PROTECTION), SECURITY_UNKNOWN);
	assert_int_equal(verdict_of(&s, DEFAULT_PARTITION), SECURITY_UNKNOWN);
	assert_int_equal(verdict_of(&s, MANAGERS), SECURITY_UNKNOWN);
	put(d->conf, "m_key_protection_level", "1");
	security_judge(&api, SECURITY_WITH_FILES, &s);
	assert_int_equal(verdict_of(&s, PROTECTION), SECURITY_FAIL);
	put(d->conf, "m_key_protection_level", "2");
	put(d->conf, "m_key_lease_period", "0");
	security_judge(&api, SECURITY_WITH_FILES, &s);
	assert_int_equal(verdict_of(&s, PROTECTION), SECURITY_FAIL);
}

static void a_plain_installation_fails_what_it_lacks(void **state)
{
	struct security s = look(*state);

	assert_int_equal(verdict_of(&s, M_KEY), SECURITY_FAIL);
	assert_int_equal(verdict_of(&s, SM_KEY), SECURITY_FAIL);
	assert_int_equal(verdict_of(&s, SA_KEY), SECURITY_FAIL);
	assert_int_equal(verdict_of(&s, DEFAULT_PARTITION), SECURITY_FAIL);
	assert_int_equal(verdict_of(&s, PROTECTION), SECURITY_FAIL);
	assert_int_equal(s.n_ports, 0); /* nothing was asked of them */
	assert_int_equal(verdict_of(&s, MANAGERS), SECURITY_FAIL);
	assert_int_equal(verdict_of(&s, CLASS_KEYS), SECURITY_UNKNOWN);
	assert_int_equal(verdict_of(&s, TOPOLOGY), SECURITY_UNKNOWN);
}

static void on_line(void *arg, unsigned bits, const char *text)
{
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SECURE(a_secure_subnet_passes),
		SECURE(each_line_fails_without_its_setting),
		SECURE(an_sm_key_that_is_shown_fails),
		cmocka_unit_test(a_manager_that_shows_sm_key_fails),
		SECURE(congestion_control_needs_a_key),
		SECURE(ports_without_protection_are_named),
		SECURE(ports_with_another_key_fail),
		cmocka_unit_test(keys_without_a_seed_fail),
		SECURE(a_port_that_does_not_answer_fails),
		SECURE(a_policy_of_places_is_remarked),
		SECURE(each_manager_must_be_in_the_list),
		cmocka_unit_test(full_members_of_the_default_partition_fail),
		SECURE(tenants_in_the_default_partition_fail),
		cmocka_unit_test(a_subnet_without_tenants_is_unknown),
		SECURE(passwords_in_the_clear_fail),
		SECURE(without_a_port_the_subnet_is_unknown),
		TEST(a_plain_installation_fails_what_it_lacks),
	};

	log_set_sink(on_line, NULL);
	return cmocka_run_group_tests_name("security", tests, NULL, NULL);
}
