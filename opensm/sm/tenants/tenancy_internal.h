// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of tenancy*.c; the rest of sm/ sees tenancy.h. */
#pragma once

#include "conf/tenants/tenants.h"
#include "sm/base/partition.h"
#include "sm/ledger/edits.h"
#include "sm/ledger/settle.h"
#include "sm/sm_internal.h"
#include "util/guidmap.h"

#define TENANCY_WAITING_MAX 4096u	 /* most requests that wait to be judged */
#define HELD_UNREAD_MAX	    64u		 /* most ports that are read for one question */
#define TENANCY_BYTES_MAX   (128u << 20) /* most bytes of all changes under way */
#define TENANCY_DEADLINE    (7 * MONO_S) /* from a request to its answer (tenancy.md 5: 8 s) */

/* A port whose P_Key tables are to be as the table of tenants says. */
struct target {
	struct target *next_due;
	bool is_queued; /* set if it is in the queue of targets that are due */
	guid_t guid;
	struct sm *sm;
	uint32_t wanted, confirmed; /* revisions: counted with each change of the port */
	uint32_t tried;		    /* the revision that `state` refers to */
	enum target_state {
		TARGET_DUE,
		TARGET_RUNNING,
		TARGET_CONFIRMED,
		TARGET_ABSENT, /* reason: `why`; the next sweep writes it before ACTIVE */
		TARGET_SILENT, /* the end port does not answer; its switch port is written */
		TARGET_FAILED, /* reason: `why`; due again at `again` */
	} state;
	const char *why;
	bool takes;	 /* set if a key is taken away that the device may still have */
	bool is_checked; /* set if the switch port of the removed keys checks P_Keys */
	mono_t again;
	unsigned failures, n_wishes;
	/* tenancy_held.c: P_Keys that the end port may have, while blocks of it are unknown. */
	bool is_read; /* set if all keys the port had when the target was made are in `keys` */
	uint16_t *keys;
	size_t n_keys, cap_keys;
	struct partitions *file; /* file in force when the changes in `keys` were made */
};

/* A switch port, named by values that stay valid when it is removed. */
struct place {
	guid_t node;
	uint8_t port;
};

/* A request from its arrival to its answer. */
struct change {
	struct change *next;
	struct tenant_request rq;
	bool wait, dry_run;
	sm_tenancy_done_fn *done; /* NULL: the caller is gone */
	void *arg;
	mono_t since;
	struct tenant_entry entry, inverse;
	guid_t *guids;		   /* GUIDs of the ports that the change concerns, ascending */
	size_t n_guids, next_wish; /* next_wish: wishes before it are fulfilled */
	struct wish {
		struct target *target; /* NULL: fulfilled */
		uint32_t revision;
		bool takes; /* removes a key: the switch port alone is enough */
	} * wishes;
	struct sm_tenancy_pending *pending;
	size_t n_pending, cap_pending;
	uint64_t generation;
	uint64_t stored_as;	   /* number of its rows; of all if it was in force already */
	struct settle_reach reach; /* the managers that have it, as last determined */
	size_t bytes;		   /* memory that it takes, about */
	bool is_late;		   /* set if it was answered before it was known to be stored */
};

struct changes {
	struct change *first, **end;
	unsigned n;
};

struct tenancy {
	/* `fresh`: arrived since the last dispatch, between which the manager's clock stands. */
	struct changes fresh, waiting, batch, stored;
	/* Stored and answered after another manager appeared; ports are not planned yet. */
	struct changes unplanned;
	bool is_behind_hold;		 /* no sweep has ended since P_Keys were held */
	size_t bytes;			 /* of all of these but the fresh ones, about */
	uint64_t ended[SM_TENANCY_ENDS]; /* changes, by how they ended */
	size_t judged;			 /* ports of the changes that this turn has judged */
	/* tenancy_rows.c: rows of the batch; rows of members of partitions that are removed */
	struct edits edits;
	struct ledger_key *orphans;
	size_t n_orphans, cap_orphans;
	bool writing;	       /* set while the batch is being written to the disk */
	bool was_derived;      /* set if other rows were applied meanwhile */
	char write_fault[300]; /* reason why a batch was not stored */
	/* tenancy_wire.c */
	struct guidmap *targets;
	struct target *first_due, **last_due;
	mono_t retry_at; /* time at which the first failed target is due again */
	unsigned n_running;
	bool settled;	/* set if a port or a standby has settled: a change may be fulfilled */
	mono_t look_at; /* time at which stored changes are examined in any case */
	struct log_limit log;
	/* tenancy_place.c */
	struct guidmap *places; /* port GUID -> struct place; at most one per member */
	/* dark: some link that is up leads to an unknown far end, as determined at `dark_at`. */
	bool dark_is_known, dark;
	mono_t dark_at;
	struct audit *audit;	       /* tenancy_audit.c; NULL: no audit is under way */
	struct tenancy_import *import; /* tenancy_import.c; NULL: no cache folder */
	struct adoption *adoption;     /* tenancy_doubt.c; NULL: no adoption is under way */
	/* tenancy_held.c: ports to be read, which left a question unanswered. */
	struct place unread[HELD_UNREAD_MAX];
	unsigned n_unread, unread_from, n_reads;
};

/*
 * May devices be written to? Then this manager may write what rows decide, and P_Key tables were
 * planned from them since.
 */
static inline bool tenancy_is_at_work(const struct sm *sm)
{
	return sm->state == SM_MASTER && sm->first_sweep_done && sm->fabric->own_port &&
	       partition_is_planned(sm) && settle_may_write(sm) && !partition_is_held(sm);
}

/* ---- tenancy.c ---- */

/* Removes the first change and returns it; NULL: the list is empty. */
struct change *changes_take(struct changes *list);
void changes_add(struct changes *list, struct change *c);
/* Called when the batch is on the disk, or (`error` < 0) could not be stored. */
void tenancy_batch_ended(struct sm *sm, int error);

/* ---- tenancy_rows.c ---- */

struct ledger_key tenancy_partition_key(uint16_t pkey);
struct ledger_key tenancy_member_key(uint16_t pkey, guid_t guid);
/* Adds the row of a partition as it is to be. */
void edit_partition(struct edits *all, uint16_t pkey, const struct tenant_fields *f,
		    uint64_t number);
/* Adds the row of a member as it is to be; `behind`: the partition's row has this value. */
void edit_member(struct edits *all, uint16_t pkey, const struct tenant_member *m, uint64_t behind,
		 uint64_t number);
/*
 * For an entry that is not applied yet, and its inverse: notes for each partition that is created
 * the removal that came before.
 */
void rows_note_removals(const struct sm *sm, struct change *c);
/*
 * The value of a row of LEDGER_MEMBER that is in force: of those that stand, and whose partition
 * was not removed since they were written, the one that gives less. False: there is none, or the
 * member is removed; `ret` is the value that the ledger has in force then.
 */
bool tenancy_member_value(const struct sm *sm, const struct ledger_row *row,
			  struct ledger_value *ret);
/* Adds the rows of an entry that was applied; its inverse is the former state. */
void edits_of_change(struct sm *sm, struct edits *all, const struct change *c);
/* tenancy_derive() for all rows that the batch edits. */
void tenancy_derive_edits(struct sm *sm);
void rows_free(struct tenancy *t);

/* ---- tenancy_wire.c ---- */

/*
 * Plans the ports of a change anew and tries them as soon as possible. Fills in its wishes, or
 * leaves them NULL if no device can be written to now.
 */
void wire_change(struct sm *sm, struct change *c);
/* Plans the ports of a change anew that was taken back, as a sweep may have planned from it. */
void wire_plan_back(struct sm *sm, const struct change *c);
/* Is no port of this change open? What is stored and not on a device yet is in c->pending. */
bool wire_is_fulfilled(struct sm *sm, struct change *c);
/* Drops the wishes of a change. */
void wire_let_go(struct change *c);
/* The reason why a port is not tried at all; NULL: it is tried. */
const char *wire_absence(const struct sm *sm, guid_t guid);
void wire_tick(struct sm *sm);
mono_t wire_next(const struct sm *sm);
/* Called on leaving MASTER: no port is tried any more. */
void wire_stop(struct sm *sm);
/* The first port whose P_Key table has no room for the table of tenants; NULL: all have. */
const struct port *wire_without_room(struct sm *sm, const struct change *c, char *why, size_t size);
/* The P_Key blocks that would be written to the ports now; the caller frees. */
struct sm_tenancy_block *wire_blocks(struct sm *sm, const struct change *c, size_t *ret_n);
void wire_free(struct tenancy *t);

/* ---- tenancy_held.c ---- */

/* Does the switch port check P_Keys in both directions, as its PortInfo says? */
bool held_checks_pkeys(const struct port *p);
/* Notes the keys that the port of a new target has now. */
void held_note_table(struct target *target, const struct port *p);
/* Called when a change of this P_Key begins. */
void held_note_key(struct target *target, uint16_t pkey);
void held_clear(struct target *target);
void held_tick(struct sm *sm);
mono_t held_next(const struct sm *sm);

/* ---- tenancy_place.c ---- */

/*
 * The switch port of an end port that is away (`p` NULL) or in doubt, if the link is up: the device
 * behind it may still send. NULL: there is none.
 */
struct port *place_live(const struct sm *sm, guid_t guid, struct port *p);
/* Is a port that is away behind a switch that does not answer, and whose links are up? */
bool place_is_behind_silence(const struct sm *sm, guid_t guid, const struct port *p);
/*
 * May a port that is away, and was not seen to leave by this process, be behind a link that is up?
 */
bool place_may_be_hidden(const struct sm *sm, guid_t guid, const struct port *p);
void places_free(struct tenancy *t);

/* ---- tenancy_import.c ---- */

/* Reads the file; blocks, so it is called at the start, after settle_new(). */
void import_read(struct sm *sm, const struct sm_paths *paths);
/* Commits the rows that were read. */
void import_tick(struct sm *sm);
void import_free(struct tenancy *t);

/* ---- tenancy_doubt.c ---- */

/* Is this the port of a manager, or of one that may be master later? Then index 0 stays 0xFFFF. */
bool tenancy_is_of_manager(const struct sm *sm, guid_t guid);
/*
 * The first port of the change that is of a manager, or of one that may be master later, and whose
 * P_Key at index 0 it would replace; 0: none. Packets of a manager leave with that P_Key, the full
 * default key: limited members reach no other.
 */
guid_t tenancy_moves_index0(const struct sm *sm, const struct change *c);
/* The reason why a stored change is not confirmed by devices in the present state. */
const char *doubt_why_unconfirmed(const struct sm *sm);
/* Can sm_ledger_adopt() be answered? */
bool adoption_is_over(const struct sm *sm);
void adoption_tick(struct sm *sm);
/*
 * Called when this process ends: an adoption under way is answered with -ECANCELED, unless its rows
 * are stored, and freed.
 */
void adoption_free(struct sm *sm);

/* ---- tenancy_audit.c ---- */

void audit_tick(struct sm *sm);
mono_t audit_next(const struct sm *sm);
void audit_end(struct sm *sm);
