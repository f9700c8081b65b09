// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions at run time with two managers: the standby has stored a change before it is answered,
 * and takes over without a key lost or given back; tables that went apart; a standby that could not
 * store.
 */
#include "two-managers.h"
#include "conf/tenants/tenants_file.h"
#include "util/random.h"

struct answer {
	bool is_there, replicated;
	enum sm_tenancy_end end;
	char text[300];
};

static void on_answer(void *arg, const struct sm_tenancy_result *r)
{
	struct answer *a = arg;

	*a = (struct answer){ .is_there = true, .replicated = r->replicated, .end = r->end };
	snprintf(a->text, sizeof(a->text), "%s", r->text);
}

static void submit(struct world *w, unsigned which, bool give, unsigned pkey, unsigned host,
		   struct answer *a)
{
	struct tenant_member member = { w->host[host]->guid, true, false };
	const struct tenant_request rq = {
		.action = give ? TENANT_ADD : TENANT_REMOVE,
		.pkey = (uint16_t)pkey,
		.members = &member,
		.n_members = 1,
		.keep_empty = true,
	};

	*a = (struct answer){ 0 };
	sm_tenancy_request(sm_of(w, which), &rq, true, false, on_answer, a);
}

static struct answer ask_for(struct world *w, unsigned which, bool give, unsigned pkey,
			     unsigned host)
{
	static struct answer a;
	mono_t until = sim_now(w->rig->sim) + 20 * MONO_S;

	submit(w, which, give, pkey, host, &a);
	while (!a.is_there && rig_step(w->rig, until))
		;
	assert_true(a.is_there);
	return a;
}

static bool table_holds(struct world *w, int node, unsigned port, unsigned key)
{
	for (unsigned i = 0; i < 64; i++) {
		uint8_t block[SMP_DATA_SIZE];

		if (sim_read(w->rig->sim, node, IB_ATTR_PKEY_TABLE, port << 16 | i / 32, block) < 0)
			return false;
		if (ib_bits_get(block, i % 32 * 16, 16) == key)
			return true;
	}
	return false;
}

static bool host_holds(struct world *w, unsigned host, unsigned key)
{
	return table_holds(w, w->host[host]->node, 0, key);
}

static bool switch_holds(struct world *w, unsigned host, unsigned key)
{
	unsigned port;
	int leaf;

	assert_true(sim_peer(w->rig->sim, w->host[host]->node, 1, &leaf, &port));
	return table_holds(w, leaf, port, key);
}

static uint64_t generation_of(struct world *w, unsigned which)
{
	return tenants_generation(sm_tenants(sm_of(w, which)));
}

static void start_connected(struct world *w)
{
	mono_t until;

	start_both(w);
	until = sim_now(w->rig->sim) + 60 * MONO_S;
	while (!sm_tenancy_standbys(sm_of(w, ACTIVE)))
		assert_true(rig_step(w->rig, until));
}

static void the_standby_stores_before_the_answer(void **state)
{
	struct world *w = *state;
	struct answer a;

	start_connected(w);
	a = ask_for(w, ACTIVE, true, 0x8, 3);
	assert_int_equal(a.end, SM_TENANCY_DONE);
	assert_true(a.replicated);
	assert_int_equal(generation_of(w, SPARE), 1);
	assert_true(tenants_chain(sm_tenants(sm_of(w, SPARE))) ==
		    tenants_chain(sm_tenants(sm_of(w, ACTIVE))));
}

static void takeover_keeps_what_was_given_and_gives_nothing_back(void **state)
{
	struct world *w = *state;
	uint64_t n_sets;

	start_connected(w);
	for (unsigned host = 1; host < 9; host++)
		assert_int_equal(ask_for(w, ACTIVE, true, 0x8, host).end, SM_TENANCY_DONE);
	for (unsigned host = 5; host < 9; host++)
		assert_int_equal(ask_for(w, ACTIVE, false, 0x8, host).end, SM_TENANCY_DONE);
	n_sets = sim_count(w->rig->sim, IB_ATTR_PKEY_TABLE, MAD_SET);
	fail_over(w);
	run_for(w, 60 * MONO_S);
	assert_int_equal(sim_count(w->rig->sim, IB_ATTR_PKEY_TABLE, MAD_SET), n_sets);
	for (unsigned host = 1; host < 9; host++) {
		assert_int_equal(host_holds(w, host, 0x8008), host < 5);
		assert_int_equal(switch_holds(w, host, 0x8008), host < 5);
	}
	assert_int_equal(ask_for(w, SPARE, true, 0x8, 9).end, SM_TENANCY_DONE);
	assert_int_equal(generation_of(w, SPARE), 13);
}

/*
 * The picture that the standby has is older than the key; what took the key away is known to it as
 * a change of the table alone.
 */
static void takeover_does_not_take_a_key_for_gone_that_devices_hold(void **state)
{
	struct world *w = *state;
	int host, leaf;
	unsigned port;

	start_connected(w);
	run_for(w, 60 * MONO_S);
	host = w->host[3]->node;
	assert_true(sim_peer(w->rig->sim, host, 1, &leaf, &port));
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	sim_set_silent(w->rig->sim, host, SIM_SILENT, IB_ATTR_PKEY_TABLE);
	sim_set_silent(w->rig->sim, leaf, SIM_SILENT, IB_ATTR_PKEY_TABLE);
	assert_int_equal(ask_for(w, ACTIVE, false, 0x8, 3).end, SM_TENANCY_UNCONFIRMED);
	fail_over(w);
	assert_int_not_equal(sm_tenancy_open(sm_of(w, SPARE), 0x8), 0);
	run_for(w, 20 * MONO_S);
	assert_true(host_holds(w, 3, 0x8008) && switch_holds(w, 3, 0x8008));
	assert_int_not_equal(sm_tenancy_open(sm_of(w, SPARE), 0x8), 0);
	sim_set_silent(w->rig->sim, host, SIM_ANSWERS, 0);
	sim_set_silent(w->rig->sim, leaf, SIM_ANSWERS, 0);
	run_for(w, 60 * MONO_S);
	assert_false(host_holds(w, 3, 0x8008) || switch_holds(w, 3, 0x8008));
	assert_int_equal(sm_tenancy_open(sm_of(w, SPARE), 0x8), 0);
}

static void a_standby_that_comes_later_gets_the_whole_table(void **state)
{
	struct world *w = *state;
	mono_t until;

	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 5 * MONO_S);
	for (unsigned host = 1; host < 9; host++)
		assert_int_equal(ask_for(w, ACTIVE, true, 0x10 + host, host).end, SM_TENANCY_DONE);
	assert_false(ask_for(w, ACTIVE, true, 0x20, 1).replicated);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), SPARE);
	until = sim_now(w->rig->sim) + 60 * MONO_S;
	while (!sm_tenancy_standbys(sm_of(w, ACTIVE)))
		assert_true(rig_step(w->rig, until));
	assert_int_equal(generation_of(w, SPARE), 9);
	fail_over(w);
	assert_true(host_holds(w, 1, 0x8020) && host_holds(w, 8, 0x8018));
}

static void without_a_standby_nothing_is_changed_if_one_is_required(void **state)
{
	struct world *w = *state;

	w->conf[ACTIVE]->require_standby = true;
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 5 * MONO_S);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_NO_STANDBY);
	assert_false(host_holds(w, 3, 0x8008));
	assert_int_equal(generation_of(w, ACTIVE), 0);
}

/* Its folder cannot be written to: what it takes over with is not what hosts were given. */
static void a_standby_that_lacks_the_table_leaves_keys_where_they_are(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *store = xasprintf("%s/tenants", w->dir[SPARE]);
	struct answer a;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(unlink(store), 0);
	assert_int_equal(mkdir(store, 0700), 0);
	a = ask_for(w, ACTIVE, true, 0x9, 4);
	assert_int_equal(a.end, SM_TENANCY_DONE);
	assert_false(a.replicated);
	/* Our standby dies, and another process without its table stands by. */
	rig_kill(w->rig, SPARE);
	assert_int_equal(rmdir(store), 0);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], NULL), 2);
	run_for(w, 60 * MONO_S);
	rig_kill(w->rig, ACTIVE);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(sm_state(w->rig->sms[2].sm), SM_MASTER);
	assert_non_null(sm_tenancy_closed(w->rig->sms[2].sm));
	run_for(w, 60 * MONO_S);
	assert_true(host_holds(w, 3, 0x8008) && switch_holds(w, 3, 0x8008));
	assert_true(host_holds(w, 4, 0x8009) && switch_holds(w, 4, 0x8009));
}

/* The former master comes back with a change that its standby never stored. */
static void go_apart(struct world *w, unsigned more)
{
	_cleanup_free_ char *aside = xasprintf("%s/tenants.diverged", w->dir[ACTIVE]);
	_cleanup_free_ char *store = xasprintf("%s/tenants", w->dir[ACTIVE]);
	mono_t until;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	rig_freeze(w->rig, SPARE, true);
	run_for(w, 10 * MONO_S);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x9, 4).end, SM_TENANCY_DONE);
	rig_kill(w->rig, ACTIVE);
	rig_freeze(w->rig, SPARE, false);
	attend(w, 4, 30 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	for (unsigned host = 5; host < 5 + more; host++)
		assert_int_equal(ask_for(w, SPARE, true, 0xA, host).end, SM_TENANCY_DONE);
	w->conf[ACTIVE]->sm_priority = 0;
	w->rig->disk_time = 300 * MONO_MS;
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), 2);
	until = sim_now(w->rig->sim) + 90 * MONO_S;
	while (!sm_tenancy_standbys(sm_of(w, SPARE))) {
		assert_true(rig_step(w->rig, until));
		/* It may be killed at any moment: it never is without a table. */
		assert_int_equal(access(store, F_OK), 0);
	}
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(generation_of(w, 2), 1 + more);
	assert_true(said("differs from the master", ""));
}

static void a_table_that_went_apart_is_kept_aside(void **state)
{
	go_apart(*state, 1);
}

static void so_is_one_that_was_overtaken(void **state)
{
	go_apart(*state, 4);
}

/* At its death it writes a batch that the standby has not been sent. */
static void a_master_that_dies_in_a_stream_leaves_an_open_table(void **state)
{
	struct world *w = *state;
	struct answer a[60];

	start_connected(w);
	w->rig->job_time = 3 * MONO_MS;
	for (unsigned i = 0; i < ARRAY_SIZE(a); i++) {
		submit(w, ACTIVE, true, 0x8 + i, 1 + i % 9, &a[i]);
		run_for(w, 700);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(a); i++)
		sm_tenancy_abandon(sm_of(w, ACTIVE), &a[i]);
	fail_over(w);
	run_for(w, 5 * MONO_S);
	assert_null(sm_tenancy_closed(sm_of(w, SPARE)));
	for (unsigned i = 0; i < ARRAY_SIZE(a); i++) {
		if (a[i].is_there && a[i].replicated)
			assert_true(host_holds(w, 1 + i % 9, 0x8008 + i));
	}
	assert_int_equal(ask_for(w, SPARE, true, 0x100, 3).end, SM_TENANCY_DONE);
}

/* The former master, which is the greater one, comes back with a file that is corrupt, or gone. */
static void comes_back(struct world *w, bool gone)
{
	_cleanup_free_ char *store = xasprintf("%s/tenants", w->dir[ACTIVE]);
	mono_t until;

	start_connected(w);
	for (unsigned host = 1; host < 6; host++)
		assert_int_equal(ask_for(w, ACTIVE, true, 0x8, host).end, SM_TENANCY_DONE);
	fail_over(w);
	assert_int_equal(ask_for(w, SPARE, false, 0x8, 5).end, SM_TENANCY_DONE);
	if (gone)
		assert_int_equal(unlink(store), 0);
	else
		assert_int_equal(truncate(store, 200), 0);
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), 2);
	until = sim_now(w->rig->sim) + 120 * MONO_S;
	while (sm_state(sm_of(w, 2)) != SM_MASTER || !sm_of(w, 2)->first_sweep_done)
		assert_true(rig_step(w->rig, until));
	run_for(w, 30 * MONO_S);
	assert_null(sm_tenancy_closed(sm_of(w, 2)));
	assert_int_equal(generation_of(w, 2), 6);
	assert_true(host_holds(w, 4, 0x8008) && switch_holds(w, 4, 0x8008));
	assert_false(host_holds(w, 5, 0x8008) || switch_holds(w, 5, 0x8008));
}

static void a_corrupt_table_is_mended_by_the_standby_that_took_over(void **state)
{
	comes_back(*state, false);
}

static void so_is_one_that_is_gone(void **state)
{
	comes_back(*state, true);
}

/* A change is on its way to the disk for a long time, the master says how it is, and dies. */
static void what_is_not_on_the_disk_is_not_told(void **state)
{
	struct world *w = *state;
	struct answer a;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	w->rig->disk_time = 300 * MONO_S;
	submit(w, ACTIVE, true, 0x8, 4, &a);
	for (unsigned i = 0; i < 6; i++) {
		run_for(w, 10 * MONO_S);
		sm_request_heavy(sm_of(w, ACTIVE), NULL);
	}
	run_for(w, 30 * MONO_S);
	assert_int_equal(generation_of(w, ACTIVE), 2);
	sm_tenancy_abandon(sm_of(w, ACTIVE), &a);
	w->rig->disk_time = 0;
	fail_over(w);
	assert_null(sm_tenancy_closed(sm_of(w, SPARE)));
	assert_int_equal(ask_for(w, SPARE, true, 0x8, 5).end, SM_TENANCY_DONE);
}

/* The standby knew that it lacked changes, and is started anew when the master is dead. */
static void a_standby_that_was_behind_is_so_after_a_restart(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *store = xasprintf("%s/tenants", w->dir[SPARE]);
	_cleanup_free_ char *heard = xasprintf("%s/tenants.heard", w->dir[SPARE]);

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(access(heard, F_OK), -1);
	assert_int_equal(unlink(store), 0);
	assert_int_equal(mkdir(store, 0700), 0);
	assert_false(ask_for(w, ACTIVE, true, 0x9, 4).replicated);
	rig_kill(w->rig, SPARE);
	rig_kill(w->rig, ACTIVE);
	assert_int_equal(rmdir(store), 0);
	for (unsigned i = 2; i < 4; i++) {
		assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), i);
		attend(w, 5, 60 * MONO_S);
		assert_int_equal(sm_state(sm_of(w, i)), SM_MASTER);
		assert_non_null(sm_tenancy_closed(sm_of(w, i)));
		assert_true(host_holds(w, 3, 0x8008) && switch_holds(w, 3, 0x8008));
		assert_true(host_holds(w, 4, 0x8009) && switch_holds(w, 4, 0x8009));
		rig_kill(w->rig, i);
	}
}

/* It gets the table after all: nothing is left of it. */
static void a_standby_that_was_behind_and_caught_up_is_open(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *store = xasprintf("%s/tenants", w->dir[SPARE]);
	_cleanup_free_ char *heard = xasprintf("%s/tenants.heard", w->dir[SPARE]);

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(unlink(store), 0);
	assert_int_equal(mkdir(store, 0700), 0);
	assert_false(ask_for(w, ACTIVE, true, 0x9, 4).replicated);
	assert_int_equal(access(heard, F_OK), 0);
	assert_int_equal(rmdir(store), 0);
	run_for(w, 60 * MONO_S);
	assert_int_equal(access(heard, F_OK), -1);
	rig_kill(w->rig, SPARE);
	rig_kill(w->rig, ACTIVE);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), 2);
	attend(w, 5, 60 * MONO_S);
	assert_int_equal(ask_for(w, 2, true, 0x9, 5).end, SM_TENANCY_DONE);
	assert_int_equal(generation_of(w, 2), 3);
	assert_true(host_holds(w, 4, 0x8009));
}

/* The standby started when the host was silent already, and takes over. */
static void a_silent_host_is_cut_after_a_takeover(void **state)
{
	struct world *w = *state;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	run_for(w, 30 * MONO_S);
	sim_set_silent(w->rig->sim, w->host[3]->node, SIM_SILENT, 0);
	rig_kill(w->rig, SPARE);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), 2);
	run_for(w, 60 * MONO_S);
	rig_kill(w->rig, ACTIVE);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, 2)), SM_MASTER);
	assert_true(switch_holds(w, 3, 0x8008));
	assert_int_equal(ask_for(w, 2, false, 0x8, 3).end, SM_TENANCY_DONE);
	assert_false(switch_holds(w, 3, 0x8008));
}

/* What the standby sends when it takes over must reach limited members. */
static void a_standbys_port_keeps_its_index0(void **state)
{
	struct world *w = *state;
	struct tenant_member member = { w->host[1]->guid, true, true };
	const struct tenant_request rq = {
		.action = TENANT_ADD, .pkey = 0x8, .members = &member, .n_members = 1
	};
	struct answer a = { 0 };

	start_connected(w);
	sm_tenancy_request(sm_of(w, ACTIVE), &rq, true, false, on_answer, &a);
	run_for(w, MONO_S);
	assert_int_equal(a.end, SM_TENANCY_DONE);
	member.guid = sm_of(w, SPARE)->tr->port_guid;
	a = (struct answer){ 0 };
	sm_tenancy_request(sm_of(w, ACTIVE), &rq, true, false, on_answer, &a);
	run_for(w, MONO_S);
	assert_true(a.is_there);
	assert_int_equal(a.end, SM_TENANCY_REFUSED);
	assert_non_null(strstr(a.text, "subnet manager"));
}

/* ---- a table that is too large to be sent ---------------------------------------------------- */

#define FIRST_GUID UINT64_C(0x0200000000000001)

static unsigned n_texts;

char *__real_tenants_text(const struct tenants *t, size_t *ret_len);
char *__wrap_tenants_text(const struct tenants *t, size_t *ret_len);

char *__wrap_tenants_text(const struct tenants *t, size_t *ret_len)
{
	n_texts += tenants_members(t) > TENANT_REQUEST_MAX;
	return __real_tenants_text(t, ret_len);
}

/* Partitions of as many members as one request can have. */
static void write_large_table(const char *path, size_t n_members)
{
	_cleanup_(tenants_freep) struct tenants *t = tenants_new(7);
	struct tenant_member *members = xcalloc(TENANT_REQUEST_MAX, sizeof(*members));
	_cleanup_free_ char *text = NULL;
	struct tenant_request rq = { .action = TENANT_SET, .pkey = 0x100, .members = members };
	struct tenant_entry e;
	size_t len;
	char why[200];

	for (size_t i = 0; i < TENANT_REQUEST_MAX; i++)
		members[i] = (struct tenant_member){ FIRST_GUID + i, true, false };
	for (; n_members; n_members -= rq.n_members, rq.pkey++) {
		rq.n_members = MIN(n_members, TENANT_REQUEST_MAX);
		e = (struct tenant_entry){ 0 };
		assert_int_equal(tenants_judge(t, NULL, &rq, 0, &e, why, sizeof(why)), TENANT_FINE);
		tenants_play(t, &e, tenants_chain_after(t, &e));
		tenant_entry_clear(&e);
	}
	text = __real_tenants_text(t, &len);
	assert_int_equal(tenants_replace(path, text, len), 0);
	free(members);
}

static void start_with_large_table(struct world *w, size_t n_members, mono_t t)
{
	_cleanup_free_ char *store = xasprintf("%s/tenants", w->dir[ACTIVE]);

	write_large_table(store, n_members);
	n_texts = 0;
	start_both(w);
	run_for(w, t);
}

static void a_table_that_cannot_be_sent_is_told_once(void **state)
{
	struct world *w = *state;

	start_with_large_table(w, 700000, 60 * MONO_S);
	assert_int_equal(said("700000 members are more than the 16 MiB", ""), 1);
	assert_int_equal(n_texts, 0);
	assert_int_equal(sm_tenancy_standbys(sm_of(w, ACTIVE)), 0);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
}

/* Its text is made to see that it is too large, and not again before the table is another one. */
static void a_table_that_is_hardly_too_large_is_tried_once(void **state)
{
	struct world *w = *state;

	start_with_large_table(w, (16u << 20) / TENANTS_MEMBER_BYTES - 10, 60 * MONO_S);
	assert_int_equal(said("members are more than the 16 MiB", ""), 1);
	assert_int_equal(n_texts, 1);
	assert_int_equal(sm_tenancy_standbys(sm_of(w, ACTIVE)), 0);
}

/* ---- many takeovers -------------------------------------------------------------------------- */

#define N_KEYS 4

struct life {
	struct world *w;
	uint64_t random;
	int8_t member[N_KEYS][N_HOSTS]; /* -1: not known, as its change was not answered */
	unsigned master, spare;		/* numbers of managers */
	unsigned on[2];			/* which of the two hosts each runs at */
};

static unsigned pick(struct life *l, unsigned n)
{
	return (unsigned)(random_next(&l->random) >> 32) % n;
}

static void check(struct life *l)
{
	for (unsigned key = 0; key < N_KEYS; key++) {
		for (unsigned host = 1; host < N_HOSTS - 1; host++) {
			int8_t member = l->member[key][host];

			if (member < 0)
				continue;
			assert_int_equal(host_holds(l->w, host, 0x8010 + key), member);
			assert_int_equal(switch_holds(l->w, host, 0x8010 + key), member);
		}
	}
}

static void change_some(struct life *l)
{
	struct answer a[6];
	unsigned n = 1 + pick(l, ARRAY_SIZE(a)), key[ARRAY_SIZE(a)], host[ARRAY_SIZE(a)];
	bool give[ARRAY_SIZE(a)];

	for (unsigned i = 0; i < n; i++) {
		key[i] = pick(l, N_KEYS);
		host[i] = 1 + pick(l, N_HOSTS - 2);
		give[i] = pick(l, 2);
		submit(l->w, l->master, give[i], 0x10 + key[i], host[i], &a[i]);
		if (l->member[key[i]][host[i]] != give[i])
			l->member[key[i]][host[i]] = -1;
	}
	/* It dies somewhere on the way. */
	run_for(l->w, pick(l, 3) ? pick(l, 3000) : 2 * MONO_S);
	for (unsigned i = 0; i < n; i++) {
		bool overtaken = false;

		for (unsigned k = i + 1; k < n; k++)
			overtaken |= key[k] == key[i] && host[k] == host[i];
		if (a[i].is_there && !overtaken && a[i].end == SM_TENANCY_DONE && a[i].replicated)
			l->member[key[i]][host[i]] = give[i];
		sm_tenancy_abandon(sm_of(l->w, l->master), &a[i]);
	}
}

static void replace_master(struct life *l)
{
	static const char *const hosts[] = { "h0", "h11" };
	struct world *w = l->w;
	unsigned dead = l->on[0];
	mono_t until = sim_now(w->rig->sim) + 60 * MONO_S;
	int n;

	rig_kill(w->rig, l->master);
	while (sm_state(sm_of(w, l->spare)) != SM_MASTER || !sm_of(w, l->spare)->first_sweep_done)
		assert_true(rig_step(w->rig, until));
	run_for(w, 5 * MONO_S);
	check(l);
	w->conf[dead]->sm_priority = 0;
	n = rig_start(w->rig, hosts[dead], 1, w->conf[dead], w->dir[dead]);
	assert_true(n >= 0);
	l->on[0] = l->on[1];
	l->on[1] = dead;
	l->master = l->spare;
	l->spare = (unsigned)n;
	until = sim_now(w->rig->sim) + 120 * MONO_S;
	while (!rig_master(w->rig) || !sm_tenancy_standbys(rig_master(w->rig)))
		assert_true(rig_step(w->rig, until));
	/* The one that came back rules at once where nothing had been stored. */
	if (rig_master(w->rig) == sm_of(w, l->spare)) {
		unsigned spare = l->master, host = l->on[0];

		l->master = l->spare;
		l->spare = spare;
		l->on[0] = l->on[1];
		l->on[1] = host;
	}
}

static void many_takeovers(void **state)
{
	struct life l = {
		.w = *state, .random = 5, .master = ACTIVE, .spare = SPARE, .on = { 0, 1 }
	};
	unsigned n = getenv("N") ? (unsigned)atoi(getenv("N")) : 30;

	if (getenv("SEED"))
		l.random = (uint64_t)atoll(getenv("SEED"));
	l.w->conf[ACTIVE]->require_standby = l.w->conf[SPARE]->require_standby = true;
	l.w->conf[ACTIVE]->sm_priority = 0;
	start_connected(l.w);
	l.w->rig->job_time = 3 * MONO_MS; /* a disk: the table is ahead of it */
	for (unsigned i = 0; i < n; i++) {
		change_some(&l);
		replace_master(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_standby_stores_before_the_answer),
		TEST(takeover_keeps_what_was_given_and_gives_nothing_back),
		TEST(takeover_does_not_take_a_key_for_gone_that_devices_hold),
		TEST(a_standby_that_comes_later_gets_the_whole_table),
		TEST(without_a_standby_nothing_is_changed_if_one_is_required),
		TEST(a_standby_that_lacks_the_table_leaves_keys_where_they_are),
		TEST(a_table_that_went_apart_is_kept_aside),
		TEST(so_is_one_that_was_overtaken),
		TEST(a_master_that_dies_in_a_stream_leaves_an_open_table),
		TEST(a_corrupt_table_is_mended_by_the_standby_that_took_over),
		TEST(so_is_one_that_is_gone),
		TEST(what_is_not_on_the_disk_is_not_told),
		TEST(a_standby_that_was_behind_is_so_after_a_restart),
		TEST(a_standby_that_was_behind_and_caught_up_is_open),
		TEST(a_silent_host_is_cut_after_a_takeover),
		TEST(a_standbys_port_keeps_its_index0),
		TEST(a_table_that_cannot_be_sent_is_told_once),
		TEST(a_table_that_is_hardly_too_large_is_tried_once),
		TEST(many_takeovers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
