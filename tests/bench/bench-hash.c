// SPDX-License-Identifier: BSD-2-Clause
/*
 * A hash over tables, lanes and hops of every engine on many fabrics, whole, damaged and mended
 * again, and of what is kept when they are found: a line each, to compare two builds (compilers,
 * options, threads) by diff.
 *
 *   bench-hash [-t THREADS] > A
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/topogen.h"
#include "route/select/keep_tables.h"
#include "util/mem.h"

static unsigned threads = 1;

static uint64_t hash(uint64_t h, const void *bytes, size_t n)
{
	for (const uint8_t *p = bytes; p && n-- > 0; p++)
		h = (h ^ *p) * UINT64_C(0x100000001B3);
	return h;
}

static uint64_t hash_routes(uint64_t h, const struct routes *r)
{
	size_t n = r ? r->topo->n_switches : 0;

	if (!r)
		return hash(h, "no", 2);
	for (uint32_t s = 0; s < n; s++)
		h = hash(h, routes_row(r, s), r->row_size);
	h = hash(h, r->hops, n * n);
	h = hash(h, r->note, strlen(r->note));
	h = hash(h, r->places, n * sizeof(*r->places));
	if (r->lanes) {
		h = hash(h, &r->lanes->n_vls, 1);
		h = hash(h, r->lanes->sl, sl2vl_n_sl(r->lanes));
		h = hash(h, r->lanes->vl,
			 (size_t)r->lanes->n_classes * r->lanes->n_classes * SL2VL_SLS);
	}
	return h;
}

static struct routes *tables(const char *engine, const struct topo *t,
			     const struct routes *previous, bool found)
{
	const struct route_chain chain = { .list = engine };
	const struct route_job job = {
		.topo = t,
		.previous = previous,
		.threads = threads,
		.options = { .nue_max_num_vls = 4 },
	};
	struct keep_report w;

	return keep_tables(&chain, &job, found, &w);
}

/* As switches would show them. */
static struct routes *as_found(const struct routes *r)
{
	struct routes *f = routes_new(r->topo, "adopted", r->top);

	for (uint32_t s = 0; s < r->topo->n_switches; s++)
		memcpy(routes_row(f, s), routes_row(r, s), r->row_size);
	return f;
}

static struct topo *fabric(unsigned number, const struct topogen *o)
{
	switch (number) {
	case 0:
		return topogen_fat_tree3(8, o);
	case 1:
		return topogen_fat_tree2(9, 4, 8, 2, o);
	case 2:
		return topogen_torus((unsigned[]){ 4, 4, 4 }, 2, o);
	case 3:
		return topogen_grid("5x6", 3, 1, o);
	case 4:
		return topogen_dragonfly(9, 4, 2, o);
	case 5:
		return topogen_hyperx(5, 4, 3, o);
	case 6:
		return topogen_random(30, 4, 3, o);
	case 7:
		return topogen_grid("2x2x2x2", 3, 2, o);
	default:
		return topogen_random(60, 6, 5, o);
	}
}

static void life(const char *engine, unsigned number, unsigned seed)
{
	const struct topogen whole = {
		.seed = seed, .random_lids = seed & 1, .random_guids = seed & 2, .lmc = seed == 3
	};
	struct topogen broken = whole;
	struct topo *t = fabric(number, &whole), *b;
	struct routes *r[4] = { NULL }, *f;
	uint64_t h = UINT64_C(0xCBF29CE484222325);

	broken.damage = 0.05;
	b = fabric(number, &broken);
	r[0] = tables(engine, t, NULL, false);
	r[1] = tables(engine, b, r[0], false);
	r[2] = tables(engine, t, r[1], false);
	f = r[1] ? as_found(r[1]) : NULL;
	r[3] = f ? tables(engine, b, f, true) : NULL;
	for (unsigned i = 0; i < ARRAY_SIZE(r); i++)
		h = hash_routes(h, r[i]);
	printf("%-10s fabric %u seed %u: %016llx\n", engine, number, seed, (unsigned long long)h);
	for (unsigned i = 0; i < ARRAY_SIZE(r); i++)
		routes_unref(r[i]);
	routes_unref(f);
	topo_unref(t);
	topo_unref(b);
}

int main(int argc, char **argv)
{
	static const char *const engines[] = {
		"auto", "minhop", "updn", "dnup",	"ftree",     "dor",    "lash",
		"sssp", "dfsssp", "nue",  "torus-2QoS", "dragonfly", "hyperx",
	};

	if (getopt(argc, argv, "t:") == 't')
		threads = (unsigned)strtoul(optarg, NULL, 0);
	for (size_t e = 0; e < ARRAY_SIZE(engines); e++)
		for (unsigned number = 0; number < 9; number++)
			for (unsigned seed = 0; seed < 4; seed++)
				life(engines[e], number, seed);
	return 0;
}
