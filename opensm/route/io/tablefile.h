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
/* Adds the tables of the text. Faults are errors in `r`; whatever could be read is kept. */
void tablefile_read(struct tablefile *f, const char *path, const char *text, size_t len,
		    struct conf_report *r);
/* A number in `base`, "0x" allowed with 16, behind blanks. What follows it; NULL: none <= max. */
const char *tablefile_number(const char *p, int base, uint64_t max, uint64_t *ret);
/* Was there a table in it? */
bool tablefile_has_tables(const struct tablefile *f);
/* The LID that dump_fts leaves out (its last), if it is in no table; else 0. */
lid_t tablefile_left_out(const struct tablefile *f);

/*
 * Routes of `t` (one reference). LIDs move with the GUID of their port where the text names it.
 * Switches missing from the topo, and ports that lead out of a switch, are warnings in `r`.
 */
struct routes *tablefile_routes(const struct tablefile *f, const struct topo *t, const char *engine,
				struct conf_report *r);
/* Multicast tables, one tree of any form per MLID; how many. To be unref'd, arrays to be freed. */
uint32_t tablefile_trees(const struct tablefile *f, const struct topo *t, struct mcast_tree ***ret,
			 lid_t **ret_mlids);
