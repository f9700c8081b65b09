// SPDX-License-Identifier: BSD-2-Clause
/*
 * A fabric as the tree that Slurm wants: every host under one leaf, every switch under one other.
 *
 * A fat tree has many switches that lead to the same places. Those of one level that hang together become one
 * switch of the tree, called after the first of them: hosts below it reach each other within that level.
 * What hangs together only by cables between leaves (a torus) gets one switch on top that does not exist.
 */
#pragma once

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

struct slurm_switch {
	char *name;	      /* letters, digits, '.', '_', '-'; unique */
	char *remark;	      /* one line; NULL: none */
	char **hosts;	      /* of a leaf; borrowed */
	size_t n_hosts;
	uint32_t *children;   /* of others: places in the tree */
	size_t n_children;
	double gbps;	      /* of the slowest link down; 0 unknown */
};

struct slurm_tree {
	struct slurm_switch *switches; /* leaves first, a switch behind its children */
	size_t n, n_leaves;
	char **hosts; /* all names, by leaf */
	size_t n_hosts;
	char **remarks; /* lines on what was changed or left out */
	size_t n_remarks;
};

struct slurm_tree *slurm_tree_new(struct json_object *topology);
struct slurm_tree *slurm_tree_free(struct slurm_tree *t); /* NULL is fine; returns NULL */
/* Names of the children of a switch, to be freed (the array alone). */
char **slurm_children(const struct slurm_tree *t, const struct slurm_switch *s);
