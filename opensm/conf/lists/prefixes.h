// SPDX-License-Identifier: BSD-2-Clause
/*
 * prefix-routes.conf: which router leads to which subnet (qos.md 8).
 *
 * One route a line, "PREFIX GUID", numbers of base 16, '*' for any of either; '#' begins a comment.
 * The first line that fits counts. Whether there is such a router is not known here.
 */
#pragma once

#include <stddef.h>

#include "conf/conf.h"
#include "util/types.h"

#define CONF_PREFIXES_MAX 65536 /* lines; more are ignored, with a finding */

struct conf_prefix {
	uint64_t prefix; /* 0: any */
	guid_t guid;	 /* port GUID of the router; 0: any router */
};

struct conf_prefixes {
	struct conf_prefix *items; /* in the order of the file */
	size_t n;
};

/*
 * Returns 0, or -errno with a finding if it is no text: the result is then empty. A faulty line is
 * a finding and is left out. `path` is the name in findings. `ret` is overwritten;
 * conf_prefixes_clear() frees it.
 */
int conf_prefixes_read_text(const char *path, const char *text, size_t len,
			    struct conf_prefixes *ret, struct conf_report *r);
void conf_prefixes_clear(struct conf_prefixes *p);

/* The first route that matches a subnet prefix, or NULL. */
const struct conf_prefix *conf_prefixes_find(const struct conf_prefixes *p, uint64_t prefix);
