// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which Sets write the SL2VL tables of a switch (14.2.5.8): row by row, or with the wildcards of a
 * switch that supports them. One Set for all ports where all rows are alike, one per port out where
 * its rows are, one per port in where only those differ; on a switch without traffic all ports get
 * the most common row first. The Sets of one answer do not overlap: a repeated one must not undo
 * another.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/qos.h"

/* Wildcards of an attribute modifier: all ports out but port 0, all ports in. */
#define SLVL_ALL_OUT 0x10000u
#define SLVL_ALL_IN  0x20000u

struct slvl_grid {
	unsigned n_in, n_out;	   /* 1..256 */
	uint8_t in[256], out[256]; /* port numbers, ascending */
	bool live;		   /* set if packets may be on their way through the switch */
	struct slvl_row {
		uint32_t want; /* rows with equal numbers are equal; 0: no row is wanted */
		bool missing;  /* set if it has to be written */
	} * rows;	       /* [out * n_in + in], by place in out[] and in[] */
};

struct slvl_set {
	uint32_t mod;
	uint32_t row;
};

/*
 * Fills in the Sets to send, in this order; `ret` has room for n_in * n_out. After a single Set for
 * all ports (SLVL_ALL_IN and SLVL_ALL_OUT) this is called again when that was answered.
 */
size_t slvl_sets(const struct slvl_grid *g, bool wildcards, struct slvl_set *ret);

/*
 * The number of Sets that write all SL2VL tables of the fabric from scratch, end ports included; 0:
 * none is wanted. `wildcards`: all switches support them. Enhanced ports 0 are left out.
 */
uint64_t slvl_count(const struct qos_plan *plan, const struct topo *t, bool wildcards);

/* Does a Set with this modifier write the row of these two ports? */
static inline bool slvl_mod_covers(uint32_t mod, unsigned in, unsigned out)
{
	return (mod & SLVL_ALL_IN || in == (mod >> 8 & 0xFF)) &&
	       (mod & SLVL_ALL_OUT ? out > 0 : out == (mod & 0xFF));
}
