// SPDX-License-Identifier: BSD-2-Clause
/* Events in numbers: how many, and how long. Plain data, copied into each snapshot. */
#pragma once

#include "sm/sm.h"

/* Upper ends of the buckets of sweep durations, in ms; the last bucket has none. */
#define METRIC_BUCKETS 13
extern const unsigned metric_bucket_ms[METRIC_BUCKETS];

struct metrics_sweep {
	uint64_t ended, failed;		     /* failed: with errors */
	uint64_t bucket[METRIC_BUCKETS + 1]; /* each alone, not added up */
	uint64_t ms;			     /* in all */
	uint64_t last;			     /* when it ended, s since 1970; 0: never */
};

struct metrics_tally {
	struct metrics_sweep sweeps[SWEEP_KINDS];
	uint64_t routings, table_blocks, links_up, links_down, nodes_came, nodes_went;
	uint64_t state_changes, databases;
	char engine[32]; /* of the last routing; "": none yet */
	unsigned routing_ms, unreachable, lanes;
	bool broken; /* the subnet of a master is not as it should be, as far as is known ... */
	mono_t broken_since;
};

/* After each event: is the subnet as it should be? */
void metrics_tally_whole(struct metrics_tally *t, const struct sm *sm, mono_t now);
/* How long it has not been; 0: it is, or this is no master. */
mono_t metrics_tally_broken(const struct metrics_tally *t, const struct sm *sm, mono_t now);
/* `realtime`: now, in us since 1970. */
void metrics_tally_event(struct metrics_tally *t, const struct sm_event *event, int64_t realtime);
