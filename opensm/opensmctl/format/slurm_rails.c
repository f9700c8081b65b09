// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hosts with a port on each of several leaves: an adapter for every rail, on the leaf switch of
 * that rail. Slurm takes each host on one leaf; the leaves of the other rails are named with it,
 * and with each host the leaves of all its ports.
 */
#include <stdlib.h>
#include <string.h>

#include "opensmctl/format/slurm_hosts.h"
#include "util/mem.h"

#define NO_LEAF UINT32_MAX

static int by_word(const void *x, const void *y)
{
	const struct slurm_port *a = x, *b = y;
	int order = strcmp(a->word, b->word);

	if (!order)
		order = strcmp(a->slot, b->slot);
	return order ? order : (a->leaf > b->leaf) - (a->leaf < b->leaf);
}

void slurm_rails_note(struct slurm_hosts *h)
{
	h->ports = xcalloc(h->n + 1, sizeof(*h->ports));
	h->n_ports = h->n;
	for (size_t i = 0; i < h->n; i++)
		h->ports[i] = (struct slurm_port){
			.word = xstrdup(h->all[i].word),
			.slot = xstrdup(h->all[i].slot),
			.leaf = h->all[i].leaf,
		};
	qsort(h->ports, h->n_ports, sizeof(*h->ports), by_word);
}

/* The first port of the host in h->ports; *ret_n: how many it has. */
static size_t ports_of(const struct slurm_hosts *h, const char *word, size_t *ret_n)
{
	size_t low = 0, high = h->n_ports, end;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(h->ports[middle].word, word) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < h->n_ports && !strcmp(h->ports[end].word, word); end++)
		;
	*ret_n = end - low;
	return low;
}

/* ---- leaves of the same hosts --------------------------------------------------------------- */

/* What is known of a switch while hosts are gone through. */
struct pairing {
	uint32_t leaf;	  /* on which the hosts so far are placed; NO_LEAF: on several */
	uint32_t n_hosts; /* that have a port on the switch */
	uint32_t placed;  /* hosts placed on the switch itself */
};

static bool is_on_leaf_before(const struct slurm_port *ports, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (ports[k].leaf == ports[i].leaf)
			return true;
	return false;
}

static void pair_host(const struct slurm_hosts *h, const struct slurm_host *host,
		      struct pairing *all)
{
	size_t n, first = ports_of(h, host->word, &n);
	const struct slurm_port *ports = h->ports + first;

	all[host->leaf].placed++;
	for (size_t i = 0; i < n; i++) {
		struct pairing *p = &all[ports[i].leaf];

		if (is_on_leaf_before(ports, i))
			continue;
		if (!p->n_hosts)
			p->leaf = host->leaf;
		else if (p->leaf != host->leaf)
			p->leaf = NO_LEAF;
		p->n_hosts++;
	}
}

void slurm_rails_pair(const struct slurm_hosts *h, uint32_t n_switches, uint32_t *ret)
{
	_cleanup_free_ struct pairing *all = xcalloc(n_switches + 1, sizeof(*all));

	for (size_t i = 0; i < h->n; i++)
		pair_host(h, &h->all[i], all);
	for (uint32_t i = 0; i < n_switches; i++) {
		const struct pairing *p = &all[i];

		ret[i] = NO_LEAF;
		if (p->n_hosts && !p->placed && p->leaf != NO_LEAF &&
		    2 * p->n_hosts >= all[p->leaf].placed)
			ret[i] = p->leaf;
	}
}

/* ---- rails of a host ------------------------------------------------------------------------ */

static struct slurm_rails rails_of(const struct slurm_hosts *h, const struct slurm_host *host,
				   const char *const *names)
{
	struct slurm_rails ret = { 0 };
	size_t n, first = ports_of(h, host->word, &n);

	ret.all = xcalloc(n + 1, sizeof(*ret.all));
	for (size_t i = first; i < first + n; i++) {
		if (ret.n && !strcmp(ret.all[ret.n - 1].slot, h->ports[i].slot))
			continue;
		ret.all[ret.n++] = (struct slurm_rail){
			.slot = xstrdup(h->ports[i].slot),
			.leaf = xstrdup(names[h->ports[i].leaf]),
		};
	}
	return ret;
}

void slurm_rails_list(const struct slurm_hosts *h, const char *const *names,
		      struct slurm_tree *tree)
{
	bool has_several = false;

	for (size_t i = 1; i < h->n_ports; i++)
		if (!strcmp(h->ports[i - 1].word, h->ports[i].word))
			has_several = true;
	if (!has_several)
		return;
	tree->rails = xcalloc(h->n + 1, sizeof(*tree->rails));
	for (size_t i = 0; i < h->n; i++)
		tree->rails[i] = rails_of(h, &h->all[i], names);
}

void slurm_rails_free(struct slurm_rails *rails, size_t n)
{
	for (size_t i = 0; rails && i < n; i++) {
		for (size_t k = 0; k < rails[i].n; k++) {
			free(rails[i].all[k].slot);
			free(rails[i].all[k].leaf);
		}
		free(rails[i].all);
	}
	free(rails);
}
