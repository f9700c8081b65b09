// SPDX-License-Identifier: BSD-2-Clause
/* Between stream.c (conversations) and stream_listen.c (where they come from). */
#pragma once

#include "daemon/stream.h"

#include <unistd.h>

enum stream_state { STREAM_OPEN, STREAM_FINISHING, STREAM_DEAD };

struct piece {
	struct piece *next;
	char *bytes;
	size_t len;
	bool counted; /* set if counted in stream.counted, against max_unsent */
};

struct stream {
	struct stream_hub *of;
	struct stream *next;
	enum stream_state state;
	const char *why;
	int in, out;
	bool blocks;	/* set if `out` cannot be made non-blocking */
	bool is_socket;
	bool held, input_ended;
	sd_event_source *input, *output, *again, *stall, *late;
	struct stream_peer peer;
	/* turn of its last message or of its start; the lowest has been silent for longest */
	uint64_t active;
	char name[80];
	void *user;
	char *buf; /* room + 3 bytes */
	size_t len, scanned;
	/* most bytes of a message: for which `buf` has room, and that are allowed */
	size_t room, max;
	struct piece *first, **end;
	size_t sent_of_first, unsent, counted;
};

struct listener {
	struct listener *next;
	struct stream_hub *of;
	int fd;
	bool is_unix;
	char *path; /* unix only */
	dev_t dev;
	ino_t ino;
	sd_event_source *io, *pause;
};

struct stream_hub {
	struct stream_config c;
	sd_event *event;
	sd_event_source *reaper;
	struct listener *listeners;
	struct stream *streams;
	unsigned n;
	uint64_t turn; /* counter of connections and messages, the source of `active` */
};

/* Root and our own user may use reserved places and have no limits of their own. */
static inline bool stream_is_trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* Takes the descriptors even on failure. NULL: they cannot be watched, with errno. */
struct stream *stream_new(struct stream_hub *ss, int in, int out, bool is_socket);
/* Asks the kernel for the peer of a socket. */
void stream_find_peer(struct stream *s);
/* Calls opened(), and finishes a stream that is refused. */
void stream_introduce(struct stream *s);
/* Ends the stream and calls closed() at once; `s` is freed. For the event loop only. */
void stream_evict(struct stream *s, const char *why);
/* Closes the listener; a unix socket is removed. */
void listener_free(struct listener *l);
