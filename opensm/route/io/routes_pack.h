// SPDX-License-Identifier: BSD-2-Clause
/*
 * The result of a routing computation as bytes for the process that asked for it: routes, the
 * transition to them, and their dependencies. Of derived routes only the differences are written.
 *
 * The bytes may come from a process damaged by a fault: each number is checked before it is used.
 * NULL from a reader, with `u->bad`, means that they are invalid.
 */
#pragma once

#include <stdio.h>

#include "route/proof/cdg.h"
#include "route/core/routes.h"
#include "route/proof/transition.h"
#include "util/pack.h"

/* Writes routes. `before` NULL: the reader has none. State for the next check is not written. */
void routes_pack(const struct routes *r, const struct routes *before, struct pack *p);
/*
 * Reads routes, one reference. `before`: the same tables as those of the writer; `t`: the topo that
 * they were made for. Tables that are `before` itself are returned as such.
 */
struct routes *routes_unpack(struct unpack *u, const struct topo *t, const struct routes *before);

/* With `t` or `g` NULL an empty value is written; the reader then returns NULL without `u->bad`. */
void transition_pack(const struct transition *t, const struct routes *to, struct pack *p);
struct transition *transition_unpack(struct unpack *u, const struct routes *to);

void cdg_pack(const struct cdg *g, struct pack *p);
/* The graph is of `r`, which must stay valid. NULL: no routes, hence no graph and no transition. */
struct cdg *cdg_unpack(struct unpack *u, const struct routes *r);

/*
 * Tables as a file with their topo, exactly as in memory: kept when an engine died on them, and
 * read by `opensm --plan --before`. Only the version of the program that wrote the file can read
 * it.
 */
#define ROUTES_SAVED_MAX ((size_t)1 << 31)
/* Writes the file. Returns 0, or -errno of the stream. */
int routes_save(const struct routes *r, FILE *out);
/* Reads the file, one reference. NULL: `why` has the reason. */
struct routes *routes_restore(const void *bytes, size_t n, char *why, size_t why_len);
