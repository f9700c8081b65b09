// SPDX-License-Identifier: BSD-2-Clause
/* What the launcher has to say: a line each on stderr, with its priority where that is the journal. */
#pragma once

#include <syslog.h>

/* `level` is one of syslog(3). */
void say(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
