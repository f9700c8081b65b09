// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of a machine, one per standby: MAX_REMOTE_SMS of a struct of its own, whose first member is
 * the GUID of the standby's port; 0: the row is free. `n_used` is how many rows at the front were
 * ever in use: loops look at no others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/types.h"

/* The row of `guid` in `rows`, each of `size` bytes; NULL: none. */
void *peer_row_find(const void *rows, size_t size, guid_t guid);

/*
 * A standby has come, or has gone: its row is cleared, and if it came it gets a free one, of which
 * all but the GUID is 0. GUID 0 has no row. What a row points to is freed by the caller before.
 */
void peer_row_change(void *rows, size_t size, unsigned *n_used, guid_t guid, bool connected);
