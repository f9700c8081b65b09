// SPDX-License-Identifier: BSD-2-Clause
/*
 * The sssp engine: shortest paths whose most loaded channel carries as little as possible.
 *
 * It begins with the tables of minhop: in trees the closed form, in which destinations that compete
 * share their path and others never meet; elsewhere destinations by load. That is balanced as long
 * as nothing is broken. Then the most loaded channels are relieved (balance.c), class by class:
 * paths to compute nodes (cn_guid_file) are spread among each other first, storage (io_guid_file)
 * goes where they left room, the rest after both. Options of counting have no effect; hop weights
 * do.
 *
 * Loads are counted, not added to weights of edges, so shortest stays shortest and nothing
 * overflows. Every LID of a port is a destination of its own.
 *
 * avoid_throttled_links: a cable below its own speed costs as much as the longest detour there can
 * be, so paths take it only where there is no other.
 *
 * Change. Entries of the previous tables on a shortest path stay; nothing is relieved while the
 * most loaded channel carries little more than when it was relieved last.
 *
 * No VLs: on a graph with rings routes_check() will refuse these tables. See dfsssp.
 *
 * The engine columns is the same, but begins with destinations by load in trees as well. In a tree
 * that grew, the numbers of cables differ and fit no digit: there loads come out better than the
 * closed form.
 */
#include "route/sp/sssp.h"

#include <stdio.h>
#include <string.h>

#include "route/select/engines.h"
#include "route/core/memo.h"
#include "route/proof/keep_policy.h"
#include "route/core/lid_spread.h"
#include "route/sp/balance.h"
#include "util/hash.h"
#include "util/mem.h"

#define SLOW 255

static void add_slow(const struct topo *t, struct sssp *s)
{
	uint32_t n = s->options.n_weights;

	s->weights = xcalloc((size_t)n + topo_n_entries(t), sizeof(*s->weights));
	if (n)
		memcpy(s->weights, s->options.weights, n * sizeof(*s->weights));
	for (uint32_t sw = 0; sw < t->n_switches; sw++)
		for (unsigned p = 1; p <= t->switches[sw].n_ports; p++)
			if (topo_port(t, sw, p)->slow && topo_port(t, sw, p)->sw != TOPO_NONE)
				s->weights[n++] = (struct route_guid_port){
					.guid = t->switches[sw].guid,
					.port = (uint8_t)p,
					.weight = SLOW,
				};
	s->options.weights = s->weights;
	s->options.n_weights = n;
}

static void use_options(const struct route_job *job, struct sssp *s)
{
	const struct route_options *o = &job->options;

	s->options = (struct route_options){
		.cn = o->cn,
		.io = o->io,
		.weights = o->weights,
		.n_weights = o->n_weights,
		.by_load = o->by_load,
	};
	if (o->avoid_throttled_links)
		add_slow(job->topo, s);
}

static uint64_t hash_guids(uint64_t h, const struct route_guids *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		h = hash_bytes(h, &g->guids[i], sizeof(g->guids[i]));
	return hash_bytes(h, &g->n, sizeof(g->n));
}

/* Of all that decides on what becomes of the tables: their rows, classes of destinations. */
static uint64_t hash_start(const struct sssp *s)
{
	const struct routes *r = s->routes;
	uint64_t h = hash_guids(hash_guids(HASH_START, &s->options.cn), &s->options.io);

	for (uint32_t i = 0; i < s->options.n_weights; i++) {
		const struct route_guid_port *w = &s->options.weights[i];

		h = hash_bytes(h, &w->guid, sizeof(w->guid));
		h = hash_bytes(h, (uint8_t[]){ w->port, w->weight }, 2);
	}
	for (uint32_t u = 0; u < r->topo->n_switches; u++)
		h = hash_words(h, routes_row(r, u), r->row_size / 8);
	return h;
}

static void balance_paths(const struct route_job *job, struct sssp *s)
{
	const struct routes *old = job->previous;
	bool ours = routes_are_by(old, s->routes->engine);
	uint32_t before = ours ? old->expected_load : 0, most, moved;

	most = balance_channels(&(struct balance_job){
		.graph = s->graph, .distances = s->distances, .dests = s->dests,
		/* Paths with VLs stay: another needs another VL, which connections do not learn. */
		.tolerated = keep_limit(ours && old->lanes ? KEEP_PATHS : KEEP_BALANCED, before),
		.threads = s->threads, .cancelled = job->cancelled,
	}, s->routes, &moved);
	if (lid_spread_is_needed(job->topo))
		most = lid_spread(&(struct lid_spread_job){
			.graph = s->graph, .distances = s->distances, .previous = old,
			.limit = most, .cancelled = job->cancelled,
		}, s->routes);
	s->routes->expected_load = keep_base(KEEP_BALANCED, most, before);
}

/* Engines by load that begin with the same tables make the same of them. */
static void balance_or_recall(const struct route_job *job, struct sssp *s)
{
	struct route_memo *memo = job->previous ? NULL : job->memo;
	struct routes *r = s->routes;
	uint64_t key = memo ? hash_start(s) : 0;
	const struct route_memo_entry *known = route_memo_find(memo, MEMO_RELIEVED, key, r);

	if (!known) {
		balance_paths(job, s);
		route_memo_leave(memo, MEMO_RELIEVED, key, r, r->expected_load);
		return;
	}
	for (uint32_t u = 0; u < r->topo->n_switches; u++)
		memcpy(routes_row(r, u), known->rows + (size_t)u * known->row_size, r->row_size);
	r->expected_load = known->load;
}

bool sssp_run(const struct route_job *job, const char *name, struct sssp *ret, char *why,
	      size_t why_len)
{
	struct route_job base = *job;

	if (job->options.cn.broken || job->options.io.broken)
		return route_refuse(why, why_len, "%s has faulty lines, or cannot be read",
				    job->options.cn.broken ? "cn_guid_file" : "io_guid_file");
	ret->threads = route_threads(job);
	use_options(job, ret);
	base.options = ret->options;
	ret->routes = minhop_compute(&base, why, why_len);
	if (!ret->routes)
		return false;
	snprintf(ret->routes->engine, sizeof(ret->routes->engine), "%s", name);
	ret->graph = graph_new(job->topo, &ret->options);
	ret->distances = distances_new(ret->graph, ret->threads, job->cancelled);
	if (ret->distances) {
		ret->dests = dest_order_with_asides(job->topo, &ret->options);
		balance_or_recall(job, ret);
	}
	return !route_is_cancelled(job);
}

void sssp_done(struct sssp *s)
{
	graph_free(s->graph);
	distances_free(s->distances);
	dest_order_free(s->dests);
	routes_unref(s->routes);
	free(s->weights);
}

void sssp_use_vls(struct routes *r, const struct vl_layers *layers, enum sl2vl_by by,
		  unsigned start, const struct sl2vl *kept)
{
	unsigned n_vls = MAX(layers->n, 1) + start;
	struct sl2vl *l;

	if (layers->n + start < 2)
		return;
	l = sl2vl_new(r->topo, n_vls, by, r->row_size, 1);
	for (size_t i = 0; i < sl2vl_n_sl(l); i++)
		l->sl[i] = (uint8_t)(start +
				     (layers->lanes[i] == VL_LAYERS_NONE ? 0 : layers->lanes[i]));
	l->n_needed = (uint8_t)(kept ? MIN(sl2vl_own_needed(kept), n_vls) : layers->needed + start);
	r->lanes = l;
	snprintf(r->note, sizeof(r->note), "%u VLs, of which %u are needed", layers->n,
		 l->n_needed ? l->n_needed - start : layers->n);
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
