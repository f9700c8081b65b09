// SPDX-License-Identifier: BSD-2-Clause
/* P_Key tables of simulated devices (14.2.5.7): blocks, ports of switches, lengths that are odd. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/sim-probe.h"

#define PER_BLOCK 32u
#define OK	  0
#define BAD_VALUE 0x1c /* status 7: a value of the modifier is invalid */

struct fixture {
	struct netfile *net;
	struct sim *sim;
	struct probe p;
	int leaf, host;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->net = gen_tree(2, 2, 1, 1);
	f->sim = sim_new(f->net, 1);
	f->p = probe_open(f->sim, "h0", 1);
	f->leaf = sim_find(f->sim, "leaf2");
	f->host = sim_find(f->sim, "h3");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	probe_close(&f->p);
	sim_free(f->sim);
	netfile_free(f->net);
	free(f);
	return 0;
}

static uint32_t modifier(unsigned port, unsigned block)
{
	return port << 16 | block;
}

static int get(struct fixture *f, int node, unsigned port, unsigned block)
{
	return probe_get(&f->p, node, IB_ATTR_PKEY_TABLE, modifier(port, block));
}

/* Entry i of a block is `first` + i. */
static int set(struct fixture *f, int node, unsigned port, unsigned block, uint16_t first)
{
	for (unsigned i = 0; i < PER_BLOCK; i++)
		ib_bits_put(f->p.answer, i * 16, 16, first + i);
	return probe_set(&f->p, node, IB_ATTR_PKEY_TABLE, modifier(port, block));
}

/* `n` entries from `first` on, then `rest` empty ones. */
static void assert_block(struct fixture *f, int node, unsigned port, unsigned block, uint16_t first,
			 unsigned n)
{
	assert_int_equal(get(f, node, port, block), OK);
	for (unsigned i = 0; i < PER_BLOCK; i++)
		assert_int_equal(ib_bits_get(f->p.answer, i * 16, 16), i < n ? first + i : 0);
}

static void every_block_is_kept_for_itself(void **state)
{
	struct fixture *f = *state;

	sim_set_pkey_cap(f->sim, -1, 128);
	for (unsigned b = 4; b-- > 0;)
		assert_int_equal(set(f, f->host, 0, b, (uint16_t)(0x8100 + 0x100 * b)), OK);
	for (unsigned b = 0; b < 4; b++) {
		assert_block(f, f->host, 0, b, (uint16_t)(0x8100 + 0x100 * b), PER_BLOCK);
		assert_int_equal(sim_port_pkey(f->sim, f->host, 1, b * PER_BLOCK + 31),
				 0x8100 + 0x100 * b + 31);
	}
	assert_int_equal(get(f, f->host, 0, 4), BAD_VALUE);
	assert_int_equal(set(f, f->host, 0, 4, 0x8001), BAD_VALUE);
	assert_int_equal(get(f, f->host, 0, 0xFFFF), BAD_VALUE);
}

/* Only block 0 begins with the default key; an adapter takes no notice of a port. */
static void tables_begin_with_the_default_key(void **state)
{
	struct fixture *f = *state;

	assert_block(f, f->host, 0, 0, 0xFFFF, 1);
	assert_block(f, f->host, 0, 1, 0, 0);
	assert_block(f, f->leaf, 1, 0, 0xFFFF, 1);
	assert_int_equal(set(f, f->host, 0, 1, 0x8001), OK);
	assert_block(f, f->host, 0, 0, 0xFFFF, 1);
	assert_block(f, f->host, 7, 1, 0x8001, PER_BLOCK);
}

static void ports_of_a_switch_have_tables_of_their_own(void **state)
{
	struct fixture *f = *state;
	unsigned ports = sim_node_ports(f->sim, f->leaf);

	sim_set_enforcement_cap(f->sim, -1, 64);
	for (unsigned p = 1; p <= ports; p++)
		for (unsigned b = 0; b < 2; b++)
			assert_int_equal(
				set(f, f->leaf, p, b, (uint16_t)(0x8000 + 0x100 * p + 0x40 * b)),
				OK);
	for (unsigned p = 1; p <= ports; p++)
		for (unsigned b = 0; b < 2; b++)
			assert_block(f, f->leaf, p, b, (uint16_t)(0x8000 + 0x100 * p + 0x40 * b),
				     PER_BLOCK);
	assert_block(f, f->leaf, 0, 0, 0xFFFF, 1);
	assert_int_equal(get(f, f->leaf, ports + 1, 0), BAD_VALUE);
	assert_int_equal(get(f, f->leaf, 1, 2), BAD_VALUE);
}

/* What is behind the end of the table is neither stored nor shown. */
static void lengths_at_the_edge_of_a_block(void **state)
{
	static const unsigned caps[] = { 0, 1, 31, 32, 33, 63, 64, 65, 128 };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		sim_set_enforcement_cap(f->sim, f->leaf, caps[i]);
		for (unsigned b = 0; b < 5; b++) {
			unsigned from = b * PER_BLOCK;
			unsigned n = caps[i] > from ? MIN(caps[i] - from, PER_BLOCK) : 0;

			assert_int_equal(set(f, f->leaf, 2, b, 0x8001), n ? OK : BAD_VALUE);
			if (n)
				assert_block(f, f->leaf, 2, b, 0x8001, n);
			else
				assert_int_equal(get(f, f->leaf, 2, b), BAD_VALUE);
		}
		/* Port 0 goes by PartitionCap. */
		assert_block(f, f->leaf, 0, 0, 0xFFFF, 1);
		assert_true(sim_fingerprint(f->sim) != 0);
	}
}

static void lengths_of_an_adapter_at_the_edge_of_a_block(void **state)
{
	static const unsigned caps[] = { 1, 31, 32, 33, 64 };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		unsigned last = (caps[i] - 1) / PER_BLOCK;

		sim_set_pkey_cap(f->sim, f->host, caps[i]);
		for (unsigned b = 0; b <= last; b++)
			assert_int_equal(set(f, f->host, 0, b, 0x8001), OK);
		assert_block(f, f->host, 0, last, 0x8001, caps[i] - last * PER_BLOCK);
		assert_int_equal(get(f, f->host, 0, last + 1), BAD_VALUE);
		assert_int_equal(sim_port_pkey(f->sim, f->host, 1, caps[i] - 1),
				 0x8001 + (caps[i] - 1) % PER_BLOCK);
		assert_int_equal(sim_port_pkey(f->sim, f->host, 1, caps[i]), 0);
	}
}

/* A key in any block is part of what a fabric holds, and a power cycle takes it. */
static void all_blocks_count_for_the_fingerprint(void **state)
{
	struct fixture *f = *state;
	uint64_t before, with_key;

	assert_int_equal(get(f, f->host, 0, 1), OK);
	assert_int_equal(probe_set(&f->p, f->host, IB_ATTR_PKEY_TABLE, 1), OK);
	before = sim_fingerprint(f->sim);
	ib_bits_put(f->p.answer, 31 * 16, 16, 0x8005);
	assert_int_equal(probe_set(&f->p, f->host, IB_ATTR_PKEY_TABLE, 1), OK);
	with_key = sim_fingerprint(f->sim);
	assert_true(with_key != before);
	assert_int_equal(sim_port_pkey(f->sim, f->host, 1, 63), 0x8005);
	sim_power(f->sim, f->host, false);
	sim_power(f->sim, f->host, true);
	assert_int_equal(sim_port_pkey(f->sim, f->host, 1, 63), 0);
	assert_int_equal(sim_port_pkey(f->sim, f->host, 1, 0), 0xFFFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_block_is_kept_for_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(tables_begin_with_the_default_key, setup, teardown),
		cmocka_unit_test_setup_teardown(ports_of_a_switch_have_tables_of_their_own, setup,
						teardown),
		cmocka_unit_test_setup_teardown(lengths_at_the_edge_of_a_block, setup, teardown),
		cmocka_unit_test_setup_teardown(lengths_of_an_adapter_at_the_edge_of_a_block, setup,
						teardown),
		cmocka_unit_test_setup_teardown(all_blocks_count_for_the_fingerprint, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
