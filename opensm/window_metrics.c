// SPDX-License-Identifier: BSD-2-Clause
#include "windows.h"

struct window_metrics *window_metrics_open(sd_event *event, const struct scene *scene)
{
	return NULL;
}

struct window_metrics *window_metrics_close(struct window_metrics *w)
{
	return NULL;
}

void window_metrics_event(struct window_metrics *w, const struct sm_event *event)
{
}

void window_metrics_reconfigure(struct window_metrics *w)
{
}
