// SPDX-License-Identifier: BSD-2-Clause
/* opensm.conf: rules between values, remarks, writing it, reading it again at run time. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "conf/metrics_groups.h"
#include "tests/unit/conf-reading.h"
#include "util/file.h"
#include "util/mem.h"

/* --- Rules ---------------------------------------------------------------------------------- */

static const struct {
	const char *text, *words, *key, *value;
} rules[] = {
	{ "max_wire_smps 0", "no limit", "max_wire_smps", "2147483647" },
	{ "transaction_timeout 600", "less than transaction_timeout", "long_transaction_timeout",
	  "600" },
	{ "no_partition_enforcement TRUE", "part_enforce to off", "part_enforce", "off" },
	{ "m_key_protection_level 4", "expected 0-3; uses 2", "m_key_protection_level", "2" },
	{ "m_key_protection_level 1\nm_key_lease_period 60\nsweep_interval 0", "uses 29",
	  "sweep_interval", "29" },
	{ "m_key_protection_level 1\nm_key_lease_period 60\nsweep_interval 59", "uses 119",
	  "m_key_lease_period", "119" },
	{ "m_key_protection_level 1\nm_key_lease_period 10", "uses 21", "m_key_lease_period",
	  "21" },
	{ "m_key_protection_level 1\nm_key_lease_period 1\nsweep_interval 0", "uses 3",
	  "m_key_lease_period", "3" },
	{ "m_key_protection_level 1\nm_key_lease_period 65535\nsweep_interval 70000", "uses 32767",
	  "sweep_interval", "32767" },
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
	_cleanup_(reading_clear) struct reading x = read_text("sweep_interval 5\n");

	conf_verify(x.conf, &x.report);
	conf_advise(x.conf, NULL, &x.report);
	assert_int_equal(x.report.n, 0);
}

/* Options that have no effect without another one, and what gives them theirs. */
static const struct {
	const char *line, *with; /* `with`: lines that end the remark */
	enum conf_severity severity;
} needs[] = {
	{ "periodic_key_update 60", "m_key_per_port TRUE", CONF_WARNING },
	{ "m_key_seed_file /some/file", "m_key_per_port TRUE", CONF_WARNING },
	{ "m_key_lease_period 60", "m_key_protection_level 1", CONF_WARNING },
	{ "security_violation_threshold 5", "security_violation_policy isolate", CONF_WARNING },
	{ "security_violation_window 5", "security_violation_policy isolate", CONF_WARNING },
	{ "guid_location_hold_time 5", "guid_location_policy hold", CONF_WARNING },
	{ "sa_etm_allow_untrusted_guidinfo_rec FALSE", "sa_enhanced_trust_model TRUE",
	  CONF_WARNING },
	{ "sa_etm_allow_guidinfo_rec_by_vf FALSE", "sa_enhanced_trust_model TRUE", CONF_WARNING },
	{ "sa_etm_allow_untrusted_proxy_requests FALSE", "sa_enhanced_trust_model TRUE",
	  CONF_WARNING },
	{ "sa_etm_max_num_mcgs 128", "sa_enhanced_trust_model TRUE", CONF_WARNING },
	{ "sa_etm_max_num_srvcs 32", "sa_enhanced_trust_model TRUE", CONF_WARNING },
	{ "sa_etm_max_num_event_subs 32", "security_profile tenant", CONF_WARNING },
	{ "topo_config_file /some/file", "topo_config_enabled TRUE", CONF_NOTE },
	{ "topo_config_enabled TRUE", "topo_config_file /some/file", CONF_WARNING },
	{ "expected_topology_links enforce", "expected_topology_file /some/file", CONF_NOTE },
	{ "expected_topology_node_guid enforce", "expected_topology_file /some/file", CONF_NOTE },
	{ "expected_topology_port_guid enforce", "expected_topology_file /some/file", CONF_NOTE },
	{ "expected_topology_description warn", "expected_topology_file /some/file", CONF_NOTE },
	{ "expected_topology_rate enforce", "topo_config_enabled TRUE\ntopo_config_file /some/file",
	  CONF_NOTE },
	{ "expected_topology_cap 50", "expected_topology_file /some/file", CONF_NOTE },
	{ "expected_topology_grace 5", "expected_topology_file /some/file", CONF_NOTE },
	{ "expected_topology_log_limit 5", "expected_topology_file /some/file", CONF_NOTE },
	{ "qos_high_limit 5", "qos TRUE", CONF_NOTE },
	{ "qos_vlarb_high 0:1", "qos TRUE", CONF_NOTE },
	{ "qos_vlarb_low 0:1", "qos TRUE", CONF_NOTE },
	{ "qos_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "qos TRUE", CONF_NOTE },
	{ "qos_ca_high_limit 5", "qos TRUE", CONF_NOTE },
	{ "qos_ca_vlarb_high 0:1", "qos TRUE", CONF_NOTE },
	{ "qos_ca_vlarb_low 0:1", "qos TRUE", CONF_NOTE },
	{ "qos_ca_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "qos TRUE", CONF_NOTE },
	{ "qos_sw0_high_limit 5", "qos TRUE", CONF_NOTE },
	{ "qos_sw0_vlarb_high 0:1", "qos TRUE", CONF_NOTE },
	{ "qos_sw0_vlarb_low 0:1", "qos TRUE", CONF_NOTE },
	{ "qos_sw0_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "qos TRUE", CONF_NOTE },
	{ "qos_swe_high_limit 5", "qos TRUE", CONF_NOTE },
	{ "qos_swe_vlarb_high 0:1", "qos TRUE", CONF_NOTE },
	{ "qos_swe_vlarb_low 0:1", "qos TRUE", CONF_NOTE },
	{ "qos_swe_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "qos TRUE", CONF_NOTE },
	{ "qos_rtr_high_limit 5", "qos TRUE", CONF_NOTE },
	{ "qos_rtr_vlarb_high 0:1", "qos TRUE", CONF_NOTE },
	{ "qos_rtr_vlarb_low 0:1", "qos TRUE", CONF_NOTE },
	{ "qos_rtr_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "qos TRUE", CONF_NOTE },
	{ "perfmgr_redir FALSE", "perfmgr TRUE", CONF_NOTE },
	{ "perfmgr_sweep_time_s 5", "perfmgr TRUE", CONF_NOTE },
	{ "perfmgr_max_outstanding_queries 5", "console loopback", CONF_NOTE },
	{ "perfmgr_ignore_cas TRUE", "console local", CONF_NOTE },
	{ "perfmgr_rm_nodes FALSE", "perfmgr TRUE", CONF_NOTE },
	{ "perfmgr_log_errors FALSE", "perfmgr TRUE", CONF_NOTE },
	{ "perfmgr_query_cpi FALSE", "perfmgr TRUE", CONF_NOTE },
	{ "perfmgr_xmit_wait_log TRUE", "perfmgr TRUE", CONF_NOTE },
	{ "event_db_dump_file /some/file", "perfmgr TRUE", CONF_NOTE },
	{ "perfmgr_xmit_wait_threshold 5", "perfmgr TRUE\nperfmgr_xmit_wait_log TRUE", CONF_NOTE },
	{ "qos_policy_file /x", "qos TRUE", CONF_NOTE },
	{ "console_port 5", "console loopback", CONF_NOTE },
	{ "event_plugin_options x", "event_plugin_name y", CONF_NOTE },
	{ "metrics_interval 5", "metrics_file /x.prom", CONF_NOTE },
	{ "metrics_groups cables", "metrics_listen 127.0.0.1:1", CONF_NOTE },
	{ "cc_key 5", "congestion_control TRUE", CONF_NOTE },
	{ "cc_key_enable 1", "congestion_control TRUE", CONF_WARNING },
	{ "cc_key_lease_period 5", "congestion_control TRUE\ncc_key_enable 2\ncc_key 9",
	  CONF_WARNING },
	{ "cc_key_protect_bit 0", "congestion_control TRUE\ncc_key_enable 2\ncc_key 9",
	  CONF_WARNING },
	{ "cc_no_throttle_sls 5", "congestion_control TRUE", CONF_NOTE },
	{ "cc_profile incast", "congestion_control TRUE", CONF_NOTE },
	{ "cc_sw_port_cong_setting all=off", "congestion_control TRUE", CONF_NOTE },
	{ "cc_log_interval 5", "congestion_control TRUE", CONF_NOTE },
	{ "cc_max_outstanding_mads 5", "congestion_control TRUE", CONF_NOTE },
	{ "cc_cct 0:1", "congestion_control TRUE", CONF_NOTE },
	{ "cc_sw_cong_setting_control_map 5", "congestion_control TRUE", CONF_NOTE },
	{ "cc_ca_cong_setting_port_control 1", "congestion_control TRUE", CONF_NOTE },
	{ "cc_ca_cong_setting_control_map 1", "congestion_control TRUE", CONF_NOTE },
	{ "cc_sw_cong_setting_victim_mask 5",
	  "congestion_control TRUE\ncc_sw_cong_setting_control_map 1", CONF_NOTE },
	{ "cc_sw_cong_setting_credit_mask 5",
	  "congestion_control TRUE\ncc_sw_cong_setting_control_map 2", CONF_NOTE },
	{ "cc_sw_cong_setting_threshold 5",
	  "congestion_control TRUE\ncc_sw_cong_setting_control_map 4", CONF_NOTE },
	{ "cc_sw_cong_setting_packet_size 5",
	  "congestion_control TRUE\ncc_sw_cong_setting_control_map 4", CONF_NOTE },
	{ "cc_sw_cong_setting_credit_starvation_threshold 5",
	  "congestion_control TRUE\ncc_sw_cong_setting_control_map 8", CONF_NOTE },
	{ "cc_sw_cong_setting_credit_starvation_return_delay 1:5",
	  "congestion_control TRUE\ncc_sw_cong_setting_control_map 8", CONF_NOTE },
	{ "cc_sw_cong_setting_marking_rate 5",
	  "congestion_control TRUE\ncc_sw_cong_setting_control_map 16", CONF_NOTE },
	{ "cc_ca_cong_setting_ccti_timer 1 5",
	  "congestion_control TRUE\ncc_ca_cong_setting_control_map 2", CONF_NOTE },
	{ "cc_ca_cong_setting_ccti_increase 1 5",
	  "congestion_control TRUE\ncc_ca_cong_setting_control_map 2", CONF_NOTE },
	{ "cc_ca_cong_setting_trigger_threshold 1 5",
	  "congestion_control TRUE\ncc_ca_cong_setting_control_map 2", CONF_NOTE },
	{ "cc_ca_cong_setting_ccti_min 1 5",
	  "congestion_control TRUE\ncc_ca_cong_setting_control_map 2", CONF_NOTE },
	{ "lfts_file /some/file", "routing_engine file", CONF_NOTE },
	{ "lid_matrix_dump_file /some/file", "routing_engine minhop,file", CONF_NOTE },
	{ "guid_routing_order_no_scatter TRUE", "scatter_ports 1\nguid_routing_order_file /x",
	  CONF_NOTE },
};

static bool needs_another(const struct conf_option *o)
{
	for (unsigned i = 0; i < ARRAY_SIZE(needs); i++) {
		size_t len = strlen(o->name);

		if (!strncmp(needs[i].line, o->name, len) && needs[i].line[len] == ' ')
			return true;
	}
	return false;
}

static void options_without_effect_say_so_once(void **state)
{
	unsigned n_idle = 0;

	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		const struct conf_option *o = conf_option(id);
		_cleanup_free_ char *line = xasprintf("\n%s %s\n", o->name, other_value(o));
		_cleanup_(reading_clear) struct reading x = read_text(line);
		_cleanup_free_ char *value = conf_value_shown(x.conf, id);
		_cleanup_free_ char *words = xasprintf(
			"%s is %s: %s has no effect", o->name,
			o->state == CONF_STATE_NONE ? "accepted only" : "not supported yet", value);
		bool none = o->state == CONF_STATE_LATER || o->state == CONF_STATE_NONE;

		if (id == CONF_ID_routing_engine)
			continue;
		conf_advise(x.conf, NULL, &x.report);
		n_idle += needs_another(o);
		assert_int_equal(x.report.n,
				 none || needs_another(o) || o->state == CONF_STATE_ALWAYS);
		assert_int_equal(x.report.errors, 0);
		if (!none)
			continue;
		assert_int_equal(finding(&x.report, words)->line, 2);
		assert_int_equal(x.report.warnings + x.report.errors, 1);
		x.conf->strict = true;
		conf_report_clear(&x.report);
		conf_advise(x.conf, NULL, &x.report);
		assert_int_equal(x.report.errors, 1);
	}
	assert_int_equal(n_idle, ARRAY_SIZE(needs));
}

static void options_that_need_another_one_say_so(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(needs); i++) {
		_cleanup_free_ char *with = xasprintf("%s\n%s\n", needs[i].with, needs[i].line);
		_cleanup_(reading_clear) struct reading x = read_text(needs[i].line),
							y = read_text(with);
		struct conf_report strict = { 0 }, again = { 0 };

		conf_verify(x.conf, &x.report);
		conf_advise(x.conf, NULL, &x.report);
		assert_int_equal(finding(&x.report, "has no effect while")->severity,
				 needs[i].severity);
		assert_int_equal(x.report.findings[0].line, 1);
		assert_int_equal(x.report.n, 1);
		conf_advise(x.conf, x.conf, &again); /* said already */
		assert_int_equal(again.n, 0);
		conf_verify(y.conf, &y.report);
		y.conf->strict = true;
		conf_advise(y.conf, NULL, &y.report);
		assert_int_equal(y.report.n, 0);
		conf_advise(x.conf, y.conf, &again); /* the other one was switched off */
		assert_int_equal(again.n, 1);
		x.conf->strict = true;
		conf_advise(x.conf, NULL, &strict);
		assert_int_equal(strict.errors, 1);
		conf_report_clear(&strict);
		conf_report_clear(&again);
	}
}

/* What a profile gives, or the default of an option in a complete file, was not asked for. */
static void only_what_was_set_here_needs_another_one(void **state)
{
	static const char *const texts[] = {
		("security_profile tenant\nm_key_protection_level 0\n"
		 "sa_enhanced_trust_model FALSE\nguid_location_policy off\n"),
		"perfmgr_sweep_time_s 180\nconsole_port 10000\nguid_location_hold_time 30\n",
		"qos_policy_file /etc/opensm/qos-policy.conf\n", /* of Debian's OpenSM, complete */
	};

	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_(reading_clear) struct reading x = read_text(texts[i]);

		x.conf->strict = true;
		conf_verify(x.conf, &x.report);
		conf_advise(x.conf, NULL, &x.report);
		assert_int_equal(x.report.n, 0);
	}
}

static void engines_that_are_none_are_told(void **state)
{
	_cleanup_(reading_clear) struct reading x =
		read_text("routing_engine updn,minhop  fttree,\tnone,no_fallback\n");

	conf_advise(x.conf, NULL, &x.report);
	finding(&x.report, "\"fttree\" is no routing engine (did you mean ftree?)");
	finding(&x.report, "\"none\" is no routing engine");
	assert_int_equal(x.report.n, 2);
	assert_true(conf_engine_known("torus-2QoS"));
	assert_false(conf_engine_known("no_fallback"));
	{
		_cleanup_(reading_clear) struct reading y = read_text("routing_engine no_fallback");

		conf_advise(y.conf, NULL, &y.report);
		assert_int_equal(finding(&y.report, "no_fallback")->severity, CONF_WARNING);
	}
}

static void groups_of_metrics_that_are_none_are_told(void **state)
{
	_cleanup_(reading_clear) struct reading x =
		read_text("metrics_listen 127.0.0.1:1\nmetrics_groups sweeps,  "
			  "port_eror,\tnone,port_traffic\n");

	conf_advise(x.conf, NULL, &x.report);
	finding(&x.report, "\"port_eror\" is no group of metrics (did you mean port_errors?)");
	finding(&x.report, "\"none\" is no group of metrics");
	finding(&x.report, "are empty while perfmgr is FALSE");
	assert_int_equal(x.report.n, 3);
	assert_int_equal(conf_metrics_groups(x.conf->metrics_groups),
			 METRICS_BIT(METRICS_SWEEPS) | METRICS_BIT(METRICS_PORT_TRAFFIC));
	assert_int_equal(conf_metrics_groups("nonsense"), conf_metrics_groups("default"));
	assert_int_equal(conf_metrics_groups(NULL), conf_metrics_groups("default"));
	assert_int_equal(conf_metrics_groups("all"), METRICS_BIT(METRICS_GROUPS) - 1);
	assert_int_equal(conf_metrics_groups("default,cables,port_errors,port_traffic"),
			 conf_metrics_groups("all"));
}

static void the_engine_file_wants_files(void **state)
{
	_cleanup_(reading_clear) struct reading x = read_text("routing_engine ftree,file\n");
	_cleanup_(reading_clear) struct reading y =
		read_text("routing_engine ftree,file\nlfts_file /some/file\n");

	conf_advise(x.conf, NULL, &x.report);
	assert_int_equal(finding(&x.report, "the tables are those of minhop")->severity,
			 CONF_WARNING);
	conf_advise(y.conf, NULL, &y.report);
	assert_int_equal(y.report.n, 0);
}

static void a_drawn_sm_key_is_the_only_one(void **state)
{
	_cleanup_(reading_clear) struct reading x =
		read_text("sm_key 0x5ec4e70000000002\nrandomize_sm_key TRUE\n");
	_cleanup_(reading_clear) struct reading y = read_text(
		"randomize_sm_key TRUE\nallowed_sm_guids 0x0002c903000010f1, 0x0002c903000010f5\n");
	_cleanup_(reading_clear) struct reading z =
		read_text("randomize_sm_key TRUE\nallowed_sm_guids 0x0002c903000010f1\n");

	conf_verify(x.conf, &x.report);
	assert_int_equal(finding(&x.report, "and sm_key is set")->severity, CONF_ERROR);
	assert_false(x.conf->randomize_sm_key);
	conf_verify(y.conf, &y.report);
	assert_int_equal(finding(&y.report, "names other managers")->severity, CONF_WARNING);
	assert_true(y.conf->randomize_sm_key);
	conf_verify(z.conf, &z.report);
	assert_int_equal(z.report.n, 0);
	assert_true(conf_has_secrets(z.conf));
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

static enum conf_cost cost_of(const struct conf_changes *changes)
{
	enum conf_cost cost = CONF_COST_NOTHING;

	for (size_t i = 0; i < changes->n; i++)
		cost = MAX(cost, conf_option(changes->ids[i])->cost);
	return cost;
}

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
	assert_int_equal(cost_of(&changes), CONF_COST_LOG);
	last = conf_reload(next, b.conf, c.conf, &changes, &r);
	assert_int_equal(last->sweep_interval, 30);
	assert_int_equal(cost_of(&changes), CONF_COST_NOTHING);
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
	assert_int_equal(cost_of(&changes), CONF_COST_NOTHING);
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
	assert_int_equal(cost_of(&changes), CONF_COST_ROUTE);
	assert_int_equal(conf_diff(a.conf, c.conf, &changes), 2);
	assert_int_equal(cost_of(&changes), CONF_COST_SWEEP);
	assert_int_equal(conf_diff(a.conf, a.conf, &changes), 0);
	assert_string_equal(conf_cost_name(CONF_COST_SWEEP), "SWEEP");
}

static void a_reload_tells_only_what_is_new(void **state)
{
	_cleanup_(reading_clear) struct reading a = read_text("qos_ca_max_vls 5\n");
	_cleanup_(reading_clear) struct reading b =
		read_text("qos_ca_max_vls 5\nqos_rtr_max_vls 7\n");
	_cleanup_(conf_unrefp) struct conf *next = NULL;
	struct conf_changes changes;
	struct conf_report r = { 0 };

	next = conf_reload(a.conf, a.conf, b.conf, &changes, &r);
	assert_int_equal(finding(&r, "qos_rtr_max_vls is accepted only")->line, 2);
	assert_int_equal(r.n, 1);
	conf_report_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_change_values_with_a_finding),
		cmocka_unit_test(defaults_break_no_rule),
		cmocka_unit_test(options_without_effect_say_so_once),
		cmocka_unit_test(options_that_need_another_one_say_so),
		cmocka_unit_test(only_what_was_set_here_needs_another_one),
		cmocka_unit_test(engines_that_are_none_are_told),
		cmocka_unit_test(groups_of_metrics_that_are_none_are_told),
		cmocka_unit_test(the_engine_file_wants_files),
		cmocka_unit_test(qos_lists_are_checked_when_qos_is_on),
		cmocka_unit_test(a_drawn_sm_key_is_the_only_one),
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
	};

	return cmocka_run_group_tests_name("conf-rules", tests, NULL, NULL);
}
