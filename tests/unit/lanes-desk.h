// SPDX-License-Identifier: BSD-2-Clause
/*
 * A second opinion on lanes: walks every path hop by hop with its SL and the SL2VL of every switch,
 * and looks for cycles in (channel, VL) by taking away what is not waited for. Shares nothing with
 * the judge (route/proof/check.h) but the tables. For small fabrics.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "route/core/sl2vl.h"
#include "route/core/routes.h"
#include "util/mem.h"

#define LANES_DESK_VLS 16
#define LANES_DESK_THEN (256 * LANES_DESK_VLS) /* port and VL of the next cable */

struct lanes_desk {
	const struct routes *r;
	uint64_t paths, lost;
	uint32_t stuck;	  /* (channel, VL)s that wait in circles, or for such */
	unsigned n_vls;	  /* seen on any cable */
	uint32_t n_ports; /* a channel is an entry of topo->ports */
	bool **then;	  /* per channel and VL, when there is any: which come next */
};

static inline uint32_t lanes_desk_next(const struct lanes_desk *d, uint32_t here, uint32_t then)
{
	uint32_t sw = d->r->topo->ports[here / LANES_DESK_VLS].sw;

	return (d->r->topo->switches[sw].first_port + then / LANES_DESK_VLS) * LANES_DESK_VLS +
	       then % LANES_DESK_VLS;
}

/* `step` is added to what comes next; the others are listed when they come to 0. */
static inline uint32_t lanes_desk_visit(struct lanes_desk *d, uint32_t here, uint32_t *waiters,
					int step, uint32_t *list)
{
	uint32_t n = 0;

	for (uint32_t k = 0; d->then[here] && k < LANES_DESK_THEN; k++) {
		uint32_t next;

		if (!d->then[here][k])
			continue;
		next = lanes_desk_next(d, here, k);
		waiters[next] += (uint32_t)step;
		if (!waiters[next])
			list[n++] = next;
	}
	return n;
}

static inline void lanes_desk_peel(struct lanes_desk *d)
{
	uint32_t n = d->n_ports * LANES_DESK_VLS, n_list = 0;
	uint32_t *waiters = xcalloc(n, sizeof(*waiters)), *list = xcalloc(n + 1u, sizeof(*list));

	for (uint32_t i = 0; i < n; i++)
		lanes_desk_visit(d, i, waiters, 1, list);
	for (uint32_t i = 0; i < n; i++)
		if (!waiters[i])
			list[n_list++] = i;
	for (uint32_t i = 0; i < n_list; i++)
		n_list += lanes_desk_visit(d, list[i], waiters, -1, list + n_list);
	d->stuck = n - n_list;
	free(waiters);
	free(list);
}

static inline void lanes_desk_walk(struct lanes_desk *d, const struct topo_host *from,
				   const struct topo_host *to, lid_t lid)
{
	const struct topo *t = d->r->topo;
	uint8_t sl = sl2vl_sl(d->r->lanes, from->sw, to->sw, lid, 0), in = from->sw_port;
	uint32_t last = UINT32_MAX, s = from->sw;

	d->paths++;
	for (unsigned hops = 0; s != to->sw; hops++) {
		uint8_t out = routes_port(d->r, s, lid);
		uint32_t channel = t->switches[s].first_port + out;
		unsigned vl;

		if (hops > t->n_switches || !out || out > t->switches[s].n_ports ||
		    t->ports[channel].sw == TOPO_NONE) {
			d->lost++;
			return;
		}
		vl = d->r->lanes ? sl2vl_vl(d->r->lanes, t, s, in, out, sl) : 0;
		d->n_vls = MAX(d->n_vls, vl + 1);
		if (last != UINT32_MAX) {
			if (!d->then[last])
				d->then[last] = xcalloc(LANES_DESK_THEN, sizeof(bool));
			d->then[last][out * LANES_DESK_VLS + vl] = true;
		}
		last = channel * LANES_DESK_VLS + vl;
		in = t->ports[channel].port;
		s = t->ports[channel].sw;
	}
}

static inline struct lanes_desk lanes_desk_check(const struct routes *r)
{
	const struct topo *t = r->topo;
	struct lanes_desk d = { .r = r };

	for (uint32_t s = 0; s < t->n_switches; s++)
		d.n_ports += t->switches[s].n_ports + 1u;
	d.then = xcalloc((size_t)d.n_ports * LANES_DESK_VLS, sizeof(bool *));
	for (uint32_t a = 0; a < t->n_hosts; a++)
		for (uint32_t b = 0; b < t->n_hosts; b++)
			for (unsigned k = 0;
			     t->hosts[a].sw != TOPO_NONE && t->hosts[b].sw != TOPO_NONE &&
			     t->hosts[a].lid && t->hosts[b].lid && k < 1u << t->hosts[b].lmc;
			     k++)
				lanes_desk_walk(&d, &t->hosts[a], &t->hosts[b],
						(lid_t)(t->hosts[b].lid + k));
	lanes_desk_peel(&d);
	for (size_t i = 0; i < (size_t)d.n_ports * LANES_DESK_VLS; i++)
		free(d.then[i]);
	free(d.then);
	d.then = NULL;
	return d;
}
