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
 *   work           four requests that run and 64 that wait per user, 8 and 512 in all
 */
#pragma once

#include <systemd/sd-event.h>

#include "rest/conf.h"
#include "rest/http/login.h"
#include "rest/http/tls.h"
#include "rest/rest.h"

struct http_source {
	const struct rest_endpoint *endpoints;
	struct rest_backend *backend;
	const struct rest_policy *policy;
	struct login *login;
	const struct tls_files *tls; /* NULL: no address is for TLS */
	unsigned max_connections, max_per_address;
};

struct http;

/*
 * Makes a server. The caller keeps `source` and what it points to until http_free(). NULL: `fault`
 * has the reason.
 */
struct http *http_new(sd_event *event, const struct http_source *source, struct fault *fault);
/* Listens on one more address. Returns 0, or -errno with the reason in `fault`. */
int http_listen(struct http *h, const struct rest_listen *at, struct fault *fault);
/* Accepts no new connections; requests that have begun are still answered. */
void http_quiesce(struct http *h);
/* The number of requests that are being answered, or wait for a thread. */
size_t http_busy(const struct http *h);
/* Waits for threads. NULL is fine; returns NULL. */
struct http *http_free(struct http *h);
