// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints a fabric of known shape as a net file: netgen fat-tree2 36 > net; netgen -s 250 torus 4 4
 * 4 2. With -d a share of the cables between switches is missing, drawn with the seed of -r.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ib/attrs.h"
#include "sim/gen/gen.h"

static void unplug(struct netfile *net, size_t node, unsigned port)
{
	struct netfile_port *p = &net->nodes[node].ports[port];
	struct netfile_port *q = &net->nodes[p->peer_node].ports[p->peer_port];

	p->peer_node = q->peer_node = -1;
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
		"SEED]] KIND NUMBER...\n%s\n",
		err);
	return 2;
}

int main(int argc, char **argv)
{
	unsigned speed = 0, lanes = 0;
	uint64_t seed = 1;
	double percent = 0;
	struct netfile *net;
	char err[512];
	int opt;

	while ((opt = getopt(argc, argv, "+s:w:d:r:")) != -1) {
		if (opt == 's')
			speed = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'w')
			lanes = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'd')
			percent = strtod(optarg, NULL);
		else if (opt == 'r')
			seed = strtoull(optarg, NULL, 10);
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
	damage(net, percent / 100, seed);
	netfile_write(gen_speed(net, speed, lanes), stdout);
	netfile_free(net);
	return fflush(stdout) || ferror(stdout);
}
