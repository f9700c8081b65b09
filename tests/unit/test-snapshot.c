// SPDX-License-Identifier: BSD-2-Clause
/* fabric/snapshot.c: what topo says of a cable between two switches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric/fabric_internal.h"
#include "fabric/snapshot.h"
#include "util/mem.h"

struct side {
	unsigned widths, width, speeds, speed; /* supported (a bit each), active */
	unsigned ext, ext_speed;
	bool extended; /* CapabilityMask */
};

#define EDR_4X                                                                                     \
	{                                                                                          \
		.widths = 3, .width = 2, .speeds = 7, .speed = 4, .ext = 3, .ext_speed = 2,        \
		.extended = true                                                                   \
	}
#define QDR_4X { .widths = 3, .width = 2, .speeds = 7, .speed = 4 }

static struct port *add_switch(struct fabric *f, guid_t guid, const struct side *side)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 };
	struct node *n;

	ib_put(info, NI_NODE_TYPE, IB_NODE_SWITCH);
	ib_put(info, NI_NUM_PORTS, 4);
	ib_put(info, NI_NODE_GUID, guid);
	ib_put(info, NI_PORT_GUID, guid);
	ib_put(info, NI_LOCAL_PORT, 1);
	n = fabric_add_node(f, info);
	n->switch_known = true;
	ib_put(n->switch_info, SI_LINEAR_FDB_CAP, 0xC000);
	n->ports[0].known = n->ports[1].known = true;
	if (side->extended)
		ib_put(n->ports[0].info, PI_CAP_MASK, IB_CAP(IB_CAP_EXTENDED_SPEEDS));
	ib_put(n->ports[1].info, PI_PORT_STATE, IB_PORT_ACTIVE);
	ib_put(n->ports[1].info, PI_PHYS_STATE, IB_PHYS_LINK_UP);
	ib_put(n->ports[1].info, PI_WIDTH_SUPPORTED, side->widths);
	ib_put(n->ports[1].info, PI_WIDTH_ACTIVE, side->width);
	ib_put(n->ports[1].info, PI_SPEED_SUPPORTED, side->speeds);
	ib_put(n->ports[1].info, PI_SPEED_ACTIVE, side->speed);
	ib_put(n->ports[1].info, PI_SPEED_EXT_SUPPORTED, side->ext);
	ib_put(n->ports[1].info, PI_SPEED_EXT_ACTIVE, side->ext_speed);
	return &n->ports[1];
}

/* Two switches, one cable. */
static bool is_slow(const struct side *a, const struct side *b)
{
	struct fabric *f = fabric_new();
	struct topo *t;
	bool slow;

	fabric_connect(add_switch(f, 0x10, a), add_switch(f, 0x20, b));
	t = fabric_snapshot(f, NULL, NULL);
	assert_int_equal(t->n_switches, 2);
	assert_int_equal(topo_port(t, 0, 1)->sw, 1);
	slow = topo_port(t, 0, 1)->slow;
	assert_int_equal(topo_port(t, 1, 1)->slow, slow);
	topo_unref(t);
	fabric_free(f);
	return slow;
}

static void a_cable_at_its_best_is_not_slow(void **state)
{
	const struct side edr = EDR_4X, qdr = QDR_4X;

	assert_false(is_slow(&edr, &edr));
	assert_false(is_slow(&qdr, &qdr));
}

static void a_cable_is_as_fast_as_the_lesser_end_can(void **state)
{
	struct side edr = EDR_4X, qdr = QDR_4X;

	edr.ext_speed = 0;
	assert_false(is_slow(&edr, &qdr));
	qdr.speed = edr.speed = 2;
	assert_true(is_slow(&edr, &qdr));
}

static void a_cable_below_its_speed_is_slow(void **state)
{
	struct side edr = EDR_4X;

	edr.ext_speed = 1;
	assert_true(is_slow(&edr, &edr));
	edr.ext_speed = 0;
	assert_true(is_slow(&edr, &edr));
}

static void a_cable_that_lost_lanes_is_slow(void **state)
{
	struct side edr = EDR_4X;

	edr.width = 1;
	assert_true(is_slow(&edr, &edr));
	edr.widths = 1;
	assert_false(is_slow(&edr, &edr));
	edr.widths = 0x13; /* 1x, 4x, 2x */
	edr.width = 16;
	assert_true(is_slow(&edr, &edr));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cable_at_its_best_is_not_slow),
		cmocka_unit_test(a_cable_is_as_fast_as_the_lesser_end_can),
		cmocka_unit_test(a_cable_below_its_speed_is_slow),
		cmocka_unit_test(a_cable_that_lost_lanes_is_slow),
	};

	return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
