// SPDX-License-Identifier: BSD-2-Clause
/* Between sysconfig.c and shell.c. */
#pragma once

#include "launch/sysconfig.h"

bool sysconfig_is_ours(const char *name);
/* A new setting without value; valid until the next one. */
struct sysconfig_setting *sysconfig_add(struct sysconfig *s, const char *name, size_t len);
