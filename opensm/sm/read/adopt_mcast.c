// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes a tree of the multicast tables found in switches, from cables over which copies pass in
 * either direction; a cable that would close a cycle is left out.
 */
#include "sm/read/adopt_mcast.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"

struct adopted {
	const struct fabric *fabric;
	struct mcast_tree *tree;
	uint32_t *row_of; /* row by node; MCAST_NONE: none */
	uint32_t *queue;  /* queue of rows */
	bool *met;	  /* by row: set if it was reached */
};

static bool has_bit(const uint64_t mask[4], unsigned port)
{
	return mask[port / 64] >> port % 64 & 1;
}

static struct node *node_of(const struct adopted *a, uint32_t row)
{
	return fabric_find_node(a->fabric, a->tree->rows[row].guid);
}

/* The row at the other end of the cable, if copies pass it. */
static uint32_t across(const struct adopted *a, uint32_t row, const struct port *p)
{
	uint32_t other = p->peer ? a->row_of[p->peer->node->index] : MCAST_NONE;

	if (other == MCAST_NONE || other == row)
		return MCAST_NONE;
	return has_bit(a->tree->rows[row].mask, p->num) ||
			       has_bit(a->tree->rows[other].mask, p->peer->num)
		       ? other
		       : MCAST_NONE;
}

static unsigned count_neighbours(const struct adopted *a, uint32_t row)
{
	const struct node *n = node_of(a, row);
	unsigned count = 0;

	for (unsigned p = 1; p <= n->n_ports; p++)
		count += across(a, row, &n->ports[p]) != MCAST_NONE;
	return count;
}

/* Puts all rows that are connected with row `top` below it. */
static void hang_below(struct adopted *a, uint32_t top)
{
	uint32_t head = 0, tail = 0;

	a->met[top] = true;
	a->queue[tail++] = top;
	while (head < tail) {
		uint32_t up = a->queue[head++];
		const struct node *n = node_of(a, up);

		for (unsigned p = 1; p <= n->n_ports; p++) {
			uint32_t down = across(a, up, &n->ports[p]);

			if (down == MCAST_NONE || a->met[down])
				continue;
			a->met[down] = true;
			a->tree->rows[down].up = up;
			a->tree->rows[down].up_port = n->ports[p].peer->num;
			a->tree->rows[down].down_port = (uint8_t)p;
			a->tree->n_links++;
			a->queue[tail++] = down;
		}
	}
}

static int by_guid(const void *x, const void *y)
{
	const struct mcast_row *a = x, *b = y;

	return (a->guid > b->guid) - (a->guid < b->guid);
}

static struct mcast_tree *copy_rows(const struct fabric *f, lid_t mlid)
{
	struct mcast_tree *t = xcalloc(1, sizeof(*t) + f->n_switches * sizeof(t->rows[0]));

	t->refs = 1;
	t->root = MCAST_NONE;
	FABRIC_EACH_NODE(f, n) {
		struct mcast_row *row = &t->rows[t->n_rows];

		if (!node_is_switch(n) || !mft_have_row(&n->mft, mlid, row->mask))
			continue;
		row->guid = n->guid;
		row->sw = row->up = MCAST_NONE;
		t->n_rows++;
	}
	qsort(t->rows, t->n_rows, sizeof(t->rows[0]), by_guid);
	return t;
}

/*
 * Grows the tree from the switch with most neighbours; in each further component, from the first.
 */
static void grow(struct adopted *a)
{
	unsigned most = 0;

	a->tree->root = 0;
	for (uint32_t i = 0; i < a->tree->n_rows; i++) {
		unsigned n = count_neighbours(a, i);

		if (n <= most)
			continue;
		most = n;
		a->tree->root = i;
	}
	hang_below(a, a->tree->root);
	for (uint32_t i = 0; i < a->tree->n_rows; i++)
		if (!a->met[i])
			hang_below(a, i);
}

struct mcast_tree *adopt_mcast_tree(const struct fabric *f, lid_t mlid)
{
	struct adopted a = { .fabric = f, .tree = copy_rows(f, mlid) };

	assert(mlid >= MLID_MIN && mlid <= MLID_MAX);
	if (!a.tree->n_rows)
		return mcast_tree_unref(a.tree);
	a.row_of = xcalloc(f->n_nodes, sizeof(*a.row_of));
	a.queue = xcalloc(a.tree->n_rows, sizeof(*a.queue));
	a.met = xcalloc(a.tree->n_rows, sizeof(*a.met));
	memset(a.row_of, 0xFF, f->n_nodes * sizeof(*a.row_of));
	for (uint32_t i = 0; i < a.tree->n_rows; i++)
		a.row_of[node_of(&a, i)->index] = i;
	grow(&a);
	free(a.row_of);
	free(a.queue);
	free(a.met);
	return a.tree;
}
