// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a hostile host costs a manager and other hosts: forged MADs of all kinds, mixed, at a steady
 * rate, beside hosts that ask for paths; first without the attack, then with it.
 *
 * Time in the fabric is virtual, processor time of the manager is real. An answer takes as long as
 * what the manager has before it in its queue, and itself: work that arrives waits for work that is
 * not done, and time that passes does it.
 *
 * `make bench-attacks && ./bench-attacks [MADs [MADs per second [hosts per leaf]]]`: a tree of 32
 * leaves, 1,024 hosts. The time that reading the clock takes is left out.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sm/sm.h"
#include "tests/lib/attack.h"
#include "util/log.h"
#include "util/mem.h"

#define ASK_EVERY 10u
#define CLASSES	  32u

struct phase {
	const char *name;
	uint64_t n_gets, n_sets, spent; /* ns */
	uint32_t *waits;		/* ns, of each answer */
	unsigned n;
	struct {
		uint64_t spent; /* of steps without a question */
		unsigned n;
		/* ns: of steps with one, without what was not done before */
		uint32_t *took;
		unsigned n_took;
	} by_class[CLASSES];
};

/* How long answers took. */
struct times {
	double mean, median, most, longest; /* us; `most`: of 99 % */
};

static void drop_line(void *arg, unsigned bits, const char *text)
{
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* At least; it is a call of the kernel. */
static uint64_t reading_takes(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < 1000; i++) {
		uint64_t before = cpu_ns();

		least = MIN(least, cpu_ns() - before);
	}
	return least;
}

static uint64_t sent(const struct attack *a, uint8_t method)
{
	const struct mad_count *rows;
	uint64_t n = 0;
	unsigned n_rows;

	rows = mad_counts(sm_mad(a->sm), &n_rows);
	for (unsigned i = 0; i < n_rows; i++)
		n += rows[i].method == method ? rows[i].sent : 0;
	return n;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts them. */
static struct times times_of(uint32_t *ns, unsigned n)
{
	struct times t = { 0 };
	double sum = 0;

	if (!n)
		return t;
	qsort(ns, n, sizeof(*ns), compare);
	for (unsigned i = 0; i < n; i++)
		sum += ns[i];
	t.mean = sum / n * 1e-3;
	t.median = ns[n / 2] * 1e-3;
	t.most = ns[n - n / 100 - 1] * 1e-3;
	t.longest = ns[n - 1] * 1e-3;
	return t;
}

/* Its own port only in the second half: then it is asked nothing else. Returns the class. */
static unsigned send_one(struct attack *a, unsigned from)
{
	unsigned class = from + attack_roll(a, attack_n_classes - from);

	attack_send(a, &attack_classes[class]);
	return class;
}

static void note_class(struct phase *p, unsigned class, uint64_t ns)
{
	p->by_class[class].spent += ns;
	p->by_class[class].n++;
}

/* `took`: the MAD and the answer right behind it; `backlog`: that, and all before it. */
static void note_answer(struct phase *p, unsigned class, uint64_t took, uint64_t backlog)
{
	p->waits[p->n++] = (uint32_t)MIN(backlog, UINT32_MAX);
	p->by_class[class].took[p->by_class[class].n_took++] = (uint32_t)MIN(took, UINT32_MAX);
}

/* Returns the class with the worst mean behind it. */
static unsigned print_classes(struct phase *p)
{
	double worst_mean = 0;
	unsigned worst = 0;

	printf("one costs   with an answer behind it: mean  median   (us)\n");
	for (unsigned i = 0; i < attack_n_classes; i++) {
		double n = MAX(p->by_class[i].n, 1u);
		struct times t = times_of(p->by_class[i].took, p->by_class[i].n_took);

		printf("%9.2f %32.2f %7.2f   %s\n", (double)p->by_class[i].spent * 1e-3 / n, t.mean,
		       t.median, attack_classes[i].name);
		worst = t.mean > worst_mean ? i : worst;
		worst_mean = MAX(worst_mean, t.mean);
	}
	return worst;
}

static void phase_init(struct phase *p, const char *name, unsigned n)
{
	*p = (struct phase){ .name = name };
	p->waits = xcalloc(n / ASK_EVERY + 1, sizeof(*p->waits));
	for (unsigned i = 0; i < CLASSES; i++)
		p->by_class[i].took = xcalloc(n / ASK_EVERY + 1, sizeof(*p->waits));
}

static void phase_release(struct phase *p)
{
	free(p->waits);
	for (unsigned i = 0; i < CLASSES; i++)
		free(p->by_class[i].took);
}

static void run_phase(struct attack *a, struct phase *p, unsigned n, unsigned rate, bool hostile)
{
	uint64_t n_gets = sent(a, MAD_GET), n_sets = sent(a, MAD_SET), spent = a->rig->spent;
	int64_t backlog = 0, step = 1000000000 / rate, took;

	assert(attack_n_classes <= CLASSES);
	for (unsigned i = 0; i < n; i++) {
		uint64_t before = a->rig->spent;
		unsigned class = hostile ? send_one(a, i < n / 2 ? 1 : 0) : 0;

		if (i % ASK_EVERY == 0)
			attack_ask(a);
		attack_run(a, MONO_S / rate);
		attack_hear(a);
		/* Less than nothing where the clock was read faster than ever before. */
		took = MAX((int64_t)(a->rig->spent - before), (int64_t)0);
		backlog += took;
		if (i % ASK_EVERY == 0)
			note_answer(p, class, (uint64_t)took, (uint64_t)backlog);
		else
			note_class(p, class, (uint64_t)took);
		backlog = MAX(backlog - step, (int64_t)0);
	}
	p->n_gets = sent(a, MAD_GET) - n_gets;
	p->n_sets = sent(a, MAD_SET) - n_sets;
	p->spent = a->rig->spent - spent;
}

static struct times print_phase(struct phase *p)
{
	struct times t = times_of(p->waits, p->n);

	printf("%-8s %8.2f s CPU of the manager %8" PRIu64 " Gets %6" PRIu64
	       " Sets   answers: mean %.2f us, median %.2f, 99 %% %.2f, longest %.1f\n",
	       p->name, (double)p->spent * 1e-9, p->n_gets, p->n_sets, t.mean, t.median, t.most,
	       t.longest);
	return t;
}

static void print_all(struct phase *quiet, struct phase *hostile)
{
	struct times without = print_phase(quiet), with = print_phase(hostile), worst;
	unsigned class = print_classes(hostile);

	worst = times_of(hostile->by_class[class].took, hostile->by_class[class].n_took);
	printf("answers with / without: mean %.2f, median %.2f; right behind the worst class "
	       "(%s): mean %.2f, median %.2f\n",
	       with.mean / without.mean, with.median / without.median, attack_classes[class].name,
	       worst.mean / without.mean, worst.median / without.median);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1000000,
		 rate = argc > 2 ? (unsigned)atoi(argv[2]) : 10000,
		 hosts = argc > 3 ? (unsigned)atoi(argv[3]) : 32;
	struct phase quiet, hostile;
	struct attack *a;
	const char *name;
	unsigned changed;

	log_set_sink(drop_line, NULL);
	a = attack_new(hosts, 1);
	attack_look(a);
	a->rig->clock = cpu_ns;
	a->rig->clock_takes = reading_takes();
	phase_init(&quiet, "without", n);
	phase_init(&hostile, "with", n);
	run_phase(a, &quiet, n, rate, false);
	run_phase(a, &hostile, n, rate, true);
	attack_run(a, 3 * MONO_S);
	attack_hear(a);
	changed = attack_changed(a, ATTACK_ANYWHERE, &name);
	printf("%u forged MADs, %u a second\n", n, rate);
	print_all(&quiet, &hostile);
	printf("%.2f us for a forged MAD, %u devices changed, %" PRIu64 " of %" PRIu64
	       " questions answered rightly\n",
	       ((double)hostile.spent - (double)quiet.spent) * 1e-3 / n, changed, a->answered,
	       a->asked);
	phase_release(&quiet);
	phase_release(&hostile);
	attack_free(a);
	return 0;
}
