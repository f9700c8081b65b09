// SPDX-License-Identifier: BSD-2-Clause
/*
 * The manager and SIGHUP (tests/scenario/hup.scn has what it costs): a sweep has one configuration,
 * options of routing come to the same as a start with them, and jobs outlive the manager that
 * handed them out.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "sm/routing/route_memory.h"
#include "sm/routing/route_runner.h"
#include "sm/sm_internal.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

#define JOINED	"Default=0x7fff: ALL=full;\nOne=0x1: 0x%1$016lx=full;\n"
#define SEVERED "Default=0x7fff: ALL=full;\nTwo=0x2: 0x%1$016lx=full;\n"

struct place {
	struct rig *rig;
	struct conf *conf;
	char dir[SCRATCH_PATH], *partitions, *order;
};

static guid_t guid_of(const struct place *pl, const char *node)
{
	uint8_t ni[SMP_DATA_SIZE];

	assert_int_equal(
		sim_read(pl->rig->sim, sim_find(pl->rig->sim, node), IB_ATTR_NODE_INFO, 0, ni), 0);
	return ib_get(ni, NI_PORT_GUID);
}

static void put_partitions(const struct place *pl, const char *format)
{
	FILE *f = fopen(pl->partitions, "w");

	assert_non_null(f);
	fprintf(f, format, guid_of(pl, "h1"));
	assert_int_equal(fclose(f), 0);
}

static struct place *place_new(void)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 3, 1);
	struct place *pl = xcalloc(1, sizeof(*pl));

	scratch_folder(pl->dir);
	pl->partitions = xasprintf("%s/partitions", pl->dir);
	pl->order = xasprintf("%s/order", pl->dir);
	pl->rig = rig_new(sim_new(net, 1));
	pl->conf = conf_new();
	pl->conf->port_state_poll_interval = 0; /* Gets are counted */
	free(pl->conf->partition_config_file);
	pl->conf->partition_config_file = xstrdup(pl->partitions);
	put_partitions(pl, JOINED);
	return pl;
}

static void place_free(struct place *pl)
{
	rig_free(pl->rig);
	conf_unref(pl->conf);
	unlink(pl->partitions);
	unlink(pl->order);
	assert_int_equal(rmdir(pl->dir), 0);
	free(pl->partitions);
	free(pl->order);
	free(pl);
}

static void run_for(struct place *pl, mono_t t)
{
	rig_run(pl->rig, sim_now(pl->rig->sim) + t);
}

static struct place *place_up(void)
{
	struct place *pl = place_new();

	assert_int_equal(rig_start(pl->rig, "h0", 0, pl->conf, NULL), 0);
	run_for(pl, 15 * MONO_S);
	assert_true(sm_stats(rig_master(pl->rig))->up);
	return pl;
}

static struct sm *sm_of(const struct place *pl)
{
	return pl->rig->sms[0].sm;
}

/* SIGHUP as daemon.c serves it: `conf` and the files that are there now. */
static void hup(struct place *pl, const struct conf *conf)
{
	_cleanup_(conf_files_unrefp) struct conf_files *files =
		conf_files_read(conf, sm_files(sm_of(pl)));

	sm_reload(sm_of(pl), conf, files);
}

static bool holds(const struct place *pl, unsigned key)
{
	uint8_t payload[SMP_DATA_SIZE];

	assert_int_equal(sim_read(pl->rig->sim, sim_find(pl->rig->sim, "h1"), IB_ATTR_PKEY_TABLE, 0,
				  payload),
			 0);
	for (unsigned i = 0; i < PKEYS_PER_BLOCK; i++)
		if (ib_bits_get(payload, i * 16, 16) == key)
			return true;
	return false;
}

/* ---- what it costs --------------------------------------------------------------------------- */

struct cost {
	uint64_t n_gets, n_sets;
};

/* SMPs of two seconds between two light sweeps. */
static struct cost cost_of(struct place *pl, const struct conf *conf)
{
	struct sim *sim = pl->rig->sim;
	struct cost c;

	while (sim_now(sim) % (10 * MONO_S) > MONO_S)
		run_for(pl, MONO_S / 2);
	run_for(pl, 4 * MONO_S);
	c = (struct cost){ sim_gets(sim), sim_sets(sim) };
	if (conf)
		hup(pl, conf);
	else
		sm_reload_refused(sm_of(pl));
	run_for(pl, 2 * MONO_S);
	return (struct cost){ sim_gets(sim) - c.n_gets, sim_sets(sim) - c.n_sets };
}

/* ---- when it comes into force ---------------------------------------------------------------- */

static void a_sweep_has_one_configuration(void **state)
{
	struct place *pl = place_up();
	struct conf *conf = conf_copy(pl->conf);
	struct sm *sm = sm_of(pl);

	conf->subnet_timeout = 17;
	sm_request_heavy(sm, NULL);
	while (!sm_sweeping(sm))
		rig_step(pl->rig, MONO_NEVER);
	put_partitions(pl, SEVERED);
	hup(pl, conf);
	while (sm_sweeping(sm)) {
		assert_int_equal(sm_conf(sm)->subnet_timeout, 18);
		assert_non_null(partitions_find(sm_partitions(sm), 1));
		rig_step(pl->rig, MONO_NEVER);
	}
	assert_int_equal(sm_conf(sm)->subnet_timeout, 17);
	run_for(pl, 5 * MONO_S);
	assert_true(holds(pl, 0x8002));
	assert_false(holds(pl, 0x8001));
	conf_unref(conf);
	place_free(pl);
}

/*
 * Of several that come while one sweep runs the last counts; what is not wanted any more is gone.
 */
static void the_last_of_several_counts(void **state)
{
	struct place *pl = place_up();
	struct sm *sm = sm_of(pl);
	unsigned sweeps = sm_stats(sm)->heavy_sweeps;

	sm_request_heavy(sm, NULL);
	while (!sm_sweeping(sm))
		rig_step(pl->rig, MONO_NEVER);
	for (unsigned i = 0; i < 1000; i++) {
		_cleanup_(conf_unrefp) struct conf *conf = conf_copy(pl->conf);

		conf->subnet_timeout = 10 + i % 8;
		put_partitions(pl, i % 2 ? SEVERED : JOINED);
		hup(pl, conf);
	}
	run_for(pl, 5 * MONO_S);
	assert_int_equal(sm_conf(sm)->subnet_timeout, 10 + 999 % 8);
	assert_true(holds(pl, 0x8002));
	assert_int_equal(sm_stats(sm)->heavy_sweeps - sweeps, 1);
	assert_in_range(sm_stats(sm)->dirty_sweeps, 1, 2);
	place_free(pl);
}

/* The port vanishes, and with it the manager; the next one goes on with what held. */
static void change_ports(struct place *pl)
{
	struct sm_heritage h;

	sm_bequeath(sm_of(pl), &h);
	rig_kill(pl->rig, 0);
	pl->rig->n_sms = 0;
	assert_int_equal(rig_start(pl->rig, "h0", 0, pl->conf, NULL), 0);
	sm_inherit(sm_of(pl), &h);
	sm_heritage_clear(&h);
	run_for(pl, 15 * MONO_S);
}

static void a_pulled_cable_takes_nothing_over(void **state)
{
	struct place *pl = place_up();

	put_partitions(pl, SEVERED);
	sm_reload_refused(sm_of(pl));
	change_ports(pl);
	assert_true(holds(pl, 0x8001));
	assert_false(holds(pl, 0x8002));
	place_free(pl);
}

/* Without a file every port may talk to every other: at a start, not because a port was away. */
static void a_pulled_cable_opens_nothing(void **state)
{
	static const char only_one[] = "Default=0x7fff: SELF=full;\nOne=0x1: 0x%1$016lx=full;\n";
	struct place *pl = place_new();

	put_partitions(pl, only_one);
	assert_int_equal(rig_start(pl->rig, "h0", 0, pl->conf, NULL), 0);
	run_for(pl, 15 * MONO_S);
	unlink(pl->partitions);
	change_ports(pl);
	assert_true(holds(pl, 0x8001));
	assert_false(holds(pl, 0xFFFF));
	/* That it was gone is known to the next one too. */
	change_ports(pl);
	assert_false(holds(pl, 0xFFFF));
	put_partitions(pl, SEVERED);
	sm_request_heavy(sm_of(pl), NULL);
	run_for(pl, 3 * MONO_S);
	assert_true(holds(pl, 0x8002));
	place_free(pl);
}

/* ---- routes ---------------------------------------------------------------------------------- */

/* Last port first: nothing like the order in which an engine would go by itself. */
static void put_order(const struct place *pl)
{
	FILE *f = fopen(pl->order, "w");
	char name[8];

	assert_non_null(f);
	for (unsigned h = 15; h > 0; h--) {
		snprintf(name, sizeof(name), "h%u", h);
		fprintf(f, "0x%016lx\n", guid_of(pl, name));
	}
	assert_int_equal(fclose(f), 0);
}

static struct conf *with_order(const struct place *pl)
{
	struct conf *conf = conf_copy(pl->conf);

	conf->guid_routing_order_file = xstrdup(pl->order);
	return conf;
}

static bool same_routes(const struct routes *a, const struct routes *b)
{
	assert_int_equal(a->topo->n_switches, b->topo->n_switches);
	assert_int_equal(a->row_size, b->row_size);
	for (uint32_t s = 0; s < a->topo->n_switches; s++)
		if (memcmp(routes_row(a, s), routes_row(b, s), a->row_size))
			return false;
	return true;
}

static void lists_of_routing_come_to_the_same_as_at_a_start(void **state)
{
	struct place *reloaded = place_up(), *started = place_new();
	_cleanup_(routes_unrefp) struct routes *plain = NULL;
	struct conf *conf = with_order(reloaded);

	put_order(reloaded);
	put_order(started);
	started->conf->guid_routing_order_file = xstrdup(started->order);
	assert_int_equal(rig_start(started->rig, "h0", 0, started->conf, NULL), 0);
	run_for(started, 15 * MONO_S);
	plain = routes_ref(sm_routes(sm_of(reloaded)));
	assert_int_equal(cost_of(reloaded, conf).n_gets, 0);
	assert_false(same_routes(plain, sm_routes(sm_of(reloaded))));
	assert_true(same_routes(sm_routes(sm_of(started)), sm_routes(sm_of(reloaded))));
	conf_unref(conf);
	place_free(reloaded);
	place_free(started);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

struct held {
	struct sm_job *jobs[64];
	unsigned n;
};

static void hold_job(void *arg, struct sm_job *job)
{
	struct held *h = arg;

	h->jobs[h->n++] = job;
}

static void end_job(struct held *h, unsigned i)
{
	struct sm_job *job = h->jobs[i];

	h->jobs[i] = h->jobs[--h->n];
	job->run(job);
	job->done(job);
}

static bool waits_for(const struct held *h, const char *what)
{
	for (unsigned i = 0; i < h->n; i++)
		if (!strcmp(h->jobs[i]->what, what))
			return true;
	return false;
}

/* Runs until a job of this kind is out; all others end at once. */
static void run_until_out(struct sim *sim, struct sm *sm, struct held *h, const char *what)
{
	for (unsigned i = 0; i < 1000000 && !waits_for(h, what); i++) {
		while (h->n)
			end_job(h, 0);
		if (sm_stats(sm)->up)
			sm_shutdown(sm);
		sim_advance(sim,
			    mono_min(sim_now(sim) + MONO_S, mono_min(sim_next(sim), sm_next(sm))));
		sm_dispatch(sm, sim_now(sim));
	}
	if (!waits_for(h, what))
		fail_msg("no job for %s", what);
}

/* The port vanishes while a job is out: with the manager gone the job ends, and touches nothing. */
static void jobs_outlive_their_manager(void **state)
{
	static const char *const kinds[] = { "routing", "saving state", "saving partitions",
					     "saving the SA database" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct place *pl = place_new();
		struct transport *tr = sim_attach(pl->rig->sim, "h0", 0);
		char dir[SCRATCH_PATH];
		struct held h = { 0 };
		const struct sm_hooks hooks = { .submit_job = hold_job, .arg = &h };
		const char *cache = scratch_folder(dir);
		const struct sm_paths paths = { .cache_dir = cache, .dump_dir = cache };
		struct sm *sm;

		pl->conf->sa_db_dump = true;
		sm = sm_new(pl->conf, tr, &paths, &hooks);
		run_until_out(pl->rig->sim, sm, &h, kinds[i]);
		for (unsigned k = 0; k < h.n; k++)
			h.jobs[k]->orphan = true;
		sm_free(sm);
		transport_close(tr);
		while (h.n)
			end_job(&h, 0);
		scratch_remove(dir);
		place_free(pl);
	}
}

/* ---- routing engines that died, and processes for them --------------------------------------- */

static const char *out_of(const struct place *pl, char *ret, size_t cap)
{
	sm_engines_out(sm_of(pl), ret, cap);
	return ret;
}

/* Only options of routing let them be asked again at once. */
static void an_engine_that_died_stays_out_until_routing_is_configured_otherwise(void **state)
{
	struct place *pl = place_up();
	struct conf *same = conf_copy(pl->conf), *other = conf_copy(pl->conf),
		    *routed = conf_copy(pl->conf);
	struct route_report died = { .n_deaths = 1, .deaths = { { .engine = "lash" } } };
	char text[200];

	other->sweep_interval++;
	routed->port_shifting = !routed->port_shifting;
	route_memory_note(sm_of(pl)->m.route_memory, NULL, &died, NULL, NULL, sm_of(pl)->now);
	assert_non_null(strstr(out_of(pl, text, sizeof(text)), "lash"));
	hup(pl, same);
	run_for(pl, 2 * MONO_S);
	assert_non_null(strstr(out_of(pl, text, sizeof(text)), "lash"));
	hup(pl, other);
	run_for(pl, 2 * MONO_S);
	assert_non_null(strstr(out_of(pl, text, sizeof(text)), "lash"));
	hup(pl, routed);
	run_for(pl, 2 * MONO_S);
	assert_string_equal(out_of(pl, text, sizeof(text)), "");
	conf_unref(same);
	conf_unref(other);
	conf_unref(routed);
	place_free(pl);
}

/* There is no process to be had. */
static void run_impossibly(void *arg, const struct run_order *order, struct run_result *ret)
{
	++*(unsigned *)arg;
	*ret = (struct run_result){ .end = RUN_IMPOSSIBLE, .number = EAGAIN };
}

static void without_a_process_tables_stay_and_it_is_tried_again_ever_more_rarely(void **state)
{
	struct place *pl = place_up();
	const struct routes *before = sm_routes(sm_of(pl));
	unsigned n = 0, first;
	const struct route_runner runner = { .run = run_impossibly, .arg = &n };

	assert_true(sm_routing_has_process(sm_of(pl)));
	sm_of(pl)->hooks.runner = &runner;
	sim_unplug(pl->rig->sim, sim_find(pl->rig->sim, "h1"), 1);
	run_for(pl, 20 * MONO_S);
	first = n;
	assert_in_range(first, 2, 30);
	assert_false(sm_routing_has_process(sm_of(pl)));
	assert_ptr_equal(sm_routes(sm_of(pl)), before);
	assert_non_null(strstr(sm_status_line(sm_of(pl)), "a process of its own (Resource "));
	assert_non_null(strstr(sm_no_routes(sm_of(pl)), "no process can be started for routing"));
	run_for(pl, 1800 * MONO_S);
	assert_ptr_equal(sm_routes(sm_of(pl)), before);
	assert_in_range(n - first, 5, 200);
	sm_of(pl)->hooks.runner = NULL;
	place_free(pl);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sweep_has_one_configuration),
		cmocka_unit_test(the_last_of_several_counts),
		cmocka_unit_test(a_pulled_cable_takes_nothing_over),
		cmocka_unit_test(a_pulled_cable_opens_nothing),
		cmocka_unit_test(lists_of_routing_come_to_the_same_as_at_a_start),
		cmocka_unit_test(jobs_outlive_their_manager),
		cmocka_unit_test(
			an_engine_that_died_stays_out_until_routing_is_configured_otherwise),
		cmocka_unit_test(
			without_a_process_tables_stay_and_it_is_tried_again_ever_more_rarely),
	};
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-reload", tests, NULL, NULL);
}
