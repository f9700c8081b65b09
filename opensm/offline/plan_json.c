// SPDX-License-Identifier: BSD-2-Clause
/* What came of a plan, for programs: the facts of plan_text.c. */
#include <json-c/json.h>

#include "api/json.h"
#include "offline/plan.h"
#include "util/mem.h"

static struct json_object *end_of(const struct plan_world *w, guid_t guid, unsigned port)
{
	struct json_object *o = json_object_new_object();

	json_add_str(o, "name", plan_name(w, guid));
	json_add_guid(o, "guid", guid);
	if (port)
		json_add_int(o, "port", port);
	return o;
}

static void add_ends(struct json_object *o, const struct plan_world *w, const struct topo *t,
		     uint32_t entry)
{
	uint32_t sw = topo_switch_with(t, entry);
	const struct topo_port *p = &t->ports[entry];

	json_object_object_add(o, "from",
			       end_of(w, t->switches[sw].guid, entry - t->switches[sw].first_port));
	json_object_object_add(o, "to", end_of(w, t->switches[p->sw].guid, p->port));
}

static struct json_object *verdict_of(const struct route_verdict *v)
{
	struct json_object *o = json_object_new_object();

	json_add_int(o, "pairs", (int64_t)v->pairs);
	json_add_int(o, "unreachable", (int64_t)v->unreachable);
	json_add_int(o, "cut", (int64_t)v->cut);
	json_add_int(o, "lost", (int64_t)v->lost);
	json_add_int(o, "detours", (int64_t)v->detours);
	json_add_int(o, "looping", (int64_t)v->looping);
	json_add_int(o, "switch_unreachable", (int64_t)v->switch_unreachable);
	json_add_bool(o, "credit_loop", v->credit_loop);
	json_add_int(o, "max_hops", v->max_hops);
	json_add_double(o, "avg_hops", v->avg_hops);
	json_add_bool(o, "minimal", v->minimal);
	json_add_int(o, "min_load", v->min_load);
	json_add_double(o, "avg_load", v->avg_load);
	json_add_int(o, "max_load", v->max_load);
	return o;
}

static struct json_object *hot_of(const struct plan_world *w, const struct plan_tables *p)
{
	struct json_object *list = json_object_new_array();
	uint32_t hot[PLAN_HOT], n = figures_hot(p->routes->topo, p->figures.load, hot, PLAN_HOT);

	for (uint32_t i = 0; i < n; i++) {
		struct json_object *o = json_object_new_object();

		json_add_int(o, "load", p->figures.load[hot[i]]);
		add_ends(o, w, p->routes->topo, hot[i]);
		json_object_array_add(list, o);
	}
	return list;
}

/* The channel below the median rate on which an all-to-all takes longest. */
static void add_slowest(struct json_object *o, const struct plan_world *w, const struct topo *t,
			const struct traffic *f)
{
	struct json_object *slowest;

	json_add_int(o, "slow_cables", f->n_slow);
	if (f->slow_at == TOPO_NONE)
		return;
	slowest = json_object_new_object();
	add_ends(slowest, w, t, f->slow_at);
	json_add_double(slowest, "gbps", t->ports[f->slow_at].rate / 10.0);
	json_add_double(slowest, "times_median", f->slow_times);
	json_object_object_add(o, "slowest_cable", slowest);
}

static void add_traffic(struct json_object *o, const struct plan_world *w, const struct topo *t,
			const struct traffic *f)
{
	json_add_double(o, "effective_bandwidth", traffic_measured(f, f->mean.bisection));
	json_add_int(o, "bandwidth_patterns", f->patterns);
	json_add_double(o, "permutation_bandwidth", traffic_measured(f, f->mean.permutation));
	json_add_double(o, "shift_bandwidth", traffic_measured(f, f->mean.shift));
	json_add_int(o, "shift_congestion", f->shift);
	json_add_int(o, "shifts", f->shifts);
	json_add_int(o, "shifts_there_are", f->n_shifts);
	json_add_double(o, "all_to_all_efficiency", traffic_even(f, f->even));
	json_add_int(o, "all_to_all_most_flows", f->most);
	add_slowest(o, w, t, f);
	json_add_double(o, "incast_spread", traffic_even(f, f->incast));
	json_add_double(o, "incast_spread_least", traffic_even(f, f->incast_least));
	if (f->incast_at != TOPO_NONE)
		json_object_object_add(o, "incast_least_switch",
				       end_of(w, t->switches[f->incast_at].guid, 0));
}

/* Means over pairs of end ports; only where an end port has several LIDs. */
static void add_disjoint(struct json_object *tables, const struct figures *f)
{
	const struct disjoint_sums *d = &f->disjoint;
	double n = d->pairs ? (double)d->pairs : 1;
	struct json_object *o;

	if (f->lids < 2)
		return;
	o = json_object_new_object();
	json_add_int(o, "paths", f->lids);
	json_add_int(o, "pairs", (int64_t)d->pairs);
	json_add_double(o, "cables", (double)d->have_cables / n);
	json_add_double(o, "cables_possible", (double)d->most_cables / n);
	json_add_int(o, "cables_least", d->least_cables);
	json_add_double(o, "switches", (double)d->have_switches / n);
	json_add_double(o, "switches_possible", (double)d->most_switches / n);
	json_object_object_add(tables, "disjoint", o);
}

static struct json_object *job_of(const struct plan_world *w, const struct plan_tables *p)
{
	struct json_object *o = json_object_new_object();

	json_add_int(o, "end_ports", p->job.hosts);
	json_add_int(o, "switches", p->job.switches);
	add_traffic(o, w, p->routes->topo, &p->job);
	json_object_object_add(o, "rails", plan_rails_json(p->job_rails));
	return o;
}

static struct json_object *tables_of(const struct plan_world *w, const struct plan_tables *p)
{
	struct json_object *o = json_object_new_object();

	json_add_str(o, "engine", p->routes ? p->routes->engine : NULL);
	json_add_str(o, "why", p->routes ? NULL : p->choice.why);
	json_add_str(o, "refused", p->choice.refused[0] ? p->choice.refused : NULL);
	if (!p->routes)
		return o;
	json_add_str(o, "note", p->routes->note);
	json_add_str(o, "kept", p->kept[0] ? p->kept : NULL);
	json_add_bool(o, "unsafe", p->choice.unsafe);
	json_object_object_add(o, "verdict", verdict_of(&p->choice.verdict));
	json_add_int(o, "lanes", p->figures.lanes);
	json_add_int(o, "sl2vl_sets", (int64_t)p->slvl_sets);
	json_add_int(o, "sl2vl_sets_optimized", (int64_t)p->slvl_wildcards);
	json_add_str(o, "qos", p->levels[0] ? p->levels : NULL);
	add_traffic(o, w, p->routes->topo, &p->figures.all);
	json_object_object_add(o, "rails", plan_rails_json(p->rails));
	add_disjoint(o, &p->figures);
	json_add_double(o, "cpu_seconds", p->cpu_seconds);
	json_object_object_add(o, "hot", hot_of(w, p));
	if (w->job)
		json_object_object_add(o, "job", job_of(w, p));
	return o;
}

static struct json_object *change_of(const struct figures_change *c)
{
	struct json_object *o = json_object_new_object();

	json_add_int(o, "entries", (int64_t)c->entries);
	json_add_int(o, "blocks", (int64_t)c->blocks);
	json_add_int(o, "blocks_there_are", (int64_t)c->n_blocks);
	json_add_int(o, "switches", c->switches);
	json_add_int(o, "pairs", (int64_t)c->pairs);
	json_add_int(o, "pairs_there_are", (int64_t)c->n_pairs);
	return o;
}

static struct json_object *fabric_of(const struct plan_world *w)
{
	struct json_object *o = json_object_new_object();
	const struct topo *t = w->topo;
	uint32_t ends = 0, n = cut_n_ports(t);

	for (uint32_t i = 0; i < n; i++)
		if (t->ports[i].sw != TOPO_NONE)
			ends++;
	json_add_str(o, "file", w->args->fabric);
	json_add_int(o, "switches", t->n_switches);
	json_add_int(o, "end_ports", t->n_hosts);
	json_add_int(o, "aggregation_nodes", t->n_asides);
	json_add_int(o, "cables", ends / 2);
	if (ends)
		json_add_int(o, "vls", sl2vl_available(t));
	else
		json_add_str(o, "vls", NULL);
	json_add_bool(o, "vls_known", w->vls_known);
	json_add_int(o, "new_lids", w->new_lids);
	json_add_str(o, "host_order_file", w->order ? w->conf->host_order_file : NULL);
	json_add_int(o, "end_ports_listed", w->n_listed);
	return o;
}

static struct json_object *grown_of(const struct plan_world *w, const struct plan_result *r)
{
	struct json_object *list = json_object_new_array();
	struct plan_growth grown[PLAN_HOT];
	uint32_t n = plan_grown(&r->now, &r->after, grown);

	for (uint32_t i = 0; i < n; i++) {
		struct json_object *o = json_append_object(list);

		json_add_int(o, "load_before", grown[i].was);
		json_add_int(o, "load_after", grown[i].is);
		add_ends(o, w, r->broken, grown[i].entry);
	}
	return list;
}

static struct json_object *later_of(const struct plan_result *r)
{
	const struct route_verdict *a = &r->now.choice.verdict, *b = &r->after.choice.verdict;
	struct json_object *o = json_object_new_object(), *fabric = fabric_of(&r->later);

	json_add_str(fabric, "file", r->world.args->then);
	json_object_object_add(o, "fabric", fabric);
	json_object_object_add(o, "tables", tables_of(&r->later, &r->after));
	if (!r->now.routes || !r->after.routes)
		return o;
	json_add_int(o, "pairs_with_path_before", (int64_t)(a->pairs - a->unreachable));
	json_add_int(o, "pairs_with_path_after", (int64_t)(b->pairs - b->unreachable));
	json_add_int(o, "max_load_before", a->max_load);
	json_add_int(o, "max_load_after", b->max_load);
	json_object_object_add(o, "changes", change_of(&r->change));
	json_object_object_add(o, "carry_more", grown_of(&r->later, r));
	return o;
}

static struct json_object *failure_of(const struct plan_result *r)
{
	struct json_object *o = json_object_new_object(), *what = json_object_new_array();
	const struct route_verdict *a = &r->now.choice.verdict, *b = &r->after.choice.verdict;
	uint64_t before = a->pairs - a->unreachable, after = b->pairs - b->unreachable;

	for (unsigned i = 0; i < r->world.args->n_fails; i++)
		json_object_array_add(what, json_object_new_string(r->world.args->fails[i]));
	json_object_object_add(o, "what", what);
	json_object_object_add(o, "tables", tables_of(&r->world, &r->after));
	if (!r->now.routes || !r->after.routes)
		return o;
	json_add_int(o, "pairs_lost", before > after ? (int64_t)(before - after) : 0);
	json_add_int(o, "max_load_before", a->max_load);
	json_add_int(o, "max_load_after", b->max_load);
	json_object_object_add(o, "changes", change_of(&r->change));
	json_object_object_add(o, "carry_more", grown_of(&r->world, r));
	return o;
}

static struct json_object *worst_of(const struct plan_result *r)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	const struct topo *t = r->world.topo;

	json_add_str(o, "kind", r->world.args->worst == PLAN_WORST_LINK ? "link" : "switch");
	json_add_int(o, "failures", r->worst.n);
	json_add_int(o, "routed", r->worst.tried);
	for (uint32_t i = 0; i < r->worst.n && (i < 100 || r->worst.rows[i].tried); i++) {
		const struct plan_failure *f = &r->worst.rows[i];
		struct json_object *one = json_object_new_object();

		if (f->kind == PLAN_WORST_LINK)
			add_ends(one, &r->world, t, f->at);
		else
			json_object_object_add(one, "switch",
					       end_of(&r->world, t->switches[f->at].guid, 0));
		json_add_int(one, "pairs_lost", (int64_t)f->lost);
		if (f->kind == PLAN_WORST_SWITCH) {
			json_add_int(one, "end_ports", f->hosts);
			json_add_int(one, "pairs_lost_of_other_switches", (int64_t)f->beyond);
		}
		json_add_int(one, "look_alike", f->likes);
		json_add_bool(one, "was_routed", f->tried);
		if (f->tried)
			json_add_bool(one, "holds", f->routed);
		if (f->routed) {
			json_add_int(one, "max_load", f->max_load);
			json_object_object_add(one, "changes", change_of(&f->change));
		}
		json_object_array_add(list, one);
	}
	json_object_object_add(o, "worst", list);
	return o;
}

static const char *const grades[PLAN_PATCH_GRADES] = {
	[PLAN_PATCH_NONE] = "none",
	[PLAN_PATCH_WAITS] = "waits",
	[PLAN_PATCH_WHOLE] = "whole",
	[PLAN_PATCH_UNUSED] = "unused",
};

static struct json_object *patch_of(const struct plan_world *w, const struct plan_patch *p)
{
	struct json_object *o = json_object_new_object(), *ways;

	add_ends(o, w, w->topo, p->at);
	json_add_str(o, "patch", grades[p->grade]);
	ways = json_add_object(o, "destinations");
	for (unsigned how = 0; how < PATCH_HOWS; how++)
		json_add_int(ways, patch_how_name(how), p->counts[how]);
	json_add_int(o, "pairs_lost", (int64_t)p->lost);
	return o;
}

static struct json_object *patches_of(const struct plan_result *r)
{
	const struct plan_patches *p = &r->patches;
	struct json_object *o = json_object_new_object(), *cables;

	for (unsigned g = 0; g < PLAN_PATCH_GRADES; g++)
		json_add_int(o, grades[g], p->n_of[g]);
	cables = json_add_array(o, "cables");
	for (uint32_t i = 0; i < p->n; i++)
		json_object_array_add(cables, patch_of(&r->world, &p->rows[i]));
	return o;
}

void plan_print_json(const struct plan_result *r, FILE *out)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "fabric", fabric_of(&r->world));
	json_object_object_add(o, "tables", tables_of(&r->world, &r->now));
	if (r->running && r->now.routes)
		json_object_object_add(o, "against_running", change_of(&r->against));
	if (r->cut)
		json_object_object_add(o, "failure", failure_of(r));
	if (r->later.file)
		json_object_object_add(o, "then", later_of(r));
	if (r->worst.rows)
		json_object_object_add(o, "worst", worst_of(r));
	if (r->patches.rows)
		json_object_object_add(o, "patches", patches_of(r));
	if (r->drain.n)
		json_object_object_add(o, "drain", plan_drain_json(r));
	if (r->world.args->bill)
		json_object_object_add(o, "bill", plan_bill_json(&r->world));
	fputs(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
							JSON_C_TO_STRING_NOSLASHESCAPE),
	      out);
	fputc('\n', out);
	json_object_put(o);
}
