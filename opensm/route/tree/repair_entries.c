// SPDX-License-Identifier: BSD-2-Clause
/* Which entries look for another port, and which they find. */
#include "route/tree/repair_internal.h"
#include "route/tree/port_select.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"

#define PORTS	256
#define CHOICES 64 /* of the last ones */

static bool is_on_path(const struct repair *p, uint32_t from, const struct graph_group *group,
		       uint32_t to)
{
	return graph_is_path(graph_near(group, repair_distance(p, group->to, to)),
			     repair_distance(p, from, to));
}

/* Without ups and downs it is as far from `to`: such distances lie together. */
static uint16_t distance_in_row(const struct repair *p, uint32_t from, uint32_t to)
{
	return p->downs ? repair_distance(p, from, to) : repair_distance(p, to, from);
}

/* A row lies scattered: for many questions about the same switch it is copied. */
static void copy_row(struct repair *p, uint32_t sw)
{
	for (uint32_t to = 0; to < p->g->n; to++)
		p->row[to] = distance_in_row(p, sw, to);
	p->row_of = sw;
}

static uint16_t distance_from(const struct repair *p, uint32_t sw, uint32_t to)
{
	return p->row_of == sw ? p->row[to] : repair_distance(p, sw, to);
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

/* Groups of `sw` that are on shortest paths to `to`, and their ports. */
struct repair_choice {
	uint32_t sw, to;
	uint16_t far;
	const struct graph_group *groups[PORTS];
	uint8_t ports[PORTS];
	unsigned n, n_ports;
};

static void add_group(const struct repair *p, struct repair_choice *c,
		      const struct graph_group *group)
{
	assert(c->n_ports + group->n_ports < PORTS);
	c->groups[c->n++] = group;
	for (unsigned k = 0; k < group->n_ports; k++)
		c->ports[c->n_ports++] = p->g->ports[group->first_port + k];
}

/* Next to a neighbour there is no other. */
static void list_groups(const struct repair *p, struct repair_choice *c)
{
	uint32_t first = p->g->first[c->sw], end = p->g->first[c->sw + 1];
	bool in_row = p->row_of == c->sw;

	c->far = distance_from(p, c->sw, c->to);
	c->n = c->n_ports = 0;
	if (c->far != DISTANCE_NONE && (c->far & (DISTANCE_DOWN - 1)) == 1) {
		first = graph_find(p->g, c->sw, c->to);
		end = first + 1;
	}
	for (uint32_t i = first; i < end; i++) {
		const struct graph_group *group = &p->g->groups[i];
		uint16_t there = in_row ? distance_in_row(p, group->to, c->to)
					: repair_distance(p, group->to, c->to);

		if (graph_is_path(graph_near(group, there), c->far))
			add_group(p, c, group);
	}
}

/* Destinations on one switch, and those with the same home, follow each other. */
static const struct repair_choice *choice_of(const struct repair *p, uint32_t sw, uint32_t to)
{
	struct repair_choice *c = &p->choices[to % CHOICES];

	if (c->sw == sw && c->to == to)
		return c;
	c->sw = sw;
	c->to = to;
	list_groups(p, c);
	return c;
}

/* Every path to the home goes on to `at`. */
static bool goes_on(const struct repair *p, uint32_t sw, const struct repair_choice *home,
		    uint32_t at)
{
	for (unsigned i = 0; p->how->tree && i < home->n; i++)
		if (!is_on_path(p, sw, home->groups[i], at))
			return false;
	return home->n;
}

/* Is a home, `more` from its destination, on a path? */
static bool leads_on(const struct repair *p, uint32_t sw, uint32_t home, uint16_t more,
		     uint16_t far)
{
	return graph_is_path((uint16_t)(distance_from(p, sw, home) + more), far);
}

/* Groups towards the highest home on a path, or towards `at`. As in port_select.c. */
static const struct repair_choice *find_waypoint(const struct repair *p, uint32_t sw, uint32_t dest,
						 uint32_t at)
{
	const struct dmodk *s = p->spread;
	uint16_t far = distance_from(p, sw, at);

	for (unsigned k = s->hot[dest].port ? s->depth[dest] : 0; k-- > 0;) {
		uint32_t home = s->level[k].home[dest];
		const struct repair_choice *c;

		if (home == sw || !leads_on(p, sw, home, s->level[k].distance[dest], far))
			continue;
		c = choice_of(p, sw, home);
		if (goes_on(p, sw, c, at))
			return c;
	}
	return choice_of(p, sw, at);
}

/* The first neighbour up, as for switches whose LIDs of switches go alike (place_via()). */
static uint32_t via_of(const struct repair *p, uint32_t sw)
{
	GRAPH_EACH(p->g, sw, group)
		if (dmodk_leads_up(p->spread, p->how->tree, sw, group))
			return group->to;
	return 0;
}

/* For the LID of a switch (port_select.c). */
static uint8_t any_port(const struct repair *p, uint32_t slot, const struct repair_choice *c)
{
	const struct graph_group *way;

	assert(c->n > 0);
	way = c->groups[dmodk_any(slot, via_of(p, c->sw), c->n)];
	return p->g->ports[way->first_port + slot % way->n_ports];
}

/* 0: it must be counted. */
static uint8_t closed_form(const struct repair *p, uint32_t dest, uint32_t at,
			   const struct repair_choice *c)
{
	const struct dmodk *s = p->spread;
	unsigned here = s->rank[c->sw], there = s->rank[c->groups[0]->to], depth = s->depth[dest];

	if (c->n_ports == 1)
		return c->ports[0];
	if (c->n == 1)
		return here == there ? 0
				     : c->ports[s->level[MIN(MAX(here, there), depth)].digit[dest] %
						c->n_ports];
	if (!s->hot[dest].port)
		return any_port(p, s->level[0].digit[dest], c);
	if (c->to == at && here && here < depth)
		return c->ports[s->level[here].digit[dest] % c->n_ports];
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
			       const struct repair_choice *c, uint8_t stay)
{
	const uint32_t *count = count_row(p, sw);
	uint32_t start = p->spread->level[0].digit[dest],
		 least = stay ? count[stay] - 1 : UINT32_MAX;
	uint8_t best = stay;

	if (stay && !p->spread->hot[dest].port)
		return stay;
	for (unsigned i = 0; i < c->n_ports; i++) {
		uint8_t port = c->ports[(start + i) % c->n_ports];

		if (count[port] >= least || (stay && !is_new_path(p, sw, port, at)))
			continue;
		best = port;
		least = count[best];
	}
	return best;
}

/*
 * What came through one cable is spread over all ports that are left, of each switch beginning with
 * another: homes would send most of it through one cable of the next level, which then carries
 * twice as much.
 */
static uint8_t diverted_port(struct repair *p, const struct repair_choice *c)
{
	uint32_t first = dmodk_any(c->sw, 0, c->n_ports);

	return c->ports[(first + p->turns[c->sw]++) % c->n_ports];
}

/* `stay` is the port that the entry has if that will do, or 0. */
static uint8_t choose_port(struct repair *p, uint32_t sw, uint32_t dest, uint32_t at, uint8_t stay)
{
	bool diverts = p->diverts && !stay && p->spread->hot[dest].port;
	const struct repair_choice *c =
		diverts ? choice_of(p, sw, at) : find_waypoint(p, sw, dest, at);
	uint8_t port;

	if (!c->n)
		return LFT_NO_PORT;
	if (diverts)
		return diverted_port(p, c);
	port = closed_form(p, dest, at, c);
	if (!port && !stay)
		return choose_by_count(p, sw, dest, at, c, 0);
	if (!port) {
		APPEND(p->waiting, p->n_waiting, p->cap_waiting) = (struct waiting){ sw, dest, at };
		return stay;
	}
	return port != stay && stay && !is_new_path(p, sw, port, at) ? stay : port;
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

/* Does the port lead nearer? */
static bool may_stay(const struct repair *p, uint32_t sw, uint8_t port, uint32_t at)
{
	const struct tree *tree = p->how->tree;
	struct graph_group over = { .weight = 1 };

	over.to = topo_behind(p->g->topo, sw, port);
	if (over.to == TOPO_NONE)
		return false;
	if (tree)
		over.way = tree->place[over.to] < tree->place[sw] ? GRAPH_UP : GRAPH_DOWN;
	return is_on_path(p, sw, &over, at);
}

/* Destination `dest` on `at`: keeps its port, or gets another one. */
static void look_at_entry(struct repair *p, uint32_t sw, uint32_t dest, uint32_t at)
{
	lid_t lid = p->spread->hot[dest].lid;
	uint8_t old = routes_port(p->r, sw, lid), stay;

	if (lid >= p->g->topo->switches[sw].lft_cap)
		return;
	stay = sw != at && may_stay(p, sw, old, at) ? old : 0;
	if (sw == at)
		write_entry(p, sw, dest, p->spread->hot[dest].port);
	else if (repair_distance(p, sw, at) == DISTANCE_NONE)
		write_entry(p, sw, dest, LFT_NO_PORT);
	else if (!stay || p->gains)
		write_entry(p, sw, dest, choose_port(p, sw, dest, at, stay));
}

/* It is there only for the sake of numbers: it forwards nothing. */
static bool is_absent(const struct repair *p, uint32_t sw)
{
	return p->lone[sw] == LONE_GONE && !p->g->topo->switches[sw].lid;
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

static bool leads_over(const struct repair *p, uint32_t sw, const struct graph_group *group,
		       uint32_t to)
{
	return to != sw &&
	       graph_is_path(graph_near(group, distance_in_row(p, group->to, to)),
			     distance_from(p, sw, to));
}

/* Do homes, highest first, want the neighbour? leads[switch]: by a shortest path; NULL: unknown. */
static bool is_wanted(const struct repair *p, uint32_t sw, uint32_t dest, uint16_t far,
		      const struct graph_group *group, const bool *leads)
{
	const struct dmodk *s = p->spread;

	for (unsigned k = s->depth[dest]; k-- > 0;) {
		uint32_t home = s->level[k].home[dest];

		if (leads ? leads[home] : leads_over(p, sw, group, home))
			return true;
		if (home != sw && leads_on(p, sw, home, s->level[k].distance[dest], far))
			return false;
	}
	return true;
}

/* The entries of this end that could use the cable. */
static void offer_row(struct repair *p, uint32_t sw, uint8_t port)
{
	uint32_t to = topo_port(p->g->topo, sw, port)->sw;
	const struct graph_group *group = graph_edge(p->g, sw, to);
	const struct dmodk *s = p->spread;
	_cleanup_free_ bool *leads = xcalloc(p->g->n, sizeof(*leads));

	if (p->row_of != sw)
		copy_row(p, sw);
	for (uint32_t at = 0; at < p->g->n; at++)
		leads[at] = leads_over(p, sw, group, at);
	for (uint32_t at = 0; at < p->g->n; at++) {
		uint16_t far = p->row[at];

		for (uint32_t i = s->first[at]; leads[at] && i < s->first[at + 1]; i++)
			if (!s->hot[i].port || is_wanted(p, sw, i, far, group, leads))
				look_at_entry(p, sw, i, at);
	}
}

/*
 * The neighbour behind `group` is nearer to `at` than it was, or farther away; the switch itself is
 * not. So entries that could go there now are looked at, or those that went there.
 */
static void look_past(struct repair *p, uint32_t sw, const struct graph_group *group, uint32_t at)
{
	const struct dmodk *s = p->spread;
	const uint8_t *ports = p->g->ports + group->first_port;
	uint16_t far = repair_distance(p, sw, at);
	bool leads = graph_is_path(graph_near(group, repair_distance(p, group->to, at)), far);

	if (is_absent(p, sw) || (leads && !p->gains))
		return;
	for (uint32_t i = s->first[at]; i < s->first[at + 1]; i++) {
		unsigned port = routes_port(p->r, sw, s->hot[i].lid);

		if (leads ? p->how->tree || !s->hot[i].port ||
				    is_wanted(p, sw, i, far, group, NULL)
			  : port == *ports || port > p->g->topo->switches[sw].n_ports ||
				    (group->n_ports > 1 &&
				     memchr(ports, (int)port, group->n_ports)))
			look_at_entry(p, sw, i, at);
	}
}

/* A switch with another distance to an affected target, and its neighbours. */
static void mend_around(struct repair *p, uint32_t sw, uint32_t at)
{
	const struct dmodk *s = p->spread;

	if (s->first[at] == s->first[at + 1])
		return;
	GRAPH_EACH(p->g, sw, group) /* look_past() reads there */
		__builtin_prefetch(routes_row(p->r, group->to) + s->hot[s->first[at]].lid);
	for (uint32_t i = s->first[at]; i < s->first[at + 1] && !is_absent(p, sw); i++)
		look_at_entry(p, sw, i, at);
	GRAPH_EACH(p->g, sw, group)
		if (group->to != at && repair_distance(p, group->to, at) ==
					     repair_old_distance(p, group->to, at))
			look_past(p, group->to, graph_edge(p->g, group->to, sw), at);
}

/* An entry over the cable, of an unassigned LID, must not lead round. */
static void open_loops(struct repair *p, uint32_t sw, uint8_t port)
{
	const struct topo *t = p->g->topo;

	for (uint32_t lid = 1; lid <= p->r->top; lid++) {
		uint32_t at = sw, hops = 0;

		if (routes_port(p->r, sw, (lid_t)lid) != port)
			continue;
		do
			at = topo_behind(t, at, routes_port(p->r, at, (lid_t)lid));
		while (at != TOPO_NONE && at != sw && hops++ < t->n_switches);
		if (at == sw)
			routes_write(p->r, sw, (lid_t)lid, LFT_NO_PORT);
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
	const struct repair_choice *c = find_waypoint(p, w->sw, w->dest, w->at);
	uint8_t old = routes_port(p->r, w->sw, p->spread->hot[w->dest].lid);

	write_entry(p, w->sw, w->dest, choose_by_count(p, w->sw, w->dest, w->at, c, old));
}

/* The row of a switch and those of its neighbours; all others are not set. */
static struct distances *distances_around(const struct repair *p, uint32_t sw)
{
	uint32_t n = p->g->n;
	struct distances *d = xcalloc(1, sizeof(*d));

	d->n = n;
	d->mask = p->downs ? DISTANCE_DOWN - 1 : UINT16_MAX;
	d->rows = xmalloc((size_t)n * n * sizeof(*d->rows));
	for (uint32_t to = 0; to < n; to++) {
		d->rows[(size_t)sw * n + to] = repair_distance(p, sw, to);
		GRAPH_EACH(p->g, sw, group)
			d->rows[(size_t)group->to * n + to] = repair_distance(p, group->to, to);
	}
	return d;
}

/* One that came has all its entries to find, as from scratch. */
static void fill_lone(struct repair *p, uint32_t sw)
{
	_cleanup_(distances_freep) struct distances *d = distances_around(p, sw);
	_cleanup_free_ uint8_t *row = xmalloc(p->r->row_size);
	const struct port_select_likes none = { .possible = false };
	struct port_select_row *work = port_select_row_new(&(struct port_select_plan){
		.graph = p->g, .distances = d, .spread = p->spread,
		.options = &p->job->options, .likes = &none, .oriented = p->how->tree,
	});

	port_select_fill(work, sw, row, p->r->row_size);
	for (uint32_t lid = 1; lid <= p->r->top; lid++)
		routes_write(p->r, sw, (lid_t)lid, row[lid]);
	port_select_row_free(work);
}

void repair_entries(struct repair *p)
{
	ARENA_ARRAY(&p->memory, p->row, p->g->n);
	p->row_of = TOPO_NONE;
	ARENA_ARRAY(&p->memory, p->choices, CHOICES);
	for (unsigned i = 0; i < CHOICES; i++)
		p->choices[i].sw = TOPO_NONE;
	for (uint32_t i = 0; i < p->n_lones; i++)
		if (p->lone[p->lones[i]] == LONE_CAME)
			fill_lone(p, p->lones[i]);
	for (size_t i = 0; i < p->n_ends; i++) {
		const struct cable_end *end = &p->ends[i];

		if (p->lone[end->sw] == LONE_CAME || is_absent(p, end->sw))
			continue;
		if (end->what == END_CAME && p->lone[end->to] == LONE_NOT)
			offer_row(p, end->sw, end->port);
		else if (end->what != END_CAME)
			mend_row(p, end->sw, end->port);
	}
	for (size_t i = 0; i < p->n_moved; i++)
		mend_around(p, p->moved[i].sw, p->moved[i].to);
	for (uint32_t i = 0; i < p->n_came; i++)
		add_host(p, p->came[i]);
	for (size_t i = 0; i < p->n_waiting; i++)
		give_back(p, &p->waiting[i]);
	/* a switch that came has no entries that are not assigned */
	for (size_t i = 0; i < p->n_ends; i++)
		if (p->ends[i].what == END_CAME && p->lone[p->ends[i].sw] == LONE_NOT &&
		    p->lone[p->ends[i].to] == LONE_NOT)
			open_loops(p, p->ends[i].sw, p->ends[i].port);
}
