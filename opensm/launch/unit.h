// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensm@NAME.service as systemd sees them: jobs, states, and word of each change.
 *
 * The bus is the socket on which systemctl reaches PID 1 (/run/systemd/private), so no message bus
 * need run. Where PID 1 executes itself anew the connection is made again. All calls wait for PID
 * 1's answer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

enum unit_phase {
	UNIT_STOPPED,
	UNIT_STARTING,
	UNIT_RUNNING,
	UNIT_WAITING, /* ended, systemd starts it again in a moment */
	UNIT_ENDING,
	UNIT_PAUSED, /* ended too often in a row: failed, to be tried again */
	UNIT_FAILED, /* ended with a status that will be the same next time */
};

struct unit_state {
	enum unit_phase phase;
	bool busy;		      /* a job is under way */
	pid_t pid;		      /* 0: none */
	unsigned restarts;	      /* by systemd, since it was last started otherwise */
	int64_t since;		      /* realtime, us: of the phase */
	bool faulted;		      /* `status` is why it could not start */
	bool hung;		      /* it ended for its silence */
	int exit_status, exit_signal; /* of the last end; -1: none, or it ended the other way */
	char status[400];	      /* what it said last, printable; "" nothing */
};

struct units;
/* `unit` has another state, or ended a job; NULL: any of them may have. */
typedef void units_changed_fn(void *arg, const char *unit);

/* 0 or -errno: systemd does not answer. */
int units_open(sd_event *event, units_changed_fn *changed, void *arg, struct units **ret);
/* NULL is fine; returns NULL. */
struct units *units_free(struct units *u);

/* "opensm@2.service" of "2" (not ""); to be freed. */
char *unit_name(const char *instance);

/*
 * Asks for a job: `method` is StartUnit, StopUnit, RestartUnit or ReloadUnit. NULL, or why there is
 * none, to be freed.
 */
char *unit_job(struct units *u, const char *method, const char *unit);
/* Forgets that it failed and how often it was started. */
void unit_reset(struct units *u, const char *unit);
/* Sends a signal to its main process. */
void unit_signal(struct units *u, const char *unit, int signal);
/* Its state now. False: systemd does not say, `ret` is as it was. */
bool unit_read(struct units *u, const char *unit, struct unit_state *ret);
/* "failed", ... for instances.json; PAUSED and FAILED are one. */
const char *unit_phase_name(enum unit_phase phase);
