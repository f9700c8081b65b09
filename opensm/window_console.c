// SPDX-License-Identifier: BSD-2-Clause
/*
 * The console's door: a terminal (`local`), or TCP on 127.0.0.1 (`loopback`), which asks for no password.
 *
 * So the kernel is asked whose process is at the other end. Root and the user that runs opensm may do
 * everything; anybody else on this machine may look, and takes nobody's place. A browser that was led here
 * is sent away.
 *
 * One session at a time: who comes second is asked whether the first shall end. Nobody else waits for the
 * answer.
 */
#include "windows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/console.h"
#include "streams.h"
#include "tcp_peer.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

#define ADDRESS	   "127.0.0.1"
#define IN_USE	   "OpenSM Console connection already in use\n"
#define QUESTION   IN_USE "   kill other session (y/n)? "
/* The session, and those who are being asked. */
#define MAX_PEERS  8
/* What a user who does not read may leave with us; what one command prints comes on top, then no more is asked. */
#define MAX_UNSENT (1u << 20)

/* Somebody who has connected. */
struct guest {
	char who[80];
	bool may_act;
	bool asked; /* whether the session of another shall end */
	bool has_spoken;
};

struct window_console {
	const struct scene *scene;
	const struct plugins *plugins;
	struct streams *streams;
	sd_event_source *timer;
	uint16_t port; /* 0: local */
	struct stream *holder; /* of the session; NULL: nobody */
	struct console *console;
};

/* ---- time ---------------------------------------------------------------------------------- */

static mono_t clock_now(const struct window_console *w)
{
	int64_t realtime;
	mono_t now;

	w->scene->clock(w->scene->arg, &now, &realtime);
	return now;
}

static void set_timer(struct window_console *w)
{
	mono_t next = w->console ? console_next(w->console) : MONO_NEVER;

	if (next == MONO_NEVER) {
		sd_event_source_set_enabled(w->timer, SD_EVENT_OFF);
		return;
	}
	sd_event_source_set_time(w->timer, next);
	sd_event_source_set_enabled(w->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *arg)
{
	struct window_console *w = arg;

	if (w->console)
		console_tick(w->console, clock_now(w));
	/* What repeats itself comes without being asked for. */
	if (w->console && stream_unsent(w->holder) > MAX_UNSENT)
		stream_drop(w->holder, "does not read what it is sent");
	set_timer(w);
	return 0;
}

/* ---- the session --------------------------------------------------------------------------- */

static void on_write(void *arg, char *text, size_t len)
{
	struct window_console *w = arg;

	stream_give(w->holder, text, len);
}

static void on_busy(void *arg, bool busy)
{
	struct window_console *w = arg;

	stream_hold(w->holder, busy);
}

static void on_quit(void *arg)
{
	struct window_console *w = arg;

	stream_finish(w->holder);
}

static void start(struct window_console *w, struct stream *s)
{
	struct guest *g = stream_user(s);
	const struct console_config config = {
		.scene = w->scene,
		.plugins = w->plugins,
		.local = !w->port,
		.may_act = g->may_act,
		.who = g->who,
		.write = on_write,
		.busy = on_busy,
		.quit = on_quit,
		.arg = w,
	};

	log_verbose("Console connection accepted: %s%s", g->who, g->may_act ? "" : ", may look only");
	g->asked = false;
	w->holder = s;
	w->console = console_new(&config);
}

static void leave(struct window_console *w)
{
	w->console = console_free(w->console);
	w->holder = NULL;
	set_timer(w);
}

/* ---- who it is ----------------------------------------------------------------------------- */

static void identify(struct window_console *w, struct stream *s, struct guest *g)
{
	uid_t uid;
	int r;

	if (!w->port) {
		g->may_act = true;
		snprintf(g->who, sizeof(g->who), "%s", stream_name(s));
		return;
	}
	r = tcp_peer_uid(stream_name(s), w->port, &uid);
	if (r < 0) {
		snprintf(g->who, sizeof(g->who), "%s", stream_name(s));
		log_info("Console: whose process is at %s is not known (%s): it may look only", g->who,
			 strerror(-r));
		return;
	}
	g->may_act = uid == 0 || uid == getuid();
	snprintf(g->who, sizeof(g->who), "%s (uid %u)", stream_name(s), (unsigned)uid);
}

static bool on_opened(void *arg, struct stream *s)
{
	struct window_console *w = arg;
	struct guest *g = xcalloc(1, sizeof(*g));

	stream_set_user(s, g);
	identify(w, s, g);
	if (!w->holder) {
		start(w, s);
		return true;
	}
	g->asked = g->may_act;
	stream_send(s, g->asked ? QUESTION : IN_USE, strlen(g->asked ? QUESTION : IN_USE));
	return g->asked;
}

static void on_closed(void *arg, struct stream *s, const char *why)
{
	struct window_console *w = arg;
	struct guest *g = stream_user(s);

	if (w->holder == s)
		leave(w);
	if (g)
		log_verbose("Console connection of %s closed: %s", g->who, why);
	free(g);
}

/* ---- lines --------------------------------------------------------------------------------- */

static void answered(struct window_console *w, struct stream *s, const struct guest *g, const char *text)
{
	struct stream *other = w->holder;

	if (other && text[0] != 'y' && text[0] != 'Y') {
		log_info("Console connection aborted: %s - already in use", g->who);
		stream_finish(s);
		return;
	}
	if (other) {
		leave(w);
		stream_drop(other, "another session took its place");
	}
	start(w, s);
}

/*
 * "POST / HTTP/1.1": a page of somebody else made a browser of ours say it. Or the hello of TLS, which begins
 * with 0x16 and holds, lines and all, what that somebody gave the browser to say again (session tickets).
 */
static bool is_browser(const char *text)
{
	return text[0] == 0x16 || strstr(text, " HTTP/1.") != NULL;
}

static void refuse(struct stream *s, const struct guest *g, const char *what, const char *why)
{
	log_error("Console: %s %s: the connection is closed", g->who, what);
	stream_printf(s, "%s\n", why);
	stream_finish(s);
}

static void on_message(void *arg, struct stream *s, char *text, size_t len)
{
	struct window_console *w = arg;
	struct guest *g = stream_user(s);
	bool first = !g->has_spoken;

	g->has_spoken = true;
	if (!text)
		refuse(s, g, "sends a line that is too long", "This line is too long");
	else if (first && is_browser(text))
		refuse(s, g, "speaks HTTP or TLS", "This is no web server");
	else if (g->asked)
		answered(w, s, g, text);
	else if (s == w->holder)
		console_line(w->console, text, clock_now(w));
	set_timer(w);
}

/* ---- life ---------------------------------------------------------------------------------- */

static int listen_loopback(struct window_console *w)
{
	uint16_t wanted = w->scene->conf->console_port;
	int r = streams_listen_tcp(w->streams, ADDRESS, wanted, &w->port);

	if (r < 0)
		log_error("Console: port %u of " ADDRESS " cannot be had: %s; there is no console",
			  wanted, strerror(-r));
	else
		log_info("Console listening on port %u", w->port);
	return r;
}

static int open_terminal(struct window_console *w)
{
	int r;

	if (w->scene->conf->daemon) {
		log_error("Console: a daemon has no terminal; there is no console (loopback would work)");
		return -ENOTTY;
	}
	r = streams_add(w->streams, STDIN_FILENO, STDOUT_FILENO, "terminal");
	if (r < 0)
		log_error("Console: standard input and output cannot be used: %s; there is no console",
			  strerror(-r));
	return r;
}

struct window_console *window_console_open(sd_event *event, const struct scene *scene,
					   const struct plugins *plugins)
{
	const char *mode = scene->conf->console;
	bool loopback = str_equal(mode, "loopback");
	struct window_console *w;
	struct streams_config config = {
		.end = '\n',
		.max_peers = MAX_PEERS,
		.max_message = CONSOLE_LINE_MAX,
		.max_unsent = MAX_UNSENT,
		.busy = IN_USE,
		.busy_len = strlen(IN_USE),
		.opened = on_opened,
		.message = on_message,
		.closed = on_closed,
	};

	if (scene->once || (!loopback && !str_equal(mode, "local")))
		return NULL;
	w = xcalloc(1, sizeof(*w));
	w->scene = scene;
	w->plugins = plugins;
	config.arg = w;
	if (sd_event_add_time(event, &w->timer, CLOCK_MONOTONIC, MONO_NEVER, 0, on_timer, w) < 0)
		return window_console_close(w);
	sd_event_source_set_enabled(w->timer, SD_EVENT_OFF);
	w->streams = streams_new(event, &config);
	if ((loopback ? listen_loopback(w) : open_terminal(w)) < 0)
		return window_console_close(w);
	return w;
}

struct window_console *window_console_close(struct window_console *w)
{
	if (!w)
		return NULL;
	w->streams = streams_free(w->streams);
	sd_event_source_disable_unref(w->timer);
	free(w);
	return NULL;
}
