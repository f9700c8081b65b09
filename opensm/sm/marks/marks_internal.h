// SPDX-License-Identifier: BSD-2-Clause
/* Shared by the files of marks: requests (marks.c), the state of each mark (marks_work.c). */
#pragma once

#include "sm/marks/marks.h"
#include "sm/out_of_use/counters.h"
#include "sm/sm_internal.h"

/* Most requests that wait at a time. */
#define MARK_REQUESTS 64u

/* Errors that a cable which is to return must not have; marks_clean.c. */
enum clean_counter {
	CLEAN_SYMBOL,
	CLEAN_RECOVERY,
	CLEAN_DOWNED,
	CLEAN_RCV,
	CLEAN_RCV_REMOTE,
	CLEAN_INTEGRITY,
	CLEAN_OVERRUN,
	CLEAN_COUNTERS
};

/* The sum of the counters of all ends that answer. */
struct clean_reading {
	unsigned n;    /* number of ends */
	uint64_t ends; /* checksum of the ends that were read */
	uint64_t sum[CLEAN_COUNTERS];
	unsigned full; /* bit mask of counters that some end has at its maximum */
};

struct mark_clean {
	enum { CLEAN_PAUSE, CLEAN_ASKED } phase;
	bool has_base, is_over, is_told;
	enum { CLEAN_SO_FAR, CLEAN_COUNTED, CLEAN_FULL, CLEAN_UNREAD, CLEAN_NO_CABLE } fault;
	enum clean_counter counter; /* the counter in question, with COUNTED and FULL */
	uint64_t more;		    /* errors counted, with COUNTED */
	unsigned n_asked, n_odd;    /* ends waited for; readings of other ends in a row */
	struct clean_reading base, now;
	mono_t since, next; /* time since which no error is known; time of the next action */
};

/* The state of a mark in force, beside its row in the table. */
struct mark_work {
	guid_t met_guid; /* node GUID of the other end of its cable, as last met; 0: none */
	guid_t met_end;	 /* port GUID of that end, if it is an end port */
	uint8_t met_port;
	enum mark_state state;
	unsigned n_cables, n_out, n_spared;
	struct mark_clean clean;
};

enum ask_phase { ASK_FREE, ASK_QUEUED, ASK_STORING, ASK_APPLYING };

struct mark_ask {
	enum ask_phase phase;
	struct mark_request rq;
	char by[MARK_BY_MAX + 1], why[MARK_WHY_MAX + 1];
	mark_done_fn *done; /* NULL: the caller is gone */
	void *arg;
	uint64_t serial; /* number in the order of requests */
	unsigned n_marks;
	bool changed;
	struct mark_cost cost;
	bool is_bare;		 /* set if no cable is there whose routes could change */
	mono_t forced_at, until; /* with ASK_APPLYING: time when it came into force; deadline */
};

struct marks {
	const struct marks_questions *questions;
	struct mark_table *table;
	struct mark_work *work; /* state of each mark; table->n entries */
	struct mark_ask asks[MARK_REQUESTS];
	unsigned n_asks; /* number of `asks` that are not FREE */
	uint64_t serial;
	/* The commit under way. */
	enum { STORE_NONE, STORE_ASKED, STORE_EXPIRED, STORE_IN_FORCE } storing;
	mono_t retry_at;    /* of an expiry that could not be stored */
	mono_t look_at;	    /* when it is to be seen how far each is; MONO_NEVER: not */
	mono_t next_clean;  /* least `next` of those that are limited in time */
	bool in_force_told; /* set if this master has logged the marks that it began with */
	unsigned n_over;    /* their time is over, and their cables are in order */
};

/* ---- marks_place.c ---- */

/* The port that a mark names; for a whole switch port 0. NULL: it is not known. */
struct port *mark_port(const struct sm *sm, const struct link_mark *m);
/* The n-th port (from 1) whose cable the mark covers; NULL: there is no cable. */
struct port *mark_cable(const struct link_mark *m, struct node *n, unsigned port);
/* "'leaf1' port 5 (0x...) - 'spine1' port 1 (0x...)", "'spine1' (0x...)". Returns `ret`. */
#define MARK_PLACE_STRLEN (2 * PORT_STRLEN + 4)
char *mark_place_str(const struct sm *sm, const struct link_mark *m, char ret[MARK_PLACE_STRLEN]);

/* ---- marks_work.c ---- */

/* Is this port the other end that the mark met last? `guid`: of its node, or its own. */
bool mark_met(const struct mark_work *w, guid_t guid, unsigned port);
/* Puts the table `t` in force, which is taken over; the state of marks that stay is kept. */
void marks_use(struct sm *sm, struct mark_table *t);
/* Determines the state of all marks anew, as another manager may have written since. */
void marks_forget_work(struct sm *sm);
void marks_work_tick(struct sm *sm);
mono_t marks_work_next(const struct sm *sm);

/* ---- marks_tell.c ---- */

bool mark_is_same(const struct link_mark *a, const struct link_mark *b);
/* Logs the changes. Returns the number of cables affected. */
/* Logs the marks that a new master begins with, in one record. */
void marks_tell_in_force(struct sm *sm);
unsigned marks_tell_changes(struct sm *sm, const struct mark_table *from,
			    const struct mark_table *to, const char *cause);

/* Logs that the mark has reached the state of `w`. */
void mark_tell_state(struct sm *sm, const struct link_mark *m, const struct mark_work *w);

/* ---- marks_clean.c ---- */

/* Checks marks whose time is over: sets `is_over` if their cables are clean. */
void marks_clean_tick(struct sm *sm);
mono_t marks_clean_next(const struct sm *sm);
/* Starts the checks anew, as another table is, or another manager may have been, in force. */
void marks_clean_anew(struct marks *ms);
/* The state of a mark, RETURNING and UNCLEAN included. */
enum mark_state mark_state_of(const struct mark_work *w);
/* The reason that keeps the mark, "SymbolErrorCounter grew by 12"; "": none, or not yet due. */
void mark_kept_str(const struct mark_work *w, char ret[MARK_KEPT_STRLEN]);
