// SPDX-License-Identifier: BSD-2-Clause
/*
 * Crowds: every host joins one group at once, then many groups of a few members; each table is
 * written about once. HOSTS=11664 runs it at that size (three levels of 36-port switches).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/client.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "sa/sa.h"
#include "util/mem.h"

#define GROUP_MEMBERS 8

struct crowd {
	struct rig *rig;
	struct client **host;
	unsigned n;
};

static void start(struct crowd *c)
{
	unsigned hosts = getenv("HOSTS") ? (unsigned)atoi(getenv("HOSTS")) : 648;
	_cleanup_(netfile_freep) struct netfile *net =
		hosts > 648 ? gen_fat_tree3(hosts > 3456 ? 36 : 24) : gen_fat_tree2(36);
	struct conf *conf = conf_new();

	c->rig = rig_new(sim_new(net, 1));
	while (!sim_node_is_switch(c->rig->sim, (int)c->n))
		c->n++;
	c->n--; /* the last host is the manager's */
	c->host = xcalloc(c->n, sizeof(*c->host));
	for (unsigned i = 0; i < c->n; i++)
		c->host[i] = client_new(c->rig->sim, sim_node_id(c->rig->sim, (int)i));
	assert_true(rig_start(c->rig, sim_node_id(c->rig->sim, (int)c->n), 1, conf, NULL) >= 0);
	rig_run(c->rig, sim_now(c->rig->sim) + 30 * MONO_S);
	assert_int_equal(rig_count(c->rig, SM_MASTER), 1);
	conf_unref(conf);
}

static void stop(struct crowd *c)
{
	for (unsigned i = 0; i < c->n; i++)
		client_free(c->host[i]);
	free(c->host);
	rig_free(c->rig);
}

/* Answers that came, and whether all of them were good. */
static unsigned take_answers(struct crowd *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->n; i++) {
		struct transport_event ev;

		while (client_receive(c->host[i], &ev)) {
			assert_int_equal(ev.kind, TRANSPORT_MAD);
			assert_int_equal(ib_get(ev.mad, SAH_STATUS), 0);
			free(ev.whole);
			n++;
		}
	}
	return n;
}

/* Cells of all multicast tables that hold something. */
static unsigned cells_in_use(struct crowd *c, unsigned blocks)
{
	struct sim *sim = c->rig->sim;
	uint8_t cell[SMP_DATA_SIZE], none[SMP_DATA_SIZE] = { 0 };
	unsigned n = 0;

	for (unsigned i = 0; i < sim_n_nodes(sim); i++) {
		unsigned positions = sim_node_ports(sim, (int)i) / 16 + 1;

		for (unsigned b = 0; sim_node_is_switch(sim, (int)i) && b < blocks; b++)
			for (unsigned p = 0; p < positions; p++)
				n += sim_read(sim, (int)i, IB_ATTR_MFT, b | p << 28, cell) == 0 &&
				     memcmp(cell, none, sizeof(cell)) != 0;
	}
	return n;
}

static unsigned mft_sets(const struct crowd *c)
{
	return (unsigned)sim_count(c->rig->sim, IB_ATTR_MFT, MAD_SET);
}

static void everybody_joins_one_group(void **state)
{
	struct crowd *c = *state;
	uint8_t record[MCM_BYTES];
	unsigned before = mft_sets(c), needed, sent;

	for (unsigned i = 0; i < c->n; i++) {
		struct question q = client_join_broadcast(c->host[i], 0xFFFF, record);

		assert_int_equal(client_send(c->host[i], &q), 0);
	}
	rig_run(c->rig, sim_now(c->rig->sim) + 10 * MONO_S);
	assert_int_equal(take_answers(c), c->n);
	assert_int_equal(sa_stats(sm_sa(rig_master(c->rig)))->members, c->n);
	needed = cells_in_use(c, 1);
	sent = mft_sets(c) - before;
	print_message("%u joins: %u cells hold something, %u Sets\n", c->n, needed, sent);
	assert_true(needed > 0);
	assert_true(sent * 2 <= needed * 3);
}

static void one_leave_touches_one_table(void **state)
{
	struct crowd *c = *state;
	uint8_t record[MCM_BYTES];
	struct question q = client_join_broadcast(c->host[3], 0xFFFF, record);
	unsigned before = mft_sets(c);

	q.method = MAD_SA_DELETE;
	q.mask &= ~SA_COMP(MCM_PKEY);
	assert_int_equal(client_send(c->host[3], &q), 0);
	rig_run(c->rig, sim_now(c->rig->sim) + MONO_S);
	assert_int_equal(take_answers(c), 1);
	assert_int_equal(mft_sets(c) - before, 1);
}

/* 2,000 groups at full size, a tenth of the hosts else; MLIDs come back when all have left. */
static void many_small_groups(void **state)
{
	struct crowd *c = *state;
	unsigned groups = MIN(c->n / 6 + 100, 2000u), before = mft_sets(c), needed, sent;
	const struct sa_stats *stats = sa_stats(sm_sa(rig_master(c->rig)));
	unsigned at_first = stats->groups;

	for (unsigned turn = 0; turn < 2; turn++) {
		for (unsigned g = 0; g < groups; g++) {
			uint8_t mgid[16] = { 0xFF, 0x12, 0x40, 0x01, 0xFF, 0xFF };
			uint8_t record[MCM_BYTES];

			mgid[14] = g >> 8;
			mgid[15] = g & 0xFF;
			for (unsigned m = 0; m < GROUP_MEMBERS; m++) {
				struct client *h = c->host[(g * 7919u + m * 104729u) % c->n];
				struct question q = client_join(h, turn ? MAD_SA_DELETE : MAD_SET,
								mgid, MC_FULL, record);

				assert_int_equal(client_send(h, &q), 0);
			}
		}
		rig_run(c->rig, sim_now(c->rig->sim) + 30 * MONO_S);
		assert_int_equal(take_answers(c), groups * GROUP_MEMBERS);
		assert_int_equal(stats->groups, turn ? at_first : at_first + groups);
		if (turn)
			break;
		needed = cells_in_use(c, groups / 32 + 2);
		sent = mft_sets(c) - before;
		print_message("%u groups of %u: %u cells hold something, %u Sets\n", groups,
			      GROUP_MEMBERS, needed, sent);
		assert_true(sent * 2 <= needed * 3);
	}
}

static int group_setup(void **state)
{
	struct crowd *c = xcalloc(1, sizeof(*c));

	start(c);
	*state = c;
	return 0;
}

static int group_teardown(void **state)
{
	stop(*state);
	free(*state);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(everybody_joins_one_group),
		cmocka_unit_test(one_leave_touches_one_table),
		cmocka_unit_test(many_small_groups),
	};

	return cmocka_run_group_tests_name("sm-crowd", tests, group_setup, group_teardown);
}
