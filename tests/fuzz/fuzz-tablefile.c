// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as tables, SLs and SL2VL of a small fabric: read, made into routes, judged with
 * whatever lanes they have, written and read back.
 */
#include <stdlib.h>
#include <string.h>

#include "offline/base/lanefile.h"
#include "route/proof/check.h"
#include "route/proof/cdg.h"
#include "route/io/tablefile.h"
#include "tests/lib/tables.h"
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
	struct cdg *g = NULL;
	_cleanup_free_ lid_t *mlids = NULL;
	struct mcast_tree **trees;
	struct route_verdict v;
	uint32_t n = tablefile_trees(f, r->topo, &trees, &mlids);

	routes_check_graph(r, 1, &v, &g);
	require(v.cut + v.lost == v.unreachable && v.unreachable <= v.pairs);
	for (uint32_t i = 0; i < n; i++) {
		cdg_force_tree(g, trees[i], (uint8_t)(i % SL2VL_SLS));
		mcast_tree_unref(trees[i]);
	}
	require(cdg_is_acyclic(g) == !cdg_on_cycles(g));
	cdg_free(g);
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
	tables_write_lfts(r, out);
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
	struct lanefile_text text = { "input", (const char *)input, len };
	struct conf_report report = { 0 };
	struct routes *r;

	tablefile_read(f, "input", text.text, len, &report);
	r = tablefile_routes(f, t, "file", &report);
	judge(r, f);
	write_and_read(r);
	conf_report_clear(&report);
	for (unsigned i = 0; i < 2; i++) {
		r->lanes = sl2vl_free(r->lanes);
		r->lanes = lanefile_read(r, i ? &text : NULL, i ? NULL : &text, &report);
		conf_report_clear(&report);
		judge(r, f);
	}
	routes_unref(r);
	return 0;
}
