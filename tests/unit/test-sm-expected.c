// SPDX-License-Identifier: BSD-2-Clause
/*
 * The expected topology, as a manager of a simulated tree has it, where no scenario goes
 * (tests/scenario/expected.scn has the rest): random lives and changes, cables that are not judged
 * again, a file that is read while another one comes.
 */
#include "tests/unit/marks-world.h"

#include <sys/stat.h>
#include <unistd.h>

#include "sm/expected/expected_internal.h"
#include "tests/lib/rounds.h"
#include "tests/lib/scratch.h"
#include "topo/expect_file.h"
#include "util/random.h"
#include "view/view_facts.h"

#define MOMENTS 400u

static char dir[2][SCRATCH_PATH], file[SCRATCH_PATH + 20];

/* Cables that are left out of the file, by one end each. */
struct strange {
	const char *node;
	unsigned port;
};

static bool is_strange(struct world *w, const struct strange *s, const struct port *p)
{
	for (; s && s->node; s++) {
		if (!strcmp(node_name(p->node), s->node) && p->num == s->port)
			return true;
		if (p->peer && !strcmp(node_name(p->peer->node), s->node) &&
		    p->peer->num == s->port)
			return true;
	}
	return false;
}

/* The fabric as the manager knows it, as CSV, without some cables. */
static void write_file(struct world *w, const struct strange *without, const char *more)
{
	FILE *out = fopen(file, "w");

	assert_non_null(out);
	FABRIC_EACH_NODE(sm_fabric(w->sm), n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			const struct port *p = &n->ports[i];

			if (p->peer && p->node->guid < p->peer->node->guid &&
			    !is_strange(w, without, p))
				fprintf(out, "0x%016lx,%u,0x%016lx,%u,Any,Active\n",
					(unsigned long)n->guid, i,
					(unsigned long)p->peer->node->guid, p->peer->num);
		}
	}
	fputs(more, out);
	fclose(out);
}

static int open_expected(void **st)
{
	struct world *w;

	assert_int_equal(open_world(st), 0);
	w = *st;
	scratch_folder(dir[0]);
	scratch_folder(dir[1]);
	snprintf(file, sizeof(file), "%s/meant.csv", dir[1]);
	w->conf->expected_topology_file = xstrdup(file);
	free(w->conf->expected_topology_links);
	w->conf->expected_topology_links = xstrdup("enforce");
	w->conf->expected_topology_cap = 20;
	return 0;
}

static int close_expected(void **st)
{
	close_world(st);
	scratch_remove(dir[0]);
	scratch_remove(dir[1]);
	return 0;
}

/* A manager that expects nothing, for what it finds. */
static void start_plain(struct world *w)
{
	struct conf *plain = conf_new();

	assert_true(rig_start(w->rig, "h0", 0, plain, NULL) >= 0);
	conf_unref(plain);
	run_for(w, 15 * MONO_S);
	w->sm = rig_master(w->rig);
	assert_non_null(w->sm);
}

/* It writes the file; then the fabric is cold again. */
static void learn(struct world *w, const struct strange *without, const char *more)
{
	start_plain(w);
	write_file(w, without, more);
	rig_kill(w->rig, (unsigned)rig_find(w->rig, "h0"));
	for (int i = 0; i < (int)sim_n_nodes(w->sim); i++)
		sim_reboot(w->sim, i, MONO_S);
	run_for(w, 5 * MONO_S);
}

static void start_with(struct world *w, const char *cache)
{
	int i = rig_start(w->rig, "h0", 0, w->conf, cache);

	assert_true(i >= 0);
	run_for(w, 15 * MONO_S);
	w->sm = rig_master(w->rig);
	assert_non_null(w->sm);
}

static struct sm_expected shown(struct world *w)
{
	struct sm_expected e;

	sm_expected(w->sm, &e);
	return e;
}

/* ---- enforce --------------------------------------------------------------------------------- */

/* h5's cable at its leaf, and an uplink. */
static struct strange two_cables[3];

static void choose(struct world *w)
{
	start_plain(w);
	two_cables[0] = (struct strange){ "h5", 1 };
	two_cables[1] = (struct strange){ "leaf3", uplink(w, "leaf3", "spine2") };
	rig_kill(w->rig, (unsigned)rig_find(w->rig, "h0"));
}

static unsigned highest(struct world *w, const struct strange *all)
{
	unsigned most = 0;

	for (; all->node; all++)
		most = MAX(most, state(w, all->node, all->port));
	return most;
}

/* Runs for `t`; at each step nothing strange is above INIT. */
static void run_watched(struct world *w, mono_t t)
{
	mono_t until = sim_now(w->sim) + t;

	while (rig_step(w->rig, until))
		assert_true(highest(w, two_cables) <= IB_PORT_INIT);
}

static void random_lives_never_arm_it(void **st)
{
	struct world *w = *st;
	const char *hosts[] = { "h0", "h11" };
	uint64_t dice = 0;

	choose(w);
	learn(w, two_cables, "");
	for (unsigned seed = 1; seed <= test_rounds(MOMENTS); seed++) {
		dice = dice * 31 + seed;
		w->rig->job_time = seed % 4 ? 0 : (mono_t)(random_next(&dice) % 5000) * MONO_MS;
		for (unsigned i = 0; i < 2; i++)
			if (rig_find(w->rig, hosts[i]) < 0)
				rig_start(w->rig, hosts[i], 0, w->conf, dir[i]);
		run_watched(w, (mono_t)(random_next(&dice) % 20000) * MONO_MS);
		switch (random_next(&dice) % 4) {
		case 0:
		case 1: {
			int at = rig_find(w->rig, hosts[random_next(&dice) % 2]);

			if (at >= 0)
				rig_kill(w->rig, (unsigned)at);
			break;
		}
		case 2:
			sim_link_flap(w->sim, node_of(w, "leaf3"), two_cables[1].port, MONO_S);
			sim_link_flap(w->sim, node_of(w, "h5"), 1, MONO_S / 2);
			break;
		case 3:
			sim_reboot(w->sim, node_of(w, "leaf3"), MONO_S);
			break;
		}
	}
	for (unsigned i = 0; i < 2; i++)
		if (rig_find(w->rig, hosts[i]) < 0)
			rig_start(w->rig, hosts[i], 0, w->conf, dir[i]);
	w->rig->job_time = 0;
	run_watched(w, 400 * MONO_S);
	w->sm = rig_master(w->rig);
	assert_non_null(w->sm);
	assert_int_equal(shown(w).held, 2);
	assert_int_equal(state(w, "h6", 1), IB_PORT_ACTIVE);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* What was judged again where something changed is what a look at all cables says. */
static void assert_verdicts(struct world *w)
{
	struct verdicts *v = &w->sm->m.expected->verdicts;
	_cleanup_free_ uint8_t *rows = NULL;
	uint32_t n;

	expected_judge(w->sm, w->sm->m.expected->now);
	n = v->n_rows;
	rows = xmemdup(v->rows, n);
	expected_forget_verdicts(w->sm->m.expected);
	expected_judge(w->sm, w->sm->m.expected->now);
	assert_int_equal(v->n_rows, n);
	assert_memory_equal(rows, v->rows, n);
}

static unsigned flawed(struct world *w)
{
	const struct verdicts *v = &w->sm->m.expected->verdicts;
	unsigned n = 0;

	for (uint32_t i = 0; i < v->n_rows; i++)
		n += v->rows[i] & ~VERDICT_CABLE ? 1 : 0;
	return n;
}

static void cables_that_did_not_change_are_not_judged_again(void **st)
{
	struct world *w = *st;
	uint64_t before;

	learn(w, NULL, "");
	start_with(w, dir[0]);
	run_for(w, 30 * MONO_S);
	before = shown(w).judged;
	assert_true(before >= shown(w).cables);
	sm_request_heavy(w->sm, NULL);
	run_for(w, 30 * MONO_S);
	assert_int_equal(shown(w).judged, before);
	sim_link_flap(w->sim, node_of(w, "h5"), 1, MONO_S);
	run_for(w, 30 * MONO_S);
	assert_int_equal(state(w, "h5", 1), IB_PORT_ACTIVE);
	assert_true(shown(w).judged > before);
	/* h5 and its leaf alone, also when h5 goes and comes. */
	assert_true(shown(w).judged - before < shown(w).cables);
	assert_verdicts(w);
}

/* Where the cables of h5 and h6 lead. */
static struct place {
	int node;
	unsigned port;
} h5_at, h6_at;

static guid_t adapters[3];

static struct place place_of(struct world *w, const char *host)
{
	const struct port *p = known(w, host)->ports[1].peer;

	return (struct place){ node_of(w, node_name(p->node)), p->num };
}

/* With names, as `opensmctl topology save` does. */
static void save_file(struct world *w)
{
	_cleanup_(view_unrefp) struct view *v = sm_view_now(w->sm, NULL, 0);
	struct expect *x = expect_build(view_facts(v));
	FILE *out = fopen(file, "w");

	assert_non_null(out);
	expect_write(x, EXPECT_NETDISCOVER, 0, out);
	fclose(out);
	expect_free(x);
}

/* h3 and h7 have adapters of their own, of each other, or one that the file does not know. */
static void replace_hcas(struct world *w, unsigned turn)
{
	sim_set_guid(w->sim, node_of(w, "h3"), adapters[turn]);
	sim_set_guid(w->sim, node_of(w, "h7"), adapters[(turn + 1) % 3]);
	sim_reboot(w->sim, node_of(w, "h3"), MONO_S);
	sim_reboot(w->sim, node_of(w, "h7"), 2 * MONO_S);
}

static void change(struct world *w, uint64_t *dice)
{
	static const char *const names[] = { "h3", "h5", "h6", "leaf2", "leaf3", "spine1" };
	int node = node_of(w, names[random_next(dice) % ARRAY_SIZE(names)]);
	struct place was;

	switch (random_next(dice) % 6) {
	case 0:
		sim_link_flap(w->sim, node, 1, MONO_S);
		break;
	case 1:
		sim_reboot(w->sim, node, (mono_t)(random_next(dice) % 60) * MONO_S);
		break;
	case 2:
		sim_set_desc(w->sim, node, random_next(dice) & 1 ? "another" : "an other");
		break;
	case 3:
		sim_unplug(w->sim, node_of(w, "h5"), 1);
		sim_move(w->sim, node_of(w, "h6"), 1, h5_at.node, h5_at.port);
		sim_plug(w->sim, node_of(w, "h5"), 1, h6_at.node, h6_at.port);
		was = h5_at;
		h5_at = h6_at;
		h6_at = was;
		break;
	case 4:
		replace_hcas(w, random_next(dice) % 3);
		break;
	case 5:
		sim_link_enable(w->sim, node, 2, random_next(dice) & 1);
		break;
	}
}

static void random_changes_are_judged_as_a_look_at_all_would(void **st)
{
	struct world *w = *st;
	uint64_t dice = 7;
	unsigned most = 0;

	w->conf->expected_topology_cap = 100;
	free(w->conf->expected_topology_description);
	w->conf->expected_topology_description = xstrdup("enforce");
	start_plain(w);
	save_file(w);
	h5_at = place_of(w, "h5");
	h6_at = place_of(w, "h6");
	adapters[0] = sim_node_guid(w->sim, node_of(w, "h3"));
	adapters[1] = sim_node_guid(w->sim, node_of(w, "h7"));
	adapters[2] = 0xABC0;
	rig_kill(w->rig, (unsigned)rig_find(w->rig, "h0"));
	start_with(w, dir[0]);
	for (unsigned i = 0; i < 150; i++) {
		change(w, &dice);
		run_for(w, (mono_t)(random_next(&dice) % 15000) * MONO_MS);
		assert_ptr_equal(rig_master(w->rig), w->sm);
		assert_verdicts(w);
		most = MAX(most, flawed(w));
	}
	assert_true(most > 2);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void reload_file(struct world *w)
{
	_cleanup_(conf_unrefp) struct conf *conf = conf_copy(w->conf);
	_cleanup_(conf_files_unrefp) struct conf_files *files =
		conf_files_read(conf, sm_files(w->sm));

	sm_reload(w->sm, conf, files);
}

static void what_was_read_of_a_former_file_does_not_count(void **st)
{
	struct world *w = *st;
	FILE *out;

	choose(w);
	learn(w, two_cables, "");
	start_with(w, dir[0]);
	run_for(w, 30 * MONO_S);
	out = fopen(file, "w");
	fputs("0x1,1,what\n", out);
	fclose(out);
	listen_for(w, "the last good one stays in force");
	w->rig->job_time = 20 * MONO_S;
	reload_file(w);
	write_file(w, NULL, "");
	w->rig->job_time = 0;
	reload_file(w);
	run_for(w, 60 * MONO_S);
	assert_false(w->said);
	assert_null(shown(w).refused);
	assert_int_equal(shown(w).cables, 24);
	assert_int_equal(shown(w).held, 0);
	assert_true(is_good(w));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_expected, close_expected)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(random_lives_never_arm_it),
		TEST(cables_that_did_not_change_are_not_judged_again),
		TEST(random_changes_are_judged_as_a_look_at_all_would),
		TEST(what_was_read_of_a_former_file_does_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
