// SPDX-License-Identifier: BSD-2-Clause
/*
 * What /etc/sysconfig/opensm or /etc/default/opensm says: files that a shell would source.
 *
 * The reader follows the shell's quoting, and $NAME, ${NAME}, ${NAME-word} and ${NAME:-word} of
 * names set further up in the file; it runs nothing. What only a shell can know ($(..), backticks,
 * $'..', commands) is a finding: an error where one of our settings depends on it, else a warning.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "conf/conf.h"

/* Settings that mean something to the launcher; any other is the shell's own business. */
#define SYSCONFIG_GUIDS "GUIDS"
#define SYSCONFIG_PRIORITY "PRIORITY"
#define SYSCONFIG_PORTS "PORTS"
#define SYSCONFIG_ORDER "LAUNCH_ORDER"
#define SYSCONFIG_STRICT "STRICT"

struct sysconfig_setting {
	char *name, *value;
	unsigned line, column; /* of the value, from 1; columns are bytes */
	bool unknown;	       /* only a shell knows the value */
};

/* Zero-initialise; sysconfig_clear() gives everything back. */
struct sysconfig {
	char *file; /* NULL: there is none */
	struct sysconfig_setting *items;
	size_t n, cap;
};

/*
 * Reads `path`. 0: read, or there is no such file. -EINVAL: one of our settings cannot be known, a
 * finding of CONF_ERROR says where. Other -errno: not readable as a whole, with a finding.
 */
int sysconfig_read(const char *path, struct sysconfig *ret, struct conf_report *r);
/* The same of text in memory; `path` is the name for findings. 0 or -EINVAL. */
int sysconfig_read_text(const char *path, const char *text, size_t len, struct sysconfig *ret,
			struct conf_report *r);

/* One of the settings above. */
bool sysconfig_is_ours(const char *name);
/* The last assignment of `name`; NULL if there is none or it is blank. */
const struct sysconfig_setting *sysconfig_find(const struct sysconfig *s, const char *name);
void sysconfig_clear(struct sysconfig *s);
