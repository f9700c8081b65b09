// SPDX-License-Identifier: BSD-2-Clause
/*
 * Engines of a plugin (include/opensm/routing_plugin.h): the plugin's picture of the fabric is made
 * from a topo, and its tables become routes. Every entry is checked here; routes_check() (check.h)
 * checks the whole.
 */
#pragma once

#include "opensm/routing_plugin.h"
#include "route/core/engine.h"

/* Is this name allowed: "_", "-", letters and digits, and not that of a built-in engine? */
bool external_name_is_good(const char *name);

/* An engine that runs `from`, which must stay valid with its name. */
struct route_engine external_engine(const struct opensm_routing_engine *from);
