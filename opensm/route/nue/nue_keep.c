// SPDX-License-Identifier: BSD-2-Clause
/* Previous tables may be of another topo: switches are the same if their GUIDs are. */
#include "route/nue/nue_layer.h"

#include "util/mem.h"

bool nue_keeps(const struct routes *previous, unsigned n_vls)
{
	unsigned had = previous && previous->lanes ? sl2vl_own_vls(previous->lanes) : 1;

	return routes_are_by(previous, "nue") && had == n_vls;
}

void nue_keep_columns(const struct nue_net *net, const struct routes *previous, struct routes *r)
{
	for (uint32_t s = 0; s < net->n; s++) {
		const struct topo_switch *sw = &net->topo->switches[s];
		const uint16_t *far = distances_from(net->distances, s);
		uint32_t was = topo_find_switch(previous->topo, sw->guid);
		uint8_t *row = routes_row(r, s);

		for (uint32_t to = 0; was != TOPO_NONE && to < net->n; to++)
			for (uint32_t i = net->first_lid[to];
			     to != s && far[to] != DISTANCE_NONE && i < net->first_lid[to + 1];
			     i++) {
				uint8_t port = routes_port(previous, was, net->lids[i]);

				if (port && port <= sw->n_ports &&
				    net->channels->of_port[sw->first_port + port] != NUE_NONE &&
				    net->lids[i] < sw->lft_cap)
					row[net->lids[i]] = port;
			}
	}
}

void nue_keep_parts(const struct nue_net *net, const struct routes *previous, const bool *is_target,
		    uint8_t *part)
{
	_cleanup_free_ bool *known = xcalloc(net->n + 1u, sizeof(*known));

	for (uint32_t s = 0; s < net->n; s++) {
		uint32_t was = topo_find_switch(previous->topo, net->topo->switches[s].guid);
		lid_t lid = net->topo->switches[s].lid;

		if (net->first_lid[s] < net->first_lid[s + 1])
			lid = net->lids[net->first_lid[s]];
		known[s] = is_target[s] && was != TOPO_NONE && lid && lid <= previous->top;
		if (known[s])
			part[s] = previous->lanes ? previous->lanes->sl[lid] : 0;
	}
	for (uint32_t s = 0; s < net->n; s++) {
		const uint16_t *far = distances_from(net->distances, s);
		uint32_t near = NUE_NONE;

		for (uint32_t k = 0; k < net->n && is_target[s] && !known[s]; k++)
			if (known[k] && (near == NUE_NONE || far[k] < far[near]))
				near = k;
		if (near != NUE_NONE)
			part[s] = part[near];
	}
}

uint32_t nue_keep_gains(const struct nue_net *net, const struct routes *previous, uint32_t *ret)
{
	const struct topo *now = net->topo, *then = previous->topo;
	uint32_t n = 0;

	for (uint32_t c = 0; c < net->channels->n; c++) {
		uint32_t a = topo_find_switch(then, now->switches[cdg_tail(net->channels, c)].guid);
		uint32_t b = topo_find_switch(then, now->switches[nue_head(net, c)].guid);
		bool found = false;

		for (unsigned p = 1;
		     a != TOPO_NONE && b != TOPO_NONE && p <= then->switches[a].n_ports; p++)
			found |= topo_port(then, a, p)->sw == b;
		if (!found)
			ret[n++] = c;
	}
	return n;
}
