// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cycles in the union of old and new entries, LID by LID. Only LIDs that change are looked at: a
 * first pass over the rows marks them in streaming order.
 */
#include "route/transition.h"

#include <string.h>

#include "util/mem.h"

enum colour { WHITE, GREY, BLACK };

struct walk {
	const struct routes *new;
	const struct routes *old;
	uint32_t *old_sw;   /* switch of new's topo -> of old's, TOPO_NONE */
	uint8_t *colour;    /* per switch */
	uint32_t *stack;    /* switches entered; at most each once */
	uint8_t *next_edge; /* per switch: 0 new, 1 old, 2 done */
};

static uint8_t old_port(const struct walk *w, uint32_t sw, lid_t lid)
{
	uint32_t o = w->old_sw[sw];

	return o == TOPO_NONE ? LFT_NO_PORT : routes_port(w->old, o, lid);
}

/* The switch behind a port as cables are now; TOPO_NONE: a host, ourselves, nothing. */
static uint32_t behind(const struct topo *t, uint32_t sw, uint8_t port)
{
	if (port == 0 || port > t->switches[sw].n_ports)
		return TOPO_NONE;
	return topo_port(t, sw, port)->sw;
}

static uint32_t edge(const struct walk *w, uint32_t sw, lid_t lid, unsigned which)
{
	uint8_t port = which ? old_port(w, sw, lid) : routes_port(w->new, sw, lid);

	return behind(w->new->topo, sw, port);
}

/* Depth first from `start`; true when it comes back to a switch it is still in. */
static bool finds_cycle(struct walk *w, uint32_t start, lid_t lid)
{
	uint32_t depth = 0;

	w->stack[depth++] = start;
	w->colour[start] = GREY;
	w->next_edge[start] = 0;
	while (depth) {
		uint32_t sw = w->stack[depth - 1], to;

		if (w->next_edge[sw] == 2) {
			w->colour[sw] = BLACK;
			depth--;
			continue;
		}
		to = edge(w, sw, lid, w->next_edge[sw]++);
		if (to == TOPO_NONE || w->colour[to] == BLACK)
			continue;
		if (w->colour[to] == GREY)
			return true;
		w->stack[depth++] = to;
		w->colour[to] = GREY;
		w->next_edge[to] = 0;
	}
	return false;
}

static bool may_loop(struct walk *w, lid_t lid)
{
	uint32_t n = w->new->topo->n_switches;

	memset(w->colour, WHITE, n);
	for (uint32_t sw = 0; sw < n; sw++) {
		if (w->colour[sw] == WHITE && finds_cycle(w, sw, lid))
			return true;
	}
	return false;
}

/* Marks the LIDs with an entry that leads somewhere before and elsewhere after. */
static uint32_t mark_changed(const struct walk *w, uint8_t *changed)
{
	uint32_t n_changed = 0;
	lid_t top = MIN(w->new->top, w->old->top);

	for (uint32_t sw = 0; sw < w->new->topo->n_switches; sw++) {
		const uint8_t *row = routes_row(w->new, sw), *was;

		if (w->old_sw[sw] == TOPO_NONE)
			continue;
		was = routes_row(w->old, w->old_sw[sw]);
		for (uint32_t lid = 1; lid <= top; lid++)
			changed[lid] |= (row[lid] != was[lid]) & (was[lid] != LFT_NO_PORT);
	}
	for (uint32_t lid = 1; lid <= top; lid++)
		n_changed += changed[lid];
	return n_changed;
}

static void walk_open(struct walk *w, const struct routes *old, const struct routes *new)
{
	const struct topo *t = new->topo;
	size_t n = MAX(t->n_switches, 1u);

	*w = (struct walk){ .old = old, .new = new };
	w->old_sw = xcalloc(n, sizeof(*w->old_sw));
	w->colour = xcalloc(n, 1);
	w->stack = xcalloc(n, sizeof(*w->stack));
	w->next_edge = xcalloc(n, 1);
	for (uint32_t sw = 0; sw < t->n_switches; sw++)
		w->old_sw[sw] = topo_find_switch(old->topo, t->switches[sw].guid);
}

static void walk_close(struct walk *w)
{
	free(w->old_sw);
	free(w->colour);
	free(w->stack);
	free(w->next_edge);
}

struct transition *transition_find(const struct routes *old, const struct routes *new)
{
	_cleanup_(transition_freep) struct transition *t = xcalloc(1, sizeof(*t));
	struct walk w;

	t->top = new->top;
	t->drain = xcalloc(new->top + 1u, 1);
	walk_open(&w, old, new);
	if (mark_changed(&w, t->drain)) {
		for (uint32_t lid = 1; lid <= new->top; lid++) {
			t->drain[lid] = t->drain[lid] && may_loop(&w, lid);
			t->n_lids += t->drain[lid];
		}
	}
	walk_close(&w);
	return t->n_lids ? take(t) : NULL;
}

struct transition *transition_free(struct transition *t)
{
	if (!t)
		return NULL;
	free(t->drain);
	free(t);
	return NULL;
}

void transition_freep(struct transition **t)
{
	*t = transition_free(*t);
}
