// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a patch costs: own time, on one thread, when cables die. Asserts nothing.
 *
 *   bench-patch [-e "ENGINE..."] [-n events] [-s seed] [-d cables] [-k EVENT] FABRIC
 *
 * FABRIC as in tests/lib/topocut.h, or a file that --plan reads. -d: so many cables are missing
 * from the start. Events, each on a ground of its own: `cable`: one between switches; `leaf`,
 * `spine`: all cables of a switch with end ports, or of one as far from these as any; `card`: eight
 * ports of a switch; `half`: half of all spines at once (where each switch has end ports, an eighth
 * of all).
 *
 * Columns: event, how many, median and greatest milliseconds, entries of the median and most
 * entries, all entries by how (beside, rule, neighbour, back, waiting), and how many wait yet when
 * all Sets have arrived, and those of further patches.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "offline/plan.h"
#include "route/core/graph.h"
#include "route/patch/patch.h"
#include "route/proof/check.h"
#include "route/select/engines.h"
#include "tests/lib/topocut.h"
#include "util/mem.h"
#include "util/random.h"

struct bench {
	unsigned events, damage;
	const char *only; /* event; NULL: all */
	uint64_t seed;
	const struct topo *topo;
	const struct routes *routes;
	uint16_t *level; /* by switch: hops to the nearest end port */
	uint16_t top;	 /* the greatest of these */
	uint32_t *cables, n_cables;
};

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec * 1e-6;
}

static size_t cables_of(const struct topo *t, uint32_t sw, unsigned most, uint32_t *ret)
{
	size_t n = 0;

	for (unsigned p = 1; p <= t->switches[sw].n_ports && n < most; p++)
		if (topo_behind(t, sw, p) != TOPO_NONE)
			ret[n++] = t->switches[sw].first_port + p;
	return n;
}

/* A random switch of a level. */
static uint32_t random_switch(struct bench *b, uint16_t level)
{
	for (unsigned i = 0; i < 10000; i++) {
		uint32_t s = (uint32_t)(random_next(&b->seed) % b->topo->n_switches);

		if (b->level[s] == level && !topo_is_bare(b->topo, s))
			return s;
	}
	return TOPO_NONE;
}

static size_t half(struct bench *b, uint32_t *ret)
{
	size_t n = 0;

	for (uint32_t s = 0; s < b->topo->n_switches; s++)
		if (b->top ? b->level[s] == b->top && random_next(&b->seed) % 2
			   : random_next(&b->seed) % 8 == 0)
			n += cables_of(b->topo, s, 255, ret + n);
	return n;
}

/* The dead cables of an event; 0: there is no such event here. */
static size_t choose(struct bench *b, const char *event, uint32_t *ret)
{
	uint32_t s = TOPO_NONE;

	if (!strcmp(event, "cable")) {
		ret[0] = b->cables[random_next(&b->seed) % b->n_cables];
		return 1;
	}
	if (!strcmp(event, "half"))
		return half(b, ret);
	if (!strcmp(event, "leaf") || !strcmp(event, "spine"))
		s = b->top || *event == 'l' ? random_switch(b, *event == 'l' ? 0 : b->top)
					    : TOPO_NONE;
	else
		s = (uint32_t)(random_next(&b->seed) % b->topo->n_switches);
	return s == TOPO_NONE ? 0 : cables_of(b->topo, s, event[0] == 'c' ? 8 : 255, ret);
}

struct event {
	double ms;
	size_t n;
};

static int compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->ms > y->ms) - (x->ms < y->ms);
}

/* The entries that wait when all Sets have arrived, and those of the patches that follow. */
static uint32_t wait_at_rest(const struct bench *b, struct patch_ground *g, const struct patch *p)
{
	struct routes *now = routes_ref(p->routes ? p->routes : b->routes);
	uint32_t waiting = p->counts[PATCH_WAITING];
	bool moved = true;

	for (unsigned i = 0; i < 8 && waiting && moved; i++) {
		struct patch *more = patch_make(g, now, NULL, 0, NULL);

		waiting = more->counts[PATCH_WAITING];
		moved = more->routes;
		if (moved) {
			routes_unref(now);
			now = routes_ref(more->routes);
		}
		patch_free(more);
	}
	routes_unref(now);
	return waiting;
}

static void run(struct bench *b, const char *name, unsigned times)
{
	uint32_t *dead = xcalloc(topo_n_entries(b->topo) + 1u, sizeof(*dead));
	struct event *events = xcalloc(times + 1u, sizeof(*events));
	uint64_t hows[PATCH_HOWS] = { 0 }, rest = 0;
	size_t most = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < times; i++) {
		size_t n_dead = choose(b, name, dead);
		struct patch_ground *g = patch_ground_new(b->routes);
		double began = now_ms();
		struct patch *p = patch_make(g, b->routes, dead, n_dead, NULL);

		if (n_dead)
			events[n++] = (struct event){ now_ms() - began, p->n };
		rest += wait_at_rest(b, g, p);
		most = MAX(most, p->n);
		for (unsigned h = 0; h < PATCH_HOWS; h++)
			hows[h] += p->counts[h];
		patch_free(p);
		patch_ground_free(g);
	}
	qsort(events, n, sizeof(*events), compare);
	if (n) {
		printf("  %-6s %4u  %8.2f %8.2f ms  %8zu %8zu ", name, n, events[n / 2].ms,
		       events[n - 1].ms, events[n / 2].n, most);
		for (unsigned h = 0; h < PATCH_HOWS; h++)
			printf(" %s %llu", patch_how_name(h), (unsigned long long)hows[h]);
		printf(" (%llu at rest)\n", (unsigned long long)rest);
		fflush(stdout);
	}
	FREE_ALL(dead, events);
}

static void run_engine(struct bench *b, const char *engine)
{
	static const struct {
		const char *name;
		unsigned most;
	} kinds[] = {
		{ "cable", 100000 }, { "leaf", 20 }, { "spine", 20 }, { "card", 20 }, { "half", 3 }
	};
	struct route_job job = { .topo = b->topo, .threads = 2 };
	char why[256] = "no such engine";
	const struct route_engine *e = route_engine_find(engine);
	struct routes *r = e ? route_engine_run(e, &job, why, sizeof(why)) : NULL;
	struct route_verdict v;
	struct patch_ground *g;
	double began;

	if (!r) {
		printf("%s: %s\n", engine, why);
		return;
	}
	began = now_ms();
	g = patch_ground_new(r);
	printf("%s: %u switches, LIDs up to %u, %u VLs; ground: %.0f ms, %.1f MB", engine,
	       b->topo->n_switches, r->top, r->lanes ? r->lanes->n_vls : 1u, now_ms() - began,
	       (double)patch_ground_bytes(g) / 1e6);
	patch_ground_free(g);
	routes_check_after(NULL, r, 2, &v);
	began = now_ms();
	g = patch_ground_new(r);
	printf(", %.0f ms after the proof%s\n", now_ms() - began,
	       v.credit_loop ? "; the tables have a cycle" : "");
	patch_ground_free(g);
	b->routes = r;
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!b->only || !strcmp(b->only, kinds[i].name))
			run(b, kinds[i].name, MIN(b->events, kinds[i].most));
	routes_unref(r);
}

static struct topo *fabric(int n, char **words)
{
	struct topogen o = { 0 };
	struct plan_args args = { .fabric = words[0] };
	struct plan_world w;
	struct topo *t = NULL;

	if (n != 1)
		return topogen_words(n, words, &o);
	if (!plan_read(&args, &w))
		t = topo_ref(w.topo);
	plan_world_clear(&w);
	return t;
}

/* Some cables are missing. Takes over the reference. */
static struct topo *worn(struct bench *b, struct topo *t)
{
	struct topocut *c = topocut_new(t);
	uint32_t n, *cables = topocut_cables(t, &n);
	struct topo *left;

	for (unsigned i = 0; i < b->damage && n; i++)
		c->ports[cables[random_next(&b->seed) % n]] = true;
	left = topocut_apply(t, c);
	topocut_free(c);
	topo_unref(t);
	free(cables);
	return left;
}

static void find_levels(struct bench *b)
{
	struct graph *g = graph_new(b->topo, NULL);
	uint32_t *senders = topo_count_senders(b->topo);

	b->level = xcalloc(b->topo->n_switches + 1u, sizeof(*b->level));
	for (uint32_t s = 0; s < b->topo->n_switches; s++)
		b->level[s] = senders[s] ? 0 : UINT16_MAX;
	b->top = graph_flood(g, b->level, NULL);
	free(senders);
	graph_free(g);
}

static void usage(void)
{
	fprintf(stderr, "usage: bench-patch [-e \"ENGINE...\"] [-n events] [-s seed] [-d cables] "
			"[-k EVENT] "
			"FABRIC\n" TOPOGEN_WORDS);
	exit(1);
}

int main(int argc, char **argv)
{
	struct bench b = { .events = 200, .seed = 1 };
	char *engines = NULL;
	struct topo *t;
	int c;

	while ((c = getopt(argc, argv, "e:n:s:d:k:")) >= 0)
		switch (c) {
		case 'e':
			engines = optarg;
			break;
		case 'n':
			b.events = (unsigned)atoi(optarg);
			break;
		case 'k':
			b.only = optarg;
			break;
		case 's':
			b.seed = (uint64_t)atoll(optarg);
			break;
		case 'd':
			b.damage = (unsigned)atoi(optarg);
			break;
		default:
			usage();
		}
	t = optind < argc ? fabric(argc - optind, argv + optind) : NULL;
	if (!t)
		usage();
	t = worn(&b, t);
	b.topo = t;
	b.cables = topocut_cables(t, &b.n_cables);
	find_levels(&b);
	engines = xstrdup(engines ? engines : "auto");
	for (char *at = engines, *word; (word = strsep(&at, " "));)
		run_engine(&b, word);
	FREE_ALL(engines, b.cables, b.level);
	topo_unref(t);
	return 0;
}
