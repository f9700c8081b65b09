// SPDX-License-Identifier: BSD-2-Clause
/*
 * The record of a cable that something is known against, shared by the files of this room. It
 * exists only while there is something to remember, for one cable, and is known to both ports.
 */
#pragma once

#include "sm/out_of_use/out_of_use.h"
#include "sm/sm_internal.h"

/* ---- a record -------------------------------------------------------------------------------- */

struct cable_end {
	guid_t node;
	uint8_t port;
	bool host;	 /* set if its node is no switch */
	bool complains;	 /* set if it has complained too much */
	struct port *at; /* NULL: the node is not known now */
	unsigned falls;	 /* falls seen at this end in this spell */
	unsigned complaints, last_trap;
	mono_t complaints_until;
	char name[NODE_DESC_STRLEN];
};

/* Falls of a link; the rule is in flaps.c. */
#define MAX_FALLS 8
struct flaps {
	enum {
		FLAPS_WATCHED,	 /* fewer falls than lead to a hold */
		FLAPS_HELD,	 /* held, as it fell too often */
		FLAPS_PROBATION, /* released lately: the next fall leads to a hold */
	} state;
	unsigned level;		 /* number of holds in a row, minus 1 */
	unsigned counted;	 /* falls in this spell: the larger count of both ends */
	mono_t falls[MAX_FALLS]; /* ring buffer of the times of the latest falls */
	unsigned n;		 /* falls in all, while the record exists */
	unsigned n_when_held;	 /* value of `n` when it was held */
	unsigned held_falls;	 /* falls that led to the hold, and */
	int held_span;		 /* seconds within which they came */
	mono_t held_since;
	/* HELD: time of release, if quiet; else time to forget the record, or to lower the level */
	mono_t until;
	mono_t step_at; /* HELD: falls after this time double the hold */
	bool asked;	/* set if a sweep was requested since `until` */
};

/* A port switched off by babbling_port_policy or security_violation_policy. */
struct switched_off {
	enum { OFF_NOT, OFF_WANTED, OFF_DONE, OFF_SEEN } state; /* SEEN: read as disabled since */
	struct port *at;	    /* NULL: no port is off, or its node is gone */
	char why[SWITCHED_OFF_WHY]; /* rule that the host behind it broke; "": it babbles */
	unsigned complaints;	    /* complaints that led to it */
};

/* The progress of taking the link down: take_down.c. */
struct take_down {
	bool to_look;  /* set after a sweep: do tables lead over the cable? */
	bool unrouted; /* set if no table leads over it */
	enum { REST_NEW, REST_ASKED, REST_PAUSE, REST_OVER } rest;
	unsigned n_asked;	  /* counters that are waited for */
	unsigned n_readings;	  /* of all its counters */
	uint64_t packets, before; /* sent by both ends: this reading, and the one before */
	unsigned tries;		  /* Sets that were to take it down */
	mono_t trains_until; /* its link was taken down, and may train until then; 0: it was not */
	mono_t patience;     /* until then packets are waited for */
	mono_t next;	     /* the next step; MONO_NEVER: it need not be taken down */
};

struct bad_cable {
	struct cable_end end[2];
	uint32_t index;	  /* index in out_of_use->cables */
	unsigned reasons; /* bit mask of enum out_reason */
	unsigned forced;  /* bit mask of reasons that hold even for the last way */
	struct flaps flaps;
	struct take_down down;
	struct switched_off off;
	bool out;	/* set if left out of routing, as last decided */
	bool spared;	/* set if used in spite of its reasons, as the last way */
	unsigned shown; /* `reasons` for which it is out, as last decided */
	bool was_down;	/* set if one of the reasons takes the link down */
	/* set if neither end knew the other at the last decision, so its link may train */
	bool gone;
	/* what was logged last; BY_OTHERS: as the order of an administrator, or as bad health */
	enum { TOLD_NOT, TOLD_OUT, TOLD_OUT_BY_OTHERS, TOLD_SPARED, TOLD_SPARED_BY_OTHERS } told;
};

struct counters_ask;

struct out_of_use {
	struct bad_cable **cables;
	uint32_t n, cap;
	mono_t next; /* earliest time at which a record has anything due */
	struct log_limit log;
	char line[LEFT_OUT_STRLEN]; /* line about links left out, as last logged */
	mono_t line_at;		    /* time at which the line was logged */
	bool line_waits;	    /* set if the line has changed since */
	uint32_t n_to_look;	    /* upper bound of the records with down.to_look */
	mono_t next_down;	    /* least down.next of all records */
	out_of_use_path_sl_fn *path_sl;
	struct counters_ask *asks;
};

/* ---- reasons.c ------------------------------------------------------------------------------- */

struct reason {
	bool host;	 /* counts also for a cable to a host, which has no other way */
	bool held;	 /* the link is not armed or activated */
	bool taken_down; /* a link that is up is taken down to INIT */
	bool own_switch; /* `forced` has no effect at the switch that leads to the manager */
	bool by_order;	 /* an order of an administrator, which was logged when it was given */
	bool lasts;	 /* persists while neither end knows the other */
	bool judged; /* out_of_use_take_all() leaves it on cables of which no end knows the other */
	bool told;   /* logged when the cable is left out, as no other machine does it */
	const char *words;
	const char *then; /* consequence, for the log */
};
extern const struct reason reasons[OUT_REASONS];

#define BIT(reason) (1u << (reason))
/* A bit mask of the reasons for which this column is set. */
#define REASONS_WITH(column)                                                                       \
	({                                                                                         \
		unsigned _bits = 0;                                                                \
		for (unsigned _i = 0; _i < OUT_REASONS; _i++)                                      \
			_bits |= reasons[_i].column ? BIT(_i) : 0;                                 \
		_bits;                                                                             \
	})
/* The worst of these reasons; OUT_REASONS: none. */
enum out_reason reason_worst(unsigned bits);

/* ---- cables.c -------------------------------------------------------------------------------- */

/* Does the cable connect two switches? Then there may be another way. */
bool cable_is_between_switches(const struct bad_cable *c);
/* A bit mask of the reasons that count for this cable; 0: it may be used. */
unsigned cable_reasons(const struct bad_cable *c);
/* Has neither end a known neighbour? */
bool cable_is_gone(const struct bad_cable *c);
/* The end of the cable that is this port. */
struct cable_end *cable_end_of(struct bad_cable *c, const struct port *p);
/* Updates the ends, whose nodes come and go. False: the cable is gone, `c` was freed. */
bool cable_bind(struct out_of_use *h, struct bad_cable *c);
void cable_drop(struct out_of_use *h, struct bad_cable *c);
/* Called when the node of this port goes: drops a record without any end. */
void cable_leave(struct out_of_use *h, struct bad_cable *c, const struct port *p);
void cable_set(struct bad_cable *c, enum out_reason reason, bool holds);
/* The record of the cable at `p`; NULL: nothing is recorded, or its ends are not known. */
struct bad_cable *cable_record(struct sm *sm, struct port *p);
/* cable_record(), or a new one. NULL: our own link, no cable, or the far end is not known. */
struct bad_cable *cable_need(struct sm *sm, struct port *p);
bool cable_is_own(const struct sm *sm, const struct port *p);
#define CABLE_STRLEN (2 * PORT_STRLEN + 4)
char *cable_str(const struct bad_cable *c, char ret[CABLE_STRLEN]);
/*
 * A line of the log on the cable, `id` of log_ids.h, `bits` of enum log_bits, unless there is too
 * much of it. cable_say(): something is wrong with it. cable_note(): it is in order again.
 */
void cable_log(struct sm *sm, const struct bad_cable *c, enum log_id id, unsigned bits,
	       const char *fmt, ...) __attribute__((format(printf, 5, 6)));
#define cable_say(sm, c, ...)  cable_log(sm, c, LOG_ID_CABLE, LOGB_ERROR, __VA_ARGS__)
#define cable_note(sm, c, ...) cable_log(sm, c, LOG_ID_CABLE, LOGB_INFO, __VA_ARGS__)
/* Asks for a sweep that decides anew; a dirty switch port has all routes compared. */
void cable_look(struct sm *sm, const struct bad_cable *c, const char *why);
/* Makes the next tick due at `at` at the latest. */
void out_of_use_wake(struct out_of_use *h, mono_t at);

/* ---- flaps.c --------------------------------------------------------------------------------- */

/* How long a fall counts, and how long the record of a cable that is gone is kept. */
#define FALLS_WINDOW (120 * MONO_S)
/* The duration of a hold at the present level. */
mono_t flaps_hold_time(const struct bad_cable *c);
/* Releases a link whose hold is over and that was quiet. */
void flaps_release(struct bad_cable *c, mono_t now);
void flaps_tick(struct sm *sm, struct bad_cable *c);

/* ---- complaints.c ---------------------------------------------------------------------------- */

void complaints_tick(struct sm *sm, struct bad_cable *c);
/* Called when PortInfo of a switched-off port was read: has the operator enabled it? */
void switched_off_seen(struct sm *sm, struct bad_cable *c, const struct port *p);
/* Called when the port is not off any more, or not known. */
void switched_off_end(struct bad_cable *c);
/* Between sweeps: switches ports off that babble, or whose hosts broke rules. */
void switch_off_wanted(struct sm *sm);

/* ---- guard.c --------------------------------------------------------------------------------- */

/*
 * The connected parts of the switches over links that are not avoided: for each node->index a
 * number that nodes of the same part share; hosts have one of their own. The caller frees the
 * array.
 */
uint32_t *out_of_use_parts(const struct fabric *f);
/* Decides `spared` of all cables, and which switches are used although they take no tables. */
void guard_last_ways(struct sm *sm);

/* ---- take_down.c ----------------------------------------------------------------------------- */

/* Called after a sweep, which may have changed tables. */
void take_down_look(struct sm *sm);
void take_down_tick(struct sm *sm);
mono_t take_down_next(const struct sm *sm);
void take_down_end(struct bad_cable *c);

/* ---- unserved.c ------------------------------------------------------------------------------ */

/* Logs the line about links left out if it has changed, at most every few seconds. */
void unserved_report(struct sm *sm);
