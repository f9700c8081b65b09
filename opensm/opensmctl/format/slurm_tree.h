// SPDX-License-Identifier: BSD-2-Clause
/*
 * A fabric as the tree that Slurm wants: every host under one leaf, every switch under one other.
 *
 * A fat tree has many switches that lead to the same places. Those of one level that hang together
 * become one switch of the tree, called after the first of them: hosts below it reach each other
 * within that level. What hangs together only by cables between leaves (a torus) gets one switch on
 * top that does not exist.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slurm_switch {
	char *name;	      /* letters, digits, '.', '_', '-'; unique */
	char *remark;	      /* remark of one line; NULL: none */
	char **hosts;	      /* hosts of a leaf; borrowed */
	size_t n_hosts;
	uint32_t *children;   /* of other switches: indexes in the tree */
	size_t n_children;
	double gbps;	      /* rate of the slowest link down; 0: unknown */
};

/* By which of its ports a host is placed (NULL: as most have it), and what blocks are. */
struct slurm_wish {
	const char *network; /* a pattern of shell: names of the leaves that count */
	/* "mlx5_1" or "mlx5_1/1": the second word of the description, and the number of the port */
	const char *ports;
	unsigned block_size; /* fewer hosts make no block; 0: any */
	bool pods;	     /* set if a block is all leaves of one parent, not one leaf */
};

struct slurm_hosts;

struct slurm_tree {
	struct slurm_switch *switches; /* leaves first, a switch behind its children */
	size_t n, n_leaves;
	char **hosts; /* names of all hosts, by leaf */
	size_t n_hosts;
	struct slurm_hosts *found; /* hosts[i] is found->all[i], with all its ports */
	/* Of switches as read, which ports name: in the tree, or as the document has it. */
	char **leaf_names;
	size_t n_leaf_names;
	size_t n_roots;	 /* switches without a parent */
	bool is_no_tree; /* set if leaves are connected by cables between leaves */
	char **remarks; /* remarks on changed or omitted parts, a line each */
	size_t n_remarks;
	/* hosts, and switches, that are not in the tree: remarks name them */
	size_t n_left_out, n_bare;
};

struct slurm_tree *slurm_tree_new(struct json_object *topology, const struct slurm_wish *wish);
struct slurm_tree *slurm_tree_free(struct slurm_tree *t); /* NULL is fine; returns NULL */
/* Parents by place: NO_PARENT has none. An array of t->n, to be freed. */
#define NO_PARENT UINT32_MAX
uint32_t *slurm_parents(const struct slurm_tree *t);
/* Names of the children of a switch, to be freed (the array alone). */
char **slurm_children(const struct slurm_tree *t, const struct slurm_switch *s);
