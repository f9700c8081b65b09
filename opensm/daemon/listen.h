// SPDX-License-Identifier: BSD-2-Clause
/*
 * The listeners of the daemon: console, control socket, metrics, plugins. Each is a core in
 * console/, control/, metrics/ or plugin/ without descriptors, and a listen_*.c here that feeds it
 * from sd-event. A listener that cannot be opened is logged; the others open all the same.
 */
#pragma once

#include <systemd/sd-event.h>

#include "api/daemon_api.h"

struct listeners;
struct route_engines;

/* Opens the listeners of the configuration. `api` must outlive it. Never NULL. */
struct listeners *listen_new(sd_event *event, struct daemon_api *api);
/* Passes an event of the manager on to all listeners. */
void listen_event(struct listeners *w, const struct sm_event *event);
/* SIGHUP took over another configuration. */
void listen_reconfigure(struct listeners *w);
/* The manager is about to be freed (its port vanished): references into it are dropped. */
void listen_sm_gone(struct listeners *w);
/* Routing engines of plugins, valid until listen_stopping(). */
const struct route_engines *listen_engines(const struct listeners *w);
/*
 * Hooks for perf_new() by which plugins learn of counters that grew. `at`: where the result of
 * listen_new() will be stored.
 */
struct perf_hooks listen_perf_hooks(struct listeners **at);
/* Ends plugins: all jobs have ended, the manager still exists. NULL is fine. */
void listen_stopping(struct listeners *w);
/* Closes all. NULL is fine; returns NULL. */
struct listeners *listen_free(struct listeners *w);

/* ---- each listener: open() returns NULL if it is not configured, or failed ---- */

struct listen_console;
struct plugins;
/* `plugins`: source of the names that the console shows. */
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
