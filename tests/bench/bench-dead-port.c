// SPDX-License-Identifier: BSD-2-Clause
/*
 * What cables between switches that die cost the whole manager until the last Set of the patch was
 * answered, on a simulated fabric: cables drawn at random die one after the other while the routing
 * that follows the first takes an hour, so every patch is made of the one before. Asserts nothing.
 *
 *   bench-dead-port [-n cables] [-e engine] [-s seed] [-k cable|switch] [-v] FABRIC
 *
 * FABRIC as netgen has it, fat-tree3 16, or: file PATH. -k switch: switches without hosts lose
 * power instead.
 *
 * Own time is that of the manager's thread from the trap to the last answer: reading the switch,
 * the patch, its Sets. Simulated time is what passes at 0.5 us a hop.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ib/attrs.h"
#include "route/patch/patch_text.h"
#include "sim/gen/gen.h"
#include "tests/lib/rig.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/random.h"

#define MOST (UINT64_C(3600) * MONO_S)

struct cost {
	double own_ms, simulated_ms;
	unsigned n_gets, n_sets, n_entries, n_waiting;
};

struct bench {
	struct rig *rig;
	const char *engine;
	unsigned n, n_done;
	uint64_t random;
	bool switches, verbose;
	struct patch_tally tally; /* of the last patch */
	bool told;
	struct cost *costs;
};

static uint64_t thread_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void on_event(struct rig_sm *s, const struct sm_event *e)
{
	struct bench *b = s->rig->owner;

	if (e->kind != SM_EVENT_PATCH)
		return;
	b->tally = *e->patch.tally;
	b->told = true;
}

static bool leads_to_switch(struct sim *sim, int node, unsigned port)
{
	unsigned far_port;
	int far;

	return sim_peer(sim, node, port, &far, &far_port) && sim_node_is_switch(sim, far);
}

static bool has_hosts(struct sim *sim, int node)
{
	for (unsigned p = 1; p <= sim_node_ports(sim, node); p++) {
		unsigned far_port;
		int far;

		if (sim_peer(sim, node, p, &far, &far_port) && !sim_node_is_switch(sim, far))
			return true;
	}
	return false;
}

/* Draws a switch and a port of it with a cable that is up to a switch. False: none was drawn. */
static bool draw(struct bench *b, int *ret_node, unsigned *ret_port)
{
	struct sim *sim = b->rig->sim;

	for (unsigned i = 0; i < 100000; i++) {
		int node = (int)(random_next(&b->random) % sim_n_nodes(sim));
		unsigned port;

		if (!sim_node_is_switch(sim, node) || (b->switches && has_hosts(sim, node)))
			continue;
		port = 1 + (unsigned)(random_next(&b->random) % sim_node_ports(sim, node));
		if (!leads_to_switch(sim, node, port) ||
		    sim_port_state(sim, node, port) != IB_PORT_ACTIVE)
			continue;
		*ret_node = node;
		*ret_port = port;
		return true;
	}
	return false;
}

static void kill_one(struct bench *b)
{
	struct sim *sim = b->rig->sim;
	struct cost *c = &b->costs[b->n_done];
	uint64_t spent = b->rig->spent;
	uint64_t read = sim_gets(sim), written = sim_sets(sim);
	mono_t until = sim_now(sim) + 20 * MONO_S;
	unsigned port;
	int node;

	if (!draw(b, &node, &port))
		return;
	b->told = false;
	if (b->switches)
		sim_power(sim, node, false);
	else
		sim_link_down(sim, node, port);
	while (!b->told && rig_step(b->rig, until))
		;
	if (!b->told) {
		printf("%s port %u: no patch in 20 s\n", sim_node_id(sim, node), port);
		return;
	}
	*c = (struct cost){ .own_ms = (double)(b->rig->spent - spent) / 1e6,
			    .simulated_ms = b->tally.us / 1e3,
			    .n_gets = (unsigned)(sim_gets(sim) - read),
			    .n_sets = (unsigned)(sim_sets(sim) - written),
			    .n_entries = patch_tally_moved(&b->tally),
			    .n_waiting = b->tally.destinations[PATCH_WAITING] };
	b->n_done++;
	if (b->verbose)
		printf("%-12s %3u: %7.2f ms own, %7.2f ms simulated, %5u Gets, %5u Sets, %6u "
		       "entries "
		       "(%u beside, %u rule, %u neighbour, %u back, %u waiting)\n",
		       sim_node_id(sim, node), port, c->own_ms, c->simulated_ms, c->n_gets,
		       c->n_sets, c->n_entries, b->tally.destinations[PATCH_BESIDE],
		       b->tally.destinations[PATCH_RULE], b->tally.destinations[PATCH_NEIGHBOUR],
		       b->tally.destinations[PATCH_BACK], c->n_waiting);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void report(struct bench *b)
{
	double own[3] = { 0 }, *v = xcalloc(b->n_done + 1, sizeof(*v));
	uint64_t sum[4] = { 0 };

	for (unsigned i = 0; i < b->n_done; i++) {
		v[i] = b->costs[i].own_ms;
		sum[0] += b->costs[i].n_gets;
		sum[1] += b->costs[i].n_sets;
		sum[2] += b->costs[i].n_entries;
		sum[3] += b->costs[i].n_waiting;
	}
	if (!b->n_done)
		return;
	qsort(v, b->n_done, sizeof(*v), compare);
	own[0] = v[b->n_done / 2];
	own[1] = v[b->n_done * 95 / 100];
	own[2] = v[b->n_done - 1];
	for (unsigned i = 0; i < b->n_done; i++)
		v[i] = b->costs[i].simulated_ms;
	qsort(v, b->n_done, sizeof(*v), compare);
	printf("%u %s, %s: own time %.2f ms median, %.2f of 95 %%, %.2f most; simulated %.2f ms "
	       "median, %.2f most; means: %.0f Gets, %.0f Sets, %.0f entries, %.1f waiting\n",
	       b->n_done, b->switches ? "switches" : "cables", b->engine ? b->engine : "auto",
	       own[0], own[1], own[2], v[b->n_done / 2], v[b->n_done - 1],
	       (double)sum[0] / b->n_done, (double)sum[1] / b->n_done, (double)sum[2] / b->n_done,
	       (double)sum[3] / b->n_done);
	free(v);
}

/* The host that has the manager. */
static const char *first_host(const struct sim *sim)
{
	unsigned i = 0;

	while (sim_node_is_switch(sim, (int)i))
		i++;
	return sim_node_id(sim, (int)i);
}

static int run(struct bench *b, struct netfile *net)
{
	struct conf *conf = conf_new();

	if (b->engine) {
		free(conf->routing_engine);
		conf->routing_engine = xstrdup(b->engine);
	}
	log_set_flags(LOGB_ERROR);
	b->rig = rig_new(sim_new(net, 7));
	b->rig->owner = b;
	b->rig->event = on_event;
	sim_watch_loops(b->rig->sim, false);
	b->costs = xcalloc(b->n + 1, sizeof(*b->costs));
	rig_start(b->rig, first_host(b->rig->sim), 0, conf, NULL);
	rig_run(b->rig, sim_now(b->rig->sim) + 90 * MONO_S);
	b->rig->clock = thread_time;
	b->rig->job_time = MOST;
	for (unsigned i = 0; i < b->n; i++)
		kill_one(b);
	report(b);
	rig_free(b->rig);
	conf_unref(conf);
	free(b->costs);
	return 0;
}

static struct netfile *net_from_file(const char *path, char *err, size_t len)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	FILE *f = fopen(path, "r");
	struct netfile *ret;

	if (!f || getdelim(&text, &n, '\0', f) < 0) {
		snprintf(err, len, "%s cannot be read", path);
		ret = NULL;
	} else {
		ret = netfile_parse(text, strlen(text), err, len);
	}
	if (f)
		fclose(f);
	return ret;
}

static int usage(void)
{
	fputs("bench-dead-port [-n cables] [-e engine] [-s seed] [-k cable|switch] [-v] KIND "
	      "NUMBER... | file PATH\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct bench b = { .n = 200, .random = 1 };
	_cleanup_(netfile_freep) struct netfile *net = NULL;
	char err[512];
	int opt;

	while ((opt = getopt(argc, argv, "n:e:s:k:v")) != -1)
		switch (opt) {
		case 'n':
			b.n = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'e':
			b.engine = optarg;
			break;
		case 's':
			b.random = strtoul(optarg, NULL, 10);
			break;
		case 'k':
			b.switches = !strcmp(optarg, "switch");
			break;
		case 'v':
			b.verbose = true;
			break;
		default:
			return usage();
		}
	if (argc - optind == 2 && !strcmp(argv[optind], "file"))
		net = net_from_file(argv[optind + 1], err, sizeof(err));
	else
		net = gen_words((unsigned)(argc - optind), (const char *const *)argv + optind, err,
				sizeof(err));
	if (!net) {
		fprintf(stderr, "%s\n", err);
		return usage();
	}
	return run(&b, net);
}
