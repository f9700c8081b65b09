// SPDX-License-Identifier: BSD-2-Clause
/*
 * One instance: what it is started with, and where its files are. Which instances there are is a
 * matter of choose.h, their lives of systemd (unit.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "launch/paths.h"

#define INSTANCE_UNNAMED "opensm"

struct instance {
	char *name;	       /* "1", "0x0002c90300001234", or INSTANCE_UNNAMED */
	char *conf;	       /* of -F; NULL: the base configuration */
	char *fault;	       /* why it cannot be started, with its place; NULL: it can */
	bool strict;	       /* errors in its configuration keep it from starting */
	uint64_t guid, prefix; /* of the port, of the subnet; 0: not known */
	unsigned priority;
	char *log, *cache_dir, *dump_dir; /* set by instance_place() */
	/* Set if the value is an argument of the daemon; otherwise its configuration says it. */
	bool guid_given, priority_given, log_given, dump_given;
};

/* `name` is taken over. */
struct instance *instance_new(char *name);
/* NULL is fine; returns NULL. */
struct instance *instance_free(struct instance *i);
/* Whether it shares nothing by the default names of files. */
bool instance_is_named(const struct instance *i);
/* Whether both are chosen with the same settings. */
bool instance_equal(const struct instance *a, const struct instance *b);

/* Reads its configuration for the names of files, and for what is not given. */
void instance_place(struct instance *i, const struct launch_paths *p);
/* Makes its folders, its cache from an unnamed predecessor's. 0, or -errno with `*ret_what`. */
int instance_folders(const struct instance *i, const struct launch_paths *p, char **ret_what);
/* argv with its title, for strv_free(). */
char **instance_argv(const struct instance *i, const struct launch_paths *p);
/* Sets its own part of the environment of this process. */
void instance_setenv(const struct instance *i, const struct launch_paths *p);
char **strv_free(char **v);
