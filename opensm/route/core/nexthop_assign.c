// SPDX-License-Identifier: BSD-2-Clause
/*
 * Switch by switch, in batches: within a batch every switch sees the loads as they were before it
 * plus its own, so a batch may run in parallel and the result does not depend on how many threads
 * did it. The first round places destinations; each later one takes every destination out again and
 * routes it anew among all others.
 *
 * Destinations of one batch take the same paths, and meet in shifts. So in small trees (in_order) a
 * batch is one switch. Mean of shifts of columns on `tree 26 10 3 3` with a dead spine and 3 % of
 * its cables missing: .52, in batches of 4 .33; on graphs without levels nothing is gained.
 *
 * Most destinations keep all entries of the previous tables. Such a *settled* one is looked at
 * once, for what it carries; later rounds leave it alone unless an entry that has a choice leads
 * into a channel that carries too much, as nothing else can make it leave.
 */
#include "route/core/nexthop_assign.h"

#include <assert.h>
#include <string.h>

#define BATCH  4
#define ROUNDS 3
#define TILE   64  /* rows are far apart */
#define ALONE  256 /* switches up to which a second thread costs more than it saves */

/* Work space for one switch of a batch. */
struct hand {
	struct path_dag dag;
	bool *is_new;	  /* per edge */
	uint64_t *cost;	  /* per switch: load of its path */
	uint32_t *flow;	  /* per switch */
	uint32_t *chosen; /* per place in order: its edge */
	int64_t *load;	  /* per edge: load of its channel, the changes of this hand included */
	int64_t *change;  /* per edge: what this hand adds to the load */
	uint8_t *place;	  /* per channel: the how-manieth edge of its switch it is; 0: none */
	uint32_t n_edges; /* of `dag` while it is worked on, else 0 */
};

struct assignment {
	const struct nexthop_job *job;
	const struct topo *topo;
	struct routes *routes;
	uint32_t n, n_channels;
	uint32_t *dealt, n_dealt; /* goals that do not stay */
	uint32_t *list, n_list;	  /* switches, but for those all of whose goals stay */
	unsigned threads, batch;  /* switches of a batch */
	uint32_t *sources;	  /* per switch: end ports */
	int64_t *load;		  /* per channel, between batches */
	/* entries that stay leave channels above it if that saves so much; 0: not yet */
	int64_t limit, slack;
	/* port of every (goal, switch); 0: none; of a goal not yet dealt, its former one */
	uint8_t *at;
	uint64_t *choice; /* per switch with goals and switch, a bit: it has several edges */
	uint32_t words;	  /* of them */
	bool *settled;	  /* per goal: as in the previous tables, and no entry was free */
	struct hand hands[BATCH];
	struct arena memory;
};

static void list_dealt(struct assignment *a)
{
	const struct nexthop_job *job = a->job;

	ARENA_ARRAY(&a->memory, a->list, a->n);
	ARENA_ARRAY(&a->memory, a->dealt, job->first[a->n]);
	for (uint32_t s = 0; s < a->n; s++) {
		uint32_t before = a->n_dealt;

		for (uint32_t goal = job->first[s]; goal < job->first[s + 1]; goal++)
			if (!job->goals[goal].stays)
				a->dealt[a->n_dealt++] = goal;
		if (a->n_dealt > before || job->first[s] == job->first[s + 1])
			a->list[a->n_list++] = s;
	}
}

static void assignment_init(struct assignment *a, const uint32_t *load)
{
	const struct graph *g = a->job->graph;
	const struct topo *t = g->topo;
	struct arena *memory = &a->memory;

	a->topo = t;
	a->n = t->n_switches;
	a->n_channels = topo_n_entries(t);
	a->batch = a->n <= ALONE && a->job->in_order ? 1 : BATCH;
	a->threads = a->n <= ALONE ? 1 : a->job->threads;
	list_dealt(a);
	ARENA_ARRAY(memory, a->load, a->n_channels);
	for (uint32_t k = 0; k < a->n_channels && load; k++)
		a->load[k] = load[k];
	ARENA_ARRAY(memory, a->at, (size_t)a->job->first[a->n] * a->n);
	a->words = a->n / 64 + 1;
	ARENA_ARRAY(memory, a->choice, (size_t)a->n * a->words);
	ARENA_ARRAY(memory, a->settled, a->job->first[a->n]);
	a->sources = arena_keep(memory, topo_count_senders(t));
	for (struct hand *h = a->hands; h < a->hands + BATCH; h++) {
		path_dag_init(&h->dag, g);
		ARENA_ARRAYS(memory, a->n_channels, h->is_new, h->load, h->change, h->place);
		ARENA_ARRAYS(memory, a->n, h->cost, h->flow, h->chosen);
	}
}

static void assignment_done(struct assignment *a)
{
	for (unsigned i = 0; i < BATCH; i++)
		path_dag_done(&a->hands[i].dag);
	arena_done(&a->memory);
}

static uint8_t former_port(const struct assignment *a, const struct nexthop_goal *goal, uint32_t u)
{
	uint32_t was = goal->known ? a->job->previous_sw[u] : TOPO_NONE;
	uint8_t port = was == TOPO_NONE ? 0 : routes_port(a->job->previous, was, goal->lid);

	return port <= a->topo->switches[u].n_ports ? port : 0;
}

/* The edge of order[i] through `port`, which the switch has; TOPO_NONE: none. */
static uint32_t edge_by(const struct hand *h, uint32_t i, uint8_t port)
{
	uint32_t first = h->dag.first[i], place;

	if (!port || h->dag.first[i + 1] == first)
		return TOPO_NONE;
	place = h->place[h->dag.edges[first].channel - h->dag.edges[first].port + port];
	return place ? first + place - 1 : TOPO_NONE;
}

static void fetch_former(const struct assignment *a)
{
#pragma omp parallel for num_threads(a->threads) schedule(static)
	for (uint32_t first = 0; first < a->n; first += TILE)
		for (uint32_t i = 0; i < a->n_dealt; i++)
			for (uint32_t u = first; u < MIN(first + TILE, a->n); u++)
				a->at[(size_t)a->dealt[i] * a->n + u] =
					former_port(a, &a->job->goals[a->dealt[i]], u);
}

/*
 * Chooses the edges of the previous tables, where they are still allowed; else TOPO_NONE. Returns
 * how many switches have none of them, and a choice.
 */
static uint32_t find_kept(const struct assignment *a, struct hand *h,
			  const struct nexthop_goal *goal, unsigned round)
{
	const uint8_t *ports = a->at + (size_t)(goal - a->job->goals) * a->n;
	const struct path_dag *w = &h->dag;
	uint32_t n_open = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t u = w->order[i];
		uint8_t port = round ? former_port(a, goal, u) : ports[u];

		h->chosen[i] = edge_by(h, i, port);
		n_open += h->chosen[i] == TOPO_NONE && w->first[i + 1] - w->first[i] > 1;
	}
	return n_open;
}

static uint64_t cost_of(const struct hand *h, uint32_t edge)
{
	return h->cost[h->dag.edges[edge].next] + (uint64_t)h->load[edge];
}

/* The first of edges from .. to - 1 that is cheaper than `least`; `best` if none is. */
static uint32_t cheaper(const struct hand *h, uint32_t from, uint32_t to, uint32_t best,
			uint64_t *least)
{
	for (uint32_t k = from; k < to; k++) {
		uint64_t cost = cost_of(h, k);

		best = cost < *least ? k : best;
		*least = MIN(*least, cost);
	}
	return best;
}

/* The edge whose whole path carries least; ties in turn. */
static uint32_t cheapest(const struct hand *h, uint32_t i, uint32_t turn)
{
	uint32_t first = h->dag.first[i], end = h->dag.first[i + 1], from;
	uint64_t least = UINT64_MAX;

	if (end - first < 2)
		return first;
	from = first + turn % (end - first);
	return cheaper(h, first, from, cheaper(h, from, end, from, &least), &least);
}

/* The old edge, or a cheaper one that is new. Adds to `n_free` if there is a new one. */
static uint32_t stay_or_return(const struct hand *h, uint32_t i, uint32_t old, uint64_t *n_free)
{
	uint64_t least = cost_of(h, old);
	uint32_t best = old;

	for (uint32_t k = h->dag.first[i]; k < h->dag.first[i + 1]; k++) {
		if (!h->is_new[k])
			continue;
		*n_free += k != old;
		if (cost_of(h, k) < least) {
			least = cost_of(h, k);
			best = k;
		}
	}
	return best;
}

/* The old edge, or the cheapest if the old one's channel carries too much. */
static uint32_t stay_or_leave(const struct assignment *a, const struct hand *h, uint32_t i,
			      uint32_t old, uint32_t turn)
{
	uint32_t best;

	if (!a->limit || h->load[old] <= a->limit)
		return old;
	best = cheapest(h, i, turn);
	return cost_of(h, best) + (uint64_t)a->slack < cost_of(h, old) ? best : old;
}

/* All by cost. Returns how many entries have a choice. */
static uint64_t choose_freely(struct hand *h, uint32_t turn)
{
	const struct path_dag *w = &h->dag;
	uint64_t n_free = 0;

	h->cost[w->to] = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t k = cheapest(h, i, turn);

		n_free += w->first[i + 1] - w->first[i] > 1;
		h->chosen[i] = k;
		h->cost[w->order[i]] = cost_of(h, k);
	}
	return n_free;
}

/* Returns how many entries were free to go elsewhere; *ret_left: did one that could stay leave? */
static uint64_t choose_edges(const struct assignment *a, struct hand *h,
			     const struct nexthop_goal *goal, unsigned round, bool *ret_left)
{
	const struct path_dag *w = &h->dag;
	uint64_t n_free = 0;
	bool by_cost = find_kept(a, h, goal, round) || a->limit || a->job->is_new;

	h->cost[w->to] = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t kept = h->chosen[i], k = kept;

		if (k == TOPO_NONE) {
			k = cheapest(h, i, goal->turn);
			n_free += w->first[i + 1] - w->first[i] > 1;
		} else if (a->job->is_new) {
			k = stay_or_return(h, i, k, &n_free);
		} else {
			k = stay_or_leave(a, h, i, k, goal->turn);
			*ret_left |= k != kept;
		}
		h->chosen[i] = k;
		if (by_cost)
			h->cost[w->order[i]] = cost_of(h, k);
	}
	return n_free;
}

/* Adds (or takes away) the flows of one goal along the edges chosen. */
static void add_flows(const struct assignment *a, struct hand *h, int sign)
{
	memcpy(h->flow, a->sources, a->n * sizeof(*h->flow));
	for (uint32_t i = h->dag.n; i-- > 0;) {
		uint32_t edge = h->chosen[i], flow = h->flow[h->dag.order[i]];
		int64_t more = sign * (int64_t)flow;

		h->load[edge] += more;
		h->change[edge] += more;
		h->flow[h->dag.edges[edge].next] += flow;
	}
}

static uint64_t assign_goal(const struct assignment *a, struct hand *h, uint32_t number,
			    unsigned round)
{
	const struct nexthop_goal *goal = &a->job->goals[number];
	uint8_t *ports = a->at + (size_t)number * a->n;
	uint64_t n_free;
	bool left = false;

	for (uint32_t i = 0; round && goal->port && i < h->dag.n; i++) {
		h->chosen[i] = edge_by(h, i, ports[h->dag.order[i]]);
		assert(h->chosen[i] != TOPO_NONE); /* the round before chose one of them */
	}
	if (round && goal->port)
		add_flows(a, h, -1);
	n_free = a->job->previous ? choose_edges(a, h, goal, round, &left)
				  : choose_freely(h, goal->turn);
	a->settled[number] = !n_free && !left && a->job->limit;
	if (goal->port)
		add_flows(a, h, 1);
	memset(ports, 0, a->n);
	for (uint32_t i = 0; i < h->dag.n; i++)
		ports[h->dag.order[i]] = h->dag.edges[h->chosen[i]].port;
	return n_free;
}

static void note_choices(const struct assignment *a, const struct path_dag *w)
{
	uint64_t *choice = a->choice + (size_t)w->to * a->words;

	for (uint32_t i = 0; i < w->n; i++)
		if (w->first[i + 1] - w->first[i] > 1)
			choice[w->order[i] / 64] |= UINT64_C(1) << w->order[i] % 64;
}

/* Are the goals of `to` settled, and no entry that has a choice leads into a full channel? */
static bool all_stay(const struct assignment *a, uint32_t to)
{
	const uint64_t *choice = a->choice + (size_t)to * a->words;

	for (uint32_t goal = a->job->first[to]; goal < a->job->first[to + 1]; goal++) {
		const uint8_t *ports = a->at + (size_t)goal * a->n;

		if (a->job->goals[goal].stays)
			continue;
		if (!a->settled[goal])
			return false;
		for (uint32_t u = 0; u < a->n; u++)
			if (choice[u / 64] >> u % 64 & 1 &&
			    a->load[a->topo->switches[u].first_port + ports[u]] > a->limit)
				return false;
	}
	return true;
}

/* Takes the loads of the channels of h->dag, and the places of its edges. */
static void take_edges(const struct assignment *a, struct hand *h)
{
	const struct path_dag *w = &h->dag;

	h->n_edges = w->n_edges;
	memset(h->change, 0, w->n_edges * sizeof(*h->change));
	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
			h->load[k] = a->load[w->edges[k].channel];
			h->place[w->edges[k].channel] = (uint8_t)(k - w->first[i] + 1);
		}
}

static uint64_t assign_switch(const struct assignment *a, struct hand *h, uint32_t to,
			      unsigned round)
{
	const struct nexthop_job *job = a->job;
	uint64_t n_free = 0;

	if (all_stay(a, to))
		return 0;
	job->find(job->arg, to, &h->dag);
	take_edges(a, h);
	if (!round && job->limit)
		note_choices(a, &h->dag);
	for (uint32_t i = 0; i < h->dag.n && job->is_new; i++)
		for (uint32_t k = h->dag.first[i]; k < h->dag.first[i + 1]; k++)
			h->is_new[k] = job->is_new(job->arg, h->dag.order[i], &h->dag.edges[k], to);
	for (uint32_t goal = job->first[to]; goal < job->first[to + 1]; goal++)
		n_free += job->goals[goal].stays ? 0 : assign_goal(a, h, goal, round);
	return n_free;
}

/* What a hand changed becomes part of the loads. */
static void merge_changes(struct assignment *a, struct hand *h)
{
	for (uint32_t k = 0; k < h->n_edges; k++) {
		uint32_t channel = h->dag.edges[k].channel;

		a->load[channel] += h->change[k];
		h->place[channel] = 0;
	}
	h->n_edges = 0;
}

static uint64_t assign_batch(struct assignment *a, uint32_t base, unsigned round)
{
	uint32_t n = MIN(a->batch, a->n_list - base);
	uint64_t n_free = 0;

#pragma omp parallel for num_threads(a->threads) schedule(dynamic, 1) reduction(+ : n_free)
	for (uint32_t i = 0; i < n; i++)
		n_free += assign_switch(a, &a->hands[i], a->list[base + i], round);
	for (uint32_t i = 0; i < n; i++)
		merge_changes(a, &a->hands[i]);
	return n_free;
}

/* Sets the load above which a channel loses entries that would otherwise stay. */
static void find_limit(struct assignment *a)
{
	int64_t sum = 0, n = 0;
	uint32_t mean;

	for (uint32_t k = 0; k < a->n_channels; k++)
		if (a->topo->ports[k].sw != TOPO_NONE) {
			sum += a->load[k];
			n++;
		}
	mean = n ? (uint32_t)(sum / n) : 0;
	a->limit = a->job->limit(mean);
	a->slack = a->limit - mean;
}

static void write_entries(const struct assignment *a)
{
	const struct nexthop_job *job = a->job;
	bool all = a->n_dealt == job->first[a->n];

#pragma omp parallel for num_threads(all ? a->threads : 1) schedule(static)
	for (uint32_t u = 0; u < a->n; u++) {
		uint8_t *row = routes_row(a->routes, u);

		for (uint32_t i = 0; i < a->n_dealt; i++) {
			uint32_t goal = a->dealt[i];
			uint8_t port = a->at[(size_t)goal * a->n + u];
			lid_t lid = job->goals[goal].lid;

			if (lid >= a->topo->switches[u].lft_cap)
				continue;
			if (!port && goal >= job->first[u] && goal < job->first[u + 1])
				port = job->goals[goal].port;
			else if (!port)
				port = all ? row[lid] : LFT_NO_PORT;
			if (all)
				row[lid] = port;
			else
				routes_write(a->routes, u, lid, port);
		}
	}
}

bool nexthop_assign(const struct nexthop_job *job, struct routes *r, uint32_t *load)
{
	_cleanup_(assignment_done) struct assignment a = { .job = job, .routes = r };
	uint64_t n_free = 1;

	assert(job->graph->topo == r->topo && job->threads && !(job->is_new && job->limit));
	assignment_init(&a, load);
	fetch_former(&a);
	for (unsigned round = 0; round < ROUNDS && n_free; round++) {
		n_free = 0;
		for (uint32_t i = 0; i < a.n_list && !is_cancelled(job->cancelled); i += a.batch)
			n_free += assign_batch(&a, i, round);
		/* where nothing changes anyway, nothing changes for balance */
		if (n_free && job->previous && job->limit)
			find_limit(&a);
	}
	write_entries(&a);
	for (uint32_t k = 0; k < a.n_channels && load; k++)
		load[k] = (uint32_t)a.load[k];
	return n_free;
}
