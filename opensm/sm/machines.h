// SPDX-License-Identifier: BSD-2-Clause
/* The table of the machines of sm/: machines.c has the rows, sm.c goes through them. */
#pragma once

#include "sm/sm_internal.h"

/* A row; members are in the order of a machine's life, and most rows leave most of them out. */
struct machine {
	const char *name;
	void (*new)(struct sm *sm, const struct sm_paths *paths);
	/* All machines exist: the machine takes messages of the channel from now on. */
	void (*listen)(struct sm *sm);

	/* Once per dispatch: does the work that is due. */
	void (*tick)(struct sm *sm);
	/* After MADs were taken in: answers the requests among them. */
	void (*serve)(struct sm *sm);
	/* Repeatedly within a dispatch: asks or writes more than could be queued before. */
	void (*feed)(struct sm *sm);
	/* The time of the next of these calls with work to do; MONO_NEVER: none. */
	mono_t (*next)(const struct sm *sm);

	/* Events of wires.def: before sm->state becomes `next`; after it has changed. */
	void (*state_leaves)(struct sm *sm, enum sm_state next);
	void (*state_changed)(struct sm *sm);
	/* sm->conf was replaced; `before`: the former configuration. */
	void (*reconfigured)(struct sm *sm, const struct conf *before);
	void (*sweep_ended)(struct sm *sm);
	/* Before the node is removed; called from the last row to the first. */
	void (*node_goes)(struct sm *sm, struct node *n);

	/*
	 * Before free() of any row: ends requests under way by calling their callers back, while
	 * the other machines still exist. Used in place of free().
	 */
	void (*end)(struct sm *sm);
	/* Frees the machine, from the last row to the first. Gets and Sets have ended. */
	void (*free)(struct sm *sm);
};

extern const struct machine machines[];
extern const unsigned n_machines;

#define MACHINES_MAX 64

/*
 * Columns that every dispatch walks, each as a list that ends with NULL, as most rows leave them
 * out.
 */
struct machine_lists {
	void (*tick[MACHINES_MAX])(struct sm *sm);
	void (*serve[MACHINES_MAX])(struct sm *sm);
	void (*feed[MACHINES_MAX])(struct sm *sm);
	mono_t (*next[MACHINES_MAX])(const struct sm *sm);
};

struct machine_lists *machine_lists_new(void);

/* Loops over the rows that have this column, from the first to the last, and backwards. */
#define EACH_MACHINE(m, column)                                                                    \
	for (const struct machine *m = machines; m < machines + n_machines; m++)                   \
		if (m->column)
#define EACH_MACHINE_BACK(m, column)                                                               \
	for (const struct machine *m = machines + n_machines; m != machines && m--;)               \
		if (m->column)
