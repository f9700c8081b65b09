// SPDX-License-Identifier: BSD-2-Clause
/*
 * The result of a routing computation as bytes for the process that asked for it: routes, the
 * transition to them, and their dependencies. Of derived routes only the differences are passed on.
 *
 * The bytes may come from a process that was about to die of a fault: each number is checked before
 * it counts. NULL from a reader, with `u->bad`, means that they cannot be used.
 */
#pragma once

#include "route/proof/cdg.h"
#include "route/core/routes.h"
#include "route/proof/transition.h"
#include "util/pack.h"

/*
 * `before` NULL: the reader has nothing. The state for the next check is left out (the next check
 * starts anew).
 */
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
/*
 * Dependencies of `r`, which must live as long. NULL: there are no routes, hence no graph and no
 * transition.
 */
struct cdg *cdg_unpack(struct unpack *u, const struct routes *r);
