// SPDX-License-Identifier: BSD-2-Clause
/*
 * Event plugins (include/opensm/event_plugin.h): loaded at the start, called with events, asked for
 * routing engines. A plugin with a fault is logged and not used; the others are.
 */
#pragma once

#include "api/daemon_api.h"
#include "perf/perf.h"
#include "route/core/engine.h"

struct plugins;

/* Loads the plugins of event_plugin_name. `api` must outlive it. Never NULL. */
struct plugins *plugins_new(const struct daemon_api *api);
/*
 * Calls destroy() of each, in order, after all jobs with their engines have ended. NULL is fine;
 * returns NULL.
 */
struct plugins *plugins_free(struct plugins *ps);
void plugins_event(struct plugins *ps, const struct sm_event *event);
/* Tell plugins of counters of a port that grew within `seconds` (hooks of perf/perf.h). */
void plugins_port_errors(struct plugins *ps, const struct perf_node *node, uint8_t port,
			 const uint64_t deltas[PERF_ERRORS], int64_t seconds);
void plugins_port_counts(struct plugins *ps, const struct perf_node *node, uint8_t port,
			 const uint64_t deltas[PERF_DATA], int64_t seconds);
/* Engines registered by plugins; unchanged until plugins_free(). */
const struct route_engines *plugins_engines(const struct plugins *ps);
/* The name of the n-th plugin, from 0; NULL: there are no more. */
const char *plugins_name(const struct plugins *ps, unsigned n);
