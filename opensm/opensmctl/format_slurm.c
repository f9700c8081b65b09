// SPDX-License-Identifier: BSD-2-Clause
/*
 * Slurm's topology.conf (SwitchName=... Nodes=... | Switches=...) and topology.yaml (Slurm 25.05): the tree,
 * a block topology where all leaves have as many hosts, and a flat one.
 */
#include "opensmctl/ctl.h"
#include "opensmctl/format.h"
#include "opensmctl/hostlist.h"
#include "opensmctl/slurm_tree.h"
#include "util/mem.h"

static char *list_of(const struct slurm_tree *t, const struct slurm_switch *s)
{
	_cleanup_free_ char **names = s->n_children ? slurm_children(t, s)
						    : xmemdup(s->hosts, s->n_hosts * sizeof(char *));

	return hostlist_compress(names, s->n_children ? s->n_children : s->n_hosts);
}

static void print_head(const struct slurm_tree *t, FILE *out)
{
	fprintf(out, "# The fabric as opensm sees it: %zu hosts on %zu leaves. Names of hosts are the first word\n"
		"# of their NodeDescription.\n", t->n_hosts, t->n_leaves);
	for (size_t i = 0; i < t->n_remarks; i++)
		fprintf(out, "# %s\n", t->remarks[i]);
}

void format_slurm_conf(struct json_object *topology, FILE *out)
{
	struct slurm_tree *t = slurm_tree_new(topology);

	print_head(t, out);
	for (size_t i = 0; i < t->n; i++) {
		const struct slurm_switch *s = &t->switches[i];
		_cleanup_free_ char *list = list_of(t, s);

		if (s->remark)
			fprintf(out, "# %s\n", s->remark);
		fprintf(out, "SwitchName=%s %s=%s", s->name, s->n_children ? "Switches" : "Nodes", list);
		if (s->gbps)
			fprintf(out, " LinkSpeed=%.0f", s->gbps);
		fputc('\n', out);
	}
	slurm_tree_free(t);
}

static void print_block(const struct slurm_tree *t, FILE *out)
{
	for (size_t i = 0; i < t->n_leaves; i++)
		if (t->switches[i].n_hosts != t->switches[0].n_hosts)
			return;
	fprintf(out, "- topology: block\n  cluster_default: false\n  block:\n    block_sizes: [%zu]\n    blocks:\n",
		t->switches[0].n_hosts);
	for (size_t i = 0; i < t->n_leaves; i++) {
		_cleanup_free_ char *list = list_of(t, &t->switches[i]);

		fprintf(out, "      - block: \"%s\"\n        nodes: \"%s\"\n", t->switches[i].name, list);
	}
}

void format_slurm_yaml(struct json_object *topology, FILE *out)
{
	struct slurm_tree *t = slurm_tree_new(topology);

	print_head(t, out);
	fputs("---\n", out);
	if (t->n)
		fputs("- topology: tree\n  cluster_default: true\n  tree:\n    switches:\n", out);
	for (size_t i = 0; i < t->n; i++) {
		const struct slurm_switch *s = &t->switches[i];
		_cleanup_free_ char *list = list_of(t, s);

		if (s->remark)
			fprintf(out, "      # %s\n", s->remark);
		fprintf(out, "      - switch: \"%s\"\n        %s: \"%s\"\n", s->name,
			s->n_children ? "children" : "nodes", list);
	}
	if (t->n)
		print_block(t, out);
	fprintf(out, "- topology: flat\n  cluster_default: %s\n  flat: true\n", t->n ? "false" : "true");
	slurm_tree_free(t);
}
