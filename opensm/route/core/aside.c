// SPDX-License-Identifier: BSD-2-Clause
/* Copies columns of switches to the end ports that are set aside. */
#include "route/core/aside.h"

#include <assert.h>

#include "util/mem.h"

/* The SLs of paths to the switch, where SLs go by LIDs. */
static void copy_sls(struct sl2vl *l, lid_t from, lid_t to)
{
	uint32_t n_rows = l->by == SL2VL_BY_LID	      ? 1
			  : l->by == SL2VL_BY_SWITCH_LID ? l->n_switches
							 : 0;

	for (uint32_t i = 0; i < n_rows && to < l->row_size && from < l->row_size; i++)
		l->sl[(size_t)i * l->row_size + to] = l->sl[(size_t)i * l->row_size + from];
}

static uint8_t entry_of(const struct routes *r, uint32_t s, const struct topo_host *aside,
			lid_t lid)
{
	const struct topo *t = r->topo;

	if (aside->sw == TOPO_NONE || !t->switches[aside->sw].lid || lid >= t->switches[s].lft_cap)
		return LFT_NO_PORT;
	return s == aside->sw ? aside->sw_port : routes_port(r, s, t->switches[aside->sw].lid);
}

void routes_set_aside(struct routes *r)
{
	const struct topo *t = r->topo;

	/* row by row: rows are far apart in memory */
	for (uint32_t s = 0; t->n_asides && s < t->n_switches; s++)
		for (uint32_t i = 0; i < t->n_asides; i++)
			TOPO_EACH_LID(&t->asides[i], lid) {
				uint8_t port = entry_of(r, s, &t->asides[i], (lid_t)lid);

				if (lid <= r->top && routes_port(r, s, (lid_t)lid) != port)
					routes_write(r, s, (lid_t)lid, port);
			}
	for (uint32_t i = 0; r->lanes && i < t->n_asides; i++)
		TOPO_EACH_LID(&t->asides[i], lid)
			if (t->asides[i].sw != TOPO_NONE)
				copy_sls(r->lanes, t->switches[t->asides[i].sw].lid, (lid_t)lid);
}

bool *aside_find_switches(const struct topo *t)
{
	bool *ret = xcalloc(t->n_switches + 1u, sizeof(*ret));

	for (uint32_t i = 0; i < t->n_asides; i++)
		if (t->asides[i].sw != TOPO_NONE && t->asides[i].lid)
			ret[t->asides[i].sw] = true;
	return ret;
}
