// SPDX-License-Identifier: BSD-2-Clause
/* Trees: their life, their rows, and whether two are the same. */
#include <string.h>

#include "route/mcast/mcast_internal.h"
#include "util/bisect.h"
#include "util/mem.h"

struct mcast_tree *mcast_tree_new(uint32_t n_rows)
{
	struct mcast_tree *t = xcalloc(1, sizeof(*t) + n_rows * sizeof(t->rows[0]));

	t->refs = 1;
	t->n_rows = n_rows;
	t->root = MCAST_NONE;
	return t;
}

struct mcast_tree *mcast_tree_ref(const struct mcast_tree *t)
{
	struct mcast_tree *tree = as_owner(t);

	if (tree)
		tree->refs++;
	return tree;
}

struct mcast_tree *mcast_tree_unref(const struct mcast_tree *shared)
{
	struct mcast_tree *t = as_owner(shared);

	if (t && --t->refs == 0)
		free(t);
	return NULL;
}

const struct mcast_row *mcast_tree_find(const struct mcast_tree *t, guid_t guid)
{
	uint32_t n = t ? t->n_rows : 0, at = BISECT(i, 0, n, t->rows[i].guid < guid);

	return at < n && t->rows[at].guid == guid ? &t->rows[at] : NULL;
}

static bool row_is_same(const struct mcast_row *a, const struct mcast_row *b)
{
	return a->guid == b->guid && a->sw == b->sw && a->up == b->up && a->up_port == b->up_port &&
	       a->down_port == b->down_port && !memcmp(a->mask, b->mask, sizeof(a->mask));
}

bool mcast_tree_is_same(const struct mcast_tree *a, const struct mcast_tree *b)
{
	if (a->n_rows != b->n_rows || a->n_left_out != b->n_left_out || a->unproved != b->unproved)
		return false;
	for (uint32_t i = 0; i < a->n_rows; i++)
		if (!row_is_same(&a->rows[i], &b->rows[i]))
			return false;
	return true;
}
