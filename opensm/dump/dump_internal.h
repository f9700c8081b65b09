// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between the files of the dumps: the input of each writer. Only this folder includes it.
 */
#pragma once

#include "dump/dump_out.h"
#include "view/view.h"

struct lid_hops;

struct dump_source {
	const struct view *view;
	const uint32_t *order;          /* nodes of the view in OpenSM's order */
	const struct lid_hops *paths; /* hops by LID; NULL: no routes */
	const uint32_t *switches;	/* switches of the routes' topo, in OpenSM's order */
};

/* OpenSM's order: GUIDs are compared from their last byte to their first (files.md 1). */
static inline int dump_compare(guid_t a, guid_t b)
{
	guid_t x = __builtin_bswap64(a), y = __builtin_bswap64(b);

	return (x > y) - (x < y);
}

/* dump_ports.c */
void dump_subnet(const struct dump_source *s, struct dump_out *o);
void dump_table(const struct dump_source *s, struct dump_out *o);

/* dump_tables.c; these write nothing without `paths`. */
void dump_lfts(const struct dump_source *s, struct dump_out *o);
void dump_matrix(const struct dump_source *s, struct dump_out *o);
void dump_fdbs(const struct dump_source *s, struct dump_out *o);

/* dump_lanes.c */
void dump_sl2vl(const struct dump_source *s, struct dump_out *o);
/* for routes with SLs of their own */
void dump_sls(const struct dump_source *s, struct dump_out *o);

/* dump_engine.c; input of the engine that made the routes. */
void dump_updn_roots(const struct dump_source *s, struct dump_out *o);
void dump_ftree_order(const struct dump_source *s, struct dump_out *o);
void dump_torus(const struct dump_source *s, struct dump_out *o);

/* dump_mcast.c; writes nothing without VIEW_TREES. */
void dump_mcfdbs(const struct dump_source *s, struct dump_out *o);
