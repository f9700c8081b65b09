// SPDX-License-Identifier: BSD-2-Clause
/* What the launcher has to say: a line each on stderr, or a record with fields where that is the journal. */
#pragma once

#include <syslog.h>

#include "util/log.h"

/* `level` is one of syslog(3). */
void say(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "instance NAME text", with OPENSM_INSTANCE=NAME; without a name as say(). `id` may be LOG_ID_NONE. */
void say_of(enum log_id id, const char *name, int level, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
