// SPDX-License-Identifier: BSD-2-Clause
/*
 * A disk that is full, for programs that are linked with --wrap=ledger_store_write: nothing can be
 * stored in one ledger, or in any ledger while some file is there.
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "ledger/store.h"

static const struct ledger_store *full_store; /* nothing can be written to it; NULL: none is full */
static const char *full_file; /* while this file is there, nothing can be written; NULL: none */

int __real_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta);
int __wrap_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta);

int __wrap_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta)
{
	if ((full_store && s == full_store) || (full_file && access(full_file, F_OK) == 0))
		return -ENOSPC;
	return __real_ledger_store_write(s, rows, len, meta);
}
