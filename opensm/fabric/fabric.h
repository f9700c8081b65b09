// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fabric as it was last observed: nodes, ports and cables, keyed by GUID.
 *
 * Knowledge has three values: a PortInfo, SwitchInfo or LFT block is unknown until a response told
 * us, and becomes unknown again when a Set timed out. Writers are the functions of observe.h, which
 * sm/read and sync/ hand their answers to; nothing in here sends or decides.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fabric/cells.h"
#include "fabric/mft.h"
#include "fabric/owners.h"
#include "fabric/port_tables.h"
#include "ib/attrs.h"
#include "ib/mad.h"
#include "mad/mad.h"
#include "util/guidmap.h"
#include "util/told.h"
#include "util/types.h"

#define NODE_DESC_STRLEN 65

/* The reason why a device that answers behind a port is left out. */
enum port_oddity {
	PORT_ODD_NOT,
	PORT_ODD_LOOPBACK, /* the port itself answers */
	PORT_ODD_TOO_FAR,  /* too far: it would be hop IB_MAX_HOPS + 1 */
	PORT_ODD_NONSENSE, /* its NodeInfo is impossible */
	PORT_ODD_HIDDEN,   /* not asked, as the link is isolated for its health */
	PORT_ODD_PLANE,	   /* another plane of a host's port, with the same GUID */
};

/* Number of LFT Sets in a row that a switch may refuse or leave unanswered. */
#define NODE_LFT_TRIES	3
/* Questions in a row without an answer (repetitions apart) that make a host with a link mute. */
#define NODE_MUTE_AFTER 2
/* Number of kinds of tables that are read in turn (sm/read/audit.c). */
#define NODE_AUDITS	3
struct bad_cable;
struct offender;

struct port {
	struct node *FACT node;
	struct port *FACT peer; /* other end of the cable; NULL: none, or not known */
	FACT guid_t guid;	/* CA and router ports, switch port 0; else 0 */
	FACT uint64_t m_key;	/* end ports: M_Key that the SMA is assumed to hold */
	/* M_Key that it may hold instead, while a Set of it is under way */
	FACT uint64_t m_key_other;
	FACT uint16_t
		key_doubts; /* end ports: questions in a row that ended with the key in doubt */
	FACT uint32_t keys_sweep; /* sweep in which it was last found to hide its M_Key */
	FACT uint16_t keys_tried; /* M_Keys tried on it in that sweep */
	FACT uint8_t num;
	/* number of times that its link, or LID, was gone, and perhaps its settings */
	FACT uint16_t lives;
	FACT bool known;       /* set if info[] holds an observation */
	FACT bool doubt;       /* set if a Set was not answered: info[] may be out of date */
	FACT bool quarantined; /* set if the node behind this port is left out (duplicate GUID) */
	FACT bool silent;      /* set if the link is up, but the node behind it does not answer */
	/* set if its state rose since its cable was confirmed (observe_port_info()) */
	FACT bool raised;
	/* set if its link was found down since info[] was read, while a sweep was busy elsewhere */
	FACT bool fell;
	/* set if the link was in INIT when last read, and no switch reported a change */
	FACT bool rests;
	FACT enum port_oddity odd;
	/* set if the next three hold an observation of MLNX ExtendedPortInfo */
	FACT bool ext_known;
	FACT uint8_t ext_supported, ext_enabled, ext_active;
	/* The other end of the last cable that was met, which may be gone; 0: none. */
	FACT uint8_t met_port;
	FACT guid_t met_guid;
	FACT uint8_t info[SMP_DATA_SIZE];
	struct cell_table *tables[N_PORT_TABLES]; /* written through observe.h */

	OF_BASE lid_t lid; /* assigned base LID; 0: none */
	OF_BASE uint8_t lmc;
	OF_BASE struct {
		guid_t guid; /* other end of the link that plugins were last told of; 0: none */
		uint8_t port;
	} told;

	OF_READ uint32_t seen;	    /* number of the sweep that last read info[]; 0: never */
	OF_READ uint32_t peer_seen; /* number of the sweep that last confirmed the cable */
	/* number of the reading whose P_Keys are to be discarded (adopt.c) */
	OF_READ uint32_t doubted;
	/* number of the sweep in which an unanswered question was repeated */
	OF_READ uint32_t asked_twice;
	OF_READ bool suspect; /* set if it was quarantined in the last sweep */
	/* set if no sweep waits for the questions counted in `probes` */
	OF_READ bool late;
	/* NodeInfo requests through this port without an answer yet */
	OF_READ uint8_t probes;
	/* set if an incremental sweep has read it, and found its link down */
	OF_READ bool out_read;
	/* number of the sweep as MASTER in which it last showed its M_Key */
	OF_READ uint32_t key_shown;
	OF_READ struct told logged; /* findings logged about it (sm/read/discover_internal.h) */
	/* readings in a row in which it differed from its switch port (capability.c) */
	OF_READ uint8_t ends_differ;
	OF_READ uint8_t
		key_try, /* index in the list of likely M_Keys of the next one to try behind it */
		/* number of times that the known node behind it was sent several M_Keys at once */
		volleys;
	OF_READ struct {
		bool dirty;	   /* set if it is to be read */
		bool carried_over; /* set if its cable is carried over from the last sweep */
		/* set if a cable end that is known elsewhere answered behind it */
		bool claims;
		/* set if the silent node behind it answered: it is asked like any other */
		bool heard;
		uint32_t out_seen; /* number of the sweep that found that its link had been down */
	} inc;			   /* incremental sweeps */

	OF_READ struct {
		bool host;	/* set if a host was met behind this port of a switch */
		bool held;	/* set if the node behind it is left out for its identity */
		guid_t claimed; /* port GUID that it is left out for; 0: another reason */
	} identity;		/* guid_location_policy */
	/*
	 * time at which its switch last answered without its M_Key for it (strangers.h); 0: never
	 */
	OF_READ mono_t shown_at;

	OF_OUT struct {
		bool held;    /* set if the link is not armed and not activated */
		bool avoided; /* set if left out of routing, as all held ports are */
		/* record of the cable; NULL: nothing is known against it */
		struct bad_cable *cable;
	} out;				    /* out of use */
	OF_TRUST struct offender *offender; /* rules broken by the host behind it; NULL: none */

	/* number of heavy sweeps in a row that left it in INIT or ARMED */
	OF_SWEEP uint8_t pending;

	OF_SYNC struct {
		uint32_t unstored;	/* plan/link rows that the device did not keep, as bits */
		uint32_t unstored_hash; /* hash of the values of these rows */
		/* registry of the SA that its host was last asked to register with; 0: none */
		uint32_t registered;
		uint8_t refusals; /* PortInfo Sets in a row that were refused */
	} sync;

	/*
	 * Target of probes through this port while nothing has answered; NULL: no probe, or an
	 * answer.
	 */
	struct mad_target *behind;
};

/* The linear forwarding table that a switch is known to hold. */
struct lft_have {
	FACT uint8_t *entries; /* n_blocks * 64 entries; NULL: nothing is known */
	FACT uint8_t *known;   /* one enum lft_known per block */
	FACT uint32_t n_blocks;
	FACT bool unproven; /* set if some block is unproven */
};
/* LFT_UNPROVEN: written since a sweep last saw that no port of the switch had changed. */
enum lft_known { LFT_UNKNOWN, LFT_PROVEN, LFT_UNPROVEN };

enum node_isolated { NODE_NOT_ISOLATED, NODE_ISOLATED, NODE_ISOLATED_FORCED };

/* Does the device have an attribute? */
enum node_has { NODE_HAS_UNKNOWN, NODE_HAS, NODE_HAS_NOT };

struct node {
	FACT guid_t guid, sysimg_guid;
	FACT uint8_t type; /* enum ib_node_type */
	FACT uint8_t n_ports;
	FACT uint16_t device_id, partition_cap;
	FACT uint32_t vendor_id, revision;
	FACT bool desc_known;
	/* set if it refused PortInfo with the extended-speeds modifier */
	FACT bool no_ext_modifier;
	FACT enum node_has ext_port_info; /* answer to MLNX ExtendedPortInfo */
	/* set if PortStateChange was seen and the ports read, but it is still set */
	FACT bool change_uncleared;
	/* set if it was cleared after the ports were read, which are to be read again */
	FACT bool cleared_late;
	/* set if PortStateChange was set in this sweep: links came or went */
	FACT bool changed;
	FACT bool path_changed; /* set if `path` changed since the last sweep */
	FACT bool switch_known; /* set if switch_info[] holds an observation */
	FACT uint8_t switch_info[SI_BYTES];
	/* time at which a cable of it was found dead from its other end; 0: none was */
	FACT mono_t cable_died;
	FACT lid_t lft_top_written; /* LinearFDBTop that we wrote last; 0: none */
	FACT uint32_t index;	    /* index in fabric->nodes */
	struct fabric *FACT of;
	FACT uint64_t edited;	  /* value of of->edits at the last change of what is shown of it */
	FACT struct dr_path path; /* switches and the SM's own node; see fabric_port_path() */
	struct port *FACT ports;  /* n_ports + 1 ports; index 0 is meaningful on switches only */
	FACT char desc[NODE_DESC_STRLEN]; /* printable */
	/* name from elsewhere than desc (sm/base/about.h); NULL: none */
	char *FACT alias;
	struct lft_have lft;
	struct mft_have mft;

	/* set if LinearFDBCap is too small for this fabric: left out of routing */
	OF_BASE bool small_table;
	OF_BASE bool told; /* set if plugins were told of it */

	OF_READ uint32_t seen;	/* number of the sweep that last heard from it */
	OF_READ uint8_t misses; /* number of sweeps in a row in which it was silent */
	/* hosts: unanswered questions in a row, up to NODE_MUTE_AFTER */
	OF_READ uint8_t unanswered;
	/* SwitchPortStateTable (sm/read/state_poll.c): doubts, and the hash of the last one told */
	OF_READ uint8_t states_doubted;
	OF_READ uint32_t states_told;
	/* set while the first Get of MLNX ExtendedPortInfo is under way */
	OF_READ bool ext_asked;
	OF_READ bool desc_asked; /* set while Get NodeDescription is under way */
	OF_READ bool desc_again; /* set if the description changed meanwhile */
	OF_READ bool dirty;	 /* set if it is to be read, as links at it may have changed */
	/* number of the last search of an incremental sweep that reached it */
	OF_READ uint32_t reached;
	OF_READ uint32_t looks_in_vain;
	OF_READ struct {
		/* By kind: cells read in turn so far; the turn in which all were read. */
		uint32_t read, doubted;
	} audits[NODE_AUDITS]; /* sm/read/audit.c */
	OF_READ bool shown; /* set if the switch is to answer Gets without its M_Key for a moment */

	OF_OUT enum node_isolated isolated; /* isolation of the whole switch by an administrator */
	OF_OUT bool avoided;		    /* set if it takes no tables, and routes go around it */
	/* of a switch with hosts that takes no tables: its only port to switches in use; or 0 */
	OF_OUT uint8_t way;
	/* set while Get NodeInfo, for its SystemImageGUID, is under way */
	OF_TRUST bool image_asked;

	OF_SYNC struct {
		/* set if tables of lanes with unknown content were found there */
		bool lanes_left;
		bool no_slvl_wildcard; /* set if it refused SL2VL of many ports at once */
		bool passed_over;      /* set if it was silent when tables were written */
		uint8_t patches; /* Sets of patched LFT blocks under way */
		uint8_t lft_failures;  /* failed LFT Sets in a row, up to NODE_LFT_TRIES */
	} sync;

	struct mad_target target;
};

struct fabric {
	struct cells *FACT cells; /* contents of the tables of ports */
	struct node **FACT nodes; /* in order of discovery */
	FACT uint32_t n_nodes, cap_nodes;
	FACT uint32_t n_switches;
	/*
	 * Versions, for views that are made in parts (view/view_copy.h). edits: changes of what is
	 * shown; shape: number of times that a node came or went, or the SM's own port moved.
	 */
	FACT uint64_t edits, shape;
	/* number of changes of multicast tables, which are not among `edits` */
	FACT uint64_t mft_edits;
	struct guidmap *FACT by_guid;	   /* node GUID -> struct node */
	struct guidmap *FACT by_port_guid; /* port GUID -> struct port */
	struct node *FACT own;		   /* node and port of the SM */
	struct port *FACT own_port;
};

/* Returns p->behind, made if there is none; owned by `p`. */
struct mad_target *fabric_behind(struct port *p);
/* Does a probe through this port wait, or is one under way? */
static inline bool fabric_is_probed(const struct port *p)
{
	return p->behind && p->behind->members.first;
}
/* The node behind `p` has answered: frees p->behind, unless another probe is under way. */
void fabric_behind_done(struct port *p);

struct fabric *fabric_new(void);
struct fabric *fabric_free(struct fabric *f);

struct node *fabric_find_node(const struct fabric *f, guid_t guid);
struct port *fabric_find_port(const struct fabric *f, guid_t port_guid);

/* Has the switch been silent since one of its cables died? It may have lost its power. */
static inline bool node_may_be_dead(const struct node *n)
{
	return n->cable_died && n->target.answered_at < n->cable_died;
}

/* Directed route to the SMA that answers for `p`. 0; -ENOLINK: not reachable; -E2BIG: too long. */
int fabric_port_path(const struct fabric *f, const struct port *p, struct dr_path *ret);

/* The port whose M_Key protects the SMA that answers for `p`: itself, on a switch port 0. */
static inline const struct port *port_of_sma_const(const struct port *p)
{
	return p->node->type == IB_NODE_SWITCH ? &p->node->ports[0] : p;
}

static inline struct port *port_of_sma(struct port *p)
{
	return p->node->type == IB_NODE_SWITCH ? &p->node->ports[0] : p;
}

/*
 * Does the port hide its M_Key? At protection level 1 it shows 0 to a request with a wrong key
 * (14.2.4.1). False also if it was not read.
 */
bool fabric_hides_mkey(const struct port *p);
/*
 * Is p->m_key the key of the end port: the last one that it showed, or none, and it was not silent
 * since? A key that is yet to be tried, as another manager may have changed it, is not.
 */
bool fabric_knows_mkey(const struct port *p);

/* The CapabilityMask that holds for a port: its own, on a switch that of port 0. 0: not known. */
uint32_t fabric_cap_mask(const struct port *p);
/* The sets of link speeds that the node of this port has. */
enum ib_speed_set fabric_speed_sets(const struct port *p);

static inline bool node_is_switch(const struct node *n)
{
	return n->type == IB_NODE_SWITCH;
}

static inline unsigned port_state(const struct port *p)
{
	return p->known ? ib_get(p->info, PI_PORT_STATE) : IB_PORT_DOWN;
}

/* Is the link up, and the node behind it silent? */
static inline bool port_leads_to_silence(const struct port *p)
{
	return p->silent && port_state(p) > IB_PORT_DOWN;
}

/* Is this a host with a live link that does not answer? It keeps its LID, paths and links. */
static inline bool node_is_mute(const struct node *n)
{
	return n->unanswered >= NODE_MUTE_AFTER;
}

/* May routes lead through it? Hosts, and switches that answer SwitchInfo and take tables. */
static inline bool node_is_routable(const struct node *n)
{
	return !node_is_switch(n) || (n->switch_known && !n->small_table && !n->avoided);
}

/*
 * May routes leave the node by this port? Not if the link is out of use. A switch that takes no
 * tables has one port to other switches in use (`way`). `p` must have a peer.
 */
static inline bool port_is_in_use(const struct port *p)
{
	return !p->out.avoided &&
	       (!p->node->way || p->node->way == p->num || !node_is_switch(p->peer->node));
}

/* Does the port own a LID: a CA or router port, or switch port 0? */
static inline bool port_is_end(const struct port *p)
{
	return !node_is_switch(p->node) || p->num == 0;
}

static inline bool port_is_enhanced0(const struct port *p)
{
	return node_is_switch(p->node) && p->num == 0 && p->node->switch_known &&
	       ib_get(p->node->switch_info, SI_ENHANCED_PORT0);
}

/*
 * May packets pass, as the port was set up by any manager? Port 0 of a switch has no link; it takes
 * part once it has a LID.
 */
static inline bool port_is_live(const struct port *p)
{
	if (node_is_switch(p->node) && p->num == 0)
		return p->known && ib_get(p->info, PI_LID) != 0;
	return port_state(p) >= IB_PORT_ARMED;
}

/* Do both ends of the cable say that it is up, and is neither quarantined? */
static inline bool fabric_link_is_up(const struct port *p)
{
	return p->peer && !p->quarantined && !p->peer->quarantined &&
	       port_state(p) > IB_PORT_DOWN && port_state(p->peer) > IB_PORT_DOWN;
}

/* ---- P_Keys and GUIDs ---- */

#define PKEYS_PER_BLOCK 32u
#define GUIDS_PER_BLOCK 8u
/* Most P_Keys of one port that are managed: a greater capacity would only cause more writes. */
#define PKEY_CAP_MAX	4096u

/*
 * The number of P_Keys that a port has room for, at most PKEY_CAP_MAX: PartitionCap of end ports,
 * PartitionEnforcementCap of external switch ports. 0: no table, or not known yet.
 */
unsigned fabric_pkey_cap(const struct port *p);
/*
 * Fills in the whole P_Key table of an end port; `ret` has room for fabric_pkey_cap() keys. Returns
 * their number: the capacity, or 0 if some block is unknown.
 */
unsigned fabric_pkeys(const struct fabric *f, const struct port *p, uint16_t *ret);

/* The known content of an LFT block, 64 entries; NULL: unknown. */
const uint8_t *lft_have_block(const struct lft_have *lft, uint32_t block);

/*
 * "'leaf3' port 7 (0x0002c90300a1b2c3)"; the other ways to write it are in fabric/words.h. Returns
 * `ret`.
 */
#define PORT_STRLEN 128
char *fabric_port_str(const struct port *p, char ret[PORT_STRLEN]);

#define FABRIC_EACH_NODE(f, n)                                                                     \
	for (uint32_t i_##n = 0; i_##n < (f)->n_nodes; i_##n++)                                    \
		for (struct node *n = (f)->nodes[i_##n]; n; n = NULL)

/* End ports, known or not: port 0 of a switch, every port of a host. No break out of it. */
#define FABRIC_EACH_END_PORT(f, p)                                                                 \
	FABRIC_EACH_NODE(f, n_of_##p)                                                              \
		for (struct port *p = n_of_##p->ports + (node_is_switch(n_of_##p) ? 0 : 1);        \
		     p <= n_of_##p->ports + (node_is_switch(n_of_##p) ? 0 : n_of_##p->n_ports);    \
		     p++)
