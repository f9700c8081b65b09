// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cables that are not as they were meant. A port has one cable in each picture, so the cables that
 * were meant and those that are form paths and rings, on which both kinds alternate:
 *
 *   a =was= b                             missing
 *   a --is-- b                            extra
 *   a =was= b --is-- c                    moved: b leads to c instead of a
 *   a =was= b --is-- c =was= d --is-- e   two moved; or shifted, where a, c, e are ports in a row
 *   a =was= b --is-- c =was= d --is-- a   swapped
 *
 * A path with an odd cable has a missing one, or an extra one, at the end where that explains more.
 */
#include <string.h>

#include "topo/expect_internal.h"
#include "util/bisect.h"

#define RUN_GAP 1 /* ports meant to be free between two cables that were shifted together */

struct move {
	uint32_t at, was, is; /* points */
	uint32_t node;	      /* of was; TOPO_NONE: is is elsewhere, or not beside it */
	int step;
	uint8_t from;
};

struct walk {
	struct expect_job *j;
	uint32_t *path; /* points */
	uint32_t n;
	struct move *moves;
	size_t n_moves, cap_moves;
};

/* --- Moves ---------------------------------------------------------------------------------- */

static void add_move(struct walk *w, uint32_t was, uint32_t at, uint32_t is)
{
	const struct expect_job *j = w->j;
	struct move m = { .at = at, .was = was, .is = is, .node = TOPO_NONE,
			  .from = expect_point_number(j, was) };

	m.step = expect_point_number(j, is) - m.from;
	if (expect_point_node(j, was) == expect_point_node(j, is) && (m.step == 1 || m.step == -1))
		m.node = expect_point_node(j, was);
	GROW(w->moves, w->n_moves + 1, w->cap_moves);
	w->moves[w->n_moves++] = m;
}

static int by_run(const void *va, const void *vb)
{
	const struct move *a = va, *b = vb;

	return COMPARE(a->node, b->node) ?: COMPARE(a->step, b->step) ?:
	       COMPARE(a->from, b->from) ?: COMPARE(a->at, b->at);
}

/*
 * May the moves of the cables at these two ports be one move of a run of ports? Not if a cable that
 * is expected at a port between them is in place, or was explained otherwise; `was` has those that
 * are missing and not explained. At most RUN_GAP ports between them may expect no cable.
 */
static bool is_run(const struct expect_job *j, uint32_t node, uint8_t from, uint8_t to)
{
	unsigned gap = 0;

	for (unsigned i = from + 1u; i < to; i++) {
		uint32_t at = expect_find_port(j->want, node, (uint8_t)i);

		if (at == TOPO_NONE || j->want->ports[at].use != EXPECT_UP)
			gap++;
		else if (j->was[at] == TOPO_NONE)
			return false;
	}
	return gap <= RUN_GAP;
}

static bool runs_on(const struct expect_job *j, const struct move *a, const struct move *b)
{
	return a->node != TOPO_NONE && a->node == b->node && a->step == b->step &&
	       is_run(j, a->node, a->from, b->from);
}

static void report_moves(struct walk *w, const struct move *m, size_t n)
{
	struct expect_job *j = w->j;
	struct expect_finding *f = expect_add_finding(j, n > 1 ? EXPECT_SHIFTED : EXPECT_MOVED);

	if (n > 1) {
		f->node = expect_want_end(j, m->node);
		f->from = m->from;
		f->to = m[n - 1].from;
		f->step = m->step;
	}
	for (size_t i = 0; i < n; i++)
		expect_add_change(j, m[i].at, m[i].was, m[i].is);
}

static void report_all_moves(struct walk *w)
{
	if (w->n_moves)
		qsort(w->moves, w->n_moves, sizeof(*w->moves), by_run);
	for (size_t i = 0, n; i < w->n_moves; i += n) {
		n = 1;
		while (i + n < w->n_moves &&
		       runs_on(w->j, &w->moves[i + n - 1], &w->moves[i + n]))
			n++;
		report_moves(w, &w->moves[i], n);
	}
}

/* --- Paths ---------------------------------------------------------------------------------- */

static void reverse(struct walk *w)
{
	for (uint32_t i = 0; i < w->n / 2; i++) {
		uint32_t other = w->path[i];

		w->path[i] = w->path[w->n - 1 - i];
		w->path[w->n - 1 - i] = other;
	}
}

static bool begins_with_was(const struct walk *w)
{
	return w->j->was[w->path[0]] == w->path[1];
}

static bool is_absent(const struct expect_job *j, uint32_t point)
{
	return j->have_of[expect_point_node(j, point)] == TOPO_NONE;
}

/* Moves between nodes, if pairs of cables begin with point `first`. */
static uint32_t far_moves(const struct walk *w, uint32_t first)
{
	uint32_t far = 0;

	for (uint32_t i = first; i + 2 < w->n; i += 2)
		if (expect_point_node(w->j, w->path[i]) != expect_point_node(w->j, w->path[i + 2]))
			far++;
	return far;
}

/* The path so that its odd cable is the last, if it was meant, and the first otherwise. */
static void turn_odd(struct walk *w, bool meant)
{
	uint32_t one, two;

	if (meant && is_absent(w->j, w->path[0]) != is_absent(w->j, w->path[w->n - 1])) {
		if (is_absent(w->j, w->path[0]))
			reverse(w);
		return;
	}
	one = far_moves(w, meant ? 0 : 1);
	reverse(w);
	two = far_moves(w, meant ? 0 : 1);
	if (one <= two)
		reverse(w);
}

static void report_extra(struct walk *w, uint32_t a, uint32_t b)
{
	struct expect_job *j = w->j;
	struct expect_finding *f = expect_add_finding(j, EXPECT_EXTRA);
	uint32_t first = expect_first_end(j, a, b);

	if (expect_is_wanted(j, a) && expect_is_wanted(j, b) && j->want->ports[a].peer == b)
		f->forbidden = j->want->ports[a].use == EXPECT_OFF;
	expect_add_change(j, first, TOPO_NONE, first == a ? b : a);
}

/* A link between switches of one system, at ports that were not expected: see expect_judge(). */
static bool is_inside(const struct expect_job *j, uint32_t a, uint32_t b)
{
	const struct expect_node *one, *two;

	if (expect_is_wanted(j, a) || expect_is_wanted(j, b))
		return false;
	one = &j->have->nodes[expect_found_port(j, a)->node];
	two = &j->have->nodes[expect_found_port(j, b)->node];
	return one != two && one->type == EXPECT_SWITCH && two->type == EXPECT_SWITCH &&
	       expect_point_node(j, a) != TOPO_NONE && expect_point_node(j, b) != TOPO_NONE &&
	       one->sysimg_guid && one->sysimg_guid == two->sysimg_guid;
}

/*
 * Pairs "was, is" along the path become moves. A missing cable stays in was, for
 * expect_explain_rest().
 */
static void explain_path(struct walk *w)
{
	struct expect_job *j = w->j;
	bool meant = begins_with_was(w), odd = w->n % 2 == 0;
	uint32_t first = 0;

	if (w->n == 2 && !meant && is_inside(j, w->path[0], w->path[1]))
		return;
	if (!odd && !meant)
		reverse(w);
	if (odd)
		turn_odd(w, meant);
	if (odd && !meant) {
		report_extra(w, w->path[0], w->path[1]);
		first = 1;
	}
	for (uint32_t i = first; i + 2 < w->n; i += 2) {
		add_move(w, w->path[i], w->path[i + 1], w->path[i + 2]);
		j->was[w->path[i]] = j->was[w->path[i + 1]] = TOPO_NONE;
	}
}

/* The path from its end `start`; all of its points are done. */
static void collect_path(struct walk *w, uint32_t start)
{
	struct expect_job *j = w->j;
	bool by_was = j->was[start] != TOPO_NONE;
	uint32_t at = start;

	w->n = 0;
	while (at != TOPO_NONE && !j->done[at]) {
		j->done[at] = true;
		w->path[w->n++] = at;
		at = by_was ? j->was[at] : j->is[at];
		by_was = !by_was;
	}
}

/* --- Rings ---------------------------------------------------------------------------------- */

/* The length of the first word, if one more follows that ends with a digit ("h07 mlx5_0"). */
static size_t host_word(const char *name)
{
	const char *blank = strchr(name, ' ');
	size_t len = strlen(name);

	if (!blank || strchr(blank + 1, ' ') || name[len - 1] < '0' || name[len - 1] > '9')
		return 0;
	return (size_t)(blank - name);
}

/* Ports of CAs in one host: of one CA, or of CAs with one system GUID or one name. */
static bool same_host(const struct expect_job *j, uint32_t a, uint32_t b)
{
	uint32_t v = expect_point_node(j, a), w = expect_point_node(j, b);
	const struct expect_node *m = &j->want->nodes[v], *n = &j->want->nodes[w];
	const char *one = expect_want_end(j, v).name, *two = expect_want_end(j, w).name;
	size_t len = host_word(one);

	if (expect_point_type(j, a) != EXPECT_CA)
		return false;
	return v == w || (m->sysimg_guid && m->sysimg_guid == n->sysimg_guid) ||
	       (len && host_word(two) == len && !memcmp(one, two, len));
}

/* Every second point from `first` on is a port of one host. */
static bool is_of_one_host(const struct walk *w, uint32_t first)
{
	for (uint32_t i = first + 2; i < w->n; i += 2)
		if (!same_host(w->j, w->path[first], w->path[i]))
			return false;
	return true;
}

/*
 * Every second point from `first` on is a port of one node, and each leads to where the one beside
 * it did, but for the one at the end. Returns the step, 0: no.
 */
static int ring_step(const struct walk *w, uint32_t first)
{
	const struct expect_job *j = w->j;
	uint32_t ups = 0, downs = 0, k = w->n / 2;

	for (uint32_t i = first; i < w->n; i += 2) {
		uint32_t a = w->path[i], b = w->path[(i + 2) % w->n];
		int step = expect_point_number(j, b) - expect_point_number(j, a);

		if (expect_point_node(j, a) != expect_point_node(j, b))
			return 0;
		ups += step == 1 ? 1 : 0;
		downs += step == -1 ? 1 : 0;
	}
	return k < 3 ? 0 : ups == k - 1 ? 1 : downs == k - 1 ? -1 : 0;
}

/* Ring: point i =was= i + 1 --is-- i + 2, i even. */
static void add_ring_change(struct walk *w, uint32_t at)
{
	uint32_t n = w->n, next = w->path[(at + 1) % n], before = w->path[(at + n - 1) % n];

	if (at % 2)
		expect_add_change(w->j, w->path[at], before, next);
	else
		expect_add_change(w->j, w->path[at], next, before);
}

/* Cables of points `first`, `first` + 2 ... moved in a row; their other ends stay. */
static void report_ring_shift(struct walk *w, uint32_t first, int step)
{
	struct expect_job *j = w->j;
	struct expect_finding *f = expect_add_finding(j, EXPECT_SHIFTED);

	f->node = expect_want_end(j, expect_point_node(j, w->path[first]));
	f->from = f->to = expect_point_number(j, w->path[first]);
	for (uint32_t i = first; i < w->n; i += 2) {
		f->from = MIN(f->from, expect_point_number(j, w->path[i]));
		f->to = MAX(f->to, expect_point_number(j, w->path[i]));
	}
	f->step = step;
	for (uint32_t i = first; i < w->n; i += 2)
		add_ring_change(w, (i + 1) % w->n);
}

static void explain_ring(struct walk *w)
{
	/* seen from the points that stay: even ones go from i + 2 to i, odd ones from i to i + 2 */
	int even = ring_step(w, 0), odd = ring_step(w, 1);
	uint32_t first = 0;

	for (uint32_t i = 0; i < w->n; i++)
		w->j->was[w->path[i]] = TOPO_NONE;
	if (is_of_one_host(w, 0) || is_of_one_host(w, 1)) {
		first = is_of_one_host(w, 0) ? 0 : 1;
		expect_add_finding(w->j, EXPECT_WRONG_RAIL)->node =
			expect_want_end(w->j, expect_point_node(w->j, w->path[first]));
	} else if (even || odd) {
		report_ring_shift(w, even ? 0 : 1, even ? even : -odd);
		return;
	} else {
		expect_add_finding(w->j, EXPECT_SWAPPED);
	}
	for (uint32_t i = first; i < w->n; i += 2)
		add_ring_change(w, i);
}

/* --- All of them ---------------------------------------------------------------------------- */

void expect_explain_cables(struct expect_job *j)
{
	_cleanup_free_ uint32_t *path = xcalloc(j->n_points + 1u, sizeof(*path));
	struct walk w = { .j = j, .path = path };

	for (uint32_t i = 0; i < j->n_points; i++) {
		if (j->done[i] || (j->was[i] == TOPO_NONE) == (j->is[i] == TOPO_NONE))
			continue;
		collect_path(&w, i);
		explain_path(&w);
	}
	for (uint32_t i = 0; i < j->n_points; i++) {
		if (j->done[i] || j->was[i] == TOPO_NONE)
			continue;
		collect_path(&w, i);
		explain_ring(&w);
	}
	report_all_moves(&w);
	free(w.moves);
}
