// SPDX-License-Identifier: BSD-2-Clause
/*
 * The attack table of security.md, row by row and all mixed, from a host with root: no other device
 * changes, other hosts are answered, the manager's work is bounded, and each class of attack is one
 * record that names the switch port of the host.
 *
 * ATTACK_MADS: forged MADs of the mix (20,000; a million by hand: 15 s), ATTACK_SEED: another mix.
 * LOUD=1 shows the log.
 * Rows 13 to 15 are tests/scenario/identity.scn, test-sm-lies and the last test here, 17 is
 * test-sm-keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sm/sm_internal.h"
#include "tests/lib/attack.h"
#include "tests/lib/rounds.h"
#include "util/log.h"
#include "util/mem.h"

#define A_SECOND  1000u /* forged MADs */
#define ASK_EVERY 10u

struct desk {
	struct attack *a;
	unsigned events[32];		     /* of each class */
	unsigned errors;		     /* that name the host */
	uint64_t heavy_gets;		     /* of one heavy sweep */
	uint64_t quiet_gets, n_gets, n_sets; /* in as much time without an attack; with it */
};

static void on_line(void *arg, unsigned bits, const char *text)
{
	struct desk *d = arg;

	if (getenv("LOUD"))
		fprintf(stderr, "%02x %s\n", bits, text);
	if (!d->a || !(bits & LOGB_ERROR))
		return;
	d->errors += strstr(text, d->a->place) != NULL;
	for (unsigned i = 0; i < attack_n_classes; i++)
		d->events[i] += attack_is_event(d->a, &attack_classes[i], text);
}

static uint64_t sent(const struct desk *d, uint8_t method)
{
	const struct mad_count *rows;
	uint64_t n = 0;
	unsigned n_rows;

	rows = mad_counts(sm_mad(d->a->sm), &n_rows);
	for (unsigned i = 0; i < n_rows; i++)
		n += rows[i].method == method ? rows[i].sent : 0;
	return n;
}

static void run(struct desk *d, mono_t t)
{
	attack_run(d->a, t);
	log_set_now(sim_now(d->a->sim));
}

/* What a heavy sweep costs, and `t` without an attack. */
static void measure(struct desk *d, mono_t t)
{
	uint64_t before = sent(d, MAD_GET);

	sm_request_heavy(d->a->sm, NULL);
	run(d, 5 * MONO_S);
	d->heavy_gets = sent(d, MAD_GET) - before;
	before = sent(d, MAD_GET);
	run(d, t);
	d->quiet_gets = sent(d, MAD_GET) - before;
}

static struct desk *desk_new(unsigned hosts)
{
	struct desk *d = xcalloc(1, sizeof(*d));
	const char *seed = getenv("ATTACK_SEED");

	log_set_sink(on_line, d);
	d->a = attack_new(hosts, seed ? strtoull(seed, NULL, 0) : 1);
	log_set_now(sim_now(d->a->sim));
	return d;
}

static struct desk *desk_free(struct desk *d)
{
	log_set_sink(NULL, NULL);
	attack_free(d->a);
	free(d);
	return NULL;
}

/* `n` MADs of a class (NULL: of all, its own port in the second half), other hosts in between. */
static void flood(struct desk *d, const struct attack_class *c, unsigned n)
{
	uint64_t n_gets = sent(d, MAD_GET), n_sets = sent(d, MAD_SET);

	for (unsigned i = 0; i < n; i++) {
		if (c)
			attack_send(d->a, c);
		else
			attack_any(d->a, i < n / 2 ? ATTACK_OTHERS : ATTACK_ALL);
		if (i % ASK_EVERY == 0)
			attack_ask(d->a);
		run(d, MONO_S / A_SECOND);
		attack_hear(d->a);
	}
	d->n_gets = sent(d, MAD_GET) - n_gets;
	d->n_sets = sent(d, MAD_SET) - n_sets;
	run(d, 3 * MONO_S);
	attack_hear(d->a);
}

/* ---- what is judged ------------------------------------------------------------------------- */

static void assert_nothing_changed(struct desk *d, enum attack_reach reach)
{
	const char *name;
	unsigned n = attack_changed(d->a, reach, &name);

	if (n)
		fail_msg("%u devices changed, %s is one of them", n, name);
}

static void assert_others_served(struct desk *d)
{
	struct attack *a = d->a;
	uint8_t record[MCM_BYTES], mgid[16] = { 0xFF, 0x12, 0xA0, 0xB1, [15] = 1 };
	struct question q = client_join(a->honest[0], MAD_SET, mgid, MC_FULL, record);
	struct transport_event ev = { 0 };
	struct sim_verdict v;

	assert_int_equal(a->wrong, 0);
	assert_int_equal(a->answered, a->asked);
	assert_int_equal(sm_state(a->sm), SM_MASTER);
	sim_check_all(a->sim, &v);
	if (!sim_verdict_good(&v))
		fail_msg("%s", v.first);
	ib_put(record, MCM_PKEY, 0x8001);
	assert_int_equal(client_ask(a->honest[0], a->rig, &q, &ev), 0);
	free(ev.whole);
	q = client_join(a->honest[0], MAD_SA_DELETE, mgid, MC_FULL, record);
	assert_int_equal(client_ask(a->honest[0], a->rig, &q, &ev), 0);
	free(ev.whole);
}

/* More than without an attack: `heavy` sweeps, and one Get for so many forged MADs. */
#define MADS_A_GET 10
static void assert_work_bounded(struct desk *d, unsigned heavy, unsigned n)
{
	assert_in_range(d->n_gets, 0, d->quiet_gets + heavy * d->heavy_gets + n / MADS_A_GET);
	/* Own GUIDs and keys of the host itself, written again. */
	assert_in_range(d->n_sets, 0, n / 100);
}

static void assert_one_event(struct desk *d, unsigned i)
{
	const struct attack_class *c = &attack_classes[i];

	if (c->event && d->events[i] != 1)
		fail_msg("%s: %u events", c->name, d->events[i]);
}

/* ---- all rows ------------------------------------------------------------------------------- */

static void all_rows_mixed_change_nothing(void **state)
{
	const char *asked = getenv("ATTACK_MADS");
	unsigned n = asked ? (unsigned)atoi(asked) : 20000;
	struct desk *d = desk_new(32); /* 1,024 hosts */
	uint32_t used, before, max;

	measure(d, (mono_t)n * MONO_S / A_SECOND);
	sa_mlids(sm_sa(d->a->sm), &before, &max);
	attack_look(d->a);
	flood(d, NULL, n);
	print_message("%u forged MADs in %u s: %u Gets (without them %u, a heavy sweep %u), "
		      "%u Sets, %u records\n",
		      n, n / A_SECOND, (unsigned)d->n_gets, (unsigned)d->quiet_gets,
		      (unsigned)d->heavy_gets, (unsigned)d->n_sets, d->errors);
	assert_nothing_changed(d, ATTACK_ANYWHERE);
	assert_work_bounded(d, 6, n);
	sa_mlids(sm_sa(d->a->sm), &used, &max);
	assert_in_range(used, before, before + d->a->conf->sa_etm_max_num_mcgs);
	assert_true(used < max / 2);
	assert_others_served(d);
	run(d, 600 * MONO_S);
	assert_nothing_changed(d, ATTACK_ANYWHERE);
	for (unsigned i = 0; i < attack_n_classes; i++)
		assert_one_event(d, i);
	desk_free(d);
}

static void each_row_alone_changes_nothing(void **state)
{
	for (unsigned i = 0; i < attack_n_classes; i++) {
		struct desk *d = desk_new(4);
		unsigned n = 2000;

		measure(d, (mono_t)n * MONO_S / A_SECOND);
		attack_look(d->a);
		flood(d, &attack_classes[i], n);
		assert_nothing_changed(d, ATTACK_ANYWHERE);
		assert_work_bounded(d, 3, n);
		assert_others_served(d);
		run(d, 600 * MONO_S);
		assert_nothing_changed(d, ATTACK_ANYWHERE);
		assert_one_event(d, i);
		desk_free(d);
	}
}

/* Questions of others while time goes by. */
static void work_for(struct desk *d, unsigned seconds)
{
	for (unsigned i = 0; i < 10 * seconds; i++) {
		attack_ask(d->a);
		run(d, MONO_S / 10);
		attack_hear(d->a);
	}
}

/* Rows 13 and 14: on the wire again as the victim, as a switch, as a host that can do little. */
static void lies_and_flaps_reach_no_further_than_its_switch(void **state)
{
	struct desk *d = desk_new(32);
	struct attack *a = d->a;
	unsigned flaps = test_rounds(60);
	guid_t own = sim_node_guid(a->sim, a->node);
	const guid_t lies[] = { a->victim - 1, sim_node_guid(a->sim, a->leaf), own };

	measure(d, flaps * MONO_S);
	attack_look(a);
	d->n_gets = sent(d, MAD_GET);
	for (unsigned i = 0; i < flaps; i++) { /* row 15: a flap in each second */
		sim_set_guid(a->sim, a->node, lies[i / 5 % ARRAY_SIZE(lies)]);
		sim_set_caps(a->sim, a->node, IB_MTU_256, 1);
		sim_ignore(a->sim, a->node, true);
		assert_int_equal(sim_link_flap(a->sim, a->node, 1, MONO_S / 10), 0);
		work_for(d, 1);
		assert_nothing_changed(d, ATTACK_BEYOND_LEAF);
	}
	d->n_gets = sent(d, MAD_GET) - d->n_gets;
	print_message("%u flaps: %u Gets, without them %u\n", flaps, (unsigned)d->n_gets,
		      (unsigned)d->quiet_gets);
	assert_in_range(d->n_gets, 0, d->quiet_gets + flaps * 120);
	assert_others_served(d);
	sim_set_guid(a->sim, a->node, own);
	run(d, 1200 * MONO_S);
	assert_nothing_changed(d, ATTACK_BEYOND_LEAF);
	assert_others_served(d);
	desk_free(d);
}

#define ROW(f) cmocka_unit_test(f)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		ROW(all_rows_mixed_change_nothing),
		ROW(each_row_alone_changes_nothing),
		ROW(lies_and_flaps_reach_no_further_than_its_switch),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
