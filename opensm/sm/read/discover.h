// SPDX-License-Identifier: BSD-2-Clause
/*
 * Discovery: what is there is read, breadth first, or where something changed.
 *
 *   SETTLED --discover_stamp()--> READING --not discover_busy()--> READ --discover_finish()-->
 *   SETTLED
 *                                    |
 *                                    '-- our own port is silent, or answers contradict each
 *                                        other: nothing of it counts
 */
#pragma once

#include "mad/mad.h"
#include "sm/sm.h"

struct cell_reader;
struct discover;

/* Questions of discovery before it accepts an answer. */
struct discover_questions {
	/* This SwitchInfo says that nothing happened since its ports were read. */
	bool (*is_unchanged)(const struct sm *sm, const struct node *n, const uint8_t *switch_info);
	/* `end` answered behind `claimant`, and is known elsewhere: the old place is read first. */
	bool (*is_in_question)(struct sm *sm, struct port *claimant, struct port *end);
	/* The link at `p` is not to be looked through. */
	bool (*is_hidden)(const struct sm *sm, const struct port *p);
};
void discover_new(struct sm *sm, const struct discover_questions *ask);
void discover_free(struct sm *sm);
void discover_start(struct sm *sm);
bool discover_busy(const struct sm *sm);
/* silent.c: a sweep goes on without nodes that were never met and are late to answer. */
void discover_serve(struct sm *sm);
mono_t discover_next(const struct sm *sm);
/* No switch has a LID, as far as they are read: no manager was here since the power came on. */
bool discover_is_cold(const struct sm *sm);
/*
 * A sweep begins to read, what has changed (`partial`) or all: its number, from now on
 * sm->sweep_no.
 */
uint32_t discover_stamp(struct sm *sm, bool partial);
/* With a sweep: a quarantine of the port that is over will be logged anew. */
void discover_port_begins(struct port *p);
/*
 * Some nodes have keys of before, and others behind, a change of keys: in the sweep that goes on
 * both are tried at once, and nodes that have not answered are asked anew.
 */
void discover_keys_are_mixed(struct sm *sm);
bool discover_is_partial(const struct sm *sm);
/* Ports that name this LID as that of their master are as ours; 0: none are. */
void discover_know_master(struct sm *sm, lid_t lid);
/* A question that the sweep waits for was put outside of discovery, and has ended. */
void discover_waits(struct sm *sm);
void discover_answered(struct sm *sm);
/* In this sweep a cable between switches was out, and may have led elsewhere meanwhile. */
bool discover_cables_moved(const struct sm *sm);
/* Reading has settled: the picture is that of this sweep. Its number, later. */
void discover_settled(struct sm *sm);
uint32_t discover_picture(const struct sm *sm);
/* Get of `attr` from a switch, `n` as argument of `fn`; the caller counts what is pending. */
void discover_get(struct sm *sm, struct node *n, uint16_t attr, uint32_t mod, mad_done_fn fn);
/* SwitchInfo, and what follows from it; PortInfo of one port, and the node behind it. */
void discover_read_switch(struct sm *sm, struct node *n);
void discover_read_port(struct sm *sm, struct port *p);
/* Another node may be behind `p` by now: it is asked once more when `p` has been read. */
void discover_doubt_cable(struct port *p);
/* node_desc.c */
/* The node answered some question. */
void node_desc_heard(struct sm *sm, struct node *n);
/* The same, of a node that a sweep meets: it is not missed any more. */
void node_desc_met(struct sm *sm, struct node *n);
/* Of a host whose link is up: one record until it answers, bounded in number by the fault log. */
void node_desc_say_silent(struct sm *sm, struct node *n);
/* After so many heavy sweeps in a row that miss it a node with a live link is forgotten. */
#define MAX_MISSES 3
void discover_ask_desc(struct sm *sm, struct port *p, const struct dr_path *path);
/* The same through any port of the node that can be asked. */
void discover_ask_desc_again(struct sm *sm, struct node *n);
/* The same; one that is asked right now may have answered before it was renamed: asked again. */
void discover_renew_desc(struct sm *sm, struct node *n);
/*
 * The node of end port `p` says that it has another description: read once more, whatever is under
 * way.
 */
void discover_desc_changed(struct sm *sm, struct port *p);
/* The key for the node behind `p`: known neighbours first. */
uint64_t discover_probe_mkey(struct sm *sm, const struct port *p);
/* Other M_Keys have become likely for this port: they are tried at once, the likeliest first. */
void discover_behind_again(struct port *p);
/* A question to it with this key was not answered: the next one goes with another. */
void discover_doubt_behind(struct sm *sm, struct port *p, uint64_t m_key);

/* read_cell.c */
void cell_reader_new(struct sm *sm, const struct sm_paths *paths);
/* Readings under way end now, with NULL; for `n` only, or all of them, and the reader too. */
void cell_reader_node_goes(struct sm *sm, struct node *n);
void cell_reader_end(struct sm *sm);
/*
 * Reads a table from the device behind `p`. -EAGAIN: too many questions; -ENOENT: it cannot be
 * asked now (out of reach, silent). 0: done(arg, payload) is called once, later; the payload
 * (SMP_DATA_SIZE bytes, valid during the call) is NULL if there was no good answer.
 */
typedef void (*cell_done_fn)(void *arg, const uint8_t *payload);
int discover_read_cell(struct sm *sm, struct port *p, uint16_t attr, uint32_t mod,
		       cell_done_fn done, void *arg);

/* forget.c */
/* Takes a node out, its requests with it. */
void forget_node(struct sm *sm, struct node *n);
/*
 * A multicast table reached another switch than was meant: one whose links changed. What these
 * hold is read again.
 */
void forget_stray_mfts(struct sm *sm);
void discover_finish(struct sm *sm); /* takes out what is gone */

/*
 * The fabric is what the last sweep read, or carried over: stamps (node->seen ...) say sweep_no for
 * all that is there. False while a sweep reads, and after one that broke off: only one that reads
 * everything may follow.
 */
bool picture_holds(const struct sm *sm);
