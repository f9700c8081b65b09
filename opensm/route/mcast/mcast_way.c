// SPDX-License-Identifier: BSD-2-Clause
/*
 * A connection of two pieces of a tree that certainly closes no cycle: the shortest one whose turns
 * all agree with the known order of channels, in both directions, with the cables of the pieces at
 * its ends as well.
 *
 * The search goes from channel to channel, not from switch to switch, as what may follow depends on
 * where packets came from. Each channel is looked at once, and looks at the ports of its switch.
 */
#include <stdlib.h>

#include "route/mcast/mcast_internal.h"
#include "route/proof/cdg.h"
#include "util/mem.h"

/* Turns looked at in one search; some milliseconds. */
#define TURNS_MAX 400000u

struct way {
	struct mcast_planner *p;
	uint8_t sl;
	uint32_t own, to;      /* tops of the pieces */
	uint64_t (*cables)[4]; /* by switch: its ports with cables of the tree */
	/* by channel: the one before it, plus 2; 1: it begins the connection; 0: not met */
	uint32_t *before;
	uint32_t *queue, n;
	uint32_t turns; /* left */
	uint32_t hit;	/* channel that ends at the other piece; TOPO_NONE: none yet */
};

static uint32_t channel_of(const struct mcast_planner *p, uint32_t sw, unsigned port)
{
	return p->topo->switches[sw].first_port + port;
}

/*
 * Dead cables leave a tree in pieces. Returns the switch at the top of the piece that `sw` is in;
 * MCAST_NONE: the tree does not lead over `sw`.
 */
static uint32_t piece_of(const struct mcast_planner *p, uint32_t sw)
{
	const struct mcast_vertex *s = &p->vertices[sw];

	return s->plan == p->plan && s->in_tree ? mcast_top_of(p, sw) : MCAST_NONE;
}

/* May packets turn from one port to the other, and back? */
static bool turns(struct way *w, uint32_t sw, unsigned one, unsigned other)
{
	w->turns -= w->turns ? 1 : 0;
	return cdg_turn_fits(w->p->depends, sw, one, other, w->sl) &&
	       cdg_turn_fits(w->p->depends, sw, other, one, w->sl);
}

/* May they turn between a port and all cables of the piece there? */
static bool turns_into_piece(struct way *w, uint32_t sw, unsigned port)
{
	for (unsigned word = 0; word < 4; word++)
		for (uint64_t left = w->cables[sw][word]; left; left &= left - 1)
			if (!turns(w, sw, port, word * 64 + (unsigned)__builtin_ctzll(left)))
				return false;
	return true;
}

/* Takes the channel by `port` of `sw`, if it leads on or to the other piece. */
static void take_channel(struct way *w, uint32_t sw, unsigned port, uint32_t before)
{
	uint32_t channel = channel_of(w->p, sw, port);
	const struct topo_port *end = &w->p->topo->ports[channel];
	uint32_t piece = piece_of(w->p, end->sw);

	w->before[channel] = before;
	if (piece == MCAST_NONE)
		w->queue[w->n++] = channel;
	else if (piece == w->to && turns_into_piece(w, end->sw, end->port))
		w->hit = channel;
}

/* From a switch of the own piece (`in` 0), or from one that a channel led to by port `in`. */
static void look_on(struct way *w, uint32_t sw, unsigned in, uint32_t before)
{
	const struct graph *g = w->p->graph;

	GRAPH_EACH(g, sw, group) {
		if (w->p->island[group->to] != w->p->island[sw])
			continue;
		for (unsigned k = 0; k < group->n_ports; k++) {
			uint8_t port = g->ports[group->first_port + k];

			if (w->hit != TOPO_NONE || !w->turns || port == in ||
			    w->before[channel_of(w->p, sw, port)])
				continue;
			if (in ? turns(w, sw, in, port) : turns_into_piece(w, sw, port))
				take_channel(w, sw, port, before);
		}
	}
}

static void note_cables(struct way *w)
{
	for (uint32_t i = 0; i < w->p->n_switches; i++) {
		uint32_t sw = w->p->switches[i];
		const struct mcast_vertex *s = &w->p->vertices[sw];

		if (!s->in_tree || s->parent == MCAST_NONE)
			continue;
		w->cables[sw][s->up_port / 64] |= UINT64_C(1) << s->up_port % 64;
		w->cables[s->parent][s->down_port / 64] |= UINT64_C(1) << s->down_port % 64;
	}
}

static void search(struct way *w)
{
	for (uint32_t i = 0; i < w->p->n_switches; i++)
		if (piece_of(w->p, w->p->switches[i]) == w->own)
			look_on(w, w->p->switches[i], 0, 1);
	for (uint32_t done = 0; done < w->n && w->hit == TOPO_NONE; done++) {
		const struct topo_port *end = &w->p->topo->ports[w->queue[done]];

		look_on(w, end->sw, end->port, w->queue[done] + 2);
	}
}

/* Puts the channels found into w->queue, the last first. 0: one switch is passed twice. */
static uint32_t collect(struct way *w)
{
	uint32_t n = 0;

	w->p->search++;
	for (uint32_t c = w->hit;; c = w->before[c] - 2) {
		uint32_t sw = topo_switch_with(w->p->topo, c);

		if (w->p->seen[sw] == w->p->search)
			return 0;
		w->p->seen[sw] = w->p->search;
		w->queue[n++] = c;
		if (w->before[c] == 1)
			return n;
	}
}

static void connect(struct way *w, uint32_t n)
{
	struct mcast_planner *p = w->p;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = w->queue[i], sw = topo_switch_with(p->topo, c);

		if (i == n - 1)
			mcast_make_top(p, sw);
		mcast_add_switch(p, sw);
		mcast_hang(p, sw, p->topo->ports[c].sw,
			   (uint8_t)(c - p->topo->switches[sw].first_port));
	}
}

bool mcast_join_in_order(struct mcast_planner *p, uint32_t top, uint32_t to, uint8_t sl)
{
	struct way w = {
		.p = p,
		.sl = sl,
		.own = top,
		.to = to,
		.turns = TURNS_MAX,
		.hit = TOPO_NONE,
	};
	uint32_t n = 0;

	w.cables = xcalloc(p->n, sizeof(*w.cables));
	w.before = xcalloc(topo_n_entries(p->topo) + 1ul, sizeof(*w.before));
	w.queue = xcalloc(topo_n_entries(p->topo) + 1ul, sizeof(*w.queue));
	note_cables(&w);
	search(&w);
	if (w.hit != TOPO_NONE)
		n = collect(&w);
	connect(&w, n);
	FREE_ALL(w.cables, w.before, w.queue);
	return n > 0;
}
