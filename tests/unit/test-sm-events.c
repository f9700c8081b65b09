// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events: what happens in a subnet, and exactly what is told of it. LOUD=1 shows the log.
 *
 * A manager's events become one word each; LFT blocks in a row are one "lft". Names of nodes are
 * those of the simulated fabric: 4 leaves with 4 hosts each, 2 spines, the manager on h0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/netfile/netfile.h"
#include "ib/notices.h"
#include "lib/client.h"
#include "lib/rig.h"
#include "sim/gen/gen.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

#define STORY 20000

struct world {
	struct rig *rig;
	struct conf *conf;
	char story[2][STORY]; /* of each manager */
	unsigned n_lft, n_top;
	uint8_t notice[80];
	char text[500];
	unsigned routes_ms, n_sets, n_gets;
	uint32_t more[2]; /* nodes and links that are to follow at once */
};

static struct world world;

static const char *name_of(guid_t guid)
{
	struct sim *sim = world.rig->sim;

	for (unsigned i = 0; i < sim_n_nodes(sim); i++) {
		if (sim_node_guid(sim, (int)i) == guid)
			return sim_node_id(sim, (int)i);
	}
	return "?";
}

static void add(unsigned who, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(unsigned who, const char *fmt, ...)
{
	size_t len = strlen(world.story[who]);
	va_list args;

	if (len)
		len += snprintf(world.story[who] + len, STORY - len, ", ");
	va_start(args, fmt);
	vsnprintf(world.story[who] + len, STORY - len, fmt, args);
	va_end(args);
	assert_true(strlen(world.story[who]) + 1 < STORY);
}

static bool ends_in(const char *story, const char *word)
{
	return strlen(story) >= strlen(word) && !strcmp(story + strlen(story) - strlen(word), word);
}

static void add_link(unsigned who, const struct sm_event *e)
{
	unsigned a = strcmp(name_of(e->link.guid[0]), name_of(e->link.guid[1])) > 0;

	add(who, "%s-%s %s", name_of(e->link.guid[a]), name_of(e->link.guid[!a]),
	    e->link.up ? "up" : "down");
}

static void on_event(struct rig_sm *s, const struct sm_event *e)
{
	unsigned who = (unsigned)(s - world.rig->sms);

	assert_true(e->at <= sim_now(world.rig->sim));
	if (world.more[who])
		assert_int_equal(e->more, world.more[who] - 1);
	world.more[who] = e->more;
	switch (e->kind) {
	case SM_EVENT_STATE:
		add(who, "%s->%s", sm_state_name(e->state.from), sm_state_name(e->state.to));
		break;
	case SM_EVENT_SWEEP_START:
		add(who, "%s", sweep_kind_name(e->sweep.kind));
		break;
	case SM_EVENT_DISCOVERED:
		add(who, "discovered");
		break;
	case SM_EVENT_SWEEP_DONE:
		add(who, "done%s", e->sweep.through ? "" : " early");
		world.n_sets = e->sweep.n_sets;
		world.n_gets = e->sweep.n_gets;
		break;
	case SM_EVENT_ROUTES:
		add(who, "%s %u%s", e->routes.engine, e->routes.unreachable,
		    e->routes.reroute ? " anew" : "");
		world.routes_ms = e->routes.ms;
		break;
	case SM_EVENT_LFT:
		world.n_lft += !e->lft.top_changed;
		world.n_top += e->lft.top_changed;
		assert_string_not_equal(name_of(e->lft.node_guid), "?");
		if (!ends_in(world.story[who], ", lft"))
			add(who, "lft");
		break;
	case SM_EVENT_SUBNET_UP:
		add(who, e->sweep.errors ? "UP with errors" : "UP");
		break;
	case SM_EVENT_NODE:
		add(who, "%s %s", name_of(e->node.node_guid), e->node.came ? "came" : "went");
		break;
	case SM_EVENT_LINK:
		add_link(who, e);
		break;
	case SM_EVENT_TRAP:
		add(who, "trap %u", (unsigned)ib_get(e->trap.notice, NT_TRAP));
		memcpy(world.notice, e->trap.notice, sizeof(world.notice));
		snprintf(world.text, sizeof(world.text), "%s", e->trap.text);
		break;
	case SM_EVENT_MANAGER:
		add(who, "manager %s", e->manager.gone ? "gone" : sm_state_name(e->manager.state));
		break;
	case SM_EVENT_SA_DUMPED:
		add(who, "saved");
		break;
	case SM_EVENT_PORT_DOWN:
		add(who, "PORT DOWN");
		break;
	case SM_EVENT_SECURITY:
		add(who, "security %s", e->security.what);
		snprintf(world.text, sizeof(world.text), "%s", e->security.text);
		break;
	case SM_EVENT_DRIFT:
		add(who, "topology %s", e->drift.cause);
		break;
	case SM_EVENT_HEALTH:
		add(who, "health %s", e->health.what);
		break;
	case SM_EVENT_MARK:
		add(who, "mark %s", e->mark.what);
		break;
	case SM_EVENT_KINDS:
		fail();
	}
}

static void on_line(void *arg, unsigned bits, const char *text)
{
	if (getenv("LOUD"))
		fprintf(stderr, "%s\n", text);
}

static int setup(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 2, 1);

	world = (struct world){ 0 };
	world.rig = rig_new(sim_new(net, 3));
	world.rig->event = on_event;
	world.conf = conf_new();
	world.conf->sweep_interval = 1000;
	world.conf->sminfo_polling_timeout = 1000;
	world.conf->polling_retry_number = 2;
	log_set_sink(on_line, NULL);
	return 0;
}

static int teardown(void **state)
{
	log_set_sink(NULL, NULL);
	rig_free(world.rig);
	conf_unref(world.conf);
	return 0;
}

static void run_for(mono_t t)
{
	rig_run(world.rig, sim_now(world.rig->sim) + t);
}

static int node(const char *name)
{
	return sim_find(world.rig->sim, name);
}

static void forget(void)
{
	assert_int_equal(world.more[0] + world.more[1], 0);
	world.story[0][0] = world.story[1][0] = '\0';
	world.n_lft = world.n_top = 0;
}

static void start(const char *on)
{
	assert_true(rig_start(world.rig, on, 0, world.conf, NULL) >= 0);
	run_for(15 * MONO_S);
	if (getenv("LOUD"))
		fprintf(stderr, "[%s]\n[%s]\n", world.story[0], world.story[1]);
}

/* The events of manager `who` since are as expected; then all is forgotten. */
static void expect(unsigned who, const char *story)
{
	assert_string_equal(world.story[who], story);
	forget();
}

/* Takes the words of nodes and links out of the story and counts them. */
static unsigned take_words(unsigned who, const char *ending)
{
	char *from = world.story[who], rest[STORY] = "", *save = NULL;
	unsigned n = 0;

	for (char *word = strtok_r(from, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		word += *word == ' ';
		if (ends_in(word, ending)) {
			n++;
			continue;
		}
		snprintf(rest + strlen(rest), STORY - strlen(rest), "%s%s", rest[0] ? ", " : "",
			 word);
	}
	snprintf(world.story[who], STORY, "%s", rest);
	return n;
}

/* ---- the start ------------------------------------------------------------------------------ */

static void the_first_sweep(void **state)
{
	start("h0");
	assert_int_equal(take_words(0, " came"), 22);
	assert_int_equal(take_words(0, " up"), 16 + 8);
	assert_int_equal(world.n_lft, 6); /* 22 LIDs: a block each */
	assert_int_equal(world.n_top, 6);
	expect(0, "NOTACTIVE->DISCOVERING, heavy, discovered, DISCOVERING->MASTER, auto 0, lft, "
		  "UP, done, "
		  "trap 144, dirty, done early");
	assert_int_equal(world.n_sets, 0); /* by the last one */
	assert_int_equal(world.n_gets, 1);
}

static uint64_t sets_of(uint16_t attr)
{
	return sim_count(world.rig->sim, attr, MAD_SET);
}

/* Partitions need no routes: their tables do not wait for an engine that computes. */
static void the_first_sweep_writes_pkeys_while_routes_are_computed(void **state)
{
	uint64_t pkeys;

	world.rig->job_time = 2 * MONO_S;
	assert_true(rig_start(world.rig, "h0", 0, world.conf, NULL) >= 0);
	for (unsigned i = 0; i < 200 && !sets_of(IB_ATTR_PKEY_TABLE); i++)
		run_for(100 * MONO_MS);
	run_for(MONO_S);
	pkeys = sets_of(IB_ATTR_PKEY_TABLE);
	assert_true(pkeys > 0);
	assert_int_equal(sets_of(IB_ATTR_LFT), 0);
	run_for(20 * MONO_S);
	assert_true(sets_of(IB_ATTR_LFT) > 0);
	assert_int_equal(sets_of(IB_ATTR_PKEY_TABLE), pkeys);
	assert_true(sm_stats(world.rig->sms[0].sm)->up);
}

static void a_sweep_that_finds_nothing(void **state)
{
	start("h0");
	forget();
	sm_request_heavy(world.rig->sms[0].sm, NULL);
	run_for(3 * MONO_S);
	expect(0, "heavy, discovered, auto 0, UP, done");
}

static void an_administrator_asks_for_routes(void **state)
{
	start("h0");
	forget();
	sm_request_reroute(world.rig->sms[0].sm);
	run_for(3 * MONO_S);
	expect(0, "rerouting, auto 0 anew, UP, done");
}

static void a_host_that_tries_out_keys(void **state)
{
	struct client *c = client_new(world.rig->sim, "h5");
	const struct question q = { .method = MAD_GET, .attr = SA_CLASS_PORT_INFO, .data = "" };

	start("h0");
	forget();
	for (unsigned i = 0; i < 15; i++) {
		c->sm_key = 100 + i;
		client_send(c, &q);
		run_for(100 * MONO_MS);
	}
	expect(0, "security sa_key");
	assert_non_null(strstr(world.text, "h5"));
	assert_non_null(strstr(world.text, "behind '"));
	client_free(c);
}

/* ---- changes -------------------------------------------------------------------------------- */

static void a_host_is_unplugged_and_comes_back(void **state)
{
	int leaf;
	unsigned port;

	start("h0");
	assert_true(sim_peer(world.rig->sim, node("h5"), 1, &leaf, &port));
	forget();
	assert_int_equal(sim_unplug(world.rig->sim, leaf, port), 0);
	run_for(3 * MONO_S);
	expect(0, "trap 128, dirty, h5-leaf2 down, h5 went, discovered, auto 0, UP, done");
	assert_int_equal(sim_plug(world.rig->sim, leaf, port, node("h5"), 1), 0);
	run_for(5 * MONO_S);
	expect(0, "trap 128, dirty, h5 came, h5-leaf2 up, discovered, auto 0, UP, done");
}

static void a_cable_between_switches(void **state)
{
	int leaf = node("leaf2");
	unsigned port = 5;

	start("h0");
	forget();
	assert_int_equal(sim_link_down(world.rig->sim, leaf, port), 0);
	run_for(3 * MONO_S);
	assert_int_equal(take_words(0, "trap 128"), 2);
	expect(0,
	       "dirty, leaf2-spine1 down, discovered, auto 0, lft, UP, done, dirty, done early");
	assert_int_equal(sim_link_up(world.rig->sim, leaf, port), 0);
	run_for(5 * MONO_S);
	assert_int_equal(take_words(0, "trap 128"), 2);
	expect(0, "dirty, leaf2-spine1 up, discovered, auto 0, lft, UP, done");
}

/* Up again before a sweep looked: both are told. */
static void a_link_that_was_out_for_a_moment(void **state)
{
	int leaf;
	unsigned port;

	start("h0");
	assert_true(sim_peer(world.rig->sim, node("h5"), 1, &leaf, &port));
	forget();
	sim_set_trap_loss(world.rig->sim, 100);
	assert_int_equal(sim_link_flap(world.rig->sim, leaf, port, 10 * MONO_MS), 0);
	run_for(2 * MONO_S);
	expect(0, "");
	sm_request_heavy(world.rig->sms[0].sm, NULL);
	run_for(3 * MONO_S);
	take_words(0, "trap 128");
	expect(0, "heavy, h5-leaf2 down, h5-leaf2 up, discovered, auto 0, UP, done");
}

static void a_switch_goes_with_all_that_hangs_on_it(void **state)
{
	start("h0");
	forget();
	sim_power(world.rig->sim, node("leaf3"), false);
	run_for(3 * MONO_S);
	assert_int_equal(take_words(0, "trap 128"), 2);
	assert_int_equal(take_words(0, " went"), 5);
	assert_int_equal(take_words(0, " down"), 6);
	expect(0, "dirty, discovered, auto 0, UP, done"); /* those left keep their tables */
}

/* ---- traps, managers, our own port ---------------------------------------------------------- */

static void a_trap_that_is_believed(void **state)
{
	uint8_t notice[SMP_DATA_SIZE] = { 0 };
	lid_t lid;

	start("h0");
	forget();
	lid = sim_port_lid(world.rig->sim, node("h3"), 1);
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TRAP, TRAP_SYSIMG_GUID);
	ib_put(notice, NT_ISSUER_LID, lid);
	ib_put(notice, N145_LID, lid);
	sim_send_trap(world.rig->sim, node("h3"), 1, notice);
	run_for(1 * MONO_S);
	expect(0, "trap 145");
	assert_memory_equal(world.notice, notice, SMP_DATA_SIZE);
	assert_int_equal(world.notice[SMP_DATA_SIZE], 0xFE); /* IssuerGID */
	assert_non_null(strstr(world.text, "trap 145 ("));
	assert_non_null(strstr(world.text, "'h3' port 1"));
	ib_put(notice, N145_LID, lid + 1);
	sim_send_trap(world.rig->sim, node("h3"), 1, notice);
	run_for(1 * MONO_S);
	expect(0, "security trap"); /* it is about another port */
}

static bool has(unsigned who, const char *words)
{
	return strstr(world.story[who], words) != NULL;
}

static void another_manager_comes_and_takes_over(void **state)
{
	start("h0");
	forget();
	start("h9");
	assert_true(has(0, "manager STANDBY") || has(0, "manager DISCOVERING"));
	assert_true(has(1, "NOTACTIVE->DISCOVERING"));
	assert_true(has(1, "manager MASTER"));
	assert_true(has(1, "DISCOVERING->STANDBY"));
	assert_true(has(1, "watch"));
	assert_false(has(1, "auto") || has(1, "lft") || has(1, "UP"));
	forget();
	rig_stop(world.rig, 0);
	run_for(15 * MONO_S);
	assert_true(has(1, "STANDBY->MASTER"));
	assert_true(has(1, "manager gone"));
	assert_true(has(1, "UP, done"));
	assert_false(has(1, " came") || has(1, " went")); /* it knew them all */
}

static void our_own_port_loses_its_link(void **state)
{
	start("h0");
	forget();
	assert_int_equal(sim_link_down(world.rig->sim, node("h0"), 1), 0);
	sm_request_heavy(world.rig->sms[0].sm, NULL);
	run_for(40 * MONO_S);
	assert_true(has(0, "PORT DOWN, MASTER->DISCOVERING, done early"));
	assert_ptr_equal(strstr(strstr(world.story[0], "PORT DOWN") + 1, "PORT DOWN"), NULL);
}

static void the_database_is_saved(void **state)
{
	char dir[SCRATCH_PATH];

	assert_int_equal(rig_start(world.rig, "h0", 0, world.conf, scratch_folder(dir)), 0);
	run_for(15 * MONO_S);
	assert_true(has(0, "saved"));
}

static void nobody_need_listen(void **state)
{
	world.rig->event = NULL;
	start("h0");
	expect(0, "");
	assert_non_null(rig_master(world.rig));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_sweep),
		TEST(the_first_sweep_writes_pkeys_while_routes_are_computed),
		TEST(a_sweep_that_finds_nothing),
		TEST(an_administrator_asks_for_routes),
		TEST(a_host_that_tries_out_keys),
		TEST(a_host_is_unplugged_and_comes_back),
		TEST(a_cable_between_switches),
		TEST(a_link_that_was_out_for_a_moment),
		TEST(a_switch_goes_with_all_that_hangs_on_it),
		TEST(a_trap_that_is_believed),
		TEST(another_manager_comes_and_takes_over),
		TEST(our_own_port_loses_its_link),
		TEST(the_database_is_saved),
		TEST(nobody_need_listen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
