// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables of a port that a subnet manager writes block by block: P_Keys, alias GUIDs, SL2VL, VL
 * arbitration. A row says what the specification says of the attribute: how a block is asked for,
 * and which of its bits a device keeps. Which values are wanted is plan/, when they are written is
 * sync/.
 *
 * A new table costs a line in `enum port_table` and a row in port_tables.c: it is then kept,
 * forgotten, proved and audited like the others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/attrs.h"

struct fabric;
struct port;

/* Audits read the tables of a port in this order (sm/read/audit.c). */
enum port_table {
	TABLE_PKEYS, /* P_Key blocks of end ports and of switch ports */
	TABLE_GUIDS, /* GUIDInfo blocks, of end ports */
	TABLE_SL2VL, /* rows by port in, of the port out of a switch; one row of an end port */
	TABLE_VLARB, /* VLArb blocks 1..4, at index 0..3 */
	N_PORT_TABLES,
};

struct port_table_row {
	enum ib_attr attr;
	/* set if it has so many cells that they are audited in a turn of their own */
	bool is_of_lanes;
	/* bits kept of bytes 0, 2, 4 ... and of 1, 3, 5 ...; others are reserved */
	uint8_t bits[2];
	uint8_t read_only; /* number of bytes at the start of block 0 that belong to the device */
	/* Attribute modifier of a block, and the block of a modifier. */
	uint32_t (*mod)(const struct port *p, unsigned block);
	unsigned (*block)(uint32_t mod);
	/* Bytes of a block that the port has entries for; those beyond are taken for 0. */
	size_t (*used)(const struct port *p, unsigned block);
	uint8_t entry_bits; /* bits of an entry, as messages show it */
};

extern const struct port_table_row port_tables[N_PORT_TABLES];

/* The table of an attribute; N_PORT_TABLES: none. */
enum port_table port_table_of(uint16_t attr);

/* A known block: SMP_DATA_SIZE bytes in wire order, reserved bits 0; NULL: unknown. */
const uint8_t *fabric_cell(const struct fabric *f, const struct port *p, enum port_table table,
			   unsigned block);
/* Is the block known to be this? True also if the port has no such block. */
bool fabric_cell_is(const struct fabric *f, const struct port *p, enum port_table table,
		    unsigned block, const uint8_t *payload);
/* Has some table been written since it was proved that the port had not changed? */
bool fabric_cells_unproven(const struct port *p);
