// SPDX-License-Identifier: BSD-2-Clause
/*
 * MAD transactions: a question goes out, and ends exactly once.
 *
 *   queued --window has room--> on the wire --response---------> ANSWERED or BAD_STATUS
 *      \                           |    ^---no answer in time, tries left (a fresh TID)
 *       \                          \-----tries used up----------> TIMEOUT
 *        \--not wanted any more, owner cancelled----------------> CANCELLED
 *
 * The window: at most `max_wire` requests are on the wire; when no response arrived for
 * `stall` the window may grow by one at a time up to `max_wire2` until responses flow again. A
 * request whose answer is overdue does not count: what was lost does not keep the window empty.
 * Where the transport keeps the window (transport.h), a few more requests wait in front of it.
 *
 * Tries: where round trips are known, a request is repeated when its answer is overdue, then after
 * twice that time, and so on up to the timeout; from there on once per timeout. It is given up
 * after `retries` + 1 timeouts, as without repetitions: a slow agent has as long as ever. The
 * answer to any try ends it. `retries` 0: one try and no more.
 *
 * Ids: every try has one that cannot be guessed (tids.h). An answer is one to the request with its
 * id, if it comes from where that was sent to: over the same directed route, or from the same LID;
 * and if class, attribute and modifier are those asked for. All else is counted (enum mad_stray),
 * told to the owner of the engine, and ends nothing.
 *
 * Targets carry what is known about one destination: how much is on its wire (small SMA queues) and
 * whether it is silent. A silent target's requests get one try instead of all, and between
 * failures it rests for a growing time (backoff); so one dead node costs its own timeouts only. A
 * question to a silent target leaves the window when its answer is overdue, up to 64 of them.
 *
 * The engine reads no clock, and a completion may submit, never dispatch.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ib/mad.h"
#include "opensm/transport.h"
#include "util/mono.h"

struct mad_engine;

/* Where the bytes of ids come from. `fn` NULL: the kernel's random numbers; tests have others. */
struct mad_draw {
	void (*fn)(void *arg, void *ret, size_t len);
	void *arg;
};

struct mad_params {
	unsigned max_wire;   /* >= 1 */
	unsigned max_wire2;  /* window while stalled; off if <= max_wire */
	mono_t stall;	     /* max_smps_timeout */
	unsigned timeout_ms; /* per try */
	unsigned long_timeout_ms;
	unsigned retries;      /* tries after the first */
	unsigned per_target;   /* most requests on one target's wire; 0: no limit */
	unsigned silent_after; /* failures in a row that make a target silent; 0 means 1 */
	struct mad_draw draw;  /* read by mad_new() only */
};

struct mad_xact;

/* Round trips to one destination, or to all: kept by the engine. */
enum mad_rtt_kind { MAD_RTT_GET, MAD_RTT_SET, MAD_RTTS };
struct mad_rtt {
	uint32_t mean, spread; /* microseconds; mean 0: nothing is known */
};

/* A list of transactions; private to the engine. */
struct mad_xacts {
	struct mad_xact *first, *last;
};

/*
 * State of one destination; zero-initialised by its owner, which cancels before freeing or moving
 * it. The first three members may be read by all, and are written by the engine alone.
 */
struct mad_target {
	unsigned on_wire;  /* requests sent to it and neither answered nor given up */
	unsigned failures; /* requests in a row that ended in TIMEOUT; any answer clears it */
	mono_t rest_until; /* no new request before this time while it is silent */
	mono_t rest;	   /* length of the last rest: 1 s, doubled up to 60 s */
	struct mad_rtt rtt[MAD_RTTS];
	/* the last of its kind had no answer at all: no early repetitions */
	bool mute[MAD_RTTS];
	bool slow;			  /* its last answer took a good part of the timeout */
	uint64_t answered_order;	  /* the latest try it answered, */
	mono_t answered_at;		  /* and when it answered last */
	struct mad_xacts members, parked; /* all its requests; those that wait for its wire */
};

enum mad_end { MAD_END_ANSWERED, MAD_END_BAD_STATUS, MAD_END_TIMEOUT, MAD_END_CANCELLED };

struct mad_request {
	uint8_t method; /* MAD_GET or MAD_SET */
	uint16_t attr;
	uint32_t mod;
	uint64_t m_key;
	const struct dr_path *path; /* copied; NULL: LID-routed */
	lid_t lid;		    /* when path is NULL */
	uint8_t lmc;		    /* the answer may come from any LID of this range */
	const uint8_t *payload;	    /* SMP_DATA_SIZE bytes, copied; NULL: zeroes */
	bool long_timeout;
	/*
	 * Sent at once, ahead of all others, even if the window is full; takes no place in it. For
	 * a few per second.
	 */
	bool urgent;
	struct mad_target *target; /* NULL: none */
	/*
	 * Asked just before the first send; false ends the request as CANCELLED without a MAD on
	 * the wire. NULL: always wanted. It answers, and calls nothing of the engine.
	 */
	bool (*wanted)(void *owner, void *arg);
};

struct mad_result {
	enum mad_end end;
	bool sent;	 /* once at least; false: its target rested, or it was cancelled before */
	uint16_t status; /* 15 bits of the response; 0 unless ANSWERED or BAD_STATUS */
	uint8_t method;	 /* as requested */
	uint16_t attr;
	uint32_t mod;
	uint64_t m_key;
	const uint8_t *payload; /* of the response, valid during the call; NULL without one */
	void *arg;
	mono_t now;
};

/* It was sent, and no answer came: its M_Key may be a wrong one. */
static inline bool mad_doubts_key(const struct mad_result *r)
{
	return r->end == MAD_END_TIMEOUT && r->sent;
}

typedef void (*mad_done_fn)(void *owner, const struct mad_result *result);

struct mad_engine *mad_new(struct transport *tr, const struct mad_params *params);
/* Ends what is pending with CANCELLED, without calling back. NULL is fine; returns NULL. */
struct mad_engine *mad_free(struct mad_engine *e);
void mad_set_params(struct mad_engine *e, const struct mad_params *params);

/*
 * Queues a request; it goes out in mad_dispatch(), in order of submission as far as window and
 * targets allow, urgent ones first. `on_done(owner, ...)` is called exactly once, never from inside
 * mad_submit().
 */
void mad_submit(struct mad_engine *e, const struct mad_request *rq, mad_done_fn on_done,
		void *owner, void *arg);

/*
 * Ends all requests of `owner` (only those to `target` if that is not NULL) with MAD_END_CANCELLED,
 * called back at once. What a completion submits meanwhile is spared.
 */
void mad_cancel(struct mad_engine *e, void *owner, struct mad_target *target);

/*
 * The same with all of `attr`, of any owner: no Set is on the wire again, and an answer that comes
 * yet does not count.
 */
void mad_cancel_attr(struct mad_engine *e, uint16_t attr);

/* Too many failures in a row: requests get one try now and then. NULL is not silent. */
bool mad_target_silent(const struct mad_engine *e, const struct mad_target *target);

/* One agent answers for both: measurements of `probed` hold for `target`, if that has none. */
void mad_target_is(struct mad_target *target, const struct mad_target *probed);

/* The target was heard in another way: it is no longer silent. */
void mad_target_revive(struct mad_target *target);

/*
 * The rest of a silent target ends: its next request goes out, with the one try that a silent one
 * gets.
 */
void mad_target_wake(struct mad_target *target);

/*
 * A MAD without an answer: responses to others, TrapRepress, a last Set. What waits in front of the
 * wire is not sent before the next dispatch then. 0 or -errno.
 */
int mad_send_once(struct mad_engine *e, const struct transport_addr *to, const uint8_t *mad);

/*
 * Unsolicited MADs (requests, traps) go to `fn`. `from` and `mad` are valid during the call.
 */
typedef void (*mad_inbox_fn)(void *owner, const struct transport_addr *from, const uint8_t *mad,
			     mono_t now);
void mad_set_inbox(struct mad_engine *e, mad_inbox_fn fn, void *owner);

/*
 * GMPs (all classes but the two of SMPs) are no transactions here: requests, responses and
 * unanswered queries go to `fn` as they arrive. `ev` is valid during the call; `fn` may keep
 * ev->whole by taking it.
 */
typedef void (*mad_gmp_fn)(void *owner, struct transport_event *ev, mono_t now);
void mad_set_gmp(struct mad_engine *e, mad_gmp_fn fn, void *owner);
/*
 * The id of a GMP to LID `to` that is to be answered: as hard to guess as that of an SMP, and none
 * that was drawn lately.
 */
uint32_t mad_gmp_tid(struct mad_engine *e, lid_t to);
/* A number as hard to guess as two ids, never 0. */
uint64_t mad_nonce(struct mad_engine *e);
/* The id of an SMP whose answer is not waited for; `path` NULL: to LID `to`. */
uint32_t mad_once_tid(struct mad_engine *e, const struct dr_path *path, lid_t to);
/*
 * Sends one GMP message of `length` bytes (more than 256: RMPP). timeout_ms 0: no answer expected;
 * else the answer, or the message itself, comes to `fn` once. 0 or -errno of the transport.
 */
int mad_send_gmp(struct mad_engine *e, const struct transport_addr *to, const uint8_t *mad,
		 size_t length, unsigned timeout_ms);

/*
 * Takes in at most `limit` MADs, runs completions and timers, then fills the window. Returns the
 * number of MADs taken in; equal to `limit` means there may be more. -ENODEV: the port is gone
 * (every request has ended as TIMEOUT).
 */
int mad_dispatch(struct mad_engine *e, mono_t now, unsigned limit);
/* When dispatch must be called again even if nothing arrives; MONO_NEVER if never. */
mono_t mad_next(const struct mad_engine *e);
/* Requests that have ended since the start: tells whether a dispatch called an owner back. */
uint64_t mad_ended(const struct mad_engine *e);
/* Requests queued or on the wire. */
unsigned mad_pending(const struct mad_engine *e);
unsigned mad_on_wire(const struct mad_engine *e); /* of these, on the wire */

/* Counters of SMPs sent, per attribute and method; retries are in `sent` too. */
struct mad_count {
	uint16_t attr;
	uint8_t method;
	uint64_t sent, answered, bad_status, timeouts, retries;
};
/* Rows used so far, in order of first use; valid until the next dispatch. */
const struct mad_count *mad_counts(const struct mad_engine *e, unsigned *ret_n);
uint64_t mad_sent(const struct mad_engine *e,
		  uint8_t method); /* sum over attributes; method 0: all */
/* SMPs that were answered, with whatever status: sum over attributes but one. */
uint64_t mad_answered(const struct mad_engine *e, uint16_t but);

/* Answers that end nothing: why. */
enum mad_stray {
	MAD_STRAY_LATE,	     /* to a try that had ended: late, twice, cancelled meanwhile */
	MAD_STRAY_UNASKED,   /* with an id that is not, and was not lately, on the wire */
	MAD_STRAY_ELSEWHERE, /* right id; from another LID, or over another directed route */
	MAD_STRAY_MISMATCHED, /* right id; wrong class, method, attribute, modifier or length */
	MAD_STRAYS
};
const char *mad_stray_name(enum mad_stray why); /* "late" ... */
/* How many there were, of SMPs and GMPs; by enum mad_stray. */
const uint64_t *mad_strays(const struct mad_engine *e);

/* Told each answer that is counted, but not the late ones: they may be forged. */
typedef void (*mad_stray_fn)(void *owner, enum mad_stray why, const struct transport_addr *from,
			     const uint8_t *mad, mono_t now);
void mad_set_stray(struct mad_engine *e, mad_stray_fn fn, void *owner);
/*
 * Asked before each try of a Set. True: nothing more goes out in this dispatch, as the owner has
 * something to look at first.
 */
typedef bool (*mad_hold_fn)(void *owner, uint16_t attr);
void mad_set_hold(struct mad_engine *e, mad_hold_fn fn, void *owner);
/*
 * The same for answers to GMPs, which their owners judge: `why` is UNASKED (late, if the id was
 * drawn for the LID that it comes from), ELSEWHERE or MISMATCHED.
 */
void mad_refuse_gmp(struct mad_engine *e, enum mad_stray why, const struct transport_event *ev);
