// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files of dump.h while the manager goes on: the fabric is copied a part at a time, between
 * other work of the event loop (view/view_copy.h), and a worker writes the files.
 *
 *   dump_turns_want() --> copied --dump_turns_go_on()--> written --> done
 *                   '-- there is a view of now ----------^
 *
 * One set of files at a time; a change in between is written right after.
 */
#pragma once

#include <stdbool.h>

#include "dump/dump.h"
#include "util/mem.h"

struct dump_hooks {
	void (*submit)(void *arg, struct sm_job *job); /* to the thread that waits for files */
	void (*failed)(void *arg, const char *error);  /* a line for the log */
	void *arg;
};

struct dump_turns;

struct dump_turns *dump_turns_new(const struct dump_hooks *hooks);
/* Not before the job that was submitted has ended. NULL is fine; returns NULL. */
struct dump_turns *dump_turns_free(struct dump_turns *t);
FREEP(dump_turns_free, struct dump_turns)

/*
 * Tables have changed; `c` is copied. `present`: a view of the fabric as it stands now, from which
 * the files are made without another copy; NULL: there is none.
 */
void dump_turns_want(struct dump_turns *t, const struct sm *sm, const struct dump_config *c,
		     const struct view *present);
/* A turn of a ms or two. True: there is more to do, at once. */
bool dump_turns_go_on(struct dump_turns *t, const struct sm *sm);
/* Not all that was wanted is written. */
bool dump_turns_pending(const struct dump_turns *t);
/* What is copied is copied at one go: the process ends. */
void dump_turns_hurry(struct dump_turns *t);
/* The manager goes: what was not copied is not written. Before sm_free(). */
void dump_turns_sm_gone(struct dump_turns *t);
