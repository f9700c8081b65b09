// SPDX-License-Identifier: BSD-2-Clause
/* Sets of dependencies against a plain search for cycles; lanes against the second opinion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "route/acyclic.h"
#include "route/layers.h"
#include "tests/lib/topogen.h"
#include "util/mem.h"

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* Does `then` lead to `channel` already? */
static bool leads_to(const struct acyclic *a, uint32_t then, uint32_t channel)
{
	const struct channels *c = a->channels;
	_cleanup_free_ bool *seen = xcalloc(c->n, sizeof(*seen));
	_cleanup_free_ uint32_t *queue = xcalloc(c->n, sizeof(*queue));
	uint32_t n = 1;

	queue[0] = then;
	seen[then] = true;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = c->first[c->to[queue[i]]]; k < c->first[c->to[queue[i]] + 1]; k++)
			if (a->has[channels_dep(c, queue[i], k)] && !seen[k]) {
				seen[k] = true;
				queue[n++] = k;
			}
	return seen[channel];
}

static void refuses_exactly_what_closes_a_cycle(void **state)
{
	for (uint64_t seed = 1; seed < 12; seed++) {
		struct topogen o = { .seed = seed };
		struct topo *t = topogen_random(8 + (unsigned)seed, 4, 0, &o);
		struct channels *c = channels_new(t);
		struct acyclic *a = acyclic_new(c);
		uint64_t random = seed;

		print_message("# seed %u\n", (unsigned)seed);
		for (unsigned i = 0; i < 1500; i++) {
			uint32_t channel = (uint32_t)(next_random(&random) % c->n), sw = c->to[channel];
			uint32_t then = c->first[sw] + (uint32_t)(next_random(&random) %
								  (c->first[sw + 1] - c->first[sw]));
			bool had = a->has[channels_dep(c, channel, then)];

			if (had && next_random(&random) % 3 == 0) {
				acyclic_remove(a, channel, then);
				continue;
			}
			assert_int_equal(acyclic_add(a, channel, then), had || !leads_to(a, then, channel));
		}
		acyclic_free(a);
		channels_free(c);
		topo_unref(t);
	}
}

/* A ring of `n` switches, everybody to everybody, clockwise where it is as short. */
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
				r.ports[s * n + d] = port_to(r.t, s, (d + n - s) % n <= n / 2 ? (s + 1) % n
											       : (s + n - 1) % n);
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

static struct layers *ring_layers(const struct ring *r, struct layers_job job)
{
	job.topo = r->t;
	job.n_columns = job.row_size = r->n;
	job.at = job.keys = r->at;
	job.ports = r->ports;
	job.sources = r->sources;
	job.most = job.most ? job.most : 8;
	return layers_new(&job);
}

static void a_ring_needs_two(void **state)
{
	for (uint32_t n = 5; n < 12; n++) {
		struct ring r = ring_new(n);
		struct layers *l = ring_layers(&r, (struct layers_job){ 0 });

		assert_int_equal(l->needed, 2);
		assert_int_equal(l->n, 8);
		for (uint32_t i = 0; i < n * n; i++)
			if (i / n != i % n)
				assert_in_range(l->lanes[i], 0, 7);
			else
				assert_int_equal(l->lanes[i], LAYERS_NONE);
		layers_free(l);
		ring_free(&r);
	}
}

static void there_and_back_share_a_lane(void **state)
{
	struct ring r = ring_new(7);
	struct layers *l = ring_layers(&r, (struct layers_job){ .both_ways = true });

	assert_in_range(l->needed, 2, 8);
	for (uint32_t a = 0; a < 7; a++)
		for (uint32_t b = 0; b < a; b++)
			assert_int_equal(l->lanes[a * 7 + b], l->lanes[b * 7 + a]);
	layers_free(l);
	ring_free(&r);
}

static void what_is_kept_stays(void **state)
{
	struct ring r = ring_new(9);
	struct layers *l = ring_layers(&r, (struct layers_job){ .most = 3 }), *again;
	uint16_t hints[81];

	for (unsigned i = 0; i < 81; i++)
		hints[i] = l->lanes[i] == LAYERS_NONE ? 0 : (uint16_t)(1u << l->lanes[i]);
	hints[5] = 0; /* one is new */
	again = ring_layers(&r, (struct layers_job){ .most = 3, .hints = hints, .keep = true });
	for (unsigned i = 0; i < 81; i++)
		if (i != 5)
			assert_int_equal(again->lanes[i], l->lanes[i]);
	assert_in_range(again->lanes[5], 0, 2);
	layers_free(l);
	layers_free(again);
	ring_free(&r);
}

static void says_when_the_limit_does_not_do(void **state)
{
	struct ring r = ring_new(6);
	struct layers *l = ring_layers(&r, (struct layers_job){ .limit = 1 });

	assert_int_equal(l->needed, 2);
	layers_free(l);
	ring_free(&r);
}

/* Ways that go round, lead nowhere or out of the fabric are no paths. */
static void nonsense_is_no_path(void **state)
{
	struct ring r = ring_new(5);
	struct layers *l;

	memset(r.ports, 0, 25);
	r.ports[1 * 5 + 0] = port_to(r.t, 1, 2);
	r.ports[2 * 5 + 0] = port_to(r.t, 2, 1);
	r.ports[3 * 5 + 0] = 200;
	r.ports[4 * 5 + 0] = port_to(r.t, 4, 0);
	l = ring_layers(&r, (struct layers_job){ 0 });
	for (unsigned i = 0; i < 25; i++)
		assert_int_equal(l->lanes[i], i == 20 ? 0 : LAYERS_NONE);
	assert_int_equal(l->needed, 1);
	layers_free(l);
	ring_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_exactly_what_closes_a_cycle),
		cmocka_unit_test(a_ring_needs_two),
		cmocka_unit_test(there_and_back_share_a_lane),
		cmocka_unit_test(what_is_kept_stays),
		cmocka_unit_test(says_when_the_limit_does_not_do),
		cmocka_unit_test(nonsense_is_no_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
