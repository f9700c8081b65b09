// SPDX-License-Identifier: BSD-2-Clause
/* wear.c: each oddity is met, what is spared is not worn; and the simulator shows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/attrs.h"
#include "sim/gen/gen.h"
#include "sim/sim.h"
#include "util/mem.h"

#define SEEDS 50
#define EDR 250

static struct netfile *rails(uint64_t seed, const char *const *spare)
{
	struct netfile *net = gen_speed(gen_rails(2, 4, 4, 4, false), EDR, 4);

	gen_wear(net, seed, spare);
	return net;
}

static bool is_switch(const struct netfile_node *n)
{
	return n->type == IB_NODE_SWITCH;
}

struct found {
	unsigned silent_hosts, silent_ports, narrow, slow, loops, same_box, no_driver, aggregation;
	unsigned two_ports, names;
};

static void look(const struct netfile *net, struct found *f)
{
	for (size_t i = 0; i < net->n_nodes; i++) {
		const struct netfile_node *n = &net->nodes[i];

		f->silent_hosts += n->silent;
		f->same_box += is_switch(n) && n->sysimg_guid != n->guid;
		f->aggregation += n->device_id == 0xCF09;
		f->two_ports += !is_switch(n) && n->nports == 2;
		f->names += strstr(n->desc, "ConnectX7") || strstr(n->desc, "localhost");
		for (unsigned p = 1; p <= n->nports; p++) {
			f->silent_ports += n->ports[p].silent;
			f->narrow += n->ports[p].cable_width == 1;
			f->slow += n->ports[p].cable_speed && n->ports[p].cable_speed < EDR;
			f->loops += n->ports[p].peer_node == (int)i;
			f->no_driver += n->ports[p].lid == LID_PERMISSIVE;
		}
	}
}

static void every_oddity_is_met(void **state)
{
	struct found f = { 0 };

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct netfile *net = rails(seed, NULL);

		look(net, &f);
		assert_true(netfile_find(net, "stub") >= 0 && netfile_find(net, "gateway") >= 0);
		assert_true(netfile_find(net, "login") >= 0);
		netfile_free(net);
	}
	assert_int_equal(f.silent_hosts, SEEDS);
	assert_int_equal(f.silent_ports, 2 * SEEDS);
	assert_int_equal(f.loops, 2 * SEEDS);
	assert_true(f.narrow && f.slow);
	assert_int_equal(f.narrow + f.slow, 2 * SEEDS);
	assert_true(f.same_box && f.no_driver && f.aggregation && f.two_ports && f.names);
}

static void the_same_seed_wears_the_same_way(void **state)
{
	struct netfile *a = rails(7, NULL), *b = rails(7, NULL);

	assert_int_equal(a->n_nodes, b->n_nodes);
	for (size_t i = 0; i < a->n_nodes; i++) {
		assert_string_equal(a->nodes[i].desc, b->nodes[i].desc);
		assert_memory_equal(a->nodes[i].ports, b->nodes[i].ports,
				    (a->nodes[i].nports + 1u) * sizeof(*a->nodes[i].ports));
	}
	netfile_free(a);
	netfile_free(b);
}

static void seed_0_is_a_clean_fabric(void **state)
{
	struct netfile *clean = gen_speed(gen_rails(2, 4, 4, 4, false), EDR, 4);
	struct netfile *net = rails(0, NULL);

	assert_int_equal(net->n_nodes, clean->n_nodes);
	for (size_t i = 0; i < net->n_nodes; i++)
		assert_memory_equal(net->nodes[i].ports, clean->nodes[i].ports,
				    (net->nodes[i].nports + 1u) * sizeof(*net->nodes[i].ports));
	netfile_free(clean);
	netfile_free(net);
}

static void assert_is_as_before(const struct netfile *worn, const struct netfile *clean, int node)
{
	const struct netfile_node *a = &worn->nodes[node], *b = &clean->nodes[node];

	assert_false(a->silent);
	assert_string_equal(a->desc, b->desc);
	for (unsigned p = 1; p <= b->nports; p++) {
		/* Hosts that are not spared may be behind a switch that is. */
		if (is_switch(a) && !is_switch(&clean->nodes[b->ports[p].peer_node]))
			continue;
		assert_int_equal(a->ports[p].peer_node, b->ports[p].peer_node);
		assert_false(a->ports[p].silent);
	}
	for (unsigned p = 1; p <= a->nports; p++)
		assert_int_not_equal(a->ports[p].peer_node, node);
}

static void what_is_spared_is_as_before(void **state)
{
	static const char *const spare[] = { "leaf1:1", "spine2", NULL };
	struct netfile *clean = gen_speed(gen_rails(2, 4, 4, 4, false), EDR, 4);

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct netfile *net = rails(seed, spare);

		assert_is_as_before(net, clean, netfile_find(clean, "leaf1"));
		assert_is_as_before(net, clean, netfile_find(clean, "spine2"));
		assert_is_as_before(net, clean,
				    clean->nodes[netfile_find(clean, "leaf1")].ports[1].peer_node);
		netfile_free(net);
	}
	netfile_free(clean);
}

/* Two adapters of one host, each where the other was. */
static void two_adapters_are_exchanged(void **state)
{
	struct netfile *clean = gen_rails(2, 4, 4, 4, false);

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct netfile *net = rails(seed, NULL);
		unsigned moved = 0;

		for (size_t i = 0; i < clean->n_nodes; i++)
			moved += !is_switch(&clean->nodes[i]) &&
				 clean->nodes[i].ports[1].peer_node !=
					 net->nodes[i].ports[1].peer_node;
		assert_true(moved == 2 || moved == 0);
		assert_true(moved == 2 || seed != 1);
		netfile_free(net);
	}
	netfile_free(clean);
}

static char *text_of(const struct netfile *net, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	netfile_write(net, out);
	fclose(out);
	return text;
}

static void a_worn_fabric_reads_back_equal(void **state)
{
	static const char *const kinds[][6] = {
		{ "rails", "2", "4", "4", "4" },
		{ "fat-tree3", "4" },
		{ "torus", "3", "3", "3", "1" },
		{ "dragonfly", "5", "4", "2" },
		{ "ring", "5", "2" },
		{ "pair" },
		{ "single", "4" },
		{ "odd-mixed" },
	};
	char err[512];

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const char *const *words = kinds[seed % ARRAY_SIZE(kinds)];
		unsigned n = 0;
		struct netfile *net, *back;
		_cleanup_free_ char *text = NULL, *again = NULL;
		size_t len;

		while (n < 6 && words[n])
			n++;
		net = gen_words(n, words, err, sizeof(err));
		assert_non_null(net);
		gen_wear(net, seed, NULL);
		text = text_of(net, &len);
		back = netfile_parse(text, len, err, sizeof(err));
		if (!back)
			fail_msg("seed %u: %s", (unsigned)seed, err);
		again = text_of(back, &len);
		assert_string_equal(text, again);
		netfile_free(net);
		netfile_free(back);
	}
}

/* ---- in the simulator ---- */

static void port_info(struct sim *sim, int node, unsigned port, uint8_t ret[SMP_DATA_SIZE])
{
	assert_int_equal(sim_read(sim, node, IB_ATTR_PORT_INFO, PI_MOD_EXTENDED_SPEEDS | port, ret),
			 0);
}

/* Active below supported; what is supported is as on the other ports. */
static void assert_is_slow(struct sim *sim, int node, unsigned p, const struct netfile_port *port)
{
	uint8_t info[SMP_DATA_SIZE];
	unsigned speed;

	port_info(sim, node, p, info);
	speed = ib_link_speed(info, IB_SPEED_EXTENDED, false);
	assert_int_equal(ib_get(info, PI_WIDTH_SUPPORTED), 3);
	assert_int_equal(ib_get(info, PI_SPEED_EXT_SUPPORTED), 3);
	assert_int_equal(ib_link_width(info), port->cable_width ? port->cable_width : 4);
	if (!port->cable_speed)
		assert_int_equal(speed, EDR);
	else if (port->cable_speed != IB_SPEED_FDR10) /* which ExtendedPortInfo says */
		assert_int_equal(speed, port->cable_speed);
}

static void a_slow_cable_is_one_in_the_simulator(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct netfile *net = rails(seed, NULL);
		struct sim *sim = sim_new(net, 1);

		for (size_t i = 0; i < net->n_nodes; i++)
			for (unsigned p = 1; p <= net->nodes[i].nports; p++) {
				const struct netfile_port *port = &net->nodes[i].ports[p];

				if (port->cable_width || port->cable_speed)
					assert_is_slow(sim, (int)i, p, port);
			}
		sim_free(sim);
		netfile_free(net);
	}
}

static void another_cable_is_as_fast_as_its_ends(void **state)
{
	struct netfile *net = gen_speed(gen_tree(2, 1, 2, 1), EDR, 4);
	struct sim *sim = sim_new(net, 1);
	int leaf = sim_find(sim, "leaf1"), peer;
	unsigned peer_port;
	uint8_t info[SMP_DATA_SIZE];

	assert_true(sim_peer(sim, leaf, 2, &peer, &peer_port));
	assert_int_equal(sim_set_cable_rate(sim, leaf, 2, 1, 50), 0);
	port_info(sim, leaf, 2, info);
	assert_int_equal(ib_link_width(info), 4); /* until it trains anew */
	sim_link_flap(sim, leaf, 2, 1);
	sim_advance(sim, MONO_S);
	port_info(sim, peer, peer_port, info);
	assert_int_equal(ib_link_width(info), 1);
	assert_int_equal(ib_link_speed(info, IB_SPEED_EXTENDED, false), 50);
	sim_unplug(sim, leaf, 2);
	sim_plug(sim, leaf, 2, peer, peer_port);
	sim_advance(sim, 2 * MONO_S);
	port_info(sim, leaf, 2, info);
	assert_int_equal(ib_link_width(info), 4);
	assert_int_equal(ib_link_speed(info, IB_SPEED_EXTENDED, false), EDR);
	sim_free(sim);
	netfile_free(net);
}

static void silent_hosts_and_ports_hear_nothing(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct netfile *net = rails(seed, NULL);
		struct sim *sim = sim_new(net, 1);

		for (size_t i = 0; i < net->n_nodes; i++)
			for (unsigned p = 1; p <= net->nodes[i].nports; p++)
				assert_int_equal(sim_port_hears(sim, (int)i, p),
						 !net->nodes[i].silent &&
							 !net->nodes[i].ports[p].silent);
		sim_free(sim);
		netfile_free(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_oddity_is_met),
		cmocka_unit_test(the_same_seed_wears_the_same_way),
		cmocka_unit_test(seed_0_is_a_clean_fabric),
		cmocka_unit_test(what_is_spared_is_as_before),
		cmocka_unit_test(two_adapters_are_exchanged),
		cmocka_unit_test(a_worn_fabric_reads_back_equal),
		cmocka_unit_test(a_slow_cable_is_one_in_the_simulator),
		cmocka_unit_test(another_cable_is_as_fast_as_its_ends),
		cmocka_unit_test(silent_hosts_and_ports_hear_nothing),
	};

	return cmocka_run_group_tests_name("wear", tests, NULL, NULL);
}
