// SPDX-License-Identifier: BSD-2-Clause
/* The verdict as JSON: the facts of verify_text.c. */
#include <json-c/json.h>

#include "api/json.h"
#include "offline/verify.h"
#include "util/mem.h"

static struct json_object *node_of(const struct verify *v, guid_t guid)
{
	struct json_object *o = json_object_new_object();

	json_add_str(o, "name", topofile_name(v->file, guid));
	json_add_guid(o, "guid", guid);
	return o;
}

static struct json_object *example_of(const struct verify *v)
{
	const struct route_lost *lost = &v->verdict.lost_example;
	uint32_t from = verify_sender(v, lost->from, lost->to);
	const struct topo_host *to = verify_receiver(v, lost->to);
	struct json_object *o;

	if (!v->verdict.lost || from == TOPO_NONE || !to)
		return NULL;
	o = json_object_new_object();
	json_object_object_add(o, "from", node_of(v, v->topo->hosts[from].node_guid));
	json_object_object_add(o, "from_switch", node_of(v, v->topo->switches[lost->from].guid));
	json_object_object_add(o, "to", node_of(v, to->node_guid));
	json_add_int(o, "lid", lost->to);
	json_object_object_add(o, "ends_at", node_of(v, v->topo->switches[lost->end].guid));
	json_add_bool(o, "goes_round", lost->loops);
	return o;
}

static struct json_object *dropped_of(const struct verify *v)
{
	const struct verify_dropped *d = &v->dropped;
	uint32_t from = verify_sender(v, d->from, d->to);
	const struct topo_host *to = verify_receiver(v, d->to);
	struct json_object *o;

	if (!d->n || from == TOPO_NONE || !to)
		return NULL;
	o = json_object_new_object();
	json_object_object_add(o, "from", node_of(v, v->topo->hosts[from].node_guid));
	json_object_object_add(o, "to", node_of(v, to->node_guid));
	json_add_int(o, "lid", d->to);
	json_object_object_add(o, "sl", d->sl < 0 ? NULL : json_object_new_int(d->sl));
	json_object_object_add(o, "at", node_of(v, v->topo->switches[d->sw].guid));
	json_add_int(o, "port_in", d->in);
	json_add_int(o, "port_out", d->out);
	return o;
}

static struct json_object *switch_or_null(const struct verify *v, uint32_t sw)
{
	return sw == TOPO_NONE ? NULL : node_of(v, v->topo->switches[sw].guid);
}

/* Groups that do not hold. */
static struct json_object *groups_of(const struct verify *v)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < v->n_groups; i++) {
		const struct verify_group *g = &v->groups[i];
		struct json_object *o = json_object_new_object();

		json_add_int(o, "mlid", g->mlid);
		json_add_int(o, "pairs", (int64_t)g->pairs);
		json_add_int(o, "lost", (int64_t)g->lost);
		json_object_object_add(o, "from",
				       g->lost ? node_of(v, g->from->node_guid) : NULL);
		json_object_object_add(o, "to",
				       g->lost ? node_of(v, g->to->node_guid) : NULL);
		json_object_object_add(o, "ends_at", g->lost ? switch_or_null(v, g->end) : NULL);
		json_add_bool(o, "ring", g->round != TOPO_NONE);
		json_object_object_add(o, "ring_at", switch_or_null(v, g->round));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *cycle_of(const struct verify *v)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < v->cycle.n; i++) {
		const struct route_cycle_step *s = &v->cycle.steps[i];
		struct json_object *o = node_of(v, v->topo->switches[s->sw].guid);

		json_add_int(o, "port", s->port);
		json_add_int(o, "vl", s->vl);
		json_object_array_add(list, o);
	}
	return list;
}

static void add_verdict(struct json_object *o, const struct verify *v)
{
	const struct route_verdict *r = &v->verdict;

	json_add_int(o, "pairs", (int64_t)r->pairs);
	json_add_int(o, "unreachable", (int64_t)r->unreachable);
	json_add_int(o, "lost", (int64_t)r->lost);
	json_add_int(o, "cut", (int64_t)r->cut);
	json_add_int(o, "looping", (int64_t)r->looping);
	json_add_int(o, "switch_unreachable", (int64_t)r->switch_unreachable);
	json_object_object_add(o, "lost_example", example_of(v));
	json_add_int(o, "dropped", (int64_t)v->dropped.n);
	json_object_object_add(o, "dropped_example", dropped_of(v));
	json_object_object_add(o, "groups_at_fault", groups_of(v));
	json_add_bool(o, "credit_loop", v->loops);
	json_add_bool(o, "credit_loop_by_multicast", v->by_multicast);
	json_add_bool(o, "credit_loop_with_switches", v->loops || v->switches_loop);
	json_add_int(o, "channels_on_cycles", r->cycle_channels);
	json_object_object_add(o, "cycle", cycle_of(v));
	json_add_int(o, "vls", r->n_vls);
	json_add_int(o, "sls", r->n_sls);
	json_add_int(o, "max_hops", r->max_hops);
	json_add_double(o, "avg_hops", r->avg_hops);
	json_add_int(o, "detours", (int64_t)r->detours);
	json_add_int(o, "min_load", r->min_load);
	json_add_double(o, "avg_load", r->avg_load);
	json_add_int(o, "max_load", r->max_load);
}

static void add_traffic(struct json_object *o, const struct traffic *f)
{
	json_add_double(o, "effective_bandwidth", traffic_measured(f, f->mean.bisection));
	json_add_int(o, "bandwidth_patterns", f->patterns);
	json_add_double(o, "permutation_bandwidth", traffic_measured(f, f->mean.permutation));
	json_add_double(o, "shift_bandwidth", traffic_measured(f, f->mean.shift));
	json_add_double(o, "all_to_all_efficiency", traffic_even(f, f->even));
	json_add_double(o, "incast_spread", traffic_even(f, f->incast));
	json_add_double(o, "incast_spread_least", traffic_even(f, f->incast_least));
	json_add_double(o, "permutation_congestion", traffic_measured(f, f->mean.flows));
	json_add_int(o, "permutation_congestion_worst", f->mean.most_flows);
	json_add_int(o, "shift_congestion", f->shift);
	json_add_int(o, "shifts", f->shifts);
	json_add_int(o, "shifts_there_are", f->n_shifts);
}

void verify_print_json(const struct verify *v, FILE *out)
{
	struct json_object *o = json_object_new_object();

	json_add_bool(o, "holds", verify_holds(v));
	json_add_int(o, "switches", v->topo->n_switches);
	json_add_int(o, "end_ports", v->topo->n_hosts);
	json_add_int(o, "aggregation_nodes", v->topo->n_asides);
	json_add_int(o, "end_ports_without_lid", v->no_lid);
	json_add_int(o, "groups", v->n_trees);
	json_add_str(o, "note", v->routes->note);
	add_verdict(o, v);
	add_traffic(o, &v->figures.all);
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(o,
					       JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED));
	json_object_put(o);
}
