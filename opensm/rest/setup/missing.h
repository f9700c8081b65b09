// SPDX-License-Identifier: BSD-2-Clause
/* Files that opensm-rest needs and that are not there, each with the command that makes it. */
#pragma once

#include "rest/setup/conf.h"

/*
 * Says one sentence for each missing file; returns their number. `conf` NULL: the configuration is
 * looked for.
 */
unsigned missing_files(const char *conf_path, const struct rest_conf *conf,
		       void (*say)(const char *sentence));
