// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as a picture of a fabric: CSV, .topo, or of ibnetdiscover. A refusal has an error;
 * what is accepted is sound, equals itself, has no cable that is not in it, and differs from a
 * small fabric in what can be said in lines.
 */
#include "topo/expect_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static const char known[] = "0x2000,1,0x1000,1,Any,Active\n0x2000,2,0x1001,1,Any,Active\n"
			    "0x2000,3,0x3000,7,Any,Active\n0x3000,1,0x1002,1,Any,Active\n"
			    "0x2000,4,0x3000,8,Any,Active\n0x3000,2,0x1003,1,Any,Disabled\n";
static const char names[] = "A leaf1\nP1 -> H h1 P1\nP2 -> H h1 U2/P1\n"
			    "P3 -4x-10G-> B S0000000000003000 P1\n";

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void require_sound(const struct expect *x)
{
	for (uint32_t i = 0; i < x->n_nodes; i++) {
		const struct expect_node *n = &x->nodes[i];

		require(n->guid && n->name && (!i || x->nodes[i - 1].guid <= n->guid));
		for (uint32_t k = 0; k < n->n_ports; k++)
			require(x->ports[n->first_port + k].node == i);
	}
	for (uint32_t i = 0; i < x->n_ports; i++) {
		const struct expect_port *p = &x->ports[i];

		require(p->number && p->peer != i && x->ports[p->peer].peer == i);
		require(expect_find_port(x, p->node, p->number) == i);
	}
}

static void compare(const struct expect *x, const struct expect *y, bool equal)
{
	struct expect_report *r = expect_compare(x, y);

	require(!equal || !r->n_findings);
	for (uint32_t i = 0; i < r->n_findings; i++) {
		char *line = expect_finding_str(r, &r->findings[i]);

		require(strstr(line, ": ") && !strchr(line, '\n'));
		free(line);
	}
	expect_report_free(r);
}

static bool is_there(void *arg, guid_t guid)
{
	return expect_find_node(arg, guid) != TOPO_NONE;
}

static struct expect_seen seen(const struct expect *x, uint32_t row)
{
	const struct expect_port *p = &x->ports[row];
	const struct expect_node *n = &x->nodes[p->node];

	return (struct expect_seen){ .node = n->guid,
				     .at = expect_seek(x, n->guid, n->sysimg_guid, n->name),
				     .port_guid = p->guid,
				     .type = n->type,
				     .name = n->name,
				     .port = p->number };
}

/* Each cable is in the picture; nodes of one GUID may stand for each other. */
static void judge(struct expect *x)
{
	for (uint32_t i = 1; i < x->n_nodes; i++)
		if (x->nodes[i - 1].guid == x->nodes[i].guid)
			return;
	for (uint32_t i = 0; i < x->n_ports; i++) {
		const struct expect_question q = { .end = { seen(x, i), seen(x, x->ports[i].peer) },
						   .rate = x->ports[i].rate,
						   .is_there = is_there,
						   .arg = x };
		bool off = x->ports[i].use == EXPECT_OFF;

		require(q.end[0].at == x->ports[i].node);
		require(!!(expect_judge(x, &q) & EXPECT_FLAW_LINK) == off);
	}
}

static void compare_with(const char *text, size_t len, const struct expect *x)
{
	struct conf_report r = { 0 };
	struct expect *y = expect_read_text("known", text, len, &r), *z;

	require(y && !r.n);
	compare(x, y, false);
	compare(y, x, false);
	z = expect_resolved(x, y) ?: expect_dup(x);
	y = expect_resolve(y, z);
	require_sound(z);
	require_sound(y);
	compare(y, z, false);
	expect_free(y);
	expect_free(z);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct conf_report r = { 0 };
	struct expect *x = expect_read_text("input", (const char *)input, len, &r);

	require(!x == !!r.errors);
	conf_report_clear(&r);
	if (!x)
		return 0;
	require_sound(x);
	judge(x);
	compare(x, x, true);
	compare_with(known, sizeof(known) - 1, x);
	compare_with(names, sizeof(names) - 1, x);
	expect_free(x);
	return 0;
}
