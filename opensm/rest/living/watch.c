// SPDX-License-Identifier: BSD-2-Clause
/* The thread asks; the lock is held only to move news from it to the main thread. */
#include "rest/living/watch.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "api/json.h"
#include "client/client.h"
#include "page/page.h"
#include "util/mem.h"
#include "util/str.h"

#define PATIENCE      (5 * MONO_S) /* for one answer of the manager */
#define WAIT_MS	      500	   /* how long the thread may not hear that it is to end */
#define AGAIN_S	      2		   /* until the next try to reach a manager */
#define SETTLE	      (MONO_S / 2) /* from an event to the documents */
#define LOOK_APART    (1 * MONO_S)
#define LOOK_ANYWAY   (10 * MONO_S)
#define HISTORY_APART (60 * MONO_S)
#define EVENTS_MOST   50u /* in a second */
#define LINGER	      (60 * MONO_S)
#define NEWS_MAX      512u
#define DOCUMENTS     12u

/* A document as it was told last. */
struct document {
	const char *name;
	char *text;
};

struct watch {
	struct rest_backend *backend;
	pthread_t thread;
	int fd;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool wanted, stopping;
	mono_t until;			  /* while not wanted: until when to go on */
	struct watch_news news[NEWS_MAX]; /* a ring */
	size_t from, n;

	/* The thread's own. */
	struct document documents[DOCUMENTS];
	mono_t due, looked, history_at, second;
	unsigned events;     /* in this second */
	bool missed;	     /* events were left out since the last look, or not heard */
	bool is_history_due; /* an event was about a cable */
};

static mono_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (mono_t)ts.tv_sec * MONO_S + ts.tv_nsec / 1000;
}

/* ---- news ---------------------------------------------------------------------------------- */

/* When the main thread does not take them the oldest are dropped. */
static void add_news(struct watch *w, const char *name, bool lasts, const char *data)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&w->lock);
	if (w->n == NEWS_MAX) {
		free(w->news[w->from].data);
		w->from = (w->from + 1) % NEWS_MAX;
		w->n--;
	}
	w->news[(w->from + w->n++) % NEWS_MAX] =
		(struct watch_news){ .name = name, .lasts = lasts, .data = xstrdup(data) };
	pthread_mutex_unlock(&w->lock);
	while (write(w->fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static const char *text_of(struct json_object *o)
{
	return json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							 JSON_C_TO_STRING_NOSLASHESCAPE);
}

/* Tells a document that is another one than before; `o` is consumed. */
static void tell_document(struct watch *w, const char *name, struct json_object *o)
{
	const char *text = text_of(o);
	struct document *d = w->documents;

	while (d->name && d->name != name)
		d++;
	assert(d < w->documents + DOCUMENTS - 1);
	if (!d->text || strcmp(d->text, text) != 0) {
		free(d->text);
		*d = (struct document){ name, xstrdup(text) };
		add_news(w, name, true, text);
	}
	json_object_put(o);
}

static void forget_documents(struct watch *w)
{
	for (unsigned i = 0; i < DOCUMENTS; i++)
		free(w->documents[i].text);
	memset(w->documents, 0, sizeof(w->documents));
}

static void tell_manager(struct watch *w, const char *why_not)
{
	struct json_object *o = json_object_new_object();

	json_add_bool(o, "reachable", !why_not);
	json_add_str(o, "text", why_not);
	tell_document(w, "manager", o);
}

/* ---- documents ----------------------------------------------------------------------------- */

/* NULL: the manager does not answer it, or does not have it. */
static struct json_object *ask(struct watch *w, const char *method)
{
	struct rest_request q = { .now = clock_now(), .backend = w->backend };
	struct rest_error err;

	q.until = q.now + PATIENCE;
	return rest_call(&q, method, NULL, &err);
}

static void look_at_history(struct watch *w, mono_t now)
{
	struct json_object *history;

	if (!w->is_history_due && now - w->history_at < HISTORY_APART)
		return;
	history = ask(w, "CableHistory");
	w->is_history_due = false;
	w->history_at = now;
	if (history)
		tell_document(w, "history", page_compact_history(history));
	json_object_put(history);
}

/* What the page shows of the status: no counters that always grow. */
static struct json_object *head_of(struct json_object *status)
{
	static const char *const members[] = { "instance", "version", "state", "started" };
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		json_object_object_add(o, members[i], json_object_get(js_get(status, members[i])));
	return o;
}

static void tell_fabric(struct watch *w, struct json_object *status)
{
	struct json_object *o = json_object_new_object();
	_cleanup_free_ char *key = page_key(status);

	json_add_str(o, "key", key);
	tell_document(w, "fabric", o);
	if (w->missed)
		add_news(w, "again", false, "{}");
	w->missed = false;
}

static void look(struct watch *w, mono_t now)
{
	struct json_object *status = ask(w, "Status"), *o;

	w->looked = now;
	w->due = now + LOOK_ANYWAY;
	if (!status)
		return;
	tell_document(w, "status", head_of(status));
	for (const struct page_part *p = page_parts; p->member; p++) {
		o = p->is_small ? ask(w, p->method) : NULL;
		if (o)
			tell_document(w, p->member, o);
	}
	look_at_history(w, now);
	tell_fabric(w, status);
	json_object_put(status);
}

/* ---- events -------------------------------------------------------------------------------- */

/* Sweeps come all the time; the page has them from the status. */
static bool is_routine(struct json_object *event)
{
	const char *kind = js_str(event, "kind");

	return str_equal(kind, "sweep_start") || str_equal(kind, "discovered") ||
	       (str_equal(kind, "sweep_done") && str_equal(js_str(event, "sweep"), "light"));
}

static bool is_about_cables(const char *kind)
{
	return str_equal(kind, "link") || str_equal(kind, "health") || str_equal(kind, "mark") ||
	       str_equal(kind, "patch");
}

static void tell_event(struct watch *w, struct json_object *event, mono_t now)
{
	struct json_object *o;

	if (now - w->second >= MONO_S) {
		w->second = now;
		w->events = 0;
	}
	if (w->events++ >= EVENTS_MOST) {
		w->missed = true;
		return;
	}
	o = json_object_new_object();
	json_add_str(o, "kind", js_str(event, "kind"));
	json_add_str(o, "time", js_str(event, "time"));
	json_add_str(o, "text", js_str(event, "text"));
	add_news(w, "event", false, text_of(o));
	json_object_put(o);
}

static void take_answer(struct watch *w, struct json_object *answer)
{
	struct json_object *event = js_get(js_get(answer, "parameters"), "event");
	mono_t now = clock_now(), at = MAX(now + SETTLE, w->looked + LOOK_APART);

	if (!event || is_routine(event))
		return;
	if (is_about_cables(js_str(event, "kind")))
		w->is_history_due = true;
	tell_event(w, event, now);
	w->due = MIN(w->due, at);
}

/* ---- the thread ---------------------------------------------------------------------------- */

static bool is_wanted(struct watch *w)
{
	bool ret;

	pthread_mutex_lock(&w->lock);
	ret = !w->stopping && (w->wanted || clock_now() < w->until);
	pthread_mutex_unlock(&w->lock);
	return ret;
}

/* As long as the manager is there, and a stream that wants its news. */
static void follow(struct watch *w, struct client *cl)
{
	w->due = clock_now();
	w->is_history_due = true;
	/* Between the last connection and this one there may have been events. */
	w->missed = w->looked > 0;
	while (is_wanted(w)) {
		mono_t left = MAX(w->due - clock_now(), (mono_t)0) / MONO_MS;
		struct json_object *answer = NULL;
		int r = client_receive(cl, (int)MIN(left, (mono_t)WAIT_MS), &answer);

		if (r == 0)
			take_answer(w, answer);
		json_object_put(answer);
		if (r < 0 && r != -ETIMEDOUT) {
			tell_manager(w, "the subnet manager has ended the connection");
			return;
		}
		if (clock_now() >= w->due)
			look(w, clock_now());
	}
}

/* Waits until a stream wants news. False: the end. */
static bool await_wish(struct watch *w)
{
	bool ret;

	pthread_mutex_lock(&w->lock);
	while (!w->wanted && !w->stopping)
		pthread_cond_wait(&w->wake, &w->lock);
	ret = !w->stopping;
	pthread_mutex_unlock(&w->lock);
	return ret;
}

static void pause_before_next_try(struct watch *w)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += AGAIN_S;
	pthread_mutex_lock(&w->lock);
	if (!w->stopping)
		pthread_cond_timedwait(&w->wake, &w->lock, &until);
	pthread_mutex_unlock(&w->lock);
}

static void *run_thread(void *arg)
{
	struct watch *w = arg;
	struct rest_error err;

	while (await_wish(w)) {
		struct client *cl =
			w->backend->follow(w->backend, "Monitor", clock_now() + PATIENCE, &err);

		forget_documents(w);
		tell_manager(w, cl ? NULL : err.text);
		if (cl)
			follow(w, cl);
		client_close(cl);
		if (is_wanted(w))
			pause_before_next_try(w);
	}
	return NULL;
}

/* ---- the main thread's --------------------------------------------------------------------- */

struct watch *watch_new(struct rest_backend *b)
{
	struct watch *w = xcalloc(1, sizeof(*w));
	pthread_condattr_t attr;
	int r;

	assert(b && b->follow);
	w->backend = b;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &attr);
	pthread_condattr_destroy(&attr);
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = w->fd < 0 ? errno : pthread_create(&w->thread, NULL, run_thread, w);
	if (!r)
		return w;
	if (w->fd >= 0)
		close(w->fd);
	free(w);
	errno = r;
	return NULL;
}

struct watch *watch_free(struct watch *w)
{
	struct watch_news news;

	if (!w)
		return NULL;
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	while (watch_take(w, &news))
		free(news.data);
	forget_documents(w);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	close(w->fd);
	free(w);
	return NULL;
}

void watch_want(struct watch *w, bool wanted)
{
	pthread_mutex_lock(&w->lock);
	if (w->wanted && !wanted)
		w->until = clock_now() + LINGER;
	w->wanted = wanted;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

int watch_fd(const struct watch *w)
{
	return w->fd;
}

bool watch_take(struct watch *w, struct watch_news *ret)
{
	bool found;
	uint64_t n;

	if (read(w->fd, &n, sizeof(n)) < 0 && errno != EAGAIN && errno != EINTR)
		return false;
	pthread_mutex_lock(&w->lock);
	found = w->n > 0;
	if (found) {
		*ret = w->news[w->from];
		w->from = (w->from + 1) % NEWS_MAX;
		w->n--;
	}
	pthread_mutex_unlock(&w->lock);
	return found;
}
