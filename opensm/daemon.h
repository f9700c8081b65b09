// SPDX-License-Identifier: BSD-2-Clause
/*
 * The process around the SM: event loop, signals, worker, log, journal, systemd. The only place
 * that knows the time and touches descriptors.
 */
#pragma once

#include <stdbool.h>

#include "conf/conf.h"

struct daemon_options {
	struct conf *conf;	/* in force; the daemon takes its own reference */
	struct conf *file_conf; /* what the file alone said, for SIGHUP; NULL: no file was read */
	const char *conf_path;	/* NULL: no file */
	const char *cache_dir;
	const char *pidfile; /* written here, removed at the end; NULL: none */
	bool once;
	bool background; /* -B: descriptors 0-2 are the log's */
};

/* Runs until a signal, or with `once` until the subnet is up. Returns the exit code. */
int daemon_run(const struct daemon_options *options);
