// SPDX-License-Identifier: BSD-2-Clause
/* opensm --diff: two files of a fabric, the one as it was meant and the one as it is. */
#include "offline/offline.h"

#include <errno.h>
#include <getopt.h>

#include "offline/base/output.h"

enum { OPT_DIFF = 256, OPT_JSON };

static const struct option options[] = {
	{ "diff", no_argument, NULL, OPT_DIFF },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void print_usage(FILE *out)
{
	fputs("usage: opensm --diff EXPECTED FOUND [--json]\n"
	      "Compares a fabric as it was meant with the fabric as it is, and names the "
	      "causes: one line each for a\n"
	      "cable that is missing, extra or moved, cables swapped or shifted, replaced HCAs and "
	      "switches, exchanged\n"
	      "rails, slow links, duplicate GUIDs, unknown nodes. Nothing is sent, no device is "
	      "opened.\n"
	      "\n"
	      "  EXPECTED, FOUND        output of ibnetdiscover, opensm-subnet.lst, a net file of "
	      "ibsim, NVIDIA's CSV\n"
	      "                         (srcGUID,srcPort,dstGUID,dstPort,DeviceType,LinkState), "
	      "UFM's NDT\n"
	      "                         (StartDev,StartPort,EndDev,EndPort,...), or a .topo of "
	      "ibdm;\n"
	      "                         the kind is recognised by content\n"
	      "      --json             the same facts for programs\n"
	      "  -h, --help             this text\n"
	      "\n"
	      "The exit status is 0 if the two are equal, 1 if they differ, 2 if a file or the "
	      "command line is not\n"
	      "understood.\n",
	      out);
}

static int set_option(int code, struct diff *d)
{
	switch (code) {
	case OPT_DIFF: return 0;
	case OPT_JSON: d->json = true; return 0;
	case 'h': d->help = true; return 0;
	}
	return -EINVAL; /* getopt has said why */
}

/* 0, or -EINVAL after a message on stderr. */
static int parse_args(int argc, char **argv, struct diff *ret)
{
	int code;

	optind = 1;
	while ((code = getopt_long(argc, argv, "h", options, NULL)) != -1)
		if (set_option(code, ret) < 0)
			return -EINVAL;
	if (ret->help)
		return 0;
	if (argc - optind != 2) {
		fprintf(stderr,
			"opensm: --diff: %d files; expected two, EXPECTED and FOUND\n",
			argc - optind);
		return -EINVAL;
	}
	ret->path[0] = argv[optind];
	ret->path[1] = argv[optind + 1];
	return 0;
}

static struct expect *read_picture(const char *path)
{
	struct conf_report r = { 0 };
	struct expect *x = expect_read(path, &r);

	conf_report_print(&r, stderr);
	conf_report_clear(&r);
	return x;
}

static void print_text(const struct diff *d, FILE *out)
{
	for (uint32_t i = 0; i < d->report->n_findings; i++) {
		_cleanup_free_ char *line =
			expect_finding_str(d->report, &d->report->findings[i]);

		fprintf(out, "%s\n", line);
	}
}

static int compare(struct diff *d)
{
	d->expected = read_picture(d->path[0]);
	d->found = read_picture(d->path[1]);
	if (!d->expected || !d->found)
		return DIFF_EXIT_FAULT;
	d->expected = expect_resolve(d->expected, d->found);
	d->found = expect_resolve(d->found, d->expected);
	d->report = expect_compare(d->expected, d->found);
	if (d->json)
		diff_print_json(d, stdout);
	else
		print_text(d, stdout);
	if (!output_done())
		return DIFF_EXIT_FAULT;
	return d->report->n_findings ? DIFF_EXIT_DIFFERS : 0;
}

int offline_diff(int argc, char **argv)
{
	struct diff d = { .json = false };
	int r = 0;

	if (parse_args(argc, argv, &d) < 0) {
		fputs("opensm: see opensm --diff --help\n", stderr);
		return DIFF_EXIT_FAULT;
	}
	if (d.help)
		print_usage(stdout);
	else
		r = compare(&d);
	expect_report_free(d.report);
	expect_free(d.expected);
	expect_free(d.found);
	return r;
}
