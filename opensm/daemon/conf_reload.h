// SPDX-License-Identifier: BSD-2-Clause
/*
 * SIGHUP reads opensm.conf and every file it names; all are judged before any of them counts.
 *
 *   no error anywhere   all of it is taken over, and one line says what is new
 *   one error           nothing is: the findings say where, the running configuration stays as it
 *                       is
 *
 * Errors and warnings are those of a start, where an error costs a default or a line. The caller
 * takes the result over, or not.
 */
#pragma once

#include <stdbool.h>

#include "conf/files.h"

/* The running configuration. */
struct reload_from {
	const struct conf *live;	/* in force */
	/* of opensm.conf alone, when it was taken over; NULL: none was read */
	const struct conf *file_conf;
	const char *path;		/* of opensm.conf; NULL: none */
	const struct conf_files *files; /* read last; NULL: none yet */
	bool again; /* remarks on files that have not changed, too */
};

struct reload {
	bool refused;
	/* One reference each; NULL when refused (`file_conf`: also without opensm.conf). */
	struct conf *conf, *file_conf;
	struct conf_files *files;
	struct conf_report report; /* all findings, in the order of reading */
	/* "sweep_interval 10 -> 20; partitions: 1 added"; NULL: nothing changed, or refused */
	char *news;
	/* refused: the first error, "partitions.conf:2:9", for the status; else NULL */
	char *first;
};

/* Fills `ret`, which reload_clear() gives back. */
void reload_read(const struct reload_from *from, struct reload *ret);
void reload_clear(struct reload *r);
/* Findings and verdict go to the log. */
void reload_tell(const struct reload *r);
