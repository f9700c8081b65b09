// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conversations with peers: messages in, bytes out, over a unix socket, TCP on loopback, or a pair
 * of descriptors such as stdin and stdout. Knows no message.
 *
 *   stream_hub_new, stream_listen_unix / stream_listen_tcp / stream_add, ..., stream_hub_free
 *
 * Nothing here blocks. A peer that sends too long a message, or does not read its answers, loses
 * its connection; there are never more than `max_peers`. If all places are taken, a new peer
 * replaces the one that has been idle for longest: silent connections keep no peer out. A stream
 * lives from opened() to closed(), and closed() comes from the event loop or from
 * stream_hub_free(): never while its user is in one of the functions below, so that a stream may be
 * used after a send that failed.
 *
 * A peer that ends its side ("echo status | nc") is served to the end of what it sent.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct stream_hub; /* listeners and their peers */
struct stream;	/* one peer */

struct stream_config {
	/* Byte that ends a message: '\0' or '\n' (a '\r' before it is removed, too). */
	char end;
	/* most peers; a further one is sent `busy` and closed, unless an idle peer is replaced */
	unsigned max_peers;
	/* most peers of one user on a unix socket, except root and our own user; 0: no limit */
	unsigned max_per_uid;
	/* places of max_peers reserved for root and our own user; unix sockets only */
	unsigned reserved;
	size_t max_message;    /* most bytes of a message, without the end byte */
	/*
	 * Most peers at a time in the middle of a message beyond max_message: stream_allow_long().
	 */
	unsigned max_long;
	/* most of max_long for one user; places of max_long reserved for root and our own user */
	unsigned max_long_per_uid, reserved_long;
	/* Most us until the end of a message beyond max_message; 0: no limit. */
	uint64_t long_time;
	/*
	 * Most bytes of stream_send() that may wait; while more bytes of any kind wait, no message
	 * is read.
	 */
	size_t max_unsent;
	const char *busy; /* bytes for a peer that finds no place; NULL: none */
	size_t busy_len;
	/*
	 * May this peer be replaced by a new one? Asked only of open streams that are not held and
	 * have nothing unsent. Of those that may, the one that has been silent for longest is
	 * closed. NULL: none may.
	 */
	bool (*is_idle)(void *arg, const struct stream *s);
	/* A peer has connected. False: it is closed when the bytes for it are sent. May be NULL. */
	bool (*opened)(void *arg, struct stream *s);
	/*
	 * A message, NUL-terminated and writable; valid during the call. `text` NULL: a message
	 * that is too long, of which `len` bytes have arrived; nothing more is read, and the stream
	 * ends when the bytes for it are sent.
	 */
	void (*message)(void *arg, struct stream *s, char *text, size_t len);
	/* The stream ends, and must not be used any more. `why`: "has hung up". May be NULL. */
	void (*closed)(void *arg, struct stream *s, const char *why);
	void *arg;
};

/* `config` is copied, its strings are not. */
struct stream_hub *stream_hub_new(sd_event *event, const struct stream_config *config);
/* Closes all streams with closed(); unix sockets are removed. NULL is fine; returns NULL. */
struct stream_hub *stream_hub_free(struct stream_hub *ss);

/*
 * 0 or -errno. A stale socket at `path` is replaced; -EADDRINUSE: another process listens there, or
 * it is no socket. `mode`: permissions of the socket, 0666 lets all users connect.
 */
int stream_listen_unix(struct stream_hub *ss, const char *path, mode_t mode);
/* `address`: "127.0.0.1", "::1"; port 0: any. 0 or -errno; the port in `ret_port`, or NULL. */
int stream_listen_tcp(struct stream_hub *ss, const char *address, uint16_t port,
		      uint16_t *ret_port);
/* Bind such a socket without listening yet. Return the descriptor or -errno. */
int stream_bind_unix(const char *path, mode_t mode);
int stream_bind_tcp(const char *address, uint16_t port);
/*
 * Adds a peer on two descriptors (perhaps the same), which stay the caller's and keep their flags:
 * they are opened anew, or duplicated. opened() is called within. 0 or -errno.
 */
int stream_add(struct stream_hub *ss, int in, int out, const char *name);
unsigned stream_count(const struct stream_hub *ss);

/* Process and user at the other end; `known` only on unix sockets. */
struct stream_peer {
	bool known;
	pid_t pid;
	uid_t uid;
	gid_t gid;
};
struct stream_peer stream_peer(const struct stream *s);
/* Is this one of the peer's groups? False where the peer is not known. */
bool stream_peer_in_group(const struct stream *s, gid_t gid);
/* Name of the peer for logs: "pid 4711 (uid 0)", "127.0.0.1:40022", or the name given. */
const char *stream_name(const struct stream *s);

/* A pointer of the user; NULL at first. */
void stream_set_user(struct stream *s, void *user);
void *stream_user(const struct stream *s);

/*
 * Queues a copy of bytes. -ENOBUFS: too many bytes wait already, and the peer is closed; -EPIPE: it
 * is closed already. The result may be ignored.
 */
int stream_send(struct stream *s, const void *bytes, size_t len);
/*
 * Queues malloc()ed bytes, whatever their length, and frees them. While more than max_unsent wait,
 * no message is delivered.
 */
int stream_give(struct stream *s, char *bytes, size_t len);
/*
 * Lets this peer send messages of `max` bytes, at least max_message. Memory beyond max_message is
 * allocated while such a message arrives, for at most max_long peers at a time, each for at most
 * long_time; for any further peer such a message is too long.
 */
void stream_allow_long(struct stream *s, size_t max);
/* Number of bytes that wait for the peer. */
size_t stream_unsent(const struct stream *s);

/* Stops (or resumes) reading and delivery while the answer to a message is being made. */
void stream_hold(struct stream *s, bool hold);
/* Ends the stream when all bytes for it are sent; no message is delivered any more. */
void stream_finish(struct stream *s);
/* Ends the stream at once. `why`, for closed(), must stay valid. */
void stream_drop(struct stream *s, const char *why);
