// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints a fabric of known shape as a net file: netgen fat-tree2 36 > net; netgen -s 250 torus 4 4
 * 4 2. With -d a share of the cables between switches is missing, drawn with the seed of -r,
 * and the nodes that -x names. --wear SEED (-W) adds oddities of fabrics in use, of which --spare
 * NODE (-k) spares a node; --ids (-i): descriptions are ids, as other people's tools tell nodes.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ib/attrs.h"
#include "sim/gen/gen.h"
#include "util/mem.h"

static void unplug(struct netfile *net, size_t node, unsigned port)
{
	struct netfile_port *p = &net->nodes[node].ports[port];
	struct netfile_port *q = &net->nodes[p->peer_node].ports[p->peer_port];

	p->peer_node = q->peer_node = -1;
}

/* A node that is not there; those behind it move up. */
static void take_out(struct netfile *net, int gone)
{
	for (unsigned p = 1; p <= net->nodes[gone].nports; p++)
		if (net->nodes[gone].ports[p].peer_node >= 0)
			unplug(net, (size_t)gone, p);
	free(net->nodes[gone].ports);
	net->n_nodes--;
	memmove(net->nodes + gone, net->nodes + gone + 1,
		(net->n_nodes - (size_t)gone) * sizeof(*net->nodes));
	for (size_t i = 0; i < net->n_nodes; i++)
		for (unsigned p = 1; p <= net->nodes[i].nports; p++)
			net->nodes[i].ports[p].peer_node -= net->nodes[i].ports[p].peer_node > gone;
}

static bool take_out_all(struct netfile *net, const char *const *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		int gone = netfile_find(net, names[i]);

		if (gone < 0) {
			fprintf(stderr, "netgen: -x %s: this fabric has no such node\n", names[i]);
			return false;
		}
		take_out(net, gone);
	}
	return true;
}

/* xorshift: the same cables on every machine. */
static void damage(struct netfile *net, double share, uint64_t seed)
{
	uint64_t dice = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;

	for (size_t i = 0; i < net->n_nodes; i++)
		for (unsigned p = 1; p <= net->nodes[i].nports; p++) {
			const struct netfile_port *port = &net->nodes[i].ports[p];

			if (net->nodes[i].type != IB_NODE_SWITCH || port->peer_node < 0 ||
			    (size_t)port->peer_node < i ||
			    net->nodes[port->peer_node].type != IB_NODE_SWITCH)
				continue;
			dice ^= dice << 13;
			dice ^= dice >> 7;
			dice ^= dice << 17;
			if ((double)(dice >> 11) / (double)(UINT64_C(1) << 53) < share)
				unplug(net, i, p);
		}
}

static int usage(void)
{
	char err[512];

	gen_words(0, NULL, err, sizeof(err));
	fprintf(stderr,
		"usage: netgen [-s SPEED(tenths of Gb/s per lane)] [-w LANES] [-d PERCENT [-r "
		"SEED]] [-x NODE]... [--wear SEED [--spare NODE]...] [--ids] KIND NUMBER...\n%s\n",
		err);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "wear", required_argument, NULL, 'W' },
		{ "spare", required_argument, NULL, 'k' },
		{ "ids", no_argument, NULL, 'i' },
		{ 0 },
	};
	unsigned speed = 0, lanes = 0;
	uint64_t seed = 1, wear = 0;
	double percent = 0;
	bool ids = false;
	const char *out[16], *spare[16] = { NULL };
	unsigned n_out = 0, n_spare = 0;
	struct netfile *net;
	char err[512];
	int opt;

	while ((opt = getopt_long(argc, argv, "+s:w:d:r:x:W:k:i", long_options, NULL)) != -1) {
		if (opt == 's')
			speed = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'w')
			lanes = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'd')
			percent = strtod(optarg, NULL);
		else if (opt == 'r')
			seed = strtoull(optarg, NULL, 10);
		else if (opt == 'W')
			wear = strtoull(optarg, NULL, 10);
		else if (opt == 'i')
			ids = true;
		else if (opt == 'x' && n_out < ARRAY_SIZE(out))
			out[n_out++] = optarg;
		else if (opt == 'k' && n_spare < ARRAY_SIZE(spare) - 1)
			spare[n_spare++] = optarg;
		else
			return usage();
	}
	if (optind == argc)
		return usage();
	net = gen_words((unsigned)(argc - optind), (const char *const *)argv + optind, err,
			sizeof(err));
	if (!net) {
		fprintf(stderr, "netgen: %s\n", err);
		return 1;
	}
	if (!take_out_all(net, out, n_out))
		return 1;
	damage(net, percent / 100, seed);
	gen_wear(gen_speed(net, speed, lanes), wear, spare);
	for (size_t i = 0; ids && i < net->n_nodes; i++)
		memcpy(net->nodes[i].desc, net->nodes[i].id, sizeof(net->nodes[i].desc));
	netfile_write(net, stdout);
	netfile_free(net);
	return fflush(stdout) || ferror(stdout);
}
