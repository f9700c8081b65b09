// SPDX-License-Identifier: BSD-2-Clause
/*
 * The settings of a host, from /etc/sysconfig/opensm and /etc/default/opensm, which other launch
 * scripts source in a shell: lines of NAME=value (ini/ini.h). A line that only a shell could
 * interpret is an error if it may concern one of our settings, else a warning.
 */
#pragma once

#include "conf/conf.h"

enum sysconfig_name {
	SYSCONFIG_GUIDS,
	SYSCONFIG_PRIORITY,
	SYSCONFIG_PORTS,
	SYSCONFIG_ORDER,
	SYSCONFIG_STRICT,
	SYSCONFIG_N,
};

struct sysconfig_setting {
	const char *name;
	char *value; /* value as a shell would assign it, not blank; NULL: no file sets it */
	const char *file;
	unsigned line, column;
};

struct sysconfig {
	struct sysconfig_setting of[SYSCONFIG_N];
};

/*
 * Reads `path`, which must outlive `s`: the last line with a setting is used, unless an earlier
 * file set it. 0: read, or there is no such file. -EINVAL: one of our settings cannot be
 * determined, a finding of CONF_ERROR says where. Other -errno: not readable as a whole, with a
 * finding. `s` is zeroed before the first file, and to be cleared in any case.
 */
int sysconfig_read(const char *path, struct sysconfig *s, struct conf_report *r);
/* Reads text in memory like sysconfig_read(); `path` is the name for findings. */
int sysconfig_read_text(const char *path, const char *text, size_t len, struct sysconfig *s,
			struct conf_report *r);
/* The setting of that name as the file has it; NULL: the file does not set it. */
const struct sysconfig_setting *sysconfig_get(const struct sysconfig *s, enum sysconfig_name name);
void sysconfig_clear(struct sysconfig *s);
