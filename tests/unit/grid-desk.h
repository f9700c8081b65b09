// SPDX-License-Identifier: BSD-2-Clause
/* Grids for tests: tables of an engine, judged, on shapes by name, whole and damaged. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "route/proof/check.h"
#include "route/proof/cdg.h"
#include "route/core/engine.h"
#include "route/select/engines.h"
#include "tests/lib/topocut.h"
#include "util/mem.h"

static inline uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* `shape` without a share of its cables and some switches. The caller owns the reference. */
static inline struct topo *damaged_grid(const char *shape, unsigned hosts, const struct topogen *o,
					unsigned n_switches)
{
	struct topo *whole = topogen_grid(shape, hosts, 1, o), *t;
	struct topocut *cut = topocut_new(whole);
	uint64_t random = o->seed * 77 + 1;

	for (unsigned i = 0; i < n_switches; i++)
		cut->switches[next_random(&random) % whole->n_switches] = true;
	t = topocut_apply(whole, cut);
	topocut_free(cut);
	topo_unref(whole);
	return t;
}

static inline bool holds(const struct route_verdict *v)
{
	return !v->credit_loop && !v->lost && !v->looping;
}

/* NULL and why. The same for one thread and two. */
static inline struct routes *route_by(const char *engine, const struct route_job *job,
				      char why[160])
{
	struct route_job one = *job, two = *job;
	struct routes *r, *again;

	one.threads = 1;
	two.threads = 2;
	why[0] = '\0';
	r = route_engine_find(engine)->compute(&one, why, 160);
	again = route_engine_find(engine)->compute(&two, why, 160);
	assert_int_equal(!r, !again);
	assert_true(r || why[0]);
	if (r) {
		assert_memory_equal(r->lft, again->lft, (size_t)r->topo->n_switches * r->row_size);
		assert_int_equal(!r->lanes, !again->lanes);
		if (r->lanes) {
			assert_int_equal(sl2vl_n_sl(r->lanes), sl2vl_n_sl(again->lanes));
			assert_int_equal(r->lanes->n_classes, again->lanes->n_classes);
			assert_memory_equal(r->lanes->vl, again->lanes->vl,
					    r->lanes->n_classes * r->lanes->n_classes * SL2VL_SLS);
		}
	}
	routes_unref(again);
	return r;
}

/*
 * The tree over all switches that the routes prescribe, as one of a group that has members
 * everywhere.
 */
static inline struct mcast_tree *whole_tree(const struct routes *r)
{
	const struct topo *t = r->topo;
	struct mcast_tree *tree = xcalloc(1, sizeof(*tree) + t->n_switches * sizeof(tree->rows[0]));
	unsigned roots = 0;

	tree->refs = 1;
	tree->n_rows = t->n_switches;
	for (uint32_t s = 0; s < t->n_switches; s++) {
		uint8_t up = r->master_tree[s];
		const struct topo_port *port = topo_port(t, s, up);

		tree->rows[s].guid = t->switches[s].guid;
		tree->rows[s].sw = s;
		tree->rows[s].up = MCAST_NONE;
		roots += !up;
		if (!up)
			continue;
		tree->rows[s].up = port->sw;
		tree->rows[s].up_port = up;
		tree->rows[s].down_port = port->port;
		tree->rows[s].mask[up / 64] |= UINT64_C(1) << up % 64;
		tree->rows[port->sw].mask[port->port / 64] |= UINT64_C(1) << port->port % 64;
	}
	assert_int_equal(roots, 1);
	/* Every switch reaches the root. */
	for (uint32_t s = 0; s < t->n_switches; s++) {
		uint32_t at = s, steps = 0;

		for (; tree->rows[at].up != MCAST_NONE; at = tree->rows[at].up)
			assert_true(steps++ < t->n_switches);
	}
	return tree;
}

/* No cycle of paths and groups, in either level of service. */
static inline bool groups_fit(const struct routes *r)
{
	struct cdg *g = cdg_of(r, 1);
	struct mcast_tree *tree = whole_tree(r);
	bool ok = cdg_is_acyclic(g) && cdg_add_tree(g, tree, 0) &&
		  cdg_add_tree(g, tree, 8);

	free(tree);
	cdg_free(g);
	return ok;
}
