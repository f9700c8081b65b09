// SPDX-License-Identifier: BSD-2-Clause
/* The options and files that a master shares: those of the groups that must agree, without keys. */
#include <string.h>

#include "sm/share/share_internal.h"

bool share_holds_file(enum conf_id id)
{
	for (unsigned kind = 0; kind < CONF_N_FILES; kind++) {
		if (conf_file_option(kind) == id)
			return kind == CONF_FILE_PARTITIONS || kind == CONF_FILE_PREFIXES ||
			       kind == CONF_FILE_MC_ROOTS || kind == CONF_FILE_EXPECTED ||
			       kind == CONF_FILE_QOS ||
			       conf_file_is_of_routing(kind);
	}
	return false;
}

/* Keys are left out; the next version (issue 16) will share them. */
bool share_holds_option(enum conf_id id)
{
	const struct conf_option *o = conf_option(id);

	return config_group_of(id) && !conf_is_secret(id) && !share_holds_file(id) &&
	       !(o->type == CONF_STRING && strstr(o->range, "path"));
}
