// SPDX-License-Identifier: BSD-2-Clause
/*
 * Slurm's topology.conf for topology/tree (SwitchName=... Nodes=... | Switches=...) and for
 * topology/block (BlockName=... Nodes=..., BlockSizes=...), and topology.yaml (Slurm 25.05), which
 * has both, and a flat one.
 *
 * Words that a version of Slurm may want otherwise stand in `words`, each once.
 */
#include <string.h>

#include "client/js.h"
#include "opensmctl/format/format.h"
#include "opensmctl/format/hostlist.h"
#include "opensmctl/format/slurm_blocks.h"
#include "opensmctl/format/slurm_tree.h"
#include "util/mem.h"

/* A longer list goes on in the next line: "\" ends a line that goes on, in both formats. */
#define LINE_MAX_BYTES 1000

static const struct {
	const char *block_name, *block_sizes; /* for topology.conf; "BlockLevels" until 24.05 */
	const char *default_topology;	      /* for topology.yaml of 25.05 */
	const char *tree, *block, *flat;
} words = {
	.block_name = "BlockName",
	.block_sizes = "BlockSizes",
	.default_topology = "cluster_default",
	.tree = "tree",
	.block = "block",
	.flat = "flat",
};

static char *list_of(const struct slurm_tree *t, const struct slurm_switch *s)
{
	_cleanup_free_ char **names = s->n_children
					      ? slurm_children(t, s)
					      : xmemdup(s->hosts, s->n_hosts * sizeof(char *));

	return hostlist_compress(names, s->n_children ? s->n_children : s->n_hosts);
}

/* Names have no more than 64 bytes, so there is a comma in time. */
static void print_list(const char *list, FILE *out)
{
	while (strlen(list) > LINE_MAX_BYTES) {
		int len = LINE_MAX_BYTES;

		while (len > 1 && list[len - 1] != ',')
			len--;
		len = len > 1 ? len : LINE_MAX_BYTES;
		fprintf(out, "%.*s\\\n", len, list);
		list += len;
	}
	fputs(list, out);
}

static void print_head(const struct slurm_tree *t, FILE *out)
{
	fprintf(out,
		"# The fabric as opensm sees it: %zu hosts on %zu leaves. Names of hosts are the "
		"first word\n"
		"# of their NodeDescription, or of their name in the node name map.\n",
		t->n_hosts, t->n_leaves);
	for (size_t i = 0; i < t->n_remarks; i++)
		fprintf(out, "# %s\n", t->remarks[i]);
}

void format_slurm_conf(const struct slurm_tree *t, FILE *out)
{
	print_head(t, out);
	for (size_t i = 0; i < t->n; i++) {
		const struct slurm_switch *s = &t->switches[i];
		_cleanup_free_ char *list = list_of(t, s);

		if (s->remark)
			fprintf(out, "# %s\n", s->remark);
		fprintf(out, "SwitchName=%s %s=", s->name, s->n_children ? "Switches" : "Nodes");
		print_list(list, out);
		if (s->gbps)
			fprintf(out, " LinkSpeed=%.0f", s->gbps);
		fputc('\n', out);
	}
}

static void print_sizes(const struct slurm_blocks *b, const char *separator, FILE *out)
{
	for (size_t i = 0; i < b->n_sizes; i++)
		fprintf(out, "%s%llu", i ? separator : "", (unsigned long long)b->sizes[i]);
}

static char *list_of_block(const struct slurm_block *b)
{
	_cleanup_free_ char **names = xmemdup(b->hosts, b->n_hosts * sizeof(char *));

	return hostlist_compress(names, b->n_hosts);
}

void format_slurm_block(struct slurm_tree *t, const struct slurm_wish *wish, FILE *out)
{
	struct slurm_blocks *b = slurm_blocks_new(t, wish);

	print_head(t, out);
	for (size_t i = 0; i < b->n; i++) {
		_cleanup_free_ char *list = list_of_block(&b->all[i]);

		fprintf(out, "%s=%s Nodes=", words.block_name, b->all[i].name);
		print_list(list, out);
		fputc('\n', out);
	}
	if (b->n) {
		fprintf(out, "%s=", words.block_sizes);
		print_sizes(b, ",", out);
		fputc('\n', out);
	}
	slurm_blocks_free(b);
}

/* ---- topology.yaml -------------------------------------------------------------------------- */

static void print_topology(const char *name, bool is_default, FILE *out)
{
	fprintf(out, "- topology: %s\n  %s: %s\n", name, words.default_topology,
		is_default ? "true" : "false");
}

static void print_pair(const char *key, const char *name, const char *what, const char *list,
		       FILE *out)
{
	fprintf(out, "      - %s: \"%s\"\n        %s: \"", key, name, what);
	print_list(list, out);
	fputs("\"\n", out);
}

static void print_block(const struct slurm_blocks *b, FILE *out)
{
	print_topology(words.block, false, out);
	fprintf(out, "  %s:\n    block_sizes: [", words.block);
	print_sizes(b, ", ", out);
	fputs("]\n    blocks:\n", out);
	for (size_t i = 0; i < b->n; i++) {
		_cleanup_free_ char *list = list_of_block(&b->all[i]);

		print_pair("block", b->all[i].name, "nodes", list, out);
	}
}

static void print_tree(const struct slurm_tree *t, FILE *out)
{
	print_topology(words.tree, true, out);
	fprintf(out, "  %s:\n    switches:\n", words.tree);
	for (size_t i = 0; i < t->n; i++) {
		const struct slurm_switch *s = &t->switches[i];
		_cleanup_free_ char *list = list_of(t, s);

		if (s->remark)
			fprintf(out, "      # %s\n", s->remark);
		print_pair("switch", s->name, s->n_children ? "children" : "nodes", list, out);
	}
}

void format_slurm_yaml(struct slurm_tree *t, const struct slurm_wish *wish, FILE *out)
{
	struct slurm_blocks *b = slurm_blocks_new(t, wish);

	print_head(t, out);
	fputs("---\n", out);
	if (t->n)
		print_tree(t, out);
	if (b->n)
		print_block(b, out);
	print_topology(words.flat, !t->n, out);
	fprintf(out, "  %s: true\n", words.flat);
	slurm_blocks_free(b);
}
