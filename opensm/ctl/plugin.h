// SPDX-License-Identifier: BSD-2-Clause
/*
 * Event plugins (include/opensm/event_plugin.h): loaded at the start, told what happens, asked for routing
 * engines. What goes wrong with one is logged, and costs that one alone.
 */
#pragma once

#include "ctl/scene.h"
#include "perf/perf.h"
#include "route/engine.h"

struct plugins;

/* Loads what event_plugin_name names. `scene` must outlive it. Never NULL. */
struct plugins *plugins_new(const struct scene *scene);
/* destroy() of each, in the order of loading. Jobs with their engines must have ended. NULL is fine; returns NULL. */
struct plugins *plugins_free(struct plugins *ps);
void plugins_event(struct plugins *ps, const struct sm_event *event);
/* Counters of a port grew, in `seconds` (hooks of perf/perf.h). */
void plugins_port_errors(struct plugins *ps, const struct perf_node *node, uint8_t port,
			 const uint64_t deltas[PERF_ERRORS], int64_t seconds);
void plugins_port_counts(struct plugins *ps, const struct perf_node *node, uint8_t port,
			 const uint64_t deltas[PERF_DATA], int64_t seconds);
/* What they registered; stays as it is until plugins_free(). */
const struct route_engines *plugins_engines(const struct plugins *ps);
/* The n-th one's name, from 0; NULL: there are no more. */
const char *plugins_name(const struct plugins *ps, unsigned n);
