// SPDX-License-Identifier: BSD-2-Clause
/* Patterns and paths are compared part by part; {name} is any one part. */
#include "rest/http/router.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "util/mem.h"

/* Is the part at this `/` any? */
static bool is_any(const char *pattern)
{
	return pattern[1] == '{';
}

/* Compares one part of pattern and path, both at a `/`, and moves both on. */
static bool step(const char **pattern, const char **path)
{
	size_t n = strcspn(*pattern + 1, "/") + 1, m = strcspn(*path + 1, "/") + 1;
	bool fits = is_any(*pattern) ? m > 1 : n == m && !memcmp(*pattern, *path, n);

	*pattern += n;
	*path += m;
	return fits;
}

bool route_fits(const char *pattern, const char *path)
{
	assert(pattern && path);
	while (*pattern == '/' && *path == '/')
		if (!step(&pattern, &path))
			return false;
	return !*pattern && !*path;
}

int route_find(const struct rest_endpoint *table, enum rest_method method, const char *path,
	       const struct rest_endpoint **ret)
{
	int r = -ENOENT;

	assert(table && path && ret);
	for (; table->pattern; table++) {
		if (!route_fits(table->pattern, path))
			continue;
		if (table->method == method) {
			*ret = table;
			return 0;
		}
		r = -EPERM;
	}
	return r;
}

char *route_segments(const char *pattern, const char *path, const char **ret, size_t *ret_n)
{
	char *copy = xstrdup(path);
	const char *at = copy;
	size_t n = 0;

	assert(route_fits(pattern, path) && ret && ret_n);
	while (*pattern) {
		bool any = is_any(pattern);
		const char *part = at + 1;

		step(&pattern, &at);
		if (any && n < REST_SEGMENTS_MAX)
			ret[n++] = part;
	}
	/* Not earlier, as the walk looks for slashes. */
	for (char *c = copy; *c; c++)
		if (*c == '/')
			*c = '\0';
	*ret_n = n;
	return copy;
}

bool method_from_name(const char *name, enum rest_method *ret)
{
	static const struct {
		const char *name;
		enum rest_method method;
	} rows[] = {
		{ "GET", REST_GET },	   { "HEAD", REST_GET }, { "POST", REST_POST },
		{ "PUT", REST_PUT }, { "DELETE", REST_DELETE },
	};

	assert(name && ret);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, name))
			continue;
		*ret = rows[i].method;
		return true;
	}
	return false;
}
