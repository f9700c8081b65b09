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

/* How a sweep of this kind went when it last ended. */
struct daemon_sweep {
	enum sweep_kind kind; /* SWEEP_NONE: none yet */
	char why[160];
	unsigned n_gets, n_sets, errors, ms;
	bool through;
	mono_t ended;
};

/* A node that left the fabric, and has not come back. */
struct daemon_gone {
	guid_t node_guid, port_guid; /* node_guid 0: an empty row */
	guid_t behind_guid;	     /* the node it was cabled to; 0 unknown */
	uint8_t behind_port;
	lid_t lid;
	mono_t at;
	char name[NODE_DESC_STRLEN]; /* as it was called */
};
#define DAEMON_GONE 256

/* One of the last events, as its sentence. */
struct daemon_event {
	int64_t realtime_us; /* 0: an empty row */
	const char *kind;    /* a constant */
	char text[320];
};
#define DAEMON_EVENTS 512

/* Kept of events. Writer: daemon_api_note(); of `events`: control_remember(). */
struct daemon_memory {
	struct daemon_sweep sweeps[SWEEP_KINDS]; /* one of each kind, in order of first end */
	unsigned routing_ms, unreachable;
	char engine[32]; /* ""; nothing was routed yet */
	mono_t state_since;
	struct daemon_gone gone[DAEMON_GONE]; /* the last ones, in no order */
	struct daemon_event events[DAEMON_EVENTS];
	uint64_t n_events; /* in all; the next row is this one modulo DAEMON_EVENTS */
};

struct daemon_api {
	struct perf *perf;	 /* the performance manager; never NULL */
	struct cc *cc;		 /* congestion control; NULL in tests alone */
	/* NULL: no port is open, `status` says why. It comes and goes: look each time */
	struct sm *sm;
	/*
	 * Counts each state that the manager enters, and each manager that goes: what was begun for
	 * a master is ended for that one only. Any thread may look.
	 */
	_Atomic unsigned terms;
	const struct conf *conf; /* in force */
	const char *version;	 /* "4.0.0" */
	const char *instance; /* "opensm", "1" for opensm.conf.1, "0x0002c90300001234" for a GUID */
	const char *conf_path;	 /* also if there is no such file yet; NULL: none at all */
	bool once;		 /* -o: it ends when the subnet is up */
	const char *cache_dir;
	const char *run_dir;	 /* where sockets are: "/run/opensm"; NULL: nowhere */
	char port_name[192]; /* umad_transport_name(); "": no port is open */
	char status[2400];	 /* the line that `systemctl status` shows too */
	mono_t started;
	int64_t started_realtime; /* seconds since 1970 */
	struct daemon_memory memory;
	/* Of the configuration as read at the start or the last SIGHUP; may be NULL. */
	const struct conf_report *findings;
	bool refused; /* that SIGHUP: its configuration is not in force */

	/* Requests to the daemon; each is noted and done soon, never within the call. */
	void (*wake)(void *arg);   /* something was asked of `sm`: let it look */
	void (*reload)(void *arg); /* as SIGHUP */
	/* Now, and as microseconds since 1970. */
	void (*clock)(void *arg, mono_t *ret_now, int64_t *ret_realtime);
	/*
	 * Reads as SIGHUP does, and takes nothing over; findings are added to `ret`.
	 * `news`: the changes, to be freed; NULL: none, or it would be refused.
	 */
	void (*check)(void *arg, struct conf_report *ret, char **ret_news);
	/* A job for the thread that renders; it must not hold anything of `sm`. */
	void (*submit)(void *arg, struct sm_job *job);
	void *arg;
};

/* Notes an event: for the owner. */
void daemon_api_note(struct daemon_api *api, const struct sm_event *event);

/* The manager was freed: there is none until `sm` is set again. */
void daemon_api_sm_gone(struct daemon_api *api);

/* The clock, and what it showed in microseconds since 1970 when its monotonic part was `at`. */
mono_t daemon_api_now(const struct daemon_api *api);
int64_t daemon_api_realtime(const struct daemon_api *api, mono_t at);
