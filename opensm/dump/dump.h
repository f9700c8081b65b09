// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files that other programs read after each sweep: opensm-subnet.lst (ibdiagnet, ibdmchk) and
 * the forwarding tables (opensm-lfts.dump, opensm-lid-matrix.dump, opensm.fdbs, opensm.mcfdbs);
 * with qos or an engine that has lanes also opensm-sl2vl.dump. Formats: files.md 3 and 4; order:
 * files.md 1.
 *
 * A view is made on the main thread, in turns (dump_turns.h), and a worker writes it
 * (dump_job_new()). Files are replaced whole; a reader never sees half of one.
 *
 * Where the peer differs: a brace in a description would end the field of opensm-subnet.lst for its
 * readers, so braces become parentheses there; NDR is SPD=100 where the peer has "??".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sm/sm.h"
#include "view/view.h"

struct dump_config {
	const char *dir; /* dump_files_dir, an existing folder */
	/* log flag ROUTING: forwarding tables are written, too; the view must have VIEW_TREES */
	bool routing;
	bool port_table; /* log flag VERBOSE: the table of ports is printed on stdout */
	/* set if inputs of the engine are written, too: roots, order of hosts, coordinates */
	bool engine;
};

/*
 * Writes all files that can be written. 0, or the first -errno with the reason in `err`, a sentence
 * for the log: "cannot create file '/var/log/opensm-subnet.lst': No space left on device".
 * `port_table` is ignored.
 */
int dump_write_all(const struct view *v, const struct dump_config *c, char *err,
		   size_t err_len);

/* Prints the table of ports (files.md 9). The stream is flushed and keeps its error flag. */
void dump_port_table(const struct view *v, FILE *stream);

/* Called on the main thread; `error` is NULL or a sentence for the log, valid during the call. */
typedef void (*dump_done_fn)(void *arg, const char *error);

/*
 * Makes a job for the worker that writes as `c` says, which is copied. The reference `v` is taken.
 */
struct sm_job *dump_job_new(struct view *v, const struct dump_config *c, dump_done_fn done,
			    void *arg);
