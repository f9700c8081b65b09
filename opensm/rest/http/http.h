// SPDX-License-Identifier: BSD-2-Clause
/*
 * The server: libmicrohttpd in external-epoll mode in our event loop. All parsing and sending is on
 * the main thread; endpoints run in a pool of eight threads (http/workers.h).
 *
 * What bounds it:
 *   connections    max_connections per listening address, max_per_address per client (an IPv6 /64
 *                  is one client); a quarter of that while three quarters of the places are taken
 *   time           10 s from connect to a request of a user that is known, 60 s from there to the
 *                  next one (2 s when crowded), 20 s for a body, 60 s for an answer to be read
 *   memory         32 KB per connection for headers, 1 MB per body and 32 MB for all of them,
 *                  200,000 values and 64 objects and arrays of JSON, 256 MB of answers that are
 *                  being read, half of that per user
 *   streams        64 in all, 8 of one user; 256 events and 4 MB wait for the slowest one, which
 *                  is ended when it misses one, or takes nothing for 30 s; each ends after five
 *                  minutes, so that its user is asked for again
 *   work           four requests that run and 64 that wait per user, 8 and 512 in all
 */
#pragma once

#include <systemd/sd-event.h>

#include "rest/setup/conf.h"
#include "rest/http/login.h"
#include "rest/http/tls.h"
#include "rest/rest.h"

/* A file of the page: given to all, as it has no data. Texts stay the caller's. */
struct http_file {
	const char *path, *type, *text; /* path: one of PAGE_PATHS */
};

struct http_source {
	const struct rest_endpoint *endpoints;
	struct rest_backend *backend;
	const struct rest_policy *policy;
	struct login *login;
	const struct tls_files *tls; /* NULL: no address is for TLS */
	unsigned max_connections, max_per_address;
	const struct http_file *files; /* ends with a row without a path; NULL: there is no page */
	/* The number of streams of events has changed. May be NULL. */
	void (*streams_changed)(void *arg, unsigned n);
	void *arg;
};

struct http;

/*
 * Makes a server. The caller keeps `source` and what it points to until http_free(). NULL: `fault`
 * has the reason.
 */
struct http *http_new(sd_event *event, const struct http_source *source, struct fault *fault);
/* Listens on one more address. Returns 0, or -errno with the reason in `fault`. */
int http_listen(struct http *h, const struct rest_listen *at, struct fault *fault);
/*
 * Sends an event to all streams: its name, a word, and its data, one line. `lasts`: a new stream
 * gets the last one of this name first. It is sent by http_flush().
 */
void http_publish(struct http *h, const char *name, bool lasts, const char *data);
void http_flush(struct http *h);
/* Accepts no new connections; requests that have begun are still answered, streams end. */
void http_quiesce(struct http *h);
/* The number of requests that are being answered, or wait for a thread. */
size_t http_busy(const struct http *h);
/* Waits for threads. NULL is fine; returns NULL. */
struct http *http_free(struct http *h);
