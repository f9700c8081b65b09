// SPDX-License-Identifier: BSD-2-Clause
/*
 * The one writer of facts: an answer goes in, a delta comes out.
 *
 * All answers of devices pass here, whatever asked: discovery, light sweeps, adoption, and the
 * answers to Sets. The machines of sm/ act on the delta: the table deltas[] in sm/sm.c says which.
 *
 * Payloads are as a device sent them, at least as long as the attribute. What they claim is bounded
 * here: a NodeInfo that cannot be is no node, a block outside of a table is none.
 */
#pragma once

#include "fabric/fabric.h"

/* The order is that in which deltas have their effects. */
enum delta_kind {
	DELTA_OTHER_LID,  /* an end port has a LID that it neither had nor was given */
	DELTA_PORT,	  /* PortInfo is not as it was known; counters and IsSM do not count */
	DELTA_LINK_OUT,	  /* the link was out: it is in INIT, or DOWN and was not */
	DELTA_LINK_FELL,  /* INIT or DOWN, from a higher state */
	DELTA_PORT_STATE, /* PortInfo was read; `before` is the state before */
	DELTA_TRAINED,	  /* INIT or DOWN, and another state before: it lost what was written */
	DELTA_LINK_DOWN,  /* the link went down: its cable is still known, until all know of it */
	DELTA_CABLE,	  /* another cable end than before is behind `port` */
	DELTA_CABLE_GONE, /* `port` leads to itself: its cable is still known */
	DELTA_MET,	  /* `far`, behind `port`, is there */
	DELTA_BACK,	  /* what was silent, or not met any more, answers again */
	DELTA_NODE_NEW,
	DELTA_TABLE, /* a forwarding table is not what was known: all of `node` are unknown */
	DELTA_IS_SM, /* a subnet manager has come to a port that was known, or has gone */
	DELTA_DESCRIBED, /* the first description since the node was met */
	DELTA_NAME,	 /* another description or SystemImageGUID */
	N_DELTAS
};
#define DELTA(kind) (1u << (kind))

/* What an answer has changed: of a node, or of a port and the other end of its cable. */
struct delta {
	unsigned kinds; /* set of DELTA() */
	struct node *node;
	struct port *port, *far;
	enum ib_port_state before;
};

/* ---- nodes ---- */

/*
 * The node of a NodeInfo (14.2.5.3), known or new, and the port that answered. The node is NULL if
 * the payload makes no sense, the port if the node has no such port. Changes nothing but to add a
 * node: a known one that differs is told by observe_is_same().
 */
struct delta observe_node_info(struct fabric *f, const uint8_t *node_info);
/* False: another node than `n`, with its GUID. */
bool observe_is_same(const struct node *n, const uint8_t *node_info);
/*
 * The node of that delta is ours, and its port the one where directed routes begin: it answered
 * with this M_Key.
 */
void observe_own(struct fabric *f, const struct delta *d, const uint8_t *node_info, uint64_t m_key);
/* A sweep begins that reads some nodes: of the others nothing has changed. */
void observe_begin(struct node *n);
/* SystemImageGUID of a node whose NodeInfo was asked for that: DELTA_NAME. */
struct delta observe_image(struct node *n, const uint8_t *node_info);
/* NodeDescription (14.2.5.2): DELTA_DESCRIBED, or DELTA_NAME if it was known and is another. */
struct delta observe_description(struct node *n, const uint8_t *payload);
/* The node is reached by this directed route. */
void observe_path(struct node *n, const struct dr_path *path);
/*
 * Something that is shown of the node beside facts is another: its LIDs, or why it or one of its
 * ports is left out. Pictures that are being taken take it again (view/view_copy.h).
 */
void observe_shown(struct node *n);
/* The node refuses PortInfo with the modifier of extended speeds. */
void observe_no_ext_modifier(struct node *n);

/* The node answers MLNX ExtendedPortInfo, or refuses it. */
void observe_has_ext_port_info(struct node *n, bool has);

/* The port GUID of a CA or router port. -EEXIST: it belongs to another port. */
int observe_port_guid(struct fabric *f, struct port *p, guid_t guid);
/*
 * The node is not met any more: it, its cables and GUIDs are taken out and freed. Its transactions
 * must be cancelled before.
 */
void observe_node_gone(struct fabric *f, struct node *n);

/* ---- switches ---- */

/* SwitchInfo (14.2.5.4), read: DELTA_TABLE if LinearFDBTop is not the one that we wrote. */
struct delta observe_switch_info(struct node *n, const uint8_t *payload);
/* The answer to the Set that clears PortStateChange; `late`: after the ports were read. */
void observe_change_cleared(struct node *n, const uint8_t *payload, bool late);
/* The answer to a Set of LinearFDBTop or MulticastFDBTop. True: LinearFDBTop is another. */
bool observe_tops(struct node *n, const uint8_t *payload);
/* PortStateChange may have been cleared by others: the ports are to be read. */
void observe_ports_in_doubt(struct node *n);
/* Another manager may have written: tables and speeds are unknown. */
void observe_distrust(struct fabric *f, struct node *n);
/* The P_Keys of an end port, and of the switch port that faces it: another manager writes them. */
void observe_distrust_pkeys(struct fabric *f, struct port *end);
/* The switch was not set up by any manager: it forwards no multicast. */
void observe_cold(struct node *n);
/* LFT block, read (14.2.5.10). True: it was not known to be that. */
bool observe_lft_block(struct node *n, uint32_t block, const uint8_t *entries);

/* A Set of an LFT block was answered: the block stays unproven until observe_tables_proved(). */
void observe_lft_written(struct node *n, uint32_t block, const uint8_t *entries);
/* The block is unknown: a Set of it was refused or not answered. */
void observe_lft_lost(struct node *n, uint32_t block);
/* MFT cell, read (14.2.5.12). */
void observe_mft_cell(struct node *n, unsigned block, unsigned position,
		      const struct mft_cell *cell);
/* A Set leaves: until it is answered the cell may hold what it held, or `cell`. */
void observe_mft_sent(struct node *n, unsigned block, unsigned position,
		      const struct mft_cell *cell);
/* The Set was answered: the cell stays unproven until observe_tables_proved(). */
void observe_mft_written(struct node *n, unsigned block, unsigned position,
			 const struct mft_cell *cell);
/* The switch refuses to show the cell: what is known is taken for all it may hold. */
void observe_mft_unreadable(struct node *n, unsigned block, unsigned position);
/* Its multicast table may have been written by others, or be another's: all is to be read. */
void observe_mft_lost(struct node *n);
/* The same of all that it forwards. */
void observe_tables_lost(struct node *n);
/* No cable changed on the way: what was written to its forwarding tables went where it should. */
void observe_tables_proved(struct node *n);

/* ---- tables of a port: P_Keys, GUIDs, SL2VL, VL arbitration ---- */

/* A block, read or as answered to a Set. True: it was known to be that, or is no block. */
bool observe_block(struct fabric *f, struct port *p, enum port_table table, unsigned block,
		   const uint8_t *payload);
/* A Set of a block leaves, of which none is on the wire; it has ended. */
void observe_block_sent(struct port *p, enum port_table table, unsigned block);
void observe_block_back(struct port *p, enum port_table table, unsigned block);
/* A Set that nothing waits for may have written blocks 0..n-1. */
void observe_blocks_written(struct port *p, enum port_table table, unsigned n);
/* A block was asked for: counts of the table can be noted, even if nothing is known. */
void observe_block_missing(struct port *p, enum port_table table, unsigned block);
/* The block is unknown: a Set of it was refused or not answered. */
void observe_block_lost(struct fabric *f, struct port *p, enum port_table table, unsigned block);
/* Nothing is known any more of all tables: the port trained anew, or another wrote. */
void observe_blocks_lost(struct fabric *f, struct port *p);
/* No cable changed there or on the way: what was written went where it should. */
void observe_blocks_proved(struct port *p);

/* ---- ports ---- */

/*
 * PortInfo (14.2.5.6). For a link that went down observe_link_down() follows, once the delta has
 * had its effects. A port that leaves INIT, or ARMED for ACTIVE, is `raised`: its cable may have
 * been exchanged for another before, or what is behind it set up by another manager, and nothing
 * in PortInfo tells. Its cable is confirmed by an answer from behind it, or by a switch without a
 * change (observe_blocks_proved()).
 */
struct delta observe_port_info(struct fabric *f, struct port *p, const uint8_t *payload);
/* The cable of a link that went down is not known any more, nor what was behind. */
void observe_link_down(struct port *p);
/* A Set was not answered: what the port holds, and its M_Key, are in doubt. */
void observe_doubt(struct port *p);
/*
 * The port answered SMInfo (14.2.5.13): it has an SM, even one that came up after PortInfo was
 * read. NULL: no port is known.
 */
void observe_is_sm(struct port *p);
/* MLNX ExtendedPortInfo, read. */
void observe_ext_port_info(struct port *p, const uint8_t *payload);
/* The answer to a Set of it: devices may leave out what is not enabled. */
void observe_ext_enabled(struct port *p, const uint8_t *payload);
/* The same is unknown again. */
void observe_ext_lost(struct port *p);
/*
 * A port of a host was not met any more. True: it was known. Its key is not in doubt any more:
 * another node, or none, is where it was asked.
 */
bool observe_port_gone(struct fabric *f, struct port *p);

/* ---- M_Keys ---- */

/* The key an SMA is thought to hold, and the other one it may hold, unless both are known. */
void observe_expected_mkey(struct port *p, uint64_t key, uint64_t other);
/* It hides its key: in this sweep others are tried, from the first one on. */
void observe_mkey_hidden(struct port *p, uint32_t sweep);
/* It was read, and hides its key: the one that is thought to be its key is wrong. */
void observe_mkey_refused(struct port *p);
/* Neither of both is: this one is tried next. */
void observe_mkey_tried(struct port *p, uint64_t key);
/* The key that was to be tried next gives way to another one: it comes behind that. */
void observe_mkey_untried(struct port *p);
/* A Set that makes this the key is on its way. */
void observe_mkey_set(struct port *p, uint64_t key);
/* Other keys are likely from now on: keys are tried from the first one on. */
void observe_mkeys_renewed(struct port *p);

/* A question was not answered: next time with the other key, if there are two. */
void observe_mkey_doubt(struct port *p);

/* ---- cables ---- */

/*
 * `b` answered behind `a`: they are connected, whatever each was connected with. *ret_was_out: a
 * cable between switches was out since it was last seen, and may have led elsewhere meanwhile.
 */
struct delta observe_cable(struct port *a, struct port *b, bool *ret_was_out);
/* The cable of the port leads nowhere any more. */
void observe_cable_gone(struct port *p);
/* What is behind the port answers, or does not. True: that is new. */
bool observe_silence(struct port *p, bool silent);
/* What answers behind the port is left out. */
struct delta observe_left_out(struct port *p, enum port_oddity why);
/* ... because its GUID is another's; or that is over. */
void observe_quarantine(struct port *p, bool quarantined);
