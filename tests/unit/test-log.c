// SPDX-License-Identifier: BSD-2-Clause
/*
 * log.c: the line format scripts read, where records go, and what the log refuses to write to.
 * syslog() and the journal are caught here: these definitions come before those of the libraries.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <syslog.h>
#include <unistd.h>

#include "tests/lib/scratch.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"

int sd_journal_sendv(const struct iovec *iov, int n);
void __syslog_chk(int priority, int flag, const char *fmt, ...);

static char caught_syslog[4096], caught_journal[4096];

static void add_line(char *caught, const char *line, size_t len)
{
	size_t used = strlen(caught);

	snprintf(caught + used, sizeof(caught_syslog) - used, "%.*s\n", (int)len, line);
}

static void catch_syslog(int priority, const char *fmt, va_list args)
{
	char line[1024];
	int len = snprintf(line, sizeof(line), "%d ", priority);

	vsnprintf(line + len, sizeof(line) - (size_t)len, fmt, args);
	add_line(caught_syslog, line, strlen(line));
}

void syslog(int priority, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	catch_syslog(priority, fmt, args);
	va_end(args);
}

void __syslog_chk(int priority, int flag, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	catch_syslog(priority, fmt, args);
	va_end(args);
}

int sd_journal_sendv(const struct iovec *iov, int n)
{
	for (int i = 0; i < n; i++)
		add_line(caught_journal, iov[i].iov_base, iov[i].iov_len);
	return 0;
}

static int saved_stdout, saved_stderr;

/* A folder of our own, with stdout and stderr in files there: cmocka prints elsewhere meanwhile. */
static int enter_folder(void **state)
{
	caught_syslog[0] = caught_journal[0] = '\0';
	unsetenv("JOURNAL_STREAM");
	if (scratch_enter(state) < 0)
		return -1;
	fflush(stdout);
	saved_stdout = dup(STDOUT_FILENO);
	saved_stderr = dup(STDERR_FILENO);
	dup2(open("stdout", O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600), STDOUT_FILENO);
	dup2(open("stderr", O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600), STDERR_FILENO);
	return 0;
}

static int leave_folder(void **state)
{
	log_close();
	fflush(stdout);
	dup2(saved_stdout, STDOUT_FILENO);
	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stdout);
	close(saved_stderr);
	return scratch_leave(state);
}

/* The whole of the file must match; `.` does not match a newline. */
static void assert_file_matches(const char *path, const char *pattern)
{
	_cleanup_free_ char *text = NULL, *whole = xasprintf("^%s$", pattern);
	regex_t regex;

	assert_int_equal(file_read(path, 1 << 20, &text, NULL), 0);
	assert_int_equal(regcomp(&regex, whole, REG_EXTENDED | REG_NOSUB), 0);
	if (regexec(&regex, text, 0, NULL, 0) != 0)
		fail_msg("%s holds <%s>, expected <%s>", path, text, whole);
	regfree(&regex);
}

#define HEAD(level)                                                                                \
	"[A-Z][a-z]{2} [0-3][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{6} \\[[0-9A-F]{4,8}\\] " level \
	" -> "

static void open_log(const char *path, unsigned flags)
{
	struct log_config config = { .path = path, .flags = flags, .append = true };

	assert_int_equal(log_open(&config), 0);
}

static void a_record_has_the_format_scripts_read(void **state)
{
	open_log("log", LOGB_ERROR | LOGB_INFO);
	log_info("tables configured on all %d switches", 7);
	log_write(LOGB_ERROR | LOGB_INFO, NULL, "SUBNET UP");
	assert_file_matches("log", HEAD("0x02") "tables configured on all 7 switches\n" HEAD("0x03")
						"SUBNET UP\n");
}

static void the_thread_is_the_low_half_of_its_id(void **state)
{
	_cleanup_free_ char *pattern = NULL;

	open_log("log", LOGB_INFO);
	log_write(LOGB_INFO, NULL, "x");
	pattern = xasprintf(".* \\[%04X\\] 0x02 -> x\n", (unsigned)(uintptr_t)pthread_self());
	assert_file_matches("log", pattern);
}

static void levels_not_asked_for_are_silent(void **state)
{
	open_log("log", LOGB_ERROR);
	log_info("not this");
	log_verbose("nor this");
	log_error("this");
	assert_false(log_wants(LOGB_INFO));
	assert_true(log_wants(LOGB_SYS));
	assert_file_matches("log", HEAD("0x01") "this\n");
}

static void the_prefix_stands_before_the_function(void **state)
{
	struct log_config config = { .path = "log",
				     .prefix = "rack7",
				     .flags = LOGB_INFO | LOGB_FUNCS };

	assert_int_equal(log_open(&config), 0);
	log_info("text");
	assert_file_matches("log",
			    HEAD("0x02") "rack7: the_prefix_stands_before_the_function: text\n");
}

static void functions_are_named_for_those_who_ask(void **state)
{
	struct log_config config = { .path = "log", .prefix = "rack7", .flags = LOGB_INFO };

	assert_int_equal(log_open(&config), 0);
	log_info("text");
	assert_file_matches("log", HEAD("0x02") "rack7: text\n");
}

static void a_record_may_have_lines_but_ends_once(void **state)
{
	open_log("log", LOGB_INFO);
	log_write(LOGB_INFO, NULL, "one\ntwo\n");
	assert_file_matches("log", HEAD("0x02") "one\ntwo\n");
}

static void a_long_record_is_cut(void **state)
{
	char text[9000];
	_cleanup_free_ char *read = NULL;
	size_t len;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	open_log("log", LOGB_INFO);
	log_info("%s", text);
	assert_int_equal(file_read("log", 10000, &read, &len), 0);
	assert_true(len > 4000 && len < 4200);
	assert_int_equal(read[len - 1], '\n');
}

static void state_changes_go_to_stdout_and_syslog(void **state)
{
	open_log("log", LOGB_ERROR);
	log_sys("Entering MASTER state");
	assert_file_matches("log", HEAD("0x80") "Entering MASTER state\n");
	assert_file_matches("stdout", "Entering MASTER state\n\n");
	assert_string_equal(caught_syslog, "5 log log file opened\n6 Entering MASTER state\n");
}

static void a_quiet_log_leaves_stdout_alone(void **state)
{
	struct log_config config = { .path = "log", .flags = LOGB_INFO, .quiet = true };

	assert_int_equal(log_open(&config), 0);
	log_sys("Exiting SM");
	assert_file_matches("stdout", "");
	assert_non_null(strstr(caught_syslog, "Exiting SM"));
}

static void a_log_on_stdout_says_it_once_and_in_order(void **state)
{
	open_log("-", LOGB_INFO);
	printf("before\n");
	log_sys("Exiting SM");
	assert_file_matches("stdout", "before\n" HEAD("0x80") "Exiting SM\n");
}

static void before_it_is_opened_errors_go_to_stderr(void **state)
{
	log_error("early");
	log_debug("never");
	assert_file_matches("stderr", HEAD("0x01") "early\n");
}

static void append_and_erase(void **state)
{
	struct log_config config = { .path = "log", .flags = LOGB_INFO, .append = true };

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(log_open(&config), 0);
		log_write(LOGB_INFO, NULL, "round %u", i);
	}
	assert_file_matches("log", ".* round 0\n.* round 1\n");
	config.append = false;
	assert_int_equal(log_open(&config), 0);
	log_write(LOGB_INFO, NULL, "alone");
	assert_file_matches("log", HEAD("0x02") "alone\n");
}

static void logrotate_gets_its_new_file(void **state)
{
	int fd;

	open_log("log", LOGB_INFO);
	fd = log_fileno();
	log_write(LOGB_INFO, NULL, "old");
	assert_int_equal(rename("log", "log.1"), 0);
	log_write(LOGB_INFO, NULL, "still old");
	assert_int_equal(log_reopen(), 0);
	log_write(LOGB_INFO, NULL, "new");
	assert_int_equal(log_fileno(), fd);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_file_matches("log.1", ".* old\n.* still old\n");
	assert_file_matches("log", HEAD("0x02") "new\n");
}

static void a_failed_reopen_keeps_the_old_file(void **state)
{
	open_log("log", LOGB_INFO);
	assert_int_equal(rename("log", "log.1"), 0);
	assert_int_equal(mkdir("log", 0755), 0);
	assert_int_equal(log_reopen(), -EISDIR);
	log_write(LOGB_INFO, NULL, "kept");
	assert_file_matches("log.1", ".* kept\n");
}

static void above_the_limit_the_file_starts_again(void **state)
{
	struct log_config config = { .path = "log", .flags = LOGB_INFO, .max_size_mb = 1 };
	int fd = open("log", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	config.append = true;
	assert_int_equal(ftruncate(fd, (1 << 20) + 1), 0);
	close(fd);
	assert_int_equal(log_open(&config), 0);
	log_write(LOGB_INFO, NULL, "fresh");
	assert_file_matches("log", HEAD("0x02") "fresh\n");
	assert_file_matches("stderr", ".*log file exceeds the limit 1048576\\. Truncating\\.\n");
}

static void without_a_limit_it_grows(void **state)
{
	struct stat st;
	int fd = open("log", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_int_equal(ftruncate(fd, 3 << 20), 0);
	close(fd);
	open_log("log", LOGB_INFO);
	log_write(LOGB_INFO, NULL, "more");
	assert_int_equal(stat("log", &st), 0);
	assert_true(st.st_size > 3 << 20);
}

static void write_errors_are_told_three_times(void **state)
{
	open_log("log", LOGB_INFO);
	/* /dev/full takes nothing: put it where the log writes. */
	assert_true(dup2(open("/dev/full", O_WRONLY | O_CLOEXEC), log_fileno()) >= 0);
	for (unsigned i = 0; i < 10; i++)
		log_write(LOGB_INFO, NULL, "lost");
	assert_file_matches("stderr", "(opensm: cannot write the log: [^\n]*\n){3}");
}

static void fifos_and_devices_are_refused(void **state)
{
	struct log_config config = { .path = "fifo", .flags = LOGB_INFO };

	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_true(log_open(&config) < 0);
	config.path = "/dev/zero";
	assert_int_equal(log_open(&config), -EINVAL);
	config.path = "/dev/null";
	assert_int_equal(log_open(&config), 0);
}

static void a_failed_open_keeps_the_old_log(void **state)
{
	struct log_config config = { .path = "none/log", .flags = 0 };

	open_log("log", LOGB_INFO);
	assert_int_equal(log_open(&config), -ENOENT);
	log_write(LOGB_INFO, NULL, "kept");
	assert_true(log_wants(LOGB_INFO));
	assert_file_matches("log", ".* kept\n");
}

static void write_victim(void)
{
	FILE *f = fopen("victim", "w");

	assert_non_null(f);
	fputs("precious\n", f);
	fclose(f);
}

static void links_are_followed_in_a_folder_of_ours_only(void **state)
{
	struct log_config config = { .path = "safe/log", .flags = LOGB_INFO };

	write_victim();
	assert_int_equal(mkdir("safe", 0755), 0);
	assert_int_equal(mkdir("shared", 0755), 0);
	assert_int_equal(chmod("shared", 0777), 0);
	assert_int_equal(symlink("../target", "safe/log"), 0);
	assert_int_equal(symlink("../victim", "shared/log"), 0);
	assert_int_equal(link("victim", "shared/hard"), 0);
	assert_int_equal(log_open(&config), 0);
	config.path = "shared/log";
	assert_int_equal(log_open(&config), -ELOOP);
	config.path = "shared/hard";
	assert_int_equal(log_open(&config), -EMLINK);
	config.path = "shared/fine";
	assert_int_equal(log_open(&config), 0);
	assert_file_matches("victim", "precious\n");
}

static void set_journal(const char *file)
{
	char stream[64];
	struct stat st;

	assert_int_equal(stat(file, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
}

static void the_journal_gets_fields(void **state)
{
	set_journal("stderr");
	open_log("log", LOGB_ERROR | LOGB_DEBUG);
	log_error("link lost");
	log_debug("detail");
	assert_string_equal(caught_journal,
			    "MESSAGE=link lost\nPRIORITY=3\n"
			    "OPENSM_LEVEL=0x01\nSYSLOG_IDENTIFIER=opensm\n"
			    "CODE_FUNC=the_journal_gets_fields\n");
	assert_file_matches("log", HEAD("0x01") "link lost\n" HEAD("0x08") "detail\n");
}

static void the_journal_gets_what_a_record_is_about(void **state)
{
	struct log_config config = { .path = "log", .flags = LOGB_ERROR, .instance = "2" };

	set_journal("stderr");
	assert_int_equal(log_open(&config), 0);
	log_configure(&(struct log_config){ .flags = LOGB_ERROR });
	log_on(ABOUT(.id = LOG_ID_SILENT, .node_guid = 0x2c9, .name = "h3", .port = 1, .lid = 7,
		     .attr = "PortInfo", .method = "Get", .status = "busy", .error = 5),
	       LOGB_ERROR, "no answer");
	log_sys_on(ABOUT(.id = LOG_ID_STATE_MASTER), "Entering MASTER state");
	assert_non_null(
		strstr(caught_journal,
		       "\nOPENSM_INSTANCE=2\nCODE_FUNC=the_journal_gets_what_a_record_is_about\n"
		       "MESSAGE_ID=86d86d4c97254b08930660a67ed70c7a\n"
		       "OPENSM_EVENT=SILENT\nNODE_GUID=0x00000000000002c9\n"
		       "NODE_DESC=h3\nPORT=1\nLID=7\nATTR=PortInfo\n"
		       "METHOD=Get\nSTATUS=busy\nERRNO=5\n"));
	assert_non_null(strstr(caught_journal, "MESSAGE=Entering MASTER state\nPRIORITY=5\n"));
	assert_non_null(strstr(caught_journal, "OPENSM_EVENT=STATE_MASTER\n"));
	assert_file_matches("log",
			    HEAD("0x01") "no answer\n" HEAD("0x80") "Entering MASTER state\n");
}

static void every_event_has_an_id_of_its_own(void **state)
{
	assert_null(log_id_hex(LOG_ID_NONE));
	for (enum log_id i = 1; i < LOG_N_IDS; i++) {
		assert_int_equal(strspn(log_id_hex(i), "0123456789abcdef"), 32);
		assert_int_equal(strlen(log_id_hex(i)), 32);
		for (enum log_id k = 1; k < i; k++)
			assert_string_not_equal(log_id_hex(i), log_id_hex(k));
	}
}

static void a_module_may_say_more(void **state)
{
	open_log("log", LOGB_ERROR);
	log_set_modules(&(struct log_module){ "sm/trust/traps.c", LOGB_VERBOSE }, 1);
	assert_false(log_wants(LOGB_VERBOSE));
	log_set_modules(&(struct log_module){ "unit/", LOGB_VERBOSE }, 1);
	assert_true(log_wants(LOGB_VERBOSE));
	assert_false(log_wants(LOGB_DEBUG));
	log_verbose("more");
	log_set_modules(NULL, 0);
	log_verbose("less");
	assert_file_matches("log", HEAD("0x04") "more\n");
}

static void modules_are_folders_and_files(void **state)
{
	assert_true(log_module_has("sm/trust/traps.c", "../../opensm/sm/trust/traps.c"));
	assert_true(log_module_has("sm/", "/root/opensm/opensm/sm/trust/traps.c"));
	assert_false(log_module_has("sm/", "/root/sm/opensm/sa/sa.c"));
	assert_true(log_module_has("route/", "../../opensm/route/tree/minhop.c"));
	assert_true(log_module_has("route/tree/", "../../opensm/route/tree/minhop.c"));
	assert_true(log_module_has("libvendor/umad.c", "../../libvendor/umad.c"));
	assert_true(log_module_has("opensm/main.c", "/root/opensm/main.c"));
	assert_false(log_module_has("sm/trap", "opensm/sm/trust/traps.c"));
	assert_string_equal(log_module_of("main.c"), "main.c");
}

static void a_log_into_the_journal_is_not_doubled(void **state)
{
	set_journal("stderr");
	open_log("stderr", LOGB_INFO);
	log_sys("Exiting SM");
	assert_file_matches("stderr", "");
	assert_string_equal(caught_syslog, "");
	assert_non_null(strstr(caught_journal, "MESSAGE=Exiting SM\nPRIORITY=5\n"));
}

static void another_journal_stream_is_not_ours(void **state)
{
	setenv("JOURNAL_STREAM", "1:1", 1);
	open_log("stderr", LOGB_INFO);
	log_info("plain");
	assert_string_equal(caught_journal, "");
	assert_file_matches("stderr", HEAD("0x02") "plain\n");
}

static void settings_change_without_reopening(void **state)
{
	open_log("log", LOGB_ERROR);
	log_configure(&(struct log_config){ .flags = LOGB_INFO, .prefix = "p", .append = true });
	log_info("now");
	assert_int_equal(log_reopen(), 0);
	log_info("later");
	assert_file_matches("log", HEAD("0x02") "p: now\n" HEAD("0x02") "p: later\n");
}

static void the_mask_changes_while_it_runs(void **state)
{
	struct log_config config = { .path = "log", .prefix = "p", .flags = LOGB_ERROR };

	assert_int_equal(log_open(&config), 0);
	assert_int_equal(log_flags(), LOGB_ERROR | LOGB_SYS);
	log_set_flags(LOGB_INFO);
	assert_int_equal(log_flags(), LOGB_INFO | LOGB_SYS);
	log_info("now");
	log_error("not now");
	log_configure(&config);
	assert_int_equal(log_flags(), LOGB_ERROR | LOGB_SYS);
	assert_file_matches("log", HEAD("0x02") "p: now\n");
}

static void copy_text(void *arg, unsigned bits, const char *text)
{
	snprintf(arg, 64, "%02x %s", bits, text);
}

static void a_sink_sees_the_text(void **state)
{
	char seen[64] = "";

	log_set_sink(copy_text, seen);
	log_error("refused %d", 3);
	log_set_sink(NULL, NULL);
	assert_string_equal(seen, "01 refused 3");
	assert_file_matches("stderr", "");
}

static void a_burst_is_limited_and_counted(void **state)
{
	struct log_limit limit = { .interval = 10 * MONO_S, .burst = 3 };
	char words[LOG_OTHERS_STRLEN];
	unsigned suppressed = 99, written = 0;

	for (unsigned i = 0; i < 8; i++)
		written += log_allow(&limit, 100 * MONO_S, &suppressed);
	assert_int_equal(written, 3);
	assert_int_equal(suppressed, 0);
	assert_false(log_allow(&limit, 109 * MONO_S, &suppressed));
	assert_true(log_allow(&limit, 110 * MONO_S, &suppressed));
	assert_int_equal(suppressed, 6);
	assert_false(log_allow(&limit, 111 * MONO_S, &suppressed));
	assert_true(log_allow(&limit, 1000 * MONO_S, &suppressed));
	assert_int_equal(suppressed, 1);
	assert_string_equal(log_others(suppressed, words), "; 1 other was not said");
	assert_string_equal(log_others(6, words), "; 6 others were not said");
	assert_string_equal(log_others(0, words), "");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_record_has_the_format_scripts_read),
		IN_FOLDER(the_thread_is_the_low_half_of_its_id),
		IN_FOLDER(levels_not_asked_for_are_silent),
		IN_FOLDER(the_prefix_stands_before_the_function),
		IN_FOLDER(functions_are_named_for_those_who_ask),
		IN_FOLDER(a_record_may_have_lines_but_ends_once),
		IN_FOLDER(a_long_record_is_cut),
		IN_FOLDER(state_changes_go_to_stdout_and_syslog),
		IN_FOLDER(a_quiet_log_leaves_stdout_alone),
		IN_FOLDER(a_log_on_stdout_says_it_once_and_in_order),
		IN_FOLDER(before_it_is_opened_errors_go_to_stderr),
		IN_FOLDER(append_and_erase),
		IN_FOLDER(logrotate_gets_its_new_file),
		IN_FOLDER(a_failed_reopen_keeps_the_old_file),
		IN_FOLDER(above_the_limit_the_file_starts_again),
		IN_FOLDER(without_a_limit_it_grows),
		IN_FOLDER(write_errors_are_told_three_times),
		IN_FOLDER(fifos_and_devices_are_refused),
		IN_FOLDER(a_failed_open_keeps_the_old_log),
		IN_FOLDER(links_are_followed_in_a_folder_of_ours_only),
		IN_FOLDER(the_journal_gets_fields),
		IN_FOLDER(the_journal_gets_what_a_record_is_about),
		IN_FOLDER(every_event_has_an_id_of_its_own),
		IN_FOLDER(a_module_may_say_more),
		IN_FOLDER(modules_are_folders_and_files),
		IN_FOLDER(a_log_into_the_journal_is_not_doubled),
		IN_FOLDER(another_journal_stream_is_not_ours),
		IN_FOLDER(settings_change_without_reopening),
		IN_FOLDER(the_mask_changes_while_it_runs),
		IN_FOLDER(a_sink_sees_the_text),
		cmocka_unit_test(a_burst_is_limited_and_counted),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
