// SPDX-License-Identifier: BSD-2-Clause
/* Rails of a planned fabric: which there are, and what the ports of each get of each other. */
#include <json-c/json.h>

#include "api/json.h"
#include "offline/plan.h"
#include "topo/rails/rails.h"
#include "util/mem.h"
#include "util/str.h"

#define FLOWS 4000000u /* followed for a figure, at most */

/* Rails of a fabric, and their traffic. */
struct plan_rails {
	struct rails *found; /* at least one rail */
	struct traffic of[RAILS_MAX];
	double together;  /* mean of shifts in all rails at once */
	unsigned most;	  /* flows on a channel then */
	unsigned shifts, n_shifts;
	unsigned n_used; /* rails with two end ports, or more, that are measured */
	uint32_t n_most; /* end ports of the largest of them */
	char text[RAILS_STRLEN];
};

static const char **names_of(const struct plan_world *w, const struct topo *t)
{
	const char **ret = xcalloc((size_t)t->n_hosts + 1, sizeof(*ret));

	for (uint32_t i = 0; w->file && i < t->n_hosts; i++)
		ret[i] = topofile_name(w->file, t->hosts[i].node_guid);
	return ret;
}

static void measure_rail(const struct routes *r, struct route_ranks ranks, unsigned threads,
			 struct traffic *ret)
{
	struct figures_flows flows = figures_flows(r, ranks, threads);

	traffic_of(r, ranks, &flows, ret);
	figures_flows_clear(&flows);
}

static void measure_together(const struct routes *r, const struct route_ranks *groups, unsigned n,
			     struct plan_rails *p)
{
	uint32_t hosts = 0, longest = 1;

	for (unsigned i = 0; i < n; i++) {
		hosts += groups[i].n;
		longest = MAX(longest, groups[i].n);
	}
	p->n_shifts = longest - 1;
	p->shifts = hosts ? MIN(p->n_shifts, MAX(16u, FLOWS / hosts)) : 0;
	if (p->shifts)
		p->most = routes_measure_groups(r, groups, n, p->shifts, &p->together);
}

static void measure(const struct plan_world *w, const struct routes *r, struct route_ranks all,
		    struct plan_rails *p)
{
	_cleanup_free_ uint32_t *hosts = xcalloc((size_t)all.n + 1, sizeof(*hosts));
	struct route_ranks groups[RAILS_MAX];
	uint32_t *at = hosts;

	for (unsigned i = 0; i < p->found->n; i++) {
		struct route_ranks one = { at, rails_pick(p->found, i, all.hosts, all.n, at) };

		if (one.n < 2) /* with nothing to send to */
			continue;
		at += one.n;
		p->n_most = MAX(p->n_most, one.n);
		groups[p->n_used++] = one;
		measure_rail(r, one, w->args->threads, &p->of[i]);
	}
	measure_together(r, groups, p->n_used, p);
}

struct plan_rails *plan_rails_new(const struct plan_world *w, const struct routes *r,
				  struct route_ranks all)
{
	_cleanup_free_ const char **names = names_of(w, r->topo);
	struct plan_rails *p = xcalloc(1, sizeof(*p));

	p->found = rails_find(r->topo, names);
	if (!p->found->n)
		return plan_rails_free(p);
	rails_str(p->found, r->topo, names, p->text);
	measure(w, r, all, p);
	return p;
}

struct plan_rails *plan_job_rails_new(const struct plan_world *w, const struct routes *r,
				      struct route_ranks job)
{
	struct plan_rails *p = plan_rails_new(w, r, job);

	return p && (!p->n_used || p->n_most == job.n) ? plan_rails_free(p) : p;
}

struct plan_rails *plan_rails_free(struct plan_rails *p)
{
	if (p)
		rails_free(p->found);
	free(p);
	return NULL;
}

/* ---- shown ---------------------------------------------------------------------------------- */

void plan_print_rails(const struct plan_rails *p, FILE *out)
{
	if (!p)
		return;
	fprintf(out, "%-10s%s\n", "Rails", p->text);
	plan_print_by_rail(p, out);
}

void plan_print_by_rail(const struct plan_rails *p, FILE *out)
{
	const char *word = "Rail";

	for (unsigned i = 0; p && i < p->found->n; i++) {
		const struct traffic *f = &p->of[i];

		if (!f->hosts)
			continue;
		fprintf(out,
			"%-10s%s: %s on %s; shift %.3f, %s at most; alltoall %.3f even, "
			"incast %.3f\n",
			word, p->found->of[i].name,
			STR_COUNT(f->hosts, "end port", "end ports"),
			STR_COUNT(f->switches, "switch", "switches"), f->mean.shift,
			STR_COUNT(f->shift, "flow", "flows"), f->most ? f->even : 1.0,
			f->incast_at == TOPO_NONE ? 1.0 : f->incast);
		word = "";
	}
	if (p)
		fprintf(out,
			"%-10s%.3f on average, shifts in all rails at once; %s on a channel "
			"at most, in %u of %s\n",
			"Together", p->together, STR_COUNT(p->most, "flow", "flows"),
			p->shifts, STR_COUNT(p->n_shifts, "shift", "shifts"));
}

static void add_rail(struct json_object *list, const struct plan_rails *p, unsigned rail)
{
	struct json_object *o = json_append_object(list);
	const struct traffic *f = &p->of[rail];

	json_add_str(o, "name", p->found->of[rail].name);
	json_add_int(o, "plane", p->found->of[rail].plane);
	json_add_int(o, "leaves", p->found->of[rail].leaves);
	json_add_int(o, "end_ports", f->hosts);
	json_add_double(o, "permutation_bandwidth", traffic_measured(f, f->mean.permutation));
	json_add_double(o, "shift_bandwidth", traffic_measured(f, f->mean.shift));
	json_add_int(o, "shift_congestion", f->shift);
	json_add_double(o, "all_to_all_efficiency", traffic_even(f, f->even));
	json_add_double(o, "incast_spread", traffic_even(f, f->incast));
}

struct json_object *plan_rails_json(const struct plan_rails *p)
{
	struct json_object *o, *list;

	if (!p)
		return NULL;
	o = json_object_new_object();
	json_add_str(o, "text", p->text);
	json_add_int(o, "count", p->found->n);
	json_add_int(o, "planes", p->found->planes);
	json_add_bool(o, "planes_are_joined", p->found->joined);
	json_add_int(o, "hosts", p->found->hosts);
	json_add_int(o, "ports_on_another_rail", p->found->wrong);
	json_add_int(o, "cables_to_another_plane", p->found->crossing);
	json_add_double(o, "shift_bandwidth_together", p->together);
	json_add_int(o, "shift_congestion_together", p->most);
	list = json_add_array(o, "rails");
	for (unsigned i = 0; i < p->found->n; i++)
		add_rail(list, p, i);
	return o;
}
