// SPDX-License-Identifier: BSD-2-Clause
/* What becomes news of a manager that is followed: documents that changed, events, its end. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/client.h"
#include "rest/living/watch.h"
#include "tests/lib/scratch.h"
#include "util/mem.h"

#define PATIENCE 20000 /* ms */

/* The manager: a socket for Monitor, and documents by method. */
struct world {
	char dir[SCRATCH_PATH], path[SCRATCH_PATH + 16];
	int listener, peer;
	struct rest_backend backend;
	struct watch *watch;
	pthread_mutex_t lock; /* of what is below */
	unsigned edits, alarms, calls;
};

static struct json_object *document(struct world *w, const char *method)
{
	_cleanup_free_ char *text = NULL;

	if (!strcmp(method, "Status"))
		text = xasprintf(
			"{\"state\":\"MASTER\",\"started\":\"x\",\"subnet\":{\"edits\":%u},"
			"\"uptime_seconds\":%u}",
			w->edits, w->calls);
	else if (!strcmp(method, "Alarms"))
		text = xasprintf("{\"faults\":%u}", w->alarms);
	return text ? json_tokener_parse(text) : NULL;
}

static struct json_object *call(struct rest_backend *b, const struct rest_request *q,
				const char *method, struct json_object *parameters,
				struct rest_error *err)
{
	struct world *w = b->arg;
	struct json_object *o;

	pthread_mutex_lock(&w->lock);
	w->calls++;
	o = document(w, method);
	pthread_mutex_unlock(&w->lock);
	return o;
}

static struct client *follow(struct rest_backend *b, const char *method, mono_t until,
			     struct rest_error *err)
{
	struct world *w = b->arg;
	struct client *cl = client_open_within(w->path, 1000);

	if (!cl)
		snprintf(err->text, sizeof(err->text), "there is no manager");
	return cl;
}

static int set_up(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	scratch_folder(w->dir);
	snprintf(w->path, sizeof(w->path), "%s/one.sock", w->dir);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", w->path);
	w->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(w->listener, (const struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(w->listener, 4), 0);
	w->peer = -1;
	pthread_mutex_init(&w->lock, NULL);
	w->backend = (struct rest_backend){ .call = call, .follow = follow, .arg = w };
	w->watch = watch_new(&w->backend);
	assert_non_null(w->watch);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	watch_free(w->watch);
	if (w->peer >= 0)
		close(w->peer);
	if (w->listener >= 0)
		close(w->listener);
	unlink(w->path);
	scratch_remove(w->dir);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return 0;
}

static void is_followed(struct world *w)
{
	struct pollfd pfd = { .fd = w->listener, .events = POLLIN };

	watch_want(w->watch, true);
	assert_true(poll(&pfd, 1, PATIENCE) > 0);
	w->peer = accept(w->listener, NULL, NULL);
	assert_true(w->peer >= 0);
}

/* The next news of this name, whose data the caller frees; others count in `others`. */
static char *news(struct world *w, const char *name, unsigned *others)
{
	struct pollfd pfd = { .fd = watch_fd(w->watch), .events = POLLIN };
	struct watch_news n;

	for (;;) {
		while (watch_take(w->watch, &n)) {
			if (!strcmp(n.name, name))
				return n.data;
			if (others)
				++*others;
			free(n.data);
		}
		assert_true(poll(&pfd, 1, PATIENCE) > 0);
	}
}

static void hears(struct world *w, const char *name, const char *data)
{
	_cleanup_free_ char *found = news(w, name, NULL);

	assert_string_equal(found, data);
}

static void happens(struct world *w, const char *kind, unsigned times)
{
	_cleanup_free_ char *text = xasprintf("{\"continues\":true,\"parameters\":{\"event\":{"
					      "\"kind\":\"%s\",\"time\":\"t\",\"text\":\"x\"}}}",
					      kind);

	for (unsigned i = 0; i < times; i++)
		assert_true(send(w->peer, text, strlen(text) + 1, MSG_NOSIGNAL) > 0);
}

static void set(struct world *w, unsigned *what, unsigned value)
{
	pthread_mutex_lock(&w->lock);
	*what = value;
	pthread_mutex_unlock(&w->lock);
}

static void nothing_is_asked_while_no_stream_wants_it(void **state)
{
	struct world *w = *state;
	struct watch_news n;

	assert_int_equal(w->calls, 0);
	assert_false(watch_take(w->watch, &n));
}

static void documents_that_changed_are_news(void **state)
{
	struct world *w = *state;
	unsigned others = 0;
	char *found;

	is_followed(w);
	hears(w, "manager", "{\"reachable\":true,\"text\":null}");
	hears(w, "status",
	      "{\"instance\":null,\"version\":null,\"state\":\"MASTER\",\"started\":\"x\"}");
	hears(w, "alarms", "{\"faults\":0}");
	hears(w, "fabric", "{\"key\":\"x/0/0\"}");
	set(w, &w->alarms, 2);
	set(w, &w->edits, 7);
	happens(w, "alarm", 1);
	hears(w, "event", "{\"kind\":\"alarm\",\"time\":\"t\",\"text\":\"x\"}");
	/* Between them: nothing, as the status is the same but for its time. */
	hears(w, "alarms", "{\"faults\":2}");
	found = news(w, "fabric", &others);
	assert_string_equal(found, "{\"key\":\"x/7/0\"}");
	assert_int_equal(others, 0);
	free(found);
}

static void sweeps_are_no_news(void **state)
{
	struct world *w = *state;

	is_followed(w);
	happens(w, "sweep_start", 3);
	happens(w, "node", 1);
	hears(w, "event", "{\"kind\":\"node\",\"time\":\"t\",\"text\":\"x\"}");
}

static void of_a_flood_the_first_are_told(void **state)
{
	struct world *w = *state;
	unsigned others = 0;

	is_followed(w);
	hears(w, "fabric", "{\"key\":\"x/0/0\"}");
	happens(w, "link", 300);
	free(news(w, "again", &others));
	assert_in_range(others, 1, 200);
}

static void a_manager_that_ends_is_news(void **state)
{
	struct world *w = *state;

	is_followed(w);
	hears(w, "manager", "{\"reachable\":true,\"text\":null}");
	close(w->listener);
	close(w->peer);
	w->listener = w->peer = -1;
	hears(w, "manager",
	      "{\"reachable\":false,\"text\":\"the subnet manager has ended the connection\"}");
	hears(w, "manager", "{\"reachable\":false,\"text\":\"there is no manager\"}");
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(nothing_is_asked_while_no_stream_wants_it),
		CASE(documents_that_changed_are_news),
		CASE(sweeps_are_no_news),
		CASE(of_a_flood_the_first_are_told),
		CASE(a_manager_that_ends_is_news),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
