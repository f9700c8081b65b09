// SPDX-License-Identifier: BSD-2-Clause
/* The routing lists of the configuration, turned into options of a routing job. */
#pragma once

#include "conf/files.h"
#include "route/core/engine.h"

/* The routing options; they point into `files` (NULL: no lists), which must stay valid. */
struct route_options route_lists_options(const struct conf *conf, const struct conf_files *files);
