// SPDX-License-Identifier: BSD-2-Clause
/* fabric/ways.c: directed routes around cables that died. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric/fabric_internal.h"
#include "fabric/ways.h"
#include "util/mem.h"

static struct node *add_node(struct fabric *f, guid_t guid, unsigned type, unsigned n_ports)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 };

	ib_put(info, NI_NODE_TYPE, type);
	ib_put(info, NI_NUM_PORTS, n_ports);
	ib_put(info, NI_NODE_GUID, guid);
	ib_put(info, NI_PORT_GUID, guid + 1);
	ib_put(info, NI_LOCAL_PORT, 1);
	return fabric_add_node(f, info);
}

static void set_state(struct port *p, enum ib_port_state state)
{
	p->known = true;
	ib_put(p->info, PI_PORT_STATE, state);
}

static void join(struct node *a, unsigned a_port, struct node *b, unsigned b_port)
{
	set_state(&a->ports[a_port], IB_PORT_ACTIVE);
	set_state(&b->ports[b_port], IB_PORT_ACTIVE);
	fabric_connect(&a->ports[a_port], &b->ports[b_port]);
}

/* Our host on switch 0; a square of switches 0, 1, 3, 2; a host on switches 1 and 2. */
struct square {
	struct fabric *f;
	struct node *own, *other, *sw[4];
};

static struct square square_new(void)
{
	struct square s = { .f = fabric_new() };

	s.own = add_node(s.f, 0x100, IB_NODE_CA, 2);
	s.other = add_node(s.f, 0x200, IB_NODE_CA, 2);
	for (unsigned i = 0; i < 4; i++)
		s.sw[i] = add_node(s.f, 0x1000 + 16 * i, IB_NODE_SWITCH, 4);
	join(s.own, 1, s.sw[0], 4);
	join(s.sw[0], 1, s.sw[1], 2);
	join(s.sw[0], 3, s.sw[2], 1);
	join(s.sw[1], 1, s.sw[3], 2);
	join(s.sw[2], 2, s.sw[3], 1);
	join(s.other, 1, s.sw[1], 4);
	join(s.other, 2, s.sw[2], 4);
	join(s.own, 2, s.sw[3], 4); /* not the port that we use */
	s.f->own = s.own;
	s.f->own_port = &s.own->ports[1];
	return s;
}

static void path_is(const struct square *s, const struct node *n, const char *wanted)
{
	_cleanup_(fabric_ways_freep) struct fabric_ways *w = fabric_ways_new(s->f);
	struct dr_path path;
	char text[DR_PATH_STRLEN];

	if (!wanted) {
		assert_false(fabric_way(w, n, &path));
		return;
	}
	assert_true(fabric_way(w, n, &path));
	assert_string_equal(dr_path_str(&path, text), wanted);
}

static void the_shortest_is_found(void **state)
{
	struct square s = square_new();

	path_is(&s, s.own, "0");
	path_is(&s, s.sw[0], "0,1");
	path_is(&s, s.sw[1], "0,1,1");
	path_is(&s, s.sw[2], "0,1,3");
	path_is(&s, s.sw[3], "0,1,1,1");
	fabric_free(s.f);
}

/* One end reports that the cable is down; the other was not asked yet. */
static void a_dead_cable_is_gone_around(void **state)
{
	struct square s = square_new();

	dr_path_extend(&(struct dr_path){ .length = 1, .hop = { 0, 1 } }, 1, &s.sw[1]->path);
	assert_true(fabric_path_holds(s.f, s.sw[1]));
	set_state(&s.sw[1]->ports[2], IB_PORT_DOWN);
	assert_false(fabric_path_holds(s.f, s.sw[1]));
	path_is(&s, s.sw[1], "0,1,3,2,2");
	path_is(&s, s.sw[3], "0,1,3,2");
	fabric_disconnect(&s.sw[0]->ports[1]);
	assert_false(fabric_path_holds(s.f, s.sw[1]));
	path_is(&s, s.sw[1], "0,1,3,2,2");
	fabric_free(s.f);
}

/* Not over a host with two ports, nor by our other port. */
static void hosts_forward_nothing(void **state)
{
	struct square s = square_new();

	set_state(&s.sw[0]->ports[1], IB_PORT_DOWN);
	set_state(&s.sw[3]->ports[1], IB_PORT_DOWN);
	path_is(&s, s.sw[1], NULL);
	path_is(&s, s.sw[3], NULL);
	path_is(&s, s.sw[2], "0,1,3");
	fabric_free(s.f);
}

static void a_route_that_leads_elsewhere_does_not_hold(void **state)
{
	struct square s = square_new();

	s.sw[3]->path = (struct dr_path){ .length = 2, .hop = { 0, 1, 1 } };
	assert_false(fabric_path_holds(s.f, s.sw[3]));
	s.sw[3]->path = (struct dr_path){ .length = 2, .hop = { 0, 1, 77 } }; /* no such port */
	assert_false(fabric_path_holds(s.f, s.sw[3]));
	s.f->own = NULL;
	assert_false(fabric_path_holds(s.f, s.sw[3]));
	path_is(&s, s.sw[3], NULL);
	fabric_free(s.f);
}

/* A directed route has at most 63 hops. */
static void a_line_of_switches_ends_at_63_hops(void **state)
{
	struct square s = square_new();
	struct node *last = s.sw[3], *before = NULL;
	struct fabric_ways *w;
	struct dr_path path;

	for (unsigned hops = 4; hops <= 64; hops++) {
		struct node *next = add_node(s.f, 0x2000 + 16 * hops, IB_NODE_SWITCH, 3);

		before = last;
		last = next;
		join(before, 3, last, 1);
	}
	w = fabric_ways_new(s.f);
	assert_true(fabric_way(w, before, &path));
	assert_int_equal(path.length, 63);
	assert_int_equal(path.hop[63], 3);
	assert_false(fabric_way(w, last, &path));
	fabric_ways_free(w);
	fabric_free(s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shortest_is_found),
		cmocka_unit_test(a_dead_cable_is_gone_around),
		cmocka_unit_test(hosts_forward_nothing),
		cmocka_unit_test(a_route_that_leads_elsewhere_does_not_hold),
		cmocka_unit_test(a_line_of_switches_ends_at_63_hops),
	};

	return cmocka_run_group_tests_name("ways", tests, NULL, NULL);
}
