// SPDX-License-Identifier: BSD-2-Clause
#include "opensmctl/format/slurm_blocks.h"

#include <string.h>

#include "opensmctl/format/slurm_hosts.h"
#include "util/mem.h"

/* The switch of the tree whose hosts form the block of a leaf. */
static uint32_t block_of(const uint32_t *parents, uint32_t leaf, bool pods)
{
	uint32_t up = parents[leaf];

	return pods && up != NO_PARENT && parents[up] != NO_PARENT ? up : leaf;
}

/* The pod that a block is in; a switch above everything is none. */
static uint32_t pod_of(const uint32_t *parents, uint32_t at)
{
	uint32_t up = parents[at];

	return up != NO_PARENT && parents[up] != NO_PARENT ? up : NO_PARENT;
}

static struct slurm_block *add_block(struct slurm_blocks *b, const struct slurm_tree *t,
				     uint32_t at, uint32_t pod)
{
	b->all = xrealloc(b->all, b->n + 1, sizeof(*b->all));
	b->all[b->n] = (struct slurm_block){ .name = t->switches[at].name, .pod = pod };
	return &b->all[b->n++];
}

static void add_hosts(struct slurm_block *to, const struct slurm_switch *leaf)
{
	to->hosts = xrealloc(to->hosts, to->n_hosts + leaf->n_hosts, sizeof(char *));
	memcpy(to->hosts + to->n_hosts, leaf->hosts, leaf->n_hosts * sizeof(char *));
	to->n_hosts += leaf->n_hosts;
}

/*
 * Collects leaves with the same parent one after the other, in the order of the first of each: as
 * parents of leaves are few, all leaves are searched for each.
 */
static void collect(struct slurm_blocks *b, const struct slurm_tree *t, const uint32_t *parents,
		    bool pods)
{
	_cleanup_free_ bool *seen = xcalloc(t->n + 1, sizeof(*seen));

	for (uint32_t first = 0; first < t->n_leaves; first++) {
		uint32_t last_block = NO_PARENT;

		for (uint32_t i = first; !seen[first] && i < t->n_leaves; i++) {
			uint32_t at = block_of(parents, i, pods);

			if (seen[i] || parents[i] != parents[first])
				continue;
			if (at != last_block)
				add_block(b, t, at, pod_of(parents, at));
			last_block = at;
			add_hosts(&b->all[b->n - 1], &t->switches[i]);
			seen[i] = i != first;
		}
		seen[first] = true;
	}
}

static void leave_out_small(struct slurm_blocks *b, struct slurm_tree *t, unsigned least)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->n; i++) {
		if (b->all[i].n_hosts >= least) {
			b->all[kept++] = b->all[i];
			continue;
		}
		slurm_remark(t, "block %s has fewer than %u hosts (%zu) and is not in here",
			     b->all[i].name, least, b->all[i].n_hosts);
		t->n_left_out += b->all[i].n_hosts;
		free(b->all[i].hosts);
	}
	b->n = kept;
}

/* The largest power of two that divides the number of blocks of each pod; 1: there are no pods. */
static uint64_t blocks_per_pod(const struct slurm_blocks *b)
{
	uint64_t ret = 0;
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		n++;
		if (i + 1 < b->n && b->all[i].pod != NO_PARENT &&
		    b->all[i + 1].pod == b->all[i].pod)
			continue;
		ret |= n;
		n = 0;
	}
	return ret & (~ret + 1);
}

static void choose_sizes(struct slurm_blocks *b, struct slurm_tree *t)
{
	const struct slurm_block *least = &b->all[0];
	size_t most = 0;
	uint64_t per_pod;

	for (size_t i = 0; i < b->n; i++) {
		least = b->all[i].n_hosts < least->n_hosts ? &b->all[i] : least;
		most = MAX(most, b->all[i].n_hosts);
	}
	b->sizes[b->n_sizes++] = least->n_hosts;
	per_pod = blocks_per_pod(b);
	if (per_pod > 1)
		b->sizes[b->n_sizes++] = least->n_hosts * per_pod;
	if (2 * least->n_hosts <= most)
		slurm_remark(t,
			     "BlockSizes begin with %zu since block %s has no more hosts, others "
			     "have up to %zu; --block-size leaves out what is smaller",
			     least->n_hosts, least->name, most);
}

struct slurm_blocks *slurm_blocks_new(struct slurm_tree *t, const struct slurm_wish *wish)
{
	struct slurm_blocks *b = xcalloc(1, sizeof(*b));
	_cleanup_free_ uint32_t *parents = slurm_parents(t);

	collect(b, t, parents, wish->pods);
	leave_out_small(b, t, wish->block_size);
	if (b->n)
		choose_sizes(b, t);
	return b;
}

struct slurm_blocks *slurm_blocks_free(struct slurm_blocks *b)
{
	if (!b)
		return NULL;
	for (size_t i = 0; i < b->n; i++)
		free(b->all[i].hosts);
	free(b->all);
	free(b);
	return NULL;
}
