// SPDX-License-Identifier: BSD-2-Clause
/*
 * The P_Keys of a view: which set each port has.
 *
 *   root view      of_port[] ----> sets[0 .. n_root)           copied from the plan, never changed
 *   derived view   own of_port[] -> sets of the root, or more[] of its own
 *
 * A derived view has a column and the sets that its root lacks; one derived from it takes over
 * those that are still in use. So thousands of changes one after the other make neither a chain of
 * views nor a heap of sets. Only view.c and
 * view_policy.c include this.
 *
 * With each set goes its row of the QoS policy (policy_keys.h), if that goes by P_Keys.
 */
#pragma once

#include <stdint.h>

#include "view/view.h"

struct view_sets;

/* The sets of a root view, whose ports are complete. `plan` NULL: no port has a set. */
struct view_sets *view_sets_new(const struct view *v, const struct pkey_plan *plan,
				const struct partitions *partitions);
/* The sets of `from`, which must stay valid, with the changes. */
struct view_sets *view_sets_derive(const struct view *v, const struct view_pkey_change *changes,
				   size_t n);
/* Applies other P_Keys for names of partitions; `s` must not be in use yet. */
void view_sets_rename(struct view_sets *s, const struct qos_policy *policy,
		      const struct partitions *partitions);
struct view_sets *view_sets_free(struct view_sets *s);
/* The row of the QoS policy that an end port has by its P_Keys; NULL: none. */
const uint64_t *view_sets_row(const struct view_sets *s, uint32_t port);
