// SPDX-License-Identifier: BSD-2-Clause
/* Shared by plugin.c and plugin_api.c. */
#pragma once

#include "opensm/event_plugin.h"
#include "opensm/routing_plugin.h"
#include "plugin/plugin.h"

/* A plugin's handle, for its calls. The first member is what the public header promises. */
struct opensm {
	struct opensm_head head;
	const struct daemon_api *api;
	struct plugins *all;
	const char *name; /* of the plugin */
	bool creating;	  /* it is in create() */
	bool wants_all;
};

extern const struct opensm_api plugin_api;

/* An object that is mapped and ours: its create() decides. False: it does not want to be there. */
bool plugins_add(struct plugins *ps, const char *name, const struct opensm_event_plugin *object);
/* 0, or -1 and why. */
int plugins_add_engine(struct plugins *ps, const struct opensm_routing_engine *engine,
		       const char **why);
