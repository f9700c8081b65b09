// SPDX-License-Identifier: BSD-2-Clause
/*
 * A standby that keeps a copy of what is registered with the master's SA, and managers of ours that
 * tell each other how they are configured. Shared by replica*.c only; the rest of sm/ sees
 * replica.h.
 *
 *   replica.c         when: states, rounds, Reports, taking over
 *   replica_ask.c     how: a question to the master's SA, and what of an answer is believed
 *   replica_proof.c   that it comes from a manager of ours, without sa_key
 *   replica_seek.c    locked out: the master is asked for its keys
 *   replica_successor.c    as MASTER: a greater manager may copy before it gets the fabric
 *   replica_config.c  digests of settings, and the records on managers that differ
 */
#pragma once

#include <assert.h>

#include "ib/records.h"
#include "sm/sm_internal.h"
#include "util/told.h"

/* The tables that are copied, in the order in which they are requested. */
enum replica_table_kind {
	COPY_MEMBERS,
	COPY_SERVICES,
	COPY_SUBSCRIPTIONS,
	COPY_ALIASES,
	COPY_TABLES
};

/* An answer to GetTable as it arrived; all zero: an empty table. */
struct replica_table {
	uint8_t *message; /* owned; records begin at SA_DATA; NULL: no records */
	size_t n;
};

struct replica_copy {
	struct replica_table tables[COPY_TABLES];
	bool whole; /* set if the tables were requested with SA_FOR_STANDBY */
	mono_t at;  /* time of the request for the tables; MONO_NEVER: no copy */
	guid_t master;
	uint32_t epoch; /* epoch of the copied database, with `version` (if whole) */
	uint64_t version;
};

/* A question to the master's SA that waits for its answer. */
struct replica_question {
	uint8_t method;
	uint16_t attr;
	uint32_t mod;
	uint64_t mask;
	size_t stride; /* bytes from one record to the next in the answer to GetTable */
	size_t limit;  /* most records that are taken from an answer */
	uint8_t data[SA_DATA_SIZE];
};

enum replica_end { REPLICA_OK, REPLICA_REFUSED, REPLICA_SILENT, REPLICA_CUT };

struct replica_answer {
	enum replica_end end;
	uint16_t status;     /* MAD status, with REPLICA_REFUSED */
	const uint8_t *data; /* bytes after the SA header, with REPLICA_OK */
	uint8_t *message;    /* the whole answer with a table; owned by the answer */
	size_t n;	     /* number of records in `message` */
};

/* A greater manager that waits for the fabric (replica_successor.c). */
struct replica_successor {
	guid_t guid; /* 0: none */
	mono_t since, asked_at; /* asked_at: when the election asked last */
	bool is_ours;		/* it asks for managers */
	bool is_ready;		/* the election knows that it may have the fabric */
	bool is_told;
};

/* The configuration of another manager of ours, compared with our own. */
struct config_peer {
	guid_t guid;
	uint32_t digests[SMC_DIGESTS];
	unsigned differs, told; /* masks of groups: those that differ; those logged to differ */
	mono_t tell_at; /* time before which `differs` is not logged, as it may end by itself */
	mono_t heard;	/* last registration with us */
	bool copied;	/* set if it has a copy of what is registered with us */
};
#define CONFIG_PEERS MAX_REMOTE_SMS

/* replica_ask.c: the question under way, and its destination. */
struct replica_asking {
	struct transport_addr to;
	guid_t whom; /* port GUID of the manager asked; 0: not known yet */
	uint8_t to_lmc;
	uint32_t tid; /* transaction ID; 0: no question is under way */
	mono_t deadline;
	struct replica_question question;
};

/* replica_config.c */
struct replica_config {
	uint32_t digests[SMC_DIGESTS]; /* digests of our own settings */
	const struct conf *digests_of; /* configuration they were made of; one reference */
	mono_t digests_at;
	uint32_t own_epoch;
	const struct partitions *digests_of_file; /* compared only */
	unsigned published; /* number of the heavy sweep after which our record was made */
	struct config_peer peers[CONFIG_PEERS];
	unsigned n_peers;
	struct log_limit log;
};

/* The master whose SA is copied. */
struct replica_master {
	guid_t guid;
	bool ours;	  /* set if it is a manager of ours */
	unsigned strange; /* rounds in a row in which it did not answer as a manager of ours */
	uint32_t epoch;
	uint64_t version;
};

/* Findings that are logged once for each master. */
enum { TOLD_REFUSED, TOLD_SILENT, TOLD_CUT, TOLD_COPY, TOLD_STRANGE };

struct replica {
	enum sm_state state; /* state at the last replica_state_changed() */
	unsigned step;	     /* step of the present round; REPLICA_REST between rounds */
	unsigned tries;	     /* tries of the present step */
	/* SMP_STALE: the SMP under way belongs to a round that was given up */
	enum { SMP_NONE, SMP_OUT, SMP_STALE } smp;
	bool again;			/* set if something has changed during the present round */
	mono_t round_at, next_at, rest; /* rest: least time between rounds */
	unsigned rounds, failures;	/* failures: rounds in a row that failed */
	struct replica_master of;
	struct {
		unsigned next;	     /* index of the trap to subscribe to next */
		unsigned subscribed; /* number of traps subscribed to */
		mono_t at;
	} reports;
	struct told told; /* findings logged about this master */
	guid_t copy_told; /* master of which it was logged last that a copy was made; 0: none */
	bool aliases_due, round_aliases;
	mono_t registered_at;		  /* time of our registration; MONO_NEVER: none */
	unsigned registrations;		  /* number of registrations with this master */
	uint32_t registered[SMC_DIGESTS]; /* our digests at the last registration */
	struct replica_copy fresh, kept;
	struct {
		lid_t lid;
		uint64_t prefix;
		uint16_t pkeys[PKEYS_PER_BLOCK];
	} own;
	struct replica_successor successor; /* replica_successor.c */
	const struct replica_questions *questions;
	struct replica_asking ask;
	/* replica_seek.c, in DISCOVERING: set if the master that our port names knows us. */
	bool is_expected;
	struct replica_config config;
};

/* ---- replica_ask.c ---- */

/* Sends a question to replica.to. False: it cannot be sent. */
bool replica_ask(struct sm *sm, const struct replica_question *q);
/*
 * Is an event of class SA the end of our question? Then true, *ret says how it ended, and no
 * question is under way any more. An answer from another sender, or to another question, is
 * ignored.
 */
bool replica_is_answer(struct sm *sm, struct transport_event *ev, struct replica_answer *ret);
/* Does a MAD come from the master that is copied? */
bool replica_from_master(const struct replica *r, const struct transport_addr *from);
void replica_question_get(struct replica_question *q, const struct replica *r);
void replica_question_inform(struct replica_question *q, unsigned trap);
void replica_question_table(struct replica_question *q, const struct replica *r,
			    enum replica_table_kind kind);
void replica_question_register(struct replica_question *q, const uint8_t *record, uint32_t lease);
/* Answers a Report (13.4.9: the Report with another method). */
void replica_answer_report(struct sm *sm, const struct transport_event *ev);

/* ---- replica_proof.c ---- */

/*
 * The SM_Key of the SA header for this request to the master: sa_key, or a proof; 0: neither can be
 * sent. The request must be complete but for it.
 */
uint64_t replica_sm_key(const struct sm *sm, const uint8_t *mad);
/*
 * Is a proof tried on a master that is not known as ours? With an sm_key that is no secret it
 * cannot become known.
 */
bool replica_tries_proof(const struct sm *sm);

/* ---- replica_seek.c ---- */

/* Called when the question to the master's SA has ended. */
void replica_seek_ended(struct sm *sm, const struct replica_answer *a);

/* ---- replica_config.c ---- */

/* Brings our digests up to date if they are due. */
void config_refresh(struct sm *sm);
/* Fills in our ServiceRecord (SVR_BYTES) as a manager of ours. */
void config_record(const struct sm *sm, uint8_t *ret);
/* As MASTER: brings our own record in the SA up to date. */
void config_publish(struct sm *sm);
/* Compares the configuration digest that another manager registered, and logs a difference. */
void config_compare(struct sm *sm, guid_t guid, const uint8_t *record);
/* The comparison with manager `guid`; NULL: it has registered nothing with us. */
const struct config_peer *config_peer(const struct replica *r, guid_t guid);

/* ---- replica_successor.c ---- */

void successor_tick(struct sm *sm);
mono_t successor_next(const struct sm *sm);
