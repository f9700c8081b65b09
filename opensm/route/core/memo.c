// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the rows of tables, without pages that are shared: what is in them must not change. */
#include "route/core/memo.h"

#include <assert.h>
#include <string.h>

void route_memo_done(struct route_memo *m)
{
	for (unsigned i = 0; i < MEMO_STEPS; i++)
		freep(&m->of[i].rows);
}

void route_memo_leave(struct route_memo *m, enum memo_step step, uint64_t key,
		      const struct routes *r, uint32_t load)
{
	struct route_memo_entry *e = m ? &m->of[step] : NULL;
	uint32_t n = r->topo->n_switches;

	if (!e || m->topo != r->topo)
		return;
	free(e->rows);
	*e = (struct route_memo_entry){ .key = key, .row_size = r->row_size, .load = load };
	e->rows = xmalloc((size_t)n * r->row_size);
	for (uint32_t s = 0; s < n; s++)
		memcpy(e->rows + (size_t)s * r->row_size, routes_row(r, s), r->row_size);
}

const struct route_memo_entry *route_memo_find(const struct route_memo *m, enum memo_step step,
					       uint64_t key, const struct routes *r)
{
	const struct route_memo_entry *e = m ? &m->of[step] : NULL;

	assert(r && step < MEMO_STEPS);
	return e && e->rows && m->topo == r->topo && e->key == key && e->row_size == r->row_size
		       ? e
		       : NULL;
}
