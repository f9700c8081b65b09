// SPDX-License-Identifier: BSD-2-Clause
/* opensm.conf: the table of options, reading it. Rules, writing and reload: test-conf-rules.c. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "conf/foreign.h"
#include "tests/unit/conf-reading.h"
#include "tests/lib/scratch.h"
#include "util/mem.h"

/* --- The table ------------------------------------------------------------------------------ */

static void defaults_read_back_as_they_are_written(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();

	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		_cleanup_free_ char *text = conf_value_text(c, id);
		const struct conf_option *o = conf_option(id);
		struct conf_report r = { 0 };
		struct conf_place at = { .file = FILE_NAME, .line = 1 };

		assert_string_equal(text, o->default_text);
		assert_true(conf_value_is_default(c, id));
		assert_int_equal(conf_set(c, id, o->default_text, &at, &r), 0);
		assert_true(conf_value_is_default(c, id));
		if (strcmp(o->default_text, "(null)") != 0)
			assert_int_equal(r.n, 0);
		conf_report_clear(&r);
	}
}

static void every_option_can_be_changed(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();

	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		struct conf_report r = { 0 };
		struct conf_place at = { 0 };

		assert_int_equal(conf_set(c, id, other_value(conf_option(id)), &at, &r), 0);
		assert_int_equal(r.n, 0);
		assert_false(conf_value_is_default(c, id));
	}
}

static void names_are_found_and_unique(void **state)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		assert_int_equal(conf_option_find(conf_option(id)->name), id);
		assert_false(foreign_is_nvidia(conf_option(id)->name));
	}
	assert_int_equal(conf_option_find("dimn_ports_file"), CONF_ID_port_search_ordering_file);
	assert_int_equal(conf_option_find("no_such_key"), CONF_N_OPTIONS);
	assert_int_equal(conf_option_find(""), CONF_N_OPTIONS);
}

static void nvidia_names_are_known(void **state)
{
	static const char *const some[] = {
		"activity_report_subjects",
		"ar_mode",
		"max_op_vls_ca",
		"routing_threads_num",
		"vs_max_outstanding_mads",
		"pgrp_policy_file",
		"hm_sw_of_tomorrow_action",
		"m_key_protect_bits",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(some); i++)
		assert_true(foreign_is_nvidia(some[i]));
	assert_false(foreign_is_nvidia("sweep_interval"));
	assert_false(foreign_is_nvidia(""));
}

/*
 * Values that ask for nothing are no fault; what would protect something is one; the rest is one
 * with --strict.
 */
static void foreign_keys_are_judged_by_what_they_ask(void **state)
{
	static const struct {
		const char *line;
		unsigned errors, errors_strict;
	} cases[] = {
		{ "vs_key_enable 2", 1, 1 },
		{ "vs_key_enable 0", 0, 0 },
		{ "key_mgr_seed 0x0000", 0, 0 },
		{ "key_mgr_seed 0x1234", 1, 1 },
		{ "validate_smps TRUE", 1, 1 },
		{ "tenants_policy_file (null)", 0, 0 },
		{ "ar_mode 1", 0, 1 },
		{ "ar_mode 0", 0, 0 },
		{ "hm_num_no_action 3", 0, 1 },
		{ "updn_guid_file /x", 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (unsigned strict = 0; strict < 2; strict++) {
			_cleanup_(conf_unrefp) struct conf *c = conf_new();
			struct conf_report r = { 0 };

			c->strict = strict;
			assert_int_equal(conf_read_text(c, FILE_NAME, cases[i].line,
							strlen(cases[i].line), &r),
					 0);
			assert_int_equal(r.n, 1);
			assert_int_equal(r.errors,
					 strict ? cases[i].errors_strict : cases[i].errors);
			conf_report_clear(&r);
		}
	}
}

static void each_key_that_is_not_supported_says_why(void **state)
{
	static const struct {
		const char *line, *words;
		unsigned errors;
	} cases[] = {
		{ "vs_key_enable 1", "class 0x0A", 1 },
		{ "vs_key_enable FALSE", "class 0x0A", 0 },
		{ "vs_key_ci_protect_bits 1", "class 0x0A", 0 },
		{ "am_key_enable 2", "SHARP", 1 },
		{ "am_key_lease_period 60", "SHARP", 0 },
		{ "am_key 0x5eed", "SHARP", 1 },
		{ "n2n_key_enable 2", "class 0x0C", 1 },
		{ "n2n_key_lease_period 0", "class 0x0C", 0 },
		{ "key_mgr_seed 0x1234", "made from the seed of M_Keys", 1 },
		{ "key_mgr_seed 0", "made from the seed of M_Keys", 0 },
		{ "tenants_policy_enabled TRUE", "opensmctl and opensm-rest", 1 },
		{ "tenants_policy_file (null)", "opensmctl and opensm-rest", 0 },
		{ "validate_smps TRUE", "compared with what was asked", 1 },
		{ "validate_smps FALSE", "compared with what was asked", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(reading_clear) struct reading x = read_text(cases[i].line);
		const struct conf_finding *f = finding(&x.report, "not supported here (");

		assert_non_null(strstr(f->text, cases[i].words));
		assert_non_null(strstr(f->text, "it has no effect"));
		assert_int_equal(f->line, 1);
		assert_int_equal(x.report.errors, cases[i].errors);
		assert_int_equal(x.report.n, 1);
	}
	assert_null(foreign_lack("cc_key_enable"));
	assert_null(foreign_lack("vs_key"));
	assert_null(foreign_lack("ar_mode"));
}

/* Leases, protect bits and files have values there, for what is switched off. */
static void the_defaults_of_nvidia_are_no_fault(void **state)
{
	static const char defaults[] =
		"m_key 0x0000000000000000\nm_key_per_port FALSE\nm_key_lease_period 60\n"
		"m_key_protection_level 2\nm_key_lookup TRUE\nperiodic_key_update 0\n"
		"key_mgr_seed 0x0000000000000000\nvs_key_enable 0\nvs_key_lease_period 60\n"
		"vs_key_ci_protect_bits 1\nvs_max_outstanding_mads 500\nn2n_key_enable 0\n"
		"n2n_key_lease_period 60\nn2n_key_protect_bit 1\nn2n_max_outstanding_mads 500\n"
		"cc_key_enable 0\ncc_key_lease_period 60\ncc_key_protect_bit 1\n"
		"am_key_enable 0\nam_key_lease_period 60\nam_key_protect_bit 1\n"
		"service_name2key_map_file (null)\ntenants_policy_enabled FALSE\n"
		"tenants_policy_file /etc/opensm/tenants-policy.conf\nvalidate_smps FALSE\n"
		"sa_enhanced_trust_model FALSE\nsa_etm_allow_untrusted_guidinfo_rec TRUE\n"
		"sa_etm_allow_guidinfo_rec_by_vf TRUE\nsa_etm_max_num_mcgs 0\n"
		"sa_etm_allow_untrusted_proxy_requests TRUE\nsa_etm_max_num_srvcs 0\n"
		"sa_etm_max_num_event_subs 0\nsa_check_sgid_spoofing FALSE\n"
		"sa_rate_threshold 0\nallowed_sm_guids (null)\n";
	_cleanup_(reading_clear) struct reading x = read_text(defaults);

	assert_int_equal(x.report.errors, 0);
}

/* A file that has served since OpenSM 3.1 keeps no manager from starting. */
static void old_keys_and_foreign_engines_are_warnings(void **state)
{
	static const char *const old[] = { "no_qos", "no_multicast_option", "qos_hca_max_vls",
					   "updn_guid_file" };
	static const char *const engines[] = { "ar_updn", "dfp2", "kdor-hc", "pqft", "chain" };

	for (unsigned i = 0; i < ARRAY_SIZE(old); i++)
		assert_true(foreign_is_old(old[i]) && conf_option_find(old[i]) == CONF_N_OPTIONS);
	for (unsigned i = 0; i < ARRAY_SIZE(engines); i++)
		assert_true(foreign_is_engine(engines[i]) && !conf_engine_known(engines[i]));
	assert_false(foreign_is_old("qos"));
	assert_false(foreign_is_engine("minhop"));
}

/* --- Reading -------------------------------------------------------------------------------- */

static const struct {
	const char *text, *key, *value;
} good[] = {
	{ "sweep_interval 20", "sweep_interval", "20" },
	{ "  \tsweep_interval\t 0x14 \t", "sweep_interval", "20" },
	{ "sweep_interval 20\r\n", "sweep_interval", "20" },
	{ "sweep_interval 20 # a remark", "sweep_interval", "20" },
	{ "\xEF\xBB\xBFsweep_interval 20", "sweep_interval", "20" },
	{ "m_key 0xFFFFFFFFFFFFFFFF", "m_key", "0xffffffffffffffff" },
	{ "force_link_speed_ext 15", "force_link_speed_ext", "15" },
	{ "force_link_speed_ext 30", "force_link_speed_ext", "30" },
	{ "packet_life_time 20", "packet_life_time", "0x14" },
	{ "log_prefix \"a b\"", "log_prefix", "a b" },
	{ "log_prefix 'a b'", "log_prefix", "a b" },
	{ "log_prefix ' a '", "log_prefix", " a " },
	{ "log_prefix \"a b'", "log_prefix", "\"a b'" },
	{ "log_prefix \"\"a\"\"", "log_prefix", "\"a\"" },
	{ "log_prefix a  b", "log_prefix", "a  b" },
	{ "log_prefix", "log_prefix", "" },
	{ "log_prefix x\nlog_prefix \"(null)\"", "log_prefix", "(null)" },
	{ "log_file (null)", "log_file", "(null)" },
	{ "routing_engine updn, minhop", "routing_engine", "updn, minhop" },
	{ "qos_high_limit 255", "qos_high_limit", "255" },
	{ "qos_high_limit 3\nqos_high_limit -1", "qos_high_limit", "-1" },
	{ "dimn_ports_file /x", "port_search_ordering_file", "/x" },
	{ "cc_sw_cong_setting_victim_mask abc", "cc_sw_cong_setting_victim_mask",
	  "0x0000000000000000000000000000000000000000000000000000000000000ABC" },
	{ "cc_cct 1:2, 0x3:4", "cc_cct", "1:2,3:4" },
	{ "cc_ca_cong_setting_ccti_timer 3 700\ncc_ca_cong_setting_ccti_timer 0 1",
	  "cc_ca_cong_setting_ccti_timer", "0 1, 3 700" },
	{ "cc_sw_cong_setting_threshold 15", "cc_sw_cong_setting_threshold", "0x0F" },
	{ "cc_ca_cong_setting_control_map 0xabcd", "cc_ca_cong_setting_control_map", "0xABCD" },
};

static void values_are_read(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(good); i++) {
		_cleanup_(reading_clear) struct reading x = read_text(good[i].text);

		if (x.report.errors)
			fail_msg("%s: %s", good[i].text, x.report.findings[0].text);
		assert_value(x.conf, good[i].key, good[i].value);
	}
}

/* One fault each: the value stays, the place and the words are right. */
static const struct {
	const char *text;
	unsigned line, column;
	const char *words;
	const char *key, *stays;
} faults[] = {
	{ "sweep_interval 1 2", 1, 16, "\"1 2\"; expected a number", "sweep_interval", "10" },
	{ "sweep_interval 5x", 1, 16, "\"5x\"; expected", "sweep_interval", "10" },
	{ "sweep_interval", 1, 15, "no value; expected", "sweep_interval", "10" },
	{ "sweep_interval 4294967296", 1, 16, "out of range", "sweep_interval", "10" },
	{ "sweep_interval 99999999999999999999999", 1, 16, "out of range", "sweep_interval", "10" },
	{ "sweep_interval -1", 1, 16, "\"-1\"", "sweep_interval", "10" },
	{ "\n\n  lmc 8", 3, 7, "0-7; keeps 0", "lmc", "0" },
	{ "lmc 1\n\nlmc 8", 3, 5, "keeps 1", "lmc", "1" },
	{ "sm_priority 16", 1, 13, "out of range; expected a number of 0-15", "sm_priority", "0" },
	{ "force_link_speed 8", 1, 18, "0-7,15", "force_link_speed", "15" },
	{ "force_link_speed_ext 16", 1, 22, "0-15,30,31", "force_link_speed_ext", "31" },
	{ "force_link_width 32", 1, 18, "0-31,255", "force_link_width", "255" },
	{ "fdr10 3", 1, 7, "0-2", "fdr10", "1" },
	{ "max_rate_enum 1", 1, 15, "2-26,63", "max_rate_enum", "63" },
	{ "transaction_timeout 0", 1, 21, "out of range", "transaction_timeout", "200" },
	{ "perfmgr_sweep_time_s 0", 1, 22, "out of range", "perfmgr_sweep_time_s", "180" },
	{ "qos_high_limit -2", 1, 16, "out of range", "qos_high_limit", "-1" },
	{ "qos_high_limit x", 1, 16, "\"x\"", "qos_high_limit", "-1" },
	{ "m_key deadbeef", 1, 7, "m_key: this value; expected", "m_key", "0x0000000000000000" },
	{ "m_key 0x10000000000000000", 1, 7, "out of range", "m_key", "0x0000000000000000" },
	{ "daemon maybe", 1, 8, "expected TRUE or FALSE", "daemon", "FALSE" },
	{ "sweep_on_trap", 1, 14, "no value; expected TRUE or FALSE", "sweep_on_trap", "TRUE" },
	{ "part_enforce In", 1, 14, "did you mean in?", "part_enforce", "both" },
	{ "console socket", 1, 9, "off|local|loopback", "console", "off" },
	{ "console", 1, 8, "no value", "console", "off" },
	{ "hop_weights_file", 1, 17, "a path, or (null)", "hop_weights_file", "(null)" },
	{ "hop_weights_file \"\"", 1, 18, "a path, or (null)", "hop_weights_file", "(null)" },
	{ "log_prefix a\x1b[31mb", 1, 12, "control characters", "log_prefix", "(null)" },
	{ "cc_sw_cong_setting_credit_mask xyz", 1, 32, "hexadecimal digits",
	  "cc_sw_cong_setting_credit_mask",
	  "0x0000000000000000000000000000000000000000000000000000000000000000" },
	{ "cc_sw_cong_setting_credit_starvation_return_delay 4:1", 1, 51, "SHIFT:MULTIPLIER",
	  "cc_sw_cong_setting_credit_starvation_return_delay", "0:0" },
	{ "cc_cct 1:2,3", 1, 8, "SHIFT:MULTIPLIER", "cc_cct", "(null)" },
	{ "cc_ca_cong_setting_ccti_min 16 1", 1, 29, "an SL of 0-15", "cc_ca_cong_setting_ccti_min",
	  "0 0" },
	{ "cc_ca_cong_setting_ccti_min 1 256", 1, 29, "0-255", "cc_ca_cong_setting_ccti_min",
	  "0 0" },
	{ "cc_ca_cong_setting_ccti_min 1", 1, 29, "a blank", "cc_ca_cong_setting_ccti_min", "0 0" },
	{ "sweep_intervall 3", 1, 1, "did you mean sweep_interval?", "sweep_interval", "10" },
	{ "LEAF-HEAD-OF-QUEUE-LIFETIME 3", 1, 1, "did you mean leaf_head_of_queue_lifetime?",
	  "sweep_interval", "10" },
	{ "sweep_interval=3", 1, 1, "expected a blank after sweep_interval", "sweep_interval",
	  "10" },
	{ " bogus_key 3", 1, 2, "\"bogus_key\": unknown key; the line is ignored", "sweep_interval",
	  "10" },
};

static void a_fault_leaves_the_value_and_says_where(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(faults); i++) {
		_cleanup_(reading_clear) struct reading x = read_text(faults[i].text);
		const struct conf_finding *f;

		if (x.report.errors != 1)
			fail_msg("%s: %u errors", faults[i].text, x.report.errors);
		f = finding(&x.report, faults[i].words);
		assert_int_equal(f->severity, CONF_ERROR);
		assert_string_equal(f->file, FILE_NAME);
		assert_int_equal(f->line, faults[i].line);
		assert_int_equal(f->column, faults[i].column);
		assert_value(x.conf, faults[i].key, faults[i].stays);
	}
}

static void a_list_longer_than_128_entries_is_refused(void **state)
{
	char text[16 + 4 * 129 + 1] = "cc_cct 0:1";
	size_t len = strlen(text);

	for (unsigned i = 1; i < 128; i++, len += 4)
		memcpy(text + len, ",0:1", 5);
	{
		_cleanup_(reading_clear) struct reading x = read_text(text);

		assert_int_equal(x.report.errors, 0);
		assert_int_equal(x.conf->cc_cct.n, 128);
	}
	memcpy(text + len, ",0:1", 5);
	{
		_cleanup_(reading_clear) struct reading x = read_text(text);

		assert_int_equal(x.report.errors, 1);
		assert_int_equal(x.conf->cc_cct.n, 0);
	}
}

static void flags_have_many_spellings(void **state)
{
	static const char *const yes[] = { "true", "Yes", "1", "ON" }, *const no[] = {
		"false",
		"no",
		"0",
		"Off",
	};

	for (unsigned i = 0; i < 4; i++) {
		_cleanup_free_ char *text =
			xasprintf("daemon %s\nsweep_on_trap %s\n", yes[i], no[i]);
		_cleanup_(reading_clear) struct reading x = read_text(text);

		assert_true(x.conf->daemon);
		assert_false(x.conf->sweep_on_trap);
		assert_int_equal(x.report.n, 2);
		assert_int_equal(x.report.errors + x.report.warnings, 0);
	}
}

static void oddities_are_accepted_and_told(void **state)
{
	_cleanup_(reading_clear) struct reading x = read_text("sm_priority 017\n"
							      "log_prefix \"a # b\"\n"
							      "part_enforce (null)\n"
							      "dump_files_dir (null)\n"
							      "dimn_ports_file /x\n"
							      "log_file = /y\n"
							      "ar_mode 1\n"
							      "lmc 1\n"
							      "lmc 2\n");

	assert_int_equal(x.report.errors, 0);
	assert_int_equal(finding(&x.report, "octal: 15")->line, 1);
	assert_int_equal(finding(&x.report, "even inside quotes")->column, 15);
	assert_value(x.conf, "log_prefix", "\"a");
	assert_int_equal(finding(&x.report, "part_enforce: (null) stands for")->line, 3);
	assert_value(x.conf, "part_enforce", "both");
	assert_value(x.conf, "dump_files_dir", "/var/log/");
	assert_int_equal(finding(&x.report, "deprecated name of port_search")->line, 5);
	assert_int_equal(finding(&x.report, "'=' is taken")->column, 10);
	assert_value(x.conf, "log_file", "= /y");
	assert_string_equal(finding(&x.report, "NVIDIA")->text,
			    "ar_mode: an option of NVIDIA's subnet manager, not supported here; it "
			    "has no effect");
	assert_int_equal(finding(&x.report, "also set in line 8")->line, 9);
	assert_int_equal(x.conf->lmc, 2);
	assert_int_equal(x.conf->file_line[CONF_ID_lmc], 9);
}

static void a_long_line_stays_one_line(void **state)
{
	char text[5000];
	size_t n = strlen("log_prefix ");

	memcpy(text, "log_prefix ", n);
	memset(text + n, 'x', sizeof(text) - n);
	memcpy(text + sizeof(text) - 11, " lmc 3 end", 11);
	{
		_cleanup_(reading_clear) struct reading x = read_text(text);

		assert_int_equal(strlen(x.conf->log_prefix), sizeof(text) - 1 - n);
		assert_int_equal(x.conf->lmc, 0);
		assert_int_equal(finding(&x.report, "longer than 1022")->severity, CONF_NOTE);
	}
}

static void text_with_a_nul_byte_is_refused_whole(void **state)
{
	static const char text[] = "lmc 3\nsweep_interval\0 3\n";
	struct reading x = { .conf = conf_new() };
	_cleanup_free_ char *said = NULL;

	assert_int_equal(conf_read_text(x.conf, FILE_NAME, text, sizeof(text) - 1, &x.report),
			 -EINVAL);
	assert_int_equal(finding(&x.report, "NUL byte")->line, 2);
	/* No column 0: there is none. */
	said = conf_finding_text(finding(&x.report, "NUL byte"));
	assert_string_equal(said, FILE_NAME ":2: NUL byte: not a text file; nothing of it is used");
	assert_int_equal(x.conf->lmc, 0);
	reading_clear(&x);
}

static void line_ends_of_dos_are_told_once(void **state)
{
	_cleanup_(reading_clear) struct reading x = read_text("\r\nlmc 3\r\n\r\n# x\r\n");

	assert_int_equal(x.report.n, 1);
	assert_int_equal(finding(&x.report, "DOS")->severity, CONF_NOTE);
	assert_int_equal(x.conf->lmc, 3);
}

static void what_is_no_file_is_refused(void **state)
{
	char dir[SCRATCH_PATH];
	_cleanup_free_ char *fifo = NULL;
	struct reading x = { .conf = conf_new() };

	fifo = xasprintf("%s/fifo", scratch_folder(dir));
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(conf_read(x.conf, dir, &x.report), -EISDIR);
	finding(&x.report, "a folder; expected a file");
	assert_int_equal(conf_read(x.conf, fifo, &x.report), -EINVAL);
	finding(&x.report, "a FIFO");
	assert_int_equal(unlink(fifo), 0);
	assert_int_equal(x.report.n, 2);
	assert_int_equal(conf_read(x.conf, fifo, &x.report), -ENOENT);
	assert_int_equal(x.report.n, 2);
	assert_null(x.conf->file);
	assert_int_equal(rmdir(dir), 0);
	reading_clear(&x);
}

static void a_report_is_bounded(void **state)
{
	struct reading x = { .conf = conf_new() };
	_cleanup_free_ char *text = xcalloc(5000, 2), *printed = NULL;
	size_t len;
	FILE *out;

	for (unsigned i = 0; i < 5000; i++)
		memcpy(text + 2 * (size_t)i, "a\n", 2);
	conf_read_text(x.conf, FILE_NAME, text, 2 * 5000, &x.report);
	assert_int_equal(x.report.errors, 5000);
	assert_int_equal(x.report.n, CONF_REPORT_MAX);
	out = open_memstream(&printed, &len);
	conf_report_print(&x.report, out);
	fclose(out);
	assert_non_null(strstr(printed, "opensm.conf:1:1: error: \"a\": unknown key"));
	assert_non_null(strstr(printed, "4000 more findings"));
	reading_clear(&x);
}

/* --- Life ----------------------------------------------------------------------------------- */

static void a_copy_owns_its_strings(void **state)
{
	struct conf *c = conf_new(), *copy;
	struct conf_report r = { 0 };
	struct conf_place at = { 0 };

	conf_set(c, CONF_ID_log_prefix, "one", &at, &r);
	copy = conf_copy(c);
	conf_set(c, CONF_ID_log_prefix, "two", &at, &r);
	assert_ptr_equal(conf_ref(c), c);
	assert_null(conf_unref(c));
	assert_string_equal(c->log_prefix, "two");
	assert_null(conf_unref(c));
	assert_string_equal(copy->log_prefix, "one");
	assert_null(conf_unref(copy));
	assert_null(conf_unref(NULL));
	assert_null(conf_ref(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_read_back_as_they_are_written),
		cmocka_unit_test(every_option_can_be_changed),
		cmocka_unit_test(names_are_found_and_unique),
		cmocka_unit_test(nvidia_names_are_known),
		cmocka_unit_test(old_keys_and_foreign_engines_are_warnings),
		cmocka_unit_test(foreign_keys_are_judged_by_what_they_ask),
		cmocka_unit_test(each_key_that_is_not_supported_says_why),
		cmocka_unit_test(the_defaults_of_nvidia_are_no_fault),
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(a_fault_leaves_the_value_and_says_where),
		cmocka_unit_test(a_list_longer_than_128_entries_is_refused),
		cmocka_unit_test(flags_have_many_spellings),
		cmocka_unit_test(oddities_are_accepted_and_told),
		cmocka_unit_test(a_long_line_stays_one_line),
		cmocka_unit_test(text_with_a_nul_byte_is_refused_whole),
		cmocka_unit_test(line_ends_of_dos_are_told_once),
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(a_report_is_bounded),
		cmocka_unit_test(a_copy_owns_its_strings),
	};

	return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
