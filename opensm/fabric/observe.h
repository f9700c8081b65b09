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

/* Deltas have their effects in this order. */
enum delta_kind {
	DELTA_OTHER_LID,  /* an end port has a LID that it neither had nor was assigned */
	DELTA_PORT,	  /* PortInfo has changed, apart from counters and IsSM */
	DELTA_LINK_OUT,	  /* the link was down: it is in INIT, or DOWN and was not */
	DELTA_LINK_FELL,  /* the link is in INIT or DOWN, and was in a higher state */
	DELTA_PORT_STATE, /* PortInfo was read; `before`: the former state */
	DELTA_TRAINED,	  /* the link is in INIT or DOWN, and was not: it lost its settings */
	/* the link is down; its cable stays known until all effects have happened */
	DELTA_LINK_DOWN,
	DELTA_CABLE,	  /* another cable end is behind `port` */
	DELTA_CABLE_GONE, /* `port` leads to itself; its cable is still known */
	DELTA_MET,	  /* `far` answers behind `port` */
	DELTA_BACK,	  /* a silent or missing device answers again */
	DELTA_NODE_NEW,
	/* a forwarding table differs from what was known; all tables of `node` are unknown */
	DELTA_TABLE,
	DELTA_IS_SM,	 /* a subnet manager has come to a known port, or has gone */
	DELTA_DESCRIBED, /* the first description since the node was met */
	DELTA_NAME,	 /* another description or SystemImageGUID */
	N_DELTAS
};
#define DELTA(kind) (1u << (kind))

/* The changes by an answer: of a node, or of a port and the other end of its cable. */
struct delta {
	unsigned kinds; /* set of DELTA() */
	struct node *node;
	struct port *port, *far;
	enum ib_port_state before;
};

/* ---- nodes ---- */

/*
 * Finds the node of a NodeInfo (14.2.5.3), or adds it, and finds the port that answered. The node
 * is NULL if the payload is invalid, the port if the node has no such port. A known node is not
 * changed; observe_is_same() tells whether it differs.
 */
struct delta observe_node_info(struct fabric *f, const uint8_t *node_info);
/* Is the NodeInfo that of `n`? False: another node with the same GUID. */
bool observe_is_same(const struct node *n, const uint8_t *node_info);
/*
 * Notes that the node of that delta is ours, and its port the start of directed routes; it answered
 * with this M_Key.
 */
void observe_own(struct fabric *f, const struct delta *d, const uint8_t *node_info, uint64_t m_key);
/* Called when a sweep begins that reads only some nodes: the others have not changed. */
void observe_begin(struct node *n);
/* Takes the SystemImageGUID of a NodeInfo that was requested for it: DELTA_NAME. */
struct delta observe_image(struct node *n, const uint8_t *node_info);
/* Takes a NodeDescription (14.2.5.2): DELTA_DESCRIBED, or DELTA_NAME if another one was known. */
struct delta observe_description(struct node *n, const uint8_t *payload);
/* Notes the directed route by which the node is reached. */
void observe_path(struct node *n, const struct dr_path *path);
/*
 * Notes a change of what is shown of the node besides facts: its LIDs, or the reason why it or a
 * port of it is left out. Views being made copy it again (view/view_copy.h).
 */
void observe_shown(struct node *n);
/* Notes that the node refuses PortInfo with the modifier of extended speeds. */
void observe_no_ext_modifier(struct node *n);

/* Notes whether the node answers MLNX ExtendedPortInfo, or refuses it. */
void observe_has_ext_port_info(struct node *n, bool has);

/* Takes the port GUID of a CA or router port. Returns 0; -EEXIST: it belongs to another port. */
int observe_port_guid(struct fabric *f, struct port *p, guid_t guid);
/*
 * Removes and frees a node that is not met any more, with its cables and GUIDs. Its transactions
 * must be cancelled before.
 */
void observe_node_gone(struct fabric *f, struct node *n);

/* ---- switches ---- */

/* SwitchInfo (14.2.5.4), read: DELTA_TABLE if LinearFDBTop is not the one that we wrote. */
struct delta observe_switch_info(struct node *n, const uint8_t *payload);
/* Takes the answer to the Set that clears PortStateChange; `late`: after the ports were read. */
void observe_change_cleared(struct node *n, const uint8_t *payload, bool late);
/* Takes the answer to a Set of LinearFDBTop or MulticastFDBTop. True: LinearFDBTop differs. */
bool observe_tops(struct node *n, const uint8_t *payload);
/* Notes that others may have cleared PortStateChange: the ports are to be read. */
void observe_ports_in_doubt(struct node *n);
/* Notes that another manager may have written: tables and speeds become unknown. */
void observe_distrust(struct fabric *f, struct node *n);
/* Makes the P_Keys of an end port and of its switch port unknown: another manager writes them. */
void observe_distrust_pkeys(struct fabric *f, struct port *end);
/* Notes that no manager has set up the switch: it forwards no multicast. */
void observe_cold(struct node *n);
/* Takes an LFT block that was read (14.2.5.10). True: it was not known to be that. */
bool observe_lft_block(struct node *n, uint32_t block, const uint8_t *entries);

/* Takes an answered Set of an LFT block, which stays unproven until observe_tables_proved(). */
void observe_lft_written(struct node *n, uint32_t block, const uint8_t *entries);
/* Makes the LFT block unknown: a Set of it was refused or not answered. */
void observe_lft_lost(struct node *n, uint32_t block);
/* Takes an MFT cell that was read (14.2.5.12). */
void observe_mft_cell(struct node *n, unsigned block, unsigned position,
		      const struct mft_cell *cell);
/* A Set of an MFT cell leaves: until it is answered the cell may hold the old content or `cell`. */
void observe_mft_sent(struct node *n, unsigned block, unsigned position,
		      const struct mft_cell *cell);
/* The Set was answered: the cell stays unproven until observe_tables_proved(). */
void observe_mft_written(struct node *n, unsigned block, unsigned position,
			 const struct mft_cell *cell);
/* The switch refuses to show the cell: its known content is assumed to be all. */
void observe_mft_unreadable(struct node *n, unsigned block, unsigned position);
/* Others may have written its multicast table, or it is another's: all is to be read. */
void observe_mft_lost(struct node *n);
/* Makes all forwarding tables of the switch unknown. */
void observe_tables_lost(struct node *n);
/* No cable changed on the way: Sets of its forwarding tables reached this switch. */
void observe_tables_proved(struct node *n);

/* ---- tables of a port: P_Keys, GUIDs, SL2VL, VL arbitration ---- */

/* Takes a block, read or answered to a Set. True: it was known to be that, or is no block. */
bool observe_block(struct fabric *f, struct port *p, enum port_table table, unsigned block,
		   const uint8_t *payload);
/* A Set of a block leaves, while none is under way; it has ended. */
void observe_block_sent(struct port *p, enum port_table table, unsigned block);
void observe_block_back(struct port *p, enum port_table table, unsigned block);
/* A Set that is not waited for may have written blocks 0..n-1. */
void observe_blocks_written(struct port *p, enum port_table table, unsigned n);
/* A block was requested: makes room for counters of the table, even if nothing is known. */
void observe_block_missing(struct port *p, enum port_table table, unsigned block);
/* Makes the block unknown: a Set of it was refused or not answered. */
void observe_block_lost(struct fabric *f, struct port *p, enum port_table table, unsigned block);
/* Makes all tables unknown: the port trained anew, or another manager wrote. */
void observe_blocks_lost(struct fabric *f, struct port *p);
/* No cable changed there or on the way: Sets reached this port. */
void observe_blocks_proved(struct port *p);

/* ---- ports ---- */

/*
 * Takes a PortInfo (14.2.5.6). For a link that went down observe_link_down() follows, after the
 * effects of the delta. A port that leaves INIT, or ARMED for ACTIVE, is `raised`: its cable may
 * have been exchanged before, or another manager may have set up the device behind it, and PortInfo
 * does not tell. Its cable is confirmed by an answer from behind it, or by a switch without a
 * change (observe_blocks_proved()).
 */
struct delta observe_port_info(struct fabric *f, struct port *p, const uint8_t *payload);
/*
 * The link is down, as PortInfo says that is not taken in: no directed route leads over it until
 * its PortInfo is taken in again.
 */
void observe_fell(struct port *p);
/* A cable of `n` is dead, as its other end says: `n` may have lost its power, until it answers. */
void observe_cable_died(struct node *n, mono_t now);
/* Makes the cable of a link that went down unknown, and the device behind it. */
void observe_link_down(struct port *p);
/* A Set was not answered: the content of the port and its M_Key are in doubt. */
void observe_doubt(struct port *p);
/*
 * The port answered SMInfo (14.2.5.13), so it has an SM, even if that came up after PortInfo was
 * read. NULL: no port is known.
 */
void observe_is_sm(struct port *p);
/* Takes a MLNX ExtendedPortInfo that was read. */
void observe_ext_port_info(struct port *p, const uint8_t *payload);
/* Takes the answer to a Set of it: devices may leave out speeds that are not enabled. */
void observe_ext_enabled(struct port *p, const uint8_t *payload);
/* Makes the MLNX ExtendedPortInfo of the port unknown. */
void observe_ext_lost(struct port *p);
/*
 * A port of a host is not met any more. True: it was known. Its key is not in doubt any more, as
 * another node, or none, is where it was asked.
 */
bool observe_port_gone(struct fabric *f, struct port *p);

/* ---- M_Keys ---- */

/* Sets the key that an SMA is assumed to hold, and another possible one, unless both are known. */
void observe_expected_mkey(struct port *p, uint64_t key, uint64_t other);
/* The port hides its key: in this sweep other keys are tried, from the first one on. */
void observe_mkey_hidden(struct port *p, uint32_t sweep);
/* The port was read, and hides its key: the assumed key is wrong. */
void observe_mkey_refused(struct port *p);
/* Neither key is right: this one is tried next. */
void observe_mkey_tried(struct port *p, uint64_t key);
/* The key to be tried next is put off: it comes after another one. */
void observe_mkey_untried(struct port *p);
/* A Set that makes this its key is under way. */
void observe_mkey_set(struct port *p, uint64_t key);
/* Other keys have become likely: keys are tried from the first one on. */
void observe_mkeys_renewed(struct port *p);

/* A request was not answered: the next one uses the other key, if there are two. */
void observe_mkey_doubt(struct port *p);

/* ---- cables ---- */

/*
 * `b` answered behind `a`: connects them, whatever was connected before. *ret_was_out: was a cable
 * between switches down since it was last seen, so that it may have led elsewhere meanwhile?
 */
struct delta observe_cable(struct port *a, struct port *b, bool *ret_was_out);
/* The cable of the port leads nowhere any more. */
void observe_cable_gone(struct port *p);
/* The device behind the port answers, or is silent. True: that is new. */
bool observe_silence(struct port *p, bool silent);
/* The device that answers behind the port is left out. */
/* An administrator says that the cable of `p`, which is gone, does not come back. */
void observe_forgotten(struct port *p);
struct delta observe_left_out(struct port *p, enum port_oddity why);
/* The device behind the port is left out as its GUID is another's, or is not any more. */
void observe_quarantine(struct port *p, bool quarantined);
