// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conversations with whoever connects: messages in, bytes out, over a unix socket, TCP on loopback, or
 * a pair of descriptors such as stdin and stdout. Knows no message: windows do.
 *
 *   streams_new, streams_listen_unix / streams_listen_tcp / streams_add, ..., streams_free
 *
 * Nobody is waited for. A peer that sends too long a message, or does not read what it is sent, loses its
 * connection; there are never more than `max_peers`. A stream lives from opened() to closed(), and
 * closed() comes from the event loop or from streams_free(): never while its user is in one of the
 * functions below, so that a stream may be used after a send that failed.
 *
 * A peer that ends its side ("echo status | nc") is served to the end of what it sent.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct streams; /* listeners and their peers */
struct stream;	/* one peer */

struct streams_config {
	/* The byte that ends a message: '\0' or '\n' (then a '\r' before it is cut off, too). */
	char end;
	unsigned max_peers;    /* who comes beyond is sent `busy`, and closed */
	unsigned max_per_uid;  /* of one user on a unix socket, root and ourselves excepted; 0: no limit */
	size_t max_message;    /* bytes, without its end */
	/* Bytes of stream_send() that the peer has not taken; and of all, before it is asked for more messages. */
	size_t max_unsent;
	const char *busy;      /* bytes for who finds no place; NULL: nothing */
	size_t busy_len;
	/* A peer is there. False: it is let go as soon as what was sent to it is gone. May be NULL. */
	bool (*opened)(void *arg, struct stream *s);
	/*
	 * A message, NUL-terminated, which may be written to; it ends with the call. `text` NULL: one of more
	 * than max_message bytes; nothing more is read, and the stream ends when what is sent now has gone.
	 */
	void (*message)(void *arg, struct stream *s, char *text, size_t len);
	/* It ends, and must be forgotten. `why` in words, "has hung up". May be NULL. */
	void (*closed)(void *arg, struct stream *s, const char *why);
	void *arg;
};

/* `config` is copied, its strings are not. */
struct streams *streams_new(sd_event *event, const struct streams_config *config);
/* Closes all, calling closed() for each; sockets of ours leave the file system. NULL is fine; returns NULL. */
struct streams *streams_free(struct streams *ss);

/*
 * 0 or -errno. A socket at `path` that nobody listens on is replaced; -EADDRINUSE: somebody does, or
 * something that is no socket is there. `mode`: of the socket, 0666 lets everybody connect.
 */
int streams_listen_unix(struct streams *ss, const char *path, mode_t mode);
/* `address`: "127.0.0.1", "::1". Port 0: any. 0 or -errno; the port that was got in `ret_port` (may be NULL). */
int streams_listen_tcp(struct streams *ss, const char *address, uint16_t port, uint16_t *ret_port);
/* The same sockets, bound and not listened on, for who listens himself: the descriptor, or -errno. */
int streams_bind_unix(const char *path, mode_t mode);
int streams_bind_tcp(const char *address, uint16_t port);
/*
 * A peer on two descriptors (perhaps the same), which stay the caller's and keep their flags: they are
 * opened anew, or duplicated. opened() is called within. 0 or -errno.
 */
int streams_add(struct streams *ss, int in, int out, const char *name);
unsigned streams_count(const struct streams *ss);

/* Who it is; `known` only on unix sockets. */
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

/* What the user keeps with it; NULL at first. */
void stream_set_user(struct stream *s, void *user);
void *stream_user(const struct stream *s);

/*
 * Queues bytes; a copy is made. -ENOBUFS: the peer has not taken what was sent before, and is dropped now;
 * -EPIPE: it is gone already. Nobody needs to look at the result.
 */
int stream_send(struct stream *s, const void *bytes, size_t len);
/*
 * The same for malloc()ed bytes that become the stream's, whatever their length; while more than max_unsent
 * wait, no message is delivered.
 */
int stream_give(struct stream *s, char *bytes, size_t len);
int stream_printf(struct stream *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Bytes that wait for the peer. */
size_t stream_unsent(const struct stream *s);

/* True: nothing is read, and no message delivered, until it is false again: an answer is on its way. */
void stream_hold(struct stream *s, bool hold);
/* Ends when all that was sent has been taken; no message comes any more. */
void stream_finish(struct stream *s);
/* Ends at once. `why` must stay, it is for closed(). */
void stream_drop(struct stream *s, const char *why);
