// SPDX-License-Identifier: BSD-2-Clause
/* Counts and durations of events. Plain data, copied into each snapshot. */
#pragma once

#include "route/patch/patch_text.h"
#include "sm/sm.h"

/* Upper ends of the buckets of sweep durations, in ms; the last bucket has none. */
#define METRIC_BUCKETS 13
extern const unsigned metric_bucket_ms[METRIC_BUCKETS];

struct metrics_sweep {
	uint64_t ended, failed;		     /* sweeps that ended; those of them with errors */
	uint64_t bucket[METRIC_BUCKETS + 1]; /* number of sweeps for each bucket, not cumulative */
	uint64_t ms;			     /* sum of durations */
	/* end of the last one in seconds since 1970; 0: never */
	uint64_t last;
};

/* Upper ends of the buckets of patch durations, in us; the last bucket has none. */
#define METRIC_PATCH_BUCKETS 12
extern const unsigned metric_patch_bucket_us[METRIC_PATCH_BUCKETS];

/* Patches of the routes around cables that were lost. */
struct metrics_patches {
	uint64_t n, cables;
	uint64_t bucket[METRIC_PATCH_BUCKETS + 1]; /* by duration, not cumulative */
	uint64_t us;				   /* sum of durations */
	uint64_t destinations[PATCH_HOWS];	   /* table entries */
	uint64_t groups, branches_waiting;	   /* multicast */
};

struct metrics_tally {
	struct metrics_sweep sweeps[SWEEP_KINDS];
	struct metrics_patches patches;
	uint64_t routings, table_blocks, links_up, links_down, nodes_came, nodes_went;
	uint64_t state_changes, databases;
	char engine[32]; /* engine of the last routing; "": none yet */
	unsigned routing_ms, unreachable, lanes;
	bool broken; /* set if the subnet of this master was not in order when last checked */
	mono_t broken_since;
};

/* Updates `broken`; called after each event. */
void metrics_tally_whole(struct metrics_tally *t, const struct sm *sm, mono_t now);
/* Time since the subnet is not in order; 0: it is, or this is no master. */
mono_t metrics_tally_broken(const struct metrics_tally *t, const struct sm *sm, mono_t now);
/* Counts an event. `realtime`: now, in us since 1970. */
void metrics_tally_event(struct metrics_tally *t, const struct sm_event *event, int64_t realtime);
