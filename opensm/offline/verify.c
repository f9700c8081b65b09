// SPDX-License-Identifier: BSD-2-Clause
/*
 * opensm --verify: forwarding tables of any manager before the verifier of the daemon. Reads a
 * folder of dumps, ours or the peer's, or a fabric and tables.
 */
#include "offline/verify.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "offline/base/output.h"
#include "offline/offline.h"
#include "util/mem.h"
#include "util/str.h"

enum { OPT_VERIFY = 256, OPT_JSON, OPT_SL2VL, OPT_PSL, OPT_MCAST_SL, OPT_THREADS };

static const struct option options[] = {
	{ "verify", no_argument, NULL, OPT_VERIFY },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "sl2vl", required_argument, NULL, OPT_SL2VL },
	{ "psl", required_argument, NULL, OPT_PSL },
	{ "mcast-sl", required_argument, NULL, OPT_MCAST_SL },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void print_usage(FILE *out)
{
	fputs("usage: opensm --verify FOLDER [OPTION...]\n"
	      "       opensm --verify FABRIC TABLES... [OPTION...]\n"
	      "Verifies the forwarding tables of any subnet manager: reach, forwarding loops, "
	      "credit loops.\n"
	      "Nothing is sent, no device is opened.\n"
	      "\n"
	      "  FOLDER                 dumps of this program or of OpenSM: opensm-subnet.lst with "
	      "opensm-lfts.dump or\n"
	      "                         opensm.fdbs,\n"
	      "                         and, if they are there, opensm.mcfdbs, opensm-sl2vl.dump,\n"
	      "                         opensm-sl.dump, ibdmchk-psl.txt, ibdmchk-sl2vl.txt\n"
	      "  FABRIC                 output of ibnetdiscover, opensm-subnet.lst, or a net file "
	      "of ibsim\n"
	      "  TABLES                 output of dump_lfts or dump_fts, opensm-lfts.dump, "
	      "opensm.fdbs, opensm.mcfdbs\n"
	      "      --psl FILE         the SL of each path: lines of GUID of the source node (or "
	      "its switch), LID, SL;\n"
	      "                         default: every SL on every path\n"
	      "      --sl2vl FILE       opensm-sl2vl.dump, or a file for ibdmchk -d; default: the "
	      "VL is the SL with --psl,\n"
	      "                         and one VL without\n"
	      "      --mcast-sl N       the SL of multicast groups (0-15); default: 0\n"
	      "      --json             the same facts for programs\n"
	      "      --threads N        default: the number of processors\n"
	      "  -h, --help             this text\n"
	      "\n"
	      "The exit status is 0 if the tables are valid; 1 if pairs that cables connect have "
	      "no path, or one on\n"
	      "which packets are dropped (SL2VL says VL 15), packets loop, members of a multicast "
	      "group do not\n"
	      "reach each other, or there is a credit loop; 64 after an error of usage; 65 if a "
	      "file cannot be used.\n",
	      out);
}

static int read_number(const char *option, const char *text, unsigned most, unsigned *ret)
{
	uint64_t n;

	if (str_to_u64(text, 10, most, &n) < 0) {
		char quoted[CONF_QUOTE_MAX];

		fprintf(stderr, "opensm: --%s: %s; expected a number of 0 to %u\n", option,
			conf_quote(text, strlen(text), quoted), most);
		return -EINVAL;
	}
	*ret = (unsigned)n;
	return 0;
}

static int set_option(int code, const char *value, struct verify_args *a)
{
	switch (code) {
	case OPT_VERIFY: return 0;
	case OPT_JSON: a->json = true; return 0;
	case OPT_SL2VL: a->sl2vl = value; return 0;
	case OPT_PSL: a->sls = value; return 0;
	case OPT_MCAST_SL:
		return read_number("mcast-sl", value, 15, &a->mcast_sl);
	case OPT_THREADS:
		return read_number("threads", value, 1024, &a->threads);
	case 'h': a->help = true; return 0;
	}
	return -EINVAL; /* getopt has said why */
}

/* 0, or -EINVAL after a message on stderr. */
static int parse_args(int argc, char **argv, struct verify_args *ret)
{
	int code;

	*ret = (struct verify_args){ .what = NULL };
	optind = 1;
	while ((code = getopt_long(argc, argv, "h", options, NULL)) != -1)
		if (set_option(code, optarg, ret) < 0)
			return -EINVAL;
	if (optind < argc)
		ret->what = argv[optind++];
	for (; optind < argc && ret->n_tables < VERIFY_TABLES; optind++)
		ret->tables[ret->n_tables++] = argv[optind];
	if (optind < argc || (!ret->what && !ret->help)) {
		fprintf(stderr,
			"opensm: --verify takes a folder of dumps, or a fabric and up to %u "
			"tables\n",
			VERIFY_TABLES);
		return -EINVAL;
	}
	return 0;
}

static void measure(struct verify *v, unsigned threads)
{
	uint32_t n;
	_cleanup_free_ uint32_t *all = routes_ranks(v->routes->topo, &n);

	figures_of(v->routes, (struct route_ranks){ all, n }, threads, &v->figures);
}

void verify_tables(struct verify *v)
{
	unsigned threads = v->args->threads;
	struct cdg *g = NULL, *with_switches;
	bool unicast_loops;

	routes_check_graph(v->routes, threads, &v->verdict, &g);
	unicast_loops = v->verdict.credit_loop;
	for (uint32_t i = 0; i < v->n_trees; i++)
		cdg_force_tree(g, v->trees[i], (uint8_t)v->args->mcast_sl);
	v->loops = cdg_cycle(g, &v->cycle);
	v->by_multicast = v->loops && !unicast_loops;
	cdg_free(g);
	with_switches = cdg_with_switches(v->routes, threads);
	v->switches_loop = !cdg_is_acyclic(with_switches);
	cdg_free(with_switches);
	verify_find_dropped(v);
	verify_find_groups(v);
	measure(v, threads);
}

int offline_verify(int argc, char **argv)
{
	_cleanup_(verify_clear) struct verify v = { 0 };
	struct verify_args args;

	if (parse_args(argc, argv, &args) < 0) {
		fputs("opensm: see opensm --verify --help\n", stderr);
		return VERIFY_EXIT_USAGE;
	}
	if (args.help) {
		print_usage(stdout);
		return 0;
	}
	if (verify_read(&args, &v) < 0)
		return VERIFY_EXIT_INPUT;
	verify_tables(&v);
	if (args.json)
		verify_print_json(&v, stdout);
	else
		verify_print_text(&v, stdout);
	if (!output_done())
		return VERIFY_EXIT_INPUT;
	return verify_holds(&v) ? 0 : VERIFY_EXIT_FAULT;
}
