// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fills one VL after the other, each with as many of the paths that are left as it can hold.
 *
 * A VL is kept as a set of dependencies (cdg_order.h), not of paths: a path fits when all its
 * dependencies are in, or can be added. Each dependency is tried at most once per VL: sets only
 * grow, so a dependency that would close a cycle now always will. The paths to one destination are
 * a tree, so whether a path fits follows from whether the path from its next switch did: one pass
 * over the switches, nearest first, decides a destination whatever the length of its paths. The
 * order of destinations matters: those of one switch, and of switches near each other, follow one
 * another, because their paths have nearly the same dependencies.
 *
 * Paths with hints go first where they belong: in VL k first those that can go to no later VL, then
 * those without a hint (the awkward ones), then those that could go elsewhere too, then the others.
 *
 * Balance afterwards moves paths only into VLs that hold all their dependencies already, or into
 * unneeded VLs, which take a share of one VL each: part of a set without a cycle has none.
 */
#include "route/vl/vl_layers.h"

#include <assert.h>
#include <string.h>

#include "route/core/engine.h"
#include "route/vl/cdg_order.h"
#include "util/mem.h"

/* The paths to one destination, as a tree. */
struct tree {
	uint32_t column, root;
	uint32_t *order; /* switches with a path, nearest first, without the root */
	uint32_t n;
	uint32_t *channel; /* by switch, as are the arrays below */
	uint32_t *next;
	/* the dependency of its channel and the next; CHANNEL_NONE: there is no next one */
	uint32_t *dep;
	uint32_t *wanted; /* number of paths to be added that lead through it */
	bool *fits;
	uint16_t *in; /* VLs that hold the whole path from it, as bits */
	uint8_t *seen;
	uint32_t *path;
};

#define NOWHERE 0xFE
#define TILE	64 /* rows are far apart */

enum state {
	DEP_OPEN,
	DEP_IN,
	DEP_REFUSED,
};

/* Which paths are added to a VL now. */
enum turn {
	TURN_LAST_CALL, /* paths with hints, but for no later VL */
	TURN_NO_HINT,
	TURN_HINT,
	TURN_REST,
	TURNS,
};

struct fill {
	const struct vl_layers_job *job;
	uint32_t n; /* number of switches */
	struct cdg_channels *channels;
	uint32_t n_deps;
	struct cdg_order *set; /* set of dependencies of the present VL */
	uint8_t *state;	       /* by dependency: enum state */
	uint16_t *holds;       /* by dependency: VLs that hold it, as bits */
	uint32_t *left;	       /* by destination: number of paths without a VL */
	uint64_t n_left;
	/*
	 * Ports and VLs by destination, as all work is: place(). A port that is none is 0. VLs are
	 * VL_LAYERS_NONE: not given yet, and NOWHERE: no path.
	 */
	uint8_t *ports, *vls;
	uint32_t *port_0; /* by switch: entry of its port 0, which has no channel */
	struct tree tree;
	uint32_t *column_of; /* both_ways: column by switch */
	uint32_t *added;     /* both_ways: pairs of channels that the present pair of paths added */
	uint32_t n_added;
	unsigned vl;
	enum turn turn;
	struct vl_layers *result;
	struct arena memory;
};

/* The entry of a switch in the tables of the job. */
static size_t entry(const struct fill *f, uint32_t column, uint32_t sw)
{
	return (size_t)sw * f->job->row_size + f->job->keys[column];
}

/* The same in tables by destination. */
static size_t place(const struct fill *f, uint32_t column, uint32_t sw)
{
	return (size_t)column * f->n + sw;
}

static uint32_t channel_of(const struct fill *f, uint32_t column, uint32_t sw)
{
	return f->channels->of_port[f->port_0[sw] + f->ports[place(f, column, sw)]];
}

enum seen {
	SEEN_NOT,
	SEEN_WALKING,
	SEEN_LOST,
	SEEN_ARRIVES,
};

/* Follows the path from `s` to a switch whose state is known; puts those with a path in order. */
static void follow_path(struct tree *t, uint32_t s)
{
	uint32_t n = 0;
	uint8_t fate;

	while (t->seen[s] == SEEN_NOT) {
		t->seen[s] = SEEN_WALKING;
		t->path[n++] = s;
		if (t->channel[s] == CHANNEL_NONE)
			break;
		s = t->next[s];
	}
	fate = t->seen[s] == SEEN_ARRIVES ? SEEN_ARRIVES : SEEN_LOST;
	while (n-- > 0) {
		t->seen[t->path[n]] = fate;
		if (fate == SEEN_ARRIVES)
			t->order[t->n++] = t->path[n];
	}
}

static void plant(struct fill *f, uint32_t column)
{
	struct tree *t = &f->tree;

	t->column = column;
	t->root = f->job->at[column];
	t->n = 0;
	memset(t->seen, SEEN_NOT, f->n);
	t->seen[t->root] = SEEN_ARRIVES;
	for (uint32_t s = 0; s < f->n; s++) {
		t->channel[s] = channel_of(f, column, s);
		if (t->channel[s] != CHANNEL_NONE)
			t->next[s] = f->channels->to[t->channel[s]];
	}
	for (uint32_t s = 0; s < f->n; s++)
		if (t->seen[s] == SEEN_NOT)
			follow_path(t, s);
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t s = t->order[i], v = t->next[s];

		t->dep[s] = v == t->root
				    ? CHANNEL_NONE
				    : cdg_turn_number(f->channels, t->channel[s], t->channel[v]);
	}
}

static bool has_turn(const struct fill *f, uint32_t column, uint32_t s)
{
	unsigned hint = f->job->hints ? f->job->hints[entry(f, column, s)] : 0;
	unsigned later = (hint & ~VL_LAYERS_MOVED) >> f->vl;

	switch (f->turn) {
	case TURN_LAST_CALL:
		return later == 1 && !(hint & VL_LAYERS_MOVED);
	case TURN_NO_HINT:
		return !later;
	case TURN_HINT:
		return later & 1;
	case TURN_REST:
		return !f->job->keep;
	case TURNS:
		break;
	}
	return false;
}

static bool is_waiting(const struct fill *f, uint32_t column, uint32_t s)
{
	return f->job->sources[s] && f->vls[place(f, column, s)] == VL_LAYERS_NONE &&
	       has_turn(f, column, s);
}

/* Counts the paths to be added; false: none. */
static bool find_wanted(struct fill *f)
{
	struct tree *t = &f->tree;
	bool any = false;

	for (uint32_t i = 0; i < t->n; i++) {
		t->wanted[t->order[i]] = is_waiting(f, t->column, t->order[i]);
		any |= t->wanted[t->order[i]];
	}
	for (uint32_t i = t->n; any && i-- > 0;) {
		uint32_t s = t->order[i];

		if (t->next[s] != t->root)
			t->wanted[t->next[s]] += t->wanted[s];
	}
	return any;
}

static bool come_in(struct fill *f, uint32_t channel, uint32_t then, void *arg)
{
	uint8_t *state = &f->state[cdg_turn_number(f->channels, channel, then)];

	if (*state != DEP_OPEN)
		return *state == DEP_IN;
	if (!cdg_order_add(f->set, channel, then)) {
		*state = DEP_REFUSED;
		return false;
	}
	*state = DEP_IN;
	if (f->added) {
		f->added[f->n_added++] = channel;
		f->added[f->n_added++] = then;
	}
	return true;
}

static void give_vl(struct fill *f, uint32_t column, uint32_t s)
{
	f->vls[place(f, column, s)] = (uint8_t)f->vl;
	f->left[column]--;
	f->n_left--;
}

static void put_column(struct fill *f, uint32_t column)
{
	struct tree *t = &f->tree;

	plant(f, column);
	if (!find_wanted(f))
		return;
	cdg_order_forget(f->set);
	t->fits[t->root] = true;
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t s = t->order[i], v = t->next[s];

		t->fits[s] = t->wanted[s] && t->fits[v] &&
			     (v == t->root || come_in(f, t->channel[s], t->channel[v], NULL));
		if (t->fits[s] && is_waiting(f, column, s))
			give_vl(f, column, s);
	}
}

typedef bool (*turn_visitor)(struct fill *f, uint32_t in, uint32_t out, void *arg);

/* Asks `visit` for every dependency of the path from `s`, until it says false; false then. */
static bool visit_path(struct fill *f, uint32_t column, uint32_t s, turn_visitor visit, void *arg)
{
	uint32_t last = CHANNEL_NONE;

	for (uint32_t hops = 0; s != f->job->at[column]; s = f->channels->to[last], hops++) {
		uint32_t channel = channel_of(f, column, s);

		assert(channel != CHANNEL_NONE && hops < f->n);
		if (last != CHANNEL_NONE && !visit(f, last, channel, arg))
			return false;
		last = channel;
	}
	return true;
}

static bool is_open(struct fill *f, uint32_t in, uint32_t out, void *arg)
{
	return f->state[cdg_turn_number(f->channels, in, out)] != DEP_REFUSED;
}

/* Is some dependency of the path refused already? First, as most pairs that fail do so here. */
static bool is_refused(struct fill *f, uint32_t column, uint32_t s)
{
	return !visit_path(f, column, s, is_open, NULL);
}

static void take_back(struct fill *f)
{
	assert(f->n_added % 2 == 0);
	cdg_order_undo(f->set, 0);
	while (f->n_added) {
		uint32_t then = f->added[--f->n_added], channel = f->added[--f->n_added];

		f->state[cdg_turn_number(f->channels, channel, then)] = DEP_OPEN;
	}
}

static void put_pair(struct fill *f, uint32_t column, uint32_t back)
{
	uint32_t a = f->job->at[back], b = f->job->at[column];
	bool there = is_waiting(f, column, a), here = is_waiting(f, back, b);

	if ((!there && !here) || (there && is_refused(f, column, a)) ||
	    (here && is_refused(f, back, b)))
		return;
	f->n_added = 0;
	cdg_order_forget(f->set);
	if ((there && !visit_path(f, column, a, come_in, NULL)) ||
	    (here && !visit_path(f, back, b, come_in, NULL))) {
		take_back(f);
		return;
	}
	if (there)
		give_vl(f, column, a);
	if (here)
		give_vl(f, back, b);
}

static void put_pairs(struct fill *f, uint32_t column)
{
	for (uint32_t s = 0; s < f->n; s++)
		if (f->column_of[s] != TOPO_NONE && s < f->job->at[column])
			put_pair(f, column, f->column_of[s]);
}

static void fill_vl(struct fill *f)
{
	/* Without hints all have their turn at once; what is refused stays so. */
	enum turn first = f->job->hints ? TURN_LAST_CALL : TURN_NO_HINT;
	enum turn last = f->job->hints ? TURN_REST : TURN_NO_HINT;

	f->set = cdg_order_new(f->channels);
	memset(f->state, DEP_OPEN, f->n_deps);
	for (f->turn = first; f->turn <= last; f->turn++)
		for (uint32_t c = 0; c < f->job->n_columns && !is_cancelled(f->job->cancelled); c++)
			if (f->left[c] && f->added)
				put_pairs(f, c);
			else if (f->left[c])
				put_column(f, c);
	for (uint32_t d = 0; d < f->n_deps; d++)
		if (f->state[d] == DEP_IN)
			f->holds[d] |= (uint16_t)(1u << f->vl);
	f->set = cdg_order_free(f->set);
}

/* Paths through a changed entry have changed. */
static void spread_moved(struct fill *f, uint32_t column)
{
	for (uint32_t i = 0; i < f->tree.n; i++) {
		uint32_t s = f->tree.order[i], v = f->tree.next[s];

		if (v != f->tree.root)
			f->job->hints[entry(f, column, s)] |=
				f->job->hints[entry(f, column, v)] & VL_LAYERS_MOVED;
	}
}

/* Pairs move together. */
static void join_moved(struct fill *f)
{
	for (uint32_t c = 0; c < f->job->n_columns; c++)
		for (uint32_t s = 0; s < f->n; s++) {
			size_t there = entry(f, c, s);

			if (f->column_of[s] != TOPO_NONE)
				f->job->hints[there] |=
					f->job->hints[entry(f, f->column_of[s], f->job->at[c])] &
					VL_LAYERS_MOVED;
		}
}

/* Counts the paths, and marks entries without one. */
static void count_paths(struct fill *f)
{
	memset(f->vls, NOWHERE, (size_t)f->n * f->job->n_columns);
	for (uint32_t c = 0; c < f->job->n_columns && !is_cancelled(f->job->cancelled); c++) {
		plant(f, c);
		if (f->job->keep)
			spread_moved(f, c);
		for (uint32_t i = 0; i < f->tree.n; i++) {
			if (!f->job->sources[f->tree.order[i]])
				continue;
			f->vls[place(f, c, f->tree.order[i])] = VL_LAYERS_NONE;
			f->left[c]++;
			f->n_left++;
		}
	}
	if (f->job->keep && f->column_of)
		join_moved(f);
}

/* Finds, for each switch, the VLs that hold its whole path; `all`: mask of all VLs. */
static void find_in(struct fill *f, uint32_t column, uint16_t all)
{
	struct tree *t = &f->tree;

	plant(f, column);
	t->in[t->root] = all;
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t s = t->order[i];

		t->in[s] = t->in[t->next[s]];
		if (t->dep[s] != CHANNEL_NONE)
			t->in[s] &= f->holds[t->dep[s]];
	}
}

/* Takes VLs that do not hold the dependency out of `*arg`. */
static bool leave_holding(struct fill *f, uint32_t in, uint32_t out, void *arg)
{
	uint16_t *vls = arg;

	*vls &= f->holds[cdg_turn_number(f->channels, in, out)];
	return true;
}

/* Moves one path, or a pair, from its VL to the emptiest that holds it. */
static void even_out(struct fill *f, uint32_t column, uint32_t s, uint64_t *n_paths)
{
	uint8_t *vl = &f->vls[place(f, column, s)], *back = NULL;
	uint16_t in = f->tree.in[s];
	unsigned best = *vl;

	if (*vl >= NOWHERE)
		return;
	if (f->added && f->column_of[s] != TOPO_NONE) {
		uint32_t other = f->column_of[s];

		back = &f->vls[place(f, other, f->job->at[column])];
		if (*back >= NOWHERE)
			back = NULL;
		else if (s > f->job->at[column])
			return;
		else
			visit_path(f, other, f->job->at[column], leave_holding, &in);
	}
	for (unsigned k = 0; k < f->result->needed; k++)
		if (in >> k & 1 && n_paths[k] < n_paths[best])
			best = k;
	n_paths[*vl] -= back ? 2 : 1;
	n_paths[best] += back ? 2 : 1;
	*vl = (uint8_t)best;
	if (back)
		*back = (uint8_t)best;
}

/* Shares of unneeded VLs: parts[k], from k on; the most crowded VL is split first. */
static void split_vls(const struct fill *f, const uint64_t *n_paths, uint8_t parts[][VL_LAYERS_MAX],
		      unsigned *n_parts)
{
	for (unsigned k = 0; k < f->result->needed; k++) {
		parts[k][0] = (uint8_t)k;
		n_parts[k] = 1;
	}
	for (unsigned vl = f->result->needed; vl < f->job->most; vl++) {
		unsigned full = 0;

		for (unsigned k = 1; k < f->result->needed; k++)
			if (n_paths[k] * n_parts[full] > n_paths[full] * n_parts[k])
				full = k;
		parts[full][n_parts[full]++] = (uint8_t)vl;
	}
}

static void balance(struct fill *f)
{
	uint64_t n_paths[VL_LAYERS_MAX] = { 0 };
	uint8_t parts[VL_LAYERS_MAX][VL_LAYERS_MAX];
	unsigned n_parts[VL_LAYERS_MAX];

	for (size_t i = 0; i < (size_t)f->n * f->job->n_columns; i++)
		if (f->vls[i] < NOWHERE)
			n_paths[f->vls[i]]++;
	for (uint32_t c = 0; c < f->job->n_columns && !is_cancelled(f->job->cancelled); c++) {
		find_in(f, c, (uint16_t)((1u << f->result->needed) - 1));
		for (uint32_t i = 0; i < f->tree.n; i++)
			even_out(f, c, f->tree.order[i], n_paths);
	}
	split_vls(f, n_paths, parts, n_parts);
	for (uint32_t c = 0; c < f->job->n_columns; c++)
		for (uint32_t s = 0; s < f->n; s++) {
			uint8_t *vl = &f->vls[place(f, c, s)];

			/* equal for a path and its reverse path */
			if (*vl < NOWHERE)
				*vl = parts[*vl][(f->job->keys[c] + s) % n_parts[*vl]];
		}
	f->result->n = f->job->most;
}

/* Turns the ports of the job around. */
static void read_ports(struct fill *f)
{
	const struct vl_layers_job *job = f->job;

	for (uint32_t first = 0; first < f->n; first += TILE)
		for (uint32_t c = 0; c < job->n_columns; c++)
			for (uint32_t s = first; s < MIN(first + TILE, f->n); s++) {
				uint8_t port = job->ports[entry(f, c, s)];

				if (port <= job->topo->switches[s].n_ports)
					f->ports[place(f, c, s)] = port;
			}
	for (uint32_t s = 0; s < f->n; s++)
		f->port_0[s] = job->topo->switches[s].first_port;
}

/* The result, in rows. */
static void write_lanes(const struct fill *f)
{
	const struct vl_layers_job *job = f->job;

	memset(f->result->lanes, VL_LAYERS_NONE, (size_t)f->n * job->row_size);
	for (uint32_t first = 0; first < f->n; first += TILE)
		for (uint32_t c = 0; c < job->n_columns; c++)
			for (uint32_t s = first; s < MIN(first + TILE, f->n); s++)
				if (f->vls[place(f, c, s)] != NOWHERE)
					f->result->lanes[entry(f, c, s)] = f->vls[place(f, c, s)];
}

static void fill_begin(struct fill *f)
{
	const struct vl_layers_job *job = f->job;
	struct tree *t = &f->tree;

	f->n = job->topo->n_switches;
	f->channels = cdg_channels_new(job->topo);
	f->n_deps = f->channels->deps[f->channels->n];
	f->result = xcalloc(1, sizeof(*f->result));
	f->result->lanes = xmalloc((size_t)f->n * job->row_size);
	ARENA_ARRAYS(&f->memory, f->n_deps, f->state, f->holds);
	ARENA_ARRAY(&f->memory, f->left, job->n_columns);
	ARENA_ARRAYS(&f->memory, (size_t)f->n * job->n_columns, f->ports, f->vls);
	ARENA_ARRAY(&f->memory, f->port_0, f->n);
	read_ports(f);
	if (job->both_ways) {
		ARENA_ONES(&f->memory, f->column_of, f->n);
		for (uint32_t c = 0; c < job->n_columns; c++)
			f->column_of[job->at[c]] = c;
		ARENA_ARRAY(&f->memory, f->added, (size_t)f->n * 4 + 4);
	}
	ARENA_ARRAYS(&f->memory, f->n, t->order, t->channel, t->next, t->dep, t->wanted, t->fits,
		     t->in, t->seen);
	ARENA_ARRAY(&f->memory, t->path, f->n);
}

static void fill_done(struct fill *f)
{
	cdg_channels_free(f->channels);
	cdg_order_free(f->set);
	vl_layers_free(f->result);
	arena_done(&f->memory);
}

struct vl_layers *vl_layers_new(const struct vl_layers_job *job)
{
	_cleanup_(fill_done) struct fill f = { .job = job };
	unsigned limit = job->limit ? job->limit : VL_LAYERS_MAX;
	uint64_t all;

	fill_begin(&f);
	count_paths(&f);
	all = f.n_left;
	while (f.n_left && f.vl < limit && !is_cancelled(f.job->cancelled)) {
		fill_vl(&f);
		f.vl++;
		/* Without hints each VL holds less than the one before: the limit is too low. */
		if (job->limit && !job->hints && limit > 2 && f.vl == limit / 2 &&
		    f.n_left > all / 3)
			break;
	}
	f.result->n = f.result->needed = f.n_left ? limit + 1 : f.vl;
	if (!f.n_left && f.vl > 1 && f.vl <= job->most && !job->keep)
		balance(&f);
	write_lanes(&f);
	return is_cancelled(f.job->cancelled) ? NULL : take(f.result);
}

struct vl_layers *vl_layers_stay(const struct vl_layers_job *job, uint16_t *hints, bool *ret_all)
{
	struct vl_layers_job stay = *job;
	struct vl_layers *l;

	stay.hints = hints;
	stay.keep = true;
	/* to the end: every path that cannot keep its VL must be known */
	stay.limit = VL_LAYERS_MAX;
	l = vl_layers_new(&stay);
	*ret_all = l && l->needed <= job->most;
	if (!l || *ret_all)
		return l;
	for (size_t i = 0; i < (size_t)job->topo->n_switches * job->row_size; i++)
		if (l->lanes[i] != VL_LAYERS_NONE && !(hints[i] >> l->lanes[i] & 1))
			hints[i] = 0;
	vl_layers_free(l);
	stay.limit = job->limit;
	return vl_layers_new(&stay);
}

struct vl_layers *vl_layers_free(struct vl_layers *l)
{
	if (l)
		FREE_ALL(l->lanes, l);
	return NULL;
}
