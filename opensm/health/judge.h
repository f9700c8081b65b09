// SPDX-License-Identifier: BSD-2-Clause
/*
 * The health of links: events and growths of counters go in, verdicts come out. Pure: it has
 * neither fabric nor clock, and takes no action.
 *
 * A cable is one link, whichever end is named. Times are seconds since 1970, so that windows
 * survive a restart. For each kind of event as many times are kept as the threshold needs; counters
 * are summed in a fixed number of buckets: some 1 KB a link with counters, 40 bytes more for ten
 * events.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/port_counts.h"
#include "util/mem.h"
#include "util/types.h"

enum health_cond {
	HEALTH_REBOOT,
	HEALTH_FLAPPING,
	HEALTH_UNRESPONSIVE,
	HEALTH_NOISY,
	HEALTH_SETERR,
	HEALTH_ILLEGAL,
	HEALTH_LINK_DOWN,
	/*
	 * number of conditions above, which are counted one by one; those below come from counters
	 */
	HEALTH_EVENTS,
	HEALTH_BER = HEALTH_EVENTS,
	HEALTH_PDR,
	HEALTH_STALL,
	HEALTH_MANUAL, /* set by an administrator */
	HEALTH_CONDS
};

/* In the order of severity. */
enum health_action {
	HEALTH_IGNORE,
	HEALTH_REPORT,
	HEALTH_ISOLATE,
	HEALTH_NO_DISCOVER,
	HEALTH_DISABLE,
};

#define HEALTH_MOST_EVENTS 255u

struct health_rules {
	struct {
		/*
		 * number of events that make the condition hold, at most HEALTH_MOST_EVENTS; 0: it
		 * never does
		 */
		unsigned n;
		unsigned window; /* within so many seconds, or sweeps */
		/* set if the window is counted in sweeps, with at most one event for each */
		bool sweeps;
	} events[HEALTH_EVENTS];
	unsigned ber_short, ber_long; /* lengths of the short and the long window in seconds */
	unsigned ber_least;	      /* least number of symbol errors, or drops, for a verdict */
	/* exponent of the packet drop rate; 12: one packet of 10^12 */
	unsigned pdr_exponent;
	unsigned stall_percent;	      /* percentage of time; 0: never */
	unsigned probation;	      /* seconds without any condition that end probation */
};

struct health_end {
	guid_t node;
	uint8_t port;
};

/*
 * The verdict on one link. `on`, `since` and `last` cover its first finding to the end of its
 * probation.
 */
struct health_verdict {
	struct health_end end[2]; /* ends, the lesser one first */
	bool host;		  /* set if one end is no switch */
	unsigned now;		  /* bit of each condition that holds */
	/* bits of the conditions in `now`, or that held since probation began */
	unsigned on;
	int64_t since, last;	  /* first and latest time at which a condition held; 0: never */
};

struct health;

/*
 * A port that was disabled for the health of its link, which is down since. Kept for its row only:
 * `at` is the disabled end.
 */
struct health_off {
	struct health_end at, far;
	bool seen; /* set once the port was seen disabled */
	/* for the owner, not part of rows */
	uint64_t version;
	int64_t again_at;
	unsigned tries;
};

/* `rules` are copied. */
struct health *health_new(const struct health_rules *rules);
struct health *health_free(struct health *h); /* NULL is fine; returns NULL */
FREEP(health_free, struct health)
/* Sets other windows; counts of windows that differ are dropped. */
void health_set_rules(struct health *h, const struct health_rules *rules);

/* Returns the number of a link, which is added if new; UINT32_MAX: there are too many. */
#define HEALTH_LINKS_MAX (1u << 16)
uint32_t health_link(struct health *h, struct health_end a, struct health_end b, bool host);
uint32_t health_find(const struct health *h, guid_t node, unsigned port); /* UINT32_MAX: none */
uint32_t health_n_links(const struct health *h);

void health_event(struct health *h, uint32_t link, enum health_cond cond, int64_t now);
/* `bps`: data rate of the link in bits per second; 0: not known, and no rate is judged. */
void health_counts(struct health *h, uint32_t link, guid_t node, unsigned port,
		   const struct port_counts *c, uint64_t bps, int64_t now);
void health_sweep(struct health *h);
/* Judges one link anew. True: a new condition holds, or probation is over. */
bool health_judge(struct health *h, uint32_t link, int64_t now);
const struct health_verdict *health_verdict(const struct health *h, uint32_t link);
/* Drops all counts of a link, as an administrator has declared it in order. */
void health_clear(struct health *h, uint32_t link);
/*
 * Sets or clears HEALTH_MANUAL of a link. Cleared, the link has no verdict unless something else
 * was found.
 */
void health_set_manual(struct health *h, uint32_t link, bool manual);
bool health_is_manual(const struct health *h, uint32_t link);
/* Ignores LinkDowned of a link until `until`, as it is taken down on purpose. */
void health_quiet(struct health *h, uint32_t link, int64_t until);
/* Seconds in which both ends are read for sure: afterwards counters have no older growth. */
#define HEALTH_QUIET_SECS 900

/* Notes a disabled port, in place of an earlier note on it. Valid until another one is noted. */
struct health_off *health_off_add(struct health *h, struct health_end at, struct health_end far);
struct health_off *health_off_at(const struct health *h, uint32_t n); /* NULL: there are no more */
void health_off_remove(struct health *h, uint32_t n);

/* The reasons of a verdict, "3 link downs in 7 days; ...". Returns `ret`. */
#define HEALTH_WHY_STRLEN 256
char *health_why(const struct health *h, uint32_t link, char ret[HEALTH_WHY_STRLEN]);
const char *health_cond_name(enum health_cond cond);	   /* "symbol_ber" */
const char *health_action_name(enum health_action action); /* "isolate" */
/* False: there is no such action. */
bool health_action_read(const char *name, enum health_action *ret);

/* ---- rows: the knowledge about links, one port at a time (judge_state.c) ---- */

#define HEALTH_ROW_MAX 8448u
/*
 * Finds the next port that has a row: of links with findings, and disabled ports; in an order that
 * stays fixed between changes. `*pos`: 0 at first. Takes time for links with findings only.
 */
bool health_next_row(struct health *h, uint32_t *pos, struct health_end *ret);
/* Packs the row of a port. Returns the number of bytes; 0: there is no row. */
size_t health_pack(const struct health *h, struct health_end at, uint8_t to[HEALTH_ROW_MAX]);
/* Do two rows of a port say the same, apart from counts in progress? */
bool health_rows_agree(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len);
/* Can a program of this version have written the row? */
bool health_row_is_ours(const uint8_t *bytes, size_t len);
/*
 * Replaces the knowledge about this port, and about the link whose row it is; no bytes: removes it.
 * False: it is no such row, and nothing is changed.
 */
bool health_take(struct health *h, struct health_end at, const uint8_t *bytes, size_t len);

/* ---- the file of earlier versions (judge_former.c) ---- */

#define HEALTH_TEXT_MAX (4u << 20)
/* Replaces all knowledge. -EBADMSG: this is no such text; `h` is empty then. */
int health_read(struct health *h, const char *text, size_t len);
