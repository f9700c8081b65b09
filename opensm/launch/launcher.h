// SPDX-License-Identifier: BSD-2-Clause
/*
 * The main process of opensm.service: decides which instances there are, and starts, stops or
 * reloads opensm@NAME.service for each. systemd keeps them running.
 *
 * launcher.c handles signals and state changes of the units; report.c informs systemd and writes
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
	char *obstacle;	       /* reason why systemd refused the last job; NULL: it did not */
	struct unit_state now; /* state as last read */
	bool stale;	       /* set if the state is to be read again */
	bool gone;	       /* set if the instance is not wanted any more and is being stopped */
	mono_t retry;	       /* time of the next try if PAUSED; else 0 */
};

struct launcher {
	const struct launch_paths *paths;
	struct choice choice; /* result of choose(); its instances were moved to the slots */
	struct slot *slots;
	size_t n, cap;
	uint64_t *ports; /* GUIDs of the host's ports */
	size_t n_ports;
	mono_t ports_due; /* time at which ports are read again */
	sd_event *event;
	sd_event_source *timer; /* fires at the next time of a slot or of the ports */
	struct units *units;
	bool owes_ready; /* set if READY=1 is to be sent: after the start, or after RELOADING=1 */
	bool stopping;
	/* reason why the last reload changed nothing; NULL: it was taken over */
	char *refused;
	char *status, *state; /* texts sent last: STATUS=, instances.json */
};

/* ---- launcher.c ---- */

/* Runs until a signal, or until no instance is left that can run. Returns the exit status. */
int launcher_run(const struct launch_paths *paths);
/* Has any unit a job under way? */
bool launcher_is_busy(const struct launcher *l);

/* ---- report.c ---- */

/* Tells how the last process ended: "exit status 1", "signal 9 (Killed)", or its own message. */
void report_end(const struct slot *s, char *ret, size_t cap);
/* Informs systemd (READY=1, STATUS=) and rewrites instances.json, each only if it has changed. */
void report_update(struct launcher *l);
