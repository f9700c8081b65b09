// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which engine's tables count: the list of routing_engine is tried in order, every result is judged, and what
 * does not hold is refused in favour of the next. `auto` is the end of every list without no_fallback.
 *
 * Tables hold when every pair of end ports that cables connect has a path, none goes round, and no cycle of
 * (channel, lane) waits for itself. `allow_unsafe` takes the first result there is.
 */
#pragma once

#include "route/check.h"
#include "route/engine.h"

struct route_chain {
	const char *list; /* routing_engine: names and no_fallback, separated by commas or blanks; NULL: auto */
	const struct route_engines *more; /* from plugins; NULL: none */
	bool allow_unsafe;
};

struct route_choice {
	struct route_verdict verdict;
	char why[160];     /* when there are no routes */
	char refused[600]; /* "updn: its tables ...; ftree: not a tree": engines that had their turn */
	bool unsafe;	   /* allowed by option, and needed it */
};

/* One reference, or NULL and `why`. Pure. */
struct routes *route_choose(const struct route_chain *chain, const struct route_job *job,
			    struct route_choice *ret);
/* What is wrong with tables, as "its tables %s"; NULL: they hold. */
const char *route_fault(const struct route_verdict *v);
