// SPDX-License-Identifier: BSD-2-Clause
/*
 * SIGHUP reads opensm.conf and every file it names; all are judged before any of them counts.
 *
 *   no error anywhere   all of it is taken over, and one line says what is new
 *   one error           nothing is: the findings say where, the running configuration stays as it
 *                       is
 *
 * Errors and warnings are those of a start. At a start an error costs a default or a line. The
 * caller decides whether the result comes into force.
 */
#pragma once

#include <stdbool.h>

#include "conf/files.h"

/* The configuration in force when SIGHUP arrives, as the input of reload_read(). */
struct reload_from {
	const struct conf *live;	/* in force */
	/* options of opensm.conf alone, when it was last taken over; NULL: no file was read */
	const struct conf *file_conf;
	const char *path;		/* path of opensm.conf; NULL: there is none */
	const struct conf_files *files; /* files as last read; NULL: none were read yet */
	bool again; /* set if findings of unchanged files are reported, too */
};

struct reload {
	bool refused;
	/* One reference each; NULL when refused (`file_conf`: also without opensm.conf). */
	struct conf *conf, *file_conf;
	struct conf_files *files;
	struct conf_report report; /* all findings, in the order of reading */
	/* "sweep_interval 10 -> 20; partitions: 1 added"; NULL: nothing changed, or refused */
	char *news;
	/* if refused: place of the first error for the status, "partitions.conf:2:9"; else NULL */
	char *first;
};

/* Fills `ret`, which reload_clear() gives back. */
void reload_read(const struct reload_from *from, struct reload *ret);
void reload_clear(struct reload *r);
/* Logs findings and verdict. */
void reload_tell(const struct reload *r);
