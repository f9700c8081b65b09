// SPDX-License-Identifier: BSD-2-Clause
/* Streams of events on a real socket: what a reader gets, and which streams end. */
#include <crypt.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <unistd.h>

#include <cmocka.h>

#include "rest/http/http_internal.h"

#define LOGIN	 "Authorization: Basic YW5uOnB3\r\n" /* ann:pw */
#define BEHIND	 300				     /* more events than are kept */
#define PATIENCE 20000				     /* ms */

static const struct rest_endpoint no_endpoints[] = { { 0 } };
static struct rest_backend no_backend;
static const struct rest_policy no_policy;

struct world {
	sd_event *event;
	struct http_source source;
	struct http *http;
	uint16_t port;
	unsigned streams; /* as told last */
};

static void on_streams(void *arg, unsigned n)
{
	((struct world *)arg)->streams = n;
}

static struct login *open_login(void)
{
	char path[] = "/tmp/test-rest-streams.XXXXXX";
	struct fault fault;
	struct login *login;
	FILE *out = fdopen(mkstemp(path), "w");

	assert_non_null(out);
	/* The cheapest hash there is. */
	fprintf(out, "ann:%s:read\n", crypt("pw", "$6$rounds=1000$saltsalt$"));
	fclose(out);
	login = login_new(path, "", &fault);
	unlink(path);
	assert_non_null(login);
	return login;
}

static int set_up(void **state)
{
	static const struct http_file files[] = { { "/", "text/html", "<p>" }, { 0 } };
	const struct rest_listen at = { .host = "127.0.0.1" };
	struct world *w = xcalloc(1, sizeof(*w));
	struct fault fault;

	assert_true(sd_event_new(&w->event) >= 0);
	w->source = (struct http_source){ .endpoints = no_endpoints,
					  .backend = &no_backend,
					  .policy = &no_policy,
					  .login = open_login(),
					  .max_connections = 64,
					  .max_per_address = 64,
					  .files = files,
					  .streams_changed = on_streams,
					  .arg = w };
	w->http = http_new(w->event, &w->source, &fault);
	assert_non_null(w->http);
	assert_int_equal(http_listen(w->http, &at, &fault), 0);
	w->port =
		MHD_get_daemon_info(w->http->listeners[0].daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	http_free(w->http);
	login_free(w->source.login);
	sd_event_unref(w->event);
	free(w);
	return 0;
}

/* Runs the server until there is something to read, or the other end is closed. */
static void serve_until_readable(struct world *w, int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	for (unsigned i = 0; i < PATIENCE && poll(&pfd, 1, 0) <= 0; i++)
		sd_event_run(w->event, 1000);
}

static int connect_to(struct world *w)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons(w->port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* A request for the stream, with a further header, or "". */
static int follow(struct world *w, const char *header)
{
	int fd = connect_to(w);
	char text[400];
	int len = snprintf(text, sizeof(text),
			   "GET /ufmRest/events HTTP/1.1\r\nHost: x\r\n" LOGIN "%s\r\n", header);

	assert_int_equal(send(fd, text, (size_t)len, MSG_NOSIGNAL), len);
	return fd;
}

/* Reads until `what` has come. False: the stream has ended before. */
static bool hear(struct world *w, int fd, char *text, size_t size, const char *what)
{
	size_t len = strlen(text);

	while (!strstr(text, what)) {
		ssize_t n;

		serve_until_readable(w, fd);
		n = recv(fd, text + len, size - 1 - len, MSG_DONTWAIT);
		if (n <= 0)
			return false;
		len += (size_t)n;
		text[len] = '\0';
	}
	return true;
}

static void publish(struct world *w, const char *name, bool lasts, const char *data)
{
	http_publish(w->http, name, lasts, data);
	http_flush(w->http);
}

static void a_stream_has_what_lasts_and_what_comes(void **state)
{
	struct world *w = *state;
	char text[8192] = "";
	int fd;

	publish(w, "status", true, "{\"n\":1}");
	publish(w, "event", false, "{\"old\":1}");
	publish(w, "status", true, "{\"n\":2}");
	fd = follow(w, "");
	assert_true(hear(w, fd, text, sizeof(text), "{\"n\":2}"));
	assert_non_null(strstr(text, "200 OK"));
	assert_non_null(strstr(text, "event: status\n"));
	assert_null(strstr(text, "{\"n\":1}"));
	assert_null(strstr(text, "{\"old\":1}"));
	assert_int_equal(w->streams, 1);
	publish(w, "event", false, "{\"new\":1}");
	assert_true(hear(w, fd, text, sizeof(text), "{\"new\":1}"));
	close(fd);
}

static void the_next_stream_goes_on_behind_the_last_event(void **state)
{
	struct world *w = *state;
	char text[8192] = "", id[80] = "", header[120];
	int fd = follow(w, "");

	publish(w, "status", true, "{\"n\":1}");
	assert_true(hear(w, fd, text, sizeof(text), "{\"n\":1}\n"));
	assert_int_equal(sscanf(strstr(text, "id: "), "id: %79s", id), 1);
	close(fd);
	publish(w, "event", false, "{\"missed\":1}");
	snprintf(header, sizeof(header), "Last-Event-ID: %s\r\n", id);
	text[0] = '\0';
	fd = follow(w, header);
	assert_true(hear(w, fd, text, sizeof(text), "{\"missed\":1}"));
	assert_null(strstr(text, "{\"n\":1}"));
	close(fd);
	/* Of another process, or no number at all: all that lasts. */
	text[0] = '\0';
	fd = follow(w, "Last-Event-ID: 0123456789abcdef-1\r\n");
	assert_true(hear(w, fd, text, sizeof(text), "{\"n\":1}"));
	close(fd);
}

static void a_stream_that_falls_behind_ends(void **state)
{
	struct world *w = *state;
	char text[8192] = "";
	int fd = follow(w, "");

	publish(w, "status", true, "{\"n\":1}");
	assert_true(hear(w, fd, text, sizeof(text), "{\"n\":1}"));
	/* Not one run of the server between them. */
	for (unsigned i = 0; i < BEHIND; i++)
		http_publish(w->http, "event", false, "{}");
	http_flush(w->http);
	assert_true(hear(w, fd, text, sizeof(text), "\r\n0\r\n\r\n"));
	assert_int_equal(w->streams, 0);
	close(fd);
}

static void a_user_has_a_number_of_streams(void **state)
{
	struct world *w = *state;
	char text[8192];
	int fds[9];

	publish(w, "status", true, "{\"n\":1}");
	for (unsigned i = 0; i < 8; i++) {
		text[0] = '\0';
		fds[i] = follow(w, "");
		assert_true(hear(w, fds[i], text, sizeof(text), "{\"n\":1}"));
	}
	text[0] = '\0';
	fds[8] = follow(w, "");
	assert_true(hear(w, fds[8], text, sizeof(text), "too many streams"));
	assert_non_null(strstr(text, " 503 "));
	for (unsigned i = 0; i < 9; i++)
		close(fds[i]);
}

static void streams_end_with_the_server(void **state)
{
	struct world *w = *state;
	char text[8192] = "";
	int fd = follow(w, "");

	publish(w, "status", true, "{\"n\":1}");
	assert_true(hear(w, fd, text, sizeof(text), "{\"n\":1}"));
	http_quiesce(w->http);
	assert_int_equal(http_busy(w->http), 0);
	assert_true(hear(w, fd, text, sizeof(text), "\r\n0\r\n\r\n"));
	close(fd);
}

static void the_page_needs_no_user(void **state)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	struct world *w = *state;
	char text[8192] = "";
	int fd = connect_to(w);

	assert_int_equal(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL), sizeof(request) - 1);
	assert_true(hear(w, fd, text, sizeof(text), "<p>"));
	assert_non_null(strstr(text, "Content-Security-Policy: default-src 'none'"));
	close(fd);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(a_stream_has_what_lasts_and_what_comes),
		CASE(the_next_stream_goes_on_behind_the_last_event),
		CASE(a_stream_that_falls_behind_ends),
		CASE(a_user_has_a_number_of_streams),
		CASE(streams_end_with_the_server),
		CASE(the_page_needs_no_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
