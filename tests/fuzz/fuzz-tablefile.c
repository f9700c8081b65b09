// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as tables, SLs and SL2VL of a small fabric: read, made into routes, judged with whatever lanes
 * they have, written and read back.
 */
#include <stdlib.h>
#include <string.h>

#include "route/check.h"
#include "route/depend.h"
#include "route/tablefile.h"
#include "tests/lib/topogen.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void judge(const struct routes *r, const struct tablefile *f)
{
	struct dependency_graph *g = NULL;
	struct mcast_tree **trees;
	struct route_verdict v;
	uint32_t n = tablefile_trees(f, r->topo, &trees);

	routes_check_graph(r, 1, &v, &g);
	require(v.cut + v.lost == v.unreachable && v.unreachable <= v.pairs);
	for (uint32_t i = 0; i < n; i++) {
		dependency_graph_force_tree(g, trees[i], (uint8_t)(i % LANES_SLS));
		mcast_tree_unref(trees[i]);
	}
	require(dependency_graph_is_acyclic(g) == !dependency_graph_on_cycles(g));
	dependency_graph_free(g);
	free(trees);
}

static void write_and_read(const struct routes *r)
{
	_cleanup_(tablefile_freep) struct tablefile *f = tablefile_new();
	struct conf_report report = { 0 };
	_cleanup_free_ char *text = NULL;
	struct routes *back;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	require(out);
	tablefile_write_lfts(r, NULL, NULL, out);
	fclose(out);
	tablefile_read(f, "again", text, len, &report);
	back = tablefile_routes(f, r->topo, "file", &report);
	require(!report.errors);
	routes_unref(back);
	conf_report_clear(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_(topo_unrefp) struct topo *t = topogen_fat_tree2(2, 2, 2, 1, NULL);
	_cleanup_(tablefile_freep) struct tablefile *f = tablefile_new();
	struct tablefile_text text = { "input", (const char *)input, len };
	struct conf_report report = { 0 };
	struct routes *r;

	tablefile_read(f, "input", text.text, len, &report);
	r = tablefile_routes(f, t, "file", &report);
	judge(r, f);
	write_and_read(r);
	conf_report_clear(&report);
	for (unsigned i = 0; i < 2; i++) {
		r->lanes = lanes_free(r->lanes);
		r->lanes = tablefile_lanes(r, i ? &text : NULL, i ? NULL : &text, &report);
		conf_report_clear(&report);
		judge(r, f);
	}
	routes_unref(r);
	return 0;
}
