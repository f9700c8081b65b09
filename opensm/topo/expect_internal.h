// SPDX-License-Identifier: BSD-2-Clause
/* Shared by the steps of a comparison. */
#pragma once

#include "topo/expect.h"

/*
 * A point is a port of the fabric that is in one of the pictures or in both: row i of `want` is
 * point i, a row of `have` without a twin in `want` is want->n_ports + its number.
 */
struct expect_job {
	const struct expect *want, *have;
	uint32_t *have_of, *want_of; /* by node: its index in the other picture */
	bool *is_twin;		     /* by node of `have`: set if another one has the same GUID */
	uint32_t n_points;
	uint32_t *point_of; /* by row of `have` */
	/*
	 * By point: the other end of the expected cable, and of the cable found; TOPO_NONE: none.
	 * Cables that are as expected are in neither.
	 */
	uint32_t *was, *is;
	/* By point: the other end, if on an unexpected node; such cables are not in `is`. */
	uint32_t *unknown;
	bool *done; /* points whose cables a finding explains */
	struct expect_report *ret;
};

/* expect_nodes.c: sets have_of, want_of, is_twin; adds findings about nodes. */
void expect_match_nodes(struct expect_job *j);
/* expect_cables.c: adds findings about cables; those left in j->was are missing. */
void expect_explain_cables(struct expect_job *j);
/* expect_regions.c: adds findings about missing cables and nodes, and unexpected nodes. */
void expect_explain_rest(struct expect_job *j);

/* expect_report.c */
struct expect_finding *expect_add_finding(struct expect_job *j, enum expect_kind kind);
/* Adds a change to the last finding; arguments are points, TOPO_NONE: none. */
void expect_add_change(struct expect_job *j, uint32_t at, uint32_t was, uint32_t is);
/* Adds a place to the last finding: the far end of the cable at a row of `have` leads to it. */
void expect_add_place(struct expect_job *j, uint32_t row);
struct expect_end expect_point_end(const struct expect_job *j, uint32_t point);
struct expect_end expect_want_end(const struct expect_job *j, uint32_t node);
struct expect_end expect_have_end(const struct expect_job *j, uint32_t node);

/* The type of a point's node as found, or else as expected. */
enum expect_type expect_point_type(const struct expect_job *j, uint32_t point);
/* The end of a cable to be named first: a switch's before a CA's. */
uint32_t expect_first_end(const struct expect_job *j, uint32_t a, uint32_t b);

static inline bool expect_is_wanted(const struct expect_job *j, uint32_t point)
{
	return point < j->want->n_ports;
}

/* The row in `have` of a point that is in `have` alone. */
static inline const struct expect_port *expect_found_port(const struct expect_job *j,
							  uint32_t point)
{
	return &j->have->ports[point - j->want->n_ports];
}

/* The node of a point in `want`; TOPO_NONE: unexpected. */
static inline uint32_t expect_point_node(const struct expect_job *j, uint32_t point)
{
	return expect_is_wanted(j, point) ? j->want->ports[point].node
					  : j->want_of[expect_found_port(j, point)->node];
}

static inline uint8_t expect_point_number(const struct expect_job *j, uint32_t point)
{
	return expect_is_wanted(j, point) ? j->want->ports[point].number
					  : expect_found_port(j, point)->number;
}
