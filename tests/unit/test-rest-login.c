// SPDX-License-Identifier: BSD-2-Clause
/* Logins with passwords: what a client that works is spared, and what a guess costs. */
#include <crypt.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rest/auth/verified.h"
#include "rest/http/login.h"

#define NOW	(1000 * MONO_S)
#define GUESSES 45 /* of one user: fifty are free */

struct world {
	char path[40];
	struct login *login;
};

static enum login_verdict verdict_of_last;

static void on_checked(struct login_check *c, enum login_verdict verdict)
{
	verdict_of_last = verdict;
}

static int set_up(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	struct fault fault;
	FILE *out;

	snprintf(w->path, sizeof(w->path), "/tmp/test-rest-login.XXXXXX");
	out = fdopen(mkstemp(w->path), "w");
	assert_non_null(out);
	/* The cheapest hash there is. */
	fprintf(out, "ann:%s:tenant\n", crypt("pw-ann", "$6$rounds=1000$saltsalt$"));
	fprintf(out, "bob:%s:tenant\n", crypt("pw-bob", "$6$rounds=1000$saltsalt$"));
	fclose(out);
	w->login = login_new(w->path, "", &fault);
	if (!w->login)
		fail_msg("%s", fault.text);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	login_free(w->login);
	unlink(w->path);
	free(w);
	return 0;
}

struct attempt {
	enum login_verdict at_once, verdict;
};

static struct attempt log_in(struct world *w, const char *user, const char *password,
			     const char *address, mono_t now)
{
	struct login_check c = { .on_checked = on_checked };
	struct pollfd pfd = { .fd = login_fd(w->login), .events = POLLIN };
	struct attempt a;

	snprintf(c.address, sizeof(c.address), "%s", address);
	snprintf(c.given.user, sizeof(c.given.user), "%s", user);
	snprintf(c.given.password, sizeof(c.given.password), "%s", password);
	a.at_once = a.verdict = login_by_password(w->login, &c, now);
	verdict_of_last = LOGIN_PENDING;
	while (a.at_once == LOGIN_PENDING && verdict_of_last == LOGIN_PENDING) {
		assert_int_equal(poll(&pfd, 1, 20000), 1);
		login_run(w->login);
		a.verdict = verdict_of_last;
	}
	return a;
}

static void guess(struct world *w, const char *user, unsigned n, mono_t now)
{
	char address[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(address, sizeof(address), "10.0.0.%u", i);
		assert_int_equal(log_in(w, user, "x", address, now).verdict, LOGIN_REFUSED);
	}
}

static void a_password_that_is_used_is_not_computed_again(void **state)
{
	mono_t now = NOW;

	assert_int_equal(log_in(*state, "ann", "pw-ann", "a", now).at_once, LOGIN_PENDING);
	for (; now < NOW + 3 * VERIFIED_LIFE; now += VERIFIED_LIFE / 2)
		assert_int_equal(log_in(*state, "ann", "pw-ann", "a", now).at_once, LOGIN_OK);
	now += VERIFIED_LIFE;
	assert_int_equal(log_in(*state, "ann", "pw-ann", "a", now).at_once, LOGIN_PENDING);
}

static void guesses_of_a_neighbour_do_not_delay_a_password_that_was_right(void **state)
{
	mono_t now = NOW + 2 * VERIFIED_LIFE;
	unsigned n = 0;

	assert_int_equal(log_in(*state, "ann", "pw-ann", "a", NOW).verdict, LOGIN_OK);
	while (log_in(*state, "ann", "x", "a", now).at_once != LOGIN_LATER)
		assert_true(n++ < GUESSES);
	assert_int_equal(log_in(*state, "bob", "pw-bob", "a", now).at_once, LOGIN_LATER);
	assert_int_equal(log_in(*state, "ann", "pw-ann", "a", now).verdict, LOGIN_OK);
	assert_int_equal(log_in(*state, "ann", "pw-ann", "a", now).at_once, LOGIN_OK);
}

static void a_right_password_forgives_the_failures_of_its_user(void **state)
{
	guess(*state, "ann", GUESSES, NOW);
	assert_int_equal(log_in(*state, "ann", "pw-ann", "a", NOW).verdict, LOGIN_OK);
	guess(*state, "ann", GUESSES, NOW + 1);
	assert_int_equal(log_in(*state, "ann", "x", "b", NOW + 2).verdict, LOGIN_REFUSED);
}

static void a_reload_forgets_what_was_verified(void **state)
{
	struct world *w = *state;
	struct fault fault;

	assert_int_equal(log_in(w, "ann", "pw-ann", "a", NOW).verdict, LOGIN_OK);
	assert_int_equal(login_reload(w->login, w->path, &fault), 0);
	assert_int_equal(log_in(w, "ann", "pw-ann", "a", NOW).at_once, LOGIN_PENDING);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(a_password_that_is_used_is_not_computed_again),
		T(guesses_of_a_neighbour_do_not_delay_a_password_that_was_right),
		T(a_right_password_forgives_the_failures_of_its_user),
		T(a_reload_forgets_what_was_verified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
