// SPDX-License-Identifier: BSD-2-Clause
/*
 * A view that is made a part at a time, between other work of the thread that owns the fabric.
 *
 *   view_copy_new()  references are taken; nothing is copied yet
 *   view_copy_some() so many nodes and ports, until it says that the view is whole
 *   view_copy_take() the view
 *
 * The view is of one state of the fabric: that of the call in which the last node was copied. What
 * changes meanwhile is copied again: each node says when it was edited (node->edited, and with
 * VIEW_TREES node->mft.edited), and a round over all nodes in which nothing changed ends the copy.
 * A node that came or went has it begin anew. After VIEW_COPY_ROUNDS of these the rest is copied at
 * one go, whatever it is.
 */
#pragma once

#include "view/view.h"

#define VIEW_COPY_ALL	 UINT32_MAX
#define VIEW_COPY_ROUNDS 6u

/* Callbacks for notes on nodes and ports besides the view. All may be NULL. */
struct view_beside {
	/* The copy begins, perhaps again: n_nodes and n_ports of `v` are final, nothing else is. */
	void (*begin)(void *arg, const struct view *v);
	/* The node was copied, perhaps again; its ports and places in `v` are final. */
	void (*node)(void *arg, const struct view *v, const struct node *n, uint32_t at);
	/* No node has changed: is everything else read since begin() unchanged, too? */
	bool (*holds)(void *arg);
	void *arg;
};

struct view_copy;

/*
 * Begins a copy. `from` is copied, with references to `conf`, `files`, `routes` and `partitions`.
 * `fabric` must exist at each call of view_copy_some(), as must `pkeys` and `sms`, if given.
 */
struct view_copy *view_copy_new(const struct view_source *from, const struct view_beside *beside);
struct view_copy *view_copy_free(struct view_copy *c); /* NULL is fine; returns NULL */
FREEP(view_copy_free, struct view_copy)
/* Copies about `budget` nodes and ports; VIEW_COPY_ALL: all at once. True: the view is complete. */
bool view_copy_some(struct view_copy *c, uint32_t budget);
/* The complete view, one reference. */
struct view *view_copy_take(struct view_copy *c);
/*
 * Copies for one turn of an event loop, a millisecond or two. True: `*ret` is the view, one
 * reference, and `*c` was freed and is NULL.
 */
bool view_copy_turn(struct view_copy **c, struct view **ret);

/* The number of rounds over all nodes. */
unsigned view_copy_rounds(const struct view_copy *c);
