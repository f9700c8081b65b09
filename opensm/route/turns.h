// SPDX-License-Identifier: BSD-2-Clause
/* Columns into the dependency graph, all lanes at once. For depend.c alone. */
#pragma once

#include "route/depend.h"

struct turns;

/* NULL: the scheme is not one for this. Who sends must be known (dependency_graph.hosts). */
struct turns *turns_new(struct dependency_graph *g, unsigned threads);
struct turns *turns_free(struct turns *t);

/* As dependency_add_column(); `kinds_at` is scratch, a zero per switch, and zero again afterwards. */
void turns_add_column(struct turns *t, uint64_t *kinds_at, const struct dependency_column *c);
