// SPDX-License-Identifier: BSD-2-Clause
/* Shared by plugin.c and plugin_api.c. */
#pragma once

#include "opensm/event_plugin.h"
#include "opensm/routing_plugin.h"
#include "plugin/plugin.h"

/* The handle that a plugin passes to calls. The first member is the one of the public header. */
struct opensm {
	struct opensm_head head;
	const struct daemon_api *api;
	struct plugins *all;
	const char *name; /* name of the plugin */
	bool creating;	  /* set during create() */
	bool wants_all;
};

extern const struct opensm_api plugin_api;

/* Adds an object that is mapped and safe by calling its create(). False: create() refused. */
bool plugins_add(struct plugins *ps, const char *name, const struct opensm_event_plugin *object);
/* Registers an engine. 0, or -1 with `why`. */
int plugins_add_engine(struct plugins *ps, const struct opensm_routing_engine *engine,
		       const char **why);
