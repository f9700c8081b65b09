// SPDX-License-Identifier: BSD-2-Clause
/*
 * The control socket: rights of a peer, one call of a peer at a time, long answers on the thread
 * that renders, and events to the peers that follow them. Calls are understood in control/.
 *
 * What a document is made from is collected in turns of a ms or two, between which the event loop
 * does what else waits. Copies are paced: callers that ask for documents all the time do not hold
 * up MADs.
 *
 * Root, the user of the daemon and members of control_group may read; the first two may act.
 * Members of control_tenant_group may read, and change partitions; those of control_links_group may
 * read, and take links out of service. Any other peer gets an error that says so, and is closed.
 *
 * Calls of partitions may be long, and are answered later by the manager (struct control_ticket).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control/control.h"
#include "daemon/listen.h"
#include "daemon/stream.h"
#include "daemon/timer.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

#define PEERS_MAX	 64
#define PEERS_PER_USER	 16
/* Of PEERS_MAX: places for root and ourselves alone; callers that may monitor events at a time. */
#define PEERS_OF_ROOT	 8
#define FOLLOWERS_MAX	 48
/* Answers of methods that answer at once; documents are given as a whole. */
#define UNSENT_MAX	 (16u * 1024 * 1024)
/* A caller that follows events, and has as many bytes unread, misses some. */
#define FOLLOW_UNSENT	 (8u * 1024 * 1024)
/* Calls that may come at once; one more after each REFILL us. A long one counts as many. */
#define TOKENS_MAX	 100
#define REFILL		 (10 * MONO_MS)
#define BYTES_PER_TOKEN	 1024
/* Of callers that may change partitions; as many may be in the middle of a long call at a time. */
#define BYTES_PER_TOKEN_LONG (16u * 1024)
#define LONG_CALLS_MAX	     8
#define LONG_CALLS_PER_USER  2
#define LONG_CALLS_OF_ROOT   2
#define LONG_CALL_TIME	     (10 * MONO_S) /* from its first bytes to its last */

struct peer {
	struct peer *next;
	struct listen_control *of;
	struct stream *stream;
	bool has[CONTROL_RIGHTS]; /* enum control_right; without READ none */
	int tokens;
	struct control_call call; /* under way: waits for its turn, is rendered, or follows */
	uint64_t turn;		  /* waits for a document: the lowest is next; 0: does not */
	bool follows, missed;
	unsigned follow_state;
	struct rendering *rendering;
	bool awaits; /* `ticket` is with the method of the call */
	struct control_ticket ticket;
};

/* A document on its way through the thread. Outlives the peer that asked. */
struct rendering {
	struct sm_job job;
	struct listen_control *of;
	struct peer *peer; /* NULL: the caller is gone */
	const struct control_method *method;
	void *snapshot;
	bool is_collecting; /* the thread does not have it yet */
	char *text;
	size_t len;
};

struct listen_control {
	const struct daemon_api *api;
	struct stream_hub *streams;
	sd_event_source *refill, *next_copy; /* the next turn, or the next document */
	struct pace copies;
	struct peer *peers;
	struct rendering *running;
	uint64_t turns;
	struct members {
		bool exists;
		gid_t id;
	} group, tenants, links; /* control_group, control_tenant_group, control_links_group */
	char *busy;
};

/* ---- answers ------------------------------------------------------------------------------- */

static void send_error(struct peer *p, struct control_error *err)
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

static void on_render(struct sm_job *job)
{
	struct rendering *r = (struct rendering *)job;
	struct control_error err = { 0 };
	struct json_object *answer = r->method->render(r->snapshot, &err);

	r->text =
		answer ? control_reply(answer, false, &r->len) : control_error_reply(&err, &r->len);
}

static void start_next(struct listen_control *w);

static void on_rendered(struct sm_job *job)
{
	struct rendering *r = (struct rendering *)job;
	struct listen_control *w = r->of;
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

static void fail_call(struct peer *p, struct control_error *err)
{
	if (!p->call.oneway)
		send_error(p, err);
	end_call(p);
}

/* Drops the snapshot in progress; `err` is sent to its caller, if there is still one. */
static void stop_collecting(struct listen_control *w, struct control_error *err)
{
	struct rendering *r = take(w->running);

	if (r->method->drop)
		r->method->drop(r->snapshot);
	if (r->peer) {
		r->peer->rendering = NULL;
		fail_call(r->peer, err);
	}
	free(r);
}

/* Collects for one turn. A complete snapshot is passed to the thread. */
static void collect_some(struct listen_control *w)
{
	struct rendering *r = w->running;
	const mono_t began = daemon_api_now(w->api);
	struct control_error err = { 0 };
	enum control_collected got = CONTROL_FAILED;

	if (r->peer)
		got = r->method->collect ? r->method->collect(r->snapshot, w->api, &err)
					 : CONTROL_COLLECTED;
	pace_worked(&w->copies, began, daemon_api_now(w->api));
	switch (got) {
	case CONTROL_MORE:
		timer_in(w->next_copy, 0);
		return;
	case CONTROL_FAILED:
		stop_collecting(w, &err);
		timer_in(w->next_copy, 0);
		return;
	case CONTROL_COLLECTED:
		r->is_collecting = false;
		w->api->submit(w->api->arg, &r->job);
	}
}

/* False: there was no snapshot, and the peer got the error. */
static bool start_rendering(struct listen_control *w, struct peer *p)
{
	const struct control_method *m = p->call.method;
	const mono_t began = daemon_api_now(w->api);
	struct control_error err = { 0 };
	void *snapshot = m->snapshot(m, w->api, p->call.parameters, &err);
	struct rendering *r;

	pace_worked(&w->copies, began, daemon_api_now(w->api));
	p->turn = 0;
	if (!snapshot) {
		fail_call(p, &err);
		return false;
	}
	r = xcalloc(1, sizeof(*r));
	*r = (struct rendering){
		.job = { .run = on_render,
			 .done = on_rendered,
			 .what = "an answer of the control socket" },
		.of = w,
		.peer = p,
		.method = m,
		.snapshot = snapshot,
		.is_collecting = true,
	};
	p->rendering = w->running = r;
	collect_some(w);
	return true;
}

/* Starts the next snapshot, one at a time, in the order of the calls. */
static void start_next(struct listen_control *w)
{
	while (!w->running) {
		struct peer *next = NULL;
		mono_t wait;

		for (struct peer *p = w->peers; p; p = p->next)
			if (p->turn && (!next || p->turn < next->turn))
				next = p;
		if (!next)
			return;
		wait = pace_wait(&w->copies, daemon_api_now(w->api));
		if (wait) {
			timer_in(w->next_copy, wait);
			return;
		}
		if (start_rendering(w, next))
			return;
	}
}

static int on_next_copy(sd_event_source *source, uint64_t usec, void *arg)
{
	struct listen_control *w = arg;

	if (w->running && w->running->is_collecting)
		collect_some(w);
	else
		start_next(w);
	return 0;
}

/* ---- calls --------------------------------------------------------------------------------- */

static void log_act(const struct peer *p)
{
	log_info("control socket: %s asks for %s %s", stream_name(p->stream), p->call.method->name,
		 json_object_to_json_string_ext(p->call.parameters, JSON_C_TO_STRING_PLAIN));
}

/* False: as many follow as may, and the caller got the error. */
static bool may_follow(struct peer *p)
{
	struct control_error err = { 0 };
	unsigned n = 0;

	for (const struct peer *other = p->of->peers; other; other = other->next)
		n += other->follows;
	if (n < FOLLOWERS_MAX)
		return true;
	control_fail(&err, "Busy", "%d callers follow events already, no more may at a time",
		     FOLLOWERS_MAX);
	send_error(p, &err);
	end_call(p);
	return false;
}

static void answer_now(struct peer *p)
{
	struct control_error err = { 0 };
	bool wants_more = p->call.more && p->call.method->follow && !p->call.oneway;
	struct json_object *answer;

	if (wants_more && p->call.method->only_more && !may_follow(p))
		return;
	answer = p->call.method->answer(p->of->api, p->call.parameters, &err);
	if (answer && wants_more) {
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

/* ---- answers that come later --------------------------------------------------------------- */

static void on_ticket_end(struct control_ticket *t, struct json_object *answer,
			  struct control_error *err)
{
	struct peer *p = t->owner;

	p->awaits = false;
	if (p->call.oneway) {
		json_object_put(answer ? answer : err->more);
	} else if (answer) {
		send_answer(p, answer, false);
	} else {
		send_error(p, err);
	}
	end_call(p);
}

static void answer_later(struct peer *p)
{
	struct control_error err = { 0 };

	p->ticket = (struct control_ticket){
		.api = p->of->api,
		.uid = stream_peer(p->stream).uid,
		.name = stream_name(p->stream),
		.end = on_ticket_end,
		.owner = p,
	};
	p->awaits = p->call.method->begin(&p->ticket, p->call.parameters, &err);
	if (!p->awaits) {
		on_ticket_end(&p->ticket, NULL, &err);
		return;
	}
	/* The parameters may be long, and the method has copied them. */
	json_object_put(p->call.parameters);
	p->call.parameters = NULL;
}

/* The manager is about to go. */
static void end_awaiting(struct peer *p)
{
	struct control_error err = { 0 };

	if (!p->awaits)
		return;
	p->call.method->leave(&p->ticket);
	control_fail(&err, "NotReady",
		     "the port of the manager is gone, and how %s ended is not known",
		     p->call.method->name);
	on_ticket_end(&p->ticket, NULL, &err);
}

/* ---- rights -------------------------------------------------------------------------------- */

/* The group whose members may call the method; NULL: none. */
static const char *group_of(const struct listen_control *w, const struct control_method *m)
{
	const struct conf *c = w->api->conf;

	if (m->right == CONTROL_TENANT && w->tenants.exists)
		return c->control_tenant_group;
	return m->right == CONTROL_LINKS && w->links.exists ? c->control_links_group : NULL;
}

static void deny(struct peer *p)
{
	const char *group = group_of(p->of, p->call.method);
	struct control_error err = { 0 };

	control_fail(&err, "Denied",
		     "%s is for root%s the user that runs opensm%s%.64s; you are uid %u",
		     p->call.method->name, group ? "," : " and",
		     group ? " and members of group " : "", group ? group : "",
		     stream_peer(p->stream).uid);
	send_error(p, &err);
	end_call(p);
}

static void serve_call(struct peer *p)
{
	stream_hold(p->stream, true);
	if (!p->has[p->call.method->right]) {
		deny(p);
		return;
	}
	if (p->call.method->right == CONTROL_ACT)
		log_act(p);
	if (p->call.method->answer) {
		answer_now(p);
	} else if (p->call.method->begin) {
		answer_later(p);
	} else {
		p->turn = ++p->of->turns;
		start_next(p->of);
	}
}

static void start_refill(struct listen_control *w)
{
	if (sd_event_source_get_enabled(w->refill, NULL) > 0)
		return;
	timer_in(w->refill, REFILL * TOKENS_MAX / 10);
}

static int on_refill(sd_event_source *source, uint64_t usec, void *arg)
{
	struct listen_control *w = arg;
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

static void refuse_long(struct peer *p, size_t len)
{
	size_t max = p->has[CONTROL_TENANT] ? CONTROL_LONG_MAX : CONTROL_MESSAGE_MAX;
	struct control_error err = { 0 };

	if (len > max)
		control_fail(&err, "BadMessage", "a call has at most %zu bytes", max);
	else
		control_fail(&err, "Busy", "%d callers, or %d of one user, send calls of more than "
			     "%u bytes already",
			     LONG_CALLS_MAX - LONG_CALLS_OF_ROOT, LONG_CALLS_PER_USER,
			     CONTROL_MESSAGE_MAX);
	send_error(p, &err);
}

static void on_message(void *arg, struct stream *s, char *text, size_t len)
{
	struct peer *p = stream_user(s);
	struct control_error err = { 0 };
	int r;

	p->tokens -= 1 + (int)(len / (p->has[CONTROL_TENANT] ? BYTES_PER_TOKEN_LONG
							     : BYTES_PER_TOKEN));
	start_refill(p->of);
	if (!text) {
		refuse_long(p, len);
		return;
	}
	r = control_parse(text, len, &p->call, &err);
	if (r == 0) {
		serve_call(p);
		return;
	}
	send_error(p, &err);
	if (r == -EBADMSG)
		stream_finish(s);
	else
		stream_hold(s, p->tokens <= 0);
}

/* ---- peers --------------------------------------------------------------------------------- */

static bool is_member(const struct peer *p, const struct members *g)
{
	return g->exists && stream_peer_in_group(p->stream, g->id);
}

static void find_rights(struct peer *p)
{
	const struct stream_peer caller = stream_peer(p->stream);
	const struct listen_control *w = p->of;
	bool acts = caller.known && (caller.uid == 0 || caller.uid == geteuid());

	p->has[CONTROL_ACT] = acts;
	p->has[CONTROL_TENANT] = acts || is_member(p, &w->tenants);
	p->has[CONTROL_LINKS] = acts || is_member(p, &w->links);
	p->has[CONTROL_READ] = p->has[CONTROL_TENANT] || p->has[CONTROL_LINKS] ||
			       is_member(p, &w->group);
	stream_allow_long(p->stream,
			  p->has[CONTROL_TENANT] ? CONTROL_LONG_MAX : CONTROL_MESSAGE_MAX);
}

static bool on_opened(void *arg, struct stream *s)
{
	struct listen_control *w = arg;
	const struct stream_peer caller = stream_peer(s);
	struct peer *p = xcalloc(1, sizeof(*p));
	struct control_error err = { 0 };

	p->of = w;
	p->stream = s;
	p->tokens = TOKENS_MAX;
	p->next = w->peers;
	w->peers = p;
	stream_set_user(s, p);
	find_rights(p);
	if (p->has[CONTROL_READ])
		return true;
	control_fail(&err, "Denied",
		     "uid %u may not look at opensm: root may, the user that runs it%s%s%s",
		     caller.uid, w->group.exists ? ", and members of group " : "",
		     w->group.exists ? w->api->conf->control_group : "",
		     w->group.exists ? "" : " (control_group in opensm.conf lets others)");
	send_error(p, &err);
	return false;
}

static bool is_idle(void *arg, const struct stream *s)
{
	const struct peer *p = stream_user(s);

	return !p->call.method;
}

static void on_closed(void *arg, struct stream *s, const char *why)
{
	struct listen_control *w = arg;
	struct peer *p = stream_user(s), **at = &w->peers;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	if (p->rendering)
		p->rendering->peer = NULL;
	if (p->awaits)
		p->call.method->leave(&p->ticket);
	log_debug("control socket: %s %s", stream_name(s), why);
	control_call_clear(&p->call);
	free(p);
}

/* ---- events -------------------------------------------------------------------------------- */

static void send_event(struct peer *p, const struct sm_event *event)
{
	const struct control_following f = {
		.api = p->of->api,
		.parameters = p->call.parameters,
		.missed = p->missed,
	};
	struct json_object *answer;
	bool last = false;

	if (event && stream_unsent(p->stream) > FOLLOW_UNSENT &&
	    event->kind != SM_EVENT_SWEEP_DONE) {
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

void listen_control_event(struct listen_control *w, const struct sm_event *event)
{
	if (!w)
		return;
	for (struct peer *p = w->peers; p; p = p->next)
		if (p->follows)
			send_event(p, event);
}

/* Ends snapshots in progress, as they refer to the manager. */
static void end_collecting(struct listen_control *w)
{
	struct control_error err = { 0 };

	if (!w || !w->running || !w->running->is_collecting)
		return;
	control_fail(&err, "NotReady", "the port of the manager is gone, ask again");
	stop_collecting(w, &err);
	timer_in(w->next_copy, 0);
}

void listen_control_sm_gone(struct listen_control *w)
{
	end_collecting(w);
	listen_control_event(w, NULL);
	for (struct peer *p = w ? w->peers : NULL; p; p = p->next)
		end_awaiting(p);
}

/* ---- opening and closing ------------------------------------------------------------------- */

/* A group that only the default names need not be there. */
static struct members find_group(const struct listen_control *w, enum conf_id id, const char *name,
			       const char *what)
{
	bool is_named = name && name[0];
	struct members g = { 0 };

	g.exists = is_named && control_group_id(name, &g.id);
	if (is_named && !g.exists && !conf_value_is_default(w->api->conf, id))
		log_error("%s: there is no group '%s': only root and uid %u %s",
			  conf_option(id)->name, name, geteuid(), what);
	return g;
}

static void find_groups(struct listen_control *w)
{
	const struct conf *c = w->api->conf;

	w->group = find_group(w, CONF_ID_control_group, c->control_group, "have access");
	w->tenants = find_group(w, CONF_ID_control_tenant_group, c->control_tenant_group,
				"may change partitions");
	w->links = find_group(w, CONF_ID_control_links_group, c->control_links_group,
			      "may take links out of service");
}

void listen_control_reconfigure(struct listen_control *w)
{
	if (!w)
		return;
	find_groups(w);
	for (struct peer *p = w->peers; p; p = p->next) {
		find_rights(p);
		if (!p->has[CONTROL_READ])
			stream_drop(p->stream, "may not look any more");
	}
}

/* NULL: none is wanted. To be freed. */
static char *socket_path(const struct daemon_api *api)
{
	const char *option = api->conf->control_socket;

	if (option && str_equal(option, "off"))
		return NULL;
	if (option && option[0])
		return xstrdup(option);
	if (!api->run_dir)
		return NULL;
	return xasprintf("%s/%s.sock", api->run_dir, api->instance);
}

static int listen_at(struct listen_control *w, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *dir = slash && slash != path ?
					   xasprintf("%.*s", (int)(slash - path), path) :
					   NULL;

	if (dir)
		file_mkdirs(dir, 0755);
	return stream_listen_unix(w->streams, path, 0666);
}

static struct stream_hub *new_streams(sd_event *event, struct listen_control *w)
{
	struct control_error err = { 0 };
	size_t busy_len;

	control_fail(&err, "Busy", "%d callers at a time, %d of one user, are the most",
		     PEERS_MAX, PEERS_PER_USER);
	w->busy = control_error_reply(&err, &busy_len);
	const struct stream_config config = {
		.end = '\0',
		.max_peers = PEERS_MAX,
		.max_per_uid = PEERS_PER_USER,
		.reserved = PEERS_OF_ROOT,
		.max_message = CONTROL_MESSAGE_MAX,
		.max_long = LONG_CALLS_MAX,
		.max_long_per_uid = LONG_CALLS_PER_USER,
		.reserved_long = LONG_CALLS_OF_ROOT,
		.long_time = LONG_CALL_TIME,
		.max_unsent = UNSENT_MAX,
		.busy = w->busy,
		.busy_len = busy_len,
		.is_idle = is_idle,
		.opened = on_opened,
		.message = on_message,
		.closed = on_closed,
		.arg = w,
	};

	return stream_hub_new(event, &config);
}

static int start_listening(struct listen_control *w, sd_event *event, const char *path)
{
	int r = timer_new(event, &w->refill, on_refill, w);

	if (r >= 0)
		r = timer_new(event, &w->next_copy, on_next_copy, w);
	if (r < 0)
		return r;
	w->streams = new_streams(event, w);
	return w->streams ? listen_at(w, path) : -ENOMEM;
}

struct listen_control *listen_control_open(sd_event *event, const struct daemon_api *api)
{
	_cleanup_free_ char *path = socket_path(api);
	struct listen_control *w;
	int r;

	if (!path)
		return NULL;
	w = xcalloc(1, sizeof(*w));
	w->api = api;
	find_groups(w);
	r = start_listening(w, event, path);
	if (r >= 0)
		return w;
	log_info("no control socket at %s: %s; opensmctl does not reach this manager", path,
		 r == -EADDRINUSE ? "another opensm listens there, or it is no socket"
				  : strerror(-r));
	return listen_control_close(w);
}

struct listen_control *listen_control_close(struct listen_control *w)
{
	if (!w)
		return NULL;
	end_collecting(w);
	stream_hub_free(w->streams);
	sd_event_source_disable_unref(w->refill);
	sd_event_source_disable_unref(w->next_copy);
	free(w->busy);
	free(w);
	return NULL;
}
