// SPDX-License-Identifier: BSD-2-Clause
/*
 * The life of one instance: when to start it, when to give it up. Pure: events and the time in, what to
 * do out; no process is touched here.
 *
 *             due                READY=1
 *   WAITING -------> STARTING -----------> RUNNING
 *    ^  ^               |                     |
 *    |  +--- ended, ----+---------------------+
 *    |       1 s ... 30 s
 *    |                  | ended for good      |
 *    +--- retry --- FAILED <------------------+
 *
 *   any of them --stop--> ENDING (TERM, then KILL) --ended--> ENDED
 *
 * An instance that was well for a minute starts its backoff anew. One that does not feed its watchdog, or does not
 * get ready, is killed, and that counts as a crash.
 */
#pragma once

#include <stdbool.h>

#include "util/mono.h"

#define SUPERVISE_BACKOFF_MIN (1 * MONO_S)
#define SUPERVISE_BACKOFF_MAX (30 * MONO_S)
#define SUPERVISE_WELL (60 * MONO_S)	   /* so long in RUNNING: the backoff starts anew */
#define SUPERVISE_START_LIMIT (60 * MONO_S) /* from start to READY=1 */
#define SUPERVISE_ABORT_LIMIT (5 * MONO_S)  /* from ABRT to KILL */
#define SUPERVISE_STOP_LIMIT (15 * MONO_S)  /* from TERM to KILL */

enum supervise_state {
	SUPERVISE_WAITING,
	SUPERVISE_STARTING,
	SUPERVISE_RUNNING,
	SUPERVISE_FAILED,
	SUPERVISE_ENDING,
	SUPERVISE_ENDED,
};

enum supervise_todo {
	SUPERVISE_NOTHING,
	SUPERVISE_START,
	SUPERVISE_ABORT, /* it hangs: SIGABRT */
	SUPERVISE_KILL,	 /* it ignored a signal: SIGKILL */
};

struct supervise {
	enum supervise_state state;
	mono_t due;	 /* of the next action; MONO_NEVER: none */
	mono_t backoff;	 /* before the next start */
	mono_t watchdog; /* RUNNING: how long it may be silent; 0: for ever */
	mono_t since;	 /* when it became RUNNING */
	bool aborted;	 /* was told to ABRT, and why it ended is known */
	unsigned restarts; /* starts after the first */
	bool started_once;
};

/* To be started at once. */
void supervise_init(struct supervise *s, mono_t watchdog, mono_t now);
/* It can never run as it is; only supervise_retry() changes that. */
void supervise_fail(struct supervise *s);

/* What is to be done by now. SUPERVISE_START is to be followed by supervise_started(). */
enum supervise_todo supervise_next(struct supervise *s, mono_t now);
/* When to ask again; MONO_NEVER. */
mono_t supervise_due(const struct supervise *s);

void supervise_started(struct supervise *s, mono_t now);
void supervise_ready(struct supervise *s, mono_t now);
/* Feeds its watchdog. */
void supervise_fed(struct supervise *s, mono_t now);
/*
 * It has ended, or could not be started. `for_good`: there is no point in trying again. Nothing that happens to
 * ENDING counts.
 */
void supervise_ended(struct supervise *s, bool for_good, mono_t now);
/* It was told to end. True: it must be sent TERM; false: there is nothing to wait for. */
bool supervise_stop(struct supervise *s, mono_t now);
/* FAILED and WAITING are tried at once, with a fresh backoff. */
void supervise_retry(struct supervise *s, mono_t now);
/* WAITING is tried at once: perhaps what it waits for has come. */
void supervise_hurry(struct supervise *s, mono_t now);

/* STARTING for the first time, or about to: nobody knows yet how it is. */
bool supervise_is_settled(const struct supervise *s);
bool supervise_has_process(const struct supervise *s);
/* An exit status (WIFEXITED) that will be the same next time: usage, sysexits(3), a value out of range. */
bool supervise_is_permanent(int exit_status);
/* "starting" ... for people and instances.json. */
const char *supervise_name(enum supervise_state state);
