// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hosts with a port on each of several leaves: an adapter for every rail, on the leaf switch of
 * that rail. Slurm takes each host on one leaf; the leaves of the other rails are named with it.
 */
#include <stdlib.h>
#include <string.h>

#include "opensmctl/format/slurm_hosts.h"
#include "util/mem.h"

#define NO_LEAF UINT32_MAX

/* State of a switch while hosts are examined. */
struct pairing {
	uint32_t leaf;	  /* on which the hosts so far are placed; NO_LEAF: on several */
	uint32_t n_hosts; /* number of hosts with a port on the switch */
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
	const struct slurm_port *ports = h->ports + host->first;

	all[host->leaf].placed++;
	for (size_t i = 0; i < host->n; i++) {
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
