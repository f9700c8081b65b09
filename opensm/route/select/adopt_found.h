// SPDX-License-Identifier: BSD-2-Clause
/* Found tables as routes: entries that lead somewhere, and what an engine would say of its own. */
#pragma once

#include "route/core/engine.h"
#include "route/proof/check.h"

struct adopt_job {
	const struct route_job *job;  /* its `previous` does not matter */
	const struct routes *found;
	const struct routes *base;    /* an engine's of the same topo: its entries fill gaps */
	bool whole;                   /* nothing may be missing */
	bool unsafe;                  /* the faults of `base` are allowed */
	const struct route_verdict *fresh; /* of tables from scratch */
};

/*
 * With the VLs that the engine of `base` has for such tables; if that is `auto`, with those of any
 * engine that it might take. One reference, with the verdict in *ret; or NULL: entries are missing,
 * or lead over paths that options exclude, or the tables do not hold, or they are clearly worse
 * than those from scratch (proof/keep_policy.h).
 */
struct routes *adopt_found(const struct adopt_job *s, struct route_verdict *ret);
