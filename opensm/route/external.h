// SPDX-License-Identifier: BSD-2-Clause
/*
 * Engines that come from a plugin (include/opensm/routing_plugin.h): its picture of the fabric is made from a
 * topo, what it fills becomes routes. What it writes is looked at entry by entry; whether the whole is any
 * good is for the judge (check.h).
 */
#pragma once

#include "opensm/routing_plugin.h"
#include "route/engine.h"

/* May an engine be called this? "_" and "-", letters and digits, and none of ours. */
bool external_name_is_good(const char *name);

/* An engine that asks `from`, which must stay, together with its name. */
struct route_engine external_engine(const struct opensm_routing_engine *from);
