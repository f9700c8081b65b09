// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of the cache folder that builds before the ledger kept: read once at the start, renamed
 * (".taken" behind the name) when their content is in the ledger, and never looked at again.
 */
#pragma once

#include <stddef.h>

#include "sm/sm.h"

/* The path of such a file, which the caller frees; NULL: there is no cache folder. */
char *former_path(const struct sm_paths *paths, const char *name);
/*
 * Reads the file. Returns 0, and its contents, which the caller frees; -ENOENT: there is no file;
 * -EFBIG and others: it cannot be read.
 */
int former_read(const char *path, size_t limit, char **ret, size_t *ret_len);
/* Renames a file whose contents are in the ledger, or void; `what`: the contents, for the log. */
void former_taken(const char *path, const char *what);
/* Renames a damaged or unreadable file (".bad"); `what`: the consequence, for the log. */
void former_is_bad(const char *path, int error, const char *what);
