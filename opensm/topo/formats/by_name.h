// SPDX-License-Identifier: BSD-2-Clause
/* Cables between nodes that are known by names, line by line; in the end, a picture of them. */
#pragma once

#include "conf/conf.h"
#include "topo/expect.h"

struct by_name_end {
	const char *name; /* name of the node, in the memory that by_name_keep() copies to */
	uint8_t port;
};

/* One cable, as a line of the file says it. */
struct by_name_cable {
	struct by_name_end at, to;
	enum expect_use use;
	struct expect_rate rate;
	unsigned line;
};

/* Zero-initialise, and set path and report. */
struct by_name {
	const char *path;
	struct conf_report *report;
	struct arena names;
	struct by_name_cable *rows; /* each cable twice, once from each end */
	size_t n, cap;
};

/* A copy that lives as long as `b`. */
const char *by_name_keep(struct by_name *b, const char *name);
/* Adds a cable, also one that was added from its other end. */
void by_name_add(struct by_name *b, const struct by_name_cable *cable);
/*
 * The picture. NULL: two lines contradict each other, which is in the report. The rows are sorted.
 */
struct expect *by_name_make(struct by_name *b);
void by_name_done(struct by_name *b);
