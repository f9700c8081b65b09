// SPDX-License-Identifier: BSD-2-Clause
/* Which endpoint a path belongs to. */
#pragma once

#include "rest/rest.h"

/*
 * The first row that fits method and path: 0. -ENOENT: no row fits the path; -EPERM: only rows of
 * other methods do.
 */
int route_find(const struct rest_endpoint *table, enum rest_method method, const char *path,
	       const struct rest_endpoint **ret);
/* Does `path` fit? */
bool route_fits(const char *pattern, const char *path);
/*
 * The parts of `path` for each {}, as texts in `ret` (of REST_SEGMENTS_MAX), in memory that the
 * caller frees. The path must fit.
 */
char *route_segments(const char *pattern, const char *path, const char **ret, size_t *ret_n);
/* "GET" ...; false: there is no such method here. HEAD is a GET. */
bool method_from_name(const char *name, enum rest_method *ret);
