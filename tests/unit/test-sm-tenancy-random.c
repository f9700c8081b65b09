// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random lives of partitions at run time: many requests at once, faults of hosts and links, crashes
 * of the manager. A model is changed as answers say; in the end devices hold what the model says,
 * and at no answer does a device hold what was taken away.
 *
 * SEED=n and N=count choose what the test does; LOUD=1 shows the seed.
 */
#include "tenancy-desk.h"
#include "util/random.h"

#define N_KEYS	  8
#define FIRST_KEY 0x10u
#define IN_FLIGHT 64

struct life {
	struct desk *d;
	uint64_t random;
	/* As stored: 0 no member, else 1 + full. A crash leaves what was not answered in doubt. */
	uint8_t member[N_KEYS][N_HOSTS];
	bool in_doubt[N_KEYS][N_HOSTS];
	struct flight {
		struct life *life;
		bool is_out;
		unsigned key, host;
		uint8_t value;
		uint64_t order;
	} flights[IN_FLIGHT];
	uint64_t order, decided[N_KEYS][N_HOSTS]; /* order of the request that counts */
	unsigned n_done, n_pending, n_unconfirmed;
};

static unsigned pick(struct life *l, unsigned n)
{
	return (unsigned)(random_next(&l->random) >> 32) % n;
}

/* The device must not hold what is taken away; unless the same was given again meanwhile. */
static void check_taken(struct life *l, const struct flight *f)
{
	if (f->value || l->decided[f->key][f->host] > f->order)
		return;
	if (getenv("LOUD"))
		fprintf(stderr, "answered: h%u loses 0x%04x: %s, link state %d\n", f->host,
			FIRST_KEY + f->key, sm_tenancy_pending(sm_of(l->d), l->d->guid[f->host]),
			host_state(l->d, f->host));
	assert_false(switch_holds(l->d, f->host, FIRST_KEY + f->key) &&
		     host_holds(l->d, f->host, FIRST_KEY + f->key) &&
		     host_state(l->d, f->host) == IB_PORT_ACTIVE);
	assert_false(switch_holds(l->d, f->host, (FIRST_KEY + f->key) | 0x8000) &&
		     host_holds(l->d, f->host, (FIRST_KEY + f->key) | 0x8000) &&
		     host_state(l->d, f->host) == IB_PORT_ACTIVE);
}

static void on_flight(void *arg, const struct sm_tenancy_result *r)
{
	struct flight *f = arg;
	struct life *l = f->life;

	f->is_out = false;
	assert_true(r->end == SM_TENANCY_DONE || r->end == SM_TENANCY_UNCONFIRMED);
	l->n_done++;
	l->n_pending += r->n_pending > 0;
	l->n_unconfirmed += r->end == SM_TENANCY_UNCONFIRMED;
	if (l->decided[f->key][f->host] == f->order)
		l->in_doubt[f->key][f->host] = false;
	if (r->end == SM_TENANCY_DONE)
		check_taken(l, f);
}

static bool ask_random(struct life *l)
{
	struct flight *f = l->flights;
	struct tenant_member member;
	struct tenant_request rq = { .members = &member, .n_members = 1, .keep_empty = true };

	while (f < l->flights + IN_FLIGHT && f->is_out)
		f++;
	if (f == l->flights + IN_FLIGHT)
		return false;
	*f = (struct flight){
		l, true, pick(l, N_KEYS), pick(l, N_HOSTS), (uint8_t)pick(l, 3), ++l->order
	};
	member = (struct tenant_member){ l->d->guid[f->host], f->value == 2, false };
	rq.action = f->value ? TENANT_ADD : TENANT_REMOVE;
	rq.pkey = (uint16_t)(FIRST_KEY + f->key);
	l->member[f->key][f->host] = f->value;
	l->decided[f->key][f->host] = f->order;
	l->in_doubt[f->key][f->host] = true;
	sm_tenancy_request(sm_of(l->d), &rq, true, false, on_flight, f);
	return true;
}

static void wait_for_all(struct life *l)
{
	mono_t until = sim_now(l->d->rig->sim) + 60 * MONO_S;
	unsigned open;

	do {
		open = 0;
		for (unsigned i = 0; i < IN_FLIGHT; i++)
			open += l->flights[i].is_out;
	} while (open && rig_step(l->d->rig, until));
	assert_int_equal(open, 0);
}

static void check_host(const struct life *l, unsigned key, unsigned host)
{
	bool limited = l->member[key][host] == 1, full = l->member[key][host] == 2;

	if (l->in_doubt[key][host])
		return;
	assert_int_equal(host_holds(l->d, host, FIRST_KEY + key), limited);
	assert_int_equal(switch_holds(l->d, host, FIRST_KEY + key), limited);
	assert_int_equal(host_holds(l->d, host, (FIRST_KEY + key) | 0x8000), full);
	assert_int_equal(switch_holds(l->d, host, (FIRST_KEY + key) | 0x8000), full);
}

static void check_all(const struct life *l)
{
	for (unsigned key = 0; key < N_KEYS; key++) {
		for (unsigned host = 0; host < N_HOSTS; host++)
			check_host(l, key, host);
	}
}

/* Before the first answer is checked against the model, both begin with nothing. */
static void life_new(struct life *l, void **state, uint64_t seed)
{
	*l = (struct life){ .d = *state, .random = seed };
	for (unsigned i = 0; i < IN_FLIGHT; i++)
		l->flights[i].life = l;
}

static unsigned number_of(const char *name, unsigned otherwise)
{
	return getenv(name) ? (unsigned)atoi(getenv(name)) : otherwise;
}

/* Within a second: two Sets each at most, and none is lost. */
static void a_thousand_changes_in_a_second(void **state)
{
	struct life l;
	mono_t began;
	uint64_t before;

	life_new(&l, state, number_of("SEED", 1));
	run_for(l.d, 5 * MONO_S);
	began = sim_now(l.d->rig->sim);
	before = sim_sets(l.d->rig->sim);
	for (unsigned i = 0; i < 1000; i++) {
		while (!ask_random(&l))
			run_for(l.d, 100);
		if (sim_now(l.d->rig->sim) < began + i * MONO_MS)
			run_for(l.d, MONO_MS);
	}
	wait_for_all(&l);
	assert_int_equal(l.n_done, 1000);
	assert_int_equal(l.n_unconfirmed + l.n_pending, 0);
	assert_true(sim_sets(l.d->rig->sim) - before <= 2000);
	check_all(&l);
}

static void break_random(struct life *l)
{
	int host = host_node(l->d, 1 + pick(l, N_HOSTS - 1));

	switch (pick(l, 6)) {
	case 0:
		sim_reboot(l->d->rig->sim, host, pick(l, 3000) * MONO_MS);
		break;
	case 1:
		sim_link_flap(l->d->rig->sim, host, 1, pick(l, 2000) * MONO_MS);
		break;
	case 2:
		sim_set_silent(l->d->rig->sim, host, SIM_SILENT, 0);
		break;
	case 3:
		sim_set_silent(l->d->rig->sim, host, SIM_ANSWERS, 0);
		break;
	case 4:
		sim_set_loss(l->d->rig->sim, pick(l, 3), pick(l, 3));
		break;
	case 5:
		sm_request_heavy(sm_of(l->d), NULL);
		break;
	}
}

static void mend_all(struct life *l)
{
	sim_set_loss(l->d->rig->sim, 0, 0);
	for (unsigned i = 0; i < N_HOSTS; i++)
		sim_set_silent(l->d->rig->sim, host_node(l->d, i), SIM_ANSWERS, 0);
}

/* kill -9: what was not answered may be so or not. */
static void crash(struct life *l)
{
	for (unsigned i = 0; i < IN_FLIGHT; i++) {
		struct flight *f = &l->flights[i];

		if (f->is_out && l->decided[f->key][f->host] == f->order)
			l->in_doubt[f->key][f->host] = true;
	}
	rig_kill(l->d->rig, l->d->sm);
	memset(l->flights, 0, sizeof(l->flights));
	for (unsigned i = 0; i < IN_FLIGHT; i++)
		l->flights[i].life = l;
	start(l->d);
}

static void live(struct life *l, unsigned steps, bool crashes)
{
	for (unsigned i = 0; i < steps; i++) {
		ask_random(l);
		if (pick(l, 12) == 0)
			break_random(l);
		run_for(l->d, pick(l, 100) * MONO_MS);
		if (crashes && pick(l, 60) == 0) {
			mend_all(l);
			crash(l);
		}
	}
	mend_all(l);
	wait_for_all(l);
	run_for(l->d, 120 * MONO_S);
	check_all(l);
}

static void faults_of_hosts_and_links(void **state)
{
	struct life l;

	life_new(&l, state, number_of("SEED", 2));
	live(&l, number_of("N", 300), false);
}

static void crashes_of_the_manager(void **state)
{
	struct life l;

	life_new(&l, state, number_of("SEED", 3));
	live(&l, number_of("N", 300), true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_thousand_changes_in_a_second),
		TEST(faults_of_hosts_and_links),
		TEST(crashes_of_the_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
