// SPDX-License-Identifier: BSD-2-Clause
/*
 * Found tables as if an engine had made them: their entries where they lead somewhere, and what else routes are.
 */
#pragma once

#include "route/check.h"
#include "route/engine.h"

struct stand_job {
	const struct route_job *job;  /* its `previous` does not matter */
	const struct routes *found;
	const struct routes *base;    /* what an engine made of the same topo: where nothing is found, its entries count */
	bool whole;                   /* nothing may be missing */
	bool unsafe;                  /* the faults of `base` are allowed */
	/* Are they good enough, judged so? */
	bool (*accepts)(const struct routes *r, const struct route_verdict *v, const void *arg);
	const void *arg;
};

/*
 * With the lanes that the engine of `base` has for such tables; if that is `auto`, with those of any engine that it
 * might take. One reference, judged in *ret, or NULL: too little is there, they go ways that options exclude, or
 * they do not hold, or are not good enough.
 */
struct routes *stand(const struct stand_job *s, struct route_verdict *ret);
