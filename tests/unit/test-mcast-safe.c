// SPDX-License-Identifier: BSD-2-Clause
/* Multicast trees beside unicast: whatever groups there are, nothing waits for itself. */
#include "tests/unit/route-desk.h"

#include "route/proof/cdg.h"
#include "route/mcast/mcast.h"
#include "route/select/engines.h"
#include "tests/unit/lanes-walk.h"

#define GROUPS 12

static uint32_t draw(uint64_t *seed, uint32_t n)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % n;
}

static struct routes *routed(const char *engine, const struct topo *t, unsigned lanes)
{
	struct route_job job = {
		.topo = t, .options = { .nue_max_num_vls = (uint8_t)lanes },
	};
	char why[200] = "";

	return route_engine_find(engine)->compute(&job, why, sizeof(why));
}

static struct mcast_tree *plan(struct mcast_planner *p, const struct topo *t, unsigned group,
			       uint64_t *seed)
{
	struct mcast_member members[40];
	uint32_t n = 0, want = 2 + draw(seed, 30);

	for (uint32_t i = 0; i < want; i++) {
		const struct topo_host *h = &t->hosts[draw(seed, t->n_hosts)];

		members[n++] = (struct mcast_member){
			.sw = h->sw, .port = h->sw_port, .receive = draw(seed, 8) != 0,
		};
	}
	return mcast_plan(p, &(struct mcast_job){ .mlid = (lid_t)(MLID_MIN + group),
						  .members = members,
						  .n_members = n });
}

struct outcome {
	unsigned trees, unproved, left_out;
	bool cycle;
};

/* Groups on a fabric routed by `engine`; false: it does not route it, or not free of cycles. */
static bool try_groups(const char *engine, const struct topo *t, unsigned lanes, uint64_t seed,
		       struct outcome *o)
{
	struct routes *r = routed(engine, t, lanes);
	struct mcast_tree *trees[GROUPS];
	struct mcast_planner *p;

	if (!r)
		return false;
	if (lanes_walk(r, false).cycle || !t->n_hosts) {
		routes_unref(r);
		return false;
	}
	p = mcast_planner_new(&(struct mcast_params){
		.topo = t, .routes = r, .depends = cdg_of(r, 1),
	});
	for (unsigned i = 0; i < GROUPS; i++) {
		trees[i] = plan(p, t, i, &seed);
		o->trees += trees[i]->n_rows > 1;
		o->unproved += trees[i]->unproved;
		o->left_out += trees[i]->n_left_out;
	}
	o->cycle = lanes_walk_trees(r, false, trees, GROUPS).cycle;
	for (unsigned i = 0; i < GROUPS; i++)
		mcast_tree_unref(trees[i]);
	mcast_planner_free(p);
	routes_unref(r);
	return true;
}

static void groups_close_no_cycle_on_any_fabric(void **state)
{
	unsigned tried = 0, trees = 0, unproved = 0;

	for (unsigned number = 0; number < 30; number++) {
		static const char *const engines[] = { "minhop", "updn", "nue" };
		struct topogen o = any_options(number);
		struct topo *t = any_fabric(number, &o);

		for (unsigned e = 0; e < ARRAY_SIZE(engines); e++) {
			struct outcome out = { 0 };

			if (!try_groups(engines[e], t, 1 + number % 3, number, &out))
				continue;
			print_message("fabric %u, %s: %u trees, %u unproved\n", number, engines[e],
				      out.trees, out.unproved);
			assert_true(!out.cycle || out.unproved);
			tried++;
			trees += out.trees;
			unproved += out.unproved;
		}
		topo_unref(t);
	}
	print_message("%u fabrics, %u trees, %u unproved\n", tried, trees, unproved);
	assert_true(tried > 40);
	assert_true(unproved * 100 < trees);
}

static void trees_begin_where_the_administrator_wants(void **state)
{
	struct topo *t = topogen_fat_tree3(8, NULL);
	const guid_t roots[] = { t->switches[70].guid, 1, t->switches[75].guid };
	struct mcast_planner *p = mcast_planner_new(&(struct mcast_params){
		.topo = t, .roots = roots, .n_roots = ARRAY_SIZE(roots),
	});
	unsigned used[2] = { 0 };
	uint64_t seed = 5;

	for (unsigned i = 0; i < 10; i++) {
		struct mcast_tree *tree = plan(p, t, i, &seed);
		guid_t root;

		assert_int_not_equal(tree->root, MCAST_NONE);
		root = tree->rows[tree->root].guid;
		assert_true(root == roots[0] || root == roots[2]);
		used[root == roots[2]]++;
		mcast_tree_unref(tree);
	}
	assert_int_equal(used[0], 5);
	assert_int_equal(used[1], 5);
	mcast_planner_free(p);
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_close_no_cycle_on_any_fabric),
		cmocka_unit_test(trees_begin_where_the_administrator_wants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
