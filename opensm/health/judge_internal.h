// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the judge. */
#pragma once

#include "health/judge.h"

#define SHORT_BUCKETS 12u
#define LONG_BUCKETS  15u

struct health_bucket {
	uint32_t symbols, drops, secs;
	float packets, wait;
};

/* A ring of sums; bucket number n is in place n modulo the number of buckets. */
struct health_ring {
	int64_t no; /* number of the latest bucket; 0: none is filled */
	struct health_bucket at[LONG_BUCKETS];
};

struct health_port {
	struct health_ring brief, wide; /* windows of 12 and of 125 minutes */
	uint64_t bps;
	uint32_t downs; /* link downs that the other end has not counted yet */
	int64_t downs_at;
};

/* Times, or numbers of sweeps, of the latest events, in rising order. */
struct health_times {
	uint8_t n, cap;
	uint32_t *at;
};

struct health_record {
	struct health_verdict v;
	struct health_times times[HEALTH_EVENTS];
	struct health_port *port[2]; /* counters of both ends; NULL: none were read yet */
	int64_t quiet_until;	     /* end of the time in which LinkDowned is ignored */
	/* number of events, and of readings with errors, of the link; never falls */
	uint64_t counted;
	bool manual;
	bool listed; /* set if in health->listed */
};

struct health {
	struct health_rules rules;
	uint32_t sweep;
	struct health_record *all;
	uint32_t n, cap;
	uint32_t *slots; /* a hash table of ends: link * 2 + end + 1 */
	uint32_t n_slots;
	struct health_off *offs;
	uint32_t n_offs, cap_offs;
	uint32_t *listed; /* links with findings, and some whose findings have expired */
	uint32_t n_listed, cap_listed;
};

/* Adds a link with findings to the list. */
void health_list(struct health *h, struct health_record *r);

void health_note_time(struct health *h, struct health_record *r, unsigned cond, uint32_t at);
struct health_port *health_need_port(struct health_record *r, unsigned end);
void health_forget_all(struct health *h);
