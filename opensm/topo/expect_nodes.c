// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which node of one picture is which of the other: by GUID; then nodes in place of nodes that are
 * gone (replaced), by name or because they hold their cables; then pairs of nodes that hold each
 * other's cables (swapped).
 */
#include <string.h>

#include "topo/expect_internal.h"
#include "util/bisect.h"

#define ROUNDS 8 /* replaced nodes that are only known by replaced nodes */

static void match(struct expect_job *j, uint32_t w, uint32_t h)
{
	j->have_of[w] = h;
	j->want_of[h] = w;
}

static bool fits(enum expect_type a, enum expect_type b)
{
	return a == b || a == EXPECT_ANY_TYPE || b == EXPECT_ANY_TYPE;
}

/* --- By GUID -------------------------------------------------------------------------------- */

/* Nodes of one GUID: [from, to). */
struct group {
	uint32_t from, to;
};

static struct group group_at(const struct expect *x, uint32_t from, guid_t guid)
{
	struct group g = { from, from };

	while (g.to < x->n_nodes && x->nodes[g.to].guid == guid)
		g.to++;
	return g;
}

/* Cables of `h` that `w` is meant to have. */
static uint32_t shared_cables(const struct expect_job *j, uint32_t w, uint32_t h)
{
	const struct expect *x = j->want, *y = j->have;
	const struct expect_node *n = &y->nodes[h];
	uint32_t shared = 0;

	for (uint32_t i = n->first_port; i < n->first_port + n->n_ports; i++) {
		const struct expect_port *q = &y->ports[y->ports[i].peer], *p;
		uint32_t at = expect_find_port(x, w, y->ports[i].number);

		if (at == TOPO_NONE)
			continue;
		p = &x->ports[x->ports[at].peer];
		if (x->nodes[p->node].guid == y->nodes[q->node].guid && p->number == q->number)
			shared++;
	}
	return shared;
}

/* Of found nodes with one GUID the one that is meant: of its type, with its cables. */
static uint32_t best_of(const struct expect_job *j, uint32_t w, struct group h)
{
	uint32_t best = h.from;
	uint64_t most = 0;

	for (uint32_t i = h.from; i < h.to; i++) {
		uint64_t score = 1 + 2ull * shared_cables(j, w, i);

		if (fits(j->want->nodes[w].type, j->have->nodes[i].type))
			score++;
		if (score > most) {
			most = score;
			best = i;
		}
	}
	return best;
}

static void report_twins(struct expect_job *j, struct group h)
{
	const struct expect *y = j->have;
	struct expect_finding *f = expect_add_finding(j, EXPECT_DUPLICATE_GUID);

	f->node = (struct expect_end){ .guid = y->nodes[h.from].guid,
				       .name = y->nodes[h.from].name };
	f->n_nodes = h.to - h.from;
	for (uint32_t i = h.from; i < h.to; i++)
		if (y->nodes[i].n_ports)
			expect_add_place(j, y->nodes[i].first_port);
}

static void match_group(struct expect_job *j, struct group w, struct group h)
{
	uint32_t n = MIN(w.to - w.from, h.to - h.from);

	if (h.to - h.from > 1 && h.to - h.from > w.to - w.from) {
		report_twins(j, h);
		for (uint32_t i = h.from; i < h.to; i++)
			j->is_twin[i] = true;
	}
	if (n == 1)
		match(j, w.from, best_of(j, w.from, h));
	else
		for (uint32_t i = 0; i < n; i++)
			match(j, w.from + i, h.from + i);
}

static void match_guids(struct expect_job *j)
{
	const struct expect *x = j->want, *y = j->have;
	uint32_t w = 0, h = 0;

	while (w < x->n_nodes || h < y->n_nodes) {
		guid_t guid = w == x->n_nodes ? y->nodes[h].guid
			      : h == y->n_nodes
				      ? x->nodes[w].guid
				      : MIN(x->nodes[w].guid, y->nodes[h].guid);
		struct group in_want = group_at(x, w, guid), in_have = group_at(y, h, guid);

		match_group(j, in_want, in_have);
		w = in_want.to;
		h = in_have.to;
	}
}

static void report_types(struct expect_job *j)
{
	for (uint32_t w = 0; w < j->want->n_nodes; w++) {
		uint32_t h = j->have_of[w];
		struct expect_finding *f;

		if (h == TOPO_NONE || fits(j->want->nodes[w].type, j->have->nodes[h].type))
			continue;
		f = expect_add_finding(j, EXPECT_TYPE_CHANGED);
		f->node = expect_want_end(j, w);
		f->want_type = j->want->nodes[w].type;
		f->have_type = j->have->nodes[h].type;
	}
}

/* --- Replaced ------------------------------------------------------------------------------- */

static bool is_free(const struct expect_job *j, uint32_t h)
{
	return j->want_of[h] == TOPO_NONE && !j->is_twin[h];
}

static void replace(struct expect_job *j, uint32_t w, uint32_t h)
{
	enum expect_type type = j->have->nodes[h].type ?: j->want->nodes[w].type;
	struct expect_finding *f =
		expect_add_finding(j, type == EXPECT_SWITCH ? EXPECT_REPLACED_SWITCH
							    : EXPECT_REPLACED_HCA);

	match(j, w, h);
	f->node = expect_want_end(j, w);
	f->other = expect_have_end(j, h);
}

struct named {
	const char *name;
	uint32_t node;
};

static int by_name(const void *va, const void *vb)
{
	const struct named *a = va, *b = vb;

	return strcmp(a->name, b->name) ?: COMPARE(a->node, b->node);
}

/* Nodes with a name that no other node of the picture has, by name. */
static struct named *unique_names(const struct expect *x, uint32_t *ret_n)
{
	struct named *all = xcalloc(x->n_nodes + 1u, sizeof(*all));
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < x->n_nodes; i++)
		if (x->nodes[i].name[0])
			all[n++] = (struct named){ x->nodes[i].name, i };
	qsort(all, n, sizeof(*all), by_name);
	for (uint32_t i = 0; i < n; i++) {
		bool again = i + 1 < n && !strcmp(all[i].name, all[i + 1].name);
		bool before = i && !strcmp(all[i].name, all[i - 1].name);

		all[i].node |= again || before ? 0x80000000 : 0;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!(all[i].node & 0x80000000))
			all[kept++] = all[i];
	*ret_n = kept;
	return all;
}

static void replace_by_name(struct expect_job *j)
{
	uint32_t n, m, k = 0;
	_cleanup_free_ struct named *in_want = unique_names(j->want, &n);
	_cleanup_free_ struct named *in_have = unique_names(j->have, &m);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t w = in_want[i].node, h;

		while (k < m && strcmp(in_have[k].name, in_want[i].name) < 0)
			k++;
		if (k == m || strcmp(in_have[k].name, in_want[i].name))
			continue;
		h = in_have[k].node;
		if (j->have_of[w] == TOPO_NONE && is_free(j, h) &&
		    fits(j->want->nodes[w].type, j->have->nodes[h].type))
			replace(j, w, h);
	}
}

/* The found port that is in the place of row `i` of `want`: at the far end of its cable. */
static const struct expect_port *occupant(const struct expect_job *j, uint32_t i)
{
	const struct expect_port *far = &j->want->ports[j->want->ports[i].peer];
	uint32_t m = j->have_of[far->node], at;

	if (m == TOPO_NONE)
		return NULL;
	at = expect_find_port(j->have, m, far->number);
	return at == TOPO_NONE ? NULL : &j->have->ports[j->have->ports[at].peer];
}

/* The free node in most of the places of `w`; TOPO_NONE: none, or too few of either's cables. */
static uint32_t successor(const struct expect_job *j, uint32_t w)
{
	const struct expect_node *n = &j->want->nodes[w];
	uint32_t h = TOPO_NONE, lead = 0, held = 0, occupied = 0;

	for (uint32_t i = n->first_port; i < n->first_port + n->n_ports; i++) {
		const struct expect_port *p = occupant(j, i);

		if (!p || !is_free(j, p->node) || !fits(n->type, j->have->nodes[p->node].type))
			continue;
		if (!lead)
			h = p->node;
		lead = p->node == h ? lead + 1 : lead - 1;
	}
	for (uint32_t i = n->first_port; i < n->first_port + n->n_ports; i++) {
		const struct expect_port *p = occupant(j, i);

		occupied += p ? 1 : 0;
		held += p && p->node == h ? 1 : 0;
	}
	return held && 2 * held >= occupied && 2 * held >= j->have->nodes[h].n_ports ? h
										      : TOPO_NONE;
}

static bool replace_by_place(struct expect_job *j)
{
	bool progress = false;

	for (uint32_t w = 0; w < j->want->n_nodes; w++) {
		uint32_t h = j->have_of[w] == TOPO_NONE ? successor(j, w) : TOPO_NONE;

		if (h == TOPO_NONE)
			continue;
		replace(j, w, h);
		progress = true;
	}
	return progress;
}

static bool any_free(const uint32_t *same, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (same[i] == TOPO_NONE)
			return true;
	return false;
}

static void find_replaced(struct expect_job *j)
{
	if (!any_free(j->have_of, j->want->n_nodes) || !any_free(j->want_of, j->have->n_nodes))
		return;
	replace_by_name(j);
	for (unsigned i = 0; i < ROUNDS; i++)
		if (!replace_by_place(j))
			return;
}

/* --- Swapped -------------------------------------------------------------------------------- */

/*
 * The one node that has every cable of `w` that is found, at the same ports, and most are; `w`'s
 * own: TOPO_NONE.
 */
static uint32_t holder(const struct expect_job *j, uint32_t w)
{
	const struct expect_node *n = &j->want->nodes[w];
	uint32_t h = TOPO_NONE, held = 0;

	for (uint32_t i = n->first_port; i < n->first_port + n->n_ports; i++) {
		const struct expect_port *p = occupant(j, i);

		if (!p)
			continue;
		if (h == TOPO_NONE)
			h = p->node;
		if (p->node != h || p->number != j->want->ports[i].number || h == j->have_of[w])
			return TOPO_NONE;
		held++;
	}
	return held > 1 && 2 * held > n->n_ports ? h : TOPO_NONE;
}

static void find_swapped(struct expect_job *j)
{
	for (uint32_t w = 0; w < j->want->n_nodes; w++) {
		uint32_t own = j->have_of[w], h, v;
		struct expect_finding *f;

		if (own == TOPO_NONE)
			continue;
		h = holder(j, w);
		v = h == TOPO_NONE ? TOPO_NONE : j->want_of[h];
		if (v == TOPO_NONE || v < w || holder(j, v) != own)
			continue;
		f = expect_add_finding(j, EXPECT_SWAPPED_NODES);
		f->node = expect_want_end(j, w);
		f->other = expect_want_end(j, v);
		match(j, w, h);
		match(j, v, own);
	}
}

void expect_match_nodes(struct expect_job *j)
{
	match_guids(j);
	report_types(j);
	find_replaced(j);
	find_swapped(j);
}
