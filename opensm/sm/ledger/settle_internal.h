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

#define SETTLE_ROWS_BYTES (256u << 10) /* most bytes of one ROWS message, unless one row has more */
#define SETTLE_NEWCOMER	  (5 * MONO_S) /* time given to a manager that was connected a moment ago */
/* most rows that wait for one manager; with more, tables are compared again */
#define SETTLE_QUEUE_MAX  262144u

enum settle_message { MESSAGE_DIGESTS = 1, MESSAGE_BUCKETS, MESSAGE_ROWS };
/*
 * The answer of another manager to rows that it was sent. IN_MEMORY: it took them, and loses them
 * when its process ends, as it has no cache folder.
 */
enum settle_reply { REPLY_FINE = 1, REPLY_NOT_STORED, REPLY_BUSY, REPLY_BAD, REPLY_IN_MEMORY };

/* The contents of MESSAGE_DIGESTS. */
struct settle_digests {
	uint64_t term;
	uint32_t tables; /* bit mask of tables that may be sent to this manager */
	enum settle_state state;
	bool is_founded, has_doubts; /* struct settle: meta.founded, doubts */
	bool is_stored;		     /* set if its rows are on its disk */
	struct ledger_digest of[LEDGER_TABLES];
};

/* In MESSAGE_ROWS: no table, as not all rows asked for by BUCKETS have been sent yet. */
#define ROWS_END_NONE LEDGER_TABLES

/* In MESSAGE_ROWS: the question whose last answer this is. */
struct settle_end {
	enum ledger_table table; /* ROWS_END_NONE: more follow */
	uint8_t round;
};

/* The exchange of one table with another manager. */
struct settle_half {
	/* PULL_DONE: we have its rows */
	enum settle_pull { PULL_NOT, PULL_DUE, PULL_ASKED, PULL_DONE } pull;
	enum { PUSH_NOT, PUSH_ASKED, PUSH_DONE } push; /* PUSH_DONE: it has our rows */
	/*
	 * Number of the question, which an answer repeats: tells answers to former questions apart.
	 */
	uint8_t pull_round, push_round;
	mono_t asked_at; /* time of the question, with PULL_ASKED */
	/* bit mask of buckets whose rows are to be sent, with PUSH_ASKED */
	uint8_t buckets[LEDGER_BUCKETS / 8];
	unsigned bucket; /* first bucket of these that was not sent yet */
};

/* Another manager of ours. */
struct settle_peer {
	guid_t guid; /* port GUID; 0: a free row */
	bool connected, busy;
	bool was_settled; /* set if it was settled since it was connected */
	bool stores;	  /* set if its rows are on its disk */
	mono_t connected_at;
	/* set if it answered the last rows with "not stored": its disk has a fault */
	bool refuses;
	bool in_memory; /* set if it runs without a cache folder: its rows end with its process */
	bool digests_due;
	bool state_due;	 /* set if digests go ahead of rows, as rows of two masters may never end */
	uint32_t tables; /* bit mask of tables that are exchanged with it */
	uint64_t term;
	enum settle_state state;     /* state in its last digests */
	bool is_founded, has_doubts; /* values of its last digests (struct settle_digests) */
	struct settle_half of[LEDGER_TABLES];
	struct ledger_key *queue; /* keys of rows that it has not been sent */
	size_t n_queue, cap_queue;
	/* Numbers of clocks: after the last row in the queue; in the message; stored there. */
	uint64_t queued[LEDGER_CLOCKS], sent[LEDGER_CLOCKS], stored[LEDGER_CLOCKS];
	enum settle_message busy_with;
	uintptr_t question;	    /* number of the message under way, to recognise its reply */
	struct settle_end sent_end; /* end of the ROWS under way */
	size_t n_sent;
	mono_t sent_at, again, compared_at;
	struct told told;
};

/* settle_contact.c has the diagram. */
enum settle_contact_state { CONTACT_REACHED, CONTACT_LOST, CONTACT_RETURNED, CONTACT_SILENT };

/* Another manager of ours, as reachable at its port. */
struct settle_contact {
	guid_t guid; /* port GUID; 0: a free row */
	enum settle_contact_state state;
	mono_t since; /* time at which it entered its state */
	/* A target of its own, so that its questions do not wait for others sent to the node. */
	struct mad_target target;
	bool asked; /* set if a question is queued or sent */
	/* set if a question was sent, and nothing has arrived from the port since */
	bool unanswered;
	/* Time of the next question; of the last sign of life; at which it is LOST without one. */
	mono_t ask_at, reached_at, lost_at;
	bool is_late; /* set if `lost_at` has passed; answers read in this turn may end that */
	/* RETURNED: its patience begins after the sweep that makes paths to it. */
	bool is_unswept;
	/* LOST: number of the last heavy sweep that may have read the port before. */
	uint32_t lost_sweep;
};

#define SETTLE_CONTACTS	 LEDGER_MANAGERS_MAX
#define SETTLE_PAUSE_MIN (MONO_S / 2) /* least pause, as a busy turn takes some time, too */

/* Edits of an owner, or rows from another manager, on their way to the disk. */
struct settle_work {
	struct settle_work *next;
	struct ledger_row **rows; /* NULL entries need no merge */
	size_t n;
	/* With edits. */
	struct settle_edit *edits; /* owned, with their `bytes` */
	settle_done_fn *done;
	void *arg;
	/* With rows from another manager. */
	guid_t from; /* port GUID of the sender; 0: edits */
	struct channel_ticket ticket;
	struct settle_end end;
};

/* The latest change of a table. */
struct settle_newest {
	uint64_t number;
	int64_t at;
};

struct settle {
	enum settle_state state;
	enum sm_state sm_state; /* state at the last settle_state_changed() */
	struct ledger *ledger;
	struct ledger_store *store; /* NULL: no file can be used */
	bool is_shut;		    /* set if the file could not be opened at the start */
	/* set if the file was removed since; the next write makes another one */
	bool is_gone;
	struct ledger_meta meta;
	bool meta_changed;
	struct ledger_writer self;
	const struct settle_owner *owners; /* LEDGER_TABLES */
	char *folder;			   /* cache folder; NULL: none */
	/* paths of files of former builds whose content is not in the ledger yet, or NULL */
	char *former[LEDGER_TABLES];
	char *path;
	char fault[300]; /* reason why nothing can be stored; "": it can */
	char line[300];	 /* text that settle_closed() returns */
	/* settle_disk.c */
	/* queue of work; `first` is being stored if `is_storing` */
	struct settle_work *first, **last;
	bool is_storing;
	unsigned version; /* number of merges */
	struct settle_newest newest[LEDGER_TABLES];
	/* settle_peer.c */
	struct settle_peer peers[MAX_REMOTE_SMS];
	unsigned n_peers; /* rows of `peers` ever in use */
	/* settle_contact.c */
	struct settle_contact contacts[SETTLE_CONTACTS];
	unsigned n_contacts;	/* rows of `contacts` ever in use */
	bool waits_for_contact; /* result of contact_waited_for() that was acted upon last */
	struct {
		mono_t look_at; /* time of the next look at MasterSMLID of our own port */
		mono_t until;	/* no further sweep for the same other master before this time */
		/* MasterSMLID when last read, if it is another LID than ours; else 0 */
		lid_t lid;
	} named;
	/* settle.c */
	/*
	 * Another manager may have written rows that are not here: the master that is followed, or
	 * any, as this process stood still, was cut off, or has no file.
	 */
	unsigned doubts;   /* bit mask of DOUBT_ */
	bool has_old_smps; /* set if P_Key SMPs from before the doubt are to be cancelled */
	/* set if others may have written to devices since this process has read them */
	bool was_away;
	bool was_absent; /* set while ASKING if this process stood still before */
	bool links_wait; /* set if links stay unarmed until others have answered */
	mono_t asking_since;
	uint64_t asking_from; /* number of the next row of a tenant when ASKING began */
	bool has_rival;	      /* set if another master was met and is still in sight */
	mono_t compare_since; /* devices are compared by tables read after this time */
	guid_t silent;	      /* port GUID of a manager that is waited for; 0: none */
	mono_t turn_at;	      /* time of the last turn of the loop */
	size_t (*unexplained)(struct sm *sm);
	size_t n_unexplained;
	struct told told;
};

#define DOUBT_FOLLOWED 1u
#define DOUBT_ABSENT   2u

enum { TOLD_SILENT, TOLD_DISK, TOLD_KEEPING };
/* Findings logged once about a manager. */
enum { TOLD_REFUSES, TOLD_BAD };

/* ---- settle_words.c ---- */

#define DIGESTS_HEAD  (1 + 8 + 4 + 1 + 1)
#define DIGEST_BYTES  16
#define DIGESTS_BYTES (DIGESTS_HEAD + LEDGER_TABLES * DIGEST_BYTES)
#define BUCKETS_BYTES (3 + LEDGER_BUCKETS * 8)
#define ROWS_HEAD     3
void digests_pack(const struct settle_digests *d, uint8_t to[DIGESTS_BYTES]);
/* Reads digests. Another version may have more or fewer tables: common ones are compared. */
bool digests_read(const uint8_t *from, size_t len, struct settle_digests *ret);
void buckets_pack(const struct settle_end *question, const uint64_t buckets[LEDGER_BUCKETS],
		  uint8_t to[BUCKETS_BYTES]);
bool buckets_read(const uint8_t *from, size_t len, struct settle_end *ret_question,
		  uint64_t ret[LEDGER_BUCKETS]);
void rows_head_pack(const struct settle_end *end, uint8_t to[ROWS_HEAD]);
/* Reads the rows of a message: an array of `*ret_n`, each to be freed; NULL: malformed. */
struct ledger_row **rows_read(const uint8_t *from, size_t len, struct settle_end *ret_end,
			      size_t *ret_n);
void words_rows_free(struct ledger_row **rows, size_t n);

/* ---- settle_disk.c ---- */

/* Opens and reads the file at the start; blocks. */
void disk_load(struct sm *sm, const struct sm_paths *paths);
/* Takes over `rows` of another manager, stores and merges them. */
void disk_take(struct sm *sm, guid_t from, struct ledger_row **rows, size_t n,
	       const struct channel_ticket *ticket, const struct settle_end *end);
/* Stores the meta record with the next work, or alone. */
void disk_note_meta(struct sm *sm);
/* Called when a row was merged, or read from the disk. */
void disk_note_change(struct settle *s, const struct ledger_row *row);
void disk_free(struct settle *s);
/* Are all rows in memory also in ledger.db? */
bool disk_has_all(const struct settle *s);
/* Reports rows to the owner of each table when their values in force have changed. */
void disk_tell_owners(struct sm *sm, const struct ledger_key *keys, size_t n);

/* ---- settle_peer.c ---- */

struct settle_peer *settle_peer_of(struct settle *s, guid_t guid);
/* Queues a merged row for all managers but the one it came from. */
void peers_queue(struct sm *sm, const struct ledger_key *key, uint64_t number, guid_t from);
/* Have we all rows of this manager? */
bool peer_is_settled(const struct settle_peer *p);
/* The number of rows that this manager is not known to have; SIZE_MAX: not known yet. */
size_t peer_behind(const struct settle *s, const struct settle_peer *p);
/* Compares all tables with all managers again. */
void peers_doubt(struct sm *sm);
/* Sends all other managers our state before long, in digests. */
void peers_tell_state(struct settle *s);
void peers_tick(struct sm *sm);
mono_t peers_next(const struct sm *sm);
/* Where rows of another manager are: on disk; in memory alone (NO_FOLDER, SHUT); lost (FAILED). */
enum disk_end { DISK_STORED, DISK_NO_FOLDER, DISK_SHUT, DISK_FAILED };
void peers_rows_stored(struct sm *sm, guid_t from, const struct channel_ticket *ticket,
		       const struct settle_end *end, enum disk_end stored);
void peers_listen(struct sm *sm);
void peers_free(struct settle *s);

/* ---- settle_contact.c ---- */

/* The longest harmless pause of this process: half the time of the earliest takeover. */
mono_t settle_pause_limit(const struct sm *sm);
/* A manager that is or was out of reach, and may be master of a part of the subnet; or NULL. */
const struct settle_contact *contact_waited_for(const struct settle *s);
/* Called when a contact may have changed its state: P_Keys begin or cease to wait. */
void contacts_look(struct sm *sm);
/* This manager becomes master, or stood still: silence of ports until now means nothing. */
void contacts_begin(struct sm *sm);
void contacts_tick(struct sm *sm);
mono_t contacts_next(const struct sm *sm);
void contacts_sweep_ended(struct sm *sm);
void contacts_free(struct sm *sm);
/* Called when a message from this manager arrived. */
void contact_heard(struct sm *sm, guid_t guid);
/* Called when we have all rows of this manager. */
void contact_settled(struct sm *sm, guid_t guid);

/* ---- settle.c ---- */

/* Called when the manager cannot be sent messages any more: it was seen last now. */
void settle_lost(struct sm *sm, guid_t guid);

/*
 * Called when another manager reported changes of P_Keys that the full or faulty disk cannot store:
 * no P_Key is given until it can.
 */
void settle_lacks(struct sm *sm);
/* Asks for a sweep of links that settle_may_arm() left in INIT. */
void links_go_on(struct sm *sm);
/* Decides again whether we may write, as something was learnt of others. */
void settle_look(struct sm *sm);
/* Called when another manager said that it is master, and in which term. */
void settle_heard(struct sm *sm, const struct settle_peer *p);
