// SPDX-License-Identifier: BSD-2-Clause
/* Calls of a manager that does not accept, does not read, or does not answer: each ends in time. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/json.h"
#include "rest/backend.h"
#include "rest/rest.h"
#include "util/mem.h"

#define SOON   (200 * MONO_MS)
#define CROWD  64

struct world {
	char dir[40], path[80];
	int listener;
	struct rest_backend backend;
	struct rest_request request;
	struct rest_error err;
};

static mono_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (mono_t)ts.tv_sec * MONO_S + ts.tv_nsec / 1000;
}

static int set_up(void **state)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct world *w = xcalloc(1, sizeof(*w));

	snprintf(w->dir, sizeof(w->dir), "/tmp/test-rest-backend.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	snprintf(w->path, sizeof(w->path), "%s/one.sock", w->dir);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", w->path);
	w->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(w->listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(w->listener, 1), 0);
	backend_open(&w->backend, w->path);
	w->request.backend = &w->backend;
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	close(w->listener);
	unlink(w->path);
	rmdir(w->dir);
	free(w);
	return 0;
}

/* A call that has `time` left and fails as `error`. */
static void fails(struct world *w, mono_t time, struct json_object *parameters, const char *error)
{
	w->request.until = clock_now() + time;
	assert_null(rest_call(&w->request, "ChangePartition", parameters, &w->err));
	assert_string_equal(w->err.name, error);
	assert_true(*w->err.text != '\0');
}

/* What the manager finds of the last connection: the number of bytes. */
static ssize_t bytes_of_call(struct world *w)
{
	char bytes[4096];
	ssize_t n, all = 0;
	int fd = accept(w->listener, NULL, NULL);

	if (fd < 0)
		return 0;
	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		all += n;
	close(fd);
	return all;
}

static void a_call_whose_time_is_over_is_not_sent(void **state)
{
	fails(*state, -MONO_S, NULL, "Unreachable");
	assert_int_equal(bytes_of_call(*state), 0);
	fails(*state, 0, NULL, "Unreachable");
	assert_int_equal(bytes_of_call(*state), 0);
}

static void a_manager_that_does_not_answer_costs_the_time_of_the_request(void **state)
{
	fails(*state, SOON, NULL, "Timeout");
	assert_true(bytes_of_call(*state) > 0);
}

static void a_manager_that_does_not_read_does_not_hold_the_caller(void **state)
{
	struct json_object *parameters = json_object_new_object();
	char *text = xmalloc(4u << 20);

	memset(text, 'x', 4u << 20);
	json_object_object_add(parameters, "text", json_object_new_string_len(text, 4 << 20));
	fails(*state, SOON, parameters, "Unreachable");
	free(text);
}

static void a_manager_that_does_not_accept_does_not_hold_the_caller(void **state)
{
	struct world *w = *state;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int crowd[CROWD], n = 0, r = 0;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", w->path);
	for (; n < CROWD && r == 0; n++) {
		crowd[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		r = connect(crowd[n], (struct sockaddr *)&at, sizeof(at));
	}
	assert_int_equal(r, -1);
	assert_int_equal(errno, EAGAIN);
	fails(w, SOON, NULL, "Unreachable");
	while (n)
		close(crowd[--n]);
}

/* Answers one call as unconfirmed. */
static void *answer_unconfirmed(void *arg)
{
	static const char answer[] = "{\"error\":\"org.opensm.Unconfirmed\",\"parameters\":"
				     "{\"generation\":42,\"changed\":true,\"text\":\"it is "
				     "stored\"}}";
	const struct world *w = arg;
	struct pollfd pfd = { .fd = w->listener, .events = POLLIN };
	char bytes[4096];
	int fd;

	assert_int_equal(poll(&pfd, 1, 10000), 1);
	fd = accept(w->listener, NULL, NULL);
	assert_true(fd >= 0 && recv(fd, bytes, sizeof(bytes), 0) > 0);
	assert_int_equal(send(fd, answer, sizeof(answer), 0), sizeof(answer));
	close(fd);
	return NULL;
}

/* What is stored has a generation, whatever devices say. */
static void an_unconfirmed_change_has_its_generation(void **state)
{
	struct world *w = *state;
	pthread_t manager;

	assert_int_equal(pthread_create(&manager, NULL, answer_unconfirmed, w), 0);
	fails(w, 10 * MONO_S, NULL, "Unconfirmed");
	pthread_join(manager, NULL);
	assert_true(w->err.changed);
	assert_int_equal(w->err.generation, 42);
	assert_string_equal(w->err.text, "it is stored");
}

static void no_manager_is_known_at_once(void **state)
{
	struct world *w = *state;

	unlink(w->path);
	fails(w, 60 * MONO_S, NULL, "Unreachable");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(a_call_whose_time_is_over_is_not_sent),
		T(a_manager_that_does_not_answer_costs_the_time_of_the_request),
		T(a_manager_that_does_not_read_does_not_hold_the_caller),
		T(a_manager_that_does_not_accept_does_not_hold_the_caller),
		T(an_unconfirmed_change_has_its_generation),
		T(no_manager_is_known_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
