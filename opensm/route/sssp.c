// SPDX-License-Identifier: BSD-2-Clause
/*
 * The sssp engine: shortest paths whose most loaded channel carries as little as can be.
 *
 * It begins with what minhop makes of the fabric: in trees the closed form, in which destinations that
 * compete share their way and others never meet; elsewhere columns by load. That is balanced as long as
 * nothing is broken. Then the most loaded channels are relieved (relieve.c), class by class: paths to
 * compute nodes (cn_guid_file) are spread among each other first, storage (io_guid_file) goes where they
 * left room, the rest after both. Options of counting mean nothing here; hop weights do.
 *
 * Loads are counted, not added to weights of edges, so shortest stays shortest and nothing overflows.
 * Every LID of a port is a destination of its own.
 *
 * avoid_throttled_links: a cable below its own speed costs as much as the longest detour there can be,
 * so paths take it only where there is no other way.
 *
 * Change. Entries of the previous tables that are on a shortest path stay; nothing is relieved while the
 * most loaded channel carries little more than it did when it was relieved last.
 *
 * No lanes: on a graph with rings the judge will refuse these tables. See dfsssp.
 *
 * The engine columns is the same, but begins with columns by load in trees as well. A tree that grew has cables in
 * numbers that no digit knows of: there loads come out better than the closed form.
 */
#include "route/sssp.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "route/cancel.h"
#include "route/engines.h"
#include "route/relieve.h"
#include "util/mem.h"

#define SLOW 255
#define SLACK(load) ((load) + (load) / 16)

static void add_slow(const struct topo *t, struct sssp *s)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < t->n_switches; sw++)
		for (unsigned p = 1; p <= t->switches[sw].n_ports; p++)
			n += topo_port(t, sw, p)->slow && topo_port(t, sw, p)->sw != TOPO_NONE;
	if (!n)
		return;
	s->weights = xcalloc((size_t)s->options.n_weights + n, sizeof(*s->weights));
	n = s->options.n_weights;
	if (n)
		memcpy(s->weights, s->options.weights, n * sizeof(*s->weights));
	for (uint32_t sw = 0; sw < t->n_switches; sw++)
		for (unsigned p = 1; p <= t->switches[sw].n_ports; p++)
			if (topo_port(t, sw, p)->slow && topo_port(t, sw, p)->sw != TOPO_NONE)
				s->weights[n++] = (struct route_guid_port){
					.guid = t->switches[sw].guid, .port = (uint8_t)p, .weight = SLOW,
				};
	s->options.weights = s->weights;
	s->options.n_weights = n;
}

static void use_options(const struct route_job *job, struct sssp *s)
{
	const struct route_options *o = &job->options;

	s->options = (struct route_options){
		.cn = o->cn, .io = o->io, .weights = o->weights, .n_weights = o->n_weights, .by_load = o->by_load,
	};
	if (o->avoid_throttled_links)
		add_slow(job->topo, s);
}

static void balance(const struct route_job *job, struct sssp *s)
{
	const struct routes *old = job->previous;
	bool ours = routes_are_by(old, s->routes->engine);
	uint32_t before = ours ? old->expected_load : 0, most, moved;

	most = relieve(&(struct relieve_job){
		.graph = s->graph, .distances = s->distances, .roll = s->roll,
		/* Paths that have lanes stay: another path needs another lane, which running connections do not learn. */
		.tolerated = ours && old->lanes ? 2 * before : SLACK(before),
		.threads = s->threads, .cancelled = job->cancelled,
	}, s->routes, &moved);
	s->routes->expected_load = before && most > before && most <= SLACK(before) ? before : most;
}

bool sssp_run(const struct route_job *job, const char *name, struct sssp *ret, char *why, size_t why_len)
{
	struct route_job base = *job;

	if (job->options.cn.broken || job->options.io.broken) {
		snprintf(why, why_len, "%s has faulty lines, or cannot be read",
			 job->options.cn.broken ? "cn_guid_file" : "io_guid_file");
		return false;
	}
	ret->threads = job->threads ? job->threads : (unsigned)omp_get_max_threads();
	use_options(job, ret);
	base.options = ret->options;
	ret->routes = minhop_compute(&base, why, why_len);
	if (!ret->routes)
		return false;
	snprintf(ret->routes->engine, sizeof(ret->routes->engine), "%s", name);
	ret->graph = graph_new(job->topo, &ret->options);
	ret->distances = distances_new(ret->graph, ret->threads, job->cancelled);
	if (ret->distances) {
		ret->roll = roll_new(job->topo, &ret->options);
		balance(job, ret);
	}
	if (is_cancelled(job->cancelled))
		snprintf(why, why_len, "cancelled");
	return !is_cancelled(job->cancelled);
}

void sssp_done(struct sssp *s)
{
	graph_free(s->graph);
	distances_free(s->distances);
	roll_free(s->roll);
	routes_unref(s->routes);
	free(s->weights);
}

struct routes *sssp_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(sssp_done) struct sssp s = { .graph = NULL };

	return sssp_run(job, "sssp", &s, why, why_len) ? take(s.routes) : NULL;
}

struct routes *columns_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(sssp_done) struct sssp s = { .graph = NULL };
	struct route_job by_load = *job;

	by_load.options.by_load = true;
	return sssp_run(&by_load, "columns", &s, why, why_len) ? take(s.routes) : NULL;
}
