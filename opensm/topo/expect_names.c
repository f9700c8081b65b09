// SPDX-License-Identifier: BSD-2-Clause
/* Findings about single ports and nodes: port GUIDs, descriptions; and the keys of findings. */
#include <string.h>

#include "topo/expect.h"
#include "util/hash.h"

static struct expect_finding *add(struct expect_report *r, enum expect_kind kind,
				  const struct expect_node *n, unsigned port)
{
	GROW(r->findings, r->n_findings + 1, r->cap_findings);
	r->findings[r->n_findings] = (struct expect_finding){
		.kind = kind,
		.node = { .guid = n->guid, .name = n->name, .port = (uint8_t)port },
		.other = { .guid = n->guid, .name = "", .port = (uint8_t)port },
		.first_change = r->n_changes,
	};
	return &r->findings[r->n_findings++];
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
		f = add(r, EXPECT_PORT_GUID, n, want->ports[p].number);
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
			add(r, EXPECT_RENAMED, &want->nodes[i], 0)->other.name =
				have->nodes[k].name;
	}
}

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
