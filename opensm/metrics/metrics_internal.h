// SPDX-License-Identifier: BSD-2-Clause
/* The snapshot of metrics_take(), for the files of metrics. */
#pragma once

#include "api/security.h"
#include "metrics/metrics.h"
#include "metrics/metrics_text.h"
#include "perf/perf.h"
#include "sa/sa.h"
#include "sm/expected/expected.h"
#include "sm/marks/marks.h"
#include "sm/health/sick.h"
#include "sm/trust/violations.h"
#include "sm/routing/route_memory.h"
#include "sm/sm_ledger.h"
#include "topo/rails/rails.h"
#include "view/view.h"

#define METRIC_MADS    80u
#define METRIC_REASONS 32u

struct metrics_managers {
	unsigned trusted, others;
};

struct metrics_reason {
	const char *why; /* constant text */
	unsigned n;
};

/* Partitions made at run time. */
struct metrics_tenants {
	size_t n_partitions, n_members, n_pending;
	uint64_t generation;
	bool closed;
	uint64_t ends[SM_TENANCY_ENDS];
};

#define METRIC_LEDGER_TABLES 16

/* Tables that managers replicate; metrics_ledger.c. */
struct metrics_ledger {
	struct sm_ledger now;
	struct sm_ledger_table tables[METRIC_LEDGER_TABLES];
	unsigned n_tables;
};

struct metrics {
	struct metrics_tally tally;
	char *version, *instance, *port_name;
	int64_t started; /* seconds since 1970 */
	unsigned config_errors, config_warnings;
	bool refused; /* set if the last SIGHUP was refused */
	bool per_port;

	bool open; /* set if there is a manager; else all members below are zero */
	enum sm_state state;
	unsigned priority;
	struct sm_stats stats;
	bool own_answers;
	struct sm_unserved unserved;
	struct sm_trap_stats traps;
	struct violation_counts violations;
	unsigned violating_ports, isolated_ports;
	unsigned n_sick[SICK_STATES]; /* number of links with findings */
	unsigned n_marks[MARK_KINDS][MARK_STATES]; /* marks of administrators */
	unsigned n_returning;			   /* number of cables that are returning to use */
	mono_t whole_age; /* time since the subnet of a master is not in order; 0: it is */
	struct {
		bool is_wanted, in_force, compared;
		unsigned cables, held, spared;
		unsigned n[EXPECT_KINDS];
	} expected; /* metrics_topology.c */
	struct {
		unsigned n, planes;
		uint32_t wrong, crossing;
		struct rail of[RAILS_MAX];
	} rails; /* metrics_rails.c */
	struct mad_count mads[METRIC_MADS];
	unsigned n_mads;
	uint64_t strays[MAD_STRAYS];
	struct sa_stats sa;
	struct sa_count requests[SA_COUNT_ROWS];
	unsigned n_requests;
	struct sa_drop_count drops[SA_DROP_ROWS];
	unsigned n_drops;
	uint32_t mlids, mlids_max;
	unsigned n_partitions;
	struct metrics_tenants tenants;
	struct metrics_ledger ledger;
	struct security security;
	bool routing_has_process;
	/* ended processes of routing engines */
	struct route_death_count deaths[ROUTE_DEATH_COUNTS];
	unsigned n_deaths;
	struct metrics_managers managers;
	unsigned nodes[IB_NODE_ROUTER + 1];	       /* by type */
	struct metrics_reason reasons[METRIC_REASONS]; /* reasons why ports are left out */
	unsigned n_reasons;
	struct perf_status perf;
	struct cc_status congestion;
	struct metrics_counters *counters; /* counters as read by the performance manager */
	size_t n_counters;
	struct view *view; /* the published view; NULL: not MASTER, or no subnet was set up yet */
};

/* metrics_tenants.c: partitions made at run time. */
void metrics_take_tenants(struct metrics *m, const struct sm *sm);
void metrics_tenants(const struct metrics *m, struct metrics_text *t);

/* metrics_ledger.c: tables that managers replicate. */
void metrics_take_ledger(struct metrics *m, const struct sm *sm);
void metrics_ledger(const struct metrics *m, struct metrics_text *t);

/* metrics_links.c: health of links, and marks. */
void metrics_take_links(struct metrics *m, const struct sm *sm);
void metrics_links(const struct metrics *m, struct metrics_text *t);

/* metrics_topology.c: differences from the expected topology. */
void metrics_take_topology(struct metrics *m, const struct sm *sm);
void metrics_topology(const struct metrics *m, struct metrics_text *t);

/* metrics_rails.c: rails and planes. */
void metrics_take_rails(struct metrics *m, const struct sm *sm);
void metrics_rails(const struct metrics *m, struct metrics_text *t);

/* metrics_security.c: the security checklist. */
void metrics_security(const struct metrics *m, struct metrics_text *t);

/* metrics_congestion.c: congestion control. */
void metrics_take_congestion(struct metrics *m, const struct daemon_api *api);
void metrics_congestion(const struct metrics *m, struct metrics_text *t);

/* metrics_fabric.c: the published view. */
void metrics_fabric(const struct metrics *m, struct metrics_text *t);

/* metrics_counters.c: counters of ports, and the performance manager itself. */
void metrics_take_counters(struct metrics *m, const struct daemon_api *api);
void metrics_counters(const struct metrics *m, struct metrics_text *t);
void metrics_perf(const struct metrics *m, struct metrics_text *t);
