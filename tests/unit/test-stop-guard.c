// SPDX-License-Identifier: BSD-2-Clause
/* A stop signal that nothing takes ends the process; one that is taken is left alone. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libvendor/stop_guard.h"
#include "util/log.h"
#include "util/mem.h"

#define HELD 99 /* the exit status of a main thread that was never ended */

struct life {
	int status; /* of waitpid() */
	char log[1000];
};

/* Runs `body` in a process with both signals blocked, as those of the daemon are. */
static struct life live(void (*body)(void))
{
	struct life life = { 0 };
	sigset_t stops;
	int out[2];
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		dup2(out[1], STDERR_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		sigemptyset(&stops);
		sigaddset(&stops, SIGTERM);
		sigaddset(&stops, SIGINT);
		sigprocmask(SIG_BLOCK, &stops, NULL);
		body();
		_exit(HELD);
	}
	close(out[1]);
	while (len < sizeof(life.log) - 1 &&
	       (n = read(out[0], life.log + len, sizeof(life.log) - 1 - len)) > 0)
		len += (size_t)n;
	close(out[0]);
	assert_int_equal(waitpid(pid, &life.status, 0), pid);
	return life;
}

static void assert_ended(const struct life *life, int status)
{
	assert_true(WIFEXITED(life->status));
	assert_int_equal(WEXITSTATUS(life->status), status);
}

/* Longer than any machine needs to end it. */
static void be_held(void)
{
	for (unsigned i = 0; i < 60; i++)
		sleep(1);
}

static void held_by_device(int signal)
{
	assert_non_null(stop_guard_new(1));
	kill(getpid(), signal);
	be_held();
}

static void held_and_terminated(void)
{
	held_by_device(SIGTERM);
}

static void held_and_interrupted(void)
{
	held_by_device(SIGINT);
}

static void held_main_thread_does_not_hold_the_end(void **state)
{
	void (*const bodies[])(void) = { held_and_terminated, held_and_interrupted };

	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		struct life life = live(bodies[i]);

		assert_ended(&life, 0);
		assert_non_null(strstr(life.log, "signal to stop has waited for 1 s"));
	}
}

/* The log does not take the record: its reader stands still. */
static void held_with_its_log(void)
{
	struct log_config log = { .flags = LOGB_SYS };
	char junk[4096] = "";
	int full[2];

	assert_int_equal(pipe(full), 0);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(write(full[1], junk, sizeof(junk)), sizeof(junk));
	dup2(full[1], STDOUT_FILENO);
	assert_true(log_open(&log) >= 0);
	held_and_terminated();
}

static void held_log_does_not_hold_the_end_either(void **state)
{
	struct life life = live(held_with_its_log);

	assert_ended(&life, 0);
	assert_non_null(strstr(life.log, "leaving at once"));
}

/* The guard sees the signal wait, and leaves it to the main thread. */
static void takes_the_signal(void)
{
	struct stop_guard *g = stop_guard_new(60);
	sigset_t stops;
	int taken = 0;

	sigemptyset(&stops);
	sigaddset(&stops, SIGTERM);
	kill(getpid(), SIGTERM);
	sigwait(&stops, &taken);
	stop_guard_free(g);
	_exit(taken == SIGTERM ? 7 : 1);
}

static void signal_is_left_to_the_main_thread(void **state)
{
	struct life life = live(takes_the_signal);

	assert_ended(&life, 7);
	assert_string_equal(life.log, "");
}

static void ends_slowly(void)
{
	stop_guard_free(stop_guard_new(1));
	stop_guard_ending(NULL, 5);
	be_held();
}

static void end_that_has_begun_is_bounded_and_keeps_its_status(void **state)
{
	struct life life = live(ends_slowly);

	assert_ended(&life, 5);
	assert_non_null(strstr(life.log, "the end is held up"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_main_thread_does_not_hold_the_end),
		cmocka_unit_test(held_log_does_not_hold_the_end_either),
		cmocka_unit_test(signal_is_left_to_the_main_thread),
		cmocka_unit_test(end_that_has_begun_is_bounded_and_keeps_its_status),
	};

	return cmocka_run_group_tests_name("stop-guard", tests, NULL, NULL);
}
