// SPDX-License-Identifier: BSD-2-Clause
/*
 * Streams of events (server-sent events of HTML): one answer that never ends by itself, fed with
 * what http_publish() is given.
 *
 *   begin --> SENDING --nothing left--> suspended --published, or a heartbeat is due--> SENDING
 *
 * Events are kept in a ring; a stream is a place in it. libmicrohttpd asks for bytes on the main
 * thread when the socket has room, so a slow reader costs nothing but its place: when the ring has
 * gone past it the stream ends, as it does when nothing was taken for some time (conns.c). The
 * browser connects again and names the last event that it has.
 *
 * Some events last: a new stream gets the last one of each name first, and so knows how things are.
 */
#include "rest/http/http_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "util/str.h"

#define STREAMS_MAX	 64u
#define STREAMS_PER_USER 8u
#define RING		 256u	    /* events that are kept */
#define RING_BYTES	 (4u << 20) /* most bytes of them, but for the last one */
#define LASTING		 16u	    /* names of events that last */
#define LIFE		 (300 * MONO_S)
#define HEARTBEAT	 (15 * MONO_S)
#define LOOK		 (5 * MONO_S)
#define BLOCK		 (16u << 10)

/* An event as it is sent; kept as long as it is referred to. */
struct frame {
	unsigned refs;
	size_t len;
	char text[];
};

struct stream {
	struct stream *next;
	struct streams *all;
	struct conn *conn;
	struct MHD_Connection *connection;
	char user[USER_NAME_MAX + 1];
	mono_t begun, moved; /* moved: when bytes were last given */
	bool is_suspended, is_over;
	unsigned lasting,
		n_lasting;   /* lasting events that it was given, of those it is to get first */
	uint64_t at;	     /* the next event */
	struct frame *frame; /* the one that is being sent; NULL: none */
	size_t sent;	     /* bytes of it */
	bool wants_beat;
};

struct streams {
	struct http *http;
	struct stream *list;
	unsigned n;
	char epoch[17]; /* of the numbers of events: drawn at the start */
	struct frame *ring[RING];
	uint64_t from, to; /* numbers of the events in the ring, and of the next one */
	size_t bytes;
	struct lasting {
		char name[16];
		struct frame *frame;
	} lasting[LASTING];
	unsigned n_lasting;
	struct frame *beat;
	sd_event_source *timer;
	bool is_ending;
};

/* ---- frames -------------------------------------------------------------------------------- */

static struct frame *frame_new(const char *text)
{
	size_t len = strlen(text);
	struct frame *f = xmalloc(sizeof(*f) + len + 1);

	*f = (struct frame){ .refs = 1, .len = len };
	memcpy(f->text, text, len + 1);
	return f;
}

static struct frame *frame_ref(struct frame *f)
{
	f->refs++;
	return f;
}

static struct frame *frame_unref(struct frame *f)
{
	if (f && --f->refs == 0)
		free(f);
	return NULL;
}

static void forget_first(struct streams *all)
{
	struct frame **f = &all->ring[all->from++ % RING];

	all->bytes -= (*f)->len;
	*f = frame_unref(*f);
}

static void keep_last(struct streams *all, const char *name, struct frame *f)
{
	struct lasting *l = all->lasting;

	while (l < all->lasting + all->n_lasting && strcmp(l->name, name))
		l++;
	assert(l < all->lasting + LASTING && strlen(name) < sizeof(l->name));
	if (l == all->lasting + all->n_lasting) {
		all->n_lasting++;
		memcpy(l->name, name, strlen(name) + 1);
	}
	frame_unref(l->frame);
	l->frame = frame_ref(f);
}

/* ---- what a stream is given ---------------------------------------------------------------- */

static void wake(struct stream *s)
{
	if (!s->is_suspended)
		return;
	s->is_suspended = false;
	s->moved = http_now(s->all->http);
	conn_enter(s->conn, CONN_STREAM);
	MHD_resume_connection(s->connection);
}

/* The next event; NULL: there is none. */
static struct frame *next_frame(struct stream *s)
{
	struct streams *all = s->all;

	if (s->lasting < s->n_lasting)
		return frame_ref(all->lasting[s->lasting++].frame);
	if (s->at < all->to)
		return frame_ref(all->ring[s->at++ % RING]);
	if (!s->wants_beat)
		return NULL;
	s->wants_beat = false;
	return frame_ref(all->beat);
}

static bool is_over(const struct stream *s)
{
	return s->is_over || s->all->is_ending || s->at < s->all->from;
}

/* Called by libmicrohttpd when there is room for bytes. 0: suspended. */
static ssize_t give(void *arg, uint64_t at, char *ret, size_t max)
{
	struct stream *s = arg;
	size_t len;

	if (!s->frame && is_over(s))
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!s->frame) {
		s->frame = next_frame(s);
		s->sent = 0;
	}
	s->moved = http_now(s->all->http);
	if (!s->frame) {
		s->is_suspended = true;
		conn_enter(s->conn, CONN_WAITING);
		MHD_suspend_connection(s->connection);
		return 0;
	}
	conn_enter(s->conn, CONN_STREAM);
	len = MIN(max, s->frame->len - s->sent);
	memcpy(ret, s->frame->text + s->sent, len);
	s->sent += len;
	if (s->sent == s->frame->len)
		s->frame = frame_unref(s->frame);
	return (ssize_t)len;
}

/* ---- life ---------------------------------------------------------------------------------- */

static void tell_number(const struct streams *all)
{
	const struct http_source *source = &all->http->source;

	if (source->streams_changed)
		source->streams_changed(source->arg, all->n);
}

/* Called by libmicrohttpd when the connection is gone. */
static void on_end(void *arg)
{
	struct stream *s = arg, **at = &s->all->list;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	s->all->n--;
	tell_number(s->all);
	frame_unref(s->frame);
	free(s);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *arg)
{
	struct streams *all = arg;
	mono_t now = http_now(all->http);

	for (struct stream *s = all->list; s; s = s->next) {
		if (now - s->begun > LIFE)
			s->is_over = true;
		else if (s->is_suspended && now - s->moved >= HEARTBEAT)
			s->wants_beat = true;
		else
			continue;
		wake(s);
	}
	sd_event_source_set_time_relative(source, (uint64_t)LOOK);
	sd_event_source_set_enabled(source, all->n ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
	http_run(all->http);
	return 0;
}

struct streams *streams_new(struct http *h)
{
	struct streams *all = xcalloc(1, sizeof(*all));
	uint8_t epoch[8];

	all->http = h;
	all->from = all->to = 1;
	all->beat = frame_new(": \n\n");
	secret_random(epoch, sizeof(epoch));
	secret_to_hex(epoch, sizeof(epoch), all->epoch);
	if (sd_event_add_time_relative(h->event, &all->timer, CLOCK_MONOTONIC, (uint64_t)LOOK, 0,
				       on_timer, all) >= 0)
		sd_event_source_set_enabled(all->timer, SD_EVENT_OFF);
	return all;
}

void streams_end(struct streams *all)
{
	if (!all)
		return;
	all->is_ending = true;
	for (struct stream *s = all->list; s; s = s->next)
		wake(s);
}

struct streams *streams_free(struct streams *all)
{
	if (!all)
		return NULL;
	assert(!all->list);
	while (all->from < all->to)
		forget_first(all);
	for (unsigned i = 0; i < all->n_lasting; i++)
		frame_unref(all->lasting[i].frame);
	frame_unref(all->beat);
	sd_event_source_disable_unref(all->timer);
	free(all);
	return NULL;
}

/* ---- the begin ----------------------------------------------------------------------------- */

/* The place behind the event that the browser has; 0: it names none, or one that is forgotten. */
static uint64_t place_behind(const struct streams *all, const char *last)
{
	size_t len = strlen(all->epoch);
	uint64_t n;

	if (!last || strncmp(last, all->epoch, len) || last[len] != '-' ||
	    str_to_u64(last + len + 1, 10, UINT64_MAX - 1, &n) < 0)
		return 0;
	return n + 1 >= all->from && n < all->to ? n + 1 : 0;
}

static bool has_room(const struct streams *all, const char *user)
{
	unsigned own = 0;

	for (const struct stream *s = all->list; s; s = s->next)
		if (!strcmp(s->user, user))
			own++;
	return all->n < STREAMS_MAX && own < STREAMS_PER_USER && !all->is_ending;
}

static struct stream *add_stream(struct exchange *x)
{
	struct streams *all = x->http->streams;
	const char *last =
		MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Last-Event-ID");
	uint64_t at = place_behind(all, last);
	struct stream *s = xcalloc(1, sizeof(*s));

	*s = (struct stream){ .next = all->list,
			      .all = all,
			      .conn = x->conn,
			      .connection = x->connection,
			      .begun = http_now(x->http),
			      .moved = http_now(x->http),
			      .n_lasting = at ? 0 : all->n_lasting,
			      .at = at ? at : all->to };
	memcpy(s->user, x->user, sizeof(s->user));
	all->list = s;
	all->n++;
	sd_event_source_set_time_relative(all->timer, (uint64_t)LOOK);
	sd_event_source_set_enabled(all->timer, SD_EVENT_ONESHOT);
	tell_number(all);
	return s;
}

enum MHD_Result streams_begin(struct exchange *x)
{
	enum MHD_Result result = MHD_NO;
	struct MHD_Response *r;
	struct stream *s;

	if (x->request.method != REST_GET) {
		rest_answer_error(&x->answer, 405, "GET is expected");
		return exchange_send(x);
	}
	if (!has_room(x->http->streams, x->user)) {
		rest_answer_error(&x->answer, 503, "too many streams of this user, or of all");
		rest_answer_header(&x->answer, "Retry-After", "5");
		return exchange_send(x);
	}
	s = add_stream(x);
	r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, give, s, on_end);
	x->stage = EXCHANGE_SENT;
	conn_enter(x->conn, CONN_STREAM);
	if (!r) {
		on_end(s);
		return MHD_NO;
	}
	MHD_add_response_header(r, "Content-Type", "text/event-stream");
	add_common_headers(x, r);
	result = MHD_queue_response(x->connection, 200, r);
	MHD_destroy_response(r);
	return result;
}

/* ---- publishing ---------------------------------------------------------------------------- */

void http_publish(struct http *h, const char *name, bool lasts, const char *data)
{
	struct streams *all = h->streams;
	_cleanup_free_ char *text = NULL;
	struct frame *f;

	assert(name && data && !strpbrk(data, "\r\n"));
	text = xasprintf("id: %s-%" PRIu64 "\nevent: %s\ndata: %s\n\n", all->epoch, all->to, name,
			 data);
	f = frame_new(text);
	if (lasts)
		keep_last(all, name, f);
	if (all->to - all->from == RING)
		forget_first(all);
	all->ring[all->to++ % RING] = f;
	all->bytes += f->len;
	while (all->bytes > RING_BYTES && all->from + 1 < all->to)
		forget_first(all);
}

void http_flush(struct http *h)
{
	for (struct stream *s = h->streams->list; s; s = s->next)
		wake(s);
	http_run(h);
}
