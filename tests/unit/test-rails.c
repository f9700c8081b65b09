// SPDX-License-Identifier: BSD-2-Clause
/* Rails and planes of clusters that are drawn here: which are found, and what is said of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "topo/rails/rails.h"
#include "util/mem.h"

#define HOSTS_MOST 4096

enum plan { SHARED, PLANES, PLANES_JOINED };

/* `units` of `hosts` hosts; each unit has a leaf per rail. */
struct cluster {
	unsigned units, hosts, rails, spines; /* spines of each plane, or of all */
	enum plan plan;
	const char *name; /* of an end port: "%u" host, "%u" rail; NULL: no names */
	bool one_device;  /* a host has one device with a port per rail */
	unsigned swapped; /* host + 1 whose ports of the rails 0 and 1 are exchanged; 0: none */
	bool missing;	  /* every third host lacks a port, every fifth all but one */
	bool cut;	  /* every seventh cable to a spine is not there */
	bool crossed;	  /* one cable more to a spine of another plane */
	bool scattered;	  /* each host has its rails in another order */
	bool strange;	  /* every fourth host has names of its own for its adapters */
	bool paired;	  /* odd hosts have them the other way round */
	bool mixed;	  /* adapters of host 0 and of the last unit have names "HCA-1", ... */
};

/* Units, hosts of each, rails, spines. */
#define SIZE(u, h, r, s) .units = (u), .hosts = (h), .rails = (r), .spines = (s)

struct world {
	struct topo *topo;
	char names[HOSTS_MOST][64];
	const char *by_host[HOSTS_MOST];
	struct rails *rails;
	char text[RAILS_STRLEN];
};

static guid_t leaf_guid(const struct cluster *c, unsigned unit, unsigned rail)
{
	return 0x1000 + unit * c->rails + rail;
}

static guid_t port_guid(const struct cluster *c, unsigned host, unsigned rail)
{
	return 0x100000 + host * 0x100 + rail;
}

static bool is_there(const struct cluster *c, unsigned host, unsigned rail)
{
	return !c->missing || ((host % 3 || rail != host % c->rails) && (host % 5 || rail == 0));
}

static unsigned cabled_to(const struct cluster *c, unsigned host, unsigned rail)
{
	if (c->scattered)
		return (rail + host) % c->rails;
	if (c->paired && host % 2)
		return c->rails - 1 - rail;
	return c->swapped == host + 1 && rail < 2 ? 1 - rail : rail;
}

static void add_port(struct topo_builder *b, const struct cluster *c, unsigned host, unsigned rail)
{
	const struct topo_host h = {
		.guid = port_guid(c, host, rail),
		.node_guid = port_guid(c, host, c->one_device ? 0 : rail) + 0x10000000,
		/* An adapter of its own has an image of its own. */
		.sysimg_guid = port_guid(c, host, c->name ? rail : 0) + 0x20000000,
		.node_port = (uint8_t)(c->one_device ? rail + 1 : 1),
		.lid = (lid_t)(1 + host * c->rails + rail),
	};

	if (!is_there(c, host, rail))
		return;
	topo_add_host(b, &h);
	topo_add_host_link(b, h.guid, leaf_guid(c, host / c->hosts, cabled_to(c, host, rail)),
			   (uint8_t)(1 + host % c->hosts + (rail != cabled_to(c, host, rail)) *
							    rail * c->hosts));
}

static void add_switch(struct topo_builder *b, guid_t guid)
{
	const struct topo_switch s = { .guid = guid, .n_ports = 250, .lft_cap = 0xBFFF };

	topo_add_switch(b, &s);
}

static void add_uplinks(struct topo_builder *b, const struct cluster *c, unsigned unit,
			unsigned rail)
{
	unsigned plane = c->plan == SHARED ? 0 : rail;

	for (unsigned s = 0; s < c->spines; s++) {
		unsigned nth = (unit * c->rails + rail) * c->spines + s;

		if (!c->cut || nth % 7)
			topo_add_link(b, leaf_guid(c, unit, rail), (uint8_t)(200 + s),
				      0x8000 + plane * c->spines + s,
				      (uint8_t)(1 + unit * c->rails + rail));
	}
}

static void add_spines(struct topo_builder *b, const struct cluster *c)
{
	unsigned planes = c->plan == SHARED ? 1 : c->rails;

	for (unsigned i = 0; i < planes * c->spines; i++) {
		add_switch(b, 0x8000 + i);
		if (c->plan == PLANES_JOINED)
			topo_add_link(b, 0x8000 + i, 249, 0x9000, (uint8_t)(1 + i));
	}
	add_switch(b, 0x9000); /* a core, or alone */
	if (c->crossed)
		topo_add_link(b, leaf_guid(c, 0, 0), 249, 0x8000 + c->spines, 248);
}

static void name_hosts(struct world *w, const struct cluster *c)
{
	for (unsigned h = 0; h < c->units * c->hosts; h++)
		for (unsigned r = 0; r < c->rails; r++) {
			uint32_t i = topo_find_host(w->topo, port_guid(c, h, r));

			if (i == TOPO_NONE)
				continue;
			assert_true(i < HOSTS_MOST);
			snprintf(w->names[i], sizeof(w->names[i]), c->name ? c->name : "%u %u", h,
				 r);
			if (c->mixed && (!h || h / c->hosts + 1 == c->units))
				snprintf(w->names[i], sizeof(w->names[i]), "gpu%u HCA-%u", h,
					 r + 1);
			if (c->strange && h % 4 == 0)
				snprintf(w->names[i], sizeof(w->names[i]), "gpu%u own%u-%u", h, h,
					 r);
			w->by_host[i] = w->names[i];
		}
}

static struct world *look(const struct cluster *c)
{
	struct topo_builder *b = topo_builder_new();
	struct world *w = xcalloc(1, sizeof(*w));

	for (unsigned i = 0; i < c->units * c->rails; i++)
		add_switch(b, 0x1000 + i);
	add_spines(b, c);
	for (unsigned h = 0; h < c->units * c->hosts; h++)
		for (unsigned r = 0; r < c->rails; r++)
			add_port(b, c, h, r);
	for (unsigned i = 0; i < c->units * c->rails; i++)
		add_uplinks(b, c, i / c->rails, i % c->rails);
	w->topo = topo_build(b);
	name_hosts(w, c);
	w->rails = rails_find(w->topo, c->name ? w->by_host : NULL);
	rails_str(w->rails, w->topo, c->name ? w->by_host : NULL, w->text);
	return w;
}

static struct world *world_free(struct world *w)
{
	rails_free(w->rails);
	topo_unref(w->topo);
	free(w);
	return NULL;
}

FREEP(world_free, struct world)

static void says(const struct cluster *c, const char *text)
{
	_cleanup_(world_freep) struct world *w = look(c);

	assert_string_equal(w->text, text);
	assert_true(!w->rails->n == !text[0]);
}

#define GPU "gpu%u mlx5_%u"

static void four_and_eight_rails_are_found(void **state)
{
	says(&(struct cluster){ SIZE(2, 16, 8, 4), .name = GPU },
	     "8 rails of 32 end ports (mlx5_0 ... mlx5_7), which share spines; 0 ports on another "
	     "rail");
	says(&(struct cluster){ SIZE(3, 8, 4, 4), .name = GPU },
	     "4 rails of 24 end ports (mlx5_0 ... mlx5_3), which share spines; 0 ports on another "
	     "rail");
	says(&(struct cluster){ SIZE(1, 8, 2, 2), .name = GPU },
	     "2 rails of 8 end ports (mlx5_0 and mlx5_1), which share spines; 0 ports on another "
	     "rail");
}

static void names_are_in_order_of_their_numbers(void **state)
{
	says(&(struct cluster){ SIZE(1, 8, 12, 2), .name = GPU },
	     "12 rails of 8 end ports (mlx5_0 ... mlx5_11), which share spines; 0 ports on another "
	     "rail");
}

static void one_device_with_a_port_on_each_rail(void **state)
{
	says(&(struct cluster){ SIZE(2, 8, 4, 4), .one_device = true },
	     "4 rails of 16 end ports (port 1 ... port 4), which share spines; 0 ports on another "
	     "rail");
	says(&(struct cluster){ SIZE(2, 8, 4, 4), .name = "gpu%u", .one_device = true },
	     "4 rails of 16 end ports (port 1 ... port 4), which share spines; 0 ports on another "
	     "rail");
}

static void adapters_without_names_are_told_by_their_order(void **state)
{
	says(&(struct cluster){ SIZE(2, 8, 4, 4), .name = "gpu%u" },
	     "4 rails of 16 end ports (adapter 1 port 1 ... adapter 4 port 1), which share spines; "
	     "0 ports on another rail");
	says(&(struct cluster){ SIZE(2, 8, 4, 4) },
	     "4 rails of 16 end ports (adapter 1 port 1 ... adapter 4 port 1), which share spines; "
	     "0 ports on another rail");
}

/* The device has its maker's description in all hosts: that tells none. */
static void a_name_that_all_have_tells_no_host(void **state)
{
	says(&(struct cluster){ SIZE(2, 8, 4, 4), .name = "MT4129 Mellanox", .one_device = true },
	     "");
	says(&(struct cluster){ SIZE(1, 4, 4, 4), .name = "MT4129", .one_device = true }, "");
}

static void two_adapters_of_a_host_may_be_on_one_rail(void **state)
{
	says(&(struct cluster){ SIZE(4, 16, 4, 4), .name = GPU, .paired = true },
	     "2 rails of 128 end ports (mlx5_0 and mlx5_1), which share spines; 0 ports on another "
	     "rail");
}

/* Of two ways to name adapters, a host of one among hosts of the other is on no wrong rail. */
static void hosts_may_name_their_adapters_in_another_way(void **state)
{
	says(&(struct cluster){ SIZE(3, 8, 2, 4), .name = GPU, .mixed = true },
	     "4 rails of 8 to 16 end ports (HCA-1 ... mlx5_1), which share spines; 0 ports on "
	     "another rail");
	says(&(struct cluster){ SIZE(3, 8, 2, 4), .name = GPU, .mixed = true, .swapped = 4 },
	     "4 rails of 8 to 16 end ports (HCA-1 ... mlx5_1), which share spines; 2 ports on "
	     "another rail: 'gpu3 mlx5_0' port 1 on mlx5_1, 'gpu3 mlx5_1' port 1 on mlx5_0");
}

static void planes_are_told_apart(void **state)
{
	says(&(struct cluster){ SIZE(2, 16, 4, 2), .plan = PLANES, .name = GPU },
	     "4 rails of 32 end ports (mlx5_0 ... mlx5_3), in 4 planes with spines of their own, "
	     "which no cable connects; 0 ports on another rail");
	says(&(struct cluster){ SIZE(2, 16, 8, 2), .plan = PLANES_JOINED, .name = GPU },
	     "8 rails of 32 end ports (mlx5_0 ... mlx5_7), in 8 planes with spines of their own; 0 "
	     "ports on another rail");
}

static void a_cable_to_a_wrong_spine_joins_no_planes(void **state)
{
	says(&(struct cluster){ SIZE(2, 16, 8, 4), .plan = PLANES, .name = GPU, .crossed = true },
	     "8 rails of 32 end ports (mlx5_0 ... mlx5_7), in 8 planes with spines of their own, 1 "
	     "cable to a spine of another plane; 0 ports on another rail");
}

static void ports_on_a_wrong_rail_are_named(void **state)
{
	says(&(struct cluster){ SIZE(2, 16, 8, 4), .name = GPU, .swapped = 18 },
	     "8 rails of 32 end ports (mlx5_0 ... mlx5_7), which share spines; 2 ports on another "
	     "rail: 'gpu17 mlx5_0' port 1 on mlx5_1, 'gpu17 mlx5_1' port 1 on mlx5_0");
}

static void missing_hosts_and_cut_cables_hide_no_rail(void **state)
{
	_cleanup_(world_freep) struct world *w = look(&(struct cluster){
		SIZE(2, 16, 8, 4), .name = GPU, .missing = true, .cut = true });

	assert_int_equal(w->rails->n, 8);
	assert_int_equal(w->rails->planes, 1);
	assert_int_equal(w->rails->wrong, 0);
	assert_true(w->rails->least < w->rails->most && w->rails->most < 32);
	for (uint32_t h = 0; h < w->topo->n_hosts; h++)
		assert_int_equal(w->rails->rail[h], w->topo->hosts[h].guid & 0xFF);
}

/* A host that lacks an adapter does not tell which. */
static void hosts_that_lack_an_adapter_without_a_name_are_left_out(void **state)
{
	_cleanup_(world_freep) struct world *w =
		look(&(struct cluster){ SIZE(2, 16, 4, 4), .name = "gpu%u", .missing = true });

	assert_int_equal(w->rails->n, 4);
	assert_int_equal(w->rails->wrong, 0);
}

/* 128 names of adapters that 16 hosts alone have. */
static void hosts_may_call_their_adapters_otherwise(void **state)
{
	says(&(struct cluster){ SIZE(4, 16, 8, 4), .name = GPU, .strange = true },
	     "8 rails of 48 end ports (mlx5_0 ... mlx5_7), which share spines; 0 ports on another "
	     "rail");
}

static void fabrics_without_rails_have_none(void **state)
{
	/* one port each */
	says(&(struct cluster){ SIZE(4, 16, 1, 4), .name = GPU }, "");
	/* any port on any leaf */
	says(&(struct cluster){ SIZE(4, 16, 4, 4), .name = GPU, .scattered = true }, "");
	/* too few, too many */
	says(&(struct cluster){ SIZE(1, 3, 4, 4), .name = GPU }, "");
	says(&(struct cluster){ SIZE(1, 4, 33, 4), .name = GPU }, "");
	says(&(struct cluster){ SIZE(0, 0, 1, 4), .name = GPU }, "");
}

static void as_many_rails_as_there_may_be(void **state)
{
	_cleanup_(world_freep) struct world *w =
		look(&(struct cluster){ SIZE(1, 4, 32, 4), .name = GPU });

	assert_int_equal(w->rails->n, 32);
}

static void hosts_of_a_rail_are_picked_in_their_order(void **state)
{
	_cleanup_(world_freep) struct world *w =
		look(&(struct cluster){ SIZE(2, 4, 4, 2), .name = GPU });
	uint32_t all[32], picked[32];

	for (unsigned i = 0; i < 32; i++)
		all[i] = 31 - i;
	assert_int_equal(rails_pick(w->rails, 2, all, 32, picked), 8);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(w->topo->hosts[picked[i]].guid, 0x100000 + (7 - i) * 0x100 + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_and_eight_rails_are_found),
		cmocka_unit_test(names_are_in_order_of_their_numbers),
		cmocka_unit_test(one_device_with_a_port_on_each_rail),
		cmocka_unit_test(adapters_without_names_are_told_by_their_order),
		cmocka_unit_test(a_name_that_all_have_tells_no_host),
		cmocka_unit_test(two_adapters_of_a_host_may_be_on_one_rail),
		cmocka_unit_test(hosts_may_name_their_adapters_in_another_way),
		cmocka_unit_test(planes_are_told_apart),
		cmocka_unit_test(a_cable_to_a_wrong_spine_joins_no_planes),
		cmocka_unit_test(ports_on_a_wrong_rail_are_named),
		cmocka_unit_test(missing_hosts_and_cut_cables_hide_no_rail),
		cmocka_unit_test(hosts_that_lack_an_adapter_without_a_name_are_left_out),
		cmocka_unit_test(hosts_may_call_their_adapters_otherwise),
		cmocka_unit_test(fabrics_without_rails_have_none),
		cmocka_unit_test(as_many_rails_as_there_may_be),
		cmocka_unit_test(hosts_of_a_rail_are_picked_in_their_order),
	};

	return cmocka_run_group_tests_name("rails", tests, NULL, NULL);
}
