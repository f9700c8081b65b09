// SPDX-License-Identifier: BSD-2-Clause
#include "tests/lib/hostnames.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

struct names {
	char **all;
	size_t n, cap, max;
};

static bool add_range(struct names *ret, const char *prefix, size_t prefix_len, const char *range,
		      size_t len)
{
	_cleanup_free_ char *text = xasprintf("%.*s", (int)len, range);
	char *dash = strchr(text, '-');
	uint64_t from, to;
	int width;

	if (dash)
		*dash = '\0';
	width = (int)strlen(text);
	if (str_to_u64(text, 10, UINT64_MAX / 2, &from) < 0)
		return false;
	to = from;
	if (dash && str_to_u64(dash + 1, 10, UINT64_MAX / 2, &to) < 0)
		return false;
	if (to < from || to - from >= ret->max - ret->n)
		return false;
	for (uint64_t i = from; i <= to; i++) {
		GROW(ret->all, ret->n + 1, ret->cap);
		ret->all[ret->n++] = xasprintf("%.*s%0*llu", (int)prefix_len, prefix, width,
					       (unsigned long long)i);
	}
	return true;
}

static bool add_brackets(struct names *ret, const char *prefix, size_t prefix_len, const char *from,
			 const char *end)
{
	while (from <= end) {
		size_t len = strcspn(from, ",]");

		if (!len || !add_range(ret, prefix, prefix_len, from, len))
			return false;
		from += len + 1;
	}
	return true;
}

static bool add_all(struct names *ret, const char *list)
{
	while (*list) {
		size_t len = strcspn(list, ",[]");
		const char *close = strchr(list, ']');

		if (list[len] == '[') {
			if (!close || close == list + len + 1 ||
			    !add_brackets(ret, list, len, list + len + 1,
					  close - 1))
				return false;
			list = close + 1;
		} else {
			if (!len || list[len] == ']' || ret->n >= ret->max)
				return false;
			GROW(ret->all, ret->n + 1, ret->cap);
			ret->all[ret->n++] = xasprintf("%.*s", (int)len, list);
			list += len;
		}
		if (*list && (*list++ != ',' || !*list))
			return false;
	}
	return true;
}

char **hostlist_expand(const char *list, size_t max, size_t *ret_n)
{
	struct names names = { .all = xcalloc(1, sizeof(char *)), .cap = 1, .max = max };

	if (add_all(&names, list)) {
		*ret_n = names.n;
		return names.all;
	}
	while (names.n)
		free(names.all[--names.n]);
	free(names.all);
	return NULL;
}
