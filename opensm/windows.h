// SPDX-License-Identifier: BSD-2-Clause
/*
 * The windows of the daemon: console, control socket, metrics, plugins. Each is a core in ctl/ that knows
 * no descriptor, and a window_*.c here that feeds it from sd-event. Opening one that fails is said in the
 * log, and costs that window alone.
 */
#pragma once

#include <systemd/sd-event.h>

#include "ctl/scene.h"

struct windows;
struct route_engines;

/* Opens what the configuration asks for. `scene` must outlive it. Never NULL. */
struct windows *windows_new(sd_event *event, const struct scene *scene);
/* Something happened in the subnet, or to the manager. */
void windows_event(struct windows *w, const struct sm_event *event);
/* SIGHUP took over another configuration. */
void windows_reconfigure(struct windows *w);
/* The manager is about to go (its port vanished): whoever holds something of it lets go. */
void windows_sm_gone(struct windows *w);
/* Routing engines that plugins brought; they stay until windows_stopping(). */
const struct route_engines *windows_engines(const struct windows *w);
/* For perf_new(): plugins are told of counters that grew. `at`: where windows_new()'s result will be. */
struct perf_hooks windows_perf_hooks(struct windows **at);
/* The end: nothing happens any more, all jobs have ended, the manager is still there. NULL is fine. */
void windows_stopping(struct windows *w);
/* Closes all. NULL is fine; returns NULL. */
struct windows *windows_free(struct windows *w);

/* ---- each window: NULL from open() means it was not asked for, or could not be had ---- */

struct window_console;
struct plugins;
/* plugins: for their names. */
struct window_console *window_console_open(sd_event *event, const struct scene *scene,
					   const struct plugins *plugins);
struct window_console *window_console_close(struct window_console *w);

struct window_control;
struct window_control *window_control_open(sd_event *event, const struct scene *scene);
void window_control_event(struct window_control *w, const struct sm_event *event);
void window_control_reconfigure(struct window_control *w);
void window_control_sm_gone(struct window_control *w);
struct window_control *window_control_close(struct window_control *w);

struct window_metrics;
struct window_metrics *window_metrics_open(sd_event *event, const struct scene *scene);
void window_metrics_event(struct window_metrics *w, const struct sm_event *event);
void window_metrics_reconfigure(struct window_metrics *w);
struct window_metrics *window_metrics_close(struct window_metrics *w);
