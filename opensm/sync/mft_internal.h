// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of struct mft_sync, shared by mft.c (groups: the rows that should be), mft_cells.c
 * (switches: the cells that are sent) and mft_due.c (groups to be judged).
 */
#pragma once

#include <sys/queue.h>

#include "fabric/ways.h"
#include "plan/mft_order.h"
#include "sync/smp_sender.h"
#include "sync/mft.h"
#include "sync/rows.h"

#define N_MLIDS (MLID_MAX - MLID_MIN + 1u)

enum mft_step { MFT_BUILD, MFT_READ, MFT_CUT };

struct mft_group {
	struct mcast_tree *goal; /* wanted tree; NULL: the group is gone */
	enum mft_step step;
	bool due;	     /* set if it is in s->due */
	bool sinks;	     /* set if its rows were not final when tops were last lowered */
	uint16_t not_served; /* number of its rows that do not fit */
	uint32_t excess;     /* CUT: number of cells that may hold ports not wanted any more */
};

/*
 *   REST --differs, to be read--> QUEUED --sent--> OUT --ended--> REST or QUEUED
 *                                   ^               |
 *          want changed, topology() |               | MFT_TRIES in a row
 *                                   +-- GIVEN_UP <--+
 *
 * REST: held or unknown, as fabric/mft.h says. OUT: on the wire.
 */
enum mft_cell_state { MFT_REST, MFT_QUEUED, MFT_OUT, MFT_GIVEN_UP };

struct mft_work {
	uint8_t state; /* enum mft_cell_state. Writer: cell_enter() */
	uint8_t tries; /* failed Sets in a row */
	bool awaited;  /* set if counted in s->reads[] of its block */
	bool changed;  /* set if the want changed while a Set was under way */
};

/* A switch. */
struct mft_switch {
	struct node *node;
	struct mft_have want;  /* wanted masks */
	struct mft_work *work; /* [block * n_positions + position] */
	uint32_t n_work;
	uint32_t *queue; /* ring of modifiers of QUEUED cells */
	uint32_t head, tail, cap;
	unsigned in_flight;
	unsigned n_positions;
	uint32_t n_high; /* blocks up to the highest in which something is wanted */
	TAILQ_ENTRY(mft_switch) next_busy; /* among the switches with work, if listed */
	bool listed;
	bool left_alone; /* set if out of reach: not written before topology() */
	enum mft_cell_state top; /* state of its MulticastFDBTop */
	uint8_t top_tries;
};

struct mft_sync {
	struct fabric *fabric;
	struct smp_sender sender;
	struct mft_hooks hooks;
	struct mft_group groups[N_MLIDS];
	uint16_t *due; /* MLID numbers to be judged in the next feed() */
	uint32_t n_due, cap_due;
	uint16_t used[MFT_MAX_BLOCKS];	/* number of wanted groups by block */
	bool asked[MFT_MAX_BLOCKS];	/* set if mft_sync_is_read() was called for the block */
	uint32_t reads[MFT_MAX_BLOCKS]; /* cells to be read before the block can be judged */
	uint32_t stuck[MFT_MAX_BLOCKS]; /* those of them that were given up */
	struct mft_switch **switches;
	uint32_t n_switches, cap_switches;
	struct mft_place *places; /* of the switches, in the judgement at hand */
	uint32_t *sets;
	uint32_t cap_places;
	TAILQ_HEAD(, mft_switch) busy; /* switches with work */
	unsigned in_flight;
	bool use_top, was_busy;
	bool hurry; /* set if cells leave ahead of requests of others */
	struct fabric_ways *ways; /* around dead cables, during a feed; NULL: not needed yet */
	bool complete; /* all groups have been wanted once: other rows are stale */
	bool sink;     /* tops may be lowered when all is judged */
	unsigned n_failed, tops_due;
	struct node *failed_example; /* for the next outcome */
};

/* Does the content of the block matter? Then it is read from switches that may hold anything. */
static inline bool block_matters(const struct mft_sync *s, unsigned block)
{
	return s->used[block] || s->asked[block];
}

/* ---- mft_due.c ---- */

/* The group is judged in the next feed(). */
void group_is_due(struct mft_sync *s, unsigned number);
/* The possible content of a cell has changed: groups in CUT that only waited for it go on. */
void groups_cell_changed(struct mft_sync *s, struct mft_switch *sw, uint32_t mod,
			 const struct mft_cell *before, const struct mft_cell *after);
/* Called when the last cell of a block that had to be read was read. */
void groups_block_read(struct mft_sync *s, unsigned block);

/* ---- mft_cells.c ---- */

struct mft_switch *switch_of(const struct mft_sync *s, const struct node *n);
/* Takes in switches that the fabric has got since. */
void switches_refresh(struct mft_sync *s);
void switch_drop(struct mft_sync *s, struct mft_switch *sw);
/* The row that the switch should hold of a group; queues cells that differ. */
void switch_want(struct mft_sync *s, struct mft_switch *sw, unsigned number,
		 const uint64_t mask[4]);
/* Queues cells that must be read before the block can be judged. */
void switches_read_block(struct mft_sync *s, unsigned block);
/* Cells and tops that were given up are tried again. */
void switches_retry(struct mft_sync *s);
/* Tops as wanted, lower ones too. */
void switches_sink(struct mft_sync *s);
bool switches_tops_due(const struct mft_sync *s);
void switch_leave_alone(struct mft_sync *s, struct mft_switch *sw);
/* Requests under way to switches by routes over dead cables are queued once more. */
void switches_send_anew(struct mft_sync *s);
/* Queued cells leave as far as the engine wants them. */
void switches_feed(struct mft_sync *s);
