// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where everything is; each folder and file can be told on the command line, for tests and odd
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
	const char *cache_dir;	/* guid2lid ...; named instances have folders in it */
	const char *log_dir;	/* opensm.NAME.log; dumps in opensm/NAME */
	const char *program;	/* /usr/sbin/opensm */
	const char *sys_dir;	/* /sys/class */
	bool show;		/* say what would be started, and end */
	const char *run;	/* the instance to become; NULL: none */
};

/* Reads the command line; strings belong to argv. -1: go on; else the exit status. */
int launch_paths_read(int argc, char *const argv[], FILE *out, FILE *err, struct launch_paths *ret);
/* The folder of opensm.conf is the one the daemon takes by itself. */
bool launch_paths_standard_conf(const struct launch_paths *p);
bool launch_paths_standard_log(const struct launch_paths *p);
