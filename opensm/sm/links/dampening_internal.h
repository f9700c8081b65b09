// SPDX-License-Identifier: BSD-2-Clause
/*
 * The record of a bad cable: it comes and goes, its ports complain, it does not come up. Shared
 * by dampening.c (counts), dampening_hold.c (decides) and unserved.c (tells); dampening.c explains
 * the rule.
 */
#pragma once

#include "sm/sm_internal.h"

/*
 * A record exists only while there is something to remember, for one cable, and is known to both
 * ports.
 */
enum cable_state {
	CABLE_WATCHED, /* fell lately, or only complaints are known */
	CABLE_HELD,    /* fell too often */
	CABLE_PROBATION,  /* let go lately: the next fall is one too many */
};

enum cable_off { OFF_NOT, OFF_WANTED, OFF_DONE, OFF_SEEN };

#define MAX_FALLS 8

struct cable_end {
	guid_t node;
	uint8_t port;
	bool host;	/* no switch */
	bool unhealthy; /* complained too much */
	struct port *at; /* NULL: its node is not known now */
	unsigned falls;	 /* seen at this end in this spell */
	unsigned complaints, last_trap;
	mono_t complaints_until;
	char name[NODE_DESC_STRLEN];
};

/* The first that applies. */
enum cable_out {
	CABLE_NOT_OUT,
	CABLE_OUT_ISOLATED,
	CABLE_OUT_DRAINED,
	CABLE_OUT_REFUSED,
	CABLE_OUT_HELD,
	CABLE_OUT_UNHEALTHY,
	CABLE_OUT_STUCK
};

struct bad_cable {
	struct cable_end end[2];
	uint32_t index; /* place in dampening->cables */
	enum cable_state state;
	unsigned level;		 /* holds in a row, less one */
	unsigned counted;	 /* falls of this spell: the larger of what the two ends saw */
	mono_t falls[MAX_FALLS]; /* the latest, in a ring */
	unsigned n_falls;	 /* ever */
	unsigned held_at;	 /* n_falls when it was held */
	unsigned held_falls;	 /* so many made it be held, */
	int held_span;		 /* within so many seconds */
	mono_t held_since;
	mono_t until;	/* of HELD: let go if quiet; of the others: forgotten, or one level less */
	mono_t step_at; /* of HELD: falls after this time double the hold */
	bool asked;	/* for a look at it, since `until` */
	enum cable_mark mark; /* marks.c, by dampening_mark() */
	bool mark_forced;     /* it is not spared */
	bool unhealthy;	      /* sick.c: it is to be isolated, beside all marks */
	bool refused;	      /* not in the expected topology, by dampening_refuse() */
	bool refused_alone;   /* the same, and it is not spared */
	bool stuck;	/* did not get beyond INIT or ARMED */
	bool isolated;	/* as decided last: not to be ACTIVE, for a mark, its health, or refused */
	bool returning; /* not any more, not ACTIVE at both ends yet. Writer: dampening_hold.c */
	/* no end knew the other, as decided last: its link is down, perhaps to train */
	bool gone;
	bool out;	/* avoided. Writer: dampening_hold.c */
	enum cable_out out_for; /* why it is, as decided last. Writer: dampening_hold.c */
	bool spared;	/* it would be, but no other way is left. Writer: dampening_hold.c */
	enum { OUT_TOLD_NOT, OUT_TOLD_OUT, OUT_TOLD_SPARED } told;
	/*
	 * babbling_port_policy: OFF_WANTED until the end of a sweep; OFF_DONE at `off_at`; seen
	 * disabled there since
	 */
	enum cable_off off;
	struct port *off_at; /* NULL: not switched off, or its node is gone */
	/* security_violation_policy: what the host behind did; "": nothing */
	char isolated_for[ISOLATED_FOR_STRLEN];
	unsigned off_traps;
};

struct dampening {
	struct bad_cable **cables;
	uint32_t n, cap;
	mono_t next; /* nothing is due before this time */
	struct log_limit log;
	char line[LEFT_OUT_STRLEN]; /* told last */
	mono_t line_at;		    /* when */
	bool line_waits;	    /* it has changed since */
};

/* ---- dampening.c ---- */

/* Between two switches: there may be another way. */
bool cable_is_between_switches(const struct bad_cable *c);
/* Falls too often, complains too much, or does not come up. */
bool cable_is_sick(const struct bad_cable *c);
/* The same, or an administrator has taken it out of service. */
bool cable_is_bad(const struct bad_cable *c);
/* How long a hold lasts at its level. */
mono_t cable_hold_time(const struct bad_cable *c);
/* How long one fall is too many, after that. */
mono_t cable_probation(const struct bad_cable *c);
/* Falls are held against it so long; so long the record of a cable that is gone is kept. */
#define FALLS_WINDOW (120 * MONO_S)
/* Neither end leads anywhere. */
bool cable_is_gone(const struct bad_cable *c);
/* Ends come and go with their nodes. False: the cable is not there any more, `c` is freed. */
bool cable_bind(struct dampening *h, struct bad_cable *c);
/* The outcome of switching a port of the cable off; `at`: the port, or NULL. */
static inline void cable_note_off(struct bad_cable *c, enum cable_off off, struct port *at)
{
	for (unsigned i = 0; i < 2 && c->off_at != at; i++)
		if (c->end[i].at)
			observe_shown(c->end[i].at->node);
	c->off = off;
	c->off_at = at;
}
/* The next tick is due at `at`, if not before. */
void dampening_wake(struct dampening *h, mono_t at);
/* Text goes to the log unless there is too much of it. */
void dampening_say(struct sm *sm, const struct bad_cable *c, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define CABLE_STRLEN (2 * PORT_STRLEN + 4)
char *cable_str(const struct bad_cable *c, char ret[CABLE_STRLEN]);

/* ---- dampening_hold.c ---- */

/*
 * Which switches can reach each other over links that are not avoided: for every node by its index,
 * a number that nodes of the same part share; hosts have one of their own. The caller frees it.
 */
uint32_t *hold_parts(const struct fabric *f);
/* The switch that leads to us: our own, or the one that our own port is on. NULL: none is known. */
const struct node *hold_first_switch(const struct fabric *f);
/* Cables that come back and are ACTIVE now are looked at again, so that they are routed over. */
void hold_look_at_returning(struct sm *sm);
/* Ports that babble are switched off, between sweeps. */
void hold_switch_off(struct sm *sm);

/* ---- unserved.c ---- */

/* Logs the line if it has changed, at most every few seconds. */
void unserved_report(struct sm *sm);
