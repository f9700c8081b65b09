// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links that an administrator takes out of service, and puts back. A mark belongs to the port that
 * was named, and counts for its cable: both ends are one thing.
 *
 *   DRAIN     between switches: nothing is routed over it, it stays ACTIVE
 *   ISOLATE   the same; when no table leads over it any more and both ends have sent no packet
 *             for a packet lifetime, the link is taken down, trains to INIT and is held
 *             there. Its ends stay known
 *
 * A mark is a row of the ledger (ledger/settle.h): it is in force as soon as it is known, whichever
 * manager wrote it, and also while rows cannot be changed here.
 *
 * of a mark:   asked --> stored here (and sent to others) --> in force ----+
 *                                                                          v
 *   ABSENT (no cable)   DRAINING --> DRAINED, ISOLATED
 *   SPARED (the last way, and not forced; the manager's own; a drained port that has a host now)
 *
 * limited in time:    DRAINED, ISOLATED --time is over--> RETURNING --counters at rest--> no mark
 *                                                             UNCLEAN <--errors--'
 *
 * A switch as a whole: DRAIN keeps one of its cables for packets to the switch itself; ISOLATE
 * takes down all its cables, those to hosts too. Marks are in force before the first routing of a
 * master, whether it started or took over. Which cables are left out is decided by out_of_use.h,
 * together with what else is known against them.
 */
#pragma once

#include "sm/ledger/settle.h"
#include "sm/marks/marks_table.h"
#include "sm/sm.h"

enum mark_action { MARK_DO_DRAIN, MARK_DO_ISOLATE, MARK_DO_RESTORE };

/* STORED: this manager is not MASTER. */
enum mark_state {
	MARK_STORED,
	MARK_ABSENT,
	MARK_SPARED,
	MARK_DRAINING,
	MARK_DRAINED,
	MARK_ISOLATED,
	MARK_RETURNING, /* this and the next are shown only: time is over ... */
	MARK_UNCLEAN,
};
#define MARK_STATES (MARK_UNCLEAN + 1)

struct mark_request {
	enum mark_action action;
	guid_t node;
	uint8_t port; /* port number, or MARK_WHOLE_SWITCH: the switch with all its cables */
	bool all;     /* with RESTORE: every mark */
	bool force;   /* set to mark regardless of cost; never the manager's own link */
	/* set to compute the cost and whether it would be refused, without a change */
	bool plan;
	bool wait;	  /* set to answer when it is applied, not when it is stored */
	uint32_t seconds; /* lifetime; 0: unlimited */
	const char *by, *why;
	const struct routes *routes; /* routes for pairs_over, with `plan`; NULL: not counted */
};

enum mark_end {
	MARK_DONE,
	MARK_UNAPPLIED, /* stored and in force; `text` says what is not applied yet */
	/* it costs too much: `text`; nothing is changed from here on */
	MARK_REFUSED,
	MARK_INVALID,
	MARK_NOT_FOUND,
	MARK_NOT_MARKED, /* RESTORE of a port that is in service */
	MARK_NOT_MASTER, /* this manager is not MASTER, or not yet */
	MARK_CLOSED,	 /* the disk fails, or other managers are asked first (settle_closed()) */
	MARK_NO_ROOM,
};

/* The cost of taking the cables of a request out of service. */
struct mark_cost {
	unsigned cables;     /* cables that are up, and would be out */
	uint64_t pairs_over; /* pairs of hosts (sender, receiver) whose path leads over them now */
	uint64_t pairs_lost; /* pairs of hosts with a way now, and none without these cables */
	unsigned hosts, switches; /* host ports, and switches, that could not be reached any more */
	unsigned groups;	  /* multicast groups whose tree uses them */
	bool own;     /* set if it is the manager's own link or switch, or its only way */
	bool manager; /* set if the port is that of another subnet manager */
};

struct mark_result {
	enum mark_end end;
	char text[400]; /* a sentence, or "" */
	uint64_t generation;
	bool changed, replicated; /* replicated: a standby has stored all marks */
	/* standbys that can be sent marks, and those that have stored them */
	unsigned n_standbys, n_standbys_with;
	unsigned n_marks;      /* number of marks that the request was about */
	enum mark_state state; /* state of the mark, if there is one */
	struct mark_cost cost; /* cost before the change, with DRAIN and ISOLATE */
};
typedef void mark_done_fn(void *arg, const struct mark_result *r);

/*
 * Asks for a change. `done` is called once, from sm_dispatch() or sm_free(), never from within.
 * Texts of `rq` are copied. False: too many requests wait.
 */
bool sm_mark_request(struct sm *sm, const struct mark_request *rq, mark_done_fn *done, void *arg);

struct mark_shown {
	const struct link_mark *mark; /* valid until the next dispatch */
	enum mark_state state;
	unsigned n_cables, n_out, n_spared; /* cables of the mark; those out of use; those spared */
	const struct port *port, *peer;	    /* NULL: not known now; for a switch: port 0 and NULL */
#define MARK_KEPT_STRLEN 96
	char kept[MARK_KEPT_STRLEN]; /* with UNCLEAN: why it is not back in service; else "" */
};
/* The n-th mark (from 0); false: there are no more. */
bool sm_mark_at(const struct sm *sm, unsigned n, struct mark_shown *ret);
const char *sm_mark_state_name(enum mark_state state);	     /* "draining" */
unsigned sm_marks(const struct sm *sm, enum mark_kind kind); /* The number of marks of this kind. */
uint64_t sm_marks_generation(const struct sm *sm);

/* ---- what it costs (marks_cost.c) ---- */

/*
 * Computes the cost before anything is done, on the present fabric and with these routes (NULL:
 * pairs_over is not counted). The isolated host or switch itself is not counted as lost. `port` 0
 * or MARK_WHOLE_SWITCH: all cables of the switch. Takes O(switches * hosts) with routes.
 */
void sm_mark_cost(const struct sm *sm, const struct routes *routes, enum mark_kind kind,
		  const struct node *n, unsigned port, struct mark_cost *ret);

/* ---- the machine ---- */

/* Questions of marks that machines above answer. */
struct marks_questions {
	/* The reason why nothing can be changed now; NULL: changes are possible. */
	const char *(*closed)(const struct sm *sm);
	/* Will it be known in a moment whether changes are possible? */
	bool (*waits)(const struct sm *sm);
	/* Stores `next` in place of the present rows; ends in marks_committed(). Not if closed. */
	void (*commit)(struct sm *sm, const struct mark_table *next);
	/* Other managers that have stored all changes up to this generation. */
	struct settle_reach (*reach)(const struct sm *sm, uint64_t generation);
};

/* `questions` must stay valid until marks_end(). */
void marks_new(struct sm *sm, const struct marks_questions *q);
/* Answers requests under way and frees the machine. */
void marks_end(struct sm *sm);
/* Called before out_of_use_settle(): gives the cables of marks their reason not to be used. */
void marks_settle(struct sm *sm);
void marks_state_changed(struct sm *sm);
void marks_sweep_ended(struct sm *sm);
void marks_tick(struct sm *sm);
mono_t marks_next(const struct sm *sm);

/* The table in force; never NULL. */
const struct mark_table *marks_table(const struct sm *sm);
/*
 * Takes over a table of marks, which is in force from now on. `cause`: why marks have changed, for
 * the log; NULL: they were so before the start.
 */
void marks_take(struct sm *sm, struct mark_table *t, const char *cause);
/* Commits the table in force as it is, unless another commit is under way. Not if closed. */
void marks_store(struct sm *sm);
/* The end of a commit: `t` is in force and taken over; NULL: not stored, `fault` is why. */
void marks_committed(struct sm *sm, struct mark_table *t, const char *fault);
