// SPDX-License-Identifier: BSD-2-Clause
/* What the launcher has to say: a line each on stderr, or a record with fields where that is the journal. */
#pragma once

#include <syslog.h>

/* `level` is one of syslog(3). */
void say(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "instance NAME text", with OPENSM_INSTANCE=NAME. */
void say_of(const char *name, int level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
