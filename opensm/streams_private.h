// SPDX-License-Identifier: BSD-2-Clause
/* Between streams.c (conversations) and streams_listen.c (where they come from). */
#pragma once

#include "streams.h"

enum stream_state { STREAM_OPEN, STREAM_FINISHING, STREAM_DEAD };

struct piece {
	struct piece *next;
	char *bytes;
	size_t len;
	bool counted; /* against max_unsent */
};

struct stream {
	struct streams *of;
	struct stream *next;
	enum stream_state state;
	const char *why;
	int in, out;
	bool blocks;	/* `out` could not be made not to */
	bool is_socket;
	bool held, input_ended;
	sd_event_source *input, *output, *again, *stall;
	struct stream_peer peer;
	char name[80];
	void *user;
	char *buf; /* max_message + 2 */
	size_t len, scanned;
	struct piece *first, **end;
	size_t sent_of_first, unsent, counted;
};

struct listener {
	struct listener *next;
	struct streams *of;
	int fd;
	bool is_unix;
	char *path; /* unix only */
	dev_t dev;
	ino_t ino;
	sd_event_source *io, *pause;
};

struct streams {
	struct streams_config c;
	sd_event *event;
	sd_event_source *reaper;
	struct listener *listeners;
	struct stream *streams;
	unsigned n;
};

/* Takes the descriptors in any case. NULL: could not be watched, with errno. */
struct stream *stream_new(struct streams *ss, int in, int out, bool is_socket);
/* Finds out who a socket's peer is. */
void stream_find_peer(struct stream *s);
/* opened(), and what follows from it. */
void stream_introduce(struct stream *s);
/* Closes it; the socket leaves the file system. */
void listener_free(struct listener *l);
