// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between the files of the dumps: what each writer is given. Only ctl/dump*.c includes it.
 */
#pragma once

#include "ctl/dump_out.h"
#include "ctl/dump_view.h"

struct dump_paths;

struct dump_source {
	const struct dump_view *view;
	const uint32_t *order;          /* dump_view_order() */
	const struct dump_paths *paths; /* NULL: no routes */
};

/* dump_ports.c */
void dump_subnet(const struct dump_source *s, struct dump_out *o);
void dump_table(const struct dump_source *s, struct dump_out *o);

/* dump_tables.c; write nothing without paths. */
void dump_lfts(const struct dump_source *s, struct dump_out *o);
void dump_matrix(const struct dump_source *s, struct dump_out *o);
void dump_fdbs(const struct dump_source *s, struct dump_out *o);

/* dump_lanes.c; writes nothing without dump_view_add_qos(). */
void dump_sl2vl(const struct dump_source *s, struct dump_out *o);

/* dump_engine.c; of the engine that made the routes. */
void dump_updn_roots(const struct dump_source *s, struct dump_out *o);
void dump_ftree_order(const struct dump_source *s, struct dump_out *o);
void dump_torus(const struct dump_source *s, struct dump_out *o);

/* dump_mcast.c; writes nothing without dump_view_add_mfts(). */
void dump_mcfdbs(const struct dump_source *s, struct dump_out *o);
