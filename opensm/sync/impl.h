// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inside of struct sync, shared by the files of sync/ that make stages of a run.
 *
 *   sync.c    the door, the run           tables.c  switches: CLEAR, DRAIN, TABLES, TOP
 *   pkeys.c   TRIM, PKEYS, CHECKS         link.c    SPEED, ARM, ACTIVE
 *   guids.c   GUIDS                       slvl.c    LANES, LEFTOVERS
 *
 * A stage is a generator: a function that takes one step (a node, a block of a switch), queues what
 * differs there, and returns false when there is no further step.
 */
#pragma once

#include "sync/sync.h"

/* Sets in a row that may be refused before a want is given up until it changes. */
#define MAX_REFUSALS	3
/* How often a run goes back for alias GUIDs that were wanted meanwhile; hosts want them as they please. */
#define MAX_LATE_PASSES 3

#define LFT_MAX_BLOCKS	((LID_MAX_UCAST + 1) / LFT_BLOCK_LIDS)

enum stage {
	ST_IDLE,
	ST_CLEAR,
	ST_TRIM,
	ST_LANES,
	ST_DRAIN,
	ST_TABLES,
	ST_REFUSERS,
	ST_TOP,
	ST_LEFTOVERS,
	ST_PKEYS,
	ST_CHECKS,
	ST_GUIDS,
	ST_SPEED,
	ST_ARM,
	ST_ACTIVE,
	ST_END
};

struct sync {
	struct fabric *fabric;
	struct mad_engine *mad;
	struct sync_hooks hooks;
	struct plan plan;
	enum stage stage;
	uint32_t node, item; /* the generator's place */
	struct routed {
		struct node *node;
		uint32_t sw; /* in the topo of the routes */
	} * routed;
	uint32_t n_routed;
	unsigned epoch; /* tables.c: of the transition, within TABLES */
	/* tables.c, per block: some switch did not take it; and that is so since the last barrier */
	bool lost[LFT_MAX_BLOCKS], shut[LFT_MAX_BLOCKS];
	unsigned in_flight;
	unsigned trims_open; /* pkeys.c: live ports that may still hold what they shall lose */
	struct guidmap *guid_wants; /* guids.c: port GUID -> struct guid_want */
	bool guids_late;	    /* wanted after the stage that writes them */
	unsigned late_passes;	    /* of this run, because of that */
	cell_id *slvl_ids;  /* slvl.c: rows that are wanted in this run */
	size_t n_slvl_ids;
	struct slvl_shares { /* slvl.c: VLArb blocks that are wanted, by kind of port, block, VLs */
		uint8_t cap; /* entries of the table; 0: not made yet */
		uint8_t payload[SMP_DATA_SIZE];
	} * slvl_shares;
	uint32_t sm_switch; /* slvl.c: where we are, in the topo of the lanes; TOPO_NONE */
	struct sync_outcome outcome;
};

/* ---- sync.c ---- */

/* The one door through which every Set of a run leaves. False: nothing may be written now. */
bool sync_send(struct sync *s, struct port *p, const struct mad_request *what, mad_done_fn on_done,
	       void *arg);
/* A question in between, counted like a Set for the barrier: its completion takes in_flight back. */
void sync_ask(struct sync *s, struct port *p, const struct mad_request *what, mad_done_fn on_done,
	      void *arg);
/* Bookkeeping every completion of a Set shares. True if the request was answered well. */
bool sync_ended_well(struct sync *s, struct node *n, const struct mad_result *r);
/* Silent: stays out of this run's stages. */
bool sync_leaves_out(const struct sync *s, const struct node *n);
/* Calls `fn` for every port of the next node. */
bool sync_feed_ports(struct sync *s, void (*fn)(struct sync *s, struct port *p));
/* Ports that are ours to set up: port 0 and ports whose cable leads to somebody known. */
bool sync_port_is_ours(const struct port *p);

/* ---- tables.c ---- */
void tables_start(struct sync *s);
bool tables_feed_clear(struct sync *s);
bool tables_feed_drain(struct sync *s);
bool tables_feed_blocks(struct sync *s);
/* TABLES is exhausted: true if it comes again, for the next epoch. */
bool tables_next_epoch(struct sync *s);
bool tables_feed_refusers(struct sync *s);
bool tables_feed_top(struct sync *s);

/* ---- pkeys.c---- */
bool pkeys_feed_trim(struct sync *s);
bool pkeys_feed_ends(struct sync *s);
bool pkeys_feed_checks(struct sync *s);
/* Does the port hold the P_Keys it shall, as far as it can? True where nothing is planned for it. */
bool pkeys_are_settled(const struct sync *s, const struct port *p);
/* Enforcement bits (enum pkey_enforce) of an external switch port; false: they stay as they are. */
bool pkeys_enforcement(const struct sync *s, const struct port *p, uint8_t *ret);

/* ---- guids.c ---- */
bool guids_feed(struct sync *s);
/* What the run left open leaves now. */
void guids_run_ended(struct sync *s);
struct guidmap *guids_free(struct guidmap *wants);

/* ---- slvl.c ---- */
void slvl_start(struct sync *s);
/* Tables that are wanted; and those that nobody wants any more. */
bool slvl_feed(struct sync *s);
bool slvl_feed_leftovers(struct sync *s);
/* Does the port map SLs, and share its VLs, as it shall, as far as it can? */
bool slvl_is_settled(const struct sync *s, const struct port *p);
/* VLHighLimit of the port; -1: it stays as it is. */
int slvl_high_limit(const struct sync *s, const struct port *p);
/* The switch that an end port is at, in the topo of the lanes; TOPO_NONE. */
uint32_t slvl_switch_of(const struct sync *s, const struct port *end);
/* The SL of what an end port sends to us. */
uint8_t slvl_sm_sl(const struct sync *s, const struct port *p);

/* ---- link.c ---- */
bool link_feed_speed(struct sync *s);
bool link_feed_arm(struct sync *s);
bool link_feed_active(struct sync *s);
