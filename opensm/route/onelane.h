// SPDX-License-Identifier: BSD-2-Clause
/*
 * One lane on any graph: first up, then down, in an order of all switches; the last resort.
 *
 * Switches are ordered by hops from the middle of their part of the fabric. A step to a switch earlier in that
 * order is up. No path goes up after it went down, so no circle of cables can wait for itself, and as every
 * switch has a way up to the middle, and the middle a way down to every switch, nobody is left out.
 */
#pragma once

#include "route/engine.h"
#include "route/graph.h"

/* Routes of name `engine`, one lane. NULL: cancelled. */
struct routes *onelane_routes(const struct route_job *job, const struct graph *g, const char *engine);
