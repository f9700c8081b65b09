// SPDX-License-Identifier: BSD-2-Clause
/* The inside of struct sync, shared by the files of sync/ that make stages of a run. */
#pragma once

#include <sys/queue.h>

#include "sync/smp_sender.h"
#include "sync/rows.h"
#include "sync/sync.h"
#include "util/guidmap.h"

#define LFT_MAX_BLOCKS ((LID_MAX_UCAST + 1) / LFT_BLOCK_LIDS)

struct sync {
	struct fabric *fabric;
	struct mad_engine *mad;
	struct sync_hooks hooks;
	struct smp_sender sender;
	struct plan plan;
	enum stage stage;
	uint32_t node, item; /* place of the generator in the present stage */
	struct routed {
		struct node *node;
		uint32_t sw; /* index in the topo of the routes */
	} * routed;
	uint32_t n_routed;
	unsigned epoch; /* lft.c: epoch of the transition, within TABLES */
	/* set if tables were patched while blocks were written: all are compared once more */
	bool again;
	bool is_again; /* set while they are, whatever their epoch */
	struct {
		struct guidmap *blocks; /* those that wait, or have a Set under way */
		TAILQ_HEAD(, lft_now_block) waiting;
		unsigned in_flight;
		mono_t answered; /* time of the last answer */
	} now;			 /* lft_now.c */
	/* lft.c, by block: set if some switch did not take it; the same since the last barrier */
	bool lost[LFT_MAX_BLOCKS], shut[LFT_MAX_BLOCKS];
	bool is_ahead; /* set while a run of sync_start_ahead() is under way */
	unsigned in_flight;
	struct pkeys_task *pkeys_tasks; /* pkeys_now.c: in order of request */
	/* End ports whose P_Keys were planned anew in place since the run began; NULL: none. */
	struct guidmap *replanned;
	unsigned trims_open; /* pkeys.c: live ports that may still hold keys they should not */
	struct guidmap *guid_wants; /* guids.c: port GUID -> struct guid_want */
	bool guids_late;	    /* set if GUIDs were wanted after the stage that writes them */
	unsigned late_passes;	    /* passes of this run for late GUIDs */
	cell_id *slvl_ids;	    /* slvl.c: rows wanted in this run */
	size_t n_slvl_ids;
	struct crossbar *crossbar; /* slvl.c: for the switch whose table is compared */
	uint32_t sm_switch; /* slvl.c: switch of the SM in the topo of the VLs; TOPO_NONE: none */
	struct sync_outcome outcome;
};

/* ---- sync.c ---- */

/*
 * Sends a Set of a run whose end is judged by `on_done`; for exceptions of rows.c only. False: it
 * cannot be sent now.
 */
bool sync_send(struct sync *s, struct port *p, const struct mad_request *what, mad_done_fn on_done,
	       void *arg);

/* Sends a Set of a run, judged by the row of its attribute. False: it cannot be sent now. */
bool sync_set(struct sync *s, struct port *p, const struct mad_request *what);
/* Sends a Get that counts like a Set for the barrier; `on_done` begins with sync_answered(). */
bool sync_get(struct sync *s, struct port *p, uint16_t attr, uint32_t mod, mad_done_fn on_done);
/* Ends a Get. True: it was answered; silence is a fault of the run. */
bool sync_answered(struct sync *s, struct port *p, const struct mad_result *r);
/*
 * Both keep the port as the example of a fault that the log names when the run ends;
 * sync_count_fault() also adds 1 to the number of faults.
 */
void sync_note_fault(struct sync *s, const struct port *p, const struct mad_result *r);
void sync_count_fault(struct sync *s, struct port *p, const struct mad_result *r);
/* Reports a fault by hooks.set_fault(). */
void sync_tell_fault(const struct sync *s, struct port *p, bool silent);
/*
 * Is the node silent, so that it is left out of the stages of this run? It is noted (passed_over),
 * and written to when it answers again.
 */
bool sync_leaves_out(const struct sync *s, struct node *n);
/* Is the port set up by us: port 0, or a port whose cable leads to a known port? */
bool sync_port_is_ours(const struct port *p);

/* ---- differ.c: tables of ports ---- */

/* Writes the blocks of a port that differ from the wanted ones, unless the table was given up. */
void cells_write(struct sync *s, const struct sync_row *row, struct port *p);
/* cells_write() for one block. */
void cells_write_block(struct sync *s, const struct sync_row *row, struct port *p, unsigned block);
/* Sends `payload`, whatever is wanted. False: it cannot be sent now, or a Set is under way. */
bool cells_send(struct sync *s, const struct sync_row *row, struct port *p, unsigned block,
		const uint8_t *payload);
/* Does the port hold its wanted table, as far as it can? True if nothing is wanted. */
bool cells_are_settled(const struct sync *s, const struct sync_row *row, const struct port *p);
/* Was this want given up, as the device does not keep it? */
bool cells_are_given_up(const struct sync *s, const struct sync_row *row, const struct port *p,
			const struct want *w);
/* Is the block to be written? `ret`: its wanted content. */
bool cells_differ(const struct sync *s, const struct sync_row *row, const struct port *p,
		  const struct want *w, unsigned block, uint8_t ret[SMP_DATA_SIZE]);
sync_observe_fn cells_observe;
sync_effect_fn cells_forget, cells_give_up;
sync_tries_fn cells_tries;

/* ---- lft.c ---- */
void lft_start(struct sync *s);
void lft_clear(struct sync *s, struct node *n);
bool lft_feed_drain(struct sync *s);
bool lft_feed_blocks(struct sync *s);
/* The number of blocks that DRAIN or TABLES has gone through, of all epochs, and of all blocks. */
void lft_place(const struct sync *s, uint64_t *ret_done, uint64_t *ret_all);
/* Called at the end of TABLES: true if it is repeated, for the next epoch. */
bool lft_next_epoch(struct sync *s);
/* Called then, if no epoch follows: true if tables were patched meanwhile, and all are compared. */
bool lft_writes_again(struct sync *s);
void lft_ask_refuser(struct sync *s, struct node *n);
void lft_write_top(struct sync *s, struct node *n);
sync_observe_fn lft_observe, lft_observe_clear, lft_observe_top;
sync_effect_fn lft_forget, lft_give_up;
sync_tries_fn lft_tries;

/* ---- lft_now.c ---- */
void lft_now_feed(struct sync *s);
/* Ends the Sets to a node, NULL: to all. Blocks with a Set under way are unknown then. */
void lft_now_stop(struct sync *s, struct node *n);

/* ---- pkeys.c---- */
bool pkeys_are_planned(const struct sync *s);
bool pkeys_are_trimmed(const struct sync *s);
void pkeys_trim(struct sync *s, struct port *p);
sync_ended_fn pkeys_trim_ended;
sync_want_fn pkeys_want;
sync_fill_fn pkeys_fill;
bool pkeys_are_settled(const struct sync *s, const struct port *p);
/* Enforcement bits (enum pkey_enforce) of an external switch port; false: left as they are. */
bool pkeys_enforcement(const struct sync *s, const struct port *p, uint8_t *ret);

/* The form of a key that the table allows: itself, its limited form, or 0. */
uint16_t pkeys_allowed(struct pkey_table table, uint16_t key);

/* ---- pkeys_now.c ---- */
void pkeys_feed_now(struct sync *s);
/* Ends the tasks in which the node takes part; NULL: all tasks. */
void pkeys_forget_now(struct sync *s, const struct node *n);
bool pkeys_are_overtaken(const struct sync *s, const struct port *p, uint32_t mod);

/* ---- guids.c ---- */
bool guids_are_wanted(const struct sync *s);
sync_want_fn guids_want;
sync_fill_fn guids_fill;
bool guids_are_overtaken(const struct sync *s, const struct port *p, uint32_t mod);
sync_ended_fn guids_ended;
struct guidmap *guids_free(struct guidmap *wants);

/* ---- slvl.c ---- */
void slvl_start(struct sync *s);
sync_want_fn slvl_want, shares_want;
sync_fill_fn slvl_fill, shares_fill;
bool slvl_is_quiet(const struct sync *s);
/* Are tables wanted? May tables be left that were wanted before? */
bool slvl_is_wanted(const struct sync *s);
bool slvl_is_left(const struct sync *s);
void slvl_write(struct sync *s, struct node *n);
/* Are SL2VL and VL arbitration of the port as wanted, as far as it can? */
bool slvl_is_settled(const struct sync *s, const struct port *p);
/* The VLHighLimit of the port; -1: stays as it is. */
int slvl_high_limit(const struct sync *s, const struct port *p);
/* The switch of an end port in the topo of the VLs; TOPO_NONE: none. */
uint32_t slvl_switch_of(const struct sync *s, const struct port *end);
/* The SL of packets from an end port to the SM. */
uint8_t slvl_sm_sl(const struct sync *s, const struct port *p);

/* ---- link.c ---- */
void link_write_speed(struct sync *s, struct port *p);
/* Is PortInfo written in this run? Not ahead of routes if a port is ACTIVE. */
bool link_is_due(const struct sync *s);
void link_arm(struct sync *s, struct port *p);
void link_write_key(struct sync *s, struct node *n);
void link_activate(struct sync *s, struct port *p);
sync_observe_fn link_observe, link_observe_state, link_observe_speed;
sync_effect_fn link_doubt, link_note_unstored, link_forget_speed;
sync_tries_fn link_tries;
bool link_look_into(struct sync *s, struct port *p, const struct mad_result *r);
