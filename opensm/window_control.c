// SPDX-License-Identifier: BSD-2-Clause
/*
 * The control socket: who may come, one call of a peer at a time, long answers on a thread of the
 * windows, and events to whoever follows them. What calls mean is ctl/control*.c.
 *
 * A peer reads: root, who runs us, members of control_group. The first two may act. Everybody else is
 * told so, and let go.
 */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/control.h"
#include "streams.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"
#include "windows.h"

#define PEERS_MAX	 64
#define PEERS_PER_USER	 16
/* Answers of methods that answer at once; documents are given as a whole. */
#define UNSENT_MAX	 (16u * 1024 * 1024)
/* Who follows events, and has as many bytes before him, misses some. */
#define FOLLOW_UNSENT	 (8u * 1024 * 1024)
/* Calls that may come at once; one more after each REFILL us. A long one counts as many. */
#define TOKENS_MAX	 100
#define REFILL		 (10 * MONO_MS)
#define BYTES_PER_TOKEN	 1024
#define GROUP_BUFFER	 (64 * 1024)

struct peer {
	struct peer *next;
	struct window_control *of;
	struct stream *stream;
	bool may_act;
	int tokens;
	struct control_call call; /* under way: waits for its turn, is rendered, or follows */
	uint64_t turn; /* waits for a document: who has the lowest is next; 0: does not */
	bool follows, missed;
	unsigned follow_state;
	struct rendering *rendering;
};

/* A document on its way through the thread. Outlives the peer that asked. */
struct rendering {
	struct sm_job job;
	struct window_control *of;
	struct peer *peer; /* NULL: it is gone */
	const struct control_method *method;
	void *snapshot;
	char *text;
	size_t len;
};

struct window_control {
	const struct scene *scene;
	struct streams *streams;
	sd_event_source *refill;
	struct peer *peers;
	struct rendering *running;
	uint64_t turns;
	bool has_group;
	gid_t group;
	char *busy;
};

/* ---- answers ------------------------------------------------------------------------------- */

static void send_error(struct peer *p, const struct control_error *err)
{
	size_t len;
	char *text = control_error_reply(err, &len);

	stream_send(p->stream, text, len);
	free(text);
}

static void send_answer(struct peer *p, struct json_object *answer, bool continues)
{
	size_t len;
	char *text = control_reply(answer, continues, &len);

	stream_send(p->stream, text, len);
	free(text);
}

/* The call is over: the next one may be read. */
static void end_call(struct peer *p)
{
	control_call_clear(&p->call);
	p->turn = 0;
	p->follows = p->missed = false;
	stream_hold(p->stream, p->tokens <= 0);
}

/* ---- documents ----------------------------------------------------------------------------- */

static void render(struct sm_job *job)
{
	struct rendering *r = (struct rendering *)job;
	struct control_error err = { 0 };
	struct json_object *answer = r->method->render(r->snapshot, &err);

	r->text = answer ? control_reply(answer, false, &r->len) : control_error_reply(&err, &r->len);
}

static void start_next(struct window_control *w);

static void rendered(struct sm_job *job)
{
	struct rendering *r = (struct rendering *)job;
	struct window_control *w = r->of;
	struct peer *p = r->peer;
	bool orphan = job->orphan;

	if (r->method->drop)
		r->method->drop(r->snapshot);
	w->running = NULL;
	if (p) {
		p->rendering = NULL;
		if (!p->call.oneway)
			stream_give(p->stream, take(r->text), r->len);
		end_call(p);
	}
	free(r->text);
	free(r);
	if (!orphan)
		start_next(w);
}

/* False: there was no snapshot, and the peer has been told. */
static bool start_rendering(struct window_control *w, struct peer *p)
{
	struct control_error err = { 0 };
	void *snapshot = p->call.method->snapshot(w->scene, p->call.parameters, &err);
	struct rendering *r;

	p->turn = 0;
	if (!snapshot) {
		if (!p->call.oneway)
			send_error(p, &err);
		end_call(p);
		return false;
	}
	r = xcalloc(1, sizeof(*r));
	*r = (struct rendering){
		.job = { .run = render, .done = rendered, .what = "an answer of the control socket" },
		.of = w,
		.peer = p,
		.method = p->call.method,
		.snapshot = snapshot,
	};
	p->rendering = w->running = r;
	w->scene->submit(w->scene->arg, &r->job);
	return true;
}

/* One at a time, in the order of asking. */
static void start_next(struct window_control *w)
{
	while (!w->running) {
		struct peer *next = NULL;

		for (struct peer *p = w->peers; p; p = p->next)
			if (p->turn && (!next || p->turn < next->turn))
				next = p;
		if (!next || start_rendering(w, next))
			return;
	}
}

/* ---- calls --------------------------------------------------------------------------------- */

static void log_act(const struct peer *p)
{
	log_info("control socket: %s asks for %s %s", stream_name(p->stream), p->call.method->name,
		 json_object_to_json_string_ext(p->call.parameters, JSON_C_TO_STRING_PLAIN));
}

static void answer_now(struct peer *p)
{
	struct control_error err = { 0 };
	struct json_object *answer =
		p->call.method->answer(p->of->scene, p->call.parameters, &err);

	if (answer && p->call.more && p->call.method->follow && !p->call.oneway) {
		if (json_object_object_length(answer))
			send_answer(p, answer, true);
		else
			json_object_put(answer);
		p->follows = true;
		p->follow_state = 0;
		return;
	}
	if (p->call.oneway)
		json_object_put(answer);
	else if (answer)
		send_answer(p, answer, false);
	else
		send_error(p, &err);
	end_call(p);
}

static void serve(struct peer *p)
{
	struct control_error err = { 0 };

	stream_hold(p->stream, true);
	if (p->call.method->right == CONTROL_ACT && !p->may_act) {
		control_fail(&err, "Denied",
			     "%s is for root and the user who runs opensm; you are uid %u",
			     p->call.method->name, stream_peer(p->stream).uid);
		send_error(p, &err);
		end_call(p);
		return;
	}
	if (p->call.method->right == CONTROL_ACT)
		log_act(p);
	if (p->call.method->answer) {
		answer_now(p);
	} else {
		p->turn = ++p->of->turns;
		start_next(p->of);
	}
}

static void start_refill(struct window_control *w)
{
	if (sd_event_source_get_enabled(w->refill, NULL) > 0)
		return;
	sd_event_source_set_time_relative(w->refill, REFILL * TOKENS_MAX / 10);
	sd_event_source_set_enabled(w->refill, SD_EVENT_ONESHOT);
}

static int on_refill(sd_event_source *source, uint64_t usec, void *arg)
{
	struct window_control *w = arg;
	bool is_full = true;

	for (struct peer *p = w->peers; p; p = p->next) {
		p->tokens = MIN(p->tokens + TOKENS_MAX / 10, TOKENS_MAX);
		is_full = is_full && p->tokens == TOKENS_MAX;
		if (p->tokens > 0 && !p->call.method)
			stream_hold(p->stream, false);
	}
	if (!is_full)
		start_refill(w);
	return 0;
}

static void on_message(void *arg, struct stream *s, char *text, size_t len)
{
	struct peer *p = stream_user(s);
	struct control_error err = { 0 };
	int r;

	p->tokens -= 1 + (int)(len / BYTES_PER_TOKEN);
	start_refill(p->of);
	if (!text) {
		control_fail(&err, "BadMessage", "a call has at most %u bytes",
			     CONTROL_MESSAGE_MAX);
		send_error(p, &err);
		return;
	}
	r = control_parse(text, len, &p->call, &err);
	if (r == 0) {
		serve(p);
		return;
	}
	send_error(p, &err);
	if (r == -EBADMSG)
		stream_finish(s);
	else
		stream_hold(s, p->tokens <= 0);
}

/* ---- peers --------------------------------------------------------------------------------- */

static bool may_look(const struct window_control *w, const struct peer *p)
{
	return p->may_act || (w->has_group && stream_peer_in_group(p->stream, w->group));
}

static bool on_opened(void *arg, struct stream *s)
{
	struct window_control *w = arg;
	const struct stream_peer who = stream_peer(s);
	bool may_act = who.known && (who.uid == 0 || who.uid == geteuid());
	struct peer *p = xcalloc(1, sizeof(*p));
	struct control_error err = { 0 };

	p->of = w;
	p->stream = s;
	p->may_act = may_act;
	p->tokens = TOKENS_MAX;
	p->next = w->peers;
	w->peers = p;
	stream_set_user(s, p);
	if (may_look(w, p))
		return true;
	control_fail(&err, "Denied", "uid %u may not look at opensm: root may, who runs it%s%s%s",
		     who.uid, w->has_group ? ", and members of group " : "",
		     w->has_group ? w->scene->conf->control_group : "",
		     w->has_group ? "" : " (control_group in opensm.conf lets others)");
	send_error(p, &err);
	return false;
}

static void on_closed(void *arg, struct stream *s, const char *why)
{
	struct window_control *w = arg;
	struct peer *p = stream_user(s), **at = &w->peers;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	if (p->rendering)
		p->rendering->peer = NULL;
	log_debug("control socket: %s %s", stream_name(s), why);
	control_call_clear(&p->call);
	free(p);
}

/* ---- events -------------------------------------------------------------------------------- */

static void tell(struct peer *p, const struct sm_event *event)
{
	const struct control_following f = {
		.scene = p->of->scene,
		.parameters = p->call.parameters,
		.missed = p->missed,
	};
	struct json_object *answer;
	bool last = false;

	if (event && stream_unsent(p->stream) > FOLLOW_UNSENT && event->kind != SM_EVENT_SWEEP_DONE) {
		p->missed = true;
		return;
	}
	answer = p->call.method->follow(&f, event, &p->follow_state, &last);
	if (answer) {
		p->missed = false;
		send_answer(p, answer, !last);
	}
	if (last)
		end_call(p);
}

void window_control_event(struct window_control *w, const struct sm_event *event)
{
	if (!w)
		return;
	for (struct peer *p = w->peers; p; p = p->next)
		if (p->follows)
			tell(p, event);
}

void window_control_sm_gone(struct window_control *w)
{
	window_control_event(w, NULL);
}

/* ---- opening and closing ------------------------------------------------------------------- */

/* May ask a directory service, hence only when the configuration changes. */
static void find_group(struct window_control *w)
{
	const char *name = w->scene->conf->control_group;
	_cleanup_free_ char *buffer = NULL;
	struct group group, *found = NULL;
	uint64_t gid;

	w->has_group = false;
	if (!name || !name[0])
		return;
	if (str_to_u64(name, 10, UINT32_MAX - 1, &gid) == 0) {
		w->group = (gid_t)gid;
		w->has_group = true;
		return;
	}
	buffer = xmalloc(GROUP_BUFFER);
	getgrnam_r(name, &group, buffer, GROUP_BUFFER, &found);
	if (found) {
		w->group = found->gr_gid;
		w->has_group = true;
		return;
	}
	log_error("control_group: there is no group '%s': nobody but root and uid %u may look at us",
		  name, geteuid());
}

void window_control_reconfigure(struct window_control *w)
{
	if (!w)
		return;
	find_group(w);
	for (struct peer *p = w->peers; p; p = p->next)
		if (!may_look(w, p))
			stream_drop(p->stream, "may not look any more");
}

/* NULL: none is wanted. To be freed. */
static char *socket_path(const struct scene *scene)
{
	const char *option = scene->conf->control_socket;

	if (option && str_equal(option, "off"))
		return NULL;
	if (option && option[0])
		return xstrdup(option);
	if (!scene->run_dir)
		return NULL;
	return xasprintf("%s/%s.sock", scene->run_dir, scene->instance);
}

static int listen_at(struct window_control *w, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *dir = slash && slash != path ?
					   xasprintf("%.*s", (int)(slash - path), path) :
					   NULL;

	if (dir)
		file_mkdirs(dir, 0755);
	return streams_listen_unix(w->streams, path, 0666);
}

static struct streams *new_streams(sd_event *event, struct window_control *w)
{
	struct control_error err = { 0 };
	size_t busy_len;

	control_fail(&err, "Busy", "%d callers at a time, %d of one user, are the most",
		     PEERS_MAX, PEERS_PER_USER);
	w->busy = control_error_reply(&err, &busy_len);
	const struct streams_config config = {
		.end = '\0',
		.max_peers = PEERS_MAX,
		.max_per_uid = PEERS_PER_USER,
		.max_message = CONTROL_MESSAGE_MAX,
		.max_unsent = UNSENT_MAX,
		.busy = w->busy,
		.busy_len = busy_len,
		.opened = on_opened,
		.message = on_message,
		.closed = on_closed,
		.arg = w,
	};

	return streams_new(event, &config);
}

static int start(struct window_control *w, sd_event *event, const char *path)
{
	int r = sd_event_add_time_relative(event, &w->refill, CLOCK_MONOTONIC, 0, 0, on_refill, w);

	if (r < 0)
		return r;
	sd_event_source_set_enabled(w->refill, SD_EVENT_OFF);
	w->streams = new_streams(event, w);
	return w->streams ? listen_at(w, path) : -ENOMEM;
}

struct window_control *window_control_open(sd_event *event, const struct scene *scene)
{
	_cleanup_free_ char *path = socket_path(scene);
	struct window_control *w;
	int r;

	if (!path)
		return NULL;
	w = xcalloc(1, sizeof(*w));
	w->scene = scene;
	find_group(w);
	r = start(w, event, path);
	if (r >= 0)
		return w;
	log_info("no control socket at %s: %s", path,
		 r == -EADDRINUSE ? "another opensm listens there, or it is no socket" :
				    strerror(-r));
	return window_control_close(w);
}

struct window_control *window_control_close(struct window_control *w)
{
	if (!w)
		return NULL;
	streams_free(w->streams);
	sd_event_source_disable_unref(w->refill);
	free(w->busy);
	free(w);
	return NULL;
}
