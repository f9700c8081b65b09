// SPDX-License-Identifier: BSD-2-Clause
/* Multicast trees by the number: `bench-mcast [K]`, a three-level fat tree of K-port switches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "route/mcast/mcast.h"
#include "tests/lib/topogen.h"
#include "util/mem.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct mcast_member host(const struct topo *t, uint32_t h)
{
	return (struct mcast_member){ .sw = t->hosts[h].sw,
				      .port = t->hosts[h].sw_port,
				      .receive = true };
}

static struct mcast_tree *plan(struct mcast_planner *p, lid_t mlid, const struct mcast_member *m,
			       uint32_t n, const struct mcast_tree *previous)
{
	const struct mcast_job job = {
		.mlid = mlid, .members = m, .n_members = n, .previous = previous
	};

	return mcast_plan(p, &job);
}

static void all_at_once(struct mcast_planner *p, const struct topo *t)
{
	_cleanup_free_ struct mcast_member *m = xcalloc(t->n_hosts, sizeof(*m));
	struct mcast_tree *tree, *again;
	double start;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		m[h] = host(t, h);
	start = now();
	tree = plan(p, MLID_MIN, m, t->n_hosts, NULL);
	printf("one group of %u: %.2f ms, %u links, %u hops\n", t->n_hosts, 1e3 * (now() - start),
	       tree->n_links, tree->n_hops);
	start = now();
	again = plan(p, MLID_MIN, m, t->n_hosts - 1, tree);
	printf("one leaves: %.3f ms, %u links\n", 1e3 * (now() - start), again->n_links);
	mcast_tree_unref(again);
	mcast_tree_unref(tree);
}

static void one_by_one(struct mcast_planner *p, const struct topo *t)
{
	_cleanup_free_ struct mcast_member *m = xcalloc(t->n_hosts, sizeof(*m));
	struct mcast_tree *tree = NULL;
	double start = now();

	for (uint32_t h = 0; h < t->n_hosts; h++) {
		struct mcast_tree *next;

		m[h] = host(t, h);
		next = plan(p, MLID_MIN, m, h + 1, tree);
		mcast_tree_unref(tree);
		tree = next;
	}
	printf("%u joins one by one: %.1f ms, %u links, %u hops\n", t->n_hosts,
	       1e3 * (now() - start), tree->n_links, tree->n_hops);
	mcast_tree_unref(tree);
}

static void many_groups(struct mcast_planner *p, const struct topo *t, unsigned groups)
{
	_cleanup_free_ unsigned *used = xcalloc(t->n_switches, sizeof(*used));
	unsigned links = 0, most = 0;
	double start = now();

	for (unsigned g = 0; g < groups; g++) {
		struct mcast_member m[8];
		struct mcast_tree *tree;

		for (unsigned i = 0; i < 8; i++)
			m[i] = host(t, (g * 7919u + i * 104729u) % t->n_hosts);
		tree = plan(p, (lid_t)(MLID_MIN + g), m, 8, NULL);
		links += tree->n_links;
		used[tree->rows[tree->root].sw]++;
		most = MAX(most, used[tree->rows[tree->root].sw]);
		mcast_tree_unref(tree);
	}
	printf("%u groups of 8: %.1f ms, %u links, at most %u roots on one switch\n", groups,
	       1e3 * (now() - start), links, most);
}

int main(int argc, char **argv)
{
	unsigned k = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 36;
	_cleanup_(topo_unrefp) struct topo *t = topogen_fat_tree3(k, NULL);
	const struct mcast_params params = { .topo = t };
	double start = now();
	struct mcast_planner *p = mcast_planner_new(&params);
	struct mcast_member two[] = { host(t, 0), host(t, t->n_hosts - 1) };

	mcast_tree_unref(plan(p, MLID_MIN, two, 2, NULL));
	printf("planner for %u switches, %u hosts: %.1f ms\n", t->n_switches, t->n_hosts,
	       1e3 * (now() - start));
	all_at_once(p, t);
	one_by_one(p, t);
	many_groups(p, t, 2000);
	mcast_planner_free(p);
	return 0;
}
