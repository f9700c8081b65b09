// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of perf/. */
#pragma once

#include "perf/decode.h"
#include "perf/perf.h"
#include "util/guidmap.h"

/* ---- totals.c ---- */

/* Attributes that a port need not have. */
enum perf_optional { PERF_OPT_FEC, PERF_OPT_RCV, PERF_OPT_XMIT, PERF_OPTIONS };
/* Unanswered requests in a row after which a port is assumed to lack the attribute. */
#define PERF_OPT_MISSES 3

/* State of a port besides its totals. */
struct perf_past {
	/* set if the members of these names below are readings */
	bool has_errors, has_data, has_fec;
	bool has_details[2];
	uint8_t misses[PERF_OPTIONS];
	struct perf_caps caps; /* of a switch those of port 0 hold for all */
	struct perf_redirection to;
	uint32_t lives; /* how often its link had gone at the last reading (answer.c) */
	uint64_t errors[PERF_ERRORS], data[PERF_DATA]; /* values that the port showed last */
	struct perf_fec fec;
	uint16_t details[PERF_DETAILS];
	mono_t read_at; /* 0: never */
	uint32_t resets;
	uint64_t bits;
	struct port_counts last;
	struct ber_watch symbol, effective;
};

struct perf_entry {
	struct perf_node node; /* must be the first member */
	bool is_switch;
	uint32_t met; /* number of the sweep that last met it */
	struct perf_port *ports;
	struct perf_past *past;
};

struct perf_totals {
	struct perf_entry **entries; /* sorted by GUID */
	unsigned n, cap;
	uint32_t sweep; /* number of the sweep that meets nodes now */
	struct guidmap *by_guid;
	bool sorted;
};

void perf_totals_init(struct perf_totals *t);
void perf_totals_clear(struct perf_totals *t);
/*
 * The entry of a node, made if there is none; its name is updated. A node that was away is asked
 * for its capabilities again, as it may be another device.
 */
struct perf_entry *perf_totals_meet(struct perf_totals *t, const struct node *n, const char *name,
				    int64_t realtime);
struct perf_entry *perf_totals_find(const struct perf_totals *t, guid_t guid);
void perf_totals_sort(struct perf_totals *t);
/* Removes nodes that are not active. Returns their number. */
unsigned perf_totals_drop(struct perf_totals *t);
static inline struct perf_caps *perf_caps_of(struct perf_entry *e, uint8_t port)
{
	return &e->past[e->is_switch ? 0 : port].caps;
}
/* Adds a reading; `ret`: the growth. False: the first reading, from which counting begins. */
bool perf_add_errors(struct perf_entry *e, uint8_t port, const uint64_t now[PERF_ERRORS],
		     int64_t realtime, uint64_t ret[PERF_ERRORS]);
bool perf_add_data(struct perf_entry *e, uint8_t port, const uint64_t now[PERF_DATA],
		   int64_t realtime, uint64_t ret[PERF_DATA]);
/* Is any of these errors not 0? print.c */
bool perf_any_error(const uint64_t errors[PERF_ERRORS]);
/* Notes that we cleared these counters of PortCounters (perf_nearly_full()). */
void perf_was_cleared(struct perf_entry *e, uint8_t port, uint32_t select);

/* ---- growth.c: a reading as port_counts ---- */

void perf_grow_errors(const struct perf_entry *e, uint8_t port, const uint64_t now[PERF_ERRORS],
		      bool wide, struct port_counts *c);
void perf_grow_data(const struct perf_entry *e, uint8_t port, const uint64_t now[PERF_DATA],
		    struct port_counts *c);
/* Adds the reading to `past` as well. */
void perf_grow_fec(struct perf_past *past, const struct perf_fec *now, struct port_counts *c);
/* Ends the reading of time `at`. False: it is the first one of the port, without growth. */
bool perf_grow_end(struct perf_past *past, struct port_counts *c, mono_t at);

/* ---- perf.c and answer.c ---- */

#define PERF_SLOTS_MAX 4096u

/* Requests of a visit of a port, in their order. */
enum perf_step {
	STEP_CAPS,
	STEP_BASIC,
	STEP_EXTENDED,
	STEP_FEC,
	STEP_RCV_DETAILS,
	STEP_XMIT_DETAILS,
	STEP_CLEAR,
	STEP_CLEAR_FEC,
	STEPS
};
#define STEP(s) (1u << (s))

struct perf_visit {
	struct perf_entry *entry; /* entry met in this sweep, so it stays to its end */
	lid_t lid;
	uint8_t lmc, port;
	bool is_fast; /* set if FDR or faster: there may be FEC */
};

struct perf_slot {
	struct perf_visit visit;
	uint32_t todo; /* bit mask of STEP()s; the lowest is next */
	uint32_t tid;  /* transaction ID; 0: free */
	/* number, from 1, of the next slot in the same list of `by_tid`; 0: none */
	uint32_t next;
	lid_t asked;	   /* destination of the last query */
	uint8_t asked_lmc; /* LMC of that LID: the answer may come from any LID of its range */
	uint8_t tries;
	uint32_t full;	/* counters of PortCounters to be cleared */
	mono_t read_at; /* 0: not yet */
	struct port_counts counts;
};

struct perf {
	struct conf *conf;
	struct perf_hooks hooks;
	struct perf_status status;
	struct perf_totals totals;
	/* Nodes of this sweep that have a port number `round`; the next one is walk[at]. */
	struct perf_entry **walk;
	unsigned n_walk, at, kept, round;
	/* set while nodes are being collected; those before fabric->nodes[n_met] are */
	bool is_meeting;
	unsigned n_met;
	uint64_t places, walked; /* ports of all nodes, and how many of them were reached */
	unsigned n_visits;	 /* number of ports that were asked */
	bool in_a_hurry;	 /* set if not spread over the interval */
	mono_t span, tick_at;
	struct perf_slot *slots; /* max_outstanding slots */
	unsigned n_slots, hint;
	uint32_t by_tid[PERF_SLOTS_MAX]; /* head of a list of slots, by the low bits of the TID */
	bool asked;			 /* set if a sweep is wanted now */
	mono_t next_at, started, blocked_until;
	unsigned logged, not_logged; /* ports whose errors grew in this sweep, logged and not */
	unsigned reset;		     /* number of ports that others had cleared */
	unsigned details;	     /* requests for details in this sweep */
};

static inline enum perf_step perf_step_of(const struct perf_slot *s)
{
	return (enum perf_step)__builtin_ctz(s->todo);
}
/* The readings, as bits, that a port can give. */
uint32_t perf_readings(struct perf_entry *e, uint8_t port, bool is_fast);
/* Takes an answer without an error to the query of `s`, and removes or adds steps. */
void perf_take_answer(struct perf *p, struct perf_slot *s, const uint8_t *attr,
		      const struct perf_place *place);
/* Ends a visit when no more answers will arrive. */
void perf_visit_end(struct perf *p, struct perf_slot *s);
/* Takes a query that was refused, or not answered. */
void perf_take_no_answer(struct perf_slot *s, bool refused);
