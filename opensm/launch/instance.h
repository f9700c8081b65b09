// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an instance is started with: arguments, environment, folders. Which instances there are is a
 * matter of choose.h, their lives of systemd (unit.h).
 */
#pragma once

#include <stdbool.h>

#include "launch/choose.h"
#include "launch/paths.h"

struct instance {
	struct plan plan;
	bool strict; /* errors in its configuration keep it from starting */
	char *log, *cache_dir, *dump_dir; /* where its files are */
	uint64_t guid;			  /* as given, or as its configuration says; 0: any */
	unsigned priority;
	bool log_given, dump_given; /* as arguments: its configuration does not say */
};

/* `plan` is taken over (and zeroed); its configuration is read for the names of files. */
struct instance *instance_new(const struct launch_paths *p, struct plan *plan, bool strict);
/* NULL is fine; returns NULL. */
struct instance *instance_free(struct instance *i);

/* Makes its folders, its cache from an unnamed predecessor's. 0, or -errno with `*ret_what`. */
int instance_folders(const struct instance *i, const struct launch_paths *p, char **ret_what);

/* argv with its title; this process's environment with the instance's own part; strv_free(). */
char **instance_argv(const struct instance *i, const struct launch_paths *p);
char **instance_envp(const struct instance *i, const struct launch_paths *p);
char **strv_free(char **v);
