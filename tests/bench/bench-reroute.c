// SPDX-License-Identifier: BSD-2-Clause
/*
 * What one event costs: a cable between switches, a switch or a host lost, and back. Asserts
 * nothing.
 *
 *   bench-reroute [-e engine] [-n events] [-s seed] [-t threads] FABRIC, as in tests/lib/topocut.h
 *   bench-reroute -w steps FABRIC    a random walk of cuts and repairs; what is left in the end,
 *                                    and after a quiet minute
 *   bench-reroute -a [-N] [-k cable|apex|host|switch|leaf|spine|core|root] [-r repeats] FABRIC
 *                                    CPU time of all that the routing job runs, after the event
 *                                    and from scratch, and of a quiet minute in the end; apex: a
 *                                    cable that is the only one up of a switch without end ports,
 *                                    root: such a switch next to the apex (updn, dnup, ftree);
 *                                    -r 0: only after it, for profiles; -N: what comes back is
 *                                    another switch, of a GUID and a LID never seen
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "route/core/unassigned.h"
#include "route/proof/cdg.h"
#include "route/select/reroute.h"
#include "route/proof/transition.h"
#include "route/select/keep_tables.h"
#include "tests/lib/tables.h"
#include "tests/lib/topocut.h"
#include "util/mem.h"
#include "route/select/engines.h"
#include "util/random.h"

struct bench {
	struct topo *whole;
	const char *engine;
	unsigned events, threads, steps, repeats;
	uint64_t seed;
	bool all;	  /* all that the routing job runs */
	bool replaces;	  /* another switch comes in the place of the one that went */
	const char *kind; /* "cable", "apex", "host", "switch", "leaf", "spine", "core", "root" */
};

/* One event. */
struct event {
	double job, compute, check, order; /* ms: all of it, and parts measured apart */
	uint64_t entries, blocks;     /* that changed */
	uint64_t used;                /* blocks with an entry whose way used the cable */
	uint32_t load_before, load, load_fresh;
	uint32_t drained, epochs;
	uint32_t moved, replaced;     /* for balance: entries, LIDs */
	uint64_t sets;
	uint64_t sls; /* paths from a switch to an end port whose SL changed */
};

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec * 1e-6;
}

static void time_parts(const struct bench *b, const struct route_job *job, struct event *ret)
{
	struct route_verdict v;
	char why[128];
	double since = now_ms();
	struct routes *r = route_engine_find(b->engine)->compute(job, why, sizeof(why));

	ret->compute = now_ms() - since;
	since = now_ms();
	routes_check(r, job->threads, &v);
	ret->check = now_ms() - since;
	routes_unref(r);
}

/* Tables for `t`, as the routing job makes them. */
static struct routes *compute(const struct bench *b, const struct topo *t,
			      const struct routes *previous, struct route_verdict *v,
			      struct event *ret)
{
	const struct route_job job = { .topo = t, .previous = previous, .threads = b->threads };
	struct reroute_report report = { .load_fresh = 0 };
	double since = now_ms();
	struct routes *r = tables_reroute(route_engine_find(b->engine), &job, &report);

	if (!r) {
		fprintf(stderr, "%s\n", report.why);
		exit(1);
	}
	*v = report.verdict;
	if (ret) {
		ret->job = now_ms() - since;
		ret->moved = report.n_entries;
		ret->replaced = report.n_lids;
		time_parts(b, &job, ret);
	}
	return r;
}

/* Does the way of `lid` from each switch pass the cable? memo: 0 unknown, 1 no, 2 yes. */
static bool passes(const struct routes *r, uint32_t sw, lid_t lid, const uint32_t ends[2],
		   uint8_t *memo)
{
	uint8_t port = routes_port(r, sw, lid);
	uint32_t channel = r->topo->switches[sw].first_port + port;
	bool yes = false;

	if (memo[sw])
		return memo[sw] == 2;
	memo[sw] = 1;
	if (port && port <= r->topo->switches[sw].n_ports) {
		uint32_t next = r->topo->ports[channel].sw;

		yes = channel == ends[0] || channel == ends[1] ||
		      (next != TOPO_NONE && passes(r, next, lid, ends, memo));
	}
	memo[sw] = yes ? 2 : 1;
	return yes;
}

static uint64_t blocks_using(const struct routes *r, const uint32_t ends[2])
{
	uint32_t n = r->topo->n_switches, blocks = r->row_size / LFT_BLOCK_LIDS;
	uint8_t *memo = xcalloc(n, 1);
	bool *used = xcalloc((size_t)n * blocks, sizeof(*used));
	uint64_t count = 0;

	for (uint32_t lid = 1; lid <= r->top; lid++) {
		memset(memo, 0, n);
		for (uint32_t s = 0; s < n; s++)
			used[(size_t)s * blocks + lid / LFT_BLOCK_LIDS] |=
				passes(r, s, (lid_t)lid, ends, memo);
	}
	for (size_t i = 0; i < (size_t)n * blocks; i++)
		count += used[i];
	free(memo);
	free(used);
	return count;
}

static void count_changes(const struct routes *a, const struct routes *b, struct event *e)
{
	for (size_t i = 0; i < (size_t)a->topo->n_switches * a->row_size; i += LFT_BLOCK_LIDS) {
		uint64_t before = e->entries;

		for (unsigned k = 0; k < LFT_BLOCK_LIDS; k++)
			e->entries += a->lft[i + k] != b->lft[i + k];
		e->blocks += e->entries != before;
	}
}

/* A connection goes on with the SL that it asked for. Same hosts and switches in both. */
static uint64_t changed_sls(const struct routes *a, const struct routes *b)
{
	const struct topo *t = a->topo;
	uint64_t n = 0;

	for (uint32_t s = 0; s < t->n_switches && (a->lanes || b->lanes); s++)
		for (uint32_t h = 0; h < t->n_hosts; h++)
			n += t->hosts[h].sw != TOPO_NONE && t->hosts[h].sw != s &&
			     sl2vl_sl(a->lanes, s, t->hosts[h].sw, t->hosts[h].lid, 0) !=
				     sl2vl_sl(b->lanes, s, t->hosts[h].sw, t->hosts[h].lid, 0);
	return n;
}

/* Blocks that must be written twice because entries of theirs are drained. */
static uint64_t drained_blocks(const struct routes *a, const struct routes *b,
			       const struct transition *t)
{
	uint64_t n = 0;

	for (uint32_t s = 0; s < a->topo->n_switches; s++)
		for (uint32_t block = 0; block < a->row_size; block += LFT_BLOCK_LIDS) {
			bool drains = false;

			for (uint32_t lid = block; lid < block + LFT_BLOCK_LIDS; lid++)
				drains |= lid <= t->top && t->drain[lid] &&
					  routes_row(a, s)[lid] != routes_row(b, s)[lid] &&
					  routes_row(a, s)[lid] != LFT_NO_PORT;
			n += drains;
		}
	return n;
}

static uint32_t fresh_load(const struct bench *b, const struct topo *t)
{
	struct route_verdict v;

	routes_unref(compute(b, t, NULL, &v, NULL));
	return v.max_load;
}

/* From `before` to tables for `t`; `cable` names the entries of whole->ports at its two ends. */
static struct routes *step(const struct bench *b, const struct routes *before,
			   const struct topo *t, const uint32_t cable[2], struct event *e)
{
	bool lost = t->ports[cable[0]].sw == TOPO_NONE;
	struct transition *tr;
	struct route_verdict v;
	struct routes *r;
	double since;

	routes_check(before, b->threads, &v);
	e->load_before = v.max_load;
	r = compute(b, t, before, &v, e);
	e->load = v.max_load;
	since = now_ms();
	tr = transition_find(before, r);
	e->order = now_ms() - since;
	e->load_fresh = fresh_load(b, t);
	e->used = blocks_using(lost ? before : r, cable);
	count_changes(before, r, e);
	e->sets = e->blocks;
	e->sls = changed_sls(before, r);
	if (tr) {
		e->drained = tr->n_lids;
		e->epochs = tr->n_epochs;
		e->sets += drained_blocks(before, r, tr);
	}
	transition_free(tr);
	return r;
}

static void print_head(void)
{
	printf("%-6s %8s %8s %8s %8s | %8s %7s %7s %5s | %6s %6s %6s | %5s %5s | %5s %5s %6s | "
	       "%7s\n",
	       "", "ms", "compute", "check", "order", "entries", "blocks", "used", "ratio",
	       "before", "load", "fresh", "moved", "LIDs", "drain", "epoch", "Sets", "SLs");
}

static void print_event(const char *what, const struct event *e)
{
	printf("%-6s %8.2f %8.2f %8.2f %8.2f | %8llu %7llu %7llu %5.2f | %6u %6u %6u | "
	       "%5u %5u | %5u %5u %6llu | %7llu\n",
	       what, e->job + e->order, e->compute, e->check, e->order,
	       (unsigned long long)e->entries, (unsigned long long)e->blocks,
	       (unsigned long long)e->used, e->used ? (double)e->blocks / (double)e->used : 0,
	       e->load_before, e->load, e->load_fresh, e->moved, e->replaced, e->drained, e->epochs,
	       (unsigned long long)e->sets, (unsigned long long)e->sls);
}

static void ends_of(const struct topo *t, uint32_t end, uint32_t ret[2])
{
	const struct topo_port *port = &t->ports[end];

	ret[0] = end;
	ret[1] = t->switches[port->sw].first_port + port->port;
}

/* Single cables, spread over all there are. */
static void run_events(struct bench *b)
{
	struct topocut *cut = topocut_new(b->whole);
	struct route_verdict v;
	struct routes *whole = compute(b, b->whole, NULL, &v, NULL);
	uint32_t n, *cables = topocut_cables(b->whole, &n);

	routes_settle(whole); /* as the subnet manager does when there is time */
	print_head();
	for (unsigned i = 0; i < b->events && n; i++) {
		uint32_t end = cables[random_next(&b->seed) % n], ends[2];
		struct event down = { .sets = 0 }, up = { .sets = 0 };
		struct routes *broken, *again;
		struct topo *t;

		ends_of(b->whole, end, ends);
		cut->ports[end] = true;
		t = topocut_apply(b->whole, cut);
		cut->ports[end] = false;
		broken = step(b, whole, t, ends, &down);
		again = step(b, broken, b->whole, ends, &up);
		print_event("down", &down);
		print_event("up", &up);
		routes_unref(whole);
		whole = again;
		routes_unref(broken);
		topo_unref(t);
	}
	routes_unref(whole);
	topocut_free(cut);
	free(cables);
}

/* As it is, after a quiet minute, and from scratch. */
static void tell_rest(const struct bench *b, const struct routes *r)
{
	const struct route_job job = { .topo = b->whole, .previous = r, .threads = b->threads };
	struct keep_report report;
	struct routes *rested =
		keep_tables_balanced(&(struct route_chain){ .list = b->engine }, &job, &report);
	struct route_verdict now, then;

	routes_check(r, b->threads, &now);
	routes_check(rested ? rested : r, b->threads, &then);
	printf("load %u, rested %u, fresh %u\n", now.max_load, then.max_load,
	       fresh_load(b, b->whole));
	routes_unref(rested);
}

/* Cuts and repairs at random, at most eight at a time; then all are repaired. */
static void run_walk(struct bench *b)
{
	struct topocut *cut = topocut_new(b->whole);
	struct route_verdict v;
	struct routes *r = compute(b, b->whole, NULL, &v, NULL);
	uint32_t n, *cables = topocut_cables(b->whole, &n), down[8], n_down = 0;
	double worst = 1, ratio = 0;

	printf("whole  load %u\n", v.max_load);
	for (unsigned i = 0; i < b->steps || n_down; i++) {
		bool repair = i >= b->steps || (n_down && random_next(&b->seed) % 2) || n_down == 8;
		uint32_t at = repair ? (uint32_t)(random_next(&b->seed) % n_down) : n_down, ends[2];
		struct event e = { .sets = 0 };
		struct routes *next;
		struct topo *t;

		if (!repair) {
			uint32_t end = cables[random_next(&b->seed) % n];

			if (cut->ports[end])
				continue;
			down[n_down++] = end;
		}
		ends_of(b->whole, down[at], ends);
		cut->ports[down[at]] = !repair;
		if (repair)
			down[at] = down[--n_down];
		t = topocut_apply(b->whole, cut);
		next = step(b, r, t, ends, &e);
		worst = MAX(worst, (double)e.load / e.load_fresh);
		if (e.used)
			ratio = MAX(ratio, (double)e.blocks / (double)e.used);
		print_event(repair ? "up" : "down", &e);
		routes_unref(r);
		topo_unref(t);
		r = next;
	}
	printf("worst load %.3f of fresh, most blocks %.2f of those that used the cable\n", worst,
	       ratio);
	tell_rest(b, r);
	routes_unref(r);
	topocut_free(cut);
	free(cables);
}

/* ---- all that the routing job runs ---------------------------------------------------------- */

/* Parts of it, in ms. */
struct cost {
	double weigh, order, graph, all;
};

static struct cost least(struct cost a, struct cost b)
{
	return a.all < b.all ? a : b;
}

/* What sm/routing/route_job.c does. */
static struct routes *run_job(const struct bench *b, const struct topo *t,
			      const struct routes *previous, struct cost *ret)
{
	const struct route_job job = { .topo = t, .previous = previous, .threads = b->threads };
	struct keep_report report;
	double since = now_ms(), at[3];
	struct routes *r =
		keep_tables(&(struct route_chain){ .list = b->engine }, &job, false, &report);

	if (!r) {
		fprintf(stderr, "%s\n", report.choice.why);
		exit(1);
	}
	at[0] = now_ms();
	if (previous)
		transition_free(transition_find(previous, r));
	at[1] = now_ms();
	cdg_free(cdg_of(r, b->threads));
	at[2] = now_ms();
	*ret = (struct cost){ at[0] - since, at[1] - at[0], at[2] - at[1], at[2] - since };
	return r;
}

/* By a name of its own, for perf(1). */
static __attribute__((noinline)) struct routes *run_after(const struct bench *b,
							  const struct topo *t,
							  const struct routes *before,
							  struct cost *ret)
{
	struct routes *r = run_job(b, t, before, ret);

	return r;
}

/* Is the entry of before still a step nearer? True as well where the LID is of no port now. */
static bool still_nearer(const struct routes *now, uint32_t s, uint32_t at, uint8_t port)
{
	const uint8_t *hops = now->hops + (size_t)at * now->topo->n_switches;
	uint32_t peer;

	if (s == at || hops[s] == 0xFF)
		return true;
	if (!port || port > now->topo->switches[s].n_ports)
		return false;
	peer = topo_port(now->topo, s, port)->sw;
	return peer != TOPO_NONE && hops[peer] + 1 == hops[s];
}

/* Blocks that changed, and blocks with an entry that no longer leads nearer. */
static void tell_blocks(const struct routes *before, const struct routes *now)
{
	uint32_t *at = unassigned_owners(now->topo, now->top), changed = 0, must = 0;

	for (uint32_t s = 0; now->hops && s < now->topo->n_switches; s++) {
		uint32_t was = topo_find_switch(before->topo, now->topo->switches[s].guid);

		for (uint32_t block = 0; block <= now->top; block += LFT_BLOCK_LIDS) {
			bool differs = false, wrong = false;

			for (uint32_t lid = block; lid < block + LFT_BLOCK_LIDS; lid++) {
				uint8_t port = was == TOPO_NONE
						       ? LFT_NO_PORT
						       : routes_port(before, was, (lid_t)lid);

				differs |= port != routes_port(now, s, (lid_t)lid);
				wrong |= lid <= now->top && at[lid] != TOPO_NONE &&
					 !still_nearer(now, s, at[lid], port);
			}
			changed += differs;
			must += wrong;
		}
	}
	printf("       %u blocks changed, %u had to; load %u, was %u\n", changed, must,
	       now->judged->max_load, before->judged->max_load);
	free(at);
}

/* From `before` to `t`, and what of it is different. */
static struct routes *job_step(const struct bench *b, const char *what, const struct routes *before,
			       const struct topo *t)
{
	struct cost after = { .all = 1e9 }, scratch = { .all = 1e9 }, cost;
	struct routes *r = NULL;
	struct route_verdict v;

	for (unsigned i = 0; i < MAX(b->repeats, 1); i++) {
		if (b->repeats) {
			routes_unref(run_job(b, t, NULL, &cost));
			scratch = least(scratch, cost);
		}
		if (r)
			/* the first one took the proof away */
			routes_check_after(NULL, before, b->threads, &v);
		routes_unref(r);
		r = run_after(b, t, before, &cost);
		after = least(after, cost);
	}
	printf("%-6s %8.2f %8.2f %6.1f | %7.2f %7.2f %7.2f | %7.2f %7.2f\n", what, after.all,
	       scratch.all, scratch.all / after.all, after.weigh, after.order, after.graph,
	       scratch.weigh, scratch.graph);
	if (b->repeats)
		tell_blocks(before, r);
	return r;
}

/* After a quiet minute. */
static struct routes *rest_step(const struct bench *b, const struct routes *before)
{
	const struct route_job job = {
		.topo = b->whole, .previous = before, .threads = b->threads,
	};
	struct keep_report report;
	double since = now_ms();
	struct routes *r = keep_tables_balanced(&(struct route_chain){ .list = b->engine }, &job,
						&report);
	double at = now_ms();

	transition_free(transition_find(before, r));
	printf("%-6s %8.2f %8s %6s | %7.2f %7.2f\n", "quiet", now_ms() - since, "", "",
	       at - since, now_ms() - at);
	tell_blocks(before, r);
	printf("       fresh load %u; %s\n", fresh_load(b, b->whole), report.note);
	return r;
}

/* 0: has end ports, 1: beside such a switch, 2: farther away. */
static unsigned level_of(const struct topo *t, uint32_t sw)
{
	unsigned level = 2;

	for (unsigned p = 1; p <= t->switches[sw].n_ports; p++) {
		uint32_t peer = topo_port(t, sw, p)->sw;

		if (topo_port(t, sw, p)->host != TOPO_NONE)
			return 0;
		for (unsigned k = 1; peer != TOPO_NONE && k <= t->switches[peer].n_ports; k++)
			if (topo_port(t, peer, k)->host != TOPO_NONE)
				level = 1;
	}
	return level;
}

/* Has no end ports, and a cable to the switch that is the highest of all? */
static bool is_root(const struct routes *r, uint32_t sw)
{
	for (unsigned p = 1; level_of(r->topo, sw) && p <= r->topo->switches[sw].n_ports; p++) {
		uint32_t to = topo_port(r->topo, sw, p)->sw;

		if (r->places && to != TOPO_NONE && !r->places[to])
			return true;
	}
	return false;
}

/* A switch of the kind that is asked for, from `at` on. */
static uint32_t pick_switch(const struct bench *b, const struct routes *r, uint32_t at)
{
	static const char *const kinds[] = { "leaf", "spine", "core" };
	uint32_t n = b->whole->n_switches;

	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(b->kind, "switch") ||
		    (!strcmp(b->kind, "root") && is_root(r, (at + i) % n)) ||
		    !strcmp(b->kind, kinds[level_of(b->whole, (at + i) % n)]))
			return (at + i) % n;
	fprintf(stderr, "no such switch\n");
	exit(1);
}

/* Is the lower end of the cable without end ports, and has no other higher neighbour? */
static bool is_at_apex(const struct routes *r, uint32_t end)
{
	const struct topo *t = r->topo;
	const struct topo_port *p = &t->ports[end];
	uint32_t a = topo_port(t, p->sw, p->port)->sw, low, n_up = 0;

	low = r->places[a] > r->places[p->sw] ? a : p->sw;
	for (unsigned k = 1; k <= t->switches[low].n_ports; k++) {
		uint32_t to = topo_port(t, low, k)->sw;

		n_up += to != TOPO_NONE && r->places[to] < r->places[low];
	}
	return n_up == 1 && level_of(t, low);
}

/* Keeps the cables that are at the apex, in their order. */
static void keep_apex(const struct routes *r, uint32_t *cables, uint32_t *n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *n && r->places; i++)
		if (is_at_apex(r, cables[i]))
			cables[kept++] = cables[i];
	*n = kept;
	if (kept)
		return;
	fprintf(stderr, "no such cable\n");
	exit(1);
}

/* Another switch in the place of `at`: the lowest GUID of all or the highest, in turns. */
static void replace_switch(struct bench *b, uint32_t at, unsigned event)
{
	struct topo *was = b->whole;
	guid_t low = UINT64_MAX, high = 0;

	for (uint32_t s = 0; s < was->n_switches; s++) {
		low = MIN(low, was->switches[s].guid);
		high = MAX(high, was->switches[s].guid);
	}
	b->whole = topocut_replaced(was, at, event % 2 ? low - 1 : high + 1,
				    (lid_t)(was->max_lid + 1));
	topo_unref(was);
}

static void run_jobs(struct bench *b)
{
	struct topocut *cut = topocut_new(b->whole);
	struct cost cost;
	struct routes *whole = run_job(b, b->whole, NULL, &cost);
	uint32_t n, *cables = topocut_cables(b->whole, &n);
	bool is_apex = !strcmp(b->kind, "apex");
	bool *parts = is_apex || !strcmp(b->kind, "cable") ? cut->ports
		      : !strcmp(b->kind, "host")	   ? cut->hosts
							   : cut->switches;

	if (is_apex)
		keep_apex(whole, cables, &n);
	routes_settle(whole); /* as the subnet manager does when there is time */
	printf("%-6s %8s %8s %6s | %7s %7s %7s | %7s %7s\n", "ms", "after", "scratch", "times",
	       "weigh", "order", "graph", "weigh", "graph");
	for (unsigned i = 0; i < b->events; i++) {
		uint64_t random = random_next(&b->seed);
		uint32_t at = parts == cut->hosts   ? (uint32_t)(random % b->whole->n_hosts)
			      : parts == cut->ports ? cables[random % n]
						    : (uint32_t)(random % b->whole->n_switches);
		struct routes *broken;
		struct topo *t;

		if (parts == cut->switches)
			at = pick_switch(b, whole, at);
		parts[at] = true;
		t = topocut_apply(b->whole, cut);
		parts[at] = false;
		broken = job_step(b, "down", whole, t);
		routes_unref(whole);
		if (b->replaces && parts == cut->switches)
			replace_switch(b, at, i);
		whole = job_step(b, b->replaces ? "other" : "up", broken, b->whole);
		routes_settle(whole);
		routes_unref(broken);
		if (b->repeats) {
			broken = whole;
			whole = rest_step(b, broken);
			routes_settle(whole);
			routes_unref(broken);
		}
		topo_unref(t);
	}
	routes_unref(whole);
	topocut_free(cut);
	free(cables);
}

static void usage(void)
{
	fputs("bench-reroute [-e engine] [-n events] [-s seed] [-t threads] [-w steps] FABRIC\n"
	      "bench-reroute -a [-N] [-k cable|apex|host|switch|leaf|spine|core|root] [-r n] ...\n"
	      "FABRIC:      " TOPOGEN_WORDS, stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	struct bench b = { .engine = "minhop",
			   .events = 4,
			   .threads = 1,
			   .seed = 1,
			   .repeats = 3,
			   .kind = "cable" };
	int opt;

	while ((opt = getopt(argc, argv, "aNe:k:n:r:s:t:w:")) != -1)
		switch (opt) {
		case 'a': b.all = true; break;
		case 'N': b.replaces = true; break;
		case 'k': b.kind = optarg; break;
		case 'r': b.repeats = (unsigned)atoi(optarg); break;
		case 'e': b.engine = optarg; break;
		case 'n': b.events = (unsigned)atoi(optarg); break;
		case 's': b.seed = strtoull(optarg, NULL, 0); break;
		case 't': b.threads = (unsigned)atoi(optarg); break;
		case 'w': b.steps = (unsigned)atoi(optarg); break;
		default: usage();
		}
	b.whole = topogen_words(argc - optind, argv + optind, NULL);
	if (!b.whole || !route_engine_find(b.engine))
		usage();
	if (b.all)
		run_jobs(&b);
	else if (b.steps)
		run_walk(&b);
	else
		run_events(&b);
	topo_unref(b.whole);
	return 0;
}
