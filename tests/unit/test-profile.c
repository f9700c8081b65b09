// SPDX-License-Identifier: BSD-2-Clause
/* security_profile: what it sets, what counts more, reloads; and warnings of weak keys. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "conf/copied/copied.h"
#include "conf/profile.h"
#include "tests/unit/conf-reading.h"
#include "util/mem.h"

static struct reading verified(const char *text)
{
	struct reading x = read_text(text);

	conf_verify(x.conf, &x.report);
	return x;
}

static char *written(const struct conf *c)
{
	struct conf_report r = { 0 };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(conf_write(c, out, &r), 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(r.n, 0);
	return text;
}

/* ---- what a profile sets --------------------------------------------------------------------- */

static void a_profile_gives_each_option_of_its_table(void **state)
{
	static const char *const lines[CONF_PROFILES] = { "", "security_profile guarded\n",
							  "security_profile tenant\n" };

	for (enum conf_profile p = CONF_PROFILE_OPEN; p < CONF_PROFILES; p++) {
		_cleanup_(reading_clear) struct reading x = verified(lines[p]);

		assert_int_equal(x.report.n, 0);
		for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
			const char *text = conf_profile_value(p, id);

			if (text)
				assert_value(x.conf, conf_option(id)->name, text);
			else if (id != CONF_ID_security_profile)
				assert_true(conf_value_is_default(x.conf, id));
			if (text && !conf_value_is_default(x.conf, id))
				assert_int_equal(conf_source(x.conf, id), CONF_SOURCE_PROFILE);
		}
	}
}

static void guarded_protects_writes_and_tenant_reads(void **state)
{
	_cleanup_(reading_clear) struct reading x = verified("security_profile guarded\n");
	_cleanup_(reading_clear) struct reading y = verified("security_profile tenant\n");

	assert_int_equal(x.conf->m_key_protection_level, 1);
	assert_int_equal(x.conf->m_key_lease_period, 60);
	assert_int_equal(y.conf->m_key_protection_level, 2);
	assert_int_equal(y.conf->m_key_lease_period, 60);
	assert_true(y.conf->m_key_per_port && !x.conf->m_key_per_port);
	assert_true(y.conf->sa_enhanced_trust_model && y.conf->sa_check_sgid_spoofing);
	assert_int_equal(y.conf->sa_etm_max_num_mcgs, 128);
	assert_string_equal(y.conf->default_membership, "limited");
	assert_string_equal(y.conf->guid_location_policy, "hold");
	assert_int_equal(x.conf->m_key, 0);
}

/* Profiles change at run time, so none of their options may wait for a restart. */
static void no_option_of_a_profile_costs_a_restart(void **state)
{
	unsigned n = 0;

	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		if (!conf_profile_value(CONF_PROFILE_TENANT, id))
			continue;
		n++;
		assert_int_not_equal(conf_option(id)->cost, CONF_COST_RESTART);
		assert_true(conf_option(id)->cost <= conf_option(CONF_ID_security_profile)->cost);
		assert_false(conf_is_secret(id));
	}
	assert_true(n >= 2);
}

static void a_line_counts_more_wherever_it_stands(void **state)
{
	static const char *const texts[] = {
		"m_key_protection_level 0\nsecurity_profile tenant\n",
		"security_profile tenant\nm_key_protection_level 0\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_(reading_clear) struct reading x = verified(texts[i]);

		assert_int_equal(x.conf->m_key_protection_level, 0);
		assert_int_equal(conf_source(x.conf, CONF_ID_m_key_protection_level),
				 CONF_SOURCE_FILE);
		assert_int_equal(x.conf->m_key_lease_period, 60);
	}
}

static void the_command_line_and_the_master_count_more(void **state)
{
	_cleanup_(reading_clear) struct reading x = read_text("security_profile tenant\n");

	x.conf->given[CONF_ID_m_key_protection_level] = true;
	x.conf->copied[CONF_ID_m_key_lease_period] = true;
	x.conf->m_key_protection_level = 1;
	x.conf->m_key_lease_period = 77;
	conf_verify(x.conf, &x.report);
	assert_int_equal(x.conf->m_key_protection_level, 1);
	assert_int_equal(x.conf->m_key_lease_period, 77);
	assert_int_equal(conf_source(x.conf, CONF_ID_m_key_protection_level),
			 CONF_SOURCE_COMMAND_LINE);
	assert_int_equal(conf_source(x.conf, CONF_ID_m_key_lease_period), CONF_SOURCE_COPIED);
}

/* The profile is of this host: a master that is open does not take it away. */
static void what_the_own_profile_sets_is_not_copied_over(void **state)
{
	_cleanup_(reading_clear) struct reading x = verified("security_profile tenant\n");
	_cleanup_(copied_unrefp) struct copied *c = copied_new((guid_t)7);
	_cleanup_(conf_unrefp) struct conf *to = NULL;
	struct copied_pins pins;

	copied_add_option(c, CONF_ID_m_key_protection_level, (guid_t)7, "0");
	to = copied_layer(x.conf, c, (guid_t)8, "/nowhere", &pins, &x.report);
	assert_int_equal(to->m_key_protection_level, 2);
	assert_int_equal(pins.n, 1);
}

static void a_faulty_profile_is_the_strictest(void **state)
{
	_cleanup_(reading_clear) struct reading x = verified("security_profile tennant\n");
	_cleanup_(reading_clear) struct reading y =
		verified("security_profile guarded\nsecurity_profile x\n");
	size_t n;

	assert_int_equal(x.conf->m_key_protection_level, 2);
	assert_string_equal(x.conf->security_profile, "tenant");
	assert_null(strstr(finding(&x.report, "did you mean tenant?")->text, "keeps"));
	assert_int_equal(finding(&x.report, "uses tenant, the strictest")->severity, CONF_ERROR);
	n = x.report.n;
	conf_verify(x.conf, &x.report);
	assert_int_equal(x.report.n, n);
	assert_string_equal(y.conf->security_profile, "guarded");
	assert_int_equal(y.conf->m_key_protection_level, 1);
}

/* A rule between values that changed one keeps it, and says so once. */
static void rules_count_more_than_the_profile(void **state)
{
	_cleanup_(reading_clear) struct reading x =
		verified("security_profile guarded\nsweep_interval 300\n");

	assert_int_equal(x.conf->m_key_lease_period, 601);
	conf_verify(x.conf, &x.report);
	assert_int_equal(x.conf->m_key_lease_period, 601);
	finding(&x.report,
		"60 s would run out between sweeps, of which two are to be within it; uses 601");
	assert_int_equal(x.report.n, 1);
}

/* ---- where values come from ------------------------------------------------------------------ */

static void a_written_file_names_the_sources(void **state)
{
	_cleanup_(reading_clear) struct reading x =
		verified("security_profile tenant\nlmc 2\nsm_priority 4\n");
	_cleanup_(reading_clear) struct reading plain = verified("");
	_cleanup_free_ char *text = NULL, *defaults = written(plain.conf);
	struct conf_place at = { 0 };

	conf_set(x.conf, CONF_ID_sm_priority, "5", &at, &x.report);
	x.conf->given[CONF_ID_sm_priority] = true;
	x.conf->copied[CONF_ID_subnet_timeout] = true;
	text = written(x.conf);
	assert_null(strstr(defaults, "\n# From "));
	assert_non_null(strstr(text, "\n# From security_profile tenant.\n"
				     "# m_key_protection_level 2\n"));
	assert_non_null(strstr(text, "\n# From opensm.conf:2.\nlmc 2\n"));
	assert_non_null(strstr(text, "\n# From the command line.\nsm_priority 5\n"));
	assert_non_null(strstr(text, "\n# From the master.\nsubnet_timeout 18\n"));
	{
		_cleanup_(reading_clear) struct reading back = verified(text);

		for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
			assert_true(conf_value_equal(x.conf, back.conf, id));
		assert_int_equal(conf_source(back.conf, CONF_ID_m_key_protection_level),
				 CONF_SOURCE_PROFILE);
	}
}

/* ---- reload ---------------------------------------------------------------------------------- */

/* A manager whose file is changed from one text to the next. */
struct life {
	struct conf *live, *file;
	struct conf_changes changes;
	struct conf_report report;
};

static struct life life_of(const char *text)
{
	struct reading x = read_text(text);
	struct life l = { .file = x.conf, .live = conf_copy(x.conf) };

	conf_report_clear(&x.report);
	conf_verify(l.live, &l.report);
	conf_report_clear(&l.report);
	return l;
}

static void life_clear(struct life *l)
{
	conf_unref(l->live);
	conf_unref(l->file);
	conf_report_clear(&l->report);
}

static void reload(struct life *l, const char *text)
{
	struct conf *now = conf_copy(l->file), *next;

	conf_report_clear(&l->report);
	assert_int_equal(conf_read_text(now, FILE_NAME, text, strlen(text), &l->report), 0);
	next = conf_reload(l->live, l->file, now, &l->changes, &l->report);
	conf_unref(l->live);
	conf_unref(l->file);
	l->live = next;
	l->file = now;
}

static void a_profile_comes_and_goes_at_run_time(void **state)
{
	_cleanup_(life_clear) struct life l = life_of("");

	reload(&l, "security_profile guarded\n");
	assert_int_equal(l.live->m_key_protection_level, 1);
	assert_int_equal(l.live->m_key_lease_period, 60);
	assert_int_equal(l.changes.n, 3);
	reload(&l, "security_profile tenant\n");
	assert_int_equal(l.live->m_key_protection_level, 2);
	assert_true(l.live->m_key_per_port && l.live->sa_enhanced_trust_model);
	assert_int_equal(l.changes.n, 10);
	reload(&l, "security_profile tenant\n");
	assert_int_equal(l.changes.n, 0);
	reload(&l, "security_profile open\n");
	assert_int_equal(l.live->m_key_protection_level, 0);
	assert_int_equal(l.live->m_key_lease_period, 0);
	assert_false(l.live->m_key_per_port || l.live->sa_enhanced_trust_model);
	assert_int_equal(conf_source(l.live, CONF_ID_m_key_lease_period), CONF_SOURCE_DEFAULT);
}

/* "m_key_protection_level 0" is what the file said without the line, too. */
static void a_new_line_takes_an_option_out_of_the_profile(void **state)
{
	_cleanup_(life_clear) struct life l = life_of("security_profile tenant\n");

	reload(&l, "security_profile tenant\nm_key_protection_level 0\n");
	assert_int_equal(l.live->m_key_protection_level, 0);
	reload(&l, "security_profile tenant\n");
	assert_int_equal(l.live->m_key_protection_level, 2);
	assert_int_equal(conf_source(l.live, CONF_ID_m_key_protection_level), CONF_SOURCE_PROFILE);
	reload(&l, "security_profile tenant\nm_key_protection_level 1\n");
	assert_int_equal(l.live->m_key_protection_level, 1);
	reload(&l, "security_profile tenant\n");
	assert_int_equal(l.live->m_key_protection_level, 2);
	assert_int_equal(l.report.errors, 0);
	for (size_t i = 0; i < l.report.n; i++)
		assert_null(strstr(l.report.findings[i].text, "its line is gone"));
}

static void a_line_of_a_profile_that_is_gone_stays_until_a_restart(void **state)
{
	_cleanup_(life_clear) struct life l = life_of("security_profile tenant\n");

	reload(&l, "");
	assert_int_equal(l.live->m_key_protection_level, 2);
	finding(&l.report, "security_profile: its line is gone; tenant stays until a restart");
}

static void a_corrected_profile_counts(void **state)
{
	_cleanup_(life_clear) struct life l = life_of("security_profile opne\n");

	assert_int_equal(l.live->m_key_protection_level, 2);
	reload(&l, "security_profile open\n");
	assert_string_equal(l.live->security_profile, "open");
	assert_int_equal(l.live->m_key_protection_level, 0);
}

/* ---- weak keys ------------------------------------------------------------------------------- */

#define STRONG "m_key 0x51\nsm_key 0x52\nsa_key 0x53\nallowed_sm_guids 0x54\n"

static const struct {
	const char *text, *words; /* NULL: no warning */
	unsigned line, n;
} weak[] = {
	{ "", NULL, 0, 0 },
	{ "sm_priority 3\nlmc 1\nsm_key 1\nsa_key 1\n", NULL, 0, 0 },
	{ STRONG, NULL, 0, 0 },
	{ STRONG "security_profile tenant\n", NULL, 0, 0 },
	{ "m_key 0x51\n", "sm_key: 1 is what every", 0, 2 },
	{ "m_key 0x51\nsm_key 1\n", "sm_key: 1 is what every", 2, 2 },
	{ "sm_key 0x52\n", "sa_key: 1 is what every", 0, 2 },
	{ "sm_key 0\n", "sm_key: 0 believes", 1, 3 },
	{ "sm_key 0x52\nsa_key 0\n", "sa_key: 0 trusts", 2, 2 },
	{ "sm_key 0x52\nsa_key 0x53\nm_key_protection_level 2\n", "m_key: 0 protects no port", 3,
	  1 },
	{ "sm_key 0x52\nsa_key 0x53\nm_key 0\nm_key_protection_level 2\n",
	  "m_key: 0 protects no port", 3, 1 },
	{ "\nsecurity_profile guarded\n", "m_key: 0 protects no port", 2, 4 },
	{ "\nsecurity_profile guarded\n", "allowed_sm_guids: not set", 2, 4 },
	/* Each option that relies on keys brings all three. */
	{ "security_violation_policy isolate\n", "m_key: 0 is what every port has", 0, 3 },
	{ "guid_location_policy hold\n", "sm_key: 1 is what every", 0, 3 },
	{ "guid_location_policy off\n", NULL, 0, 0 },
	{ "sa_rate_threshold 5\n", "sa_key: 1 is what every", 0, 3 },
	{ "sa_enhanced_trust_model TRUE\n", "m_key: 0 is what every port has", 0, 3 },
	{ "m_key_per_port TRUE\nperiodic_key_update 60\n", "sm_key: 1 is what every", 0, 2 },
	{ "require_standby TRUE\n", "sm_key: 1 is what every", 0, 3 },
	{ STRONG "security_profile guarded\nm_key_protection_level 0\n",
	  "security_profile guarded would give 1, and this line counts", 6, 1 },
};

static void weak_keys_are_warned_of_once_protection_is_asked_for(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(weak); i++) {
		_cleanup_(reading_clear) struct reading x = verified(weak[i].text);

		conf_advise_keys(x.conf, NULL, &x.report);
		assert_int_equal(x.report.errors, 0);
		assert_int_equal(x.report.warnings, weak[i].n);
		if (weak[i].words)
			assert_int_equal(finding(&x.report, weak[i].words)->line, weak[i].line);
		conf_report_clear(&x.report);
		conf_advise_keys(x.conf, x.conf, &x.report);
		assert_int_equal(x.report.n, 0);
	}
}

/* Protection that was asked for and is without effect: strict refuses it, and nothing else. */
static void protection_without_a_key_is_an_error_where_it_is_strict(void **state)
{
	static const struct {
		const char *text;
		unsigned errors;
	} texts[] = {
		{ "m_key_protection_level 2\n", 1 },
		{ "m_key_protection_level 1\nm_key 0\n", 1 },
		{ "security_profile guarded\n", 1 },
		{ "security_profile tenant\n", 0 },
		{ "m_key_protection_level 2\nm_key_per_port TRUE\n", 0 },
		{ "m_key_protection_level 2\nm_key 5\n", 0 },
		{ "sa_enhanced_trust_model TRUE\n", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_(reading_clear) struct reading x = verified(texts[i].text);

		x.conf->strict = true;
		conf_advise_keys(x.conf, NULL, &x.report);
		assert_int_equal(x.report.errors, texts[i].errors);
	}
}

/* A line that was written on purpose is a note; one that has the default, a warning. */
static void lines_that_count_more_are_named(void **state)
{
	_cleanup_(reading_clear) struct reading x =
		verified(STRONG "security_profile tenant\nm_key_protection_level 1\n");

	conf_advise_keys(x.conf, NULL, &x.report);
	assert_int_equal(finding(&x.report, "this line counts")->severity, CONF_NOTE);
	assert_int_equal(x.report.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_gives_each_option_of_its_table),
		cmocka_unit_test(guarded_protects_writes_and_tenant_reads),
		cmocka_unit_test(no_option_of_a_profile_costs_a_restart),
		cmocka_unit_test(a_line_counts_more_wherever_it_stands),
		cmocka_unit_test(the_command_line_and_the_master_count_more),
		cmocka_unit_test(what_the_own_profile_sets_is_not_copied_over),
		cmocka_unit_test(a_faulty_profile_is_the_strictest),
		cmocka_unit_test(rules_count_more_than_the_profile),
		cmocka_unit_test(a_written_file_names_the_sources),
		cmocka_unit_test(a_profile_comes_and_goes_at_run_time),
		cmocka_unit_test(a_new_line_takes_an_option_out_of_the_profile),
		cmocka_unit_test(a_line_of_a_profile_that_is_gone_stays_until_a_restart),
		cmocka_unit_test(a_corrected_profile_counts),
		cmocka_unit_test(weak_keys_are_warned_of_once_protection_is_asked_for),
		cmocka_unit_test(protection_without_a_key_is_an_error_where_it_is_strict),
		cmocka_unit_test(lines_that_count_more_are_named),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
