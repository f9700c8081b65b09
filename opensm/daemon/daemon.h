// SPDX-License-Identifier: BSD-2-Clause
/*
 * The process around the SM: event loop, signals, worker, log, journal, systemd. The only place
 * that knows the time and touches descriptors.
 */
#pragma once

#include <stdbool.h>

#include "conf/conf.h"
#include "util/log.h"
#include "util/title.h"

struct daemon_options {
	/* configuration in force; the daemon takes a reference of its own */
	struct conf *conf;
	struct conf *file_conf; /* options of opensm.conf alone, for SIGHUP */
	const char *conf_path;	/* path of opensm.conf, even if there is no such file yet */
	const char *cache_dir;
	const char *run_dir;  /* folder of sockets; NULL: there are none */
	const char *instance; /* name of the instance: "opensm", "1" */
	const struct conf_report *findings; /* findings of the start; NULL: none */
	bool once; /* set by -o: the run ends when the subnet is up */
	bool release; /* set by --release: the run, with `once`, succeeds if no port has an M_Key */
	struct title title; /* place for the status in the command line; zero: none */
};

/* Log settings of a configuration; strings belong to `c`. */
struct log_config daemon_log_config(const struct conf *c);

/* Runs until a signal, or with `once` until the subnet is up. Returns the exit code. */
int daemon_run(const struct daemon_options *options);
