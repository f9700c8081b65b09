// SPDX-License-Identifier: BSD-2-Clause
/* opensm.conf: the table of options, reading, rules, writing, reload. */
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
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define FILE_NAME "opensm.conf"

/* A configuration and what was found in it. */
struct reading {
	struct conf *conf;
	struct conf_report report;
};

static void reading_clear(struct reading *x)
{
	conf_unref(x->conf);
	conf_report_clear(&x->report);
}

static struct reading read_text(const char *text)
{
	struct reading x = { .conf = conf_new() };

	assert_int_equal(conf_read_text(x.conf, FILE_NAME, text, strlen(text), &x.report), 0);
	return x;
}

/* The only finding that contains `part`; fails when there is none or another. */
static const struct conf_finding *finding(const struct conf_report *r, const char *part)
{
	const struct conf_finding *found = NULL;

	for (size_t i = 0; i < r->n; i++) {
		if (!strstr(r->findings[i].text, part))
			continue;
		if (found)
			fail_msg("\"%s\" found twice: %s", part, r->findings[i].text);
		found = &r->findings[i];
	}
	if (!found)
		fail_msg("no finding says \"%s\"", part);
	return found;
}

static void assert_value(const struct conf *c, const char *key, const char *expected)
{
	enum conf_id id = conf_option_find(key);
	_cleanup_free_ char *text = NULL;

	assert_int_not_equal(id, CONF_N_OPTIONS);
	text = conf_value_text(c, id);
	assert_string_equal(text, expected);
}

/* A value that differs from the default, for every type. */
static const char *other_value(const struct conf_option *o)
{
	switch (o->type) {
	case CONF_BOOL:
		return strcmp(o->default_text, "TRUE") == 0 ? "FALSE" : "TRUE";
	case CONF_U8:
	case CONF_U16:
	case CONF_U32:
	case CONF_I32:
	case CONF_U64:
		return "2";
	case CONF_STRING:
		if (strcmp(o->name, "console") == 0)
			return "local";
		return strcmp(o->name, "part_enforce") == 0 ? "in" : "/some/file";
	case CONF_MASK256:
		return "0x123456789abcdef";
	case CONF_CCT_ENTRY:
		return "3:16383";
	case CONF_CCT_LIST:
		return "0:1,1:2,3:16383";
	case CONF_SL_U16:
	case CONF_SL_U8:
		return "15 200";
	}
	return NULL;
}

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
		"hm_ca_reboot_action",
		"m_key_protect_bits",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(some); i++)
		assert_true(foreign_is_nvidia(some[i]));
	assert_false(foreign_is_nvidia("sweep_interval"));
	assert_false(foreign_is_nvidia(""));
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
	{ "cc_ca_cong_setting_ccti_timer 3 70\ncc_ca_cong_setting_ccti_timer 0 1",
	  "cc_ca_cong_setting_ccti_timer", "0 1, 3 70" },
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
	{ "max_rate_enum 1", 1, 15, "2-24,63", "max_rate_enum", "63" },
	{ "transaction_timeout 0", 1, 21, "out of range", "transaction_timeout", "200" },
	{ "perfmgr_sweep_time_s 0", 1, 22, "out of range", "perfmgr_sweep_time_s", "180" },
	{ "qos_high_limit -2", 1, 16, "out of range", "qos_high_limit", "-1" },
	{ "qos_high_limit x", 1, 16, "\"x\"", "qos_high_limit", "-1" },
	{ "m_key deadbeef", 1, 7, "\"deadbeef\"", "m_key", "0x0000000000000000" },
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
	{ "SWEEP-INTERVAL 3", 1, 1, "did you mean sweep_interval?", "sweep_interval", "10" },
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
			    "ar_mode: an option of NVIDIA's subnet manager, not supported here");
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

	assert_int_equal(conf_read_text(x.conf, FILE_NAME, text, sizeof(text) - 1, &x.report),
			 -EINVAL);
	assert_int_equal(finding(&x.report, "NUL byte")->line, 2);
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
	char dir[] = "/tmp/test-conf-XXXXXX";
	_cleanup_free_ char *fifo = NULL;
	struct reading x = { .conf = conf_new() };

	assert_non_null(mkdtemp(dir));
	fifo = xasprintf("%s/fifo", dir);
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

/* --- Rules ---------------------------------------------------------------------------------- */

static const struct {
	const char *text, *words, *key, *value;
} rules[] = {
	{ "max_wire_smps 0", "no limit", "max_wire_smps", "2147483647" },
	{ "transaction_timeout 600", "less than transaction_timeout", "long_transaction_timeout",
	  "600" },
	{ "no_partition_enforcement TRUE", "part_enforce to off", "part_enforce", "off" },
	{ "m_key_protection_level 4", "expected 0-3; uses 2", "m_key_protection_level", "2" },
	{ "m_key_protection_level 1\nm_key_lease_period 60\nsweep_interval 0", "uses 59",
	  "sweep_interval", "59" },
	{ "m_key_protection_level 1\nm_key_lease_period 10", "uses 11", "m_key_lease_period",
	  "11" },
	{ "m_key_protection_level 1\nm_key_lease_period 1\nsweep_interval 0", "uses 2",
	  "m_key_lease_period", "2" },
	{ "m_key_protection_level 1\nm_key_lease_period 65535\nsweep_interval 70000", "uses 65534",
	  "sweep_interval", "65534" },
	{ "use_original_extended_sa_rates_only TRUE", "max_rate_enum to 18", "max_rate_enum",
	  "18" },
};

static void rules_change_values_with_a_finding(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(rules); i++) {
		_cleanup_(reading_clear) struct reading x = read_text(rules[i].text);
		size_t n;

		assert_int_equal(x.report.n, 0);
		conf_verify(x.conf, &x.report);
		finding(&x.report, rules[i].words);
		assert_value(x.conf, rules[i].key, rules[i].value);
		n = x.report.n;
		conf_verify(x.conf, &x.report);
		assert_int_equal(x.report.n, n);
	}
}

static void defaults_break_no_rule(void **state)
{
	_cleanup_(reading_clear) struct reading x = read_text("m_key_lease_period 5\n");

	conf_verify(x.conf, &x.report);
	conf_advise(x.conf, NULL, &x.report);
	assert_int_equal(x.report.n, 0);
}

static void options_without_effect_say_so_once(void **state)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		const struct conf_option *o = conf_option(id);
		_cleanup_free_ char *line = xasprintf("\n%s %s\n", o->name, other_value(o));
		_cleanup_(reading_clear) struct reading x = read_text(line);
		_cleanup_free_ char *value = conf_value_text(x.conf, id);
		_cleanup_free_ char *words =
			xasprintf("%s is not supported yet: %s has no effect", o->name, value);
		bool later = o->state == CONF_STATE_LATER || o->state == CONF_STATE_DEPRECATED;

		if (id == CONF_ID_routing_engine)
			continue;
		conf_advise(x.conf, NULL, &x.report);
		assert_int_equal(x.report.n, later || o->state == CONF_STATE_ALWAYS);
		assert_int_equal(x.report.errors, 0);
		if (!later)
			continue;
		assert_int_equal(finding(&x.report, words)->line, 2);
		assert_int_equal(x.report.warnings, 1);
	}
}

static void engines_other_than_minhop_are_told(void **state)
{
	_cleanup_(reading_clear) struct reading x =
		read_text("routing_engine updn,minhop  fttree,\tnone,no_fallback\n");

	conf_advise(x.conf, NULL, &x.report);
	finding(&x.report, "routing_engine: updn is not supported yet, minhop routes instead");
	finding(&x.report, "\"fttree\" is no routing engine (did you mean ftree?)");
	finding(&x.report, "\"none\" is no routing engine");
	assert_int_equal(x.report.n, 3);
	assert_true(conf_engine_known("torus-2QoS"));
	assert_false(conf_engine_known("no_fallback"));
	{
		_cleanup_(reading_clear) struct reading y = read_text("routing_engine no_fallback");

		conf_advise(y.conf, NULL, &y.report);
		assert_int_equal(finding(&y.report, "no_fallback")->severity, CONF_WARNING);
	}
}

static const struct {
	const char *text;
	const char *words; /* NULL: nothing wrong */
} qos_lists[] = {
	{ "qos_vlarb_high 0:4,1:255, 14:0", NULL },
	{ "qos_vlarb_high 15:4", "\"15:4\" is item 1" },
	{ "qos_ca_vlarb_low 0:1,0:256", "\"0:256\" is item 2" },
	{ "qos_sw0_vlarb_low 0:1,foo", "\"foo\" is item 2" },
	{ "qos_swe_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", NULL },
	{ "qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14", "15 items; expected 16" },
	{ "qos_rtr_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,16", "\"16\" is item 16" },
};

static void qos_lists_are_checked_when_qos_is_on(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(qos_lists); i++) {
		_cleanup_free_ char *on = xasprintf("qos TRUE\n%s\n", qos_lists[i].text);
		_cleanup_(reading_clear) struct reading x = read_text(on),
							y = read_text(qos_lists[i].text);

		conf_advise(x.conf, NULL, &x.report);
		conf_advise(y.conf, NULL, &y.report);
		assert_int_equal(x.report.errors, qos_lists[i].words ? 1 : 0);
		assert_int_equal(y.report.errors, 0);
		if (qos_lists[i].words)
			assert_int_equal(finding(&x.report, qos_lists[i].words)->line, 2);
	}
}

static void logdir_moves_what_is_at_its_default(void **state)
{
	_cleanup_(reading_clear) struct reading x = read_text("logdir /srv/sm\n");
	_cleanup_(reading_clear) struct reading y = read_text("logdir /srv/sm/\nlog_file /l\n");

	conf_settle(x.conf);
	assert_string_equal(x.conf->log_file, "/srv/sm/opensm.log");
	assert_string_equal(x.conf->dump_files_dir, "/srv/sm/");
	conf_settle(y.conf);
	assert_string_equal(y.conf->log_file, "/l");
	assert_string_equal(y.conf->dump_files_dir, "/srv/sm/");
}

/* --- Writing -------------------------------------------------------------------------------- */

static char *written(const struct conf *c, struct conf_report *r)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(conf_write(c, out, r), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void assert_same_values(const struct conf *a, const struct conf *b)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
		if (!conf_value_equal(a, b, id))
			fail_msg("%s differs", conf_option(id)->name);
}

static void what_is_written_reads_back(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	struct conf_report r = { 0 };
	struct conf_place at = { 0 };

	for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
		conf_set(c, id, other_value(conf_option(id)), &at, &r);
	conf_set(c, CONF_ID_cc_ca_cong_setting_ccti_min, "2 9", &at, &r);
	conf_set(c, CONF_ID_scatter_ports, "4000000000", &at, &r);
	{
		_cleanup_free_ char *text = written(c, &r);
		_cleanup_(reading_clear) struct reading x = read_text(text);

		assert_int_equal(r.n, 0);
		assert_int_equal(x.report.n, 0);
		assert_same_values(c, x.conf);
	}
}

static void strings_of_any_shape_read_back(void **state)
{
	static const char *const shapes[] = {
		"",    " ",   " a", "a ",   "\ta\t", "\"",     "'",	   "\"a\"", "'a'",
		"\"a", "a\"", "''", "\"\"", "(null", "a'b\"c", "\xC3\xA4", "= x",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
		_cleanup_(conf_unrefp) struct conf *c = conf_new();
		struct conf_report r = { 0 };
		struct conf_place at = { 0 };

		assert_int_equal(conf_set(c, CONF_ID_log_prefix, shapes[i], &at, &r), 0);
		{
			_cleanup_free_ char *text = written(c, &r);
			_cleanup_(reading_clear) struct reading x = read_text(text);

			assert_int_equal(r.n, 0);
			assert_int_equal(x.report.errors, 0);
			assert_string_equal(x.conf->log_prefix, shapes[i]);
		}
	}
}

static void what_cannot_be_written_is_told(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	struct conf_report r = { 0 };
	struct conf_place at = { 0 };

	assert_int_equal(conf_set(c, CONF_ID_log_prefix, "a#b", &at, &r), 0);
	assert_int_equal(conf_set(c, CONF_ID_log_file, "a\nlmc 3", &at, &r), -EINVAL);
	finding(&r, "control characters");
	{
		_cleanup_free_ char *text = written(c, &r);
		_cleanup_(reading_clear) struct reading x = read_text(text);

		finding(&r, "log_prefix: \"a#b\" has a '#'");
		assert_int_equal(x.report.n, 0);
		assert_null(x.conf->log_prefix);
	}
	conf_report_clear(&r);
}

/* Puts `folder` for every "@CONF_DIR@". */
static char *expand(const char *text, const char *folder)
{
	static const char mark[] = "@CONF_DIR@";
	char *ret = NULL;
	size_t len;
	FILE *out = open_memstream(&ret, &len);

	for (const char *at; (at = strstr(text, mark)); text = at + strlen(mark)) {
		fwrite(text, 1, (size_t)(at - text), out);
		fputs(folder, out);
	}
	fputs(text, out);
	fclose(out);
	return ret;
}

static void defaults_are_the_golden_file(void **state)
{
	const char *top = getenv("abs_top_srcdir");
	_cleanup_free_ char *path = xasprintf("%s/tests/golden/opensm.conf", top ? top : ".");
	_cleanup_free_ char *golden = NULL, *expected = NULL, *text = NULL;
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	struct conf_report r = { 0 };

	assert_int_equal(file_read(path, 1 << 20, &golden, NULL), 0);
	expected = expand(golden, OPENSM_CONF_DIR);
	text = written(c, &r);
	assert_string_equal(text, expected);
}

/* --- Reload --------------------------------------------------------------------------------- */

static void a_value_of_the_command_line_survives_until_its_line_changes(void **state)
{
	_cleanup_(reading_clear) struct reading a = read_text("sweep_interval 20\nlog_flags 3\n");
	_cleanup_(reading_clear) struct reading b = read_text("\nsweep_interval 20\nlog_flags 7\n");
	_cleanup_(reading_clear) struct reading c = read_text("sweep_interval 30\nlog_flags 7\n");
	_cleanup_(conf_unrefp) struct conf *live = conf_copy(a.conf), *next = NULL, *last = NULL;
	struct conf_changes changes;
	struct conf_report r = { 0 };
	struct conf_place at = { 0 };

	conf_set(live, CONF_ID_sweep_interval, "99", &at, &r);
	next = conf_reload(live, a.conf, b.conf, &changes, &r);
	assert_int_equal(next->sweep_interval, 99);
	assert_int_equal(next->log_flags, 7);
	assert_int_equal(changes.n, 1);
	assert_int_equal(changes.ids[0], CONF_ID_log_flags);
	assert_int_equal(conf_changes_cost(&changes), CONF_COST_LOG);
	last = conf_reload(next, b.conf, c.conf, &changes, &r);
	assert_int_equal(last->sweep_interval, 30);
	assert_int_equal(conf_changes_cost(&changes), CONF_COST_NOTHING);
	assert_int_equal(r.n, 0);
}

static void what_cannot_change_at_run_time_waits(void **state)
{
	_cleanup_(reading_clear) struct reading a = read_text("lmc 0\nscatter_ports 3\n");
	_cleanup_(reading_clear) struct reading b = read_text("lmc 2\n");
	_cleanup_(conf_unrefp) struct conf *next = NULL;
	struct conf_changes changes;
	struct conf_report r = { 0 };

	next = conf_reload(a.conf, a.conf, b.conf, &changes, &r);
	assert_int_equal(next->lmc, 0);
	assert_int_equal(next->scatter_ports, 3);
	assert_int_equal(changes.n, 0);
	assert_int_equal(conf_changes_cost(&changes), CONF_COST_NOTHING);
	assert_int_equal(finding(&r, "lmc: now 2; 0 stays until a restart")->line, 1);
	finding(&r, "scatter_ports: its line is gone; 3 stays until a restart");
	assert_int_equal(r.n, 2);
	conf_report_clear(&r);
}

static void a_fault_at_run_time_keeps_what_was(void **state)
{
	static const char text[] = "sweep_interval 5x\nlmc\nscatter_ports 4\n";
	_cleanup_(reading_clear) struct reading a =
		read_text("sweep_interval 20\nscatter_ports 3\n");
	_cleanup_(conf_unrefp) struct conf *now = conf_copy(a.conf), *next = NULL;
	struct conf_changes changes;
	struct conf_report r = { 0 };

	assert_int_equal(conf_read_text(now, FILE_NAME, text, strlen(text), &r), 0);
	next = conf_reload(a.conf, a.conf, now, &changes, &r);
	assert_int_equal(next->sweep_interval, 20);
	assert_int_equal(next->scatter_ports, 4);
	assert_int_equal(changes.n, 1);
	finding(&r, "sweep_interval: \"5x\"; expected a number of 0-4294967295; keeps 20");
	finding(&r, "lmc: no value");
	assert_int_equal(r.n, 2);
	conf_report_clear(&r);
}

static void the_dearest_change_counts(void **state)
{
	_cleanup_(reading_clear) struct reading a = read_text("");
	_cleanup_(reading_clear) struct reading b =
		read_text("vl_stall_count 3\nlog_flags 7\nscatter_ports 3\n");
	_cleanup_(reading_clear) struct reading c = read_text("vl_stall_count 3\nlog_flags 7\n");
	struct conf_changes changes;

	assert_int_equal(conf_diff(a.conf, b.conf, &changes), 3);
	assert_int_equal(conf_changes_cost(&changes), CONF_COST_ROUTE);
	assert_int_equal(conf_diff(a.conf, c.conf, &changes), 2);
	assert_int_equal(conf_changes_cost(&changes), CONF_COST_SWEEP);
	assert_int_equal(conf_diff(a.conf, a.conf, &changes), 0);
	assert_string_equal(conf_cost_name(CONF_COST_SWEEP), "SWEEP");
}

static void a_reload_tells_only_what_is_new(void **state)
{
	_cleanup_(reading_clear) struct reading a = read_text("qos TRUE\n");
	_cleanup_(reading_clear) struct reading b = read_text("qos TRUE\nuse_mfttop FALSE\n");
	_cleanup_(conf_unrefp) struct conf *next = NULL;
	struct conf_changes changes;
	struct conf_report r = { 0 };

	next = conf_reload(a.conf, a.conf, b.conf, &changes, &r);
	assert_int_equal(finding(&r, "use_mfttop is not supported yet")->line, 2);
	assert_int_equal(r.n, 1);
	conf_report_clear(&r);
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
		cmocka_unit_test(rules_change_values_with_a_finding),
		cmocka_unit_test(defaults_break_no_rule),
		cmocka_unit_test(options_without_effect_say_so_once),
		cmocka_unit_test(engines_other_than_minhop_are_told),
		cmocka_unit_test(qos_lists_are_checked_when_qos_is_on),
		cmocka_unit_test(logdir_moves_what_is_at_its_default),
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(strings_of_any_shape_read_back),
		cmocka_unit_test(what_cannot_be_written_is_told),
		cmocka_unit_test(defaults_are_the_golden_file),
		cmocka_unit_test(a_value_of_the_command_line_survives_until_its_line_changes),
		cmocka_unit_test(what_cannot_change_at_run_time_waits),
		cmocka_unit_test(a_fault_at_run_time_keeps_what_was),
		cmocka_unit_test(the_dearest_change_counts),
		cmocka_unit_test(a_reload_tells_only_what_is_new),
		cmocka_unit_test(a_copy_owns_its_strings),
	};

	return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
