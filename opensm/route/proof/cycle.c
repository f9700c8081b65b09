// SPDX-License-Identifier: BSD-2-Clause
/*
 * Searches of the dependency graph: an order if it is acyclic, a cycle, the channels on cycles.
 *
 * Edges are walked backwards, from a channel to those that lead into it, because they are stored
 * that way. Depth first with explicit stacks. Visited vertices are kept as masks of ports too, so
 * that a vertex with fifty edges costs as much as one with one.
 */
#include <assert.h>

#include "route/proof/cdg.h"
#include "route/proof/cdg_internal.h"
#include "util/mem.h"
#include "util/sets.h"

struct search {
	const struct cdg *g;
	size_t n;	   /* vertices */
	/* [(switch * n_vls + VL) * words]: channels into that switch, by port */
	uint64_t *seen, *open;
	size_t *stack;
	size_t n_stack;
	uint32_t *left, n_left; /* vertices that no path leads to from those after them */
};

static void search_begin(struct search *s, const struct cdg *g)
{
	size_t masks = (size_t)g->topo->n_switches * g->n_vls * g->words;

	*s = (struct search){ .g = g, .n = (size_t)g->n_ports * g->n_vls };
	s->seen = xcalloc(masks, sizeof(*s->seen));
	s->open = xcalloc(masks, sizeof(*s->open));
	s->stack = xmalloc((s->n + 1) * sizeof(*s->stack));
	s->left = xmalloc((s->n + 1) * sizeof(*s->left));
}

static void search_done(struct search *s)
{
	FREE_ALL(s->seen, s->open, s->stack, s->left);
}

/* The word and bit of a vertex in `seen` and `open`: by the port it comes in by at its far end. */
static size_t place_of(const struct cdg *g, size_t vertex, uint64_t *bit)
{
	const struct topo_port *p = &g->topo->ports[vertex / g->n_vls];

	*bit = UINT64_C(1) << p->port % 64;
	return ((size_t)p->sw * g->n_vls + vertex % g->n_vls) * g->words + p->port / 64;
}

static void enter_vertex(struct search *s, size_t vertex)
{
	uint64_t bit;
	size_t place = place_of(s->g, vertex, &bit);

	s->seen[place] |= bit;
	s->open[place] |= bit;
	s->stack[s->n_stack++] = vertex;
}

static void leave_vertex(struct search *s)
{
	size_t vertex = s->stack[--s->n_stack];
	uint64_t bit;
	size_t place = place_of(s->g, vertex, &bit);

	s->open[place] &= ~bit;
	s->left[s->n_left++] = (uint32_t)vertex;
}

/* An edge into `vertex`: from an open one (a cycle), else from one not seen. SIZE_MAX: none. */
static size_t look_back(const struct search *s, size_t vertex, bool *cycle)
{
	const struct cdg *g = s->g;
	uint32_t sw = g->topo->ports[g->peer[vertex / g->n_vls]].sw;
	const uint64_t *into = &g->into[vertex * g->n_in * g->words];
	size_t found = SIZE_MAX;

	for (unsigned a = 0; a < g->n_in; a++) {
		unsigned vl = g->n_in > 1 ? a : (unsigned)(vertex % g->n_vls);
		size_t place = ((size_t)sw * g->n_vls + vl) * g->words;

		for (unsigned k = 0; k < g->words; k++) {
			uint64_t bits = into[a * g->words + k], bad = bits & s->open[place + k];
			uint64_t fresh = bits & ~s->seen[place + k];

			if (bad) {
				*cycle = true;
				return cdg_from(g, vertex, a,
						64 * k + (unsigned)__builtin_ctzll(bad));
			}
			if (fresh && found == SIZE_MAX)
				found = cdg_from(g, vertex, a,
							64 * k + (unsigned)__builtin_ctzll(fresh));
		}
	}
	return found;
}

/* From one vertex backwards; the open one that closed a cycle, or SIZE_MAX. */
static size_t search_from(struct search *s, size_t from)
{
	bool cycle = false;

	enter_vertex(s, from);
	while (s->n_stack) {
		size_t before = look_back(s, s->stack[s->n_stack - 1], &cycle);

		if (cycle)
			return before;
		if (before == SIZE_MAX)
			leave_vertex(s);
		else
			enter_vertex(s, before);
	}
	return SIZE_MAX;
}

/* All of it; where a cycle was closed, or SIZE_MAX. */
static size_t search_all(struct search *s)
{
	size_t closed = SIZE_MAX;
	uint64_t bit;

	for (size_t v = 0; v < s->n && closed == SIZE_MAX; v++)
		if (s->g->peer[v / s->g->n_vls] != TOPO_NONE &&
		    !(s->seen[place_of(s->g, v, &bit)] & bit))
			closed = search_from(s, v);
	return closed;
}

/* What was searched goes before all others; nothing that was not leads to it. */
static void rank_first(struct cdg *g, const struct search *s)
{
	g->lowest -= s->n_left;
	for (uint32_t i = 0; i < s->n_left; i++)
		g->rank[s->left[i]] = g->lowest + i;
}

bool cdg_is_acyclic(struct cdg *g)
{
	_cleanup_(search_done) struct search s;

	search_begin(&s, g);
	if (search_all(&s) != SIZE_MAX)
		return false;
	free(g->rank);
	g->rank = xcalloc(s.n, sizeof(*g->rank));
	g->lowest = UINT32_MAX;
	rank_first(g, &s);
	return true;
}

/* From the starts of edges into one vertex that the order does not allow. */
static bool search_against_order(struct search *s, const struct cdg_added_bits *edges)
{
	const struct cdg *g = s->g;
	size_t word = (size_t)(edges->mask - g->into), to = word / g->words / g->n_in;
	unsigned k = (unsigned)(word % g->words), a = (unsigned)(word / g->words % g->n_in);

	for (uint64_t left = edges->bits; left; left &= left - 1) {
		size_t from = cdg_from(g, to, a, 64 * k + (unsigned)__builtin_ctzll(left));
		uint64_t bit;

		if (cdg_allows(g, from, to))
			continue;
		if (!s->stack)
			search_begin(s, g);
		if (!(s->seen[place_of(g, from, &bit)] & bit) && search_from(s, from) != SIZE_MAX)
			return false;
	}
	return true;
}

/* A cycle of the edges that are new passes one of the vertices, so it is behind them. */
bool cdg_is_still_acyclic(struct cdg *g, const struct cdg_added *added)
{
	_cleanup_(search_done) struct search s = { .g = g };
	bool ok = true;

	if (g->lowest <= (size_t)g->n_ports * g->n_vls)
		return cdg_is_acyclic(g);
	for (size_t i = 0; i < added->n && ok; i++)
		ok = search_against_order(&s, &added->all[i]);
	if (ok)
		rank_first(g, &s);
	return ok;
}

bool cdg_cycle(struct cdg *g, struct route_cycle *ret)
{
	_cleanup_(search_done) struct search s;
	size_t closed, first;

	*ret = (struct route_cycle){ .n = 0 };
	search_begin(&s, g);
	closed = search_all(&s);
	if (closed == SIZE_MAX)
		return false;
	for (first = s.n_stack; s.stack[first - 1] != closed; first--)
		assert(first > 1); /* what closed the cycle is open, so it is on the stack */
	ret->steps = xcalloc(s.n_stack - first + 1, sizeof(*ret->steps));
	for (size_t i = s.n_stack; i-- >= first;) { /* the search went against the packets */
		size_t channel = s.stack[i] / g->n_vls;
		uint32_t back = g->peer[channel], sw = g->topo->ports[back].sw;

		ret->steps[ret->n++] = (struct route_cycle_step){
			.sw = sw, .port = (uint8_t)(channel - g->topo->switches[sw].first_port),
			.vl = (uint8_t)(s.stack[i] % g->n_vls),
		};
		if (!i)
			break;
	}
	return true;
}

void route_cycle_done(struct route_cycle *c)
{
	free(c->steps);
	*c = (struct route_cycle){ .n = 0 };
}

/* ---- all that lie on cycles ------------------------------------------------------------------ */

/* The next vertex that leads into `v`. */
static uint32_t next_before(const void *arg, uint32_t v, uint16_t *at)
{
	const struct cdg *g = arg;
	const uint64_t *into = &g->into[(size_t)v * g->n_in * g->words];
	unsigned bits = 64 * g->words;

	for (unsigned i = *at; i < g->n_in * bits; i++) {
		if (!(into[i / 64] >> i % 64)) {
			i |= 63;
			continue;
		}
		if (!(into[i / 64] >> i % 64 & 1))
			continue;
		*at = (uint16_t)(i + 1);
		return (uint32_t)cdg_from(g, v, i / bits, i % bits);
	}
	*at = (uint16_t)(g->n_in * bits);
	return COMPONENTS_END;
}

/* A channel cannot follow itself: it starts at one switch and ends at another. */
uint32_t cdg_on_cycles(const struct cdg *g)
{
	uint32_t n = g->n_ports * g->n_vls;
	_cleanup_(arena_done) struct arena memory = { NULL };
	struct components c = { .n = 0 };

	components_open(&c, &memory, n);
	for (uint32_t v = 0; v < n; v++)
		if (!c.number[v] && g->peer[v / g->n_vls] != TOPO_NONE)
			components_search(&c, v, next_before, g);
	return c.on_cycles;
}
