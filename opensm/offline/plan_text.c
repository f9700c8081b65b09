// SPDX-License-Identifier: BSD-2-Clause
/* What came of a plan, for people: a word in front, facts behind it. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "offline/plan.h"
#include "route/patch/patch_text.h"
#include "util/mem.h"
#include "util/str.h"

#define WORST_SHOWN 8

static void row(FILE *out, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void row(FILE *out, const char *word, const char *fmt, ...)
{
	va_list ap;

	fprintf(out, "%-10s", word);
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputc('\n', out);
}

static uint32_t count_cables(const struct topo *t)
{
	uint32_t n = 0, all = cut_n_ports(t);

	for (uint32_t i = 0; i < all; i++)
		if (t->ports[i].sw != TOPO_NONE)
			n++;
	return n / 2;
}

/* `; "leaf1"/3 -- "spine1"/4 has no more` if other cables have more VLs; else "". To be freed. */
static char *fewest_vls(const struct plan_world *w)
{
	const struct topo *t = w->topo;
	unsigned least = sl2vl_available(t), most = 0;
	uint32_t at = TOPO_NONE, all = cut_n_ports(t), sw;
	char name[PLAN_NODE_STRLEN], peer[PLAN_NODE_STRLEN];

	for (uint32_t i = all; i-- > 0;) {
		if (t->ports[i].sw == TOPO_NONE)
			continue;
		most = MAX(most, (unsigned)t->ports[i].vls);
		at = t->ports[i].vls == least ? i : at;
	}
	if (most <= least || at == TOPO_NONE)
		return xstrdup("");
	sw = topo_switch_with(t, at);
	return xasprintf("; %s/%u -- %s/%u has no more, others up to %u",
			 plan_switch_str(w, t->switches[sw].guid, name),
			 at - t->switches[sw].first_port,
			 plan_switch_str(w, t->switches[t->ports[at].sw].guid, peer),
			 t->ports[at].port, most);
}

static void print_fabric(const struct plan_world *w, FILE *out)
{
	const struct topo *t = w->topo;
	_cleanup_free_ char *fewest = fewest_vls(w);

	row(out, "Fabric", "%s, %s, %s between switches%s%s",
	    STR_COUNT(t->n_switches, "switch", "switches"),
	    STR_COUNT(t->n_hosts, "end port", "end ports"),
	    STR_COUNT(count_cables(t), "cable", "cables"), t->n_asides ? ", " : "",
	    t->n_asides ? STR_COUNT(t->n_asides, "aggregation node", "aggregation nodes") : "");
	if (!count_cables(t))
		row(out, "VLs", "no cable between switches");
	else if (w->vls_known)
		row(out, "VLs", "%s on every cable%s",
		    STR_COUNT(sl2vl_available(t), "data VL", "data VLs"), fewest);
	else
		row(out, "VLs", "%s on every cable (%s)",
		    STR_COUNT(sl2vl_available(t), "data VL", "data VLs"),
		    w->args->vls ? "--vls" : "assumed, the fabric does not say; --vls N");
	if (w->new_lids)
		row(out, "LIDs",
		    "%s one from the planner (the fabric has none or another one for %s)",
		    STR_COUNT(w->new_lids, "port gets", "ports get"),
		    w->new_lids == 1 ? "it" : "them");
	if (w->order)
		row(out, "Ranks",
		    "%s in the order of %s; %s behind them, by switch and port",
		    STR_COUNT(w->n_listed, "end port", "end ports"), w->conf->host_order_file,
		    STR_COUNT(w->n_order - w->n_listed, "other", "others"));
	if (w->file->lmc_unknown)
		row(out, "LMC", "0 (the fabric does not say)");
}

static void print_channel(const struct plan_world *w, const struct topo *t, uint32_t entry,
			  const char *arrow, FILE *out)
{
	uint32_t sw = topo_switch_with(t, entry);
	const struct topo_port *p = &t->ports[entry];
	char one[PLAN_NODE_STRLEN], two[PLAN_NODE_STRLEN];

	fprintf(out, "%s/%u %s %s/%u", plan_switch_str(w, t->switches[sw].guid, one),
		entry - t->switches[sw].first_port, arrow,
		plan_switch_str(w, t->switches[p->sw].guid, two), p->port);
}

static void print_slowest(const struct plan_world *w, const struct topo *t,
			  const struct traffic *f, FILE *out)
{
	if (f->slow_at == TOPO_NONE)
		return;
	fprintf(out, "%-10s", "Slowest");
	print_channel(w, t, f->slow_at, "->", out);
	fprintf(out, ", %.4g Gb/s where the median is %.4g: x %.2f of an all-to-all on the median "
		"channel; %s below that rate\n",
		t->ports[f->slow_at].rate / 10.0, f->median_rate / 10.0, f->slow_times,
		STR_COUNT(f->n_slow, "cable is", "cables are"));
}

static void print_incast(const struct plan_world *w, const struct topo *t,
			 const struct traffic *f, FILE *out)
{
	char name[PLAN_NODE_STRLEN];

	if (f->incast_at == TOPO_NONE)
		row(out, "Incast", "no flow from another switch");
	else
		row(out, "Incast", "%.3f even on the cables into a switch; least: %.3f, into %s",
		    f->incast, f->incast_least,
		    plan_switch_str(w, t->switches[f->incast_at].guid, name));
}

static void print_traffic(const struct plan_world *w, const struct topo *t,
			  const struct traffic *f, FILE *out)
{
	if (!f->shifts) {
		row(out, "Bandwidth", "none: fewer than two end ports on switches");
		return;
	}
	row(out, "Bandwidth",
	    "%.3f of what end ports have, over %u random halves; permutations: %.3f",
	    f->mean.bisection, f->patterns, f->mean.permutation);
	row(out, "Shift", "%.3f on average; %s on a channel at most, in %u of %s", f->mean.shift,
	    STR_COUNT(f->shift, "flow", "flows"), f->shifts,
	    STR_COUNT(f->n_shifts, "shift", "shifts"));
	if (f->most)
		row(out, "Alltoall",
		    "%.3f even: mean over most flows of a channel, and that is %u", f->even,
		    f->most);
	else
		row(out, "Alltoall", "no flow between switches");
	print_slowest(w, t, f, out);
	print_incast(w, t, f, out);
}

/* Prints, for several LIDs per end port, the number of disjoint paths, and the possible number. */
static void print_disjoint(const struct figures *f, FILE *out)
{
	const struct disjoint_sums *d = &f->disjoint;
	double n = (double)d->pairs;

	if (f->lids < 2)
		return;
	if (!d->pairs)
		row(out, "Disjoint", "no pair of end ports on different switches");
	else
		row(out, "Disjoint",
		    "of %u paths per pair %.2f without a common cable (shortest allow %.2f; least "
		    "%u), %.2f without a common switch (%.2f); %" PRIu64 " pairs",
		    f->lids, (double)d->have_cables / n, (double)d->most_cables / n,
		    d->least_cables, (double)d->have_switches / n, (double)d->most_switches / n,
		    d->pairs);
}

static void print_engine(const struct plan_world *w, const struct plan_tables *p, FILE *out)
{
	char text[ROUTE_VERDICT_STRLEN];

	if (!p->routes) {
		row(out, "Engine", "none: %s", p->choice.why);
		if (p->choice.refused[0])
			row(out, "Refused", "%s", p->choice.refused);
		return;
	}
	row(out, "Engine", "%s%s%s", p->routes->engine, p->routes->note[0] ? ": " : "",
	    p->routes->note);
	if (p->choice.refused[0])
		row(out, "Refused", "%s", p->choice.refused);
	if (p->kept[0])
		row(out, "Kept", "%s", p->kept);
	row(out, p->choice.unsafe ? "UNSAFE" : "Proof", "%s",
	    route_verdict_str(&p->choice.verdict, text));
	row(out, "Paths", "%s, %.2f hops between switches, at most %u",
	    p->choice.verdict.minimal ? "all shortest" : "some longer than need be",
	    p->choice.verdict.avg_hops, p->choice.verdict.max_hops);
	row(out, "Load", "%u / %.0f / %u pairs on a channel (least, average, most)",
	    p->choice.verdict.min_load, p->choice.verdict.avg_load, p->choice.verdict.max_load);
	print_disjoint(&p->figures, out);
	row(out, "VLs", "%u", p->figures.lanes);
	if (p->slvl_sets)
		row(out, "SL2VL", "%" PRIu64 " Sets; %" PRIu64
		    " where all switches take several ports in one",
		    p->slvl_sets, p->slvl_wildcards);
	if (p->levels[0])
		row(out, "QoS", "%s", p->levels);
	print_traffic(w, p->routes->topo, &p->figures.all, out);
	plan_print_rails(p->rails, out);
	row(out, "Time", "%.3f s of CPU, proof included", p->cpu_seconds);
	if (!w->job)
		return;
	row(out, "Job", "%s on %s, as --hosts has them; among themselves:",
	    STR_COUNT(p->job.hosts, "end port", "end ports"),
	    STR_COUNT(p->job.switches, "switch", "switches"));
	print_traffic(w, p->routes->topo, &p->job, out);
	plan_print_by_rail(p->job_rails, out);
}

static void print_hot(const struct plan_world *w, const struct plan_tables *p, FILE *out)
{
	uint32_t hot[PLAN_HOT], n;

	if (!p->routes)
		return;
	n = figures_hot(p->routes->topo, p->figures.load, hot, PLAN_HOT);
	for (uint32_t i = 0; i < n; i++) {
		fprintf(out, "%-10s%-8u ", i ? "" : "Hot", p->figures.load[hot[i]]);
		print_channel(w, p->routes->topo, hot[i], "->", out);
		fputc('\n', out);
	}
}

static void print_change(const char *word, const struct figures_change *c, FILE *out)
{
	row(out, word,
	    "%" PRIu64 " entries in %" PRIu64 " of %" PRIu64 " blocks of %u switches; %" PRIu64
	    " of %" PRIu64 " pairs take another path",
	    c->entries, c->blocks, c->n_blocks, c->switches, c->pairs, c->n_pairs);
}

static uint64_t reached(const struct plan_tables *p)
{
	return p->choice.verdict.pairs - p->choice.verdict.unreachable;
}

static void print_grown(const struct plan_world *w, const struct plan_result *r, FILE *out)
{
	struct plan_growth grown[PLAN_HOT];
	uint32_t n = plan_grown(&r->now, &r->after, grown);

	for (uint32_t i = 0; i < n; i++) {
		fprintf(out, "%-10s%u -> %-8u ", i ? "" : "More", grown[i].was, grown[i].is);
		print_channel(w, r->broken, grown[i].entry, "->", out);
		fputc('\n', out);
	}
}

static void print_pairs(const struct plan_result *r, FILE *out)
{
	const struct plan_tables *a = &r->now, *b = &r->after;

	if (r->cut)
		row(out, "Lost", "%" PRIu64 " of %" PRIu64 " pairs have no path any more",
		    reached(a) > reached(b) ? reached(a) - reached(b) : 0, reached(a));
	else
		row(out, "Pairs",
		    "%" PRIu64 " of %" PRIu64 " had a path before, %" PRIu64 " of %" PRIu64
		    " have one after",
		    reached(a), a->choice.verdict.pairs, reached(b), b->choice.verdict.pairs);
}

/* After failures, or of the later fabric. */
static void print_after(const struct plan_result *r, FILE *out)
{
	const struct plan_world *w = r->cut ? &r->world : &r->later;
	const struct plan_tables *a = &r->now, *b = &r->after;

	for (unsigned i = 0; i < r->world.args->n_fails; i++)
		row(out, i ? "" : "\nFailed", "%s%s", i ? "" : " ", r->world.args->fails[i]);
	if (!r->cut) {
		row(out, "\nThen", " %s", r->world.args->then);
		print_fabric(w, out);
	}
	print_engine(w, b, out);
	if (!a->routes || !b->routes)
		return;
	print_pairs(r, out);
	row(out, "Most load", "%u before, %u after", a->choice.verdict.max_load,
	    b->choice.verdict.max_load);
	print_change("Changes", &r->change, out);
	print_hot(w, b, out);
	print_grown(w, r, out);
}

static void print_worst_row(const struct plan_result *r, const struct plan_failure *f, FILE *out)
{
	const struct topo *t = r->world.topo;
	char name[PLAN_NODE_STRLEN];

	fprintf(out, "%-10s", "");
	if (f->kind == PLAN_WORST_LINK)
		print_channel(&r->world, t, f->at, "--", out);
	else
		fputs(plan_switch_str(&r->world, t->switches[f->at].guid, name), out);
	fprintf(out, ": %s lost", STR_COUNT(f->lost, "pair", "pairs"));
	if (f->hosts)
		fprintf(out, ", %" PRIu64 " of them of other switches", f->beyond);
	if (f->routed)
		fprintf(out, ", most load %u (now %u), %s", f->max_load,
			r->now.choice.verdict.max_load,
			STR_COUNT(f->change.blocks, "block changes", "blocks change"));
	else if (f->tried)
		fputs(", no engine has tables that hold", out);
	if (f->likes)
		fprintf(out, "; %s like it", STR_COUNT(f->likes, "other looks", "others look"));
	fputc('\n', out);
}

/* Prints rows of one kind: switches with end ports, or others. One of those that look alike. */
static void print_worst_kind(const struct plan_result *r, bool leaves, FILE *out)
{
	const struct plan_failures *f = &r->worst;
	uint32_t n = 0, cutting = 0, shown = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (!f->rows[i].hosts == !leaves) {
			n++;
			cutting += f->rows[i].beyond > 0;
		}
	if (!n)
		return;
	if (r->world.args->worst == PLAN_WORST_SWITCH)
		row(out, leaves ? "Leaves" : "Others",
		    "%s with%s end ports; %s off end ports of other switches",
		    STR_COUNT(n, "switch", "switches"), leaves ? "" : "out",
		    STR_COUNT(cutting, "cuts", "cut"));
	for (uint32_t i = 0; i < f->n && shown < WORST_SHOWN; i++)
		if (!f->rows[i].hosts == !leaves && !f->rows[i].alike) {
			print_worst_row(r, &f->rows[i], out);
			shown++;
		}
}

static void print_worst(const struct plan_result *r, FILE *out)
{
	const struct plan_failures *f = &r->worst;
	bool links = r->world.args->worst == PLAN_WORST_LINK;
	uint32_t cutting = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (f->rows[i].lost > 0)
			cutting++;
	fprintf(out, "\nWorst     of %s: %s off end ports; %s routed%s\n",
		links ? STR_COUNT(f->n, "single cable", "single cables")
		      : STR_COUNT(f->n, "single switch", "single switches"),
		STR_COUNT(cutting, "cuts", "cut"), STR_COUNT(f->tried, "was", "were"),
		f->tried < f->n ? ", one of each that look alike, the most loaded first (--tries N)"
				: "");
	print_worst_kind(r, true, out);
	print_worst_kind(r, false, out);
}

static void print_ways(const struct plan_patch *p, FILE *out)
{
	const char *sign = " (";

	fprintf(out, "%s moved", STR_COUNT(plan_patch_moved(p), "destination", "destinations"));
	for (unsigned how = 0; how < PATCH_WAITING; how++)
		if (p->counts[how]) {
			fprintf(out, "%s%u %s", sign, p->counts[how], patch_way_words(how, 1));
			sign = ", ";
		}
	fprintf(out, "%s, %u waiting", sign[0] == ',' ? ")" : "", p->counts[PATCH_WAITING]);
}

static void print_patch(const struct plan_world *w, const struct plan_patch *p, uint32_t likes,
		      FILE *out)
{
	fprintf(out, "%-10s", "");
	print_channel(w, w->topo, p->at, "--", out);
	fputs(": ", out);
	if (p->lost && !plan_patch_moved(p))
		fprintf(out, "none: it cuts off %s", STR_COUNT(p->lost, "pair", "pairs"));
	else if (p->grade == PLAN_PATCH_UNUSED)
		fputs("carries no destination", out);
	else
		print_ways(p, out);
	if (likes)
		fprintf(out, "; %s like it", STR_COUNT(likes, "other is", "others are"));
	fputc('\n', out);
}

static void print_patches(const struct plan_result *r, FILE *out)
{
	const struct plan_patches *p = &r->patches;

	if (!p->n)
		return;
	fprintf(out,
		"\nPatches   of %s: %u patched whole, %u leave %s waiting for the routing, %u have "
		"none",
		STR_COUNT(p->n, "single cable", "single cables"), p->n_of[PLAN_PATCH_WHOLE],
		p->n_of[PLAN_PATCH_WAITS], STR_COUNT(p->waiting, "destination", "destinations"),
		p->n_of[PLAN_PATCH_NONE]);
	if (p->n_of[PLAN_PATCH_UNUSED])
		fprintf(out, "; %u carry no destination", p->n_of[PLAN_PATCH_UNUSED]);
	fputc('\n', out);
	for (uint32_t i = 0, end, shown = 0; i < p->n && shown < WORST_SHOWN; i = end, shown++) {
		for (end = i + 1; end < p->n && plan_patches_alike(&p->rows[i], &p->rows[end]);)
			end++;
		print_patch(&r->world, &p->rows[i], end - i - 1, out);
	}
}

void plan_print_text(const struct plan_result *r, FILE *out)
{
	print_fabric(&r->world, out);
	print_engine(&r->world, &r->now, out);
	print_hot(&r->world, &r->now, out);
	if (r->running && r->now.routes)
		print_change("Changes", &r->against, out);
	if (r->broken)
		print_after(r, out);
	if (r->worst.rows)
		print_worst(r, out);
	if (r->patches.rows)
		print_patches(r, out);
	if (r->drain.n)
		plan_print_drain(r, out);
	if (r->world.args->bill)
		plan_print_bill(&r->world, out);
}
