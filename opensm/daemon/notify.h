// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages to the service manager (sd_notify(3)).
 *
 *   READY=1      the port is bound, or is waited for: there may be none for days, and units
 *                ordered behind us must not hang at boot for that. STATUS= says which of the two.
 *   RELOADING=1  SIGHUP came; READY=1 again when everything is read and judged. The sweep that
 *                follows is not waited for: it may take minutes, or never come without a port.
 *   STATUS=      one line for a person: what the manager does, and what needs attention.
 *   WATCHDOG=1   from the loop, while no computation has hung (daemon.c).
 *   STOPPING=1   the end has begun.
 *   ERRNO=       with a STATUS= that says why nothing was started.
 *
 * Under opensm-launch the line also stands in our command line (util/title.h), for `ps`.
 */
#pragma once

#include <stdbool.h>

#include "util/mono.h"
#include "util/title.h"

struct notify {
	bool ready;	   /* READY=1 was sent */
	char line[400];	   /* the status of the manager */
	char refused[200]; /* place of the error that SIGHUP found; "" if none */
	char hung[100];	   /* name of the computation that hangs; "" if none */
	const char *name;    /* name of the instance, for the title */
	struct title title; /* place for the line in the command line; zero: none */
};

/* Sends the status of the manager, truncated if too long. The first call sends READY=1, too. */
void notify_status(struct notify *n, const char *line);
void notify_reloading(mono_t now);
/* `fault`: place of the error, "partitions.conf:2:9", if nothing was taken over; else NULL. */
void notify_reloaded(struct notify *n, const char *fault);
/* Reports that `what` has been running for `seconds`; NULL: nothing hangs. */
void notify_hung(struct notify *n, const char *what, unsigned seconds);
void notify_watchdog(void);
void notify_stopping(void);
/* Reports why the daemon does not start, "FILE:LINE:COLUMN: text"; the launcher shows it. */
void notify_fault(const char *what);
