// SPDX-License-Identifier: BSD-2-Clause
/*
 * The daemon as console, control socket, metrics and plugins may see it and use it. One per
 * daemon, owned and written by daemon/daemon.c; its users hold a const pointer to it. Main thread
 * only.
 */
#pragma once

#include <stdbool.h>

#include "conf/conf.h"
#include "congestion/congestion.h"
#include "perf/perf.h"
#include "sm/sm.h"
#include "util/mono.h"

/* Result of the last sweep of a kind. */
struct daemon_sweep {
	enum sweep_kind kind; /* SWEEP_NONE: none yet */
	char why[160];
	unsigned n_gets, n_sets, errors, ms;
	bool through; /* set if the sweep went through to its end */
	mono_t ended;
};

/* A node that left the fabric, and has not come back. */
struct daemon_gone {
	guid_t node_guid, port_guid; /* node_guid 0: an empty row */
	guid_t behind_guid;	     /* node it was cabled to; 0: unknown */
	uint8_t behind_port;
	lid_t lid;
	mono_t at;
	char name[NODE_DESC_STRLEN]; /* name of the node when it left */
};
#define DAEMON_GONE 256

/* One of the latest events, as a sentence. */
struct daemon_event {
	int64_t realtime_us; /* 0: an empty row */
	const char *kind;    /* a constant */
	char text[320];
};
#define DAEMON_EVENTS 512

/* One fact about a cable, for the history of a day. */
enum cable_fact {
	CABLE_UP,
	CABLE_DOWN,
	CABLE_HEALTH, /* a finding about its health, in `text` */
	CABLE_MARK,   /* it was taken out of service or put back, in `text` */
	/* it was lost, and what was routed over it goes another way, in `text` */
	CABLE_PATCH,
	CABLE_ERRORS, /* its error counters grew by `n`, within the hour from the time on */
	CABLE_FACTS
};
struct daemon_cable {
	int64_t realtime_us; /* 0: an empty row */
	guid_t guid[2];	     /* ends; 0: not known */
	uint8_t port[2];     /* 0: the whole node */
	enum cable_fact fact;
	uint64_t n;
	char *text; /* a sentence; NULL: the fact says all */
};
#define DAEMON_CABLES	    4096 /* facts of cables that are kept, besides growth of errors */
#define DAEMON_CABLE_ERRORS 4096 /* ports and hours with errors that are kept */

/* Rings of facts: row n of all is at n modulo the size. control/control_history.c owns them. */
struct daemon_cables {
	struct daemon_cable facts[DAEMON_CABLES], errors[DAEMON_CABLE_ERRORS];
	uint64_t n_facts, n_errors;
};

/* The past of the manager. Written by daemon_api_note(); `events` by control_remember(). */
struct daemon_memory {
	/* one of each kind, in the order of their first end */
	struct daemon_sweep sweeps[SWEEP_KINDS];
	unsigned routing_ms, unreachable;
	uint64_t n_routings; /* number of routings so far */
	char engine[32]; /* engine of the last routing; "": none yet */
	mono_t state_since;
	struct daemon_gone gone[DAEMON_GONE]; /* nodes that left last, in no order */
	struct daemon_event events[DAEMON_EVENTS];
	/* number of events so far; the next row is this number modulo DAEMON_EVENTS */
	uint64_t n_events;
	struct daemon_cables *cables; /* NULL: nothing yet; freed by control_forget() */
};

struct control_jobs;

struct daemon_api {
	struct perf *perf;	 /* the performance manager; never NULL */
	struct cc *cc;		 /* congestion control; NULL in tests alone */
	/* NULL: no port is open, `status` says why. It changes at any time: read it at each use. */
	struct sm *sm;
	/*
	 * Number of states entered by managers, and of managers freed: work that was begun as
	 * master ends if it has changed. Any thread may read it.
	 */
	_Atomic unsigned terms;
	const struct conf *conf; /* in force */
	const char *version;	 /* "4.0.0" */
	const char *instance; /* "opensm", "1" for opensm.conf.1, "0x0002c90300001234" for a GUID */
	/* path of opensm.conf, even if there is no such file yet; NULL: no path at all */
	const char *conf_path;
	bool once;		 /* set by -o: the run ends when the subnet is up */
	const char *cache_dir;
	const char *run_dir;	 /* folder of sockets, "/run/opensm"; NULL: there are none */
	char port_name[192]; /* umad_transport_name(); "": no port is open */
	char status[2400];	 /* the line that `systemctl status` shows, too */
	mono_t started;
	int64_t started_realtime; /* seconds since 1970 */
	struct daemon_memory memory;
	struct control_jobs *jobs; /* changes asked for (control/control_jobs.c); may be NULL */
	/* Of the configuration as read at the start or the last SIGHUP; may be NULL. */
	const struct conf_report *findings;
	bool refused; /* set if the last SIGHUP was refused: its configuration is not in force */

	/* Requests to the daemon; each is noted and carried out soon, never within the call. */
	void (*wake)(void *arg);   /* dispatches `sm` soon, as there is a request for it */
	void (*reload)(void *arg); /* reloads as SIGHUP does */
	/* Reads the monotonic clock, and the time in microseconds since 1970. */
	void (*clock)(void *arg, mono_t *ret_now, int64_t *ret_realtime);
	/*
	 * Reads the configuration as SIGHUP does, without taking it over; findings are added to
	 * `ret`. `news`: the changes, to be freed; NULL: none, or it would be refused.
	 */
	void (*check)(void *arg, struct conf_report *ret, char **ret_news);
	/* Submits a job to the thread that renders; it must not hold anything of `sm`. */
	void (*submit)(void *arg, struct sm_job *job);
	void *arg;
};

/* Notes an event in `memory`; called by the owner of `api`. */
void daemon_api_note(struct daemon_api *api, const struct sm_event *event);

/* Notes that the manager was freed: `sm` is NULL until it is set again. */
void daemon_api_sm_gone(struct daemon_api *api);

/* The monotonic clock; and the time, in microseconds since 1970, when it showed `at`. */
mono_t daemon_api_now(const struct daemon_api *api);
int64_t daemon_api_realtime(const struct daemon_api *api, mono_t at);
