// SPDX-License-Identifier: BSD-2-Clause
/* Tables of a fabric as it is, or without what failed, with their figures. */
#include <stdio.h>
#include <sys/resource.h>

#include "offline/plan.h"
#include "plan/route_lists.h"
#include "plan/slvl.h"
#include "route/select/keep_tables.h"

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void measure(const struct plan_world *w, struct plan_tables *p)
{
	const struct topo *t = p->routes->topo;
	uint32_t n, n_job;
	_cleanup_free_ uint32_t *all = plan_order(w, t, &n), *job = NULL;
	struct figures_flows flows;
	struct route_ranks ranks;

	figures_of(p->routes, (struct route_ranks){ all, n }, w->args->threads, &p->figures);
	p->rails = plan_rails_new(w, p->routes, (struct route_ranks){ all, n });
	if (!w->job)
		return;
	job = plan_job(w, t, &n_job);
	ranks = (struct route_ranks){ job, n_job };
	flows = figures_flows(p->routes, ranks, w->args->threads);
	traffic_of(p->routes, ranks, &flows, &p->job);
	figures_flows_clear(&flows);
	p->job_rails = plan_job_rails_new(w, p->routes, ranks);
}

void plan_route(const struct plan_world *w, const struct topo *t, struct plan_before before,
		bool full, struct plan_tables *ret)
{
	const struct route_chain chain = { .list = w->conf->routing_engine,
		.allow_unsafe = w->conf->allow_unsafe_routes };
	const struct route_job job = { .topo = t,
				       .previous = before.routes,
				       .threads = w->args->threads,
				       .options = route_lists_options(w->conf, w->files) };
	double began = cpu_seconds();
	struct keep_report kept;
	struct qos_plan lanes;

	*ret = (struct plan_tables){ 0 };
	ret->routes = keep_tables(&chain, &job, before.found, &kept);
	ret->choice = kept.choice;
	snprintf(ret->kept, sizeof(ret->kept), "%s", kept.note);
	ret->cpu_seconds = cpu_seconds() - began;
	if (ret->routes) {
		qos_plan_make(w->conf, ret->routes, &lanes);
		snprintf(ret->levels, sizeof(ret->levels), "%s", lanes.note);
		ret->slvl_sets = slvl_count(&lanes, t, false);
		ret->slvl_wildcards = slvl_count(&lanes, t, true);
	}
	if (ret->routes && full)
		measure(w, ret);
}

void plan_tables_clear(struct plan_tables *p)
{
	routes_unref(p->routes);
	figures_clear(&p->figures);
	p->rails = plan_rails_free(p->rails);
	p->job_rails = plan_rails_free(p->job_rails);
}
