// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whatever strides, rotates or hashes over ports and neighbours of a switch, for every number of
 * them: choices are in range, come to all of them, and end.
 */
#include "route/mcast/mcast.h"
#include "route/tree/dmodk.h"
#include "tests/lib/rounds.h"
#include "tests/lib/topocut.h"
#include "tests/unit/route-desk.h"

#define SLOTS_EACH 8

/*
 * Of ports of a switch beside those of two hosts: the fewest and the most, either side of each
 * power of two and of each word of 64 bits, and primes, which share no divisor with any stride.
 */
static const unsigned radixes[] = {
	1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 37, 61, 63, 64, 65, 101, 127, 128, 129,
	191, 192, 193, 252,
};

static void assert_any_comes_everywhere(uint32_t n, uint32_t via)
{
	bool seen[256] = { false };

	for (uint32_t slot = 0; slot < SLOTS_EACH * n; slot++) {
		uint32_t at = dmodk_any(slot, via, n);

		assert_in_range(at, 0, n - 1);
		seen[at] = true;
	}
	for (uint32_t i = 0; i < n; i++)
		assert_true(seen[i]);
}

static void any_of_a_few_is_every_one_of_them_in_turn(void **state)
{
	static const uint32_t vias[] = { 0, 1, 254, 65534, UINT32_MAX };

	for (uint32_t n = 1; n <= 255; n++)
		for (size_t i = 0; i < ARRAY_SIZE(vias); i++) {
			assert_any_comes_everywhere(n, vias[i]);
			assert_in_range(dmodk_any(UINT32_MAX, vias[i], n), 0, n - 1);
		}
}

/* ---- fabrics with so many neighbours, or cables to one of them ------------------------------ */

static struct topo *many_spines(unsigned n)
{
	return topogen_fat_tree2(3, n, 2, 1, NULL);
}

static struct topo *many_cables(unsigned n)
{
	return topogen_grid("2", 2, n, NULL);
}

/* Of which some cables are missing, so that no two switches are alike. */
static struct topo *some_spines(unsigned n)
{
	const struct topogen o = { .seed = n, .damage = 0.05, .random_lids = true };

	return topogen_fat_tree2(3, n, 2, 1, &o);
}

static struct topo *(*const fabrics[])(unsigned n) = { many_spines, many_cables, some_spines };

static void assert_ports(const struct routes *r)
{
	for (uint32_t s = 0; s < r->topo->n_switches; s++)
		for (unsigned lid = 0; lid <= r->top; lid++) {
			uint8_t port = routes_port(r, s, (lid_t)lid);

			assert_true(port == LFT_NO_PORT || port <= r->topo->switches[s].n_ports);
		}
}

/* Where paths are shortest, those to switches are, too. */
static void assert_nearer(const struct routes *r)
{
	const struct topo *t = r->topo;

	for (uint32_t to = 0; to < t->n_switches; to++)
		for (uint32_t s = 0; s < t->n_switches; s++) {
			const uint8_t *hops = r->hops + (size_t)to * t->n_switches;
			uint8_t port = routes_port(r, s, t->switches[to].lid);

			if (s != to && hops[s] != 0xFF)
				assert_int_equal(hops[topo_port(t, s, port)->sw] + 1, hops[s]);
		}
}

/* One reference. */
static struct routes *route_by(const char *engine, const struct topo *t,
			       const struct routes *before)
{
	const struct route_job job = { .topo = t, .previous = before, .threads = 1 };
	char why[160] = "";
	struct routes *r =
		route_engine_run(route_engine_find(engine), &job, why, sizeof(why));
	struct route_verdict v;

	if (!r)
		fail_msg("%s: %s", engine, why);
	assert_ports(r);
	if (!strcmp(engine, "minhop"))
		assert_nearer(r);
	routes_check(r, 1, &v);
	assert_int_equal(v.lost, 0);
	return r;
}

static void every_radix_is_routed_and_repaired(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "dnup", "sssp", "dfsssp",
					       "columns", "lash", "nue", "dor", "auto" };

	for (size_t k = 0; k < ARRAY_SIZE(radixes); k++)
		for (size_t i = 0; i < ARRAY_SIZE(fabrics); i++) {
			const unsigned n = radixes[k];
			struct topo *t = fabrics[i](n), *less;
			struct topocut *cut = topocut_new(t);
			uint32_t n_cables, *cables = topocut_cables(t, &n_cables);

			if (n_cables)
				cut->ports[cables[n % n_cables]] = true;
			less = topocut_apply(t, cut);
			/* each engine meets each radix, if not in each fabric */
			for (size_t e = (k + i) % TEST_THINNED; e < ARRAY_SIZE(engines);
			     e += TEST_THINNED) {
				struct routes *whole = route_by(engines[e], t, NULL);
				struct routes *cut_off = route_by(engines[e], less, whole);
				struct routes *again = route_by(engines[e], t, cut_off);

				routes_unref(whole);
				routes_unref(cut_off);
				routes_unref(again);
			}
			topo_unref(less);
			topo_unref(t);
			topocut_free(cut);
			free(cables);
		}
}

/* Of one switch: each LID of a host to its port. */
static void assert_leads_to_hosts(const struct routes *r)
{
	for (uint32_t i = 0; i < r->topo->n_hosts; i++) {
		const struct topo_host *h = &r->topo->hosts[i];

		for (lid_t lid = h->lid; lid < h->lid + (1u << h->lmc); lid++)
			assert_int_equal(routes_port(r, 0, lid), h->sw_port);
	}
}

/* As many hosts as ports, on one switch or two: LIDs end on either side of a block of 64. */
static void every_last_lid_is_routed(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "dnup", "ftree", "sssp", "dfsssp",
					       "columns", "lash", "nue", "dor", "auto" };
	static const unsigned hosts[] = { 1, 30, 31, 32, 33, 61, 62, 63, 64, 65, 125, 126, 127,
					  128, 190, 191, 253, 254 };

	for (size_t k = 0; k < ARRAY_SIZE(hosts); k++)
		for (unsigned lmc = 0; lmc < 3; lmc++) {
			const struct topogen o = { .lmc = (uint8_t)lmc, .switches_first = true };
			struct topo *one = topogen_fat_tree2(1, 0, hosts[k], 1, &o);
			struct topo *two = topogen_fat_tree2(1, 1, MIN(hosts[k], 253), 1, &o);

			for (size_t e = (k + lmc) % TEST_THINNED; e < ARRAY_SIZE(engines);
			     e += TEST_THINNED) {
				struct routes *a = route_by(engines[e], one, NULL);
				struct routes *b = route_by(engines[e], two, NULL);

				assert_leads_to_hosts(a);
				routes_unref(a);
				routes_unref(b);
			}
			topo_unref(one);
			topo_unref(two);
		}
}

/* ---- groups --------------------------------------------------------------------------------- */

static void assert_tree(const struct topo *t, const struct mcast_tree *tree)
{
	unsigned reached = 0;

	for (uint32_t i = 0; i < tree->n_rows; i++)
		for (unsigned p = 0; p < 256; p++) {
			if (!(tree->rows[i].mask[p / 64] >> p % 64 & 1))
				continue;
			assert_in_range(p, 0, t->switches[tree->rows[i].sw].n_ports);
			reached += topo_port(t, tree->rows[i].sw, (uint8_t)p)->sw == TOPO_NONE;
		}
	assert_int_equal(reached, 2);
}

static void every_radix_has_trees_for_groups(void **state)
{
	for (size_t r = 0; r < ARRAY_SIZE(radixes); r++)
		for (size_t i = 0; i < 2; i++) { /* without islands */
			const unsigned n = radixes[r];
			_cleanup_(topo_unrefp) struct topo *t = fabrics[i](n);
			const struct topo_host *a = &t->hosts[0], *b = &t->hosts[t->n_hosts - 1];
			const struct mcast_member members[] = {
				{ .sw = a->sw, .port = a->sw_port, .receive = true },
				{ .sw = b->sw, .port = b->sw_port, .receive = true },
			};
			const struct mcast_params params = { .topo = t };
			struct mcast_planner *p = mcast_planner_new(&params);

			for (unsigned k = 0; k < 3; k++) {
				struct mcast_tree *tree = mcast_plan(
					p, &(struct mcast_job){
						   .mlid = (lid_t)(MLID_MIN + k * (n + 1)),
						   .members = members,
						   .n_members = ARRAY_SIZE(members),
					   });

				assert_tree(t, tree);
				mcast_tree_unref(tree);
			}
			mcast_planner_free(p);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_of_a_few_is_every_one_of_them_in_turn),
		cmocka_unit_test(every_radix_is_routed_and_repaired),
		cmocka_unit_test(every_last_lid_is_routed),
		cmocka_unit_test(every_radix_has_trees_for_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
