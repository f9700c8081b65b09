// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a cable or a host that goes and comes back costs the whole manager, in SMPs, on a simulated
 * fabric in virtual time: every one of a kind, one after the other. Asserts nothing.
 *
 *   bench-cable [-k uplink|core|host] [-n events] [-e engine] [-q] [-v] FABRIC, as netgen has them:
 *   fat-tree3 16
 *
 * uplink: between a switch with hosts and one without; core: between two without. -n: that many of
 * them, evenly spread (0: all). -q: ninety quiet seconds after a cable is back, and what they cost.
 * -v: a line for each event.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/attrs.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "route/proof/check.h"
#include "util/log.h"
#include "util/mem.h"

enum phase { DOWN, UP, QUIET, PHASES };

static const char *const phase_names[] = { "down", "up", "quiet" };

/* Of one event. */
struct cost {
	unsigned smps, n_gets, n_sets, n_lft, load;
};

struct cable {
	int node;
	unsigned port;
};

struct bench {
	struct rig *rig;
	const char *kind, *engine;
	unsigned n;
	bool quiet, verbose;
	struct cable *cables;
	size_t n_cables, cap_cables;
	struct cost *costs[PHASES];
};

static bool has_hosts(struct sim *sim, int node)
{
	for (unsigned p = 1; p <= sim_node_ports(sim, node); p++) {
		int peer;
		unsigned port;

		if (sim_peer(sim, node, p, &peer, &port) && !sim_node_is_switch(sim, peer))
			return true;
	}
	return false;
}

static bool is_asked_for(const struct bench *b, int node, int peer)
{
	struct sim *sim = b->rig->sim;

	if (!sim_node_is_switch(sim, peer))
		return !strcmp(b->kind, "host") &&
		       strcmp(sim_node_id(sim, peer), b->rig->sms[0].node) != 0;
	if (!strcmp(b->kind, "uplink"))
		return has_hosts(sim, node) && !has_hosts(sim, peer);
	return !strcmp(b->kind, "core") && !has_hosts(sim, node) && !has_hosts(sim, peer) &&
	       node < peer;
}

static void find_cables(struct bench *b)
{
	struct sim *sim = b->rig->sim;

	for (unsigned i = 0; i < sim_n_nodes(sim); i++)
		for (unsigned p = 1;
		     sim_node_is_switch(sim, (int)i) && p <= sim_node_ports(sim, (int)i); p++) {
			int peer;
			unsigned port;

			if (!sim_peer(sim, (int)i, p, &peer, &port) ||
			    !is_asked_for(b, (int)i, peer))
				continue;
			GROW(b->cables, b->n_cables + 1, b->cap_cables);
			b->cables[b->n_cables++] = (struct cable){ (int)i, p };
		}
}

static void run_for(struct bench *b, mono_t t)
{
	rig_run(b->rig, sim_now(b->rig->sim) + t);
}

/* To the end of the next light sweep, which proves what was written. */
static void run_to_light_sweep(struct bench *b)
{
	const struct sm_stats *st = sm_stats(b->rig->sms[0].sm);
	unsigned before = st->light_sweeps;
	mono_t until = sim_now(b->rig->sim) + 60 * MONO_S;

	while (st->light_sweeps == before && rig_step(b->rig, until))
		;
	run_for(b, MONO_S / 10);
}

static struct cost count(const struct bench *b)
{
	struct sim *sim = b->rig->sim;
	const struct routes *r = sm_routes(b->rig->sms[0].sm);

	return (struct cost){
		.n_gets = (unsigned)sim_gets(sim), .n_sets = (unsigned)sim_sets(sim),
		.n_lft = (unsigned)sim_count(sim, IB_ATTR_LFT, MAD_SET),
		.load = r && r->judged ? r->judged->max_load : 0,
	};
}

static void note(struct bench *b, enum phase phase, unsigned i, struct cost before)
{
	struct cost c = count(b);

	c.n_gets -= before.n_gets;
	c.n_sets -= before.n_sets;
	c.n_lft -= before.n_lft;
	c.smps = c.n_gets + c.n_sets;
	b->costs[phase][i] = c;
	if (b->verbose)
		printf("%-5s %-12s %3u: %5u SMPs (%u Gets, %u Sets, %u LFT), load %u\n",
		       phase_names[phase], sim_node_id(b->rig->sim, b->cables[i].node),
		       b->cables[i].port, c.smps, c.n_gets, c.n_sets, c.n_lft, c.load);
}

static void pull_and_put(struct bench *b, unsigned i)
{
	const struct cable *c = &b->cables[i];
	struct cost before = count(b);

	sim_link_down(b->rig->sim, c->node, c->port);
	run_for(b, 2 * MONO_S);
	note(b, DOWN, i, before);
	run_to_light_sweep(b);
	before = count(b);
	sim_link_up(b->rig->sim, c->node, c->port);
	run_for(b, 2 * MONO_S);
	note(b, UP, i, before);
	if (b->quiet) {
		struct sm_stats st = *sm_stats(b->rig->sms[0].sm);

		before = count(b);
		run_for(b, 90 * MONO_S);
		note(b, QUIET, i, before);
		b->costs[QUIET][i].n_gets =
			sm_stats(b->rig->sms[0].sm)->light_sweeps - st.light_sweeps;
	}
	run_to_light_sweep(b);
}

static int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

static void print_figure(const struct bench *b, const char *name, enum phase phase, size_t offset)
{
	unsigned *v = xcalloc(b->n_cables, sizeof(*v));

	for (size_t i = 0; i < b->n_cables; i++)
		memcpy(&v[i], (const char *)&b->costs[phase][i] + offset, sizeof(*v));
	qsort(v, b->n_cables, sizeof(*v), compare);
	printf("  %-5s %-9s %6u %6u %6u\n", phase_names[phase], name, v[0], v[b->n_cables / 2],
	       v[b->n_cables - 1]);
	free(v);
}

static void report(const struct bench *b, unsigned load)
{
	printf("%s, %zu events, load at first %u: least, median, most\n", b->kind, b->n_cables,
	       load);
	for (enum phase p = DOWN; p < (b->quiet ? PHASES : QUIET); p++) {
		if (p != QUIET)
			print_figure(b, "SMPs", p, offsetof(struct cost, smps));
		if (p != QUIET)
			print_figure(b, "Gets", p, offsetof(struct cost, n_gets));
		print_figure(b, "Sets", p, offsetof(struct cost, n_sets));
		print_figure(b, "LFT Sets", p, offsetof(struct cost, n_lft));
		print_figure(b, "load", p, offsetof(struct cost, load));
	}
}

/* Leaves `n` of them, evenly spread. */
static void thin_out(struct bench *b)
{
	if (!b->n || b->n >= b->n_cables)
		return;
	for (unsigned i = 0; i < b->n; i++)
		b->cables[i] = b->cables[(2 * i + 1) * b->n_cables / (2 * b->n)];
	b->n_cables = b->n;
}

static int run(struct bench *b, struct netfile *net)
{
	struct conf *conf = conf_new();
	unsigned load;

	if (b->engine) {
		free(conf->routing_engine);
		conf->routing_engine = xstrdup(b->engine);
	}
	log_set_flags(LOGB_ERROR);
	b->rig = rig_new(sim_new(net, 7));
	sim_watch_loops(b->rig->sim, false);
	rig_start(b->rig, "h0", 0, conf, NULL);
	find_cables(b);
	thin_out(b);
	for (enum phase p = DOWN; p < PHASES; p++)
		b->costs[p] = xcalloc(b->n_cables + 1, sizeof(*b->costs[p]));
	run_for(b, 30 * MONO_S);
	run_to_light_sweep(b);
	load = count(b).load;
	for (unsigned i = 0; i < b->n_cables; i++)
		pull_and_put(b, i);
	if (b->n_cables)
		report(b, load);
	rig_free(b->rig);
	conf_unref(conf);
	for (enum phase p = DOWN; p < PHASES; p++)
		free(b->costs[p]);
	free(b->cables);
	return 0;
}

static int usage(void)
{
	fputs("bench-cable [-k uplink|core|host] [-n events] [-e engine] [-q] [-v] KIND "
	      "NUMBER...\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct bench b = { .kind = "uplink" };
	_cleanup_(netfile_freep) struct netfile *net = NULL;
	char err[512];
	int opt;

	while ((opt = getopt(argc, argv, "k:n:e:qv")) != -1)
		switch (opt) {
		case 'k': b.kind = optarg; break;
		case 'n': b.n = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'e': b.engine = optarg; break;
		case 'q': b.quiet = true; break;
		case 'v': b.verbose = true; break;
		default: return usage();
		}
	net = gen_words((unsigned)(argc - optind), (const char *const *)argv + optind, err,
			sizeof(err));
	if (!net) {
		fprintf(stderr, "%s\n", err);
		return usage();
	}
	return run(&b, net);
}
