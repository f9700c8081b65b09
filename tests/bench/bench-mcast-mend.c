// SPDX-License-Identifier: BSD-2-Clause
/*
 * What becomes of multicast trees when a cable of theirs dies: for each fabric and engine, groups
 * of 16 members; every cable of the first groups' trees is cut in turn, and all trees are mended.
 * Prints the branches mended, waiting and cut off, rows that changed per branch, and microseconds
 * per cable.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "route/core/engine.h"
#include "route/mcast/mcast.h"
#include "route/proof/cdg.h"
#include "route/select/engines.h"
#include "tests/lib/topogen.h"
#include "util/mem.h"
#include "util/random.h"

#define GROUPS	64
#define MEMBERS 16
#define CABLES	40

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct sums {
	uint64_t mended, waiting, cut_off, rows, trees;
	unsigned cables, unproved;
	double time, worst;
};

struct bench {
	const struct topo *t;
	struct routes *r;
	const struct cdg *graph;
	struct mcast_planner *p;
	struct mcast_member members[GROUPS][MEMBERS];
	struct mcast_tree *trees[GROUPS];
};

static struct mcast_job job_of(const struct bench *b, unsigned g)
{
	return (struct mcast_job){
		.mlid = (lid_t)(MLID_MIN + g),
		.members = b->members[g],
		.n_members = MEMBERS,
	};
}

static void set_up(struct bench *b)
{
	uint64_t rng = 1;

	b->p = mcast_planner_new(&(struct mcast_params){
		.topo = b->t,
		.routes = b->r,
		.depends = b->graph ? cdg_copy(b->graph) : NULL,
	});
	for (unsigned g = 0; g < GROUPS; g++) {
		struct mcast_job job = job_of(b, g);

		for (unsigned i = 0; i < MEMBERS; i++) {
			const struct topo_host *h = &b->t->hosts[random_next(&rng) % b->t->n_hosts];

			b->members[g][i] = (struct mcast_member){ h->sw, h->sw_port, true };
		}
		b->trees[g] = mcast_plan(b->p, &job);
	}
}

static void take_down(struct bench *b)
{
	for (unsigned g = 0; g < GROUPS; g++)
		mcast_tree_unref(b->trees[g]);
	mcast_planner_free(b->p);
}

static unsigned rows_that_differ(const struct mcast_tree *a, const struct mcast_tree *b)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < a->n_rows; i++) {
		const struct mcast_row *other = mcast_tree_find(b, a->rows[i].guid);

		n += !other || memcmp(other->mask, a->rows[i].mask, sizeof(other->mask));
	}
	for (uint32_t i = 0; i < b->n_rows; i++)
		n += !mcast_tree_find(a, b->rows[i].guid);
	return n;
}

/* The nth cable of the trees; TOPO_NONE: there are fewer. */
static uint32_t nth_cable(const struct bench *b, unsigned n)
{
	const struct mcast_tree *t = b->trees[n % GROUPS];
	unsigned row = n / GROUPS * 7 + 1;

	if (row >= t->n_rows)
		return TOPO_NONE;
	row += t->rows[row].up == MCAST_NONE ? -1u : 0;
	return b->t->switches[t->rows[row].sw].first_port + t->rows[row].up_port;
}

static void cut_one(struct bench *b, uint32_t cable, struct sums *s)
{
	double begin = seconds();

	mcast_cables_died(b->p, &cable, 1);
	for (unsigned g = 0; g < GROUPS; g++) {
		struct mcast_job job = job_of(b, g);
		struct mcast_mended m;
		struct mcast_tree *next;

		if (!mcast_uses_dead(b->p, b->trees[g]))
			continue;
		job.previous = b->trees[g];
		next = mcast_mend(b->p, &job, &m);
		s->mended += m.mended;
		s->waiting += m.waiting;
		s->cut_off += m.cut_off;
		s->rows += m.mended ? rows_that_differ(b->trees[g], next) : 0;
		s->trees++;
		mcast_tree_unref(b->trees[g]);
		b->trees[g] = next;
	}
	s->time += seconds() - begin;
	s->worst = MAX(s->worst, seconds() - begin);
	s->cables++;
}

static void bench(const char *name, struct topo *t, const char *engine)
{
	struct route_job job = { .topo = t };
	char why[200] = "";
	struct bench b = { .t = t };
	struct sums s = { 0 };
	struct cdg *graph;

	b.r = route_engine_find(engine)->compute(&job, why, sizeof(why));
	if (!b.r) {
		printf("%-16s %-10s %s\n", name, engine, why);
		topo_unref(t);
		return;
	}
	graph = cdg_of(b.r, 1);
	if (cdg_is_acyclic(graph))
		b.graph = graph;
	for (unsigned i = 0; i < CABLES; i++) {
		uint32_t cable;

		set_up(&b);
		cable = nth_cable(&b, i);
		for (unsigned g = 0; g < GROUPS; g++)
			s.unproved += b.trees[g]->unproved;
		if (cable != TOPO_NONE)
			cut_one(&b, cable, &s);
		take_down(&b);
	}
	printf("%-16s %-10s %s: %6" PRIu64 " mended %5" PRIu64 " wait %4" PRIu64
	       " cut off, %4.1f rows, %6.0f us a cable, %6.0f at most, %u unproved\n",
	       name, engine, b.graph ? "proved" : "cyclic", s.mended, s.waiting, s.cut_off,
	       s.mended ? (double)s.rows / (double)s.mended : 0, s.time / s.cables * 1e6,
	       s.worst * 1e6, s.unproved);
	cdg_free(graph);
	routes_unref(b.r);
	topo_unref(t);
}

int main(void)
{
	static const char *const engines[] = { "minhop", "updn", "dfsssp", "nue", "sssp" };
	const struct topogen worn = { .seed = 3, .damage = 0.05 };

	for (unsigned e = 0; e < ARRAY_SIZE(engines); e++) {
		bench("fat tree", topogen_fat_tree3(16, NULL), engines[e]);
		bench("worn fat tree", topogen_fat_tree3(16, &worn), engines[e]);
		bench("torus 6x6x6", topogen_torus((unsigned[]){ 6, 6, 6 }, 4, NULL), engines[e]);
		bench("torus 4x4x2", topogen_torus((unsigned[]){ 4, 4, 2 }, 1, NULL), engines[e]);
		bench("dragonfly", topogen_dragonfly(17, 8, 4, NULL), engines[e]);
		bench("hyperx 12x12", topogen_hyperx(12, 12, 4, NULL), engines[e]);
		bench("slim fly", topogen_slim_fly(5, 4, NULL), engines[e]);
		bench("random", topogen_random(200, 8, 6, NULL), engines[e]);
	}
	return 0;
}
