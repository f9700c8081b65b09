// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an instance is started with, where its files are, what is told of it, and the ports of /sys.
 * A folder per test.
 */
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
#include "launch/launcher.h"
#include "launch/ports.h"
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

static void expect_env(const char *name, const char *value)
{
	assert_non_null(getenv(name));
	assert_string_equal(getenv(name), value);
}

static struct instance *named(const char *name, const char *conf)
{
	struct instance *i = instance_new(xstrdup(name));

	i->conf = conf ? xstrdup(conf) : NULL;
	instance_place(i, &usual);
	return i;
}

static void one_unnamed_instance_is_what_it_always_was(void **state)
{
	struct instance *i = named(INSTANCE_UNNAMED, NULL);

	expect_argv(i, &usual, "/usr/sbin/opensm");
	assert_string_equal(i->cache_dir, "cache");
	instance_setenv(i, &usual);
	expect_env("OSM_CACHE_DIR", "cache");
	expect_env("OPENSM_RUN_DIR", "run");
	expect_env("OPENSM_INSTANCE", "opensm");
	expect_env("OPENSM_STATUS_ARG", "1");
	assert_null(getenv("OSM_TMP_DIR"));
	instance_free(i);
}

static void a_numbered_one_has_files_of_its_own(void **state)
{
	struct instance *i;

	write_file("conf.2", "# as -c writes it\nlog_file " OPENSM_STATE_DIR "/log/opensm.log\n"
			     "sm_priority 7\nguid 0x1234\n");
	i = named("2", "conf.2");
	i->strict = true;
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
	struct instance *i;

	write_file("conf.2", "log_file /var/log/b.log\ndump_files_dir /var/b\n");
	i = named("2", "conf.2");
	expect_argv(i, &usual, "/usr/sbin/opensm -F conf.2");
	assert_string_equal(i->log, "/var/log/b.log");
	assert_string_equal(i->dump_dir, "/var/b");
	instance_free(i);
}

static void a_guid_comes_with_prefix_and_priority(void **state)
{
	struct instance *i = instance_new(xstrdup("0x0000000000000012"));

	i->guid = 0x12;
	i->prefix = 0xfe80000000000001;
	i->priority = 5;
	i->guid_given = i->priority_given = true;
	instance_place(i, &usual);
	i->log_given = i->dump_given = false;
	expect_argv(i, &usual,
		    "/usr/sbin/opensm -g 0x0000000000000012 "
		    "--subnet_prefix 0xfe80000000000001 -p 5");
	assert_int_equal(i->priority, 5);
	instance_free(i);
}

static void what_systemd_says_is_for_the_instance_and_its_folders_are_its_own(void **state)
{
	struct instance *i = named("1", NULL);

	setenv("NOTIFY_SOCKET", "/run/systemd/notify", 1);
	setenv("WATCHDOG_USEC", "1", 1);
	setenv("OSM_CACHE_DIR", "/elsewhere", 1);
	setenv("OSM_TMP_DIR", "/elsewhere", 1);
	instance_setenv(i, &usual);
	expect_env("NOTIFY_SOCKET", "/run/systemd/notify");
	expect_env("WATCHDOG_USEC", "1");
	expect_env("OSM_CACHE_DIR", "cache/1");
	expect_env("OSM_TMP_DIR", OPENSM_STATE_DIR "/log/opensm/1");
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("OSM_CACHE_DIR");
	unsetenv("OSM_TMP_DIR");
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

static void set_cap_mask(const char *device, const char *mask)
{
	_cleanup_free_ char *path = xasprintf("c/infiniband/%s/ports/1/cap_mask", device);

	write_file(path, mask);
}

/*
 * Those with SMs disabled are left out, be their SMI device there (1235, 1236) or not (1238); more
 * than one SMI device of a port are one port.
 */
static void ports_are_those_of_infiniband(void **state)
{
	uint64_t *guids;
	size_t n;

	port(10, "mlx5_2", "InfiniBand", "fe80:0000:0000:0000:0002:c903:0000:1236");
	port(2, "mlx5_0", "InfiniBand", "fe80:0000:0000:0000:0002:c903:0000:1235");
	port(3, "mlx5_1", "Ethernet", "fe80:0000:0000:0000:0002:c903:0000:1237");
	port(4, "mlx5_3", "InfiniBand", "nonsense");
	port(5, "mlx5_4", "InfiniBand", "fe80:0000:0000:0000:0002:c903:0000:1238");
	set_cap_mask("mlx5_4", "0x2651ec48");
	port(6, "mlx5_5", "InfiniBand", "fe80:0000:0000:0000:0002:c903:0000:1235");
	set_cap_mask("mlx5_5", "0x2651ec48");
	set_cap_mask("mlx5_0", "0x2651e848");
	port(11, "smi2", "InfiniBand", "fe80:0000:0000:0000:0002:c903:0000:1236");
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
	struct instance *items[2];
	struct conf_report r = { 0 };
	size_t n;

	write_file("conf.1", first);
	write_file("conf.2", second);
	items[0] = named("1", "conf.1");
	items[1] = named("2", "conf.2");
	clash_find(items, 2, &r);
	n = r.n;
	if (n)
		assert_non_null(strstr(r.findings[0].text, words));
	conf_report_clear(&r);
	items[1]->fault = xstrdup("a word that is no GUID");
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

/*
 * Where it is not known whether there are numbered files, "none" would start, or at a reload end,
 * the wrong ones.
 */
static void a_folder_that_cannot_be_read_is_a_fault_and_none_is_not(void **state)
{
	const struct launch_paths p = { .conf_dir = "conf",
					.sysconfig = "none",
					.defaults = "none" };
	struct conf_report r = { 0 };
	struct choice choice;
	_cleanup_free_ char *error = NULL;

	assert_int_equal(gather(&p, NULL, 0, &choice, &r), 0);
	assert_string_equal(choice.rule, "one instance");
	choose_clear(&choice);
	write_file("conf", "");
	assert_int_equal(gather(&p, NULL, 0, &choice, &r), -ENOTDIR);
	error = gather_first_error(&r);
	assert_non_null(strstr(error, "conf: cannot be read: Not a directory"));
	choose_clear(&choice);
	conf_report_clear(&r);
}

static void numbered_files_are_in_the_order_of_their_numbers(void **state)
{
	const struct launch_paths p = { .conf_dir = ".", .sysconfig = "none", .defaults = "none" };
	static const char *const numbers[] = { "1", "2", "10" };
	struct conf_report r = { 0 };
	struct choice choice;

	write_file("opensm.conf.10", "");
	write_file("opensm.conf.2", "");
	write_file("opensm.conf.1", "");
	assert_int_equal(gather(&p, NULL, 0, &choice, &r), 0);
	assert_int_equal(choice.n, ARRAY_SIZE(numbers));
	for (size_t i = 0; i < choice.n; i++)
		assert_string_equal(choice.items[i]->name, numbers[i]);
	choose_clear(&choice);
	conf_report_clear(&r);
}

/* ---- what is told -------------------------------------------------------------------------- */

/* STATUS= of a launcher with `n` instances in these states, to be freed. */
static char *status_of(const struct unit_state *states, size_t n)
{
	struct slot *slots = xcalloc(n, sizeof(*slots));
	struct launcher l = { .paths = &usual,
			      .slots = slots,
			      .n = n,
			      .choice = { .rule = "numbered configuration files" } };
	char *status;

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *name = xasprintf("%zu", i + 1);

		slots[i] = (struct slot){ .instance = named(name, NULL), .now = states[i] };
	}
	mkdir("run", 0755);
	report_update(&l);
	for (size_t i = 0; i < n; i++)
		instance_free(slots[i].instance);
	free(slots);
	free(l.state);
	status = l.status;
	return status;
}

static void each_instance_is_told_with_its_fault(void **state)
{
	const struct unit_state states[] = {
		{ .phase = UNIT_RUNNING, .status = "MASTER, subnet up" },
		{ .phase = UNIT_FAILED,
		  .faulted = true,
		  .exit_status = 78,
		  .exit_signal = -1,
		  .status = "/etc/rdma/opensm.conf.2:3:1: bad" },
		{ .phase = UNIT_WAITING, .exit_status = 1, .exit_signal = -1 },
		{ .phase = UNIT_PAUSED, .exit_status = -1, .exit_signal = 9 },
		{ .phase = UNIT_WAITING, .exit_status = -1, .exit_signal = 6, .hung = true },
	};
	_cleanup_free_ char *status = status_of(states, ARRAY_SIZE(states)), *text = NULL;

	assert_string_equal(status,
			    "5 instances: 1: MASTER, subnet up; "
			    "2 FAILED for good: /etc/rdma/opensm.conf.2:3:1: bad; "
			    "3: waiting to start again after exit status 1; "
			    "4 FAILED again and again, last with signal 9 (Killed); tried again "
			    "every minute; "
			    "5: waiting to start again after no sign of life, killed");
	assert_int_equal(file_read("run/instances.json", 1 << 16, &text, NULL), 0);
	assert_non_null(strstr(text, "\"exit_status\":78"));
	assert_non_null(strstr(text, "\"failing\":true"));
}

/* systemd drops messages of more than 4096 bytes. */
static void fifty_instances_are_a_line_that_systemd_reads(void **state)
{
	struct unit_state states[50];
	_cleanup_free_ char *status = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		states[i] = (struct unit_state){ .phase = i == 7 ? UNIT_FAILED : UNIT_RUNNING,
						 .exit_status = 78,
						 .exit_signal = -1 };
		memset(states[i].status, 'x', sizeof(states[i].status) - 1);
	}
	status = status_of(states, ARRAY_SIZE(states));
	assert_string_equal(status,
			    "49 of 50 instances running; 8 FAILED for good: exit status 78");
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		states[i].phase = UNIT_FAILED;
		states[i].faulted = true;
	}
	free(status);
	status = status_of(states, ARRAY_SIZE(states));
	assert_in_range(strlen(status), 1900, 2000);
}

/* As systemd-escape(1) has them. */
static void names_of_units_can_hold_any_name(void **state)
{
	static const char *const rows[][2] = {
		{ "2", "opensm@2.service" },
		{ "0x0002c90300001234", "opensm@0x0002c90300001234.service" },
		{ "1.rpm-new~", "opensm@1.rpm\\x2dnew\\x7e.service" },
		{ ".a", "opensm@\\x2ea.service" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *name = unit_name(rows[i][0]);

		assert_string_equal(name, rows[i][1]);
	}
}

static void the_command_line_moves_the_places(void **state)
{
	char *argv[] = { "opensm-launch", "--conf-dir", "/x", "--show", "--run=2", NULL };
	char *wrong[] = { "opensm-launch", "word", NULL };
	struct launch_paths p;
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(launch_paths_read(5, argv, out, out, &p), -1);
	assert_string_equal(p.conf_dir, "/x");
	assert_true(p.show);
	assert_string_equal(p.run, "2");
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
		TEST(what_systemd_says_is_for_the_instance_and_its_folders_are_its_own),
		TEST(a_named_cache_begins_with_what_was_known),
		TEST(a_cache_that_is_there_is_never_touched),
		TEST(ports_are_those_of_infiniband),
		TEST(what_two_would_fight_over_is_said),
		TEST(a_folder_that_cannot_be_read_is_a_fault_and_none_is_not),
		TEST(numbered_files_are_in_the_order_of_their_numbers),
		TEST(each_instance_is_told_with_its_fault),
		TEST(fifty_instances_are_a_line_that_systemd_reads),
		TEST(names_of_units_can_hold_any_name),
		TEST(the_command_line_moves_the_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
