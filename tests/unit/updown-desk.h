// SPDX-License-Identifier: BSD-2-Clause
/* What tables of updn, dnup and ftree must be, whatever the fabric; followed step by step. */
#pragma once

#include "route/select/engines.h"
#include "tests/unit/route-desk.h"

static inline struct routes *updown_with(const char *engine, const struct topo *t,
					 const struct routes *previous,
					 const struct route_options *options, unsigned threads)
{
	struct route_job job = { .topo = t, .previous = previous, .threads = threads };
	char why[200] = "";
	struct routes *r;

	if (options)
		job.options = *options;
	r = route_engine_find(engine)->compute(&job, why, sizeof(why));
	if (!r)
		assert_true(why[0]);
	return r;
}

/* From `sw` to `lid`: arrives, and never turns up after it went down. */
static inline void assert_way(const struct routes *r, uint32_t sw, lid_t lid, uint32_t at)
{
	bool down = false;

	for (uint32_t hops = 0; sw != at; hops++) {
		uint8_t port = routes_port(r, sw, lid);
		uint32_t next;

		assert_true(hops <= r->topo->n_switches);
		assert_in_range(port, 1, r->topo->switches[sw].n_ports);
		next = topo_port(r->topo, sw, port)->sw;
		assert_true(next != TOPO_NONE);
		assert_false(down && r->places[next] < r->places[sw]);
		down |= r->places[next] > r->places[sw];
		sw = next;
	}
}

static inline bool fits(const struct topo *t, lid_t lid)
{
	for (uint32_t s = 0; s < t->n_switches; s++)
		if (lid >= t->switches[s].lft_cap)
			return false;
	return true;
}

/* Every LID from every switch that cables connect it with; nothing elsewhere. */
static inline void assert_updown(const struct routes *r)
{
	const struct topo *t = r->topo;
	struct graph *g = graph_new(t, NULL);
	struct distances *d = distances_new(g, 1, NULL);
	struct route_verdict v;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		for (uint32_t h = 0; h < t->n_hosts; h++)
			for (unsigned k = 0; t->hosts[h].lid && k < 1u << t->hosts[h].lmc; k++) {
				lid_t lid = (lid_t)(t->hosts[h].lid + k);

				if (t->hosts[h].sw == TOPO_NONE || !fits(t, lid))
					continue;
				if (distances_from(d, s)[t->hosts[h].sw] == DISTANCE_NONE)
					assert_int_equal(routes_port(r, s, lid), LFT_NO_PORT);
				else
					assert_way(r, s, lid, t->hosts[h].sw);
			}
		for (uint32_t at = 0; at < t->n_switches; at++)
			if (t->switches[at].lid && fits(t, t->switches[at].lid) &&
			    distances_from(d, s)[at] != DISTANCE_NONE)
				assert_way(r, s, t->switches[at].lid, at);
	}
	routes_check(r, 1, &v);
	assert_int_equal(v.looping, 0);
	assert_false(v.credit_loop);
	distances_free(d);
	graph_free(g);
}

/* Cuts, restarts and threads: what holds for any engine of the three that takes the fabric. */
static inline void assert_updown_life(const char *engine, unsigned number,
				      const struct route_options *options)
{
	struct topogen o = any_options(number), worse = o;
	struct topo *t = any_fabric(number, &o), *broken;
	struct routes *r, *same, *later, *back;

	print_message("# seed %u\n", number);
	r = updown_with(engine, t, NULL, options, 1);
	if (r) {
		assert_updown(r);
		same = updown_with(engine, t, NULL, options, 2);
		assert_same_tables(r, same);
		routes_unref(same);
		same = updown_with(engine, t, r, options, 2);
		assert_same_tables(r, same);
		worse.damage += 0.05;
		broken = any_fabric(number, &worse);
		later = updown_with(engine, broken, same, options, 2);
		if (later) {
			assert_updown(later);
			back = updown_with(engine, t, later, options, 1);
			assert_updown(back);
			routes_unref(back);
		}
		routes_unref(later);
		topo_unref(broken);
		routes_unref(same);
	}
	routes_unref(r);
	topo_unref(t);
}

/* No node, one switch, hosts back to back, a loop cable, no LIDs, small tables. */
static inline struct topo *odd_fabric(unsigned number)
{
	struct topo_builder *b = topo_builder_new();
	struct topo_switch sw = { .guid = 10, .n_ports = 4, .lid = 1, .lft_cap = 100 };
	struct topo_host host = { .guid = 100, .node_guid = 100, .lid = 5 };

	if (number) {
		topo_add_switch(b, &sw);
		topo_add_host(b, &host);
	}
	if (number == 1)
		topo_add_link(b, 10, 1, 10, 2);
	if (number >= 2) {
		sw = (struct topo_switch){ .guid = 11, .n_ports = 4, .lid = 2,
					   .lft_cap = number == 2 ? 3 : 100 };
		host = (struct topo_host){ .guid = 101, .node_guid = 101,
					   .lid = number == 3 ? 0 : 6 };
		topo_add_switch(b, &sw);
		topo_add_host(b, &host);
		topo_add_host_link(b, 100, 10, 1);
		topo_add_host_link(b, 101, 11, 1);
		topo_add_link(b, 10, 2, 11, 2);
		topo_add_link(b, 10, 3, 11, 4);
	}
	return topo_build(b);
}

static inline void assert_survives_odd_fabrics(const char *engine)
{
	for (unsigned number = 0; number < 5; number++) {
		struct topo *t = odd_fabric(number);
		struct routes *r = updown_with(engine, t, NULL, NULL, 2);

		if (r)
			assert_updown(r);
		routes_unref(r);
		topo_unref(t);
	}
}
