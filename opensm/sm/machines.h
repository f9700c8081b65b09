// SPDX-License-Identifier: BSD-2-Clause
/* The table of the machines of sm/: machines.c has the rows, sm.c goes through them. */
#pragma once

#include "sm/sm_internal.h"

/* Columns are in the order of a machine's life; most rows leave most of them out. */
struct machine {
	const char *name;
	void (*new)(struct sm *sm, const struct sm_paths *paths);
	/* All machines are made: messages of the channel are taken in from now on. */
	void (*listen)(struct sm *sm);

	/* Once per dispatch: work whose time has come. */
	void (*tick)(struct sm *sm);
	/* After MADs were taken in: answers to requests that they brought. */
	void (*serve)(struct sm *sm);
	/* Again and again within a dispatch: there is more to ask or to write than was queued. */
	void (*feed)(struct sm *sm);
	/* When the next of these calls has something to do; MONO_NEVER: nothing waits. */
	mono_t (*next)(const struct sm *sm);

	/* Events of wires.def. sm->state is about to become `next`; it has changed. */
	void (*state_leaves)(struct sm *sm, enum sm_state next);
	void (*state_changed)(struct sm *sm);
	/* sm->conf is another one than `before`. */
	void (*reconfigured)(struct sm *sm, const struct conf *before);
	void (*sweep_ended)(struct sm *sm);
	/* The node is about to be removed. From the last row to the first. */
	void (*node_goes)(struct sm *sm, struct node *n);

	/*
	 * In place of free(), before that of any other row: callers of requests under way are
	 * called back, and that while the other machines are there.
	 */
	void (*end)(struct sm *sm);
	/* From the last row to the first. Gets and Sets under way have ended. */
	void (*free)(struct sm *sm);
};

extern const struct machine machines[];
extern const unsigned n_machines;

#define MACHINES_MAX 64

/*
 * The columns of every dispatch, each as a list that ends with NULL: they are gone through for each
 * answer, and most rows leave them out.
 */
struct machine_lists {
	void (*tick[MACHINES_MAX])(struct sm *sm);
	void (*serve[MACHINES_MAX])(struct sm *sm);
	void (*feed[MACHINES_MAX])(struct sm *sm);
	mono_t (*next[MACHINES_MAX])(const struct sm *sm);
};

struct machine_lists *machine_lists_new(void);

/* The rows that have this column, from the first to the last, and the other way round. */
#define EACH_MACHINE(m, column)                                                                    \
	for (const struct machine *m = machines; m < machines + n_machines; m++) if (m->column)
#define EACH_MACHINE_BACK(m, column)                                                               \
	for (const struct machine *m = machines + n_machines; m != machines && m--;) if (m->column)
