// SPDX-License-Identifier: BSD-2-Clause
/* Where conversations come from: unix sockets, TCP ports. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/stream_internal.h"
#include "daemon/timer.h"
#include "util/mem.h"

/* After accept() failed for want of descriptors. */
#define ACCEPT_PAUSE (1 * MONO_S)
#define BACKLOG	     64

/* ---- places -------------------------------------------------------------------------------- */

/* A caller as the kernel knows it; root and ourselves are trusted with every place there is. */
struct caller {
	bool known, trusted;
	uid_t uid;
};

static struct caller caller_of(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.pid <= 0)
		return (struct caller){ 0 };
	return (struct caller){
		.known = true, .trusted = stream_is_trusted(cred.uid), .uid = cred.uid
	};
}

static bool is_limited(const struct stream_hub *ss, const struct caller *c)
{
	return ss->c.max_per_uid && c->known && !c->trusted;
}

static unsigned count_of(const struct stream_hub *ss, uid_t uid)
{
	unsigned n = 0;

	for (const struct stream *s = ss->streams; s; s = s->next)
		if (s->peer.known && s->peer.uid == uid)
			n++;
	return n;
}

/*
 * May this peer be closed? Trusted peers are closed for trusted peers only. `uid_only`: for a peer
 * of the same user.
 */
static bool may_be_evicted(const struct stream *s, const struct caller *c, bool uid_only)
{
	if (s->state != STREAM_OPEN || s->held || s->unsent || !s->of->c.is_idle(s->of->c.arg, s))
		return false;
	if (uid_only)
		return s->peer.known && s->peer.uid == c->uid;
	return c->trusted || !s->peer.known || !stream_is_trusted(s->peer.uid);
}

/* The peer that has been silent for longest makes room. False: none may. */
static bool make_room(struct stream_hub *ss, const struct caller *c, bool uid_only)
{
	struct stream *oldest = NULL;

	for (struct stream *s = ss->c.is_idle ? ss->streams : NULL; s; s = s->next)
		if (may_be_evicted(s, c, uid_only) && (!oldest || s->active < oldest->active))
			oldest = s;
	if (!oldest)
		return false;
	stream_evict(oldest, "was idle for longest when another needed its place");
	return true;
}

/* Is there a place for the caller? At most one peer is closed to make room. */
static bool has_place(struct stream_hub *ss, const struct caller *c)
{
	unsigned limit = ss->c.max_peers - (c->known && !c->trusted ? ss->c.reserved : 0);

	if (is_limited(ss, c) && count_of(ss, c->uid) >= ss->c.max_per_uid)
		return make_room(ss, c, true) && ss->n < limit;
	return ss->n < limit || (make_room(ss, c, false) && ss->n < limit);
}

static void admit_peer(struct stream_hub *ss, int fd)
{
	const struct caller caller = caller_of(fd);
	struct stream *s;
	int out;

	if (!has_place(ss, &caller)) {
		if (ss->c.busy)
			(void)!send(fd, ss->c.busy, ss->c.busy_len, MSG_DONTWAIT | MSG_NOSIGNAL);
		close(fd);
		return;
	}
	out = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (out < 0) {
		close(fd);
		return;
	}
	s = stream_new(ss, fd, out, true);
	if (!s)
		return;
	stream_find_peer(s);
	stream_introduce(s);
}

/* Without descriptors the listener would wake us all the time. */
static void pause_accepting(struct listener *l)
{
	sd_event_source_set_enabled(l->io, SD_EVENT_OFF);
	timer_in(l->pause, ACCEPT_PAUSE);
}

static int on_connect(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct listener *l = arg;
	int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (peer >= 0)
		admit_peer(l->of, peer);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		pause_accepting(l);
	return 0;
}

static int on_rested(sd_event_source *source, uint64_t usec, void *arg)
{
	return sd_event_source_set_enabled(((struct listener *)arg)->io, SD_EVENT_ON);
}

void listener_free(struct listener *l)
{
	struct stat st;

	sd_event_source_disable_unref(l->io);
	sd_event_source_disable_unref(l->pause);
	/* Another one that was put in its place stays. */
	if (l->path && stat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino)
		unlink(l->path);
	close(l->fd);
	free(l->path);
	free(l);
}

/* Takes `fd`, bound; closes it when it cannot be listened on. */
static int add_listener(struct stream_hub *ss, int fd, const char *path)
{
	struct listener *l = xcalloc(1, sizeof(*l));
	struct stat st;
	int r;

	l->of = ss;
	l->fd = fd;
	l->path = path ? xstrdup(path) : NULL;
	if (path && stat(path, &st) == 0) {
		l->dev = st.st_dev;
		l->ino = st.st_ino;
	}
	r = listen(fd, BACKLOG) < 0 ? -errno : 0;
	if (r >= 0)
		r = sd_event_add_io(ss->event, &l->io, fd, EPOLLIN, on_connect, l);
	if (r >= 0)
		r = timer_new(ss->event, &l->pause, on_rested, l);
	if (r < 0) {
		listener_free(l);
		return r;
	}
	l->next = ss->listeners;
	ss->listeners = l;
	return 0;
}

/*
 * Removes a stale socket. -EADDRINUSE: a process listens there, or it is no socket. 0: it is
 * removed.
 */
static int clear_stale(const struct sockaddr_un *at)
{
	struct stat st;
	int fd, r;

	if (lstat(at->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EADDRINUSE;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0 ? -errno : 0;
	close(fd);
	if (r != -ECONNREFUSED && r != -ENOENT)
		return r == -EACCES ? r : -EADDRINUSE;
	return unlink(at->sun_path) < 0 && errno != ENOENT ? -errno : 0;
}

/* Sets the mode of the socket, never of a link that another user put there. */
static int set_socket_mode(const char *path, mode_t mode)
{
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), r = 0;
	char at[40];
	struct stat st;

	if (fd < 0)
		return -errno;
	snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) < 0 || !S_ISSOCK(st.st_mode))
		r = -ESTALE;
	else if (chmod(at, mode) < 0)
		r = -errno;
	close(fd);
	return r;
}

int stream_bind_unix(const char *path, mode_t mode)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	int fd, r;

	assert(path);
	if (!len || len >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, path, len + 1);
	r = clear_stale(&at);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	r = bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ? -errno
								   : set_socket_mode(path, mode);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

int stream_listen_unix(struct stream_hub *ss, const char *path, mode_t mode)
{
	int fd = stream_bind_unix(path, mode);

	return fd < 0 ? fd : add_listener(ss, fd, path);
}

static uint16_t port_of(int fd)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	char port[NI_MAXSERV];

	if (getsockname(fd, (struct sockaddr *)&at, &len) < 0 ||
	    getnameinfo((struct sockaddr *)&at, len, NULL, 0, port, sizeof(port), NI_NUMERICSERV))
		return 0;
	return (uint16_t)strtoul(port, NULL, 10);
}

int stream_bind_tcp(const char *address, uint16_t port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE };
	struct addrinfo *at;
	char text[8];
	int fd, r, one = 1;

	assert(address);
	snprintf(text, sizeof(text), "%u", port);
	if (getaddrinfo(address, text, &hints, &at))
		return -EINVAL;
	fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		r = -errno;
		freeaddrinfo(at);
		return r;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	r = bind(fd, at->ai_addr, at->ai_addrlen) < 0 ? -errno : 0;
	freeaddrinfo(at);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

int stream_listen_tcp(struct stream_hub *ss, const char *address, uint16_t port, uint16_t *ret_port)
{
	int fd = stream_bind_tcp(address, port);

	if (fd < 0)
		return fd;
	if (ret_port)
		*ret_port = port_of(fd);
	return add_listener(ss, fd, NULL);
}
