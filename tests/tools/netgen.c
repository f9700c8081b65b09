// SPDX-License-Identifier: BSD-2-Clause
/* Prints a fabric of known shape as a net file: netgen fat-tree2 36 > net; netgen -s 250 torus 4 4 4 2 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libvendor/sim/gen.h"

static int usage(void)
{
	char err[512];

	gen_words(0, NULL, err, sizeof(err));
	fprintf(stderr, "usage: netgen [-s SPEED(tenths of Gb/s per lane)] [-w LANES] KIND NUMBER...\n%s\n", err);
	return 2;
}

int main(int argc, char **argv)
{
	unsigned speed = 0, lanes = 0;
	struct netfile *net;
	char err[512];
	int opt;

	while ((opt = getopt(argc, argv, "+s:w:")) != -1) {
		if (opt == 's')
			speed = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'w')
			lanes = (unsigned)strtoul(optarg, NULL, 10);
		else
			return usage();
	}
	if (optind == argc)
		return usage();
	net = gen_words((unsigned)(argc - optind), (const char *const *)argv + optind, err, sizeof(err));
	if (!net) {
		fprintf(stderr, "netgen: %s\n", err);
		return 1;
	}
	netfile_write(gen_speed(net, speed, lanes), stdout);
	netfile_free(net);
	return fflush(stdout) || ferror(stdout);
}
