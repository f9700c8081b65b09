// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as a picture of a fabric, CSV or other. A refusal has an error; what is accepted
 * is sound, equals itself, and differs from a small fabric in what can be said in lines.
 */
#include "topo/expect_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static const char known[] = "0x2000,1,0x1000,1,Any,Active\n0x2000,2,0x1001,1,Any,Active\n"
			    "0x2000,3,0x3000,7,Any,Active\n0x3000,1,0x1002,1,Any,Active\n"
			    "0x2000,4,0x3000,8,Any,Active\n0x3000,2,0x1003,1,Any,Disabled\n";

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

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct conf_report r = { 0 };
	struct expect *x = expect_read_text("input", (const char *)input, len, &r), *y;

	require(!x == !!r.errors);
	conf_report_clear(&r);
	if (!x)
		return 0;
	require_sound(x);
	y = expect_read_text("known", known, sizeof(known) - 1, &r);
	require(y != NULL);
	compare(x, x, true);
	compare(x, y, false);
	compare(y, x, false);
	x = expect_resolve(x, y);
	y = expect_resolve(y, x);
	require_sound(x);
	require_sound(y);
	compare(y, x, false);
	expect_free(x);
	expect_free(y);
	return 0;
}
