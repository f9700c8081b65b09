// SPDX-License-Identifier: BSD-2-Clause
/* The snapshot of metrics_take(), for the files of metrics. */
#pragma once

#include "api/security.h"
#include "metrics/metrics.h"
#include "metrics/metrics_text.h"
#include "perf/perf.h"
#include "sa/sa.h"
#include "sm/base/alarm_kinds.h"
#include "sm/expected/expected.h"
#include "sm/marks/marks.h"
#include "sm/health/sick.h"
#include "sm/trust/violations.h"
#include "sm/routing/route_memory.h"
#include "sm/sm_ledger.h"
#include "topo/rails/rails.h"
#include "view/view.h"

/* A method without a name, to learn the name that all such have. */
#define METRIC_NO_METHOD 0x7E

#define METRIC_MADS    80u
/* Most alarms with a series of their own. */
#define METRIC_ALARMS  1000u

struct metrics_managers {
	unsigned trusted, others;
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
	uint32_t groups; /* groups that are written, of enum metrics_group, a bit each */

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
	unsigned reasons[ALARM_KINDS]; /* number of ports that are left out, by reason */
	unsigned n_alarms_of[ALARM_KINDS];
	unsigned n_alarms_listed, n_alarms_in_all; /* numbers by kind, and also of those beyond */
	struct metrics_alarm *alarms;		   /* the severest ones */
	size_t n_alarms;
	struct perf_status perf;
	struct cc_status congestion;
	struct metrics_counters *counters; /* counters as read by the performance manager */
	size_t n_counters, counters_cap;
	struct metrics_sums *sums; /* for each switch, the counters of all its ports added up */
	size_t n_sums, sums_cap;
	struct view *view; /* the published view; NULL: not MASTER, or no subnet was set up yet */
};

/* Functions that write metrics of one group (metrics_groups) to `t`; each in the file beside it. */
typedef void metrics_put(const struct metrics *m, struct metrics_text *t);
/* clang-format off */
metrics_put metrics_manager, metrics_process;			/* metrics_manager.c */
metrics_put metrics_sweeps, metrics_routing;			/* metrics_sweeps.c */
metrics_put metrics_alarms;					/* metrics_alarms.c */
metrics_put metrics_mads;					/* metrics_mads.c */
metrics_put metrics_sa;						/* metrics_sa.c */
metrics_put metrics_subnet;					/* metrics_subnet.c */
metrics_put metrics_fabric, metrics_switches, metrics_hosts;	/* metrics_fabric.c */
metrics_put metrics_switch_ports, metrics_cables;		/* metrics_fabric.c */
metrics_put metrics_security;					/* metrics_security.c */
metrics_put metrics_tenants;					/* metrics_tenants.c */
metrics_put metrics_ledger;					/* metrics_ledger.c */
metrics_put metrics_links;					/* metrics_links.c */
metrics_put metrics_topology;					/* metrics_topology.c */
metrics_put metrics_rails;					/* metrics_rails.c */
metrics_put metrics_congestion;					/* metrics_congestion.c */
metrics_put metrics_perf, metrics_sums;				/* metrics_counters.c */
metrics_put metrics_port_errors, metrics_port_traffic;		/* metrics_counters.c */
/* clang-format on */

void metrics_take_alarms(struct metrics *m, struct sm *sm);
void metrics_take_tenants(struct metrics *m, const struct sm *sm);
void metrics_take_ledger(struct metrics *m, const struct sm *sm);
void metrics_take_links(struct metrics *m, const struct sm *sm);
void metrics_take_topology(struct metrics *m, const struct sm *sm);
void metrics_take_rails(struct metrics *m, const struct sm *sm);
void metrics_take_congestion(struct metrics *m, const struct daemon_api *api);
void metrics_take_counters(struct metrics *m, const struct daemon_api *api);
/* Takes the counters of one node, as far as groups that are written show them. */
void metrics_take_node(struct metrics *m, const struct node *n, const struct perf_node *counted);
