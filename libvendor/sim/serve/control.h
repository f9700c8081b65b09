// SPDX-License-Identifier: BSD-2-Clause
/*
 * What may be written to `ctl`, and what `stats`, `check` and `nodes` say. One command per line; see
 * control_help() for the words. Nodes are named by id or description.
 */
#pragma once

#include <stdio.h>

#include "libvendor/sim/serve/seats.h"
#include "libvendor/sim/serve/vclock.h"

struct control {
	struct sim *sim;
	struct seats *seats;
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
/* "index id guid ports description" of every node. */
void control_nodes(const struct control *c, FILE *out);
