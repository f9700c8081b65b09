// SPDX-License-Identifier: BSD-2-Clause
/* Sets of dependencies against a plain search for cycles; lanes against the second opinion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "route/vl/cdg_order.h"
#include "route/vl/vl_layers.h"
#include "tests/lib/topogen.h"
#include "util/mem.h"

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* What was taken, by a plain list of it. */
struct model {
	const struct cdg_channels *c;
	bool *has; /* per turn */
	struct taken {
		uint32_t turn, mark; /* `mark`: of the order, before it was added */
	} all[1500];
	uint32_t n;
};

/* Does `out` lead to `in` already? */
static bool leads_to(const struct model *m, uint32_t out, uint32_t in)
{
	const struct cdg_channels *c = m->c;
	_cleanup_free_ bool *seen = xcalloc(c->n, sizeof(*seen));
	_cleanup_free_ uint32_t *queue = xcalloc(c->n, sizeof(*queue));
	uint32_t n = 1;

	queue[0] = out;
	seen[out] = true;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = c->first[c->to[queue[i]]]; k < c->first[c->to[queue[i]] + 1]; k++)
			if (m->has[cdg_turn_number(c, queue[i], k)] && !seen[k]) {
				seen[k] = true;
				queue[n++] = k;
			}
	return seen[in];
}

static void add(struct model *m, struct cdg_order *o, uint32_t in, uint32_t out)
{
	uint32_t turn = cdg_turn_number(m->c, in, out), mark = cdg_order_mark(o);

	assert_int_equal(cdg_order_look(o, in, out) == CDG_TAKEN, m->has[turn]);
	if (m->has[turn] || !leads_to(m, out, in)) {
		assert_true(cdg_order_add(o, in, out));
		if (!m->has[turn])
			m->all[m->n++] = (struct taken){ .turn = turn, .mark = mark };
		m->has[turn] = true;
	} else {
		assert_false(cdg_order_add(o, in, out));
		assert_int_equal(cdg_order_look(o, in, out), CDG_REFUSED);
	}
}

static void undo(struct model *m, struct cdg_order *o, uint32_t mark)
{
	cdg_order_undo(o, mark);
	while (m->n && m->all[m->n - 1].mark >= mark)
		m->has[m->all[--m->n].turn] = false;
}

/* All turns of a channel go, and what is left is permanent. */
static void cut(struct model *m, struct cdg_order *o, uint32_t channel)
{
	const struct cdg_channels *c = m->c;

	cdg_order_forget(o);
	cdg_order_cut(o, &channel, 1);
	for (uint32_t in = 0; in < c->n; in++)
		for (uint32_t out = c->first[c->to[in]]; out < c->first[c->to[in] + 1]; out++) {
			uint32_t turn = cdg_turn_number(c, in, out);

			if (in == channel || out == channel)
				m->has[turn] = false;
			assert_int_equal(cdg_order_look(o, in, out) == CDG_TAKEN, m->has[turn]);
			if (out != c->back[in])
				assert_int_not_equal(cdg_order_look(o, in, out), CDG_REFUSED);
		}
	m->n = 0;
}

static void refuses_exactly_what_closes_a_cycle(void **state)
{
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct topogen o = { .seed = seed };
		struct topo *t = topogen_random(8 + (unsigned)seed, 4, 0, &o);
		struct cdg_channels *c = cdg_channels_new(t);
		struct cdg_order *order = cdg_order_new(c);
		struct model m = { .c = c, .has = xcalloc(c->deps[c->n], sizeof(*m.has)) };
		uint64_t random = seed;

		print_message("# seed %u\n", (unsigned)seed);
		for (unsigned i = 0; i < 1500; i++) {
			uint32_t in = (uint32_t)(next_random(&random) % c->n), sw = c->to[in];
			uint32_t out = c->first[sw] + (uint32_t)(next_random(&random) %
								 (c->first[sw + 1] - c->first[sw]));

			if (out != c->back[in])
				add(&m, order, in, out);
			if (next_random(&random) % 40 == 0)
				undo(&m, order, cdg_order_mark(order) - cdg_order_mark(order) / 4);
			if (next_random(&random) % 200 == 0)
				cut(&m, order, (uint32_t)(next_random(&random) % c->n));
		}
		free(m.has);
		cdg_order_free(order);
		cdg_channels_free(c);
		topo_unref(t);
	}
}

/* Set unasked, turns settle exactly if they have no cycle. */
static void many_at_once_settle_if_they_close_no_cycle(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 5, 1, 1 }, 1, NULL);
	struct cdg_channels *c = cdg_channels_new(t);

	for (unsigned whole = 0; whole < 2; whole++) {
		struct cdg_order *o = cdg_order_new(c);
		uint32_t in = 0;

		for (unsigned i = 0; i < 4 + whole; i++) {
			uint32_t out = c->first[c->to[in]];

			out += out == c->back[in];
			cdg_order_set(o, in, out);
			in = out;
		}
		assert_int_equal(in == 0, whole);
		assert_int_equal(cdg_order_settle(o), !whole);
		cdg_order_free(o);
	}
	cdg_channels_free(c);
	topo_unref(t);
}

/* A ring of `n` switches, each to each, clockwise where it is as short. */
struct ring {
	struct topo *t;
	uint32_t n;
	uint32_t *at;
	uint8_t *ports;
	bool *sources;
};

static uint8_t port_to(const struct topo *t, uint32_t from, uint32_t to)
{
	for (unsigned p = 1; p <= t->switches[from].n_ports; p++)
		if (topo_port(t, from, p)->sw == to)
			return (uint8_t)p;
	return 0;
}

static struct ring ring_new(uint32_t n)
{
	struct ring r = { .t = topogen_torus((unsigned[]){ n, 1, 1 }, 1, NULL), .n = n };

	r.at = xcalloc(n, sizeof(*r.at));
	r.ports = xcalloc(n, n);
	r.sources = xcalloc(n, sizeof(*r.sources));
	for (uint32_t s = 0; s < n; s++) {
		r.at[s] = s;
		r.sources[s] = true;
		for (uint32_t d = 0; d < n; d++)
			if (d != s)
				r.ports[s * n + d] = port_to(
					r.t, s,
					(d + n - s) % n <= n / 2 ? (s + 1) % n : (s + n - 1) % n);
	}
	return r;
}

static void ring_free(struct ring *r)
{
	topo_unref(r->t);
	free(r->at);
	free(r->ports);
	free(r->sources);
}

static struct vl_layers *ring_layers(const struct ring *r, struct vl_layers_job job)
{
	job.topo = r->t;
	job.n_columns = job.row_size = r->n;
	job.at = job.keys = r->at;
	job.ports = r->ports;
	job.sources = r->sources;
	job.most = job.most ? job.most : 8;
	return vl_layers_new(&job);
}

static void a_ring_needs_two(void **state)
{
	for (uint32_t n = 5; n < 12; n++) {
		struct ring r = ring_new(n);
		struct vl_layers *l = ring_layers(&r, (struct vl_layers_job){ 0 });

		assert_int_equal(l->needed, 2);
		assert_int_equal(l->n, 8);
		for (uint32_t i = 0; i < n * n; i++)
			if (i / n != i % n)
				assert_in_range(l->lanes[i], 0, 7);
			else
				assert_int_equal(l->lanes[i], VL_LAYERS_NONE);
		vl_layers_free(l);
		ring_free(&r);
	}
}

static void there_and_back_share_a_lane(void **state)
{
	struct ring r = ring_new(7);
	struct vl_layers *l = ring_layers(&r, (struct vl_layers_job){ .both_ways = true });

	assert_in_range(l->needed, 2, 8);
	for (uint32_t a = 0; a < 7; a++)
		for (uint32_t b = 0; b < a; b++)
			assert_int_equal(l->lanes[a * 7 + b], l->lanes[b * 7 + a]);
	vl_layers_free(l);
	ring_free(&r);
}

static void what_is_kept_stays(void **state)
{
	struct ring r = ring_new(9);
	struct vl_layers *l = ring_layers(&r, (struct vl_layers_job){ .most = 3 }), *again;
	uint16_t hints[81];

	for (unsigned i = 0; i < 81; i++)
		hints[i] = l->lanes[i] == VL_LAYERS_NONE ? 0 : (uint16_t)(1u << l->lanes[i]);
	hints[5] = 0; /* one is new */
	again = ring_layers(&r, (struct vl_layers_job){ .most = 3, .hints = hints, .keep = true });
	for (unsigned i = 0; i < 81; i++)
		if (i != 5)
			assert_int_equal(again->lanes[i], l->lanes[i]);
	assert_in_range(again->lanes[5], 0, 2);
	vl_layers_free(l);
	vl_layers_free(again);
	ring_free(&r);
}

static void says_when_the_limit_does_not_do(void **state)
{
	struct ring r = ring_new(6);
	struct vl_layers *l = ring_layers(&r, (struct vl_layers_job){ .limit = 1 });

	assert_int_equal(l->needed, 2);
	vl_layers_free(l);
	ring_free(&r);
}

/* Ways that go round, lead nowhere or out of the fabric are no paths. */
static void nonsense_is_no_path(void **state)
{
	struct ring r = ring_new(5);
	struct vl_layers *l;

	memset(r.ports, 0, 25);
	r.ports[1 * 5 + 0] = port_to(r.t, 1, 2);
	r.ports[2 * 5 + 0] = port_to(r.t, 2, 1);
	r.ports[3 * 5 + 0] = 200;
	r.ports[4 * 5 + 0] = port_to(r.t, 4, 0);
	l = ring_layers(&r, (struct vl_layers_job){ 0 });
	for (unsigned i = 0; i < 25; i++)
		assert_int_equal(l->lanes[i], i == 20 ? 0 : VL_LAYERS_NONE);
	assert_int_equal(l->needed, 1);
	vl_layers_free(l);
	ring_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_exactly_what_closes_a_cycle),
		cmocka_unit_test(many_at_once_settle_if_they_close_no_cycle),
		cmocka_unit_test(a_ring_needs_two),
		cmocka_unit_test(there_and_back_share_a_lane),
		cmocka_unit_test(what_is_kept_stays),
		cmocka_unit_test(says_when_the_limit_does_not_do),
		cmocka_unit_test(nonsense_is_no_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
