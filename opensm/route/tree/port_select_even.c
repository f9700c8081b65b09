// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inner loops: destinations on one switch whose homes are at equal distances. Whether a home is
 * on the path then depends only on its distance from here, so a table by home gives the port.
 */
#include "route/tree/port_select_internal.h"

struct even {
	const struct dmodk *spread;
	uint32_t at;
	unsigned depth;
	const uint16_t *port[DMODK_LEVELS]; /* by level: table of ports by home */
	const uint16_t *home[DMODK_LEVELS];
	/* by destination: index in row->all; NULL: not that simple */
	const uint16_t *residue;
};

/* Places a destination whose highest home does not decide. */
static void port_select_even(struct port_select_row *row, const struct even *e, uint32_t dest)
{
	unsigned k = e->depth;
	uint16_t port = 0;

	while (k > 0 && !port) {
		k--;
		port = e->home[k][dest] == row->sw ? 0 : e->port[k][e->home[k][dest]];
	}
	if (port && port != PLACE_SEVERAL)
		port_select_put(row, dest, (uint8_t)port);
	else
		port_select_one(row, dest, e->at, port ? k + 1 : 0);
}

static inline __attribute__((always_inline)) bool decides(uint16_t port)
{
	return (uint16_t)(port - 1) < PLACE_SEVERAL - 1;
}

static inline __attribute__((always_inline)) void fill_homes(struct port_select_row *row,
							     const struct even *e, uint32_t first,
							     uint32_t end, bool counting)
{
	const struct dmodk_hot *h = &e->spread->hot[first];
	const uint16_t *ports = e->port[e->depth - 1];

	for (uint32_t i = first; i < end; i++, h++) {
		uint16_t port = ports[h->home];

		if (!decides(port)) {
			port_select_even(row, e, i);
			continue;
		}
		row->lft[h->lid] = (uint8_t)port;
		if (counting)
			row->count[port] += h->port != 0;
	}
}

/* fill_homes() where most flows are diverted: no home is on the path, and nothing is counted. */
static inline __attribute__((always_inline)) void fill_diverted(struct port_select_row *row,
								const struct even *e,
								uint32_t first, uint32_t end,
								unsigned depth)
{
	const struct dmodk_hot *h = &e->spread->hot[first];

	for (uint32_t i = first; i < end; i++, h++) {
		uint16_t port = 0;

		for (unsigned k = 0; k < depth; k++)
			port |= e->port[k][e->home[k][i]];
		if (port)
			port_select_even(row, e, i);
		else if (e->residue)
			row->lft[h->lid] = row->all[e->residue[i]];
		else
			row->lft[h->lid] = port_select_diverted(row, i, e->at);
	}
}

bool port_select_at_once(struct port_select_row *row, uint32_t at, uint32_t first, uint32_t end)
{
	const struct dmodk *s = row->plan->spread;
	struct even e = { .spread = s, .at = at, .depth = s->even[at] };
	uint16_t rank = s->rank[row->sw];
	bool diverts = row->ways.n[at] > 1 && rank && rank < e.depth;

	if ((row->old && row->plan->change->keeps) || !e.depth || row->cap <= s->top ||
	    !port_select_is_sure(row, at))
		return false;
	for (; first < end && !s->hot[first].port; first++)
		port_select_one(row, first, at, 0);
	for (unsigned k = 0; k < e.depth; k++) {
		uint16_t far = (uint16_t)(row->dist[at] - s->level[k].distance[s->first[at]]);

		e.port[k] = port_select_table(row, far);
		e.home[k] = s->level[k].home;
	}
	if (diverts && row->ways.full[at] && s->level[rank].modulus == row->n_all)
		e.residue = s->level[rank].residue;
	diverts &= e.residue || (!row->old && !row->ways.unique[at]);
	if (diverts && e.depth == 2)
		fill_diverted(row, &e, first, end, 2);
	else if (diverts)
		fill_diverted(row, &e, first, end, e.depth);
	else if (row->counting)
		fill_homes(row, &e, first, end, true);
	else
		fill_homes(row, &e, first, end, false);
	return true;
}

/* The port towards the spare home of this turn; 0: that is not on a shortest path. */
static uint8_t spare_port(const struct port_select_row *row, const struct dmodk_crowded *d,
			  uint32_t turn)
{
	const struct dmodk_spare *spares = row->plan->spread->spares + d->first;
	uint64_t place = (uint64_t)turn * spares[d->n - 1].room / d->share;
	const struct graph_group *way;
	uint32_t i = (uint32_t)((uint64_t)turn * d->n / d->share), group;

	/* an estimate: most homes have equal room */
	while (i > 0 && place < spares[i - 1].room)
		i--;
	while (i + 1 < d->n && place >= spares[i].room)
		i++;
	group = row->ways.last[spares[i].home] >> 8;
	if (row->ways.n[spares[i].home] != 1 || !port_select_is_way(row, group, d->at))
		return 0;
	way = &row->groups[group];
	return row->plan->graph->ports[way->first_port + turn % way->n_ports];
}

/* Of the ports of two spare homes, the one with fewer redirected flows. */
static uint8_t part_port(const struct port_select_row *row, const struct dmodk_crowded *d,
			 uint32_t turn)
{
	uint8_t one = spare_port(row, d, turn);
	uint8_t other = spare_port(row, d, (uint32_t)(turn * UINT64_C(7) % d->share));

	return !one || (other && row->count[other] < row->count[one]) ? other : one;
}

static void part_one(struct port_select_row *row, lid_t lid, uint8_t port)
{
	APPEND(row->parted.entries, row->parted.n, row->parted.cap) =
		(struct parted_entry){ .lid = lid, .port = row->lft[lid] };
	row->count[row->lft[lid]]--;
	row->count[port]++;
	row->lft[lid] = port;
}

/* Counts are valid only if entries waited; if not, redirected flows are counted, from 2^20 on. */
void port_select_part(struct port_select_row *row)
{
	const struct dmodk *s = row->plan->spread;
	const struct change *c = row->plan->change;
	uint16_t rank = s->rank[row->sw];

	row->parted.n = 0;
	if (!row->simple || row->plan->switches_only || rank >= DMODK_LEVELS)
		return;
	for (unsigned p = 0; p < PORTS && !row->n_waiting; p++)
		row->count[p] = 1u << 20;
	for (uint32_t i = s->n_crowded[rank]; i < s->n_crowded[rank + 1]; i++) {
		const struct dmodk_crowded *d = &s->crowded[i];
		uint32_t turn = row->sw * UINT32_C(0x9E3779B1) + d->turn;
		lid_t lid = s->hot[d->dest].lid;
		uint8_t port;

		if (turn >= d->share || d->at == row->sw || lid >= row->cap ||
		    (row->old && c->known[d->dest]))
			continue;
		port = part_port(row, d, turn);
		if (port)
			part_one(row, lid, port);
	}
}

void port_select_share(struct port_select_row *row)
{
	const struct dmodk *s = row->plan->spread;
	const struct change *c = row->plan->change;
	uint32_t n = row->n_all, own = s->turn[row->sw];

	if (s->rank[row->sw] || !n || !row->simple || row->plan->switches_only)
		return;
	for (uint32_t i = 0; i < s->n_shared; i++) {
		const struct dmodk_shared *d = &s->shared[i];
		lid_t lid = s->hot[d->dest].lid;
		const struct graph_group *way;
		uint32_t turn;

		if (d->at == row->sw || !row->ways.full[d->at] || lid >= row->cap ||
		    (row->old && c->known[d->dest]))
			continue;
		/* each neighbour up in turn, then each of its cables */
		turn = (s->turn[d->at] + s->n_turns - own) % s->n_turns * s->rest % n;
		turn = (d->place * n + turn) / s->rest;
		way = &row->groups[row->by_way[turn % row->n_up]];
		row->lft[lid] = row->plan->graph->ports[way->first_port +
							turn / row->n_up % way->n_ports];
	}
}
