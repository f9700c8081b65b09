// SPDX-License-Identifier: BSD-2-Clause
/*
 * Is convergence stuck? The age of the oldest change that is not served.
 *
 * A change counts from the moment it is learnt of (a trap, PortStateChange, a table found changed,
 * a request of the administrator): whatever asks for a sweep. It is served when a sweep that began
 * after that has ended with nothing open:
 *
 *   ASKED --a sweep that covers it begins--> IN WORK --it ends, nothing is open--> served
 *     ^                                         |
 *     '-------- it broke off, or with errors ---'
 *
 * What a sweep cannot mend and names as unserved (a port that stays in INIT) is no reason to wait
 * for. A change that is older than is usual on a fabric of this size is told, again whenever its
 * age has doubled, and stands in the status line, which is renewed although no sweep ends: the
 * cause may be that none does.
 *
 * It is stuck if, for as long as that, nothing has moved either: no answer came to the running
 * sweep, and no step of it ended. Only some sweeps move a change: one for which sweep after sweep
 * ends with errors is stuck however many answers these get.
 *
 * The machine knows these events and the time, nothing else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sm/sweep/sweep_kind.h"
#include "util/mono.h"

struct change_age;

struct change_age *change_age_new(void); /* free() ends it */

/*
 * Called when something asks for a sweep of this kind; `why` is copied. Before the first tick `now`
 * need not be known.
 */
void change_age_asked(struct change_age *a, enum sweep_kind kind, const char *why, mono_t now);
void change_age_began(struct change_age *a, enum sweep_kind kind, mono_t now);
/* Called when the running sweep got an answer, or a step of it ended. */
void change_age_moved(struct change_age *a, mono_t now);
/* Called after the sweep. `served`: nothing is left that another sweep could mend. */
void change_age_ended(struct change_age *a, bool served, mono_t now);
/* Drops the changes of these kinds, bits 1 << enum sweep_kind: no sweep will follow. */
void change_age_drop(struct change_age *a, unsigned kinds);

/*
 * The oldest change that is not served; false: none. `n_nodes`: the size of the fabric, which
 * decides which age is usual.
 */
struct oldest_change {
	const char *why; /* reason of the change; valid until the next event */
	mono_t age;	 /* >= 0 */
	bool is_late;	 /* set if the age is greater than is usual */
	bool stuck;	 /* set if it is late and nothing has moved for as long */
};
bool change_age_oldest(const struct change_age *a, uint32_t n_nodes, mono_t now,
		       struct oldest_change *ret);

/* Actions that are due at `now`: bits. */
enum {
	CHANGE_AGE_TELL = 1,	    /* log a record about the oldest change, which is late */
	CHANGE_AGE_TELL_SERVED = 2, /* log that changes are served again, after such records */
	CHANGE_AGE_STATUS = 4,	    /* renew the status line */
};
unsigned change_age_tick(struct change_age *a, uint32_t n_nodes, mono_t now);
mono_t change_age_next(const struct change_age *a, uint32_t n_nodes, mono_t now);
