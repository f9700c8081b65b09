// SPDX-License-Identifier: BSD-2-Clause
/* Opens, closes and feeds all windows alike; what they show is theirs. */
#include "windows.h"

#include "ctl/plugin.h"
#include "util/mem.h"

struct windows {
	struct window_console *console;
	struct window_control *control;
	struct window_metrics *metrics;
	struct plugins *plugins;
};

struct windows *windows_new(sd_event *event, const struct scene *scene)
{
	struct windows *w = xcalloc(1, sizeof(*w));

	w->plugins = plugins_new(scene);
	w->console = window_console_open(event, scene, w->plugins);
	w->control = window_control_open(event, scene);
	w->metrics = window_metrics_open(event, scene);
	return w;
}

void windows_event(struct windows *w, const struct sm_event *event)
{
	window_control_event(w->control, event);
	window_metrics_event(w->metrics, event);
	plugins_event(w->plugins, event);
}

void windows_reconfigure(struct windows *w)
{
	window_control_reconfigure(w->control);
	window_metrics_reconfigure(w->metrics);
}

void windows_sm_gone(struct windows *w)
{
	window_control_sm_gone(w->control);
}

const struct route_engines *windows_engines(const struct windows *w)
{
	return plugins_engines(w->plugins);
}

static struct plugins *plugins_at(void *at)
{
	const struct windows *w = *(struct windows **)at;

	return w ? w->plugins : NULL;
}

static void on_port_errors(void *at, const struct perf_node *node, uint8_t port,
			   const uint64_t deltas[PERF_ERRORS], int64_t seconds)
{
	if (plugins_at(at))
		plugins_port_errors(plugins_at(at), node, port, deltas, seconds);
}

static void on_port_counts(void *at, const struct perf_node *node, uint8_t port,
			   const uint64_t deltas[PERF_DATA], int64_t seconds)
{
	if (plugins_at(at))
		plugins_port_counts(plugins_at(at), node, port, deltas, seconds);
}

struct perf_hooks windows_perf_hooks(struct windows **at)
{
	return (struct perf_hooks){ .errors = on_port_errors, .data = on_port_counts, .arg = at };
}

void windows_stopping(struct windows *w)
{
	if (w)
		w->plugins = plugins_free(w->plugins);
}

struct windows *windows_free(struct windows *w)
{
	if (!w)
		return NULL;
	window_console_close(w->console);
	window_control_close(w->control);
	window_metrics_close(w->metrics);
	plugins_free(w->plugins);
	free(w);
	return NULL;
}
