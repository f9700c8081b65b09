// SPDX-License-Identifier: BSD-2-Clause
/*
 * VLs in virtual time: a ring and an engine of the test's own that needs four of them. SLs come
 * from subnet administration, VLs from the tables of the devices; lanewalk finds the cycles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ib/records.h"
#include "plan/slvl.h"
#include "sim/gen/gen.h"
#include "route/core/engine.h"
#include "tests/lib/client.h"
#include "tests/lib/lanewalk.h"
#include "tests/lib/rig.h"
#include "util/log.h"
#include "util/mem.h"

#define SWITCHES 6
#define HOSTS	 2 /* at each */
#define PORTS	 (HOSTS + 2)
#define N_HOSTS	 (SWITCHES * HOSTS)

/* ---- the engine ----------------------------------------------------------------------------- */

enum scheme {
	WITH_LANES,  /* the shorter way round; paths that pass the end of the ring have SL 1 */
	SHIFTED,     /* the same with SLs 2 and 3 */
	MULTICAST0,  /* WITH_LANES, and groups need SL 0 */
	ON_A_LINE,   /* never past the end of the ring: no lanes are needed */
	REFUSED,     /* no tables at all */
};

static unsigned refusals;

enum class { TO_HOST, ONWARD, BACK, N_CLASSES };

struct ring {
	const struct topo *t;
	uint32_t pos[SWITCHES];
	uint8_t onward[SWITCHES], back[SWITCHES]; /* ports */
};

static bool look(const struct topo *t, struct ring *ret)
{
	uint32_t at = 0, from = TOPO_NONE;

	*ret = (struct ring){ .t = t };
	if (t->n_switches != SWITCHES)
		return false;
	for (unsigned n = 0; n < SWITCHES; n++) {
		uint32_t next = TOPO_NONE;

		ret->pos[at] = n;
		for (unsigned p = t->switches[at].n_ports; p > 0; p--) {
			uint32_t sw = topo_port(t, at, p)->sw;

			if (sw == TOPO_NONE)
				continue;
			if (sw != from && (from != TOPO_NONE || next == TOPO_NONE)) {
				next = sw;
				ret->onward[at] = (uint8_t)p;
			} else {
				ret->back[at] = (uint8_t)p;
			}
		}
		if (next == TOPO_NONE)
			return false;
		from = at;
		at = next;
	}
	return at == 0;
}

static bool goes_on(const struct ring *r, enum scheme scheme, uint32_t src, uint32_t dst)
{
	unsigned far = (r->pos[dst] + SWITCHES - r->pos[src]) % SWITCHES;

	return scheme == ON_A_LINE ? r->pos[dst] > r->pos[src] : far <= SWITCHES / 2;
}

static void route_lid(const struct ring *r, enum scheme scheme, struct routes *to, lid_t lid,
		      uint32_t dst, uint8_t port)
{
	for (uint32_t sw = 0; sw < SWITCHES; sw++)
		routes_row(to, sw)[lid] = sw == dst				 ? port
					  : goes_on(r, scheme, sw, dst) ? r->onward[sw]
									: r->back[sw];
}

static struct sl2vl *make_lanes(const struct ring *r, enum scheme scheme, uint32_t row_size)
{
	struct sl2vl *l = sl2vl_new(r->t, 4, SL2VL_BY_SWITCHES, row_size, N_CLASSES);
	const struct topo_switch *last = &r->t->switches[SWITCHES - 1];
	unsigned shift = scheme == SHIFTED ? 2 : 0;

	l->sl_mask = 3;
	l->mcast_mask_zero = scheme == MULTICAST0;
	l->class_of = xcalloc(last->first_port + last->n_ports + 1u, 1);
	for (uint32_t s = 0; s < SWITCHES; s++) {
		l->class_of[r->t->switches[s].first_port + r->onward[s]] = ONWARD;
		l->class_of[r->t->switches[s].first_port + r->back[s]] = BACK;
		for (uint32_t d = 0; d < SWITCHES; d++) {
			bool on = goes_on(r, scheme, s, d);
			bool wraps = on ? r->pos[d] < r->pos[s] : r->pos[d] > r->pos[s];

			l->sl[s * SWITCHES + d] = (uint8_t)(shift + wraps);
		}
	}
	for (unsigned in = 0; in < N_CLASSES; in++) {
		for (unsigned out = 0; out < N_CLASSES; out++) {
			for (unsigned sl = 0; sl < SL2VL_SLS; sl++) {
				bool back = out == BACK || (out == TO_HOST && in == ONWARD);

				l->vl[(in * N_CLASSES + out) * SL2VL_SLS + sl] =
					(uint8_t)(sl % 2 + 2 * back);
			}
		}
	}
	return l;
}

static enum scheme scheme_now;

static struct routes *compute(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	const struct topo *t = job->topo;
	struct routes *ret;
	struct ring r;

	if (!look(t, &r) || scheme_now == REFUSED) {
		snprintf(why, why_len, "no ring (asked %u times)", ++refusals);
		return NULL;
	}
	ret = routes_new(t, "ring", t->max_lid);
	memset(ret->lft, LFT_NO_PORT, (size_t)t->n_switches * ret->row_size);
	for (uint32_t i = 0; i < t->n_hosts; i++)
		if (t->hosts[i].sw != TOPO_NONE)
			route_lid(&r, scheme_now, ret, t->hosts[i].lid, t->hosts[i].sw,
				  t->hosts[i].sw_port);
	for (uint32_t s = 0; s < SWITCHES; s++)
		route_lid(&r, scheme_now, ret, t->switches[s].lid, s, 0);
	if (scheme_now != ON_A_LINE)
		ret->lanes = make_lanes(&r, scheme_now, ret->row_size);
	return ret;
}

static const struct route_engine ring_engine = { .name = "ring", .compute_with = compute };
static const struct route_engines engines = { .rows = &ring_engine, .n = 1 };

/* ---- the fabric ----------------------------------------------------------------------------- */

struct world {
	struct rig *rig;
	struct sim *sim;
	struct conf *conf;
	struct client *client;
	unsigned ups;
};

static struct world *world_on(struct netfile *net, const char *engine)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->conf = conf_new();
	w->conf->routing_engine = xasprintf("%s,no_fallback", engine);
	w->conf->force_heavy_sweep = true;
	w->sim = sim_new(net, 7);
	w->rig = rig_new(w->sim);
	w->rig->engines = &engines;
	netfile_free(net);
	return w;
}

static struct world *world_new(enum scheme scheme)
{
	scheme_now = scheme;
	return world_on(gen_ring(SWITCHES, HOSTS), "ring");
}

static void run_for(struct world *w, mono_t t)
{
	rig_run(w->rig, sim_now(w->sim) + t);
}

static void start(struct world *w)
{
	assert_int_equal(rig_start(w->rig, "h0", 0, w->conf, NULL), 0);
	run_for(w, 5 * MONO_S);
	w->client = client_new(w->sim, "h1");
	assert_non_null(w->client);
}

static void world_free(struct world *w)
{
	client_free(w->client);
	rig_free(w->rig);
	conf_unref(w->conf);
	free(w);
}

static int host(const struct world *w, unsigned h)
{
	char name[16];

	snprintf(name, sizeof(name), "h%u", h);
	return sim_find(w->sim, name);
}

static uint64_t sl2vl_sets(const struct world *w)
{
	return sim_count(w->sim, IB_ATTR_SL2VL, MAD_SET);
}

static uint64_t vlarb_sets(const struct world *w)
{
	return sim_count(w->sim, IB_ATTR_VLARB, MAD_SET);
}

/*
 * The SL of a PathRecord, as any host gets it; -1: no record. `sl` 0..15: asked for with this SL.
 */
static int path_sl(struct world *w, lid_t slid, lid_t dlid, int sl)
{
	uint8_t record[PR_BYTES] = { 0 };
	struct question q = {
		.method = MAD_GET,
		.attr = SA_PATH_RECORD,
		.mask = SA_COMP(PR_SLID) | SA_COMP(PR_DLID) | SA_COMP(PR_NUMB_PATH),
		.data = record,
		.len = PR_BYTES,
	};
	struct transport_event ev;
	int ret;

	ib_put(record, PR_SLID, slid);
	ib_put(record, PR_DLID, dlid);
	ib_put(record, PR_NUMB_PATH, 1);
	if (sl >= 0) {
		ib_put(record, PR_SL, (unsigned)sl);
		q.mask |= SA_COMP(PR_SL);
	}
	if (client_ask(w->client, w->rig, &q, &ev))
		return -1;
	ret = (int)ib_get(client_record(&ev), PR_SL);
	free(ev.whole);
	return ret;
}

static unsigned n_hosts(const struct world *w)
{
	unsigned n = 0;

	while (host(w, n) >= 0)
		n++;
	return n;
}

/* All pairs of hosts: `asked` with the SLs of PathRecords, else with SL 0. */
static struct lanewalk *walk_all(struct world *w, bool asked)
{
	struct lanewalk *walk = lanewalk_new(w->sim);
	unsigned n = n_hosts(w);

	for (unsigned a = 0; a < n; a++) {
		for (unsigned b = 0; b < n; b++) {
			lid_t slid = sim_port_lid(w->sim, host(w, a), 1),
			      dlid = sim_port_lid(w->sim, host(w, b), 1);
			int sl = asked && a != b ? path_sl(w, slid, dlid, -1) : 0;

			assert_true(sl >= 0);
			if (a != b)
				assert_true(lanewalk_add(walk, slid, dlid, (unsigned)sl));
		}
	}
	return walk;
}

static void assert_proved(struct world *w, uint16_t vls)
{
	_cleanup_(lanewalk_freep) struct lanewalk *walk = walk_all(w, true);

	assert_false(lanewalk_has_cycle(walk));
	assert_int_equal(lanewalk_vls(walk), vls);
}

/* ---- tests ---------------------------------------------------------------------------------- */

/* Rows of a switch whose ports are all up: by every port in, port 0 too, and every port out. */
#define ROWS (SWITCHES * (PORTS + 1) * PORTS)

static void paths_do_not_block_each_other(void **state)
{
	struct world *w = world_new(WITH_LANES);

	start(w);
	assert_proved(w, 0xF);
	assert_int_equal(sl2vl_sets(w), ROWS + N_HOSTS);
	assert_int_equal(vlarb_sets(w), 2 * (SWITCHES * PORTS + N_HOSTS));
	{
		/* The judge can see it: with one SL they would. */
		_cleanup_(lanewalk_freep) struct lanewalk *walk = walk_all(w, false);

		assert_true(lanewalk_has_cycle(walk));
	}
	world_free(w);
}

static void a_second_sweep_writes_nothing(void **state)
{
	struct world *w = world_new(WITH_LANES);
	uint64_t sets;

	start(w);
	sets = sim_sets(w->sim);
	run_for(w, 60 * MONO_S);
	assert_int_equal(sim_sets(w->sim), sets);
	world_free(w);
}

/* Sets as `opensm --plan` has them. */
static uint64_t planned_sets(const struct world *w, bool wildcards)
{
	struct qos_plan plan;

	qos_plan_make(w->conf, sm_routes(w->rig->sms[0].sm), &plan);
	return slvl_count(&plan, sm_routes(w->rig->sms[0].sm)->topo, wildcards);
}

static void rows_that_are_alike_go_in_one_set(void **state)
{
	struct world *w = world_new(WITH_LANES);

	for (unsigned i = 0; i < sim_n_nodes(w->sim); i++)
		sim_set_optimized_sl2vl(w->sim, (int)i, sim_node_is_switch(w->sim, (int)i));
	start(w);
	assert_proved(w, 0xF);
	/* The most common row for all; then out to the ring one Set, and to hosts by port. */
	assert_int_equal(sl2vl_sets(w), planned_sets(w, true));
	world_free(w);
}

/* It says that it can, and refuses. */
static void who_refuses_many_gets_one_after_the_other(void **state)
{
	struct world *w = world_new(WITH_LANES);
	int s2 = sim_find(w->sim, "s2");

	sim_set_optimized_sl2vl(w->sim, s2, true);
	start(w);
	assert_proved(w, 0xF);
	sim_reboot(w->sim, s2, 100 * MONO_MS);
	sim_set_optimized_sl2vl(w->sim, s2, false);
	run_for(w, 30 * MONO_S);
	assert_proved(w, 0xF);
	assert_true(rig_master(w->rig) && sm_stats(rig_master(w->rig))->up);
	world_free(w);
}

static void a_query_for_another_sl_gets_no_path(void **state)
{
	struct world *w = world_new(WITH_LANES);
	lid_t from, to;
	int sl;

	start(w);
	from = sim_port_lid(w->sim, host(w, 1), 1);
	to = sim_port_lid(w->sim, host(w, N_HOSTS / 2), 1);
	sl = path_sl(w, from, to, -1);
	assert_int_equal(path_sl(w, from, to, sl), sl);
	assert_int_equal(path_sl(w, from, to, sl ^ 1), -1);
	assert_int_equal(path_sl(w, from, to, sl | 4), sl | 4); /* not a bit of the scheme */
	world_free(w);
}

/*
 * Ports are told the SL of their way to the manager, and the manager's answers have the one of the
 * way back.
 */
static void the_way_to_the_manager_has_its_lane(void **state)
{
	struct world *w = world_new(SHIFTED);
	lid_t sm;

	start(w);
	sm = sim_port_lid(w->sim, host(w, 0), 1);
	for (unsigned h = 1; h < N_HOSTS; h++) {
		uint8_t info[SMP_DATA_SIZE];
		int sl = path_sl(w, sim_port_lid(w->sim, host(w, h), 1), sm, -1);

		assert_true(sl == 2 || sl == 3);
		assert_int_equal(sim_read(w->sim, host(w, h), IB_ATTR_PORT_INFO, 1, info), 0);
		assert_int_equal(ib_get(info, PI_MASTER_SM_SL), sl);
	}
	world_free(w);
}

static void a_switch_that_lost_power_gets_its_lanes_again(void **state)
{
	struct world *w = world_new(WITH_LANES);
	uint64_t before;

	start(w);
	/* found gone; or back before a sweep looked */
	for (unsigned unseen = 0; unseen < 2; unseen++) {
		before = sl2vl_sets(w);
		rig_freeze(w->rig, 0, unseen);
		sim_reboot(w->sim, sim_find(w->sim, "s3"), 200 * MONO_MS);
		run_for(w, 400 * MONO_MS);
		rig_freeze(w->rig, 0, false);
		run_for(w, 40 * MONO_S);
		assert_proved(w, 0xF);
		assert_true(sl2vl_sets(w) - before >= (PORTS + 1) * PORTS);
	}
	world_free(w);
}

/* No engine takes the fabric any more: tables stay, also through a loss of power. */
static void tables_of_before_stay_in_force(void **state)
{
	struct world *w = world_new(WITH_LANES);
	uint64_t before;

	start(w);
	scheme_now = REFUSED;
	before = sl2vl_sets(w);
	sim_reboot(w->sim, sim_find(w->sim, "s3"), 200 * MONO_MS);
	sim_reboot(w->sim, host(w, 1), 200 * MONO_MS);
	run_for(w, 90 * MONO_S);
	assert_true(strlen(sm_no_routes(w->rig->sms[0].sm)) > 0);
	assert_false(sm_stats(w->rig->sms[0].sm)->up);
	assert_int_equal(sim_port_state(w->sim, host(w, 1), 1), IB_PORT_ACTIVE);
	assert_proved(w, 0xF);
	assert_true(sl2vl_sets(w) - before >= (PORTS + 1) * PORTS);
	scheme_now = WITH_LANES;
	run_for(w, 90 * MONO_S);
	assert_string_equal(sm_no_routes(w->rig->sms[0].sm), "");
	assert_true(sm_stats(w->rig->sms[0].sm)->up);
	assert_proved(w, 0xF);
	world_free(w);
}

static void count_refusals(void *arg, unsigned bits, const char *text)
{
	*(unsigned *)arg += strstr(text, "routing engine ring: no ring") != NULL;
}

/* Whatever figures the reason has; and again when it was taken in between. */
static void a_refusal_is_told_once(void **state)
{
	struct world *w = world_new(REFUSED);
	unsigned told = 0;

	refusals = 0;
	log_set_sink(count_refusals, &told);
	start(w);
	run_for(w, 90 * MONO_S);
	assert_true(refusals > 2);
	assert_int_equal(told, 1);
	scheme_now = WITH_LANES;
	run_for(w, 90 * MONO_S);
	scheme_now = REFUSED;
	sim_reboot(w->sim, sim_find(w->sim, "s3"), 200 * MONO_MS);
	sim_link_down(w->sim, host(w, 1), 1);
	run_for(w, 90 * MONO_S);
	assert_int_equal(told, 2);
	log_set_sink(NULL, NULL);
	world_free(w);
}

static void lost_sets_are_sent_again(void **state)
{
	struct world *w = world_new(WITH_LANES);

	sim_set_loss(w->sim, 10, 10);
	start(w);
	run_for(w, 60 * MONO_S);
	sim_set_loss(w->sim, 0, 0);
	run_for(w, 30 * MONO_S);
	assert_proved(w, 0xF);
	world_free(w);
}

static void assert_built_in(struct world *w)
{
	for (unsigned i = 0; i < sim_n_nodes(w->sim); i++) {
		if (!sim_node_is_switch(w->sim, (int)i))
			continue;
		for (unsigned in = 0; in <= PORTS; in++) {
			for (unsigned out = 1; out <= PORTS; out++) {
				uint8_t row[SMP_DATA_SIZE];

				assert_int_equal(
					sim_read(w->sim, (int)i, IB_ATTR_SL2VL, in << 8 | out, row),
					0);
				for (unsigned sl = 0; sl < 8; sl++)
					assert_int_equal(ib_bits_get(row, sl * 4, 4), sl);
			}
		}
	}
}

static void lanes_that_nobody_needs_any_more_go(void **state)
{
	struct world *w = world_new(WITH_LANES);
	uint64_t sets;

	start(w);
	scheme_now = ON_A_LINE;
	run_for(w, 15 * MONO_S);
	assert_int_equal(path_sl(w, sim_port_lid(w->sim, host(w, 1), 1),
				 sim_port_lid(w->sim, host(w, 9), 1), -1),
			 0);
	assert_built_in(w);
	sets = sim_sets(w->sim);
	run_for(w, 30 * MONO_S);
	assert_int_equal(sim_sets(w->sim), sets);
	scheme_now = SHIFTED;
	run_for(w, 15 * MONO_S);
	assert_proved(w, 0xF);
	world_free(w);
}

static void who_has_no_lanes_is_left_alone(void **state)
{
	struct world *w = world_new(ON_A_LINE);

	start(w);
	run_for(w, 30 * MONO_S);
	assert_int_equal(sl2vl_sets(w) + vlarb_sets(w), 0);
	assert_int_equal(sim_count(w->sim, IB_ATTR_SL2VL, MAD_GET) +
				 sim_count(w->sim, IB_ATTR_VLARB, MAD_GET),
			 0);
	world_free(w);
}

/* What is there after a restart is written over, blindly, and once. */
static void a_new_manager_makes_sure(void **state)
{
	struct world *w = world_new(WITH_LANES);
	uint64_t sets;

	start(w);
	client_free(w->client);
	rig_kill(w->rig, 0);
	assert_true(rig_start(w->rig, "h0", 0, w->conf, NULL) >= 0);
	run_for(w, 20 * MONO_S);
	assert_int_equal(sl2vl_sets(w), 2 * (ROWS + N_HOSTS));
	sets = sim_sets(w->sim);
	run_for(w, 30 * MONO_S);
	assert_int_equal(sim_sets(w->sim), sets);
	w->client = client_new(w->sim, "h1");
	assert_proved(w, 0xF);
	world_free(w);
}

/*
 * A table is written to by others, without a trap: light sweeps read one cell of each switch in
 * turn.
 */
static void a_row_that_was_changed_is_found(void **state)
{
	struct world *w = world_new(WITH_LANES);
	const struct smp_head head = {
		.method = MAD_SET, .attr = IB_ATTR_SL2VL, .mod = 1u << 8 | 2, .tid = 7
	};
	int s2 = sim_find(w->sim, "s2");
	uint8_t row[SMP_DATA_SIZE] = { 0 }, before[SMP_DATA_SIZE], mad[MAD_SIZE];
	struct transport_addr to = { .qp = 0 };
	struct transport *vandal;

	w->conf->force_heavy_sweep = false;
	w->conf->sweep_interval = 1;
	start(w);
	assert_int_equal(sim_read(w->sim, s2, IB_ATTR_SL2VL, 1 << 8 | 2, before), 0);
	vandal = sim_attach(w->sim, "h9", 0);
	assert_non_null(vandal);
	to.lid = sim_port_lid(w->sim, s2, 0);
	smp_build_lid(mad, &head, row);
	assert_int_equal(transport_send(vandal, &to, mad, sizeof(mad), 1000), 0);
	run_for(w, 10 * MONO_MS);
	assert_int_equal(sim_read(w->sim, s2, IB_ATTR_SL2VL, 1 << 8 | 2, row), 0);
	assert_memory_not_equal(row, before, sizeof(row));
	run_for(w, 800 * MONO_S);
	assert_int_equal(sim_read(w->sim, s2, IB_ATTR_SL2VL, 1 << 8 | 2, row), 0);
	assert_memory_equal(row, before, sizeof(row));
	world_free(w);
}

/* A manager without need of VLs finds SL2VL tables of another one, and clears them once. */
static void lanes_of_a_manager_before_go(void **state)
{
	struct world *w = world_new(WITH_LANES);
	uint64_t sets;

	w->conf->force_heavy_sweep = false;
	start(w);
	rig_kill(w->rig, 0);
	scheme_now = ON_A_LINE;
	assert_true(rig_start(w->rig, "h3", 0, w->conf, NULL) >= 0);
	run_for(w, 5 * MONO_S);
	assert_built_in(w);
	assert_int_equal(sim_count(w->sim, IB_ATTR_VLARB, MAD_GET), SWITCHES); /* no cold one's */
	sets = sim_sets(w->sim);
	run_for(w, 45 * MONO_S);
	assert_int_equal(sim_sets(w->sim), sets);
	world_free(w);
}

/* A port that cannot be told which VL to use does not come up; what it holds up is only itself. */
static void no_port_is_armed_without_its_lanes(void **state)
{
	struct world *w = world_new(WITH_LANES);
	int h5 = host(w, 5);

	sim_set_silent(w->sim, h5, SIM_SILENT_SET, IB_ATTR_SL2VL);
	start(w);
	assert_int_equal(sim_port_state(w->sim, h5, 1), IB_PORT_INIT);
	assert_int_equal(sim_port_state(w->sim, host(w, 4), 1), IB_PORT_ACTIVE);
	sim_set_silent(w->sim, h5, SIM_ANSWERS, 0);
	run_for(w, 60 * MONO_S);
	assert_proved(w, 0xF);
	world_free(w);
}

static void groups_get_an_sl_that_they_may_have(void **state)
{
	struct world *w = world_new(MULTICAST0);
	const uint8_t mgid[16] = { 0xFF, 0x12, 0xA0, 0x1C, [15] = 9 };
	uint8_t record[MCM_BYTES];
	struct transport_event ev;
	struct question q;

	start(w);
	q = client_join(w->client, MAD_SET, mgid, 1, record);
	ib_put(record, MCM_SL, 5);
	assert_int_equal(client_ask(w->client, w->rig, &q, &ev), 0);
	assert_int_equal(ib_get(client_record(&ev), MCM_SL), 4);
	free(ev.whole);
	assert_int_equal(client_ask(w->client, w->rig, &q, &ev), 0); /* and again */
	free(ev.whole);
	world_free(w);
}

/* Engines of ours where they need lanes, or may. */
static void lanes_of_real_engines_hold(void **state)
{
	static const struct {
		const char *net[5], *engine;
		bool qos, optimized;
	} cases[] = {
		{ { "torus", "5", "4", "1", "1" }, "lash", .qos = true },
		{ { "torus", "5", "4", "1", "1" }, "dfsssp", .optimized = true },
		{ { "torus", "5", "4", "1", "1" }, "auto", .optimized = true },
		{ { "ring", "7", "2" }, "nue", .qos = false },
		{ { "ring", "6", "2" }, "dfsssp", .qos = true },
		{ { "dragonfly", "5", "4", "1" }, "dragonfly", .optimized = true },
		{ { "dragonfly", "5", "4", "1" }, "auto", .qos = true },
		{ { "hypercube", "4", "1" }, "auto", .qos = false },
		{ { "slim-fly", "5", "1" }, "auto", .qos = true },
		{ { "slim-fly", "5", "1" }, "minhop", .optimized = true },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct lanewalk *walk;
		struct world *w;
		unsigned n = 0;

		for (; n < 5 && cases[i].net[n]; n++)
			;
		w = world_on(gen_words(n, cases[i].net, (char[160]){ 0 }, 160), cases[i].engine);
		w->conf->qos = cases[i].qos;
		w->conf->nue_max_num_vls = 0;
		for (unsigned k = 0; k < sim_n_nodes(w->sim); k++)
			sim_set_optimized_sl2vl(w->sim, (int)k,
						cases[i].optimized && k % 4 &&
							sim_node_is_switch(w->sim, (int)k));
		start(w);
		walk = walk_all(w, true);
		assert_false(lanewalk_has_cycle(walk));
		if (!cases[i].optimized)
			assert_int_equal(sl2vl_sets(w), planned_sets(w, false));
		lanewalk_free(walk);
		world_free(w);
	}
}

/*
 * Cables come and go, switches lose power, SMPs get lost. In the end all is as it should be on
 * every device.
 */
static void lanes_outlive_faults(void **state)
{
	static const char *const nets[][5] = { { "torus", "4", "4", "1", "1" },
					       { "dragonfly", "5", "4", "1" },
					       { "slim-fly", "5", "1" } };
	const char *env = getenv("TEST_SEED");
	unsigned first = env ? (unsigned)strtoul(env, NULL, 10) : 1, last = env ? first : 6;

	for (unsigned seed = first; seed <= last; seed++) {
		const char *const *words = nets[seed % ARRAY_SIZE(nets)];
		unsigned short r[3] = { 1, 2, (unsigned short)seed };
		unsigned count = words[4] ? 5 : words[3] ? 4 : 3;
		struct world *w = world_on(gen_words(count, words, (char[160]){ 0 }, 160), "auto");
		unsigned n = sim_n_nodes(w->sim), first_switch = n_hosts(w);

		w->conf->qos = seed % 4 == 0;
		for (unsigned k = first_switch; k < n; k++)
			sim_set_optimized_sl2vl(w->sim, (int)k, seed % 3 == 0);
		start(w);
		sim_set_loss(w->sim, 2, 2);
		for (unsigned event = 0; event < 12; event++) {
			int sw = (int)(first_switch + (unsigned)nrand48(r) % (n - first_switch));
			unsigned port = 1 + (unsigned)nrand48(r) % 5;
			int peer;

			/* The manager's own switch stays: the rest of the test needs it. */
			if (event % 4 == 3 &&
			    !(sim_peer(w->sim, host(w, 0), 1, &peer, &port) && peer == sw))
				sim_reboot(w->sim, sw, (1 + nrand48(r) % 300) * MONO_MS);
			else if (sim_peer(w->sim, sw, port, &peer, &(unsigned){ 0 }) &&
				 peer != host(w, 0))
				sim_link_flap(w->sim, sw, port,
					      (mono_t)(nrand48(r) % 3000) * MONO_MS);
			run_for(w, (mono_t)(nrand48(r) % 4000) * MONO_MS);
		}
		sim_set_loss(w->sim, 0, 0);
		run_for(w, 200 * MONO_S);
		{
			_cleanup_(lanewalk_freep) struct lanewalk *walk = walk_all(w, true);

			if (lanewalk_has_cycle(walk))
				fail_msg("TEST_SEED=%u: paths can block each other", seed);
		}
		world_free(w);
	}
}

/*
 * test-sm-lanes ENGINE KIND NUMBER...: what tables cost; QOS=1 with qos_*, OPTIMIZED=1 where
 * switches can.
 */
static int bench(int argc, char **argv)
{
	const char *const *words = (const char *const *)argv + 2;
	struct world *w =
		world_on(gen_words((unsigned)argc - 2, words, (char[160]){ 0 }, 160), argv[1]);
	clock_t t = clock();

	w->conf->qos = getenv("QOS");
	for (unsigned i = 0; i < sim_n_nodes(w->sim) && getenv("OPTIMIZED"); i++)
		sim_set_optimized_sl2vl(w->sim, (int)i, sim_node_is_switch(w->sim, (int)i));
	for (unsigned sweeps = 1; sweeps <= 3; sweeps++) {
		if (sweeps == 1)
			assert_int_equal(rig_start(w->rig, "h0", 0, w->conf, NULL), 0);
		run_for(w, 10 * MONO_S);
		printf("%u: %.2f s CPU, %llu Sets, %llu SL2VL, %llu VLArb\n", sweeps,
		       (double)(clock() - t) / CLOCKS_PER_SEC, (unsigned long long)sim_sets(w->sim),
		       (unsigned long long)sl2vl_sets(w), (unsigned long long)vlarb_sets(w));
		t = clock();
	}
	world_free(w);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_do_not_block_each_other),
		cmocka_unit_test(a_second_sweep_writes_nothing),
		cmocka_unit_test(rows_that_are_alike_go_in_one_set),
		cmocka_unit_test(who_refuses_many_gets_one_after_the_other),
		cmocka_unit_test(a_query_for_another_sl_gets_no_path),
		cmocka_unit_test(the_way_to_the_manager_has_its_lane),
		cmocka_unit_test(a_switch_that_lost_power_gets_its_lanes_again),
		cmocka_unit_test(tables_of_before_stay_in_force),
		cmocka_unit_test(a_refusal_is_told_once),
		cmocka_unit_test(lost_sets_are_sent_again),
		cmocka_unit_test(lanes_that_nobody_needs_any_more_go),
		cmocka_unit_test(who_has_no_lanes_is_left_alone),
		cmocka_unit_test(a_new_manager_makes_sure),
		cmocka_unit_test(lanes_of_a_manager_before_go),
		cmocka_unit_test(a_row_that_was_changed_is_found),
		cmocka_unit_test(no_port_is_armed_without_its_lanes),
		cmocka_unit_test(groups_get_an_sl_that_they_may_have),
		cmocka_unit_test(lanes_of_real_engines_hold),
		cmocka_unit_test(lanes_outlive_faults),
	};

	if (argc > 2)
		return bench(argc, argv);
	return cmocka_run_group_tests_name("sm-lanes", tests, NULL, NULL);
}
