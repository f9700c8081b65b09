// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Key tables: a pure function of the partitions, of the ports and of what their tables hold
 * (partitions-conf.md 7).
 *
 * Few tables are distinct in a fabric of many ports, so tables are stored once, and equal tables
 * have equal numbers (ids, from 0 in order of first use). The same holds for P_Key *sets*: tables
 * regardless of order, as subnet administration needs them.
 *
 * Order of the entries: partitions by partition_order(); the limited key of a partition before its
 * full key. Each port, in this order:
 *
 *   0  index 0 belongs to the indx0 key of the port (of several the last in the file; of two forms
 *      the limited one), or else to 0xFFFF, or else to 0x7FFF; the owner goes there and others
 *      found there move away
 *   1  a key that sits in the table keeps its index
 *   2  a new one goes to the index remembered for it, if free; or else behind the highest index of
 *      any key that this process confirmed or gave on the port; or else to index 1
 *   3  where that is beyond the table, to the first hole
 *   4  no hole: the key is dropped (never the default key, which drives out another)
 *
 * A port with rights made at run time (job.tenants) has other rules for 2 and 3: a key that the
 * plan before gave, and that has not reached the table yet, keeps that index; a new one goes to the
 * lowest free index from 1. The table of
 * the switch port that faces it is kept as still: its keys stay where the plan before has them, new
 * ones fill the lowest hole. So one change is one block of each. A key whose membership changes
 * keeps its index in both.
 *
 * Memory is a plan: job.previous is the plan made before, and holds per port which keys were
 * confirmed or given. Planning the result again changes nothing.
 *
 * A change of one port costs that port: pkey_plan_port() plans it anew within a plan, with the same
 * result as a whole plan whose job.previous is the plan before. What the port had remains in the
 * memory of the plan until the next whole one (pkey_plan_is_bloated()).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/partitions/partitions.h"
#include "util/mem.h"
#include "util/types.h"

#define PKEY_BLOCK 32 /* P_Keys in one block of a table */

/* A port that has a table of its own: of a CA or router, or port 0 of a switch. */
struct pkey_port {
	guid_t guid;
	uint8_t node_type;    /* enum ib_node_type */
	bool is_sm;	      /* set if it is our own port (SELF) */
	uint16_t capacity;    /* number of entries: NodeInfo.PartitionCap */
	uint16_t n_have;      /* number of entries at `have`; those beyond `capacity` are ignored */
	const uint16_t *have; /* table as read; NULL: not known */
	/*
	 * SwitchInfo.PartitionEnforcementCap of the switch that faces this port; 0: no switch
	 * there, port 0 of a switch, or no enforcement.
	 */
	uint16_t peer_capacity;
};

/*
 * Direction in which switches check packets at ports that face hosts. As bits: PortInfo mask 0x0C.
 */
enum pkey_enforce {
	PKEY_ENFORCE_OFF = 0x00,
	PKEY_ENFORCE_OUT = 0x04, /* PartitionEnforcementOutbound */
	PKEY_ENFORCE_IN = 0x08,
	PKEY_ENFORCE_BOTH = 0x0C,
};
/* The value of part_enforce; any other word means both. */
enum pkey_enforce pkey_enforce_mode(const struct conf *conf);

/*
 * The rights that partitions.conf gives, by GUID and by kind of port: prepared once, good for any
 * fabric and any number of plans. Immutable. Holds a reference of the partitions.
 */
struct pkey_rights;

/* Never NULL; the caller frees it. O(partitions + items). */
struct pkey_rights *pkey_rights_new(const struct partitions *p);
struct pkey_rights *pkey_rights_free(struct pkey_rights *rights);
FREEP(pkey_rights_free, struct pkey_rights)

struct pkey_plan;
struct tenants;

struct pkey_job {
	const struct partitions *partitions;
	/* rights of `partitions`; NULL: they are made for this plan alone */
	const struct pkey_rights *rights;
	/*
	 * Rights made at run time; NULL: none. They apply after the last item of the file, and
	 * their index0 overrides any indx0 of the file. Their P_Keys need not be in `partitions`.
	 */
	const struct tenants *tenants;
	const struct pkey_port *ports;
	size_t n_ports;
	enum pkey_enforce enforce;
	bool allow_both;   /* allow_both_pkeys */
	bool keep_indexes; /* keep_pkey_indexes; false: tables as read and memory are ignored */
	const struct pkey_plan *previous; /* the plan before; NULL: nothing is remembered */
};

/* Takes enforce, allow_both and keep_indexes from the configuration. */
void pkey_job_options(struct pkey_job *job, const struct conf *conf);

/* A table without the zeros at its end: entries from n on are 0. */
struct pkey_table {
	const uint16_t *keys;
	uint16_t n;
};

/*
 * The partitions of a port: P_Keys by partition_order() of their base. Where a port holds both
 * forms of a key, they are two bits of one entry.
 */
struct pkey_set {
	uint32_t id; /* equal sets of one plan have equal ids */
	uint16_t n;
	uint16_t self_pkey; /* P_Key that two ports with this set share; 0: none (all limited) */
	const struct pkey_entry {
		uint16_t order; /* partition_order(), ascending */
		uint16_t forms; /* PKEY_SET_LIMITED | PKEY_SET_FULL */
	} * entries;
};
#define PKEY_SET_LIMITED 0x01
#define PKEY_SET_FULL	 0x02

#define PKEY_NO_TABLE UINT32_MAX

struct pkey_port_plan {
	uint32_t table; /* id: pkey_plan_table() */
	/* id for pkey_plan_set(), made of the table, so without dropped keys */
	uint32_t set;
	uint32_t memory;      /* id of a table for the planner's own use */
	uint32_t peer_table;  /* id; PKEY_NO_TABLE: the table of the switch port is left alone */
	uint8_t peer_enforce; /* enum pkey_enforce wanted on the switch port */
	bool peer_too_small;  /* enforcement is off because the keys do not fit: to be logged */
	uint16_t n_dropped;   /* keys that found no place: to be logged */
	uint32_t dropped;     /* index of the first one, for pkey_plan_dropped() */
};

struct pkey_plan {
	struct pkey_port_plan *ports; /* parallel to job.ports */
	size_t n_ports;
	uint32_t n_tables, n_sets;
	size_t n_dropped;	 /* ports with dropped keys */
	size_t n_peer_too_small; /* switch ports whose enforcement is off for lack of room */
	struct pkey_pool *pool;	 /* tables, sets and GUIDs; private to pkey*.c */
};

/*
 * Makes a plan. Never NULL; the caller frees it, and job.previous only after this call. `job` and
 * all that it points to may be freed afterwards. Expected O(ports + distinct tables * keys), and
 * without job.rights O(items + partitions) more.
 */
struct pkey_plan *pkey_plan(const struct pkey_job *job);
struct pkey_plan *pkey_plan_free(struct pkey_plan *plan);
FREEP(pkey_plan_free, struct pkey_plan)

/*
 * Plans one port anew; a port with an unknown GUID is ignored. Of `job` only rights and options are
 * used, not its ports, and not job.previous, which is the plan itself. Ids given before stay valid,
 * as do pointers to sets, but not results of pkey_plan_table() and pkey_plan_dropped(). O(keys of
 * the port) with job.rights.
 */
void pkey_plan_port(struct pkey_plan *plan, const struct pkey_job *job,
		    const struct pkey_port *port);
/* Does the plan hold more than twice as much as a new one would? Then it should be replaced. */
bool pkey_plan_is_bloated(const struct pkey_plan *plan);

/* The result that pkey_plan_port() would have. */
struct pkey_trial {
	uint16_t *keys; /* the table without the zeros at its end; never NULL */
	uint16_t n;
	uint16_t *peer_keys; /* table of the switch port; NULL: it is left alone */
	uint16_t n_peer;
	uint8_t peer_enforce;	/* enum pkey_enforce */
	bool peer_too_small;	/* the keys do not fit the switch port */
	size_t n_dropped;	/* keys that find no place at the port */
	uint16_t first_dropped; /* 0: none */
};

/*
 * Computes a trial, for a dry run and to refuse a change without room. The plan is not changed; an
 * unknown port is planned without memory. `ret` is to be cleared.
 */
void pkey_plan_try(const struct pkey_plan *plan, const struct pkey_job *job,
		   const struct pkey_port *port, struct pkey_trial *ret);
void pkey_trial_clear(struct pkey_trial *trial);

/*
 * A table or set by an id that the plan gave; owned by the plan. A table is valid until the next
 * pkey_plan_port(), a set as long as the plan.
 */
struct pkey_table pkey_plan_table(const struct pkey_plan *plan, uint32_t id);
const struct pkey_set *pkey_plan_set(const struct pkey_plan *plan, uint32_t id);
/*
 * The keys dropped at port number `port`: n_dropped of them, at most PKEY_DROPPED_KEPT. Valid until
 * the next pkey_plan_port().
 */
#define PKEY_DROPPED_KEPT 32
const uint16_t *pkey_plan_dropped(const struct pkey_plan *plan, size_t port);
/* Index in job.ports of the port with this GUID; SIZE_MAX: not planned. */
size_t pkey_plan_find(const struct pkey_plan *plan, guid_t guid);

/* Fills in block number `block` of a table, zeros at its end included. */
void pkey_table_block(struct pkey_table table, unsigned block, uint16_t ret[PKEY_BLOCK]);

/*
 * The wanted table of the switch port that faces a port with `table`: the keys one after the other,
 * without zeros, and without a limited key whose full form is there too. `ret` has room for table.n
 * keys. Returns their number, or -ENOSPC when they do not fit `capacity` (enforcement must then be
 * off).
 */
int pkey_peer_table(struct pkey_table table, uint16_t capacity, uint16_t *ret);

/*
 * May the two sets talk to each other: is some P_Key in both, and full in one? `*ret_pkey` (may be
 * NULL): the first such key (sa.md 4.4) with the membership bit of `a`. The sets may be of
 * different plans. Equal ids of one plan cost nothing; else O(a->n + b->n).
 */
bool pkey_share(const struct pkey_set *a, const struct pkey_set *b, uint16_t *ret_pkey);
/* The forms of this P_Key's base in the set (PKEY_SET_LIMITED, PKEY_SET_FULL); 0: not a member. */
unsigned pkey_set_find(const struct pkey_set *set, uint16_t pkey);
