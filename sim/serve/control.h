// SPDX-License-Identifier: BSD-2-Clause
/*
 * Commands written to `ctl`, and texts of `stats`, `check`, `keys` and `nodes`. One command per
 * line; control_help() lists them. Nodes are named by id or description.
 */
#pragma once

#include <stdio.h>

#include "sim/serve/key_files.h"
#include "sim/serve/seats.h"
#include "sim/serve/vclock.h"

struct control {
	struct sim *sim;
	struct seats *seats;
	struct key_files *key_files; /* watch of managers' files; NULL: none */
	struct vclock clock;
	mono_t real;    /* present real time, updated by the loop */
	bool quit;      /* set by "quit" */
	char said[256]; /* result of the last line: "ok", or an error */
};

/*
 * 0, or -EINVAL with the reason in `said`. Empty lines and lines that start with # have no effect.
 */
int control_line(struct control *c, const char *line);
/* Runs lines until one is refused. */
int control_lines(struct control *c, const char *text, size_t n);

void control_help(FILE *out);
void control_stats(const struct control *c, FILE *out);
/* Judges the fabric: a first line "good" or the first fault, then numbers. */
void control_check(const struct control *c, FILE *out);
/*
 * Results of the watch of M_Keys: a first line "good" or the first fault, numbers, a line for each
 * of the first ports found open; then "port guid key level lease violations node port" for every
 * end port.
 */
void control_keys(const struct control *c, FILE *out);
/*
 * "id port key..." for every port: its P_Key table in order, without empty entries; including port
 * 0 of switches.
 */
void control_pkeys(const struct control *c, FILE *out);
/* "id fingerprint" for every node: a hash of all that a manager may write there. */
void control_state(const struct control *c, FILE *out);
/* "index id guid ports description" for every node. */
void control_nodes(const struct control *c, FILE *out);
