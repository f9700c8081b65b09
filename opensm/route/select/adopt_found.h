// SPDX-License-Identifier: BSD-2-Clause
/* Makes routes of found tables: their entries that lead somewhere, completed by the engine. */
#pragma once

#include "route/core/engine.h"
#include "route/proof/check.h"

struct adopt_job {
	const struct route_job *job; /* its `previous` is ignored */
	const struct routes *found;
	/* routes of an engine for the same topo, whose entries fill gaps */
	const struct routes *base;
	bool whole;			   /* set if nothing may be missing */
	bool unsafe;			   /* set if faults that `base` has are allowed */
	const struct route_verdict *fresh; /* verdict on tables from scratch */
};

/*
 * With the VLs that the engine of `base` has for such tables; if that is `auto`, with those of any
 * engine that it might take. One reference, with the verdict in *ret; or NULL: entries are missing,
 * or lead over paths that options exclude, or the tables do not hold, or they are clearly worse
 * than those from scratch (proof/keep_policy.h).
 */
struct routes *adopt_found(const struct adopt_job *s, struct route_verdict *ret);
