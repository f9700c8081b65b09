// SPDX-License-Identifier: BSD-2-Clause
/*
 * What may be written to `ctl`, and what `stats`, `check`, `keys` and `nodes` say. One command per
 * line; see control_help() for the words. Nodes are named by id or description.
 */
#pragma once

#include <stdio.h>

#include "sim/serve/key_files.h"
#include "sim/serve/seats.h"
#include "sim/serve/vclock.h"

struct control {
	struct sim *sim;
	struct seats *seats;
	struct key_files *key_files; /* NULL: no manager's files are followed */
	struct vclock clock;
	mono_t real;    /* now; the loop keeps it current */
	bool quit;      /* set by "quit" */
	char said[256]; /* what came of the last line: "ok", or what is wrong with it */
};

/* 0, -EINVAL: said tells why. Empty lines and lines that start with # do nothing. */
int control_line(struct control *c, const char *line);
/* Lines until one is refused. */
int control_lines(struct control *c, const char *text, size_t n);

void control_help(FILE *out);
void control_stats(const struct control *c, FILE *out);
/* Judges the fabric: a first line "good" or what is wrong first, then numbers. */
void control_check(const struct control *c, FILE *out);
/*
 * What the watch of M_Keys has found: a first line "good" or what is not, numbers, a line for each
 * of the first ports that were opened; then "port guid key level lease violations node port" of
 * every end port.
 */
void control_keys(const struct control *c, FILE *out);
/*
 * "id port key..." of every port: its P_Key table without what is empty and in the order of the
 * table; port 0 of switches too.
 */
void control_pkeys(const struct control *c, FILE *out);
/* "id fingerprint" of every node: of all that a manager may write there. */
void control_state(const struct control *c, FILE *out);
/* "index id guid ports description" of every node. */
void control_nodes(const struct control *c, FILE *out);
