// SPDX-License-Identifier: BSD-2-Clause
/*
 * What there is to be seen and acted upon, for everybody who looks in from outside: console, control
 * socket, metrics, plugins. One per daemon, owned and written by daemon.c; windows hold a const pointer
 * to it for as long as they are open. Main thread only.
 */
#pragma once

#include <stdbool.h>

#include "conf/conf.h"
#include "perf/perf.h"
#include "sm/sm.h"
#include "util/mono.h"

/* How a sweep of this kind went when it last ended. */
struct scene_sweep {
	char kind[12]; /* "heavy"; "": none yet */
	char why[160];
	unsigned n_gets, n_sets, errors, ms;
	bool through;
	mono_t ended;
};
#define SCENE_SWEEPS 6

/* A node that went, and has not come back. */
struct scene_gone {
	guid_t node_guid, port_guid; /* node_guid 0: an empty row */
	guid_t behind_guid;	     /* the node it was cabled to; 0 unknown */
	uint8_t behind_port;
	lid_t lid;
	mono_t at;
	char name[NODE_DESC_STRLEN]; /* as it was called */
};
#define SCENE_GONE 256

/* What is kept of events. Writer: scene_note(). */
struct scene_memory {
	struct scene_sweep sweeps[SCENE_SWEEPS]; /* one of each kind, in order of first end */
	unsigned routing_ms, unreachable;
	char engine[32]; /* ""; nothing was routed yet */
	mono_t state_since;
	struct scene_gone gone[SCENE_GONE]; /* the last ones, in no order */
};

struct scene {
	struct perf *perf;	 /* the performance manager; never NULL */
	struct sm *sm;		 /* NULL: no port is open, `status` says why. It comes and goes: look each time */
	const struct conf *conf; /* in force */
	const char *version;	 /* "4.0.0" */
	const char *instance;	 /* "opensm", "1" for opensm.conf.1, "0x0002c90300001234" for a GUID */
	const char *conf_path;	 /* also if there is no such file yet; NULL: none at all */
	bool once;		 /* -o: it ends when the subnet is up */
	const char *cache_dir;
	const char *run_dir;	 /* where sockets are: "/run/opensm"; NULL: nowhere */
	char port_name[64];	 /* "mlx5_0/1"; "": no port is open */
	char status[1200];	 /* the line that `systemctl status` shows too */
	mono_t started;
	int64_t started_realtime; /* seconds since 1970 */
	struct scene_memory memory;
	/* What reading the configuration had to say, at the start or at the last SIGHUP; may be NULL. */
	const struct conf_report *findings;
	bool refused; /* that SIGHUP: its configuration is not in force */

	/* What a window may ask the daemon for; each is noted and done soon, never within the call. */
	void (*wake)(void *arg);   /* something was asked of `sm`: let it look */
	void (*reload)(void *arg); /* as SIGHUP */
	/* Now, and as microseconds since 1970. */
	void (*clock)(void *arg, mono_t *ret_now, int64_t *ret_realtime);
	/*
	 * What SIGHUP would find, without taking anything over; findings are added to `ret`. `news`: what would
	 * change, to be freed, NULL: nothing, or it would be refused.
	 */
	void (*check)(void *arg, struct conf_report *ret, char **ret_news);
	/* A job for a thread that belongs to windows; it must not hold anything of `sm`. */
	void (*submit)(void *arg, struct sm_job *job);
	void *arg;
};

/* Notes what has happened: for the owner of the scene. */
void scene_note(struct scene *scene, const struct sm_event *event);
