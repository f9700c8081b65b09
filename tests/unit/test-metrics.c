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
#include "tests/lib/metrics-counted.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "metrics/metrics.h"
#include "metrics/metrics_text.h"
#include "sm/marks/marks.h"
#include "util/log.h"
#include "util/mem.h"

/* ---- text ----------------------------------------------------------------------------------- */

/* A text in memory, which a page is written to. */
struct written {
	FILE *out;
	char *text;
	size_t len;
};

static FILE *begin(struct written *w)
{
	w->out = open_memstream(&w->text, &w->len);
	assert_non_null(w->out);
	return w->out;
}

static char *end(struct written *w)
{
	fclose(w->out);
	assert_int_equal(w->len, strlen(w->text));
	return w->text;
}

static void a_family_in_both_formats(void **state)
{
	for (unsigned om = 0; om < 2; om++) {
		struct written w;
		struct metrics_text *t = metrics_text_new(begin(&w), om);
		_cleanup_free_ char *text = NULL;

		metric_sm_instance(t, "7");
		metric_family(t, "x_total", METRIC_COUNTER, "What is counted");
		metric_sample(t, "");
		metric_label(t, "a", "b");
		metric_label_guid(t, "guid", 0x1234);
		metric_label_number(t, "port", 3);
		metric_count(t, UINT64_MAX);
		metric_sm_instance(t, NULL);
		metric_gauge(t, "y", "Now", 0.25);
		metrics_text_end(t);
		text = end(&w);
		assert_string_equal(text,
				    om ? "# HELP x What is counted\n# TYPE x counter\n"
					 "x_total{sm_instance=\"7\",a=\"b\",guid="
					 "\"0x0000000000001234\",port=\"3\"} "
					 "18446744073709551615\n"
					 "# HELP y Now\n# TYPE y gauge\ny 0.25\n# EOF\n"
				       : "# HELP x_total What is counted\n# TYPE x_total counter\n"
					 "x_total{sm_instance=\"7\",a=\"b\",guid="
					 "\"0x0000000000001234\",port=\"3\"} "
					 "18446744073709551615\n"
					 "# HELP y Now\n# TYPE y gauge\ny 0.25\n");
	}
}

static void labels_are_escaped(void **state)
{
	struct written w;
	struct metrics_text *t = metrics_text_new(begin(&w), false);
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
	metrics_text_end(t);
	text = end(&w);
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

static void patches_fall_into_their_buckets(void **state)
{
	struct metrics_tally t = { 0 };
	struct patch_tally one = { .cables = 1, .destinations = { 198, 0, 0, 16, 3 }, .us = 3100 };
	const struct sm_event e = { .kind = SM_EVENT_PATCH, .patch = { .tally = &one } };
	const struct metrics_patches *p = &t.patches;

	metrics_tally_event(&t, &e, 0);
	one = (struct patch_tally){ .cables = 36,
				    .destinations = { [PATCH_BESIDE] = 2 },
				    .groups = 5,
				    .branches_waiting = 1,
				    .us = 5000001 };
	metrics_tally_event(&t, &e, 0);
	one = (struct patch_tally){ .cables = 1, .us = 1000 };
	metrics_tally_event(&t, &e, 0);
	assert_int_equal(p->n, 3);
	assert_int_equal(p->cables, 38);
	assert_int_equal(p->us, 5004101);
	assert_int_equal(p->bucket[0], 1);
	assert_int_equal(p->bucket[2], 1);
	assert_int_equal(p->bucket[METRIC_PATCH_BUCKETS], 1);
	assert_int_equal(p->destinations[PATCH_BESIDE], 200);
	assert_int_equal(p->destinations[PATCH_BACK], 16);
	assert_int_equal(p->destinations[PATCH_WAITING], 3);
	assert_int_equal(p->groups, 5);
	assert_int_equal(p->branches_waiting, 1);
}

/* ---- pages ---------------------------------------------------------------------------------- */

static void no_clock(void *arg, mono_t *ret_now, int64_t *ret_realtime)
{
	*ret_now = 0;
	*ret_realtime = 0;
}

static char *page_of(struct daemon_api *api, const struct metrics_tally *tally, const char *groups)
{
	struct metrics *m;
	struct written w;

	api->clock = no_clock;
	m = metrics_take(api, tally, conf_metrics_groups(groups));
	metrics_render(m, false, begin(&w));
	metrics_free(m);
	return end(&w);
}

static char *page(struct daemon_api *api, const char *groups)
{
	const struct metrics_tally tally = { 0 };

	return page_of(api, &tally, groups);
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
	_cleanup_free_ char *text = page(&api, "all");

	assert_non_null(strstr(text, "\nopensm_is_master{sm_instance=\"x\"} 0\n"));
	assert_non_null(strstr(text, "\nopensm_state{sm_instance=\"x\",state=\"MASTER\"} 0\n"));
	assert_non_null(strstr(text, "\nopensm_config_last_reload_success{sm_instance=\"x\"} 0\n"));
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
	text = page(&api, "all");
	assert_non_null(strstr(text, "opensm_nodes{sm_instance=\"x\",type=\"ca\"} 16\n"));
	assert_non_null(
		strstr(text, "\nopensm_ledger_state{sm_instance=\"x\",state=\"not_master\"} 0\n"));
	assert_non_null(
		strstr(text, "\nopensm_ledger_state{sm_instance=\"x\",state=\"keeping\"} 0\n"));
	assert_non_null(
		strstr(text, "\nopensm_ledger_rows{sm_instance=\"x\",table=\"member\"} 0\n"));
	assert_non_null(strstr(text, "\nopensm_ledger_unexplained_pkeys{sm_instance=\"x\"} 0\n"));
	assert_non_null(strstr(text, "\nopensm_ledger_standbys_behind{sm_instance=\"x\"} "));
	assert_non_null(strstr(text, "opensm_nodes{sm_instance=\"x\",type=\"switch\"} 6\n"));
	assert_non_null(strstr(text, "opensm_foreign_sms{sm_instance=\"x\",trusted=\"true\"} 1\n"));
	assert_non_null(strstr(text, "opensm_lids_used{sm_instance=\"x\"} 22\n"));
	assert_non_null(strstr(text, "\nopensm_table_differences_total{sm_instance=\"x\","
				     "table=\"P_KeyTable\"} 0\n"));
	assert_non_null(strstr(text, "opensm_ports{sm_instance=\"x\",state=\"Active\"} 48\n"));
	assert_non_null(
		strstr(text, "opensm_security_check{sm_instance=\"x\",check=\"m_key\"} 0\n"));
	assert_non_null(
		strstr(text, "opensm_security_check{sm_instance=\"x\",check=\"sa_key\"} 1\n"));
	assert_null(strstr(text, "check=\"class_keys\""));
	assert_non_null(strstr(text, "\nopensm_seconds_since_whole{sm_instance=\"x\"} 0\n"));
	assert_non_null(strstr(text, "\nopensm_links_returning{sm_instance=\"x\"} 0\n"));
	assert_int_equal(lines_with(text, "opensm_links_marked{"), MARK_KINDS * MARK_STATES);
	assert_int_equal(lines_with(text, "infiniband_switch_info{"), 6);
	assert_int_equal(lines_with(text, "infiniband_hca_info{"), 16);
	assert_int_equal(lines_with(text, "infiniband_switch_uplink_info{"), 32);
	assert_int_equal(lines_with(text, "infiniband_hca_uplink_info{"), 16);
	assert_int_equal(lines_with(text, "infiniband_switch_port_rate_bytes_per_second{"), 32);
	assert_non_null(strstr(text, "hca=\"say \\\"h5\\\"\\\\\""));
	free(text);
	text = page(&api, "fabric");
	assert_null(strstr(text, "infiniband_"));
	assert_non_null(strstr(text, "opensm_links{sm_instance=\"x\",speed=\""));
	free(text);
	api.sm = rig->sms[1].sm; /* the standby knows the fabric, and tells of no port */
	text = page(&api, "all");
	assert_non_null(strstr(text, "opensm_state{sm_instance=\"x\",state=\"STANDBY\"} 1\n"));
	assert_non_null(strstr(text, "opensm_subnet_up{sm_instance=\"x\"} 0\n"));
	assert_null(strstr(text, "infiniband_"));
	assert_null(strstr(text, "opensm_seconds_since_whole"));
	free(text);
	rig_free(rig);
	conf_unref(conf);
}

static unsigned count_series(const char *text)
{
	unsigned n = 0;

	for (const char *at = text; *at; at = strchr(at, '\n') + 1)
		n += *at != '#';
	return n;
}

/* 24-port switches in three levels, whose counters are read: the largest that is promised. */
static void a_large_fabric_has_few_series_by_default(void **state)
{
	static const struct {
		const char *groups;
		unsigned at_least, at_most;
	} pages[] = {
		{ "default", 10000, 15000 },
		{ "default,cables", 70000, 80000 },
		{ "default,port_errors", 250000, 270000 },
		{ "all", 500000, 520000 },
		{ "hosts", 3456, 3456 },
		{ "switches", 720 * 9, 720 * 9 },
		{ "port_traffic", 20736 * 9, 20736 * 9 },
	};
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(24);
	struct rig *rig = rig_new(sim_new(net, 3));
	struct conf *conf = conf_new();
	struct daemon_api api = {
		.conf = conf, .version = "4.0.0", .instance = "x", .clock = no_clock
	};
	const struct metrics_tally tally = { 0 };

	assert_int_equal(rig_start(rig, "h0", 0, conf, NULL), 0);
	rig_run(rig, 30 * MONO_S);
	api.sm = rig->sms[0].sm;
	for (unsigned i = 0; i < ARRAY_SIZE(pages); i++) {
		struct metrics *m =
			metrics_take(&api, &tally, conf_metrics_groups(pages[i].groups));
		_cleanup_free_ char *text = NULL;
		struct written w;

		metrics_counted(m, sm_fabric(api.sm));
		metrics_render(m, false, begin(&w));
		metrics_free(m);
		text = end(&w);
		assert_in_range(count_series(text), pages[i].at_least, pages[i].at_most);
	}
	rig_free(rig);
	conf_unref(conf);
}

static void patches_are_told_by_time_and_by_way(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 2, 1);
	struct rig *rig = rig_new(sim_new(net, 3));
	struct conf *conf = conf_new();
	struct daemon_api api = { .conf = conf, .version = "4.0.0", .instance = "x" };
	const struct metrics_tally t = { .patches = { .n = 2,
						      .cables = 2,
						      .bucket = { [2] = 1, [4] = 1 },
						      .us = 15600,
						      .destinations = { 198, 0, 0, 16, 3 } } };
	_cleanup_free_ char *text = NULL;

	assert_int_equal(rig_start(rig, "h0", 0, conf, NULL), 0);
	api.sm = rig->sms[0].sm;
	text = page_of(&api, &t, "routing");
#define HAS(line) assert_non_null(strstr(text, "\nopensm_patch" line "\n"))
	HAS("es_total{sm_instance=\"x\"} 2");
	HAS("_seconds_bucket{sm_instance=\"x\",le=\"0.002\"} 0");
	HAS("_seconds_bucket{sm_instance=\"x\",le=\"0.005\"} 1");
	HAS("_seconds_bucket{sm_instance=\"x\",le=\"0.02\"} 2");
	HAS("_seconds_bucket{sm_instance=\"x\",le=\"+Inf\"} 2");
	HAS("_seconds_sum{sm_instance=\"x\"} 0.0156");
	HAS("_seconds_count{sm_instance=\"x\"} 2");
	HAS("_destinations_total{sm_instance=\"x\",how=\"beside\"} 198");
	HAS("_destinations_total{sm_instance=\"x\",how=\"back\"} 16");
	HAS("_destinations_total{sm_instance=\"x\",how=\"waiting\"} 3");
#undef HAS
	rig_free(rig);
	conf_unref(conf);
}

static void what_is_wrong_is_an_alarm(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 2, 1);
	struct rig *rig = rig_new(sim_new(net, 3));
	struct conf *conf = conf_new();
	struct daemon_api api = { .conf = conf, .version = "4.0.0", .instance = "x" };
	char *text;

	assert_int_equal(rig_start(rig, "h0", 0, conf, NULL), 0);
	rig_run(rig, 30 * MONO_S);
	api.sm = rig->sms[0].sm;
	text = page(&api, "alarms,fabric");
	assert_non_null(strstr(text, "\nopensm_alarms{sm_instance=\"x\",class=\"fault\","
				     "kind=\"silent_switch\"} 0\n"));
	assert_int_equal(lines_with(text, "opensm_alarm_info{"), 0);
	assert_int_equal(lines_with(text, "opensm_ports_left_out{"), 0);
	free(text);
	sim_set_silent(rig->sim, sim_find(rig->sim, "spine1"), SIM_SILENT, 0);
	rig_run(rig, 90 * MONO_S);
	text = page(&api, "alarms,fabric");
	assert_non_null(strstr(text, "\nopensm_alarms{sm_instance=\"x\",class=\"fault\","
				     "kind=\"silent_switch\"} 1\n"));
	assert_int_equal(lines_with(text, "opensm_alarm_info{sm_instance=\"x\",class=\"fault\","
					  "kind=\"silent_switch\",object=\"spine1\","
					  "node_guid=\"0x"),
			 1);
	assert_non_null(strstr(text, "\nopensm_alarms_not_listed{sm_instance=\"x\"} 0\n"));
	assert_non_null(strstr(text, "\nopensm_ports_left_out{sm_instance=\"x\","
				     "reason=\"silent_switch\"} "));
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
		cmocka_unit_test(patches_fall_into_their_buckets),
		cmocka_unit_test(without_a_port),
		cmocka_unit_test(with_a_subnet),
		cmocka_unit_test(a_large_fabric_has_few_series_by_default),
		cmocka_unit_test(patches_are_told_by_time_and_by_way),
		cmocka_unit_test(what_is_wrong_is_an_alarm),
		cmocka_unit_test(since_when_it_is_not_whole),
	};

	log_set_sink(on_line, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
