// SPDX-License-Identifier: BSD-2-Clause
/* Findings while they are made, also those of single ports and nodes, and their keys. */
#include <assert.h>
#include <string.h>

#include "topo/expect_internal.h"
#include "util/hash.h"

static struct expect_finding *add(struct expect_report *r, enum expect_kind kind)
{
	GROW(r->findings, r->n_findings + 1, r->cap_findings);
	r->findings[r->n_findings] =
		(struct expect_finding){ .kind = kind, .first_change = r->n_changes };
	return &r->findings[r->n_findings++];
}

struct expect_finding *expect_add_finding(struct expect_job *j, enum expect_kind kind)
{
	return add(j->ret, kind);
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
	struct expect_change c = { .at = expect_have_end(j, far->node),
				   .was.name = "",
				   .is = expect_have_end(j, p->node) };

	assert(r->n_findings);
	c.at.port = far->number;
	c.is.port = p->number;
	GROW(r->changes, r->n_changes + 1, r->cap_changes);
	r->changes[r->n_changes++] = c;
	r->findings[r->n_findings - 1].n_changes++;
}

/* ---- single ports and nodes ------------------------------------------------------------------ */

static struct expect_finding *add_about(struct expect_report *r, enum expect_kind kind,
					const struct expect_node *n, unsigned port)
{
	struct expect_finding *f = add(r, kind);

	f->node = (struct expect_end){ .guid = n->guid, .name = n->name, .port = (uint8_t)port };
	f->other = (struct expect_end){ .guid = n->guid, .name = "", .port = (uint8_t)port };
	return f;
}

static void check_ports(struct expect_report *r, const struct expect *want, uint32_t i,
			const struct expect *have, uint32_t k)
{
	const struct expect_node *n = &want->nodes[i];

	for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++) {
		uint32_t q = expect_find_port(have, k, want->ports[p].number);
		struct expect_finding *f;

		if (q == TOPO_NONE || !want->ports[p].guid || !have->ports[q].guid ||
		    want->ports[p].guid == have->ports[q].guid)
			continue;
		f = add_about(r, EXPECT_PORT_GUID, n, want->ports[p].number);
		f->port_guid = want->ports[p].guid;
		f->other.guid = have->ports[q].guid;
	}
}

void expect_check_names(struct expect_report *r, const struct expect *want,
			const struct expect *have, bool port_guids, bool names)
{
	for (uint32_t i = 0; i < want->n_nodes; i++) {
		uint32_t k = expect_find_node(have, want->nodes[i].guid);

		if (k == TOPO_NONE)
			continue;
		if (port_guids)
			check_ports(r, want, i, have, k);
		if (names && want->nodes[i].name[0] &&
		    strcmp(want->nodes[i].name, have->nodes[k].name) != 0)
			add_about(r, EXPECT_RENAMED, &want->nodes[i], 0)->other.name =
				have->nodes[k].name;
	}
}

/* ---- the report ------------------------------------------------------------------------------ */

static uint64_t hash_end(uint64_t h, const struct expect_end *e)
{
	h = hash_bytes(h, &e->guid, sizeof(e->guid));
	return hash_bytes(h, &e->port, sizeof(e->port));
}

/* Names and rates may change while it lasts. */
uint64_t expect_finding_key(const struct expect_report *r, const struct expect_finding *f)
{
	uint32_t kind = (uint32_t)f->kind;
	uint64_t h = hash_bytes(HASH_START, &kind, sizeof(kind));

	h = hash_end(hash_end(h, &f->node), &f->other);
	for (uint32_t i = 0; i < f->n_changes; i++) {
		const struct expect_change *c = &r->changes[f->first_change + i];

		h = hash_end(hash_end(hash_end(h, &c->at), &c->was), &c->is);
	}
	return h;
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
