// SPDX-License-Identifier: BSD-2-Clause
/* Opening, the loop, the end. Each listening address is a server of libmicrohttpd's. */
#include "rest/http/http_internal.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/str.h"

#define LOOK_AGAIN (1 * MONO_S)
#define BACKLOG	   128
#define IDLE_LIMIT 90u /* s; conns_close_slow() is first */
#define CIPHERS	   "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"

static const struct workers_limits work_limits = {
	.threads = 8,
	.queue = 512,
	.owner_threads = 4,
	.owner_queue = 64,
};

/* ---- the loop ------------------------------------------------------------------------------ */

static void set_timer(struct listener *listener)
{
	mono_t in = listener->http->conns ? LOOK_AGAIN : 60 * MONO_S;
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(listener->daemon, &ms) == MHD_YES)
		in = mono_min(in, (mono_t)ms * MONO_MS);
	if (listener->has_room)
		in = 0;
	sd_event_source_set_time_relative(listener->timer, (uint64_t)in);
	sd_event_source_set_enabled(listener->timer, SD_EVENT_ONESHOT);
}

static void run_listener(struct listener *listener)
{
	conns_close_slow(listener->http);
	/*
	 * With all places taken libmicrohttpd listens again only when it runs next. Twice at most:
	 * connections that come and go without end must not keep the loop from its other work.
	 */
	for (unsigned i = 0; i < 2 && (!i || listener->has_room); i++) {
		listener->has_room = false;
		MHD_run(listener->daemon);
	}
	set_timer(listener);
}

void http_run(struct http *h)
{
	for (unsigned i = 0; i < h->n_listeners; i++)
		run_listener(&h->listeners[i]);
}

static int on_io(sd_event_source *s, int fd, uint32_t events, void *listener)
{
	run_listener(listener);
	return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *listener)
{
	run_listener(listener);
	return 0;
}

static int on_work(sd_event_source *s, int fd, uint32_t events, void *arg)
{
	struct http *h = arg;

	workers_reap(h->workers);
	http_run(h);
	return 0;
}

static int on_login(sd_event_source *s, int fd, uint32_t events, void *arg)
{
	struct http *h = arg;

	login_run(h->source.login);
	http_run(h);
	return 0;
}

/* ---- opening ------------------------------------------------------------------------------- */

struct http *http_new(sd_event *event, const struct http_source *source, struct fault *fault)
{
	struct http *h = xcalloc(1, sizeof(*h));

	assert(event && source && source->endpoints && source->backend && source->policy &&
	       source->login && source->max_connections && source->max_per_address && fault);
	h->event = event;
	h->source = *source;
	audit_open(&h->audit);
	h->streams = streams_new(h);
	h->workers = workers_new(&work_limits);
	if (h->workers &&
	    sd_event_add_io(event, &h->work_io, workers_fd(h->workers), EPOLLIN, on_work, h) >= 0 &&
	    sd_event_add_io(event, &h->login_io, login_fd(source->login), EPOLLIN, on_login, h) >=
		    0)
		return h;
	snprintf(fault->text, sizeof(fault->text), "threads cannot be started");
	return http_free(h);
}

static int bind_socket(int fd, const struct rest_listen *at)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	const uint8_t port[2] = { (uint8_t)(at->port >> 8), (uint8_t)at->port };
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!strchr(at->host, ':')) {
		inet_pton(AF_INET, at->host, &v4.sin_addr);
		memcpy(&v4.sin_port, port, sizeof(port));
		return bind(fd, (const struct sockaddr *)&v4, sizeof(v4));
	}
	/* Lets [::] and 0.0.0.0 both be served. */
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	inet_pton(AF_INET6, at->host, &v6.sin6_addr);
	memcpy(&v6.sin6_port, port, sizeof(port));
	return bind(fd, (const struct sockaddr *)&v6, sizeof(v6));
}

static int open_socket(const struct rest_listen *at)
{
	int family = strchr(at->host, ':') ? AF_INET6 : AF_INET, error;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && bind_socket(fd, at) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	return -error;
}

static void on_complaint(void *arg, const char *fmt, va_list args)
{
	char text[300], clean[300];

	vsnprintf(text, sizeof(text), fmt, args);
	log_debug("http: %s", str_printable(text, strlen(text), clean, sizeof(clean)));
}

static struct MHD_Daemon *start_daemon(struct listener *listener, int fd)
{
	const struct http_source *s = &listener->http->source;
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, listener->tls ? s->tls->certificate : NULL },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, listener->tls ? s->tls->key : NULL },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)CIPHERS },
		{ listener->tls && s->tls->client_ca ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END,
		  0, listener->tls ? s->tls->client_ca : NULL },
		{ MHD_OPTION_END, 0, NULL },
	};
	struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
			 (listener->tls ? MHD_USE_TLS : 0);

	return MHD_start_daemon(flags, 0, conns_may_enter, listener, exchange_on_request, listener,
				MHD_OPTION_EXTERNAL_LOGGER, on_complaint, NULL,
				MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				s->max_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)CONNECTION_POOL, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_LIMIT,
				MHD_OPTION_NOTIFY_CONNECTION, conns_on_connection, listener,
				MHD_OPTION_NOTIFY_COMPLETED, exchange_on_completed, listener,
				MHD_OPTION_URI_LOG_CALLBACK, exchange_on_uri, listener,
				MHD_OPTION_ARRAY, listener->tls ? tls : none, MHD_OPTION_END);
}

static int watch_listener(struct listener *listener)
{
	const union MHD_DaemonInfo *u =
		MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	sd_event *event = listener->http->event;
	int r = u ? sd_event_add_io(event, &listener->io, u->epoll_fd, EPOLLIN, on_io, listener)
		  : -EBADF;

	if (r >= 0)
		r = sd_event_add_time_relative(event, &listener->timer, CLOCK_MONOTONIC, 0, 0,
					       on_timer, listener);
	return r;
}

int http_listen(struct http *h, const struct rest_listen *at, struct fault *fault)
{
	struct listener *listener = &h->listeners[h->n_listeners];
	int fd = open_socket(at);

	assert(h->n_listeners < CONF_LISTEN_MAX && (!at->tls || h->source.tls) && fault);
	if (fd < 0) {
		snprintf(fault->text, sizeof(fault->text), "%s port %u: %s", at->host, at->port,
			 strerror(-fd));
		return fd;
	}
	*listener = (struct listener){ .http = h, .tls = at->tls };
	listener->daemon = start_daemon(listener, fd);
	if (!listener->daemon)
		close(fd);
	else
		h->n_listeners++;
	if (listener->daemon && watch_listener(listener) >= 0)
		return 0;
	snprintf(fault->text, sizeof(fault->text), "%s port %u: libmicrohttpd does not start",
		 at->host, at->port);
	return -EIO;
}

/* ---- the end ------------------------------------------------------------------------------- */

void http_quiesce(struct http *h)
{
	assert(h);
	for (unsigned i = 0; i < h->n_listeners; i++) {
		int fd = MHD_quiesce_daemon(h->listeners[i].daemon);

		if (fd >= 0)
			close(fd);
	}
	streams_end(h->streams);
	http_run(h);
}

size_t http_busy(const struct http *h)
{
	size_t n = workers_count(h->workers) + login_pending(h->source.login);

	for (const struct conn *g = h->conns; g; g = g->next)
		if (g->state == CONN_READING)
			n++;
	return n;
}

struct http *http_free(struct http *h)
{
	if (!h)
		return NULL;
	sd_event_source_disable_unref(h->work_io);
	sd_event_source_disable_unref(h->login_io);
	streams_end(h->streams);
	for (unsigned i = 0; i < h->n_listeners; i++) {
		struct listener *listener = &h->listeners[i];

		sd_event_source_disable_unref(listener->io);
		sd_event_source_disable_unref(listener->timer);
		MHD_stop_daemon(listener->daemon);
	}
	workers_free(h->workers);
	streams_free(h->streams);
	free(h);
	return NULL;
}
