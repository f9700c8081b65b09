// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conditions that are logged once: when they begin, and if that matters when they end. The owner of
 * a struct told (zero: nothing was logged) lists its conditions in an enum:
 *
 *	enum { TOLD_DISK_HANGS, TOLD_NO_CHILD };
 *
 *	if (told_first(&d->told, TOLD_NO_CHILD))
 *		log_error("no process can be started");
 *
 *	switch (told_change(&d->told, TOLD_DISK_HANGS, hangs)) {
 *	case TOLD_BEGINS: log_error("the disk hangs"); break;
 *	case TOLD_ENDS:	  log_info("the disk answers again"); break;
 *	case TOLD_SAME:	  break;
 *	}
 *
 * `told = (struct told){ 0 }` forgets all. Texts that repeat with other numbers are for log_allow()
 * and util/log_flood.h.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct told {
	uint32_t things; /* bit 1 << thing: it holds, and was logged */
};

enum told_change { TOLD_SAME, TOLD_BEGINS, TOLD_ENDS };

/* Does `thing` (0 to 31) hold, as of the last call for it? */
static inline bool told_holds(const struct told *t, unsigned thing)
{
	assert(thing < 32);
	return t->things >> thing & 1;
}

/* Notes whether `thing` holds now. Returns how that differs from the last call. */
static inline enum told_change told_change(struct told *t, unsigned thing, bool holds)
{
	if (told_holds(t, thing) == holds)
		return TOLD_SAME;
	t->things ^= 1u << thing;
	return holds ? TOLD_BEGINS : TOLD_ENDS;
}

/* Notes that `thing` holds. True: it did not hold before. */
static inline bool told_first(struct told *t, unsigned thing)
{
	return told_change(t, thing, true) == TOLD_BEGINS;
}
