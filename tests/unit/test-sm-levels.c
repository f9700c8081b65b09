// SPDX-License-Identifier: BSD-2-Clause
/*
 * Levels of a QoS policy beside engines that give SLs by path: which SL hosts are told, and whether
 * paths of all levels together can block each other. SLs come from subnet administration, VLs from
 * the tables of the devices; lanewalk finds the cycles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ib/records.h"
#include "sim/gen/gen.h"
#include "tests/lib/client.h"
#include "tests/lib/lanewalk.h"
#include "tests/lib/rig.h"
#include "tests/lib/scratch.h"
#include "util/mem.h"

#define NO_PATH (-1)
#define ANY_SL	(-1)

/* What a request says of its service; the policy has a level for each. */
enum service { BULK, SILVER, GOLD, N_LEVELS, BLOCKED = N_LEVELS };

/* SLs 0, 1 and 2 are the levels, and 3 is thrown away. */
#define THREE_LEVELS "0,1,2,15,0,0,0,0,0,0,0,0,0,0,0,0"
#define ONE_LEVEL    "0,0,0,15,0,0,0,0,0,0,0,0,0,0,0,0"

static const char policy[] =
	"qos-ulps\ndefault : 0\n"
	"any, service-id 1 : 1\nany, service-id 2 : 2\nany, service-id 3 : 3\nend-qos-ulps\n";

struct world {
	struct rig *rig;
	struct sim *sim;
	struct conf *conf;
	struct client *client;
	unsigned n_hosts;
};

static int host(const struct world *w, unsigned h)
{
	char name[16];

	snprintf(name, sizeof(name), "h%u", h);
	return sim_find(w->sim, name);
}

static struct world *world_new(const char *engine, const char *sl2vl)
{
	static const char *const torus[] = { "torus", "5", "4", "1", "1" };
	struct world *w = xcalloc(1, sizeof(*w));
	struct netfile *net = gen_words(ARRAY_SIZE(torus), torus, (char[160]){ 0 }, 160);

	w->conf = conf_new();
	free(w->conf->routing_engine);
	w->conf->routing_engine = xasprintf("%s,no_fallback", engine);
	w->conf->nue_max_num_vls = 0;
	w->conf->qos = true;
	w->conf->qos_sl2vl = xstrdup(sl2vl);
	free(w->conf->qos_policy_file);
	w->conf->qos_policy_file = scratch_file(policy);
	w->sim = sim_new(net, 7);
	w->rig = rig_new(w->sim);
	netfile_free(net);
	assert_int_equal(rig_start(w->rig, "h0", 0, w->conf, NULL), 0);
	rig_run(w->rig, sim_now(w->sim) + 5 * MONO_S);
	w->client = client_new(w->sim, "h1");
	assert_non_null(w->client);
	while (host(w, w->n_hosts) >= 0)
		w->n_hosts++;
	return w;
}

static void world_freep(struct world **w)
{
	client_free((*w)->client);
	rig_free((*w)->rig);
	conf_unref((*w)->conf);
	free(*w);
}
#define _world_ _cleanup_(world_freep) struct world *

static const struct sl2vl *lanes(const struct world *w)
{
	const struct routes *r = sm_routes(w->rig->sms[0].sm);

	assert_non_null(r);
	assert_non_null(r->lanes);
	return r->lanes;
}

static lid_t lid_of(const struct world *w, unsigned h)
{
	return sim_port_lid(w->sim, host(w, h), 1);
}

/* The SL of a PathRecord, as any host gets it. `sl`: the one that the request insists on. */
static int path_sl(struct world *w, unsigned from, unsigned to, enum service service, int sl)
{
	uint8_t record[PR_BYTES] = { 0 };
	struct question q = {
		.method = MAD_GET,
		.attr = SA_PATH_RECORD,
		.mask = SA_COMP(PR_SLID) | SA_COMP(PR_DLID) | SA_COMP(PR_NUMB_PATH) |
			SA_COMP(PR_SERVICE_ID_MSB) | SA_COMP(PR_SERVICE_ID_LSB) |
			SA_COMP(PR_REVERSIBLE),
		.data = record,
		.len = PR_BYTES,
	};
	struct transport_event ev;
	int ret;

	ib_put(record, PR_SLID, lid_of(w, from));
	ib_put(record, PR_DLID, lid_of(w, to));
	ib_put(record, PR_SERVICE_ID_LSB, service);
	ib_put(record, PR_REVERSIBLE, 1);
	ib_put(record, PR_NUMB_PATH, 1);
	if (sl != ANY_SL) {
		ib_put(record, PR_SL, (unsigned)sl);
		q.mask |= SA_COMP(PR_SL);
	}
	if (client_ask(w->client, w->rig, &q, &ev))
		return NO_PATH;
	ret = (int)ib_get(client_record(&ev), PR_SL);
	free(ev.whole);
	return ret;
}

/* Adds the paths of all pairs of hosts in this level. */
static void walk_level(struct world *w, enum service service, struct lanewalk *walk)
{
	for (unsigned a = 0; a < w->n_hosts; a++)
		for (unsigned b = 0; b < w->n_hosts; b++) {
			int sl = a == b ? 0 : path_sl(w, a, b, service, ANY_SL);

			assert_true(sl >= 0);
			if (a != b)
				assert_true(lanewalk_add(walk, lid_of(w, a), lid_of(w, b),
							 (unsigned)sl));
		}
}

static void levels_do_not_block_each_other(void **state)
{
	static const struct {
		const char *engine;
		unsigned fit;
	} cases[] = { { "nue", 3 }, { "dfsssp", 2 }, { "lash", 2 }, { "torus-2QoS", 2 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_world_ w = world_new(cases[i].engine, THREE_LEVELS);
		_cleanup_(lanewalk_freep) struct lanewalk *all = lanewalk_new(w->sim);
		uint16_t seen = 0;
		unsigned fit = lanes(w)->n_levels;

		print_message("%s: %u levels of %u VLs\n", cases[i].engine, fit,
			      sl2vl_own_vls(lanes(w)));
		assert_true(fit >= cases[i].fit);
		for (enum service s = BULK; s < N_LEVELS; s++) {
			_cleanup_(lanewalk_freep) struct lanewalk *own = lanewalk_new(w->sim);

			walk_level(w, s, own);
			walk_level(w, s, all);
			assert_false(lanewalk_has_cycle(own));
			if (s < fit)
				assert_int_equal(lanewalk_vls(own) & seen, 0);
			seen |= lanewalk_vls(own);
		}
		assert_false(lanewalk_has_cycle(all));
	}
}

static const char *const engines[] = { "nue", "dfsssp", "lash", "torus-2QoS" };

/* Asked again with the SL that was told, there is a path; with any other SL there is none. */
static void a_request_may_insist_on_the_sl_of_its_path_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		_world_ w = world_new(engines[i], i % 2 ? ONE_LEVEL : THREE_LEVELS);

		for (enum service s = BULK; s < N_LEVELS; s++)
			for (unsigned to = 2; to < w->n_hosts; to += 3) {
				int told = path_sl(w, 1, to, s, ANY_SL);

				assert_true(told >= 0);
				for (int sl = 0; sl < 16; sl++)
					if (path_sl(w, 1, to, s, sl) != (sl == told ? sl : NO_PATH))
						fail_msg("%s, level %u, to h%u: told SL %d, asked "
							 "with SL %d", engines[i], s, to, told, sl);
			}
	}
}

/* Whether or not the engine's tables would carry it. */
static void an_sl_that_gets_no_vl_has_no_path(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		for (unsigned levels = 1; levels <= 3; levels += 2) {
			_world_ w = world_new(engines[i], levels == 1 ? ONE_LEVEL : THREE_LEVELS);

			assert_true(path_sl(w, 1, 5, GOLD, ANY_SL) >= 0);
			for (int sl = ANY_SL; sl < 16; sl++)
				assert_int_equal(path_sl(w, 1, 5, BLOCKED, sl), NO_PATH);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_do_not_block_each_other),
		cmocka_unit_test(a_request_may_insist_on_the_sl_of_its_path_alone),
		cmocka_unit_test(an_sl_that_gets_no_vl_has_no_path),
	};

	return cmocka_run_group_tests_name("sm-levels", tests, NULL, NULL);
}
