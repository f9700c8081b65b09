// SPDX-License-Identifier: BSD-2-Clause
/* The command line of --plan. */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "offline/plan.h"
#include "util/mem.h"
#include "util/str.h"

enum {
	OPT_PLAN = 256,
	OPT_FAIL,
	OPT_WORST,
	OPT_TRIES,
	OPT_RUNNING,
	OPT_BEFORE,
	OPT_FRESH,
	OPT_DUMPS,
	OPT_JSON,
	OPT_SVG,
	OPT_HOSTS,
	OPT_THEN,
	OPT_BILL,
	OPT_STRICT,
	OPT_DRAIN,
	OPT_VLS,
	OPT_THREADS
};

static const struct option options[] = {
	{ "plan", required_argument, NULL, OPT_PLAN },
	{ "conf", required_argument, NULL, 'F' },
	{ "config", required_argument, NULL, 'F' },
	{ "engine", required_argument, NULL, 'R' },
	{ "routing_engine", required_argument, NULL, 'R' },
	{ "fail", required_argument, NULL, OPT_FAIL },
	{ "worst", required_argument, NULL, OPT_WORST },
	{ "tries", required_argument, NULL, OPT_TRIES },
	{ "running", required_argument, NULL, OPT_RUNNING },
	{ "before", required_argument, NULL, OPT_BEFORE },
	{ "fresh", no_argument, NULL, OPT_FRESH },
	{ "dumps", required_argument, NULL, OPT_DUMPS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "hosts", required_argument, NULL, OPT_HOSTS },
	{ "bill", no_argument, NULL, OPT_BILL },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "drain", required_argument, NULL, OPT_DRAIN },
	{ "then", required_argument, NULL, OPT_THEN },
	{ "svg", required_argument, NULL, OPT_SVG },
	{ "vls", required_argument, NULL, OPT_VLS },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

void plan_usage(FILE *out)
{
	fputs("usage: opensm --plan FABRIC.topo [OPTION...]\n"
	      "Routes a fabric that is described by ibnetdiscover, opensm-subnet.lst or a net file "
	      "of ibsim, and\n"
	      "shows the result. Nothing is sent, no device is opened.\n"
	      "\n"
	      "  -F, --conf FILE        options of this opensm.conf and of the lists it names; "
	      "default: none\n"
	      "  -R, --engine LIST      routing_engine: names separated by commas; default: that "
	      "of FILE, auto\n"
	      "      --vls N            data VLs (1-15) of cables for which the fabric gives none; "
	      "default: 8\n"
	      "      --fail WHAT        also routes the fabric without WHAT; may be given several "
	      "times:\n"
	      "                         link:NODE/PORT or switch:NODE; NODE is a GUID or a name\n"
	      "      --worst link|switch   every single failure: pairs lost; the worst failures "
	      "are also routed\n"
	      "      --tries N          with --worst: number of failures to route; 0: all; "
	      "default: 48\n"
	      "      --running FILE     shows the changes against these tables (opensm-lfts.dump, "
	      "dump_lfts.sh)\n"
	      "      --before FILE      routes from these former tables: a file "
	      "routing-died-N.tables, which\n"
	      "                         opensm writes when an engine dies\n"
	      "      --fresh            with --running: routes afresh, no entry of FILE is kept\n"
	      "      --dumps FOLDER     writes opensm-subnet.lst, opensm-lfts.dump, opensm.fdbs "
	      "... like opensm\n"
	      "      --hosts FILE       measures of these hosts among themselves too: GUIDs or "
	      "names, one on a line,\n"
	      "                         in the order of the ranks of a job\n"
	      "      --drain FILE       an order in which these switches are taken out, one after "
	      "another, with every\n"
	      "                         state on the way proved; GUIDs or names, one a line\n"
	      "      --then FABRIC      routes a later fabric from the tables of the first, "
	      "and shows what\n"
	      "                         differs: pairs, entries, loads, cables that carry more\n"
	      "      --bill             counts cables by kind, width, speed and level\n"
	      "      --svg FILE         draws the load of every link, after --fail if that is "
	      "given\n"
	      "      --json             the same facts for programs\n"
	      "      --strict           an error in a list that --conf names, or a host of "
	      "host_order_file that the\n"
	      "                         fabric lacks, ends the plan\n"
	      "      --threads N        default: the number of processors\n"
	      "  -h, --help             this text\n"
	      "\n"
	      "The exit status is 0 if valid tables were found, 1 if not, if a failure leaves "
	      "none, or if switches\n"
	      "that are taken out leave other end ports without a path; 64 after an error of "
	      "usage, 65 if a file\n"
	      "cannot be used.\n",
	      out);
}

static int refuse_value(const char *option, const char *text, const char *expected)
{
	char quoted[CONF_QUOTE_MAX];

	fprintf(stderr, "opensm: --%s: %s; expected %s\n", option,
		conf_quote(text, strlen(text), quoted), expected);
	return -EINVAL;
}

static int read_number(const char *option, const char *text, unsigned least, unsigned most,
		       unsigned *ret)
{
	char expected[64];
	uint64_t n;

	snprintf(expected, sizeof(expected), "a number of %u to %u", least, most);
	if (str_to_u64(text, 10, most, &n) < 0 || n < least)
		return refuse_value(option, text, expected);
	*ret = (unsigned)n;
	return 0;
}

static int read_worst(const char *text, struct plan_args *a)
{
	if (str_equal(text, "link"))
		a->worst = PLAN_WORST_LINK;
	else if (str_equal(text, "switch"))
		a->worst = PLAN_WORST_SWITCH;
	else
		return refuse_value("worst", text, "link or switch");
	return 0;
}

static int set_option(int code, const char *value, struct plan_args *a)
{
	switch (code) {
	case OPT_PLAN: a->fabric = value; return 0;
	case 'F': a->conf = value; return 0;
	case 'R': a->engine = value; return 0;
	case OPT_FAIL: a->fails[a->n_fails++] = value; return 0;
	case OPT_WORST:
		return read_worst(value, a);
	case OPT_TRIES:
		a->tries_given = true;
		return read_number("tries", value, 0, 1000000, &a->tries);
	case OPT_RUNNING: a->running = value; return 0;
	case OPT_BEFORE: a->before = value; return 0;
	case OPT_FRESH: a->fresh = true; return 0;
	case OPT_DUMPS: a->dumps = value; return 0;
	case OPT_JSON: a->json = true; return 0;
	case OPT_HOSTS: a->hosts = value; return 0;
	case OPT_THEN: a->then = value; return 0;
	case OPT_BILL: a->bill = true; return 0;
	case OPT_STRICT: a->strict = true; return 0;
	case OPT_DRAIN: a->drain = value; return 0;
	case OPT_SVG: a->svg = value; return 0;
	case OPT_VLS:
		return read_number("vls", value, 1, 15, &a->vls);
	case OPT_THREADS:
		return read_number("threads", value, 1, 1024, &a->threads);
	case 'h': a->help = true; return 0;
	}
	return -EINVAL; /* getopt has said why */
}

/* "--plan --help": the word after --plan may be an option instead of its value. */
static bool asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (str_equal(argv[i], "--help") || str_equal(argv[i], "-h"))
			return true;
	return false;
}

/* Options that would have no effect: -EINVAL, and a line says why. */
static int check_together(const struct plan_args *a)
{
	const char *why = NULL;

	if (a->then && a->n_fails)
		why = "--then and --fail do not go together: the later fabric lacks what failed";
	else if (a->tries_given && a->worst == PLAN_WORST_NONE)
		why = "--tries has no effect without --worst link or --worst switch";
	else if (a->fresh && !a->running)
		why = "--fresh has no effect without --running FILE";
	else if (a->fresh && a->before)
		why = "--fresh and --before do not go together: one keeps no entry, one starts "
		      "from them";
	if (why)
		fprintf(stderr, "opensm: %s\n", why);
	return why ? -EINVAL : 0;
}

int plan_args_parse(int argc, char **argv, struct plan_args *ret)
{
	int code;

	*ret = (struct plan_args){ .tries = PLAN_TRIES,
				   .fails = xcalloc((size_t)argc, sizeof(*ret->fails)) };
	if (asks_for_help(argc, argv)) {
		ret->help = true;
		return 0;
	}
	optind = 1;
	while ((code = getopt_long(argc, argv, "F:R:h", options, NULL)) != -1)
		if (set_option(code, optarg, ret) < 0)
			return -EINVAL;
	if (optind < argc) {
		fprintf(stderr, "opensm: --plan takes one fabric; unexpected argument %s\n",
			argv[optind]);
		return -EINVAL;
	}
	return check_together(ret);
}
