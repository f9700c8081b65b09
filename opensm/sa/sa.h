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

/* A table of a device; `port` is any port of the node, and its SMA is asked directly. */
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
	 * Called when a port was removed from a group that was made anew (sa_set_partitions()): it
	 * should join again, but does not know. May be NULL.
	 */
	void (*members_lost)(void *arg, guid_t port_guid);
	/*
	 * Called when alias GUIDs of this block of an end port have changed; sa_guid_block()
	 * returns the wanted ones.
	 */
	void (*guids_changed)(void *arg, guid_t port_guid, unsigned block);
	/*
	 * Reads a table that is not kept (SL2VL, VLArb, or any unknown one) from the device; ends
	 * later in sa_cell() with the same cookie. Returns 0; -EAGAIN: too many are being read;
	 * other values < 0: it cannot be asked. After an error sa_cell() is not called.
	 */
	int (*read_cell)(void *arg, const struct sa_cell_address *cell, uint64_t cookie);
	/* Is a trusted subnet manager on this port? NULL: on none. */
	bool (*is_manager)(void *arg, guid_t port_guid);
	/*
	 * Does this request (256 bytes) of a manager on this port prove, in place of sa_key, that
	 * it has the keys? Called for an SM_Key that is not sa_key. NULL: no.
	 */
	bool (*knows_keys)(void *arg, guid_t port_guid, const uint8_t *mad);
	/*
	 * Called when a manager registered its configuration (`record`: SVR_BYTES), or asked for
	 * such records (NULL).
	 */
	void (*manager_seen)(void *arg, guid_t port_guid, const uint8_t *record);
	/*
	 * Called when a port (0: no port has this LID) violates a rule. `what`: "sa_key" (it tries
	 * keys) or a word of enum sa_abuse. `text`: the log line.
	 */
	void (*abused)(void *arg, const char *what, guid_t port_guid, lid_t lid, const char *text);
	void *arg;
};

/*
 * Takes a reference of `conf`; copies `hooks` (NULL: none). `fabric` is read for tables as known
 * now (MFT, P_Key blocks); it and `mad` must stay valid.
 */
struct sa *sa_new(const struct conf *conf, const struct fabric *fabric, struct mad_engine *mad,
		  const struct sa_hooks *hooks);
struct sa *sa_free(struct sa *sa);
void sa_set_conf(struct sa *sa, const struct conf *conf); /* takes a reference of its own */

/*
 * Sets the random key of trusted requests, if the configuration asks for one (conf_draws_sa_key()).
 * 0, as at first: no request is trusted.
 */
void sa_set_drawn_key(struct sa *sa, uint64_t key);

/*
 * Publishes a new view, made with VIEW_PATHS (takes a reference): ports that came raise trap 64,
 * ports that went raise trap 65 (13.4.8.2) and leave their groups. NULL: not MASTER any more; no
 * request is answered, registrations stay.
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

/* Takes a GMP of class SA: a request, a ReportResp, or a Report that returned unanswered. */
void sa_receive(struct sa *sa, struct transport_event *ev, mono_t now);
/* Ends a read_cell() that returned 0; `payload`: 64 bytes, NULL: no answer. */
void sa_cell(struct sa *sa, uint64_t cookie, const uint8_t *payload);
/* Forwards a trap from an SMP to subscribers (13.4.9, traps.md 3 to 5). `notice`: 64 bytes. */
void sa_forward_trap(struct sa *sa, const struct transport_addr *from, const uint8_t *notice,
		     mono_t now);

/* Continues long answers, reports and leases. True: there is more to do at once. */
bool sa_dispatch(struct sa *sa, mono_t now);
mono_t sa_next(const struct sa *sa); /* MONO_NEVER: nothing is waiting for a time */

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

/* Sets the routes to other subnets (prefix_routes_file; copied), each time that file was read. */
void sa_set_prefixes(struct sa *sa, const struct conf_prefixes *prefixes);

/* A member of any group with this MLID, one per port. */
struct sa_mc_port {
	uint32_t port; /* index in the view */
	bool receives; /* full or non-member; false: send-only */
};
/* The members of all groups on an MLID, sorted by port; the caller frees. */
struct sa_mc_port *sa_mc_members(const struct sa *sa, lid_t mlid, uint32_t *ret_n);
/* The SL of the groups on an MLID; 0 if there is none. */
uint8_t sa_mc_sl(const struct sa *sa, lid_t mlid);
/* The lowest MLID in use at or above `mlid`; 0: none. */
lid_t sa_next_mlid(const struct sa *sa, lid_t mlid);
/* The GUIDInfo block (8 GUIDs) that an end port should hold; false: none is registered. */
bool sa_guid_block(const struct sa *sa, guid_t port_guid, unsigned block, guid_t ret[8]);

/*
 * The contents of opensm-sa.dump: everything registered, as text, which the caller frees; and a
 * version that changes whenever the text does.
 */
uint64_t sa_db_version(const struct sa *sa);
char *sa_db_text(const struct sa *sa, size_t *ret_len);
/*
 * Restores a dump before a view is published. Findings go to `report`: a faulty line is skipped.
 * Returns 0: all lines were taken; 1: some were skipped, and clients must register again
 * (no_clients_rereg does not apply); -EINVAL: no text, no line was taken.
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
#define SA_MANAGER_ID	0x02006F736D2D6361ull /* A3.2.3.4: 0x02, locally administered */
#define SA_MANAGER_NAME "subnet manager configuration"
#define SA_FOR_STANDBY	0x53544259u

/* Registers or replaces the record of our own manager. */
void sa_set_manager(struct sa *sa, const uint8_t *record);

/* Tables as a master's SA returned them; `n` records of the size in sa.md 2. */
struct sa_table {
	const uint8_t *records;
	size_t n;
};
struct sa_tables {
	struct sa_table members, services, subscriptions, aliases;
	bool whole;	       /* set if requested with SA_FOR_STANDBY */
	uint32_t age;	       /* age in seconds, subtracted from leases */
	guid_t own_port;       /* port GUID whose own registrations are skipped */
	const uint16_t *pkeys; /* P_Key table of this port, for P_Key indexes */
	unsigned n_pkeys;
};
/*
 * Restores tables before a view is published, in place of registrations from an earlier time as
 * MASTER. Returns the number of faulty records, which are skipped.
 */
size_t sa_restore_tables(struct sa *sa, const struct sa_tables *t);

/* Counters, for the log, status and metrics. */
struct sa_stats {
	uint64_t requests, answered, dropped, refused; /* refused: answered with an error status */
	uint64_t reports, reports_lost;
	/* requests with wrong keys; number of times that a port was found guessing */
	uint64_t key_guesses, key_guessers;
	uint32_t groups, members, services, subscriptions, guids, queries; /* present numbers */
};
const struct sa_stats *sa_stats(const struct sa *sa);
/*
 * The number of port pairs that each rule of the policy has decided since it is in force, in its
 * order, then the default level; counts answers, not records. NULL: another policy is in force.
 */
const uint64_t *sa_rules_decided(const struct sa *sa, const struct qos_policy *policy);

/*
 * Numbers of requests by attribute, method and answer: 0, an SA status, or SA_NO_ANSWER. Invalid
 * attributes and methods count as 0; when all rows are used, the last one counts the rest
 * (attribute 0, method 0).
 */
#define SA_NO_ANSWER  0xFFFF
#define SA_COUNT_ROWS 96u
struct sa_count {
	uint16_t attr, status;
	uint8_t method;
	uint64_t n;
};
/* The rows used so far; valid until the next request. */
const struct sa_count *sa_counts(const struct sa *sa, unsigned *ret_n);

/* The numbers of MLIDs in use, and of MLIDs that the switches have room for. */
void sa_mlids(const struct sa *sa, uint32_t *ret_used, uint32_t *ret_max);
/* Most groups charged to one port: sa_max_groups_per_port, or the value that 0 stands for. */
uint32_t sa_groups_per_port(const struct sa *sa);

/* A reason why a request gets no answer. */
struct sa_why {
	const char *word; /* "overload" */
	const char *text; /* part of a sentence */
};
/* The number of requests without an answer, by reason. */
#define SA_DROP_ROWS 40u
struct sa_drop_count {
	const struct sa_why *why;
	uint64_t n;
};
const struct sa_drop_count *sa_drop_counts(const struct sa *sa, unsigned *ret_n);
