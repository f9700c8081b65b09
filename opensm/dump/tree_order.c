// SPDX-License-Identifier: BSD-2-Clause
/* Levels and slots are found by the parts of route/tree/ that the engines have; nothing routes. */
#include "dump/tree_order.h"

#include <string.h>

#include "route/tree/updown.h"
#include "util/bisect.h"
#include "util/mem.h"

uint32_t updn_roots(const struct topo *t, const struct route_options *o, uint32_t **ret)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(t, o);
	_cleanup_free_ uint16_t *levels = xcalloc(g->n + 1, sizeof(*levels));
	_cleanup_(tree_freep) struct tree *tree = NULL;
	const uint16_t *followed;
	uint16_t top = 0;
	uint32_t n = 0;
	bool has_roots;

	followed = updn_levels(g, o, levels, &has_roots);
	*ret = xcalloc(g->n + 1, sizeof(**ret));
	if (!followed) {
		tree = tree_new(g, &(struct tree_plan){ .ids = o->ids, .n_ids = o->n_ids });
		if (tree->n)
			(*ret)[n++] = tree->order[0];
		return n;
	}
	for (uint32_t s = 0; s < g->n; s++)
		if (levels[s] != DISTANCE_NONE)
			top = MAX(top, levels[s]);
	for (uint32_t s = 0; s < g->n; s++)
		if (levels[s] == top)
			(*ret)[n++] = s;
	return n;
}

/* A compute node and its place. */
struct seat {
	uint32_t slot, sw, host;
	uint32_t leaf, place; /* number of the leaf, and of the node there */
	uint8_t port;
};

/*
 * Sorts by leaf, then by port. Slots of a switch are adjacent, followed by those of its neighbours.
 */
static int by_seat(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;

	return COMPARE(x->slot, y->slot) ?: COMPARE(x->sw, y->sw) ?: COMPARE(x->port, y->port);
}

uint32_t *ftree_ca_order(const struct topo *t, const struct route_options *o, uint32_t *ret_n)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(t, o);
	_cleanup_(distances_freep) struct distances *d =
		g->weighted ? distances_new(g, 1, NULL) : NULL;
	_cleanup_free_ bool *apart = ftree_find_apart(t, o);
	_cleanup_(dmodk_freep) struct dmodk *s = dmodk_new(g, d, &(struct dmodk_plan){
		.apart = apart, .from_above = o->quasi_ftree_indexing,
	});
	_cleanup_free_ struct seat *seats = xcalloc(t->n_hosts, sizeof(*seats));
	uint32_t n = 0, most = 0, leaves = 0, *ret;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->host[i] != TOPO_NONE && !s->hot[i].offset && !(apart && apart[s->host[i]]))
			seats[n++] = (struct seat){
				.slot = s->level[0].digit[i], .sw = t->hosts[s->host[i]].sw,
				.port = s->hot[i].port, .host = s->host[i],
			};
	SORT(seats, n, by_seat);
	for (uint32_t i = 0; i < n; i++) {
		if (i && seats[i].sw == seats[i - 1].sw)
			seats[i].place = seats[i - 1].place + 1;
		else
			leaves++;
		seats[i].leaf = leaves - 1;
		most = MAX(most, seats[i].place + 1);
	}
	*ret_n = leaves * most;
	ret = xcalloc(*ret_n, sizeof(*ret));
	memset(ret, 0xFF, *ret_n * sizeof(*ret));
	for (uint32_t i = 0; i < n; i++)
		ret[seats[i].leaf * most + seats[i].place] = seats[i].host;
	return ret;
}
