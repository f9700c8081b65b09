// SPDX-License-Identifier: BSD-2-Clause
/*
 * The console: lines in, text out, on a simulated fabric. That the shapes are the peer's is shown
 * by tests/e2e/console.bats; here are rights, what an answer is made of, and what goes
 * wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "console/console.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "tests/lib/scratch.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"

struct desk {
	struct rig *rig;
	struct conf *conf;
	struct daemon_api api;
	struct console *console;
	struct sm_job *job; /* handed to the worker */
	bool busy, left;
	unsigned woken;
	char dir[SCRATCH_PATH];
	char *said; /* since the last line; NULL: nothing */
};

static void on_write(void *arg, char *text, size_t len)
{
	struct desk *d = arg;
	char *before = d->said;

	assert_int_equal(strlen(text), len);
	d->said = before ? xasprintf("%s%s", before, text) : xstrdup(text);
	free(before);
	free(text);
}

static void on_busy(void *arg, bool busy)
{
	((struct desk *)arg)->busy = busy;
}

static void on_quit(void *arg)
{
	((struct desk *)arg)->left = true;
}

static void on_wake(void *arg)
{
	((struct desk *)arg)->woken++;
}

static void on_clock(void *arg, mono_t *ret_now, int64_t *ret_realtime)
{
	struct desk *d = arg;

	*ret_now = sim_now(d->rig->sim);
	*ret_realtime = 0;
}

static void on_submit(void *arg, struct sm_job *job)
{
	struct desk *d = arg;

	assert_null(d->job);
	d->job = job;
}

static void sit_down(struct desk *d, bool may_act, bool local)
{
	const struct console_config config = {
		.api = &d->api,
		.local = local,
		.may_act = may_act,
		.client = "somebody",
		.write = on_write,
		.busy = on_busy,
		.quit = on_quit,
		.arg = d,
	};

	d->console = console_free(d->console);
	d->console = console_new(&config);
}

static int setup(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(3, 4, 3, 1);
	struct desk *d = xcalloc(1, sizeof(*d));

	scratch_folder(d->dir);
	d->rig = rig_new(sim_new(net, 1));
	d->conf = conf_new();
	free(d->conf->dump_files_dir);
	d->conf->dump_files_dir = xstrdup(d->dir);
	assert_int_equal(rig_start(d->rig, "h0", 0, d->conf, NULL), 0);
	rig_run(d->rig, 15 * MONO_S);
	d->api = (struct daemon_api){
		.perf = perf_new(d->conf, NULL),
		.sm = d->rig->sms[0].sm,
		.conf = d->conf,
		.version = "4.0.0",
		.wake = on_wake,
		.clock = on_clock,
		.submit = on_submit,
		.arg = d,
	};
	sit_down(d, true, false);
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	struct desk *d = *state;
	console_free(d->console);
	perf_free(d->api.perf);
	rig_free(d->rig);
	conf_unref(d->conf);
	scratch_remove(d->dir);
	free(d->said);
	free(d);
	return 0;
}

static void run_job(struct desk *d)
{
	struct sm_job *job = take(d->job);

	job->run(job);
	job->done(job);
}

/* The fabric is copied in turns. Returns how many. */
static unsigned copy_fabric(struct desk *d)
{
	unsigned n = 0;

	for (; console_next(d->console) == 0; n++) {
		assert_true(d->busy && n < 100);
		console_tick(d->console, sim_now(d->rig->sim));
	}
	return n;
}

/* What a line is answered with, the worker's part included, without the prompt at its end. */
static const char *ask(struct desk *d, const char *line)
{
	_cleanup_free_ char *copy = xstrdup(line);
	char *prompt;

	free(take(d->said));
	console_line(d->console, copy, sim_now(d->rig->sim));
	copy_fabric(d);
	if (d->job) {
		assert_true(d->busy);
		run_job(d);
		assert_false(d->busy);
	}
	if (!d->said)
		return "";
	prompt = d->said + strlen(d->said) - strlen(CONSOLE_PROMPT);
	if (prompt >= d->said && !strcmp(prompt, CONSOLE_PROMPT))
		*prompt = '\0';
	return d->said;
}

static void expect(struct desk *d, const char *line, const char *answer)
{
	assert_string_equal(ask(d, line), answer);
}

static void expect_in(struct desk *d, const char *line, const char *part)
{
	const char *answer = ask(d, line);

	if (!strstr(answer, part))
		fail_msg("'%s' is answered with:\n%s\nand not with '%s'", line, answer, part);
}

/* ---- lines --------------------------------------------------------------------------------- */

static void it_begins_with_the_prompt(void **state)
{
	struct desk *d = *state;

	assert_string_equal(d->said, "OpenSM $ ");
}

static void blanks_tabs_and_returns_separate_words(void **state)
{
	struct desk *d = *state;

	expect(d, "", "");
	expect(d, " \t \r", "");
	expect(d, "\tpriority\r", "Current sm-priority is 0\n");
	expect(d, "  priority \t 7 \r", "Setting sm-priority to 7\n");
	expect(d, "priority", "Current sm-priority is 7\n");
	expect_in(d, "PRIORITY",
		  "PRIORITY : Command not found\n\nSupported commands and syntax:\n");
	expect_in(d, "prior", "prior : Command not found\n\n");
}

static void what_comes_from_outside_is_shown_printable(void **state)
{
	struct desk *d = *state;

	expect_in(d, "\033[2J\a\xff", " [2J : Command not found\n\n");
	expect_in(d, "querylid \033[2J", "Invalid lid  [2J\n");
}

static void quit_leaves_but_not_a_terminal(void **state)
{
	struct desk *d = *state;

	ask(d, "quit now");
	assert_true(d->left);
	assert_null(d->said);
	d->left = false;
	sit_down(d, true, true);
	expect(d, "quit", "");
	assert_false(d->left);
}

static void help_names_every_command_but_pm(void **state)
{
	struct desk *d = *state;
	static const char *const names[] = {
		"quit", "loglevel", "permodlog", "priority", "resweep", "reroute", "sweep",
		"status", "logflush", "querylid", "portstatus", "switchbalance", "lidbalance",
		"dump_conf", "update_desc", "version", "perfmgr", "dump_portguid",
	};
	const char *at = ask(d, "help");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		at = strstr(at, names[i]);
		assert_non_null(at);
	}
	assert_null(strstr(ask(d, "help"), "\npm"));
	expect_in(d, "help pm", "perfmgr(pm) [enable|disable\n");
	expect_in(d, "help sweep", "sweep [on|off]\n");
	expect_in(d, "help nonsense", "nonsense : Command not found\n\n");
}

/* ---- asking the manager -------------------------------------------------------------------- */

static void numbers_that_are_none_change_nothing(void **state)
{
	struct desk *d = *state;

	expect(d, "priority 16", "Invalid sm-priority 16; must be between 0 and 15\n");
	expect(d, "priority -1", "Invalid sm-priority -1; must be between 0 and 15\n");
	expect(d, "priority high", "Invalid sm-priority high; must be between 0 and 15\n");
	expect(d, "priority", "Current sm-priority is 0\n");
	expect(d, "loglevel 256", "Invalid log level 0x100\n");
	expect(d, "loglevel 1e", "Invalid log level 1e\n");
	assert_int_equal(d->woken, 0);
}

static void the_log_level_is_read_as_the_peer_reads_it(void **state)
{
	struct desk *d = *state;
	unsigned before = log_flags();

	expect(d, "loglevel 010", "Setting log level to 0xa\n");
	assert_int_equal(log_flags(), 0x8A);
	expect(d, "loglevel x47", "Setting log level to 0x47\n");
	expect(d, "loglevel", "Current log level is 0xc7\n");
	expect(d, "loglevel 0x83", "Setting log level to 0x83\n");
	assert_int_equal(log_flags(), 0x83);
	log_set_flags(before);
}

static void requests_reach_the_manager(void **state)
{
	struct desk *d = *state;
	unsigned heavy = sm_stats(d->api.sm)->heavy_sweeps;

	expect(d, "sweep off", "");
	assert_false(sm_sweeping_enabled(d->api.sm));
	expect_in(d, "status", "   Sweeping enabled               : 0\n");
	expect(d, "sweep on", "");
	expect(d, "resweep heavy", "");
	assert_int_equal(d->woken, 3);
	rig_run(d->rig, sim_now(d->rig->sim) + 3 * MONO_S);
	assert_int_equal(sm_stats(d->api.sm)->heavy_sweeps, heavy + 1);
	expect(d, "reroute", "");
	expect(d, "update_desc", "");
	expect(d, "resweep light", "");
	assert_int_equal(d->woken, 6);
	expect_in(d, "resweep", "Invalid resweep command\nresweep [heavy|light]\n");
	expect_in(d, "sweep maybe", "Invalid sweep command\nsweep [on|off]\n");
	expect_in(d, "logflush", "Invalid logflush command\nsweep [on|off]\n");
	expect(d, "logflush on", "");
}

static void dump_conf_shows_what_is_in_force(void **state)
{
	struct desk *d = *state;

	ask(d, "priority 9");
	expect_in(d, "dump_conf", "\nsm_priority 9\n");
	expect_in(d, "dump_conf", "\nguid 0x0000000000000000\n");
}

static void without_a_port_it_says_so(void **state)
{
	static const char *const lines[] = { "status",		"priority",	 "querylid 1",
					     "portstatus",	"switchbalance", "lidbalance",
					     "dump_portguid .", "resweep heavy", "sweep off",
					     "reroute",		"update_desc",	 "status loop" };
	struct desk *d = *state;

	d->api.sm = NULL;
	snprintf(d->api.status, sizeof(d->api.status), "Waiting for a port: none there");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		expect_in(d, lines[i],
			  "There is no subnet manager: Waiting for a port: none there\n");
	expect(d, "q", "");
	expect_in(d, "dump_conf", "\nsm_priority 0\n");
	expect_in(d, "version", "OpenSM 4.0.0 build ");
}

/* ---- rights -------------------------------------------------------------------------------- */

static void a_guest_may_look(void **state)
{
	static const char *const lines[] = { "status",
					     "version",
					     "priority",
					     "loglevel",
					     "querylid 1",
					     "portstatus",
					     "switchbalance verbose",
					     "lidbalance",
					     "perfmgr",
					     "dump_portguid .",
					     "help" };
	struct desk *d = *state;

	sit_down(d, false, false);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_null(strstr(ask(d, lines[i]), "only root"));
}

static void a_guest_may_not_act(void **state)
{
	static const char *const lines[] = {
		"priority 5",	 "loglevel 0x83",
		"resweep heavy", "reroute",
		"sweep off",	 "update_desc",
		"dump_conf",	 "permodlog",
		"logflush on",	 "dump_portguid file x .",
	};
	struct desk *d = *state;
	unsigned flags = log_flags();

	sit_down(d, false, false);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		expect_in(d, lines[i], "only root and the user that runs opensm may do this\n");
	assert_int_equal(d->woken, 0);
	assert_int_equal(sm_priority(d->api.sm), 0);
	assert_true(sm_sweeping_enabled(d->api.sm));
	assert_int_equal(log_flags(), flags);
}

/* ---- status -------------------------------------------------------------------------------- */

static void the_loop_goes_on_until_q(void **state)
{
	struct desk *d = *state;
	mono_t began = sim_now(d->rig->sim);

	expect_in(d, "status loop",
		  "Looping on status command...\n   OpenSM Version       : OpenSM 4.0.0\n");
	assert_int_equal(console_next(d->console), began + 3 * MONO_S);
	expect(d, "help", "use \"q<ret>\" to quit loop\n");
	expect(d, "", "use \"q<ret>\" to quit loop\n");
	free(take(d->said));
	console_tick(d->console, began + 1 * MONO_S);
	assert_null(d->said);
	console_tick(d->console, began + 3 * MONO_S);
	assert_non_null(strstr(d->said, "SELF\n\nuse \"q<ret>\" to quit loop\n"));
	assert_null(strstr(d->said, CONSOLE_PROMPT));
	assert_int_equal(console_next(d->console), began + 6 * MONO_S);
	expect(d, "q", "");
	assert_int_equal(console_next(d->console), MONO_NEVER);
	expect(d, "status maybe", "status [loop]\n   loop: again every 3 s; \"q\" ends it\n");
}

static void other_managers_are_known(void **state)
{
	struct desk *d = *state;

	assert_int_equal(rig_start(d->rig, "h5", 0, d->conf, NULL), 1);
	rig_run(d->rig, sim_now(d->rig->sim) + 15 * MONO_S);
	expect_in(d, "status",
		  "   0x100001 Master      0        SELF\n   0x10000b Standby     0\n\n");
}

/* ---- what is printed by a worker ----------------------------------------------------------- */

static void a_session_that_ends_meanwhile_hears_nothing(void **state)
{
	struct desk *d = *state;
	char line[] = "switchbalance verbose";

	console_line(d->console, line, 0);
	assert_true(d->busy);
	assert_int_equal(copy_fabric(d), 1);
	d->console = console_free(d->console);
	free(take(d->said));
	run_job(d);
	assert_null(d->said);
}

/* The fabric of 18 nodes is copied in one turn, but not before its time. */
static void a_session_that_ends_before_the_copy_prints_nothing(void **state)
{
	struct desk *d = *state;
	char line[] = "dump_portguid .";

	console_line(d->console, line, 0);
	assert_true(d->busy);
	assert_null(d->job);
	d->console = console_free(d->console);
	assert_null(d->job);
}

static void a_manager_that_goes_before_the_copy_is_told(void **state)
{
	struct desk *d = *state;
	char line[] = "switchbalance", again[] = "dump_portguid .";

	free(take(d->said));
	console_line(d->console, line, 0);
	assert_null(d->said);
	console_sm_gone(d->console);
	assert_false(d->busy);
	assert_null(d->job);
	assert_string_equal(d->said, "The port of the manager is gone. Try again later\n"
				     "OpenSM $ ");
	free(take(d->said));
	console_sm_gone(d->console); /* nothing is copied */
	assert_null(d->said);
	console_line(d->console, again, 0);
	assert_int_equal(copy_fabric(d), 1);
	run_job(d);
	assert_non_null(strstr(d->said, "0x100001\n"));
}

/* 3,456 hosts: more than a turn has room for. */
static void a_large_fabric_is_copied_in_turns(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(24);
	struct desk *d = *state;
	char *lines[] = { xstrdup("switchbalance verbose"), xstrdup("dump_portguid .") };

	rig_free(d->rig);
	d->rig = rig_new(sim_new(net, 1));
	assert_int_equal(rig_start(d->rig, "h0", 0, d->conf, NULL), 0);
	rig_run(d->rig, 60 * MONO_S);
	d->api.sm = d->rig->sms[0].sm;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		console_line(d->console, lines[i], 0);
		assert_true(copy_fabric(d) >= 5);
		run_job(d);
		free(lines[i]);
	}
	assert_non_null(strstr(d->said, "0x100001\n"));
}

/* The daemon ends: the runner of jobs may call done() without run(). */
static void a_job_that_never_runs_is_freed(void **state)
{
	struct desk *d = *state;
	char line[] = "dump_portguid .";
	struct sm_job *job;

	console_line(d->console, line, 0);
	copy_fabric(d);
	job = take(d->job);
	job->orphan = true;
	job->done(job);
}

static void routes_are_counted(void **state)
{
	struct desk *d = *state;

	expect(d, "switchbalance", "");
	expect_in(d, "switchbalance verbose 0x200000",
		  "Switch: 0x0000000000200000 (leaf1)\nPort 5: 2\nPort 6: 3\nPort 7: 3\n");
	expect_in(d, "switchbalance verbose 0x200003",
		  "Switch: 0x0000000000200003 (spine1)\nPort 1: 4\nPort 2: 4\nPort 3: 4\n");
	expect(d, "switchbalance 0x99", "guid not found\n");
	expect_in(d, "switchbalance nonsense",
		  "Invalid guid specified\nswitchbalance [verbose] [guid]\n");
	expect(d, "lidbalance 0x99", "switchguid not found\n");
	expect_in(d, "lidbalance 0", "Invalid switchguid specified\nlidbalance [switchguid]\n");
}

static void ports_are_judged(void **state)
{
	struct desk *d = *state;

	expect_in(d, "portstatus", "\"ALL\" port status:\n   42 port(s) scanned on 18 nodes in ");
	expect_in(d, "portstatus", "   42 active\n   42 at 4X\n   42 at 2.5 Gbps\n\n");
	expect_in(d, "portstatus router", "   0 port(s) scanned on 0 nodes in 0 us\n\n");
	sim_link_down(d->rig->sim, sim_find(d->rig->sim, "h7"), 1);
	rig_run(d->rig, sim_now(d->rig->sim) + 15 * MONO_S);
	expect_in(d, "portstatus switch", "   1 down\n");
	expect_in(d, "querylid 1",
		  "   Node Type           : Channel Adapter\n   Num Ports           : 1\n");
	expect(d, "querylid 49151", "Invalid lid 49151\n");
}

static void guids_are_found_by_description(void **state)
{
	struct desk *d = *state;

	expect(d, "dump_portguid ^leaf2$ spine[12]", "0x200001\n0x200003\n0x200004\n");
	expect(d, "dump_portguid nobody", "");
	expect(d, "dump_portguid", "No valid expression provided. Aborting\n");
	expect(d, "dump_portguid file",
	       "No file name passed\nNo valid expression provided. Aborting\n");
	expect(d, "dump_portguid [ ^h0",
	       "Cannot parse regular expression '['. Skipping\n0x100001\n");
}

/* What a matcher could be killed with is not given to it. */
static void expressions_that_explode_are_refused(void **state)
{
	struct desk *d = *state;

	expect_in(d, "dump_portguid ((a{1,255}){1,255}){1,255}", "Cannot parse regular expression");
	expect_in(d, "dump_portguid a{1,32767}", "Cannot parse regular expression");
	expect_in(d, "dump_portguid (a*)*\\1", "Cannot parse regular expression");
	expect(d, "dump_portguid l{1,2}eaf1", "0x200000\n");
}

static void files_are_written_below_dump_files_dir_only(void **state)
{
	struct desk *d = *state;
	_cleanup_free_ char *path = xasprintf("%s/guids", d->dir);
	_cleanup_free_ char *line = xasprintf("dump_portguid file %s ^h0 ", path);
	_cleanup_free_ char *text = NULL;
	size_t len;

	expect(d, "dump_portguid file guids spine1", "");
	assert_int_equal(file_read(path, 1000, &text, &len), 0);
	assert_string_equal(text, "0x200003\n");
	free(take(text));
	expect(d, line, "");
	assert_int_equal(file_read(path, 1000, &text, &len), 0);
	assert_string_equal(text, "0x100001\n");
	expect_in(d, "dump_portguid file /etc/passwd ^h0",
		  "Could not open file /etc/passwd: only files right below");
	expect_in(d, "dump_portguid file ../guids ^h0", "Could not open file ../guids: ");
	expect_in(d, "dump_portguid file .. ^h0", "Could not open file ..: ");
}

/* ---- the performance manager --------------------------------------------------------------- */

static void the_performance_manager_is_told(void **state)
{
	struct desk *d = *state;
	const struct perf_status *st = perf_status(d->api.perf);

	expect_in(d, "perfmgr",
		  "Performance Manager status:\nstate                        : Disabled\n");
	expect(d, "pm enable", "");
	assert_int_equal(st->state, PERF_ENABLED);
	expect_in(d, "status", "   PerfMgr state/sweep state : Enabled/Sleeping\n");
	expect(d, "pm sweep_time 7", "");
	expect(d, "pm sweep_time",
	       "sweep_time requires a time period (in seconds) to be specified\n");
	expect(d, "pm sweep_time 0",
	       "sweep_time requires a positive time period (in seconds) to be specified\n");
	expect(d, "pm sweep_time 65536",
	       "sweep_time requires a positive time period (in seconds) to be specified\n");
	assert_int_equal(st->sweep_time_s, 7);
	expect(d, "pm clear_rm_nodes", "");
	expect(d, "pm clear_query_cpi", "");
	assert_false(st->remove_missing || st->query_cpi);
	expect(d, "pm set_rm_nodes", "");
	expect(d, "pm set_query_cpi", "");
	assert_true(st->remove_missing && st->query_cpi);
	expect(d, "pm sweep", "sweep initiated...\n");
	expect(d, "pm clear_inactive", "Removed 0 nodes from Database\n");
	expect(d, "pm disable", "");
	assert_int_equal(st->state, PERF_DISABLED);
	expect(d, "pm nonsense", "\"nonsense\" option not found\n");
}

static void counters_of_nobody_are_not_found(void **state)
{
	struct desk *d = *state;
	_cleanup_free_ char *path = xasprintf("%s/opensm_port_counters.log", d->dir);
	_cleanup_free_ char *text = NULL;
	size_t len;

	expect(d, "pm print_counters", "");
	expect(d, "pm pc", "");
	expect(d, "pm pc no body:1", "Node no body not found...\n");
	expect(d, "pm pc 0x99", "Node 0x99 not found...\n");
	expect(d, "pm pe h0", "Node h0 not found...\n");
	expect(d, "pm dump_redir", "\nRedirection Table\n-----------------\n");
	expect(d, "pm clear_redir h0", "Node h0 not found...\n");
	expect(d, "pm dump_counters mach", "");
	assert_int_equal(file_read(path, 1000, &text, &len), 0);
	d->conf->perfmgr_redir = false;
	expect(d, "pm dump_redir", "Perfmgr redirection not enabled\n");
	expect(d, "pm clear_redir", "Perfmgr redirection not enabled\n");
}

static void a_guest_may_not_tell_the_performance_manager(void **state)
{
	static const char *const lines[] = { "enable",	       "disable",	  "sweep",
					     "sweep_time 3",   "clear_counters",  "dump_counters",
					     "set_rm_nodes",   "clear_rm_nodes",  "set_query_cpi",
					     "clear_inactive", "clear_query_cpi", "clear_redir" };
	struct desk *d = *state;
	char line[64];

	sit_down(d, false, false);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		snprintf(line, sizeof(line), "pm %s", lines[i]);
		expect_in(d, line, "only root and the user that runs opensm may do this\n");
	}
	assert_int_equal(perf_status(d->api.perf)->state, PERF_DISABLED);
	expect_in(d, "pm", "Performance Manager status:\n");
	expect(d, "pm pc", "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(it_begins_with_the_prompt),
		TEST(blanks_tabs_and_returns_separate_words),
		TEST(what_comes_from_outside_is_shown_printable),
		TEST(quit_leaves_but_not_a_terminal),
		TEST(help_names_every_command_but_pm),
		TEST(numbers_that_are_none_change_nothing),
		TEST(the_log_level_is_read_as_the_peer_reads_it),
		TEST(requests_reach_the_manager),
		TEST(dump_conf_shows_what_is_in_force),
		TEST(without_a_port_it_says_so),
		TEST(a_guest_may_look),
		TEST(a_guest_may_not_act),
		TEST(the_loop_goes_on_until_q),
		TEST(other_managers_are_known),
		TEST(a_session_that_ends_meanwhile_hears_nothing),
		TEST(a_session_that_ends_before_the_copy_prints_nothing),
		TEST(a_manager_that_goes_before_the_copy_is_told),
		TEST(a_large_fabric_is_copied_in_turns),
		TEST(a_job_that_never_runs_is_freed),
		TEST(routes_are_counted),
		TEST(ports_are_judged),
		TEST(guids_are_found_by_description),
		TEST(expressions_that_explode_are_refused),
		TEST(files_are_written_below_dump_files_dir_only),
		TEST(the_performance_manager_is_told),
		TEST(counters_of_nobody_are_not_found),
		TEST(a_guest_may_not_tell_the_performance_manager),
	};
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("console", tests, NULL, NULL);
}
