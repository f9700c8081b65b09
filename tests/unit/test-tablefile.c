// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables as text: what is written reads back, what others write is understood, what is broken is
 * told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "offline/base/lanefile.h"
#include "route/proof/check.h"
#include "route/core/engine.h"
#include "route/select/engines.h"
#include "route/io/tablefile.h"
#include "tests/lib/tables.h"
#include "tests/lib/topogen.h"
#include "util/mem.h"

static struct routes *routed(const struct topo *t)
{
	char why[128];
	struct routes *r = route_engine_find("minhop")->compute(
		&(struct route_job){ .topo = t, .threads = 1 }, why, sizeof(why));

	assert_non_null(r);
	return r;
}

/* What a writer makes of routes; the caller frees. */
static char *text_of(const struct routes *r, void (*write)(const struct routes *r, FILE *out))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	write(r, out);
	fclose(out);
	return text;
}

static struct routes *read_back(const struct topo *t, const char *text, struct conf_report *report)
{
	_cleanup_(tablefile_freep) struct tablefile *f = tablefile_new();

	tablefile_read(f, "text", text, strlen(text), report);
	return tablefile_routes(f, t, "file", report);
}

/* Tables of LIDs that are assigned. */
static void assert_same_ways(const struct routes *a, const struct routes *b)
{
	const struct topo *t = a->topo;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		for (uint32_t h = 0; h < t->n_hosts; h++)
			assert_int_equal(routes_port(a, s, t->hosts[h].lid),
					 routes_port(b, s, t->hosts[h].lid));
		for (uint32_t d = 0; d < t->n_switches; d++)
			assert_int_equal(routes_port(a, s, t->switches[d].lid),
					 routes_port(b, s, t->switches[d].lid));
	}
}

static void what_is_written_reads_back(void **state)
{
	void (*const writers[])(const struct routes *r, FILE *out) = { tables_write_lfts,
								       tables_write_fdbs };

	for (unsigned seed = 1; seed <= 6; seed++) {
		struct topogen o = { .seed = seed, .damage = 0.2, .random_lids = true };
		struct topo *t = topogen_random(10, 3, 2, &o);
		struct routes *r = routed(t);

		for (unsigned i = 0; i < ARRAY_SIZE(writers); i++) {
			_cleanup_free_ char *text = text_of(r, writers[i]);
			struct conf_report report = { 0 };
			struct routes *back = read_back(t, text, &report);

			assert_int_equal(report.n, 0);
			assert_same_ways(r, back);
			routes_unref(back);
			conf_report_clear(&report);
		}
		routes_unref(r);
		topo_unref(t);
	}
}

/* The file was written before LIDs were given anew. */
static void lids_move_with_the_guid(void **state)
{
	struct topogen before = { .seed = 1, .random_lids = true }, after = { .seed = 1 };
	struct topo *old = topogen_fat_tree2(4, 2, 3, 1, &before),
		    *new = topogen_fat_tree2(4, 2, 3, 1, &after);
	struct routes *r = routed(old);
	_cleanup_free_ char *text = text_of(r, tables_write_lfts);
	struct conf_report report = { 0 };
	struct routes *back = read_back(new, text, &report);
	struct route_verdict v;

	assert_int_equal(report.n, 0);
	routes_check(back, 1, &v);
	assert_int_equal(v.unreachable, 0);
	for (uint32_t s = 0; s < old->n_switches; s++)
		for (uint32_t h = 0; h < old->n_hosts; h++)
			assert_int_equal(routes_port(r, s, old->hosts[h].lid),
					 routes_port(back, s, new->hosts[h].lid));
	routes_unref(back);
	routes_unref(r);
	topo_unref(old);
	topo_unref(new);
	conf_report_clear(&report);
}

static void what_does_not_fit_is_told(void **state)
{
	struct topo *t = topogen_fat_tree2(2, 1, 2, 1, NULL);
	struct conf_report report = { 0 };
	_cleanup_free_ char *text = xasprintf(
		"Unicast lids [0x0-0x6] of switch Lid 2 guid 0x%016llx (spine):\n"
		"  Lid  Out   Destination\n"
		"       Port     Info \n"
		"0x0001 001 : (Channel Adapter portguid 0x0000000000100001: 'H1')\n"
		"0x0002 200 : (Switch portguid 0x0000000000200000: 'S1')\n"
		"2 valid lids dumped \n"
		"Unicast lids [0x0-0x6] of switch Lid 3 guid 0x00000000deadbeef (who):\n"
		"0x0001 001 : (Channel Adapter portguid 0x0000000000100001: 'H1')\n",
		(unsigned long long)t->switches[0].guid);
	struct routes *r = read_back(t, text, &report);

	assert_int_equal(report.errors, 0);
	/* a port that is none, a switch that is none, switches without */
	assert_int_equal(report.warnings, 3);
	assert_int_equal(routes_row(r, 0)[1], 1);
	assert_int_equal(routes_row(r, 0)[2], LFT_NO_PORT);
	assert_string_not_equal(r->note, "");
	routes_unref(r);
	topo_unref(t);
	conf_report_clear(&report);
}

static void broken_lines_have_a_place(void **state)
{
	static const char text[] =
		"Unicast lids [0-3] of switch Lid 2 guid 0x0002000000000000 ('S'):\n"
		"0x0001 001 # x\n0x0001 banana\n0xFFFFF 1\nUnicast lids of nobody\n";
	struct topo *t = topogen_fat_tree2(2, 1, 2, 1, NULL);
	struct route_job job = { .topo = t, .options.lfts = { "f", text, sizeof(text) - 1 } };
	char why[160] = "";

	assert_null(route_engine_find("file")->compute(&job, why, sizeof(why)));
	assert_string_equal(why, "f:3:7: expected a port, 0 to 255");
	job.options.lfts = (struct route_text){ "gone", NULL, 0 };
	assert_null(route_engine_find("file")->compute(&job, why, sizeof(why)));
	assert_string_equal(why, "gone cannot be read");
	job.options.lfts = (struct route_text){ "empty", "", 0 };
	assert_null(route_engine_find("file")->compute(&job, why, sizeof(why)));
	assert_string_equal(why, "empty has no forwarding table");
	topo_unref(t);
}

static void the_engine_takes_tables_and_distances(void **state)
{
	struct topo *t = topogen_fat_tree2(3, 2, 2, 1, NULL);
	struct routes *r = routed(t), *back;
	_cleanup_free_ char *text = text_of(r, tables_write_lfts);
	_cleanup_free_ char *matrix =
		xasprintf("Switch: guid 0x%016llx\n0x%04x: 07 ff 01\n",
			  (unsigned long long)t->switches[0].guid, t->switches[1].lid);
	struct route_job job = { .topo = t, .options.lfts = { "f", text, strlen(text) },
				 .options.lid_matrix = { "m", matrix, strlen(matrix) } };
	char why[160] = "";

	back = route_engine_find("file")->compute(&job, why, sizeof(why));
	assert_non_null(back);
	assert_string_equal(back->engine, "file");
	assert_same_ways(r, back);
	assert_int_equal(back->hops[1 * t->n_switches + 0], 7);
	assert_int_equal(back->hops[0 * t->n_switches + 1], 0xFF);
	routes_unref(back);
	job.options.lfts = (struct route_text){ NULL, NULL, 0 };
	back = route_engine_find("file")->compute(&job, why, sizeof(why));
	assert_same_ways(r, back); /* the other half is made */
	routes_unref(back);
	routes_unref(r);
	topo_unref(t);
}

static void random_lanes(struct routes *r, unsigned n_classes, unsigned seed)
{
	const struct topo *t = r->topo;
	struct sl2vl *l = sl2vl_new(t, 4, SL2VL_BY_SWITCHES, r->row_size, n_classes);
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].n_ports + 1u;
	l->class_of = xcalloc(n, 1);
	for (uint32_t i = 0; i < n; i++)
		l->class_of[i] = (uint8_t)(i * 2654435761u * seed >> 13) % n_classes;
	for (unsigned i = 0; i < n_classes * n_classes * SL2VL_SLS; i++)
		l->vl[i] = (uint8_t)((i * 2654435761u * seed >> 9) % 4);
	for (uint32_t i = 0; i < t->n_switches * t->n_switches; i++)
		l->sl[i] = (uint8_t)((i * 2654435761u * seed >> 5) % SL2VL_SLS);
	r->lanes = l;
}

static void lanes_read_back(void **state)
{
	for (unsigned seed = 1; seed <= 6; seed++) {
		struct topo *t = topogen_torus((unsigned[]){ 4, 3, 1 }, 2,
					       &(struct topogen){ .seed = seed });
		struct routes *r = routed(t);
		_cleanup_free_ char *sls = NULL, *sl2vl = NULL;
		struct conf_report report = { 0 };
		struct route_verdict v, w;
		struct sl2vl *back;

		random_lanes(r, 1 + seed % 3, seed);
		sls = text_of(r, lanefile_write_psl);
		sl2vl = text_of(r, lanefile_write_sl2vl);
		back = lanefile_read(r, &(struct lanefile_text){ "psl", sls, strlen(sls) },
				     &(struct lanefile_text){ "sl2vl", sl2vl, strlen(sl2vl) },
				     &report);
		assert_non_null(back);
		for (uint32_t s = 0; s < t->n_switches; s++)
			for (unsigned i = 0; i < 16 * 16 * SL2VL_SLS; i++) {
				unsigned in = i / SL2VL_SLS / 16, out = i / SL2VL_SLS % 16;

				if (in <= t->switches[s].n_ports && out &&
				    out <= t->switches[s].n_ports)
					assert_int_equal(
						sl2vl_vl(back, t, s, in, out, i % SL2VL_SLS),
						sl2vl_vl(r->lanes, t, s, in, out, i % SL2VL_SLS));
			}
		routes_check(r, 1, &v);
		sl2vl_free(r->lanes);
		r->lanes = back;
		routes_check(r, 1, &w);
		assert_int_equal(v.cycle_channels, w.cycle_channels);
		assert_int_equal(v.n_vls, w.n_vls);
		routes_unref(r);
		topo_unref(t);
		conf_report_clear(&report);
	}
}

static void the_dump_of_sl2vl_is_read(void **state)
{
	struct topo *t = topogen_fat_tree2(2, 1, 2, 1, NULL);
	struct routes *r = routed(t);
	_cleanup_free_ char *text =
		xasprintf("Switch 0x%016llx, base LID 2, \"S\"\n"
			  "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
			  "#--------------------------------------------------------\n"
			  "1   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 \n"
			  "#--------------------------------------------------------\n\n"
			  "Channel Adapter 0x0001, base LID 3, \"H\"\n0   0   : 1  1  1  1  1  1  "
			  "1  1  1  1  1  1  1  1  1  1 \n",
			  (unsigned long long)t->switches[0].guid);
	struct conf_report report = { 0 };
	struct sl2vl *l = lanefile_read(
		r, NULL, &(struct lanefile_text){ "d", text, strlen(text) }, &report);

	assert_int_equal(report.n, 0);
	assert_non_null(l);
	assert_int_equal(l->n_vls, 8);
	assert_int_equal(sl2vl_vl(l, t, 0, 1, 2, 5), 5);
	assert_int_equal(sl2vl_vl(l, t, 0, 1, 2, 9), 1);
	sl2vl_free(l);
	routes_unref(r);
	topo_unref(t);
	conf_report_clear(&report);
}

static void multicast_tables_become_trees(void **state)
{
	struct topo *t = topogen_fat_tree2(2, 1, 2, 1, NULL);
	_cleanup_free_ char *text = xasprintf(
		"\nSwitch 0x%016llx\nLID    : Out Port(s)\n0xC000 : 0x001  0x003 \n"
		"0xC001 : 0x002 \n\nSwitch 0x%016llx\nLID    : Out Port(s)\n"
		"0xC000 : 0x002 \n",
		(unsigned long long)t->switches[1].guid, (unsigned long long)t->switches[0].guid);
	_cleanup_(tablefile_freep) struct tablefile *f = tablefile_new();
	struct conf_report report = { 0 };
	_cleanup_free_ lid_t *mlids = NULL;
	struct mcast_tree **trees;

	tablefile_read(f, "m", text, strlen(text), &report);
	assert_int_equal(report.n, 0);
	assert_int_equal(tablefile_trees(f, t, &trees, &mlids), 2);
	assert_int_equal(mlids[0], 0xC000);
	assert_int_equal(mlids[1], 0xC001);
	assert_int_equal(trees[0]->n_rows, 2);
	assert_int_equal(trees[0]->rows[0].sw, 0);
	assert_int_equal(trees[0]->rows[1].mask[0], 0xA);
	assert_int_equal(trees[1]->n_rows, 1);
	mcast_tree_unref(trees[0]);
	mcast_tree_unref(trees[1]);
	free(trees);
	topo_unref(t);
	conf_report_clear(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(lids_move_with_the_guid),
		cmocka_unit_test(what_does_not_fit_is_told),
		cmocka_unit_test(broken_lines_have_a_place),
		cmocka_unit_test(the_engine_takes_tables_and_distances),
		cmocka_unit_test(lanes_read_back),
		cmocka_unit_test(the_dump_of_sl2vl_is_read),
		cmocka_unit_test(multicast_tables_become_trees),
	};

	return cmocka_run_group_tests_name("tablefile", tests, NULL, NULL);
}
