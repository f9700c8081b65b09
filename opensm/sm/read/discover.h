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

/* Questions that discovery asks before it accepts an answer. */
struct discover_questions {
	/* Does this SwitchInfo say that nothing happened since its ports were read? */
	bool (*is_unchanged)(const struct sm *sm, const struct node *n, const uint8_t *switch_info);
	/* Is `end`, behind `claimant`, known elsewhere? Its old place is read first then. */
	bool (*is_in_question)(struct sm *sm, struct port *claimant, struct port *end);
	/* Is the link at `p` not to be looked through? */
	bool (*is_hidden)(const struct sm *sm, const struct port *p);
};
void discover_new(struct sm *sm, const struct discover_questions *ask);
void discover_start(struct sm *sm);
bool discover_busy(const struct sm *sm);
/* silent.c: lets a sweep go on without nodes that were never met and are late to answer. */
void discover_serve(struct sm *sm);
mono_t discover_next(const struct sm *sm);
/* Has no switch that was read a LID, so that no manager was here since the power came on? */
bool discover_is_cold(const struct sm *sm);
/*
 * Begins to read for a sweep, what has changed (`partial`) or all. Returns its number, which is
 * sm->sweep_no from now on.
 */
uint32_t discover_stamp(struct sm *sm, bool partial);
/* Called for each port at the start of a sweep: a quarantine that ends will be logged anew. */
void discover_port_begins(struct port *p);
/*
 * Called when some nodes have keys of before a change of keys and others of after it: both are
 * tried at once for the rest of the sweep, and nodes that have not answered are asked anew.
 */
void discover_keys_are_mixed(struct sm *sm);
bool discover_is_partial(const struct sm *sm);
/* Sets the LID of our master: ports that name it as their MasterSMLID are ours; 0: none are. */
void discover_know_master(struct sm *sm, lid_t lid);
/* A question from outside of discovery, which the sweep waits for, begins; it has ended. */
void discover_waits(struct sm *sm);
void discover_answered(struct sm *sm);
/* Was a cable between switches down in this sweep, so that it may lead elsewhere now? */
bool discover_cables_moved(const struct sm *sm);
/* Reading has settled: the fabric is as this sweep read it. discover_picture(): its number. */
void discover_settled(struct sm *sm);
uint32_t discover_picture(const struct sm *sm);
/* Sends Get of `attr` to a switch, with `n` as argument of `fn`; the caller counts it. */
void discover_get(struct sm *sm, struct node *n, uint16_t attr, uint32_t mod, mad_done_fn fn);
/* Reads SwitchInfo and acts on it; reads PortInfo of one port, and the node behind it. */
void discover_read_switch(struct sm *sm, struct node *n);
void discover_read_port(struct sm *sm, struct port *p);
/* Has the node behind `p` asked again after `p` was read, as another one may be there by now. */
void discover_doubt_cable(struct port *p);
/* node_desc.c */
/* Called when the node has answered any question. */
void node_desc_heard(struct sm *sm, struct node *n);
/* node_desc_heard() for a node that a sweep meets: it is not missing any more. */
void node_desc_met(struct sm *sm, struct node *n);
/* Logs once that a host with a live link is silent, until it answers; limited by the fault log. */
void node_desc_say_silent(struct sm *sm, struct node *n);
/* Number of heavy sweeps in a row after which a missing node with a live link is removed. */
#define MAX_MISSES 3
void discover_ask_desc(struct sm *sm, struct port *p, const struct dr_path *path);
/* discover_ask_desc() through any port of the node that can be asked. */
void discover_ask_desc_again(struct sm *sm, struct node *n);
/* discover_ask_desc_again(), repeated if an answer under way may be older than the change. */
void discover_renew_desc(struct sm *sm, struct node *n);
/*
 * Called when the node of end port `p` reports another NodeDescription: reads it once more, even if
 * a question for it is under way.
 */
void discover_desc_changed(struct sm *sm, struct port *p);
/* The M_Key to send to the node behind `p`: that of known neighbours first. */
uint64_t discover_probe_mkey(struct sm *sm, const struct port *p);
/* Other M_Keys have become likely for this port: tries them at once, the likeliest first. */
void discover_behind_again(struct port *p);
/* Called when a question to it with this key was not answered: the next one uses another. */
void discover_doubt_behind(struct sm *sm, struct port *p, uint64_t m_key);

/* read_cell.c */
/* Ends readings of `n` that are under way with NULL. */
void cell_reader_node_goes(struct sm *sm, struct node *n);
/*
 * Reads a table from the device behind `p`. Returns 0: done(arg, payload) is called once, later;
 * the payload (SMP_DATA_SIZE bytes, valid during the call) is NULL without a valid answer. -EAGAIN:
 * too many questions; -ENOENT: it cannot be asked now (out of reach, silent).
 */
typedef void (*cell_done_fn)(void *arg, const uint8_t *payload);
int discover_read_cell(struct sm *sm, struct port *p, uint16_t attr, uint32_t mod,
		       cell_done_fn done, void *arg);

/* forget.c */
/* Removes a node, and its requests. */
void forget_node(struct sm *sm, struct node *n);
/*
 * Called when a multicast table reached another switch than intended, one whose links changed: has
 * the tables of such switches read again.
 */
void forget_stray_mfts(struct sm *sm);
void discover_finish(struct sm *sm); /* removes nodes that are gone */

/*
 * Is the fabric what the last sweep read, or carried over? Then stamps (node->seen ...) are
 * sweep_no for all that is there. False while a sweep reads, and after one that broke off: only a
 * sweep that reads everything may follow.
 */
bool picture_holds(const struct sm *sm);
