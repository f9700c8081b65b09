// SPDX-License-Identifier: BSD-2-Clause
/*
 * libmicrohttpd in external-epoll mode: its epoll descriptor and its timeout are sources of our
 * loop.
 */
#include "daemon/listen_metrics_http.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/stream.h"
#include "daemon/timer.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

/* Connections at a time; others wait in the kernel. */
#define CONNECTIONS	  64u
#define CONNECTION_MEMORY (32u << 10) /* bytes of memory for its headers */
/* Seconds without a byte; and for a request with its answer, in all. */
#define IDLE_LIMIT	  10u
#define PATIENCE	  (30 * MONO_S)
/* A request is there at once, or its sender means to hold a place. */
#define ASK_PATIENCE	  (5 * MONO_S)
#define LOOK_AGAIN	  (1 * MONO_S)
/* Bytes that are unpacked at once. */
#define PLAIN_PIECE	  65536u

#define PLAIN_TYPE	 "text/plain; version=0.0.4; charset=utf-8"
#define OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* A connection, from accept to close; in a list. */
struct conn {
	struct conn *next;
	struct MHD_Connection *connection;
	int fd;
	mono_t since; /* time of the connection, or of the end of its last answer */
	bool has_asked, sleeping, woken;
};

struct metrics_http {
	struct MHD_Daemon *daemon;
	sd_event_source *io, *timer;
	struct metrics_http_source source;
	struct conn *conns;
	bool has_room; /* a connection went since libmicrohttpd last ran */
	char *path;    /* path of the unix socket; NULL: TCP */
};

/* ---- pages ---------------------------------------------------------------------------------- */

struct metrics_page *metrics_page_new(struct gzip_text *text)
{
	struct metrics_page *p = xcalloc(1, sizeof(*p));

	*p = (struct metrics_page){ .refs = 1, .text = *text };
	*text = (struct gzip_text){ 0 };
	return p;
}

struct metrics_page *metrics_page_ref(struct metrics_page *p)
{
	p->refs++;
	return p;
}

struct metrics_page *metrics_page_unref(struct metrics_page *p)
{
	if (!p || --p->refs)
		return NULL;
	gzip_text_clear(&p->text);
	free(p);
	return NULL;
}

static void on_page_sent(void *page)
{
	metrics_page_unref(page);
}

/* Is this item of Accept-Encoding, "gzip;q=0.5", one that allows gzip? Its end is written to. */
static bool allows_gzip(char *item)
{
	char *quality = strchr(item, ';');

	if (quality)
		*quality++ = '\0';
	item = str_trim(item);
	if (strcasecmp(item, "gzip") && strcasecmp(item, "x-gzip") && strcmp(item, "*"))
		return false;
	quality = quality ? str_trim(quality) : NULL;
	return !quality || strncasecmp(quality, "q=", 2) || strtod(quality + 2, NULL) > 0;
}

bool metrics_http_takes_gzip(const char *accept_encoding)
{
	_cleanup_free_ char *copy = xstrdup(accept_encoding ? accept_encoding : "");
	char *rest = copy;

	for (char *item; (item = strsep(&rest, ","));)
		if (allows_gzip(item))
			return true;
	return false;
}

/* ---- requests ------------------------------------------------------------------------------- */

static enum MHD_Result answer_short(struct MHD_Connection *c, unsigned status, const char *text)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	MHD_add_response_header(r, "Content-Type", "text/plain; charset=utf-8");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, "Allow", "GET, HEAD");
	result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

/* A page on its way to a client that takes no gzip. */
struct plain {
	struct metrics_page *page;
	struct gzip_reader *reader;
};

static ssize_t on_plain_wanted(void *arg, uint64_t at, char *ret, size_t cap)
{
	struct plain *p = arg;
	ssize_t n = gzip_reader_next(p->reader, ret, cap);

	return n > 0	? n
	       : n == 0 ? MHD_CONTENT_READER_END_OF_STREAM
			: MHD_CONTENT_READER_END_WITH_ERROR;
}

static void on_plain_sent(void *arg)
{
	struct plain *p = arg;

	gzip_reader_free(p->reader);
	metrics_page_unref(p->page);
	free(p);
}

/* Takes the reference. NULL: libmicrohttpd cannot; nothing is held on to. */
static struct MHD_Response *plain_response(struct metrics_page *page)
{
	struct plain *p = xcalloc(1, sizeof(*p));
	struct MHD_Response *r = MHD_create_response_from_callback(
		page->text.plain_len, PLAIN_PIECE, on_plain_wanted, p, on_plain_sent);

	*p = (struct plain){ .page = page, .reader = gzip_reader_new(&page->text) };
	if (!r)
		on_plain_sent(p);
	return r;
}

/* As plain_response(). */
static struct MHD_Response *gzip_response(struct metrics_page *page)
{
	struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback_cls(
		page->text.len, page->text.bytes, on_page_sent, page);

	if (r)
		MHD_add_response_header(r, "Content-Encoding", "gzip");
	else
		metrics_page_unref(page);
	return r;
}

/* Takes the reference. */
static enum MHD_Result answer_page(struct MHD_Connection *c, struct metrics_page *page,
				   bool openmetrics)
{
	bool packed = metrics_http_takes_gzip(
		MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept-Encoding"));
	struct MHD_Response *r = packed ? gzip_response(page) : plain_response(page);
	enum MHD_Result result;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, "Content-Type", openmetrics ? OPENMETRICS_TYPE : PLAIN_TYPE);
	MHD_add_response_header(r, "Vary", "Accept, Accept-Encoding");
	result = MHD_queue_response(c, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return result;
}

static struct conn *conn_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *u =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return u ? u->socket_context : NULL;
}

static bool wants_openmetrics(struct MHD_Connection *c)
{
	const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");

	return accept && strstr(accept, "application/openmetrics-text");
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *body,
				  size_t *body_len, void **seen)
{
	struct metrics_http *h = arg;
	struct conn *g = conn_of(c);
	bool openmetrics = wants_openmetrics(c);
	struct metrics_page *page;

	if (!g)
		return MHD_NO;
	g->has_asked = true;
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return answer_short(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
	if (strcmp(url, "/metrics"))
		return answer_short(c, MHD_HTTP_NOT_FOUND, "there is /metrics\n");
	page = h->source.page(h->source.arg, openmetrics, g->woken);
	if (page)
		return answer_page(c, page, openmetrics);
	g->sleeping = true;
	MHD_suspend_connection(c);
	return MHD_YES;
}

static void on_completed(void *arg, struct MHD_Connection *c, void **seen,
			 enum MHD_RequestTerminationCode how)
{
	struct metrics_http *h = arg;
	struct conn *g = conn_of(c);

	if (!g)
		return;
	g->woken = g->sleeping = false;
	g->since = h->source.now(h->source.arg);
}

/* ---- conns --------------------------------------------------------------------------------- */

static void add_conn(struct metrics_http *h, struct MHD_Connection *c, void **context)
{
	const union MHD_ConnectionInfo *u =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct conn *g = xcalloc(1, sizeof(*g));

	*g = (struct conn){ .connection = c,
			    .fd = u ? u->connect_fd : -1,
			    .since = h->source.now(h->source.arg),
			    .next = h->conns };
	h->conns = g;
	*context = g;
}

static void forget_conn(struct metrics_http *h, struct conn *g)
{
	struct conn **at = &h->conns;

	while (*at && *at != g)
		at = &(*at)->next;
	if (*at)
		*at = g->next;
	h->has_room = true;
	free(g);
}

static void on_connection(void *arg, struct MHD_Connection *c, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	switch (what) {
	case MHD_CONNECTION_NOTIFY_STARTED:
		add_conn(arg, c, context);
		break;
	case MHD_CONNECTION_NOTIFY_CLOSED:
		forget_conn(arg, *context);
		*context = NULL;
		break;
	}
}

/* A connection that takes too long is closed; one that sleeps waits for a page of ours. */
static void close_slow(struct metrics_http *h)
{
	mono_t now = h->source.now(h->source.arg);

	for (struct conn *g = h->conns; g; g = g->next) {
		mono_t limit = g->has_asked ? PATIENCE : ASK_PATIENCE;

		if (!g->sleeping && g->fd >= 0 && now - g->since > limit)
			shutdown(g->fd, SHUT_RDWR);
	}
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void set_timer(struct metrics_http *h)
{
	mono_t in = h->conns ? LOOK_AGAIN : MONO_NEVER;
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(h->daemon, &ms) == MHD_YES)
		in = mono_min(in, (mono_t)ms * MONO_MS);
	if (in == MONO_NEVER)
		timer_at(h->timer, MONO_NEVER);
	else
		timer_in(h->timer, in);
}

static void run_http(struct metrics_http *h)
{
	close_slow(h);
	/*
	 * With all places taken libmicrohttpd stops listening, and begins again when it runs next:
	 * after the last conn went nothing else would make it run.
	 */
	do {
		h->has_room = false;
		MHD_run(h->daemon);
	} while (h->has_room);
	set_timer(h);
}

static int on_io(sd_event_source *s, int fd, uint32_t events, void *arg)
{
	run_http(arg);
	return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *arg)
{
	run_http(arg);
	return 0;
}

static void wake_all(struct metrics_http *h)
{
	for (struct conn *g = h->conns; g; g = g->next) {
		if (!g->sleeping)
			continue;
		g->sleeping = false;
		g->woken = true;
		MHD_resume_connection(g->connection);
	}
}

void metrics_http_ready(struct metrics_http *h)
{
	wake_all(h);
	run_http(h);
}

/* ---- opening -------------------------------------------------------------------------------- */

static void on_complaint(void *arg, const char *fmt, va_list args)
{
	char text[300], clean[300];

	vsnprintf(text, sizeof(text), fmt, args);
	log_debug("metrics: %s", str_printable(text, strlen(text), clean, sizeof(clean)));
}

/* "HOST:PORT" in two; false: it is none. */
static bool split_address(const char *address, char host[64], uint64_t *ret_port)
{
	const char *colon = strrchr(address, ':');
	size_t len = colon ? (size_t)(colon - address) : 0;

	if (!len || len >= 64 || str_to_u64(colon + 1, 10, 65535, ret_port) < 0 || !*ret_port)
		return false;
	if (address[0] == '[' && colon[-1] == ']') {
		address++;
		len -= 2;
	}
	snprintf(host, 64, "%.*s", (int)len, address);
	if (!strcmp(host, "localhost"))
		snprintf(host, 64, "127.0.0.1");
	return !strcmp(host, "::1") || str_starts(host, "127.");
}

#define EXPECTED                                                                                   \
	"expected 127.0.0.1:PORT, [::1]:PORT or the path of a socket; for other hosts use a "      \
	"proxy that authenticates clients"

/* Tries to listen on a free port of the same address, which disturbs no other listener. */
bool metrics_http_check(const char *address, char *why, size_t why_len)
{
	struct sockaddr_un at;
	char host[64];
	uint64_t port;
	int fd = 0;

	if (address[0] == '/' && strlen(address) >= sizeof(at.sun_path)) {
		snprintf(why, why_len, "a path of at most %zu characters is expected",
			 sizeof(at.sun_path) - 1);
		return false;
	}
	if (address[0] == '/') {
		_cleanup_free_ char *folder =
			xasprintf("%.*s", (int)(strrchr(address, '/') - address) + 1, address);

		if (access(folder, W_OK | X_OK) == 0)
			return true;
		snprintf(why, why_len, "%s: %s", folder, strerror(errno));
		return false;
	}
	if (!split_address(address, host, &port)) {
		snprintf(why, why_len, EXPECTED);
		return false;
	}
	fd = stream_bind_tcp(host, 0);
	if (fd < 0)
		snprintf(why, why_len, "%s", strerror(-fd));
	else
		close(fd);
	return fd >= 0;
}

static int bind_to(const char *address, char *why, size_t why_len)
{
	char host[64];
	uint64_t port;
	int fd;

	if (address[0] == '/') {
		fd = stream_bind_unix(address, 0666);
	} else if (split_address(address, host, &port)) {
		fd = stream_bind_tcp(host, (uint16_t)port);
	} else {
		snprintf(why, why_len, EXPECTED);
		return -EINVAL;
	}
	if (fd < 0)
		snprintf(why, why_len, "%s", strerror(-fd));
	return fd;
}

static int watch_daemon(struct metrics_http *h, sd_event *event)
{
	const union MHD_DaemonInfo *u = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	int r = u ? sd_event_add_io(event, &h->io, u->epoll_fd, EPOLLIN, on_io, h) : -EBADF;

	if (r >= 0)
		r = timer_new(event, &h->timer, on_timer, h);
	if (r >= 0)
		r = sd_event_source_set_priority(h->io, SD_EVENT_PRIORITY_IDLE);
	return r;
}

struct metrics_http *metrics_http_open(sd_event *event, const char *address,
				       const struct metrics_http_source *source, char *why,
				       size_t why_len)
{
	struct metrics_http *h;
	int fd = bind_to(address, why, why_len);

	assert(event && address && source && why && why_len);
	if (fd < 0)
		return NULL;
	if (listen(fd, (int)CONNECTIONS) < 0) {
		snprintf(why, why_len, "%s", strerror(errno));
		close(fd);
		return NULL;
	}
	h = xcalloc(1, sizeof(*h));
	h->source = *source;
	h->path = address[0] == '/' ? xstrdup(address) : NULL;
	h->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
		on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_complaint, NULL,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_LIMIT, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, h, MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_END);
	if (!h->daemon)
		close(fd);
	if (h->daemon && watch_daemon(h, event) >= 0)
		return h;
	snprintf(why, why_len, "libmicrohttpd does not start");
	return metrics_http_close(h);
}

struct metrics_http *metrics_http_close(struct metrics_http *h)
{
	if (!h)
		return NULL;
	sd_event_source_disable_unref(h->io);
	sd_event_source_disable_unref(h->timer);
	if (h->daemon) {
		wake_all(h);
		MHD_stop_daemon(h->daemon);
	}
	if (h->path)
		unlink(h->path);
	free(h->path);
	free(h);
	return NULL;
}
