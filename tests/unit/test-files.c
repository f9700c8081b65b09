// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files that opensm.conf names: read again when they say something else, and what is new then.
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
#include <unistd.h>

#include "conf/files.h"
#include "tests/lib/scratch.h"
#include "util/mem.h"

#define PARTITIONS "Default=0x7fff: ALL=full;\nOne=0x1: 0x11=full, 0x12=full;\nTwo=0x2: 0x13;\n"

/* A folder with a file of each kind. */
struct folder {
	char dir[SCRATCH_PATH];
	struct conf *conf;
};

static char *path_in(const struct folder *f, const char *name)
{
	return xasprintf("%s/%s", f->dir, name);
}

static void put(const struct folder *f, const char *name, const char *text)
{
	_cleanup_free_ char *path = path_in(f, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void drop(const struct folder *f, const char *name)
{
	_cleanup_free_ char *path = path_in(f, name);

	unlink(path);
}

static void name_file(struct folder *f, char **option, const char *name)
{
	free(*option);
	*option = path_in(f, name);
}

static struct folder folder_new(void)
{
	struct folder f = { .conf = conf_new() };

	scratch_folder(f.dir);
	name_file(&f, &f.conf->partition_config_file, "partitions");
	name_file(&f, &f.conf->prefix_routes_file, "prefixes");
	name_file(&f, &f.conf->guid_routing_order_file, "order");
	name_file(&f, &f.conf->port_prof_ignore_file, "ignore");
	name_file(&f, &f.conf->hop_weights_file, "weights");
	name_file(&f, &f.conf->node_name_map_name, "names");
	name_file(&f, &f.conf->per_module_logging_file, "modules");
	put(&f, "partitions", PARTITIONS);
	put(&f, "prefixes", "fec0000000000001 0x2c9000001\n");
	put(&f, "order", "0x11\n0x12\n");
	put(&f, "ignore", "0x1 1\n");
	put(&f, "weights", "0x1 1 2\n0x1 2 3\n");
	put(&f, "names", "0x1 \"spine\"\n");
	put(&f, "modules", "sm/trust/traps.c 0x04\n");
	return f;
}

static void folder_clear(struct folder *f)
{
	static const char *const names[] = { "partitions", "prefixes", "order",	 "ignore",
					     "weights",	   "names",    "modules" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		drop(f, names[i]);
	assert_int_equal(rmdir(f->dir), 0);
	conf_unref(f->conf);
}

/* Findings of CONF_ERROR in all files. */
static unsigned count_errors(const struct conf_files *f)
{
	unsigned n = 0;

	for (unsigned i = 0; i < CONF_N_FILES; i++)
		n += f->of[i] ? f->of[i]->findings.errors : 0;
	return n;
}

static void all_are_read(void **state)
{
	struct folder f = folder_new();
	struct conf_files *files = conf_files_read(f.conf, NULL);

	assert_int_equal(files->of[CONF_FILE_PARTITIONS]->partitions->n, 3);
	assert_int_equal(files->of[CONF_FILE_PREFIXES]->prefixes.n, 1);
	assert_int_equal(files->of[CONF_FILE_ORDER]->guids.n, 2);
	assert_int_equal(files->of[CONF_FILE_IGNORE]->ports.n, 1);
	assert_int_equal(files->of[CONF_FILE_WEIGHTS]->ports.items[1].weight, 3);
	assert_string_equal(conf_names_find(conf_files_names(files), 1), "spine");
	assert_int_equal(files->of[CONF_FILE_MODULES]->modules.n, 1);
	assert_int_equal(count_errors(files), 0);
	conf_files_unref(files);
	folder_clear(&f);
}

static void what_says_the_same_is_not_parsed_again(void **state)
{
	struct folder f = folder_new();
	struct conf_files *first = conf_files_read(f.conf, NULL), *again, *other;

	put(&f, "partitions", PARTITIONS);
	again = conf_files_read(f.conf, first);
	assert_ptr_equal(again, first);
	put(&f, "order", "0x12\n0x11\n");
	other = conf_files_read(f.conf, first);
	assert_ptr_not_equal(other, first);
	for (unsigned i = 0; i < CONF_N_FILES; i++)
		assert_int_equal(other->of[i] == first->of[i], i != CONF_FILE_ORDER);
	conf_files_unref(first);
	conf_files_unref(again);
	assert_int_equal(other->of[CONF_FILE_PARTITIONS]->partitions->n, 3);
	conf_files_unref(other);
	folder_clear(&f);
}

/* Gigabytes: looked at from outside, and read when they were written to. */
static void tables_are_read_again_only_after_a_write(void **state)
{
	struct folder f = folder_new();
	struct conf_files *first, *again, *other;

	name_file(&f, &f.conf->lfts_file, "lfts");
	put(&f, "lfts", "Unicast lids 1\n");
	first = conf_files_read(f.conf, NULL);
	assert_string_equal(first->of[CONF_FILE_LFTS]->text, "Unicast lids 1\n");
	again = conf_files_read(f.conf, first);
	assert_ptr_equal(again, first);
	drop(&f, "lfts");
	put(&f, "lfts", "Unicast lids 2\n");
	other = conf_files_read(f.conf, first);
	assert_string_equal(other->of[CONF_FILE_LFTS]->text, "Unicast lids 2\n");
	conf_files_unref(first);
	conf_files_unref(again);
	drop(&f, "lfts");
	again = conf_files_read(f.conf, other);
	assert_int_equal(again->of[CONF_FILE_LFTS]->loaded, -ENOENT);
	assert_null(again->of[CONF_FILE_LFTS]->text);
	assert_int_equal(again->of[CONF_FILE_LFTS]->findings.errors, 1);
	conf_files_unref(again);
	conf_files_unref(other);
	folder_clear(&f);
}

static void another_torus_is_news(void **state)
{
	struct folder f = folder_new();
	struct conf_files *before, *now;
	char *news;

	free(f.conf->routing_engine);
	f.conf->routing_engine = xstrdup("torus-2QoS");
	name_file(&f, &f.conf->torus_config, "torus");
	put(&f, "torus", "torus 4 4 4\n");
	before = conf_files_read(f.conf, NULL);
	put(&f, "torus", "torus 4 4 5\n");
	now = conf_files_read(f.conf, before);
	news = conf_files_news(before, now);
	assert_string_equal(news ? news : "nothing",
			    "torus_config: 4x4x5, 0 seeds, was 4x4x4, 0 seeds");
	free(news);
	conf_files_unref(before);
	conf_files_unref(now);
	drop(&f, "torus");
	folder_clear(&f);
}

static void options_that_partitions_depend_on_count(void **state)
{
	struct folder f = folder_new();
	struct conf_files *first = conf_files_read(f.conf, NULL), *again;

	f.conf->subnet_timeout = 20;
	again = conf_files_read(f.conf, first);
	assert_ptr_not_equal(again->of[CONF_FILE_PARTITIONS], first->of[CONF_FILE_PARTITIONS]);
	assert_ptr_equal(again->of[CONF_FILE_NAMES], first->of[CONF_FILE_NAMES]);
	conf_files_unref(first);
	conf_files_unref(again);
	folder_clear(&f);
}

/* Files that are named have to be there. */
static void missing_files(void **state)
{
	struct folder f = folder_new();
	struct conf_files *files;

	drop(&f, "partitions");
	drop(&f, "prefixes");
	drop(&f, "weights");
	files = conf_files_read(f.conf, NULL);
	assert_int_equal(files->of[CONF_FILE_PARTITIONS]->error, -ENOENT);
	assert_null(files->of[CONF_FILE_PARTITIONS]->partitions);
	assert_int_equal(files->of[CONF_FILE_PARTITIONS]->findings.errors, 1);
	assert_int_equal(files->of[CONF_FILE_PREFIXES]->prefixes.n, 0);
	assert_int_equal(files->of[CONF_FILE_PREFIXES]->findings.errors, 1);
	assert_int_equal(files->of[CONF_FILE_WEIGHTS]->findings.errors, 1);
	assert_int_equal(count_errors(files), 3);
	conf_files_unref(files);
	folder_clear(&f);
}

static void a_fault_is_found_once_and_stays_with_the_file(void **state)
{
	struct folder f = folder_new();
	struct conf_files *files, *again;

	put(&f, "partitions", "One=0x1 0x11;\n");
	put(&f, "order", "0x11\nx\n");
	files = conf_files_read(f.conf, NULL);
	assert_int_equal(files->of[CONF_FILE_PARTITIONS]->error, -EINVAL);
	assert_null(files->of[CONF_FILE_PARTITIONS]->partitions);
	assert_int_equal(files->of[CONF_FILE_ORDER]->findings.findings[0].line, 2);
	assert_int_equal(files->of[CONF_FILE_ORDER]->guids.n, 1);
	assert_true(count_errors(files) >= 2);
	again = conf_files_read(f.conf, files);
	assert_ptr_equal(again, files);
	conf_files_unref(files);
	conf_files_unref(again);
	folder_clear(&f);
}

/* ---- news ---------------------------------------------------------------------------------- */

/* What is new when `name` says `text`. */
static void assert_news(const char *name, const char *text, const char *expected)
{
	struct folder f = folder_new();
	struct conf_files *before = conf_files_read(f.conf, NULL), *now;
	char *news;

	put(&f, name, text);
	now = conf_files_read(f.conf, before);
	news = conf_files_news(before, now);
	if (expected)
		assert_string_equal(news ? news : "nothing", expected);
	else
		assert_null(news);
	free(news);
	conf_files_unref(before);
	conf_files_unref(now);
	folder_clear(&f);
}

static void news_of_partitions_are_counted(void **state)
{
	assert_news("partitions", "# a remark\n" PARTITIONS, NULL);
	assert_news("partitions",
		    "Default=0x7fff: ALL=full;\nOne=0x1: 0x11=limited, 0x14=full;\n"
		    "Three=0x3: 0x13;\nFour=0x4: 0x13;\n",
		    "partitions: 2 added, 1 removed, 3 members changed");
	assert_news("partitions",
		    "Default=0x7fff, ipoib: ALL=full;\nOne=0x1: 0x11=full, 0x12=full;\n"
		    "Two=0x2: 0x13;\n",
		    "partitions: 1 multicast group changed");
	assert_news("partitions",
		    "Default=0x7fff: ALL=full;\nUno=0x1: 0x11=full, 0x12=full;\nTwo=0x2: 0x13;\n",
		    "partitions: names, service levels, flag api or order changed");
}

/* Of several items for one port the last decides. */
static void a_member_that_is_named_twice_counts_once(void **state)
{
	assert_news("partitions",
		    "Default=0x7fff: ALL=full;\nOne=0x1: 0x11=limited, 0x12=full, 0x11=full;\n"
		    "Two=0x2: 0x13;\n",
		    "partitions: names, service levels, flag api or order changed");
}

static void news_of_lists_are_counted(void **state)
{
	assert_news("weights", "0x1 1 2\n", "hop_weights_file: 1 entries, were 2");
	assert_news("names", "0x1 \"a\"\n0x2 \"b\"\n", "node_name_map_name: 2 entries, were 1");
	assert_news("prefixes", "", "prefix_routes_file: 0 entries, were 1");
	assert_news("modules", "sa 1\nsm 1\n", "per_module_logging_file: 2 entries, were 1");
}

static void news_of_several_files_stand_in_one_line(void **state)
{
	struct folder f = folder_new();
	struct conf_files *before = conf_files_read(f.conf, NULL), *now;
	_cleanup_free_ char *news = NULL;

	put(&f, "partitions", PARTITIONS "Three=0x3: 0x13;\n");
	put(&f, "prefixes", "");
	put(&f, "order", "0x11\n");
	now = conf_files_read(f.conf, before);
	news = conf_files_news(before, now);
	assert_string_equal(news, "partitions: 1 added; prefix_routes_file: 0 entries, were 1; "
				  "guid_routing_order_file: 1 entries, were 2");
	conf_files_unref(before);
	conf_files_unref(now);
	folder_clear(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_read),
		cmocka_unit_test(what_says_the_same_is_not_parsed_again),
		cmocka_unit_test(tables_are_read_again_only_after_a_write),
		cmocka_unit_test(options_that_partitions_depend_on_count),
		cmocka_unit_test(missing_files),
		cmocka_unit_test(a_fault_is_found_once_and_stays_with_the_file),
		cmocka_unit_test(news_of_partitions_are_counted),
		cmocka_unit_test(a_member_that_is_named_twice_counts_once),
		cmocka_unit_test(another_torus_is_news),
		cmocka_unit_test(news_of_lists_are_counted),
		cmocka_unit_test(news_of_several_files_stand_in_one_line),
	};

	return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
