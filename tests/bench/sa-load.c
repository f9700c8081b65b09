// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asks a subnet administrator for path records as fast as it answers, through libibumad: the load
 * for bench-paths. Prints "SENT ANSWERED BAD LOST SECONDS", asserts nothing.
 *
 *   sa-load [-w WINDOW] [-s SECONDS] [-n QUESTIONS] [-l SM_LID] [-a] GUIDS
 *
 * GUIDS: a file of port GUIDs, one a line; destinations are drawn from it. The source is our own
 * port. Single paths are asked as RDMA CM asks; -a asks for all paths from here instead, as long
 * answers: under libumad2sim only their first segment comes back. An answer that does not come
 * within a second is lost, and its place in the window free again.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/umad.h>

#include "ib/records.h"
#include "util/mem.h"

#define SA_QP	   1
#define SA_QKEY	   0x80010000
#define LOST_AFTER 1.0 /* s */
#define BUFFER	   (1u << 20)
#define CMA_MASK                                                                                   \
	(SA_COMP(PR_SERVICE_ID_MSB) | SA_COMP(PR_SERVICE_ID_LSB) | SA_COMP(PR_DGID) |              \
	 SA_COMP(PR_SGID) | SA_COMP(PR_REVERSIBLE) | SA_COMP(PR_NUMB_PATH) | SA_COMP(PR_PKEY) |    \
	 SA_COMP(PR_QOS_CLASS))

struct load {
	int fd, agent;
	unsigned sm_lid;
	uint64_t prefix, guid;
	bool all;
	uint64_t *guids;
	size_t n_guids, cap;
	uint64_t random;
	uint32_t tid;
	uint8_t *out, *in;
	unsigned long sent, answered, bad, lost, limit;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void read_guids(struct load *l, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[64];

	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f)) {
		GROW(l->guids, l->n_guids + 1, l->cap);
		l->guids[l->n_guids++] = strtoull(line, NULL, 16);
	}
	fclose(f);
	if (!l->n_guids) {
		fprintf(stderr, "%s: no GUIDs\n", path);
		exit(1);
	}
}

static void attach(struct load *l)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		die("no port");
	l->guid = __builtin_bswap64(port.port_guid);
	l->prefix = __builtin_bswap64(port.gid_prefix);
	if (!l->sm_lid)
		l->sm_lid = port.sm_lid;
	umad_release_port(&port);
	l->fd = umad_open_port(NULL, 0);
	if (l->fd < 0)
		die("umad_open_port");
	l->agent = umad_register(l->fd, MAD_CLASS_SA, 2, 0, NULL);
	if (l->agent < 0)
		die("umad_register");
	l->out = xcalloc(1, umad_size() + MAD_SIZE);
	l->in = xcalloc(1, umad_size() + BUFFER);
}

static uint64_t draw(struct load *l)
{
	l->random = l->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return l->guids[(l->random >> 33) % l->n_guids];
}

static void ask(struct load *l)
{
	uint8_t *mad = umad_get_mad(l->out), *r = mad + SA_DATA;

	memset(mad, 0, MAD_SIZE);
	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, l->all ? MAD_SA_GET_TABLE : MAD_GET);
	ib_put(mad, SAH_TID, ++l->tid);
	ib_put(mad, SAH_ATTR_ID, SA_PATH_RECORD);
	ib_put(mad, SAH_COMP_MASK, l->all ? SA_COMP(PR_SGID) | SA_COMP(PR_NUMB_PATH) : CMA_MASK);
	ib_bits_put(r, PR_SGID, 64, l->prefix);
	ib_bits_put(r, PR_SGID + 64, 64, l->guid);
	if (!l->all) {
		ib_bits_put(r, PR_DGID, 64, l->prefix);
		ib_bits_put(r, PR_DGID + 64, 64, draw(l));
		ib_put(r, PR_REVERSIBLE, 1);
		ib_put(r, PR_PKEY, 0xFFFF);
	}
	ib_put(r, PR_NUMB_PATH, 1);
	umad_set_addr(l->out, (int)l->sm_lid, SA_QP, 0, SA_QKEY);
	/* No timeout: libumad2sim has none, and a window of ours is counted here. */
	if (umad_send(l->fd, l->agent, l->out, MAD_SIZE, 0, 0) < 0)
		die("umad_send");
	l->sent++;
}

/* True: an answer came. */
static bool take_answer(struct load *l)
{
	int length = BUFFER, r = umad_recv(l->fd, l->in, &length, (int)(LOST_AFTER * 1000));

	if (r < 0 && r != -ETIMEDOUT && r != -EINTR) {
		errno = -r;
		die("umad_recv");
	}
	if (r < 0)
		return false;
	l->answered++;
	if (umad_status(l->in) || ib_get((uint8_t *)umad_get_mad(l->in), SAH_STATUS))
		l->bad++;
	return true;
}

static void run(struct load *l, unsigned window, double length)
{
	double began = now();

	while (now() - began < length && l->answered + l->lost < l->limit) {
		while (l->sent < l->limit && l->sent - l->answered - l->lost < window)
			ask(l);
		if (!take_answer(l))
			l->lost = l->sent - l->answered;
	}
	while (l->sent > l->answered + l->lost && take_answer(l))
		;
	printf("%lu %lu %lu %lu %.3f\n", l->sent, l->answered, l->bad, l->sent - l->answered,
	       now() - began);
}

int main(int argc, char **argv)
{
	struct load l = { .random = 1, .limit = ULONG_MAX };
	unsigned window = 32;
	double length = 10;
	int opt;

	while ((opt = getopt(argc, argv, "w:s:n:l:a")) != -1)
		switch (opt) {
		case 'w':
			window = (unsigned)atoi(optarg);
			break;
		case 's':
			length = atof(optarg);
			break;
		case 'n':
			l.limit = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			l.sm_lid = (unsigned)atoi(optarg);
			break;
		case 'a':
			l.all = true;
			break;
		default:
			return 2;
		}
	if (optind != argc - 1 || !window)
		return 2;
	read_guids(&l, argv[optind]);
	attach(&l);
	run(&l, window, length);
	umad_close_port(l.fd);
	free(l.guids);
	free(l.out);
	free(l.in);
	return 0;
}
