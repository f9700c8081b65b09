// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two tenants and hosts that change sides: after each acknowledgement no path record leads across,
 * no host is in a group of the other side or can join one, and no device holds a P_Key of the other
 * side. Asked as hosts ask.
 *
 * SEED=n and N=count choose what the test does.
 */
#include "tenancy-desk.h"

#include "ib/records.h"
#include "sa/mcast/mgroup.h"
#include "tests/lib/client.h"
#include "util/random.h"

enum { NONE, RED, BLUE, TENANTS };

static const uint16_t keys[TENANTS] = { 0, 0x100, 0x200 };

struct town {
	struct desk *d;
	struct client *client[N_HOSTS]; /* 1.. */
	unsigned side[N_HOSTS];
	uint64_t random;
};

static void wish_open_default(struct desk *d)
{
	write_text(d->file, "Default=0x7fff: ALL=limited, SELF=full;\n");
}

static int town_setup(void **state)
{
	struct town *t = xcalloc(1, sizeof(*t));
	char id[8];

	t->d = desk_new();
	wish_open_default(t->d);
	start(t->d);
	for (unsigned i = 1; i < N_HOSTS; i++) {
		snprintf(id, sizeof(id), "h%u", i);
		t->client[i] = client_new(t->d->rig->sim, id);
		assert_non_null(t->client[i]);
	}
	t->random = getenv("SEED") ? (uint64_t)atoll(getenv("SEED")) : 1;
	*state = t;
	return 0;
}

static int town_teardown(void **state)
{
	struct town *t = *state;

	for (unsigned i = 1; i < N_HOSTS; i++)
		client_free(t->client[i]);
	desk_free(t->d);
	free(t);
	return 0;
}

static unsigned pick(struct town *t, unsigned n)
{
	return (unsigned)(random_next(&t->random) >> 32) % n;
}

/*
 * ---- what a host asks --------------------------------------------------------------------------
 */

static int ask_host(struct town *t, unsigned host, const struct question *q)
{
	struct transport_event ev = { 0 };
	int r = client_ask(t->client[host], t->d->rig, q, &ev);

	free(ev.whole);
	return r;
}

/* Any path: no P_Key is asked for. */
static bool has_path(struct town *t, unsigned from, unsigned to)
{
	uint8_t record[PR_BYTES];
	struct question q = client_path(t->client[from], t->d->guid[to], 0, record);

	q.mask &= ~SA_COMP(PR_PKEY);
	return ask_host(t, from, &q) == 0;
}

static bool can_join(struct town *t, unsigned host, uint16_t pkey)
{
	uint8_t record[MCM_BYTES];
	struct question q = client_join_broadcast(t->client[host], pkey | 0x8000, record);

	return ask_host(t, host, &q) == 0;
}

static bool is_in_group(struct town *t, unsigned host, uint16_t pkey)
{
	const struct sa *sa = sm_sa(sm_of(t->d));

	for (struct mgroup *g = mgroup_next(sa, NULL); g; g = mgroup_next(sa, mgroup_mgid(g))) {
		if ((mgroup_pkey(g) & 0x7FFF) == pkey && mgroup_has_port(sa, g, t->d->guid[host]))
			return true;
	}
	return false;
}

/*
 * ---- plans -------------------------------------------------------------------------------------
 */

static void set_members(struct town *t, unsigned tenant)
{
	struct tenant_member members[N_HOSTS];
	struct tenant_request rq = {
		.action = TENANT_SET,
		.pkey = keys[tenant],
		.members = members,
		.has = TENANT_IPOIB,
		.fields = { .ipoib = true },
	};

	for (unsigned i = 1; i < N_HOSTS; i++) {
		if (t->side[i] == tenant)
			members[rq.n_members++] =
				(struct tenant_member){ t->d->guid[i], true, false };
	}
	assert_done(ask(t->d, &rq));
}

static void check_host(struct town *t, unsigned host)
{
	for (unsigned tenant = RED; tenant < TENANTS; tenant++) {
		uint16_t key = keys[tenant];

		if (t->side[host] == tenant) {
			assert_true(both_hold(t->d, host, key | 0x8000));
			continue;
		}
		assert_true(none_holds(t->d, host, key | 0x8000));
		assert_true(none_holds(t->d, host, key));
		assert_false(is_in_group(t, host, key));
		assert_false(can_join(t, host, key));
	}
}

static void check_pairs(struct town *t)
{
	unsigned a = 1 + pick(t, N_HOSTS - 1);

	for (unsigned b = 1; b < N_HOSTS; b++) {
		bool joined = a == b || (t->side[a] != NONE && t->side[a] == t->side[b]);

		if (a != b) {
			assert_int_equal(has_path(t, a, b), joined);
			assert_int_equal(has_path(t, b, a), joined);
		}
	}
}

/* A host leaves its side before the other side gets it, as an orchestrator does it. */
static void change_sides(struct town *t)
{
	unsigned first = pick(t, 2) ? RED : BLUE, wish[N_HOSTS];

	for (unsigned i = 1; i < N_HOSTS; i++) {
		wish[i] = pick(t, 3) ? t->side[i] : pick(t, TENANTS);
		if (wish[i] != t->side[i])
			t->side[i] = NONE;
	}
	set_members(t, first);
	set_members(t, first == RED ? BLUE : RED);
	check_pairs(t);
	for (unsigned i = 1; i < N_HOSTS; i++)
		t->side[i] = wish[i];
	set_members(t, RED);
	set_members(t, BLUE);
	for (unsigned i = 1; i < N_HOSTS; i++) {
		check_host(t, i);
		if (t->side[i] != NONE)
			assert_true(can_join(t, i, keys[t->side[i]]));
	}
	check_pairs(t);
}

static void no_plan_joins_two_tenants(void **state)
{
	struct town *t = *state;
	unsigned n = getenv("N") ? (unsigned)atoi(getenv("N")) : 200;

	for (unsigned i = 0; i < n; i++)
		change_sides(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_plan_joins_two_tenants, town_setup,
						town_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
