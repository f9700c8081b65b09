// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of tenancy*.c; the rest of sm/ sees tenancy.h. */
#pragma once

#include "conf/tenants/tenants.h"
#include "sm/ledger/edits.h"
#include "sm/sm_internal.h"
#include "util/guidmap.h"

#define TENANCY_WAITING_MAX 4096u	 /* requests that wait */
#define HELD_UNREAD_MAX	    64u		 /* ports that are read for one question */
#define TENANCY_BYTES_MAX   (128u << 20) /* of all changes that are under way */
#define TENANCY_DEADLINE    (7 * MONO_S) /* from a request to its answer (tenancy.md 5: 8 s) */

/* A port whose P_Key tables are to be as the table of tenants says. */
struct target {
	struct target *next_due;
	bool is_queued; /* it hangs in the queue of those that are due */
	guid_t guid;
	struct sm *sm;
	uint32_t wanted, confirmed; /* revisions: counted with each change of the port */
	uint32_t tried;		    /* the revision that `state` is about */
	enum target_state {
		TARGET_DUE,
		TARGET_RUNNING,
		TARGET_CONFIRMED,
		TARGET_ABSENT, /* `why`; the next sweep writes it before it becomes ACTIVE */
		TARGET_SILENT, /* the end port does not answer; its switch port is as it shall */
		TARGET_FAILED, /* `why`; tried again at `again` */
	} state;
	const char *why;
	bool takes;	 /* a key is taken away that may be on a device yet */
	bool is_checked; /* the switch port whose keys are removed checks P_Keys */
	mono_t again;
	unsigned failures, n_wishes;
	/* tenancy_held.c: P_Keys that the end port may have, while blocks of it are unknown. */
	bool is_read; /* all it had when the target was made are among `keys` */
	uint16_t *keys;
	size_t n_keys, cap_keys;
	struct partitions *file; /* `keys` are of changes while this was in force */
};

/* A switch port, by names that outlive it. */
struct place {
	guid_t node;
	uint8_t port;
};

/* A request on its way. */
struct change {
	struct change *next;
	struct tenant_request rq;
	bool wait, dry_run;
	sm_tenancy_done_fn *done; /* NULL: its caller is gone */
	void *arg;
	mono_t since;
	struct tenant_entry entry, inverse;
	guid_t *guids;		      /* ports that it concerns, ascending */
	size_t n_guids, next_wish;    /* next_wish: those before it are fulfilled */
	struct wish {
		struct target *target; /* NULL: fulfilled */
		uint32_t revision;
		bool takes; /* it takes a key away: the switch port alone will do */
	} * wishes;
	struct sm_tenancy_pending *pending;
	size_t n_pending, cap_pending;
	uint64_t generation;
	uint64_t stored_as; /* number of its rows, or of all when it was found in force */
	struct settle_reach reach; /* as it was looked at last */
	size_t bytes; /* that it takes, about */
	bool is_late; /* answered before it was known whether it is stored */
};

struct changes {
	struct change *first, **end;
	unsigned n;
};

struct tenancy {
	/* `fresh` came since the last dispatch: the manager's clock stands between dispatches. */
	struct changes fresh, waiting, batch, stored;
	/* Stored and answered while another manager had come into sight: no port is planned yet. */
	struct changes unplanned;
	bool is_behind_hold; /* no sweep has ended since P_Keys were held */
	size_t bytes; /* of all of these but the fresh ones, about */
	uint64_t ended[SM_TENANCY_ENDS]; /* changes, by how they ended */
	size_t judged; /* ports of the changes that this turn has judged */
	/* tenancy_rows.c: rows of the batch; rows of members of partitions that are removed */
	struct edits edits;
	struct ledger_key *orphans;
	size_t n_orphans, cap_orphans;
	bool writing;		/* the batch is on its way to the disk */
	bool was_derived;	/* other rows were played while it was */
	char write_fault[300];	/* of a batch that was not stored */
	/* tenancy_wire.c */
	struct guidmap *targets;
	struct target *first_due, **last_due;
	mono_t retry_at; /* the first of those that failed is due again */
	unsigned n_running;
	bool settled;	/* a port, or a standby: some change may be fulfilled */
	mono_t look_at; /* stored changes are looked at then, whatever has settled */
	struct log_limit log;
	/* tenancy_place.c */
	struct guidmap *places; /* port GUID -> struct place; at most one per member */
	/* Looked at `dark_at`: the far end of a link that is up is not known. */
	bool dark_is_known, dark;
	mono_t dark_at;
	struct audit *audit; /* tenancy_audit.c; NULL: none */
	struct tenancy_import *import; /* tenancy_import.c; NULL: there is no cache folder */
	struct adoption *adoption; /* tenancy_doubt.c; NULL: none is under way */
	/* tenancy_held.c: ports that a question was left open by, and that are to be read. */
	struct place unread[HELD_UNREAD_MAX];
	unsigned n_unread, unread_from, n_reads;
};

/* ---- tenancy.c ---- */

/* Takes the head off; NULL: it is empty. */
struct change *changes_take(struct changes *list);
void changes_add(struct changes *list, struct change *c);
/* The batch is on the disk, or (`error` < 0) is not. */
void tenancy_batch_ended(struct sm *sm, int error);

/* ---- tenancy_rows.c ---- */

struct ledger_key tenancy_partition_key(uint16_t pkey);
struct ledger_key tenancy_member_key(uint16_t pkey, guid_t guid);
/* One row, as it is to be. */
void edit_partition(struct edits *all, uint16_t pkey, const struct tenant_fields *f,
		    uint64_t number);
/* `behind`: as the partition has it. */
void edit_member(struct edits *all, uint16_t pkey, const struct tenant_member *m, uint64_t behind,
		 uint64_t number);
/*
 * Of an entry that is not played yet, and its inverse: partitions that are made note the removal
 * which they are made behind.
 */
void rows_note_removals(const struct sm *sm, struct change *c);
/*
 * The value of a row of LEDGER_MEMBER that is in force: of those that stand, and whose partition
 * was not removed since they were written, the one that gives less. False: there is none, or the
 * member is removed; `ret` is the value that the ledger has in force then.
 */
bool tenancy_member_value(const struct sm *sm, const struct ledger_row *row,
			  struct ledger_value *ret);
/* Adds the rows of an entry that was played; its inverse is what was before. */
void edits_of_change(struct sm *sm, struct edits *all, const struct change *c);
/* The table is as these rows of the ledger say. */
void tenancy_derive(struct sm *sm, const struct ledger_key *keys, size_t n);
/* The same of all rows that the batch edits. */
void tenancy_derive_edits(struct sm *sm);
void rows_free(struct tenancy *t);

/* ---- tenancy_wire.c ---- */

/*
 * The ports of a change are planned anew, and tried as soon as may be. Fills in its wishes, or
 * leaves them NULL where no device can be written to now.
 */
void wire_change(struct sm *sm, struct change *c);
/* A change was taken back: what a sweep may have planned from it meanwhile is planned anew. */
void wire_plan_back(struct sm *sm, const struct change *c);
/* True: nothing of its ports is open. What is stored and not on a device is in c->pending. */
bool wire_is_fulfilled(struct sm *sm, struct change *c);
/* The wishes of a change are dropped. */
void wire_let_go(struct change *c);
/* Why a port is not tried at all; NULL: it is. */
const char *wire_absence(const struct sm *sm, guid_t guid);
void wire_tick(struct sm *sm);
mono_t wire_next(const struct sm *sm);
/* Another state than MASTER: nothing is tried any more. */
void wire_stop(struct sm *sm);
/* The first port whose table has no room for what the table of tenants says now, or NULL. */
const struct port *wire_without_room(struct sm *sm, const struct change *c, char *why, size_t size);
/* The blocks that the ports would be written now: to be freed. */
struct sm_tenancy_block *wire_blocks(struct sm *sm, const struct change *c, size_t *ret_n);
void wire_free(struct tenancy *t);
/*
 * Devices are written to: this manager may write what rows decide, and P_Key tables were planned
 * from them since.
 */
bool wire_is_at_work(const struct sm *sm);
/* Both directions are checked by the switch port, as its PortInfo says. */
bool wire_checks_pkeys(const struct port *p);

/* ---- tenancy_held.c ---- */

/* Of a target that is made: what its port has now. */
void held_note_table(struct target *target, const struct port *p);
/* A change that is about this P_Key begins. */
void held_note_key(struct target *target, uint16_t pkey);
void held_clear(struct target *target);
void held_tick(struct sm *sm);
mono_t held_next(const struct sm *sm);

/* ---- tenancy_place.c ---- */

/*
 * The switch port of a port that is away (`p` NULL), or in doubt, where the link is up: what is
 * behind it may still send. NULL: there is none.
 */
struct port *place_live(const struct sm *sm, guid_t guid, struct port *p);
/* The switch of a port that is away does not answer either, and its links are up. */
bool place_is_behind_silence(const struct sm *sm, guid_t guid, const struct port *p);
/*
 * A port that is away, and that this process has not seen leave, may be behind a link that is up.
 */
bool place_may_be_hidden(const struct sm *sm, guid_t guid, const struct port *p);
void places_free(struct tenancy *t);

/* ---- tenancy_import.c ---- */

/* Blocks: at the start. Behind settle_new(). */
void import_read(struct sm *sm, const struct sm_paths *paths);
/* Commits what was read. */
void import_tick(struct sm *sm);
void import_free(struct tenancy *t);

/* ---- tenancy_doubt.c ---- */

/* The port of a manager, or of one that may be master later: its default P_Key is at index 0. */
bool tenancy_is_of_manager(const struct sm *sm, guid_t guid);
/*
 * Packets of a manager leave with the P_Key at index 0, which is the full default key: limited
 * members reach no other. So it is with one that may be master later. 0: no such port.
 */
guid_t tenancy_moves_index0(const struct sm *sm, const struct change *c);
/* Of a change that is stored, in a state in which no device confirms it. */
const char *doubt_why_unconfirmed(const struct sm *sm);
/* sm_ledger_adopt() is to be answered. */
bool adoption_is_over(const struct sm *sm);
void adoption_tick(struct sm *sm);
/*
 * This process ends: an adoption that is under way is answered with -ECANCELED, unless its rows are
 * stored, and freed.
 */
void adoption_free(struct sm *sm);

/* ---- tenancy_audit.c ---- */

void audit_tick(struct sm *sm);
mono_t audit_next(const struct sm *sm);
void audit_end(struct sm *sm);
