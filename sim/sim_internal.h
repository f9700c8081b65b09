// SPDX-License-Identifier: BSD-2-Clause
/*
 * Internals of the simulator, for its own files only.
 *
 *   agent.c --send--> forward.c --event--> sim.c --> sma*.c, pma.c, cca.c --answer--> forward.c
 *                                            '-------> agent.c
 *   fault.c, link.c change cables and moods; trap.c speaks up; oracle.c watches the tables.
 */
#pragma once

#include <string.h>

#include "sim/sim.h"
#include "util/mem.h"

#define SIM_NONE UINT32_MAX

enum event_kind {
	EV_ARRIVE,   /* mad reaches (node, port) */
	EV_TIMEOUT,  /* a request of agent `owner` was not answered; mad is the request */
	EV_RMPP,     /* timer of RMPP session `owner` */
	EV_TRAIN,    /* (node, port) finishes training, unless its link has changed since */
	EV_AUTO,     /* (node, port) becomes ACTIVE, if still ARMED */
	EV_TRAP,     /* next repetition of a trap */
	EV_CABLE,    /* end of a flap */
	EV_POWER,    /* end of a reboot */
	EV_IDLE,     /* not in the queue, or free */
};

struct event {
	mono_t at;
	uint64_t seq;
	uint32_t heap;       /* index in the queue */
	enum event_kind kind;
	struct event *next;  /* free list or hash chain */
	uint32_t node;
	uint8_t port;
	uint8_t hops;
	uint16_t gen;        /* EV_TRAIN, EV_AUTO: sim_port.gen when the event was queued */
	uint8_t retries;     /* EV_TIMEOUT: number of tries left */
	unsigned timeout_ms; /* EV_TIMEOUT */
	void *owner;         /* EV_TIMEOUT: struct agent; EV_RMPP: struct rmpp */
	uint16_t pkey;       /* P_Key on the wire; GMPs only */
	lid_t dlid;
	size_t length;
	struct transport_addr from, to;
	uint8_t mad[MAD_SIZE];
};

struct slot {
	mono_t at;
	uint64_t seq;
	struct event *ev;
};

struct queue {
	struct slot *heap;
	size_t n, cap;
	uint64_t seq;
	struct event *free;
	struct chunk *chunks;
};

/* Distinct payloads of `size` bytes, referred to by number. Number 0 is the first one stored. */
struct intern {
	unsigned size;
	uint8_t *values;
	size_t n, cap;
	uint32_t *hash;      /* hash table of value number + 1; 0: empty */
	size_t n_hash;
};

enum port_flag {
	/* set while a simulated fault keeps the link down although the cable is plugged */
	PF_CUT = 1,
	PF_FDR10 = 2,        /* FDR10 is supported */
	PF_NO_STORE = 4,
	PF_FDR10_OFF = 8,    /* FDR10 is not enabled */
	PF_FDR10_ACTIVE = 16,
	/* set if it had an M_Key since its last power cycle; kept by key_watch.c */
	PF_KEYED = 32,
	/* set if it was last found open though PF_KEYED; kept by key_watch.c */
	PF_OPEN = 64,
	PF_DEFER = 128,      /* ACTIVE is Active-Defer in SwitchPortStateTable */
};

/* One port. `info` is PortInfo as on the wire; derived fields are inserted at Get. */
struct sim_port {
	uint8_t info[PI_BYTES];
	guid_t guid;
	mono_t lease_end;    /* end of the M_Key lease; 0: the timer is stopped */
	struct sim_tally *tally; /* counters, see pma.c; NULL: all zero */
	struct cca *cca;	 /* congestion control; NULL: no setting was written */
	uint32_t peer;       /* node at the other end of the cable, or SIM_NONE */
	uint16_t gen;        /* number of link events */
	uint16_t reregs;
	/* index into sim.links + 1, for programs that have the port open; 0: none */
	uint16_t link;
	uint8_t peer_port;
	uint8_t flags;
	uint8_t loss;        /* per cent of SMPs lost on the cable */
	uint8_t lanes;       /* largest width of the port */
	/* limits of the cable in width and speed; 0: none */
	uint8_t cable_lanes;
	uint16_t cable_tenths;
};

/* Tables that most nodes never get written; allocated at the first Set. */
struct tables {
	uint16_t **pkeys;    /* [port] -> pkey_cap entries */
	guid_t **guids;      /* [port] -> guid_cap entries */
	uint16_t *sl2vl;     /* [in * (nports + 1) + out] -> sim.sl2vl number */
	uint16_t *vlarb;     /* [port * 4 + block - 1] -> sim.vlarb number */
	uint16_t *mft;       /* [mlid - 0xC000][position] */
	unsigned mft_rows;
};

struct mood {
	enum sim_silence silence;
	uint16_t silent_attr;
	uint16_t refuse_attr;
	uint16_t refuse_status;
	uint32_t request_loss, response_loss; /* probabilities times 2^32 */
	mono_t sma_time;     /* time per request; 0: that of all nodes */
};

struct trap {
	struct trap *next;
	uint32_t node;
	uint8_t port;
	uint8_t left;        /* repetitions left */
	uint64_t tid;
	struct event *timer;
	uint8_t notice[SMP_DATA_SIZE];
};

struct sim_node {
	char *id;
	struct sim_port *ports; /* nports + 1 ports */
	uint8_t *lft;
	uint32_t lft_size;      /* entries allocated */
	lid_t lft_top;          /* LinearFDBTop, a copy of the field in sw_info */
	uint8_t type;
	uint8_t nports;
	uint8_t pma;            /* enum sim_pma */
	uint8_t state_table;    /* enum sim_state_table */
	bool off;
	bool ignored;
	uint16_t toggle;        /* number of notices sent */
	mono_t busy_until;
	struct tables *tables;
	struct mood *mood;
	uint8_t cc_mood;        /* enum sim_cc */
	uint8_t cc_blocks;      /* blocks of the control table; 0: SIM_CC_BLOCKS */
	uint8_t node_info[NI_BYTES];
	uint8_t sw_info[SI_BYTES];
	uint8_t desc[SMP_DATA_SIZE];
};

/*
 * The data that the oracle follows, packed: thousands of switches fit into the cache. Kept by
 * oracle.c.
 */
struct hot_node {
	const uint8_t *lft;
	uint32_t lft_end;    /* number of valid entries: up to LinearFDBTop */
	uint32_t first_port; /* index into sim.hot_next */
	lid_t lid;           /* LID of port 0 */
	uint8_t lmc;
	uint8_t nports;
};

struct count {
	uint16_t attr;
	uint8_t method;
	uint64_t n;
};

struct link;
struct simport;

struct sim {
	mono_t now;
	uint64_t rng;
	struct queue queue;
	struct sim_node *nodes;
	uint32_t n_nodes;
	struct sim_port *ports;  /* ports of all nodes, node after node */
	struct link **links;     /* ports opened by programs; NULL: a free place */
	uint32_t n_links, cap_links;
	/* port taken down by the Set in progress, whose answer is still sent */
	const struct sim_port *parting;
	uint32_t last_agent;     /* last number given to an agent */
	struct simport *simports; /* attached transports */
	struct trap *traps;
	uint64_t next_tid;
	struct intern sl2vl, vlarb;

	/* probabilities times 2^32 */
	uint32_t request_loss, response_loss, duplicates, reorder, trap_loss;
	mono_t hop_time, jitter, sma_time, train_time, reorder_by, auto_active;
	unsigned sma_queue;
	bool own_port_open, gets_open;

	struct count *counts;
	size_t n_counts, cap_counts;
	struct hot_node *hot;    /* by node */
	/* by port: the switch that data through it reaches, or SIM_NONE */
	uint32_t *hot_next;
	bool watch;
	/* set if PortInfo has the extended speeds even without the modifier's bit */
	bool always_extended;
	/* set if ports start with all VLs and the largest MTU they can do */
	bool full_start;
	uint64_t loops_ever, early_active;
	bool watch_lost;
	uint64_t lost_ever;
	struct mcast_watch *mcast;
	uint64_t mcast_loops_ever, mcast_twice_ever;
	struct sim_key_watch key_watch;
	struct sim_secret_watch secret_watch;
	sim_set_fn on_set;
	void *on_set_arg;
	uint64_t cc_gets, cc_sets; /* requests that arrived */
};

/* queue.c */
struct event *event_new(struct sim *sim, enum event_kind kind);
void event_free(struct sim *sim, struct event *ev);
void queue_add(struct sim *sim, struct event *ev, mono_t at);
void queue_remove(struct sim *sim, struct event *ev);
struct event *queue_pop(struct sim *sim, mono_t until); /* NULL: nothing due */
mono_t queue_next(const struct sim *sim);
void queue_clear(struct sim *sim);

static inline bool node_is_switch(const struct sim_node *n)
{
	return n->type == IB_NODE_SWITCH;
}

static inline bool node_esp0(const struct sim_node *n)
{
	return ib_get(n->sw_info, SI_ENHANCED_PORT0);
}

static inline unsigned port_state(const struct sim_port *p)
{
	return ib_get(p->info, PI_PORT_STATE);
}

static inline bool port_up(const struct sim_port *p)
{
	return ib_get(p->info, PI_PHYS_STATE) == IB_PHYS_LINK_UP;
}

/* The end port for a MAD that arrives at `port`: it has the LID and the M_Key. */
static inline struct sim_port *node_end_port(struct sim_node *n, unsigned port)
{
	return &n->ports[node_is_switch(n) ? 0 : port];
}

static inline uint8_t node_lft(const struct sim_node *n, unsigned lid)
{
	return lid <= n->lft_top && lid < n->lft_size ? n->lft[lid] : LFT_NO_PORT;
}

static inline bool port_has_lid(const struct sim_port *p, lid_t lid)
{
	lid_t base = (lid_t)ib_get(p->info, PI_LID);
	unsigned lmc = (unsigned)ib_get(p->info, PI_LMC);

	return base && lid >> lmc == base >> lmc;
}

static inline struct sim_node *sim_node(const struct sim *sim, int node)
{
	return node < 0 || (uint32_t)node >= sim->n_nodes ? NULL : &sim->nodes[node];
}

/* build.c: nodes from a netfile; and their state after power-on. */
void sim_build(struct sim *sim, const struct netfile *net);
void node_reset(struct sim *sim, uint32_t node);
void port_full_start(struct sim_port *p);
void tables_free(struct sim_node *n);
/* The mood of a node, made at the first call. */
struct mood *node_mood(struct sim_node *n);

/* intern.c */
uint16_t intern_put(struct intern *in, const uint8_t *value);
const uint8_t *intern_get(const struct intern *in, unsigned number);
void intern_free(struct intern *in);

/* forward.c: takes over `ev`, whose mad leaves (node, port) now. */
void forward_send(struct sim *sim, struct event *ev, uint32_t node, unsigned port);
/* takes ev: sends a GMP back as its own response */
void forward_answer(struct sim *sim, struct event *ev);
/* True with probability `p` / 2^32. */
bool forward_chance(struct sim *sim, uint32_t p);
/* Counts an SMP for sim_count(). */
void forward_count(struct sim *sim, uint16_t attr, uint8_t method);

/* gmp.c: partition, Q_Key and GRH of a GMP. False: the packet does not leave the port. */
bool gmp_leave(struct sim *sim, struct event *ev, uint32_t node, unsigned port);
/* Is the packet for this port? Then its addresses are as a receiver sees them. */
bool gmp_is_ours(const struct sim_node *n, unsigned port, struct event *ev);

/* agent.c */
void link_deliver(struct sim *sim, uint32_t link, struct event *ev); /* takes ev */
void link_timeout(struct sim *sim, struct event *ev);                /* takes ev */
bool link_is_sm(const struct sim *sim, const struct sim_port *p);
void links_close(struct sim *sim);

/* transport.c */
void simports_close(struct sim *sim);

/* sma.c */
void sma_arrive(struct sim *sim, struct event *ev); /* takes ev, an SMP */

/*
 * One attribute of one node: reads or writes `payload`, which becomes the answer. Returns a MAD
 * status.
 */
struct sma_call {
	struct sim *sim;
	struct sim_node *n;
	uint32_t node;
	unsigned in_port;    /* port that the request arrived at; 0 on switches reached at port 0 */
	bool set;
	uint32_t mod;
	bool foreign;        /* set if the M_Key of the request is not that of the port */
	uint8_t *payload;
};
uint16_t sma_port_info(struct sma_call *c);   /* sma_port.c */
uint16_t sma_ext_port_info(struct sma_call *c);
uint16_t sma_lft(struct sma_call *c);         /* sma_tables.c */
uint16_t sma_port_states(struct sma_call *c);
uint16_t sma_mft(struct sma_call *c);
uint16_t sma_pkeys(struct sma_call *c);
/*
 * Number of entries of the P_Key table of a port: PartitionCap; EnforcementCap on external ports of
 * a switch.
 */
unsigned sma_pkey_cap(const struct sim_node *n, unsigned port);
uint16_t sma_guids(struct sma_call *c);
uint16_t sma_sl2vl(struct sma_call *c);
uint16_t sma_vlarb(struct sma_call *c);

/* link.c: training and loss of links. */
void link_state_down(struct sim *sim, uint32_t node, unsigned port, unsigned phys);
void link_train(struct sim *sim, uint32_t node, unsigned port);
void link_trained(struct sim *sim, struct event *ev);
void link_speed_negotiate(struct sim *sim, uint32_t node, unsigned port);
void link_auto_active(struct sim *sim, uint32_t node, unsigned port);
void link_auto_fire(struct sim *sim, const struct event *ev);

/* fault.c */
void fault_event(struct sim *sim, const struct event *ev);

/* trap.c */
void trap_link_change(struct sim *sim, uint32_t node);
void trap_local_change(struct sim *sim, uint32_t node, unsigned port, unsigned flags);
void trap_bad_m_key(struct sim *sim, uint32_t node, unsigned port, const uint8_t *mad, lid_t slid);
void trap_again(struct sim *sim, struct event *ev);
/* False: this node has not sent such a trap; a program on it may have. */
bool trap_repressed(struct sim *sim, uint32_t node, const uint8_t *mad);
void traps_forget(struct sim *sim, uint32_t node);

/* oracle.c */
void oracle_start(struct sim *sim);
void oracle_stop(struct sim *sim);
/* Called after changes of LFT, LinearFDBTop or LID of a switch; of state or cable of a port. */
void oracle_node_changed(struct sim *sim, uint32_t node);
void oracle_port_changed(struct sim *sim, uint32_t node, unsigned port);
/* False: a call of oracle_node_changed() or oracle_port_changed() is missing. */
bool oracle_is_current(const struct sim *sim);
void oracle_lft_block(struct sim *sim, uint32_t node, unsigned block, const uint8_t *before);
void oracle_top(struct sim *sim, uint32_t node, lid_t before);
void oracle_port(struct sim *sim, uint32_t node, unsigned port);

/* secret_watch.c: called with each MAD that a program on the node sends. */
void secret_watch_look(struct sim *sim, uint32_t node, const uint8_t *mad, size_t length);
/* key_watch.c: called at a request to node:port, after a Set there, and at a power cycle. */
void key_watch_look(struct sim *sim, uint32_t node, unsigned port);
void key_watch_set(struct sim *sim, uint32_t node, unsigned port);
void key_watch_reset(struct sim_port *p);

/* mcast.c: called by the oracle, and after changes of multicast tables. */
void mcast_start(struct sim *sim);
void mcast_stop(struct sim *sim);
/* `before`: the 32 former masks of the block. */
void mcast_block(struct sim *sim, uint32_t node, uint32_t mod, const uint16_t *before);
void mcast_top(struct sim *sim, uint32_t node, lid_t before);
void mcast_port(struct sim *sim, uint32_t node, unsigned port);
uint32_t mcast_count_faults(struct sim *sim);
