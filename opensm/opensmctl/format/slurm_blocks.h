// SPDX-License-Identifier: BSD-2-Clause
/*
 * Blocks for Slurm's topology/block: the hosts of a leaf, or of the leaves below one parent, and
 * BlockSizes that Slurm takes: the first is no larger than the smallest block, each other one is
 * the one before times a power of two. Blocks below one parent follow each other, since Slurm
 * aggregates blocks in the order of the file.
 */
#pragma once

#include "opensmctl/format/slurm_tree.h"

/* A base and one that fills pods: Slurm would take up to 16. */
#define BLOCK_SIZES_MAX 2

struct slurm_block {
	const char *name; /* the switch's, borrowed from the tree */
	char **hosts;	  /* names borrowed, the array not */
	size_t n_hosts;
	uint32_t pod;	  /* the parent in the tree; NO_PARENT: none, or one above everything */
};

struct slurm_blocks {
	struct slurm_block *all;
	size_t n;
	uint64_t sizes[BLOCK_SIZES_MAX];
	size_t n_sizes; /* 0: there is no block */
};

/*
 * Blocks smaller than wish->block_size are left out, which a remark of the tree says; so it does
 * where one small block makes the first of the BlockSizes small.
 */
struct slurm_blocks *slurm_blocks_new(struct slurm_tree *t, const struct slurm_wish *wish);
struct slurm_blocks *slurm_blocks_free(struct slurm_blocks *b); /* NULL is fine; returns NULL */
