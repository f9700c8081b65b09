// SPDX-License-Identifier: BSD-2-Clause
/*
 * The performance manager: reads the counters of every port at intervals (IBA 16.1), adds what they
 * grew by to totals of 64 bits, and clears those that are about to stick at their end where the
 * port has none of 64 bits in their place.
 *
 *   DISABLED --perf_enable()--> SLEEPING --time--> SWEEPING --all answered or given up--> SLEEPING
 *
 * Only while we are MASTER. Reads no clock and sends nothing but GMPs of class PerfMgt through the
 * MAD engine that it is given at each dispatch. Main thread only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "conf/conf.h"
#include "conf/lists/lists.h"
#include "fabric/fabric.h"
#include "ib/ber.h"
#include "ib/port_counts.h"
#include "mad/mad.h"
#include "perf/decode.h"
#include "util/mono.h"

struct perf;

struct perf_port {
	bool valid;				       /* set if its counters have been read */
	bool extended;				       /* set if data counters have 64 bits */
	bool wide;				       /* set if error counters have 64 bits, too */
	uint64_t errors[PERF_ERRORS], data[PERF_DATA]; /* totals since `reset_at` */
	int64_t reset_at, errors_at, data_at;	       /* seconds since 1970 */
};

struct perf_node {
	guid_t guid;
	char name[NODE_DESC_STRLEN]; /* printable; from the node-name map, if that has it */
	bool active;		     /* set if met in the last sweep */
	uint8_t n_ports;
	bool has_port0;		       /* set if port 0, of an enhanced switch, is read */
	const struct perf_port *ports; /* n_ports + 1 */
};

enum perf_state { PERF_DISABLED, PERF_ENABLED };
enum perf_sweep { PERF_SLEEPING, PERF_SWEEPING };

struct perf_status {
	enum perf_state state;
	enum perf_sweep sweep;
	unsigned sweep_time_s, outstanding, max_outstanding;
	bool remove_missing, query_cpi;
	uint32_t sweeps;	      /* number of sweeps that ended */
	uint64_t queries, unanswered; /* numbers since the start */
	uint64_t resets;	      /* readings that show that others had cleared a counter */
	unsigned last_ms;	      /* duration of the last sweep */
};

/* The surroundings of the manager at a dispatch. */
struct perf_place {
	const struct fabric *fabric; /* NULL: there is no manager, or it is not MASTER */
	struct mad_engine *mad;
	const struct conf_names *names; /* NULL: none */
	uint8_t sl;
	/* Returns the SL of the path to a LID. NULL: `sl`. */
	uint8_t (*sl_to)(const void *arg, lid_t lid);
	const void *sl_arg;
	mono_t now;
	int64_t realtime; /* seconds since 1970 */
};

struct perf_hooks {
	/*
	 * Called when counters of a port grew (events 0 and 1 of plugins), with the deltas since
	 * the last reading. May be NULL.
	 */
	void (*errors)(void *arg, const struct perf_node *node, uint8_t port,
		       const uint64_t deltas[PERF_ERRORS], int64_t seconds);
	void (*data)(void *arg, const struct perf_node *node, uint8_t port,
		     const uint64_t deltas[PERF_DATA], int64_t seconds);
	/* Called once per reading of a port that was read before. May be NULL. */
	void (*counts)(void *arg, const struct perf_node *node, uint8_t port,
		       const struct port_counts *counts);
	void *arg;
};

/*
 * Uses options perfmgr*, transaction_timeout and transaction_retries of `conf` (takes a reference);
 * `hooks` (NULL: none) are copied.
 */
struct perf *perf_new(const struct conf *conf, const struct perf_hooks *hooks);
struct perf *perf_free(struct perf *p); /* NULL is fine; returns NULL */

/* Sends, gives up, begins a sweep. Called when perf_next() has come, or a MAD was received. */
void perf_dispatch(struct perf *p, const struct perf_place *place);
mono_t perf_next(const struct perf *p); /* MONO_NEVER: nothing to do */
/* Takes a GMP of class PerfMgt: an answer, or a request that returned unanswered. */
void perf_receive(struct perf *p, struct transport_event *ev, const struct perf_place *place);

/* ---- commands of administrators (console.md 6) ---- */

void perf_enable(struct perf *p, bool enabled);
void perf_sweep_now(struct perf *p);
void perf_set_sweep_time(struct perf *p, unsigned seconds); /* > 0 */
void perf_set_remove_missing(struct perf *p, bool remove);
void perf_set_query_cpi(struct perf *p, bool query);
void perf_clear_totals(struct perf *p, int64_t realtime);
unsigned perf_remove_inactive(struct perf *p);		   /* returns the number of nodes */
void perf_clear_redirections(struct perf *p, guid_t guid); /* GUID 0: all nodes */
const struct perf_status *perf_status(const struct perf *p);

/* The n-th node by GUID; NULL: no more. Valid until the next call with a non-const `p`. */
const struct perf_node *perf_node_at(const struct perf *p, unsigned n);
/* Finds a node by GUID or, if that is 0, by name; NULL: not known. */
const struct perf_node *perf_node_find(const struct perf *p, guid_t guid, const char *name);

/* ---- one port, for administrators ---- */

struct perf_view {
	const struct perf_node *node;
	bool read; /* set if its counters were read at least once */
	struct perf_caps caps;
	mono_t read_at;
	uint32_t resets;	 /* readings that show that others had cleared a counter */
	uint64_t bits;		 /* bits per second of the link; 0: not known */
	struct port_counts last; /* growth up to `read_at`; interval_us 0: read once only */
	/* Values as the port shows them, by PORT_COUNTS; valid are those of `has`. */
	uint64_t shown[PORT_COUNTS];
	uint32_t has;
	/* effective.bits 0: the port does not count FEC blocks */
	struct ber_watch symbol, effective;
	/* Details of receive errors and discards as shown, once any grew. */
	bool has_details[2];
	uint16_t details[PERF_DETAILS];
};

/* False: the port is not known here. */
bool perf_view_port(const struct perf *p, guid_t guid, unsigned port, struct perf_view *ret);

/* ---- texts of files.md 7 and console.md 6 ---- */

/* Prints the counters of a port of a node; `port` < 0: of all that have been read. */
void perf_print_node(const struct perf_node *node, int port, FILE *out);
/* Prints the counters that are not zero of ports with errors. */
void perf_print_errors(const struct perf_node *node, FILE *out);
/* Prints a table of the redirected ports of a node; nothing if there is none. */
void perf_print_redirections(const struct perf *p, const struct perf_node *node, FILE *out);
/* Prints a node in columns separated by tabs. */
void perf_print_machine(const struct perf_node *node, FILE *out);
/* Prints all nodes; `machine`: in columns separated by tabs. */
void perf_print_all(const struct perf *p, bool machine, FILE *out);
/* "symbol_err_cnt", as in the file. */
const char *perf_error_name(enum perf_error e);
