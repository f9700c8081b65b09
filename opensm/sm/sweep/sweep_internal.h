// SPDX-License-Identifier: BSD-2-Clause
/* Between sweep.c, which runs lists of steps, and steps.c, which has them. */
#pragma once

#include "sm/sm_internal.h"

/* One step of a sweep; it begins with start() or try_start(). */
struct step {
	const char *name;
	void (*start)(struct sm *sm);
	bool (*try_start)(struct sm *sm);  /* false: the sweep stops here */
	bool (*busy)(const struct sm *sm); /* NULL: never */
	bool computes; /* set if answers that arrive meanwhile do not belong to it */
};

struct step_list {
	const char *name;
	const struct step *steps;
	unsigned n_steps;
};
extern const struct step_list sweep_lists[SWEEP_KINDS]; /* steps.c */

/* Notes whether our own link is down, and logs a change. */
void sweep_port_down(struct sm *sm, bool down);
/* Raises SWEEP_START, DISCOVERED, SUBNET_UP or SWEEP_DONE. `through`: with DONE. */
void sweep_tell(struct sm *sm, enum sm_event_kind event, bool through);
