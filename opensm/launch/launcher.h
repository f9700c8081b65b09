// SPDX-License-Identifier: BSD-2-Clause
/*
 * The main process of opensm.service: which instances there are, and that opensm@NAME.service is
 * started, stopped or reloaded for each. systemd keeps them running.
 *
 * launcher.c follows signals and what systemd says of the units; report.c tells systemd and
 * instances.json.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "launch/choose.h"
#include "launch/unit.h"
#include "util/mono.h"

#define LAUNCH_EXIT_CONFIG 78

/* One instance and its unit. */
struct slot {
	struct instance *instance;
	char *unit;	       /* "opensm@NAME.service" */
	char *obstacle;	       /* why systemd took no job; NULL: it did */
	struct unit_state now; /* as last read */
	bool stale;	       /* to be read */
	bool gone;	       /* not wanted any more, stops */
	mono_t retry;	       /* PAUSED: when it is tried again */
};

struct launcher {
	const struct launch_paths *paths;
	struct choice choice; /* its instances are in the slots */
	struct slot *slots;
	size_t n, cap;
	uint64_t *ports; /* of the host */
	size_t n_ports;
	mono_t ports_due; /* when to look at them next */
	sd_event *event;
	sd_event_source *timer; /* of the next thing due */
	struct units *units;
	bool owes_ready; /* READY=1 is to be sent: after the start, or after RELOADING=1 */
	bool stopping;
	char *refused;	      /* why the last reload took nothing over; NULL: it did */
	char *status, *state; /* as last told */
};

/* ---- launcher.c ---- */

/* Runs until a signal, or until nothing is left that could run. The exit status. */
int launcher_run(const struct launch_paths *paths);
/* Some unit has a job that is not done. */
bool launcher_is_busy(const struct launcher *l);

/* ---- report.c ---- */

/* How its last process ended: "exit status 1", "signal 9 (Killed)", or the fault it named. */
void report_end(const struct slot *s, char *ret, size_t cap);
/* Tells systemd (READY=1, STATUS=) and instances.json, each only what is new. */
void report_update(struct launcher *l);
