// SPDX-License-Identifier: BSD-2-Clause
/*
 * Channel dependencies without a cycle, one at a time: whether one more fits is mostly a comparison
 * of two numbers.
 *
 * A channel is a cable between switches in one direction, or all parallel cables, or one VL of
 * them. A *turn* is a channel and one that leaves where it ends. Channels stand in an order in
 * which every turn taken so far leads forward (Pearce and Kelly, 2006). A turn that leads forward
 * costs nothing. One that leads backward makes those channels change places that lie between its
 * ends and are reached from it; if they reach back, it would close a cycle, and is refused.
 *
 * The graph that proves tables is another one: cdg.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topo/topo.h"
#include "util/mem.h"

#define CHANNEL_NONE UINT32_MAX

/* What all orders of a fabric share. */
struct cdg_channels {
	uint32_t n_switches, n; /* channels */
	uint32_t *first;	/* n_switches + 1: of a switch first[s] .. first[s + 1] - 1 */
	uint32_t *to;		/* per channel: switch where it ends */
	uint32_t *back;		/* per channel: the same cables, other direction */
	uint32_t *deps;		/* n + 1: turns from channel c are deps[c] .. deps[c + 1] - 1 */
	size_t *row;		/* n + 1: first word of its bits, one per channel of the switch */
	uint32_t *of_port;	/* per entry of topo->ports: channel or CHANNEL_NONE; may be NULL */
	struct arena memory;
};

/* One per cable and direction, in the order of switches and ports. */
struct cdg_channels *cdg_channels_new(const struct topo *t);
/* For the caller to fill in first, to and back, and then cdg_channels_close(). No of_port. */
struct cdg_channels *cdg_channels_open(uint32_t n_switches, uint32_t n);
void cdg_channels_close(struct cdg_channels *c);
struct cdg_channels *cdg_channels_free(struct cdg_channels *c);

/* The switch that the channel leaves. */
static inline uint32_t cdg_tail(const struct cdg_channels *c, uint32_t channel)
{
	return c->to[c->back[channel]];
}

/* The number of the turn from `in` to `out`, which leaves where `in` ends. */
static inline uint32_t cdg_turn_number(const struct cdg_channels *c, uint32_t in, uint32_t out)
{
	return c->deps[in] + out - c->first[c->to[in]];
}

struct cdg_order;

enum cdg_turn {
	CDG_TAKEN,
	CDG_FORWARD, /* not taken yet, but sure to fit */
	CDG_UNSURE,  /* cdg_order_add() would say */
	CDG_REFUSED, /* would close a cycle, or leads back through the cable it came by */
};

/* `c` must live as long. The caller frees. Channels stand in the order of their numbers. */
struct cdg_order *cdg_order_new(const struct cdg_channels *c);
struct cdg_order *cdg_order_free(struct cdg_order *o);
FREEP(cdg_order_free, struct cdg_order)

/* `channels`: all of them, in the order to begin with. Only while there are no turns. */
void cdg_order_arrange(struct cdg_order *o, const uint32_t *channels);
enum cdg_turn cdg_order_look(const struct cdg_order *o, uint32_t in, uint32_t out);
/* Takes the turn from channel `in` to `out`; false, and nothing changes: it closes a cycle. */
bool cdg_order_add(struct cdg_order *o, uint32_t in, uint32_t out);

/*
 * What was added after cdg_order_mark() goes when its result is given to cdg_order_undo(); without
 * refusals between two marks their difference is the number of turns. cdg_order_forget(): what
 * there is stays, marks count from 0 again.
 */
uint32_t cdg_order_mark(const struct cdg_order *o);
void cdg_order_undo(struct cdg_order *o, uint32_t mark);
void cdg_order_forget(struct cdg_order *o);

/* Many turns at once, set unasked; settle: false: a cycle, and the order is of no more use. */
void cdg_order_set(struct cdg_order *o, uint32_t in, uint32_t out);
bool cdg_order_settle(struct cdg_order *o);
