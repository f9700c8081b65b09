// SPDX-License-Identifier: BSD-2-Clause
/* Opens, closes and feeds all listeners alike. */
#include "daemon/listen.h"

#include <assert.h>

#include "control/control.h"
#include "plugin/plugin.h"
#include "sm/health/sick.h"
#include "util/mem.h"

struct listeners {
	struct listen_console *console;
	struct listen_control *control;
	struct listen_metrics *metrics;
	struct plugins *plugins;
	struct daemon_api *api;
};

struct listeners *listen_new(sd_event *event, struct daemon_api *api)
{
	struct listeners *w = xcalloc(1, sizeof(*w));

	assert(event && api);
	w->api = api;
	api->jobs = control_jobs_new(api->started_realtime);
	w->plugins = plugins_new(api);
	w->console = listen_console_open(event, api, w->plugins);
	w->control = listen_control_open(event, api);
	w->metrics = listen_metrics_open(event, api);
	return w;
}

void listen_event(struct listeners *w, const struct sm_event *event)
{
	control_remember(w->api, event);
	listen_control_event(w->control, event);
	listen_metrics_event(w->metrics, event);
	plugins_event(w->plugins, event);
}

void listen_reconfigure(struct listeners *w)
{
	listen_control_reconfigure(w->control);
	listen_metrics_reconfigure(w->metrics);
}

void listen_sm_gone(struct listeners *w)
{
	listen_control_sm_gone(w->control);
	listen_console_sm_gone(w->console);
}

const struct route_engines *listen_engines(const struct listeners *w)
{
	return plugins_engines(w->plugins);
}

static struct plugins *plugins_at(void *at)
{
	const struct listeners *w = *(struct listeners **)at;

	return w ? w->plugins : NULL;
}

static void on_port_errors(void *at, const struct perf_node *node, uint8_t port,
			   const uint64_t deltas[PERF_ERRORS], int64_t seconds)
{
	const struct listeners *w = *(struct listeners **)at;

	if (!w)
		return;
	control_remember_errors(w->api, node->guid, port, deltas);
	if (w->plugins)
		plugins_port_errors(w->plugins, node, port, deltas, seconds);
}

static void on_port_counts(void *at, const struct perf_node *node, uint8_t port,
			   const uint64_t deltas[PERF_DATA], int64_t seconds)
{
	if (plugins_at(at))
		plugins_port_counts(plugins_at(at), node, port, deltas, seconds);
}

static void on_growth(void *at, const struct perf_node *node, uint8_t port,
		      const struct port_counts *counts)
{
	const struct listeners *w = *(struct listeners **)at;

	if (w && w->api->sm)
		sm_port_counts(w->api->sm, node->guid, port, counts);
}

struct perf_hooks listen_perf_hooks(struct listeners **at)
{
	return (struct perf_hooks){ .errors = on_port_errors,
				    .data = on_port_counts,
				    .counts = on_growth,
				    .arg = at };
}

void listen_stopping(struct listeners *w)
{
	if (w)
		w->plugins = plugins_free(w->plugins);
}

struct listeners *listen_free(struct listeners *w)
{
	if (!w)
		return NULL;
	listen_console_close(w->console);
	listen_control_close(w->control);
	listen_metrics_close(w->metrics);
	plugins_free(w->plugins);
	w->api->jobs = control_jobs_free(w->api->jobs);
	control_forget(w->api);
	free(w);
	return NULL;
}
