// SPDX-License-Identifier: BSD-2-Clause
/* SIGHUP: all of what was read, or nothing, and what is said about it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/conf_reload.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

/* A daemon that has started in a folder of its own. */
struct place {
	char dir[SCRATCH_PATH];
	char *path;   /* opensm.conf */
	char *common; /* the lines that name the other files */
	struct conf *live, *file_conf;
	struct conf_files *files;
	struct reload r; /* of the last SIGHUP */
};

static const char partitions[] = "Default=0x7fff: ALL=full;\nOne=0x1: 0x11=full;\n";

static void put(const struct place *p, const char *name, const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", p->dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void drop(const struct place *p, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", p->dir, name);

	unlink(path);
}

static void put_conf(const struct place *p, const char *text)
{
	_cleanup_free_ char *all = xasprintf("%s%s", p->common, text);

	put(p, "opensm.conf", all);
}

static struct place *place_new(const char *text)
{
	struct place *p = xcalloc(1, sizeof(*p));
	struct conf_report report = { 0 };

	scratch_folder(p->dir);
	p->path = xasprintf("%s/opensm.conf", p->dir);
	p->common =
		xasprintf("partition_config_file %1$s/partitions\nhop_weights_file %1$s/weights\n"
			  "node_name_map_name %1$s/names\n",
			  p->dir);
	put(p, "partitions", partitions);
	put(p, "weights", "0x1 1 2\n");
	put(p, "names", "0x1 \"spine\"\n");
	put_conf(p, text);
	p->file_conf = conf_new();
	assert_int_equal(conf_read(p->file_conf, p->path, &report), 0);
	p->live = conf_copy(p->file_conf);
	conf_verify(p->live, &report);
	p->files = conf_files_read(p->live, NULL);
	conf_report_clear(&report);
	return p;
}

static void place_free(struct place *p)
{
	static const char *const names[] = { "opensm.conf", "partitions", "weights", "names" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		drop(p, names[i]);
	assert_int_equal(rmdir(p->dir), 0);
	reload_clear(&p->r);
	conf_unref(p->live);
	conf_unref(p->file_conf);
	conf_files_unref(p->files);
	free(p->path);
	free(p->common);
	free(p);
}

/* As daemon.c does it. */
static const struct reload *hup(struct place *p)
{
	const struct reload_from from = {
		.live = p->live, .file_conf = p->file_conf, .path = p->path, .files = p->files
	};

	reload_clear(&p->r);
	reload_read(&from, &p->r);
	if (p->r.refused)
		return &p->r;
	conf_unref(p->live);
	p->live = conf_ref(p->r.conf);
	if (p->r.file_conf) {
		conf_unref(p->file_conf);
		p->file_conf = conf_ref(p->r.file_conf);
	}
	conf_files_unref(p->files);
	p->files = conf_files_ref(p->r.files);
	return &p->r;
}

static bool found(const struct reload *r, enum conf_severity severity, unsigned line,
		  const char *text)
{
	for (size_t i = 0; i < r->report.n; i++) {
		const struct conf_finding *f = &r->report.findings[i];

		if (f->severity == severity && f->line == line && strstr(f->text, text))
			return true;
	}
	return false;
}

/* An error about this file, or where it is named. */
static bool is_blamed(const struct reload *r, const char *name)
{
	for (size_t i = 0; i < r->report.n; i++) {
		const struct conf_finding *f = &r->report.findings[i];

		if (f->severity == CONF_ERROR && (strstr(f->file, name) || strstr(f->text, name)))
			return true;
	}
	return false;
}

static void a_file_that_comes_later_is_read_and_must_stay(void **state)
{
	struct place *p = place_new("");
	const struct reload *r;

	conf_unref(p->live);
	conf_unref(p->file_conf);
	p->file_conf = conf_new();
	p->live = conf_new();
	conf_files_unref(p->files);
	p->files = conf_files_read(p->live, NULL);
	drop(p, "opensm.conf");
	r = hup(p);
	assert_false(r->refused);
	put_conf(p, "sweep_interval 25\n");
	r = hup(p);
	assert_false(r->refused);
	assert_int_equal(p->live->sweep_interval, 25);
	drop(p, "opensm.conf");
	assert_true(hup(p)->refused);
	put_conf(p, "");
	place_free(p);
}

static void nothing_changed(void **state)
{
	struct place *p = place_new("sweep_interval 10\n");
	const struct reload *r = hup(p);

	assert_false(r->refused);
	assert_null(r->news);
	assert_int_equal(r->report.n, 0);
	assert_ptr_equal(r->files, p->files);
	place_free(p);
}

static void all_that_changed_is_named(void **state)
{
	struct place *p = place_new("sweep_interval 10\n");
	const struct reload *r;

	put_conf(p, "sweep_interval 20\nscatter_ports 3\n");
	put(p, "partitions", "Default=0x7fff: ALL=full;\nTwo=0x2: 0x11=full;\n");
	put(p, "weights", "0x1 1 2\n0x1 2 2\n");
	r = hup(p);
	assert_false(r->refused);
	assert_string_equal(r->news,
			    "sweep_interval 10 -> 20, scatter_ports 0 -> 3; partitions: 1 added, 1 "
			    "removed; hop_weights_file: 2 entries, were 1");
	assert_int_equal(p->live->sweep_interval, 20);
	assert_non_null(partitions_find(p->files->of[CONF_FILE_PARTITIONS]->partitions, 2));
	place_free(p);
}

static void one_fault_and_nothing_is_taken_over(void **state)
{
	static const struct {
		const char *file, *text;
		unsigned line;
	} faults[] = {
		{ "partitions", "Default=0x7fff: ALL=full;\nOne=0x1: 0x1z=full;\n", 2 },
		{ "partitions", "", 0 },
		{ "weights", "0x1 1 2\n0x1 2\n", 2 },
		{ "names", "0x1\n", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct place *p = place_new("sweep_interval 10\n");
		const struct reload *r;

		put_conf(p, "sweep_interval 20\n");
		put(p, faults[i].file, faults[i].text);
		r = hup(p);
		assert_true(r->refused);
		assert_null(r->conf);
		assert_null(r->files);
		assert_null(r->news);
		assert_non_null(strstr(r->first, faults[i].file));
		assert_true(!faults[i].line || found(r, CONF_ERROR, faults[i].line, ""));
		assert_int_equal(p->live->sweep_interval, 10);
		place_free(p);
	}
}

static void a_fault_of_opensm_conf_keeps_the_lists_too(void **state)
{
	struct place *p = place_new("sweep_interval 10\n");
	const struct reload *r;

	put_conf(p, "sweep_interval 20\nsm_priority 99\n");
	put(p, "partitions", "Default=0x7fff: ALL=full;\nTwo=0x2: 0x11=full;\n");
	r = hup(p);
	assert_true(r->refused);
	assert_true(found(r, CONF_ERROR, 5, "sm_priority"));
	assert_non_null(strstr(r->first, "opensm.conf:5:13"));
	assert_null(partitions_find(p->files->of[CONF_FILE_PARTITIONS]->partitions, 2));
	/* Mended, both come. */
	put_conf(p, "sweep_interval 20\nsm_priority 9\n");
	r = hup(p);
	assert_false(r->refused);
	assert_string_equal(r->news, "sweep_interval 10 -> 20, sm_priority 0 -> 9; partitions: 1 "
				     "added, 1 removed");
	place_free(p);
}

/* What is a warning at a start is one here. */
static void warnings_do_not_stand_in_the_way(void **state)
{
	struct place *p = place_new("");
	const struct reload *r;

	put_conf(p, "sweep_interval 20\nsweep_interval 30\n");
	r = hup(p);
	assert_false(r->refused);
	assert_true(found(r, CONF_WARNING, 5, "also set in line 4"));
	assert_int_equal(p->live->sweep_interval, 30);
	place_free(p);
}

static void files_that_are_gone_are_faults(void **state)
{
	static const char *const names[] = { "opensm.conf", "partitions", "weights", "names" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct place *p = place_new("");
		const struct reload *r;

		drop(p, names[i]);
		r = hup(p);
		assert_true(r->refused);
		assert_true(is_blamed(r, names[i]));
		place_free(p);
	}
}

/* A file that was named and never there is no reason to open the fabric: said where it is named. */
static void partitions_that_are_named_and_never_were_are_a_fault(void **state)
{
	struct place *p = place_new("");

	drop(p, "partitions");
	conf_files_unref(p->files);
	p->files = conf_files_read(p->live, NULL);
	assert_true(hup(p)->refused);
	assert_non_null(strstr(hup(p)->first, "opensm.conf:1:23"));
	place_free(p);
}

static void partitions_of_the_default_path_may_be_missing(void **state)
{
	struct place *p = place_new("");

	assert_int_equal(conf_set(p->live, CONF_ID_partition_config_file,
				  "/etc/opensm/partitions.conf", &(struct conf_place){ 0 }, NULL),
			 0);
	assert_false(conf_file_is_needed(CONF_FILE_PARTITIONS, p->live));
	place_free(p);
}

/* A file cut off by an editor or a full disk does not open the fabric. */
static void an_emptied_partition_file_is_refused(void **state)
{
	struct place *p = place_new("");
	const struct reload *r;

	put(p, "partitions", "# to be written\n");
	r = hup(p);
	assert_true(r->refused);
	assert_true(found(r, CONF_ERROR, 1, "it takes a restart to go on without partitions"));
	place_free(p);
}

static void the_command_line_goes_before_the_file(void **state)
{
	struct place *p = place_new("sweep_interval 10\nlog_flags 3\n");
	struct conf *live = conf_copy(p->live);

	live->sweep_interval = 99;
	conf_unref(p->live);
	p->live = live;
	put_conf(p, "sweep_interval 10\nlog_flags 7\n");
	assert_string_equal(hup(p)->news, "log_flags 0x03 -> 0x07");
	assert_int_equal(p->live->sweep_interval, 99);
	place_free(p);
}

static void what_counts_at_a_start_only_is_named(void **state)
{
	struct place *p = place_new("lmc 0\n");
	const struct reload *r;

	put_conf(p, "lmc 2\n");
	r = hup(p);
	assert_false(r->refused);
	assert_null(r->news);
	assert_true(found(r, CONF_WARNING, 4, "lmc: now 2; 0 stays until a restart"));
	assert_int_equal(hup(p)->report.n, 0);
	place_free(p);
}

static void keys_are_not_shown(void **state)
{
	struct place *p = place_new("m_key 0x1234567\n");

	put_conf(p, "m_key 0x7654321\n");
	assert_string_equal(hup(p)->news, "m_key (not shown) -> (not shown)");
	assert_int_equal(p->live->m_key, 0x7654321);
	place_free(p);
}

static void without_opensm_conf_the_lists_are_read_again(void **state)
{
	struct place *p = place_new("");

	free(p->path);
	p->path = NULL;
	put(p, "names", "0x1 \"spine\"\n0x2 \"leaf\"\n");
	assert_string_equal(hup(p)->news, "node_name_map_name: 2 entries, were 1");
	place_free(p);
}

/*
 * Remarks on a file that did not change are not repeated; a fault is, as long as it is the reason.
 */
static void remarks_are_told_once(void **state)
{
	struct place *p = place_new("");

	put(p, "weights", "0x1 1 2\n0x1 1 3\n");
	assert_true(found(hup(p), CONF_WARNING, 1, "also in line 2"));
	assert_int_equal(hup(p)->report.n, 0);
	put(p, "weights", "0x1 1 2 3\n0x1 x\n");
	for (unsigned i = 0; i < 3; i++)
		assert_true(found(hup(p), CONF_ERROR, 2, ""));
	place_free(p);
}

/* With the leak check of the sanitizers. */
static void a_thousand_reloads(void **state)
{
	struct place *p = place_new("");

	for (unsigned i = 0; i < 1000; i++) {
		_cleanup_free_ char *conf = xasprintf("sweep_interval %u\n%s", i % 7 + 1,
						      i % 5 == 4 ? "sm_priority 99\n" : "");
		_cleanup_free_ char *parts =
			xasprintf("Default=0x7fff: ALL=full;\nP=0x%x: 0x11=full;\n%s", i % 3 + 1,
				  i % 11 == 10 ? "broken" : "");
		_cleanup_(conf_files_unrefp) struct conf_files *files = conf_files_ref(p->files);
		unsigned interval = p->live->sweep_interval;
		const struct partitions *now;
		bool refused;

		put_conf(p, conf);
		put(p, "partitions", parts);
		refused = hup(p)->refused;
		now = p->files->of[CONF_FILE_PARTITIONS]->partitions;

		assert_int_equal(refused, i % 5 == 4 || i % 11 == 10);
		if (refused) {
			assert_ptr_equal(p->files, files);
			assert_int_equal(p->live->sweep_interval, interval);
		} else {
			assert_non_null(partitions_find(now, i % 3 + 1));
			assert_int_equal(p->live->sweep_interval, i % 7 + 1);
		}
	}
	place_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changed),
		cmocka_unit_test(a_file_that_comes_later_is_read_and_must_stay),
		cmocka_unit_test(all_that_changed_is_named),
		cmocka_unit_test(one_fault_and_nothing_is_taken_over),
		cmocka_unit_test(a_fault_of_opensm_conf_keeps_the_lists_too),
		cmocka_unit_test(warnings_do_not_stand_in_the_way),
		cmocka_unit_test(files_that_are_gone_are_faults),
		cmocka_unit_test(partitions_that_are_named_and_never_were_are_a_fault),
		cmocka_unit_test(partitions_of_the_default_path_may_be_missing),
		cmocka_unit_test(an_emptied_partition_file_is_refused),
		cmocka_unit_test(the_command_line_goes_before_the_file),
		cmocka_unit_test(what_counts_at_a_start_only_is_named),
		cmocka_unit_test(keys_are_not_shown),
		cmocka_unit_test(without_opensm_conf_the_lists_are_read_again),
		cmocka_unit_test(remarks_are_told_once),
		cmocka_unit_test(a_thousand_reloads),
	};

	return cmocka_run_group_tests_name("conf-reload", tests, NULL, NULL);
}
