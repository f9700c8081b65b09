// SPDX-License-Identifier: BSD-2-Clause
/* The command line of the launcher: one row per place. */
#include "launch/paths.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>

#include "conf/conf.h"
#include "util/mem.h"
#include "util/str.h"

#define EXIT_USAGE	2
#define DEFAULT_LOG_DIR OPENSM_STATE_DIR "/log"

#ifndef OPENSM_PROGRAM
#define OPENSM_PROGRAM "/usr/sbin/opensm"
#endif

static const struct place {
	const char *name;
	size_t member;
	const char *otherwise, *help;
} places[] = {
	{ "conf-dir", offsetof(struct launch_paths, conf_dir), OPENSM_CONF_DIR,
	  "folder of opensm.conf and opensm.conf.N" },
	{ "sysconfig", offsetof(struct launch_paths, sysconfig), "/etc/sysconfig/opensm",
	  "file with GUIDS and PRIORITY" },
	{ "defaults", offsetof(struct launch_paths, defaults), "/etc/default/opensm",
	  "file with PORTS" },
	{ "run-dir", offsetof(struct launch_paths, run_dir), "/run/opensm",
	  "folder for sockets and instances.json" },
	{ "cache-dir", offsetof(struct launch_paths, cache_dir), OPENSM_STATE_DIR "/cache/opensm",
	  "folder for guid2lid and its like" },
	{ "log-dir", offsetof(struct launch_paths, log_dir), DEFAULT_LOG_DIR,
	  "folder for logs and dumps" },
	{ "program", offsetof(struct launch_paths, program), OPENSM_PROGRAM, "what is started" },
	{ "sys-dir", offsetof(struct launch_paths, sys_dir), "/sys/class",
	  "where infiniband_mad and infiniband are" },
};

#define PLACE_BASE 256 /* option n of places */

static const struct option others[] = {
	{ "show", no_argument, NULL, 's' },
	{ "run", required_argument, NULL, 'r' },
	{ "version", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void set_place(struct launch_paths *p, const struct place *place, const char *value)
{
	*(const char **)((char *)p + place->member) = value;
}

static void print_usage(FILE *to)
{
	fputs("Usage: opensm-launch [OPTION]...\n\n"
	      "The main process of opensm.service: decides which instances of opensm there are, "
	      "and starts\n"
	      "opensm@NAME.service for each. See opensm-launch(8).\n\n"
	      "  --show            says which instances there would be, and why, and ends\n"
	      "  --run=NAME        becomes the opensm of this instance: opensm@NAME.service does "
	      "that\n",
	      to);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		fprintf(to, "  --%-16s%s [%s]\n", places[i].name, places[i].help,
			places[i].otherwise);
	fputs("  --version, --help\n", to);
}

static int set_option(struct launch_paths *p, int code, FILE *out, FILE *err)
{
	switch (code) {
	case 's':
		p->show = true;
		return -1;
	case 'r':
		p->run = optarg;
		return -1;
	case 'v':
		fprintf(out, "opensm-launch %s\n", PACKAGE_VERSION);
		return 0;
	case 'h':
		print_usage(out);
		return 0;
	case '?':
		print_usage(err);
		return EXIT_USAGE;
	default:
		set_place(p, &places[code - PLACE_BASE], optarg);
		return -1;
	}
}

int launch_paths_read(int argc, char *const argv[], FILE *out, FILE *err, struct launch_paths *ret)
{
	struct option options[ARRAY_SIZE(places) + ARRAY_SIZE(others)];
	int code, r;

	*ret = (struct launch_paths){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		set_place(ret, &places[i], places[i].otherwise);
		options[i] = (struct option){ places[i].name, required_argument, NULL,
					      PLACE_BASE + (int)i };
	}
	memcpy(options + ARRAY_SIZE(places), others, sizeof(others));
	optind = 0;
	while ((code = getopt_long(argc, argv, "", options, NULL)) != -1) {
		r = set_option(ret, code, out, err);
		if (r >= 0)
			return r;
	}
	if (optind == argc)
		return -1;
	fprintf(err, "opensm-launch: found the word '%s'; expected options only\n", argv[optind]);
	return EXIT_USAGE;
}

bool launch_paths_standard_conf(const struct launch_paths *p)
{
	return str_equal(p->conf_dir, OPENSM_CONF_DIR);
}

bool launch_paths_standard_log(const struct launch_paths *p)
{
	return str_equal(p->log_dir, DEFAULT_LOG_DIR);
}
