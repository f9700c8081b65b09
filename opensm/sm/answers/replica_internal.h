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

/* The tables that are copied, in the order in which they are asked for. */
enum replica_table_kind {
	COPY_MEMBERS,
	COPY_SERVICES,
	COPY_SUBSCRIPTIONS,
	COPY_ALIASES,
	COPY_TABLES
};

/* An answer to GetTable, kept as it came. Zero: an empty table. */
struct replica_table {
	uint8_t *message; /* owned; records begin at SA_DATA; NULL: no records */
	size_t n;
};

struct replica_copy {
	struct replica_table tables[COPY_TABLES];
	bool whole; /* asked for with SA_FOR_STANDBY */
	mono_t at;  /* when it was asked for; MONO_NEVER: there is none */
	guid_t master;
	uint32_t epoch; /* of the master, with `version`: what it is a copy of (whole ones only) */
	uint64_t version;
};

/* A question that is out. */
struct replica_question {
	uint8_t method;
	uint16_t attr;
	uint32_t mod;
	uint64_t mask;
	size_t stride; /* of records in the answer to GetTable */
	size_t limit;  /* records taken at most */
	uint8_t data[SA_DATA_SIZE];
};

enum replica_end { REPLICA_OK, REPLICA_REFUSED, REPLICA_SILENT, REPLICA_CUT };

struct replica_answer {
	enum replica_end end;
	uint16_t status;     /* REPLICA_REFUSED */
	const uint8_t *data; /* REPLICA_OK: what follows the SA header */
	uint8_t *message;    /* of a table: the answer's to take */
	size_t n;	     /* records in it */
};

/* A greater manager that waits for the fabric (replica_successor.c). */
struct replica_successor {
	guid_t guid; /* 0: none */
	mono_t since, asked_at; /* asked_at: when the election asked last */
	bool is_ours;		/* it asks for managers */
	bool is_ready;		/* the election knows that it may have the fabric */
	bool is_told;
};

/* How another manager of ours is configured, compared with us. */
struct config_peer {
	guid_t guid;
	uint32_t digests[SMC_DIGESTS];
	unsigned differs, told; /* masks of groups of settings; told: what was said last */
	mono_t met, heard;	/* for the first time; for the last */
	bool copied; /* it has what is registered with us */
};
#define CONFIG_PEERS MAX_REMOTE_SMS

/* replica_ask.c: the question that is out, and where it went. */
struct replica_asking {
	struct transport_addr to;
	guid_t whom; /* the manager there; 0: not known yet */
	uint8_t to_lmc;
	uint32_t tid; /* 0: no question is out */
	mono_t deadline;
	struct replica_question question;
};

/* replica_config.c */
struct replica_config {
	uint32_t digests[SMC_DIGESTS]; /* ours */
	const struct conf *digests_of; /* one reference */
	mono_t digests_at;
	uint32_t own_epoch;
	unsigned published; /* heavy sweep after which our record was made */
	struct config_peer peers[CONFIG_PEERS];
	unsigned n_peers;
	struct log_limit log;
};

/* The master that is copied. */
struct replica_master {
	guid_t guid;
	bool ours;	  /* a manager of ours, that is */
	unsigned strange; /* times in a row that it did not answer as one */
	uint32_t epoch;
	uint64_t version;
};

/* Records that are logged once for each master. */
enum { TOLD_REFUSED, TOLD_SILENT, TOLD_CUT, TOLD_COPY, TOLD_STRANGE };

struct replica {
	enum sm_state state; /* as told last */
	unsigned step;	     /* of the round; REPLICA_REST between rounds */
	unsigned tries;	     /* of the step */
	/* SMP_STALE: the one that is out belongs to a round that was given up */
	enum { SMP_NONE, SMP_OUT, SMP_STALE } smp;
	bool again;	     /* something has changed while a round was running */
	mono_t round_at, next_at, rest; /* rest: from the begin of a round to a hastened one */
	unsigned rounds, failures;	/* failures: in a row */
	struct replica_master of;
	struct {
		unsigned next; /* which of the traps is to be asked for */
		unsigned subscribed; /* traps asked for so far */
		mono_t at;
	} reports;
	struct told told;    /* of this master */
	bool aliases_due, round_aliases;
	mono_t registered_at; /* MONO_NEVER: not */
	unsigned registrations; /* with this master */
	uint32_t registered[SMC_DIGESTS]; /* as registered last */
	struct replica_copy fresh, kept;
	struct {
		lid_t lid;
		uint64_t prefix;
		uint16_t pkeys[PKEYS_PER_BLOCK];
	} own;
	struct replica_successor successor; /* replica_successor.c */
	const struct replica_questions *questions;
	struct replica_asking ask;
	/* In DISCOVERING: the master that our port names knows us: replica_seek.c */
	bool is_expected;
	struct replica_config config;
};

/* ---- replica_ask.c ---- */

/* A question to replica.to. False: it cannot be sent. */
bool replica_ask(struct sm *sm, const struct replica_question *q);
/*
 * An event of class SA: is it the end of our question? Then true, *ret says how it ended, and no
 * question is out any more. What is not to be believed (from elsewhere, of something else) is as if
 * it never came.
 */
bool replica_is_answer(struct sm *sm, struct transport_event *ev, struct replica_answer *ret);
/* Does a MAD come from the master? */
bool replica_from_master(const struct replica *r, const struct transport_addr *from);
void replica_question_get(struct replica_question *q, const struct replica *r);
void replica_question_inform(struct replica_question *q, unsigned trap);
void replica_question_table(struct replica_question *q, const struct replica *r,
			    enum replica_table_kind kind);
void replica_question_register(struct replica_question *q, const uint8_t *record, uint32_t lease);
/* Answers a Report (13.4.9: the Report with another method). */
void replica_answer_report(struct sm *sm, const struct transport_event *ev);

/* ---- replica_proof.c ---- */

/* SM_Key of this request to the master, which is whole but for that. */
uint64_t replica_sm_key(const struct sm *sm, const uint8_t *mad);
/* The master is tried with a proof, as none can be known for one of ours (sm_key is no secret). */
bool replica_tries_proof(const struct sm *sm);

/* ---- replica_seek.c ---- */

/* The question to the master's SA has ended. */
void replica_seek_ended(struct sm *sm, const struct replica_answer *a);

/* ---- replica_config.c ---- */

/* Our digests are brought up to date, if it is time. */
void config_refresh(struct sm *sm);
/* The ServiceRecord (SVR_BYTES) of a manager of ours. */
void config_record(const struct sm *sm, uint8_t *ret);
/* As MASTER: our record is in the SA, as things are now. */
void config_publish(struct sm *sm);
/* Compares the configuration digest that another manager registered, and logs a difference. */
void config_compare(struct sm *sm, guid_t guid, const uint8_t *record);
/* NULL: it has registered nothing with us. */
const struct config_peer *config_peer(const struct replica *r, guid_t guid);

/* ---- replica_successor.c ---- */

void successor_tick(struct sm *sm);
mono_t successor_next(const struct sm *sm);
