// SPDX-License-Identifier: BSD-2-Clause
/*
 * /etc/sysconfig/opensm and /etc/default/opensm, which other launch scripts source in a shell:
 * lines of NAME=value (ini/ini.h). A line that only a shell could tell the meaning of is an error
 * if it may concern one of our settings, else a warning.
 */
#pragma once

#include "conf/conf.h"
#include "ini/ini.h"

/* Settings that mean something to the launcher. */
#define SYSCONFIG_GUIDS	   "GUIDS"
#define SYSCONFIG_PRIORITY "PRIORITY"
#define SYSCONFIG_PORTS	   "PORTS"
#define SYSCONFIG_ORDER	   "LAUNCH_ORDER"
#define SYSCONFIG_STRICT   "STRICT"

struct sysconfig {
	char *file; /* NULL: there is none */
	struct ini ini;
};

/*
 * Reads `path`. 0: read, or there is no such file. -EINVAL: one of our settings cannot be known, a
 * finding of CONF_ERROR says where. Other -errno: not readable as a whole, with a finding. `ret` is
 * to be cleared in any case.
 */
int sysconfig_read(const char *path, struct sysconfig *ret, struct conf_report *r);
/* The same of text in memory; `path` is the name for findings. */
int sysconfig_read_text(const char *path, const char *text, size_t len, struct sysconfig *ret,
			struct conf_report *r);
/* The last assignment of `name`; NULL if there is none or it is blank. */
const struct ini_item *sysconfig_find(const struct sysconfig *s, const char *name);
void sysconfig_clear(struct sysconfig *s);
