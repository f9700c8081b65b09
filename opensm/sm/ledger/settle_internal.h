// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between the files of settle*.c; the rest of sm/ sees settle.h.
 *
 *   settle.c        the state: may rows be written to devices?
 *   settle_disk.c   changes and arrived rows in order: prepared, stored, merged, told
 *   settle_peer.c   one other manager: what it is sent, and what its messages mean
 *   settle_contact.c  is each of the others within reach?
 *   settle_words.c  the three messages as bytes
 *   settle_view.c   all of it as an administrator sees it (sm/sm_ledger.h)
 *
 * With each manager of ours (CHANNEL_LEDGER):
 *
 *   DIGESTS   a digest per table. The receiver answers which tables differ.
 *   BUCKETS   of a table that differs, a digest per bucket: "send me what I lack". The receiver
 *             sends the rows of the buckets that differ, the last message marked as such.
 *   ROWS      rows; answered when they are stored.
 *
 * Both sides pull what they lack; what a manager learns later goes to all others as it is merged.
 */
#pragma once

#include "ledger/ledger.h"
#include "ledger/store.h"
#include "sm/channel/channel.h"
#include "sm/ledger/settle.h"
#include "sm/sm_internal.h"
#include "util/told.h"

#define SETTLE_ROWS_BYTES (256u << 10) /* of one ROWS message, unless one row has more */
#define SETTLE_NEWCOMER	  (5 * MONO_S) /* patience with one that was connected a moment ago */
#define SETTLE_QUEUE_MAX  262144u      /* rows that wait for one manager; beyond: compared anew */

enum settle_message { MESSAGE_DIGESTS = 1, MESSAGE_BUCKETS, MESSAGE_ROWS };
/* REPLY_IN_MEMORY: there is no cache folder to store rows in; they count while it lives. */
enum settle_reply { REPLY_FINE = 1, REPLY_NOT_STORED, REPLY_BUSY, REPLY_BAD, REPLY_IN_MEMORY };

/* MESSAGE_DIGESTS. */
struct settle_digests {
	uint64_t term;
	uint32_t tables; /* bits: those that may be told to this manager */
	enum settle_state state;
	bool is_founded, has_doubts; /* struct settle: meta.founded, doubts */
	bool is_stored;		     /* its rows are on its disk */
	struct ledger_digest of[LEDGER_TABLES];
};

/* Of MESSAGE_ROWS: all that was asked for by BUCKETS of this table has been sent; else none. */
#define ROWS_END_NONE LEDGER_TABLES

/* Of MESSAGE_ROWS: the question that it is the last answer to. */
struct settle_end {
	enum ledger_table table; /* ROWS_END_NONE: more follow */
	uint8_t round;
};

/* A table, and another manager. */
struct settle_half {
	enum settle_pull { PULL_NOT, PULL_DUE, PULL_ASKED, PULL_DONE } pull; /* we have its rows */
	enum { PUSH_NOT, PUSH_ASKED, PUSH_DONE } push;		 /* it has what we have */
	/*
	 * An answer bears the round of its question, so that one to a former question is told
	 * apart.
	 */
	uint8_t pull_round, push_round;
	mono_t asked_at;		     /* PULL_ASKED */
	uint8_t buckets[LEDGER_BUCKETS / 8]; /* PUSH_ASKED: whose rows are to be sent */
	unsigned bucket;		     /* the first of these that was not */
};

/* Another manager of ours. */
struct settle_peer {
	guid_t guid; /* 0: a free row */
	bool connected, busy;
	bool was_settled; /* since it was connected */
	bool stores;	  /* what it has is on its disk */
	mono_t connected_at;
	bool refuses;	/* it answered the last rows with "not stored": its disk has a fault */
	bool in_memory; /* it runs without a cache folder: its rows end with its process */
	bool digests_due;
	bool state_due; /* with digests, ahead of rows: rows of two masters may never end */
	uint32_t tables; /* that it is told, and tells */
	uint64_t term;
	enum settle_state state;     /* as it said last */
	bool is_founded, has_doubts; /* as it said last: struct settle_digests */
	struct settle_half of[LEDGER_TABLES];
	struct ledger_key *queue; /* rows that it has not been sent */
	size_t n_queue, cap_queue;
	/* Numbers of clocks: behind the last row in the queue; in the message; stored there. */
	uint64_t queued[LEDGER_CLOCKS], sent[LEDGER_CLOCKS], stored[LEDGER_CLOCKS];
	enum settle_message busy_with;
	uintptr_t question; /* the message under way: a reply to a former one is none to it */
	struct settle_end sent_end; /* of the ROWS under way */
	size_t n_sent;
	mono_t sent_at, again, compared_at;
	struct told told;
};

/* settle_contact.c has the diagram. */
enum settle_contact_state { CONTACT_REACHED, CONTACT_LOST, CONTACT_RETURNED, CONTACT_SILENT };

/* The port of another manager of ours. */
struct settle_contact {
	guid_t guid; /* 0: a free row */
	enum settle_contact_state state;
	mono_t since; /* when it entered its state */
	/* Its own, so that its questions wait for no others that are sent to the node. */
	struct mad_target target;
	bool asked;	 /* a question is in the engine: queued, or sent */
	bool unanswered; /* a question was sent, and nothing has come from the port since */
	/*
	 * When the next question is due; when something came last; when it is LOST, if nothing
	 * comes.
	 */
	mono_t ask_at, reached_at, lost_at;
	bool is_late; /* `lost_at` has passed; the answers that this turn reads may end that */
	/* RETURNED: its patience begins when the sweep has ended that makes paths to it. */
	bool is_unswept;
	/* LOST: the number of the last heavy sweep that may have read the port before that. */
	uint32_t lost_sweep;
};

#define SETTLE_CONTACTS	 LEDGER_MANAGERS_MAX
#define SETTLE_PAUSE_MIN (MONO_S / 2) /* a busy turn takes some time, too */

/* Edits of an owner, or rows that another manager sent, on their way to the disk. */
struct settle_work {
	struct settle_work *next;
	struct ledger_row **rows; /* NULL entries: nothing to merge */
	size_t n;
	/* of edits */
	struct settle_edit *edits; /* `bytes` are owned */
	settle_done_fn *done;
	void *arg;
	/* of arrived rows */
	guid_t from; /* 0: edits */
	struct channel_ticket ticket;
	struct settle_end end;
};

struct settle_owner {
	settle_changed_fn *changed;
};

/* The last change of a table. */
struct settle_newest {
	uint64_t number;
	int64_t at;
};

struct settle {
	enum settle_state state;
	enum sm_state sm_state; /* as told last */
	struct ledger *ledger;
	struct ledger_store *store; /* NULL: there is no file that can be used */
	bool is_shut;		    /* the file could not be opened at the start */
	bool is_gone;		    /* it was removed since: the next write makes another one */
	struct ledger_meta meta;
	bool meta_changed;
	struct ledger_writer self;
	struct settle_owner owners[LEDGER_TABLES];
	char *path;
	char fault[300]; /* why nothing can be stored; "": it can */
	char line[300];	 /* settle_closed() */
	/* settle_disk.c */
	struct settle_work *first, **last; /* the first one is at work if `is_storing` */
	bool is_storing;
	unsigned version; /* counts merges */
	struct settle_newest newest[LEDGER_TABLES];
	/* settle_peer.c */
	struct settle_peer peers[MAX_REMOTE_SMS];
	unsigned n_peers; /* those behind were never in use */
	/* settle_contact.c */
	struct settle_contact contacts[SETTLE_CONTACTS];
	unsigned n_contacts; /* from there on no place was ever taken */
	bool waits_for_contact; /* as told last: contact_waited_for() */
	struct {
		mono_t look_at; /* when MasterSMLID of our own port is looked at next */
		mono_t until;	/* no sweep for the same other master before */
		lid_t lid;	/* MasterSMLID if it is not our LID, at the last look; else 0 */
	} named;
	/* settle.c */
	/*
	 * Another manager may have ruled with rows that are not here: the master that is followed;
	 * any, as this process stood still or was cut off, or has no file.
	 */
	unsigned doubts; /* of DOUBT_ */
	bool has_old_smps; /* P_Key SMPs from before the doubt are to be cancelled */
	bool was_away; /* others may have written to devices since this process has read them */
	bool was_absent; /* while it is asking: this process stood still before */
	bool links_wait; /* some are not armed before others have answered */
	mono_t asking_since;
	uint64_t asking_from; /* number of the next row of a tenant when asking began */
	bool has_rival;	       /* another master was met, and is in sight yet */
	mono_t compare_since;  /* devices are compared by tables that were read later than this */
	guid_t silent;	       /* a manager that is waited for; 0: none */
	mono_t turn_at;	       /* of the last turn of the loop */
	size_t (*unexplained)(struct sm *sm);
	size_t n_unexplained;
	struct told told;
};

#define DOUBT_FOLLOWED 1u
#define DOUBT_ABSENT   2u

enum { TOLD_SILENT, TOLD_DISK, TOLD_KEEPING };
/* Of a manager. */
enum { TOLD_REFUSES, TOLD_BAD };

/* ---- settle_words.c ---- */

#define DIGESTS_HEAD  (1 + 8 + 4 + 1 + 1)
#define DIGEST_BYTES  16
#define DIGESTS_BYTES (DIGESTS_HEAD + LEDGER_TABLES * DIGEST_BYTES)
#define BUCKETS_BYTES (3 + LEDGER_BUCKETS * 8)
#define ROWS_HEAD     3
void digests_pack(const struct settle_digests *d, uint8_t to[DIGESTS_BYTES]);
/* Another version may have more tables at the end, or fewer: only those of both are compared. */
bool digests_read(const uint8_t *from, size_t len, struct settle_digests *ret);
void buckets_pack(const struct settle_end *question, const uint64_t buckets[LEDGER_BUCKETS],
		  uint8_t to[BUCKETS_BYTES]);
bool buckets_read(const uint8_t *from, size_t len, struct settle_end *ret_question,
		  uint64_t ret[LEDGER_BUCKETS]);
void rows_head_pack(const struct settle_end *end, uint8_t to[ROWS_HEAD]);
/* Takes rows of a message apart: an array of `*ret_n`, each to be freed; NULL: they cannot be. */
struct ledger_row **rows_read(const uint8_t *from, size_t len, struct settle_end *ret_end,
			      size_t *ret_n);
void words_rows_free(struct ledger_row **rows, size_t n);

/* ---- settle_disk.c ---- */

/* Opens and reads the file. */
void disk_load(struct sm *sm, const struct sm_paths *paths);
/* Takes over `rows`. */
void disk_take(struct sm *sm, guid_t from, struct ledger_row **rows, size_t n,
	       const struct channel_ticket *ticket, const struct settle_end *end);
/* Meta is stored with the next work, or by itself. */
void disk_note_meta(struct sm *sm);
/* Merged, or read from the disk. */
void disk_note_change(struct settle *s, const struct ledger_row *row);
void disk_free(struct settle *s);
/* All rows that this manager has in memory are in its ledger.db, too. */
bool disk_has_all(const struct settle *s);
/* Told the owner of each table: `rows` are in force, or not any more. */
void disk_tell_owners(struct sm *sm, const struct ledger_key *keys, size_t n);

/* ---- settle_peer.c ---- */

struct settle_peer *settle_peer_of(struct settle *s, guid_t guid);
/* A row that was merged goes to all but the one it came from. */
void peers_queue(struct sm *sm, const struct ledger_key *key, uint64_t number, guid_t from);
/* We have what it has. */
bool peer_is_settled(const struct settle_peer *p);
/* Rows of a table that it is not known to have; SIZE_MAX: it is being found out. */
size_t peer_behind(const struct settle *s, const struct settle_peer *p);
/* All is compared anew. */
void peers_doubt(struct sm *sm);
/* All other managers are sent digests soon, which say in what state this manager is. */
void peers_tell_state(struct settle *s);
void peers_tick(struct sm *sm);
mono_t peers_next(const struct sm *sm);
/* Rows that came are stored; in memory alone (NO_FOLDER, SHUT); or not here at all (FAILED). */
enum disk_end { DISK_STORED, DISK_NO_FOLDER, DISK_SHUT, DISK_FAILED };
void peers_rows_stored(struct sm *sm, guid_t from, const struct channel_ticket *ticket,
		       const struct settle_end *end, enum disk_end stored);
void peers_listen(struct sm *sm);
void peers_free(struct settle *s);

/* ---- settle_contact.c ---- */

/* Half of the time in which a standby takes over, at the earliest. */
mono_t settle_pause_limit(const struct sm *sm);
/* One that is out of reach, or was a moment ago: it may be master of a part of the subnet. NULL. */
const struct settle_contact *contact_waited_for(const struct settle *s);
/* A contact may have another state: P_Keys wait from now on, or not any more. */
void contacts_look(struct sm *sm);
/* This manager becomes master, or stood still: that no port has answered lately means nothing. */
void contacts_begin(struct sm *sm);
void contacts_tick(struct sm *sm);
mono_t contacts_next(const struct sm *sm);
void contacts_sweep_ended(struct sm *sm);
void contacts_free(struct sm *sm);
/* A message of it came. */
void contact_heard(struct sm *sm, guid_t guid);
/* We have what it has. */
void contact_settled(struct sm *sm, guid_t guid);

/* ---- settle.c ---- */

/* The manager cannot be sent messages any more: it was seen last now. */
void settle_lost(struct sm *sm, guid_t guid);

/*
 * Another manager has told of changes of P_Keys, and the disk is full or faulty: no P_Key is given
 * until they can be stored.
 */
void settle_lacks(struct sm *sm);
/* Links that settle_may_arm() left in INIT are looked at again. */
void links_go_on(struct sm *sm);
/* Something was learnt of others: may we write? */
void settle_look(struct sm *sm);
/* One of them said that it is at work as master, in this term. */
void settle_heard(struct sm *sm, const struct settle_peer *p);
