// SPDX-License-Identifier: BSD-2-Clause
/*
 * Forwarding tables and lanes as text, of ours and of others: read into entries per switch GUID, made into
 * routes of a topo, judged like any (check.h), and written.
 *
 *   tables       opensm-lfts.dump, output of dump_lfts, dump_fts, ibroute; opensm.fdbs; opensm.mcfdbs
 *   distances    opensm-lid-matrix.dump
 *   SLs          lines "0x<node GUID of the source> <LID> <SL>", as ibdmchk reads them
 *   SL2VL        opensm-sl2vl.dump, or lines "0x<switch GUID> <in> <out>" with eight bytes, as ibdmchk reads
 *
 * The kind of table is told by its lines. Lines of no kind are passed over, as the peer does.
 */
#pragma once

#include <stdio.h>

#include "conf/conf.h"
#include "route/mcast.h"
#include "route/routes.h"

struct tablefile;

struct tablefile *tablefile_new(void);
struct tablefile *tablefile_free(struct tablefile *f);
void tablefile_freep(struct tablefile **f);
/* Adds what the text holds. Faults are errors in `r`; what could be read is kept all the same. */
void tablefile_read(struct tablefile *f, const char *path, const char *text, size_t len, struct conf_report *r);
/* Was there a table in it? */
bool tablefile_has_tables(const struct tablefile *f);
/* dump_fts leaves out the last LID: that one, if it is in no table; else 0. */
lid_t tablefile_left_out(const struct tablefile *f);
bool tablefile_has_trees(const struct tablefile *f);

/*
 * Routes of `t` (one reference). LIDs move with the GUID of their port where the text names it. Switches
 * that the topo has not, and ports that lead out of a switch, are warnings in `r`.
 */
struct routes *tablefile_routes(const struct tablefile *f, const struct topo *t, const char *engine,
				struct conf_report *r);
/* Multicast tables, one tree (of any form) per MLID. Returns how many; each is to be unref'd, and the array freed. */
uint32_t tablefile_trees(const struct tablefile *f, const struct topo *t, struct mcast_tree ***ret);

/*
 * The lanes that these texts come to for `r`; either may be NULL (no SL said: any may be used; no SL2VL: the VL is
 * the SL). NULL and errors in `report`: they say something that cannot be judged.
 */
struct tablefile_text {
	const char *path, *text;
	size_t len;
};
struct lanes *tablefile_lanes(const struct routes *r, const struct tablefile_text *sls,
			      const struct tablefile_text *sl2vl, struct conf_report *report);

/* `name` gives the description of the node with a GUID; NULL: none have one. */
typedef const char *(*tablefile_name)(const void *arg, guid_t node);
/* As opensm-lfts.dump. */
void tablefile_write_lfts(const struct routes *r, tablefile_name name, const void *arg, FILE *out);
/* As opensm.fdbs, opensm-subnet.lst, and the two files of lanes: what ibdmchk -f -s -c -d reads. */
void tablefile_write_fdbs(const struct routes *r, FILE *out);
void tablefile_write_subnet(const struct topo *t, tablefile_name name, const void *arg, FILE *out);
void tablefile_write_psl(const struct routes *r, FILE *out);
void tablefile_write_sl2vl(const struct routes *r, FILE *out);
