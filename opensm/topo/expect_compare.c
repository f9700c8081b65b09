// SPDX-License-Identifier: BSD-2-Clause
/* The comparison: nodes are matched, cables laid over each other, and what differs is explained. */
#include <assert.h>
#include <string.h>

#include "ib/attrs.h"
#include "topo/expect_internal.h"
#include "util/bisect.h"

static uint32_t *nowhere(uint32_t n)
{
	uint32_t *all = xmalloc((n + 1u) * sizeof(*all));

	memset(all, 0xFF, (n + 1u) * sizeof(*all));
	return all;
}

static void place_points(struct expect_job *j)
{
	const struct expect *y = j->have;

	for (uint32_t i = 0; i < y->n_ports; i++) {
		uint32_t node = j->want_of[y->ports[i].node];
		uint32_t at = node == TOPO_NONE
				      ? TOPO_NONE
				      : expect_find_port(j->want, node, y->ports[i].number);

		j->point_of[i] = at == TOPO_NONE ? j->want->n_ports + i : at;
	}
}

/* Does the file leave open whether this cable is there? */
static bool is_either(const struct expect_job *j, uint32_t a, uint32_t b)
{
	return expect_is_wanted(j, a) && j->want->ports[a].peer == b &&
	       j->want->ports[a].use == EXPECT_EITHER;
}

static void lay_cables(struct expect_job *j)
{
	const struct expect *x = j->want, *y = j->have;

	for (uint32_t i = 0; i < x->n_ports; i++)
		if (x->ports[i].use == EXPECT_UP)
			j->was[i] = x->ports[i].peer;
	for (uint32_t i = 0; i < y->n_ports; i++) {
		const struct expect_port *p = &y->ports[i];
		uint32_t a = j->point_of[i], b = j->point_of[p->peer];

		if (p->use == EXPECT_OFF || is_either(j, a, b))
			continue;
		if (j->want_of[p->node] == TOPO_NONE ||
		    j->want_of[y->ports[p->peer].node] == TOPO_NONE)
			j->unknown[a] = b;
		else
			j->is[a] = b;
	}
}

/* --- Rates ---------------------------------------------------------------------------------- */

struct expect_rate expect_rate_of(const uint8_t *port_info, enum ib_speed_set most)
{
	return (struct expect_rate){
		.width = (uint8_t)ib_link_width(port_info),
		.speed = (uint16_t)ib_link_speed(port_info, most, false),
	};
}

struct expect_rate expect_best_of(const uint8_t *port_info, enum ib_speed_set most)
{
	const struct ib_width *w = ib_widest((unsigned)ib_get(port_info, PI_WIDTH_SUPPORTED));
	struct expect_rate ret = { .width = w ? (uint8_t)w->lanes : 0 };

	for (enum ib_speed_set set = IB_SPEED_PLAIN; set <= most; set++)
		for (size_t i = 0; i < IB_SPEEDS; i++)
			if (ib_speeds[i].bit[set] &
			    ib_speed_bits(port_info, set, IB_SPEED_SUPPORTED))
				ret.speed = MAX(ret.speed, ib_speeds[i].tenths);
	return ret;
}

static uint32_t bandwidth(struct expect_rate r)
{
	return r.width && r.speed ? (uint32_t)r.width * r.speed : 0;
}

static bool is_slower(struct expect_rate a, struct expect_rate b)
{
	if (bandwidth(a) && bandwidth(b))
		return bandwidth(a) < bandwidth(b);
	return (a.width && b.width && a.width < b.width) ||
	       (a.speed && b.speed && a.speed < b.speed);
}

static struct expect_rate slower_of(struct expect_rate a, struct expect_rate b)
{
	return is_slower(b, a) || !(a.width || a.speed) ? b : a;
}

static struct expect_rate best_of_both(struct expect_rate a, struct expect_rate b)
{
	return (struct expect_rate){ .width = MIN(a.width, b.width),
				     .speed = MIN(a.speed, b.speed) };
}

/* The cable of row `i` of `want`, which is there: at row `k` of `have`. */
static void check_rate(struct expect_job *j, uint32_t i, uint32_t k)
{
	const struct expect_port *p = &j->want->ports[i], *q = &j->have->ports[k];
	const struct expect_port *p2 = &j->want->ports[p->peer], *q2 = &j->have->ports[q->peer];
	struct expect_rate want = slower_of(p->rate, p2->rate), have = slower_of(q->rate, q2->rate),
			   can = best_of_both(q->best, q2->best);
	bool by_ends = !is_slower(have, want) && is_slower(have, can);
	struct expect_finding *f;

	if (!by_ends && !is_slower(have, want))
		return;
	f = expect_add_finding(j, EXPECT_DEGRADED);
	f->want = by_ends ? can : want;
	f->have = have;
	f->by_ends = by_ends;
	i = expect_first_end(j, i, p->peer);
	expect_add_change(j, i, j->want->ports[i].peer, TOPO_NONE);
}

/* Cables that are as they were meant leave the two layers. */
static void take_equal_cables(struct expect_job *j)
{
	for (uint32_t k = 0; k < j->have->n_ports; k++) {
		uint32_t a = j->point_of[k], b = j->point_of[j->have->ports[k].peer];

		if (j->was[a] != b || j->is[a] != b || a > b)
			continue;
		check_rate(j, a, k);
		j->was[a] = j->was[b] = j->is[a] = j->is[b] = TOPO_NONE;
	}
}

/* --- All of it ------------------------------------------------------------------------------ */

static int by_kind(const void *va, const void *vb)
{
	const struct expect_finding *a = va, *b = vb;

	return COMPARE(a->kind, b->kind) ?: COMPARE(a->first_change, b->first_change) ?:
	       COMPARE(a->node.guid, b->node.guid);
}

static void job_clear(struct expect_job *j)
{
	free(j->have_of);
	free(j->want_of);
	free(j->is_twin);
	free(j->point_of);
	free(j->was);
	free(j->is);
	free(j->unknown);
	free(j->done);
}

struct expect_report *expect_compare(const struct expect *want, const struct expect *have)
{
	uint32_t n = want->n_ports + have->n_ports;
	struct expect_job j = {
		.want = want,
		.have = have,
		.have_of = nowhere(want->n_nodes),
		.want_of = nowhere(have->n_nodes),
		.is_twin = xcalloc(have->n_nodes + 1u, sizeof(*j.is_twin)),
		.n_points = n,
		.point_of = nowhere(have->n_ports),
		.was = nowhere(n),
		.is = nowhere(n),
		.unknown = nowhere(n),
		.done = xcalloc(n + 1u, sizeof(*j.done)),
		.ret = xcalloc(1, sizeof(*j.ret)),
	};

	assert(n < TOPO_NONE / 2);
	expect_match_nodes(&j);
	place_points(&j);
	lay_cables(&j);
	take_equal_cables(&j);
	expect_explain_cables(&j);
	expect_explain_rest(&j);
	if (j.ret->n_findings)
		qsort(j.ret->findings, j.ret->n_findings, sizeof(*j.ret->findings), by_kind);
	job_clear(&j);
	return j.ret;
}
