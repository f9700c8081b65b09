// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables of ports: want minus have, block by block, the same for every row of rows.c.
 *
 *             Set leaves                     stored as asked
 *   UNKNOWN --------------> ON THE WIRE -----------------------> HELD
 *      ^  \                 ^      |  |  \--silent, cancelled--> UNKNOWN
 *      |   `--read--> HELD -'      |  `--refused--> as it was, and after row->limit times in a row
 *      |               |           |                   |
 *      `--- forgotten -'           `--otherwise---> GIVEN UP until something else is wanted
 *
 * GIVEN UP is kept once per table, as a hash of all that was wanted of it: devices refuse a table,
 * not a block.
 */
#include <string.h>

#include "sync/sync_internal.h"
#include "util/hash.h"
#include "util/mem.h"

enum cell_state { CELL_IS_UNKNOWN, CELL_IS_HELD, CELL_IS_OUT, CELL_IS_GIVEN_UP };

static struct cell_table *table_of(const struct sync_row *row, const struct port *p)
{
	return p->tables[row->table];
}

bool cells_differ(const struct sync *s, const struct sync_row *row, const struct port *p,
		  const struct want *w, unsigned block, uint8_t ret[SMP_DATA_SIZE])
{
	const uint8_t *have = fabric_cell(s->fabric, p, row->table, block);
	size_t own = block ? 0 : port_tables[row->table].read_only;

	if (!row->fill(s, p, w, block, ret))
		return false;
	return have ? memcmp(have + own, ret + own, SMP_DATA_SIZE - own) != 0 : block < w->sure;
}

/*
 * A hash of all wanted blocks of a table, by which a change of a want that was given up is noticed.
 * Never 0.
 */
static uint32_t hash_of(const struct sync *s, const struct sync_row *row, const struct port *p,
			const struct want *w)
{
	uint8_t payload[SMP_DATA_SIZE];
	uint64_t h = HASH_START;

	for (unsigned block = 0; block < w->all; block++) {
		if (row->fill(s, p, w, block, payload))
			h = hash_bytes(h, payload, sizeof(payload));
	}
	return hash_fold(h) ? hash_fold(h) : 1;
}

bool cells_are_given_up(const struct sync *s, const struct sync_row *row, const struct port *p,
			const struct want *w)
{
	const struct cell_table *t = table_of(row, p);

	return t && t->given_up && t->given_up == hash_of(s, row, p, w);
}

static enum cell_state state_of(const struct sync *s, const struct sync_row *row,
				const struct port *p, const struct want *w, unsigned block)
{
	if (cell_table_is_out(table_of(row, p), block))
		return CELL_IS_OUT;
	if (cells_are_given_up(s, row, p, w))
		return CELL_IS_GIVEN_UP;
	return fabric_cell(s->fabric, p, row->table, block) ? CELL_IS_HELD : CELL_IS_UNKNOWN;
}

/* ---- writing -------------------------------------------------------------------------------- */

bool cells_send(struct sync *s, const struct sync_row *row, struct port *p, unsigned block,
		const uint8_t *payload)
{
	const struct mad_request rq = {
		.attr = row->attr,
		.mod = port_tables[row->table].mod(p, block),
		.payload = payload,
	};

	if (cell_table_is_out(p->tables[row->table], block) || !sync_set(s, p, &rq))
		return false;
	observe_block_sent(p, row->table, block);
	return true;
}

static void write_block(struct sync *s, const struct sync_row *row, struct port *p,
			const struct want *w, unsigned block)
{
	uint8_t wanted[SMP_DATA_SIZE];

	if (!cells_differ(s, row, p, w, block, wanted))
		return;
	switch (state_of(s, row, p, w, block)) {
	case CELL_IS_UNKNOWN:
	case CELL_IS_HELD:
		cells_send(s, row, p, block, wanted);
		break;
	case CELL_IS_OUT:
	case CELL_IS_GIVEN_UP:
		break;
	}
}

void cells_write(struct sync *s, const struct sync_row *row, struct port *p)
{
	struct want w;

	if (!row->want(s, p, &w))
		return;
	for (unsigned block = 0; block < w.all; block++)
		write_block(s, row, p, &w, block);
}

void cells_write_block(struct sync *s, const struct sync_row *row, struct port *p, unsigned block)
{
	struct want w;

	if (row->want(s, p, &w) && block < w.all)
		write_block(s, row, p, &w, block);
}

bool cells_are_settled(const struct sync *s, const struct sync_row *row, const struct port *p)
{
	uint8_t wanted[SMP_DATA_SIZE];
	struct want w;

	if (!row->want(s, p, &w))
		return true;
	for (unsigned block = 0; block < w.all; block++) {
		if (cells_differ(s, row, p, &w, block, wanted))
			return cells_are_given_up(s, row, p, &w);
	}
	return true;
}

/* ---- columns of a row ------------------------------------------------------------------------ */

bool cells_observe(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod,
		const uint8_t *payload)
{
	unsigned block = port_tables[row->table].block(mod);
	uint8_t wanted[SMP_DATA_SIZE];
	struct want w;

	observe_block(s->fabric, p, row->table, block, payload);
	table_of(row, p)->unanswered = 0;
	return !row->want(s, p, &w) || !cells_differ(s, row, p, &w, block, wanted);
}

void cells_forget(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod)
{
	observe_block_lost(s->fabric, p, row->table, port_tables[row->table].block(mod));
}

uint8_t *cells_tries(const struct sync_row *row, struct port *p)
{
	return &table_of(row, p)->tries;
}

void cells_give_up(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod)
{
	struct cell_table *t = table_of(row, p);
	struct want w;
	uint32_t hash;
	bool told;

	if (!row->want(s, p, &w))
		return;
	hash = hash_of(s, row, p, &w);
	told = t->given_up == hash || (row->is_quiet && row->is_quiet(s));
	t->given_up = hash;
	if (told)
		return;
	s->outcome.unkept_tables++;
	s->outcome.unkept_example = p;
	s->outcome.unkept_attr = row->attr;
}
