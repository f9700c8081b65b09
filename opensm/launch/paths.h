// SPDX-License-Identifier: BSD-2-Clause
/*
 * Places of files and folders; each can be given on the command line, for tests and unusual
 * systems.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct launch_paths {
	const char *conf_dir;	/* opensm.conf, opensm.conf.N */
	const char *sysconfig;	/* /etc/sysconfig/opensm */
	const char *defaults;	/* /etc/default/opensm */
	const char *run_dir;	/* sockets, instances.json */
	const char *cache_dir;	/* guid2lid and other state; named instances have folders in it */
	const char *log_dir;	/* opensm.NAME.log; dumps in opensm/NAME */
	const char *program;	/* /usr/sbin/opensm */
	const char *sys_dir;	/* /sys/class */
	bool show;		/* set if instances are printed, not started */
	const char *run;	/* name of the instance to run as; NULL: none */
};

/* Reads the command line; strings belong to argv. -1: continue; else the exit status. */
int launch_paths_read(int argc, char *const argv[], FILE *out, FILE *err, struct launch_paths *ret);
/* Is the folder of opensm.conf the daemon's default? */
bool launch_paths_standard_conf(const struct launch_paths *p);
bool launch_paths_standard_log(const struct launch_paths *p);
