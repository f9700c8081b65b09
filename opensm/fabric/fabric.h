// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is known to be: nodes, ports and cables as they were last observed, keyed by GUID.
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

/* Something answers behind a port, and is left out all the same. */
enum port_oddity {
	PORT_ODD_NOT,
	PORT_ODD_LOOPBACK, /* the port itself */
	PORT_ODD_TOO_FAR,  /* it would be hop IB_MAX_HOPS + 1 */
	PORT_ODD_NONSENSE, /* its NodeInfo is impossible */
	PORT_ODD_HIDDEN,   /* not asked, for the health of the link */
	PORT_ODD_PLANE,	   /* a further plane of a host's port, with its GUID */
};

/* LFT Sets in a row that a switch may leave unanswered or refuse, none taken in between. */
#define NODE_LFT_TRIES	3
/* Questions in a row without an answer, tries not counted, that make a host with a link mute. */
#define NODE_MUTE_AFTER 2
/* Kinds of tables that are read in turn (sm/read/audit.c). */
#define NODE_AUDITS	3
struct bad_cable;
struct offender;

struct port {
	struct node *FACT node;
	struct port *FACT peer;	   /* other end of the cable; NULL: none or unknown */
	FACT guid_t guid;	   /* CA and router ports, switch port 0; else 0 */
	FACT uint64_t m_key;	   /* of end ports: the key its SMA is thought to hold */
	FACT uint64_t m_key_other; /* the one it may hold instead, while a Set of it is out */
	FACT uint16_t
		key_doubts; /* of end ports: questions in a row that ended with key in doubt */
	FACT uint32_t keys_sweep; /* sweep in which it was last found to hide its M_Key */
	FACT uint16_t keys_tried; /* M_Keys tried on it in that sweep */
	FACT uint8_t num;
	FACT uint16_t lives;   /* how often its link, or LID, was gone: settings may be, too */
	FACT bool known;       /* info[] holds an observation */
	FACT bool doubt;       /* a Set was not answered: info[] may be out of date */
	FACT bool quarantined; /* the node behind this port is left out (duplicate GUID) */
	FACT bool silent;      /* link up, but the node behind it does not answer */
	FACT bool raised; /* its state rose since its cable was confirmed (observe_port_info()) */
	/* set if the link was in INIT when last read, and no switch reported a change */
	FACT bool rests;
	FACT enum port_oddity odd;
	FACT bool ext_known; /* the three below hold an observation of MLNX ExtendedPortInfo */
	FACT uint8_t ext_supported, ext_enabled, ext_active;
	/* The other end of the last cable that was met, which may be gone; 0: none. */
	FACT uint8_t met_port;
	FACT guid_t met_guid;
	FACT uint8_t info[SMP_DATA_SIZE];
	struct cell_table *tables[N_PORT_TABLES]; /* written through observe.h */

	OF_BASE lid_t lid; /* assigned base LID; 0 none */
	OF_BASE uint8_t lmc;
	OF_BASE struct {
		guid_t guid; /* the other end of the link that plugins were told of; 0: none */
		uint8_t port;
	} told;

	OF_READ uint32_t seen;	      /* sweep that last read info[]; 0 never */
	OF_READ uint32_t peer_seen;   /* sweep that last confirmed the cable */
	OF_READ uint32_t doubted;     /* P_Keys do not count that this reading brings (adopt.c) */
	OF_READ uint32_t asked_twice; /* sweep in which an unanswered question was put again */
	OF_READ bool suspect;	      /* it was quarantined in the last sweep */
	OF_READ bool late;	      /* no sweep waits for the questions that are counted here: */
	OF_READ uint8_t probes;	      /* NodeInfo through this port, not yet answered */
	OF_READ bool out_read;	      /* an incremental sweep has read it, and found it out */
	OF_READ uint32_t key_shown;   /* sweep as master in which it was last seen with its M_Key */
	OF_READ struct told logged;   /* what was said of it (sm/read/discover_internal.h) */
	OF_READ uint8_t ends_differ;  /* readings in a row, from its switch port (capability.c) */
	OF_READ uint8_t
		key_try, /* place, in the list of likely M_Keys, of the one to try next behind it */
		volleys; /* times that the known node behind it was sent several M_Keys at once */
	OF_READ struct {
		bool dirty;	   /* to be read */
		bool carried_over; /* its cable is taken over from the sweep before */
		bool claims;	   /* a cable end that is known elsewhere answered behind it */
		bool heard;	   /* what is silent behind it answered: asked as any other */
		uint32_t out_seen; /* sweep that found that its link had been out */
	} inc;			   /* incremental sweeps */

	OF_READ struct {
		bool host;	/* a host was met behind this port of a switch */
		bool held;	/* what is behind is left out for what it says it is */
		guid_t claimed; /* the port GUID that it is left out for; 0: another reason */
	} identity;		/* guid_location_policy */
	OF_READ mono_t shown_at; /* when its switch showed itself for it (strangers.h); 0: never */

	OF_OUT struct {
		bool held;		    /* not armed, not activated */
		bool avoided;		    /* left out of routing; whatever is held is */
		struct bad_cable *cable;    /* what is known against the cable; NULL: nothing */
	} out;				    /* out of use */
	OF_TRUST struct offender *offender; /* rules broken by what is behind; NULL: none */

	OF_SWEEP uint8_t pending; /* heavy sweeps in a row that left it in INIT or ARMED */

	OF_SYNC struct {
		uint32_t unstored;	/* plan/link rows that the device did not keep */
		uint32_t unstored_hash; /* of the values they were written with */
		uint32_t registered;	/* registry of the SA it was last told of; 0 none */
		uint8_t refusals;	/* PortInfo Sets in a row that were refused */
	} sync;

	/*
	 * Probes through this port, while nothing has answered; NULL: none went out, or all is
	 * well.
	 */
	struct mad_target *behind;
};

/* The linear forwarding table a switch is known to hold. */
struct lft_have {
	FACT uint8_t *entries; /* n_blocks * 64; NULL: nothing known */
	FACT uint8_t *known;   /* one byte per block, enum lft_known */
	FACT uint32_t n_blocks;
	FACT bool unproven; /* some block is */
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
	FACT bool no_ext_modifier;  /* refused PortInfo with the extended-speeds modifier */
	FACT enum node_has ext_port_info; /* MLNX ExtendedPortInfo */
	FACT bool change_uncleared; /* PortStateChange was seen, its ports read, and it is set */
	FACT bool cleared_late;	    /* it was cleared after its ports were read: read them again */
	FACT bool changed;	    /* PortStateChange was set in this sweep: links came or went */
	FACT bool path_changed;	    /* since the sweep before */
	FACT bool switch_known;	    /* switch_info[] holds an observation */
	FACT uint8_t switch_info[SI_BYTES];
	FACT lid_t lft_top_written; /* LinearFDBTop we wrote last; 0 none */
	FACT uint32_t index;	    /* place in fabric->nodes */
	struct fabric *FACT of;
	FACT uint64_t edited; /* of->edits when something that is shown of it changed last */
	FACT struct dr_path path;   /* switches and the SM's own node; see fabric_port_path() */
	struct port *FACT ports;    /* n_ports + 1; index 0 only meaningful on switches */
	FACT char desc[NODE_DESC_STRLEN]; /* printable */
	char *FACT alias;		  /* a name other than desc (sm/base/about.h); NULL */
	struct lft_have lft;
	struct mft_have mft;

	OF_BASE bool small_table; /* LinearFDBCap too small for this fabric: left out of routing */
	OF_BASE bool told;	  /* plugins: that it came */

	OF_READ uint32_t seen;	    /* sweep that last heard from it */
	OF_READ uint8_t misses;	    /* sweeps in a row that it stayed silent */
	OF_READ uint8_t unanswered; /* questions in a row, of a host, up to NODE_MUTE_AFTER */
	OF_READ uint8_t states_doubted; /* SwitchPortStateTable; see sm/read/light.c */
	OF_READ bool ext_asked;	    /* Get MLNX ExtendedPortInfo is on its way, the first one */
	OF_READ bool desc_asked;    /* Get NodeDescription is on its way */
	OF_READ bool desc_again;    /* it changed meanwhile */
	OF_READ bool dirty;	    /* links at it may have changed: to be read */
	OF_READ uint32_t reached;   /* last search of an incremental sweep that came here */
	OF_READ uint32_t looks_in_vain;
	OF_READ struct {
		/* Of a kind: cells read in turn so far; the turn in which all were read. */
		uint32_t read, doubted;
	} audits[NODE_AUDITS]; /* sm/read/audit.c */
	OF_READ bool shown; /* a switch is to answer Gets without its M_Key for a moment */

	OF_OUT enum node_isolated isolated; /* by an administrator, as a whole */
	OF_OUT bool avoided;	   /* takes no tables, and others lead where it does */
	/* It takes no tables, and hosts hang on it: its only port to others; 0: all are used. */
	OF_OUT uint8_t way;
	OF_TRUST bool image_asked; /* Get NodeInfo, for its SystemImageGUID, is on its way */

	OF_SYNC struct {
		bool lanes_left;       /* tables of lanes were found there, of unknown content */
		bool no_slvl_wildcard; /* refused SL2VL of many ports at once */
		bool passed_over;      /* it was silent when tables were written */
		uint8_t lft_failures;  /* LFT Sets in a row that failed, up to NODE_LFT_TRIES */
	} sync;

	struct mad_target target;
};

struct fabric {
	struct cells *FACT cells; /* contents of the tables of ports */
	struct node **FACT nodes; /* in order of discovery */
	FACT uint32_t n_nodes, cap_nodes;
	FACT uint32_t n_switches;
	/*
	 * Pictures that are taken a part at a time (view/view_copy.h) ask whether all is as it was:
	 * changes of what is shown, and how often a node came or went, or the SM's own port moved.
	 */
	FACT uint64_t edits, shape;
	FACT uint64_t mft_edits; /* changes of multicast tables, which are not among `edits` */
	struct guidmap *FACT by_guid;	   /* node GUID -> struct node */
	struct guidmap *FACT by_port_guid; /* port GUID -> struct port */
	struct node *FACT own;		   /* the SM's node and port */
	struct port *FACT own_port;
};

/* p->behind, made if there is none yet; of `p`. */
struct mad_target *fabric_behind(struct port *p);
/* Does a probe through this port wait, or is one on its way? */
static inline bool fabric_is_probed(const struct port *p)
{
	return p->behind && p->behind->members.first;
}
/* The node behind `p` has answered: frees p->behind, unless another probe is still out. */
void fabric_behind_done(struct port *p);

struct fabric *fabric_new(void);
struct fabric *fabric_free(struct fabric *f);

struct node *fabric_find_node(const struct fabric *f, guid_t guid);
struct port *fabric_find_port(const struct fabric *f, guid_t port_guid);

/* Directed route to the SMA that answers for `p`. 0, -ENOLINK (not reachable), -E2BIG. */
int fabric_port_path(const struct fabric *f, const struct port *p, struct dr_path *ret);

/* The port whose M_Key guards the SMA that answers for `p`: itself, port 0 on a switch. */
static inline const struct port *port_of_sma_const(const struct port *p)
{
	return p->node->type == IB_NODE_SWITCH ? &p->node->ports[0] : p;
}

static inline struct port *port_of_sma(struct port *p)
{
	return p->node->type == IB_NODE_SWITCH ? &p->node->ports[0] : p;
}

/*
 * At protection level 1 a port shows a key of 0 to a question with a wrong one (14.2.4.1). False,
 * too, of a port that was not read.
 */
bool fabric_hides_mkey(const struct port *p);
/*
 * p->m_key is the key of the end port: it has shown that one last, or none, and was not silent
 * since. A key that is to be tried, as another manager may have changed it, is not known to be its.
 */
bool fabric_knows_mkey(const struct port *p);

/* CapabilityMask that speaks for a port: its own, port 0's on a switch. 0 while unknown. */
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

/* The link is up, and the node behind it does not answer. */
static inline bool port_leads_to_silence(const struct port *p)
{
	return p->silent && port_state(p) > IB_PORT_DOWN;
}

/* A host whose link is up, and whose agent does not answer: it keeps its LID, paths and links. */
static inline bool node_is_mute(const struct node *n)
{
	return n->unanswered >= NODE_MUTE_AFTER;
}

/* A switch that answers SwitchInfo, and holds and takes the tables: routes may lead through it. */
static inline bool node_is_routable(const struct node *n)
{
	return !node_is_switch(n) || (n->switch_known && !n->small_table && !n->avoided);
}

/*
 * May routes leave the node by this port? Not if the link is out of use. A switch
 * that takes no tables has one port to other switches that is used (`way`). `p` must have a peer.
 */
static inline bool port_is_in_use(const struct port *p)
{
	return !p->out.avoided &&
	       (!p->node->way || p->node->way == p->num || !node_is_switch(p->peer->node));
}

/* Ports that own a LID: CA and router ports, switch port 0. */
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
 * Packets may pass: the port was set up, by us or by another manager. Port 0 of a switch has no
 * state of its own; it takes part once it has a LID.
 */
static inline bool port_is_live(const struct port *p)
{
	if (node_is_switch(p->node) && p->num == 0)
		return p->known && ib_get(p->info, PI_LID) != 0;
	return port_state(p) >= IB_PORT_ARMED;
}

/* Both ends of a cable say that it is up, and nothing stands against either. */
static inline bool fabric_link_is_up(const struct port *p)
{
	return p->peer && !p->quarantined && !p->peer->quarantined &&
	       port_state(p) > IB_PORT_DOWN && port_state(p->peer) > IB_PORT_DOWN;
}

/* ---- P_Keys and GUIDs ---- */

#define PKEYS_PER_BLOCK 32u
#define GUIDS_PER_BLOCK 8u
/* Keys of one port that are looked after. A claim of more room would only make us write more. */
#define PKEY_CAP_MAX	4096u

/*
 * P_Keys a port has room for, at most PKEY_CAP_MAX: PartitionCap for end ports,
 * PartitionEnforcementCap for external switch ports. 0: no table (or not known yet).
 */
unsigned fabric_pkey_cap(const struct port *p);
/*
 * The whole table of an end port into `ret`, which has room for fabric_pkey_cap() keys. Returns
 * their number: the capacity, or 0 while some block is unknown.
 */
unsigned fabric_pkeys(const struct fabric *f, const struct port *p, uint16_t *ret);

/* The LFT block as known, or NULL. */
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
