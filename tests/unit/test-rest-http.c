// SPDX-License-Identifier: BSD-2-Clause
/* The loop of opensm-rest, beside a libmicrohttpd that always has made room for one more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rest/http/http_internal.h"

#define WITHOUT_END 1000 /* runs in one turn of the loop */

static struct http *http;
static unsigned runs;

/* In the place of the library's: in a flood each run closes a connection. */
enum MHD_Result MHD_run(struct MHD_Daemon *daemon)
{
	http->listeners[0].has_room = ++runs < WITHOUT_END;
	return MHD_YES;
}

/* Never called. */
static const struct rest_endpoint no_endpoints[] = { { 0 } };
static struct rest_backend no_backend;
static const struct rest_policy no_policy;

static struct login *open_login(void)
{
	char path[] = "/tmp/test-rest-http.XXXXXX";
	struct fault fault;
	struct login *login;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	login = login_new(path, "", &fault);
	close(fd);
	unlink(path);
	assert_non_null(login);
	return login;
}

static void a_flood_of_connections_lets_the_loop_go_on(void **state)
{
	struct http_source source = { .endpoints = no_endpoints,
				      .backend = &no_backend,
				      .policy = &no_policy,
				      .login = open_login(),
				      .max_connections = 16,
				      .max_per_address = 16 };
	const struct rest_listen at = { .host = "127.0.0.1" };
	struct fault fault;
	sd_event *event;

	assert_true(sd_event_new(&event) >= 0);
	http = http_new(event, &source, &fault);
	assert_non_null(http);
	assert_int_equal(http_listen(http, &at, &fault), 0);
	/* Each turn comes at once, and ends. */
	for (unsigned turn = 0; turn < 5; turn++) {
		runs = 0;
		assert_true(sd_event_run(event, (uint64_t)(20 * MONO_S)) > 0);
		assert_in_range(runs, 1, 2);
	}
	http_free(http);
	login_free(source.login);
	sd_event_unref(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flood_of_connections_lets_the_loop_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
