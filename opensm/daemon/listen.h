// SPDX-License-Identifier: BSD-2-Clause
/*
 * The listeners of the daemon: console, control socket, metrics, plugins. Each is a core in
 * console/, control/, metrics/ or plugin/ that knows no descriptor, and a listen_*.c here that
 * feeds it from sd-event. One that cannot be opened is reported in the log, and costs that listener
 * alone.
 */
#pragma once

#include <systemd/sd-event.h>

#include "api/daemon_api.h"

struct listeners;
struct route_engines;

/* Opens the listeners of the configuration. `api` must outlive it. Never NULL. */
struct listeners *listen_new(sd_event *event, struct daemon_api *api);
/* Something happened in the subnet, or to the manager. */
void listen_event(struct listeners *w, const struct sm_event *event);
/* SIGHUP took over another configuration. */
void listen_reconfigure(struct listeners *w);
/* The manager is about to go (its port vanished): references into it are given up. */
void listen_sm_gone(struct listeners *w);
/* Routing engines that plugins brought; they stay until listen_stopping(). */
const struct route_engines *listen_engines(const struct listeners *w);
/* For perf_new(): plugins see counters that grew. `at`: where listen_new()'s result will be. */
struct perf_hooks listen_perf_hooks(struct listeners **at);
/* The end, all jobs have ended, the manager is still there. NULL is fine. */
void listen_stopping(struct listeners *w);
/* Closes all. NULL is fine; returns NULL. */
struct listeners *listen_free(struct listeners *w);

/* ---- each listener: NULL from open(): not configured, or it failed ---- */

struct listen_console;
struct plugins;
/* plugins: for their names. */
struct listen_console *listen_console_open(sd_event *event, const struct daemon_api *api,
					   const struct plugins *plugins);
void listen_console_sm_gone(struct listen_console *w);
struct listen_console *listen_console_close(struct listen_console *w);

struct listen_control;
struct listen_control *listen_control_open(sd_event *event, const struct daemon_api *api);
void listen_control_event(struct listen_control *w, const struct sm_event *event);
void listen_control_reconfigure(struct listen_control *w);
void listen_control_sm_gone(struct listen_control *w);
struct listen_control *listen_control_close(struct listen_control *w);

struct listen_metrics;
struct listen_metrics *listen_metrics_open(sd_event *event, const struct daemon_api *api);
void listen_metrics_event(struct listen_metrics *w, const struct sm_event *event);
void listen_metrics_reconfigure(struct listen_metrics *w);
struct listen_metrics *listen_metrics_close(struct listen_metrics *w);
