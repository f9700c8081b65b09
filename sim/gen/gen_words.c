// SPDX-License-Identifier: BSD-2-Clause
/* Generators by name and numbers: one row each. */
#include <stdio.h>
#include <string.h>

#include "sim/gen/gen.h"
#include "util/mem.h"
#include "util/str.h"

#define MAX_NUMBERS 4

static struct netfile *fat_tree2(const unsigned *a)
{
	return gen_fat_tree2(a[0]);
}

static struct netfile *fat_tree3(const unsigned *a)
{
	return gen_fat_tree3(a[0]);
}

static struct netfile *tree(const unsigned *a)
{
	return gen_tree(a[0], a[1], a[2], a[3] ? a[3] : 1);
}

static struct netfile *rails(const unsigned *a)
{
	return gen_rails(a[0], a[1], a[2], a[3], false);
}

static struct netfile *planes(const unsigned *a)
{
	return gen_rails(a[0], a[1], a[2], a[3], true);
}

static struct netfile *torus(const unsigned *a)
{
	return gen_torus(a[0], a[1], a[2], a[3]);
}

static struct netfile *mesh(const unsigned *a)
{
	return gen_mesh(a[0], a[1], a[2], a[3]);
}

static struct netfile *dragonfly(const unsigned *a)
{
	return gen_dragonfly(a[0], a[1], a[2]);
}

static struct netfile *slim_fly(const unsigned *a)
{
	return gen_slim_fly(a[0], a[1]);
}

static struct netfile *hypercube(const unsigned *a)
{
	return gen_hypercube(a[0], a[1]);
}

static struct netfile *ring(const unsigned *a)
{
	return gen_ring(a[0], a[1]);
}

static struct netfile *random_graph(const unsigned *a)
{
	return gen_random(a[0], a[1], a[2], a[3]);
}

static struct netfile *single(const unsigned *a)
{
	return gen_single(a[0]);
}

static struct netfile *pair(const unsigned *a)
{
	return gen_pair();
}

static const struct row {
	const char *kind;
	unsigned min, max;
	const char *numbers;
	struct netfile *(*make)(const unsigned *a);
} rows[] = {
	{ "fat-tree2", 1, 1, "K", fat_tree2 },
	{ "fat-tree3", 1, 1, "K", fat_tree3 },
	{ "tree", 3, 4, "LEAVES HOSTS SPINES [CABLES]", tree },
	{ "rails", 4, 4, "UNITS HOSTS RAILS SPINES", rails },
	{ "planes", 4, 4, "UNITS HOSTS RAILS SPINES", planes },
	{ "torus", 4, 4, "X Y Z HOSTS", torus },
	{ "mesh", 4, 4, "X Y Z HOSTS", mesh },
	{ "dragonfly", 3, 3, "GROUPS ROUTERS HOSTS", dragonfly },
	{ "slim-fly", 2, 2, "Q HOSTS", slim_fly },
	{ "hypercube", 2, 2, "DIM HOSTS", hypercube },
	{ "ring", 2, 2, "SWITCHES HOSTS", ring },
	{ "random", 4, 4, "SWITCHES DEGREE HOSTS SEED", random_graph },
	{ "single", 1, 1, "HOSTS", single },
	{ "pair", 0, 0, "", pair },
};

static const struct row *find_row(const char *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].kind, kind))
			return &rows[i];
	return NULL;
}

static void list_kinds(char *err, size_t err_len)
{
	size_t at = (size_t)snprintf(err, err_len, "expected one of");

	for (size_t i = 0; i < ARRAY_SIZE(rows) && at < err_len; i++)
		at += (size_t)snprintf(err + at, err_len - at, " %s", rows[i].kind);
	for (unsigned i = 0; gen_odd_name(i) && at < err_len; i++)
		at += (size_t)snprintf(err + at, err_len - at, " %s", gen_odd_name(i));
}

struct netfile *gen_words(unsigned n, const char *const *words, char *err, size_t err_len)
{
	const struct row *row = n ? find_row(words[0]) : NULL;
	unsigned numbers[MAX_NUMBERS] = { 0 };
	struct netfile *net;

	if (n == 1 && (net = gen_odd(words[0])))
		return net;
	if (!row) {
		list_kinds(err, err_len);
		return NULL;
	}
	if (n - 1 < row->min || n - 1 > row->max) {
		snprintf(err, err_len, "expected %s %s", row->kind, row->numbers);
		return NULL;
	}
	for (unsigned i = 1; i < n; i++) {
		uint64_t v;

		if (str_to_u64(words[i], 10, 1000000, &v) < 0) {
			snprintf(err, err_len, "'%s' is no number", words[i]);
			return NULL;
		}
		numbers[i - 1] = (unsigned)v;
	}
	net = row->make(numbers);
	if (!net)
		snprintf(err, err_len, "these sizes of %s make no fabric", row->kind);
	return net;
}
