// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which entries change, and to what.
 *
 * Why no order of Sets loops. For a LID, let every switch have all the entries that it may hold:
 * that of the tables from now on, that of before if its Set has not arrived. An entry that leads
 * into a dead cable is no way, as packets end there. These ways together have no cycle at first. A
 * patch adds them one at a time, from a switch to a next hop from which no way of any of them comes
 * back to the switch; so no cycle is ever closed, and what switches really do in between is a part
 * of them. The way from the next hop by the tables from now on ends at the destination; so when all
 * Sets have arrived, packets that come to the switch do.
 *
 * A switch that has no other way is a dead end as long as switches send packets there. These are
 * led away: each goes another way, or if one has none, those that send packets to it do. Then the
 * dead end is one without packets, and its entry stays as it is. A switch with end ports of its own
 * still waits: mostly it can go by one of those that were led away, but not before that one's Set
 * has arrived. So what waits is looked at again with every call.
 *
 * Nothing is moved for a destination to which no cable leads any more, and nothing waits for it.
 */
#include "route/patch/patch.h"

#include <assert.h>
#include <string.h>

#include "route/core/sl2vl.h"
#include "route/patch/patch_internal.h"

#define BACK_DEPTH 3 /* a tree of three levels, each plane a tree: from leaf down to leaf again */
#define ROUNDS_MAX 8
#define PORTS_MAX  256
#define EACH	   8
#define AHEAD	   8 /* switches whose rows are asked for in advance */

const char *patch_how_name(enum patch_how how)
{
	static const char *const names[PATCH_HOWS] = {
		[PATCH_BESIDE] = "beside",	 [PATCH_RULE] = "rule",
		[PATCH_NEIGHBOUR] = "neighbour", [PATCH_BACK] = "back",
		[PATCH_WAITING] = "waiting",
	};

	assert(how < PATCH_HOWS);
	return names[how];
}

/* Ports of a switch for the LIDs of a destination switch, the best first. */
struct choice {
	uint32_t sw, at; /* what it was made for; TOPO_NONE: nothing */
	uint8_t ports[PORTS_MAX];
	uint16_t ranks[PORTS_MAX]; /* of each; equal ones take turns */
	unsigned n, n_best;	   /* number of ports, and of those with rank 0 */
	bool all;		   /* set if those are listed, too, that are not the best */
};

struct hurt {
	uint32_t sw;
	uint64_t dead[4]; /* ports with dead cables, as a mask */
};

struct open_entry {
	uint32_t sw;
	lid_t lid;
};

/* What became of an entry; `order` says when, if there are several of one. */
struct late_entry {
	struct patch_entry entry;
	size_t order;
};

struct making {
	struct patch_run run;
	struct patch_ground *ground;
	struct routes *routes; /* run.routes, once an entry changed; else NULL */
	uint32_t *part;	       /* by switch: number of the part that alive cables connect it with */
	struct choice choice;
	uint32_t beside_of;	/* switch of `beside`; TOPO_NONE: none */
	bool beside[PORTS_MAX]; /* by port: is another cable to the same switch alive? */
	uint32_t *counts;	/* by switch, 0: alive cables to it, while they are counted */
	/*
	 * Equal ports are taken in turn. Some entries of a switch for one destination switch in a
	 * row take the same, which costs less; not where hosts have several LIDs.
	 */
	unsigned turn, since, each;
	uint32_t turn_sw, turn_at;
	uint8_t best;	   /* port of the best rank that was found last; 0: another one, or none */
	struct hurt *hurt; /* switches with dead cables */
	uint32_t n_hurt;
	struct open_entry *open; /* entries that have no other way yet */
	size_t n_open, cap_open;
	struct late_entry *late; /* entries that are out of order */
	size_t n_late, cap_late;
	size_t cap;
	struct patch *ret;
	struct arena memory;
};

/* ---- which ports come into question ---------------------------------------------------------- */

static bool goes_down(const struct patch_ground *g, uint32_t from, uint32_t to)
{
	size_t words = (g->n + 63) / 64;

	return g->routes->downs[to * words + from / 64] >> from % 64 & 1;
}

/* Do up and down, if the tables go by them, let a switch go to this neighbour? */
static bool may_go(const struct patch_ground *g, uint32_t sw, uint32_t next, uint32_t at)
{
	const struct routes *r = g->routes;

	if (!r->places || !r->downs)
		return true;
	return r->places[next] < r->places[sw] || next == at || goes_down(g, next, at);
}

/* Is it on a shortest way that the engine may go? */
static inline bool is_best(const struct patch_ground *g, const uint8_t *hops, uint32_t sw,
			   uint32_t next, uint32_t at)
{
	return hops[next] + 1 == hops[sw] && may_go(g, sw, next, at);
}

#define RANK_FAR 0x100 /* added where the way is longer than the least hops */
#define RANK_ANY 0x200 /* added where the engine would not go */

static uint16_t rank_of(const struct patch_ground *g, uint32_t sw, uint32_t next, uint32_t at)
{
	const uint8_t *hops = g->hops + (size_t)at * g->n;
	bool up_down = g->routes->places && g->routes->downs;

	if (is_best(g, hops, sw, next, at))
		return 0;
	return (uint16_t)(hops[next] + (up_down && may_go(g, sw, next, at) ? RANK_FAR : RANK_ANY));
}

/* By insertion: most are equal. */
static void add_port(struct choice *c, uint8_t port, uint16_t rank)
{
	unsigned i = c->n++;

	for (; i && c->ranks[i - 1] > rank; i--) {
		c->ports[i] = c->ports[i - 1];
		c->ranks[i] = c->ranks[i - 1];
	}
	c->ports[i] = port;
	c->ranks[i] = rank;
}

/* Lists the ports of the best rank. */
static struct choice *choose(struct making *m, uint32_t sw, uint32_t at)
{
	const struct patch_ground *g = m->ground;
	const struct patch_switch *s = &g->switches[sw];
	const struct patch_way *ways = &g->ways[s->first];
	const uint8_t *hops = g->hops + (size_t)at * g->n;
	struct choice *c = &m->choice;

	if (c->sw == sw && c->at == at)
		return c;
	c->sw = sw;
	c->at = at;
	c->n = 0;
	c->all = false;
	for (unsigned p = 1; p <= s->n_ports; p++)
		if (ways[p].to != TOPO_NONE && is_best(g, hops, sw, ways[p].to, at)) {
			c->ports[c->n] = (uint8_t)p;
			c->ranks[c->n++] = 0;
		}
	c->n_best = c->n;
	return c;
}

/* Adds the other ports to a choice. */
static void choose_all(struct making *m)
{
	const struct patch_ground *g = m->ground;
	struct choice *c = &m->choice;
	const struct patch_switch *s = &g->switches[c->sw];

	if (c->all)
		return;
	c->all = true;
	for (unsigned p = 1; p <= s->n_ports; p++) {
		uint32_t next = g->ways[s->first + p].to;
		uint16_t rank = next == TOPO_NONE ? 0 : rank_of(g, c->sw, next, c->at);

		if (rank)
			add_port(c, (uint8_t)p, rank);
	}
}

/* ---- entries --------------------------------------------------------------------------------- */

static uint8_t port_now(const struct making *m, uint32_t sw, lid_t lid)
{
	return routes_row(m->run.routes, sw)[lid];
}

static bool is_dead(const struct patch_ground *g, uint32_t sw, uint8_t port)
{
	const struct patch_switch *s = &g->switches[sw];

	return port <= s->n_ports && g->ways[s->first + port].dead;
}

static bool is_alive(const struct patch_ground *g, uint32_t sw, uint8_t port)
{
	const struct patch_switch *s = &g->switches[sw];

	return port <= s->n_ports && g->ways[s->first + port].to != TOPO_NONE;
}

/* Finds out for which ports of a switch there is another cable to the same switch. */
static void look_beside(struct making *m, uint32_t sw)
{
	const struct patch_ground *g = m->ground;
	const struct patch_switch *s = &g->switches[sw];

	if (m->beside_of == sw)
		return;
	m->beside_of = sw;
	for (unsigned p = 1; p <= s->n_ports; p++)
		if (g->ways[s->first + p].to != TOPO_NONE)
			m->counts[g->ways[s->first + p].to]++;
	for (unsigned p = 0; p <= s->n_ports; p++)
		m->beside[p] =
			g->ways[s->first + p].dead && m->counts[g->topo->ports[s->first + p].sw];
	for (unsigned p = 1; p <= s->n_ports; p++)
		if (g->ways[s->first + p].to != TOPO_NONE)
			m->counts[g->ways[s->first + p].to] = 0;
}

/* Another cable to the same switch: its port; 0: none. */
static uint8_t find_beside(struct making *m, uint32_t sw, lid_t lid, uint8_t was)
{
	const struct patch_ground *g = m->ground;
	const struct patch_switch *s = &g->switches[sw];
	uint32_t peer = g->topo->ports[s->first + was].sw;

	look_beside(m, sw);
	for (unsigned i = 0; m->beside[was] && i < s->n_ports; i++) {
		uint8_t port = (uint8_t)(1 + (m->turn + i) % s->n_ports);

		if (g->ways[s->first + port].to == peer && patch_way_take(&m->run, sw, lid, port))
			return port;
	}
	return 0;
}

/* The port of a choice that is taken, among `n` equal ones from `first` on; 0: none. */
static uint8_t take_one(struct making *m, const struct choice *c, lid_t lid, unsigned first,
			unsigned n)
{
	uint8_t was = port_now(m, c->sw, lid);

	for (unsigned i = 0; i < n; i++) {
		uint8_t port = c->ports[first + (m->turn + i) % n];

		if (port != was && patch_way_take(&m->run, c->sw, lid, port))
			return port;
	}
	return 0;
}

/* A port that is not of the best rank; 0: none. */
static uint8_t find_far(struct making *m, struct choice *c, lid_t lid, enum patch_how most,
			enum patch_how *how)
{
	uint8_t port = 0;

	choose_all(m);
	for (unsigned i = c->n_best, n; i < c->n && !port; i += n) {
		*how = c->ranks[i] < RANK_ANY ? PATCH_RULE : PATCH_NEIGHBOUR;
		if (*how > most)
			return 0;
		for (n = 1; i + n < c->n && c->ranks[i + n] == c->ranks[i];)
			n++;
		port = take_one(m, c, lid, i, n);
	}
	return port;
}

static void next_turn(struct making *m, uint32_t sw, uint32_t at)
{
	if (sw == m->turn_sw && at == m->turn_at && ++m->since < m->each)
		return;
	m->since = 0;
	m->turn++;
	m->turn_sw = sw;
	m->turn_at = at;
}

/* Another port for an entry, by rules as good as `most`; 0: none. */
static uint8_t find_port(struct making *m, uint32_t sw, lid_t lid, enum patch_how most,
			 enum patch_how *how)
{
	struct choice *c;
	uint8_t was = port_now(m, sw, lid), port = 0;

	next_turn(m, sw, m->ground->goals[lid].at);
	m->best = 0;
	*how = PATCH_BESIDE;
	if (is_dead(m->ground, sw, was))
		port = find_beside(m, sw, lid, was);
	if (port)
		return port;
	c = choose(m, sw, m->ground->goals[lid].at);
	*how = PATCH_RULE;
	m->best = port = take_one(m, c, lid, 0, c->n_best);
	return port ? port : find_far(m, c, lid, most, how);
}

/* Tables like those in force, for entries to be changed in. */
static struct routes *tables_like(const struct routes *now)
{
	size_t n = now->topo->n_switches, words = (n + 63) / 64;
	struct routes *r = routes_derive(now->topo, now);

	memcpy(r->by, now->by, sizeof(r->by));
	memcpy(r->note, now->note, sizeof(r->note));
	r->compared_load = now->compared_load;
	r->options = now->options;
	r->expected_load = now->expected_load;
	r->balanced_load = now->balanced_load;
	if (now->hops)
		r->hops = xmemdup(now->hops, n * n);
	if (now->places)
		r->places = xmemdup(now->places, n * sizeof(*now->places));
	if (now->downs)
		r->downs = xmemdup(now->downs, n * words * sizeof(*now->downs));
	if (now->lanes)
		r->lanes = sl2vl_copy(now->topo, now->lanes, now->row_size);
	if (now->master_tree)
		r->master_tree = xmemdup(now->master_tree, n);
	return r;
}

static void write_port(struct making *m, uint32_t sw, lid_t lid, uint8_t port)
{
	if (!m->routes) {
		m->routes = tables_like(m->run.routes);
		m->run.routes = m->routes;
		memset(m->run.memos, 0xFF, sizeof(m->run.memos));
	}
	routes_write(m->routes, sw, lid, port);
}

/* ---- switches with dead cables --------------------------------------------------------------- */

static bool is_hurt_at(const struct hurt *h, uint8_t port)
{
	return h->dead[port / 64] >> port % 64 & 1;
}

static void find_hurt(struct making *m)
{
	const struct patch_ground *g = m->ground;

	ARENA_ARRAY(&m->memory, m->hurt, g->n + 1u);
	for (uint32_t s = 0; s < g->n; s++) {
		struct hurt *h = &m->hurt[m->n_hurt];

		if (!g->switches[s].hurt)
			continue;
		m->n_hurt++;
		h->sw = s;
		for (unsigned p = 1; p <= g->switches[s].n_ports; p++)
			if (is_dead(g, s, (uint8_t)p))
				h->dead[p / 64] |= UINT64_C(1) << p % 64;
	}
}

/* May the port that the LID before got, one of the best, be had again without a search? */
static bool is_had_again(struct making *m, uint32_t sw, lid_t lid, uint8_t was)
{
	if (!m->best || m->beside[was] || m->since + 1 >= m->each ||
	    !patch_way_is_known(&m->run, sw, lid, m->best))
		return false;
	m->since++;
	return true;
}

/* The entries of a switch for `n` LIDs of one destination switch. */
static void patch_lids(struct making *m, const struct hurt *h, const lid_t *lids, uint32_t n)
{
	const uint8_t *row = routes_row(m->run.routes, h->sw);

	m->best = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t was = row[lids[i]], port = m->best;
		enum patch_how how;

		if (!is_hurt_at(h, was))
			continue;
		if (!is_had_again(m, h->sw, lids[i], was))
			port = find_port(m, h->sw, lids[i], PATCH_RULE, &how);
		if (port)
			write_port(m, h->sw, lids[i], port);
		else
			APPEND(m->open, m->n_open, m->cap_open) =
				(struct open_entry){ h->sw, lids[i] };
	}
}

/*
 * Destination by destination: what most switches need of the tables is in a cache then, which is
 * all that takes time where many cables died.
 */
static void patch_all(struct making *m)
{
	const struct patch_ground *g = m->ground;

	for (uint32_t first = 0, n; first < g->n_lids; first += n) {
		const lid_t *lids = &g->lids[first];
		uint32_t at = g->goals[lids[0]].at;

		for (n = 1; first + n < g->n_lids && g->goals[lids[n]].at == at;)
			n++;
		for (uint32_t i = 0; i < m->n_hurt; i++) {
			const struct hurt *h = &m->hurt[i];

			if (i + AHEAD < m->n_hurt)
				__builtin_prefetch(
					&routes_row(m->run.routes, h[AHEAD].sw)[lids[0]]);
			if (h->sw != at && m->part[h->sw] == m->part[at])
				patch_lids(m, h, lids, n);
		}
	}
}

static void append(struct making *m, const struct patch_entry *e)
{
	APPEND(m->ret->entries, m->ret->n, m->cap) = *e;
}

/* Lists the changes of a switch by LID: so far only entries that led into dead cables changed. */
static void list_changes(struct making *m, const struct routes *before, const struct hurt *h)
{
	const struct patch_ground *g = m->ground;
	uint32_t first = g->switches[h->sw].first;
	const struct topo_port *ports = &g->topo->ports[first];
	const uint8_t *old = routes_row(before, h->sw), *new = routes_row(m->routes, h->sw);

	for (uint32_t lid = 1; lid <= before->top; lid++)
		if (old[lid] != new[lid])
			append(m, &(struct patch_entry){ h->sw, (lid_t)lid, old[lid], new[lid],
							 ports[old[lid]].sw == ports[new[lid]].sw
								 ? PATCH_BESIDE
								 : PATCH_RULE });
}

/* ---- entries without another way ------------------------------------------------------------- */

static void note_late(struct making *m, const struct patch_entry *e)
{
	APPEND(m->late, m->n_late, m->cap_late) = (struct late_entry){ *e, m->n_late };
}

static void move(struct making *m, uint32_t sw, lid_t lid, uint8_t port, enum patch_how how)
{
	uint8_t was = port_now(m, sw, lid);

	note_late(m, &(struct patch_entry){ sw, lid, was, port, how });
	write_port(m, sw, lid, port);
}

/* Looks again at all entries that are open. Was any way found? */
static bool retry(struct making *m, enum patch_how most)
{
	size_t n = m->n_open;

	if (patch_is_spent(&m->run))
		return false;
	m->n_open = 0;
	for (size_t i = 0; i < n; i++) {
		struct open_entry e = m->open[i];
		enum patch_how how;
		uint8_t port = find_port(m, e.sw, e.lid, most, &how);

		if (port)
			move(m, e.sw, e.lid, port, how);
		else
			m->open[m->n_open++] = e;
	}
	return m->n_open < n;
}

/* The switch leaves a cable that is alive: until its Set has arrived, it may use it. */
static void move_back(struct making *m, uint32_t sw, lid_t lid, uint8_t port)
{
	struct patch_run *r = &m->run;

	APPEND(r->moved, r->n_moved, r->moved_cap) = (struct patch_moved){
		.sw = sw,
		.next = r->moved_of[lid],
		.port = port_now(m, sw, lid),
	};
	r->moved_of[lid] = r->n_moved;
	move(m, sw, lid, port, PATCH_BACK);
}

/* Leads packets to the LID away from a switch that has no way for them. Was any entry moved? */
static bool relieve(struct making *m, uint32_t sw, lid_t lid, unsigned depth)
{
	uint32_t senders[255];
	unsigned n = patch_way_senders(&m->run, sw, lid, senders);
	bool moved = false;

	for (unsigned i = 0; i < n; i++) {
		enum patch_how how;
		uint8_t port, was;

		if (patch_has_moved(&m->run, senders[i], lid, &was))
			continue;
		port = find_port(m, senders[i], lid, PATCH_NEIGHBOUR, &how);
		if (port)
			move_back(m, senders[i], lid, port);
		moved |= port || (depth < BACK_DEPTH && relieve(m, senders[i], lid, depth + 1));
	}
	return moved;
}

/*
 * A switch that packets come to, or begin at, and that has no way: a neighbour whose packets do not
 * arrive either goes another way, so that it may be the way. Was one moved?
 */
static bool open_neighbour(struct making *m, uint32_t sw, lid_t lid)
{
	const struct patch_ground *g = m->ground;
	const struct patch_switch *s = &g->switches[sw];

	for (unsigned p = 1; p <= s->n_ports; p++) {
		uint32_t next = g->ways[s->first + p].to;
		enum patch_how how;
		uint8_t port, was;

		if (next == TOPO_NONE || patch_has_moved(&m->run, next, lid, &was) ||
		    !is_alive(g, next, port_now(m, next, lid)) ||
		    patch_way_arrives(&m->run, next, lid))
			continue;
		port = find_port(m, next, lid, PATCH_NEIGHBOUR, &how);
		if (!port)
			continue;
		move_back(m, next, lid, port);
		return true;
	}
	return false;
}

static bool relieve_all(struct making *m)
{
	bool moved = false;

	for (size_t i = 0; i < m->n_open && !patch_is_spent(&m->run); i++) {
		const struct open_entry *e = &m->open[i];

		moved |= relieve(m, e->sw, e->lid, 1) ||
			 (patch_way_is_used(&m->run, e->sw, e->lid) &&
			  open_neighbour(m, e->sw, e->lid));
	}
	return moved;
}

/* Each round finds a way for an entry that had none, or is the last one. */
static void close_open(struct making *m)
{
	bool found = true;

	for (unsigned i = 0; i < ROUNDS_MAX && m->n_open && found; i++)
		found = retry(m, PATCH_RULE);
	found = true;
	for (unsigned i = 0; i < ROUNDS_MAX && m->n_open && found; i++)
		found = retry(m, PATCH_NEIGHBOUR) || relieve_all(m);
	for (size_t i = 0; i < m->n_open; i++) {
		const struct open_entry *e = &m->open[i];
		uint8_t port = port_now(m, e->sw, e->lid);

		if (patch_way_is_used(&m->run, e->sw, e->lid))
			note_late(m, &(struct patch_entry){ e->sw, e->lid, port, port,
							    PATCH_WAITING });
	}
}

/* ---- the result ------------------------------------------------------------------------------ */

static int compare_entries(const struct patch_entry *a, const struct patch_entry *b)
{
	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return (a->lid > b->lid) - (a->lid < b->lid);
}

static int compare_late(const void *a, const void *b)
{
	const struct late_entry *x = a, *y = b;
	int order = compare_entries(&x->entry, &y->entry);

	return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Of two changes of an entry the later one counts, since the state before the first. */
static void append_or_join(struct making *m, const struct patch_entry *e)
{
	struct patch_entry *last = m->ret->n ? &m->ret->entries[m->ret->n - 1] : NULL;

	if (!last || compare_entries(last, e)) {
		append(m, e);
		return;
	}
	last->now = e->now;
	last->how = e->how;
}

static void merge_late(struct making *m)
{
	_cleanup_free_ struct patch_entry *early = take(m->ret->entries);
	size_t n = m->ret->n, i = 0;

	m->ret->n = m->cap = 0;
	qsort(m->late, m->n_late, sizeof(*m->late), compare_late);
	for (size_t k = 0; k < m->n_late; k++) {
		const struct patch_entry *late = &m->late[k].entry;

		for (; i < n && compare_entries(&early[i], late) <= 0; i++)
			append_or_join(m, &early[i]);
		append_or_join(m, late);
	}
	for (; i < n; i++)
		append_or_join(m, &early[i]);
}

/* Engines may repair tables of their own; entries that they would not make are not. */
static void finish(struct making *m)
{
	struct patch *p = m->ret;

	if (m->n_late)
		merge_late(m);
	for (size_t i = 0; i < p->n; i++)
		p->counts[p->entries[i].how]++;
	if (m->routes && (p->counts[PATCH_NEIGHBOUR] || p->counts[PATCH_BACK]))
		m->routes->options = 0;
	p->routes = m->routes;
	p->unfinished = patch_is_spent(&m->run);
}

/* ---- a patch --------------------------------------------------------------------------------- */

/* Numbers the parts that alive cables connect. */
static void find_parts(struct making *m)
{
	const struct patch_ground *g = m->ground;
	uint32_t *stack = m->run.stack;

	for (uint32_t first = 0; first < g->n; first++) {
		uint32_t n = 0;

		if (m->part[first] != TOPO_NONE)
			continue;
		m->part[first] = first;
		stack[n++] = first;
		while (n) {
			const struct patch_switch *s = &g->switches[stack[--n]];

			for (unsigned p = 1; p <= s->n_ports; p++) {
				uint32_t to = g->ways[s->first + p].to;

				if (to == TOPO_NONE || m->part[to] != TOPO_NONE)
					continue;
				m->part[to] = first;
				stack[n++] = to;
			}
		}
	}
}

static void begin_making(struct making *m, const struct routes *now)
{
	uint32_t n = m->ground->n;

	m->run.ground = m->run.trial.ground = m->ground;
	m->run.routes = now;
	ARENA_ARRAYS(&m->memory, n + 1u, m->run.seen, m->run.stack, m->counts);
	ARENA_ARRAY(&m->memory, m->run.moved_of, now->top + 1u);
	ARENA_ONES(&m->memory, m->part, n + 1u);
	m->choice.sw = m->beside_of = TOPO_NONE;
	memset(m->run.memos, 0xFF, sizeof(m->run.memos));
	m->each = m->ground->has_lmc ? 1 : EACH;
	find_hurt(m);
	find_parts(m);
}

struct patch *patch_make(struct patch_ground *g, const struct routes *now, const uint32_t *dead,
			 size_t n_dead, const struct patch_held *held)
{
	struct making m = { .ground = g, .run.held = held };

	assert(g && now && (dead || !n_dead) && (!held || held->port));
	assert(now->topo == g->topo && now->top == g->routes->top);
	patch_ground_cut(g, dead, n_dead);
	m.ret = xcalloc(1, sizeof(*m.ret));
	begin_making(&m, now);
	patch_all(&m);
	for (uint32_t i = 0; m.routes && i < m.n_hurt; i++)
		list_changes(&m, now, &m.hurt[i]);
	close_open(&m);
	finish(&m);
	FREE_ALL(m.open, m.late, m.run.moved, m.run.trial.bits);
	arena_done(&m.memory);
	return m.ret;
}

struct patch *patch_free(struct patch *p)
{
	if (!p)
		return NULL;
	routes_unref(p->routes);
	FREE_ALL(p->entries, p);
	return NULL;
}
