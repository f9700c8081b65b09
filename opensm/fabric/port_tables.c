// SPDX-License-Identifier: BSD-2-Clause
/* The rows, and functions for all of them. */
#include "fabric/port_tables.h"

#include <assert.h>
#include <string.h>

#include "fabric/fabric_internal.h"
#include "util/mem.h"

#define SL2VL_BYTES	8  /* a nibble for each of 16 SLs */
#define VLARB_PER_BLOCK 32u /* entries of 2 bytes */

unsigned fabric_pkey_cap(const struct port *p)
{
	unsigned cap = p->node->partition_cap;

	if (!port_is_end(p))
		cap = p->node->switch_known
			      ? (unsigned)ib_get(p->node->switch_info, SI_PARTITION_ENF_CAP)
			      : 0;
	return MIN(cap, PKEY_CAP_MAX);
}

static uint32_t mod_pkeys(const struct port *p, unsigned block)
{
	return port_is_end(p) ? block : (uint32_t)p->num << 16 | block;
}

static unsigned block_pkeys(uint32_t mod)
{
	return mod & 0xFFFF;
}

/* Of `cap` entries, those from `first` on. */
static size_t used_from(unsigned first, unsigned cap, size_t entry_bytes)
{
	return first < cap ? MIN((cap - first) * entry_bytes, (size_t)SMP_DATA_SIZE) : 0;
}

static size_t used_pkeys(const struct port *p, unsigned block)
{
	return used_from(block * PKEYS_PER_BLOCK, fabric_pkey_cap(p), sizeof(uint16_t));
}

static uint32_t mod_guids(const struct port *p, unsigned block)
{
	return block;
}

static unsigned block_guids(uint32_t mod)
{
	return mod;
}

static size_t used_guids(const struct port *p, unsigned block)
{
	unsigned cap = (unsigned)ib_get(p->info, PI_GUID_CAP);

	return used_from(block * GUIDS_PER_BLOCK, cap, sizeof(guid_t));
}

/* End ports have no number here. */
static uint32_t number_of(const struct port *p)
{
	return node_is_switch(p->node) ? p->num : 0;
}

static uint32_t mod_sl2vl(const struct port *p, unsigned in)
{
	return in << 8 | number_of(p);
}

static unsigned block_sl2vl(uint32_t mod)
{
	return mod >> 8 & 0xFF;
}

static size_t used_sl2vl(const struct port *p, unsigned in)
{
	return SL2VL_BYTES;
}

static uint32_t mod_vlarb(const struct port *p, unsigned block)
{
	return (block + 1) << 16 | number_of(p);
}

static unsigned block_vlarb(uint32_t mod)
{
	return (mod >> 16) - 1;
}

static size_t used_vlarb(const struct port *p, unsigned block)
{
	unsigned cap = (unsigned)(block < 2 ? ib_get(p->info, PI_VLARB_LOW_CAP)
					    : ib_get(p->info, PI_VLARB_HIGH_CAP));

	return used_from(block % 2 ? VLARB_PER_BLOCK : 0, cap, sizeof(uint16_t));
}

#define ALL_BITS { 0xFF, 0xFF }

const struct port_table_row port_tables[N_PORT_TABLES] = {
	[TABLE_PKEYS] = { IB_ATTR_PKEY_TABLE, false, ALL_BITS, 0,
			  mod_pkeys, block_pkeys, used_pkeys, 16 }, /* 14.2.5.7 */
	[TABLE_GUIDS] = { IB_ATTR_GUID_INFO, false, ALL_BITS, sizeof(guid_t),
			  mod_guids, block_guids, used_guids, 64 }, /* 14.2.5.5 */
	[TABLE_SL2VL] = { IB_ATTR_SL2VL, true, ALL_BITS, 0,
			  mod_sl2vl, block_sl2vl, used_sl2vl, 4 }, /* 14.2.5.8 */
	[TABLE_VLARB] = { IB_ATTR_VLARB, true, { 0x0F, 0xFF }, 0,
			  mod_vlarb, block_vlarb, used_vlarb, 16 }, /* 14.2.5.9 */
};

enum port_table port_table_of(uint16_t attr)
{
	enum port_table table = 0;

	while (table < N_PORT_TABLES && port_tables[table].attr != attr)
		table++;
	return table;
}

const uint8_t *fabric_cell(const struct fabric *f, const struct port *p, enum port_table table,
			   unsigned block)
{
	assert(table < N_PORT_TABLES);
	return cell_table_get(f->cells, p->tables[table], block);
}

unsigned fabric_pkeys(const struct fabric *f, const struct port *p, uint16_t *ret)
{
	unsigned cap = fabric_pkey_cap(p);

	for (unsigned i = 0; i < cap; i++) {
		const uint8_t *block = fabric_cell(f, p, TABLE_PKEYS, i / PKEYS_PER_BLOCK);

		if (!block)
			return 0;
		ret[i] = (uint16_t)ib_bits_get(block, i % PKEYS_PER_BLOCK * 16, 16);
	}
	return cap;
}

/* The bits that a device keeps. Returns how many bytes it has entries for. */
static size_t keep(const struct port *p, enum port_table table, unsigned block,
		   const uint8_t *payload, uint8_t ret[SMP_DATA_SIZE])
{
	const struct port_table_row *row = &port_tables[table];
	size_t used = row->used(p, block);

	memset(ret, 0, SMP_DATA_SIZE);
	for (size_t i = 0; i < used; i++)
		ret[i] = payload[i] & row->bits[i % 2];
	return used;
}

bool fabric_cell_is(const struct fabric *f, const struct port *p, enum port_table table,
		    unsigned block, const uint8_t *payload)
{
	const uint8_t *have = fabric_cell(f, p, table, block);
	uint8_t kept[SMP_DATA_SIZE];
	size_t used = keep(p, table, block, payload, kept);

	return !used || (have && !memcmp(have, kept, sizeof(kept)));
}

bool fabric_observe_cell(struct fabric *f, struct port *p, enum port_table table, unsigned block,
			 const uint8_t *payload)
{
	uint8_t kept[SMP_DATA_SIZE];

	if (fabric_cell_is(f, p, table, block, payload))
		return true;
	keep(p, table, block, payload, kept);
	cell_table_set(f->cells, &p->tables[table], block, kept);
	return false;
}

void fabric_forget_cells(struct fabric *f, struct port *p)
{
	for (unsigned i = 0; i < N_PORT_TABLES; i++)
		cell_table_clear(f->cells, &p->tables[i]);
}

bool fabric_cells_unproven(const struct port *p)
{
	for (unsigned i = 0; i < N_PORT_TABLES; i++) {
		if (p->tables[i] && p->tables[i]->unproven)
			return true;
	}
	return false;
}

void fabric_prove_cells(struct port *p)
{
	for (unsigned i = 0; i < N_PORT_TABLES; i++) {
		if (p->tables[i])
			p->tables[i]->unproven = false;
	}
}
