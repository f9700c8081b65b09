// SPDX-License-Identifier: BSD-2-Clause
/* The lists of routing as they were read, turned into options of a routing job. */
#pragma once

#include "conf/files.h"
#include "route/engine.h"

/* Points into `files` (NULL: no lists), which must stay as long as the options are used. */
struct route_options route_lists_options(const struct conf *conf, const struct conf_files *files);
