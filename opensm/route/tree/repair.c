// SPDX-License-Identifier: BSD-2-Clause
/*
 * A target is affected if with the distances of before the ends of a changed cable do not see it
 * where they should: only its column of distances can be another. In such a column every switch
 * whose distance is another, and its neighbours, look at their entries; at the ends of a cable that
 * went every entry that used it is looked at, at those of one that came every entry that could. An
 * entry that still leads nearer stays, unless homes want a path that was none before. The others go
 * where homes of today say, else to the port that is used least.
 *
 * End ports that went leave their entries behind; for those that came the entries of all switches
 * are looked at.
 */
#include "route/tree/repair.h"

#include <assert.h>
#include <string.h>

#include "route/core/unassigned.h"
#include "route/proof/keep_policy.h"
#include "util/mem.h"

#define PORTS 256
#define FAR (DISTANCE_DOWN - 1u)

/* A cable that went or came, seen from one of its ends. */
struct cable_end {
	uint32_t sw, to;
	uint8_t port;
	bool came;
};

struct repair {
	const struct route_job *job;
	const struct fill_plan *how;
	const struct routes *before;
	const struct graph *g;
	struct routes *r;
	struct dmodk *spread;
	struct cable_end ends[2 * KEEP_REPAIR_CABLES];
	uint32_t n_ends;
	bool gains;			  /* a cable came */
	uint32_t came[KEEP_REPAIR_HOSTS];	  /* hosts */
	uint32_t n_came;
	uint32_t targets[KEEP_REPAIR_TARGETS];
	uint32_t n_targets;
	uint32_t *column;                 /* per switch: index in targets, or TOPO_NONE */
	struct distances *some;           /* of targets */
	/* per switch: last round in which it looked at its entries */
	uint32_t *looked;
	/* per switch: destinations per port; NULL: not counted yet */
	uint32_t **counts;
	struct waiting {
		uint32_t sw, dest, at;
	/* entries that may stay, and go to paths that came back if that is even */
	} *waiting;
	size_t n_waiting, cap_waiting;
	struct arena memory;
};

static void repair_done(struct repair *p)
{
	routes_unref(p->r);
	dmodk_free(p->spread);
	distances_free(p->some);
	free(p->waiting);
	arena_done(&p->memory);
}

static bool may_repair(const struct route_job *job, const struct fill_plan *how)
{
	const struct route_options *o = &job->options;
	const struct routes *before = job->previous;
	const struct topo *t = job->topo;

	if (!before || !before->hops || before->options != fill_options(how, o) ||
	    !before->expected_load)
		return false;
	if (how->graph->weighted || o->n_order || o->n_ignore || o->scatter_seed ||
	    o->count_switches || o->port_shifting)
		return false;
	if (t->n_switches != before->topo->n_switches)
		return false;
	if (how->tree && (!before->places || memcmp(before->places, how->tree->place,
						    t->n_switches * sizeof(*before->places)) != 0))
		return false;
	return t->max_lid < before->row_size;
}

static bool is_same_switch(const struct topo_switch *a, const struct topo_switch *b)
{
	return a->guid == b->guid && a->sysimg_guid == b->sysimg_guid && a->n_ports == b->n_ports &&
	       a->lid == b->lid && a->lmc == b->lmc && a->lft_cap == b->lft_cap;
}

static bool is_same_host(const struct topo_host *a, const struct topo_host *b)
{
	return a->guid == b->guid && a->sw == b->sw && a->sw_port == b->sw_port &&
	       a->lid == b->lid && a->lmc == b->lmc;
}

/* One that came, or is elsewhere. */
static bool note_came(struct repair *p, uint32_t host)
{
	const struct topo_host *h = &p->job->topo->hosts[host];

	if (h->lmc)
		return false;
	if (h->sw == TOPO_NONE || !h->lid)
		return true;
	if (p->n_came == KEEP_REPAIR_HOSTS)
		return false;
	p->came[p->n_came++] = host;
	return true;
}

/* Hosts that came; their LIDs were unassigned. Hosts are in the order of their GUIDs. */
static bool find_hosts(struct repair *p)
{
	const struct topo *now = p->job->topo, *was = p->before->topo;
	_cleanup_free_ uint32_t *at = NULL;
	uint32_t b = 0;

	for (uint32_t h = 0; h < now->n_hosts; h++) {
		while (b < was->n_hosts && was->hosts[b].guid < now->hosts[h].guid)
			b++;
		if (b < was->n_hosts && is_same_host(&now->hosts[h], &was->hosts[b]) &&
		    !now->hosts[h].lmc)
			continue;
		if (!note_came(p, h))
			return false;
	}
	if (!p->n_came)
		return true;
	at = unassigned_owners(was, was->max_lid);
	for (uint32_t i = 0; i < p->n_came; i++)
		if (now->hosts[p->came[i]].lid <= was->max_lid &&
		    at[now->hosts[p->came[i]].lid] != TOPO_NONE)
			return false;
	return true;
}

static bool note_end(struct repair *p, uint32_t sw, unsigned port, uint32_t to, bool came)
{
	if (p->n_ends == ARRAY_SIZE(p->ends))
		return false;
	p->gains |= came;
	p->ends[p->n_ends++] =
		(struct cable_end){ .sw = sw, .to = to, .port = (uint8_t)port, .came = came };
	return true;
}

static bool compare_port(struct repair *p, uint32_t sw, unsigned port)
{
	const struct topo_port *a = topo_port(p->job->topo, sw, port),
			       *b = topo_port(p->before->topo, sw, port);

	if (topo_port_loops(a) || topo_port_loops(b))
		return a->port == b->port && topo_port_loops(a) == topo_port_loops(b);
	if (a->sw == b->sw && (a->sw == TOPO_NONE || a->port == b->port))
		return true;
	return (b->sw == TOPO_NONE || note_end(p, sw, port, b->sw, false)) &&
	       (a->sw == TOPO_NONE || note_end(p, sw, port, a->sw, true));
}

/* Lists the cables and end ports that differ. False: something else does, too. */
static bool find_differences(struct repair *p)
{
	const struct topo *now = p->job->topo, *was = p->before->topo;

	for (uint32_t s = 0; s < now->n_switches; s++) {
		if (!is_same_switch(&now->switches[s], &was->switches[s]) || now->switches[s].lmc)
			return false;
		for (unsigned port = 1; port <= now->switches[s].n_ports; port++)
			if (!compare_port(p, s, port))
				return false;
	}
	return find_hosts(p);
}

/* ---- distances --------------------------------------------------------------------------- */

static uint16_t old_distance(const struct repair *p, uint32_t from, uint32_t to)
{
	const struct routes *b = p->before;
	uint32_t n = p->g->n;
	uint8_t hops = b->hops[(size_t)to * n + from];
	bool down;

	if (hops == 0xFF)
		return DISTANCE_NONE;
	if (!b->downs)
		return hops;
	down = b->downs[(size_t)to * ((n + 63) / 64) + from / 64] >> from % 64 & 1;
	return hops | (down ? DISTANCE_DOWN : DISTANCE_UP);
}

static uint16_t distance_now(const struct repair *p, uint32_t from, uint32_t to)
{
	if (p->column[to] != TOPO_NONE)
		return distances_from(p->some, from)[p->column[to]];
	return old_distance(p, from, to);
}

static bool is_on_path(const struct repair *p, uint32_t from, const struct graph_group *group,
		   uint32_t to)
{
	return graph_near(group, distance_now(p, group->to, to)) == distance_now(p, from, to);
}

/*
 * Hops of going down from `from` to all switches, over the cables of `t`; FAR: no path. `queue` is
 * work space, of as many switches as there are.
 */
static void go_down(const struct repair *p, const struct topo *t, uint32_t from, uint16_t *ret,
		    uint32_t *queue)
{
	const uint32_t *place = p->how->tree->place;
	uint32_t tail = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		ret[s] = FAR;
	ret[from] = 0;
	queue[tail++] = from;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t u = queue[head];

		for (unsigned k = 1; k <= t->switches[u].n_ports; k++) {
			uint32_t v = topo_port(t, u, k)->sw;

			if (v == TOPO_NONE || place[v] < place[u] || ret[v] != FAR)
				continue;
			ret[v] = (uint16_t)(ret[u] + 1);
			queue[tail++] = v;
		}
	}
}

/*
 * With the distances of before, what is that of `from` to `to`, which is `down` hops further down
 * (tree.c)?
 */
static uint16_t updown_distance(const struct repair *p, uint32_t from, uint32_t to, uint16_t down)
{
	uint16_t up = FAR;
	bool relied = false;

	for (uint32_t i = p->g->first[from]; i < p->g->first[from + 1]; i++) {
		uint16_t there = old_distance(p, p->g->groups[i].to, to),
			 over = (uint16_t)((there & FAR) + 1);

		if (p->g->groups[i].way != GRAPH_UP)
			continue;
		up = MIN(up, over);
		relied |= there == ((down + 1u) | DISTANCE_DOWN);
	}
	if (down < FAR && (relied || down <= up))
		return down | DISTANCE_DOWN;
	return up < FAR ? up | DISTANCE_UP : DISTANCE_NONE;
}

/* The same without ups and downs. */
static uint16_t least_distance(const struct repair *p, uint32_t from, uint32_t to)
{
	uint16_t least = DISTANCE_NONE;

	for (uint32_t i = p->g->first[from]; i < p->g->first[from + 1]; i++) {
		uint16_t there = old_distance(p, p->g->groups[i].to, to);

		if (there != DISTANCE_NONE)
			least = MIN(least, graph_near(&p->g->groups[i], there));
	}
	return least;
}

static bool add_target(struct repair *p, uint32_t to)
{
	if (p->column[to] != TOPO_NONE)
		return true;
	if (p->n_targets == KEEP_REPAIR_TARGETS)
		return false;
	p->column[to] = p->n_targets;
	p->targets[p->n_targets++] = to;
	return true;
}

/*
 * Distances are exact in all columns in which, of every changed cable, the higher end goes down as
 * far and the lower one is as far.
 */
static bool find_updown_targets(struct repair *p, const struct cable_end *end)
{
	const uint32_t *place = p->how->tree->place;
	uint32_t n = p->g->n, from = end->sw;
	_cleanup_free_ uint16_t *now = xmalloc(n * sizeof(*now));
	_cleanup_free_ uint16_t *was = xmalloc(n * sizeof(*was));
	_cleanup_free_ uint32_t *queue = xmalloc(n * sizeof(*queue));
	bool higher = place[from] < place[end->to];

	go_down(p, p->job->topo, from, now, queue);
	if (higher)
		go_down(p, p->before->topo, from, was, queue);
	for (uint32_t to = 0; to < n; to++)
		if (to != from &&
		    (higher ? now[to] != was[to]
			    : updown_distance(p, from, to, now[to]) != old_distance(p, from, to)) &&
		    !add_target(p, to))
			return false;
	return true;
}

/* False: too many. */
static bool find_targets(struct repair *p)
{
	uint32_t n = p->g->n;

	memset(p->column, 0xFF, n * sizeof(*p->column));
	for (uint32_t i = 0; i < p->n_ends; i++) {
		uint32_t from = p->ends[i].sw;

		for (uint32_t to = 0; to < n; to++)
			if (p->before->hops[(size_t)to * n + from] == 0xFE)
				return false;
		if (p->how->tree) {
			if (!find_updown_targets(p, &p->ends[i]))
				return false;
			continue;
		}
		for (uint32_t to = 0; to < n; to++)
			if (to != from &&
			    least_distance(p, from, to) != old_distance(p, from, to) &&
			    !add_target(p, to))
				return false;
	}
	return p->n_targets * KEEP_REPAIR_SHARE <= MAX(n, 256u);
}

static bool find_distances(struct repair *p)
{
	if (!p->n_targets)
		return true;
	p->some = p->how->tree ? tree_distances_some(p->how->tree, p->g, p->targets, p->n_targets)
			       : distances_some(p->g, p->targets, p->n_targets);
	for (uint32_t s = 0; s < p->g->n; s++)
		for (uint32_t i = 0; i < p->n_targets; i++) {
			uint16_t far = distances_hops(p->some, distances_from(p->some, s)[i]);

			if (far >= 0xFE && far != DISTANCE_NONE)
				return false;
		}
	return true;
}

/* ---- entries ----------------------------------------------------------------------------- */

static const struct graph_group *group_of(const struct repair *p, uint32_t sw, uint8_t port)
{
	uint32_t group;

	if (!port || port > p->g->topo->switches[sw].n_ports)
		return NULL;
	group = graph_find(p->g, sw, topo_port(p->g->topo, sw, port)->sw);
	return group != TOPO_NONE ? &p->g->groups[group] : NULL;
}

static uint32_t *count_row(struct repair *p, uint32_t sw)
{
	const struct dmodk *s = p->spread;
	uint32_t *count = p->counts[sw];

	if (count)
		return count;
	count = ARENA_ARRAY(&p->memory, p->counts[sw], PORTS);
	for (uint32_t i = 0; i < s->n; i++)
		count[routes_port(p->r, sw, s->hot[i].lid)] += s->hot[i].port != 0;
	return count;
}

/* Groups of `sw` that are on shortest paths to `to`. */
struct choice {
	const struct graph_group *groups[PORTS];
	unsigned n, n_ports;
};

static void list_groups(const struct repair *p, uint32_t sw, uint32_t to, struct choice *ret)
{
	ret->n = ret->n_ports = 0;
	for (uint32_t i = p->g->first[sw]; i < p->g->first[sw + 1]; i++)
		if (is_on_path(p, sw, &p->g->groups[i], to)) {
			ret->groups[ret->n++] = &p->g->groups[i];
			ret->n_ports += p->g->groups[i].n_ports;
		}
}

static uint8_t port_of(const struct repair *p, const struct choice *c, unsigned number)
{
	assert(number < c->n_ports);
	for (unsigned i = 0; i < c->n; i++) {
		if (number < c->groups[i]->n_ports)
			return p->g->ports[c->groups[i]->first_port + number];
		number -= c->groups[i]->n_ports;
	}
	return LFT_NO_PORT; /* n_ports is their sum */
}

/* Every path to the home goes on to `at`. */
static bool goes_on(const struct repair *p, uint32_t sw, const struct choice *home, uint32_t at)
{
	for (unsigned i = 0; p->how->tree && i < home->n; i++)
		if (!is_on_path(p, sw, home->groups[i], at))
			return false;
	return home->n;
}

/* Groups towards the highest home on a path; the home, or `at`. As in port_select.c. */
static uint32_t find_waypoint(const struct repair *p, uint32_t sw, uint32_t dest, uint32_t at,
			      struct choice *ret)
{
	const struct dmodk *s = p->spread;
	uint16_t far = distance_now(p, sw, at);

	for (unsigned k = s->hot[dest].port ? s->depth[dest] : 0; k-- > 0;) {
		uint32_t home = s->level[k].home[dest];

		if (home == sw || distance_now(p, sw, home) + s->level[k].distance[dest] != far)
			continue;
		list_groups(p, sw, home, ret);
		if (goes_on(p, sw, ret, at))
			return home;
	}
	list_groups(p, sw, at, ret);
	return at;
}

static bool leads_up(const struct repair *p, uint32_t sw, const struct graph_group *group)
{
	return p->how->tree ? group->way == GRAPH_UP
			    : p->spread->rank[group->to] == p->spread->rank[sw] + 1u;
}

/* The same for switches whose LIDs of switches go alike (place_via()). */
static uint32_t via_of(const struct repair *p, uint32_t sw)
{
	for (uint32_t i = p->g->first[sw]; i < p->g->first[sw + 1]; i++)
		if (leads_up(p, sw, &p->g->groups[i]))
			return p->g->groups[i].to;
	return 0;
}

/* For the LID of a switch (port_select.c). */
static uint8_t any_port(const struct repair *p, uint32_t sw, uint32_t slot, const struct choice *c)
{
	const struct graph_group *way;

	assert(c->n > 0);
	way = c->groups[dmodk_any(slot, via_of(p, sw), c->n)];
	return p->g->ports[way->first_port + slot % way->n_ports];
}

/* 0: it must be counted. */
static uint8_t closed_form(const struct repair *p, uint32_t sw, uint32_t dest, uint32_t at,
			   uint32_t target, const struct choice *c)
{
	const struct dmodk *s = p->spread;
	unsigned here = s->rank[sw], there = s->rank[c->groups[0]->to], depth = s->depth[dest];

	if (c->n_ports == 1)
		return port_of(p, c, 0);
	if (c->n == 1)
		return here == there ? 0
				     : port_of(p, c,
					       s->level[MIN(MAX(here, there), depth)].digit[dest] %
						       c->n_ports);
	if (!s->hot[dest].port)
		return any_port(p, sw, s->level[0].digit[dest], c);
	if (target == at && here && here < depth)
		return port_of(p, c, s->level[here].digit[dest] % c->n_ports);
	return 0;
}

/* Was leaving through the port no shortest path before? */
static bool is_new_path(const struct repair *p, uint32_t sw, uint8_t port, uint32_t at)
{
	const struct topo_port *now = topo_port(p->g->topo, sw, port),
			       *was = topo_port(p->before->topo, sw, port);
	const uint8_t *hops = p->before->hops + (size_t)at * p->g->n;

	return was->sw != now->sw || was->port != now->port || hops[now->sw] + 1 != hops[sw];
}

/* By counting. An entry that may stay leaves for a new path alone, and if that makes it even. */
static uint8_t choose_by_count(struct repair *p, uint32_t sw, uint32_t dest, uint32_t at,
			       const struct choice *c, uint8_t stay)
{
	const uint32_t *count = count_row(p, sw);
	uint32_t start = p->spread->level[0].digit[dest],
		 least = stay ? count[stay] - 1 : UINT32_MAX;
	uint8_t best = stay;

	if (stay && !p->spread->hot[dest].port)
		return stay;
	for (unsigned i = 0; i < c->n_ports; i++) {
		uint8_t port = port_of(p, c, (start + i) % c->n_ports);

		if (count[port] >= least || (stay && !is_new_path(p, sw, port, at)))
			continue;
		best = port;
		least = count[best];
	}
	return best;
}

/* `stay` is the port that the entry has if that will do, or 0. */
static uint8_t choose_port(struct repair *p, uint32_t sw, uint32_t dest, uint32_t at, uint8_t stay)
{
	struct choice c;
	uint32_t target = find_waypoint(p, sw, dest, at, &c);
	uint8_t port;

	if (!c.n)
		return LFT_NO_PORT;
	port = closed_form(p, sw, dest, at, target, &c);
	if (!port && !stay)
		return choose_by_count(p, sw, dest, at, &c, 0);
	if (!port) {
		GROW(p->waiting, p->n_waiting + 1, p->cap_waiting);
		p->waiting[p->n_waiting++] = (struct waiting){ sw, dest, at };
		return stay;
	}
	return stay && !is_new_path(p, sw, port, at) ? stay : port;
}

static void write_entry(struct repair *p, uint32_t sw, uint32_t dest, uint8_t port)
{
	lid_t lid = p->spread->hot[dest].lid;
	uint8_t old = routes_port(p->r, sw, lid);

	if (p->counts[sw] && p->spread->hot[dest].port) {
		p->counts[sw][old]--;
		p->counts[sw][port]++;
	}
	routes_write(p->r, sw, lid, port);
}

/* Destination `dest` on `at`: keeps its port, or gets another one. */
static void look_at_entry(struct repair *p, uint32_t sw, uint32_t dest, uint32_t at)
{
	lid_t lid = p->spread->hot[dest].lid;
	uint8_t old = routes_port(p->r, sw, lid), stay;
	const struct graph_group *group = group_of(p, sw, old);

	if (lid >= p->g->topo->switches[sw].lft_cap)
		return;
	stay = sw != at && group && is_on_path(p, sw, group, at) ? old : 0;
	if (sw == at)
		write_entry(p, sw, dest, p->spread->hot[dest].port);
	else if (distance_now(p, sw, at) == DISTANCE_NONE)
		write_entry(p, sw, dest, LFT_NO_PORT);
	else if (!stay || p->gains)
		write_entry(p, sw, dest, choose_port(p, sw, dest, at, stay));
}

static void look_all(struct repair *p, uint32_t sw, uint32_t at, uint32_t round)
{
	if (p->looked[sw] == round)
		return;
	p->looked[sw] = round;
	for (uint32_t i = p->spread->first[at]; i < p->spread->first[at + 1]; i++)
		look_at_entry(p, sw, i, at);
}

/*
 * Switches with another distance to an affected target, and their neighbours. Writes the new hops.
 */
static void mend_column(struct repair *p, uint32_t i)
{
	uint32_t n = p->g->n, at = p->targets[i];
	uint8_t *hops = p->r->hops + (size_t)at * n;
	uint64_t *downs = p->r->downs ? p->r->downs + (size_t)at * ((n + 63) / 64) : NULL;

	for (uint32_t s = 0; s < n; s++) {
		uint16_t now = distances_from(p->some, s)[i];
		uint64_t bit = UINT64_C(1) << s % 64;

		if (now == old_distance(p, s, at))
			continue;
		hops[s] = now == DISTANCE_NONE ? 0xFF : (uint8_t)distances_hops(p->some, now);
		if (downs)
			downs[s / 64] = now != DISTANCE_NONE && now & DISTANCE_DOWN
						? downs[s / 64] | bit
						: downs[s / 64] & ~bit;
		look_all(p, s, at, i + 1);
		for (uint32_t k = p->g->first[s]; k < p->g->first[s + 1]; k++)
			look_all(p, p->g->groups[k].to, at, i + 1);
	}
}

/* The entries of this end that used the cable. */
static void mend_row(struct repair *p, uint32_t sw, uint8_t port)
{
	const uint8_t *row = routes_row(p->r, sw);
	const struct dmodk *s = p->spread;

	for (uint32_t at = 0; at < p->g->n; at++)
		for (uint32_t i = s->first[at]; i < s->first[at + 1]; i++)
			if (s->hot[i].lid <= p->r->top && row[s->hot[i].lid] == port)
				look_at_entry(p, sw, i, at);
}

/* Do homes, from the highest on, want another neighbour? */
static bool is_wanted(const struct repair *p, uint32_t sw, uint32_t dest, uint16_t far,
		      const bool *leads)
{
	const struct dmodk *s = p->spread;

	for (unsigned k = s->depth[dest]; k-- > 0;) {
		uint32_t home = s->level[k].home[dest];

		if (leads[home])
			return true;
		if (home != sw && distance_now(p, sw, home) + s->level[k].distance[dest] == far)
			return false;
	}
	return true;
}

/* The entries of this end that could use the cable. */
static void offer_row(struct repair *p, uint32_t sw, uint8_t port)
{
	const struct graph_group *group = group_of(p, sw, port);
	const struct dmodk *s = p->spread;
	_cleanup_free_ bool *leads = xcalloc(p->g->n, sizeof(*leads));

	for (uint32_t at = 0; at < p->g->n; at++)
		leads[at] = at != sw && is_on_path(p, sw, group, at);
	for (uint32_t at = 0; at < p->g->n; at++) {
		uint16_t far = distance_now(p, sw, at);

		for (uint32_t i = s->first[at]; leads[at] && i < s->first[at + 1]; i++)
			if (!s->hot[i].port || is_wanted(p, sw, i, far, leads))
				look_at_entry(p, sw, i, at);
	}
}

/* An entry over the cable, of an unassigned LID, must not lead round. */
static void open_loops(struct repair *p, uint32_t sw, uint8_t port)
{
	const struct topo *t = p->g->topo;

	for (uint32_t lid = 1; lid <= p->r->top; lid++) {
		uint32_t at = sw;
		uint8_t out = routes_port(p->r, sw, (lid_t)lid);

		for (uint32_t hops = 0; out == port && hops <= t->n_switches; hops++) {
			uint8_t next = routes_port(p->r, at, (lid_t)lid);

			if (!next || next > t->switches[at].n_ports ||
			    topo_port(t, at, next)->sw == TOPO_NONE)
				break;
			at = topo_port(t, at, next)->sw;
			if (at != sw)
				continue;
			routes_write(p->r, sw, (lid_t)lid, LFT_NO_PORT);
			break;
		}
	}
}

/* All entries of an end port that came. What is there may stay where it fits. */
static void add_host(struct repair *p, uint32_t host)
{
	uint32_t at = p->g->topo->hosts[host].sw, dest = dmodk_find_host(p->spread, at, host);

	for (uint32_t s = 0; s < p->g->n && dest < p->spread->n; s++)
		look_at_entry(p, s, dest, at);
}

/* When all others are where they belong. */
static void give_back(struct repair *p, const struct waiting *w)
{
	struct choice c;
	uint8_t old = routes_port(p->r, w->sw, p->spread->hot[w->dest].lid);

	find_waypoint(p, w->sw, w->dest, w->at, &c);
	write_entry(p, w->sw, w->dest, choose_by_count(p, w->sw, w->dest, w->at, &c, old));
}

static void mend_tables(struct repair *p)
{
	for (uint32_t i = 0; i < p->n_ends; i++) {
		if (p->ends[i].came)
			offer_row(p, p->ends[i].sw, p->ends[i].port);
		else
			mend_row(p, p->ends[i].sw, p->ends[i].port);
	}
	for (uint32_t i = 0; i < p->n_targets; i++)
		mend_column(p, i);
	for (uint32_t i = 0; i < p->n_came; i++)
		add_host(p, p->came[i]);
	for (size_t i = 0; i < p->n_waiting; i++)
		give_back(p, &p->waiting[i]);
	for (uint32_t i = 0; i < p->n_ends; i++)
		if (p->ends[i].came)
			open_loops(p, p->ends[i].sw, p->ends[i].port);
}

/* NULL: too much happened. */
static struct routes *repair_tables(const struct route_job *job, const struct fill_plan *how)
{
	_cleanup_(repair_done) struct repair p = {
		.job = job, .how = how, .before = job->previous, .g = how->graph,
	};
	uint32_t n = how->graph->n;

	assert(job->topo == how->graph->topo);
	if (!may_repair(job, how) || !find_differences(&p))
		return NULL;
	ARENA_ARRAY(&p.memory, p.column, n);
	ARENA_ARRAY(&p.memory, p.looked, n);
	ARENA_ARRAY(&p.memory, p.counts, n);
	if (!find_targets(&p) || !find_distances(&p))
		return NULL;
	p.spread = dmodk_new(how->graph, NULL, &how->spread);
	if (fill_is_flat(job, how, p.spread))
		return NULL;
	p.r = routes_derive(job->topo, job->previous);
	p.r->hops = xmemdup(p.before->hops, (size_t)n * n);
	if (p.before->downs)
		p.r->downs =
			xmemdup(p.before->downs, (size_t)n * ((n + 63) / 64) * sizeof(*p.r->downs));
	if (how->tree)
		p.r->places = xmemdup(how->tree->place, n * sizeof(*p.r->places));
	p.r->options = p.before->options;
	p.r->expected_load = p.spread->expected_load;
	p.r->top = MAX(p.r->top, job->topo->max_lid);
	mend_tables(&p);
	return take(p.r);
}

struct routes *repair_or_fill(const struct route_job *job, const struct fill_plan *plan)
{
	_cleanup_(distances_freep) struct distances *d = NULL;
	struct fill_plan how = *plan;
	struct routes *r = repair_tables(job, plan);

	if (r)
		return r;
	if (plan->tree)
		d = tree_distances(plan->tree, plan->graph, route_threads(job), job->cancelled);
	else
		d = distances_new(plan->graph, route_threads(job), job->cancelled);
	how.distances = d;
	return d ? fill_tables(job, &how) : NULL;
}
