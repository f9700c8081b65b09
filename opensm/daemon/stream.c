// SPDX-License-Identifier: BSD-2-Clause
/*
 * A peer is two descriptors that do not block: one that is read, one that is written. Its
 * states:
 *
 *   OPEN --stream_finish(), end of input--> FINISHING --all sent--> DEAD --reaper--> closed() and
 *       gone
 *     \------------ stream_drop(), a descriptor failed ------------/
 *
 * One read, one write and a few messages per turn of the event loop: MADs come between.
 */
#include "daemon/stream_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/timer.h"
#include "util/mem.h"

#define READ_PIECE    (16 * 1024)
#define MESSAGES_TURN 8
/* A peer that takes none of the bytes that wait for it for so long is dropped; in us. */
#define STALL	      (30 * 1000 * 1000ull)

static void write_output(struct stream *s);

/* ---- states -------------------------------------------------------------------------------- */

/* Do so many bytes wait that no message is read? Bytes of stream_give() have no other limit. */
static bool is_choked(const struct stream *s)
{
	return s->unsent > s->of->c.max_unsent;
}

static bool takes_messages(const struct stream *s)
{
	return s->state == STREAM_OPEN && !s->held && !is_choked(s);
}

static void want_input(struct stream *s)
{
	bool wanted = takes_messages(s) && !s->input_ended;

	if (!s->input)
		return;
	/* The end of both sides of a socket is reported even if no event is wanted. */
	if (s->is_socket && s->state == STREAM_OPEN)
		sd_event_source_set_io_events(s->input, wanted ? EPOLLIN : 0);
	else
		sd_event_source_set_enabled(s->input, wanted ? SD_EVENT_ON : SD_EVENT_OFF);
}

static void unwatch_stream(struct stream *s)
{
	s->input = sd_event_source_disable_unref(s->input);
	s->output = sd_event_source_disable_unref(s->output);
	s->again = sd_event_source_disable_unref(s->again);
	s->stall = sd_event_source_disable_unref(s->stall);
	s->late = sd_event_source_disable_unref(s->late);
}

static void kill_stream(struct stream *s, const char *why)
{
	if (s->state == STREAM_DEAD)
		return;
	s->state = STREAM_DEAD;
	s->why = why;
	unwatch_stream(s);
	sd_event_source_set_enabled(s->of->reaper, SD_EVENT_ONESHOT);
}

static void finish_stream(struct stream *s, const char *why)
{
	if (s->state != STREAM_OPEN)
		return;
	s->state = STREAM_FINISHING;
	s->why = why;
	if (!s->unsent)
		kill_stream(s, why);
	else
		want_input(s);
}

void stream_finish(struct stream *s)
{
	finish_stream(s, "all output was sent");
}

void stream_drop(struct stream *s, const char *why)
{
	kill_stream(s, why);
}

static void drop_pieces(struct stream *s)
{
	while (s->first) {
		struct piece *p = s->first;

		s->first = p->next;
		free(p->bytes);
		free(p);
	}
	s->end = &s->first;
	s->unsent = s->counted = s->sent_of_first = 0;
}

static void free_stream(struct stream *s)
{
	drop_pieces(s);
	unwatch_stream(s);
	close(s->in);
	close(s->out);
	free(s->buf);
	free(s);
}

static void close_stream(struct stream *s)
{
	if (s->of->c.closed)
		s->of->c.closed(s->of->c.arg, s, s->why ? s->why : "ended");
	s->of->n--;
	free_stream(s);
}

void stream_evict(struct stream *s, const char *why)
{
	struct stream **at = &s->of->streams;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	kill_stream(s, why);
	close_stream(s);
}

static int on_reap(sd_event_source *source, void *arg)
{
	struct stream_hub *ss = arg;

	for (struct stream **at = &ss->streams; *at;) {
		struct stream *s = *at;

		if (s->state != STREAM_DEAD) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		close_stream(s);
	}
	return 0;
}

/* ---- long messages ------------------------------------------------------------------------- */

void stream_allow_long(struct stream *s, size_t max)
{
	assert(s && max >= s->of->c.max_message);
	s->max = max;
}

static void set_room(struct stream *s, size_t room)
{
	s->room = room;
	s->buf = xrealloc(s->buf, room + 3, 1);
}

/* Starts the time limit of a long message. */
static void start_long(struct stream *s)
{
	if (!s->of->c.long_time || !s->late)
		return;
	sd_event_source_set_time_relative(s->late, s->of->c.long_time);
	sd_event_source_set_enabled(s->late, SD_EVENT_ONESHOT);
}

static int on_late(sd_event_source *source, uint64_t usec, void *arg)
{
	struct stream *s = arg;

	if (takes_messages(s))
		kill_stream(s, "did not end its message in time");
	else
		start_long(s); /* its bytes wait for an answer of ours */
	return 0;
}

static bool is_long(const struct stream *s)
{
	return s->room > s->of->c.max_message;
}

/* Of the places for long messages, as many as this peer may find taken. */
static bool may_be_long(const struct stream *s)
{
	const struct stream_config *c = &s->of->c;
	bool is_limited = s->peer.known && !stream_is_trusted(s->peer.uid);
	unsigned n = 0, n_own = 0;

	for (const struct stream *other = s->of->streams; other; other = other->next) {
		if (other == s || !is_long(other))
			continue;
		n++;
		n_own += other->peer.known && other->peer.uid == s->peer.uid;
	}
	if (is_limited && c->max_long_per_uid && n_own >= c->max_long_per_uid)
		return false;
	return n + (is_limited ? c->reserved_long : 0) < c->max_long;
}

/* A buffer that is full grows, if it may. Without room its message is too long. */
static void make_room(struct stream *s)
{
	if (s->len < s->room + 2 || s->room >= s->max || !may_be_long(s))
		return;
	if (!is_long(s))
		start_long(s);
	set_room(s, MIN(s->room * 2, s->max));
}

/*
 * After a long message was served: shrinks the buffer, so that another peer may send a long one.
 * Starts again if the next long message is in the buffer already.
 */
static void give_room_back(struct stream *s)
{
	if (!is_long(s))
		return;
	if (s->len > s->of->c.max_message) {
		start_long(s);
		return;
	}
	set_room(s, s->of->c.max_message);
	if (s->late)
		sd_event_source_set_enabled(s->late, SD_EVENT_OFF);
}

/* ---- input --------------------------------------------------------------------------------- */

/* Takes `n` bytes off the front of the buffer. */
static void drop_read(struct stream *s, size_t n)
{
	s->len -= n;
	memmove(s->buf, s->buf + n, s->len);
	s->scanned = 0;
}

static void deliver_too_long(struct stream *s, size_t len)
{
	s->active = ++s->of->turn;
	s->of->c.message(s->of->c.arg, s, NULL, len);
	finish_stream(s, "sent too long a message");
}

static void deliver_message(struct stream *s, char *text, size_t len)
{
	if (s->of->c.end == '\n' && len && text[len - 1] == '\r')
		len--;
	if (len > s->max) {
		deliver_too_long(s, len);
		return;
	}
	s->active = ++s->of->turn;
	text[len] = '\0';
	s->of->c.message(s->of->c.arg, s, text, len);
}

/* A message without its end: too long, or the last line before the input ended. */
static void deliver_rest(struct stream *s)
{
	make_room(s);
	if (s->len > s->room + 1) {
		deliver_too_long(s, s->len);
		return;
	}
	if (!s->input_ended)
		return;
	if (s->len && s->of->c.end == '\n') {
		size_t len = s->len;

		s->len = s->scanned = 0;
		deliver_message(s, s->buf, len);
	}
	if (!s->held)
		finish_stream(s, "has hung up");
}

static void deliver_some(struct stream *s)
{
	size_t taken = 0;

	for (unsigned n = 0; takes_messages(s); n++) {
		char *from = s->buf + taken;
		char *end = memchr(from + s->scanned, s->of->c.end, s->len - taken - s->scanned);

		if (!end) {
			s->scanned = s->len - taken;
			break;
		}
		if (n == MESSAGES_TURN) {
			sd_event_source_set_enabled(s->again, SD_EVENT_ONESHOT);
			break;
		}
		s->scanned = 0;
		taken += (size_t)(end - from) + 1;
		deliver_message(s, from, (size_t)(end - from));
	}
	if (taken) {
		size_t scanned = s->scanned;

		drop_read(s, taken);
		s->scanned = scanned;
		give_room_back(s);
	}
	if (takes_messages(s) && s->scanned == s->len)
		deliver_rest(s);
}

static ssize_t read_piece(struct stream *s)
{
	size_t room = s->room + 2 - s->len;

	room = MIN(room, (size_t)READ_PIECE);
	if (s->is_socket)
		return recv(s->in, s->buf + s->len, room, MSG_DONTWAIT);
	return read(s->in, s->buf + s->len, room);
}

static void read_input(struct stream *s)
{
	ssize_t n;

	if (s->len < s->room + 2 && !s->input_ended) {
		n = read_piece(s);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0 && errno == ECONNRESET) {
			kill_stream(s, "has hung up");
			return;
		}
		if (n <= 0)
			s->input_ended = true; /* a terminal reports EIO */
		else
			s->len += (size_t)n;
		want_input(s);
	}
	deliver_some(s);
}

static int on_input(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct stream *s = arg;

	if (takes_messages(s))
		read_input(s);
	else if (events & (EPOLLHUP | EPOLLERR))
		kill_stream(s, "has hung up");
	return 0;
}

/* Regular files cannot be watched; they can always be read. */
static int on_always(sd_event_source *source, void *arg)
{
	read_input(arg);
	return 0;
}

static int on_again(sd_event_source *source, void *arg)
{
	deliver_some(arg);
	return 0;
}

/* Starts or stops reading, as messages may be taken now, or no more. */
static void resume_input(struct stream *s)
{
	if (s->state != STREAM_OPEN)
		return;
	want_input(s);
	if (takes_messages(s))
		sd_event_source_set_enabled(s->again, SD_EVENT_ONESHOT);
}

void stream_hold(struct stream *s, bool hold)
{
	if (s->held == hold)
		return;
	s->held = hold;
	resume_input(s);
}

/* ---- output -------------------------------------------------------------------------------- */

static ssize_t write_piece(struct stream *s, const char *bytes, size_t len)
{
	struct pollfd pfd = { .fd = s->out, .events = POLLOUT };

	if (s->is_socket)
		return send(s->out, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (s->blocks && poll(&pfd, 1, 0) <= 0) {
		errno = EAGAIN;
		return -1;
	}
	return write(s->out, bytes, s->blocks ? MIN(len, (size_t)_POSIX_PIPE_BUF) : len);
}

static void drop_written(struct stream *s, size_t n)
{
	struct piece *p = s->first;
	bool was_choked = is_choked(s);

	s->unsent -= n;
	s->sent_of_first += n;
	if (p->counted)
		s->counted -= n;
	if (was_choked && !is_choked(s))
		resume_input(s);
	if (s->sent_of_first < p->len)
		return;
	s->first = p->next;
	if (!s->first)
		s->end = &s->first;
	s->sent_of_first = 0;
	free(p->bytes);
	free(p);
}

/* Writes once; the rest is written when the descriptor is writable. */
static void write_output(struct stream *s)
{
	ssize_t n = 0;

	if (s->first)
		n = write_piece(s, s->first->bytes + s->sent_of_first,
				s->first->len - s->sent_of_first);
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		kill_stream(s, "has hung up");
		return;
	}
	if (n > 0) {
		drop_written(s, (size_t)n);
		sd_event_source_set_time_relative(s->stall, STALL);
	}
	if (!s->first && s->state == STREAM_FINISHING) {
		kill_stream(s, s->why);
		return;
	}
	if (s->output)
		sd_event_source_set_enabled(s->output, s->first ? SD_EVENT_ON : SD_EVENT_OFF);
	sd_event_source_set_enabled(s->stall, s->first ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static int on_output(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	write_output(arg);
	return 0;
}

static int on_output_always(sd_event_source *source, void *arg)
{
	write_output(arg);
	return 0;
}

static int on_stall(sd_event_source *source, uint64_t usec, void *arg)
{
	kill_stream(arg, "does not read what it is sent");
	return 0;
}

static void append_piece(struct stream *s, char *bytes, size_t len, bool counted)
{
	struct piece *p = xcalloc(1, sizeof(*p));
	bool is_first = !s->first;

	*p = (struct piece){ .bytes = bytes, .len = len, .counted = counted };
	*s->end = p;
	s->end = &p->next;
	s->unsent += len;
	if (counted)
		s->counted += len;
	if (is_first) {
		sd_event_source_set_time_relative(s->stall, STALL);
		write_output(s);
	}
	if (is_choked(s))
		resume_input(s);
}

int stream_send(struct stream *s, const void *bytes, size_t len)
{
	assert(s && (bytes || !len));
	if (s->state == STREAM_DEAD)
		return -EPIPE;
	if (!len)
		return 0;
	if (s->counted + len > s->of->c.max_unsent) {
		kill_stream(s, "does not read what it is sent");
		return -ENOBUFS;
	}
	append_piece(s, xmemdup(bytes, len), len, true);
	return 0;
}

int stream_give(struct stream *s, char *bytes, size_t len)
{
	assert(s && (bytes || !len));
	if (s->state == STREAM_DEAD || !len) {
		free(bytes);
		return len ? -EPIPE : 0;
	}
	append_piece(s, bytes, len, false);
	return 0;
}

size_t stream_unsent(const struct stream *s)
{
	return s->unsent;
}

/* ---- peers --------------------------------------------------------------------------------- */

struct stream_peer stream_peer(const struct stream *s)
{
	return s->peer;
}

bool stream_peer_in_group(const struct stream *s, gid_t gid)
{
	_cleanup_free_ gid_t *groups = NULL;
	socklen_t len = 0;

	if (!s->peer.known)
		return false;
	if (s->peer.gid == gid)
		return true;
	/* Too short: it says how long it must be. */
	if (getsockopt(s->in, SOL_SOCKET, SO_PEERGROUPS, NULL, &len) == 0 || errno != ERANGE)
		return false;
	groups = xmalloc(len);
	if (getsockopt(s->in, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0)
		return false;
	for (size_t i = 0; i < len / sizeof(groups[0]); i++)
		if (groups[i] == gid)
			return true;
	return false;
}

const char *stream_name(const struct stream *s)
{
	return s->name;
}

void stream_set_user(struct stream *s, void *user)
{
	s->user = user;
}

void *stream_user(const struct stream *s)
{
	return s->user;
}

void stream_find_peer(struct stream *s)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	struct ucred cred;
	char host[NI_MAXHOST], port[NI_MAXSERV];

	snprintf(s->name, sizeof(s->name), "an unknown client");
	if (getpeername(s->in, (struct sockaddr *)&from, &len) < 0)
		return;
	if (from.ss_family != AF_UNIX) {
		if (!getnameinfo((struct sockaddr *)&from, len, host, sizeof(host), port,
				 sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
			snprintf(s->name, sizeof(s->name), "%.60s:%.10s", host, port);
		return;
	}
	len = sizeof(cred);
	if (getsockopt(s->in, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return;
	s->peer = (struct stream_peer){
		.known = true, .pid = cred.pid, .uid = cred.uid, .gid = cred.gid
	};
	snprintf(s->name, sizeof(s->name), "pid %d (uid %u)", (int)cred.pid, cred.uid);
}

static int watch_stream(struct stream *s)
{
	sd_event *e = s->of->event;
	int r = sd_event_add_io(e, &s->input, s->in, EPOLLIN, on_input, s);

	if (r == -EPERM) {
		r = sd_event_add_defer(e, &s->input, on_always, s);
		if (r >= 0)
			r = sd_event_source_set_enabled(s->input, SD_EVENT_ON);
	}
	if (r < 0)
		return r;
	r = sd_event_add_io(e, &s->output, s->out, EPOLLOUT, on_output, s);
	if (r == -EPERM)
		r = sd_event_add_defer(e, &s->output, on_output_always, s);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(s->output, SD_EVENT_OFF);
	r = sd_event_add_defer(e, &s->again, on_again, s);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(s->again, SD_EVENT_OFF);
	r = timer_new(e, &s->stall, on_stall, s);
	return r < 0 ? r : timer_new(e, &s->late, on_late, s);
}

struct stream *stream_new(struct stream_hub *ss, int in, int out, bool is_socket)
{
	struct stream *s = xcalloc(1, sizeof(*s));
	int r;

	s->of = ss;
	s->in = in;
	s->out = out;
	s->is_socket = is_socket;
	s->end = &s->first;
	s->max = ss->c.max_message;
	set_room(s, s->max);
	s->active = ++ss->turn;
	r = watch_stream(s);
	if (r < 0) {
		free_stream(s);
		errno = -r;
		return NULL;
	}
	s->next = ss->streams;
	ss->streams = s;
	ss->n++;
	return s;
}

void stream_introduce(struct stream *s)
{
	if (s->of->c.opened && !s->of->c.opened(s->of->c.arg, s))
		finish_stream(s, "was not let in");
}

/*
 * A descriptor of our own for the same thing, that does not block: O_NONBLOCK on a terminal or pipe
 * that we share with a shell would be its, too, so it is opened anew.
 */
static int open_anew(int fd, int flags, bool *ret_blocks, bool *ret_socket)
{
	char path[40];
	struct stat st;
	int mine;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret_blocks = false;
	*ret_socket = S_ISSOCK(st.st_mode);
	if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		mine = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (mine >= 0)
			return mine;
		*ret_blocks = true;
	}
	mine = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return mine < 0 ? -errno : mine;
}

int stream_add(struct stream_hub *ss, int in, int out, const char *name)
{
	bool blocks, is_socket, in_socket;
	int own_in = open_anew(in, O_RDONLY, &blocks, &in_socket), own_out;
	struct stream *s;

	assert(ss && in >= 0 && out >= 0 && name);
	if (own_in < 0)
		return own_in;
	own_out = open_anew(out, O_WRONLY, &blocks, &is_socket);
	if (own_out < 0) {
		close(own_in);
		return own_out;
	}
	s = stream_new(ss, own_in, own_out, in_socket && is_socket);
	if (!s)
		return -errno;
	s->blocks = blocks || (is_socket && !in_socket);
	if (s->is_socket)
		stream_find_peer(s);
	snprintf(s->name, sizeof(s->name), "%s", name);
	stream_introduce(s);
	return 0;
}

unsigned stream_count(const struct stream_hub *ss)
{
	return ss->n;
}

/* ---- the hub ----------------------------------------------------------------------------- */

struct stream_hub *stream_hub_new(sd_event *event, const struct stream_config *config)
{
	struct stream_hub *ss = xcalloc(1, sizeof(*ss));

	assert(event && config->max_peers > 0);
	ss->c = *config;
	ss->event = sd_event_ref(event);
	if (sd_event_add_defer(event, &ss->reaper, on_reap, ss) < 0) {
		sd_event_unref(ss->event);
		free(ss);
		return NULL;
	}
	sd_event_source_set_enabled(ss->reaper, SD_EVENT_OFF);
	return ss;
}

struct stream_hub *stream_hub_free(struct stream_hub *ss)
{
	if (!ss)
		return NULL;
	while (ss->listeners) {
		struct listener *l = ss->listeners;

		ss->listeners = l->next;
		listener_free(l);
	}
	while (ss->streams) {
		struct stream *s = ss->streams;

		ss->streams = s->next;
		if (s->state != STREAM_DEAD)
			s->why = "the daemon ends";
		s->state = STREAM_DEAD;
		close_stream(s);
	}
	sd_event_source_disable_unref(ss->reaper);
	sd_event_unref(ss->event);
	free(ss);
	return NULL;
}
