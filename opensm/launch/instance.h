// SPDX-License-Identifier: BSD-2-Clause
/*
 * One instance: what it should be, its files, its process, and what it last said of itself.
 *
 * Here is what it is started with (arguments, environment, folders) and how it is named in texts. When it
 * is started is a matter of supervise.c, by whom of loop.c.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "launch/choose.h"
#include "launch/paths.h"
#include "launch/supervise.h"

struct launcher;

struct instance {
	struct launcher *launcher;
	struct plan plan;
	struct plan *again; /* ENDING: what takes its place then; NULL: nothing */
	struct supervise life;
	char *log, *cache_dir, *dump_dir; /* where its files are */
	uint64_t guid;			  /* as given or as its configuration says; 0: any */
	unsigned priority;
	bool log_given, dump_given; /* by us, not by its configuration */
	bool strict;
	pid_t pid; /* 0: none */
	sd_event_source *child, *notify;
	char *notify_path;
	bool reloading, reload_seen; /* told to reload; has said that it does */
	bool hung;		     /* we killed it for its silence */
	bool faulted;		     /* what it said last is why it cannot start */
	mono_t delay;		     /* WAITING: from its end to its next start */
	char status[400];	     /* what it said last, printable; "" nothing */
	char last[600];		     /* how it ended last; "" it has not */
};

/* `plan` is taken over (and zeroed). */
struct instance *instance_new(struct launcher *l, struct plan *plan);
/* Closes its sources; does not kill. NULL is fine; returns NULL. */
struct instance *instance_free(struct instance *i);

/* Looks into its configuration for the names of files. To be repeated before each start: the file may be new. */
void instance_place(struct instance *i, const struct launch_paths *p);
/* Makes its folders, and its cache from what an unnamed predecessor left. 0 or -errno with `*ret_what` to be freed. */
int instance_folders(const struct instance *i, const struct launch_paths *p, char **ret_what);

/* argv with its title, and the environment without what is for the launcher alone; strv_free(). */
char **instance_argv(const struct instance *i, const struct launch_paths *p);
char **instance_envp(const struct instance *i, const struct launch_paths *p, mono_t watchdog);
char **strv_free(char **v);

/* "MASTER, subnet up: ...", "FAILED for good: ...", "waiting 8 s after exit status 1". */
void instance_describe(const struct instance *i, char *ret, size_t cap);
