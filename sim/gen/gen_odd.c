// SPDX-License-Identifier: BSD-2-Clause
/*
 * Clusters as machine rooms have them: grown, repaired at night, cabled by people. Each is drawn
 * after a kind that routing has trouble with; none is after a particular site. Small enough to be
 * walked pair by pair.
 */
#include "sim/gen/gen.h"

#include <string.h>

#include "sim/gen/draft.h"
#include "util/mem.h"

/* Switches `from` ... with so many hosts each. Returns the first. */
static unsigned row_from(struct draft *d, const char *name, unsigned from, unsigned n,
			 unsigned hosts)
{
	unsigned first = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned sw = draft_switch(d, name, from + i);

		draft_hosts(d, sw, hosts);
		first = i ? first : sw;
	}
	return first;
}

static unsigned row(struct draft *d, const char *name, unsigned n, unsigned hosts)
{
	return row_from(d, name, 0, n, hosts);
}

static void cables(struct draft *d, unsigned a, unsigned b, unsigned n)
{
	while (n--)
		draft_link(d, a, b);
}

/* Every one of `n_low` with every one of `n_high`. */
static void cross(struct draft *d, unsigned low, unsigned n_low, unsigned high, unsigned n_high,
		  unsigned each)
{
	for (unsigned i = 0; i < n_low; i++)
		for (unsigned j = 0; j < n_high; j++)
			cables(d, low + i, high + j, each);
}

/*
 * Leaves of two generations; spines of two sizes, with storage on them; an old leaf that misses a
 * spine.
 */
static void mixed(struct draft *d)
{
	unsigned leaf = row(d, "leaf", 8, 18), old = row(d, "old", 4, 14),
		 spine = row(d, "spine", 3, 0);

	draft_hosts(d, spine, 3);
	draft_hosts(d, spine + 2, 4);
	cross(d, leaf, 8, spine, 2, 3);
	cross(d, leaf, 8, spine + 2, 1, 6);
	cross(d, old, 4, spine, 1, 2);
	cross(d, old, 3, spine + 1, 1, 2);
	cross(d, old, 4, spine + 2, 1, 3);
}

/* Compute nodes on a pruned tree; storage on one of its own, behind two gateways. */
static void island(struct draft *d)
{
	unsigned leaf = row(d, "leaf", 10, 20), spine = row(d, "spine", 4, 0),
		 store = row(d, "store", 3, 12);
	unsigned top = row(d, "storetop", 2, 0), gateway = row(d, "gateway", 2, 0);

	cross(d, leaf, 10, spine, 4, 2);
	cross(d, store, 3, top, 2, 3);
	for (unsigned g = 0; g < 2; g++) {
		cables(d, gateway + g, spine + 2 * g, 2);
		cables(d, gateway + g, spine + 2 * g + 1, 2);
		cables(d, gateway + g, top + g, 3);
	}
}

/*
 * Two director switches, each of line and fabric chips; edges in them unevenly, some hosts in them
 * directly.
 */
static void director(struct draft *d)
{
	unsigned edge = row(d, "edge", 12, 16), line[2], fabric;

	for (unsigned i = 0; i < 2; i++) {
		line[i] = row(d, i ? "b-line" : "a-line", 6, 0);
		fabric = row(d, i ? "b-fabric" : "a-fabric", 3, 0);
		cross(d, line[i], 6, fabric, 3, 6);
	}
	draft_hosts(d, line[0] + 5, 6);
	draft_hosts(d, line[1], 4);
	for (unsigned i = 0; i < 12; i++)
		for (unsigned c = 0; c < 8; c++)
			draft_link(d, edge + i,
				   c < 5 ? line[0] + (i % 2 ? i : i + c) % 6
					 : line[1] + (2 * i + c) % 6);
}

/* An old tree and a new one beside it, joined where ports were free. */
static void grown(struct draft *d)
{
	unsigned leaf = row(d, "leaf", 6, 12), spine = row(d, "spine", 3, 0);
	unsigned new_leaf = row(d, "newleaf", 8, 16), new_spine = row(d, "newspine", 4, 0);

	cross(d, leaf, 6, spine, 3, 2);
	cross(d, new_leaf, 8, new_spine, 4, 2);
	cables(d, spine, new_spine, 2);
	cables(d, spine + 1, new_leaf + 7, 1);
	cables(d, spine + 2, new_spine + 3, 1);
	cables(d, leaf + 5, new_leaf, 1);
}

/*
 * Two units of 16 nodes with 8 adapters each, every adapter on the leaf of its rail; three are in
 * the wrong rail, an uplink goes to the wrong spine, a pair of uplinks is missing, and two leaves
 * are joined.
 */
static void rails(struct draft *d)
{
	unsigned rail = row(d, "rail", 16, 15), spine = row(d, "spine", 8, 0),
		 store = row(d, "store", 1, 10);
	static const uint8_t adapters[16] = { 1, 0, 2, 1, 1, 1, 1, 2, 0, 1, 1, 1, 2, 1, 1, 0 };

	for (unsigned i = 0; i < 16; i++) {
		draft_hosts(d, rail + i, adapters[i]);
		for (unsigned s = 0; s < 8; s++) {
			bool wrong = i == 5 && s == 3, missing = i == 9 && s == 0;

			cables(d, rail + i, spine + s, missing ? 0 : wrong ? 1 : 2);
			cables(d, rail + i, spine + s + 1, wrong);
		}
	}
	cables(d, rail + 12, rail + 13, 1);
	cross(d, store, 1, spine, 4, 2);
}

/* A tree that still feeds a ring of old switches, and a chain behind that. */
static void tail(struct draft *d)
{
	unsigned leaf = row(d, "leaf", 6, 16), spine = row(d, "spine", 4, 0);
	unsigned ring = row(d, "ring", 6, 8), chain = row(d, "chain", 3, 4);

	cross(d, leaf, 6, spine, 4, 2);
	for (unsigned i = 0; i < 6; i++)
		cables(d, ring + i, ring + (i + 1) % 6, 2);
	cables(d, ring, leaf + 1, 2);
	cables(d, ring + 3, leaf + 4, 1);
	cables(d, ring + 5, chain, 1);
	cables(d, chain, chain + 1, 1);
	cables(d, chain + 1, chain + 2, 1);
}

/* Two planes that should be apart: joined by two cables, and by a switch with login nodes. */
static void planes(struct draft *d)
{
	unsigned leaf[2], spine[2], login;

	for (unsigned p = 0; p < 2; p++) {
		leaf[p] = row(d, p ? "b-leaf" : "a-leaf", 5, 12);
		spine[p] = row(d, p ? "b-spine" : "a-spine", 2, 0);
		cross(d, leaf[p], 5, spine[p], 2, 3);
	}
	login = row(d, "login", 1, 6);
	for (unsigned p = 0; p < 2; p++)
		cables(d, login, leaf[p] + 4, 2);
	cables(d, leaf[0], leaf[1], 1);
	cables(d, spine[0] + 1, spine[1] + 1, 1);
}

/*
 * Three levels of 8-port switches; two leaf cables are crossed over between pods, and two cables of
 * cores.
 */
static void swapped(struct draft *d)
{
	unsigned leaf = row(d, "leaf", 32, 4), agg = row(d, "agg", 32, 0),
		 core = row(d, "core", 16, 0);

	for (unsigned i = 0; i < 32; i++)
		for (unsigned a = 0; a < 4; a++) {
			bool crossed = a == 1 && (i == 2 || i == 13);

			draft_link(d, leaf + i, agg + (crossed ? 15 - i : i) / 4 * 4 + a);
		}
	for (unsigned i = 0; i < 32; i++)
		for (unsigned c = 0; c < 4; c++) {
			bool crossed = c == 3 && (i == 8 || i == 25);

			draft_link(d, agg + i, core + (crossed ? 33 - i : i) % 4 * 4 + c);
		}
}

/*
 * Groups of leaves and spines, every two with three cables; one group never came, and a spine is
 * dead.
 */
static void plus(struct draft *d)
{
	unsigned spine[7], n = 0;

	for (unsigned g = 0; g < 7; g++) {
		unsigned leaf;

		if (g == 4)
			continue;
		leaf = row_from(d, "leaf", 3 * g, 3, 8);
		spine[g] = row_from(d, "spine", 3 * g, g == 6 ? 2 : 3, 0);
		cross(d, leaf, 3, spine[g], g == 6 ? 2 : 3, 2);
	}
	for (unsigned a = 0; a < 7; a++)
		for (unsigned b = a + 1; b < 7; b++)
			for (unsigned c = 0; c < 3; c++, n++)
				if (a != 4 && b != 4 && (b != 6 || c != 2))
					draft_link(d, spine[a] + n % 3, spine[b] + c);
}

/*
 * A torus of 5 x 4 x 3: one ring was left open, one switch is out, a column has two cables
 * everywhere.
 */
static void torus(struct draft *d)
{
	static const unsigned size[3] = { 5, 4, 3 }, step[3] = { 1, 5, 20 };
	unsigned gone = 33;

	row_from(d, "s", 0, gone, 3);
	row_from(d, "s", gone + 1, 60 - gone - 1, 3);
	for (unsigned i = 0; i < 60; i++)
		for (unsigned dim = 0; dim < 3; dim++) {
			unsigned at = i / step[dim] % size[dim],
				 to = i - at * step[dim] + (at + 1) % size[dim] * step[dim];

			if (i != gone && to != gone && (dim != 0 || i != 9))
				cables(d, i - (i > gone), to - (to > gone),
				       dim == 1 && i % 5 == 2 ? 2 : 1);
		}
}

/* Leaves of four kinds; spines of two sizes get as many cables as they have ports. */
static void sizes(struct draft *d)
{
	static const uint8_t kinds[4][2] = { { 12, 9 }, { 18, 14 }, { 20, 14 }, { 16, 10 } };
	static const uint8_t ports[5] = { 48, 48, 36, 36, 36 };
	unsigned used[5] = { 0 }, leaf[14], spine;

	for (unsigned i = 0; i < 14; i++)
		leaf[i] = row_from(d, "leaf", i, 1, kinds[i * 7 / 3 % 4][0]);
	spine = row(d, "spine", 5, 0);
	for (unsigned i = 0; i < 14; i++)
		for (unsigned c = 0; c < kinds[i * 7 / 3 % 4][1]; c++) {
			unsigned best = 0;

			for (unsigned j = 1; j < 5; j++)
				if (used[j] * ports[best] < used[best] * ports[j])
					best = j;
			used[best]++;
			draft_link(d, leaf[i], spine + best);
		}
}

/* Three levels; pods of four kinds, whose cables reach some cores more often than others. */
static void pods(struct draft *d)
{
	static const uint8_t kinds[4][4] = { /* leaves, hosts of each, aggs, cables up of each */
		{ 6, 10, 4, 3 }, { 8, 12, 6, 2 }, { 4, 18, 6, 4 }, { 9, 8, 3, 4 },
	};
	unsigned core = row(d, "core", 12, 0), n_leaves = 0, n_aggs = 0;

	for (unsigned p = 0; p < 6; p++) {
		const uint8_t *kind = kinds[p % 4];
		unsigned agg = row_from(d, "agg", n_aggs, kind[2], 0);

		cross(d, row_from(d, "leaf", n_leaves, kind[0], kind[1]), kind[0], agg, kind[2], 1);
		for (unsigned a = 0; a < kind[2]; a++)
			for (unsigned k = 0; k < kind[3]; k++)
				draft_link(d, agg + a, core + (a * kind[3] + k) % 12);
		n_leaves += kind[0];
		n_aggs += kind[2];
	}
}

static const struct {
	const char *name;
	void (*draw)(struct draft *d);
} clusters[] = {
	{ "odd-mixed", mixed },	  { "odd-island", island },   { "odd-director", director },
	{ "odd-grown", grown },	  { "odd-rails", rails },     { "odd-tail", tail },
	{ "odd-planes", planes }, { "odd-swapped", swapped }, { "odd-plus", plus },
	{ "odd-torus", torus },	  { "odd-sizes", sizes },     { "odd-pods", pods },
};

struct netfile *gen_odd(const char *name)
{
	struct draft *d;

	for (size_t i = 0; i < ARRAY_SIZE(clusters); i++) {
		if (strcmp(name, clusters[i].name))
			continue;
		d = draft_new();
		clusters[i].draw(d);
		return draft_finish(d);
	}
	return NULL;
}

const char *gen_odd_name(unsigned number)
{
	return number < ARRAY_SIZE(clusters) ? clusters[number].name : NULL;
}
