// SPDX-License-Identifier: BSD-2-Clause
/*
 * per-module-logging.conf: log flags of single source files (qos.md 8), beside those of all.
 *
 * One module a line, "MODULE FLAGS"; between them blanks, tabs, ',' or '='; flags as in log_flags
 * (0x08, 010, 8); '#' begins a comment. A module is a source file of ours ("sm/trust/traps.c",
 * "traps.c", or "sm/traps.c" as it once was: a path whose top folder has one file of that name), a
 * folder ("sa/", "sa"), or a source file of OpenSM ("osm_trap_rcv.c"), which stands for its
 * counterparts here: conf_modules_peer().
 */
#pragma once

#include <stddef.h>

#include "conf/conf.h"
#include "util/log.h"

#define CONF_MODULES_MAX 1024 /* more are ignored, with a finding */

struct conf_modules {
	struct log_module *items; /* the names are constants, or of the list of source files */
	size_t n;
};

/*
 * Returns 0; or -errno with a finding if the text cannot be read as a whole: the result is then
 * empty. A faulty line is a finding and is left out. `ret` is overwritten.
 */
int conf_modules_read_text(const char *path, const char *text, size_t len, struct conf_modules *ret,
			   struct conf_report *r);
/* As conf_modules_read_text(), for a file; -ENOENT without a finding. */
int conf_modules_read(const char *path, struct conf_modules *ret, struct conf_report *r);
void conf_modules_clear(struct conf_modules *m);

/*
 * The counterparts of a source file of OpenSM: modules separated by blanks. NULL: OpenSM has no
 * such file.
 */
const char *conf_modules_peer(const char *name);
