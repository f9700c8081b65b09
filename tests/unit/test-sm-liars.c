// SPDX-License-Identifier: BSD-2-Clause
/*
 * Devices that say anything about their tables and capacities: the manager keeps going, keeps
 * little, and comes to rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/gen/gen.h"
#include "sim/sim.h"
#include "sm/sm_internal.h"
#include "tests/lib/rounds.h"
#include "util/log.h"
#include "util/mem.h"

enum lie {
	NOISE,	   /* every answer about a table is noise */
	FORGETFUL, /* Sets are answered as they should be, Gets with noise */
	SOMETIMES, /* one answer in four is noise */
	BOASTFUL,  /* room for 65535 keys everywhere */
	N_LIES
};

/* Stands before the simulator's transport and changes what devices say. */
struct world {
	struct transport base;
	struct transport *real;
	struct sim *sim;
	struct sm *sm;
	struct conf *conf;
	enum lie lie;
	uint32_t rng;
};

static struct world *world_of(struct transport *t)
{
	return (struct world *)t;
}

static int op_fd(struct transport *t)
{
	return -1;
}

static int op_send(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
		   size_t length, unsigned timeout_ms)
{
	return transport_send(world_of(t)->real, to, mad, length, timeout_ms);
}

static uint32_t rnd(struct world *w)
{
	w->rng = w->rng * 1664525 + 1013904223;
	return w->rng >> 8;
}

static void noise(struct world *w, uint8_t *payload)
{
	for (unsigned i = 0; i < SMP_DATA_SIZE; i++)
		payload[i] = (uint8_t)rnd(w);
}

static bool is_about_tables(const uint8_t *mad)
{
	unsigned attr = ib_get(mad, SMP_ATTR_ID);

	return port_table_of((uint16_t)attr) < N_PORT_TABLES;
}

static void lie(struct world *w, uint8_t *mad)
{
	uint8_t *payload = mad + SMP_DATA;

	switch (w->lie) {
	case NOISE:
		if (is_about_tables(mad))
			noise(w, payload);
		break;
	case FORGETFUL:
		if (is_about_tables(mad) && sm_stats(w->sm)->heavy_sweeps > 0 &&
		    !sync_running(w->sm->sync))
			noise(w, payload);
		break;
	case SOMETIMES:
		if (is_about_tables(mad) && rnd(w) % 4 == 0)
			noise(w, payload);
		break;
	case BOASTFUL:
		if (ib_get(mad, SMP_ATTR_ID) == IB_ATTR_NODE_INFO)
			ib_put(payload, NI_PARTITION_CAP, 0xFFFF);
		else if (ib_get(mad, SMP_ATTR_ID) == IB_ATTR_SWITCH_INFO)
			ib_put(payload, SI_PARTITION_ENF_CAP, 0xFFFF);
		break;
	case N_LIES:
		break;
	}
}

static int op_receive(struct transport *t, struct transport_event *ret)
{
	struct world *w = world_of(t);
	int r = transport_receive(w->real, ret);

	if (r > 0 && ret->kind == TRANSPORT_MAD &&
	    ib_get(ret->mad, SMP_CLASS) == MAD_CLASS_SMI_DR &&
	    ib_get(ret->mad, SMP_METHOD) == MAD_GET_RESP)
		lie(w, ret->mad);
	return r;
}

static int op_set_issm(struct transport *t, bool on)
{
	return 0;
}

static struct transport *op_close(struct transport *t)
{
	return NULL;
}

static void submit_job(void *arg, struct sm_job *job)
{
	job->run(job);
	job->done(job);
}

static void run_for(struct world *w, mono_t t)
{
	mono_t end = sim_now(w->sim) + t;

	while (sim_now(w->sim) < end) {
		mono_t next;

		while (sm_dispatch(w->sm, sim_now(w->sim)) > 0)
			;
		next = mono_min(mono_min(sim_next(w->sim), sm_next(w->sm)), end);
		sim_advance(w->sim, MAX(next, sim_now(w->sim) + 1));
	}
}

static struct world *world_new(enum lie how, unsigned seed)
{
	static const struct transport_ops ops = {
		.fd = op_fd, .send = op_send, .receive = op_receive,
		.set_issm = op_set_issm, .close = op_close,
	};
	static const struct sm_hooks hooks = { .submit_job = submit_job };
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 3, 1, 1);
	struct world *w = xcalloc(1, sizeof(*w));

	w->base.ops = &ops;
	w->sim = sim_new(net, seed);
	w->rng = seed;
	w->lie = how;
	w->real = sim_attach(w->sim, "h0", 0);
	w->base.port_guid = w->real->port_guid;
	w->conf = conf_new();
	free(w->conf->partition_config_file);
	w->conf->partition_config_file = xstrdup("/nonexistent");
	w->conf->qos = true;
	w->sm = sm_new(w->conf, &w->base, NULL, &hooks);
	return w;
}

static void world_free(struct world *w)
{
	sm_free(w->sm);
	transport_close(w->real);
	sim_free(w->sim);
	conf_unref(w->conf);
	free(w);
}

static uint64_t pkey_sets(const struct world *w)
{
	return sim_count(w->sim, IB_ATTR_PKEY_TABLE, MAD_SET);
}

static void want_guids(struct world *w)
{
	guid_t guids[GUID_BLOCK] = { 0, 0x0014050000000001ull };

	FABRIC_EACH_NODE(w->sm->fabric, n) {
		if (!node_is_switch(n))
			sync_want_guids(w->sm->sync, n->ports[1].guid, 1, guids);
	}
}

/*
 * Sets in the second hour. Devices that forget are written the 1st, 2nd, 4th, 8th ... time: once
 * each of 70 tables with some blocks in this hour, our own port every 64th time.
 */
static const unsigned most_sets[N_LIES] = { [FORGETFUL] = 250 };

static void the_manager_comes_to_rest(void **state)
{
	for (enum lie how = 0; how < N_LIES; how++) {
		for (unsigned seed = 1; seed <= test_rounds(5); seed++) {
			struct world *w = world_new(how, seed);
			struct sim_verdict v;
			uint64_t sets;

			run_for(w, 30 * MONO_S);
			want_guids(w);
			run_for(w, 60 * 60 * MONO_S);
			assert_int_equal(sm_state(w->sm), SM_MASTER);
			sim_check_all(w->sim, &v);
			if (!sim_verdict_good(&v))
				fail_msg("lie %u, seed %u: %s", how, seed, v.first);
			assert_in_range(cells_count(w->sm->fabric->cells), 1, 2000);
			sets = sim_sets(w->sim);
			run_for(w, 60 * 60 * MONO_S);
			if (sim_sets(w->sim) - sets > most_sets[how])
				fail_msg("lie %u, seed %u: %u more Sets in an hour", how, seed,
					 (unsigned)(sim_sets(w->sim) - sets));
			if (pkey_sets(w) > 10000)
				fail_msg("lie %u, seed %u: %u Sets", how, seed,
					 (unsigned)pkey_sets(w));
			world_free(w);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_manager_comes_to_rest) };
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-liars", tests, NULL, NULL);
}
