// SPDX-License-Identifier: BSD-2-Clause
/*
 * The container of a routing result: rows of bytes and the topo they belong to. Knows no engine.
 */
#include "route/routes.h"

#include <stdio.h>
#include <string.h>

#include "util/mem.h"

struct routes *routes_new_unset(const struct topo *topo, const char *engine, lid_t top)
{
	struct routes *r = xcalloc(1, sizeof(*r));
	size_t size;

	r->refs = 1;
	r->topo = topo_ref(topo);
	snprintf(r->engine, sizeof(r->engine), "%s", engine);
	r->top = top;
	r->row_size = ((uint32_t)top + LFT_BLOCK_LIDS) / LFT_BLOCK_LIDS * LFT_BLOCK_LIDS;
	size = (size_t)topo->n_switches * r->row_size;
	if (size)
		r->lft = xmalloc_aligned64(size);
	return r;
}

struct routes *routes_new(const struct topo *topo, const char *engine, lid_t top)
{
	struct routes *r = routes_new_unset(topo, engine, top);

	if (r->lft)
		memset(r->lft, LFT_NO_PORT, (size_t)topo->n_switches * r->row_size);
	return r;
}

struct routes *routes_ref(const struct routes *r)
{
	struct routes *shared = (struct routes *)r; /* the count is the one thing that may change */

	if (shared)
		shared->refs++;
	return shared;
}

struct routes *routes_unref(struct routes *r)
{
	if (!r || --r->refs)
		return NULL;
	topo_unref((struct topo *)r->topo);
	free(r->lft);
	free(r->hops);
	free(r->places);
	free(r->downs);
	lanes_free(r->lanes);
	free(r->judged);
	free(r->master_tree);
	route_proof_free(r->proof);
	free(r);
	return NULL;
}

void routes_unrefp(struct routes **r)
{
	*r = routes_unref(*r);
}
