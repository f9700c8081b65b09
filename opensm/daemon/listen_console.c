// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the console listens: a terminal (`local`), or TCP on 127.0.0.1 (`loopback`).
 *
 * No password is asked for: the kernel tells the owner of the process at the other end. Root and
 * the user that runs opensm may do everything; other users of this machine may look, and end no
 * session. A browser that was led here is sent away.
 *
 * One session at a time: the second one is asked whether the first shall end.
 */
#include "daemon/listen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "console/console.h"
#include "daemon/stream.h"
#include "daemon/tcp_peer.h"
#include "daemon/timer.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

#define ADDRESS	   "127.0.0.1"
#define IN_USE	   "OpenSM Console connection already in use\n"
#define QUESTION   IN_USE "   kill other session (y/n)? "
/* The session, and connections that are being asked. */
#define MAX_PEERS  8
/* Bytes that a client may leave unread; the output of one command comes on top. */
#define MAX_UNSENT (1u << 20)

/* A connected client. */
struct caller {
	char name[80];
	bool may_act;
	bool asked; /* whether the session of another shall end */
	bool has_spoken;
};

struct listen_console {
	const struct daemon_api *api;
	const struct plugins *plugins;
	struct stream_hub *streams;
	sd_event_source *timer, *next_line;
	struct pace lines; /* some copy the fabric, or print all of it */
	bool is_busy;	   /* the fabric is copied, or a worker prints, for the session */
	uint16_t port; /* 0: local */
	struct stream *holder; /* stream that has the session; NULL: none */
	struct console *console;
};

/* ---- time ---------------------------------------------------------------------------------- */

static void set_timer(struct listen_console *w)
{
	timer_at(w->timer, w->console ? console_next(w->console) : MONO_NEVER);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *arg)
{
	struct listen_console *w = arg;
	const mono_t began = daemon_api_now(w->api);

	if (w->console)
		console_tick(w->console, began);
	pace_worked(&w->lines, began, daemon_api_now(w->api));
	/* `status loop` prints without a request. */
	if (w->console && stream_unsent(w->holder) > MAX_UNSENT)
		stream_drop(w->holder, "does not read what it is sent");
	set_timer(w);
	return 0;
}

/* ---- the session --------------------------------------------------------------------------- */

static void on_write(void *arg, char *text, size_t len)
{
	struct listen_console *w = arg;

	stream_give(w->holder, text, len);
}

/* A session takes no line while it is busy, and for a while after one that took long. */
static void hold_session(struct listen_console *w)
{
	mono_t wait = pace_wait(&w->lines, daemon_api_now(w->api));

	if (!w->holder)
		return;
	stream_hold(w->holder, w->is_busy || wait);
	if (wait)
		timer_in(w->next_line, wait);
}

static int on_next_line(sd_event_source *s, uint64_t usec, void *arg)
{
	hold_session(arg);
	return 0;
}

static void on_busy(void *arg, bool busy)
{
	struct listen_console *w = arg;

	w->is_busy = busy;
	hold_session(w);
}

static void run_line(struct listen_console *w, char *text)
{
	const mono_t began = daemon_api_now(w->api);

	console_line(w->console, text, began);
	pace_worked(&w->lines, began, daemon_api_now(w->api));
	hold_session(w);
}

static void on_quit(void *arg)
{
	struct listen_console *w = arg;

	stream_finish(w->holder);
}

static void start_session(struct listen_console *w, struct stream *s)
{
	struct caller *g = stream_user(s);
	const struct console_config config = {
		.api = w->api,
		.plugins = w->plugins,
		.local = !w->port,
		.may_act = g->may_act,
		.client = g->name,
		.write = on_write,
		.busy = on_busy,
		.quit = on_quit,
		.arg = w,
	};

	log_verbose("Console connection accepted: %s%s", g->name, g->may_act ? "" : ", read only");
	g->asked = false;
	w->holder = s;
	w->is_busy = false;
	w->console = console_new(&config);
	hold_session(w);
}

static void end_session(struct listen_console *w)
{
	w->console = console_free(w->console);
	w->holder = NULL;
	set_timer(w);
}

/* ---- identity ------------------------------------------------------------------------------- */

static void identify(struct listen_console *w, struct stream *s, struct caller *g)
{
	uid_t uid;
	int r;

	if (!w->port) {
		g->may_act = true;
		snprintf(g->name, sizeof(g->name), "%s", stream_name(s));
		return;
	}
	r = tcp_peer_uid(stream_name(s), w->port, &uid);
	if (r < 0) {
		snprintf(g->name, sizeof(g->name), "%s", stream_name(s));
		log_info("Console: the user of the process at %s is not known (%s): read only",
			 g->name, strerror(-r));
		return;
	}
	g->may_act = uid == 0 || uid == getuid();
	snprintf(g->name, sizeof(g->name), "%s (uid %u)", stream_name(s), (unsigned)uid);
}

static bool on_opened(void *arg, struct stream *s)
{
	struct listen_console *w = arg;
	struct caller *g = xcalloc(1, sizeof(*g));

	stream_set_user(s, g);
	identify(w, s, g);
	if (!w->holder) {
		start_session(w, s);
		return true;
	}
	g->asked = g->may_act;
	stream_send(s, g->asked ? QUESTION : IN_USE, strlen(g->asked ? QUESTION : IN_USE));
	return g->asked;
}

/* The session keeps its place; those that were asked and do not answer do not. */
static bool is_idle(void *arg, const struct stream *s)
{
	const struct listen_console *w = arg;

	return s != w->holder;
}

static void on_closed(void *arg, struct stream *s, const char *why)
{
	struct listen_console *w = arg;
	struct caller *g = stream_user(s);

	if (w->holder == s)
		end_session(w);
	if (g)
		log_verbose("Console connection of %s closed: %s", g->name, why);
	free(g);
}

/* ---- lines --------------------------------------------------------------------------------- */

static void take_answer(struct listen_console *w, struct stream *s, const struct caller *g,
			const char *text)
{
	struct stream *other = w->holder;

	if (other && text[0] != 'y' && text[0] != 'Y') {
		log_info("Console connection aborted: %s - already in use", g->name);
		stream_finish(s);
		return;
	}
	if (other) {
		end_session(w);
		stream_drop(other, "another session took its place");
	}
	start_session(w, s);
}

/*
 * "POST / HTTP/1.1": a foreign page made a browser of this host send it. Or the hello of TLS, which
 * begins with 0x16 and repeats, lines and all, what that page's server gave the browser (session
 * tickets).
 */
static bool is_browser(const char *text)
{
	return text[0] == 0x16 || strstr(text, " HTTP/1.") != NULL;
}

static void refuse(struct stream *s, const struct caller *g, const char *what, const char *answer)
{
	log_error("Console: %s %s: the connection is closed", g->name, what);
	stream_send(s, answer, strlen(answer));
	stream_finish(s);
}

static void on_message(void *arg, struct stream *s, char *text, size_t len)
{
	struct listen_console *w = arg;
	struct caller *g = stream_user(s);
	bool first = !g->has_spoken;

	g->has_spoken = true;
	if (!text)
		refuse(s, g, "sends a line that is too long", "This line is too long\n");
	else if (first && is_browser(text))
		refuse(s, g, "speaks HTTP or TLS", "This is no web server\n");
	else if (g->asked)
		take_answer(w, s, g, text);
	else if (s == w->holder)
		run_line(w, text);
	set_timer(w);
}

void listen_console_sm_gone(struct listen_console *w)
{
	if (!w || !w->console)
		return;
	console_sm_gone(w->console);
	set_timer(w);
}

/* ---- life ---------------------------------------------------------------------------------- */

static int listen_loopback(struct listen_console *w)
{
	uint16_t wanted = w->api->conf->console_port;
	int r = stream_listen_tcp(w->streams, ADDRESS, wanted, &w->port);

	if (r < 0)
		log_error("Console: port %u of " ADDRESS " cannot be had: %s; there is no console",
			  wanted, strerror(-r));
	else
		log_info("Console listening on port %u", w->port);
	return r;
}

static int open_terminal(struct listen_console *w)
{
	int r;

	if (w->api->conf->daemon) {
		log_error("Console: a daemon has no terminal; there is no console (loopback would "
			  "work)");
		return -ENOTTY;
	}
	r = stream_add(w->streams, STDIN_FILENO, STDOUT_FILENO, "terminal");
	if (r < 0)
		log_error("Console: standard input and output cannot be used: %s; there is no "
			  "console",
			  strerror(-r));
	return r;
}

struct listen_console *listen_console_open(sd_event *event, const struct daemon_api *api,
					   const struct plugins *plugins)
{
	const char *mode = api->conf->console;
	bool loopback = str_equal(mode, "loopback");
	struct listen_console *w;
	struct stream_config config = {
		.end = '\n',
		.max_peers = MAX_PEERS,
		.max_message = CONSOLE_LINE_MAX,
		.max_unsent = MAX_UNSENT,
		.busy = IN_USE,
		.busy_len = strlen(IN_USE),
		.is_idle = is_idle,
		.opened = on_opened,
		.message = on_message,
		.closed = on_closed,
	};

	if (api->once || (!loopback && !str_equal(mode, "local")))
		return NULL;
	w = xcalloc(1, sizeof(*w));
	w->api = api;
	w->plugins = plugins;
	config.arg = w;
	if (timer_new(event, &w->timer, on_timer, w) < 0 ||
	    timer_new(event, &w->next_line, on_next_line, w) < 0)
		return listen_console_close(w);
	w->streams = stream_hub_new(event, &config);
	if ((loopback ? listen_loopback(w) : open_terminal(w)) < 0)
		return listen_console_close(w);
	return w;
}

struct listen_console *listen_console_close(struct listen_console *w)
{
	if (!w)
		return NULL;
	w->streams = stream_hub_free(w->streams);
	sd_event_source_disable_unref(w->timer);
	sd_event_source_disable_unref(w->next_line);
	free(w);
	return NULL;
}
