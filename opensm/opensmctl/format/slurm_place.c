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
#include "util/mem.h"

#define NAMES_MAX 12
#define SLOTS_MAX 6

enum { RANK_SLOT, RANK_LEAF, RANK_OTHER };

/* A slot of the hosts that are sorted by slot. */
struct slot {
	const char *name;
	size_t first, n;  /* its ports */
	size_t hosts, leaves;
	double gbps; /* of the slowest */
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

static bool fits(const struct slurm_host *h, const struct slurm_wish *wish)
{
	if (wish->network && fnmatch(wish->network, h->leaf_name, 0) != 0)
		return false;
	return !wish->ports || is_slot(h->slot, wish->ports);
}

/* Ports from `kept` on of hosts that have none before it: the words of these, each once. */
static size_t find_lost(const struct slurm_hosts *h, size_t kept, const char **ret)
{
	_cleanup_free_ const char **words = xcalloc(kept + 1, sizeof(char *));
	size_t n, n_lost = 0;

	for (size_t i = 0; i < kept; i++)
		words[i] = h->all[i].word;
	n = distinct(words, kept);
	for (size_t i = kept; i < h->n; i++)
		if (!n || !bsearch(&h->all[i].word, words, n, sizeof(*words), by_text))
			ret[n_lost++] = h->all[i].word;
	return distinct(ret, n_lost);
}

/* Ports that do not fit go; hosts that have no other are named in a remark. */
static void keep_fitting(struct slurm_hosts *h, const struct slurm_wish *wish,
			 struct slurm_tree *tree)
{
	_cleanup_free_ const char **lost = xcalloc(h->n + 1, sizeof(char *));
	_cleanup_free_ char *names = NULL;
	size_t kept = 0, n_lost;

	for (size_t i = 0; i < h->n; i++) {
		struct slurm_host now = h->all[i];

		if (fits(&now, wish)) {
			h->all[i] = h->all[kept];
			h->all[kept++] = now;
		}
	}
	n_lost = find_lost(h, kept, lost);
	names = slurm_names(lost, n_lost);
	if (n_lost)
		slurm_remark(tree,
			     "hosts without such a port are not in here (%s%s%s%s%s; %zu): %s",
			     wish->network ? "--network " : "", wish->network ? wish->network : "",
			     wish->network && wish->ports ? " " : "", wish->ports ? "--ports " : "",
			     wish->ports ? wish->ports : "", n_lost, names);
	tree->n_left_out += n_lost;
	for (size_t i = kept; i < h->n; i++)
		slurm_host_drop(&h->all[i]);
	h->n = kept;
}

/* ---- slots ---------------------------------------------------------------------------------- */

static int by_slot(const void *x, const void *y)
{
	const struct slurm_host *a = x, *b = y;
	int order = strcmp(a->slot, b->slot);

	return order ? order : strcmp(a->word, b->word);
}

static int by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

static size_t count_leaves(const struct slurm_host *all, size_t n)
{
	_cleanup_free_ uint32_t *leaves = xcalloc(n + 1, sizeof(*leaves));
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		leaves[i] = all[i].leaf;
	qsort(leaves, n, sizeof(*leaves), by_number);
	for (size_t i = 0; i < n; i++)
		if (!i || leaves[i] != leaves[i - 1])
			count++;
	return count;
}

/* Of hosts sorted by slot; returns how many there are. */
static size_t find_slots(const struct slurm_hosts *h, struct slot *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++) {
		const struct slurm_host *host = &h->all[i];
		struct slot *s = n ? &ret[n - 1] : NULL;

		if (!s || strcmp(s->name, host->slot) != 0) {
			s = &ret[n++];
			*s = (struct slot){ .name = host->slot, .first = i, .gbps = host->gbps };
		}
		if (!s->n || strcmp(h->all[i - 1].word, host->word) != 0)
			s->hosts++;
		s->n++;
		s->gbps = s->gbps < host->gbps ? s->gbps : host->gbps;
	}
	for (size_t i = 0; i < n; i++)
		ret[i].leaves = count_leaves(h->all + ret[i].first, ret[i].n);
	return n;
}

static size_t count_hosts(const struct slurm_hosts *h)
{
	_cleanup_free_ const char **words = xcalloc(h->n + 1, sizeof(char *));

	for (size_t i = 0; i < h->n; i++)
		words[i] = h->all[i].word;
	return distinct(words, h->n);
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
	return a->hosts > b->hosts; /* else the first by name stays */
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
static void rank_ports(struct slurm_hosts *h, const struct slot *best)
{
	_cleanup_free_ uint32_t *leaves = xcalloc(best->n + 1, sizeof(*leaves));

	for (size_t i = 0; i < best->n; i++)
		leaves[i] = h->all[best->first + i].leaf;
	qsort(leaves, best->n, sizeof(*leaves), by_number);
	for (size_t i = 0; i < h->n; i++) {
		struct slurm_host *host = &h->all[i];
		bool is_there =
			bsearch(&host->leaf, leaves, best->n, sizeof(*leaves), by_number) != NULL;

		if (i >= best->first && i < best->first + best->n)
			host->rank = RANK_SLOT;
		else
			host->rank = is_there ? RANK_LEAF : RANK_OTHER;
	}
}

static int by_word(const void *x, const void *y)
{
	const struct slurm_host *a = x, *b = y;
	int order = strcmp(a->word, b->word);

	return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static void remark_others(struct slurm_hosts *h, const char *slot, struct slurm_tree *tree)
{
	_cleanup_free_ const char **others = xcalloc(h->n + 1, sizeof(char *));
	_cleanup_free_ char *names = NULL;
	size_t n = 0;

	qsort(h->all, h->n, sizeof(*h->all), by_word);
	for (size_t i = 0; i < h->n; i++)
		if (h->all[i].rank != RANK_SLOT &&
		    (!i || strcmp(h->all[i - 1].word, h->all[i].word) != 0))
			others[n++] = h->all[i].word;
	names = slurm_names(others, n);
	if (n)
		slurm_remark(tree, "hosts without port %s are placed by another (%zu): %s", slot, n,
			     names);
}

void slurm_place(struct slurm_hosts *h, const struct slurm_wish *wish, struct slurm_tree *tree)
{
	_cleanup_free_ struct slot *slots = NULL;
	const struct slot *best;
	size_t n, n_hosts;

	keep_fitting(h, wish, tree);
	if (!h->n)
		return;
	n_hosts = count_hosts(h);
	qsort(h->all, h->n, sizeof(*h->all), by_slot);
	slots = xcalloc(h->n, sizeof(*slots));
	n = find_slots(h, slots);
	best = choose(slots, n, n_hosts);
	if (h->n == n_hosts)
		return; /* a port each: there is no choice, whatever they are called */
	if (n > 1)
		remark_choice(slots, n, best, n_hosts, tree);
	rank_ports(h, best);
	remark_others(h, best->name, tree);
}
