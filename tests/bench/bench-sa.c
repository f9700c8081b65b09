// SPDX-License-Identifier: BSD-2-Clause
/*
 * What path records cost, in process: requests go in as they come from a transport, answers end in
 * a transport that throws them away. Prints numbers, asserts nothing.
 *
 *   bench-sa [-n SINGLES] [-t TABLES] [-q RULES] [-x] FABRIC...   FABRIC: the simulator's words,
 *                                                                 fat-tree3 36
 *
 * Single paths are asked as RDMA CM asks (sa.md 11), random pairs, by the source itself. "All paths
 * from me" is a GetTable by SGID with NumbPath 1. -q: with a QoS policy of RULES rules,
 * the last of which matches. -x leaves out the GetTable of everything.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "sa/base/sa_internal.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"
#include "view/path_walk.h"

#define CMA_MASK                                                                                   \
	(SA_COMP(PR_SERVICE_ID_MSB) | SA_COMP(PR_SERVICE_ID_LSB) | SA_COMP(PR_DGID) |              \
	 SA_COMP(PR_SGID) | SA_COMP(PR_REVERSIBLE) | SA_COMP(PR_NUMB_PATH) | SA_COMP(PR_PKEY) |    \
	 SA_COMP(PR_QOS_CLASS))
#define ALL_FROM_ME (SA_COMP(PR_SGID) | SA_COMP(PR_NUMB_PATH))

struct bench {
	struct desk *d;
	const uint32_t *hosts; /* end ports that are no switches */
	uint32_t n_hosts;
	uint64_t random;
	struct transport_event ev;
};

static double seconds(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double cpu(void)
{
	return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static uint32_t draw(struct bench *b)
{
	b->random = b->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((b->random >> 33) % b->n_hosts);
}

static double peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static void put_port_gid(const struct bench *b, uint32_t port, uint8_t *ret)
{
	sa_gid(b->d->view->prefix, b->d->view->ports[port].guid, ret);
}

/* An empty PathRecord request from this port; its record. */
static uint8_t *request(struct bench *b, uint8_t method, uint64_t mask, uint32_t from)
{
	uint8_t *mad = b->ev.mad;

	memset(mad, 0, MAD_SIZE);
	b->ev.kind = TRANSPORT_MAD;
	b->ev.length = MAD_SIZE;
	b->ev.from = (struct transport_addr){ .lid = b->d->view->ports[from].lid, .qp = 1 };
	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, method);
	ib_put(mad, SAH_TID, ++b->d->tid);
	ib_put(mad, SAH_ATTR_ID, SA_PATH_RECORD);
	ib_put(mad, SAH_COMP_MASK, mask);
	return mad + SA_DATA;
}

static void single_paths(struct bench *b, unsigned n)
{
	uint64_t sent = b->d->n_sent;
	double since = cpu(), spent, own;

	/* What the bench itself costs is taken off: the same loop without the SA. */
	for (int pass = 0; pass < 2; pass++) {
		own = pass ? cpu() - since : 0;
		since = cpu();
		for (unsigned i = 0; i < n; i++) {
			uint32_t src = b->hosts[draw(b)], dst = b->hosts[draw(b)];
			uint8_t *r = request(b, MAD_GET, CMA_MASK, src);

			put_port_gid(b, src, ib_at(r, PR_SGID));
			put_port_gid(b, dst, ib_at(r, PR_DGID));
			ib_put(r, PR_REVERSIBLE, 1);
			ib_put(r, PR_NUMB_PATH, 1);
			ib_put(r, PR_PKEY, 0xFFFF);
			if (pass)
				sa_receive(b->d->sa, &b->ev, b->d->now);
		}
	}
	spent = cpu() - since - own;
	printf("single paths   %9.0f per CPU s   %6.0f ns each   (%u asked, %llu answered)\n",
	       n / spent, spent / n * 1e9, n, (unsigned long long)(b->d->n_sent - sent));
}

static void all_from_me(struct bench *b, unsigned n)
{
	uint64_t bytes = b->d->bytes_sent;
	double since = cpu(), spent;
	unsigned long long records;

	for (unsigned i = 0; i < n; i++) {
		uint32_t src = b->hosts[draw(b)];
		uint8_t *r = request(b, MAD_SA_GET_TABLE, ALL_FROM_ME, src);

		put_port_gid(b, src, ib_at(r, PR_SGID));
		ib_put(r, PR_NUMB_PATH, 1);
		sa_receive(b->d->sa, &b->ev, b->d->now);
		while (sa_dispatch(b->d->sa, b->d->now))
			;
	}
	spent = cpu() - since;
	records = (b->d->bytes_sent - bytes) / PR_BYTES;
	printf("all from me    %9.0f per CPU s   %6.2f ms each   %.0f ns a record (%llu records)\n",
	       n / spent, spent / n * 1e3, spent / (double)records * 1e9, records);
}

static void everything(struct bench *b)
{
	const struct sa_limits *limits = &b->d->sa->limits;
	double longest = 0, since = cpu(), slice;
	uint64_t bytes = b->d->bytes_sent;
	unsigned slices = 0;
	bool more = true;

	request(b, MAD_SA_GET_TABLE, 0, b->hosts[0]);
	sa_receive(b->d->sa, &b->ev, b->d->now);
	while (more) {
		slice = cpu();
		more = sa_dispatch(b->d->sa, b->d->now);
		longest = MAX(longest, cpu() - slice);
		slices++;
	}
	printf("everything     %9.2f CPU s, %u slices of at most %u rows, longest %.2f ms; "
	       "answer %.1f MB of at most %.1f MB\n",
	       cpu() - since, slices, limits->rows_a_slice, longest * 1e3,
	       (double)(b->d->bytes_sent - bytes) / 1e6, (double)limits->answer_bytes / 1e6);
}

/* Walks alone, there and back, without requests and records. */
static void walks(struct bench *b, unsigned n)
{
	const struct view *v = b->d->view;
	double since = cpu();
	unsigned found = 0, hops = 0;

	for (unsigned i = 0; i < n; i++) {
		uint32_t src = b->hosts[draw(b)];
		struct path_ask ask = { .src = src, .dst = b->hosts[draw(b)] };
		struct path_way there, back;

		ask.slid = v->ports[ask.src].lid;
		ask.dlid = v->ports[ask.dst].lid;
		if (path_walk(v, &ask, &there, &back)) {
			found++;
			hops += there.n;
		}
	}
	since = cpu() - since;
	printf("walks          %9.0f per CPU s   %6.0f ns each   %.1f switches (%u of %u lead)\n",
	       n / since, since / n * 1e9, (double)hops / MAX(found, 1u), found, n);
}

static void make_map(const struct bench *b)
{
	double since = cpu();

	path_map_free(path_map_new(b->d->view));
	printf("map            %9.2f ms\n", (cpu() - since) * 1e3);
}

static uint32_t *find_hosts(const struct view *v, uint32_t *ret_n)
{
	struct path_ends ends = path_map_ends(v->paths);
	uint32_t *hosts = xcalloc(ends.n + 1, sizeof(*hosts));

	*ret_n = 0;
	for (uint32_t i = 0; i < ends.n; i++)
		if (!view_is_switch(v, &v->ports[ends.ports[i]]))
			hosts[(*ret_n)++] = ends.ports[i];
	return hosts;
}

/*
 * Of every kind, by groups of ports that are there and by services, which requests name; requests
 * meet the last of them. Paths have no limits, so that the answers are those without a policy.
 */
static void add_policy(struct bench *b, unsigned rules)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs("port-groups\n", out);
	for (unsigned i = 1; i < rules; i++)
		fprintf(out, "port-group\nname: g%u\nport-guid: 0x%llx, 0x%llx\nend-port-group\n", i,
			(unsigned long long)b->d->view->ports[b->hosts[draw(b)]].guid,
			(unsigned long long)b->d->view->ports[b->hosts[draw(b)]].guid);
	fputs("end-port-groups\nqos-levels\nqos-level\nname: default\nsl: 0\nend-qos-level\n"
	      "end-qos-levels\nqos-match-rules\n",
	      out);
	for (unsigned i = 1; i < rules; i++) {
		fprintf(out, "qos-match-rule\nqos-level-name: default\n%s: g%u\n",
			i % 2 ? "source" : "destination", i);
		if (i % 4 < 2)
			fprintf(out, "service-id: 0x%x-0x%x\n", i * 16, i * 16 + 7);
		else
			fprintf(out, "pkey: 0x%x\n", i);
		fputs("end-qos-match-rule\n", out);
	}
	fputs("end-qos-match-rules\nqos-ulps\nany, pkey 0x7fff : 0\nend-qos-ulps\n", out);
	fclose(out);
	desk_policy(b->d, text);
}

int main(int argc, char **argv)
{
	unsigned singles = 1000000, tables = 200, rules = 0;
	bool all = true;
	char words[128] = "";
	struct bench b = { .random = 1 };
	_cleanup_free_ uint32_t *hosts = NULL;
	double since = cpu();
	int opt;

	while ((opt = getopt(argc, argv, "n:t:q:x")) != -1)
		switch (opt) {
		case 'n':
			singles = (unsigned)atoi(optarg);
			break;
		case 't':
			tables = (unsigned)atoi(optarg);
			break;
		case 'q':
			rules = (unsigned)atoi(optarg);
			break;
		case 'x':
			all = false;
			break;
		default:
			return 2;
		}
	for (int i = optind; i < argc; i++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s%s",
			 i > optind ? " " : "", argv[i]);
	b.d = desk_new(*words ? words : "fat-tree3 36");
	b.d->deaf = true;
	b.hosts = hosts = find_hosts(b.d->view, &b.n_hosts);
	if (b.n_hosts) {
		printf("fabric         %u nodes, %u hosts, %u ports; made in %.1f CPU s, %.0f MB\n",
		       b.d->view->n_nodes, b.n_hosts, b.d->view->n_ports, cpu() - since, peak_mb());
		if (rules)
			add_policy(&b, rules);
		make_map(&b);
		walks(&b, singles);
		single_paths(&b, singles);
		all_from_me(&b, tables);
		if (all)
			everything(&b);
		printf("memory         %9.0f MB at most\n", peak_mb());
	}
	desk_free(b.d);
	return 0;
}
