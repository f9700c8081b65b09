// SPDX-License-Identifier: BSD-2-Clause
/*
 * Subnet Administration: queries and registrations of hosts (IBA chapter 15).
 *
 * Its owner (sm/) hands in GMPs, publishes a view after each sweep, forwards notices and calls
 * sa_dispatch(). Queries are answered from the last view; registrations (groups, services,
 * subscriptions, alias GUIDs) live here and outlive views and mastership.
 *
 * Reads no clock, never blocks; a long answer is made in slices, in turn with others.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "conf/lists/prefixes.h"
#include "fabric/fabric.h"
#include "mad/mad.h"
#include "opensm/transport.h"
#include "util/mono.h"
#include "view/view.h"

struct sa;
struct partitions;

/* A table of a device: `port` is any of the node's, the SMA is asked directly. */
struct sa_cell_address {
	guid_t node_guid;
	uint8_t port;
	uint16_t attr;
	uint32_t mod;
};

struct sa_hooks {
	/* Members of the groups with this MLID changed: its tree must be planned again. */
	void (*mcast_changed)(void *arg, lid_t mlid);
	/*
	 * A port was taken out of a group that was made anew (sa_set_partitions()): it should join
	 * again, and does not know that. NULL: not wanted.
	 */
	void (*members_lost)(void *arg, guid_t port_guid);
	/*
	 * Alias GUIDs of this block of an end port changed: sa_guid_block() says what it shall
	 * hold.
	 */
	void (*guids_changed)(void *arg, guid_t port_guid, unsigned block);
	/*
	 * Reads a table that is not kept (SL2VL, VLArb, or whatever is unknown) from the device;
	 * ends in sa_cell() with the same cookie, later. -EAGAIN: too many are being read; else <
	 * 0: cannot be asked (then sa_cell() is not called).
	 */
	int (*read_cell)(void *arg, const struct sa_cell_address *cell, uint64_t cookie);
	/* Is a trusted subnet manager at this port? NULL: at none. */
	bool (*is_manager)(void *arg, guid_t port_guid);
	/*
	 * Is this request (256 bytes) from a manager on this port that proves, in place of sa_key,
	 * that it has the keys? Asked of one with an SM_Key that is not sa_key. NULL: none is.
	 */
	bool (*knows_keys)(void *arg, guid_t port_guid, const uint8_t *mad);
	/*
	 * A manager registered how it is configured (`record`: SVR_BYTES), or asked for such
	 * records (NULL).
	 */
	void (*manager_seen)(void *arg, guid_t port_guid, const uint8_t *record);
	/*
	 * A port (0: no port has this LID) does what it may not do: `what` is "sa_key" (keys are
	 * tried out) or a word of enum sa_abuse. `text`: the log line.
	 */
	void (*abused)(void *arg, const char *what, guid_t port_guid, lid_t lid, const char *text);
	void *arg;
};

/*
 * A reference of `conf` is taken, `hooks` (NULL: none) are copied. `fabric` is read for tables as
 * known now (MFT, P_Key blocks); it and `mad` outlive the SA.
 */
struct sa *sa_new(const struct conf *conf, const struct fabric *fabric, struct mad_engine *mad,
		  const struct sa_hooks *hooks);
struct sa *sa_free(struct sa *sa);
void sa_set_conf(struct sa *sa, const struct conf *conf); /* takes a reference of its own */

/*
 * The key of trusted requests while the configuration asks for one that is drawn at random
 * (conf_draws_sa_key()). 0, as at first: then no request is trusted.
 */
void sa_set_drawn_key(struct sa *sa, uint64_t key);

/*
 * A new picture of the fabric, made with VIEW_PATHS (takes a reference of its own): ports that came
 * raise trap 64, ports that went raise trap 65 (13.4.8.2) and leave their groups. NULL: not master
 * any more; no request is answered, registrations stay.
 */
void sa_publish(struct sa *sa, const struct view *view, mono_t now);

/*
 * The P_Keys of some ports have changed, nothing else: `derived` is made with view_with_pkeys()
 * from the view published last, or from one derived of it (takes a reference of its own). From now
 * on the new rights count for all answers, also for queries under way (one that may have gathered
 * rows by rights which are gone is begun anew), for Reports that wait to be sent, and for their
 * repetition. A service is hidden while the port of its GID lacks its P_Key, and seen again with
 * it. The groups of a partition come with its first port and lose their mark with the last.
 * Members of groups stay: sa_leave_partition(). Only as master, after sa_publish().
 */
void sa_publish_pkeys(struct sa *sa, const struct view *derived, mono_t now);
/*
 * A port has lost a P_Key, or all rights but those of a limited member: it leaves the groups of
 * that P_Key which it could not join now (sa.md 6.1: a member of a group holds its P_Key, full or
 * limited). Subscribers hear of groups that end by that (trap 67), mcast_changed() is called for
 * each MLID. Called after the P_Keys were published; a port that is in no such group: nothing.
 */
void sa_leave_partition(struct sa *sa, guid_t port_guid, uint16_t pkey);

/* Any GMP of class SA: requests, ReportResps, and Reports that came back unanswered. */
void sa_receive(struct sa *sa, struct transport_event *ev, mono_t now);
/* The end of a read_cell() that returned 0; `payload`: 64 bytes, NULL if none came. */
void sa_cell(struct sa *sa, uint64_t cookie, const uint8_t *payload);
/* A trap that came in as an SMP, for subscribers (13.4.9, traps.md 3 to 5). `notice`: 64 bytes. */
void sa_forward_trap(struct sa *sa, const struct transport_addr *from, const uint8_t *notice,
		     mono_t now);

/* Goes on with long answers, reports, leases. True: there is more to do at once. */
bool sa_dispatch(struct sa *sa, mono_t now);
mono_t sa_next(const struct sa *sa); /* MONO_NEVER if nothing waits for a time */

/*
 * Partition groups as configured: creates what is new, takes back what is no longer wanted.
 *
 * A group that is no longer named, of a partition that is still there, becomes an ordinary one: its
 * members stay, and the last takes it along. The groups of a partition that is gone end at once,
 * those that hosts made included: trap 67 for subscribers that hold the P_Key still, all members
 * are out, the MLID is free.
 *
 * A partition group whose values change while it has members: one of the file follows if all of its
 * members can, and else stays as it was until they have left. One of a partition made at run time
 * (without items) is made anew, on its MLID, if its MTU or rate changes: trap 67, and all members
 * are out, as they must not go on with values of the former one. A host does not notice by itself
 * that it is out; members_lost() says which ports should be told to register again
 * (ClientReregister). Hosts then see the new values in the answer to their join (trap 66 with the
 * first); a port that cannot do the new MTU or rate is refused and remains outside.
 */
void sa_set_partitions(struct sa *sa, const struct partitions *parts);

/*
 * Routes to other subnets (prefix_routes_file), to be given anew whenever the file was read.
 * Copied.
 */
void sa_set_prefixes(struct sa *sa, const struct conf_prefixes *prefixes);

/* A member of any group with this MLID, once per port. */
struct sa_mc_port {
	uint32_t port; /* in the view */
	bool receives; /* full or non-member; false: send-only */
};
/* All of them, sorted by port; freed by the caller. */
struct sa_mc_port *sa_mc_members(const struct sa *sa, lid_t mlid, uint32_t *ret_n);
/* The SL of the groups on an MLID; 0 if there is none. */
uint8_t sa_mc_sl(const struct sa *sa, lid_t mlid);
/* Lowest MLID in use at or above `mlid`; 0 if none. */
lid_t sa_next_mlid(const struct sa *sa, lid_t mlid);
/* The GUIDInfo block (8 GUIDs) that an end port shall hold; false: none registered. */
bool sa_guid_block(const struct sa *sa, guid_t port_guid, unsigned block, guid_t ret[8]);

/*
 * opensm-sa.dump: everything registered, as text (owned by the caller), and back again. The version
 * changes whenever something that is dumped changes.
 */
uint64_t sa_db_version(const struct sa *sa);
char *sa_db_text(const struct sa *sa, size_t *ret_len);
/*
 * Before a view is published. Findings go to `report`: a faulty line is left out, others count. 0:
 * all lines were taken; 1: some were left out, and clients must register again (no_clients_rereg
 * does not hold); -EINVAL: no text, no line was taken.
 */
int sa_db_restore(struct sa *sa, const char *text, size_t len, const char *file,
		  struct conf_report *report);

/*
 * For managers of this program among each other; other requesters see nothing of it.
 *
 * Each registers a ServiceRecord with the master's SA, ServiceID SA_MANAGER_ID, its own port's GID,
 * and as data how it is configured (SMC_LIST). Only a trusted port with a subnet manager
 * (is_manager()) may register one, or see one, and only by asking for this ServiceID. They are in
 * no dump and no count. The master's own record says in DATA64_0 which version of what is
 * registered there is (sa_db_version()).
 *
 * A standby whose GetTable has the AttributeModifier SA_FOR_STANDBY is given all there is: groups
 * and services of every partition, groups without members, leases as what is left of them, only
 * ports that have alias GUIDs, and in reserved bytes of InformInfoRecord where Reports go
 * (IIW_LIST). A requester not known as a manager gets SA_REQ_DENIED, so that none takes a part for
 * the whole.
 */
#define SA_MANAGER_ID	   0x02006F736D2D6361ull /* A3.2.3.4: 0x02, locally administered */
#define SA_MANAGER_NAME	   "subnet manager configuration"
#define SA_FOR_STANDBY	   0x53544259u

/* Registers (or replaces) the record of the manager that this SA is part of. */
void sa_set_manager(struct sa *sa, const uint8_t *record);

/* Tables as a master's SA answered with them; `n` records of the size in sa.md 2. */
struct sa_table {
	const uint8_t *records;
	size_t n;
};
struct sa_tables {
	struct sa_table members, services, subscriptions, aliases;
	bool whole;	  /* they were asked for with SA_FOR_STANDBY */
	uint32_t age;	  /* seconds since; taken off leases */
	guid_t own_port;  /* its own registrations are left out */
	const uint16_t *pkeys; /* the table of this port, for P_Key indexes */
	unsigned n_pkeys;
};
/*
 * Before a view is published: registrations with us (in an earlier life as master) are forgotten,
 * and these tables replace them. Returns how many faulty records were left out.
 */
size_t sa_restore_tables(struct sa *sa, const struct sa_tables *t);

/* Counters, for the log, status and metrics. */
struct sa_stats {
	uint64_t requests, answered, dropped, refused; /* refused: answered with a status */
	uint64_t reports, reports_lost;
	uint64_t key_guesses, key_guessers; /* wrong keys; how often a port was found guessing */
	uint32_t groups, members, services, subscriptions, guids, queries; /* now */
};
const struct sa_stats *sa_stats(const struct sa *sa);
/*
 * For how many pairs of ports each rule of the policy has decided since it is in force, in its
 * order, then the default level: of answers, not of records. NULL: another one is.
 */
const uint64_t *sa_rules_decided(const struct sa *sa, const struct qos_policy *policy);

/*
 * Requests by attribute, method and answer: 0, an SA status, or SA_NO_ANSWER. Attributes
 * and methods that are none count as 0, and when there is no row left the last one takes the rest
 * (attribute 0, method 0).
 */
#define SA_NO_ANSWER  0xFFFF
#define SA_COUNT_ROWS 96u
struct sa_count {
	uint16_t attr, status;
	uint8_t method;
	uint64_t n;
};
/* Rows used so far; valid until the next request. */
const struct sa_count *sa_counts(const struct sa *sa, unsigned *ret_n);

/* MLIDs that groups stand on, and those that the switches have room for. */
void sa_mlids(const struct sa *sa, uint32_t *ret_used, uint32_t *ret_max);
/* Most groups because of one port: sa_max_groups_per_port, or what 0 stands for. */
uint32_t sa_groups_per_port(const struct sa *sa);

/* Requests without an answer, by the reason in words, which stays. */
#define SA_DROP_ROWS 40u
struct sa_drop_count {
	const char *why;
	uint64_t n;
};
const struct sa_drop_count *sa_drop_counts(const struct sa *sa, unsigned *ret_n);
