// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lists of hosts in the order of their ranks: host_order_file, and --hosts of a plan.
 *
 *	0x0002c90300000001	# GUID of a node or of a port
 *	"node 17 mlx5_0"	# its description; quotes may be left out
 *	node18			# the first word of it: all adapters of this host
 *
 * One on each line; '#' at the start or behind a blank begins a comment. Whether there is such a
 * host is not known here.
 */
#pragma once

#include <stddef.h>

#include "conf/conf.h"
#include "util/types.h"

#define CONF_HOSTS_MAX 65536 /* lines; more are ignored, with a finding */

struct conf_host {
	guid_t guid; /* 0: the host is given by name */
	char *name;  /* NULL: the host is given by GUID */
	unsigned line, column;
};

struct conf_hosts {
	struct conf_host *items; /* in the order of the file, each GUID and each name once */
	size_t n;
};

/* Returns as conf_prefixes_read_text(). */
int conf_hosts_read_text(const char *path, const char *text, size_t len, struct conf_hosts *ret,
			 struct conf_report *r);
void conf_hosts_clear(struct conf_hosts *h);
