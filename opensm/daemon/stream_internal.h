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
	bool counted; /* against max_unsent */
};

struct stream {
	struct stream_hub *of;
	struct stream *next;
	enum stream_state state;
	const char *why;
	int in, out;
	bool blocks;	/* `out` could not be made not to */
	bool is_socket;
	bool held, input_ended;
	sd_event_source *input, *output, *again, *stall, *late;
	struct stream_peer peer;
	/* place in the order of last messages; the lowest was silent for longest */
	uint64_t active;
	char name[80];
	void *user;
	char *buf; /* room + 3 bytes */
	size_t len, scanned;
	size_t room, max; /* bytes of a message: that `buf` has room for, that there may be */
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
	uint64_t turn; /* counts connections and messages: the last `active` */
};

/* Root and ourselves are trusted with every place there is. */
static inline bool stream_is_trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* Takes the descriptors in any case. NULL: could not be watched, with errno. */
struct stream *stream_new(struct stream_hub *ss, int in, int out, bool is_socket);
/* Asks the kernel for the peer of a socket. */
void stream_find_peer(struct stream *s);
/* Calls opened(), and finishes a stream that is refused. */
void stream_introduce(struct stream *s);
/* Ends it and calls closed() at once; `s` is gone. For the event loop only. */
void stream_evict(struct stream *s, const char *why);
/* Closes it; the socket leaves the file system. */
void listener_free(struct listener *l);
