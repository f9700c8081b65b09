// SPDX-License-Identifier: BSD-2-Clause
/* Texts of pictures, and the matrix of a large fabric. */
#pragma once

#include <stdio.h>

#include "offline/base/layout.h"
#include "topo/topofile.h"

/* Writes text of any node description without markup, in printable ASCII only. */
void svg_escaped(FILE *out, const char *text);
/* "": it has none. */
const char *svg_switch_name(const struct topofile *names, const struct topo *t, uint32_t sw);

/*
 * The load of links as a matrix, where there are too many to be drawn as lines: rows are switches
 * that send, columns those that receive, for each two levels of a tree that have cables. Colours
 * are scaled from the mean, so that an even load is a plain area and what is apart from it is seen.
 */
struct heat;

/* `load`: per entry of topo->ports; both outlive it, and `l`. */
struct heat *heat_new(const struct topofile *names, const struct topo *t, const uint32_t *load,
		      const struct layout *l);
struct heat *heat_free(struct heat *h);
FREEP(heat_free, struct heat)
/* Below `top`, which is left for a title. */
void heat_size(const struct heat *h, double top, double *ret_width, double *ret_height);
void heat_draw(const struct heat *h, double top, FILE *out);
