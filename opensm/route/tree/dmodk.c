// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds levels by distance to the hosts, numbers the destinations and gives them homes.
 *
 * Everything here is serial and linear in destinations and cables; engines then fill their rows
 * from it in parallel. No configuration: switches without clear levels simply get no homes.
 */
#include "route/tree/dmodk.h"

#include <assert.h>
#include <string.h>

#include "route/proof/keep_policy.h"
#include "route/shape/recognise.h"
#include "util/bisect.h"
#include "util/sets.h"

/*
 * A rest of at most a third of the ports up is shared out. `opensm --plan` of netgen's tree LEAVES
 * HOSTS SPINES, mean of shifts, permutations and load, shared out and not: 36 24 18 .760 .518
 * 1,128, .762 .529 1,680; 12 8 6 .776 .580 120, .784 .588 176; 3 4 3 .841 .798 12, .886 .801 16.
 */
#define SHARED_MOST 3
/*
 * Flows are redirected until cables carry this part of the highest mean of the cables left to a
 * switch, or as much above the mean of all as balance leaves (KEEP_EVEN): flows to one destination
 * that join early meet fewer others. `bench-auto -k 5500 fat-tree3 48`, bisections and
 * permutations: .571 .415 here, .567 .411 if cables were to carry the mean.
 */
#define PARTED_TO 0.95

/* Work space: the upward half of the graph. */
struct levels {
	const struct graph *g;
	const struct distances *d;
	const struct dmodk_plan *plan;
	struct dmodk *s;
	uint16_t *rank;       /* s->rank */
	uint32_t *hosts;      /* by switch: number of end ports */
	bool *leaf;           /* by switch: set if its rank is 0 */
	uint32_t *pod;        /* union-find over switches up to a rank */
	uint32_t *pods;       /* pods of all ranks: see pods_of() */
	/* by switch: set if it joins pods of the rank below, so that paths go up to it */
	bool *joins;
	uint32_t *up_first;   /* by switch, with one more at the end: first index in `up` */
	uint32_t *up;         /* neighbours one rank up that join pods */
	uint16_t *arity;      /* by switch: number of neighbours up without damage */
	uint32_t *leaf_order; /* by switch: its position among its rank; neighbours are adjacent */
	uint32_t *via_cable;  /* by entry of `up`: number of destinations whose home path uses it */
	uint32_t *via_switch; /* by switch: number of destinations with a home there */
	uint32_t *n_shared;   /* by switch: number of its hosts that are shared out */
	bool *is_shared;      /* by destination: set if it is shared out */
	uint32_t *via;	      /* by destination: its entry of `up` at the present level */
	uint32_t *seen;	      /* by entry of `up`: number of destinations on it that have a turn */
	/* by switch: set if it, or a switch below, has fewer neighbours up than `arity` */
	bool *is_hurt;
	struct {
		uint32_t first, n;
		double mean;
	} *spares; /* by switch: range in s->spares; mean number of destinations on its cables */
	uint32_t span;        /* number of slots per switch */
	uint64_t slots;	      /* number of slots of all leaves, gaps included */
	uint32_t n_leaves;
	/* ports up of most leaves; hosts of a leaf beyond a multiple of them, or 0 */
	uint32_t ports, rest;
	bool shares;	      /* set if the rest is shared out */
	struct arena memory;
};

/* The value below which `quarters` of the values are; 0 if there are none. Sorts them. */
static uint32_t quartile(uint32_t *values, uint32_t n, unsigned quarters)
{
	SORT(values, n, compare_u32);
	return n ? values[(uint64_t)n * quarters / 4] : 0;
}

/* Makes leaves of switches with end ports that join no pods: most of their hosts are missing. */
static bool find_sparse_leaves(struct levels *l)
{
	bool found = false;

	for (uint32_t u = 0; u < l->g->n; u++)
		if (l->hosts[u] && !l->leaf[u] && !l->joins[u])
			l->leaf[u] = found = true;
	return found;
}

/* Unites switches over all cables whose higher end has this rank. */
static void unite_rank(struct levels *l, uint16_t rank)
{
	const uint16_t *ranks = l->rank;

	for (uint32_t u = 0; u < l->g->n; u++) {
		if (ranks[u] != rank)
			continue;
		for (uint32_t i = l->g->first[u]; i < l->g->first[u + 1]; i++)
			if (ranks[l->g->groups[i].to] <= rank)
				sets_join(l->pod, u, l->g->groups[i].to);
	}
}

static bool joins_pods(struct levels *l, uint32_t u)
{
	uint32_t seen = TOPO_NONE;

	GRAPH_EACH(l->g, u, edge) {
		uint32_t pod;

		if (l->rank[edge->to] + 1u != l->rank[u])
			continue;
		pod = sets_root(l->pod, edge->to);
		if (seen != TOPO_NONE && seen != pod)
			return true;
		seen = pod;
	}
	return false;
}

/* The pods of this rank, by switch. */
static uint32_t *pods_of(const struct levels *l, uint32_t rank)
{
	return l->pods + (size_t)rank * l->g->n;
}

/* Finds the pods of each rank, from the lowest on. */
static void find_pods(struct levels *l)
{
	for (uint32_t u = 0; u < l->g->n; u++) {
		l->pod[u] = u;
		l->joins[u] = false;
	}
	for (uint16_t rank = 0; rank < DMODK_LEVELS; rank++) {
		unite_rank(l, rank);
		for (uint32_t u = 0; u < l->g->n; u++) {
			pods_of(l, rank)[u] = sets_root(l->pod, u);
			if (l->rank[u] == rank + 1u)
				l->joins[u] = joins_pods(l, u);
		}
	}
}

/* Compares rank, then pods, the largest ones first. */
static int by_order(const void *a, const void *b, void *arg)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct levels *l = arg;
	int order = COMPARE(l->rank[x], l->rank[y]);

	for (uint32_t i = DMODK_LEVELS; i-- > 0 && !order;)
		order = COMPARE(pods_of(l, i)[x], pods_of(l, i)[y]);
	return order ?: COMPARE(x, y);
}

/*
 * Numbers switches by distance from the first one of the highest rank; those below one switch are
 * then adjacent.
 */
static void find_from_above(const struct levels *l, uint32_t *ret)
{
	const struct graph *g = l->g;
	_cleanup_free_ uint32_t *order = xmalloc_ones(g->n, sizeof(*order));
	_cleanup_free_ uint16_t *far = xmalloc_ones(g->n, sizeof(*far));
	uint32_t top = 0;

	memset(ret, 0xFF, g->n * sizeof(*ret));
	for (uint32_t u = 0; u < g->n; u++)
		if (l->rank[u] != DISTANCE_NONE &&
		    (l->rank[top] == DISTANCE_NONE || l->rank[u] > l->rank[top]))
			top = u;
	if (!g->n)
		return;
	far[top] = 0;
	graph_flood(g, far, order);
	for (uint32_t i = 0; i < g->n && order[i] != TOPO_NONE; i++)
		ret[order[i]] = i;
}

/* Orders the switches: leaves first; members of a pod are adjacent. */
static void order_switches(struct levels *l)
{
	uint32_t n = l->g->n;
	_cleanup_free_ uint32_t *order = xcalloc(n, sizeof(*order));

	if (l->plan && l->plan->from_above)
		find_from_above(l, pods_of(l, DMODK_LEVELS - 1));
	for (uint32_t u = 0; u < n; u++)
		order[u] = u;
	qsort_r(order, n, sizeof(*order), by_order, l);
	for (uint32_t i = 0; i < n; i++)
		l->leaf_order[order[i]] = i;
}

static bool is_up(const struct levels *l, uint32_t u, uint32_t v)
{
	return l->joins[v] && l->rank[v] == l->rank[u] + 1u;
}

static void list_up(struct levels *l)
{
	const struct graph *g = l->g;
	uint32_t n = 0;

	for (uint32_t u = 0; u < g->n; u++) {
		l->up_first[u] = n;
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
			if (is_up(l, u, g->groups[i].to))
				l->up[n++] = g->groups[i].to;
	}
	l->up_first[g->n] = n;
}

static uint32_t n_up(const struct levels *l, uint32_t u)
{
	return l->up_first[u + 1] - l->up_first[u];
}

/*
 * Finds the number of neighbours up that a switch has without damage: the maximum among its
 * siblings (below the same parents), unless that is more than double, which is another kind of
 * switch.
 */
static void find_arity(struct levels *l)
{
	uint32_t n = l->g->n;
	_cleanup_free_ uint32_t *most = xcalloc(n, sizeof(*most));

	for (uint32_t u = 0; u < n; u++)
		for (uint32_t i = l->up_first[u]; i < l->up_first[u + 1]; i++)
			most[l->up[i]] = MAX(most[l->up[i]], n_up(l, u));
	for (uint32_t u = 0; u < n; u++) {
		uint32_t own = n_up(l, u), arity = own;

		for (uint32_t i = l->up_first[u]; i < l->up_first[u + 1]; i++)
			if (most[l->up[i]] <= 2 * own)
				arity = MAX(arity, most[l->up[i]]);
		l->arity[u] = (uint16_t)arity;
	}
}

static bool is_apart(const struct levels *l, uint32_t host)
{
	return l->plan && l->plan->apart && host != TOPO_NONE && l->plan->apart[host];
}

/* The number of ports that lead up from a switch; each parallel cable counts. */
static unsigned ports_up(const struct levels *l, uint32_t u)
{
	unsigned n = 0;

	for (uint32_t i = l->g->first[u]; i < l->g->first[u + 1]; i++)
		if (l->rank[l->g->groups[i].to] == l->rank[u] + 1u)
			n += l->g->groups[i].n_ports;
	return n;
}

/* The largest number of cables from a switch to one neighbour up. */
static unsigned most_parallel(const struct levels *l, uint32_t u)
{
	unsigned most = 0;

	for (uint32_t i = l->g->first[u]; i < l->g->first[u + 1]; i++)
		if (is_up(l, u, l->g->groups[i].to))
			most = MAX(most, (unsigned)l->g->groups[i].n_ports);
	return most;
}

/*
 * The number of places that the hosts of a leaf take. Each port that leads to no switch has one, so
 * a host that leaves changes no other's place.
 */
static uint32_t host_places(const struct levels *l, uint32_t leaf)
{
	const struct topo *t = l->g->topo;
	uint32_t places = 0, last = 1;

	for (unsigned p = 1; p <= t->switches[leaf].n_ports; p++) {
		const struct topo_port *port = topo_port(t, leaf, p);

		places += port->sw == TOPO_NONE && !is_apart(l, port->host);
		if (port->host != TOPO_NONE && !is_apart(l, port->host))
			last = places;
	}
	return last;
}

/*
 * Slots per switch: the number of hosts that three quarters of the leaves do not exceed. A few
 * leaves with more overlap their neighbours' slots, which costs a little; a few half-empty ones do
 * not shrink all.
 *
 * Leaves with more hosts than ports up: some of these ports serve a host more than others. When
 * all hosts send to those `k` places further, a leaf's flows go to the hosts of one leaf, or to the
 * last ones of it and the first of its neighbour: these share no more ports than they must if the
 * hosts of every leaf begin with the same port. So slots are a multiple of the ports, and the rest
 * of the hosts begins with the first port again, or is shared out: of three such hosts the first
 * has a third of the ports, the next one the second third, and every leaf sends to it by another
 * one of these. So they hardly meet one another. A leaf's turn differs by one port from that of its
 * neighbour, and to the hosts of its neighbour, round from the last leaf to the first: no shift
 * doubles a port twice. All ports carry the same in the end; flows from anywhere to anywhere meet a
 * little more often. Not so where most leaves have lost a cable, or are of several kinds.
 *
 * Leaves with fewer hosts than ports up: the slots of neighbours follow each other, and those of
 * the first leaf follow those of the last one where all slots are a multiple of the ports. So a few
 * are left out between leaves; not below three levels, as those above would be uneven.
 */
static void measure_slots(struct levels *l)
{
	uint32_t *spans, *ports, *whole, n = 0;
	bool deep = false;

	ARENA_ARRAYS(&l->memory, l->g->n, spans, ports, whole);
	for (uint32_t u = 0; u < l->g->n; u++) {
		deep |= l->rank[u] == 2;
		if (l->rank[u])
			continue;
		whole[n] = l->arity[u] * most_parallel(l, u);
		ports[n] = ports_up(l, u);
		spans[n++] = host_places(l, u);
	}
	l->span = MAX(quartile(spans, n, 3), 1u);
	l->ports = quartile(whole, n, 2);
	if (l->ports && l->span > l->ports && quartile(ports, n, 3) == l->ports)
		l->rest = l->span % l->ports;
	l->span -= l->rest;
	l->shares = l->rest && l->rest * SHARED_MOST <= l->ports;
	l->n_leaves = MAX(n, 1u);
	l->slots = (uint64_t)l->n_leaves * l->span;
	if (l->span < l->ports && !deep)
		l->slots += l->ports - 1 - (l->slots + l->ports - 1) % l->ports;
}

struct lid_range {
	uint32_t host, slot;
	lid_t base;
	uint8_t lmc, port;
};

/* The slot of the host at this place of a switch. */
static uint32_t slot_of(const struct levels *l, uint32_t sw, unsigned place)
{
	uint32_t order = l->leaf_order[sw], more;

	if (!l->rest || place < l->span)
		return (uint32_t)(order * l->slots / l->n_leaves) + place;
	more = place - l->span;
	if (l->shares) /* the port up by which the first leaf sends to it */
		more = (more * l->ports + order * l->rest % l->ports) / l->rest;
	return (order + place - l->span) * l->ports + more % l->ports;
}

/* Marks the next destination, the host at this place of a switch, if it is one of the rest. */
static void share_out(struct levels *l, uint32_t sw, unsigned place)
{
	struct dmodk *s = l->s;

	if (!l->shares || place < l->span || l->rank[sw])
		return;
	l->is_shared[s->n] = true;
	l->n_shared[sw]++;
	s->shared[s->n_shared++] = (struct dmodk_shared){
		.dest = s->n, .at = sw, .place = place - l->span,
	};
}

static void add_dests(struct dmodk *s, uint32_t sw, const struct lid_range *range)
{
	s->has_lmc[sw] |= range->lmc != 0;
	s->some_lmc |= range->lmc != 0;
	for (unsigned k = 0; range->base && k < 1u << range->lmc; k++) {
		if (range->base + k > LID_MAX_UCAST)
			return;
		s->hot[s->n] = (struct dmodk_hot){
			.lid = (lid_t)(range->base + k),
			.home = (uint16_t)sw,
			.port = range->port,
			.offset = (uint8_t)k,
		};
		s->host[s->n] = range->host;
		s->level[0].digit[s->n] = range->slot;
		s->n++;
	}
}

static void list_dests(struct levels *l)
{
	const struct topo *t = l->g->topo;
	struct dmodk *s = l->s;

	measure_slots(l);
	s->rest = l->rest;
	for (uint32_t u = 0; u < l->g->n; u++) {
		uint32_t order = l->leaf_order[u];
		unsigned place = 0, place_apart = 0;

		s->first[u] = s->n;
		s->turn[u] = order;
		s->n_turns += !l->rank[u];
		add_dests(s, u, &(struct lid_range){
			.host = TOPO_NONE, .slot = slot_of(l, u, order % l->span),
			.base = t->switches[u].lid, .lmc = t->switches[u].lmc,
		});
		for (unsigned p = 1; p <= t->switches[u].n_ports; p++) {
			uint32_t h = topo_port(t, u, p)->host;
			unsigned *mine = is_apart(l, h) ? &place_apart : &place;

			if (h != TOPO_NONE && t->hosts[h].lid && !t->hosts[h].lmc)
				share_out(l, u, *mine);
			if (h != TOPO_NONE)
				add_dests(s, u, &(struct lid_range){
					.host = h, .slot = slot_of(l, u, *mine),
					.port = (uint8_t)p,
					.base = t->hosts[h].lid, .lmc = t->hosts[h].lmc,
				});
			*mine += topo_port(t, u, p)->sw == TOPO_NONE;
		}
	}
	s->first[l->g->n] = s->n;
}

/*
 * The index of the parent whose cable, then which itself, has the fewest destinations; `start`
 * breaks ties.
 */
static uint32_t least_used(const struct levels *l, uint32_t u, uint32_t start)
{
	uint32_t n = n_up(l, u), first = l->up_first[u], best = start;

	for (uint32_t i = 1; i < n; i++) {
		uint32_t j = (start + i) % n;
		uint32_t cable = l->via_cable[first + j], known = l->via_cable[first + best];

		if (cable > known)
			continue;
		if (cable < known || l->via_switch[l->up[first + j]] <
					     l->via_switch[l->up[first + best]])
			best = j;
	}
	return best;
}

/* Is the destination counted on its cable of this level? */
static bool is_counted(const struct levels *l, uint32_t dest, unsigned level)
{
	return l->s->host[dest] != TOPO_NONE && (level || !l->is_shared[dest]);
}

static void settle_home(struct levels *l, uint32_t dest, uint32_t u, uint32_t choice)
{
	struct dmodk *s = l->s;
	uint32_t at = l->up_first[u] + choice, home = l->up[at];
	unsigned level = s->depth[dest]++;

	l->via[dest] = at;
	if (is_counted(l, dest, level)) {
		l->via_cable[at]++;
		l->via_switch[home]++;
	}
	s->level[level].home[dest] = (uint16_t)home;
	s->level[level + 1].digit[dest] = s->level[level].digit[dest] / l->arity[u];
}

/*
 * Gives destinations a home one level up, below whole switches (by division) or broken ones (by
 * least use). Returns how many got one.
 */
static uint32_t climb_level(struct levels *l, const uint32_t *at, unsigned level, bool broken)
{
	struct dmodk *s = l->s;
	uint32_t went = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t u = at[i], n = n_up(l, u), choice;

		if (s->depth[i] != level || !n || (n != l->arity[u]) != broken)
			continue;
		choice = (s->level[level].digit[i] + s->hot[i].offset) % n;
		if (broken && s->host[i] != TOPO_NONE)
			choice = least_used(l, u, choice);
		settle_home(l, i, u, choice);
		went++;
	}
	return went;
}

/* The switch of a destination, which is a host. */
static uint32_t own_switch(const struct levels *l, uint32_t dest)
{
	return l->g->topo->hosts[l->s->host[dest]].sw;
}

/* May flows to the destination be redirected where it goes up from `u`? */
static bool may_part(const struct levels *l, uint32_t dest, uint32_t u, unsigned level)
{
	return l->s->depth[dest] > level && l->is_hurt[u] && is_counted(l, dest, level) &&
	       !l->s->has_lmc[own_switch(l, dest)];
}

/* Lists the cables up of `u` that have fewer destinations than the mean. */
static void list_spares(struct levels *l, uint32_t u, uint32_t sum, uint32_t *n_spares)
{
	uint32_t n = n_up(l, u), end = l->up_first[u + 1], room = 0;

	l->spares[u].first = *n_spares;
	for (uint32_t k = l->up_first[u]; k < end; k++)
		if (l->via_cable[k] * n < sum) {
			room += sum - l->via_cable[k] * n;
			l->s->spares[(*n_spares)++] = (struct dmodk_spare){ l->up[k], room };
		}
	l->spares[u].n = *n_spares - l->spares[u].first;
	l->spares[u].mean = (double)sum / n;
}

/*
 * Lists spare cables up of damaged switches of a rank. Returns the number of destinations that a
 * cable may have.
 */
static double find_spares(struct levels *l, uint16_t rank, uint32_t *n_spares)
{
	double most = 0, all = 0, cables = 0;

	for (uint32_t u = 0, sum = 0; u < l->g->n; u++, sum = 0) {
		if (l->rank[u] != rank || !n_up(l, u))
			continue;
		for (uint32_t k = l->up_first[u]; k < l->up_first[u + 1]; k++)
			sum += l->via_cable[k];
		all += sum;
		cables += n_up(l, u);
		if (!l->is_hurt[u])
			continue;
		list_spares(l, u, sum, n_spares);
		most = MAX(most, l->spares[u].mean);
	}
	return cables ? MAX(PARTED_TO * most, keep_bound(KEEP_EVEN, all / cables)) : 0;
}

/* Redirects flows to destinations on cables with more than the mean, until all are near it. */
static void part_crowded(struct levels *l, const uint32_t *at, unsigned level, double most)
{
	struct dmodk *s = l->s;
	uint32_t n = s->n_crowded[level];

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t u = at[i], k = l->via[i];
		double own = l->via_cable[k], fair = MAX(most, l->spares[u].mean);

		if (!may_part(l, i, u, level) || !l->spares[u].n || own <= fair)
			continue;
		s->crowded[n++] = (struct dmodk_crowded){
			.dest = i, .at = own_switch(l, i),
			.turn = k * UINT32_C(0x85EBCA77) +
				l->seen[k]++ * (UINT32_MAX / l->via_cable[k]),
			.share = (uint32_t)((own - fair) / own * UINT32_MAX),
			.first = l->spares[u].first, .n = l->spares[u].n,
		};
	}
	for (unsigned k = level + 1; k <= DMODK_LEVELS; k++)
		s->n_crowded[k] = n;
}

/*
 * Marks broken switches, and those above them; none in small fabrics, where balance finds better
 * paths.
 */
static void find_hurt(struct levels *l)
{
	for (uint16_t rank = 0; rank < DMODK_LEVELS && !keep_may_compare(l->g->topo); rank++)
		for (uint32_t u = 0; u < l->g->n; u++)
			for (uint32_t i = l->up_first[u];
			     l->rank[u] == rank && i < l->up_first[u + 1]; i++) {
				l->is_hurt[u] |= n_up(l, u) != l->arity[u];
				l->is_hurt[l->up[i]] |= l->is_hurt[u];
			}
}

static void find_homes(struct levels *l)
{
	struct dmodk *s = l->s;
	_cleanup_free_ uint32_t *at = xcalloc(s->n, sizeof(*at));
	uint32_t n_spares = 0;

	find_hurt(l);
	for (uint32_t u = 0; u < l->g->n; u++)
		for (uint32_t i = s->first[u]; i < s->first[u + 1]; i++)
			at[i] = u;
	for (unsigned level = 0; level < DMODK_LEVELS; level++) {
		uint32_t went = climb_level(l, at, level, false);

		went += climb_level(l, at, level, true);
		if (!went)
			break;
		memset(l->seen, 0, l->up_first[l->g->n] * sizeof(*l->seen));
		part_crowded(l, at, level, find_spares(l, (uint16_t)level, &n_spares));
		for (uint32_t i = 0; i < s->n; i++)
			if (s->depth[i] > level)
				at[i] = s->level[level].home[i];
	}
}

/*
 * Estimates the greatest load: end ports that are not below a switch reach it through its homes.
 * End ports are counted once per neighbour up, so slightly too many count as below if these numbers
 * differ.
 */
static void expect_load(struct levels *l)
{
	uint32_t n = l->g->n, all = 0;
	_cleanup_free_ uint32_t *below = xcalloc(n, sizeof(*below));
	_cleanup_free_ bool *stub = topo_find_stubs(l->g->topo);

	for (uint32_t u = 0; u < n; u++)
		all += below[u] = l->hosts[u];
	for (uint16_t rank = 0; rank < DMODK_LEVELS; rank++)
		for (uint32_t u = 0; u < n; u++)
			for (uint32_t i = l->up_first[u];
			     l->rank[u] == rank && i < l->up_first[u + 1]; i++)
				below[l->up[i]] = MIN(below[l->up[i]] + below[u], all);
	for (uint32_t u = 0; u < n; u++) {
		uint32_t shared = n_up(l, u) ? (l->n_shared[u] + n_up(l, u) - 1) / n_up(l, u) : 0;

		for (uint32_t i = l->up_first[u]; i < l->up_first[u + 1] && !stub[u]; i++)
			l->s->expected_load = MAX(l->s->expected_load, (l->via_cable[i] + shared) *
									       (all - below[u]));
	}
}

static void measure_homes(struct levels *l)
{
	struct dmodk *s = l->s;

	for (uint32_t u = 0; u < l->g->n; u++)
		for (uint32_t i = s->first[u]; i < s->first[u + 1]; i++)
			for (unsigned k = 0; k <= DMODK_LEVELS; k++) {
				struct dmodk_level *at = &s->level[k];

				if (k >= s->depth[i]) {
					at->home[i] = (uint16_t)u;
					continue;
				}
				/* levels are one hop apart */
				at->distance[i] = (uint16_t)(k + 1);
				if (l->g->weighted)
					at->distance[i] = distances_hops(
						l->d, distances_from(l->d, at->home[i])[u]);
				s->hot[i].home = at->home[i];
				s->hot[i].distance = at->distance[i];
			}
}

/* Computes digit modulo ports up, which diverted flows need (port_select.c), once for all rows. */
static void find_residues(struct levels *l)
{
	struct dmodk *s = l->s;

	for (uint16_t k = 1; k <= DMODK_LEVELS; k++) {
		uint32_t count[UINT8_MAX + 1] = { 0 };
		struct dmodk_level *at = &s->level[k];

		for (uint32_t u = 0; u < l->g->n; u++)
			count[l->rank[u] == k ? ports_up(l, u) : 0]++;
		for (uint16_t i = 1; i <= UINT8_MAX; i++)
			if (count[i] && (!at->modulus || count[i] > count[at->modulus]))
				at->modulus = i;
		if (!at->modulus)
			continue;
		ARENA_ARRAY(&s->memory, at->residue, s->n);
		for (uint32_t i = 0; i < s->n; i++)
			at->residue[i] =
				(uint16_t)((at->digit[i] + s->hot[i].offset) % at->modulus);
	}
}

static bool is_even(const struct dmodk *s, uint32_t a, uint32_t b)
{
	if (s->depth[a] != s->depth[b])
		return false;
	for (unsigned k = 0; k < s->depth[a]; k++)
		if (s->level[k].distance[a] != s->level[k].distance[b])
			return false;
	return true;
}

static void find_even(struct levels *l)
{
	struct dmodk *s = l->s;

	for (uint32_t u = 0; u < l->g->n; u++) {
		bool even = s->first[u] < s->first[u + 1];

		for (uint32_t i = s->first[u]; i < s->first[u + 1]; i++) {
			even = even && is_even(s, i, s->first[u]);
			s->top = MAX(s->top, s->hot[i].lid);
		}
		s->even[u] = even ? s->depth[s->first[u]] : 0;
	}
}

/* Finds the ranks, and the pods of every rank. */
static void find_levels(struct levels *l)
{
	if (l->plan && l->plan->levels) {
		memcpy(l->rank, l->plan->levels, l->g->n * sizeof(*l->rank));
		find_pods(l);
		return;
	}
	shape_leaves(l->g, l->leaf);
	/* Every round but the last adds a leaf, and none is removed. */
	for (uint32_t round = 0; round <= l->g->n; round++) {
		shape_flood(l->g, l->leaf, l->rank);
		find_pods(l);
		if (!find_sparse_leaves(l))
			return;
	}
}

static void levels_open(struct levels *l)
{
	uint32_t n = l->g->n, cables = l->g->first[n];

	ARENA_ARRAY(l->s ? &l->s->memory : &l->memory, l->rank, n);
	l->hosts = arena_keep(&l->memory, topo_count_hosts(l->g->topo));
	ARENA_ARRAYS(&l->memory, n, l->leaf, l->pod, l->joins, l->arity, l->leaf_order, l->is_hurt,
		     l->spares, l->via_switch);
	ARENA_ARRAY(&l->memory, l->n_shared, n);
	ARENA_ARRAY(&l->memory, l->pods, (size_t)n * DMODK_LEVELS);
	ARENA_ARRAY(&l->memory, l->up_first, (size_t)n + 1);
	ARENA_ARRAYS(&l->memory, cables, l->up, l->via_cable, l->seen);
}

void dmodk_levels(const struct graph *g, uint16_t *ret)
{
	struct levels l = { .g = g };

	levels_open(&l);
	find_levels(&l);
	memcpy(ret, l.rank, g->n * sizeof(*ret));
	arena_done(&l.memory);
}

struct dmodk *dmodk_new(const struct graph *g, const struct distances *d,
			  const struct dmodk_plan *plan)
{
	uint32_t n = g->n, lids = topo_count_lids(g->topo);
	struct dmodk *s = xcalloc(1, sizeof(*s));
	struct levels l = { .g = g, .d = d, .plan = plan, .s = s };

	assert(g && g->n < DISTANCE_NONE);
	levels_open(&l);
	ARENA_ARRAY(&s->memory, s->first, (size_t)n + 1);
	s->rank = l.rank;
	ARENA_ARRAYS(&s->memory, n, s->has_lmc, s->even, s->turn);
	ARENA_ARRAYS(&s->memory, lids, s->hot, s->host, s->depth, s->shared);
	ARENA_ARRAYS(&l.memory, lids, l.is_shared, l.via);
	/* not cleared: large, and unused in most fabrics */
	s->crowded = arena_keep(&s->memory,
				xmalloc((size_t)lids * DMODK_LEVELS * sizeof(*s->crowded)));
	s->spares = arena_keep(&s->memory,
			       xmalloc((size_t)g->first[n] * DMODK_LEVELS * sizeof(*s->spares)));
	for (struct dmodk_level *at = s->level; at <= &s->level[DMODK_LEVELS]; at++)
		ARENA_ARRAYS(&s->memory, lids, at->home, at->distance, at->digit);
	find_levels(&l);
	order_switches(&l);
	list_up(&l);
	find_arity(&l);
	list_dests(&l);
	find_homes(&l);
	measure_homes(&l);
	find_residues(&l);
	find_even(&l);
	expect_load(&l);
	arena_done(&l.memory);
	return s;
}

uint32_t dmodk_find_host(const struct dmodk *s, uint32_t sw, uint32_t host)
{
	if (sw == TOPO_NONE)
		return s->n;
	for (uint32_t i = s->first[sw]; i < s->first[sw + 1]; i++)
		if (s->host[i] == host)
			return i;
	return s->n;
}

ARENA_FREE(dmodk_free, struct dmodk)
