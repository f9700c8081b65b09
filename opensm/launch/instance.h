// SPDX-License-Identifier: BSD-2-Clause
/*
 * One instance: its arguments and the places of its files. choose.h decides which instances there
 * are, systemd starts and stops them (unit.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "launch/paths.h"

#define INSTANCE_UNNAMED "opensm"

struct instance {
	char *name;	       /* "1", "0x0002c90300001234", or INSTANCE_UNNAMED */
	char *conf;	       /* path for -F; NULL: the base configuration */
	/* reason why it cannot be started, with file and line; NULL: it can */
	char *fault;
	bool strict;	       /* errors in its configuration keep it from starting */
	uint64_t guid, prefix; /* port GUID, subnet prefix; 0: not known */
	unsigned priority;
	char *log, *cache_dir, *dump_dir; /* set by instance_place() */
	/* Set if the value is an argument of the daemon; otherwise its configuration says it. */
	bool guid_given, priority_given, log_given, dump_given;
};

/* `name` is taken over. */
struct instance *instance_new(char *name);
/* NULL is fine; returns NULL. */
struct instance *instance_free(struct instance *i);
/* Has it a name of its own, and so files of its own? */
bool instance_is_named(const struct instance *i);
/* Are both chosen with the same settings? */
bool instance_equal(const struct instance *a, const struct instance *b);

/* Reads the configuration for the names of files, and for settings that are not arguments. */
void instance_place(struct instance *i, const struct launch_paths *p);
/*
 * Creates the folders; the cache of a named instance starts with files of the unnamed one. 0, or
 * -errno with `*ret_what`.
 */
int instance_folders(const struct instance *i, const struct launch_paths *p, char **ret_what);
/* The arguments of the daemon, with its title; for strv_free(). */
char **instance_argv(const struct instance *i, const struct launch_paths *p);
/* Sets the environment variables of the instance in this process. */
void instance_setenv(const struct instance *i, const struct launch_paths *p);
char **strv_free(char **v);
