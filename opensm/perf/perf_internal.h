// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of perf/. */
#pragma once

#include "perf/decode.h"
#include "perf/perf.h"
#include "util/guidmap.h"

/* ---- totals.c ---- */

/* Attributes that a port need not have. */
enum perf_optional { PERF_OPT_FEC, PERF_OPT_RCV, PERF_OPT_XMIT, PERF_OPTIONS };
/* Questions in a row without an answer after which it is taken not to have one. */
#define PERF_OPT_MISSES 3

/* State of a port, beside its totals. */
struct perf_past {
	bool has_errors, has_data, has_fec; /* the three below are readings */
	bool has_details[2];
	uint8_t misses[PERF_OPTIONS];
	struct perf_caps caps; /* of a switch: those of port 0 count for all */
	struct perf_redirection to;
	uint64_t errors[PERF_ERRORS], data[PERF_DATA]; /* as the port showed them last */
	struct perf_fec fec;
	uint16_t details[PERF_DETAILS];
	mono_t read_at; /* 0: never */
	uint32_t resets;
	uint64_t bits;
	struct port_counts last;
	struct ber_watch symbol, effective;
};

struct perf_entry {
	struct perf_node node; /* first */
	bool is_switch;
	uint32_t met; /* sweep that last met it */
	struct perf_port *ports;
	struct perf_past *past;
};

struct perf_totals {
	struct perf_entry **entries; /* in rising order of GUID */
	unsigned n, cap;
	uint32_t sweep; /* the one that meets nodes now */
	struct guidmap *by_guid;
	bool sorted;
};

void perf_totals_init(struct perf_totals *t);
void perf_totals_clear(struct perf_totals *t);
/*
 * The entry of a node, made if there is none; named anew. One that was away may have become another
 * device: it is asked anew for its capabilities.
 */
struct perf_entry *perf_totals_meet(struct perf_totals *t, const struct node *n, const char *name,
				    int64_t realtime);
struct perf_entry *perf_totals_find(const struct perf_totals *t, guid_t guid);
void perf_totals_sort(struct perf_totals *t);
/* Forgets nodes that are not active. How many. */
unsigned perf_totals_drop(struct perf_totals *t);
static inline struct perf_caps *perf_caps_of(struct perf_entry *e, uint8_t port)
{
	return &e->past[e->is_switch ? 0 : port].caps;
}
/* A reading; `ret` gets the growth. False: it is the first, from which counting begins. */
bool perf_add_errors(struct perf_entry *e, uint8_t port, const uint64_t now[PERF_ERRORS],
		     int64_t realtime, uint64_t ret[PERF_ERRORS]);
bool perf_add_data(struct perf_entry *e, uint8_t port, const uint64_t now[PERF_DATA],
		   int64_t realtime, uint64_t ret[PERF_DATA]);
/* Is one of them not 0? print.c */
bool perf_any_error(const uint64_t errors[PERF_ERRORS]);
/* These counters of PortCounters were set to zero by us (perf_nearly_full()). */
void perf_was_cleared(struct perf_entry *e, uint8_t port, uint32_t select);

/* ---- growth.c: a reading as port_counts ---- */

void perf_grow_errors(const struct perf_entry *e, uint8_t port, const uint64_t now[PERF_ERRORS],
		      bool wide, struct port_counts *c);
void perf_grow_data(const struct perf_entry *e, uint8_t port, const uint64_t now[PERF_DATA],
		    struct port_counts *c);
/* Takes the reading in as well. */
void perf_grow_fec(struct perf_past *past, const struct perf_fec *now, struct port_counts *c);
/*
 * The reading of `at` is whole. False: it is the first of the port, and tells of no growth.
 */
bool perf_grow_end(struct perf_past *past, struct port_counts *c, mono_t at);

/* ---- perf.c and answer.c ---- */

#define PERF_SLOTS_MAX 4096u

/* The questions of a visit, in their order. */
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
	struct perf_entry *entry; /* one that this sweep met: it stays to its end */
	lid_t lid;
	uint8_t lmc, port;
	bool is_fast; /* FDR or faster: there may be FEC */
};

struct perf_slot {
	struct perf_visit visit;
	uint32_t todo;	   /* STEP()s; the lowest is asked */
	uint32_t tid;	   /* 0: free */
	uint32_t next;	   /* number, from 1, of the next slot in `by_tid`; 0: none */
	lid_t asked;	   /* the last query went there, */
	uint8_t asked_lmc; /* and its answer comes from this range */
	uint8_t tries;
	uint32_t full;	   /* counters of PortCounters to be cleared */
	mono_t read_at;	   /* 0: not yet */
	struct port_counts counts;
};

struct perf {
	struct conf *conf;
	struct perf_hooks hooks;
	struct perf_status status;
	struct perf_totals totals;
	/* Nodes of this sweep that have a port `round`; the next one is walk[at]. */
	struct perf_entry **walk;
	unsigned n_walk, at, kept, round;
	bool is_meeting; /* nodes are still being taken up: those before fabric->nodes[n_met] are */
	unsigned n_met;
	uint64_t places, walked; /* ports of all nodes, and how many of them were come to */
	unsigned n_visits;	 /* of these: asked */
	bool in_a_hurry;	 /* not spread over the interval */
	mono_t span, tick_at;
	struct perf_slot *slots; /* max_outstanding */
	unsigned n_slots, hint;
	uint32_t by_tid[PERF_SLOTS_MAX]; /* by the low bits of a TID: a list of slots */
	bool asked;			 /* a sweep is wanted now */
	mono_t next_at, started, blocked_until;
	unsigned logged, not_logged; /* ports whose errors grew in this sweep */
	unsigned reset;		     /* ports that others had cleared */
	unsigned details;	     /* questions for details in this sweep */
};

static inline enum perf_step perf_step_of(const struct perf_slot *s)
{
	return (enum perf_step)__builtin_ctz(s->todo);
}
/* The readings that a port is able to give. */
uint32_t perf_readings(struct perf_entry *e, uint8_t port, bool is_fast);
/* An answer without an error to the query of `s`: takes it in, and strikes or adds steps. */
void perf_take_answer(struct perf *p, struct perf_slot *s, const uint8_t *attr,
		      const struct perf_place *place);
/* All answers of the visit are here that will come. */
void perf_visit_end(struct perf *p, struct perf_slot *s);
/* A query that will not be answered: refused, or silence. */
void perf_take_no_answer(struct perf_slot *s, bool refused);
