// SPDX-License-Identifier: BSD-2-Clause
/*
 * Switch by switch, in batches: within a batch every switch sees the loads as they were before it plus its
 * own, so a batch may run in parallel and the result does not depend on how many threads did it.
 */
#include "route/steps.h"

#include <omp.h>
#include <string.h>

#include "route/cancel.h"
#include "route/relieve.h"
#include "util/mem.h"

#define BATCH 4
#define ROUNDS 3
#define SLACK 10  /* a tenth above the mean: what staying may cost a channel */
#define ALONE 256 /* switches up to which a second thread costs more than it saves */

/* One LID. */
struct goal {
	lid_t lid;
	uint8_t port; /* at its switch; 0: the switch itself */
	bool known;   /* previous tables mean the same end by this LID */
};

/* Work space for one switch of a batch. */
struct hand {
	struct steps steps;
	uint64_t *cost;   /* per switch: load of its path */
	uint32_t *flow;   /* per switch */
	uint32_t *chosen; /* per place in order */
	int64_t *change;  /* per channel: what this switch adds to the loads */
};

struct deal {
	const struct route_job *job;
	const struct topo *topo;
	const struct graph *graph;
	steps_find find;
	const void *arg;
	uint32_t n, n_ports;
	uint32_t *sources;     /* per switch: end ports */
	int64_t *load;	       /* per channel, between batches */
	int64_t limit, slack;  /* entries that stay leave channels above it if that saves so much; 0: not yet */
	uint32_t *first;       /* per switch + 1: its goals */
	struct goal *goals;
	uint32_t *previous_sw; /* row in job->previous, or TOPO_NONE; NULL: none */
	uint8_t *at;	       /* port of every (goal, switch); 0: none */
};

void steps_group(struct steps *s, const struct graph_group *group)
{
	uint32_t sw = s->order[s->n - 1], base = s->graph->topo->switches[sw].first_port;

	for (unsigned p = 0; p < group->n_ports; p++)
		s->list[s->n_list++] = (struct step){
			.channel = base + s->graph->ports[group->first_port + p],
			.next = group->to,
		};
	s->first[s->n] = s->n_list;
}

static void hand_init(struct hand *h, const struct deal *d)
{
	size_t cables = 0;

	for (uint32_t i = 0; i < d->graph->first[d->n]; i++)
		cables += d->graph->groups[i].n_ports;
	h->steps.graph = d->graph;
	h->steps.order = xcalloc(d->n, sizeof(*h->steps.order));
	h->steps.first = xcalloc((size_t)d->n + 1, sizeof(*h->steps.first));
	h->steps.list = xcalloc(cables, sizeof(*h->steps.list));
	for (unsigned i = 0; i < ARRAY_SIZE(h->steps.work); i++)
		h->steps.work[i] = xcalloc(d->n, sizeof(*h->steps.work[i]));
	h->cost = xcalloc(d->n, sizeof(*h->cost));
	h->flow = xcalloc(d->n, sizeof(*h->flow));
	h->chosen = xcalloc(d->n, sizeof(*h->chosen));
	h->change = xcalloc(d->n_ports, sizeof(*h->change));
}

static void hand_done(struct hand *h)
{
	free(h->steps.order);
	free(h->steps.first);
	free(h->steps.list);
	for (unsigned i = 0; i < ARRAY_SIZE(h->steps.work); i++)
		free(h->steps.work[i]);
	free(h->cost);
	free(h->flow);
	free(h->chosen);
	free(h->change);
}

static uint8_t port_of(const struct deal *d, uint32_t sw, const struct step *step)
{
	return (uint8_t)(step->channel - d->topo->switches[sw].first_port);
}

/* The step of the previous tables if it is still allowed, or TOPO_NONE. */
static uint32_t kept(const struct deal *d, const struct steps *s, uint32_t i, const struct goal *goal)
{
	uint32_t sw = s->order[i];
	uint8_t port;

	if (!goal->known || d->previous_sw[sw] == TOPO_NONE)
		return TOPO_NONE;
	port = routes_port(d->job->previous, d->previous_sw[sw], goal->lid);
	for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++)
		if (port_of(d, sw, &s->list[k]) == port)
			return k;
	return TOPO_NONE;
}

static uint64_t cost_of(const struct deal *d, const struct hand *h, const struct step *step)
{
	return h->cost[step->next] + (uint64_t)(d->load[step->channel] + h->change[step->channel]);
}

static uint32_t cheapest(const struct deal *d, const struct hand *h, uint32_t i, uint32_t turn)
{
	const struct steps *s = &h->steps;
	uint32_t first = s->first[i], n = s->first[i + 1] - first, best = first;
	uint64_t least = UINT64_MAX;

	if (n == 1)
		return first;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t at = first + (turn + k) % n;
		uint64_t cost = cost_of(d, h, &s->list[at]);

		if (cost < least) {
			least = cost;
			best = at;
		}
	}
	return best;
}

/* The step of the previous tables, or another if too much comes together there. */
static uint32_t stay(const struct deal *d, const struct hand *h, uint32_t i, uint32_t old, uint32_t turn)
{
	const struct step *step = &h->steps.list[old];
	uint32_t best;

	if (!d->limit || d->load[step->channel] + h->change[step->channel] <= d->limit)
		return old;
	best = cheapest(d, h, i, turn);
	return cost_of(d, h, &h->steps.list[best]) + (uint64_t)d->slack < cost_of(d, h, step) ? best : old;
}

/* Returns how many entries were free to go elsewhere. */
static uint32_t choose(const struct deal *d, struct hand *h, uint32_t to, uint32_t goal)
{
	const struct steps *s = &h->steps;
	uint32_t n_free = 0;

	h->cost[to] = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t k = kept(d, s, i, &d->goals[goal]);

		if (k == TOPO_NONE) {
			k = cheapest(d, h, i, goal);
			n_free += s->first[i + 1] - s->first[i] > 1;
		} else {
			k = stay(d, h, i, k, goal);
		}
		h->chosen[i] = k;
		h->cost[s->order[i]] = cost_of(d, h, &s->list[k]);
	}
	return n_free;
}

/* Adds (or takes away) the flows of one goal along what is chosen. */
static void add_flows(const struct deal *d, struct hand *h, int sign)
{
	const struct steps *s = &h->steps;

	memcpy(h->flow, d->sources, d->n * sizeof(*h->flow));
	for (uint32_t i = s->n; i-- > 0;) {
		const struct step *step = &s->list[h->chosen[i]];
		uint32_t flow = h->flow[s->order[i]];

		h->change[step->channel] += sign * (int64_t)flow;
		h->flow[step->next] += flow;
	}
}

static void recall(const struct deal *d, struct hand *h, uint32_t goal)
{
	const struct steps *s = &h->steps;
	const uint8_t *ports = d->at + (size_t)goal * d->n;

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t k = s->first[i];

		while (port_of(d, s->order[i], &s->list[k]) != ports[s->order[i]])
			k++;
		h->chosen[i] = k;
	}
}

static void remember(const struct deal *d, const struct hand *h, uint32_t goal)
{
	const struct steps *s = &h->steps;
	uint8_t *ports = d->at + (size_t)goal * d->n;

	for (uint32_t i = 0; i < s->n; i++)
		ports[s->order[i]] = port_of(d, s->order[i], &s->list[h->chosen[i]]);
}

static uint32_t deal_switch(const struct deal *d, struct hand *h, uint32_t to, unsigned round)
{
	uint32_t n_free = 0;

	if (d->first[to] == d->first[to + 1])
		return 0;
	h->steps.n = h->steps.n_list = 0;
	h->steps.first[0] = 0;
	d->find(d->arg, to, &h->steps);
	for (uint32_t goal = d->first[to]; goal < d->first[to + 1]; goal++) {
		bool counts = d->goals[goal].port;

		if (round && counts) {
			recall(d, h, goal);
			add_flows(d, h, -1);
		}
		n_free += choose(d, h, to, goal);
		if (counts)
			add_flows(d, h, 1);
		remember(d, h, goal);
	}
	return n_free;
}

static unsigned threads_of(const struct deal *d)
{
	if (d->n <= ALONE)
		return 1;
	return d->job->threads ? d->job->threads : (unsigned)omp_get_max_threads();
}

static uint64_t deal_batch(struct deal *d, struct hand *hands, uint32_t base, unsigned round)
{
	unsigned threads = threads_of(d);
	uint32_t n = MIN(BATCH, d->n - base);
	uint64_t n_free = 0;

#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(+ : n_free)
	for (uint32_t i = 0; i < n; i++) {
		memset(hands[i].change, 0, d->n_ports * sizeof(*hands[i].change));
		n_free += deal_switch(d, &hands[i], base + i, round);
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < d->n_ports; k++)
			d->load[k] += hands[i].change[k];
	return n_free;
}

/* What a channel may carry before entries leave it. */
static void find_limit(struct deal *d)
{
	int64_t sum = 0, n = 0;

	for (uint32_t k = 0; k < d->n_ports; k++) {
		if (d->topo->ports[k].sw == TOPO_NONE)
			continue;
		sum += d->load[k];
		n++;
	}
	d->slack = n ? sum / n / SLACK : 0;
	d->limit = n ? sum / n + d->slack : 0;
}

/* ---- goals ----------------------------------------------------------------------------------- */

static bool host_is_known(const struct route_job *job, const struct topo_host *host)
{
	const struct topo *old = job->previous ? job->previous->topo : NULL;
	uint32_t was = old ? topo_find_host(old, host->guid) : TOPO_NONE;

	return was != TOPO_NONE && old->hosts[was].lid == host->lid;
}

static bool switch_is_known(const struct route_job *job, const struct topo_switch *sw)
{
	const struct topo *old = job->previous ? job->previous->topo : NULL;
	uint32_t was = old ? topo_find_switch(old, sw->guid) : TOPO_NONE;

	return was != TOPO_NONE && old->switches[was].lid == sw->lid;
}

static uint32_t add_goals(struct deal *d, uint32_t n, const struct goal *goal, uint8_t lmc)
{
	for (unsigned k = 0; goal->lid && k < 1u << lmc && goal->lid + k <= LID_MAX_UCAST; k++) {
		if (d->goals) {
			d->goals[n] = *goal;
			d->goals[n].lid = (lid_t)(goal->lid + k);
		}
		n++;
	}
	return n;
}

/* Counts while there are no goals, writes them when there are. */
static uint32_t list_goals(struct deal *d)
{
	const struct topo *t = d->topo;
	uint32_t n = 0;

	for (uint32_t s = 0; s < d->n; s++) {
		const struct topo_switch *sw = &t->switches[s];

		d->first[s] = n;
		n = add_goals(d, n, &(struct goal){
			.lid = sw->lid, .known = switch_is_known(d->job, sw) }, sw->lmc);
		for (unsigned p = 1; p <= sw->n_ports; p++) {
			uint32_t h = topo_port(t, s, p)->host;

			if (h != TOPO_NONE)
				n = add_goals(d, n, &(struct goal){
					.lid = t->hosts[h].lid, .port = (uint8_t)p,
					.known = host_is_known(d->job, &t->hosts[h]),
				}, t->hosts[h].lmc);
		}
	}
	d->first[d->n] = n;
	return n;
}

static void find_previous(struct deal *d)
{
	if (!d->job->previous)
		return;
	d->previous_sw = xcalloc(d->n, sizeof(*d->previous_sw));
	for (uint32_t s = 0; s < d->n; s++)
		d->previous_sw[s] = topo_find_switch(d->job->previous->topo, d->topo->switches[s].guid);
}

static void deal_init(struct deal *d)
{
	const struct topo *t = d->topo;

	for (uint32_t s = 0; s < d->n; s++)
		d->n_ports += t->switches[s].n_ports + 1u;
	d->sources = xcalloc(d->n, sizeof(*d->sources));
	d->load = xcalloc(d->n_ports, sizeof(*d->load));
	d->first = xcalloc((size_t)d->n + 1, sizeof(*d->first));
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE && t->hosts[h].lid)
			d->sources[t->hosts[h].sw]++;
	d->goals = xcalloc(MAX(list_goals(d), 1u), sizeof(*d->goals));
	d->at = xcalloc(MAX(list_goals(d), 1u), MAX(d->n, 1u));
	find_previous(d);
}

static void deal_done(struct deal *d)
{
	free(d->sources);
	free(d->load);
	free(d->first);
	free(d->goals);
	free(d->previous_sw);
	free(d->at);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static lid_t top_of(const struct route_job *job)
{
	unsigned cap = 0;

	for (uint32_t s = 0; s < job->topo->n_switches; s++)
		cap = MAX(cap, (unsigned)job->topo->switches[s].lft_cap);
	if (!job->previous || !cap)
		return job->topo->max_lid;
	return (lid_t)MAX((unsigned)job->topo->max_lid, MIN((unsigned)job->previous->top, cap - 1));
}

static void write_tables(const struct deal *d, struct routes *r)
{
	unsigned threads = threads_of(d);

#pragma omp parallel for num_threads(threads) schedule(static)
	for (uint32_t u = 0; u < d->n; u++) {
		uint8_t *row = routes_row(r, u);

		for (uint32_t goal = 0; goal < d->first[d->n]; goal++) {
			uint8_t port = d->at[(size_t)goal * d->n + u];
			lid_t lid = d->goals[goal].lid;

			if (lid >= d->topo->switches[u].lft_cap)
				continue;
			if (port)
				row[lid] = port;
			else if (goal >= d->first[u] && goal < d->first[u + 1])
				row[lid] = d->goals[goal].port;
		}
	}
}

/* ---- what carries too much still -------------------------------------------------------------- */

/* The allowed steps, as ways. */
struct allowed {
	const struct deal *d;
	struct steps *steps;
};

static void find_ways(const void *arg, uint32_t to, struct ways *w)
{
	const struct allowed *a = arg;
	struct steps *s = a->steps;

	s->n = s->n_list = 0;
	s->first[0] = 0;
	a->d->find(a->d->arg, to, s);
	w->to = to;
	w->n = s->n;
	memcpy(w->order, s->order, s->n * sizeof(*w->order));
	memcpy(w->first, s->first, (s->n + 1) * sizeof(*w->first));
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++)
			w->ways[k] = (struct way){
				.channel = s->list[k].channel, .next = s->list[k].next,
				.port = port_of(a->d, s->order[i], &s->list[k]),
			};
}

/*
 * Rounds bring every path to where it is cheapest, sums of loads being the price; what remains on the most
 * loaded channels is taken off them here, if they carry clearly more than the mean.
 */
static void relieve_most(const struct deal *d, struct steps *steps, struct routes *r)
{
	_cleanup_(roll_freep) struct roll *roll = roll_new(d->topo, &(struct route_options){ 0 });
	_cleanup_free_ uint32_t *load = xcalloc(MAX(d->n_ports, 1u), sizeof(*load));
	uint32_t before = d->job->previous ? d->job->previous->eased_load : 0, most, moved;

	for (uint32_t k = 0; k < d->n_ports; k++)
		load[k] = (uint32_t)d->load[k];
	most = relieve(&(struct relieve_job){
		.graph = d->graph, .find = find_ways, .arg = &(struct allowed){ .d = d, .steps = steps },
		.roll = roll, .load = load, .tolerated = before + before / SLACK, .threads = 1,
		.cancelled = d->job->cancelled,
	}, r, &moved);
	r->eased_load = before && most > before && most <= before + before / SLACK ? before : most;
}

struct routes *steps_deal(const struct route_job *job, const struct graph *g, const char *engine,
			  steps_find find, const void *arg)
{
	_cleanup_(deal_done) struct deal d = {
		.job = job, .topo = job->topo, .graph = g, .find = find, .arg = arg,
		.n = job->topo->n_switches,
	};
	struct routes *r;
	struct hand hands[BATCH] = { 0 };
	uint64_t n_free = 1;

	deal_init(&d);
	for (unsigned i = 0; i < BATCH; i++)
		hand_init(&hands[i], &d);
	for (unsigned round = 0; round < ROUNDS && n_free; round++) {
		n_free = 0;
		for (uint32_t base = 0; base < d.n && !is_cancelled(job->cancelled); base += BATCH)
			n_free += deal_batch(&d, hands, base, round);
		if (n_free && job->previous) /* where nothing changes anyway, nothing changes for balance */
			find_limit(&d);
	}
	r = is_cancelled(job->cancelled) ? NULL : routes_new(job->topo, engine, top_of(job));
	if (r) {
		write_tables(&d, r);
		r->eased_load = job->previous ? job->previous->eased_load : 0;
		if (n_free)
			relieve_most(&d, &hands[0].steps, r);
	}
	for (unsigned i = 0; i < BATCH; i++)
		hand_done(&hands[i]);
	return r;
}
