// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is said once: when it begins, and if that matters when it ends, not as long as it lasts. The
 * owner of a struct told (zero: nothing was said) lists its things in an enum:
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
 * Everything is forgotten by `told = (struct told){ 0 }`. Texts that repeat with other figures are
 * for log_allow() and util/log_flood.h.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

struct told {
	uint32_t things; /* 1 << thing: holds, and was said */
};

enum told_change { TOLD_SAME, TOLD_BEGINS, TOLD_ENDS };

/* Does `thing` (0 to 31) hold, as told last? */
static inline bool told_holds(const struct told *t, unsigned thing)
{
	assert(thing < 32);
	return t->things >> thing & 1;
}

/* `thing` holds now, or not: how that differs from what was told last. */
static inline enum told_change told_change(struct told *t, unsigned thing, bool holds)
{
	if (told_holds(t, thing) == holds)
		return TOLD_SAME;
	t->things ^= 1u << thing;
	return holds ? TOLD_BEGINS : TOLD_ENDS;
}

/* `thing` holds. True: that was not told yet. */
static inline bool told_first(struct told *t, unsigned thing)
{
	return told_change(t, thing, true) == TOLD_BEGINS;
}
