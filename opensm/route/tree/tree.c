// SPDX-License-Identifier: BSD-2-Clause
/*
 * The order, and distances in it.
 *
 * Levels alone do not make an order: switches of one level must be told apart, and two roots
 * without common descendants would have no path to each other. So one switch, the apex, becomes the
 * highest of its component: the one below most roots, that is, a leaf in a fat tree whose aggs have
 * cores of their own. The order of all switches above it turns round:
 *
 *    levels        order           Paths between leaves stay: up, over one core, down. Cores now
 *    c0 c1 c2     L0               reach each other as well: up by the pod of the apex, and down
 *    a0 a1 a2     a0               again. Switches still without a path up to the apex (a piece of
 *    L0 L1 L2     c0 c1 c2         a broken tree whose only path leads through a lower switch) go
 *                 a1 a2            below everything, breadth first. So every switch but the apex
 *                                  has
 *                 L1 L2            a higher neighbour, and every pair has a path.
 *
 * The order of before stays where it can. A switch that has lost its last higher neighbour, such as
 * a core without its cable to the pod of the apex, goes below one of its lower neighbours, which is
 * lifted as far as that takes (mend_order): so the other switches keep their paths.
 *
 * Without levels, the switch with most neighbours in the order is next (arrange_flat).
 *
 * Distances: rows of all targets at once. From below: how far is it going down. From above: a
 * switch goes down where that is shorter than going up, or where a switch above sends down to it;
 * else up, and where both are as far, either way. A path that goes down so goes down to the end.
 */
#include "route/tree/tree.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "route/core/simd.h"
#include "route/shape/recognise.h"
#include "util/bisect.h"

#define FAR (DISTANCE_DOWN - 1u)
#define BLOCK 256           /* targets that one thread takes at a time */
#define COVER_BITS (1u << 26)
#define EDGE_MAX 4096       /* switches among which the most remote one is looked for */
#define NEIGHBOURS_MAX 255

/* Work space of making an order. */
struct sorting {
	const struct graph *g;
	struct tree *t;
	uint64_t *ids;          /* per switch */
	uint16_t *levels;
	uint32_t *natural;      /* switches, highest first, by level and id */
	uint32_t *rank;         /* per switch: place there */
	uint32_t *part;         /* per switch: component, as its first switch */
	bool *above;            /* per switch: the apex of its component, or above it by level */
	bool *placed;
};

static struct tree *tree_alloc(uint32_t n)
{
	struct tree *t = xcalloc(1, sizeof(*t));

	t->n = n;
	ARENA_ARRAYS(&t->memory, n, t->place, t->order);
	return t;
}

/* ---- levels ------------------------------------------------------------------------------ */

bool tree_levels_from_roots(const struct graph *g, const struct route_guids *roots, uint16_t *ret)
{
	bool found = false;
	uint16_t far;

	for (uint32_t u = 0; u < g->n; u++)
		ret[u] = DISTANCE_NONE;
	for (uint32_t i = 0; i < roots->n; i++) {
		uint32_t s = topo_find_switch(g->topo, roots->guids[i]);
		uint32_t h = s == TOPO_NONE ? topo_find_host(g->topo, roots->guids[i]) : TOPO_NONE;

		if (h != TOPO_NONE)
			s = g->topo->hosts[h].sw;
		if (s == TOPO_NONE)
			continue;
		ret[s] = 0;
		found = true;
	}
	far = graph_flood(g, ret, NULL);
	for (uint32_t u = 0; u < g->n; u++)
		if (ret[u] != DISTANCE_NONE)
			ret[u] = (uint16_t)(far - ret[u]);
	return found;
}

bool tree_note_roots(const struct graph *g, const struct route_guids *roots, char *note,
		     size_t size)
{
	_cleanup_free_ uint32_t *rank = xcalloc(g->n + 1u, sizeof(*rank));
	_cleanup_free_ bool *is_root = xcalloc(g->n + 1u, sizeof(*is_root));
	uint32_t top = 0, n = 0;
	guid_t first = 0;

	shape_ranks(g, rank);
	for (uint32_t i = 0; i < roots->n; i++) {
		uint32_t s = topo_find_switch(g->topo, roots->guids[i]);

		if (s == TOPO_NONE)
			continue;
		is_root[s] = true;
		top = rank[s] == TOPO_NONE ? top : MAX(top, rank[s]);
	}
	for (uint32_t u = 0; top && u < g->n; u++)
		if (!is_root[u] && rank[u] == top)
			first = n++ ? first : g->topo->switches[u].guid;
	if (n)
		snprintf(note, size,
			 "WARNING: root_guid_file leaves out %u switch%s as high as its roots, "
			 "first 0x%016llx: what is no root there carries nothing", n,
			 n == 1 ? "" : "es", (unsigned long long)first);
	return n;
}

void tree_levels_from_edge(const struct graph *g, uint16_t *ret)
{
	_cleanup_free_ uint32_t *hosts = topo_count_hosts(g->topo);

	for (uint32_t u = 0; u < g->n; u++)
		ret[u] = hosts[u] ? 0 : DISTANCE_NONE;
	graph_flood(g, ret, NULL);
}

unsigned tree_levelled(const struct graph *g, const uint16_t *levels)
{
	uint64_t all = 0, good = 0;

	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			int apart = (int)levels[u] - (int)levels[g->groups[i].to];

			all++;
			good += apart == 1 || apart == -1;
		}
	return all ? (unsigned)(good * 100 / all) : 100;
}

/* ---- the order --------------------------------------------------------------------------- */

/* Highest first; larger ids are higher. */
static int by_nature(const void *a, const void *b, void *arg)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct sorting *s = arg;

	return COMPARE(s->levels[y], s->levels[x]) ?: COMPARE(s->ids[y], s->ids[x]) ?:
	       COMPARE(y, x);
}

static void sort_by_nature(struct sorting *s)
{
	uint32_t n = s->g->n;

	for (uint32_t u = 0; u < n; u++)
		s->natural[u] = u;
	qsort_r(s->natural, n, sizeof(*s->natural), by_nature, s);
	for (uint32_t i = 0; i < n; i++)
		s->rank[s->natural[i]] = i;
}

/* Is there no higher neighbour? */
static bool is_top(const struct graph *g, const uint32_t *place, uint32_t u)
{
	GRAPH_EACH(g, u, edge)
		if (place[edge->to] < place[u])
			return false;
	return true;
}

/* Per switch: tops of its part above it, with itself; as bits, or if many, the switches above. */
static uint32_t *count_tops(const struct sorting *s)
{
	const struct graph *g = s->g;
	uint32_t *ret = xcalloc(g->n, sizeof(*ret)), tops = 0;
	_cleanup_free_ uint64_t *bits = NULL;
	size_t words;

	for (uint32_t u = 0; u < g->n; u++)
		tops += is_top(s->g, s->rank, u);
	words = (tops + 63) / 64;
	if ((uint64_t)words * 64 * g->n <= COVER_BITS)
		bits = xcalloc(words * g->n, sizeof(*bits));
	tops = 0;
	for (uint32_t k = 0; k < g->n; k++) {
		uint32_t u = s->natural[k];

		if (is_top(s->g, s->rank, u)) {
			if (bits)
				bits[u * words + tops / 64] |= UINT64_C(1) << tops % 64;
			tops++;
		}
		GRAPH_EACH(g, u, edge) {
			if (s->rank[edge->to] > s->rank[u])
				continue;
			ret[u]++;
			for (size_t w = 0; bits && w < words; w++)
				bits[u * words + w] |= bits[edge->to * words + w];
		}
		for (size_t w = 0; bits && w < words; w++)
			ret[u] += (uint32_t)__builtin_popcountll(bits[u * words + w]) * 1024u;
	}
	return ret;
}

/* Marks the apex of every component, and all above it. */
static void find_apexes(struct sorting *s)
{
	const struct graph *g = s->g;
	_cleanup_free_ uint32_t *tops = count_tops(s);
	_cleanup_free_ uint32_t *apex = xmalloc_ones(g->n, sizeof(*apex));

	for (uint32_t k = 0; k < g->n; k++) {
		uint32_t u = s->natural[k], *known = &apex[s->part[u]];

		if (*known == TOPO_NONE || tops[u] / 1024 > tops[*known] / 1024 ||
		    (tops[u] > tops[*known] && s->levels[u] == s->levels[*known]))
			*known = u;
	}
	for (uint32_t u = 0; u < g->n; u++)
		if (apex[u] != TOPO_NONE)
			s->above[apex[u]] = true;
	for (uint32_t k = g->n; k-- > 0;) {
		uint32_t u = s->natural[k];

		for (uint32_t i = g->first[u]; s->above[u] && i < g->first[u + 1]; i++)
			s->above[g->groups[i].to] |= s->rank[g->groups[i].to] < k;
	}
}

static void place_switch(struct sorting *s, uint32_t u, uint32_t *n)
{
	s->placed[u] = true;
	s->t->place[u] = *n;
	s->t->order[(*n)++] = u;
}

static bool has_higher(const struct sorting *s, uint32_t u)
{
	GRAPH_EACH(s->g, u, edge)
		if (s->placed[edge->to])
			return true;
	return false;
}

static void arrange_by_levels(struct sorting *s)
{
	const struct graph *g = s->g;
	uint32_t n = 0;

	for (uint32_t k = g->n; k-- > 0;)
		if (s->above[s->natural[k]])
			place_switch(s, s->natural[k], &n);
	for (uint32_t k = 0; k < g->n; k++)
		if (!s->above[s->natural[k]] && has_higher(s, s->natural[k]))
			place_switch(s, s->natural[k], &n);
	s->t->n_below = g->n - n;
	for (uint32_t at = 0; at < n && n < g->n; at++) {
		uint32_t u = s->t->order[at];

		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
			if (!s->placed[g->groups[i].to])
				place_switch(s, g->groups[i].to, &n);
	}
}

/* The switch from which the others are farthest; in large parts the first with fewest cables. */
static uint32_t edge_of(const struct sorting *s, uint32_t part, const struct distances *d)
{
	uint32_t best = part;
	uint64_t most = 0;

	for (uint32_t u = part; u < s->g->n; u++) {
		uint64_t sum = UINT32_MAX - (s->g->first[u + 1] - s->g->first[u]);

		if (s->part[u] != part)
			continue;
		if (d) {
			sum = 0;
			for (uint32_t v = 0; v < s->g->n; v++)
				sum += s->part[v] == part ? distances_from(d, v)[u] : 0;
		}
		if (sum > most || (sum == most && s->ids[u] > s->ids[best])) {
			most = sum;
			best = u;
		}
	}
	return best;
}

/* Switches beside those that are placed: a stack for every number of placed neighbours. */
struct fringe {
	uint32_t *known;	 /* per switch: neighbours placed */
	uint32_t *sw, *below, n; /* entries; those that are out of date stay */
	uint32_t top[NEIGHBOURS_MAX + 1];
	uint32_t highest;
};

static void meet_neighbours(const struct sorting *s, struct fringe *f, uint32_t u)
{
	const struct graph *g = s->g;
	uint32_t begin = f->n;

	for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
		uint32_t v = g->groups[i].to, at = f->n;

		if (s->placed[v])
			continue;
		/* By id, so that the highest comes out first. */
		for (; at > begin && s->ids[f->sw[at - 1]] > s->ids[v]; at--)
			f->sw[at] = f->sw[at - 1];
		f->sw[at] = v;
		f->n++;
	}
	for (uint32_t k = begin; k < f->n; k++) {
		uint32_t known = MIN(f->known[f->sw[k]] + 1, (uint32_t)NEIGHBOURS_MAX);

		f->known[f->sw[k]] = known;
		f->below[k] = f->top[known];
		f->top[known] = k;
		f->highest = MAX(f->highest, known);
	}
}

/* TOPO_NONE: no switch is left. */
static uint32_t pick_next(const struct sorting *s, struct fringe *f)
{
	for (; f->highest; f->highest--)
		while (f->top[f->highest] != TOPO_NONE) {
			uint32_t k = f->top[f->highest], u = f->sw[k];

			f->top[f->highest] = f->below[k];
			if (!s->placed[u] &&
			    MIN(f->known[u], (uint32_t)NEIGHBOURS_MAX) == f->highest)
				return u;
		}
	return TOPO_NONE;
}

/*
 * No levels. The switch with most neighbours in the order comes next, of equals the one met last:
 * so the order grows along the fabric, and most switches have several neighbours up that lead to
 * different places. Breadth first from the middle would send all that is not near by over one
 * switch: on a 6x6x6 torus its cables carry more than twice as much.
 */
static void arrange_flat(struct sorting *s)
{
	_cleanup_(distances_freep) struct distances *d =
		s->g->n <= EDGE_MAX ? distances_new(s->g, 1, NULL) : NULL;
	uint32_t edges = s->g->first[s->g->n], n = 0;
	_cleanup_free_ uint32_t *known = xcalloc(s->g->n, sizeof(*known));
	_cleanup_free_ uint32_t *sw = xcalloc(edges, sizeof(*sw)),
				*below = xcalloc(edges, sizeof(*below));
	struct fringe f = { .known = known, .sw = sw, .below = below };

	memset(f.top, 0xFF, sizeof(f.top));
	for (uint32_t part = 0; part < s->g->n; part++) {
		uint32_t next;

		if (s->part[part] != part)
			continue;
		for (next = edge_of(s, part, d); next != TOPO_NONE; next = pick_next(s, &f)) {
			place_switch(s, next, &n);
			meet_neighbours(s, &f, next);
		}
	}
}

/* ids_guid_file, else place in the topo, which is by order GUID. */
static void find_ids(struct sorting *s, const struct tree_plan *plan)
{
	for (uint32_t u = 0; u < s->g->n; u++)
		s->ids[u] = topo_order_guid(&s->g->topo->switches[u]);
	for (uint32_t i = 0; i < plan->n_ids; i++) {
		uint32_t u = topo_find_switch(s->g->topo, plan->ids[i].guid);

		if (u != TOPO_NONE)
			s->ids[u] = plan->ids[i].id;
	}
}

/* ---- the order of before ------------------------------------------------------------------ */

/* Neighbours that may change sides for the order of before to stay. */
#define TURNS_MAX 64
/* Switches that are moved for a stray: it and those that it hangs on, one on each level. */
#define MEND_MAX 4
#define PLACES_MAX 65536 /* that are tried for them */
#define LOOKS_MAX (1u << 20) /* at neighbours, to find chains: four levels of 254 would be 4e9 */

/* Is every cable between switches one of the previous topo? */
static bool is_part_of(const struct topo *now, const struct topo *before, const uint32_t *match)
{
	for (uint32_t u = 0; u < now->n_switches; u++)
		for (unsigned p = 1; p <= now->switches[u].n_ports; p++)
			if (topo_port(now, u, p)->sw != TOPO_NONE &&
			    !topo_had_cable(now, before, match, u, p))
				return false;
	return true;
}

/* As before. False: some switch was not there. */
static bool arrange_as_before(struct sorting *s, const struct routes *previous,
			      const uint32_t *match)
{
	const struct topo *before = previous->topo;
	_cleanup_free_ uint32_t *old = xmalloc_ones(before->n_switches, sizeof(*old));
	uint32_t n = 0;

	for (uint32_t u = 0; u < s->g->n; u++) {
		if (match[u] == TOPO_NONE ||
		    before->switches[match[u]].n_ports != s->g->topo->switches[u].n_ports)
			return false;
		old[previous->places[match[u]]] = u;
	}
	for (uint32_t i = 0; i < before->n_switches; i++)
		if (old[i] != TOPO_NONE)
			place_switch(s, old[i], &n);
	return true;
}

/*
 * A switch without a higher neighbour that is not the first of its part; TOPO_NONE: none. Sets
 * ret_held[switch]: a way up leads to the first of its part.
 */
static uint32_t find_stray(const struct sorting *s, bool *ret_held)
{
	_cleanup_free_ bool *has_top = xcalloc(s->g->n, sizeof(*has_top));
	const uint32_t *place = s->t->place;
	uint32_t stray = TOPO_NONE;

	for (uint32_t i = 0; i < s->g->n; i++) {
		uint32_t u = s->t->order[i];
		bool top = is_top(s->g, place, u);

		ret_held[u] = top && !has_top[s->part[u]];
		GRAPH_EACH(s->g, u, edge)
			ret_held[u] |= place[edge->to] < place[u] && ret_held[edge->to];
		if (top && !ret_held[u] && stray == TOPO_NONE)
			stray = u;
		has_top[s->part[u]] |= top;
	}
	return stray;
}

/*
 * A chain of neighbours comes right behind place `at`: the last one, which is held, first, and the
 * stray in the end.
 */
struct mend {
	uint32_t chain[MEND_MAX], n, at, turns, n_tried, n_looked;
};

/* Its place there, or m->n. */
static uint32_t find_in(const struct mend *m, uint32_t u)
{
	uint32_t k = 0;

	while (k < m->n && m->chain[k] != u)
		k++;
	return k;
}

/* Neighbours that change sides; no more than `most` are counted. */
static uint32_t count_turns(const struct sorting *s, const struct mend *m, uint32_t most)
{
	const uint32_t *place = s->t->place;
	uint32_t n = 0;

	for (uint32_t i = m->n; i-- > 0 && n < most;) {
		uint32_t u = m->chain[i];

		GRAPH_EACH(s->g, u, edge) {
			uint32_t k = find_in(m, edge->to);

			if (k < m->n)
				n += k > i && place[edge->to] > place[u];
			else
				n += (place[edge->to] <= m->at) != (place[edge->to] < place[u]);
		}
	}
	return n;
}

/*
 * Chains of `more` others after the last one, the last of which alone is held: behind each higher
 * neighbour of that one.
 */
static void try_chains(const struct sorting *s, const bool *held, unsigned more, struct mend *m,
		       struct mend *best)
{
	uint32_t last = m->chain[m->n - 1];

	GRAPH_EACH(s->g, last, next) {
		if (m->n_looked++ >= LOOKS_MAX)
			return;
		if (more && held[next->to] == (more == 1) && find_in(m, next->to) == m->n) {
			m->chain[m->n++] = next->to;
			try_chains(s, held, more - 1, m, best);
			m->n--;
		} else if (!more && held[next->to] && s->t->place[next->to] < s->t->place[last] &&
			   m->n_tried++ < PLACES_MAX) {
			m->at = s->t->place[next->to];
			m->turns = count_turns(s, m, best->turns);
			if (m->turns < best->turns)
				*best = *m;
		}
	}
}

/* The shortest chains; of these the one for which fewest neighbours change sides. */
static struct mend find_mend(const struct sorting *s, uint32_t stray, const bool *held)
{
	struct mend best = { .turns = UINT32_MAX }, m = { .chain = { stray }, .n = 1 };

	for (unsigned more = 1; more < MEND_MAX && best.turns == UINT32_MAX; more++)
		try_chains(s, held, more, &m, &best);
	return best;
}

static void move_chain(struct sorting *s, const struct mend *m)
{
	_cleanup_free_ uint32_t *old = xmemdup(s->t->order, s->g->n * sizeof(*old));
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->g->n; i++) {
		if (find_in(m, old[i]) == m->n)
			place_switch(s, old[i], &n);
		for (uint32_t k = m->n; i == m->at && k-- > 0;)
			place_switch(s, m->chain[k], &n);
	}
}

/* Every switch gets its higher neighbour back, if that takes little. */
static bool mend_order(struct sorting *s)
{
	_cleanup_free_ bool *held = xcalloc(s->g->n, sizeof(*held));
	uint32_t left = TURNS_MAX;

	for (uint32_t stray; (stray = find_stray(s, held)) != TOPO_NONE;) {
		struct mend m = find_mend(s, stray, held);

		if (m.turns > left)
			return false;
		left -= m.turns;
		move_chain(s, &m);
	}
	return true;
}

/* Neighbours of which the one of the lower level is the higher. */
static uint32_t count_unnatural(const struct sorting *s, const struct tree *t)
{
	uint32_t n = 0;

	for (uint32_t u = 0; u < s->g->n; u++)
		GRAPH_EACH(s->g, u, edge)
			n += s->levels[u] > s->levels[edge->to] &&
			     t->place[u] > t->place[edge->to];
	return n;
}

static void arrange(struct sorting *s, const struct tree_plan *plan)
{
	uint32_t n = s->g->n;

	memset(s->placed, 0, n * sizeof(*s->placed));
	if (!plan->levels) {
		arrange_flat(s);
		return;
	}
	for (uint32_t u = 0; u < n; u++)
		s->levels[u] = plan->levels[u] == DISTANCE_NONE ? 0 : plan->levels[u];
	sort_by_nature(s);
	find_apexes(s);
	arrange_by_levels(s);
}

/*
 * The order of before stays while nothing came and each switch has a higher neighbour; else too if
 * it can be mended, and is as natural as a new one, or little less where nothing came.
 */
static struct tree *choose_order(struct sorting *s, const struct tree_plan *plan)
{
	_cleanup_(tree_freep) struct tree *former = s->t = tree_alloc(s->g->n), *anew = NULL;
	const struct routes *previous =
		plan->previous && plan->previous->places ? plan->previous : NULL;
	_cleanup_free_ uint32_t *match =
		previous ? topo_match_switches(s->g->topo, previous->topo) : NULL;
	bool known = previous && arrange_as_before(s, previous, match);
	bool gains = known && !is_part_of(s->g->topo, previous->topo, match);
	_cleanup_free_ bool *held = xcalloc(s->g->n, sizeof(*held));

	if (known && !gains && find_stray(s, held) == TOPO_NONE)
		return take(former);
	s->t = anew = tree_alloc(s->g->n);
	arrange(s, plan);
	s->t = former;
	if (known && plan->levels && mend_order(s) &&
	    count_unnatural(s, former) <= count_unnatural(s, anew) + (gains ? 0 : TURNS_MAX))
		return take(former);
	return take(anew);
}

struct tree *tree_new(const struct graph *g, const struct tree_plan *plan)
{
	_cleanup_(arena_done) struct arena memory = { NULL };
	struct sorting s = { .g = g };

	assert(g && plan);
	ARENA_ARRAYS(&memory, g->n, s.ids, s.levels, s.natural, s.rank, s.above, s.placed);
	find_ids(&s, plan);
	s.part = arena_keep(&memory, graph_parts(g));
	return choose_order(&s, plan);
}

ARENA_FREE(tree_free, struct tree)

void tree_orient(const struct tree *t, struct graph *g)
{
	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
			g->groups[i].way = t->place[g->groups[i].to] < t->place[u] ? GRAPH_UP
										   : GRAPH_DOWN;
}

/* ---- distances --------------------------------------------------------------------------- */

SIMD_CLONES
static void go_down(const struct graph *g, struct distances *d, uint32_t u, uint32_t base,
		    uint32_t n, uint32_t column)
{
	uint16_t *row = d->rows + (size_t)u * d->n + base;

	for (uint32_t x = 0; x < n; x++)
		row[x] = FAR;
	if (column >= base && column < base + n)
		row[column - base] = 0;
	GRAPH_EACH(g, u, group) {
		const uint16_t *below = d->rows + (size_t)group->to * d->n + base;
		uint16_t weight = group->weight;
		uint32_t x = 0;

		if (group->way != GRAPH_DOWN)
			continue;
		for (; x + SIMD_LANES <= n; x += SIMD_LANES) {
			simd_u16 near = *(const simd_u16 *)(below + x) + weight;

			simd_min((simd_u16 *)(row + x), &near);
		}
		for (; x < n; x++) {
			uint16_t near = (uint16_t)(below[x] + weight);

			row[x] = MIN(row[x], near);
		}
	}
}

/* A neighbour above: how far it is over there, and whether it relies on this switch for below. */
SIMD_CLONES
static void look_up(const uint16_t *above, const uint16_t *row, uint32_t n,
		    const uint16_t weight[2], uint16_t up[BLOCK], uint16_t relied[BLOCK])
{
	uint32_t x = 0;

	for (; x + SIMD_LANES <= n; x += SIMD_LANES) {
		simd_u16 there = *(const simd_u16 *)(above + x);
		simd_u16 near = (there & (uint16_t)FAR) + weight[0];
		simd_u16 down =
			*(const simd_u16 *)(row + x) + weight[1];

		simd_min((simd_u16 *)(up + x), &near);
		*(simd_u16 *)(relied + x) |= (simd_u16)((there & (uint16_t)FAR) == down);
	}
	for (; x < n; x++) {
		uint16_t near = (uint16_t)((above[x] & FAR) + weight[0]);
		uint16_t down = (uint16_t)(row[x] + weight[1]);

		up[x] = MIN(up[x], near);
		relied[x] |= (above[x] & FAR) == down ? UINT16_MAX : 0;
	}
}

/* The row so far says how far going down is. */
SIMD_CLONES
static void decide_row(uint16_t *row, uint32_t n, const uint16_t up[BLOCK],
		       const uint16_t relied[BLOCK])
{
	uint32_t x = 0;

	for (; x + SIMD_LANES <= n; x += SIMD_LANES) {
		simd_u16 down = *(const simd_u16 *)(row + x), over = *(const simd_u16 *)(up + x);
		simd_u16 goes = (simd_u16)(down < (uint16_t)FAR) &
				(*(const simd_u16 *)(relied + x) | (simd_u16)(down < over));
		simd_u16 none = (simd_u16)(over >= (uint16_t)FAR);
		simd_u16 first = over | (uint16_t)DISTANCE_UP | none;

		*(simd_u16 *)(row + x) =
			(goes & (down | (uint16_t)DISTANCE_DOWN)) | (first & ~goes);
	}
	for (; x < n; x++) {
		uint16_t first = up[x] < FAR ? (uint16_t)(up[x] | DISTANCE_UP) : DISTANCE_NONE;
		bool goes = row[x] < FAR && (relied[x] || row[x] < up[x]);

		row[x] = goes ? (uint16_t)(row[x] | DISTANCE_DOWN) : first;
	}
}

static void go_up(const struct graph *g, struct distances *d, uint32_t u, uint32_t base, uint32_t n)
{
	uint16_t *row = d->rows + (size_t)u * d->n + base, up[BLOCK], relied[BLOCK];

	for (uint32_t x = 0; x < BLOCK; x++) {
		up[x] = FAR;
		relied[x] = 0;
	}
	GRAPH_EACH(g, u, group) {
		uint16_t weight[2];

		if (group->way != GRAPH_UP)
			continue;
		weight[0] = group->weight;
		weight[1] = g->weighted ? graph_edge(g, group->to, u)->weight : 1;
		look_up(d->rows + (size_t)group->to * d->n + base, row, n, weight, up, relied);
	}
	decide_row(row, n, up, relied);
}

struct distances *tree_distances(const struct tree *t, const struct graph *g,
				 const uint32_t *targets, uint32_t n, unsigned threads,
				 const atomic_bool *cancelled)
{
	_cleanup_free_ uint32_t *column = xmalloc_ones(g->n, sizeof(*column));
	struct distances *d = xcalloc(1, sizeof(*d));

	assert(t->n == g->n && threads > 0);
	for (uint32_t i = 0; i < n; i++)
		column[targets ? targets[i] : i] = i;
	d->n = n;
	d->mask = FAR;
	d->rows = xmalloc((size_t)g->n * n * sizeof(*d->rows));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
	for (uint32_t base = 0; base < n; base += BLOCK) {
		uint32_t some = MIN(BLOCK, n - base);

		if (is_cancelled(cancelled))
			continue;
		for (uint32_t k = g->n; k-- > 0;)
			go_down(g, d, t->order[k], base, some, column[t->order[k]]);
		for (uint32_t k = 0; k < g->n; k++)
			go_up(g, d, t->order[k], base, some);
	}
	return is_cancelled(cancelled) ? distances_free(d) : d;
}
