// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as a fabric of ibnetdiscover. A refusal has an error; what is accepted has cables
 * with two ends, becomes a topo, and what is written of it reads back to the same text.
 */
#include "topo/topofile.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void require_sound(const struct topofile *f)
{
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct topofile_node *n = &f->nodes[i];

		require(n->guid && n->n_ports && n->name);
		for (const char *p = n->name; *p; p++)
			require(*p >= ' ' && *p <= '~');
		require(topofile_find(f, n->type, n->guid) == i && topofile_name(f, n->guid));
		for (uint32_t k = 0; k < n->n_rows; k++)
			require(f->ports[n->first_port + k].node == i);
	}
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct topofile_port *p = &f->ports[i];

		require(p->number && p->number <= f->nodes[p->node].n_ports && p->lmc <= 7);
		require(p->peer == TOPO_NONE || f->ports[p->peer].peer == i);
	}
}

static char *write_text(const struct topofile *f, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	require(out);
	topofile_write(f, out);
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_(topofile_freep) struct topofile *f = NULL, *again = NULL;
	_cleanup_(topo_unrefp) struct topo *t = NULL;
	_cleanup_free_ char *first = NULL, *second = NULL;
	struct conf_report r = { 0 };
	size_t first_len, second_len;

	f = topofile_read_text("input", (const char *)input, len, &r);
	require(!f == !!r.errors);
	conf_report_clear(&r);
	if (!f)
		return 0;
	require_sound(f);
	t = topofile_topo(f, 0);
	first = write_text(f, &first_len);
	again = topofile_read_text("again", first, first_len, &r);
	require(again && !r.warnings);
	conf_report_clear(&r);
	second = write_text(again, &second_len);
	require(first_len == second_len && !memcmp(first, second, first_len));
	return 0;
}
