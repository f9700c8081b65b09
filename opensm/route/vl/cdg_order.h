// SPDX-License-Identifier: BSD-2-Clause
/*
 * A set of channel dependencies without a cycle, to which dependencies are added one at a time;
 * most additions take a comparison of two numbers.
 *
 * A channel is a cable between switches in one direction, or all parallel cables, or one VL of
 * them. A *turn* is a channel and one that leaves where it ends. Channels stand in an order in
 * which every turn of the set leads forward (Pearce and Kelly, 2006). A turn that leads forward is
 * added at once. For one that leads backward, the channels between its ends that depend on each
 * other change places; if it would close a cycle, it is refused.
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

/* Facts on channels that all orders of a fabric share. */
struct cdg_channels {
	uint32_t n_switches, n; /* n: number of channels */
	uint32_t *first;	/* by switch: its channels are first[s] .. first[s + 1] - 1 */
	uint32_t *to;		/* by channel: the switch where it ends */
	uint32_t *back;		/* by channel: the same cables in the other direction */
	uint32_t *deps;		/* by channel: its turns are deps[c] .. deps[c + 1] - 1 */
	size_t *row; /* by channel: first word of its bits, one per channel of the switch */
	uint32_t *of_port;	/* by entry of topo->ports: channel or CHANNEL_NONE; may be NULL */
	struct arena memory;
};

/* A channel per cable and direction, in the order of switches and ports. */
struct cdg_channels *cdg_channels_new(const struct topo *t);
/* For a caller that fills first, to and back, and then calls cdg_channels_close(). No of_port. */
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
	CDG_FORWARD, /* not in the set, but sure to fit */
	CDG_UNSURE,  /* cdg_order_add() must be asked */
	CDG_REFUSED, /* would close a cycle, or leads back through its own cable */
};

/* An empty set; channels in the order of their numbers. `c` must live as long. The caller frees. */
struct cdg_order *cdg_order_new(const struct cdg_channels *c);
struct cdg_order *cdg_order_free(struct cdg_order *o);
FREEP(cdg_order_free, struct cdg_order)

/* Sets the initial order of all channels. Only while the set is empty. */
void cdg_order_arrange(struct cdg_order *o, const uint32_t *channels);
enum cdg_turn cdg_order_look(const struct cdg_order *o, uint32_t in, uint32_t out);
/* Adds the turn from channel `in` to `out`. False: it would close a cycle, and nothing changed. */
bool cdg_order_add(struct cdg_order *o, uint32_t in, uint32_t out);

/* The number of channels that all searches since the beginning went through: what they cost. */
uint64_t cdg_order_work(const struct cdg_order *o);

/*
 * cdg_order_undo() removes the turns added since the cdg_order_mark() that returned `mark`; without
 * refusals the difference of two marks is the number of turns. cdg_order_forget() makes all turns
 * permanent, and marks count from 0 again.
 */
uint32_t cdg_order_mark(const struct cdg_order *o);
void cdg_order_undo(struct cdg_order *o, uint32_t mark);
void cdg_order_forget(struct cdg_order *o);

/*
 * Removes all turns of these channels, e.g. of cables that died; turns that were refused may fit
 * now. Not while turns can be undone: the mark is 0.
 */
void cdg_order_cut(struct cdg_order *o, const uint32_t *channels, size_t n);

/* Makes `o` equal to `of`, which has the same channels, and no turns that can be undone. */
void cdg_order_become(struct cdg_order *o, const struct cdg_order *of);

/*
 * For many turns at once: cdg_order_set() adds without a check. cdg_order_settle() finds the order;
 * false: there is a cycle, and the set is useless.
 */
void cdg_order_set(struct cdg_order *o, uint32_t in, uint32_t out);
bool cdg_order_settle(struct cdg_order *o);
