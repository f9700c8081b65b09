// SPDX-License-Identifier: BSD-2-Clause
/* Engine, judge, and what happens when they disagree about balance. */
#include "route/reroute.h"

#include <time.h>

#include "util/mem.h"

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

struct routes *reroute(const struct route_engine *engine, const struct route_job *job,
		       struct reroute_report *ret)
{
	double since = cpu_seconds();
	struct routes *r = engine->compute(job, ret->why, sizeof(ret->why));

	if (!r)
		return NULL;
	ret->seconds_compute = cpu_seconds() - since;
	since = cpu_seconds();
	routes_check(r, job->threads, &ret->verdict);
	ret->seconds_check = cpu_seconds() - since;
	return r;
}
