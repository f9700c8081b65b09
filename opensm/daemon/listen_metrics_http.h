// SPDX-License-Identifier: BSD-2-Clause
/*
 * GET /metrics over libmicrohttpd, from our own event loop: no thread, no waiting.
 *
 * A request without a fresh page waits for metrics_http_ready(). There are few connections, and
 * each has a time limit, however slowly it sends or reads. Pages are sent as they are held,
 * compressed, to clients with "Accept-Encoding: gzip"; for others they are unpacked as they are
 * sent, a piece at a time.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "metrics/gzip.h"
#include "util/mono.h"

/* A text, shared by the connections that are sending it. Main thread only. */
struct metrics_page {
	unsigned refs;
	struct gzip_text text;
};
/* Takes over what `text` holds; one reference. */
struct metrics_page *metrics_page_new(struct gzip_text *text);
struct metrics_page *metrics_page_ref(struct metrics_page *p);
struct metrics_page *metrics_page_unref(struct metrics_page *p); /* NULL is fine; returns NULL */

struct metrics_http_source {
	/*
	 * Returns a reference of the page, or NULL: metrics_http_ready() follows when there is one.
	 * `any`: the request has waited once already, and takes the latest page even if it is
	 * stale.
	 */
	struct metrics_page *(*page)(void *arg, bool openmetrics, bool any);
	mono_t (*now)(void *arg);
	void *arg;
};

/* Does a value of Accept-Encoding allow gzip? NULL: there is none. */
bool metrics_http_takes_gzip(const char *accept_encoding);

struct metrics_http;

/* Can a server listen on this address, as far as can be seen without trying? False: `why`. */
bool metrics_http_check(const char *address, char *why, size_t why_len);
/*
 * `address`: "127.0.0.1:9315", "[::1]:9315", "localhost:9315", or the path of a unix socket. NULL
 * and `why`: listening failed, or it is no address of this machine alone.
 */
struct metrics_http *metrics_http_open(sd_event *event, const char *address,
				       const struct metrics_http_source *source, char *why,
				       size_t why_len);
/* Answers the requests that wait, as there is a new page. */
void metrics_http_ready(struct metrics_http *h);
/* Ends all connections. NULL is fine; returns NULL. */
struct metrics_http *metrics_http_close(struct metrics_http *h);
