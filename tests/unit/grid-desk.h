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

#include "route/check.h"
#include "route/engine.h"
#include "tests/lib/topocut.h"
#include "util/mem.h"

static inline uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* `shape` without a share of its cables and some switches. The caller owns the reference. */
static inline struct topo *damaged_grid(const char *shape, unsigned hosts, const struct topogen *o, unsigned n_switches)
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
static inline struct routes *route_by(const char *engine, const struct route_job *job, char why[160])
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
			assert_int_equal(lanes_bytes(r->lanes), lanes_bytes(again->lanes));
			assert_memory_equal(r->lanes->vl, again->lanes->vl,
					    r->lanes->n_classes * r->lanes->n_classes * LANES_SLS);
		}
	}
	routes_unref(again);
	return r;
}
