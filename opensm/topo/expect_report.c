// SPDX-License-Identifier: BSD-2-Clause
/* Findings while they are made: the ends of cables by name. */
#include <assert.h>

#include "topo/expect_internal.h"

struct expect_finding *expect_add_finding(struct expect_job *j, enum expect_kind kind)
{
	struct expect_report *r = j->ret;

	GROW(r->findings, r->n_findings + 1, r->cap_findings);
	r->findings[r->n_findings] =
		(struct expect_finding){ .kind = kind, .first_change = r->n_changes };
	return &r->findings[r->n_findings++];
}

void expect_add_change(struct expect_job *j, uint32_t at, uint32_t was, uint32_t is)
{
	struct expect_report *r = j->ret;

	assert(r->n_findings);
	GROW(r->changes, r->n_changes + 1, r->cap_changes);
	r->changes[r->n_changes++] = (struct expect_change){
		.at = expect_point_end(j, at),
		.was = expect_point_end(j, was),
		.is = expect_point_end(j, is),
	};
	r->findings[r->n_findings - 1].n_changes++;
}

/* The node of one picture, by the name of the other where it has none. */
static struct expect_end end_of(const struct expect *x, uint32_t node, const struct expect *other,
				uint32_t same)
{
	const struct expect_node *n = &x->nodes[node];
	const char *name = n->name;

	if (!name[0] && same != TOPO_NONE)
		name = other->nodes[same].name;
	return (struct expect_end){ .guid = n->guid, .name = name };
}

struct expect_end expect_want_end(const struct expect_job *j, uint32_t node)
{
	return end_of(j->want, node, j->have, j->have_of[node]);
}

struct expect_end expect_have_end(const struct expect_job *j, uint32_t node)
{
	return end_of(j->have, node, j->want, j->want_of[node]);
}

struct expect_end expect_point_end(const struct expect_job *j, uint32_t point)
{
	struct expect_end e = { .name = "" };

	if (point == TOPO_NONE)
		return e;
	if (expect_point_node(j, point) != TOPO_NONE)
		e = expect_want_end(j, expect_point_node(j, point));
	else
		e = expect_have_end(j, expect_found_port(j, point)->node);
	e.port = expect_point_number(j, point);
	return e;
}

enum expect_type expect_point_type(const struct expect_job *j, uint32_t point)
{
	uint32_t w = expect_point_node(j, point);
	uint32_t h = w == TOPO_NONE ? expect_found_port(j, point)->node : j->have_of[w];

	return (h == TOPO_NONE ? EXPECT_ANY_TYPE : j->have->nodes[h].type)
		       ?: (w == TOPO_NONE ? EXPECT_ANY_TYPE : j->want->nodes[w].type);
}

uint32_t expect_first_end(const struct expect_job *j, uint32_t a, uint32_t b)
{
	bool turn = expect_point_type(j, a) != EXPECT_SWITCH &&
		    expect_point_type(j, b) == EXPECT_SWITCH;

	return turn ? b : a;
}

void expect_add_place(struct expect_job *j, uint32_t row)
{
	const struct expect_port *p = &j->have->ports[row], *far = &j->have->ports[p->peer];
	struct expect_report *r = j->ret;
	struct expect_change c = { .at = expect_have_end(j, far->node), .was.name = "",
				   .is = expect_have_end(j, p->node) };

	assert(r->n_findings);
	c.at.port = far->number;
	c.is.port = p->number;
	GROW(r->changes, r->n_changes + 1, r->cap_changes);
	r->changes[r->n_changes++] = c;
	r->findings[r->n_findings - 1].n_changes++;
}

struct expect_report *expect_report_free(struct expect_report *r)
{
	if (!r)
		return NULL;
	free(r->findings);
	free(r->changes);
	free(r);
	return NULL;
}
