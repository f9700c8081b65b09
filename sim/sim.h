// SPDX-License-Identifier: BSD-2-Clause
/*
 * An InfiniBand fabric in this process, in virtual time, behind the transport contract.
 *
 * Life: a struct netfile (from a file or gen.h) becomes a sim; one or several transports attach to
 * ports; the test then loops: advance to the earlier of sim_next() and what the manager asks for,
 * let the manager receive and send. Nothing here reads a clock, and all chance comes from the seed:
 * the same calls give the same bytes.
 *
 * Nodes answer as hardware does where hardware and ibsim differ; see sim_quirk_no_store(). Nodes
 * are named by their index in the netfile (sim_find() gives it for an id or description); -1 is all
 * nodes where the comment says so.
 *
 * Other MADs travel, too, if partition, Q_Key (MAD_QP1_QKEY for QP1) and ACTIVE links allow it.
 * Every port has a performance agent; all other classes are for attached programs.
 *
 * Not here: data traffic.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/mad.h"
#include "sim/netfile/netfile.h"
#include "opensm/transport.h"
#include "util/mem.h"
#include "util/mono.h"
#include "util/types.h"

struct sim;

/*
 * All cabled links are trained (INIT) at time 0; nodes and cables are silent or slow as in `net`,
 * which is copied. Never NULL.
 */
struct sim *sim_new(const struct netfile *net, uint64_t seed);
/* Closes transports that are still attached. NULL is fine; returns NULL. */
struct sim *sim_free(struct sim *sim);
FREEP(sim_free, struct sim)

mono_t sim_now(const struct sim *sim);
/*
 * Time of the next event, MONO_NEVER if none. MADs waiting in a transport's receive() do not count.
 */
mono_t sim_next(const struct sim *sim);
/*
 * Processes all events up to and including `to`; then sim_now() is `to`. An earlier `to` is
 * ignored.
 */
void sim_advance(struct sim *sim, mono_t to);

/* Index of the node with this id or description, -1 if there is none. */
int sim_find(const struct sim *sim, const char *id_or_desc);
unsigned sim_n_nodes(const struct sim *sim);
const char *sim_node_id(const struct sim *sim, int node);
unsigned sim_node_ports(const struct sim *sim, int node); /* external ports */
bool sim_node_is_switch(const struct sim *sim, int node);
guid_t sim_node_guid(const struct sim *sim, int node);

/*
 * Attaches a transport to a CA or router port (1..n; 0: the first) or to a switch (port 0). NULL:
 * no such node or port, or already attached. The caller closes it, or sim_free() does.
 */
struct transport *sim_attach(struct sim *sim, const char *id_or_desc, int port);
/*
 * Attaches a transport with a queue pair of its own (2 and up), as a program that talks to the SA
 * by itself; several can coexist. It receives all MADs for this queue pair, and no others.
 */
struct transport *sim_attach_qp(struct sim *sim, const char *id_or_desc, int port, uint32_t qp);
/* Would receive() return an event now? `tr` comes from sim_attach(). */
bool sim_has_mail(const struct transport *tr);

/*
 * The answer of the node to a Get, as bytes on the wire; for tests. -EINVAL, -ENOENT (no such
 * table).
 */
int sim_read(struct sim *sim, int node, uint16_t attr, uint32_t mod, uint8_t ret[SMP_DATA_SIZE]);
enum ib_port_state sim_port_state(const struct sim *sim, int node, unsigned port);
enum ib_phys_state sim_phys_state(const struct sim *sim, int node, unsigned port);
/* port 0 of a switch, 1..n of others */
lid_t sim_port_lid(const struct sim *sim, int node, unsigned port);
/* Can SMPs cross the cable of this port, and does the node of the port answer them? */
bool sim_port_hears(const struct sim *sim, int node, unsigned port);
/* entry of the LFT; LFT_NO_PORT beyond the table */
uint8_t sim_lft(const struct sim *sim, int node, lid_t lid);
/* Number of ClientReregister received by this end port. */
unsigned sim_reregistered(const struct sim *sim, int node, unsigned port);
/* The other end of the cable; false: there is none. */
bool sim_peer(const struct sim *sim, int node, unsigned port, int *ret_node, unsigned *ret_port);

/* Entry `index` of the P_Key table of an end port; 0: empty or beyond the table. */
uint16_t sim_port_pkey(const struct sim *sim, int node, unsigned port, unsigned index);
/* GID `index` of an end port, in wire order; false: empty or beyond the table. */
bool sim_port_gid(const struct sim *sim, int node, unsigned port, unsigned index, uint8_t ret[16]);

/*
 * Numbers of SMPs. Requests are counted when a transport sends them, so retries count; traps are
 * counted when a node emits them.
 */
/* attr 0: all attributes */
uint64_t sim_count(const struct sim *sim, uint16_t attr, uint8_t method);
static inline uint64_t sim_gets(const struct sim *sim)
{
	return sim_count(sim, 0, MAD_GET);
}
static inline uint64_t sim_sets(const struct sim *sim)
{
	return sim_count(sim, 0, MAD_SET);
}

/* ---- properties of nodes: call before the first SMP, or expect a changed fabric ---- */

/*
 * Like ibsim: NeighborMTU, error thresholds, stall count, subnet timeout, lease, M_Key, violations
 * and enforcement bits of PortInfo are accepted but not stored. node -1: all.
 */
void sim_quirk_no_store(struct sim *sim, int node);
/*
 * Ports start after a power cycle with the largest MTU and all VLs they can do, not with 2048 bytes
 * and one. OpenSM 3 takes links down whose values differ from its own.
 */
void sim_set_full_start(struct sim *sim);
/*
 * Shows extended speeds also to programs that do not ask for them, as real devices do and
 * infiniband-diags expects.
 */
void sim_set_always_extended(struct sim *sim);
/* LinearFDBCap, 1..0xC000; -1: all switches */
void sim_set_linear_cap(struct sim *sim, int node, lid_t cap);
/* MulticastFDBCap; -1: all switches */
void sim_set_mcast_cap(struct sim *sim, int node, unsigned cap);
/* SwitchInfo:OptimizedSLtoVLMappingProgramming */
void sim_set_optimized_sl2vl(struct sim *sim, int node, bool on);
/*
 * SwitchPortStateTable: absent, correct, always all ACTIVE, or offered and refused; -1: all
 * switches
 */
enum sim_state_table {
	SIM_NO_STATE_TABLE,
	SIM_STATE_TABLE,
	SIM_STATE_TABLE_LIES,
	SIM_STATE_TABLE_REFUSED,
};
void sim_set_state_table(struct sim *sim, int node, enum sim_state_table kind);
/* The link of a port that is ACTIVE trains again: the table has Active-Defer, PortInfo does not. */
int sim_set_defer(struct sim *sim, int node, unsigned port, bool on);
/* all ports; vl_cap 1..5; -1: all */
void sim_set_caps(struct sim *sim, int node, enum ib_mtu mtu_cap, unsigned vl_cap);
/* every end port; trap 144 */
void sim_set_cap_mask(struct sim *sim, int node, uint32_t set, uint32_t clear);
/* PartitionCap, EnforcementCap; -1: all */
void sim_set_pkey_cap(struct sim *sim, int node, unsigned cap);
/* EnforcementCap alone, perhaps 0: external ports then have no P_Key table; -1: all switches */
void sim_set_enforcement_cap(struct sim *sim, int node, unsigned cap);
void sim_set_desc(struct sim *sim, int node, const char *desc);   /* NodeDescription; trap 144 */
/* node GUID; port GUIDs move along */
void sim_set_guid(struct sim *sim, int node, guid_t guid);
/*
 * Key, protection (0..3) and lease (seconds, 0 infinite) of an end port, as an earlier SM set them.
 */
void sim_set_m_key(struct sim *sim, int node, unsigned port, uint64_t key, unsigned protect,
		   unsigned lease);
/*
 * Lets a host read and set its own port whatever the M_Key, as drivers do for root; otherwise
 * M_Keys hold for the host, too.
 */
void sim_set_own_port_open(struct sim *sim, bool open);
/* Lets Gets be answered as at protection 1, whatever it is: for checkers without keys. */
void sim_set_gets_open(struct sim *sim, bool open);
/* Lets an end port receive a Set with a wrong M_Key; its trap 256 is lost. */
void sim_wrong_m_key(struct sim *sim, int node, unsigned port);
/* LID and SM LID that an earlier SM set. */
void sim_set_lid(struct sim *sim, int node, unsigned port, lid_t lid, uint8_t lmc, lid_t sm_lid);

/* ---- faults: any time ---- */

/* Per cent of SMPs lost on the way there and back, over the whole way. 0..100. */
void sim_set_loss(struct sim *sim, double request_pct, double response_pct);
/* Delay of each hop (default 1 us) and of each way, 0..jitter, evenly distributed. */
void sim_set_delay(struct sim *sim, mono_t hop, mono_t jitter);
/* Time that an SMA needs for one request; it handles one at a time. Default 5 us. */
void sim_set_sma_time(struct sim *sim, mono_t busy);
/* Time that the SMA of one node needs for one request; 0: that of all others. */
void sim_set_node_sma_time(struct sim *sim, int node, mono_t busy);
/* Most requests that an SMA queues while busy; further ones are dropped. 0 (default): no limit. */
void sim_set_sma_queue(struct sim *sim, unsigned depth);
/*
 * Per cent of deliveries that arrive twice; that are delayed by up to `by`, so that later ones
 * overtake.
 */
void sim_set_duplicates(struct sim *sim, double pct);
void sim_set_reorder(struct sim *sim, double pct, mono_t by);
/* Per cent of traps lost, each repetition by itself. */
void sim_set_trap_loss(struct sim *sim, double pct);
/* Time from plugging a cable to INIT. Default 10 ms. */
void sim_set_train_time(struct sim *sim, mono_t t);
/*
 * An ARMED port whose neighbour is ACTIVE becomes ACTIVE by itself (data arrives) after `after`; 0
 * (default): never.
 */
void sim_set_auto_active(struct sim *sim, mono_t after);

enum sim_silence { SIM_ANSWERS, SIM_SILENT, SIM_SILENT_GET, SIM_SILENT_SET };
/* The SMA of the node does not answer; attr 0: any attribute. Forwarding continues. */
void sim_set_silent(struct sim *sim, int node, enum sim_silence what, uint16_t attr);
/* The node's SMA refuses Sets of `attr` with `status` (0: normal again). */
void sim_set_refuse(struct sim *sim, int node, uint16_t attr, uint16_t status);
void sim_set_node_loss(struct sim *sim, int node, double request_pct, double response_pct);
/* Per cent of SMPs lost on this cable, in both directions. */
void sim_set_link_loss(struct sim *sim, int node, unsigned port, unsigned pct);

/*
 * Limits this cable, in lanes and tenths of Gb/s per lane, from the next training on; 0: limits of
 * both ends only. Another cable has no such limit. -EINVAL: there is no cable.
 */
int sim_set_cable_rate(struct sim *sim, int node, unsigned port, unsigned lanes, unsigned tenths);

/* -EINVAL: no such node or port, no cable (up, down), or the other port is taken (plug). */
int sim_link_down(struct sim *sim, int node, unsigned port);
int sim_link_up(struct sim *sim, int node, unsigned port);
int sim_link_flap(struct sim *sim, int node, unsigned port, mono_t down_for);
/* `ibportstate disable` or `enable` at the port. */
int sim_link_enable(struct sim *sim, int node, unsigned port, bool on);
int sim_unplug(struct sim *sim, int node, unsigned port);
/* Plugs a cable between two free ports; the same port twice is a loopback plug. */
int sim_plug(struct sim *sim, int a, unsigned a_port, int b, unsigned b_port);
/* Moves the far end of the cable to the port to:to_port. */
int sim_move(struct sim *sim, int node, unsigned port, int to, unsigned to_port);
/* Power cycle: all settings are lost, links retrain after `down_for`. */
void sim_reboot(struct sim *sim, int node, mono_t down_for);
void sim_power(struct sim *sim, int node, bool on);
/* Counters of a port, provided by its performance agent. */
enum sim_counter {
	SIM_SYMBOL_ERRORS,
	SIM_LINK_RECOVERIES,
	SIM_LINK_DOWNED,
	SIM_RCV_ERRORS,
	SIM_RCV_REMOTE_ERRORS,
	SIM_RCV_RELAY_ERRORS,
	SIM_XMIT_DISCARDS,
	SIM_XMIT_CONSTRAINTS,
	SIM_RCV_CONSTRAINTS,
	SIM_LINK_INTEGRITY,
	SIM_BUFFER_OVERRUNS,
	SIM_VL15_DROPPED,
	SIM_XMIT_DATA,
	SIM_RCV_DATA,
	SIM_XMIT_PACKETS,
	SIM_RCV_PACKETS,
	SIM_XMIT_WAIT,
	SIM_QP1_DROPPED,
	SIM_SYNC_ERRORS,
	SIM_FEC_CORRECTED, /* symbols */
	SIM_FEC_UNCORRECTABLE,
	SIM_RCV_LOCAL_PHYSICAL,
	SIM_RCV_MALFORMED,
	SIM_RCV_BUFFER_OVERRUN,
	SIM_RCV_DLID_MAPPING,
	SIM_RCV_VL_MAPPING,
	SIM_RCV_LOOPING,
	SIM_DISCARDS_INACTIVE,
	SIM_DISCARDS_MTU,
	SIM_DISCARDS_LIFETIME,
	SIM_DISCARDS_HOQ,
	SIM_COUNTERS,
};
/* Adds to a counter; -EINVAL: no such port. */
int sim_count_errors(struct sim *sim, int node, unsigned port, enum sim_counter which, uint64_t n);
/* Lets a counter grow by so much each second from now on. */
int sim_set_rate(struct sim *sim, int node, unsigned port, enum sim_counter which, uint64_t per_s);
/* Clears all counters of a port as another program might; rates stay. */
int sim_clear_counters(struct sim *sim, int node, unsigned port);
/* Abilities of performance agents. */
enum sim_pma {
	SIM_PMA_EXTENDED, /* data counters of 64 bits, small error fields; details */
	SIM_PMA_BASIC,    /* PortCounters alone */
	SIM_PMA_WIDE,     /* all counters of 64 bits, FEC with RS-FEC, details */
	SIM_PMA_SILENT,   /* no answer */
};
int sim_set_pma(struct sim *sim, int node, enum sim_pma kind);
/*
 * Adds to P_KeyViolations of PortInfo, as if the port had dropped so many packets. -EINVAL: no such
 * port.
 */
int sim_count_pkey_violations(struct sim *sim, int node, unsigned port, unsigned n);
/*
 * Sends a trap with this Notice (from port 0 of a switch, `port` of others), repeated until
 * TrapRepress.
 */
void sim_send_trap(struct sim *sim, int node, unsigned port, const uint8_t notice[SMP_DATA_SIZE]);

/* ---- the oracle ---- */

struct sim_verdict {
	/* end ports judged: CA and router ports with a link, switch ports 0 */
	uint32_t end_ports;
	uint32_t ports_not_active;  /* trained ports between judged nodes that are not ACTIVE */
	uint32_t lids_missing;
	uint32_t lids_duplicate;
	uint32_t sm_lid_wrong;      /* end ports whose SM LID is no LID of an attached port */
	/* ordered pairs of (end port, LID of another end port), LMC ranges included */
	uint64_t pairs;
	/* pairs of these without a path through LFTs and ACTIVE ports */
	uint64_t unreachable;
	uint64_t looping;           /* unreachable pairs whose packets loop */
	/* LIDs that began to loop, since the start or since sim_watch_loops() */
	uint64_t loops_ever;
	/* MLIDs whose packets loop or arrive twice, from some sender */
	uint32_t mcast_faults;
	/* number of Sets, tops and states after which an MLID looped, since the start or a reset */
	uint64_t mcast_loops_ever;
	/* number of those after which packets of an MLID arrived twice */
	uint64_t mcast_twice_ever;
	char first[128];            /* the first fault found, in words; "" if none */
};

/*
 * Judges all parts that are connected to an attached port through answering nodes; silent and
 * ignored nodes, the cables to them and those that lose every SMP are left out. Subnets that only
 * share adapters are judged separately.
 */
void sim_check_all(struct sim *sim, struct sim_verdict *ret);
/* Is everything ACTIVE, addressed and reachable, and has nothing ever looped? */
bool sim_verdict_good(const struct sim_verdict *v);
/* Leaves a node out of sim_check_all() (duplicate GUIDs ...). */
void sim_ignore(struct sim *sim, int node, bool ignore);
/* Checks for loops after every Set. On from the start; turning it on clears loops_ever. */
void sim_watch_loops(struct sim *sim, bool on);
uint64_t sim_loops_ever(const struct sim *sim);
/*
 * Counts paths lost by a Set that changes an LFT entry, or by a link that fails: from a switch with
 * hosts to a LID of a host. Off at first; turning it on clears the count.
 */
void sim_watch_lost(struct sim *sim, bool on);
uint64_t sim_lost_ever(const struct sim *sim);
uint64_t sim_mcast_loops_ever(const struct sim *sim);
uint64_t sim_mcast_twice_ever(const struct sim *sim);
/*
 * The receivers of a packet that the end port node:port (port 0 of a switch) sends to `mlid`: `fn`,
 * which may be NULL, is called for every copy; port 0 stands for the switch. Returns the number of
 * copies; -EINVAL: no such end port, or no multicast LID. P_Keys are ignored.
 */
typedef void (*sim_mcast_fn)(void *arg, int node, unsigned port);
int sim_mcast_reach(struct sim *sim, lid_t mlid, int node, unsigned port, sim_mcast_fn fn,
		    void *arg);

/* M_Key and protection of an end port: port 0 of a switch, 1..n of others. */
struct sim_m_key {
	guid_t guid;
	uint64_t key;
	unsigned protect, lease, violations;
};
/* False: no such end port. */
bool sim_port_m_key(const struct sim *sim, int node, unsigned port, struct sim_m_key *ret);

#define SIM_OPENED_MAX 8

struct sim_key_watch {
	unsigned level;      /* 0: the watch is off */
	uint64_t looks;
	uint64_t opened;     /* number of ports found open that had had a key before */
	struct sim_opened {
		int node;
		unsigned port;
		mono_t at;
		struct sim_m_key has;
	} first[SIM_OPENED_MAX]; /* the first ports found open */
};
/*
 * Checks every end port after each Set, and at each request to it. A port is open if it has no
 * M_Key, or a protection below `level`; it is counted if it has had a key since its last power
 * cycle. 0 ends the watch. All counts are cleared.
 */
void sim_watch_keys(struct sim *sim, unsigned level);
const struct sim_key_watch *sim_keys_watched(const struct sim *sim);
/* `fn` is called after each Set that a device has executed or refused; NULL: no calls. */
typedef void (*sim_set_fn)(void *arg, int node);
void sim_on_set(struct sim *sim, sim_set_fn fn, void *arg);

#define SIM_SECRETS 8

struct sim_secret_watch {
	uint64_t secrets[SIM_SECRETS];
	unsigned n_secrets;
	uint64_t looks, seen; /* MADs checked, MADs with a secret */
	struct sim_secret_seen {
		int node; /* node that sent it */
		unsigned secret; /* index into secrets[] */
		uint8_t mgmt_class, method;
		uint16_t attr;
	} first; /* the first one seen */
};
/*
 * Counts MADs of hosts with these 8 bytes, the most significant first. False: SIM_SECRETS are
 * watched already.
 */
bool sim_watch_secret(struct sim *sim, uint64_t secret);
const struct sim_secret_watch *sim_secrets_watched(const struct sim *sim);

/* Number of Sets to ACTIVE while the neighbour was still in INIT or DOWN. */
uint64_t sim_early_active(const struct sim *sim);
/* A hash over ports, LFTs, MFTs, SL2VL, VLArb and P_Keys of all nodes: equal for equal fabrics. */
uint64_t sim_fingerprint(const struct sim *sim);
/* A hash over all that of one node, with its identity, SwitchInfo and GUIDs; 0: no such node. */
uint64_t sim_node_fingerprint(const struct sim *sim, int node);
