// SPDX-License-Identifier: BSD-2-Clause
/* What the files of metrics share: the snapshot. */
#pragma once

#include "ctl/metrics.h"
#include "ctl/metrics_text.h"
#include "perf/perf.h"
#include "sa/sa.h"
#include "sa/view.h"

#define METRIC_MADS    80u
#define METRIC_REASONS 32u

struct metrics_managers {
	unsigned trusted, others;
};

struct metrics_reason {
	const char *why; /* stays */
	unsigned n;
};

struct metrics {
	struct metrics_tally tally;
	char *version, *instance, *port_name;
	int64_t started; /* seconds since 1970 */
	unsigned config_errors, config_warnings;
	bool refused; /* the last SIGHUP */
	bool per_port;

	bool open; /* there is a manager: all of the rest counts */
	enum sm_state state;
	unsigned priority;
	struct sm_stats stats;
	struct sm_trap_stats traps;
	struct mad_count mads[METRIC_MADS];
	unsigned n_mads;
	struct mad_strays strays;
	struct sa_stats sa;
	struct sa_count requests[SA_COUNT_ROWS];
	unsigned n_requests;
	struct sa_drop_count drops[SA_DROP_ROWS];
	unsigned n_drops;
	uint32_t mlids, mlids_max;
	unsigned n_partitions;
	struct metrics_managers managers;
	unsigned nodes[IB_NODE_ROUTER + 1];	       /* by type */
	struct metrics_reason reasons[METRIC_REASONS]; /* ports left out */
	unsigned n_reasons;
	struct perf_status perf;
	struct metrics_counters *counters; /* ports whose counters were read */
	size_t n_counters;
	struct view *view;	  /* NULL: not MASTER, or nothing was set up yet */
	struct conf_files *files; /* node names */
};

/* metrics_fabric.c: what the view shows. */
void metrics_fabric(const struct metrics *m, struct metrics_text *t);

/* metrics_counters.c: what the performance manager has read, of each port and of itself. */
void metrics_take_counters(struct metrics *m, const struct scene *scene);
void metrics_counters(const struct metrics *m, struct metrics_text *t);
void metrics_perf(const struct metrics *m, struct metrics_text *t);
