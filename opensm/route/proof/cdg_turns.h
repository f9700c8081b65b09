// SPDX-License-Identifier: BSD-2-Clause
/* Adds the paths of a destination to the dependency graph, all VLs at once. For cdg.c alone. */
#pragma once

#include "route/proof/cdg.h"

struct cdg_turns;

/* NULL: the scheme does not suit. The senders must be known (cdg.hosts). */
struct cdg_turns *cdg_turns_new(struct cdg *g, unsigned threads);
struct cdg_turns *cdg_turns_free(struct cdg_turns *t);

/* As cdg_add_column(); `kinds_at` is scratch, a zero per switch, and zero again afterwards. */
void cdg_turns_add_column(struct cdg_turns *t, uint64_t *kinds_at, const struct cdg_column *c);
