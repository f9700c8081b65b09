// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rows of the command line, and the effect of each option (cli.md 2). An invalid argument is a
 * finding, and the value stays.
 */
#include "conf/cli_rows.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

#define SWEEP_MAX 4294 /* seconds; the largest number that OpenSM can hold in microseconds */
#define NO_LIMIT 0x7FFFFFFF

static const struct conf_place nowhere;

void cli_echo(struct cli_run *run, const char *fmt, ...)
{
	va_list ap;

	if (!run->out)
		return;
	va_start(ap, fmt);
	vfprintf(run->out, fmt, ap);
	va_end(ap);
}

int cli_exit(struct cli_run *run, int code)
{
	run->ret->action = CLI_EXIT;
	run->ret->exit_code = code;
	return -ECANCELED;
}

static void echo_value(struct cli_run *run, const struct cli_row *row, const char *value)
{
	if (run->env->out_is_log && conf_is_secret(row->id))
		value = "not shown";
	if (row->echo)
		cli_echo(run, "%s%s%s\n", row->echo, value, row->after ? row->after : "");
}

/* The text of an argument for a finding. */
static const char *shown(const struct cli_row *row, const char *arg,
			 char quoted[static CONF_QUOTE_MAX])
{
	return conf_is_secret(row->id) ? "this value" : conf_quote(arg, strlen(arg), quoted);
}

static int set_option(struct cli_run *run, enum conf_id id, const char *text)
{
	int r = conf_set(run->ret->conf, id, text, &nowhere, &run->ret->report);

	if (r == 0)
		run->ret->conf->given[id] = true;
	return r;
}

static void set_number(struct cli_run *run, enum conf_id id, uint64_t n)
{
	_cleanup_free_ char *text = xasprintf("%" PRIu64, n);

	set_option(run, id, text);
}

/* Reads the argument as a number. -EINVAL: it is none, a finding was added. */
static int number(struct cli_run *run, const struct cli_row *row, const char *arg, uint64_t max,
		  uint64_t *ret)
{
	char quoted[CONF_QUOTE_MAX];

	if (str_to_u64(arg, 0, max, ret) == 0)
		return 0;
	conf_report_add(&run->ret->report, CONF_ERROR, NULL, 0, 0,
			"--%s: %s; expected a number of 0-%" PRIu64 "; the option is ignored",
			row->name, shown(row, arg, quoted), max);
	return -EINVAL;
}

/* --- Families ------------------------------------------------------------------------------- */

static int take_fixed(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	set_option(run, row->id, row->value);
	echo_value(run, row, "");
	return 0;
}

static int take_text(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	if (set_option(run, row->id, arg) == 0)
		echo_value(run, row, arg);
	return 0;
}

static int take_number(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	_cleanup_free_ char *text = NULL;

	if (set_option(run, row->id, arg) < 0)
		return 0;
	text = conf_value_text(run->ret->conf, row->id);
	echo_value(run, row, text);
	return 0;
}

/* If a path was given for a number, suggests the option of the other letter case, as -P for -p. */
static void suggest_file(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	for (size_t i = 0; i < cli_n_rows && row->letter && strchr(arg, '/'); i++) {
		const struct cli_row *other = &cli_rows[i];

		if (other->letter == toupper((unsigned char)row->letter) && other->arg &&
		    !strcmp(other->arg, "FILE"))
			conf_report_add(&run->ret->report, CONF_WARNING, NULL, 0, 0,
					"-%c %s: did you mean -%c (--%s)?", row->letter, arg,
					other->letter, other->name);
	}
}

/* Sets an option. A value out of range ends the program, as in OpenSM. */
static int take_bounded(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	_cleanup_free_ char *text = NULL;
	int r = set_option(run, row->id, arg);

	if (r == -ERANGE) {
		conf_report_add(&run->ret->report, CONF_ERROR, NULL, 0, 0,
				"--%s: nothing is started with such a value", row->name);
		return cli_exit(run, CLI_EXIT_RANGE);
	}
	if (r < 0) {
		suggest_file(run, row, arg);
		return 0;
	}
	text = conf_value_text(run->ret->conf, row->id);
	echo_value(run, row, text);
	return 0;
}

/* Reads up to 64 bits in base 16, with or without 0x. */
static int hex(struct cli_run *run, const struct cli_row *row, const char *arg, uint64_t *ret)
{
	char quoted[CONF_QUOTE_MAX];

	if (str_to_u64(arg, 16, UINT64_MAX, ret) == 0)
		return 0;
	conf_report_add(&run->ret->report, CONF_ERROR, NULL, 0, 0,
			"--%s: %s; expected a hexadecimal number; the option is ignored", row->name,
			shown(row, arg, quoted));
	return -EINVAL;
}

static void set_hex(struct cli_run *run, const struct cli_row *row, uint64_t n)
{
	_cleanup_free_ char *text = xasprintf("%" PRIx64, n);

	set_number(run, row->id, n);
	echo_value(run, row, text);
}

static int take_hex(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	uint64_t n;

	if (hex(run, row, arg, &n) == 0)
		set_hex(run, row, n);
	return 0;
}

static int take_ignored(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	return 0; /* was read in the first pass */
}

/* --- Single ones ---------------------------------------------------------------------------- */

static int take_version(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	return cli_exit(run, 0);
}

static int take_help(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	return cli_exit(run, CLI_EXIT_USAGE);
}

static int take_create(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	run->create = arg;
	echo_value(run, row, arg);
	return 0;
}

/* Sets the port GUID. 0 asks the user: it becomes all ones. */
static int take_guid(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	uint64_t n;

	if (hex(run, row, arg, &n) < 0)
		return 0;
	if (n)
		set_hex(run, row, n);
	else
		set_number(run, row->id, UINT64_MAX);
	return 0;
}

static int take_cc_key(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	uint64_t n;

	if (number(run, row, arg, UINT64_MAX, &n) == 0)
		set_hex(run, row, n);
	return 0;
}

static int take_sweep(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	_cleanup_free_ char *text = NULL;
	uint64_t n;

	if (number(run, row, arg, SWEEP_MAX, &n) < 0)
		return 0;
	set_number(run, row->id, n);
	text = xasprintf("%" PRIu64, n);
	echo_value(run, row, text);
	return 0;
}

static int take_max_smps(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	_cleanup_free_ char *text = NULL;
	uint64_t n;

	if (number(run, row, arg, UINT32_MAX, &n) < 0)
		return 0;
	if (!n || n > NO_LIMIT)
		n = NO_LIMIT;
	set_number(run, row->id, n);
	text = xasprintf("%" PRIu64, n);
	echo_value(run, row, text);
	return 0;
}

/* Sets the seed of --scatter-ports; prints "on" whatever it is. */
static int take_scatter(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	if (set_option(run, row->id, arg) == 0)
		echo_value(run, row, "");
	return 0;
}

static int take_once(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	run->ret->once = true;
	echo_value(run, row, "");
	return 0;
}

/* Sets M_Key 0 and asks for no other key, whatever the file and its security_profile give. */
static int take_release(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	static const struct {
		enum conf_id id;
		const char *value;
	} rows[] = {
		{ CONF_ID_m_key, "0" },
		{ CONF_ID_m_key_per_port, "FALSE" },
		{ CONF_ID_m_key_protection_level, "0" },
		{ CONF_ID_m_key_lease_period, "0" },
		{ CONF_ID_periodic_key_update, "0" },
	};
	const struct conf *file = run->ret->file;

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		set_option(run, rows[i].id, rows[i].value);
	/*
	 * CC_Keys of this configuration are taken from the devices; devices with others are left
	 * alone.
	 */
	if (file && file->congestion_control && file->cc_key_enable)
		set_option(run, CONF_ID_cc_key_enable, "1");
	else
		set_option(run, CONF_ID_congestion_control, "FALSE");
	run->ret->release = run->ret->once = true;
	return 0;
}

static int take_pidfile(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	free(run->ret->pidfile);
	run->ret->pidfile = xstrdup(arg);
	return 0;
}

static int take_verbose(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	unsigned flags = (run->ret->conf->log_flags << 1 | 1) & 0xFF;
	_cleanup_free_ char *text = xasprintf("%X", flags);

	set_number(run, row->id, flags);
	echo_value(run, row, text);
	return 0;
}

static int take_very_verbose(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	set_option(run, CONF_ID_force_log_flush, "TRUE");
	return take_fixed(run, row, arg);
}

static int take_log_flags(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	_cleanup_free_ char *text = NULL;

	if (set_option(run, row->id, arg) < 0)
		return 0;
	text = xasprintf("%x", run->ret->conf->log_flags);
	echo_value(run, row, text);
	return 0;
}

static const struct {
	unsigned level;
	enum conf_id id;
	const char *echo;
} debug_levels[] = {
	{ 0, CONF_ID_ignore_other_sm, "Ignore Other SMs" },
	{ 1, CONF_ID_single_thread, "Forcing Single Thread" },
	{ 2, CONF_ID_force_log_flush, "Force Log Flush" },
	{ 3, CONF_ID_disable_multicast, "Disable multicast support" },
};

static int take_debug(struct cli_run *run, const struct cli_row *row, const char *arg)
{
	uint64_t level;

	if (number(run, row, arg, INT32_MAX, &level) < 0)
		return 0;
	cli_echo(run, "%s%" PRIx64 "\n", row->echo, level);
	for (unsigned i = 0; i < ARRAY_SIZE(debug_levels); i++) {
		if (debug_levels[i].level != level)
			continue;
		set_option(run, debug_levels[i].id, "TRUE");
		cli_echo(run, " Debug mode: %s\n", debug_levels[i].echo);
		return 0;
	}
	if (level == 5)
		run->ret->vendor_debug++;
	else
		cli_echo(run, " OpenSM: Unknown debug option %" PRIu64 " ignored\n", level);
	return 0;
}

/* --- The table ------------------------------------------------------------------------------ */

#define KEY(name) CONF_ID_##name
#define NO_KEY CONF_N_OPTIONS

/* clang-format off */
const struct cli_row cli_rows[] = {
	{ 0, "version", NULL, take_version, .id = NO_KEY, .help = "Prints the version and ends." },
	{ 'F', "config", "FILE", take_ignored, .id = NO_KEY,
	  .help = "Reads this file in place of " CONF_FILE "." },
	{ 0, "check", NULL, take_ignored, .id = NO_KEY,
	  .help = "Reads the configuration and the files it names, looks for the folders, "
		  "groups, addresses and plugins it needs, prints all errors and warnings, "
		  "and ends: with 78 if there are errors, else 0." },
	{ 0, "json", NULL, take_ignored, .id = NO_KEY,
	  .help = "With --check: prints the errors and warnings as JSON." },
	{ 0, "strict", NULL, take_ignored, .id = NO_KEY,
	  .help = "Ends with status 78 and starts nothing if there are errors in the "
		  "configuration or on the command line, instead of continuing with defaults. "
		  "Options without effect, and what the host lacks, are errors, too." },
	{ 'c', "create-config", "FILE", take_create, .id = NO_KEY,
	  .echo = " Creating config file template '", .after = "'.",
	  .help = "Writes the configuration (defaults, file and command line) to FILE and ends." },
	{ 'g', "guid", "GUID", take_guid, .id = KEY(guid), .echo = " Guid <0x", .after = ">",
	  .help = "Uses the local port with this GUID (hexadecimal). 0 lists the ports "
		  "and asks. Without -g: the first local port whose link is up." },
	{ 'l', "lmc", "LMC", take_bounded, .id = KEY(lmc), .echo = " LMC = " },
	{ 'p', "priority", "PRIORITY", take_bounded, .id = KEY(sm_priority),
	  .echo = " Priority = " },
	{ 0, "subnet_prefix", "PREFIX", take_hex, .id = KEY(subnet_prefix),
	  .echo = " Subnet_Prefix = <0x", .after = ">" },
	{ 'k', "smkey", "SM_KEY", take_hex, .id = KEY(sm_key), .echo = " SM Key <0x",
	  .after = ">" },
	{ 'r', "reassign_lids", NULL, take_fixed, .id = KEY(reassign_lids), "TRUE",
	  " Reassign LIDs" },
	{ 'R', "routing_engine", "NAMES", take_text, .id = KEY(routing_engine),
	  .echo = " Activate '",
	  .after = "' routing engine(s)" },
	{ 0, "do_mesh_analysis", NULL, take_fixed, .id = KEY(do_mesh_analysis), "TRUE" },
	{ 0, "lash_start_vl", "VL", take_bounded, .id = KEY(lash_start_vl),
	  .echo = " LASH starting VL = " },
	{ 0, "sm_sl", "SL", take_bounded, .id = KEY(sm_sl), .echo = " SMSL = " },
	{ 0, "nue_max_num_vls", "NUMBER", take_bounded, .id = KEY(nue_max_num_vls),
	  .echo = " Nue maximum #VLs = " },
	{ 'z', "connect_roots", NULL, take_fixed, .id = KEY(connect_roots), "TRUE",
	  " Connect roots option is on" },
	{ 'A', "ucast_cache", NULL, take_fixed, .id = KEY(use_ucast_cache), "TRUE",
	  " Unicast routing cache option is on" },
	{ 'M', "lid_matrix_file", "FILE", take_text, .id = KEY(lid_matrix_dump_file),
	  .echo = " Lid matrix dump file is '",
	  .after = "'" },
	{ 'U', "lfts_file", "FILE", take_text, .id = KEY(lfts_file), .echo = " LFTs file is '",
	  .after = "'" },
	{ 'S', "sadb_file", "FILE", take_text, .id = KEY(sa_db_file), .echo = " SA DB file is '",
	  .after = "'" },
	{ 'a', "root_guid_file", "FILE", take_text, .id = KEY(root_guid_file),
	  .echo = " Root Guid File: " },
	{ 'u', "cn_guid_file", "FILE", take_text, .id = KEY(cn_guid_file),
	  .echo = " Compute Node Guid File: " },
	{ 'G', "io_guid_file", "FILE", take_text, .id = KEY(io_guid_file),
	  .echo = " I/O Node Guid File: " },
	{ 0, "port-shifting", NULL, take_fixed, .id = KEY(port_shifting), "TRUE",
	  " Port Shifting is on" },
	{ 0, "scatter-ports", "SEED", take_scatter, .id = KEY(scatter_ports),
	  .echo = " Scatter Ports is on" },
	{ 'H', "max_reverse_hops", "HOPS", take_number, .id = KEY(max_reverse_hops),
	  .echo = " Max Reverse Hops: " },
	{ 'm', "ids_guid_file", "FILE", take_text, .id = KEY(ids_guid_file),
	  .echo = " IDs Guid File: " },
	{ 'X', "guid_routing_order_file", "FILE", take_text, .id = KEY(guid_routing_order_file),
	  .echo = " GUID Routing Order File: " },
	{ 0, "guid_routing_order_no_scatter", NULL, take_fixed,
	  .id = KEY(guid_routing_order_no_scatter), "TRUE" },
	{ 0, "torus_config", "FILE", take_text, .id = KEY(torus_config),
	  .echo = "Torus-2QoS config file = " },
	{ 'o', "once", NULL, take_once, .id = NO_KEY, .echo = " Run Once",
	  .help = "Brings the subnet up once, then ends. Ports stay active." },
	{ 0, "release", NULL, take_release, .id = NO_KEY,
	  .help = "As --once, and takes the M_Keys, and CC_Keys if they are given, from all ports, "
		  "for another manager. Ends with status 1 if one is left." },
	{ 's', "sweep", "SECONDS", take_sweep, .id = KEY(sweep_interval),
	  .echo = " sweep interval = " },
	{ 't', "timeout", "MS", take_number, .id = KEY(transaction_timeout),
	  .echo = " Transaction timeout = " },
	{ 0, "retries", "NUMBER", take_number, .id = KEY(transaction_retries),
	  .echo = " Transaction retries = " },
	{ 'n', "maxsmps", "NUMBER", take_max_smps, .id = KEY(max_wire_smps),
	  .echo = " Max wire smp's = " },
	{ 'q', "console", "off|local|loopback", take_text, .id = KEY(console) },
	{ 'C', "console-port", "PORT", take_number, .id = KEY(console_port) },
	{ 'i', "ignore_guids", "FILE", take_text, .id = KEY(port_prof_ignore_file),
	  .echo = " Ignore Guids File = " },
	{ 'w', "hop_weights_file", "FILE", take_text, .id = KEY(hop_weights_file),
	  .echo = " Hop Weights File = " },
	{ 'O', "port_search_ordering_file", "FILE", take_text, .id = KEY(port_search_ordering_file),
	  .echo = " Port Search Ordering/Dimension Ports File = " },
	{ 0, "dimn_ports_file", "FILE", take_text, .id = KEY(port_search_ordering_file),
	  .echo = " Port Search Ordering/Dimension Ports File = ",
	  .help = "Deprecated name of --port_search_ordering_file." },
	{ 'x', "honor_guid2lid", NULL, take_fixed, .id = KEY(honor_guid2lid_file), "TRUE",
	  " Honor guid2lid file, if possible" },
	{ 0, "dump_files_dir", "FOLDER", take_text, .id = KEY(dump_files_dir) },
	{ 'f', "log_file", "FILE", take_text, .id = KEY(log_file) },
	{ 'L', "log_limit", "MB", take_number, .id = KEY(log_max_size),
	  .echo = " Log file max size is ",
	  .after = " MBytes" },
	{ 'e', "erase_log_file", NULL, take_fixed, .id = KEY(accum_log_file), "FALSE",
	  " Creating new log file",
	  .help = "Empties the log file at the start." },
	{ 'P', "Pconfig", "FILE", take_text, .id = KEY(partition_config_file) },
	{ 'N', "no_part_enforce", NULL, take_fixed, .id = KEY(no_partition_enforcement), "TRUE",
	  .help = "Deprecated form of --part_enforce off." },
	{ 'Z', "part_enforce", "both|in|out|off", take_text, .id = KEY(part_enforce) },
	{ 'W', "allow_both_pkeys", NULL, take_fixed, .id = KEY(allow_both_pkeys), "TRUE" },
	{ 'Q', "qos", NULL, take_fixed, .id = KEY(qos), "TRUE" },
	{ 'Y', "qos_policy_file", "FILE", take_text, .id = KEY(qos_policy_file),
	  .echo = " QoS policy file '", .after = "'" },
	{ 0, "congestion_control", NULL, take_fixed, .id = KEY(congestion_control), "TRUE" },
	{ 0, "cc_key", "KEY", take_cc_key, .id = KEY(cc_key), .echo = " CC Key 0x" },
	{ 'y', "stay_on_fatal", NULL, take_fixed, .id = KEY(exit_on_fatal), "FALSE",
	  " Staying on fatal initialization errors",
	  .help = "Continues where a state file cannot be read." },
	{ 'B', "daemon", NULL, take_fixed, .id = KEY(daemon), "TRUE", " Daemon mode" },
	{ 0, "pidfile", "FILE", take_pidfile, .id = NO_KEY,
	  .help = "With -B: writes the process id to FILE." },
	{ 'I', "inactive", NULL, take_fixed, .id = KEY(sm_inactive), "TRUE",
	  " SM started in inactive state" },
	{ 0, "perfmgr", NULL, take_fixed, .id = KEY(perfmgr), "TRUE" },
	{ 0, "perfmgr_sweep_time_s", "SECONDS", take_number, .id = KEY(perfmgr_sweep_time_s) },
	{ 0, "prefix_routes_file", "FILE", take_text, .id = KEY(prefix_routes_file) },
	{ 0, "consolidate_ipv6_snm_req", NULL, take_fixed, .id = KEY(consolidate_ipv6_snm_req),
	  "TRUE" },
	{ 0, "log_prefix", "TEXT", take_text, .id = KEY(log_prefix), .echo = "Log prefix = " },
	{ 'v', "verbose", NULL, take_verbose, .id = KEY(log_flags),
	  .echo = " Verbose option -v (log flags = 0x",
	  .after = ")", .help = "Logs one more kind of record each time it is given; see -D." },
	{ 'V', "V", NULL, take_very_verbose, .id = KEY(log_flags), "0xFF", " Big V selected",
	  .help = "Logs everything, each record at once: -D 0xFF -d 2." },
	{ 'D', "D", "FLAGS", take_log_flags, .id = KEY(log_flags),
	  .echo = " verbose option -D = 0x" },
	{ 'd', "debug", "LEVEL", take_debug, .id = NO_KEY, .echo = " d level = 0x",
	  .help = "0 ignores other subnet managers, 1 uses a single thread, 2 writes "
		  "log records at once, 3 leaves multicast alone, 5 (may be repeated) prints "
		  "MADs." },
	{ 'h', "help", NULL, take_help, .id = NO_KEY, .help = "Prints this and ends; so does -?." },
};
/* clang-format on */

const size_t cli_n_rows = ARRAY_SIZE(cli_rows);
