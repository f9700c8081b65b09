// SPDX-License-Identifier: BSD-2-Clause
/*
 * The health of links, judged: events and growths of counters go in, verdicts come out. Pure: it
 * knows neither fabric nor clock, and acts on nothing.
 *
 * A cable is one link, whichever end is named. Times are seconds since 1970, so that windows
 * survive a restart. Of an event the times of as many as the threshold are kept; of counters sums
 * in a fixed number of buckets: some 1 KB a link with counters, 40 bytes more for ten events.
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
	HEALTH_EVENTS, /* those above are counted one by one, those below from counters */
	HEALTH_BER = HEALTH_EVENTS,
	HEALTH_PDR,
	HEALTH_STALL,
	HEALTH_MANUAL, /* told by an administrator */
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
		unsigned n;	/* so many, 0: never; at most HEALTH_MOST_EVENTS */
		unsigned window; /* within so many seconds; or sweeps */
		bool sweeps;	/* at most one counts for a sweep */
	} events[HEALTH_EVENTS];
	unsigned ber_short, ber_long; /* windows, in seconds */
	unsigned ber_least;	      /* fewer symbol errors, or drops, prove nothing */
	unsigned pdr_exponent;	      /* 12: one packet of 10^12 */
	unsigned stall_percent;	      /* of the time; 0: never */
	unsigned probation;	      /* seconds without any condition, and it is over */
};

struct health_end {
	guid_t node;
	uint8_t port;
};

/* About one link. `on`, `since` and the rest count from its first finding to its probation. */
struct health_verdict {
	struct health_end end[2]; /* the lesser one first */
	bool host;		  /* one of them is no switch */
	unsigned now;		  /* bit of each condition that holds */
	unsigned on;		  /* the same, and those of this probation */
	int64_t since, last;	  /* first and latest time that one held; 0: never */
};

struct health;

/*
 * A port that was disabled for the health of its link, which is not there meanwhile. The judge only
 * keeps it, for its row: `at` is the end that was disabled.
 */
struct health_off {
	struct health_end at, far;
	bool seen; /* disabled, since */
	/* of the holder, not stored */
	uint64_t version;
	int64_t again_at;
	unsigned tries;
};

/* `rules` are copied. */
struct health *health_new(const struct health_rules *rules);
struct health *health_free(struct health *h); /* NULL is fine; returns NULL */
FREEP(health_free, struct health)
/* Other windows: what was counted in them is forgotten where they differ. */
void health_set_rules(struct health *h, const struct health_rules *rules);

/* The number of a link, which is made if there is none; UINT32_MAX: there are too many. */
#define HEALTH_LINKS_MAX (1u << 16)
uint32_t health_link(struct health *h, struct health_end a, struct health_end b, bool host);
uint32_t health_find(const struct health *h, guid_t node, unsigned port); /* UINT32_MAX: none */
uint32_t health_n_links(const struct health *h);

void health_event(struct health *h, uint32_t link, enum health_cond cond, int64_t now);
/* `bps`: bits per second that the link carries; 0: not known, and no rate is judged. */
void health_counts(struct health *h, uint32_t link, guid_t node, unsigned port,
		   const struct port_counts *c, uint64_t bps, int64_t now);
void health_sweep(struct health *h);
/* Of one link, judged anew. True: a condition holds that did not before, or probation is over. */
bool health_judge(struct health *h, uint32_t link, int64_t now);
const struct health_verdict *health_verdict(const struct health *h, uint32_t link);
/* It is in order, as far as an administrator knows: all that was counted is forgotten. */
void health_clear(struct health *h, uint32_t link);
/* An administrator calls it sick, or not any more: what was not found otherwise is over then. */
void health_set_manual(struct health *h, uint32_t link, bool manual);
bool health_is_manual(const struct health *h, uint32_t link);
/* The link is taken down on purpose: what LinkDowned counts before `until` does not matter. */
void health_quiet(struct health *h, uint32_t link, int64_t until);
/* Whole spans in which the two ends are read: after it nothing of before is told any more. */
#define HEALTH_QUIET_SECS 900

/* One a port: in place of what was noted of it. Until another one is noted. */
struct health_off *health_off_add(struct health *h, struct health_end at, struct health_end far);
struct health_off *health_off_at(const struct health *h, uint32_t n); /* NULL: there are no more */
void health_off_remove(struct health *h, uint32_t n);

/* "3 link downs in 7 days; ...": the reasons of a verdict. Returns `ret`. */
#define HEALTH_WHY_STRLEN 256
char *health_why(const struct health *h, uint32_t link, char ret[HEALTH_WHY_STRLEN]);
const char *health_cond_name(enum health_cond cond);	   /* "symbol_ber" */
const char *health_action_name(enum health_action action); /* "isolate" */
/* False: it is none. */
bool health_action_read(const char *name, enum health_action *ret);

/* ---- rows: what is known, one port at a time (judge_state.c) ---- */

#define HEALTH_ROW_MAX 8448u
/*
 * Ports that have a row: of links with anything against them, and that are disabled; in any order
 * that is fixed while nothing is told. `*pos`: 0 at first. Looks at links that something was held
 * against, not at all.
 */
bool health_next_row(struct health *h, uint32_t *pos, struct health_end *ret);
/* Returns the number of bytes; 0: there is no row. */
size_t health_pack(const struct health *h, struct health_end at, uint8_t to[HEALTH_ROW_MAX]);
/* They say the same of a port, whatever else was counted meanwhile. */
bool health_rows_agree(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len);
/* A program of this version can have written it. */
bool health_row_is_ours(const uint8_t *bytes, size_t len);
/*
 * In place of what is known of this port, and of the link whose row it is; no bytes: nothing.
 * False: it is no such row, and nothing is changed.
 */
bool health_take(struct health *h, struct health_end at, const uint8_t *bytes, size_t len);

/* ---- the file of former builds (judge_former.c) ---- */

#define HEALTH_TEXT_MAX (4u << 20)
/* In place of what is known. -EBADMSG: this is no such text; `h` is empty then. */
int health_read(struct health *h, const char *text, size_t len);
