// SPDX-License-Identifier: BSD-2-Clause
/* Paths through the tables before and after: their loads, their hops and what they depend on. */
#include <assert.h>
#include <string.h>

#include "route/proof/check_delta.h"

#define ARRIVED (TOPO_NONE - 1)

/* The channel by which `s` sends to the LID; TOPO_NONE: none to a switch; or ARRIVED. */
static inline uint32_t channel_of(const struct delta *d, const struct verifier *j, uint32_t s,
				  lid_t lid)
{
	const struct topo_switch *sw = &j->topo->switches[s];
	const struct target *to = &j->targets[lid];
	uint8_t port = lid < sw->lft_cap ? port_in(d, j, s, lid) : LFT_NO_PORT;

	if (s == to->sw && port == to->port)
		return ARRIVED;
	if (port > sw->n_ports || j->behind[sw->first_port + port] == BEHIND_NONE)
		return TOPO_NONE;
	return sw->first_port + port;
}

/* From ports `in`, a mask of as many words as the graph's have, to `channel`. */
static void add_dependency(struct delta *d, uint32_t channel, const uint64_t *in)
{
	struct cdg *g = d->new->dependencies;

	g->vls |= 1;
	for (unsigned k = 0; k < g->words; k++)
		cdg_note_bits(&d->added, &g->into[(size_t)channel * g->words + k], in[k]);
}

/* One hop further. False: there is none. */
static inline bool step(struct delta *d, struct path *p)
{
	uint32_t channel = channel_of(d, p->j, p->sw, p->lid), behind;

	if (channel == ARRIVED)
		p->is_done = true;
	if (channel >= ARRIVED)
		return channel == ARRIVED;
	d->p->load[channel] += p->flow;
	behind = p->j->behind[channel];
	p->sw = behind >> 8;
	p->hops++;
	__builtin_prefetch(routes_row(d->new->routes, p->sw) + p->lid);
	if (!p->is_noted || d->new->dependencies->lanes)
		return true;
	add_dependency(d, channel, p->in);
	memset(p->in, 0, d->new->dependencies->words * sizeof(*p->in));
	p->in[(behind & 255) / 64] = UINT64_C(1) << (behind & 63);
	return true;
}

/* Where two to one LID are at the same place they go on as one. */
static inline void join(struct delta *d, struct path *paths, size_t i)
{
	struct path *p = &paths[i];
	uint32_t *met = &d->met[2 * p->sw + (p->j == d->new)];
	struct path *other = *met < i ? &paths[*met] : NULL;

	if (!other || other->is_done || other->sw != p->sw || other->j != p->j ||
	    other->lid != p->lid || other->hops != p->hops) {
		*met = (uint32_t)i;
		return;
	}
	other->flow += p->flow;
	for (unsigned k = 0; p->is_noted && k < d->new->dependencies->words; k++)
		other->in[k] |= p->in[k];
	p->with = *met + 1;
	p->is_done = true;
}

/* What the paths read next lies far apart: it comes while others are followed. */
bool delta_follow_paths(struct delta *d, struct path *paths, size_t n)
{
	for (size_t left = n, hops = 0; left; hops++) {
		if (hops > d->new->topo->n_switches)
			return false;
		left = 0;
		for (size_t i = 0; i < n; i++) {
			if (paths[i].is_done)
				continue;
			if (!step(d, &paths[i]))
				return false;
			if (!paths[i].is_done)
				join(d, paths, i);
			left += !paths[i].is_done;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (paths[i].with)
			paths[i].hops = paths[paths[i].with - 1].hops;
	return true;
}

void delta_leave_paths(struct delta *d, const struct upstream *up, size_t n, uint32_t s, lid_t lid)
{
	const struct cdg *g = d->new->dependencies;

	for (size_t i = 1; i < n && up[i].hops == 1; i++)
		d->left_in[g->peer[channel_of(d, d->new, up[i].sw, lid)]] = true;
	while (!is_end(d, d->old, s, lid)) {
		uint32_t channel = channel_of(d, d->old, s, lid), to = d->old->behind[channel];

		d->left_out[channel] = true;
		s = to >> 8;
		d->left_in[d->new->topo->switches[s].first_port + (to & 255)] = true;
	}
}

/* The next switch on the path. */
static uint32_t add_step(struct delta *d, struct cdg_column *c, uint32_t s)
{
	const struct verifier *j = d->new;
	uint32_t channel = channel_of(d, j, s, c->lid);

	assert(channel != TOPO_NONE && c->n_order < j->topo->n_switches);
	d->ports[s] = (uint8_t)(channel - j->topo->switches[s].first_port);
	d->order[c->n_order++] = s;
	return d->next[s] = j->behind[channel] >> 8;
}

void delta_add_dependencies(struct delta *d, const struct upstream *up, size_t n, uint32_t s,
			    lid_t lid)
{
	struct cdg_column c = {
		.ports = d->ports, .next = d->next, .order = d->order,
		.at = d->new->targets[lid].sw, .lid = lid,
	};

	if (!d->new->dependencies->lanes) /* delta_follow_paths() did */
		return;
	while (n-- > 1)
		add_step(d, &c, up[n].sw);
	while (!is_end(d, d->new, s, lid))
		s = add_step(d, &c, s);
	cdg_add_column(d->walk, &c);
}

bool delta_meets(const struct delta *d, uint32_t s, lid_t lid)
{
	for (uint32_t hops = 0; d->stamp[s] != lid + 1u; hops++) {
		uint32_t channel = channel_of(d, d->new, s, lid);

		if (channel >= ARRIVED || hops > d->new->topo->n_switches)
			return false;
		s = d->new->behind[channel] >> 8;
	}
	return true;
}
