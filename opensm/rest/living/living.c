// SPDX-License-Identifier: BSD-2-Clause
/* Between watch.c, which asks the manager, and http/streams.c, which sends. */
#include "rest/living/living.h"

#include <stdlib.h>
#include <sys/epoll.h>

#include "page/page.h"
#include "rest/living/watch.h"
#include "util/mem.h"

struct living {
	struct watch *watch;
	struct http *http;
	sd_event_source *io;
	char *frame; /* the page without its script and style */
	struct http_file files[4];
};

static int on_news(sd_event_source *s, int fd, uint32_t events, void *arg)
{
	struct living *l = arg;
	struct watch_news news;

	while (watch_take(l->watch, &news)) {
		if (l->http)
			http_publish(l->http, news.name, news.lasts, news.data);
		free(news.data);
	}
	if (l->http)
		http_flush(l->http);
	return 0;
}

static void on_streams(void *arg, unsigned n)
{
	const struct living *l = arg;

	watch_want(l->watch, n > 0);
}

struct living *living_new(sd_event *event, struct rest_backend *b, struct http_source *ret)
{
	struct living *l = xcalloc(1, sizeof(*l));

	l->watch = watch_new(b);
	if (!l->watch ||
	    sd_event_add_io(event, &l->io, watch_fd(l->watch), EPOLLIN, on_news, l) < 0)
		return living_free(l);
	l->frame = page_served();
	l->files[0] = (struct http_file){ "/", "text/html; charset=utf-8", l->frame };
	l->files[1] = (struct http_file){ "/page.js", "text/javascript; charset=utf-8", page_js };
	l->files[2] = (struct http_file){ "/page.css", "text/css; charset=utf-8", page_css };
	ret->files = l->files;
	ret->streams_changed = on_streams;
	ret->arg = l;
	return l;
}

void living_start(struct living *l, struct http *http)
{
	l->http = http;
}

struct living *living_free(struct living *l)
{
	if (!l)
		return NULL;
	sd_event_source_disable_unref(l->io);
	watch_free(l->watch);
	free(l->frame);
	free(l);
	return NULL;
}
