// SPDX-License-Identifier: BSD-2-Clause
/* Between sweep.c, which runs lists of steps, and steps.c, which has them. */
#pragma once

#include "sm/sm_internal.h"

/* A step begins with start() or try_start(). */
struct step {
	const char *name;
	void (*start)(struct sm *sm);
	bool (*try_start)(struct sm *sm);  /* false: the sweep stops here */
	bool (*busy)(const struct sm *sm); /* NULL: never */
	bool computes; /* answers that come meanwhile are not to it */
};

struct step_list {
	const char *name;
	const struct step *steps;
	unsigned n_steps;
};
extern const struct step_list sweep_lists[SWEEP_KINDS]; /* steps.c */

/* Our own link is down, or is not: told when it changes. */
void sweep_port_down(struct sm *sm, bool down);
/* SWEEP_START, DISCOVERED, SUBNET_UP or SWEEP_DONE of the running sweep. `through`: for DONE. */
void sweep_tell(struct sm *sm, enum sm_event_kind event, bool through);
