// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensm@NAME.service as systemd sees them: jobs, states, and signals of each change.
 *
 * The bus is the socket on which systemctl reaches PID 1 (/run/systemd/private), so no message bus
 * need run. If PID 1 re-executes itself the connection is made again. All calls wait for PID 1's
 * answer.
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
	UNIT_WAITING, /* ended; systemd is about to start it again */
	UNIT_ENDING,
	UNIT_PAUSED, /* failed, as it ended too often in a row; to be tried again */
	UNIT_FAILED, /* failed with an exit status that would be the same next time */
};

struct unit_state {
	enum unit_phase phase;
	bool busy;		      /* set if a job is under way */
	pid_t pid;		      /* 0: none */
	unsigned restarts;	      /* restarts by systemd since another start */
	int64_t since;		      /* time of the last change of state, realtime in us */
	bool faulted;		      /* set if `status` is the reason why it could not start */
	bool hung;		      /* set if the watchdog of systemd ended it */
	/* how the last process ended, or -1: it is running, or ended the other way */
	int exit_status, exit_signal;
	char status[400];	      /* its latest STATUS=, printable; "": none */
};

struct units;
/* Called if `unit` has changed its state or ended a job; NULL: any of them may have. */
typedef void units_changed_fn(void *arg, const char *unit);

/* 0 or -errno: systemd does not answer. */
int units_open(sd_event *event, units_changed_fn *changed, void *arg, struct units **ret);
/* NULL is fine; returns NULL. */
struct units *units_free(struct units *u);

/* "opensm@2.service" of "2" (not ""); to be freed. */
char *unit_name(const char *instance);

/*
 * Asks for a job: `method` is StartUnit, StopUnit, RestartUnit or ReloadUnit. Returns NULL, or the
 * reason why systemd refused, to be freed.
 */
char *unit_job(struct units *u, const char *method, const char *unit);
/* Resets the failed state and the count of starts. */
void unit_reset(struct units *u, const char *unit);
/* Sends a signal to the main process of the unit. */
void unit_signal(struct units *u, const char *unit, int signal);
/* Reads the present state. False: systemd does not answer, `ret` is unchanged. */
bool unit_read(struct units *u, const char *unit, struct unit_state *ret);
/* "failed", ... for instances.json; PAUSED and FAILED are one. */
const char *unit_phase_name(enum unit_phase phase);
