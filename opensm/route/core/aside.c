// SPDX-License-Identifier: BSD-2-Clause
/* Copies columns of switches to the end ports that are set aside. */
#include "route/core/aside.h"

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

/* A LID of an end port that is set aside; its entries are those of LID `from`, its switch's. */
struct copy {
	uint32_t sw;
	lid_t to, from; /* `from` 0: the switch has none */
	uint8_t port;
};

/* All that are cabled to a switch. Entries of the others are not touched, like unassigned LIDs. */
static struct copy *list_copies(const struct routes *r, size_t *ret_n)
{
	const struct topo *t = r->topo;
	struct copy *ret = NULL;
	size_t n = 0, cap = 0;

	for (uint32_t i = 0; i < t->n_asides; i++)
		TOPO_EACH_LID(&t->asides[i], lid) {
			const struct topo_host *aside = &t->asides[i];
			lid_t from = aside->sw == TOPO_NONE ? 0 : t->switches[aside->sw].lid;

			if (aside->sw != TOPO_NONE && lid <= r->top)
				APPEND(ret, n, cap) = (struct copy){
					.sw = aside->sw, .to = (lid_t)lid, .port = aside->sw_port,
					.from = from <= r->top ? from : 0,
				};
		}
	*ret_n = n;
	return ret;
}

/* This runs after every change: a plain loop over the row. */
static void copy_row(struct routes *r, uint32_t s, const struct copy *copies, size_t n)
{
	const uint8_t *row = routes_row(r, s);
	uint32_t cap = r->topo->switches[s].lft_cap;

	for (size_t i = 0; i < n; i++) {
		const struct copy *c = &copies[i];
		uint8_t port = !c->from || c->to >= cap ? LFT_NO_PORT
			       : s == c->sw		? c->port
							: row[c->from];

		if (row[c->to] != port)
			routes_write(r, s, c->to, port);
	}
}

void routes_set_aside(struct routes *r)
{
	const struct topo *t = r->topo;
	size_t n;
	_cleanup_free_ struct copy *copies = list_copies(r, &n);

	/* row by row: rows are far apart in memory */
	for (uint32_t s = 0; n && s < t->n_switches; s++)
		copy_row(r, s, copies, n);
	for (size_t i = 0; r->lanes && i < n; i++)
		copy_sls(r->lanes, copies[i].from, copies[i].to);
}

bool *aside_find_switches(const struct topo *t)
{
	bool *ret = xcalloc(t->n_switches + 1u, sizeof(*ret));

	for (uint32_t i = 0; i < t->n_asides; i++)
		if (t->asides[i].sw != TOPO_NONE && t->asides[i].lid)
			ret[t->asides[i].sw] = true;
	return ret;
}
