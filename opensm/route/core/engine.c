// SPDX-License-Identifier: BSD-2-Clause
/* Questions of every engine about its job, and the one place where engines run. */
#include "route/core/engine.h"

#include <assert.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>

#include "route/core/aside.h"

void *route_refuse(char *why, size_t why_len, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, why_len, format, args);
	va_end(args);
	return NULL;
}

unsigned route_threads(const struct route_job *job)
{
	return job->threads ? job->threads : (unsigned)omp_get_max_threads();
}

bool route_is_possible(const struct route_job *job, char *why, size_t why_len)
{
	if (job->topo->n_switches <= ROUTE_SWITCHES_MAX)
		return true;
	return route_refuse(why, why_len, "%u switches, at most %u can be routed",
			    job->topo->n_switches, ROUTE_SWITCHES_MAX);
}

static void add_levels(const struct route_job *job, struct routes *r)
{
	if (r && r->lanes)
		sl2vl_add_levels(r->lanes, job->options.levels, route_vls_whole(job));
}

void route_complete(const struct route_job *job, struct routes *r)
{
	if (r)
		routes_set_aside(r);
	add_levels(job, r);
}

struct routes *route_engine_run(const struct route_engine *engine, const struct route_job *job,
				char *why, size_t why_len)
{
	struct routes *r;

	assert(engine && job && job->topo && why_len > 0);
	if (job->progress)
		snprintf(job->progress->inner, sizeof(job->progress->inner), "%s", engine->name);
	r = engine->compute ? engine->compute(job, why, why_len)
			    : engine->compute_with(engine->arg, job, why, why_len);
	if (!route_is_cancelled(job)) {
		if (engine->given)
			add_levels(job, r);
		else
			route_complete(job, r);
		return r;
	}
	snprintf(why, why_len, "cancelled");
	return routes_unref(r);
}
