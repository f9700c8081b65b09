// SPDX-License-Identifier: BSD-2-Clause
/* The engines there are. Which of them is asked, and in which order, is decided above. */
#include "route/engine.h"

#include <string.h>

#include "route/engines.h"
#include "util/mem.h"

static const struct route_engine engines[] = {
	{ .name = "auto", .compute = automatic_compute },
	{ .name = "minhop", .compute = minhop_compute, .balances = true },
	{ .name = "updn", .compute = updn_compute },
	{ .name = "dnup", .compute = dnup_compute },
	{ .name = "file", .compute = tablefile_compute, .exact = true },
	{ .name = "ftree", .compute = ftree_compute },
	{ .name = "lash", .compute = lash_compute },
	{ .name = "dor", .compute = dor_compute, .exact = true },
	{ .name = "torus-2QoS", .compute = torus_2qos_compute, .exact = true },
	{ .name = "nue", .compute = nue_compute },
	{ .name = "sssp", .compute = sssp_compute },
	{ .name = "columns", .compute = columns_compute },
	{ .name = "dfsssp", .compute = dfsssp_compute },
	{ .name = "dragonfly", .compute = dragonfly_compute },
	{ .name = "hyperx", .compute = hyperx_compute },
};

unsigned route_lanes(const struct route_job *job)
{
	unsigned most = lanes_available(job->topo);

	return job->options.max_vls ? MIN(most, job->options.max_vls) : most;
}

const struct route_engine *route_engine_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		if (!strcmp(engines[i].name, name))
			return &engines[i];
	return NULL;
}

const struct route_engine *route_engine_find_in(const struct route_engines *more, const char *name)
{
	for (unsigned i = 0; more && i < more->n; i++)
		if (!strcmp(more->rows[i].name, name))
			return &more->rows[i];
	return route_engine_find(name);
}

struct routes *route_engine_run(const struct route_engine *engine, const struct route_job *job,
				char *why, size_t why_len)
{
	return engine->compute ? engine->compute(job, why, why_len)
			       : engine->compute_with(engine->arg, job, why, why_len);
}
