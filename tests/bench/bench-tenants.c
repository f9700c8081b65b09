// SPDX-License-Identifier: BSD-2-Clause
/*
 * What one member costs in a large table: judged, written as a line, played, taken back.
 *
 *   bench-tenants [MEMBERS [PARTITIONS [ROUNDS]]]    100000 2000 100000
 *
 * Prints microseconds of processor time of each, of the whole table as text and back, and of the
 * join with a file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "conf/tenants/tenants.h"
#include "util/mem.h"
#include "util/random.h"

static double cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec * 1e-3;
}

struct bench {
	struct tenants *t;
	unsigned n_members, n_partitions, rounds;
	uint64_t dice;
	double judge, inverse, text, play, back;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static struct tenant_request one(const struct bench *b, struct tenant_member *m, uint64_t n)
{
	struct tenant_request rq = { .action = TENANT_ADD, .members = m, .n_members = 1 };

	rq.pkey = (uint16_t)(1 + n % b->n_partitions);
	*m = (struct tenant_member){ 0x946dae0300000000 + n * 1021, true, false };
	return rq;
}

static void fill_table(struct bench *b)
{
	for (uint64_t n = 0; n < b->n_members; n++) {
		struct tenant_member m;
		struct tenant_request rq = one(b, &m, n);
		struct tenant_entry e;
		char why[200];

		require(!tenants_judge(b->t, NULL, &rq, 1, &e, why, sizeof(why)));
		tenants_play(b->t, &e);
		tenant_entry_clear(&e);
	}
}

/* A new member comes, or one that is there goes. */
static void change_once(struct bench *b)
{
	uint64_t n = random_next(&b->dice) % b->n_members;
	struct tenant_member m;
	struct tenant_request rq = one(b, &m, n);
	struct tenant_entry e, back;
	char why[200];
	double at = cpu_us();

	rq.action = n & 1 ? TENANT_REMOVE : TENANT_ADD;
	m.guid += rq.action == TENANT_ADD;
	require(!tenants_judge(b->t, NULL, &rq, 1, &e, why, sizeof(why)) && e.n_rows == 1);
	b->judge += cpu_us() - at;
	at = cpu_us();
	tenants_inverse(b->t, &e, &back);
	b->inverse += cpu_us() - at;
	at = cpu_us();
	tenants_play(b->t, &e);
	b->play += cpu_us() - at;
	at = cpu_us();
	tenants_play(b->t, &back);
	b->back += cpu_us() - at;
	tenant_entry_clear(&e);
	tenant_entry_clear(&back);
}

static void print_joined(const struct bench *b)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	double at = cpu_us();

	partitions_unref(tenants_join(b->t, NULL, c));
	printf("joined %.0f us\n", cpu_us() - at);
}

int main(int argc, char **argv)
{
	struct bench b = { .n_members = 100000, .n_partitions = 2000, .rounds = 100000 };

	b.n_members = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : b.n_members;
	b.n_partitions = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : b.n_partitions;
	b.rounds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 0) : b.rounds;
	b.t = tenants_new();
	fill_table(&b);
	printf("%zu members in %u partitions, %u changes of one: ", tenants_members(b.t),
	       b.n_partitions, b.rounds);
	for (unsigned i = 0; i < b.rounds; i++)
		change_once(&b);
	printf("judge %.2f us, inverse %.2f, play %.2f, back %.2f\n", b.judge / b.rounds,
	       b.inverse / b.rounds, b.play / b.rounds, b.back / b.rounds);
	print_joined(&b);
	tenants_free(b.t);
	return 0;
}
