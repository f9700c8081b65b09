// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is known to be: nodes, ports and cables as they were last observed, keyed by GUID.
 *
 * Knowledge has three values: a PortInfo, SwitchInfo or LFT block is unknown until a response told
 * us, and becomes unknown again when a Set timed out. Discovery and observe write here, sync/ reads
 * and records what Sets were answered; nothing in here sends or decides.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fabric/cells.h"
#include "fabric/mft.h"
#include "ib/attrs.h"
#include "ib/mad.h"
#include "mad/mad.h"
#include "util/guidmap.h"
#include "util/types.h"

#define NODE_DESC_STRLEN 65

/* Something answers behind a port, and is left out all the same. */
enum port_oddity {
	PORT_ODD_NOT,
	PORT_ODD_LOOPBACK, /* the port itself */
	PORT_ODD_TOO_FAR,  /* it would be hop IB_MAX_HOPS + 1 */
	PORT_ODD_NONSENSE, /* its NodeInfo is impossible */
};

/* LFT Sets in a row that a switch may leave unanswered or refuse, none taken in between. */
#define NODE_LFT_TRIES 3
struct health_cable;

struct port {
	struct node *node;
	struct port
		*peer; /* other end of the cable; NULL: none or unknown. Writer: fabric_connect() */
	guid_t guid;   /* CA and router ports, switch port 0; else 0 */
	uint64_t m_key;		/* of end ports: the key its SMA is thought to hold */
	uint64_t m_key_other;	/* the one it may hold instead, while a key Set is not answered */
	uint32_t seen;		/* sweep that last read info[]; 0 never */
	uint32_t peer_seen;	/* sweep that last confirmed the cable */
	uint32_t asked_twice;	/* sweep in which an unanswered question was put again */
	uint32_t unstored;	/* plan/link rows the device did not keep. Writer: sync/ */
	uint32_t unstored_hash; /* of the values they were written with */
	uint32_t registered;	/* registry of the SA it was last told of; 0 none. Writer: sync/ */
	lid_t lid;		/* assigned base LID; 0 none. Writer: sm/ after LID planning */
	uint8_t lmc;
	uint8_t num;
	bool known; /* info[] holds an observation */
	bool doubt; /* a Set was not answered: info[] may be out of date. Writer: sync/, observe */
	uint8_t refusals; /* PortInfo Sets in a row that were refused. Writer: sync/ */
	bool is_new;	  /* came up since the last complete sweep */
	bool quarantined; /* what is behind this port is left out (duplicate GUID) */
	bool suspect;	  /* it was, in the last sweep */
	bool quarantine_told;
	bool had_cable;	 /* somebody was met behind it. Writer: discover.c */
	bool other_key;	 /* probes through it go with m_key, not with the key of guid2mkey. Writer: discover.c */
	bool silent;	 /* link up, but what is behind it does not answer */
	bool held;	 /* not armed, not activated: it comes and goes. Writer: sm/hold.c */
	bool avoided;	 /* left out of routing; whatever is held is. Writer: sm/hold.c */
	uint8_t pending; /* heavy sweeps in a row that left it in INIT or ARMED. Writer: sm/sweep.c */
	enum port_oddity odd; /* Writer: sm/discover.c */
	struct health_cable
		*health; /* what is known against the cable; NULL: nothing. Writer: sm/health.c */
	bool ext_known;	 /* the three below hold an observation of MLNX ExtendedPortInfo */
	uint8_t ext_supported, ext_enabled, ext_active;
	/* What a dirty sweep has to do with it. Writers: sm/dirty.c, discover.c. */
	bool dirty;	   /* to be read */
	bool hearsay;	   /* its cable is taken over from the sweep before */
	bool claims;	   /* a cable end that is known elsewhere answered behind it */
	uint32_t out_seen; /* sweep that found that its link had been out */
	/* The other end of the link that was last told of; 0: none. Writer: sm/events.c */
	guid_t told_guid;
	uint8_t told_port;
	/* The other end of the last cable that was met, which may be gone; 0: none. Writer: fabric_connect() */
	uint8_t met_port;
	guid_t met_guid;
	struct mad_target behind; /* probes through this port, while nobody has answered */
	/* Tables as known. Writers: sync/, and sm/ when it reads or forgets. */
	struct cell_table *pkeys; /* P_Key blocks: of end ports, and of switch ports */
	struct cell_table *guids; /* GUIDInfo blocks, of end ports */
	struct cell_table *sl2vl; /* rows by port in, of a switch's port out; of end ports one */
	struct cell_table *vlarb; /* VLArb block 1..4 at 0..3 */
	uint8_t info[SMP_DATA_SIZE];
};

/* The linear forwarding table a switch is known to hold. Writer: sync/. */
struct lft_have {
	uint8_t *entries; /* n_blocks * 64; NULL: nothing known */
	uint8_t *known;	  /* one byte per block, enum lft_known */
	uint32_t n_blocks;
	bool unproven; /* some block is */
};
/* LFT_UNPROVEN: written since a sweep last saw that no port of the switch had changed. */
enum lft_known { LFT_UNKNOWN, LFT_PROVEN, LFT_UNPROVEN };

struct node {
	guid_t guid, sysimg_guid;
	uint8_t type; /* enum ib_node_type */
	uint8_t n_ports;
	uint16_t device_id, partition_cap;
	uint32_t vendor_id, revision;
	uint32_t seen;	/* sweep that last heard from it */
	uint8_t misses; /* sweeps in a row that it stayed silent */
	bool is_new;
	bool desc_known;
	bool lanes_left;       /* tables of lanes were found there, nobody knows which. Writers: sm/adopt.c, sync/ */
	bool no_slvl_wildcard; /* refused SL2VL of many ports at once. Writer: sync/ */
	bool no_ext_modifier;  /* refused PortInfo with the extended-speeds modifier */
	bool avoided; /* takes no tables, and others lead where it does. Writer: sm/hold.c */
	bool change_uncleared; /* PortStateChange was seen, its ports read, and it is still set */
	bool cleared_late;     /* PortStateChange was cleared after its ports were read: read them again */
	bool desc_asked;       /* Get NodeDescription is on its way */
	bool desc_again;       /* it changed meanwhile */
	bool image_asked;      /* Get NodeInfo is, for its SystemImageGUID. Writer: sm/traps.c */
	bool small_table;      /* LinearFDBCap too small for this fabric: left out of routing */
	bool path_changed;     /* since the sweep before */
	bool changed;	       /* PortStateChange was set in this sweep: links came or went */
	bool switch_known;     /* switch_info[] holds an observation */
	bool dirty;	       /* links at it may have changed: to be read. Writer: sm/dirty.c */
	bool told;	       /* that it came. Writer: sm/events.c */
	uint32_t reached;      /* sm/dirty.c: last search that came here */
	uint8_t switch_info[SI_BYTES];
	uint32_t index;	     /* place in fabric->nodes */
	struct dr_path path; /* switches and the SM's own node; see fabric_port_path() */
	struct mad_target target;
	struct lft_have lft;
	struct mft_have mft;
	uint32_t looks_in_vain; /* Writer: sm/light.c */
	lid_t lft_top_written; /* LinearFDBTop we wrote last; 0 none */
	uint8_t lft_failures; /* LFT Sets in a row that failed, up to NODE_LFT_TRIES. Writer: sync/ */
	struct port *ports;   /* n_ports + 1; index 0 only meaningful on switches */
	char desc[NODE_DESC_STRLEN]; /* printable */
	char *alias; /* its name in the node-name map; NULL: none. Writer: node_set_alias() */
};

struct fabric {
	struct cells *cells; /* contents of the tables of ports */
	struct node **nodes; /* in order of discovery */
	uint32_t n_nodes, cap_nodes;
	uint32_t n_switches;
	struct guidmap *by_guid;      /* node GUID -> struct node */
	struct guidmap *by_port_guid; /* port GUID -> struct port */
	struct node *own;	      /* the SM's node and port */
	struct port *own_port;
};

struct fabric *fabric_new(void);
struct fabric *fabric_free(struct fabric *f);

struct node *fabric_find_node(const struct fabric *f, guid_t guid);
struct port *fabric_find_port(const struct fabric *f, guid_t port_guid);

/* A node from a NodeInfo payload; NULL if the payload makes no sense (zero GUID, ports out of range). */
struct node *fabric_add_node(struct fabric *f, const uint8_t *node_info);
/* Takes a node, its cables and GUIDs out and frees it. Its transactions must be cancelled before. */
void fabric_remove_node(struct fabric *f, struct node *n);

/* Notes the port GUID of a CA or router port. -EEXIST: it belongs to another port. */
int fabric_set_port_guid(struct fabric *f, struct port *p, guid_t guid);

void fabric_connect(struct port *a, struct port *b, uint32_t sweep);
void fabric_disconnect(struct port *p);

/* Directed route to the SMA that answers for `p`. 0, -ENOLINK (not reachable), -E2BIG. */
int fabric_port_path(const struct fabric *f, const struct port *p, struct dr_path *ret);

/* The port whose M_Key guards the SMA that answers for `p`: itself, port 0 on a switch. */
static inline struct port *port_of_sma(struct port *p)
{
	return p->node->type == IB_NODE_SWITCH ? &p->node->ports[0] : p;
}

/* Takes over the key that info[] shows, if it can be believed (14.2.4: it is hidden, or there is none). */
void fabric_learn_mkey(struct port *p);
/* A question was not answered: next time with the other key, if there are two. */
void fabric_doubt_mkey(struct port *p);

/* CapabilityMask that speaks for a port: its own, port 0's on a switch. 0 while unknown. */
uint32_t fabric_cap_mask(const struct port *p);

static inline bool node_is_switch(const struct node *n)
{
	return n->type == IB_NODE_SWITCH;
}

static inline unsigned port_state(const struct port *p)
{
	return p->known ? ib_get(p->info, PI_PORT_STATE) : IB_PORT_DOWN;
}

/* A switch that answers SwitchInfo, and holds and takes the tables: routes may lead through it. */
static inline bool node_is_routable(const struct node *n)
{
	return !node_is_switch(n) || (n->switch_known && !n->small_table && !n->avoided);
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
 * Packets may pass: the port was set up, by us or by somebody else. Port 0 of a switch has no state
 * of its own; it takes part once it has a LID.
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
/* Keys of one port that are looked after. Whoever claims more room only makes us write more. */
#define PKEY_CAP_MAX 4096u

/* A P_Key block as known: PKEYS_PER_BLOCK keys of 16 bits in wire order; NULL: unknown. */
const uint8_t *fabric_pkey_block(const struct fabric *f, const struct port *p, unsigned block);
/* A GUIDInfo block as known: GUIDS_PER_BLOCK GUIDs in wire order; NULL: unknown. */
const uint8_t *fabric_guid_block(const struct fabric *f, const struct port *p, unsigned block);
/*
 * P_Keys a port has room for, at most PKEY_CAP_MAX: PartitionCap for end ports, PartitionEnforcementCap
 * for external switch ports. 0: no table (or not known yet).
 */
unsigned fabric_pkey_cap(const struct port *p);
/*
 * A device said what a block holds (14.2.5.5, 14.2.5.7). Entries beyond its capacity are nobody's, and
 * taken for 0. True: that is what was known already.
 */
bool fabric_observe_pkeys(struct fabric *f, struct port *p, unsigned block, const uint8_t *payload);
bool fabric_observe_guids(struct fabric *f, struct port *p, unsigned block, const uint8_t *payload);
/*
 * The whole table of an end port into `ret`, which has room for fabric_pkey_cap() keys. Returns their
 * number: the capacity, or 0 while some block is unknown.
 */
unsigned fabric_pkeys(const struct fabric *f, const struct port *p, uint16_t *ret);
/* Attribute modifier of a P_Key block (14.2.5.7): the block, and the port of external switch ports. */
uint32_t fabric_pkey_mod(const struct port *p, unsigned block);
/* The SL2VL row of what comes in by port `in` (0 of end ports), and the VLArb block 1..4, as known, or NULL. */
const uint8_t *fabric_sl2vl_row(const struct fabric *f, const struct port *p, unsigned in);
const uint8_t *fabric_vlarb_block(const struct fabric *f, const struct port *p, unsigned block);
/* A device said what it holds. True: that was known. (SL2VL by port in, VLArb blocks from 1.) */
bool fabric_observe_sl2vl(struct fabric *f, struct port *p, unsigned in, const uint8_t *payload);
bool fabric_observe_vlarb(struct fabric *f, struct port *p, unsigned block, const uint8_t *payload);
/* Nothing is known any more of the tables of a port: it trained anew, or somebody else wrote. */
void fabric_forget_cells(struct fabric *f, struct port *p);
/* Has some table been written since it was proved that nothing had happened to the port? */
bool fabric_cells_unproven(const struct port *p);
void fabric_prove_cells(struct port *p);

/* The LFT block as known, or NULL. */
const uint8_t *lft_have_block(const struct lft_have *lft, uint32_t block);
void lft_have_set(struct lft_have *lft, uint32_t block, const uint8_t *entries);
/* The same, by a Set: it stays unproven until lft_have_prove(). */
void lft_have_written(struct lft_have *lft, uint32_t block, const uint8_t *entries);
void lft_have_prove(struct lft_have *lft);
void lft_have_forget(struct lft_have *lft, uint32_t block);
void lft_have_forget_all(struct lft_have *lft);
/* What a switch forwards is unknown. */
void node_forget_tables(struct node *n);

/* "'leaf3' port 7 (0x0002c90300a1b2c3)"; the other ways to write it are in fabric/words.h. Returns `ret`. */
#define PORT_STRLEN 128
char *fabric_port_str(const struct port *p, char ret[PORT_STRLEN]);

#define FABRIC_EACH_NODE(f, n)                                                                     \
	for (uint32_t i_##n = 0; i_##n < (f)->n_nodes; i_##n++)                                    \
		for (struct node *n = (f)->nodes[i_##n]; n; n = NULL)
