// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ledgers of two and three managers under faults drawn at random: processes end, freeze, are cut
 * off, lose their files or get old ones, disks are full, the fabric falls apart. Then all devices
 * hold what acknowledged changes say. Single faults are in ledger*.scn. N=40 SEED=7 ONLY=... LOUD=1
 */
#include "ledger-managers.h"
#include "sm/ledger/settle_internal.h"
#include "tests/lib/full-disk.h"

#define N_KEYS 4

/* Memberships by changes that were answered as done, and stored by a standby. */
struct storm {
	struct world *w;
	uint64_t random;
	int8_t member[N_KEYS][N_HOSTS]; /* -1: not known, as its change was not answered so */
	int number[3];			/* of the manager on h0, h11, h10 */
	unsigned n;			/* number of managers */
};

static unsigned pick(struct storm *s, unsigned n)
{
	return (unsigned)(random_next(&s->random) >> 32) % n;
}

static void check(struct storm *s)
{
	for (unsigned key = 0; key < N_KEYS; key++) {
		for (unsigned host = 1; host < N_HOSTS - 2; host++) {
			int8_t member = s->member[key][host];

			if (member < 0)
				continue;
			assert_int_equal(host_holds(s->w, host, 0x8010 + key), member);
			assert_int_equal(switch_holds(s->w, host, 0x8010 + key), member);
		}
	}
}

/* Changes of hosts `from` to `to`; what is answered counts if `with` standbys or more have it. */
static void change_some(struct storm *s, unsigned which, unsigned from, unsigned to, unsigned with)
{
	static struct answer a[4];
	unsigned n = 1 + pick(s, ARRAY_SIZE(a)), key[ARRAY_SIZE(a)], host[ARRAY_SIZE(a)];
	bool give[ARRAY_SIZE(a)];

	for (unsigned i = 0; i < n; i++) {
		key[i] = pick(s, N_KEYS);
		host[i] = from + pick(s, to - from + 1);
		give[i] = pick(s, 2);
		submit(s->w, which, give[i], 0x10 + key[i], host[i], &a[i]);
		if (s->member[key[i]][host[i]] != give[i])
			s->member[key[i]][host[i]] = -1;
	}
	run_for(s->w, pick(s, 2) ? 4 * MONO_S : pick(s, 3000) * MONO_MS / 10);
	for (unsigned i = 0; i < n; i++) {
		bool overtaken = false;

		for (unsigned k = i + 1; k < n; k++)
			overtaken |= key[k] == key[i] && host[k] == host[i];
		if (a[i].is_there && !overtaken && a[i].end == SM_TENANCY_DONE && a[i].with >= with)
			s->member[key[i]][host[i]] = give[i];
		sm_tenancy_abandon(sm_of(s->w, which), &a[i]);
	}
}

static void change_as_master(struct storm *s)
{
	struct sm *master = rig_master(s->w->rig);

	if (master && settle_may_write(master) && master->first_sweep_done)
		change_some(s, number_of(s->w, master), 1, 9, 1);
}

/* ---- faults ---- */

/* Files of a manager go to, or come from, another place. */
static void move_files(struct storm *s, unsigned which, const char *command)
{
	_cleanup_free_ char *text =
		xasprintf("cd %s%s && mkdir -p old && %s", s->w->dir[MIN(which, 1u)],
			  which == 2 ? "/third" : "", command);

	assert_int_equal(system(text), 0);
}

static void restart_with(struct storm *s, unsigned which, const char *meanwhile)
{
	rig_kill(s->w->rig, (unsigned)s->number[which]);
	move_files(s, which, meanwhile);
	run_for(s->w, pick(s, 8000) * MONO_MS);
	change_as_master(s);
	s->number[which] = (int)begin(s->w, which);
}

static void restarts(struct storm *s, unsigned which)
{
	restart_with(s, which, "true");
}

static void loses_its_rows(struct storm *s, unsigned which)
{
	restart_with(s, which, "rm -f ledger.db*");
}

static void loses_its_folder(struct storm *s, unsigned which)
{
	restart_with(s, which, "find . -maxdepth 1 -type f ! -name partitions.conf -delete");
}

/* The rows of some faults before. */
static void gets_old_rows(struct storm *s, unsigned which)
{
	restart_with(s, which, "rm -f ledger.db*; cp -a old/. .");
	move_files(s, which, "rm -rf old");
}

static void freezes(struct storm *s, unsigned which)
{
	unsigned number = (unsigned)s->number[which];

	rig_freeze(s->w->rig, number, true);
	run_for(s->w, pick(s, 12000) * MONO_MS);
	change_as_master(s);
	rig_freeze(s->w->rig, number, false);
}

static void is_cut_off(struct storm *s, unsigned which)
{
	int node = sim_find(s->w->rig->sim, ports[which]);

	sim_link_down(s->w->rig->sim, node, 1);
	run_for(s->w, pick(s, 12000) * MONO_MS);
	change_as_master(s);
	sim_link_up(s->w->rig->sim, node, 1);
}

static void has_a_full_disk(struct storm *s, unsigned which)
{
	full_store = sm_of(s->w, (unsigned)s->number[which])->m.settle->store;
	change_as_master(s);
	run_for(s->w, pick(s, 12000) * MONO_MS);
	full_store = NULL;
	run_for(s->w, 6 * MONO_S);
}

/* Both halves rule, and take changes of their own hosts. */
static void the_fabric_falls_apart(struct storm *s, unsigned which)
{
	struct world *w = s->w;

	split(w, true);
	run_for(w, 5 * MONO_S + pick(s, 20) * MONO_S);
	for (unsigned i = 0; i < s->n; i++) {
		struct sm *sm = sm_of(w, (unsigned)s->number[i]);

		if (sm->state == SM_MASTER && settle_may_write(sm) && sm->first_sweep_done)
			change_some(s, (unsigned)s->number[i], i ? 6 : 1, i ? 9 : 5, 0);
	}
	run_for(w, pick(s, 5) * MONO_S);
	split(w, false);
}

/* The first ones are those that leave a standby with all rows, and end before the next one. */
static const struct fault {
	const char *name;
	void (*meet)(struct storm *s, unsigned which);
} faults[] = {
	{ "restarts", restarts },
	{ "freezes", freezes },
	{ "is cut off", is_cut_off },
	{ "loses its folder", loses_its_folder },
#define FAULTS_OF_TWO 4
	{ "loses its rows", loses_its_rows },
	{ "gets old rows", gets_old_rows },
	{ "has a full disk", has_a_full_disk },
	{ "the fabric falls apart", the_fabric_falls_apart },
};

static void fault(struct storm *s)
{
	const struct fault *f = &faults[pick(s, s->n == 2 ? FAULTS_OF_TWO : ARRAY_SIZE(faults))];
	unsigned which = pick(s, s->n);

	change_as_master(s);
	f->meet(s, which);
	settled(s->w, s->n - 1);
	run_for(s->w, 8 * MONO_S);
	if (getenv("LOUD"))
		fprintf(stderr, "%s: %s\n", ports[which], f->name);
	check(s);
}

/* A copy of rows that are used, some faults later, in place of those of then. */
static void save_one(struct storm *s)
{
	unsigned which = pick(s, s->n);

	rig_kill(s->w->rig, (unsigned)s->number[which]);
	move_files(s, which, "cp -a ledger.db* old/");
	s->number[which] = (int)begin(s->w, which);
	settled(s->w, s->n - 1);
}

static void many_faults(struct world *w, unsigned n_managers, unsigned n_faults)
{
	struct storm s = { .w = w, .random = 5, .number = { ACTIVE, SPARE, 2 }, .n = n_managers };
	unsigned n = getenv("N") ? (unsigned)atoi(getenv("N")) : n_faults;

	if (getenv("SEED"))
		s.random = (uint64_t)atoll(getenv("SEED"));
	print_message("SEED=%llu N=%u\n", (unsigned long long)s.random, n);
	w->conf[ACTIVE]->require_standby = w->conf[SPARE]->require_standby = n_managers == 2;
	start_connected(w);
	if (n_managers == 3)
		begin(w, 2);
	settled(w, n_managers - 1);
	w->rig->job_time = 3 * MONO_MS; /* a disk: the table is ahead of it */
	for (unsigned i = 0; i < n; i++) {
		if (i % 5 == 0)
			save_one(&s);
		fault(&s);
	}
}

static void many_faults_of_two(void **state)
{
	many_faults(*state, 2, 40);
}

static void many_faults_of_three(void **state)
{
	many_faults(*state, 3, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(many_faults_of_two),
		TEST(many_faults_of_three),
	};

	if (getenv("ONLY"))
		cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
