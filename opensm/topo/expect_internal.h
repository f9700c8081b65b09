// SPDX-License-Identifier: BSD-2-Clause
/* Between the steps of a comparison. */
#pragma once

#include "topo/expect.h"

/*
 * A point is a port of the fabric that is in one of the pictures or in both: row i of `want` is
 * point i, a row of `have` without a twin in `want` is want->n_ports + its number.
 */
struct expect_job {
	const struct expect *want, *have;
	uint32_t *have_of, *want_of; /* nodes by node: the same one in the other picture */
	bool *is_twin;		     /* nodes of `have`: a GUID that another one has too */
	uint32_t n_points;
	uint32_t *point_of;	     /* per row of `have` */
	/*
	 * Per point the other end of the cable that was meant, and that is; TOPO_NONE: none. Cables
	 * that are as they were meant are in neither.
	 */
	uint32_t *was, *is;
	/* the other end, on a node that is not known: such cables are not in `is` */
	uint32_t *unknown;
	bool *done;		     /* points whose cables a finding explains */
	struct expect_report *ret;
};

/* expect_nodes.c: have_of, want_of, is_twin; findings about nodes. */
void expect_match_nodes(struct expect_job *j);
/* expect_cables.c: findings about cables; those that are left are missing, in j->was. */
void expect_explain_cables(struct expect_job *j);
/* expect_regions.c: what is left: cables and nodes that are not there, and unknown nodes. */
void expect_explain_rest(struct expect_job *j);

/* expect_report.c */
struct expect_finding *expect_add_finding(struct expect_job *j, enum expect_kind kind);
/* To the finding added last; points, TOPO_NONE: none. */
void expect_add_change(struct expect_job *j, uint32_t at, uint32_t was, uint32_t is);
/* To the finding added last: the far end of the cable at a row of `have` leads to it. */
void expect_add_place(struct expect_job *j, uint32_t row);
struct expect_end expect_point_end(const struct expect_job *j, uint32_t point);
struct expect_end expect_want_end(const struct expect_job *j, uint32_t node);
struct expect_end expect_have_end(const struct expect_job *j, uint32_t node);

/* As the found picture has it, if it has. */
enum expect_type expect_point_type(const struct expect_job *j, uint32_t point);
/* Of the two ends of a cable the one to be named first: a switch's before a CA's. */
uint32_t expect_first_end(const struct expect_job *j, uint32_t a, uint32_t b);

static inline bool expect_is_wanted(const struct expect_job *j, uint32_t point)
{
	return point < j->want->n_ports;
}

/* Of a point of `have` alone: its row there. */
static inline const struct expect_port *expect_found_port(const struct expect_job *j,
							  uint32_t point)
{
	return &j->have->ports[point - j->want->n_ports];
}

/* The node of a point, among those of `want`; TOPO_NONE: unknown there. */
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
