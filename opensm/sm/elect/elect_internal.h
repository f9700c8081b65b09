// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between the files of the election:
 *
 *   elect.c        the states, and which manager is to be master
 *   remote_sm.c    what is known of other SMs, and which of them are to be believed
 *   elect_proof.c  proofs that a manager knows sm_key
 *   elect_poll.c   watching one of them
 *   elect_set.c    commands of other managers, and requests of any node
 */
#pragma once

#include "fabric/words.h"
#include "keys/key_proof.h"
#include "sm/elect/elect.h"
#include "sm/sm_internal.h"
#include "util/told.h"

/*
 * The trust in another SM. Only the first kind is ever obeyed, asked to take over, or yielded to.
 */
enum sm_trust { SM_TRUSTED, SM_OTHER_KEY, SM_NOT_ALLOWED };

/* Findings logged once: the table of managers is full; the polled MASTER reaches no port. */
enum { TOLD_FULL, TOLD_ABSENT };

/* Another SM, by its end port. Writer: remote_sm.c; `defiant`: elect.c */
struct remote_sm {
	guid_t guid;		  /* port GUID; 0: free row */
	struct mad_target target; /* target of questions for its SMInfo alone */
	enum sm_trust trust;
	uint8_t priority, state; /* priority and SMState of its last SMInfo */
	/* set if its last question was answered: trust, priority and state are valid */
	bool known;
	bool heard; /* set if it has answered: state and priority are its last ones */
	bool was_known; /* value of `known` when the question under way was sent */
	/*
	 * Set if its last answer proved that it knows sm_key. The next order to it must carry
	 * `challenge`.
	 */
	bool proved;
	uint64_t challenge;
	uint64_t nonce; /* nonce of the SMInfo request under way; 0: no proof was asked for */
	/* Is a question under way? WAITED_FOR: discovery waits for its end. */
	enum { ASKED_NOT, ASKED, ASKED_WAITED_FOR } asked;
	/* questions in a row without an answer, at most SILENT_AFTER: then no sweep waits */
	uint8_t unanswered;
	/* Set if it did not act as its state demands: not waited for or yielded to meanwhile. */
	bool defiant;
	uint8_t vain;	/* number of such failures since it was our master */
	uint8_t hidden; /* answers in a row that show and prove nothing, up to HIDDEN_MAX */
	mono_t look_at; /* time to ask it again, as it was DISCOVERING; 0: none */
	uint8_t looks;	/* times that it was asked again, at most LOOKS_MAX */
	uint64_t told;	/* hash of what was last logged about it */
	/* State reported by the last event; 0: none, or that it is gone. Writer: events.c */
	unsigned event_told;
};

/* Polling one SM, every sminfo_polling_timeout. Writer: elect_poll.c */
struct sm_poll {
	struct mad_target target; /* target of the questions of this poll */
	/* time at which it was chosen; time at which it last said MASTER */
	mono_t chosen, since;
	mono_t started, at; /* start of the last poll; time of the next action */
	/* Stage of the last poll: over; asked along the directed route; also asked by LID. */
	enum { POLL_OVER, POLL_DIRECTED, POLL_BY_LID } stage;
	unsigned out;	 /* questions under way */
	uint64_t nonce;	 /* nonce of the questions under way */
	unsigned misses; /* polls in a row without an answer */
	unsigned polls;	 /* number of polls since it was chosen */
	bool tell;	 /* set if trap 144 is to be sent when our own port has answered */
	bool own_pending;
	unsigned own_tries; /* requests to our own port in this poll */
	/* LID and MasterSMLID of our own port, as last read; 0: not known */
	lid_t own_lid, master_lid;
	uint8_t own_lmc, master_sl;
	uint32_t own_caps;
	bool absent;	  /* set if the master seems not to reach our port */
	mono_t own_asked; /* time of the last request to our own port */
};

/* A HANDOVER that is verified before it is obeyed. Writer: elect_set.c */
struct sm_offer {
	guid_t by; /* port GUID of its sender; 0: none */
	mono_t until;
	unsigned asked;
};

/* Writers of the members are the files named above them. */
struct elect {
	/* remote_sm.c */
	struct remote_sm remote[MAX_REMOTE_SMS];
	unsigned n_remote;
	struct conf_guids allowed; /* allowed_sm_guids, sorted; none: all */
	struct told told;
	struct log_limit rogue_log;

	/*
	 * elect_poll.c: the manager that is watched: in STANDBY the master, or one that is about to
	 * be; in MASTER another master, lower than us, that is to hand over before its half is
	 * touched (0: none).
	 */
	guid_t polled;
	struct sm_poll poll;

	/* elect_set.c */
	struct sm_offer offer;
	uint32_t act_count; /* ActCount of SMInfo: number of SMPs answered */
	struct log_limit set_log, set_limit, look_limit;

	/* elect_proof.c: challenge for the next order, 0: not drawn yet; proof of the last. */
	uint64_t challenge;
	uint8_t obeyed[KEY_PROOF_BYTES];

	/* elect.c */
	/* Has a manager all that it needs to take over? */
	bool (*may_succeed)(const struct sm *sm, guid_t guid);
	uint8_t priority;    /* sm_priority, or the value that an administrator set at run time */
	bool others_ruled;   /* set if another manager was master since the start of this process */
	bool handed_over;    /* set if we handed over at the end of this process */
	bool on_probation;   /* set if STANDBY was ordered by a manager that is not known yet */
	bool rival_seen;     /* set if another master was, or is, at work beside us */
	bool decide_pending; /* set if SMInfo arrived that elect_tick() has not evaluated */
};

/* ---- elect.c ---- */

/* Higher priority, then lower port GUID; ours as told now. */
bool elect_is_greater(const struct sm *sm, const struct remote_sm *r);
/* Discovery first; what it finds decides. */
void elect_take_over(struct sm *sm, unsigned bits, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* MASTER: the other master that we waited for is one no more, or is not waited for any longer. */
void elect_end_wait(struct sm *sm, const char *why);
/* MASTER, and the manager before us has let go. */
void elect_accept(struct sm *sm, const char *why);
/*
 * The M_Key that the manager behind `p` checks: that of its port; if that has none (yet), the one
 * we are configured with, as it is if it is one of ours. A port without a key takes any (14.2.4).
 */
uint64_t elect_mkey(const struct sm *sm, struct port *p);
bool elect_key_is_doubtful(const struct sm *sm, const struct mad_result *r);
/* SMInfo of the manager on this end port was not answered: lost, or its M_Key is another. */
void elect_doubt(struct sm *sm, guid_t guid, uint64_t m_key);
/* Our SMInfo; `with_key`: with SM_Key, if that is shown to others at all. */
void elect_fill(const struct sm *sm, uint8_t info[SMP_DATA_SIZE], bool with_key);

/* ---- remote_sm.c ---- */

/* There is a subnet manager, known to be what its row says, and it is to be obeyed. */
bool remote_counts(const struct sm *sm, const struct remote_sm *r);
/* A question is out, and the answer before it still counts. */
bool remote_is_asked(const struct sm *sm, const struct remote_sm *r);

struct remote_sm *remote_find(const struct sm *sm, guid_t guid); /* NULL: never heard of */
/* A question outside of discovery. False: it cannot be put. */
bool remote_ask(struct sm *sm, struct port *p);
/*
 * Takes in an SMInfo that the port with this GUID answered with, over whatever way, to a question
 * with this nonce. NULL: it makes no sense. What is returned may not be trusted.
 */
struct remote_sm *remote_learn(struct sm *sm, guid_t guid, uint64_t nonce, const uint8_t *info);
/*
 * The manager did not do what its state demands: it does not count until it changes, or asks for it
 * (trap 144).
 */
void remote_failed(struct remote_sm *r);
/* By the SM_Key that it shows, or has proved to know. */
enum sm_trust remote_trust(const struct sm *sm, guid_t guid, uint64_t key);
/* The same of the sender of a Set(SMInfo). */
enum sm_trust remote_trust_order(const struct sm *sm, const uint8_t *mad);
/* `other_key`: sm_key is another one; what was proved was of the former. */
void remote_reconfigured(struct sm *sm, bool other_key);
void remote_free(struct sm *sm);
/* MASTER: managers that were DISCOVERING are asked what they have become. */
void remote_tick(struct sm *sm);
mono_t remote_next(const struct sm *sm);

/* ---- elect_proof.c ---- */

/* SMInfo carries a proof, which may be a wrong one. */
bool proof_is_carried(const uint8_t *info);
/* SM_Key is shown: everyone knows it, or sm_key_shown is set. */
bool proof_shows_key(const struct sm *sm);
/* For a question; 0: everyone knows our sm_key, nothing is to be proved. */
uint64_t proof_nonce(struct sm *sm);
/* The payload of Get(SMInfo) to the manager on this port. */
void proof_ask(const struct sm *sm, guid_t whom, uint64_t nonce, uint8_t info[SMP_DATA_SIZE]);
/* Our answer gets its proof, if the question is one of ours. */
void proof_answer(struct sm *sm, const uint8_t *question, uint8_t info[SMP_DATA_SIZE]);
/* Is this SMInfo an answer, to a question of ours with this nonce, of a manager of ours? */
bool proof_is_answer(const struct sm *sm, uint64_t nonce, const uint8_t *info);
/* The payload of Set(SMInfo) gets its proof for a manager that has proved. */
void proof_order(const struct sm *sm, const struct remote_sm *r, unsigned mod,
		 uint8_t info[SMP_DATA_SIZE]);
/* Is this Set(SMInfo) of a manager of ours, for us, and for the first time? */
bool proof_is_order(const struct sm *sm, const uint8_t *mad);
/* This Set(SMInfo) is obeyed now: not again. */
void proof_obeyed(struct sm *sm, const uint8_t *mad);
/* The order that was obeyed last, once more. */
bool proof_was_obeyed(const struct sm *sm, const uint8_t *mad);

/* ---- elect_poll.c ---- */

/* Watches `guid` from now on, first at once; 0: none. */
void poll_start(struct sm *sm, guid_t guid);
void poll_tick(struct sm *sm);
mono_t poll_next(const struct sm *sm);
/* Trap 144 with ChangeFlags 0x0008 to the master, or to the one we wait for (handover.md 8, 9). */
void poll_tell(struct sm *sm);

/* ---- elect_set.c ---- */

/* SMInfo of the manager that offered us the fabric has arrived. */
void offer_answered(struct sm *sm, const struct remote_sm *r);
void offer_tick(struct sm *sm);
mono_t offer_next(const struct sm *sm);
