// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests by the time at which something is to be done about them: a binary heap. Private to mad/.
 */
#pragma once

#include "mad/xact.h"

struct due {
	struct mad_xact **heap;
	size_t n, cap;
};

/* The earliest request; NULL: none. */
struct mad_xact *due_first(const struct due *d);
/* Adds `x`, or moves it: x->due is the time. */
void due_set(struct due *d, struct mad_xact *x, mono_t at);
/* Removes `x`; it need not be there. */
void due_remove(struct due *d, struct mad_xact *x);
void due_clear(struct due *d);
