// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conversations with peers: messages in, bytes out, over a unix socket, TCP on loopback, or a pair
 * of descriptors such as stdin and stdout. Knows no message.
 *
 *   stream_hub_new, stream_listen_unix / stream_listen_tcp / stream_add, ..., stream_hub_free
 *
 * Nothing here blocks. A peer that sends too long a message, or does not read what it is sent,
 * loses its connection; there are never more than `max_peers`. Where all places are taken, a
 * newcomer gets that of the peer which has been idle for longest: silent connections keep no peer
 * out. A stream lives from opened() to closed(), and closed() comes from the event loop or from
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
	/* The byte that ends a message: '\0' or '\n' (then a '\r' before it is cut off, too). */
	char end;
	/* a newcomer beyond is sent `busy`, and closed, unless an idle peer makes room */
	unsigned max_peers;
	/* of one user on a unix socket, root and ourselves excepted; 0: no limit */
	unsigned max_per_uid;
	/* of max_peers, places that only root and ourselves get; unix sockets */
	unsigned reserved;
	size_t max_message;    /* bytes, without its end */
	/* Peers that may be in the middle of a longer one at a time: stream_allow_long(). */
	unsigned max_long;
	/* of max_long: of one user, and that only root and ourselves get, as for connections */
	unsigned max_long_per_uid, reserved_long;
	/* A longer message must have its end in so many us; 0: whenever it comes. */
	uint64_t long_time;
	/* Bytes of stream_send() that wait; and of all, before more messages are read. */
	size_t max_unsent;
	const char *busy; /* bytes for a peer that finds no place; NULL: nothing */
	size_t busy_len;
	/*
	 * May this peer lose its place to a newcomer? Asked only of those that wait for nothing: an
	 * open stream that is not held, with nothing unsent. Of all that may, the one that has been
	 * silent for longest goes. NULL: none may.
	 */
	bool (*is_idle)(void *arg, const struct stream *s);
	/* A peer came. False: it goes as soon as what was sent to it is gone. May be NULL. */
	bool (*opened)(void *arg, struct stream *s);
	/*
	 * A message, NUL-terminated, which may be written to; it ends with the call. `text` NULL:
	 * one that is too long, of which `len` bytes came; nothing more is read, and the stream
	 * ends when what is sent now has gone.
	 */
	void (*message)(void *arg, struct stream *s, char *text, size_t len);
	/* It ends, and must be forgotten. `why` in words, "has hung up". May be NULL. */
	void (*closed)(void *arg, struct stream *s, const char *why);
	void *arg;
};

/* `config` is copied, its strings are not. */
struct stream_hub *stream_hub_new(sd_event *event, const struct stream_config *config);
/* Closes all with closed(); sockets of ours leave the file system. NULL is fine; returns NULL. */
struct stream_hub *stream_hub_free(struct stream_hub *ss);

/*
 * 0 or -errno. A stale socket at `path` is replaced; -EADDRINUSE: another process listens there, or
 * it is no socket. `mode`: of the socket, 0666 lets all users connect.
 */
int stream_listen_unix(struct stream_hub *ss, const char *path, mode_t mode);
/* `address`: "127.0.0.1", "::1"; port 0: any. 0 or -errno; the port in `ret_port`, or NULL. */
int stream_listen_tcp(struct stream_hub *ss, const char *address, uint16_t port,
		      uint16_t *ret_port);
/* The same sockets, bound and not listened on yet: the descriptor, or -errno. */
int stream_bind_unix(const char *path, mode_t mode);
int stream_bind_tcp(const char *address, uint16_t port);
/*
 * A peer on two descriptors (perhaps the same), which stay the caller's and keep their flags: they
 * are opened anew, or duplicated. opened() is called within. 0 or -errno.
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
/* Is this one of the peer's groups? False where it is not known. */
bool stream_peer_in_group(const struct stream *s, gid_t gid);
/* "pid 4711 (uid 0)", "127.0.0.1:40022", or the name given; for logs. */
const char *stream_name(const struct stream *s);

/* A pointer of the user; NULL at first. */
void stream_set_user(struct stream *s, void *user);
void *stream_user(const struct stream *s);

/*
 * Queues bytes; a copy is made. -ENOBUFS: the peer has not taken what was sent before, and is
 * dropped now; -EPIPE: it is gone already. The result may be ignored.
 */
int stream_send(struct stream *s, const void *bytes, size_t len);
/*
 * The same for malloc()ed bytes that become the stream's, whatever their length; while more than
 * max_unsent wait, no message is delivered.
 */
int stream_give(struct stream *s, char *bytes, size_t len);
/*
 * From now on a message of this peer may have `max` bytes, at least max_message. Memory beyond
 * max_message is taken while such a message comes in, by at most max_long peers at a
 * time, each for at most long_time; to the next one, its message is too long at max_message bytes.
 */
void stream_allow_long(struct stream *s, size_t max);
/* Bytes that wait for the peer. */
size_t stream_unsent(const struct stream *s);

/* True: an answer is on its way; nothing is read or delivered until it is false again. */
void stream_hold(struct stream *s, bool hold);
/* Ends when all that was sent has been taken; no message comes any more. */
void stream_finish(struct stream *s);
/* Ends at once. `why` must stay, it is for closed(). */
void stream_drop(struct stream *s, const char *why);
