// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes the files of dump.h while the manager works: the fabric is copied a part at a time,
 * between other work of the event loop (view/view_copy.h), and a worker writes the files.
 *
 *   dump_turns_want() --> copied --dump_turns_go_on()--> written --> done
 *                   '-- there is a view of now ----------^
 *
 * One set of files at a time; a change in between causes another set right after.
 */
#pragma once

#include <stdbool.h>

#include "dump/dump.h"
#include "util/mem.h"

struct dump_hooks {
	/* submits a job to the thread for the disk */
	void (*submit)(void *arg, struct sm_job *job);
	void (*failed)(void *arg, const char *error);  /* a line for the log */
	void *arg;
};

struct dump_turns;

struct dump_turns *dump_turns_new(const struct dump_hooks *hooks);
/* Must be called after the submitted job has ended. NULL is fine; returns NULL. */
struct dump_turns *dump_turns_free(struct dump_turns *t);
FREEP(dump_turns_free, struct dump_turns)

/*
 * Requests new files, as tables have changed; `c` is copied. `present`: a view of the fabric as it
 * stands, which saves a copy; NULL: there is none.
 */
void dump_turns_want(struct dump_turns *t, const struct sm *sm, const struct dump_config *c,
		     const struct view *present);
/* Works for a ms or two. True: more is to be done at once. */
bool dump_turns_go_on(struct dump_turns *t, const struct sm *sm);
/* Are requested files not written yet? */
bool dump_turns_pending(const struct dump_turns *t);
/* Completes the copy at once, as the process ends. */
void dump_turns_hurry(struct dump_turns *t);
/* Called before sm_free(): a copy in progress is dropped, and its files are not written. */
void dump_turns_sm_gone(struct dump_turns *t);
