// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of struct mft_sync, shared by mft.c (groups: what should be) and mft_cells.c (switches:
 * what goes out). Only these two include it.
 */
#pragma once

#include "sync/mft.h"

#define N_MLIDS (MLID_MAX - MLID_MIN + 1u)

enum mft_step { MFT_BUILD, MFT_READ, MFT_CUT };

struct mft_group {
	struct mcast_tree *goal; /* NULL: gone */
	enum mft_step step;
	bool due;	     /* in s->due */
	uint16_t not_served; /* rows of it that do not fit */
	uint32_t excess;     /* CUT: cells that may hold what is not wanted any more */
};

/*
 *   REST --differs, to be read--> QUEUED --sent--> WIRE --ended--> REST or QUEUED
 *                                   ^               |
 *          want changed, topology() |               | MFT_TRIES in a row
 *                                   +---- FAILED <--+
 */
enum mft_cell_state { MFT_REST, MFT_QUEUED, MFT_WIRE, MFT_FAILED };

struct mft_work {
	uint8_t state; /* enum mft_cell_state. Writer: cell_enter() */
	uint8_t tries; /* failed in a row */
	bool awaited;  /* counted in s->reads[] of its block */
	bool changed;  /* what is wanted changed while it was on the wire */
};

/* A switch. */
struct mft_spot {
	struct node *node;
	struct mft_have want;  /* only masks count */
	struct mft_work *work; /* [block * n_positions + position] */
	uint32_t n_work;
	uint32_t *queue; /* modifiers of QUEUED cells, first come first served */
	uint32_t head, tail, cap;
	unsigned in_flight, n_failed;
	unsigned n_positions;
	uint32_t n_high;       /* blocks up to the highest that something was wanted in */
	struct mft_spot *next; /* in the list of spots with work */
	bool listed;
	enum mft_cell_state top; /* of its MulticastFDBTop */
	uint8_t top_tries;

	/* the judgement at hand */
	const struct mcast_row *row; /* of the goal; NULL: none */
	uint32_t boss;		     /* union-find: index of a spot */
};

struct mft_sync {
	struct fabric *fabric;
	struct mad_engine *mad;
	struct mft_hooks hooks;
	struct mft_group groups[N_MLIDS];
	uint16_t *due; /* MLID numbers to be judged in the next feed() */
	uint32_t n_due, cap_due;
	uint16_t used[MFT_MAX_BLOCKS];	/* groups wanted per block */
	bool asked[MFT_MAX_BLOCKS];	/* somebody wants to know what is in it */
	uint32_t reads[MFT_MAX_BLOCKS]; /* cells to be read before the block can be judged */
	uint32_t stuck[MFT_MAX_BLOCKS]; /* those of them that were given up */
	struct mft_spot **spots;
	uint32_t n_spots, cap_spots;
	struct mft_spot *first, *last; /* spots with work */
	unsigned in_flight;
	bool use_top, was_busy;
	bool told; /* all groups have been wanted once: what is not wanted is stale */
	bool sink; /* tops may be lowered when all is judged */
	unsigned n_waiting, n_failed, not_served, tops_due;
	struct mft_outcome outcome;
};

/* What it holds matters: it is read from switches that may hold anything. */
static inline bool block_matters(const struct mft_sync *s, unsigned block)
{
	return s->used[block] || s->asked[block];
}

/* ---- mft.c ---- */

/* What a cell may hold has changed: groups in CUT that only waited for it go on. */
void groups_cell_changed(struct mft_sync *s, struct mft_spot *spot, uint32_t mod,
			 const struct mft_cell *before, const struct mft_cell *after);
/* The last cell of a block that had to be read was. */
void groups_block_read(struct mft_sync *s, unsigned block);
void group_is_due(struct mft_sync *s, unsigned number);

/* ---- mft_cells.c ---- */

struct mft_spot *spot_of(const struct mft_sync *s, const struct node *n);
/* Takes in switches that the fabric has got since. */
void spots_refresh(struct mft_sync *s);
void spot_drop(struct mft_sync *s, struct mft_spot *spot);
/* What the spot should hold of a group; queues what differs. */
void spot_want(struct mft_sync *s, struct mft_spot *spot, unsigned number, const uint64_t mask[4]);
/* Queues what must be read before the block can be judged. */
void spots_read_block(struct mft_sync *s, unsigned block);
/* What was given up is tried again. */
void spots_retry(struct mft_sync *s);
/* Tops as wanted, lower ones too. */
void spots_sink(struct mft_sync *s);
bool spots_tops_due(const struct mft_sync *s);
/* Queued cells leave as far as the engine wants them. */
void spots_feed(struct mft_sync *s);
/* Nothing is wanted, nothing queued; transactions have been cancelled. */
void spots_reset(struct mft_sync *s);
