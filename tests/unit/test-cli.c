// SPDX-License-Identifier: BSD-2-Clause
/* The command line: the peer's options, echoes, frame and exit codes; --check. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/cli.h"
#include "conf/cli_rows.h"
#include "tests/lib/scratch.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define RULE "-------------------------------------------------\n"
#define NO_FILE "/nonexistent/opensm.conf"
#define MAX_ARGS 32

/* A run of the command line with everything it said. */
struct run {
	struct cli cli;
	char *out, *err;
};

static void run_clear(struct run *x)
{
	cli_clear(&x->cli);
	free(x->out);
	free(x->err);
}

static struct run run_env(const char *line, const struct cli_env *template)
{
	struct cli_env env = *template;
	_cleanup_free_ char *copy = xstrdup(line);
	char *argv[MAX_ARGS + 1] = { "opensm" }, *rest = copy;
	size_t out_len, err_len;
	struct run x = { 0 };
	int argc = 1;

	for (char *word; argc < MAX_ARGS && (word = strsep(&rest, " "));)
		if (*word)
			argv[argc++] = word;
	env.version = "4.0.0";
	env.out = open_memstream(&x.out, &out_len);
	env.err = open_memstream(&x.err, &err_len);
	cli_parse(argc, argv, &env, &x.cli);
	assert_int_equal(fclose(env.out), 0);
	assert_int_equal(fclose(env.err), 0);
	return x;
}

/* Without any file. */
static struct run run(const char *line)
{
	return run_env(line, &(struct cli_env){ .config_path = NO_FILE });
}

static void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void assert_key(const struct conf *c, const char *key, const char *expected)
{
	_cleanup_free_ char *text = conf_value_text(c, conf_option_find(key));

	assert_string_equal(text, expected);
}

/* What the peer prints between the heading and the name of the log. */
static const struct {
	const char *line, *echo, *key, *value;
} echoes[] = {
	{ "-g 1f", " Guid <0x1f>\n", "guid", "0x000000000000001f" },
	{ "-g0x1", " Guid <0x1>\n", "guid", "0x0000000000000001" },
	{ "-l 3", " LMC = 3\n", "lmc", "3" },
	{ "-p 15", " Priority = 15\n", "sm_priority", "15" },
	{ "--priority=0xf", " Priority = 15\n", "sm_priority", "15" },
	{ "-priority 3", " Priority = 3\n", "sm_priority", "3" },
	{ "--prio 3", " Priority = 3\n", "sm_priority", "3" },
	{ "--subnet_prefix fe", " Subnet_Prefix = <0xfe>\n", "subnet_prefix",
	  "0x00000000000000fe" },
	{ "-k 12", " SM Key <0x12>\n", "sm_key", "0x0000000000000012" },
	{ "-r", " Reassign LIDs\n", "reassign_lids", "TRUE" },
	{ "-R minhop", " Activate 'minhop' routing engine(s)\n", "routing_engine", "minhop" },
	{ "--do_mesh_analysis", "", "do_mesh_analysis", "TRUE" },
	{ "--lash_start_vl 2", " LASH starting VL = 2\n", "lash_start_vl", "2" },
	{ "--sm_sl 1", " SMSL = 1\n", "sm_sl", "1" },
	{ "--nue_max_num_vls 3", " Nue maximum #VLs = 3\n", "nue_max_num_vls", "3" },
	{ "-z", " Connect roots option is on\n", "connect_roots", "TRUE" },
	{ "-A", " Unicast routing cache option is on\n", "use_ucast_cache", "TRUE" },
	{ "-M f", " Lid matrix dump file is 'f'\n", "lid_matrix_dump_file", "f" },
	{ "-U f", " LFTs file is 'f'\n", "lfts_file", "f" },
	{ "-S f", " SA DB file is 'f'\n", "sa_db_file", "f" },
	{ "-a f", " Root Guid File: f\n", "root_guid_file", "f" },
	{ "-u f", " Compute Node Guid File: f\n", "cn_guid_file", "f" },
	{ "-G f", " I/O Node Guid File: f\n", "io_guid_file", "f" },
	{ "--port-shifting", " Port Shifting is on\n", "port_shifting", "TRUE" },
	{ "--scatter-ports 0", " Scatter Ports is on\n", "scatter_ports", "0" },
	{ "-H 3", " Max Reverse Hops: 3\n", "max_reverse_hops", "3" },
	{ "-m f", " IDs Guid File: f\n", "ids_guid_file", "f" },
	{ "-X f", " GUID Routing Order File: f\n", "guid_routing_order_file", "f" },
	{ "--guid_routing_order_no_scatter", "", "guid_routing_order_no_scatter", "TRUE" },
	{ "--torus_config f", "Torus-2QoS config file = f\n", "torus_config", "f" },
	{ "-s 4294", " sweep interval = 4294\n", "sweep_interval", "4294" },
	{ "-s4", " sweep interval = 4\n", "sweep_interval", "4" },
	{ "-t 300", " Transaction timeout = 300\n", "transaction_timeout", "300" },
	{ "--retries 0", " Transaction retries = 0\n", "transaction_retries", "0" },
	{ "-n 8", " Max wire smp's = 8\n", "max_wire_smps", "8" },
	{ "-n 0", " Max wire smp's = 2147483647\n", "max_wire_smps", "2147483647" },
	{ "-q local", "", "console", "local" },
	{ "-C 700", "", "console_port", "700" },
	{ "-i f", " Ignore Guids File = f\n", "port_prof_ignore_file", "f" },
	{ "-w f", " Hop Weights File = f\n", "hop_weights_file", "f" },
	{ "-O f", " Port Search Ordering/Dimension Ports File = f\n", "port_search_ordering_file",
	  "f" },
	{ "--dimn_ports_file f", " Port Search Ordering/Dimension Ports File = f\n",
	  "port_search_ordering_file", "f" },
	{ "-x", " Honor guid2lid file, if possible\n", "honor_guid2lid_file", "TRUE" },
	{ "--dump_files_dir f", "", "dump_files_dir", "f" },
	{ "-L 5", " Log file max size is 5 MBytes\n", "log_max_size", "5" },
	{ "-e", " Creating new log file\n", "accum_log_file", "FALSE" },
	{ "-P f", "", "partition_config_file", "f" },
	{ "-N", "", "part_enforce", "off" },
	{ "-Z in", "", "part_enforce", "in" },
	{ "-W", "", "allow_both_pkeys", "TRUE" },
	{ "-Q", "", "qos", "TRUE" },
	{ "-Y f", " QoS policy file 'f'\n", "qos_policy_file", "f" },
	{ "--congestion_control", "", "congestion_control", "TRUE" },
	{ "--cc_key 17", " CC Key 0x11\n", "cc_key", "0x0000000000000011" },
	{ "-y", " Staying on fatal initialization errors\n", "exit_on_fatal", "FALSE" },
	{ "-B", " Daemon mode\n", "daemon", "TRUE" },
	{ "-I", " SM started in inactive state\n", "sm_inactive", "TRUE" },
	{ "--perfmgr", "", "perfmgr", "TRUE" },
	{ "--perfmgr_sweep_time_s 9", "", "perfmgr_sweep_time_s", "9" },
	{ "--prefix_routes_file f", "", "prefix_routes_file", "f" },
	{ "--consolidate_ipv6_snm_req", "", "consolidate_ipv6_snm_req", "TRUE" },
	{ "--log_prefix x", "Log prefix = x\n", "log_prefix", "x" },
	{ "-v", " Verbose option -v (log flags = 0x7)\n", "log_flags", "0x07" },
	{ "-vvv",
	  " Verbose option -v (log flags = 0x7)\n Verbose option -v (log flags = 0xF)\n"
	  " Verbose option -v (log flags = 0x1F)\n",
	  "log_flags", "0x1f" },
	{ "-V", " Big V selected\n", "log_flags", "0xff" },
	{ "-V", " Big V selected\n", "force_log_flush", "TRUE" },
	{ "-D 0x43", " verbose option -D = 0x43\n", "log_flags", "0x43" },
	{ "-d0", " d level = 0x0\n Debug mode: Ignore Other SMs\n", "ignore_other_sm", "TRUE" },
	{ "-d 1", " d level = 0x1\n Debug mode: Forcing Single Thread\n", "single_thread", "TRUE" },
	{ "-d 2", " d level = 0x2\n Debug mode: Force Log Flush\n", "force_log_flush", "TRUE" },
	{ "-d 3", " d level = 0x3\n Debug mode: Disable multicast support\n", "disable_multicast",
	  "TRUE" },
	{ "-d 10", " d level = 0xa\n OpenSM: Unknown debug option 10 ignored\n", "lmc", "0" },
	{ "-l 1 -l 2", " LMC = 1\n LMC = 2\n", "lmc", "2" },
	{ "-rB", " Reassign LIDs\n Daemon mode\n", "daemon", "TRUE" },
	{ "stray words", "", "lmc", "0" },
};

static void options_do_and_say_what_the_peer_does(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(echoes); i++) {
		_cleanup_(run_clear) struct run x = run(echoes[i].line);
		_cleanup_free_ char *frame =
			xasprintf(RULE "OpenSM 4.0.0\nCommand Line Arguments:\n%s"
				       " Log File: /var/log/opensm.log\n" RULE,
				  echoes[i].echo);

		assert_string_equal(x.out, frame);
		assert_int_equal(x.cli.action, CLI_RUN);
		assert_int_equal(x.cli.report.errors, 0);
		assert_key(x.cli.conf, echoes[i].key, echoes[i].value);
	}
}

static void the_rest_of_the_options_fills_the_result(void **state)
{
	_cleanup_(run_clear) struct run x = run("-on -d 5 -d 5 --pidfile /p -f stdout");

	assert_true(x.cli.once); /* -on is --once, not -o -n */
	assert_int_equal(x.cli.vendor_debug, 2);
	assert_string_equal(x.cli.pidfile, "/p");
	assert_string_equal(x.cli.conf->log_file, "stdout");
	assert_says(x.out, " Run Once\n d level = 0x5\n d level = 0x5\n Log File: stdout\n" RULE);
	assert_string_equal(x.cli.config_path, NO_FILE);
	assert_string_equal(x.err, "");
}

static void without_a_log_file_none_is_named(void **state)
{
	_cleanup_(run_clear) struct run x = run("-f (null)");

	assert_null(x.cli.conf->log_file);
	assert_string_equal(x.out, RULE "OpenSM 4.0.0\nCommand Line Arguments:\n" RULE);
}

/* Said on stderr, not echoed; the value stays and the start goes on. */
static const struct {
	const char *line, *words, *key, *value;
} nonsense[] = {
	{ "-p 5x", "sm_priority: \"5x\"", "sm_priority", "0" },
	{ "-p /etc/rdma/partitions.conf", "did you mean -P (--Pconfig)?", "sm_priority", "0" },
	{ "-l -1", "lmc: \"-1\"", "lmc", "0" },
	{ "-t 0", "transaction_timeout: \"0\" is out of range", "transaction_timeout", "200" },
	{ "-t fast", "\"fast\"", "transaction_timeout", "200" },
	{ "-s 4295", "--sweep: \"4295\"; expected a number of 0-4294", "sweep_interval", "10" },
	{ "-s 5s", "--sweep: \"5s\"", "sweep_interval", "10" },
	{ "-n many", "--maxsmps: \"many\"", "max_wire_smps", "4" },
	{ "-D 0x1ff", "log_flags: \"0x1ff\" is out of range", "log_flags", "0x03" },
	{ "-d x", "--debug: \"x\"", "ignore_other_sm", "FALSE" },
	{ "-g spine", "--guid: \"spine\"; expected a hexadecimal", "guid", "0x0000000000000000" },
	{ "-k 0x1g", "--smkey: this value; expected a hexadecimal", "sm_key",
	  "0x0000000000000001" },
	{ "--cc_key x", "--cc_key: this value", "cc_key", "0x0000000000000000" },
	{ "--retries x", "\"x\"", "transaction_retries", "3" },
	{ "-H 70000", "out of range", "max_reverse_hops", "0" },
	{ "-C 70000", "out of range", "console_port", "10000" },
	{ "--scatter-ports x", "\"x\"", "scatter_ports", "0" },
	{ "-q foo", "console: \"foo\"; expected off|local|loopback", "console", "off" },
	{ "-Z In", "did you mean in?", "part_enforce", "both" },
};

static void nonsense_is_told_and_not_taken(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(nonsense); i++) {
		_cleanup_(run_clear) struct run x = run(nonsense[i].line);
		_cleanup_free_ char *key = xstrdup(nonsense[i].key);

		assert_says(x.err, nonsense[i].words);
		assert_string_equal(x.out, RULE "OpenSM 4.0.0\nCommand Line Arguments:\n"
						" Log File: /var/log/opensm.log\n" RULE);
		assert_int_equal(x.cli.action, CLI_RUN);
		assert_int_equal(x.cli.report.errors, 1);
		assert_key(x.cli.conf, key, nonsense[i].value);
	}
}

static void some_ranges_end_the_start(void **state)
{
	static const char *const lines[] = {
		"-l 8", "-p 16", "--lash_start_vl 16", "--sm_sl 16", "--nue_max_num_vls 16",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_(run_clear) struct run x = run(lines[i]);

		assert_int_equal(x.cli.action, CLI_EXIT);
		assert_int_equal(x.cli.exit_code, 255);
		assert_says(x.err, "out of range");
		assert_string_equal(x.out, RULE "OpenSM 4.0.0\nCommand Line Arguments:\n");
	}
}

static const struct {
	const char *line, *words;
} usage[] = {
	{ "--bogus", "\"--bogus\" is no option\n" },
	{ "--swep 3", "did you mean --sweep?" },
	{ "--swep=3", "did you mean --sweep?" },
	{ "--con x", "ambiguous; it could be --config, --connect_roots" },
	{ "-J x", "\"-J\" is no option" },
	{ "-p", "-p needs an argument" },
	{ "--priority", "--priority needs an argument" },
	{ "--once=1", "--once takes no argument" },
	{ "-rj", "there is no option -j" },
	{ "-h", "" },
	{ "-?", "" },
	{ "--help", "" },
};

static void wrong_usage_prints_the_usage_and_ends_with_2(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(usage); i++) {
		_cleanup_(run_clear) struct run x = run(usage[i].line);

		assert_int_equal(x.cli.action, CLI_EXIT);
		assert_int_equal(x.cli.exit_code, 2);
		assert_true(str_starts(x.out, RULE "OpenSM 4.0.0\nCommand Line Arguments:\n"));
		assert_says(x.out, "Usage: opensm");
		assert_says(x.err, usage[i].words);
		if (!usage[i].words[0])
			assert_string_equal(x.err, "");
	}
}

static void the_usage_lists_every_option(void **state)
{
	_cleanup_(run_clear) struct run x = run("-h");

	for (size_t i = 0; i < cli_n_rows; i++) {
		_cleanup_free_ char *name =
			xasprintf("\n--%s%s", cli_rows[i].name, cli_rows[i].letter ? ", -" : "");

		assert_says(x.out, name);
	}
}

static void the_version_ends_at_once(void **state)
{
	_cleanup_(run_clear) struct run x = run("--version -l 9");

	assert_int_equal(x.cli.action, CLI_EXIT);
	assert_int_equal(x.cli.exit_code, 0);
	assert_string_equal(x.out, RULE "OpenSM 4.0.0\nCommand Line Arguments:\n");
}

/* --- Files ---------------------------------------------------------------------------------- */

static void the_file_comes_before_the_command_line(void **state)
{
	char *path = scratch_file("sweep_interval 20\nlmc 0\nm_key 18\nm_key_lease_period 60\n"
			       "bogus 1\nlog_flags 7\nlog_prefix \"a b\"\n");
	_cleanup_free_ char *line = xasprintf("-s 30 -F %s", path);
	_cleanup_free_ char *expected =
		xasprintf(RULE "OpenSM 4.0.0\n"
			       "Config file is `%s`:\n"
			       " Reading Cached Option File: %s\n"
			       " Loading Cached Option:sweep_interval = 20\n"
			       " Loading Cached Option:m_key = 0x0000000000000012\n"
			       " Loading Cached Option:m_key_lease_period = 0x003c\n"
			       " Loading Cached Option:log_flags = 7\n"
			       " Loading Cached Option:log_prefix = a b\n"
			       "Command Line Arguments:\n"
			       " sweep interval = 30\n"
			       " Log File: /var/log/opensm.log\n" RULE,
			  path, path);
	_cleanup_free_ char *finding =
		xasprintf("%s:5:1: error: \"bogus\": unknown key; the line is ignored\n"
			  "%s:4:20: warning: m_key_lease_period: has no effect while "
			  "m_key_protection_level is 0\n",
			  path, path);
	_cleanup_(run_clear) struct run x = run(line);

	assert_string_equal(x.out, expected);
	assert_string_equal(x.err, finding);
	assert_int_equal(x.cli.conf->sweep_interval, 30);
	assert_int_equal(x.cli.file->sweep_interval, 20);
	assert_string_equal(x.cli.config_path, path);
	free(path);
}

static void a_file_that_is_not_there_is_told_when_it_was_asked_for(void **state)
{
	_cleanup_(run_clear) struct run x = run(""), y = run("-F " NO_FILE);

	assert_string_equal(x.err, "");
	assert_string_equal(y.err, NO_FILE ": warning: no such file; the defaults are used\n");
	assert_int_equal(y.cli.action, CLI_RUN);
	assert_string_equal(y.cli.config_path, NO_FILE); /* it may come */
}

static void what_is_no_file_is_told_and_the_start_goes_on(void **state)
{
	_cleanup_(run_clear) struct run x = run("-F /tmp");

	assert_string_equal(
		x.err, "/tmp: error: cannot be read: a folder; expected a file; it is not used\n");
	assert_int_equal(x.cli.action, CLI_RUN);
}

static void the_environment_comes_before_the_file(void **state)
{
	char *path = scratch_file("dump_files_dir /from/file\n");
	struct cli_env env = { .tmp_dir = "/from/env", .config_path = NO_FILE };
	_cleanup_(run_clear) struct run x = run_env("", &env);

	assert_string_equal(x.cli.conf->dump_files_dir, "/from/env");
	env.config_path = path;
	{
		_cleanup_(run_clear) struct run y = run_env("", &env);

		assert_string_equal(y.cli.conf->dump_files_dir, "/from/file");
		assert_string_equal(y.cli.config_path, path);
	}
	env = (struct cli_env){ .tmp_dir = "", .config_path = NO_FILE };
	{
		_cleanup_(run_clear) struct run y = run_env("", &env);

		assert_string_equal(y.cli.conf->dump_files_dir, "/var/log/");
	}
	free(path);
}

static void a_logdir_shows_where_the_log_goes(void **state)
{
	char *path = scratch_file("logdir /srv/sm\n");
	_cleanup_free_ char *line = xasprintf("-F %s", path);
	_cleanup_(run_clear) struct run x = run(line);

	assert_says(x.out, " Log File: /srv/sm/opensm.log\n");
	assert_string_equal(x.cli.conf->dump_files_dir, "/srv/sm/");
	assert_string_equal(x.cli.file->log_file, "/var/log/opensm.log");
	free(path);
}

static void create_config_writes_everything_and_ends(void **state)
{
	char *conf = scratch_file("lmc 2\nlogdir /srv/sm\n"), *made = scratch_file("old");
	_cleanup_free_ char *line = xasprintf("-F %s -c %s -N -s 7", conf, made);
	_cleanup_free_ char *text = NULL, *echo = NULL;
	_cleanup_(run_clear) struct run x = run(line);

	assert_int_equal(x.cli.action, CLI_EXIT);
	assert_int_equal(x.cli.exit_code, 0);
	echo = xasprintf(" Creating config file template '%s'.\n", made);
	assert_says(x.out, echo);
	assert_says(x.out, " Log File: /var/log/opensm.log\n" RULE);
	assert_int_equal(file_read(made, 1 << 20, &text, NULL), 0);
	assert_says(text, "\nlmc 2\n");
	assert_says(text, "\nsweep_interval 7\n");
	assert_says(text, "\nno_partition_enforcement TRUE\n");
	assert_says(text, "\npart_enforce both\n"); /* the final rules do not run before -c */
	assert_says(text, "\nlog_file /var/log/opensm.log\n");
	assert_says(text, "\nlogdir /srv/sm\n");
	free(conf);
	free(made);
}

static void create_config_fails_with_255(void **state)
{
	_cleanup_(run_clear) struct run x = run("-c /nonexistent/opensm.conf"),
					y = run("-c /dev/full");

	assert_int_equal(x.cli.action, CLI_EXIT);
	assert_int_equal(x.cli.exit_code, 255);
	assert_says(x.err, "cannot write '/nonexistent/opensm.conf'");
	assert_int_equal(y.cli.exit_code, 255);
	assert_says(y.err, "/dev/full");
}

static void guid_0_asks_for_a_menu_but_not_in_a_daemon(void **state)
{
	_cleanup_(run_clear) struct run x = run("-g 0"), y = run("-g 0x0 -B");

	assert_int_equal(x.cli.action, CLI_MENU);
	assert_true(x.cli.conf->guid == UINT64_MAX);
	assert_null(strstr(x.out, "Guid"));
	assert_int_equal(y.cli.action, CLI_EXIT);
	assert_int_equal(y.cli.exit_code, 255);
	assert_says(y.err, "daemon");
}

static void options_without_effect_are_told(void **state)
{
	_cleanup_(run_clear) struct run x = run("-Q -Y /x -R chain");

	assert_string_equal(
		x.err, "opensm: warning: routing_engine: chain is a routing engine of NVIDIA's "
		       "subnet manager; it is left out, auto routes when no other does\n");
}

static void a_value_of_the_command_line_is_not_blamed_on_the_file(void **state)
{
	char *path = scratch_file("routing_engine chain\n");
	_cleanup_free_ char *line = xasprintf("-R dfp2 -F %s", path);
	_cleanup_(run_clear) struct run x = run(line);

	assert_true(
		str_starts(x.err, "opensm: warning: routing_engine: dfp2 is a routing engine of"));
	free(path);
}

/* --- --check -------------------------------------------------------------------------------- */

static void check_finds_nothing_in_a_good_file(void **state)
{
	char *path = scratch_file("sweep_interval 20\n");
	_cleanup_free_ char *line = xasprintf("--check -F %s", path);
	_cleanup_(run_clear) struct run x = run(line);

	assert_int_equal(x.cli.action, CLI_EXIT);
	assert_int_equal(x.cli.exit_code, 0);
	assert_string_equal(x.out, "opensm: 0 errors, 0 warnings\n");
	assert_string_equal(x.err, "");
	free(path);
}

static void check_finds_faults_in_the_file_and_its_lists(void **state)
{
	char *list = scratch_file("0x1 1 1\n0x1 1\n");
	_cleanup_free_ char *text =
		xasprintf("lmc 9\nhop_weights_file %s\nqos_max_vls 4\n", list);
	char *path = scratch_file(text);
	_cleanup_free_ char *line = xasprintf("-F %s --check -c /nonexistent/x", path);
	_cleanup_free_ char *expected = xasprintf(
		"%s:1:5: error: lmc: \"9\" is out of range; expected a number of 0-7; keeps 0\n"
		"%s:3:13: warning: qos_max_vls is accepted only: 4 has no effect\n"
		"%s:2:6: error: no number; expected a weight of 1-255; the line is ignored\n"
		"opensm: 2 errors, 1 warning\n",
		path, path, list);
	_cleanup_(run_clear) struct run x = run(line);

	assert_string_equal(x.out, expected);
	assert_string_equal(x.err, "");
	assert_int_equal(x.cli.action, CLI_EXIT);
	assert_int_equal(x.cli.exit_code, 78);
	free(path);
	free(list);
}

static void check_wants_the_file_it_was_given(void **state)
{
	_cleanup_(run_clear) struct run x = run("--check -F " NO_FILE), y = run("--check");

	assert_int_equal(x.cli.exit_code, 78);
	assert_says(x.out, NO_FILE ": error: no such file");
	assert_int_equal(y.cli.exit_code, 0);
}

static void strict_starts_nothing_that_has_errors(void **state)
{
	char *bad = scratch_file("lmc 9\n"), *odd = scratch_file("qos_max_vls 4\n");
	_cleanup_free_ char *first = xasprintf("-F %s --strict", bad);
	_cleanup_free_ char *second = xasprintf("--strict -F %s", odd);
	_cleanup_(run_clear) struct run x = run(first), y = run(second);
	_cleanup_(run_clear) struct run z = run("--strict -F " NO_FILE), w = run("--strict -g x");

	assert_int_equal(x.cli.action, CLI_EXIT);
	assert_int_equal(x.cli.exit_code, 78);
	assert_says(x.err, ":1:5: error: lmc");
	assert_says(x.err, "with --strict nothing is started");
	/* What has no effect is an error. */
	assert_int_equal(y.cli.exit_code, 78);
	assert_says(y.err, ":1:13: error: qos_max_vls is accepted only");
	assert_int_equal(z.cli.exit_code, 78);
	assert_int_equal(w.cli.exit_code, 78);
	free(bad);
	free(odd);
}

/* Protection without a key is no option without a line: a strict start looks at it. */
static void strict_starts_nothing_that_protects_nothing(void **state)
{
	char *level = scratch_file("m_key_protection_level 2\n");
	char *idle = scratch_file("m_key 5\nm_key_protection_level 1\nperiodic_key_update 60\n");
	_cleanup_free_ char *first = xasprintf("-F %s --strict", level);
	_cleanup_free_ char *second = xasprintf("-F %s --strict", idle);
	_cleanup_free_ char *third = xasprintf("-F %s", idle);
	_cleanup_free_ char *fourth = xasprintf("-F %s --strict --check", level);
	_cleanup_(run_clear) struct run x = run(first), y = run(second), z = run(third);
	_cleanup_(run_clear) struct run w = run(fourth);

	assert_int_equal(x.cli.exit_code, 78);
	assert_says(x.err, ":1:24: error: m_key: 0 protects no port");
	assert_int_equal(w.cli.exit_code, 78);
	assert_int_equal(y.cli.exit_code, 78);
	assert_says(y.err, ":3:21: error: periodic_key_update: has no effect while m_key_per_port");
	assert_int_equal(z.cli.action, CLI_RUN);
	assert_says(z.err, ":3:21: warning: periodic_key_update: has no effect while");
	free(level);
	free(idle);
}

static void find_fault(const struct conf *conf, struct conf_report *r)
{
	conf_report_option(r, CONF_ERROR, conf, CONF_ID_control_group, "there is no such group");
}

static void strict_looks_around(void **state)
{
	const struct cli_env env = { .config_path = NO_FILE, .look_around = find_fault };
	_cleanup_(run_clear) struct run x = run_env("--strict", &env), y = run_env("", &env);

	assert_int_equal(x.cli.action, CLI_EXIT);
	assert_int_equal(x.cli.exit_code, 78);
	assert_says(x.err, "error: control_group: there is no such group");
	assert_int_equal(y.cli.action, CLI_RUN);
}

/*
 * A file that an option names and that does not exist is said at the option, and nothing is
 * started.
 */
static void strict_wants_the_files_that_options_name(void **state)
{
	char *parts = scratch_file("partition_config_file /nonexistent/partitions.conf\n");
	char *usual = scratch_file("partition_config_file /etc/opensm/partitions.conf\n");
	_cleanup_free_ char *first = xasprintf("-F %s --strict", parts);
	_cleanup_free_ char *second = xasprintf("-F %s --strict", usual);
	_cleanup_free_ char *third = xasprintf("-F %s", parts);
	_cleanup_(run_clear) struct run x = run(first), y = run(second), z = run(third);

	assert_int_equal(x.cli.action, CLI_EXIT);
	assert_int_equal(x.cli.exit_code, 78);
	assert_says(x.err, ":1:23: error: partition_config_file: there is no file "
			   "\"/nonexistent/partitions.conf\"");
	assert_int_equal(y.cli.action, CLI_RUN);
	assert_int_equal(z.cli.action, CLI_RUN);
	free(parts);
	free(usual);
}

/* Wherever the key stands: behind a letter, a name, an abbreviated name, a '='. */
static void keys_are_taken_off_the_command_line(void **state)
{
	static const char *const lines[] = {
		"opensm -k 0x5ec4e7 -p 3",    "opensm -k0x5ec4e7 -p 3",
		"opensm --smkey 0x5ec4e7",    "opensm --smkey=0x5ec4e7",
		"opensm --cc_key=0x5ec4e7",   "opensm -p 3 --cc_k 0x5ec4e7",
		"opensm --unknown -k 5ec4e7", "opensm -k 5ec4e7 --cc_key",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_free_ char *copy = xstrdup(lines[i]);
		char *argv[MAX_ARGS + 1] = { NULL }, *rest = copy;
		size_t len = strlen(copy);
		int argc = 0;

		for (char *word; (word = strsep(&rest, " "));)
			argv[argc++] = word;
		cli_hide_keys(argc, argv);
		assert_null(memmem(copy, len, "5ec4e7", 6));
		assert_non_null(memmem(copy, len, "xxxxxx", 6));
		assert_string_equal(argv[0], "opensm");
		if (i < 2)
			assert_string_equal(argv[argc - 1], "3");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_do_and_say_what_the_peer_does),
		cmocka_unit_test(the_rest_of_the_options_fills_the_result),
		cmocka_unit_test(without_a_log_file_none_is_named),
		cmocka_unit_test(nonsense_is_told_and_not_taken),
		cmocka_unit_test(some_ranges_end_the_start),
		cmocka_unit_test(wrong_usage_prints_the_usage_and_ends_with_2),
		cmocka_unit_test(the_usage_lists_every_option),
		cmocka_unit_test(the_version_ends_at_once),
		cmocka_unit_test(the_file_comes_before_the_command_line),
		cmocka_unit_test(a_file_that_is_not_there_is_told_when_it_was_asked_for),
		cmocka_unit_test(what_is_no_file_is_told_and_the_start_goes_on),
		cmocka_unit_test(the_environment_comes_before_the_file),
		cmocka_unit_test(a_logdir_shows_where_the_log_goes),
		cmocka_unit_test(create_config_writes_everything_and_ends),
		cmocka_unit_test(create_config_fails_with_255),
		cmocka_unit_test(guid_0_asks_for_a_menu_but_not_in_a_daemon),
		cmocka_unit_test(options_without_effect_are_told),
		cmocka_unit_test(a_value_of_the_command_line_is_not_blamed_on_the_file),
		cmocka_unit_test(check_finds_nothing_in_a_good_file),
		cmocka_unit_test(check_finds_faults_in_the_file_and_its_lists),
		cmocka_unit_test(check_wants_the_file_it_was_given),
		cmocka_unit_test(strict_starts_nothing_that_has_errors),
		cmocka_unit_test(strict_wants_the_files_that_options_name),
		cmocka_unit_test(strict_starts_nothing_that_protects_nothing),
		cmocka_unit_test(strict_looks_around),
		cmocka_unit_test(keys_are_taken_off_the_command_line),
	};

	return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
