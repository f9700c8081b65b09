// SPDX-License-Identifier: BSD-2-Clause
/*
 * Miswirings of trees: every single one and every pair of a small tree, and 1,000 random ones of a
 * larger. There are not more lines than miswirings, each has the right cause, and together they
 * are true: carried out on the fabric as it was meant, they give the fabric as it is.
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
		for (unsigned k = i + 1; k < w->n_cables; k++)
			add_op(o, (struct op){ w->cables[i].end[0].node == w->cables[k].end[0].node &&
							       w->nodes[w->cables[i].end[0].node]
									       .type == EXPECT_CA
						       ? EXPECT_WRONG_RAIL
						       : EXPECT_SWAPPED,
					       .a = i, .b = k });
	}
	for (unsigned i = 0; i < w->n_nodes; i++) {
		bool is_switch = w->nodes[i].type == EXPECT_SWITCH;

		add_op(o, (struct op){ is_switch ? EXPECT_REPLACED_SWITCH : EXPECT_REPLACED_HCA,
				       .a = i });
		if (!is_switch)
			continue;
		list_moves(w, o, i, w->nodes[i].n_ports);
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
	return a < b || (a == b && p < q) ? (struct link){ a, b, p, q } : (struct link){ b, a, q, p };
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

			if (f->kind != EXPECT_DEGRADED && c->was.guid &&
			    !remove_link(l, link_of(c->at.guid, c->at.port, c->was.guid, c->was.port)))
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

/* How many findings have the kind of none of the miswirings. */
static unsigned other_kinds(const struct expect_report *r, const struct op *ops, unsigned n)
{
	unsigned wrong = 0;

	for (uint32_t i = 0; i < r->n_findings; i++) {
		bool right = false;

		for (unsigned k = 0; k < n; k++)
			right = right || r->findings[i].kind == ops[k].kind;
		wrong += right ? 0 : 1;
	}
	return wrong;
}

struct verdict {
	unsigned cases, fewer, more, other;
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

static bool has_changed(const struct world *a, const struct world *b, unsigned cable)
{
	const struct world_cable *p = &a->cables[cable], *q = &b->cables[cable];

	return p->gone != q->gone || p->end[0].node != q->end[0].node ||
	       p->end[0].port != q->end[0].port || p->end[1].node != q->end[1].node ||
	       p->end[1].port != q->end[1].port;
}

/* Two of the miswirings touch one cable: the result may be neither of them, nor both. */
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
	unsigned other, most;

	for (unsigned i = 0; i < n; i++)
		if (!apply(&v, &ops[i], i))
			return;
	y = world_picture(&v);
	r = expect_compare(x, y);
	other = other_kinds(r, ops, n);
	most = n + (hides_switch(&v) ? 1 : 0);
	if (r->n_findings > most && overlap(w, ops, n)) {
		most = r->n_findings;
		ret->more++;
	}
	if (r->n_findings > most || !explains(r, x, y, &v) ||
	    (n == 1 && (r->n_findings != 1 || other))) {
		show(r, ops, n);
		fail_msg("%u lines for %u miswirings, or they are not true", r->n_findings, n);
	}
	ret->cases++;
	ret->fewer += r->n_findings < n ? 1 : 0;
	ret->other += other ? 1 : 0;
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
	print_message("# %u pairs, %u with fewer lines, %u with more, %u with another cause\n",
		      verdict.cases, verdict.fewer, verdict.more, verdict.other);
	assert_true(verdict.cases > 5000);
	free(o.all);
	expect_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_single_miswiring_is_one_line),
		cmocka_unit_test(every_pair_of_miswirings_is_explained),
	};

	return cmocka_run_group_tests_name("expect-random", tests, NULL, NULL);
}
