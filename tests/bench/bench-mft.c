// SPDX-License-Identifier: BSD-2-Clause
/*
 * Multicast tables of a whole fabric by the number: `bench-mft [K]`, a three-level fat tree of
 * K-port switches in the simulator, which follows every packet after every Set. CPU time is the
 * planner's, the differ's and the simulator's together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/lib/field.h"
#include "util/mem.h"

static double cpu(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

struct lap {
	double cpu;
	mono_t now;
	uint64_t sets, reads, tops;
	uint8_t *image;
};

static struct lap start(struct field *f)
{
	return (struct lap){
		.cpu = cpu(),
		.now = sim_now(f->sim),
		.sets = field_sets(f),
		.reads = sim_count(f->sim, IB_ATTR_MFT, MAD_GET),
		.tops = sim_count(f->sim, IB_ATTR_SWITCH_INFO, MAD_SET),
		.image = field_image(f),
	};
}

static void stop(struct field *f, struct lap *l, const char *what)
{
	double used = cpu() - l->cpu;
	uint8_t *after = field_image(f);

	printf("%-34s %7u sets for %7u cells, %5u tops, %5u gets, %7.1f ms on the wire, %.2f s\n",
	       what, (unsigned)(field_sets(f) - l->sets), field_cells_changed(f, l->image, after),
	       (unsigned)(sim_count(f->sim, IB_ATTR_SWITCH_INFO, MAD_SET) - l->tops),
	       (unsigned)(sim_count(f->sim, IB_ATTR_MFT, MAD_GET) - l->reads),
	       (double)(sim_now(f->sim) - l->now) / MONO_MS, used);
	free(after);
	free(l->image);
}

static void everybody(struct field *f, unsigned group)
{
	for (unsigned h = 0; h < field_hosts(f); h++)
		field_join(f, group, field_host(f, h), true);
}

static void crowds(struct field *f, unsigned group, unsigned size)
{
	for (unsigned h = 0; h < field_hosts(f); h++) {
		field_join(f, group, field_host(f, h), true);
		if (h % size != size - 1 && h + 1 < field_hosts(f))
			continue;
		field_plan(f);
		field_run(f, MONO_MS);
	}
}

static void many_groups(struct field *f, unsigned from)
{
	for (unsigned g = from; g < f->n_groups; g++)
		for (unsigned i = 0; i < 8; i++)
			field_join(f, g, field_host(f, (g * 7919u + i * 104729u) % field_hosts(f)),
				   true);
}

static void apply(struct field *f)
{
	field_plan(f);
	field_settle(f);
}

int main(int argc, char **argv)
{
	unsigned k = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 36;
	struct field *f = field_new(gen_fat_tree3(k), 1, 2002);
	struct lap l = start(f);

	printf("%u hosts, %u switches\n", field_hosts(f), sim_n_nodes(f->sim) - field_hosts(f));
	everybody(f, 0);
	apply(f);
	stop(f, &l, "all join one group at once");
	l = start(f);
	crowds(f, 1, 100);
	apply(f);
	stop(f, &l, "all join another, 100 per ms");
	l = start(f);
	field_leave(f, 0, field_host(f, 5));
	apply(f);
	stop(f, &l, "one leaves");
	l = start(f);
	field_join(f, 0, field_host(f, 5), true);
	apply(f);
	stop(f, &l, "it joins again");
	l = start(f);
	many_groups(f, 2);
	apply(f);
	stop(f, &l, "2000 groups of 8");
	l = start(f);
	sim_link_down(f->sim, sim_find(f->sim, "leaf1"), k);
	field_sweep(f);
	stop(f, &l, "a leaf loses a cable");
	mft_sync_topology(f->sync);
	field_settle(f);
	l = start(f);
	field_restart(f);
	mft_sync_topology(f->sync);
	field_settle(f);
	stop(f, &l, "restart");
	printf("loops %u, twice %u\n", (unsigned)sim_mcast_loops_ever(f->sim),
	       (unsigned)sim_mcast_twice_ever(f->sim));
	field_free(f);
	return 0;
}
