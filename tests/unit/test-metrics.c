// SPDX-License-Identifier: BSD-2-Clause
/* Metrics: the two formats, what is counted of events, and a whole page of a subnet in the rig. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/netfile/netfile.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "metrics/metrics.h"
#include "metrics/metrics_text.h"
#include "sm/marks/marks.h"
#include "util/log.h"
#include "util/mem.h"

/* ---- text ----------------------------------------------------------------------------------- */

static char *end(struct metrics_text *t)
{
	size_t len;
	char *text = metrics_text_end(t, &len);

	assert_int_equal(len, strlen(text));
	return text;
}

static void a_family_in_both_formats(void **state)
{
	for (unsigned om = 0; om < 2; om++) {
		struct metrics_text *t = metrics_text_new(om);
		_cleanup_free_ char *text = NULL;

		metric_instance(t, "7");
		metric_family(t, "x_total", METRIC_COUNTER, "What is counted");
		metric_sample(t, "");
		metric_label(t, "a", "b");
		metric_label_guid(t, "guid", 0x1234);
		metric_label_number(t, "port", 3);
		metric_count(t, UINT64_MAX);
		metric_instance(t, NULL);
		metric_gauge(t, "y", "Now", 0.25);
		text = end(t);
		assert_string_equal(text,
				    om ? "# HELP x What is counted\n# TYPE x counter\n"
					 "x_total{instance=\"7\",a=\"b\",guid="
					 "\"0x0000000000001234\",port=\"3\"} "
					 "18446744073709551615\n"
					 "# HELP y Now\n# TYPE y gauge\ny 0.25\n# EOF\n"
				       : "# HELP x_total What is counted\n# TYPE x_total counter\n"
					 "x_total{instance=\"7\",a=\"b\",guid="
					 "\"0x0000000000001234\",port=\"3\"} "
					 "18446744073709551615\n"
					 "# HELP y Now\n# TYPE y gauge\ny 0.25\n");
	}
}

static void labels_are_escaped(void **state)
{
	struct metrics_text *t = metrics_text_new(false);
	_cleanup_free_ char *text = NULL;
	char longest[2000];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	metric_family(t, "x", METRIC_GAUGE, "h");
	metric_sample(t, "");
	metric_label(t, "a", "\"} 1\nevil 2 \\ \x1b[2J\xff");
	metric_count(t, 1);
	metric_sample(t, "");
	metric_label(t, "a", longest);
	metric_count(t, 2);
	metric_sample(t, "");
	metric_label(t, "a", "");
	metric_count(t, 3);
	text = end(t);
	assert_non_null(strstr(text, "\nx{a=\"\\\"} 1 evil 2 \\\\  [2J\"} 1\n"));
	assert_non_null(strstr(text, "\"} 2\n"));
	assert_true(strlen(text) < 700);
	assert_non_null(strstr(text, "\nx{a=\"\"} 3\n"));
}

/* ---- events --------------------------------------------------------------------------------- */

static void sweep(struct metrics_tally *t, enum sweep_kind kind, unsigned ms, unsigned errors)
{
	const struct sm_event e = { .kind = SM_EVENT_SWEEP_DONE,
				    .sweep = { .kind = kind, .ms = ms, .errors = errors } };

	metrics_tally_event(t, &e, 1234 * MONO_S);
}

static void sweeps_fall_into_their_buckets(void **state)
{
	struct metrics_tally t = { 0 };
	const struct metrics_sweep *heavy = &t.sweeps[SWEEP_HEAVY];

	sweep(&t, SWEEP_HEAVY, 0, 0);
	sweep(&t, SWEEP_HEAVY, 1, 0);
	sweep(&t, SWEEP_HEAVY, 2, 1);
	sweep(&t, SWEEP_HEAVY, 60000, 0);
	sweep(&t, SWEEP_HEAVY, 60001, 0);
	sweep(&t, SWEEP_REROUTE, 7, 0);
	assert_int_equal(heavy->ended, 5);
	assert_int_equal(heavy->failed, 1);
	assert_int_equal(heavy->bucket[0], 2);
	assert_int_equal(heavy->bucket[1], 1);
	assert_int_equal(heavy->bucket[METRIC_BUCKETS - 1], 1);
	assert_int_equal(heavy->bucket[METRIC_BUCKETS], 1);
	assert_int_equal(heavy->ms, 120004);
	assert_int_equal(heavy->last, 1234);
	assert_int_equal(t.sweeps[SWEEP_REROUTE].ended, 1);
	assert_int_equal(t.sweeps[SWEEP_LIGHT].ended, 0);
}

static void what_came_and_went(void **state)
{
	struct metrics_tally t = { 0 };
	struct sm_event e = { .kind = SM_EVENT_NODE, .node = { .came = true } };

	metrics_tally_event(&t, &e, 0);
	e.node.came = false;
	metrics_tally_event(&t, &e, 0);
	metrics_tally_event(&t, &e, 0);
	e = (struct sm_event){ .kind = SM_EVENT_LINK, .link = { .up = true } };
	metrics_tally_event(&t, &e, 0);
	e = (struct sm_event){ .kind = SM_EVENT_LFT };
	metrics_tally_event(&t, &e, 0);
	e.lft.top_changed = true;
	metrics_tally_event(&t, &e, 0);
	e = (struct sm_event){ .kind = SM_EVENT_ROUTES,
			       .routes = { .engine = "minhop", .ms = 5, .unreachable = 6 } };
	metrics_tally_event(&t, &e, 0);
	assert_int_equal(t.nodes_came, 1);
	assert_int_equal(t.nodes_went, 2);
	assert_int_equal(t.links_up, 1);
	assert_int_equal(t.links_down, 0);
	assert_int_equal(t.table_blocks, 1);
	assert_int_equal(t.routings, 1);
	assert_string_equal(t.engine, "minhop");
	assert_int_equal(t.unreachable, 6);
}

/* ---- pages ---------------------------------------------------------------------------------- */

static void no_clock(void *arg, mono_t *ret_now, int64_t *ret_realtime)
{
	*ret_now = 0;
	*ret_realtime = 0;
}

static char *page(struct daemon_api *api, bool per_port)
{
	const struct metrics_tally tally = { 0 };
	struct metrics *m;
	size_t len;
	char *text;

	api->clock = no_clock;
	m = metrics_take(api, &tally, per_port);
	text = metrics_render(m, false, &len);

	metrics_free(m);
	return text;
}

static unsigned lines_with(const char *text, const char *start)
{
	unsigned n = !strncmp(text, start, strlen(start));

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		n += !strncmp(at + 1, start, strlen(start));
	return n;
}

static void without_a_port(void **state)
{
	struct conf *conf = conf_new();
	struct daemon_api api = {
		.conf = conf, .version = "4.0.0", .instance = "x", .refused = true
	};
	_cleanup_free_ char *text = page(&api, true);

	assert_non_null(strstr(text, "\nopensm_is_master{instance=\"x\"} 0\n"));
	assert_non_null(strstr(text, "\nopensm_state{instance=\"x\",state=\"MASTER\"} 0\n"));
	assert_non_null(strstr(text, "\nopensm_config_last_reload_success{instance=\"x\"} 0\n"));
	assert_null(strstr(text, "opensm_nodes"));
	assert_null(strstr(text, "infiniband_"));
	assert_non_null(strstr(text, "\nprocess_open_fds "));
	conf_unref(conf);
}

static void with_a_subnet(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 2, 1);
	struct rig *rig = rig_new(sim_new(net, 3));
	struct conf *conf = conf_new();
	struct daemon_api api = { .conf = conf, .version = "4.0.0", .instance = "x" };
	char *text;

	conf->sm_key = 98;
	conf->sa_key = 99;
	sim_set_desc(rig->sim, sim_find(rig->sim, "h5"), "say \"h5\"\\");
	assert_int_equal(rig_start(rig, "h0", 0, conf, NULL), 0);
	assert_int_equal(rig_start(rig, "h9", 0, conf, NULL), 1);
	rig_run(rig, 30 * MONO_S);
	api.sm = rig->sms[0].sm;
	text = page(&api, true);
	assert_non_null(strstr(text, "opensm_nodes{instance=\"x\",type=\"ca\"} 16\n"));
	assert_non_null(
		strstr(text, "\nopensm_ledger_state{instance=\"x\",state=\"not_master\"} 0\n"));
	assert_non_null(
		strstr(text, "\nopensm_ledger_state{instance=\"x\",state=\"keeping\"} 0\n"));
	assert_non_null(strstr(text, "\nopensm_ledger_rows{instance=\"x\",table=\"member\"} 0\n"));
	assert_non_null(strstr(text, "\nopensm_ledger_unexplained_pkeys{instance=\"x\"} 0\n"));
	assert_non_null(strstr(text, "\nopensm_ledger_standbys_behind{instance=\"x\"} "));
	assert_non_null(strstr(text, "opensm_nodes{instance=\"x\",type=\"switch\"} 6\n"));
	assert_non_null(strstr(text, "opensm_foreign_sms{instance=\"x\",trusted=\"true\"} 1\n"));
	assert_non_null(strstr(text, "opensm_lids_used{instance=\"x\"} 22\n"));
	assert_non_null(strstr(text, "\nopensm_table_differences_total{instance=\"x\","
				     "table=\"P_KeyTable\"} 0\n"));
	assert_non_null(strstr(text, "opensm_ports{instance=\"x\",state=\"Active\"} 48\n"));
	assert_non_null(
		strstr(text, "opensm_security_check{instance=\"x\",check=\"m_key\"} 0\n"));
	assert_non_null(
		strstr(text, "opensm_security_check{instance=\"x\",check=\"sa_key\"} 1\n"));
	assert_null(strstr(text, "check=\"class_keys\""));
	assert_non_null(strstr(text, "\nopensm_seconds_since_whole{instance=\"x\"} 0\n"));
	assert_non_null(strstr(text, "\nopensm_links_returning{instance=\"x\"} 0\n"));
	assert_int_equal(lines_with(text, "opensm_links_marked{"), MARK_KINDS * MARK_STATES);
	assert_int_equal(lines_with(text, "infiniband_switch_info{"), 6);
	assert_int_equal(lines_with(text, "infiniband_hca_info{"), 16);
	assert_int_equal(lines_with(text, "infiniband_switch_uplink_info{"), 32);
	assert_int_equal(lines_with(text, "infiniband_hca_uplink_info{"), 16);
	assert_int_equal(lines_with(text, "infiniband_switch_port_rate_bytes_per_second{"), 32);
	assert_non_null(strstr(text, "hca=\"say \\\"h5\\\"\\\\\""));
	free(text);
	text = page(&api, false);
	assert_null(strstr(text, "infiniband_"));
	assert_non_null(strstr(text, "opensm_links{instance=\"x\",speed=\""));
	free(text);
	api.sm = rig->sms[1].sm; /* the standby knows the fabric, and tells of no port */
	text = page(&api, true);
	assert_non_null(strstr(text, "opensm_state{instance=\"x\",state=\"STANDBY\"} 1\n"));
	assert_non_null(strstr(text, "opensm_subnet_up{instance=\"x\"} 0\n"));
	assert_null(strstr(text, "infiniband_"));
	assert_null(strstr(text, "opensm_seconds_since_whole"));
	free(text);
	rig_free(rig);
	conf_unref(conf);
}

static void on_event(struct rig_sm *s, const struct sm_event *e)
{
	struct metrics_tally *t = s->rig->owner;

	if (s->sm && (e->kind == SM_EVENT_SWEEP_DONE || e->kind == SM_EVENT_STATE))
		metrics_tally_whole(t, s->sm, sim_now(s->rig->sim));
}

/* From the first sweep that met it, through further ones, until a sweep that ends well. */
static void since_when_it_is_not_whole(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 2, 1);
	struct rig *rig = rig_new(sim_new(net, 3));
	struct conf *conf = conf_new();
	struct metrics_tally t = { 0 };
	mono_t broken, begun;
	int spine = sim_find(rig->sim, "spine1");

	rig->event = on_event;
	rig->owner = &t;
	assert_int_equal(rig_start(rig, "h0", 0, conf, NULL), 0);
	rig_run(rig, 30 * MONO_S);
	assert_int_equal(metrics_tally_broken(&t, rig->sms[0].sm, 31 * MONO_S), 0);
	sim_set_silent(rig->sim, spine, SIM_SILENT, 0);
	begun = sim_now(rig->sim);
	rig_run(rig, begun + 60 * MONO_S);
	broken = metrics_tally_broken(&t, rig->sms[0].sm, begun + 60 * MONO_S);
	assert_in_range(broken, 1, 60 * MONO_S);
	assert_int_equal(metrics_tally_broken(&t, rig->sms[0].sm, begun + 70 * MONO_S),
			 broken + 10 * MONO_S);
	sim_set_silent(rig->sim, spine, SIM_ANSWERS, 0);
	rig_run(rig, begun + 400 * MONO_S);
	assert_int_equal(metrics_tally_broken(&t, rig->sms[0].sm, begun + 400 * MONO_S), 0);
	rig_free(rig);
	conf_unref(conf);
}

static void on_line(void *arg, unsigned bits, const char *text)
{
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_family_in_both_formats),
		cmocka_unit_test(labels_are_escaped),
		cmocka_unit_test(sweeps_fall_into_their_buckets),
		cmocka_unit_test(what_came_and_went),
		cmocka_unit_test(without_a_port),
		cmocka_unit_test(with_a_subnet),
		cmocka_unit_test(since_when_it_is_not_whole),
	};

	log_set_sink(on_line, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
