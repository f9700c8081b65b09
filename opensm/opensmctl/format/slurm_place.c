// SPDX-License-Identifier: BSD-2-Clause
/*
 * By which port a host is placed, where hosts have several: one for computing and one for storage,
 * or one for each rail.
 *
 * A slot is the name of a device and the number of a port ("mlx5_1/1"), the same on all hosts that
 * were installed alike. The slot that counts is one that at least half of the hosts have; of these
 * the one whose hosts hang on the most leaves, since a network for storage has few of them; then
 * the fastest, then that of the most hosts, then the first by name. A host without that slot is
 * placed by another port, if possible on a leaf of those.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opensmctl/format/slurm_hosts.h"
#include "util/hash.h"
#include "util/mem.h"

#define NAMES_MAX 12
#define SLOTS_MAX 6

/* A slot; ports that fit are ordered by slot, then by host. */
struct slot {
	const char *name;
	size_t first, n; /* its ports: index of the first one, and their number */
	size_t hosts, leaves;
	double gbps; /* rate of the slowest port */
};

/* ---- names ---------------------------------------------------------------------------------- */

static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Sorts, and keeps each once. Returns how many that are. */
static size_t distinct(const char **names, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(names, n, sizeof(*names), by_text);
	for (size_t i = 0; i < n; i++)
		if (!kept || strcmp(names[kept - 1], names[i]) != 0)
			names[kept++] = names[i];
	return kept;
}

char *slurm_names(const char **names, size_t n)
{
	char *text = NULL;
	size_t len, all = distinct(names, n);
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < all && i < NAMES_MAX; i++)
		fprintf(out, "%s%s", i ? ", " : "", names[i]);
	if (all > NAMES_MAX)
		fprintf(out, " and %zu more", all - NAMES_MAX);
	fclose(out);
	return text;
}

/* ---- what was asked for --------------------------------------------------------------------- */

static bool is_slot(const char *slot, const char *wanted)
{
	size_t len = strlen(wanted);

	return !strcmp(slot, wanted) ||
	       (!strchr(wanted, '/') && !strncmp(slot, wanted, len) && slot[len] == '/');
}

static bool fits(const struct slurm_port *p, const struct slurm_wish *wish)
{
	_cleanup_free_ char *leaf = slurm_switch_name(p->leaf_name);

	if (wish->network && fnmatch(wish->network, p->leaf_name, 0) != 0 &&
	    fnmatch(wish->network, leaf, 0) != 0)
		return false;
	return !wish->ports || is_slot(p->slot, wish->ports);
}

static void remark_lost(const char **lost, size_t n, const struct slurm_wish *wish,
			struct slurm_tree *tree)
{
	_cleanup_free_ char *names = slurm_names(lost, n);

	slurm_remark(tree, "hosts without such a port are not in here (%s%s%s%s%s; %zu): %s",
		     wish->network ? "--network " : "", wish->network ? wish->network : "",
		     wish->network && wish->ports ? " " : "", wish->ports ? "--ports " : "",
		     wish->ports ? wish->ports : "", n, names);
}

/* Hosts that have no port that fits go, and are named in a remark. Returns the ports that fit. */
static size_t keep_fitting(struct slurm_hosts *h, const struct slurm_wish *wish,
			   struct slurm_tree *tree)
{
	_cleanup_free_ const char **lost = xcalloc(h->n + 1, sizeof(char *));
	size_t kept = 0, n_lost = 0, n_fit = 0;

	for (size_t i = 0; i < h->n; i++) {
		struct slurm_host *host = &h->all[i];

		for (struct slurm_port *p = &h->ports[host->first];
		     p < &h->ports[host->first + host->n]; p++) {
			if (fits(p, wish))
				host->n_fit++;
			else
				p->rank = RANK_UNFIT;
		}
		n_fit += host->n_fit;
		if (host->n_fit) {
			h->all[kept++] = *host;
			continue;
		}
		lost[n_lost++] = slurm_word(h, host);
		free(host->name);
	}
	h->n = kept;
	tree->n_left_out += n_lost;
	if (n_lost)
		remark_lost(lost, n_lost, wish, tree);
	return n_fit;
}

/* ---- slots ---------------------------------------------------------------------------------- */

static int by_slot(const void *x, const void *y)
{
	const struct slurm_port *a = *(struct slurm_port *const *)x;
	const struct slurm_port *b = *(struct slurm_port *const *)y;
	int order = strcmp(a->slot, b->slot);

	return order ? order : strcmp(a->word, b->word);
}

/* The ports that fit, by slot. To be freed. */
static struct slurm_port **ports_by_slot(struct slurm_hosts *h, size_t n)
{
	struct slurm_port **ret = xcalloc(n + 1, sizeof(struct slurm_port *));
	size_t at = 0;

	for (size_t i = 0; i < h->n_ports; i++)
		if (h->ports[i].rank != RANK_UNFIT)
			ret[at++] = &h->ports[i];
	qsort(ret, n, sizeof(*ret), by_slot);
	return ret;
}

static int by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

/* The leaves of ports, in order. To be freed. */
static uint32_t *leaves_of(struct slurm_port *const *ports, size_t n)
{
	uint32_t *ret = xcalloc(n + 1, sizeof(*ret));

	for (size_t i = 0; i < n; i++)
		ret[i] = ports[i]->leaf;
	qsort(ret, n, sizeof(*ret), by_number);
	return ret;
}

static size_t count_leaves(struct slurm_port *const *ports, size_t n)
{
	_cleanup_free_ uint32_t *leaves = leaves_of(ports, n);
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (!i || leaves[i] != leaves[i - 1])
			count++;
	return count;
}

/* Returns how many there are. */
static size_t find_slots(struct slurm_port *const *ports, size_t n_ports, struct slot *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < n_ports; i++) {
		const struct slurm_port *p = ports[i];
		struct slot *s = n ? &ret[n - 1] : NULL;

		if (!s || strcmp(s->name, p->slot) != 0) {
			s = &ret[n++];
			*s = (struct slot){ .name = p->slot, .first = i, .gbps = p->gbps };
		}
		if (!s->n || strcmp(ports[i - 1]->word, p->word) != 0)
			s->hosts++;
		s->n++;
		s->gbps = MIN(s->gbps, p->gbps);
	}
	for (size_t i = 0; i < n; i++)
		ret[i].leaves = count_leaves(ports + ret[i].first, ret[i].n);
	return n;
}

static bool is_better(const struct slot *a, const struct slot *b, size_t n_hosts)
{
	bool half_a = 2 * a->hosts >= n_hosts, half_b = 2 * b->hosts >= n_hosts;

	if (half_a != half_b)
		return half_a;
	if (!half_a && a->hosts != b->hosts)
		return a->hosts > b->hosts;
	if (a->leaves != b->leaves)
		return a->leaves > b->leaves;
	if (a->gbps < b->gbps || a->gbps > b->gbps)
		return a->gbps > b->gbps;
	return a->hosts > b->hosts; /* else the first by name is kept */
}

static const struct slot *choose(const struct slot *slots, size_t n, size_t n_hosts)
{
	const struct slot *best = &slots[0];

	for (size_t i = 1; i < n; i++)
		if (is_better(&slots[i], best, n_hosts))
			best = &slots[i];
	return best;
}

/* ---- placing -------------------------------------------------------------------------------- */

static void remark_choice(const struct slot *slots, size_t n, const struct slot *best,
			  size_t n_hosts, struct slurm_tree *tree)
{
	char *text = NULL;
	size_t len, told = 0;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < n; i++) {
		if (&slots[i] == best || told++ >= SLOTS_MAX)
			continue;
		fprintf(out, "%s%s (%zu hosts, %zu leaves)", told > 1 ? ", " : "", slots[i].name,
			slots[i].hosts, slots[i].leaves);
	}
	if (told > SLOTS_MAX)
		fprintf(out, " and %zu more", told - SLOTS_MAX);
	fclose(out);
	slurm_remark(tree,
		     "hosts are placed by port %s (%zu of %zu hosts, %zu leaves), not by %s; "
		     "--ports or --network chooses",
		     best->name, best->hosts, n_hosts, best->leaves, text);
	free(text);
}

/* A leaf of the slot first, then any. */
static void rank_ports(struct slurm_port *const *ports, size_t n, const struct slot *best)
{
	_cleanup_free_ uint32_t *leaves = leaves_of(ports + best->first, best->n);

	for (size_t i = 0; i < n; i++) {
		struct slurm_port *p = ports[i];
		bool is_there =
			bsearch(&p->leaf, leaves, best->n, sizeof(*leaves), by_number) != NULL;

		if (i >= best->first && i < best->first + best->n)
			p->rank = RANK_SLOT;
		else
			p->rank = is_there ? RANK_LEAF : RANK_OTHER;
	}
}

static bool has_slot(const struct slurm_hosts *h, const struct slurm_host *host)
{
	for (size_t i = host->first; i < host->first + host->n; i++)
		if (h->ports[i].rank == RANK_SLOT)
			return true;
	return false;
}

static void remark_others(const struct slurm_hosts *h, const char *slot, struct slurm_tree *tree)
{
	_cleanup_free_ const char **others = xcalloc(h->n + 1, sizeof(char *));
	_cleanup_free_ char *names = NULL;
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		if (!has_slot(h, &h->all[i]))
			others[n++] = slurm_word(h, &h->all[i]);
	names = slurm_names(others, n);
	if (n)
		slurm_remark(tree, "hosts without port %s are placed by another (%zu): %s", slot, n,
			     names);
}

/* ---- ports of a unit in another order ------------------------------------------------------ */

/* A host beside others whose ports are on the same leaves. */
struct mate {
	size_t host;
	uint64_t leaves; /* hash of its leaves, each once */
	uint32_t leaf;	 /* leaf switch of the port by which the host is placed */
};

static struct mate mate_of(const struct slurm_hosts *h, size_t i)
{
	const struct slurm_host *host = &h->all[i];
	const struct slurm_port *best = NULL;
	_cleanup_free_ uint32_t *leaves = xcalloc(host->n + 1, sizeof(*leaves));
	struct mate ret = { .host = i, .leaves = HASH_START };
	size_t n = 0;

	for (size_t k = host->first; k < host->first + host->n; k++) {
		const struct slurm_port *p = &h->ports[k];

		if (p->rank == RANK_UNFIT)
			continue;
		if (!best || p->rank < best->rank ||
		    (p->rank == best->rank && p->leaf < best->leaf))
			best = p;
		leaves[n++] = p->leaf;
	}
	qsort(leaves, n, sizeof(*leaves), by_number);
	for (size_t k = 0; k < n; k++)
		if (!k || leaves[k] != leaves[k - 1])
			ret.leaves = hash_bytes(ret.leaves, &leaves[k], sizeof(*leaves));
	ret.leaf = best->leaf;
	return ret;
}

static int by_mates(const void *x, const void *y)
{
	const struct mate *a = x, *b = y;

	if (a->leaves != b->leaves)
		return a->leaves < b->leaves ? -1 : 1;
	return (a->leaf > b->leaf) - (a->leaf < b->leaf);
}

/* The leaf that most of the mates have; of several the first. */
static uint32_t leaf_of_most(const struct mate *mates, size_t n)
{
	uint32_t ret = mates[0].leaf;
	size_t most = 0, run = 0;

	for (size_t i = 0; i < n; i++) {
		run = i && mates[i].leaf == mates[i - 1].leaf ? run + 1 : 1;
		if (run > most) {
			most = run;
			ret = mates[i].leaf;
		}
	}
	return ret;
}

/* Its port on this leaf is the best one, and no other is. */
static void prefer(struct slurm_hosts *h, size_t host, uint32_t leaf)
{
	const struct slurm_host *at = &h->all[host];

	for (struct slurm_port *p = &h->ports[at->first]; p < &h->ports[at->first + at->n]; p++)
		if (p->rank != RANK_UNFIT)
			p->rank = p->leaf == leaf ? RANK_SLOT : RANK_OTHER;
}

/*
 * Hosts whose ports are on the same leaves are placed on the same one: where the cables of one of
 * them are exchanged, it is as near to the others as they are to each other.
 */
static void place_mates_together(struct slurm_hosts *h, struct slurm_tree *tree)
{
	_cleanup_free_ struct mate *mates = xcalloc(h->n + 1, sizeof(*mates));
	_cleanup_free_ const char **moved = xcalloc(h->n + 1, sizeof(char *));
	_cleanup_free_ char *names = NULL;
	size_t n_moved = 0, end;

	for (size_t i = 0; i < h->n; i++)
		mates[i] = mate_of(h, i);
	qsort(mates, h->n, sizeof(*mates), by_mates);
	for (size_t i = 0; i < h->n; i = end) {
		uint32_t leaf;

		for (end = i + 1; end < h->n && mates[end].leaves == mates[i].leaves; end++)
			;
		leaf = leaf_of_most(&mates[i], end - i);
		for (size_t k = i; k < end; k++)
			if (mates[k].leaf != leaf) {
				prefer(h, mates[k].host, leaf);
				moved[n_moved++] = slurm_word(h, &h->all[mates[k].host]);
			}
	}
	names = slurm_names(moved, n_moved);
	if (n_moved)
		slurm_remark(tree,
			     "hosts have their ports on the same leaves as others, in another "
			     "order, and are placed with them (%zu): %s",
			     n_moved, names);
}

void slurm_place(struct slurm_hosts *h, const struct slurm_wish *wish, struct slurm_tree *tree)
{
	size_t n, n_fit = keep_fitting(h, wish, tree);
	_cleanup_free_ struct slurm_port **ports = NULL;
	_cleanup_free_ struct slot *slots = NULL;
	const struct slot *best;

	if (n_fit == h->n)
		return; /* a port each: there is no choice, whatever they are called */
	ports = ports_by_slot(h, n_fit);
	slots = xcalloc(n_fit, sizeof(*slots));
	n = find_slots(ports, n_fit, slots);
	best = choose(slots, n, h->n);
	if (n > 1)
		remark_choice(slots, n, best, h->n, tree);
	rank_ports(ports, n_fit, best);
	remark_others(h, best->name, tree);
	place_mates_together(h, tree);
}
