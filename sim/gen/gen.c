// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fabrics of known shape. A draft collects switches with their cables, so that ports are numbered
 * in the order of connecting; it becomes a netfile at the end, hosts first.
 */
#include "sim/gen/gen.h"

#include <stdio.h>
#include <string.h>

#include "ib/attrs.h"
#include "sim/gen/draft.h"
#include "sim/gen/slim_fly.h"
#include "util/mem.h"

struct netfile *gen_fat_tree2(unsigned k)
{
	return k < 2 || k % 2 ? NULL : gen_tree(k, k / 2, k / 2, 1);
}

struct netfile *gen_tree(unsigned leaves, unsigned hosts_per_leaf, unsigned spines, unsigned cables)
{
	struct draft *d = draft_new();

	for (unsigned i = 0; i < leaves; i++)
		draft_hosts(d, draft_switch(d, "leaf", i + 1), hosts_per_leaf);
	for (unsigned i = 0; i < spines; i++)
		draft_switch(d, "spine", i + 1);
	for (unsigned i = 0; i < leaves; i++)
		for (unsigned j = 0; j < spines; j++)
			for (unsigned c = 0; c < cables; c++)
				draft_link(d, i, leaves + j);
	return draft_finish(d);
}

/* Hosts of gen_rails() were drawn leaf by leaf, those of each rail of a unit together. */
static struct netfile *name_rails(struct netfile *net, unsigned hosts, unsigned rails)
{
	for (unsigned i = 0; net && i < net->n_nodes && net->nodes[i].type == IB_NODE_CA; i++) {
		struct netfile_node *n = &net->nodes[i];
		unsigned leaf = i / hosts;

		snprintf(n->id, sizeof(n->id), "gpu%u mlx5_%u", leaf / rails * hosts + i % hosts,
			 leaf % rails);
		memcpy(n->desc, n->id, sizeof(n->desc));
	}
	return net;
}

struct netfile *gen_rails(unsigned units, unsigned hosts, unsigned rails, unsigned spines,
			  bool apart)
{
	uint64_t leaves = (uint64_t)units * rails, planes = apart ? rails : 1;
	struct draft *d;

	if (leaves > DRAFT_MAX_SWITCHES || planes * spines > DRAFT_MAX_SWITCHES)
		return NULL;
	d = draft_new();
	for (unsigned i = 0; i < leaves; i++)
		draft_hosts(d, draft_switch(d, "leaf", i + 1), hosts);
	for (unsigned i = 0; i < planes * spines; i++)
		draft_switch(d, "spine", i + 1);
	for (unsigned i = 0; i < leaves; i++)
		for (unsigned s = 0; s < spines; s++)
			draft_link(d, i, (unsigned)(leaves + i % planes * spines + s));
	return name_rails(draft_finish(d), hosts, rails);
}

struct netfile *gen_fat_tree3(unsigned k)
{
	unsigned half = k / 2, n = k * half;
	struct draft *d;

	if (k < 2 || k % 2)
		return NULL;
	d = draft_new();
	for (unsigned i = 0; i < n; i++)
		draft_hosts(d, draft_switch(d, "leaf", i + 1), half);
	for (unsigned i = 0; i < n; i++)
		draft_switch(d, "agg", i + 1);
	for (unsigned i = 0; i < half * half; i++)
		draft_switch(d, "core", i + 1);
	for (unsigned leaf = 0; leaf < n; leaf++)
		for (unsigned a = 0; a < half; a++)
			draft_link(d, leaf, n + leaf / half * half + a);
	for (unsigned agg = 0; agg < n; agg++)
		for (unsigned c = 0; c < half; c++)
			draft_link(d, n + agg, 2 * n + agg % half * half + c);
	return draft_finish(d);
}

/* Switch number of the neighbour in a dimension of `size` whose step is `step`. */
static unsigned neighbour(unsigned sw, unsigned step, unsigned size)
{
	unsigned at = sw / step % size;

	return sw - at * step + (at + 1) % size * step;
}

static struct netfile *grid(const unsigned size[3], unsigned hosts, bool wrap)
{
	unsigned n = size[0] * size[1] * size[2];
	struct draft *d;

	if (n == 0 || n > DRAFT_MAX_SWITCHES)
		return NULL;
	d = draft_new();
	for (unsigned i = 0; i < n; i++)
		draft_hosts(d, draft_switch(d, "s", i), hosts);
	for (unsigned i = 0; i < n; i++)
		for (unsigned dim = 0, step = 1; dim < 3; step *= size[dim], dim++) {
			bool last = i / step % size[dim] == size[dim] - 1;

			if (size[dim] > 1 && (!last || (wrap && size[dim] > 2)))
				draft_link(d, i, neighbour(i, step, size[dim]));
		}
	return draft_finish(d);
}

struct netfile *gen_torus(unsigned x, unsigned y, unsigned z, unsigned hosts)
{
	return grid((const unsigned[]){ MAX(x, 1u), MAX(y, 1u), MAX(z, 1u) }, hosts, true);
}

struct netfile *gen_mesh(unsigned x, unsigned y, unsigned z, unsigned hosts)
{
	return grid((const unsigned[]){ MAX(x, 1u), MAX(y, 1u), MAX(z, 1u) }, hosts, false);
}

struct netfile *gen_ring(unsigned switches, unsigned hosts)
{
	return gen_torus(switches, 1, 1, hosts);
}

struct netfile *gen_dragonfly(unsigned groups, unsigned routers, unsigned hosts)
{
	struct draft *d;

	if (groups == 0 || routers == 0)
		return NULL;
	d = draft_new();
	for (unsigned i = 0; i < groups * routers; i++)
		draft_hosts(d, draft_switch(d, "s", i), hosts);
	for (unsigned g = 0; g < groups; g++)
		for (unsigned a = 0; a < routers; a++)
			for (unsigned b = a + 1; b < routers; b++)
				draft_link(d, g * routers + a, g * routers + b);
	/* group a's cable to group b is its (b - a - 1)th; spread over its routers in turn */
	for (unsigned a = 0; a < groups; a++)
		for (unsigned b = a + 1; b < groups; b++)
			draft_link(d, a * routers + (b - a - 1) % routers,
				   b * routers + (groups + a - b - 1) % routers);
	return draft_finish(d);
}

struct netfile *gen_slim_fly(unsigned q, unsigned hosts)
{
	unsigned n = slim_fly_switches(q);
	struct draft *d;

	if (!slim_fly_is_size(q))
		return NULL;
	d = draft_new();
	for (unsigned i = 0; i < n; i++)
		draft_hosts(d, draft_switch(d, "s", i), hosts);
	for (unsigned a = 0; a < n; a++)
		for (unsigned b = a + 1; b < n; b++)
			if (slim_fly_has_cable(q, a, b))
				draft_link(d, a, b);
	return draft_finish(d);
}

struct netfile *gen_hypercube(unsigned dim, unsigned hosts)
{
	struct draft *d;

	if (dim > 12)
		return NULL;
	d = draft_new();
	for (unsigned i = 0; i < 1u << dim; i++)
		draft_hosts(d, draft_switch(d, "s", i), hosts);
	for (unsigned i = 0; i < 1u << dim; i++)
		for (unsigned b = 0; b < dim; b++)
			if (!(i >> b & 1))
				draft_link(d, i, i | 1u << b);
	return draft_finish(d);
}

static unsigned draw(uint64_t *rng, unsigned below)
{
	*rng = *rng * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((*rng >> 33) % below);
}

/*
 * A ring, so it is connected, and for the other degree - 2 links of each switch a random pairing of
 * all their ends. A pair on one switch stays free; parallel cables happen.
 */
struct netfile *gen_random(unsigned switches, unsigned degree, unsigned hosts, uint64_t seed)
{
	unsigned n_chords, n = 0, *far;
	uint64_t rng = seed * 2 + 1;
	struct draft *d;

	if (switches < 3 || degree < 2 || degree >= switches || switches * degree % 2)
		return NULL;
	n_chords = switches * (degree - 2) / 2;
	far = xcalloc(2ul * n_chords + 1, sizeof(*far));
	for (unsigned copy = 0; copy < degree - 2; copy++)
		for (unsigned i = 0; i < switches; i++)
			far[n++] = i;
	for (unsigned i = n; i-- > 1;) {
		unsigned j = draw(&rng, i + 1), swap = far[i];

		far[i] = far[j];
		far[j] = swap;
	}
	d = draft_new();
	for (unsigned i = 0; i < switches; i++)
		draft_hosts(d, draft_switch(d, "s", i), hosts);
	for (unsigned i = 0; i < switches; i++)
		draft_link(d, i, (i + 1) % switches);
	for (unsigned i = 0; i + 1 < n; i += 2)
		if (far[i] != far[i + 1])
			draft_link(d, far[i], far[i + 1]);
	free(far);
	return draft_finish(d);
}

struct netfile *gen_single(unsigned hosts)
{
	struct draft *d = draft_new();

	draft_hosts(d, draft_switch(d, "leaf", 1), hosts);
	return draft_finish(d);
}

struct netfile *gen_pair(void)
{
	struct netfile *net = netfile_new();

	netfile_add(net, IB_NODE_CA, "h0", 1, 0);
	netfile_add(net, IB_NODE_CA, "h1", 1, 0);
	netfile_link(net, 0, 1, 1, 1);
	return net;
}

struct netfile *gen_speed(struct netfile *net, unsigned tenths, unsigned lanes)
{
	for (size_t i = 0; i < net->n_nodes; i++)
		for (unsigned p = 1; p <= net->nodes[i].nports; p++) {
			net->nodes[i].ports[p].speed = (uint16_t)tenths;
			net->nodes[i].ports[p].width = (uint8_t)lanes;
		}
	return net;
}
