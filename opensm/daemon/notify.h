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
	char line[400];	   /* what the manager does */
	char refused[200]; /* where the fault is that SIGHUP found; "" if none */
	char hung[100];	   /* what does not end; "" if nothing */
	const char *name;    /* of the instance, in the title */
	struct title title; /* where the line is shown too; zero: nowhere */
};

/* The manager's own line; cut where it is too long. The first one says READY=1 too. */
void notify_status(struct notify *n, const char *line);
void notify_reloading(mono_t now);
/* `fault`: "partitions.conf:2:9" where nothing was taken over, else NULL. */
void notify_reloaded(struct notify *n, const char *fault);
/* `what` does not end, for `seconds` now; NULL: all is well. */
void notify_hung(struct notify *n, const char *what, unsigned seconds);
void notify_watchdog(void);
void notify_stopping(void);
/* Before the end: why nothing was started, "FILE:LINE:COLUMN: what". The launcher repeats it. */
void notify_fault(const char *what);
