// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fills one lane after the other, each with as many of the paths that are left as it can hold.
 *
 * A lane is kept as a set of dependencies (acyclic.c), not of paths: a path fits when all its
 * dependencies are in, or can come in. Each dependency is asked at most once per lane: sets only grow, so
 * what would close a cycle now always will. A column is a tree, so whether a path fits follows from
 * whether the path from its next switch did: one pass over the switches, nearest first, decides a column
 * whatever the length of its paths. The order of columns matters: those of one switch, and of switches
 * near each other, follow one another, because their paths have nearly the same dependencies.
 *
 * Paths with hints go first where they belong: in lane k first those that can go nowhere later, then
 * those without a hint (the awkward ones), then those that could go elsewhere too, then the others.
 *
 * Balance afterwards moves paths only into lanes that hold all their dependencies already, or lanes that
 * nobody needs, which take a share of one lane each: part of what has no cycle has none.
 */
#include "route/layers.h"

#include <string.h>

#include "route/acyclic.h"
#include "route/cancel.h"
#include "util/mem.h"

/* One column as a tree. */
struct tree {
	uint32_t column, root;
	uint32_t *order;   /* switches with a way, nearest first, without the root */
	uint32_t n;
	uint32_t *channel; /* per switch, as all below */
	uint32_t *next;
	uint32_t *dep;	   /* of its channel and the next; CHANNEL_NONE: there is only one */
	uint32_t *wanted;  /* paths that want to come in and lead through here */
	bool *fits;
	uint16_t *in;	   /* lanes that hold all of the path from here */
	uint8_t *seen;
	uint32_t *path;
};

#define NOWHERE 0xFE /* while filling: there is no path */

enum state {
	DEP_OPEN,
	DEP_IN,
	DEP_REFUSED,
};

/* Whose turn it is in a lane. */
enum turn {
	TURN_LAST_CALL, /* hints, but for no later lane */
	TURN_NO_HINT,
	TURN_HINT,
	TURN_ANYBODY,
	TURNS,
};

struct fill {
	const struct layers_job *job;
	uint32_t n;	     /* switches */
	struct channels *channels;
	uint32_t n_deps;
	struct acyclic *set; /* of the lane at hand */
	uint8_t *state;	     /* per dependency */
	uint16_t *holds;     /* per dependency: lanes that hold it */
	uint32_t *left;	     /* per column: paths without a lane */
	uint64_t n_left;
	struct tree tree;
	uint32_t *column_of; /* both_ways: per switch */
	uint32_t *added;     /* both_ways: what a pair brought in so far, in twos */
	uint32_t n_added;
	unsigned lane;
	enum turn turn;
	struct layers *result;
};

static size_t entry(const struct fill *f, uint32_t column, uint32_t sw)
{
	return (size_t)sw * f->job->row_size + f->job->keys[column];
}

static uint32_t channel_of(const struct fill *f, uint32_t column, uint32_t sw)
{
	const struct topo_switch *s = &f->job->topo->switches[sw];
	uint8_t port = f->job->ports[entry(f, column, sw)];

	return port && port <= s->n_ports ? f->channels->of_port[s->first_port + port] : CHANNEL_NONE;
}

enum seen {
	SEEN_NOT,
	SEEN_WALKING,
	SEEN_LOST,
	SEEN_ARRIVES,
};

/* Follows the ways from `s` until somebody knows; whoever arrives is put in order. */
static void follow(struct tree *t, uint32_t s)
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
			follow(t, s);
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t s = t->order[i], v = t->next[s];

		t->dep[s] = v == t->root ? CHANNEL_NONE
					 : channels_dep(f->channels, t->channel[s], t->channel[v]);
	}
}

static bool has_turn(const struct fill *f, size_t at)
{
	unsigned hint = f->job->hints ? f->job->hints[at] : 0;
	unsigned later = (hint & ~LAYERS_MOVED) >> f->lane;

	switch (f->turn) {
	case TURN_LAST_CALL:
		return later == 1 && !(hint & LAYERS_MOVED);
	case TURN_NO_HINT:
		return !later;
	case TURN_HINT:
		return later & 1;
	case TURN_ANYBODY:
		return !f->job->keep;
	case TURNS:
		break;
	}
	return false;
}

static bool is_waiting(const struct fill *f, uint32_t column, uint32_t s)
{
	size_t at = entry(f, column, s);

	return f->job->sources[s] && f->result->lanes[at] == LAYERS_NONE && has_turn(f, at);
}

/* Counts who wants to come in; false: nobody. */
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

static bool come_in(struct fill *f, uint32_t channel, uint32_t then)
{
	uint8_t *state = &f->state[channels_dep(f->channels, channel, then)];

	if (*state != DEP_OPEN)
		return *state == DEP_IN;
	if (!acyclic_add(f->set, channel, then)) {
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

static void give_lane(struct fill *f, uint32_t column, uint32_t s)
{
	f->result->lanes[entry(f, column, s)] = (uint8_t)f->lane;
	f->left[column]--;
	f->n_left--;
}

static void put_column(struct fill *f, uint32_t column)
{
	struct tree *t = &f->tree;

	plant(f, column);
	if (!find_wanted(f))
		return;
	t->fits[t->root] = true;
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t s = t->order[i], v = t->next[s];

		t->fits[s] = t->wanted[s] && t->fits[v] &&
			     (v == t->root || come_in(f, t->channel[s], t->channel[v]));
		if (t->fits[s] && is_waiting(f, column, s))
			give_lane(f, column, s);
	}
}

/* The path from `s`; false if something on it is refused. */
static bool put_path(struct fill *f, uint32_t column, uint32_t s)
{
	uint32_t last = CHANNEL_NONE;

	while (s != f->job->at[column]) {
		uint32_t channel = channel_of(f, column, s);

		if (last != CHANNEL_NONE && !come_in(f, last, channel))
			return false;
		last = channel;
		s = f->channels->to[channel];
	}
	return true;
}

/* Is something on the path refused already? Asked first, because most pairs that fail do so here. */
static bool is_refused(const struct fill *f, uint32_t column, uint32_t s)
{
	uint32_t last = CHANNEL_NONE;

	for (; s != f->job->at[column]; s = f->channels->to[last]) {
		uint32_t channel = channel_of(f, column, s);

		if (last != CHANNEL_NONE &&
		    f->state[channels_dep(f->channels, last, channel)] == DEP_REFUSED)
			return true;
		last = channel;
	}
	return false;
}

static void take_back(struct fill *f)
{
	while (f->n_added) {
		uint32_t then = f->added[--f->n_added], channel = f->added[--f->n_added];

		acyclic_remove(f->set, channel, then);
		f->state[channels_dep(f->channels, channel, then)] = DEP_OPEN;
	}
}

static void put_pair(struct fill *f, uint32_t column, uint32_t back)
{
	uint32_t a = f->job->at[back], b = f->job->at[column];
	bool there = is_waiting(f, column, a), here = is_waiting(f, back, b);

	if ((!there && !here) || (there && is_refused(f, column, a)) || (here && is_refused(f, back, b)))
		return;
	f->n_added = 0;
	if ((there && !put_path(f, column, a)) || (here && !put_path(f, back, b))) {
		take_back(f);
		return;
	}
	if (there)
		give_lane(f, column, a);
	if (here)
		give_lane(f, back, b);
}

static void put_pairs(struct fill *f, uint32_t column)
{
	for (uint32_t s = 0; s < f->n; s++)
		if (f->column_of[s] != TOPO_NONE && s < f->job->at[column])
			put_pair(f, column, f->column_of[s]);
}

static void note_held(struct fill *f)
{
	for (uint32_t d = 0; d < f->n_deps; d++)
		if (f->set->has[d])
			f->holds[d] |= (uint16_t)(1u << f->lane);
}

static void fill_lane(struct fill *f)
{
	f->set = acyclic_new(f->channels);
	memset(f->state, DEP_OPEN, f->n_deps);
	for (f->turn = f->job->hints ? TURN_LAST_CALL : TURN_NO_HINT; f->turn < TURNS; f->turn++)
		for (uint32_t c = 0; c < f->job->n_columns && !is_cancelled(f->job->cancelled); c++)
			if (f->left[c] && f->added)
				put_pairs(f, c);
			else if (f->left[c])
				put_column(f, c);
	note_held(f);
	f->set = acyclic_free(f->set);
}

/* Paths through a changed entry have changed. */
static void spread_moved(struct fill *f, uint32_t column)
{
	for (uint32_t i = 0; i < f->tree.n; i++) {
		uint32_t s = f->tree.order[i], v = f->tree.next[s];

		if (v != f->tree.root)
			f->job->hints[entry(f, column, s)] |= f->job->hints[entry(f, column, v)] & LAYERS_MOVED;
	}
}

/* Pairs move together. */
static void join_moved(struct fill *f)
{
	for (uint32_t c = 0; c < f->job->n_columns; c++)
		for (uint32_t s = 0; s < f->n; s++) {
			size_t there = entry(f, c, s);

			if (f->column_of[s] != TOPO_NONE)
				f->job->hints[there] |= f->job->hints[entry(f, f->column_of[s], f->job->at[c])] &
							LAYERS_MOVED;
		}
}

/* Finds out which paths there are. */
static void count_paths(struct fill *f)
{
	size_t size = (size_t)f->n * f->job->row_size;

	memset(f->result->lanes, NOWHERE, size);
	for (uint32_t c = 0; c < f->job->n_columns && !is_cancelled(f->job->cancelled); c++) {
		plant(f, c);
		if (f->job->keep)
			spread_moved(f, c);
		for (uint32_t i = 0; i < f->tree.n; i++) {
			if (!f->job->sources[f->tree.order[i]])
				continue;
			f->result->lanes[entry(f, c, f->tree.order[i])] = LAYERS_NONE;
			f->left[c]++;
			f->n_left++;
		}
	}
	if (f->job->keep && f->column_of)
		join_moved(f);
}

/* Lanes that hold all of the paths from everywhere. */
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

static uint16_t in_back(const struct fill *f, uint32_t column, uint32_t s, uint16_t all)
{
	uint32_t last = CHANNEL_NONE;

	for (; s != f->job->at[column]; s = f->channels->to[last]) {
		uint32_t channel = channel_of(f, column, s);

		if (last != CHANNEL_NONE)
			all &= f->holds[channels_dep(f->channels, last, channel)];
		last = channel;
	}
	return all;
}

/* Moves one path, or a pair, from its lane to the emptiest that holds it. */
static void even_out(struct fill *f, uint32_t column, uint32_t s, uint64_t *n_paths)
{
	uint8_t *lane = &f->result->lanes[entry(f, column, s)], *back = NULL;
	uint16_t in = f->tree.in[s];
	unsigned best = *lane;

	if (*lane >= NOWHERE)
		return;
	if (f->added && f->column_of[s] != TOPO_NONE) {
		uint32_t other = f->column_of[s];

		back = &f->result->lanes[entry(f, other, f->job->at[column])];
		if (*back >= NOWHERE)
			back = NULL;
		else if (s > f->job->at[column])
			return;
		else
			in = in_back(f, other, f->job->at[column], in);
	}
	for (unsigned k = 0; k < f->result->needed; k++)
		if (in >> k & 1 && n_paths[k] < n_paths[best])
			best = k;
	n_paths[*lane] -= back ? 2 : 1;
	n_paths[best] += back ? 2 : 1;
	*lane = (uint8_t)best;
	if (back)
		*back = (uint8_t)best;
}

static void count_lanes(const struct fill *f, uint64_t *n_paths)
{
	for (uint32_t c = 0; c < f->job->n_columns; c++)
		for (uint32_t s = 0; s < f->n; s++)
			if (f->result->lanes[entry(f, c, s)] < NOWHERE)
				n_paths[f->result->lanes[entry(f, c, s)]]++;
}

/*
 * Shares of the lanes that nobody needs: parts[k][0] = k, and the others that lane k is split into. The
 * most crowded lane is split first.
 */
static void split_lanes(const struct fill *f, const uint64_t *n_paths, uint8_t parts[][LAYERS_MAX],
			unsigned *n_parts)
{
	for (unsigned k = 0; k < f->result->needed; k++) {
		parts[k][0] = (uint8_t)k;
		n_parts[k] = 1;
	}
	for (unsigned lane = f->result->needed; lane < f->job->most; lane++) {
		unsigned full = 0;

		for (unsigned k = 1; k < f->result->needed; k++)
			if (n_paths[k] * n_parts[full] > n_paths[full] * n_parts[k])
				full = k;
		parts[full][n_parts[full]++] = (uint8_t)lane;
	}
}

static void balance(struct fill *f)
{
	uint64_t n_paths[LAYERS_MAX] = { 0 };
	uint8_t parts[LAYERS_MAX][LAYERS_MAX];
	unsigned n_parts[LAYERS_MAX];

	count_lanes(f, n_paths);
	for (uint32_t c = 0; c < f->job->n_columns && !is_cancelled(f->job->cancelled); c++) {
		find_in(f, c, (uint16_t)((1u << f->result->needed) - 1));
		for (uint32_t i = 0; i < f->tree.n; i++)
			even_out(f, c, f->tree.order[i], n_paths);
	}
	split_lanes(f, n_paths, parts, n_parts);
	for (uint32_t c = 0; c < f->job->n_columns; c++)
		for (uint32_t s = 0; s < f->n; s++) {
			uint8_t *lane = &f->result->lanes[entry(f, c, s)];

			/* The sum is the same there and back. */
			if (*lane < NOWHERE)
				*lane = parts[*lane][(f->job->keys[c] + s) % n_parts[*lane]];
		}
	f->result->n = f->job->most;
}

static void fill_begin(struct fill *f)
{
	const struct layers_job *job = f->job;
	struct tree *t = &f->tree;

	f->n = job->topo->n_switches;
	f->channels = channels_new(job->topo);
	f->n_deps = f->channels->deps[f->channels->n];
	f->result = xcalloc(1, sizeof(*f->result));
	f->result->lanes = xmalloc((size_t)f->n * job->row_size);
	f->state = xcalloc(f->n_deps, sizeof(*f->state));
	f->holds = xcalloc(f->n_deps, sizeof(*f->holds));
	f->left = xcalloc(job->n_columns, sizeof(*f->left));
	if (job->both_ways) {
		f->column_of = xmalloc((size_t)f->n * sizeof(*f->column_of));
		memset(f->column_of, 0xFF, (size_t)f->n * sizeof(*f->column_of));
		for (uint32_t c = 0; c < job->n_columns; c++)
			f->column_of[job->at[c]] = c;
		f->added = xcalloc((size_t)f->n * 4 + 4, sizeof(*f->added));
	}
	t->order = xcalloc(f->n, sizeof(*t->order));
	t->channel = xcalloc(f->n, sizeof(*t->channel));
	t->next = xcalloc(f->n, sizeof(*t->next));
	t->dep = xcalloc(f->n, sizeof(*t->dep));
	t->wanted = xcalloc(f->n, sizeof(*t->wanted));
	t->fits = xcalloc(f->n, sizeof(*t->fits));
	t->in = xcalloc(f->n, sizeof(*t->in));
	t->seen = xcalloc(f->n, sizeof(*t->seen));
	t->path = xcalloc(f->n, sizeof(*t->path));
}

static void fill_done(struct fill *f)
{
	channels_free(f->channels);
	acyclic_free(f->set);
	layers_free(f->result);
	free(f->state);
	free(f->holds);
	free(f->left);
	free(f->column_of);
	free(f->added);
	free(f->tree.order);
	free(f->tree.channel);
	free(f->tree.next);
	free(f->tree.dep);
	free(f->tree.wanted);
	free(f->tree.fits);
	free(f->tree.in);
	free(f->tree.seen);
	free(f->tree.path);
}

/* The result must not tell paths that nobody could place from those that are not there. */
static void finish(struct fill *f)
{
	size_t size = (size_t)f->n * f->job->row_size;

	for (size_t i = 0; i < size; i++)
		if (f->result->lanes[i] == NOWHERE)
			f->result->lanes[i] = LAYERS_NONE;
}

struct layers *layers_new(const struct layers_job *job)
{
	_cleanup_(fill_done) struct fill f = { .job = job };
	unsigned limit = job->limit ? job->limit : LAYERS_MAX;
	uint64_t all;

	fill_begin(&f);
	count_paths(&f);
	all = f.n_left;
	while (f.n_left && f.lane < limit && !is_cancelled(f.job->cancelled)) {
		fill_lane(&f);
		f.lane++;
		/* Without hints each lane holds less than the one before: this will not do. */
		if (job->limit && !job->hints && limit > 2 && f.lane == limit / 2 && f.n_left > all / 3)
			break;
	}
	f.result->n = f.result->needed = f.n_left ? limit + 1 : f.lane;
	if (!f.n_left && f.lane > 1 && f.lane <= job->most && !job->keep)
		balance(&f);
	finish(&f);
	return is_cancelled(f.job->cancelled) ? NULL : take(f.result);
}

struct layers *layers_stay(const struct layers_job *job, uint16_t *hints, bool *ret_all)
{
	struct layers_job stay = *job;
	struct layers *l;

	stay.hints = hints;
	stay.keep = true;
	stay.limit = LAYERS_MAX; /* to the end: whoever cannot keep his lane must be known */
	l = layers_new(&stay);
	*ret_all = l && l->needed <= job->most;
	if (!l || *ret_all)
		return l;
	for (size_t i = 0; i < (size_t)job->topo->n_switches * job->row_size; i++)
		if (l->lanes[i] != LAYERS_NONE && !(hints[i] >> l->lanes[i] & 1))
			hints[i] = 0;
	layers_free(l);
	stay.limit = job->limit;
	return layers_new(&stay);
}

struct layers *layers_free(struct layers *l)
{
	if (!l)
		return NULL;
	free(l->lanes);
	free(l);
	return NULL;
}

void layers_freep(struct layers **l)
{
	*l = layers_free(*l);
}
