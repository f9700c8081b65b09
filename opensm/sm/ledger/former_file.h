// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of the cache folder that builds before the ledger kept: read once at the start, renamed
 * (".taken" behind the name) when their content is in the ledger, and never looked at again.
 */
#pragma once

#include <stddef.h>

#include "sm/sm.h"

/* To be freed; NULL: there is no cache folder. */
char *former_path(const struct sm_paths *paths, const char *name);
/*
 * Reads the file: 0 and what it has, to be freed; -ENOENT: there is none; -EFBIG and others: it
 * cannot be read.
 */
int former_read(const char *path, size_t limit, char **ret, size_t *ret_len);
/* If it is there: its content is in the ledger, or counts for nothing; `what`, for the log. */
void former_taken(const char *path, const char *what);
/* The file is damaged, or cannot be read: renamed (".bad"); `what` that means, for the log. */
void former_is_bad(const char *path, int error, const char *what);
