// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables as a file, exactly as they were in memory, with the topo they were made for: kept when an
 * engine died on them, and read by `opensm --plan --before`. Only the version of the program that
 * wrote the file reads it.
 */
#pragma once

#include <stdio.h>

#include "route/core/routes.h"

#define ROUTES_SAVED_MAX ((size_t)1 << 31)

/* 0 or -errno of the stream. */
int routes_save(const struct routes *r, FILE *out);
/* One reference; NULL and `why`. */
struct routes *routes_restore(const void *bytes, size_t n, char *why, size_t why_len);
