// SPDX-License-Identifier: BSD-2-Clause
/*
 * Chooses the engine: the list of routing_engine is tried in order, every result is checked, and
 * tables that do not hold are refused in favour of the next engine's. `auto` is the end of every
 * list without no_fallback.
 *
 * Tables hold when every pair of end ports that cables connect has a path, no path goes round, and
 * the dependencies of (channel, VL) have no cycle. With `allow_unsafe` the first result is taken.
 */
#pragma once

#include "route/proof/check.h"
#include "route/core/engine.h"

/* An engine that is skipped for now, with the reason. */
struct route_skip {
	char engine[32];
	char why[160];
};

struct route_chain {
	/* routing_engine: names and no_fallback, separated by commas or blanks; NULL: auto */
	const char *list;
	const struct route_engines *more; /* engines of plugins; NULL: none */
	bool allow_unsafe;
	/*
	 * Engines whose process died on this fabric (sm/routing/route_job.h). Where one of them is
	 * the last of a list without no_fallback, updn and minhop are tried instead: simple engines
	 * that always end.
	 */
	const struct route_skip *skip;
	unsigned n_skip;
};

struct route_choice {
	struct route_verdict verdict;
	char why[160];	   /* reason why there are no routes */
	char refused[600]; /* "updn: its tables ...; ftree: not a tree": engines tried */
	bool unsafe;	   /* set if the tables do not hold, but an option allows them */
};

/* The first engine that is not skipped; NULL: all are skipped. */
const struct route_engine *route_chain_first(const struct route_chain *chain);
/* Is an engine listed, and not skipped, that may take long or is of a plugin? */
bool route_chain_is_slow(const struct route_chain *chain);

/* Chooses tables, one reference; NULL: `why` has the reason. Pure. */
struct routes *route_choose(const struct route_chain *chain, const struct route_job *job,
			    struct route_choice *ret);
