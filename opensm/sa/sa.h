// SPDX-License-Identifier: BSD-2-Clause
/*
 * Subnet Administration: what hosts ask and register (IBA chapter 15).
 *
 * Its owner (sm/) hands in GMPs, publishes a view after each sweep, forwards notices and calls
 * sa_dispatch(). Questions are answered from the last view; what hosts registered (groups, services,
 * subscriptions, alias GUIDs) lives here and outlives views and mastership.
 *
 * Reads no clock, never blocks; a long answer is made in slices, in turn with others.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "conf/prefixes.h"
#include "fabric/fabric.h"
#include "mad/mad.h"
#include "opensm/transport.h"
#include "sa/view.h"
#include "util/mono.h"

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
	/* Alias GUIDs of this block of an end port changed: sa_guid_block() says what it shall hold. */
	void (*guids_changed)(void *arg, guid_t port_guid, unsigned block);
	/*
	 * Reads a table that is not kept (SL2VL, VLArb, or whatever is unknown) from the device; ends in
	 * sa_cell() with the same cookie, later. False: cannot be asked (then sa_cell() is not called).
	 */
	bool (*read_cell)(void *arg, const struct sa_cell_address *cell, uint64_t cookie);
	/* Is a subnet manager that we believe at this port? NULL: nobody is one. */
	bool (*is_manager)(void *arg, guid_t port_guid);
	/* A manager registered how it is configured (`record`: SVR_BYTES), or asked who has (NULL). */
	void (*manager_seen)(void *arg, guid_t port_guid, const uint8_t *record);
	void *arg;
};

/* `fabric` is read for tables as known now (MFT, P_Key blocks); it outlives the SA. */
struct sa *sa_new(const struct conf *conf, const struct fabric *fabric, struct mad_engine *mad,
		  const struct sa_hooks *hooks);
struct sa *sa_free(struct sa *sa);
void sa_set_conf(struct sa *sa, const struct conf *conf); /* takes a reference of its own */

/*
 * A new picture of the fabric (takes a reference of its own): ports that came raise trap 64, ports
 * that went raise trap 65 and leave their groups. NULL: not master any more; nothing is answered,
 * what is registered stays.
 */
void sa_publish(struct sa *sa, const struct view *view, mono_t now);

/* Any GMP of class SA: requests, ReportResps, and Reports that came back unanswered. */
void sa_receive(struct sa *sa, struct transport_event *ev, mono_t now);
/* What read_cell() asked for; `payload` (64 bytes) is NULL if it was not answered. */
void sa_cell(struct sa *sa, uint64_t cookie, const uint8_t *payload);
/* A trap that came in as an SMP, for subscribers (traps.md 3 to 5). `notice`: 64 bytes. */
void sa_forward_trap(struct sa *sa, const struct transport_addr *from, const uint8_t *notice,
		     mono_t now);

/* Goes on with long answers, reports, leases. True: there is more to do at once. */
bool sa_dispatch(struct sa *sa, mono_t now);
mono_t sa_next(const struct sa *sa); /* MONO_NEVER if nothing waits for a time */

/* Partition groups as configured: creates what is new, takes back what is no longer wanted. */
void sa_set_partitions(struct sa *sa, const struct partitions *parts);

/* Routes to other subnets (prefix_routes_file), to be given anew whenever the file was read. Copied. */
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
 * Before the first view is published. Findings go to `report`: a line that cannot be believed costs
 * itself alone. 0: all was taken; 1: something was left out, and clients must register again
 * (no_clients_rereg does not hold); -EINVAL: no text, nothing was taken.
 */
int sa_db_restore(struct sa *sa, const char *text, size_t len, const char *file,
		  struct conf_report *report);

/*
 * Managers of ours among each other; everybody else sees nothing of it.
 *
 * Each registers a ServiceRecord with the master's SA, ServiceID SA_MANAGER_ID, its own port's GID, and as
 * data how it is configured (SMC_LIST). Only a trusted port with a subnet manager (is_manager()) may
 * register one, or see one, and only by asking for this ServiceID. They are in no dump and no count. The
 * master's own record says in DATA64_0 which version of what is registered there is (sa_db_version()).
 *
 * A standby whose GetTable has the AttributeModifier SA_FOR_STANDBY is given all there is: groups and
 * services of every partition, groups without members, leases as what is left of them, only ports that
 * have alias GUIDs, and in reserved bytes of InformInfoRecord where Reports go (IIW_LIST). Whoever is not
 * known as a manager gets SA_REQ_DENIED, so that nobody takes a part for the whole.
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
	guid_t own_port;  /* what it registered itself is left out */
	const uint16_t *pkeys; /* the table of this port, for P_Key indexes */
	unsigned n_pkeys;
};
/*
 * Before the first view: what hosts registered with us (in an earlier life as master) is forgotten, and
 * these tables are it. A record that cannot be believed costs itself. Returns how many were left out.
 */
size_t sa_restore_tables(struct sa *sa, const struct sa_tables *t);

/* Counters, for the log, status and metrics. */
struct sa_stats {
	uint64_t requests, answered, dropped, refused; /* refused: answered with a status */
	uint64_t reports, reports_lost;
	uint32_t groups, members, services, subscriptions, guids, queries; /* now */
};
const struct sa_stats *sa_stats(const struct sa *sa);

/*
 * Requests by what was asked and what was answered: 0, an SA status, or SA_NO_ANSWER. Attributes and methods that are none
 * count as 0, and when there is no row left the last one takes the rest (attribute 0, method 0).
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

/* Requests without an answer, by the reason in words, which stays. */
#define SA_DROP_ROWS 24u
struct sa_drop_count {
	const char *why;
	uint64_t n;
};
const struct sa_drop_count *sa_drop_counts(const struct sa *sa, unsigned *ret_n);
