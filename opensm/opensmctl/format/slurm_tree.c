// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hosts first (slurm_hosts.c), which makes leaves of the switches they hang on; the other switches
 * have the rank of their distance from a leaf. Then, rank by rank, what the switches of a rank join
 * is put together. Leaves of other rails are leaves for the ranks, and in the tree a comment of the
 * leaf that has the same hosts (slurm_rails.c).
 */
#include "opensmctl/format/slurm_tree.h"

#include <stdio.h>
#include <string.h>

#include "client/js.h"
#include "opensmctl/format/slurm_hosts.h"
#include "util/guidmap.h"
#include "util/mem.h"
#include "util/sets.h"

#define NO_RANK	  UINT32_MAX
#define NO_SWITCH UINT32_MAX

struct link {
	uint32_t a, b; /* switches */
	double gbps;
};

struct fabric {
	struct slurm_tree *tree;
	struct json_object **node; /* switches */
	char **name; /* slurm_switch_name() of each */
	uint32_t n;
	struct guidmap *by_guid; /* node GUID -> place + 1 */
	struct link *links;
	size_t n_links, cap_links;
	uint32_t *rank;
	uint32_t *joined; /* union-find over switches */
	uint32_t *top;	  /* by leaf of the tree: its highest switch so far; else NO_SWITCH */
	uint32_t *twin;	  /* by leaf of another rail: the leaf that has its hosts */
	/* set for leaves, and for switches that a switch of the tree represents */
	bool *shown;
	uint32_t max_rank;
};

/* ---- the fabric ----------------------------------------------------------------------------- */

static uint32_t switch_of(const struct fabric *f, struct json_object *o)
{
	uint64_t guid = strtoull(js_str(o, "node_guid"), NULL, 16);

	return guid ? (uint32_t)(uintptr_t)guidmap_get(f->by_guid, guid) - 1 : NO_SWITCH;
}

static void read_switches(struct fabric *f, struct json_object *nodes)
{
	f->node = xcalloc(js_len(nodes) + 1, sizeof(struct json_object *));
	f->name = xcalloc(js_len(nodes) + 1, sizeof(char *));
	for (size_t i = 0; i < js_len(nodes); i++) {
		struct json_object *node = js_at(nodes, i);
		uint64_t guid = strtoull(js_str(node, "node_guid"), NULL, 16);

		if (strcmp(js_str(node, "type"), "switch") != 0 || !guid)
			continue;
		f->name[f->n] = slurm_switch_name(js_str(node, "name"));
		f->node[f->n++] = node;
		guidmap_put(f->by_guid, guid, (void *)(uintptr_t)f->n);
	}
}

static void read_links(struct fabric *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct json_object *ports = js_get(f->node[i], "ports");

		for (size_t p = 0; p < js_len(ports); p++) {
			struct json_object *peer = js_get(js_at(ports, p), "peer");
			uint32_t to = peer ? switch_of(f, peer) : NO_SWITCH;

			if (to == NO_SWITCH || to <= i ||
			    !strcmp(js_str(js_at(ports, p), "state"), "down"))
				continue;
			GROW(f->links, f->n_links + 1, f->cap_links);
			f->links[f->n_links++] = (struct link){
				.a = i,
				.b = to,
				.gbps = js_num(js_at(ports, p), "gbps"),
			};
		}
	}
}

/* Distances from the leaves: links are looked through once per rank, of which there are few. */
static void rank_switches(struct fabric *f)
{
	bool more = true;

	for (uint32_t r = 0; more; r++) {
		more = false;
		for (size_t i = 0; i < f->n_links; i++) {
			const struct link *l = &f->links[i];
			uint32_t next = f->rank[l->a] == r && f->rank[l->b] == NO_RANK ? l->b
					: f->rank[l->b] == r && f->rank[l->a] == NO_RANK
						? l->a
						: NO_SWITCH;

			if (next == NO_SWITCH)
				continue;
			f->rank[next] = f->max_rank = r + 1;
			more = true;
		}
	}
}

/* ---- joining -------------------------------------------------------------------------------- */

static struct slurm_switch *add_switch(struct fabric *f)
{
	struct slurm_tree *t = f->tree;

	t->switches = xrealloc(t->switches, t->n + 1, sizeof(*t->switches));
	t->switches[t->n] = (struct slurm_switch){ 0 };
	return &t->switches[t->n++];
}

/* Switches of this rank that ended up in `part`, as a line; the first one's name is the group's. */
static void name_group(struct fabric *f, struct slurm_switch *s, uint32_t part, uint32_t rank)
{
	char *text = NULL;
	size_t len, n = 0;
	FILE *out = open_memstream(&text, &len);

	for (uint32_t i = 0; i < f->n; i++) {
		if (f->rank[i] != rank || sets_root(f->joined, i) != part)
			continue;
		f->shown[i] = true;
		if (!n++)
			s->name = slurm_unique_name(f->tree, f->name[i]);
		if (n <= 16)
			fprintf(out, "%s%s", n > 1 ? ", " : "", f->name[i]);
	}
	if (n > 16)
		fprintf(out, " and %zu more", n - 16);
	fclose(out);
	if (n > 1)
		s->remark = xasprintf("%s stands for %zu switches: %s", s->name, n, text);
	free(text);
	if (s->name)
		return;
	s->name = slurm_unique_name(f->tree, "fabric");
	f->tree->is_no_tree = true;
	s->remark = xasprintf("%s does not exist: what is below hangs together by cables between "
			      "leaves, as in a torus or dragonfly; Slurm takes all of it for "
			      "equally near",
			      s->name);
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The children of a part: the tops of its leaves, each once. */
static size_t children_of(struct fabric *f, uint32_t part, uint32_t *ret)
{
	size_t n = 0, kept = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (f->top[i] != NO_SWITCH && sets_root(f->joined, i) == part)
			ret[n++] = f->top[i];
	qsort(ret, n, sizeof(*ret), compare_numbers);
	for (size_t i = 0; i < n; i++)
		if (!kept || ret[kept - 1] != ret[i])
			ret[kept++] = ret[i];
	return kept;
}

static double slowest(struct fabric *f, uint32_t part, uint32_t rank)
{
	double least = 0;

	for (size_t i = 0; i < f->n_links; i++) {
		const struct link *l = &f->links[i];
		bool counts = f->rank[l->a] == rank || f->rank[l->b] == rank;

		if (counts && l->gbps && sets_root(f->joined, l->a) == part &&
		    (!least || l->gbps < least))
			least = l->gbps;
	}
	return least;
}

/* A switch of the tree for every part that brings several together. */
static void raise_level(struct fabric *f, uint32_t rank)
{
	_cleanup_free_ uint32_t *below = xcalloc(f->n + 1, sizeof(*below));

	for (uint32_t part = 0; part < f->n; part++) {
		size_t n = f->joined[part] == part ? children_of(f, part, below) : 0;
		struct slurm_switch *s;

		if (n < 2)
			continue;
		s = add_switch(f);
		s->children = xmemdup(below, n * sizeof(*below));
		s->n_children = n;
		s->gbps = slowest(f, part, rank);
		name_group(f, s, part, rank);
		for (uint32_t i = 0; i < f->n; i++)
			if (f->top[i] != NO_SWITCH && sets_root(f->joined, i) == part)
				f->top[i] = (uint32_t)(s - f->tree->switches);
	}
}

/* A leaf of another rail is where its hosts are: the spines above it are of the same group. */
static void join_rails(struct fabric *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->twin[i] != NO_SWITCH)
			sets_join(f->joined, i, f->twin[i]);
}

static void build(struct fabric *f)
{
	join_rails(f);
	for (uint32_t r = 1; r <= f->max_rank; r++) {
		for (size_t i = 0; i < f->n_links; i++) {
			const struct link *l = &f->links[i];

			/*
			 * The lower number represents both: names do not depend on the order of
			 * cables.
			 */
			if (MAX(f->rank[l->a], f->rank[l->b]) == r)
				sets_join(f->joined, l->a, l->b);
		}
		raise_level(f, r);
	}
	for (size_t i = 0; i < f->n_links; i++)
		if (f->rank[f->links[i].a] != NO_RANK && f->rank[f->links[i].b] != NO_RANK)
			sets_join(f->joined, f->links[i].a, f->links[i].b);
	raise_level(f, f->max_rank + 1);
}

/* ---- leaves --------------------------------------------------------------------------------- */

static void add_leaves(struct fabric *f, const struct slurm_hosts *hosts)
{
	size_t first = 0;

	/* Hosts are sorted by leaf. */
	while (first < hosts->n) {
		uint32_t leaf = hosts->all[first].leaf;
		struct slurm_switch *s = add_switch(f);

		s->hosts = f->tree->hosts + first;
		for (; first < hosts->n && hosts->all[first].leaf == leaf; first++) {
			double gbps = hosts->all[first].gbps;

			f->tree->hosts[first] = hosts->all[first].name;
			s->n_hosts++;
			if (gbps && (!s->gbps || gbps < s->gbps))
				s->gbps = gbps;
		}
		s->name = slurm_unique_name(f->tree, f->name[leaf]);
		f->rank[leaf] = 0;
		f->shown[leaf] = true;
		f->top[leaf] = (uint32_t)(f->tree->n - 1);
	}
	f->tree->n_leaves = f->tree->n;
}

/* Leaves of other rails have the rank of leaves, and are named with the leaf of their hosts. */
static void rank_other_rails(struct fabric *f, const struct slurm_hosts *hosts)
{
	slurm_rails_pair(hosts, f->n, f->twin);
	for (size_t i = 0; i < hosts->n_ports; i++)
		f->rank[hosts->ports[i].leaf] = 0;
}

static void remark_rails(struct fabric *f)
{
	_cleanup_free_ const char **names = xcalloc(f->n + 1, sizeof(char *));

	for (uint32_t leaf = 0; leaf < f->n; leaf++) {
		_cleanup_free_ char *text = NULL;
		size_t n = 0;

		if (f->top[leaf] == NO_SWITCH)
			continue;
		for (uint32_t i = 0; i < f->n; i++)
			if (f->twin[i] == leaf) {
				f->shown[i] = true;
				names[n++] = f->name[i];
			}
		text = slurm_names(names, n);
		if (n)
			f->tree->switches[f->top[leaf]].remark = xasprintf(
				"%s stands also for leaves of other rails with the same hosts: %s",
				f->tree->switches[f->top[leaf]].name, text);
	}
}

static void count_roots(struct fabric *f)
{
	_cleanup_free_ uint32_t *parents = slurm_parents(f->tree);

	for (size_t i = 0; i < f->tree->n; i++)
		if (parents[i] == NO_PARENT)
			f->tree->n_roots++;
	if (f->tree->n_roots > 1)
		slurm_remark(f->tree,
			     "these are %zu trees: no cable that is up joins them, so no job gets "
			     "nodes of two of them",
			     f->tree->n_roots);
}

/* Remarks on switches that are not in any line. */
static void remark_bare(struct fabric *f)
{
	_cleanup_free_ const char **names = xcalloc(f->n + 1, sizeof(char *));
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (!f->shown[i])
			names[n++] = f->name[i];
	text = slurm_names(names, n);
	if (n)
		slurm_remark(f->tree,
			     "switches are not in here on which no host is placed, and which join "
			     "no two leaves "
			     "(%zu): %s",
			     n, text);
	f->tree->n_bare = n;
}

static void fabric_init(struct fabric *f, struct json_object *topology)
{
	read_switches(f, js_get(topology, "nodes"));
	read_links(f);
	f->rank = xcalloc(f->n + 1, sizeof(*f->rank));
	f->joined = xcalloc(f->n + 1, sizeof(*f->joined));
	f->top = xcalloc(f->n + 1, sizeof(*f->top));
	f->twin = xcalloc(f->n + 1, sizeof(*f->twin));
	f->shown = xcalloc(f->n + 1, sizeof(*f->shown));
	for (uint32_t i = 0; i < f->n; i++) {
		f->rank[i] = NO_RANK;
		f->top[i] = NO_SWITCH;
		f->joined[i] = i;
	}
}

static void fabric_clear(struct fabric *f)
{
	guidmap_free(f->by_guid);
	for (uint32_t i = 0; i < f->n; i++)
		free(f->name[i]);
	free(f->name);
	free(f->node);
	free(f->links);
	free(f->rank);
	free(f->joined);
	free(f->top);
	free(f->twin);
	free(f->shown);
}

/* Switches by the name that they have in the tree, else by their own. */
static void name_leaves(struct fabric *f)
{
	struct slurm_tree *t = f->tree;

	t->leaf_names = xcalloc(f->n + 1, sizeof(char *));
	for (; t->n_leaf_names < f->n; t->n_leaf_names++) {
		uint32_t top = f->top[t->n_leaf_names];

		t->leaf_names[t->n_leaf_names] = xstrdup(top == NO_SWITCH ? f->name[t->n_leaf_names]
									  : t->switches[top].name);
	}
}

struct slurm_tree *slurm_tree_new(struct json_object *topology, const struct slurm_wish *wish)
{
	struct slurm_tree *t = xcalloc(1, sizeof(*t));
	struct fabric f = { .tree = t, .by_guid = guidmap_new() };

	fabric_init(&f, topology);
	t->found = xcalloc(1, sizeof(*t->found));
	slurm_hosts_read(t->found, topology, f.by_guid, wish, t);
	t->hosts = xcalloc(t->found->n + 1, sizeof(char *));
	t->n_hosts = t->found->n;
	add_leaves(&f, t->found);
	rank_other_rails(&f, t->found);
	remark_rails(&f);
	name_leaves(&f);
	rank_switches(&f);
	build(&f);
	remark_bare(&f);
	count_roots(&f);
	fabric_clear(&f);
	return t;
}

struct slurm_tree *slurm_tree_free(struct slurm_tree *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < t->n; i++) {
		free(t->switches[i].name);
		free(t->switches[i].remark);
		free(t->switches[i].children);
	}
	for (size_t i = 0; i < t->n_leaf_names; i++)
		free(t->leaf_names[i]);
	free(t->leaf_names);
	slurm_hosts_clear(t->found);
	free(t->found);
	for (size_t i = 0; i < t->n_remarks; i++)
		free(t->remarks[i]);
	free(t->switches);
	free(t->hosts);
	free(t->remarks);
	free(t);
	return NULL;
}

uint32_t *slurm_parents(const struct slurm_tree *t)
{
	uint32_t *ret = xcalloc(t->n + 1, sizeof(*ret));

	for (size_t i = 0; i < t->n; i++)
		ret[i] = NO_PARENT;
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->switches[i].n_children; k++)
			ret[t->switches[i].children[k]] = (uint32_t)i;
	return ret;
}

char **slurm_children(const struct slurm_tree *t, const struct slurm_switch *s)
{
	char **names = xcalloc(s->n_children + 1, sizeof(char *));

	for (size_t i = 0; i < s->n_children; i++)
		names[i] = t->switches[s->children[i]].name;
	return names;
}
