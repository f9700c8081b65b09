// SPDX-License-Identifier: BSD-2-Clause
/* file.c: whole files, old or new. Each test has a folder of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/scratch.h"
#include "util/file.h"
#include "util/mem.h"

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_content(const char *path, const char *expected)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	assert_int_equal(file_read(path, 1000, &text, &len), 0);
	assert_string_equal(text, expected);
	assert_int_equal(len, strlen(expected));
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static void output_goes_to_what_lies_there(const char *path)
{
	struct file_replace *f = file_output_open(path, 0640);

	assert_non_null(f);
	fputs("new", file_replace_stream(f));
	assert_int_equal(file_replace_commit(f, true), 0);
}

/* opensmctl report -o /dev/null, as root, must leave the device a device. */
static void output_is_written_to_devices_fifos_and_links(void **state)
{
	char got[8] = "";
	int fifo;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	fifo = open("fifo", O_RDONLY | O_NONBLOCK);
	output_goes_to_what_lies_there("fifo");
	assert_int_equal(read(fifo, got, sizeof(got)), 3);
	assert_string_equal(got, "new");
	close(fifo);
	write_file("a", "former text");
	assert_int_equal(symlink("a", "link"), 0);
	assert_int_equal(symlink("/dev/null", "null"), 0);
	output_goes_to_what_lies_there("link");
	assert_content("a", "new");
	output_goes_to_what_lies_there("null");
	output_goes_to_what_lies_there("b");
	assert_content("b", "new");
	assert_int_equal(mode_of("b"), 0640);
	assert_int_equal(access("fifo.new", F_OK) & access("link.new", F_OK), -1);
	assert_int_equal(access("null.new", F_OK) & access("b.new", F_OK), -1);
	assert_null(file_output_open(".", 0640));
	assert_int_equal(errno, EISDIR);
}

static void output_to_a_dash_is_the_standard_output(void **state)
{
	int saved = dup(STDOUT_FILENO), file = open("out", O_WRONLY | O_CREAT, 0600);

	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	output_goes_to_what_lies_there("-");
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(file);
	assert_content("out", "new");
	assert_int_equal(access("-", F_OK), -1);
}

/* A full disk is an error of the command, and not a file without its end. */
static void output_that_does_not_fit_is_a_fault(void **state)
{
	struct file_replace *f = file_output_open("/dev/full", 0640);

	assert_non_null(f);
	fputs("new", file_replace_stream(f));
	assert_int_equal(file_replace_commit(f, true), -ENOSPC);
	/* longer than the buffer of stdio: writing fails before the commit, too */
	f = file_output_open("/dev/full", 0640);
	for (unsigned i = 0; i < 100000; i++)
		fputs("new", file_replace_stream(f));
	fflush(file_replace_stream(f));
	assert_int_equal(file_replace_commit(f, true), -ENOSPC);
}

static void commit_makes_the_new_file(void **state)
{
	struct file_replace *f = file_replace_open("a", false);

	assert_non_null(f);
	fputs("new", file_replace_stream(f));
	assert_int_equal(access("a", F_OK), -1);
	assert_int_equal(file_replace_commit(f, true), 0);
	assert_content("a", "new");
	assert_int_equal(mode_of("a"), 0644);
	assert_int_equal(access("a.new", F_OK), -1);
}

static void secrets_are_for_the_owner(void **state)
{
	struct file_replace *f = file_replace_open("a", true);

	assert_non_null(f);
	assert_int_equal(file_replace_commit(f, false), 0);
	assert_int_equal(mode_of("a"), 0600);
}

static void abort_leaves_the_old_file(void **state)
{
	struct file_replace *f;

	write_file("a", "old");
	f = file_replace_open("a", false);
	assert_non_null(f);
	fputs("new", file_replace_stream(f));
	assert_null(file_replace_abort(f));
	assert_content("a", "old");
	assert_int_equal(access("a.new", F_OK), -1);
	assert_null(file_replace_abort(NULL));
}

static void a_full_disk_leaves_the_old_file(void **state)
{
	struct file_replace *f;

	write_file("a", "old");
	f = file_replace_open("a", false);
	assert_non_null(f);
	/* /dev/full behind the stream: what is written cannot be flushed. */
	assert_non_null(freopen("/dev/full", "w", file_replace_stream(f)));
	fputs("new", file_replace_stream(f));
	assert_int_equal(file_replace_commit(f, false), -ENOSPC);
	assert_content("a", "old");
}

static void a_leftover_is_replaced(void **state)
{
	struct file_replace *f;

	write_file("a.new", "half of an old attem");
	f = file_replace_open("a", false);
	assert_non_null(f);
	fputs("new", file_replace_stream(f));
	assert_int_equal(file_replace_commit(f, false), 0);
	assert_content("a", "new");
}

static void a_planted_link_is_not_followed(void **state)
{
	struct file_replace *f;

	write_file("victim", "precious");
	assert_int_equal(symlink("victim", "a.new"), 0);
	f = file_replace_open("a", false);
	assert_non_null(f);
	fputs("new", file_replace_stream(f));
	assert_int_equal(file_replace_commit(f, false), 0);
	assert_content("victim", "precious");
	assert_content("a", "new");
}

static void the_slower_of_two_writers_fails(void **state)
{
	struct file_replace *slow = file_replace_open("a", false),
			    *fast = file_replace_open("a", false);

	assert_non_null(slow);
	assert_non_null(fast);
	fputs("slow", file_replace_stream(slow));
	fputs("fast", file_replace_stream(fast));
	assert_int_equal(file_replace_commit(slow, false), -ESTALE);
	assert_int_equal(file_replace_commit(fast, false), 0);
	assert_content("a", "fast");
}

static void a_missing_folder_is_reported(void **state)
{
	errno = 0;
	assert_null(file_replace_open("none/a", false));
	assert_int_equal(errno, ENOENT);
}

static void reading_has_a_limit(void **state)
{
	char *text = NULL;
	size_t len = 99;

	write_file("a", "12345");
	assert_int_equal(file_read("a", 4, &text, &len), -EFBIG);
	assert_null(text);
	assert_int_equal(len, 99);
	assert_int_equal(file_read("a", 5, &text, NULL), 0);
	assert_string_equal(text, "12345");
	free(text);
}

static void files_without_a_size_are_read(void **state)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	assert_int_equal(file_read("/proc/self/status", 1 << 20, &text, &len), 0);
	assert_true(len > 100 && strlen(text) == len);
	free(take(text));
	assert_int_equal(file_read("/proc/self/status", 50, &text, &len), -EFBIG);
}

static void only_regular_files_are_read(void **state)
{
	char *text = NULL;
	size_t len;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(file_read("fifo", 10, &text, &len), -EINVAL);
	assert_int_equal(file_read("/dev/zero", 10, &text, &len), -EINVAL);
	assert_int_equal(file_read(".", 10, &text, &len), -EISDIR);
	assert_int_equal(file_read("none", 10, &text, &len), -ENOENT);
	assert_null(text);
}

static void folders_are_made_with_their_parents(void **state)
{
	struct stat st;

	assert_int_equal(file_mkdirs("x/y//z/", 0755), 0);
	assert_int_equal(file_mkdirs("x/y/z", 0755), 0);
	assert_int_equal(stat("x/y/z", &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	write_file("file", "");
	assert_int_equal(file_mkdirs("file", 0755), -ENOTDIR);
	assert_int_equal(file_mkdirs("file/x", 0755), -ENOTDIR);
	assert_int_equal(file_mkdirs("/", 0755), 0);
}

static void the_younger_of_two_is_known(void **state)
{
	const struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	assert_false(file_is_newer("none", "neither"));
	write_file("old", "");
	assert_int_equal(utimensat(AT_FDCWD, "old", times, 0), 0);
	assert_true(file_is_newer("old", "none"));
	assert_false(file_is_newer("none", "old"));
	write_file("new", "");
	assert_true(file_is_newer("new", "old"));
	assert_false(file_is_newer("old", "new"));
	assert_false(file_is_newer("old", "old"));
}

static void a_journal_is_written_on_at_its_end(void **state)
{
	write_file("journal", "one\ntwo\nhal");
	assert_int_equal(file_write_at("journal", 8, "three\n", 6), 0);
	assert_content("journal", "one\ntwo\nthree\n");
	assert_int_equal(file_write_at("journal", 4, "2\n", 2), 0);
	assert_content("journal", "one\n2\n");
	assert_int_equal(file_write_at("journal", 6, NULL, 0), 0);
	assert_int_equal(file_write_at("journal", 7, "x", 1), -EIO);
	assert_content("journal", "one\n2\n");
}

/* A limit in the place of a full disk: the part that was written is not left there. */
static void what_a_full_disk_took_of_a_journal_is_cut_off(void **state)
{
	struct rlimit was, small;

	write_file("journal", "one\n");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small = (struct rlimit){ 6, was.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(file_write_at("journal", 4, "three\n", 6), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_content("journal", "one\n");
	assert_int_equal(file_write_at("journal", 4, "2\n", 2), 0);
	assert_content("journal", "one\n2\n");
}

static void what_is_no_file_is_not_written_on(void **state)
{
	assert_int_equal(mkfifo("pipe", 0600) | mkdir("folder", 0700), 0);
	write_file("file", "x");
	assert_int_equal(symlink("file", "link"), 0);
	assert_int_equal(file_write_at("none", 0, "y", 1), -ENOENT);
	assert_int_equal(file_write_at("pipe", 0, "y", 1), -ENXIO);
	assert_int_equal(file_write_at("folder", 0, "y", 1), -EISDIR);
	assert_int_equal(file_write_at("link", 0, "y", 1), -ELOOP);
	assert_content("file", "x");
}

static void what_is_no_file_is_not_replaced(void **state)
{
	struct stat st;

	assert_int_equal(mkfifo("pipe", 0600) | mkdir("folder", 0700), 0);
	errno = 0;
	assert_null(file_replace_open("pipe", false));
	assert_int_equal(errno, EINVAL);
	assert_null(file_replace_open("folder", false));
	assert_null(file_replace_open("/dev/null", false));
	assert_int_equal(lstat("pipe.new", &st), -1);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(commit_makes_the_new_file),
		IN_FOLDER(output_is_written_to_devices_fifos_and_links),
		IN_FOLDER(output_to_a_dash_is_the_standard_output),
		IN_FOLDER(output_that_does_not_fit_is_a_fault),
		IN_FOLDER(secrets_are_for_the_owner),
		IN_FOLDER(abort_leaves_the_old_file),
		IN_FOLDER(a_full_disk_leaves_the_old_file),
		IN_FOLDER(a_leftover_is_replaced),
		IN_FOLDER(a_planted_link_is_not_followed),
		IN_FOLDER(the_slower_of_two_writers_fails),
		IN_FOLDER(what_is_no_file_is_not_replaced),
		IN_FOLDER(a_journal_is_written_on_at_its_end),
		IN_FOLDER(what_a_full_disk_took_of_a_journal_is_cut_off),
		IN_FOLDER(what_is_no_file_is_not_written_on),
		IN_FOLDER(a_missing_folder_is_reported),
		IN_FOLDER(reading_has_a_limit),
		IN_FOLDER(files_without_a_size_are_read),
		IN_FOLDER(only_regular_files_are_read),
		IN_FOLDER(the_younger_of_two_is_known),
		IN_FOLDER(folders_are_made_with_their_parents),
	};

	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
