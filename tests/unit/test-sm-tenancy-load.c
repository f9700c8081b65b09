// SPDX-License-Identifier: BSD-2-Clause
/* How much one turn of the main thread does for requests that any tenant may send. */
#include "plan/pkey.h"
#include "tests/unit/tenancy-desk.h"

#define MANY	   300
#define MANY_PORTS 1024
/* Judged in one dispatch, which has two turns, before the last request of each. */
#define TURN_PORTS (2 * 4096)

static unsigned n_joins, n_done, most_done;

struct partitions *__real_tenants_join(const struct tenants *t, const struct partitions *file,
				       const struct conf *conf);
struct partitions *__wrap_tenants_join(const struct tenants *t, const struct partitions *file,
				       const struct conf *conf);
int __real_sm_dispatch(struct sm *sm, mono_t now);
int __wrap_sm_dispatch(struct sm *sm, mono_t now);

struct partitions *__wrap_tenants_join(const struct tenants *t, const struct partitions *file,
				       const struct conf *conf)
{
	n_joins++;
	return __real_tenants_join(t, file, conf);
}

int __wrap_sm_dispatch(struct sm *sm, mono_t now)
{
	unsigned before = n_done;
	int r = __real_sm_dispatch(sm, now);

	most_done = MAX(most_done, n_done - before);
	return r;
}

static void on_done(void *arg, const struct sm_tenancy_result *r)
{
	n_done++;
}

/* `n` requests without an effect, each about `n_ports` ports. */
static void try_often(struct desk *d, unsigned n, unsigned n_ports)
{
	struct tenant_member *members = xcalloc(n_ports, sizeof(*members));
	const struct tenant_request rq = {
		.action = TENANT_ADD, .pkey = 0x77, .members = members, .n_members = n_ports,
	};

	n_joins = n_done = most_done = 0;
	for (unsigned i = 0; i < n_ports; i++)
		members[i] = (struct tenant_member){ .guid = 0x0200000000000001 + i, .full = true };
	for (unsigned i = 0; i < n; i++)
		sm_tenancy_request(sm_of(d), &rq, true, true, on_done, NULL);
	run_for(d, 2 * MONO_S);
	free(members);
	assert_int_equal(n_done, n);
}

/* What is tried and taken back leaves the list of partitions as it was: it is not made anew. */
static void dry_runs_do_not_join_the_partitions_anew(void **state)
{
	struct desk *d = *state;

	assert_done(add(d, 0x5, 3));
	try_often(d, MANY, 1);
	assert_int_equal(n_joins, 0);
	assert_null(tenants_find(sm_tenants(sm_of(d)), 0x77));
	assert_non_null(partitions_find(sm_partitions(sm_of(d)), 0x5));
}

static void one_turn_judges_so_many_ports(void **state)
{
	try_often(*state, MANY / 4, MANY_PORTS);
	assert_in_range(most_done * MANY_PORTS, 1, TURN_PORTS + 2 * (MANY_PORTS - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(dry_runs_do_not_join_the_partitions_anew),
		TEST(one_turn_judges_so_many_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
