// SPDX-License-Identifier: BSD-2-Clause
/* What an instance is started with, where its files are, what it says, and the ports of /sys. A folder per test. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/clash.h"
#include "launch/gather.h"
#include "launch/instance.h"
#include "launch/ports.h"
#include "launch/process.h"
#include "launch/seed.h"
#include "tests/lib/scratch.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void expect_file(const char *path, const char *text)
{
	_cleanup_free_ char *found = NULL;
	size_t len;

	assert_int_equal(file_read(path, 4096, &found, &len), 0);
	assert_string_equal(found, text);
}

static const struct launch_paths usual = {
	.conf_dir = OPENSM_CONF_DIR,
	.run_dir = "run",
	.cache_dir = "cache",
	.log_dir = OPENSM_STATE_DIR "/log",
	.program = "/usr/sbin/opensm",
};

/* The arguments in a line, without the title. */
static void expect_argv(const struct instance *i, const struct launch_paths *p, const char *line)
{
	char **argv = instance_argv(i, p), *found = xstrdup("");
	size_t n;

	for (n = 0; argv[n + 1]; n++) {
		char *longer = xasprintf("%s%s%s", found, n ? " " : "", argv[n]);

		free(found);
		found = longer;
	}
	assert_string_equal(found, line);
	assert_int_equal(argv[n][0], '[');
	assert_true(strlen(argv[n]) >= 100);
	free(found);
	strv_free(argv);
}

static bool has(char **v, const char *word)
{
	for (; *v; v++)
		if (str_equal(*v, word))
			return true;
	return false;
}

static struct instance *named(const char *name, const char *conf)
{
	struct plan plan = { .name = xstrdup(name), .conf = conf ? xstrdup(conf) : NULL,
			     .priority = -1 };

	return instance_new(NULL, &plan);
}

static void one_unnamed_instance_is_what_it_always_was(void **state)
{
	struct instance *i = named(CHOOSE_UNNAMED, NULL);
	char **env;

	instance_place(i, &usual);
	expect_argv(i, &usual, "/usr/sbin/opensm");
	assert_string_equal(i->cache_dir, "cache");
	env = instance_envp(i, &usual, 60 * MONO_S);
	assert_true(has(env, "OSM_CACHE_DIR=cache"));
	assert_true(has(env, "OPENSM_RUN_DIR=run"));
	assert_true(has(env, "OPENSM_INSTANCE=opensm"));
	assert_true(has(env, "OPENSM_STATUS_ARG=1"));
	assert_true(has(env, "WATCHDOG_USEC=60000000"));
	strv_free(env);
	instance_free(i);
}

static void a_numbered_one_has_files_of_its_own(void **state)
{
	struct instance *i = named("2", "conf.2");

	write_file("conf.2", "# as -c writes it\nlog_file " OPENSM_STATE_DIR "/log/opensm.log\n"
			     "sm_priority 7\nguid 0x1234\n");
	i->strict = true;
	instance_place(i, &usual);
	expect_argv(i, &usual,
		    "/usr/sbin/opensm -F conf.2 -f " OPENSM_STATE_DIR "/log/opensm.2.log "
		    "--dump_files_dir " OPENSM_STATE_DIR "/log/opensm/2 --strict");
	assert_string_equal(i->cache_dir, "cache/2");
	assert_int_equal(i->priority, 7);
	assert_int_equal(i->guid, 0x1234);
	instance_free(i);
}

static void what_its_configuration_says_is_left_alone(void **state)
{
	struct instance *i = named("2", "conf.2");

	write_file("conf.2", "log_file /var/log/b.log\ndump_files_dir /var/b\n");
	instance_place(i, &usual);
	expect_argv(i, &usual, "/usr/sbin/opensm -F conf.2");
	assert_string_equal(i->log, "/var/log/b.log");
	assert_string_equal(i->dump_dir, "/var/b");
	instance_free(i);
}

static void a_guid_comes_with_prefix_and_priority(void **state)
{
	struct instance *i = named("0x0000000000000012", NULL);

	i->plan.guid = 0x12;
	i->plan.prefix = 0xfe80000000000001;
	i->plan.priority = 5;
	instance_place(i, &usual);
	i->log_given = i->dump_given = false;
	expect_argv(i, &usual, "/usr/sbin/opensm -g 0x0000000000000012 "
			       "--subnet_prefix 0xfe80000000000001 -p 5");
	assert_int_equal(i->priority, 5);
	instance_free(i);
}

static void what_is_for_the_launcher_is_not_for_the_instance(void **state)
{
	struct instance *i = named("1", NULL);
	char **env;
	unsigned sockets = 0;

	setenv("NOTIFY_SOCKET", "/run/systemd/notify", 1);
	setenv("WATCHDOG_PID", "1", 1);
	setenv("OSM_CACHE_DIR", "/elsewhere", 1);
	setenv("LD_LIBRARY_PATH", "/lib/x", 1);
	instance_place(i, &usual);
	i->notify_path = xstrdup("run/notify.1");
	env = instance_envp(i, &usual, 0);
	for (char **e = env; *e; e++) {
		sockets += str_starts(*e, "NOTIFY_SOCKET=") || str_starts(*e, "OSM_CACHE_DIR=");
		assert_false(str_starts(*e, "WATCHDOG_"));
	}
	assert_int_equal(sockets, 2);
	assert_true(has(env, "NOTIFY_SOCKET=run/notify.1"));
	assert_true(has(env, "OSM_CACHE_DIR=cache/1"));
	assert_true(has(env, "LD_LIBRARY_PATH=/lib/x"));
	strv_free(env);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_PID");
	instance_free(i);
}

static void a_named_cache_begins_with_what_was_known(void **state)
{
	struct stat st;

	assert_int_equal(mkdir("cache", 0755), 0);
	write_file("cache/guid2lid", "0x1 0x1 0x1\n");
	write_file("cache/guid2mkey", "0x1 0x5\n");
	assert_int_equal(mkdir("cache/.1.new", 0755), 0); /* of a killed predecessor */
	write_file("cache/.1.new/guid2lid", "half");
	assert_int_equal(seed_cache("cache", "1"), 0);
	expect_file("cache/1/guid2lid", "0x1 0x1 0x1\n");
	expect_file("cache/1/guid2mkey", "0x1 0x5\n");
	assert_int_equal(stat("cache/1/guid2mkey", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(access("cache/1/neighbors", F_OK), -1);
	assert_int_equal(access("cache/.1.new", F_OK), -1);
}

static void a_cache_that_is_there_is_never_touched(void **state)
{
	assert_int_equal(mkdir("cache", 0755), 0);
	assert_int_equal(mkdir("cache/1", 0755), 0);
	write_file("cache/guid2lid", "old\n");
	write_file("cache/1/guid2lid", "mine\n");
	assert_int_equal(seed_cache("cache", "1"), 0);
	expect_file("cache/1/guid2lid", "mine\n");
}

static void messages_are_taken_apart(void **state)
{
	static const char text[] = "READY=1\nSTATUS=MASTER\x1b[31m, up\nWATCHDOG=1\nMAINPID=5";
	struct process_message m;

	process_parse_message(text, sizeof(text) - 1, &m);
	assert_true(m.ready && m.has_status && m.alive);
	assert_false(m.reloading || m.stopping || m.faulted || m.hung);
	assert_string_equal(m.status, "MASTER [31m, up");
	process_parse_message("ERRNO=0\nRELOADING=1", 19, &m);
	assert_true(m.reloading && !m.faulted && !m.has_status);
	process_parse_message("ERRNO=22\n", 9, &m);
	assert_true(m.faulted);
	process_parse_message("", 0, &m);
	assert_false(m.ready);
}

static void port(unsigned umad, const char *device, const char *layer, const char *gid)
{
	_cleanup_free_ char *command = xasprintf(
		"mkdir -p c/infiniband_mad/umad%u c/infiniband/%s/ports/1/gids && "
		"echo %s >c/infiniband_mad/umad%u/ibdev && echo 1 >c/infiniband_mad/umad%u/port && "
		"echo %s >c/infiniband/%s/ports/1/link_layer && "
		"echo %s >c/infiniband/%s/ports/1/gids/0",
		umad, device, device, umad, umad, layer, device, gid, device);

	assert_int_equal(system(command), 0);
}

static void ports_are_those_of_infiniband(void **state)
{
	uint64_t *guids;
	size_t n;

	port(10, "mlx5_2", "InfiniBand", "fe80:0000:0000:0000:0002:c903:0000:1236");
	port(2, "mlx5_0", "InfiniBand", "fe80:0000:0000:0000:0002:c903:0000:1235");
	port(3, "mlx5_1", "Ethernet", "fe80:0000:0000:0000:0002:c903:0000:1237");
	port(4, "mlx5_3", "InfiniBand", "nonsense");
	guids = ports_list("c", &n);
	assert_int_equal(n, 2);
	assert_int_equal(guids[0], 0x0002c90300001235);
	assert_int_equal(guids[1], 0x0002c90300001236);
	free(guids);
	guids = ports_list("nowhere", &n);
	assert_int_equal(n, 0);
	free(guids);
}

/* The findings about instances 1 and 2 with these configuration files. */
static size_t clashes(const char *first, const char *second, const char *words)
{
	struct instance *items[2] = { named("1", "conf.1"), named("2", "conf.2") };
	struct conf_report r = { 0 };
	size_t n;

	write_file("conf.1", first);
	write_file("conf.2", second);
	for (n = 0; n < 2; n++)
		instance_place(items[n], &usual);
	clash_find(items, 2, &r);
	n = r.n;
	if (n)
		assert_non_null(strstr(r.findings[0].text, words));
	items[0]->life.state = SUPERVISE_ENDING;
	conf_report_clear(&r);
	clash_find(items, 2, &r);
	assert_int_equal(r.n, 0);
	items[0]->life.state = SUPERVISE_WAITING;
	items[1]->plan.fault = xstrdup("a word that is no GUID");
	clash_find(items, 2, &r);
	assert_int_equal(r.n, 0);
	instance_free(items[0]);
	instance_free(items[1]);
	return n;
}

static void what_two_would_fight_over_is_said(void **state)
{
	assert_int_equal(clashes("guid 1\n", "guid 2\n", ""), 0);
	assert_int_equal(clashes("guid 1\n", "guid 0x1\n", "same guid 0x0000000000000001"), 1);
	assert_int_equal(clashes("", "", "have no guid"), 1);
	assert_int_equal(clashes("guid 1\n", "", ""), 0);
	assert_int_equal(clashes("guid 1\nlog_file /x\n", "guid 2\nlog_file /x\n", "same log_file"),
			 1);
	assert_int_equal(clashes("guid 1\ndump_files_dir /x\n", "guid 2\ndump_files_dir /x\n",
				 "same dump_files_dir"),
			 1);
}

/* Where it is not known whether there are numbered files, "none" would start, or at a reload end, the wrong ones. */
static void a_folder_that_cannot_be_read_is_a_fault_and_none_is_not(void **state)
{
	const struct launch_paths p = { .conf_dir = "conf", .sysconfig = "none", .defaults = "none" };
	struct conf_report r = { 0 };
	struct choice choice;
	_cleanup_free_ char *error = NULL;

	assert_int_equal(gather(&p, NULL, 0, &choice, &r), 0);
	assert_int_equal(choice.rule, CHOOSE_ONE);
	choose_clear(&choice);
	write_file("conf", "");
	assert_int_equal(gather(&p, NULL, 0, &choice, &r), -ENOTDIR);
	error = gather_first_error(&r);
	assert_non_null(strstr(error, "conf: cannot be read: Not a directory"));
	choose_clear(&choice);
	conf_report_clear(&r);
}

static void descriptions_name_the_fault(void **state)
{
	struct instance *i = named("2", NULL);
	char line[200];

	supervise_init(&i->life, 0, 0);
	instance_describe(i, line, sizeof(line));
	assert_string_equal(line, "starting");
	supervise_started(&i->life, 0);
	supervise_ended(&i->life, false, 0);
	i->delay = 1 * MONO_S;
	snprintf(i->last, sizeof(i->last), "exit status 1");
	instance_describe(i, line, sizeof(line));
	assert_string_equal(line, "waiting 1 s to start again after exit status 1");
	snprintf(i->last, sizeof(i->last), "/etc/rdma/opensm.conf.2:3:1: bad");
	supervise_fail(&i->life);
	instance_describe(i, line, sizeof(line));
	assert_string_equal(line, "FAILED for good: /etc/rdma/opensm.conf.2:3:1: bad");
	instance_free(i);
}

static void the_command_line_moves_the_places(void **state)
{
	char *argv[] = { "opensm-launch", "--conf-dir", "/x", "--show", "[title   ]", NULL };
	char *wrong[] = { "opensm-launch", "word", NULL };
	struct launch_paths p;
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(launch_paths_read(5, argv, out, out, &p), -1);
	assert_string_equal(p.conf_dir, "/x");
	assert_true(p.show);
	assert_false(launch_paths_standard_conf(&p));
	assert_true(launch_paths_standard_log(&p));
	assert_int_equal(launch_paths_read(2, wrong, out, out, &p), 2);
	fclose(out);
	assert_non_null(strstr(text, "found the word 'word'"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_enter, scratch_leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_unnamed_instance_is_what_it_always_was),
		TEST(a_numbered_one_has_files_of_its_own),
		TEST(what_its_configuration_says_is_left_alone),
		TEST(a_guid_comes_with_prefix_and_priority),
		TEST(what_is_for_the_launcher_is_not_for_the_instance),
		TEST(a_named_cache_begins_with_what_was_known),
		TEST(a_cache_that_is_there_is_never_touched),
		TEST(messages_are_taken_apart),
		TEST(ports_are_those_of_infiniband),
		TEST(what_two_would_fight_over_is_said),
		TEST(a_folder_that_cannot_be_read_is_a_fault_and_none_is_not),
		TEST(descriptions_name_the_fault),
		TEST(the_command_line_moves_the_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
