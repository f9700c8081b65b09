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
	struct conf *conf;	/* in force; the daemon takes its own reference */
	struct conf *file_conf; /* of the file alone, for SIGHUP */
	const char *conf_path;	/* also if there is no such file yet */
	const char *cache_dir;
	const char *run_dir;  /* sockets; NULL: none */
	const char *instance; /* "opensm", "1" */
	const struct conf_report *findings; /* of the start; NULL: none */
	bool once;
	bool release; /* with `once`: what counts is that no port has an M_Key */
	struct title title; /* where the status is shown beside; zero: nowhere */
};

/* The log as the configuration wants it; strings stay `c`'s. */
struct log_config daemon_log_config(const struct conf *c);

/* Runs until a signal, or with `once` until the subnet is up. Returns the exit code. */
int daemon_run(const struct daemon_options *options);
