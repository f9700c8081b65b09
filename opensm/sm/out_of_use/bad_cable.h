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
	bool host;	 /* its node is no switch */
	bool complains;	 /* it has complained too much */
	struct port *at; /* NULL: its node is not known now */
	unsigned falls;	 /* seen at this end in this spell */
	unsigned complaints, last_trap;
	mono_t complaints_until;
	char name[NODE_DESC_STRLEN];
};

/* Falls of its link: flaps.c has the rule. */
#define MAX_FALLS 8
struct flaps {
	enum {
		FLAPS_WATCHED,	 /* no more falls than are allowed, if any */
		FLAPS_HELD,	 /* it fell too often */
		FLAPS_PROBATION, /* let go lately: the next fall is one too many */
	} state;
	unsigned level;		 /* holds in a row, less one */
	unsigned counted;	 /* falls of this spell: the larger of what the two ends saw */
	mono_t falls[MAX_FALLS]; /* times of the latest falls, in a ring */
	unsigned n;		 /* all falls of the record */
	unsigned n_when_held;	 /* `n` at the time when it was held */
	unsigned held_falls;	 /* falls that had it held, */
	int held_span;		 /* within so many seconds */
	mono_t held_since;
	mono_t until;	/* HELD: let go if quiet; else the record is forgotten, or a level less */
	mono_t step_at; /* HELD: falls after this time double the hold */
	bool asked;	/* a sweep was asked for since `until` */
};

/* One of its ports is switched off: babbling_port_policy, security_violation_policy. */
struct switched_off {
	enum { OFF_NOT, OFF_WANTED, OFF_DONE, OFF_SEEN } state; /* SEEN: read as disabled since */
	struct port *at;	    /* the port; NULL: none is off, or its node is gone */
	char why[SWITCHED_OFF_WHY]; /* the rule that the host behind it broke; "": it babbles */
	unsigned complaints;	    /* that had it switched off */
};

/* How far its link is with being taken down: take_down.c. */
struct take_down {
	bool to_look;  /* whether tables lead over it is to be seen, after a sweep */
	bool unrouted; /* none does */
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
	uint32_t index;	  /* place in out_of_use->cables */
	unsigned reasons; /* a bit for each enum out_reason */
	unsigned forced;  /* those by which it is left out also as the last way */
	struct flaps flaps;
	struct take_down down;
	struct switched_off off;
	bool out;	/* left out of routing, as decided last */
	bool spared;	/* it would be, but no other way is left */
	unsigned shown; /* `reasons` for which it is out, as decided last */
	bool was_down;	/* one of these takes the link down */
	bool gone;	/* as decided last: no end knew the other, its link may train */
	enum { TOLD_NOT, TOLD_OUT, TOLD_SPARED } told;
};

struct counters_ask;

struct out_of_use {
	struct bad_cable **cables;
	uint32_t n, cap;
	mono_t next; /* no record has anything due before this time */
	struct log_limit log;
	char line[LEFT_OUT_STRLEN]; /* on what is left out, as logged last */
	mono_t line_at;		    /* when it was logged */
	bool line_waits;	    /* it has changed since */
	uint32_t n_to_look;	    /* records with down.to_look, or more */
	mono_t next_down;	    /* least down.next */
	out_of_use_path_sl_fn *path_sl;
	struct counters_ask *asks;
};

/* ---- reasons.c ------------------------------------------------------------------------------- */

struct reason {
	bool host;	 /* it counts for a cable to a host, too, which has no other way */
	bool held;	 /* the link is not armed and not activated */
	bool taken_down; /* if the link is up it is taken down to INIT */
	bool own_switch; /* `forced` has no effect at the switch that leads to the manager */
	bool lasts;	 /* it holds, and is remembered, while no end knows the other */
	bool judged; /* out_of_use_take_all() leaves it on cables of which no end knows the other */
	bool told;   /* in the log, when the cable is left out: no other machine does it */
	const char *words;
	const char *then; /* the consequence, in the log */
};
extern const struct reason reasons[OUT_REASONS];

#define BIT(reason) (1u << (reason))
/* The reasons that have a column, a bit each. */
#define REASONS_WITH(column)                                                                       \
	({                                                                                         \
		unsigned _bits = 0;                                                                \
		for (unsigned _i = 0; _i < OUT_REASONS; _i++)                                      \
			_bits |= reasons[_i].column ? BIT(_i) : 0;                                 \
		_bits;                                                                             \
	})
/* The worst of these; OUT_REASONS: there is none. */
enum out_reason reason_worst(unsigned bits);

/* ---- cables.c -------------------------------------------------------------------------------- */

/* Between two switches: there may be another way. */
bool cable_is_between_switches(const struct bad_cable *c);
/* The reasons that count for this cable: a bit each; 0: it may be used. */
unsigned cable_reasons(const struct bad_cable *c);
/* Neither end leads anywhere. */
bool cable_is_gone(const struct bad_cable *c);
/* The end that belongs to this port. */
struct cable_end *cable_end_of(struct bad_cable *c, const struct port *p);
/* Ends come and go with their nodes. False: the cable is not there any more, `c` is freed. */
bool cable_bind(struct out_of_use *h, struct bad_cable *c);
void cable_drop(struct out_of_use *h, struct bad_cable *c);
/* The node of this port goes: a record without any end is dropped. */
void cable_leave(struct out_of_use *h, struct bad_cable *c, const struct port *p);
void cable_set(struct bad_cable *c, enum out_reason reason, bool holds);
/* The record of the cable at `p`; NULL: nothing is known, or its ends are not. */
struct bad_cable *cable_record(struct sm *sm, struct port *p);
/* The same, or a new one. NULL: our own link, no cable, or the far end is not known. */
struct bad_cable *cable_need(struct sm *sm, struct port *p);
bool cable_is_own(const struct sm *sm, const struct port *p);
#define CABLE_STRLEN (2 * PORT_STRLEN + 4)
char *cable_str(const struct bad_cable *c, char ret[CABLE_STRLEN]);
/* A line of the log on the cable, `id` of log_ids.h, unless there is too much of it. */
void cable_log(struct sm *sm, const struct bad_cable *c, enum log_id id, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define cable_say(sm, c, ...) cable_log(sm, c, LOG_ID_CABLE, __VA_ARGS__)
/* Asks for a sweep that decides anew; a dirty switch port has all routes compared. */
void cable_look(struct sm *sm, const struct bad_cable *c, const char *why);
/* The next tick is due at `at`, if not before. */
void out_of_use_wake(struct out_of_use *h, mono_t at);

/* ---- flaps.c --------------------------------------------------------------------------------- */

/* Falls are held against it so long; so long the record of a cable that is gone is kept. */
#define FALLS_WINDOW (120 * MONO_S)
/* How long a hold lasts at its level. */
mono_t flaps_hold_time(const struct bad_cable *c);
/* Its time is over and it was quiet: it is let go. */
void flaps_release(struct bad_cable *c, mono_t now);
void flaps_tick(struct sm *sm, struct bad_cable *c);

/* ---- complaints.c ---------------------------------------------------------------------------- */

void complaints_tick(struct sm *sm, struct bad_cable *c);
/* PortInfo of a port that was switched off: has the operator enabled it? */
void switched_off_seen(struct sm *sm, struct bad_cable *c, const struct port *p);
/* Its port is not off any more, or not known. */
void switched_off_end(struct bad_cable *c);
/* Between sweeps: ports that babble, or whose hosts broke rules, are switched off. */
void switch_off_wanted(struct sm *sm);

/* ---- guard.c --------------------------------------------------------------------------------- */

/*
 * Which switches can reach each other over links that are not avoided: for every node by its index,
 * a number that nodes of the same part share; hosts have one of their own. The caller frees it.
 */
uint32_t *out_of_use_parts(const struct fabric *f);
/* `spared` of all cables, and which switches that take no tables are used all the same. */
void guard_last_ways(struct sm *sm);

/* ---- take_down.c ----------------------------------------------------------------------------- */

/* A sweep ended: it is to be seen which tables have changed. */
void take_down_look(struct sm *sm);
void take_down_tick(struct sm *sm);
mono_t take_down_next(const struct sm *sm);
void take_down_end(struct bad_cable *c);

/* ---- unserved.c ------------------------------------------------------------------------------ */

/* Logs the line if it has changed, at most every few seconds. */
void unserved_report(struct sm *sm);
