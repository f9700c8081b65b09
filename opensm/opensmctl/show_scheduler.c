// SPDX-License-Identifier: BSD-2-Clause
/*
 * topology for schedulers: files of Slurm, labels of Kubernetes. A host is in them once, so of
 * several instances one is taken.
 */
#include "opensmctl/show_scheduler.h"

#include <string.h>

#include "client/client.h"
#include "opensmctl/format/format.h"
#include "opensmctl/format/slurm_hosts.h"
#include "opensmctl/show.h"
#include "util/mem.h"
#include "util/str.h"

/* Instances of a host; more have no place in a file for Slurm. */
#define SEVERAL_MAX 64
/* Hosts of a leaf or pod: no more than Slurm has nodes. */
#define BLOCK_MAX 65536

/* Remarks that the file does not show go to stderr, for scripts that write it. */
static void warn_missing(const struct slurm_tree *t, enum scheduler_format format)
{
	char hosts[64];

	if (t->n_left_out)
		fprintf(stderr, "opensmctl: %s not in this file, its comments say why\n",
			ctl_plural((int64_t)t->n_left_out, "host", hosts));
	if (t->is_no_tree)
		fprintf(stderr, "opensmctl: the fabric is no tree: cables between leaves join it, "
				"and their distances are not in this file\n");
	if (t->n_roots > 1)
		fprintf(stderr,
			"opensmctl: %zu trees in this file, which no cable that is up joins\n",
			t->n_roots);
	if (!t->n_hosts)
		fputs("opensmctl: no host is linked to a switch, so this file has none\n",
		      stderr);
	if (t->n_bare && format != SCHEDULER_K8S)
		fprintf(stderr,
			"opensmctl: %zu %s without a place in this file, its comments name them\n",
			(size_t)t->n_bare, t->n_bare == 1 ? "switch" : "switches");
}

/* Chooses the fabric with most hosts, then with most leaves. */
static size_t choose_tree(struct slurm_tree *const *trees, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (trees[i]->n_hosts > trees[best]->n_hosts ||
		    (trees[i]->n_hosts == trees[best]->n_hosts &&
		     trees[i]->n_leaves > trees[best]->n_leaves))
			best = i;
	return best;
}

struct trees {
	struct slurm_tree *all[SEVERAL_MAX];
	const char *names[SEVERAL_MAX];
	size_t n;
};

static void remark_others(const struct trees *trees, size_t best)
{
	for (size_t i = 0; i < trees->n; i++)
		if (i != best)
			slurm_remark(trees->all[best],
				     "instance %s (%zu hosts, %zu leaves) is another fabric and "
				     "not in here: --instance %s shows it",
				     trees->names[i], trees->all[i]->n_hosts,
				     trees->all[i]->n_leaves, trees->names[i]);
}

static void print_best(const struct trees *trees, const struct scheduler_wish *wish)
{
	size_t best = choose_tree(trees->all, trees->n);
	struct slurm_tree *t = trees->all[best];

	remark_others(trees, best);
	switch (wish->format) {
	case SCHEDULER_TREE:
		format_slurm_conf(t, stdout);
		break;
	case SCHEDULER_BLOCK:
		format_slurm_block(t, &wish->slurm, stdout);
		break;
	case SCHEDULER_YAML:
		format_slurm_yaml(t, &wish->slurm, stdout);
		break;
	case SCHEDULER_K8S:
		format_k8s(t, wish->k8s_prefix, stdout);
		break;
	}
	warn_missing(t, wish->format);
}

/* `doc` is taken; NULL: there is none. */
static void add_tree(struct json_object *doc, const struct slurm_wish *wish, const char *name,
		     struct trees *to)
{
	if (!doc)
		return;
	to->names[to->n] = name;
	to->all[to->n++] = slurm_tree_new(doc, wish);
	json_object_put(doc);
}

int show_scheduler(struct ctl *c, const struct scheduler_wish *wish)
{
	struct trees trees = { .n = 0 };
	struct instances found = { 0 };
	int r = CTL_OK;

	if (!c->instance && instances_find(c->run_dir, &found) < 0)
		found.n = 0;
	if (found.n < 2)
		add_tree(ctl_call(c, "Topology", NULL), &wish->slurm, "", &trees);
	if (found.n < 2 && !trees.n)
		r = c->exit_code;
	for (size_t i = 0; found.n > 1 && r == CTL_OK && i < MIN(found.n, (size_t)SEVERAL_MAX); i++)
		add_tree(ctl_call_at(c, found.all[i].path, "Topology", &r), &wish->slurm,
			 found.all[i].name, &trees);
	if (r == CTL_OK)
		print_best(&trees, wish);
	for (size_t i = 0; i < trees.n; i++)
		slurm_tree_free(trees.all[i]);
	instances_clear(&found);
	return r;
}

const char *scheduler_wish_check(struct scheduler_wish *wish)
{
	bool has_blocks =
		wish->format == SCHEDULER_BLOCK || wish->format == SCHEDULER_YAML;
	uint64_t size = 0;

	if ((wish->blocks || wish->block_size) && !has_blocks)
		return "--blocks and --block-size are for slurm-block and slurm-yaml";
	if (wish->k8s_prefix && wish->format != SCHEDULER_K8S)
		return "--k8s-prefix is for k8s";
	if (!wish->k8s_prefix)
		wish->k8s_prefix = "topology.infiniband";
	if (!format_k8s_prefix_is_legal(wish->k8s_prefix))
		return "--k8s-prefix: expected a domain of small letters, digits, '-' and '.'";
	if (wish->blocks && strcmp(wish->blocks, "leaf") != 0 && strcmp(wish->blocks, "pod") != 0)
		return "--blocks: expected leaf or pod";
	wish->slurm.pods = wish->blocks && !strcmp(wish->blocks, "pod");
	if (wish->block_size && (str_to_u64(wish->block_size, 10, BLOCK_MAX, &size) < 0 || !size))
		return "--block-size: expected a number of hosts, 1 to 65536";
	wish->slurm.block_size = (unsigned)size;
	return NULL;
}
