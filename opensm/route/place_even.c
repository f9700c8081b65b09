// SPDX-License-Identifier: BSD-2-Clause
/*
 * The inner loops: destinations on one switch whose homes are all as far. Which home is on the way then depends on
 * nothing but the distance of the home from here, so a table by home says the port.
 */
#include "route/place_private.h"

struct even {
	const struct spread *spread;
	uint32_t at;
	unsigned depth;
	const uint16_t *port[SPREAD_LEVELS]; /* per level: by home */
	const uint16_t *home[SPREAD_LEVELS];
	const uint16_t *residue;	     /* per destination: which of all that leads up; NULL: counted */
};

/* A switch itself, and every way up is as good. */
static uint8_t any_up(const struct place_row *row, const struct even *e, uint32_t dest)
{
	const struct spread *s = e->spread;
	uint16_t rank = s->rank[row->sw];

	if (rank && rank <= e->depth && s->level[rank].modulus == row->n_all)
		return row->all[s->level[rank].residue[dest]];
	return row->all[s->level[0].digit[dest] % row->n_all];
}

/* The highest home does not decide. */
static void place_even(struct place_row *row, const struct even *e, uint32_t dest)
{
	unsigned k = e->depth;
	uint16_t port = 0;

	while (k > 0 && !port) {
		k--;
		port = e->home[k][dest] == row->sw ? 0 : e->port[k][e->home[k][dest]];
	}
	if (port && port != PLACE_SEVERAL)
		place_put(row, dest, (uint8_t)port);
	else if (!port && !e->spread->hot[dest].port && row->full[e->at])
		place_put(row, dest, any_up(row, e, dest));
	else
		place_one(row, dest, e->at, port ? k + 1 : 0);
}

static inline __attribute__((always_inline)) bool decides(uint16_t port)
{
	return (uint16_t)(port - 1) < PLACE_SEVERAL - 1;
}

static inline __attribute__((always_inline)) void fill_homes(struct place_row *row,
							     const struct even *e, uint32_t first,
							     uint32_t end, bool counting)
{
	const struct spread_hot *h = &e->spread->hot[first];
	const uint16_t *ports = e->port[e->depth - 1];

	for (uint32_t i = first; i < end; i++, h++) {
		uint16_t port = ports[h->home];

		if (!decides(port)) {
			place_even(row, e, i);
			continue;
		}
		row->lft[h->lid] = (uint8_t)port;
		if (counting)
			row->count[port] += h->port != 0;
	}
}

/* The same where most of what passes was diverted: no home of any level on the way, and nothing is counted then. */
static inline __attribute__((always_inline)) void fill_diverted(struct place_row *row,
								const struct even *e, uint32_t first,
								uint32_t end, unsigned depth)
{
	const struct spread_hot *h = &e->spread->hot[first];

	for (uint32_t i = first; i < end; i++, h++) {
		uint16_t port = 0;

		for (unsigned k = 0; k < depth; k++)
			port |= e->port[k][e->home[k][i]];
		if (!port)
			row->lft[h->lid] = row->all[e->residue[i]];
		else
			place_even(row, e, i);
	}
}

bool place_at_once(struct place_row *row, uint32_t at, uint32_t first, uint32_t end)
{
	const struct spread *s = row->plan->spread;
	struct even e = { .spread = s, .at = at, .depth = s->even[at] };
	uint16_t rank = s->rank[row->sw];

	if ((row->old && row->plan->change->keeps) || !e.depth || row->cap <= s->top ||
	    !place_is_sure(row, at))
		return false;
	for (unsigned k = 0; k < e.depth; k++) {
		uint16_t far = (uint16_t)(row->dist[at] - s->level[k].distance[first]);

		e.port[k] = place_table(row, far);
		e.home[k] = s->level[k].home;
	}
	if (row->full[at] && row->ways[at] > 1 && rank && rank < e.depth &&
	    s->level[rank].modulus == row->n_all)
		e.residue = s->level[rank].residue;
	if (e.residue && e.depth == 2)
		fill_diverted(row, &e, first, end, 2);
	else if (e.residue)
		fill_diverted(row, &e, first, end, e.depth);
	else if (row->counting)
		fill_homes(row, &e, first, end, true);
	else
		fill_homes(row, &e, first, end, false);
	return true;
}
