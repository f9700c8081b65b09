// SPDX-License-Identifier: BSD-2-Clause
#include "windows.h"

struct window_control *window_control_open(sd_event *event, const struct scene *scene)
{
	return NULL;
}

struct window_control *window_control_close(struct window_control *w)
{
	return NULL;
}

void window_control_event(struct window_control *w, const struct sm_event *event)
{
}

void window_control_reconfigure(struct window_control *w)
{
}

void window_control_sm_gone(struct window_control *w)
{
}
