// SPDX-License-Identifier: BSD-2-Clause
/*
 * Plugins inside the process: what they are told, in which numbers and order, what they may ask,
 * and which files would be loaded. Loading itself is tested with the daemon: tests/e2e/plugin.bats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugin/plugin.h"
#include "plugin/plugin_file.h"
#include "plugin/plugin_internal.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

static struct {
	char heard[500];
	char lines[2000];
	mono_t now;
	mono_t takes; /* report() */
	bool want_all;
	unsigned destroyed;
	struct opensm *sm;
} w;

static void clock_now(void *arg, mono_t *ret_now, int64_t *ret_realtime)
{
	*ret_now = w.now;
	*ret_realtime = 0;
}

static void on_line(void *arg, unsigned bits, const char *text)
{
	size_t len = strlen(w.lines);

	snprintf(w.lines + len, sizeof(w.lines) - len, "%s\n", text);
}

static void *create(struct opensm *sm)
{
	w.sm = sm;
	if (w.want_all)
		opensm_api(sm)->want_all(sm);
	return &w;
}

static void destroy(void *self)
{
	assert_ptr_equal(self, &w);
	w.destroyed++;
}

static void report(void *self, int event, void *what)
{
	size_t len = strlen(w.heard);

	assert_ptr_equal(self, &w);
	snprintf(w.heard + len, sizeof(w.heard) - len, "%s%d", len ? " " : "", event);
	len = strlen(w.heard);
	if (event == OPENSM_EVENT_ROUTES)
		snprintf(w.heard + len, sizeof(w.heard) - len, ":%d", (int)(intptr_t)what);
	if (event == OPENSM_EVENT_LFT_CHANGE) {
		const struct opensm_lft_change *l = what;

		snprintf(w.heard + len, sizeof(w.heard) - len, ":%llx/%u/%u/%u",
			 (unsigned long long)*l->switch_guid, l->flags, l->top, l->block);
	}
	if (event == OPENSM_EVENT_PORT_ERRORS) {
		const struct opensm_port_errors *e = what;

		snprintf(w.heard + len, sizeof(w.heard) - len, ":%s/%u/%u/%u", e->port.name,
			 e->port.port, (unsigned)e->xmit_wait, (unsigned)e->seconds);
	}
	if (event == OPENSM_EVENT_PORT_COUNTS) {
		const struct opensm_port_counts *c = what;

		snprintf(w.heard + len, sizeof(w.heard) - len, ":%s/%u/%u/%u", c->port.name,
			 c->port.port, (unsigned)c->xmit_data, (unsigned)c->seconds);
	}
	w.now += w.takes;
}

static const struct opensm_event_plugin object = { OPENSM_PLUGIN_VERSION, create, destroy, report };

struct stage {
	struct daemon_api api;
	struct conf *conf;
	struct plugins *plugins;
};

static int setup(void **state)
{
	struct stage *s = xcalloc(1, sizeof(*s));

	memset(&w, 0, sizeof(w));
	log_set_sink(on_line, NULL);
	s->conf = conf_new();
	s->api = (struct daemon_api){ .conf = s->conf, .clock = clock_now, .instance = "7" };
	s->plugins = plugins_new(&s->api);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct stage *s = *state;

	plugins_free(s->plugins);
	conf_unref(s->conf);
	log_set_sink(NULL, NULL);
	free(s);
	return 0;
}

static void sweep(struct stage *s, enum sm_event_kind event, enum sweep_kind kind)
{
	const struct sm_event e = { .kind = event, .sweep = { .kind = kind, .why = "test" } };

	plugins_event(s->plugins, &e);
}

static void plain(struct stage *s, enum sm_event_kind event)
{
	const struct sm_event e = { .kind = event };

	plugins_event(s->plugins, &e);
}

static void enter(struct stage *s, enum sm_state from, enum sm_state to)
{
	const struct sm_event e = { .kind = SM_EVENT_STATE, .state = { from, to } };

	plugins_event(s->plugins, &e);
}

static void whole(struct stage *s, enum sweep_kind kind)
{
	struct sm_event lft = { .kind = SM_EVENT_LFT, .lft = { .node_guid = 0xabc, .block = 5 } };

	sweep(s, SM_EVENT_SWEEP_START, kind);
	plain(s, SM_EVENT_NODE);
	plain(s, SM_EVENT_LINK);
	sweep(s, SM_EVENT_DISCOVERED, kind);
	plain(s, SM_EVENT_ROUTES);
	plugins_event(s->plugins, &lft);
	lft.lft = (__typeof__(lft.lft)){ .node_guid = 0xabc, .top_changed = true, .top = 9 };
	plugins_event(s->plugins, &lft);
	sweep(s, SM_EVENT_SUBNET_UP, kind);
	sweep(s, SM_EVENT_SWEEP_DONE, kind);
}

static void expect(const char *heard)
{
	assert_string_equal(w.heard, heard);
	w.heard[0] = '\0';
}

static void numbers_and_order_are_those_of_the_peer(void **state)
{
	struct stage *s = *state;

	assert_true(plugins_add(s->plugins, "it", &object));
	assert_string_equal(plugins_name(s->plugins, 0), "it");
	assert_null(plugins_name(s->plugins, 1));
	whole(s, SWEEP_HEAVY);
	expect("5 6 7:1 10:abc/2/0/5 10:abc/1/9/0 4");
	whole(s, SWEEP_INCREMENTAL);
	expect("5 6 7:1 10:abc/2/0/5 10:abc/1/9/0 4");
	plain(s, SM_EVENT_TRAP);
	plain(s, SM_EVENT_SA_DUMPED);
	plain(s, SM_EVENT_PORT_DOWN);
	enter(s, SM_MASTER, SM_STANDBY);
	enter(s, SM_STANDBY, SM_MASTER);
	expect("3 9 8 8");
	plain(s, SM_EVENT_MANAGER);
	expect("");
}

static void counters_of_ports(void **state)
{
	struct stage *s = *state;
	const struct perf_node node = { .guid = 7, .name = "leaf" };
	const uint64_t errors[PERF_ERRORS] = { [PERF_XMIT_WAIT] = 3 }, data[PERF_DATA] = { 5 };

	assert_true(plugins_add(s->plugins, "it", &object));
	plugins_port_errors(s->plugins, &node, 2, errors, 10);
	plugins_port_counts(s->plugins, &node, 2, data, 10);
	expect("0:leaf/2/3/10 1:leaf/2/5/10");
}

static void each_beginning_has_its_end(void **state)
{
	struct stage *s = *state;

	assert_true(plugins_add(s->plugins, "it", &object));
	sweep(s, SM_EVENT_SWEEP_START, SWEEP_HEAVY); /* nothing could be read */
	sweep(s, SM_EVENT_SWEEP_DONE, SWEEP_HEAVY);
	expect("5 6");
	sweep(s, SM_EVENT_SWEEP_START, SWEEP_INCREMENTAL); /* nothing had happened */
	sweep(s, SM_EVENT_SWEEP_DONE, SWEEP_INCREMENTAL);
	sweep(s, SM_EVENT_SWEEP_START, SWEEP_LIGHT);
	sweep(s, SM_EVENT_SWEEP_DONE, SWEEP_LIGHT);
	sweep(s, SM_EVENT_SWEEP_START, SWEEP_WATCH);
	sweep(s, SM_EVENT_SWEEP_DONE, SWEEP_WATCH);
	expect("");
}

static void who_wants_all_is_told_all(void **state)
{
	struct stage *s = *state;

	w.want_all = true;
	assert_true(plugins_add(s->plugins, "it", &object));
	whole(s, SWEEP_HEAVY);
	expect("5 100 101 6 7:1 10:abc/2/0/5 10:abc/1/9/0 4 104");
	enter(s, SM_MASTER, SM_STANDBY);
	plain(s, SM_EVENT_MANAGER);
	expect("8 103 102");
}

static void routes_without_reading_are_another_number(void **state)
{
	struct stage *s = *state;
	const struct sm_event e = { .kind = SM_EVENT_ROUTES, .routes = { .reroute = true } };

	assert_true(plugins_add(s->plugins, "it", &object));
	plugins_event(s->plugins, &e);
	expect("7:2");
}

static void one_that_is_slow_is_named(void **state)
{
	struct stage *s = *state;

	assert_true(plugins_add(s->plugins, "snail", &object));
	w.takes = 99 * MONO_MS;
	plain(s, SM_EVENT_SA_DUMPED);
	assert_string_equal(w.lines, "");
	w.takes = 250 * MONO_MS;
	for (unsigned i = 0; i < 10; i++)
		plain(s, SM_EVENT_SA_DUMPED);
	assert_non_null(strstr(w.lines, "plugin 'snail' took 250 ms to take in event 9"));
	assert_true(strlen(w.lines) < 400); /* not ten times */
}

static void *refuse(struct opensm *sm)
{
	static struct opensm_routing_engine engine;

	engine =
		(struct opensm_routing_engine){ .api = OPENSM_ROUTING_API, .size = sizeof(engine) };
	engine.name = "x";
	engine.compute = (__typeof__(engine.compute))abort;
	assert_int_equal(opensm_api(sm)->register_engine(sm, &engine), 0);
	return NULL;
}

static void who_does_not_want_leaves_nothing_behind(void **state)
{
	struct stage *s = *state;
	const struct opensm_event_plugin other = { OPENSM_PLUGIN_VERSION, refuse, destroy, report };

	assert_false(plugins_add(s->plugins, "it", &other));
	assert_int_equal(plugins_engines(s->plugins)->n, 0);
	plain(s, SM_EVENT_SA_DUMPED);
	expect("");
	assert_int_equal(w.destroyed, 0);
}

static void deletes_in_order_and_takes_no_functions(void **state)
{
	struct stage *s = *state;
	const struct opensm_event_plugin bare = { OPENSM_PLUGIN_VERSION, create, NULL, NULL };

	assert_true(plugins_add(s->plugins, "a", &object));
	assert_true(plugins_add(s->plugins, "b", &bare));
	assert_true(plugins_add(s->plugins, "c", &object));
	plain(s, SM_EVENT_SA_DUMPED);
	expect("9 9");
	s->plugins = plugins_free(s->plugins);
	assert_int_equal(w.destroyed, 2);
}

/* Without a port there is no subnet to ask about. */
static void questions_without_a_manager(void **state)
{
	struct stage *s = *state;
	const struct opensm_api *api;
	struct opensm_counts c;
	struct opensm_node n;
	struct opensm_port p;

	assert_true(plugins_add(s->plugins, "it", &object));
	api = opensm_api(w.sm);
	assert_int_equal(api->version, OPENSM_API);
	assert_int_equal(api->size, sizeof(*api));
	assert_int_equal(api->state(w.sm), OPENSM_NO_PORT_YET);
	assert_int_equal(api->counts(w.sm, &c), -1);
	assert_int_equal(api->node(w.sm, 1, &n), -1);
	assert_int_equal(api->node_at(w.sm, 0, &n), -1);
	assert_int_equal(api->port(w.sm, 1, 1, &p), -1);
	assert_int_equal(api->lft_entry(w.sm, 1, 1), -1);
	assert_null(api->options(w.sm));
	assert_string_equal(api->instance(w.sm), "7");
	assert_string_equal(api->program_version(w.sm), "OpenSM " PACKAGE_VERSION);
	s->conf->event_plugin_options = xstrdup("one two");
	assert_string_equal(api->options(w.sm), "one two");
	api->log(w.sm, OPENSM_LOG_ERROR, "be\x1b[2Jware\nof me");
	assert_string_equal(w.lines, "plugin 'it': be [2Jware of me\n");
	assert_int_equal(api->register_engine(w.sm, &(struct opensm_routing_engine){ 0 }), -1);
	assert_non_null(strstr(w.lines, "create() has ended"));
}

/* ---- files ---------------------------------------------------------------------------------- */

static void files_that_others_may_write_are_not_safe(void **state)
{
	char dir[SCRATCH_PATH], path[96], link[96], why[300] = "", *real;
	FILE *f;

	real = realpath(scratch_folder(dir), NULL);
	snprintf(path, sizeof(path), "%s/libx.so", real);
	snprintf(link, sizeof(link), "%s/liby.so", real);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(chmod(path, 0644), 0);
	assert_true(plugin_file_is_safe(path, why, sizeof(why)));
	assert_int_equal(chmod(path, 0664), 0);
	assert_false(plugin_file_is_safe(path, why, sizeof(why)));
	assert_non_null(strstr(why, "libx.so may be written to by others (mode 0664)"));
	assert_int_equal(chmod(path, 0646), 0);
	assert_false(plugin_file_is_safe(path, why, sizeof(why)));
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(chmod(real, 0770), 0);
	assert_false(plugin_file_is_safe(path, why, sizeof(why)));
	assert_null(strstr(why, "libx.so"));
	assert_int_equal(chmod(real, 01777), 0);
	assert_true(plugin_file_is_safe(path, why, sizeof(why)));
	assert_false(plugin_file_is_safe(real, why, sizeof(why)));
	assert_false(plugin_file_is_safe(link, why, sizeof(why)));
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 12345, 0), 0);
		assert_false(plugin_file_is_safe(path, why, sizeof(why)));
		assert_non_null(strstr(why, "belongs to user 12345"));
	}
	unlink(path);
	rmdir(real);
	free(real);
}

static void names_are_names(void **state)
{
	char why[300], longest[300];
	char *path;

	assert_null(plugin_file_find("../x", why, sizeof(why)));
	assert_non_null(strstr(why, "not a path"));
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_null(plugin_file_find(longest, why, sizeof(why)));
	assert_null(plugin_file_find("surely-not-there", why, sizeof(why)));
	assert_non_null(strstr(why, "libsurely-not-there.so"));
	path = plugin_file_find("cmocka", why, sizeof(why)); /* we stand on it */
	assert_non_null(path);
	assert_int_equal(path[0], '/');
	free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void only_the_first_name_ends_at_a_comma(void **state)
{
	static const char *const rows[][5] = {
		{ "", NULL },
		{ " \t,", NULL },
		{ "a", "a", NULL },
		{ "a,b", "a", "b", NULL },
		{ ", a,b,c d,e ", "a", "b,c", "d,e", NULL },
		{ "a b,c", "a", "b,c", NULL },
		{ "a, b", "a", "b", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t at = 0;

		for (unsigned n = 1; rows[i][n]; n++) {
			_cleanup_free_ char *name = plugin_file_next_name(rows[i][0], &at);

			assert_non_null(name);
			assert_string_equal(name, rows[i][n]);
		}
		assert_null(plugin_file_next_name(rows[i][0], &at));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(numbers_and_order_are_those_of_the_peer),
		TEST(counters_of_ports),
		TEST(each_beginning_has_its_end),
		TEST(who_wants_all_is_told_all),
		TEST(routes_without_reading_are_another_number),
		TEST(one_that_is_slow_is_named),
		TEST(who_does_not_want_leaves_nothing_behind),
		TEST(deletes_in_order_and_takes_no_functions),
		TEST(questions_without_a_manager),
		cmocka_unit_test(files_that_others_may_write_are_not_safe),
		cmocka_unit_test(names_are_names),
		cmocka_unit_test(only_the_first_name_ends_at_a_comma),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
