// SPDX-License-Identifier: BSD-2-Clause
/* The verdict as text: a word in front, facts behind it. */
#include <inttypes.h>
#include <stdarg.h>

#include "offline/verify.h"
#include "util/str.h"
#include "util/mem.h"

#define STEPS_SHOWN  40
#define GROUPS_SHOWN 20

static void row(FILE *out, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void row(FILE *out, const char *word, const char *fmt, ...)
{
	va_list ap;

	fprintf(out, "%-11s", word);
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputc('\n', out);
}

static void print_example(const struct verify *v, FILE *out)
{
	const struct route_lost *lost = &v->verdict.lost_example;
	uint32_t from = verify_sender(v, lost->from, lost->to);
	const struct topo_host *to = verify_receiver(v, lost->to);
	char a[VERIFY_NODE_STRLEN], b[VERIFY_NODE_STRLEN], at[VERIFY_NODE_STRLEN],
		end[VERIFY_NODE_STRLEN];
	const struct topo *t = v->topo;

	if (from == TOPO_NONE || !to)
		return;
	row(out, "", "for one: from %s on switch %s to LID %u, %s: %s switch %s",
	    verify_node_str(v, t->hosts[from].node_guid, a),
	    verify_node_str(v, t->switches[lost->from].guid, at), lost->to,
	    verify_node_str(v, to->node_guid, b),
	    lost->loops ? "goes round by" : "ends at",
	    verify_node_str(v, t->switches[lost->end].guid, end));
}

static void print_dropped(const struct verify *v, FILE *out)
{
	const struct verify_dropped *d = &v->dropped;
	uint32_t from = verify_sender(v, d->from, d->to);
	const struct topo_host *to = verify_receiver(v, d->to);
	char a[VERIFY_NODE_STRLEN], b[VERIFY_NODE_STRLEN], at[VERIFY_NODE_STRLEN],
		sl[24] = "on any SL";

	if (!d->n || from == TOPO_NONE || !to)
		return;
	if (d->sl >= 0)
		snprintf(sl, sizeof(sl), "on SL %d", d->sl);
	row(out, "Dropped",
	    "%" PRIu64
	    " pairs are lost: SL2VL sends their packets to VL 15, where they are dropped",
	    d->n);
	row(out, "",
	    "for one: from %s to LID %u, %s, %s: at switch %s, in by port %u, out by port %u",
	    verify_node_str(v, v->topo->hosts[from].node_guid, a), d->to,
	    verify_node_str(v, to->node_guid, b), sl,
	    verify_node_str(v, v->topo->switches[d->sw].guid, at), d->in, d->out);
}

static void print_group(const struct verify *v, const struct verify_group *g, FILE *out)
{
	const struct topo *t = v->topo;
	char a[VERIFY_NODE_STRLEN], b[VERIFY_NODE_STRLEN], at[VERIFY_NODE_STRLEN];

	if (g->round != TOPO_NONE)
		row(out, "", "group 0x%04x: A RING: packets come by switch %s more than once",
		    g->mlid, verify_node_str(v, t->switches[g->round].guid, at));
	if (!g->lost)
		return;
	row(out, "", "group 0x%04x: %" PRIu64 " of %" PRIu64 " pairs of members are lost", g->mlid,
	    g->lost, g->pairs);
	row(out, "", "for one: what %s sends does not come to %s%s%s",
	    verify_node_str(v, g->from->node_guid, a),
	    verify_node_str(v, g->to->node_guid, b),
	    g->end == TOPO_NONE ? "" : "; it ends at switch ",
	    g->end == TOPO_NONE ? "" : verify_node_str(v, t->switches[g->end].guid, at));
}

static void print_groups(const struct verify *v, FILE *out)
{
	if (!v->n_trees)
		return;
	if (v->n_groups)
		row(out, "Multicast", "%u groups, judged on SL %u; %u DO NOT HOLD", v->n_trees,
		    v->args->mcast_sl, v->n_groups);
	else
		row(out, "Multicast", "%u groups, judged on SL %u: all members reach each other",
		    v->n_trees, v->args->mcast_sl);
	for (uint32_t i = 0; i < v->n_groups && i < GROUPS_SHOWN; i++)
		print_group(v, &v->groups[i], out);
	if (v->n_groups > GROUPS_SHOWN)
		row(out, "", "(%u more groups)", v->n_groups - GROUPS_SHOWN);
}

static void print_reach(const struct verify *v, FILE *out)
{
	const struct route_verdict *r = &v->verdict;

	if (!r->unreachable)
		row(out, "Pairs", "all %" PRIu64 " have a path", r->pairs);
	else
		row(out, "Pairs",
		    "%" PRIu64 " of %" PRIu64 " have a path; %" PRIu64 " are lost, %" PRIu64
		    " more no cable connects",
		    r->pairs - r->unreachable, r->pairs, r->lost, r->cut);
	if (r->lost)
		print_example(v, out);
	if (r->switch_unreachable)
		row(out, "Switches", "%" PRIu64 " times a switch has no path to the LID of another",
		    r->switch_unreachable);
	row(out, "Loops", r->looping ? "%" PRIu64 " pairs: packets go round for ever" : "none",
	    r->looping);
}

static void print_cycle(const struct verify *v, FILE *out)
{
	char name[VERIFY_NODE_STRLEN];

	for (uint32_t i = 0; i < v->cycle.n && i < STEPS_SHOWN; i++) {
		const struct route_cycle_step *s = &v->cycle.steps[i];

		row(out, "", "%s from %s port %u on VL %u", i ? "waits for the cable" : "the cable",
		    verify_node_str(v, v->topo->switches[s->sw].guid, name), s->port, s->vl);
	}
	if (v->cycle.n > STEPS_SHOWN)
		row(out, "", "(%u more)", v->cycle.n - STEPS_SHOWN);
	row(out, "", "which waits for the first");
}

static void print_deadlock(const struct verify *v, FILE *out)
{
	if (!v->loops) {
		row(out, "Deadlock", "none can be: no credit loop%s",
		    v->n_trees ? ", multicast included" : "");
	} else {
		row(out, "Deadlock", "CREDIT LOOP over %u of %u channels on cycles%s", v->cycle.n,
		    MAX(v->verdict.cycle_channels, v->cycle.n),
		    v->by_multicast ? ", closed by multicast" : "");
		print_cycle(v, out);
	}
	if (v->switches_loop && !v->loops)
		row(out, "", "with what switches themselves send and get there would be one");
}

static void print_lanes(const struct verify *v, FILE *out)
{
	if (v->sls)
		row(out, "VLs", "%u; %u SLs", v->verdict.n_vls, v->verdict.n_sls);
	else if (v->sl2vl)
		row(out, "VLs", "%u; no SLs are given (--psl): any may be used on any path",
		    v->verdict.n_vls);
	else
		row(out, "VLs", "one (no --psl, no SL2VL tables)");
}

static void print_hot(const struct verify *v, FILE *out)
{
	uint32_t hot[VERIFY_HOT], n = figures_hot(v->topo, v->figures.load, hot, VERIFY_HOT);
	const struct topo *t = v->topo;
	char name[VERIFY_NODE_STRLEN];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = topo_switch_with(t, hot[i]);

		row(out, i ? "" : "Hottest", "%u pairs leave %s by port %u",
		    v->figures.load[hot[i]], verify_node_str(v, t->switches[s].guid, name),
		    hot[i] - t->switches[s].first_port);
	}
}

static void print_traffic(const struct traffic *f, FILE *out)
{
	if (!f->shifts) {
		row(out, "Bandwidth", "none: fewer than two end ports on switches");
		return;
	}
	row(out, "Bandwidth", "%.3f of what end ports have, over %u random halves",
	    f->mean.bisection, f->patterns);
	row(out, "Random",
	    "%.1f flows on the most used channel, mean of %u permutations; %u at worst",
	    f->mean.flows, f->patterns, f->mean.most_flows);
	row(out, "Shift", "%.3f on average; %s on a channel at most, in %u of %s", f->mean.shift,
	    STR_COUNT(f->shift, "flow", "flows"), f->shifts,
	    STR_COUNT(f->n_shifts, "shift", "shifts"));
	if (!f->most) {
		row(out, "Alltoall", "no flow between switches");
		return;
	}
	row(out, "Alltoall", "%.3f even: mean over most flows of a channel", f->even);
	row(out, "Incast", "%.3f even on the cables into a switch; least: %.3f", f->incast,
	    f->incast_least);
}

void verify_print_text(const struct verify *v, FILE *out)
{
	const struct route_verdict *r = &v->verdict;

	row(out, "Fabric", "%s, %s%s%s", STR_COUNT(v->topo->n_switches, "switch", "switches"),
	    STR_COUNT(v->topo->n_hosts, "end port", "end ports"), v->topo->n_asides ? ", " : "",
	    v->topo->n_asides
		    ? STR_COUNT(v->topo->n_asides, "aggregation node", "aggregation nodes")
		    : "");
	if (v->file->lmc_unknown)
		row(out, "LMC",
		    "0 (the fabric does not say): further LIDs of an end port are not judged");
	if (v->no_lid)
		row(out, "", "%s no LID and %s not judged",
		    STR_COUNT(v->no_lid, "end port has", "end ports have"),
		    v->no_lid == 1 ? "is" : "are");
	if (v->routes->note[0])
		row(out, "Tables", "%s", v->routes->note);
	print_reach(v, out);
	print_dropped(v, out);
	print_groups(v, out);
	print_lanes(v, out);
	print_deadlock(v, out);
	row(out, "Hops", "%.2f between switches, at most %u", r->avg_hops, r->max_hops);
	if (r->detours)
		row(out, "", "%" PRIu64 " pairs have a longer path than need be", r->detours);
	row(out, "Load", "%u / %.0f / %u pairs on a channel (least, average, most)", r->min_load,
	    r->avg_load, r->max_load);
	print_hot(v, out);
	print_traffic(&v->figures.all, out);
	row(out, "Verdict", verify_holds(v) ? "the tables hold" : "THE TABLES DO NOT HOLD");
}
