// SPDX-License-Identifier: BSD-2-Clause
/*
 * Miswirings of trees: every single one and every pair of a small tree, and 1,000 random fabrics of
 * a larger one with one or two that do not touch each other. There are not more lines than
 * miswirings, each has the right cause, and together they are true: carried out on the fabric as it
 * was meant, they give the fabric as it is.
 */
#include "tests/unit/expect-desk.h"

#include <time.h>

#include "tests/lib/topogen.h"
#include "topo/expect_file.h"
#include "util/bisect.h"
#include "util/random.h"

struct op {
	enum expect_kind kind;
	unsigned a, b; /* cables, nodes */
	unsigned end;
	struct world_end to, to2;
};

struct ops {
	struct op *all;
	size_t n, cap;
};

static void add_op(struct ops *o, struct op op)
{
	GROW(o->all, o->n + 1, o->cap);
	o->all[o->n++] = op;
}

/* --- All miswirings of a tree --------------------------------------------------------------- */

static void list_moves(struct world *w, struct ops *o, unsigned node, uint8_t port)
{
	struct world_end to = { node, port };

	for (unsigned i = 0; i < w->n_cables; i++)
		for (unsigned end = 0; end < 2; end++)
			add_op(o, (struct op){ EXPECT_MOVED, .a = i, .end = end, .to = to });
	for (unsigned other = node + 1; other < w->n_nodes; other++)
		if (w->nodes[other].type == EXPECT_SWITCH)
			add_op(o, (struct op){ EXPECT_EXTRA,
					       .to = to,
					       .to2 = { other, w->nodes[other].n_ports } });
	add_op(o, (struct op){ EXPECT_UNKNOWN_NODE, .to = to });
}

/* Switches with as many ports in each other's place. */
static void list_exchanges(struct world *w, struct ops *o, unsigned node)
{
	for (unsigned other = node + 1; other < w->n_nodes; other++)
		if (w->nodes[other].type == EXPECT_SWITCH &&
		    w->nodes[other].name[0] == w->nodes[node].name[0])
			add_op(o, (struct op){ EXPECT_SWAPPED_NODES, .a = node, .b = other });
}

/* Runs of cables up to the last one before the free port, which is the last. */
static void list_shifts(struct world *w, struct ops *o, unsigned node)
{
	for (uint8_t from = 1; from + 2 < w->nodes[node].n_ports; from++)
		add_op(o, (struct op){ EXPECT_SHIFTED,
				       .to = { node, from },
				       .to2 = { node, w->nodes[node].n_ports } });
}

static void list_ops(struct world *w, struct ops *o)
{
	for (unsigned i = 0; i < w->n_cables; i++) {
		add_op(o, (struct op){ EXPECT_MISSING, .a = i });
		add_op(o, (struct op){ EXPECT_DEGRADED, .a = i });
		for (unsigned k = i + 1; k < w->n_cables; k++) {
			unsigned node = w->cables[i].end[0].node;
			bool rails = node == w->cables[k].end[0].node &&
				     w->nodes[node].type == EXPECT_CA;

			add_op(o, (struct op){ rails ? EXPECT_WRONG_RAIL : EXPECT_SWAPPED,
					       .a = i,
					       .b = k });
		}
	}
	for (unsigned i = 0; i < w->n_nodes; i++) {
		bool is_switch = w->nodes[i].type == EXPECT_SWITCH;

		add_op(o, (struct op){ is_switch ? EXPECT_REPLACED_SWITCH : EXPECT_REPLACED_HCA,
				       .a = i });
		if (!is_switch)
			continue;
		list_moves(w, o, i, w->nodes[i].n_ports);
		list_exchanges(w, o, i);
		list_shifts(w, o, i);
	}
}

/* --- One miswiring -------------------------------------------------------------------------- */

static bool shift(struct world *w, struct world_end from, struct world_end free)
{
	bool any = false;

	if (world_at(w, free.node, free.port))
		return false;
	for (uint8_t p = free.port - 1; p >= from.port; p--) {
		struct world_cable *c = world_at(w, free.node, p);

		for (unsigned k = 0; c && k < 2; k++)
			if (c->end[k].node == free.node && c->end[k].port == p) {
				c->end[k].port++;
				any = true;
				break;
			}
	}
	return any;
}

static bool swap(struct world_cable *a, struct world_cable *b)
{
	struct world_end end = a->end[1];

	if (a->gone || b->gone)
		return false;
	a->end[1] = b->end[1];
	b->end[1] = end;
	return true;
}

static bool exchange_nodes(struct world *w, unsigned a, unsigned b)
{
	guid_t guid = w->nodes[a].guid;
	char name[sizeof(w->nodes[a].name)];

	memcpy(name, w->nodes[a].name, sizeof(name));
	w->nodes[a].guid = w->nodes[b].guid;
	memcpy(w->nodes[a].name, w->nodes[b].name, sizeof(name));
	w->nodes[b].guid = guid;
	memcpy(w->nodes[b].name, name, sizeof(name));
	return true;
}

/* False: with what was done before it has no sense. */
static bool apply(struct world *w, const struct op *op, unsigned number)
{
	struct world_cable *a = &w->cables[op->a], *b = &w->cables[op->b];
	bool free = !op->to.port || !world_at(w, op->to.node, op->to.port);

	switch (op->kind) {
	case EXPECT_MISSING: a->gone = true; return true;
	case EXPECT_DEGRADED: a->slow = true; return true;
	case EXPECT_SWAPPED:
	case EXPECT_WRONG_RAIL: return swap(a, b);
	case EXPECT_SWAPPED_NODES: return exchange_nodes(w, op->a, op->b);
	case EXPECT_SHIFTED: return shift(w, op->to, op->to2);
	case EXPECT_REPLACED_HCA:
	case EXPECT_REPLACED_SWITCH: w->nodes[op->a].guid = 0x900 + number; return true;
	case EXPECT_MOVED:
		if (free && !a->gone)
			a->end[op->end] = op->to;
		return free && !a->gone;
	case EXPECT_EXTRA:
		free = free && !world_at(w, op->to2.node, op->to2.port);
		if (free)
			world_cable(w, op->to.node, op->to.port, op->to2.node, op->to2.port);
		return free;
	case EXPECT_UNKNOWN_NODE:
		if (free)
			world_cable(w, world_node(w, EXPECT_CA, "new", number, 1), 1, op->to.node,
				    op->to.port);
		return free;
	default: return false;
	}
}

/* --- Findings, carried out ------------------------------------------------------------------ */

struct link {
	guid_t a, b;
	uint8_t p, q;
};

struct links {
	struct link all[WORLD_CABLES];
	unsigned n;
};

static struct link link_of(guid_t a, uint8_t p, guid_t b, uint8_t q)
{
	bool ordered = a < b || (a == b && p < q);

	return ordered ? (struct link){ a, b, p, q } : (struct link){ b, a, q, p };
}

static bool is_same(const struct link *a, const struct link *b)
{
	return a->a == b->a && a->b == b->b && a->p == b->p && a->q == b->q;
}

static struct links links_of(const struct expect *x)
{
	struct links l = { .n = 0 };

	for (uint32_t i = 0; i < x->n_ports; i++) {
		const struct expect_port *p = &x->ports[i], *q = &x->ports[p->peer];

		if (p->peer > i)
			l.all[l.n++] = link_of(x->nodes[p->node].guid, p->number,
					       x->nodes[q->node].guid, q->number);
	}
	return l;
}

static void exchange_links(struct links *l, unsigned a, unsigned b)
{
	struct link other = l->all[a];

	l->all[a] = l->all[b];
	l->all[b] = other;
}

static bool remove_link(struct links *l, struct link x)
{
	for (unsigned i = 0; i < l->n; i++)
		if (is_same(&l->all[i], &x)) {
			l->all[i] = l->all[--l->n];
			return true;
		}
	return false;
}

/* All cables of the expected fabric change at once: first they go, then they come. */
static bool change_cables(struct links *l, const struct expect_report *r)
{
	for (uint32_t i = 0; i < r->n_findings; i++) {
		const struct expect_finding *f = &r->findings[i];

		for (uint32_t k = f->first_change; k < f->first_change + f->n_changes; k++) {
			const struct expect_change *c = &r->changes[k];

			struct link was = link_of(c->at.guid, c->at.port, c->was.guid,
						  c->was.port);

			if (f->kind != EXPECT_DEGRADED && c->was.guid && !remove_link(l, was))
				return false;
		}
	}
	for (uint32_t k = 0; k < r->n_changes; k++)
		if (r->changes[k].is.guid)
			l->all[l->n++] = link_of(r->changes[k].at.guid, r->changes[k].at.port,
						 r->changes[k].is.guid, r->changes[k].is.port);
	return true;
}

static guid_t renamed(guid_t guid, const struct expect_report *r)
{
	for (uint32_t i = 0; i < r->n_findings; i++) {
		const struct expect_finding *f = &r->findings[i];
		bool swapped = f->kind == EXPECT_SWAPPED_NODES;

		if (!swapped && f->kind != EXPECT_REPLACED_HCA && f->kind != EXPECT_REPLACED_SWITCH)
			continue;
		if (f->node.guid == guid)
			return f->other.guid;
		if (swapped && f->other.guid == guid)
			return f->node.guid;
	}
	return guid;
}

static void rename_nodes(struct links *l, const struct expect_report *r)
{
	for (unsigned i = 0; i < l->n; i++) {
		struct link *x = &l->all[i];

		*x = link_of(renamed(x->a, r), x->p, renamed(x->b, r), x->q);
	}
}

/* Does a switch of `have` have both cables? */
static bool share_switch(const struct link *a, const struct link *b, const struct world *have)
{
	for (unsigned i = 0; i < have->n_nodes; i++) {
		guid_t g = have->nodes[i].guid;

		if (have->nodes[i].type == EXPECT_SWITCH && (g == a->a || g == a->b) &&
		    (g == b->a || g == b->b))
			return true;
	}
	return false;
}

/* Without the cables to which none leads from node 0. */
static void drop_unreached(struct links *l, const struct world *have)
{
	unsigned reached = 0;

	/* those before `reached` are; each of them is asked for others once */
	for (unsigned i = 0; i < l->n; i++)
		if (l->all[i].a == have->nodes[0].guid || l->all[i].b == have->nodes[0].guid)
			exchange_links(l, i, reached++);
	for (unsigned at = 0; at < reached; at++)
		for (unsigned i = reached; i < l->n; i++)
			if (share_switch(&l->all[at], &l->all[i], have))
				exchange_links(l, i, reached++);
	l->n = reached;
}

static bool explains(const struct expect_report *r, const struct expect *x, const struct expect *y,
		     const struct world *have)
{
	struct links want = links_of(x), is = links_of(y);

	if (!change_cables(&want, r))
		return false;
	rename_nodes(&want, r);
	drop_unreached(&want, have);
	for (unsigned i = 0; i < want.n; i++)
		if (!remove_link(&is, want.all[i]))
			return false;
	return is.n == 0;
}

/* --- Tests ---------------------------------------------------------------------------------- */

static void show(const struct expect_report *r, const struct op *ops, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		print_message("done:  %s a %u b %u end %u to %u/%u %u/%u\n",
			      expect_kind_name(ops[i].kind), ops[i].a, ops[i].b, ops[i].end,
			      ops[i].to.node, ops[i].to.port, ops[i].to2.node, ops[i].to2.port);
	for (uint32_t i = 0; i < r->n_findings; i++) {
		char *line = expect_finding_str(r, &r->findings[i]);

		print_message("found: %s\n", line);
		free(line);
	}
}

/*
 * As many lines as miswirings, of the same kinds; or one that is a simpler cause of two: cables
 * swapped in pairs between two nodes, moved in a row, all those of a node missing.
 */
static bool has_causes(const struct expect_report *r, const struct op *ops, unsigned n)
{
	static const enum expect_kind simpler[EXPECT_KINDS] = {
		[EXPECT_SWAPPED] = EXPECT_SWAPPED_NODES,
		[EXPECT_MOVED] = EXPECT_SHIFTED,
		[EXPECT_MISSING] = EXPECT_MISSING_NODE,
	};
	int left[EXPECT_KINDS] = { 0 };

	if (n == 2 && r->n_findings == 1 && ops[0].kind == ops[1].kind &&
	    simpler[ops[0].kind] == r->findings[0].kind)
		return true;
	for (unsigned i = 0; i < n; i++)
		left[ops[i].kind]++;
	for (uint32_t i = 0; i < r->n_findings; i++)
		left[r->findings[i].kind]--;
	for (unsigned i = 0; i < EXPECT_KINDS; i++)
		if (left[i])
			return false;
	return true;
}

struct verdict {
	unsigned cases, apart, more;
};

/* A part of the fabric is not found: of a swap only one cable may be left to be seen. */
static bool hides_switch(const struct world *w)
{
	bool reached[WORLD_NODES];

	world_reach(w, reached);
	for (unsigned i = 0; i < w->n_nodes; i++)
		if (w->nodes[i].type == EXPECT_SWITCH && !reached[i])
			return true;
	return false;
}

/* Also the cable of a CA that is another one. */
static bool has_changed(const struct world *a, const struct world *b, unsigned cable)
{
	const struct world_cable *p = &a->cables[cable], *q = &b->cables[cable];

	return p->gone != q->gone || p->slow != q->slow || p->end[0].node != q->end[0].node ||
	       p->end[0].port != q->end[0].port || p->end[1].node != q->end[1].node ||
	       p->end[1].port != q->end[1].port ||
	       (a->nodes[p->end[0].node].type == EXPECT_CA &&
		a->nodes[p->end[0].node].guid != b->nodes[p->end[0].node].guid);
}

/*
 * Two of the miswirings touch one cable, or replace one node: the result may be neither of them,
 * nor both.
 */
static bool overlap(const struct world *w, const struct op *ops, unsigned n)
{
	unsigned times[WORLD_CABLES] = { 0 };

	for (unsigned i = 0; i < n; i++) {
		struct world v = *w;

		if (!apply(&v, &ops[i], i))
			return true;
		for (unsigned k = 0; k < w->n_cables; k++)
			if (has_changed(w, &v, k) && times[k]++)
				return true;
		for (unsigned k = 0; k < i; k++)
			if (ops[k].kind == EXPECT_REPLACED_SWITCH &&
			    ops[i].kind == ops[k].kind && ops[k].a == ops[i].a)
				return true;
	}
	return false;
}

/* Miswires a copy of `w`, and judges the lines. */
static void judge(const struct world *w, const struct expect *x, const struct op *ops, unsigned n,
		  struct verdict *ret)
{
	struct world v = *w;
	struct expect_report *r;
	struct expect *y;
	bool apart, all_seen;

	/* Switches in each other's place, of which one is replaced, have two names for each. */
	for (unsigned i = 0; i < n; i++)
		if (!apply(&v, &ops[i], i) || (n > 1 && ops[i].kind == EXPECT_SWAPPED_NODES))
			return;
	y = world_picture(&v);
	r = expect_compare(x, y);
	apart = !overlap(w, ops, n);
	all_seen = !hides_switch(&v);
	if (!explains(r, x, y, &v) || (apart && r->n_findings > n + (all_seen ? 0 : 1)) ||
	    (apart && all_seen && !has_causes(r, ops, n))) {
		show(r, ops, n);
		fail_msg("%u lines for %u miswirings are not true, or not their causes",
			 r->n_findings, n);
	}
	ret->cases++;
	ret->apart += apart && all_seen ? 1 : 0;
	ret->more += r->n_findings > n ? 1 : 0;
	expect_report_free(r);
	expect_free(y);
}

static void every_single_miswiring_is_one_line(void **state)
{
	struct world w = world_tree(4, 3, 3, 2);
	struct expect *x = world_picture(&w);
	struct verdict verdict = { 0 };
	struct ops o = { 0 };

	list_ops(&w, &o);
	for (size_t i = 0; i < o.n; i++)
		judge(&w, x, &o.all[i], 1, &verdict);
	print_message("# %u miswirings\n", verdict.cases);
	assert_true(verdict.cases > 500);
	free(o.all);
	expect_free(x);
}

static void every_pair_of_miswirings_is_explained(void **state)
{
	struct world w = world_tree(2, 2, 1, 1);
	struct expect *x = world_picture(&w);
	struct verdict verdict = { 0 };
	struct ops o = { 0 };

	list_ops(&w, &o);
	for (size_t i = 0; i < o.n; i++)
		for (size_t k = 0; k < o.n; k++)
			judge(&w, x, (struct op[]){ o.all[i], o.all[k] }, 2, &verdict);
	print_message("# %u pairs: %u apart, %u with more lines than two\n", verdict.cases,
		      verdict.apart, verdict.more);
	assert_true(verdict.cases > 5000);
	free(o.all);
	expect_free(x);
}

/* A miswiring of a kind drawn first, so that the rare ones come as often as the others. */
static struct op draw(const struct ops *o, uint64_t *dice)
{
	static const enum expect_kind kinds[] = {
		EXPECT_MISSING,	     EXPECT_SWAPPED,	     EXPECT_MOVED,    EXPECT_SHIFTED,
		EXPECT_REPLACED_HCA, EXPECT_REPLACED_SWITCH, EXPECT_EXTRA,    EXPECT_WRONG_RAIL,
		EXPECT_UNKNOWN_NODE, EXPECT_DEGRADED,	     EXPECT_SWAPPED_NODES,
	};
	enum expect_kind kind = kinds[random_next(dice) % ARRAY_SIZE(kinds)];
	size_t at = random_next(dice) % o->n;

	for (size_t i = 0; i < o->n; i++, at = (at + 1) % o->n)
		if (o->all[at].kind == kind)
			break;
	return o->all[at];
}

static void random_miswirings_are_named(void **state)
{
	const char *seed = getenv("TEST_SEED");
	uint64_t first = seed ? strtoull(seed, NULL, 0) : 0x5EED, dice;
	struct world w = world_tree(6, 4, 4, 3);
	struct verdict verdict = { 0 };
	struct ops o = { 0 };

	list_ops(&w, &o);
	print_message("# TEST_SEED=0x%llx\n", (unsigned long long)first);
	for (unsigned i = 0; i < 1000; i++) {
		struct world v = w;
		struct op ops[2];
		struct expect *x;
		unsigned before = verdict.apart;

		for (unsigned n = 0; n < v.n_nodes && i % 2; n++)
			v.nodes[n].name[0] = '\0'; /* as in a CSV, or out of the box */
		x = world_picture(&v);
		dice = first + i;
		for (unsigned tries = 0; verdict.apart == before && tries < 100; tries++) {
			ops[0] = draw(&o, &dice);
			ops[1] = draw(&o, &dice);
			judge(&v, x, ops, 1 + i / 2 % 2, &verdict);
		}
		expect_free(x);
	}
	print_message("# %u fabrics: %u with miswirings apart\n", verdict.cases, verdict.apart);
	assert_int_equal(verdict.apart, 1000); /* each judged by its causes */
	free(o.all);
}

/* --- 11,664 hosts --------------------------------------------------------------------------- */

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct expect *large_picture(const struct topogen *o)
{
	struct topo *t = topogen_fat_tree3(36, o);
	struct topofile *f = topofile_from_topo(t);
	struct expect *x = expect_from_topofile(f);

	topofile_free(f);
	topo_unref(t);
	return x;
}

static void print_time(const struct expect *x, const struct expect *y, uint32_t findings,
		       const char *what)
{
	double start = cpu_ms();
	struct expect_report *r = expect_compare(x, y);

	print_message("# %u and %u cables, %s: %u findings, %.1f ms of CPU\n",
		      expect_count_cables(x), expect_count_cables(y), what, r->n_findings,
		      cpu_ms() - start);
	assert_int_equal(r->n_findings, findings);
	expect_report_free(r);
}

/* Also where nearly nothing is as it was meant, the comparison ends. */
static void a_large_fabric_is_compared(void **state)
{
	struct expect *x = large_picture(NULL);
	struct expect *one = large_picture(&(struct topogen){ .without_link = 7 });
	struct expect *other = large_picture(&(struct topogen){ .random_guids = true, .seed = 3 });
	struct expect *damaged = large_picture(&(struct topogen){ .damage = 0.1, .seed = 5 });
	double start = cpu_ms();
	struct expect_report *r = expect_compare(x, other);

	print_message("# another fabric: %u findings, %.1f ms of CPU\n", r->n_findings,
		      cpu_ms() - start);
	assert_true(r->n_findings > 0);
	expect_report_free(r);
	print_time(x, x, 0, "equal");
	print_time(x, one, 1, "one missing");
	print_time(x, damaged, expect_count_cables(x) - expect_count_cables(damaged),
		   "a tenth missing");
	expect_free(x);
	expect_free(one);
	expect_free(other);
	expect_free(damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_single_miswiring_is_one_line),
		cmocka_unit_test(every_pair_of_miswirings_is_explained),
		cmocka_unit_test(random_miswirings_are_named),
		cmocka_unit_test(a_large_fabric_is_compared),
	};

	return cmocka_run_group_tests_name("expect-random", tests, NULL, NULL);
}
