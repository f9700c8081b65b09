// SPDX-License-Identifier: BSD-2-Clause
/*
 * Forwarding tables as text, written by this program or others: read into entries per switch GUID,
 * made into routes of a topo, and checked like any (check.h).
 *
 *   tables       opensm-lfts.dump, output of dump_lfts, dump_fts, ibroute; opensm.fdbs;
 *                opensm.mcfdbs
 *   distances    opensm-lid-matrix.dump
 *
 * The kind of a table follows from its lines. Lines of no kind are skipped, as OpenSM does.
 */
#pragma once

#include "conf/conf.h"
#include "route/mcast/mcast.h"
#include "route/core/routes.h"
#include "util/mem.h"

struct tablefile;

struct tablefile *tablefile_new(void);
struct tablefile *tablefile_free(struct tablefile *f);
FREEP(tablefile_free, struct tablefile)
/* Adds the tables of the text. Faults are errors in `r`; everything readable is kept. */
void tablefile_read(struct tablefile *f, const char *path, const char *text, size_t len,
		    struct conf_report *r);
/* Reads a number after blanks ("0x" allowed with 16). Returns its end; NULL: no number <= max. */
const char *tablefile_number(const char *p, int base, uint64_t max, uint64_t *ret);
/* Had the text a table? */
bool tablefile_has_tables(const struct tablefile *f);
/* The LID that dump_fts omits (its last one), if no table has it; else 0. */
lid_t tablefile_left_out(const struct tablefile *f);

/*
 * Makes routes of `t` (one reference). LIDs move with the GUID of their port if the text names it.
 * Missing switches, and ports that lead out of a switch, are warnings in `r`.
 */
struct routes *tablefile_routes(const struct tablefile *f, const struct topo *t, const char *engine,
				struct conf_report *r);
/* Trees of any form, one per MLID. Returns how many; trees are to be unref'd, arrays freed. */
uint32_t tablefile_trees(const struct tablefile *f, const struct topo *t, struct mcast_tree ***ret,
			 lid_t **ret_mlids);
