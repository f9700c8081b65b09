// SPDX-License-Identifier: BSD-2-Clause
/*
 * The result of a routing computation as bytes for the process that asked for it: routes, the
 * transition to them, and their dependencies. Of derived routes only the differences are passed on.
 *
 * The bytes may come from a process that was about to die of a fault: each number is checked before
 * it counts. NULL from a reader, with `u->bad`, means that they cannot be used.
 */
#pragma once

#include <stdio.h>

#include "route/proof/cdg.h"
#include "route/core/routes.h"
#include "route/proof/transition.h"
#include "util/pack.h"

/* `before` NULL: the reader has none. The state for the next check is left out. */
void routes_pack(const struct routes *r, const struct routes *before, struct pack *p);
/*
 * One reference. `before`: the same tables as those of the writer, `t` the topo that these were
 * made for. Tables that are `before` itself come back as such.
 */
struct routes *routes_unpack(struct unpack *u, const struct topo *t, const struct routes *before);

/* `t` and `g` NULL: nothing is packed; then the reader returns NULL as well, without `u->bad`. */
void transition_pack(const struct transition *t, const struct routes *to, struct pack *p);
struct transition *transition_unpack(struct unpack *u, const struct routes *to);

void cdg_pack(const struct cdg *g, struct pack *p);
/* Of `r`, which must live as long. NULL: there are no routes, hence no graph and no transition. */
struct cdg *cdg_unpack(struct unpack *u, const struct routes *r);

/*
 * Tables as a file, exactly as they were in memory, with the topo they were made for: kept when an
 * engine died on them, and read by `opensm --plan --before`. Only the version of the program that
 * wrote the file reads it.
 */
#define ROUTES_SAVED_MAX ((size_t)1 << 31)
/* 0 or -errno of the stream. */
int routes_save(const struct routes *r, FILE *out);
/* One reference; NULL and `why`. */
struct routes *routes_restore(const void *bytes, size_t n, char *why, size_t why_len);
