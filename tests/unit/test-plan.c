// SPDX-License-Identifier: BSD-2-Clause
/* --plan: its figures beside those of the judge, failures beside a count by hand, the picture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "offline/base/layout.h"
#include "offline/plan.h"
#include "tests/unit/route-desk.h"

static struct topo *any_topo(unsigned seed)
{
	struct topogen o = any_options(seed);

	return any_fabric(seed, &o);
}

static void everyone(const struct routes *r, struct figures *ret)
{
	uint32_t n;
	_cleanup_free_ uint32_t *all = routes_ranks(r->topo, &n);

	figures_of(r, (struct route_ranks){ all, n }, 2, ret);
}

static void loads_are_those_of_the_judge(void **state)
{
	for (unsigned seed = 1; seed <= 30; seed++) {
		struct topo *t = any_topo(seed);
		struct routes *r = route(t, NULL);
		struct route_verdict v;
		struct figures f;
		uint32_t most = 0, hot[3];
		_cleanup_free_ uint32_t *again = NULL;
		_cleanup_free_ bool *stub = topo_find_stubs(t);

		routes_check(r, 1, &v);
		everyone(r, &f);
		again = figures_load(r, 1);
		assert_memory_equal(f.load, again, f.n_load * sizeof(*again));
		for (uint32_t i = 0; i < f.n_load; i++)
			if (t->ports[i].sw != TOPO_NONE && !stub[t->ports[i].sw] &&
			    !stub[topo_switch_with(t, i)])
				most = MAX(most, f.load[i]);
		assert_int_equal(most, v.max_load);
		if (figures_hot(t, f.load, hot, 3))
			assert_true(f.load[hot[0]] >= most);
		figures_clear(&f);
		routes_unref(r);
		topo_unref(t);
	}
}

static void tables_differ_from_others_only(void **state)
{
	for (unsigned seed = 1; seed <= 12; seed++) {
		struct topo *t = any_topo(seed), *broken;
		struct cut *cut = cut_new(t);
		struct routes *a = route(t, NULL), *b;
		struct figures_change c;
		uint64_t entries = 0;

		figures_compare(a, a, 2, &c);
		assert_true(!c.entries && !c.blocks && !c.switches && !c.pairs && c.n_blocks);
		for (uint32_t i = 0; i < cut->n_ports; i++)
			if (t->ports[i].sw != TOPO_NONE) {
				cut->ports[i] = true;
				break;
			}
		broken = cut_apply(t, cut);
		b = route(broken, a);
		figures_compare(a, b, 2, &c);
		entries = 0;
		for (uint32_t s = 0; s < t->n_switches; s++)
			for (unsigned lid = 0; lid <= MAX(a->top, b->top); lid++)
				entries += routes_port(a, s, (lid_t)lid) !=
					   routes_port(b, s, (lid_t)lid);
		assert_int_equal(c.entries, entries);
		assert_true(c.blocks <= c.entries && c.switches <= c.blocks);
		assert_true(!entries == !c.blocks && c.pairs <= c.n_pairs &&
			    (!entries || c.pairs || !t->n_hosts));
		routes_unref(a);
		routes_unref(b);
		topo_unref(t);
		topo_unref(broken);
		cut_free(cut);
	}
}

/* Ordered pairs of end ports that cables connect. */
static uint64_t connected(const struct topo *t)
{
	struct graph *g = graph_new(t, NULL);
	struct distances *d = distances_new(g, 1, NULL);
	uint64_t pairs = 0;

	for (uint32_t a = 0; a < t->n_hosts; a++)
		for (uint32_t b = 0; b < t->n_hosts; b++)
			pairs += a != b && t->hosts[a].sw != TOPO_NONE &&
				 t->hosts[b].sw != TOPO_NONE &&
				 distances_from(d, t->hosts[a].sw)[t->hosts[b].sw] != DISTANCE_NONE;
	distances_free(d);
	graph_free(g);
	return pairs;
}

/* All cables once, the worst first; those without a patch are those that nothing moves. */
static void patches_are_sorted(const struct plan_result *r)
{
	struct plan_patches p = plan_find_patches(r);
	uint64_t lost = 0, waiting = 0;

	assert_int_equal(p.n, r->worst.n);
	for (uint32_t i = 0; i < p.n; i++) {
		const struct plan_patch *one = &p.rows[i];
		uint32_t waits = one->counts[PATCH_WAITING], moved = plan_patch_moved(one);

		assert_true(!i || one[-1].grade <= one->grade);
		assert_true(!i || one[-1].grade < one->grade || one[-1].lost >= one->lost);
		assert_int_equal(one->grade == PLAN_PATCH_NONE, !moved && (waits || one->lost));
		assert_int_equal(one->grade == PLAN_PATCH_WAITS, moved && waits);
		assert_int_equal(one->grade == PLAN_PATCH_UNUSED, !moved && !waits && !one->lost);
		lost += one->lost;
		waiting += one->grade == PLAN_PATCH_WAITS ? waits : 0;
	}
	for (uint32_t i = 0; i < r->worst.n; i++)
		lost -= r->worst.rows[i].lost;
	assert_int_equal(lost, 0);
	assert_int_equal(waiting, p.waiting);
	free(p.rows);
}

static void worst_of(struct topo *t, enum plan_worst kind)
{
	struct plan_args args = { .worst = kind, .tries = 3, .tries_given = true, .threads = 2 };
	struct plan_result r = { .world = { .args = &args, .topo = t, .conf = conf_new() } };
	uint64_t whole = connected(t);

	r.world.conf->allow_unsafe_routes = true;
	r.world.conf->routing_engine = xstrdup("minhop");
	plan_route(&r.world, t, (struct plan_before){ 0 }, true, &r.now);
	assert_non_null(r.now.routes);
	r.worst = plan_find_worst(&r);
	for (uint32_t i = 0; i < r.worst.n; i++) {
		const struct plan_failure *f = &r.worst.rows[i];
		struct cut *cut = cut_new(t);
		struct topo *broken;

		if (kind == PLAN_WORST_LINK)
			cut->ports[f->at] = true;
		else
			cut->switches[f->at] = true;
		broken = cut_apply(t, cut);
		assert_int_equal(whole - connected(broken), f->lost);
		assert_true(!i || !f->hosts != !f[-1].hosts || f->lost <= f[-1].lost);
		cut_free(cut);
		topo_unref(broken);
	}
	assert_int_equal(r.worst.tried, MIN(r.worst.n, 3u));
	if (kind == PLAN_WORST_LINK)
		patches_are_sorted(&r);
	free(r.worst.rows);
	plan_tables_clear(&r.now);
	conf_unref(r.world.conf);
}

static void what_is_cut_off_is_exact(void **state)
{
	for (unsigned seed = 1; seed <= 16; seed++) {
		struct topogen o = { .seed = seed, .damage = 0.3 };
		struct topo *t =
			seed % 4 ? topogen_random(9, 3, 3, &o) : topogen_fat_tree2(4, 2, 3, 1, &o);

		worst_of(t, PLAN_WORST_LINK);
		worst_of(t, PLAN_WORST_SWITCH);
		topo_unref(t);
	}
}

static struct plan_failures worst_switches(struct topo *t, struct plan_args *args)
{
	struct plan_result r = { .world = { .args = args, .topo = t, .conf = conf_new() } };
	struct plan_failures ret;

	plan_route(&r.world, t, (struct plan_before){ 0 }, true, &r.now);
	assert_non_null(r.now.routes);
	ret = plan_find_worst(&r);
	plan_tables_clear(&r.now);
	conf_unref(r.world.conf);
	return ret;
}

/* Of those that look alike one is routed, and all of them would come to the same. */
static void likes_are_alike(void **state)
{
	struct topo *t = topogen_fat_tree2(8, 4, 4, 1, NULL);
	struct plan_args one = { .worst = PLAN_WORST_SWITCH, .tries = PLAN_TRIES, .threads = 1 },
			 all = { .worst = PLAN_WORST_SWITCH, .tries_given = true, .threads = 1 };
	struct plan_failures f = worst_switches(t, &one), g = worst_switches(t, &all);
	uint32_t alike = 0;

	assert_int_equal(f.n, 12);
	assert_int_equal(f.tried, 2);
	assert_int_equal(g.tried, 12);
	for (uint32_t i = 0; i < 12; i++) {
		/* Leaves first, and with them their own end ports alone. */
		assert_int_equal(f.rows[i].hosts, i < 8 ? 4 : 0);
		assert_int_equal(f.rows[i].beyond, 0);
		assert_int_equal(f.rows[i].likes, i < 8 ? 7 : 3);
		assert_int_equal(g.rows[i].max_load, g.rows[i < 8 ? 0 : 8].max_load);
		alike += f.rows[i].alike;
		assert_false(g.rows[i].alike);
	}
	assert_int_equal(alike, 10);
	assert_int_equal(f.rows[8].max_load, g.rows[8].max_load);
	free(f.rows);
	free(g.rows);
	topo_unref(t);
}

static bool says_that_pairs_are_lost(const struct plan_result *r)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	plan_print_drain(r, out);
	fclose(out);
	return strstr(text, "SOME PAIRS LOSE THEIR PATH");
}

/* A leaf with its end ports first, then spines as long as one is left. */
static void drained_in_order(void **state)
{
	struct topo *t = topogen_fat_tree2(4, 3, 3, 1, NULL);
	struct plan_args args = { .threads = 1 };
	struct plan_result r = { .world = { .args = &args, .topo = t, .conf = conf_new() } };
	uint32_t list[4], n = 0, leaf = t->hosts[0].sw;
	_cleanup_free_ uint32_t *on = topo_count_senders(t);
	struct plan_drain d;

	for (uint32_t s = 0; s < t->n_switches; s++)
		if (!on[s])
			list[n++] = s;
	list[n++] = leaf;
	r.drained = list;
	r.n_drained = n;
	plan_route(&r.world, t, (struct plan_before){ 0 }, true, &r.now);
	d = plan_find_drain(&r);
	assert_int_equal(d.n, 4);
	assert_int_equal(d.steps[0].sw, leaf);
	assert_int_equal(d.steps[0].lost, 0);
	assert_int_equal(d.steps[2].lost, 0);
	/* Of 9 end ports, 3 to a leaf, by one spine. */
	assert_int_equal(d.steps[2].max_load, 3 * 6);
	assert_int_equal(d.steps[3].lost, 9 * 6);
	assert_true(d.steps[0].holds && d.steps[1].holds && d.steps[2].holds);
	r.drain = d;
	r.world.file = topofile_from_topo(t);
	assert_true(says_that_pairs_are_lost(&r));
	/* Also where a later step, of switches that are gone anyway, loses none. */
	d.steps[0].lost = d.steps[3].lost;
	d.steps[3].lost = 0;
	assert_true(says_that_pairs_are_lost(&r));
	d.steps[0].lost = 0;
	assert_false(says_that_pairs_are_lost(&r));
	topofile_free(r.world.file);
	free(d.steps);
	plan_tables_clear(&r.now);
	conf_unref(r.world.conf);
	topo_unref(t);
}

static char *picture(const struct topo *t, const char *name)
{
	struct topofile *f = topofile_from_topo(t);
	_cleanup_free_ uint32_t *load = xcalloc((size_t)cut_n_ports(t) + 1, sizeof(*load));
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		free(f->nodes[i].name);
		f->nodes[i].name = xstrdup(name);
	}
	plan_draw_svg(f, t, load, name, out);
	fclose(out);
	topofile_free(f);
	return text;
}

static void pictures_escape_names(void **state)
{
	for (unsigned seed = 0; seed < 12; seed++) {
		struct topo *t = any_topo(seed);
		_cleanup_free_ char *text = picture(t, "<x a=\"&'\">&lt;");

		assert_null(strstr(text, "<x"));
		assert_non_null(strstr(text, "&lt;x a=&quot;&amp;&#39;&quot;&gt;&amp;lt;"));
		assert_null(strstr(text, "nan"));
		assert_null(strstr(text, "inf"));
		topo_unref(t);
	}
}

/* Of `text`: how often `what` is in it. */
static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* 64 x 32 switches: one cell for each two with a cable, in both directions; no line. */
static void large_fabrics_are_a_matrix(void **state)
{
	struct topo *small = topogen_fat_tree2(20, 10, 4, 1, NULL),
		    *large = topogen_fat_tree2(64, 32, 4, 1, NULL);
	_cleanup_free_ char *lines = picture(small, "<x>"), *matrix = picture(large, "<x>");

	assert_int_equal(count(lines, "<path"), 200);
	assert_null(strstr(lines, "Rows send"));
	assert_int_equal(count(matrix, "<path"), 0);
	assert_int_equal(count(matrix, "&lt;x&gt; to &lt;x&gt;: 0 pairs"), 2 * 64 * 32);
	assert_non_null(strstr(matrix, "up: level 0 (64 switches) to level 1 (32)"));
	/* A title, and a name for each row and for each column, both ways. */
	assert_int_equal(count(matrix, ">&lt;x&gt;</text>"), 1 + 2 * (64 + 32));
	assert_int_equal(count(matrix, "rotate(-90)"), 64 + 32);
	assert_non_null(strstr(matrix, "down: level 1 (32 switches) to level 0 (64)"));
	assert_null(strstr(matrix, "<x"));
	assert_null(strstr(matrix, "nan"));
	topo_unref(small);
	topo_unref(large);
}

/* More switches than a row can show: some are one. A fabric without levels is one block. */
static void matrices_stay_small(void **state)
{
	struct topo *tree = topogen_fat_tree3(24, NULL), /* 288 leaves */
		    *random = topogen_random(300, 10, 1, NULL);
	_cleanup_free_ char *text = picture(tree, "a"), *other = picture(random, "a");

	assert_in_range(count(text, "a to a"), 4 * 200, 4 * 288 * 12 - 1);
	assert_non_null(strstr(text, "the most loaded of"));
	assert_int_equal(count(other, "level 0 (300 switches) to level 0"), 1);
	topo_unref(tree);
	topo_unref(random);
}

static void trees_have_levels_grids_have_places(void **state)
{
	struct topo *tree = topogen_fat_tree2(4, 2, 3, 1, NULL),
		    *torus = topogen_torus((unsigned[]){ 5, 5, 1 }, 1, NULL),
		    *dragonfly = topogen_dragonfly(9, 4, 2, NULL);
	struct layout *l = layout_new(tree), *m = layout_new(torus), *n = layout_new(dragonfly);

	assert_true(!l->round && !l->grid);
	for (uint32_t h = 0; h < tree->n_hosts; h++)
		assert_true(l->places[tree->hosts[h].sw].low);
	assert_true(!m->round && m->grid);
	assert_true(n->round && !n->grid);
	layout_free(l);
	layout_free(m);
	layout_free(n);
	topo_unref(tree);
	topo_unref(torus);
	topo_unref(dragonfly);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_are_those_of_the_judge),
		cmocka_unit_test(tables_differ_from_others_only),
		cmocka_unit_test(what_is_cut_off_is_exact),
		cmocka_unit_test(likes_are_alike),
		cmocka_unit_test(drained_in_order),
		cmocka_unit_test(pictures_escape_names),
		cmocka_unit_test(large_fabrics_are_a_matrix),
		cmocka_unit_test(matrices_stay_small),
		cmocka_unit_test(trees_have_levels_grids_have_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
