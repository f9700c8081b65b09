// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files that other programs read after each sweep: opensm-subnet.lst (ibdiagnet, ibdmchk) and
 * the forwarding tables (opensm-lfts.dump, opensm-lid-matrix.dump, opensm.fdbs, opensm.mcfdbs); with qos or
 * an engine that has lanes also opensm-sl2vl.dump.
 * Formats: files.md 3 and 4; order: files.md 1.
 *
 * Three steps: a view is copied from the fabric on the main thread, a worker writes it, the main
 * thread frees it. dump_job_new() does all three. Files are replaced whole; a reader never sees
 * half of one.
 *
 * Where the peer differs: a brace in a description would end the field of opensm-subnet.lst for its
 * readers, so braces become parentheses there; NDR is SPD=100 where the peer has "??".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ctl/dump_view.h"
#include "sm/sm.h"

struct dump_config {
	const char *dir;                /* dump_files_dir; must exist */
	bool routing;                   /* log flag ROUTING: the forwarding tables too */
	bool port_table;                /* log flag VERBOSE: the table of ports on stdout */
	const struct conf_names *names; /* node-name map; NULL: none */
	const struct conf *conf;        /* for dump_job_new(); NULL: no SL2VL tables are wanted, nor what engines say */
	const struct conf_files *files; /* likewise; NULL: no lists */
};

/*
 * Writes the files, all that can be written. 0, or the first -errno with the reason in `err`, made
 * for the log: "cannot create file '/var/log/opensm-subnet.lst': No space left on device".
 * Reads `dir` and `routing` of the configuration.
 */
int dump_write_all(const struct dump_view *v, const struct dump_config *c, char *err,
		   size_t err_len);

/* The table of ports (files.md 9). Flushed; errors stay in the stream. */
void dump_port_table(const struct dump_view *v, FILE *stream);

/* On the main thread; `error` is NULL or a line for the log, valid during the call. */
typedef void (*dump_done_fn)(void *arg, const char *error);

/*
 * A job for the worker that does what `c` says; `routes` may be NULL. Everything is copied: nothing
 * that is passed needs to stay.
 */
struct sm_job *dump_job_new(const struct fabric *f, const struct routes *routes,
			    const struct dump_config *c, dump_done_fn done, void *arg);
