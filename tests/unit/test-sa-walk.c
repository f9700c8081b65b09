// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ways through the tables (sa.md 4.3): what a path record says is what a packet meets. The last
 * test compares random fabrics, whole and broken, with a walk of its own; TEST_SEED repeats a run.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/fabric_internal.h"
#include "tests/unit/path-asking.h"
#include "util/random.h"

/* ---- ways that do not lead ------------------------------------------------------------------- */

/* The routes in force, to be damaged; no other code looks at them while the test runs. */
static uint8_t *row_of(struct desk *d, const char *node)
{
	const struct routes *r = d->view->routes;

	return routes_row(r, topo_find_switch(r->topo, desk_node(d, node)->guid));
}

static void a_way_back_that_fails_is_not_reversible(void **state)
{
	_desk_ d = two_leaves();

	row_of(d, "spine1")[1] = LFT_NO_PORT; /* h2 -> h0 */
	blank_names(d, "h0", "h2");
	assert_int_equal(byte_at(one(table(d, GIDS)), PR_REVERSIBLE), 0);
	assert_int_equal(byte_at(one(table(d, GIDS | SA_COMP(PR_REVERSIBLE))), PR_REVERSIBLE), 0);
	ib_put(d->record, PR_REVERSIBLE, 1);
	expect_none(d, GIDS | SA_COMP(PR_REVERSIBLE));
	blank_names(d, "h2", "h0");
	expect_none(d, GIDS);
}

/* The port of a switch whose cable leads to another. */
static uint8_t port_towards(struct desk *d, const char *from, const char *to)
{
	struct node *n = desk_node(d, from);

	for (unsigned i = 1; i <= n->n_ports; i++)
		if (n->ports[i].peer && n->ports[i].peer->node == desk_node(d, to))
			return (uint8_t)i;
	fail();
	return 0;
}

static void the_way_back_must_meet_the_constraints(void **state)
{
	_desk_ d = desk_new("ring 3 1");
	struct node *slow = desk_node(d, "s2");

	set_mtus(d);
	for (unsigned i = 1; i <= slow->n_ports; i++)
		ib_put(slow->ports[i].info, PI_MTU_CAP, IB_MTU_256);
	desk_publish(d);
	row_of(d, "s1")[1] = port_towards(d, "s1", "s2"); /* h1 -> h0 goes round by s2 */
	blank_lids(d, 1, 2);
	assert_int_equal(byte_at(one(table(d, LIDS)), PR_REVERSIBLE), REVERSIBLE);
	assert_int_equal(byte_at(one(table(d, LIDS)), PR_MTU_SEL), 0x84);
	ib_put(d->record, PR_MTU_SEL, SA_EXACT);
	ib_put(d->record, PR_MTU, IB_MTU_2048);
	assert_int_equal(byte_at(one(table(d, LIDS | MTU)), PR_REVERSIBLE), 0);
	ib_put(d->record, PR_REVERSIBLE, 1);
	expect_none(d, LIDS | MTU | SA_COMP(PR_REVERSIBLE));
}

static void loops_and_holes_give_no_path(void **state)
{
	_desk_ d = two_leaves();
	uint8_t *leaf = row_of(d, "leaf1"), *spine = row_of(d, "spine1");
	uint8_t to_leaf1 = spine[1], was = spine[3];

	blank_names(d, "h0", "h2");
	spine[3] = to_leaf1; /* leaf1 and spine1 send it to each other */
	expect_none(d, GIDS);
	spine[3] = 0; /* ends at a port 0 that is not meant */
	expect_none(d, GIDS);
	spine[3] = 200; /* no such port */
	expect_none(d, GIDS);
	spine[3] = was;
	leaf[3] = leaf[2]; /* ends at another host */
	expect_none(d, GIDS);
}

static void a_link_that_is_down_is_no_way(void **state)
{
	_desk_ d = two_leaves();
	struct port *p = desk_end(d, "h2");

	ib_put(p->info, PI_PORT_STATE, IB_PORT_DOWN);
	desk_publish(d);
	blank_names(d, "h0", "h2");
	expect_none(d, GIDS);
	blank_names(d, "h2", "h0");
	expect_none(d, GIDS);
}

static void a_host_without_a_cable_reaches_nobody(void **state)
{
	_desk_ d = two_leaves();

	fabric_disconnect(desk_end(d, "h2"));
	desk_publish(d);
	blank_names(d, "h2", "h0");
	expect_none(d, GIDS);
	blank_names(d, "h0", "h2");
	expect_none(d, GIDS);
}

static void two_hosts_need_no_switch(void **state)
{
	_desk_ d = desk_new("pair");
	const uint8_t *r;

	set_mtus(d);
	blank_lids(d, 1, 2);
	r = one(table(d, LIDS));
	assert_int_equal(byte_at(r, PR_MTU_SEL), 0x84);
	assert_int_equal(byte_at(r, PR_REVERSIBLE), REVERSIBLE);
	desk_blank(d);
	assert_int_equal(table(d, 0)->n, 4);
}

/* ---- rates ---------------------------------------------------------------------------------- */

static void make_link(struct port *p, unsigned speed, unsigned ext)
{
	ib_put(p->info, PI_SPEED_ACTIVE, speed);
	ib_put(p->info, PI_SPEED_EXT_ACTIVE, ext);
}

static void the_slowest_link_decides_by_bandwidth(void **state)
{
	_desk_ d = two_leaves();

	FABRIC_EACH_NODE(d->fabric, n)
		for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++)
			make_link(&n->ports[i], 4, 2); /* 4x EDR: 100, code 16 */
	make_link(desk_end(d, "h2"), 4, 0);	       /* 4x QDR: 40, code 7 */
	make_link(desk_end(d, "h3"), 4, 1);	       /* 4x FDR: 56, code 12 */
	desk_publish(d);
	blank_names(d, "h0", "h1");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 16);
	blank_names(d, "h0", "h2");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 7);
	blank_names(d, "h2", "h3");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 7);
	blank_names(d, "h1", "h3");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 12);
}

static void newer_rates_are_kept_from_older_clients(void **state)
{
	_desk_ d = two_leaves();

	FABRIC_EACH_NODE(d->fabric, n)
		for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++)
			make_link(&n->ports[i], 4, 8); /* 4x NDR: 400, code 21 */
	desk_publish(d);
	blank_names(d, "h0", "h2");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 21);
	desk_conf(d, "max_rate_enum", "18");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 18);
	ib_put(d->record, PR_RATE_SEL, SA_EXACT);
	ib_put(d->record, PR_RATE, 18);
	assert_int_equal(ib_get(one(get(d, GIDS | RATE)), PR_RATE), 18);
	desk_conf(d, "max_rate_enum", "63");
	desk_conf(d, "use_original_extended_sa_rates_only", "TRUE");
	assert_int_equal(ib_get(one(get(d, GIDS)), PR_RATE), 18);
}

static void old_adapters_are_told_1024_if_the_quirk_is_on(void **state)
{
	_desk_ d = two_leaves();
	struct node *n = desk_node(d, "h2");

	n->vendor_id = 0x0002C9;
	n->device_id = 23108;
	desk_publish(d);
	blank_names(d, "h0", "h2");
	assert_int_equal(byte_at(one(get(d, GIDS)), PR_MTU_SEL), 0x84);
	desk_conf(d, "enable_quirks", "TRUE");
	assert_int_equal(byte_at(one(get(d, GIDS)), PR_MTU_SEL), 0x83);
	blank_names(d, "h2", "h0");
	assert_int_equal(byte_at(one(get(d, GIDS)), PR_MTU_SEL), 0x83);
	ib_put(d->record, PR_MTU_SEL, SA_EXACT); /* a request that insists gets it */
	ib_put(d->record, PR_MTU, IB_MTU_2048);
	assert_int_equal(byte_at(one(get(d, GIDS | MTU)), PR_MTU_SEL), 0x84);
	blank_names(d, "h0", "h1");
	assert_int_equal(byte_at(one(get(d, GIDS)), PR_MTU_SEL), 0x84);
}

static void life_time_is_the_subnet_timeout(void **state)
{
	_desk_ d = two_leaves();

	desk_conf(d, "subnet_timeout", "14");
	blank_lids(d, 1, 3);
	assert_int_equal(byte_at(one(get(d, LIDS)), PR_LIFE_SEL), 0x80 | 14);
}

/* ---- any fabric ----------------------------------------------------------------------------- */

struct dice {
	uint64_t x;
};

static uint64_t pick(struct dice *d, uint64_t sides)
{
	return random_next(&d->x) % sides;
}

/* Ports of all kinds: MTUCap 256 to 4096, any speed and width; a few are down. */
static void roughen(struct desk *d, struct dice *dice)
{
	static const uint8_t speed[] = { 1, 2, 4 }, ext[] = { 0, 1, 2, 4, 8 };
	static const uint8_t width[] = { 1, 2, 4, 8, 16 };

	FABRIC_EACH_NODE(d->fabric, n)
		for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++) {
			uint8_t *pi = n->ports[i].info;

			ib_put(pi, PI_MTU_CAP,
			       pick(dice, 8) ? 4 + pick(dice, 2) : 1 + pick(dice, 5));
			ib_put(pi, PI_SPEED_ACTIVE, speed[pick(dice, 3)]);
			ib_put(pi, PI_SPEED_EXT_ACTIVE, ext[pick(dice, 5)]);
			ib_put(pi, PI_WIDTH_ACTIVE, width[pick(dice, 5)]);
			if (i && !pick(dice, 30))
				ib_put(pi, PI_PORT_STATE, IB_PORT_DOWN);
		}
	desk_publish(d);
}

/* Some entries of the tables lead anywhere. */
static void break_tables(struct desk *d, struct dice *dice)
{
	const struct routes *r = d->view->routes;
	size_t size = (size_t)r->topo->n_switches * r->row_size;

	for (size_t i = 0; i < size / 40 + 1; i++) {
		uint8_t *entry = &r->lft[pick(dice, size)];

		*entry = pick(dice, 3) ? (uint8_t)pick(dice, 8) : LFT_NO_PORT;
	}
}

struct met {
	bool arrived;
	unsigned mtu, bandwidth;
};

static void meet(struct met *m, const struct port *p)
{
	unsigned bandwidth =
		ib_link_width(p->info) * ib_link_speed(p->info, fabric_speed_sets(p), false);

	m->mtu = MIN(m->mtu, (unsigned)ib_get(p->info, PI_MTU_CAP));
	m->bandwidth = MIN(m->bandwidth, bandwidth);
}

static bool is_up(const struct port *p)
{
	return p->peer && ib_get(p->info, PI_PORT_STATE) != IB_PORT_DOWN &&
	       ib_get(p->peer->info, PI_PORT_STATE) != IB_PORT_DOWN;
}

/* A packet's way, on the fabric itself: port by port. */
static struct met travel(const struct desk *d, const struct port *src, lid_t dlid,
			 const struct port *dst)
{
	const struct routes *r = d->view->routes;
	struct met m = { .mtu = 99, .bandwidth = UINT_MAX };
	const struct port *at = src;

	meet(&m, src);
	if (src == dst) {
		m.arrived = true;
		return m;
	}
	for (unsigned steps = 0; steps < 1000; steps++) {
		const struct port *out = at;

		if (node_is_switch(at->node)) {
			uint32_t sw = topo_find_switch(r->topo, at->node->guid);
			uint8_t n = routes_port(r, sw, dlid);

			if (n > at->node->n_ports)
				return m;
			out = &at->node->ports[n];
			meet(&m, out);
			if (n == 0) {
				m.arrived = out == dst;
				return m;
			}
		}
		if (!is_up(out))
			return m;
		at = out->peer;
		meet(&m, at);
		if (!node_is_switch(at->node)) {
			m.arrived = at == dst;
			return m;
		}
	}
	return m;
}

/* Every record of the answer, by SLID and DLID. */
static const uint8_t **by_lids(const struct desk_message *a, unsigned n_lids)
{
	const uint8_t **cells = xcalloc((size_t)n_lids * n_lids, sizeof(*cells));

	for (unsigned i = 0; i < a->n; i++) {
		const uint8_t *r = desk_record(a, i);

		cells[ib_get(r, PR_SLID) * n_lids + ib_get(r, PR_DLID)] = r;
	}
	return cells;
}

static const struct port *owner(const struct desk *d, lid_t lid)
{
	uint32_t port = view_port_at(d->view, lid);

	return port == VIEW_NONE ? NULL : fabric_find_port(d->fabric, d->view->ports[port].guid);
}

static void compare(const uint8_t *record, const struct met *there, const struct met *back)
{
	assert_int_equal(record != NULL, there->arrived);
	if (!record)
		return;
	assert_int_equal(ib_get(record, PR_MTU), there->mtu);
	assert_int_equal(ib_rate_bandwidth((unsigned)ib_get(record, PR_RATE)), there->bandwidth);
	assert_int_equal(ib_get(record, PR_REVERSIBLE), back->arrived);
}

static unsigned compare_all(struct desk *d)
{
	unsigned n_lids = d->view->routes->top + 1u, found;
	const struct desk_message *a;
	const uint8_t **cells;

	desk_blank(d);
	a = table(d, 0);
	found = a->n;
	cells = by_lids(a, n_lids);
	for (unsigned s = 1; s < n_lids; s++)
		for (unsigned t = 1; t < n_lids; t++) {
			const struct port *src = owner(d, (lid_t)s), *dst = owner(d, (lid_t)t);
			struct met there, back;

			if (!src || !dst)
				continue;
			there = travel(d, src, (lid_t)t, dst);
			back = travel(d, dst, (lid_t)s, src);
			compare(cells[s * n_lids + t], &there, &back);
		}
	free(cells);
	return found;
}

/*
 * The same each time; others by hand: for i in $(seq 9999); do TEST_SEED=$i tests/unit/test-sa-walk
 * || break; done
 */
static uint64_t seed(void)
{
	const char *text = getenv("TEST_SEED");

	return text ? strtoull(text, NULL, 0) : 1795389145;
}

static void a_record_says_what_a_packet_meets(void **state)
{
	struct dice dice = { .x = seed() };
	unsigned found = 0;

	print_message("TEST_SEED=0x%llx\n", (unsigned long long)dice.x);
	for (unsigned round = 0; round < 40; round++) {
		unsigned half = (unsigned)pick(&dice, 4), degree = (unsigned)pick(&dice, 2);
		unsigned hosts = (unsigned)pick(&dice, 3);
		char words[64];
		struct desk *d;

		snprintf(words, sizeof(words), "random %u %u %u %u", 4 + 2 * half, 2 + degree,
			 1 + hosts, (unsigned)pick(&dice, 1000000));
		d = desk_new_lmc(words, (uint8_t)pick(&dice, 3));
		roughen(d, &dice);
		if (round % 2)
			break_tables(d, &dice);
		found += compare_all(d);
		desk_free(d);
	}
	assert_true(found > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_way_back_that_fails_is_not_reversible),
		cmocka_unit_test(the_way_back_must_meet_the_constraints),
		cmocka_unit_test(loops_and_holes_give_no_path),
		cmocka_unit_test(a_link_that_is_down_is_no_way),
		cmocka_unit_test(a_host_without_a_cable_reaches_nobody),
		cmocka_unit_test(two_hosts_need_no_switch),
		cmocka_unit_test(the_slowest_link_decides_by_bandwidth),
		cmocka_unit_test(newer_rates_are_kept_from_older_clients),
		cmocka_unit_test(old_adapters_are_told_1024_if_the_quirk_is_on),
		cmocka_unit_test(life_time_is_the_subnet_timeout),
		cmocka_unit_test(a_record_says_what_a_packet_meets),
	};

	return cmocka_run_group_tests_name("sa-walk", tests, NULL, NULL);
}
