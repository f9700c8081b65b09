// SPDX-License-Identifier: BSD-2-Clause
/*
 * The console: lines in, text out, in the formats of OpenSM (console.md). One struct console is one
 * session. It has no descriptor and no clock: daemon/listen_console.c feeds it.
 *
 *   console_new -> "OpenSM $ "    console_line("version") -> "OpenSM 4.0.0 build ...\nOpenSM $ "
 *
 * Output that grows with the fabric is printed by a worker from a copy, which is made in turns of
 * console_tick(): until then the session is busy and takes no line, while other clients are served.
 *
 * A session without the right to act may look: commands that change something, write a file, or
 * show a key are refused with a sentence.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "api/daemon_api.h"
#include "plugin/plugin.h"

#define CONSOLE_PROMPT	 "OpenSM $ "
/* Longest line that is accepted. */
#define CONSOLE_LINE_MAX 4096

struct console;

struct console_config {
	const struct daemon_api *api;     /* must outlive it */
	const struct plugins *plugins; /* loaded plugins, which must outlive it, too; NULL: none */
	/* set for the terminal of the process, where `quit` has no effect */
	bool local;
	bool may_act;
	const char *client; /* for the log: "127.0.0.1:40022 (uid 0)"; copied */
	/* Text for the user, malloc()ed, which becomes the callee's. */
	void (*write)(void *arg, char *text, size_t len);
	/* True: no line may be passed until it is called with false. */
	void (*busy)(void *arg, bool busy);
	/* The user has entered `quit`. The session must not be freed within. */
	void (*quit)(void *arg);
	void *arg;
};

/* Makes a session and writes its prompt. */
struct console *console_new(const struct console_config *config);
/*
 * Frees a session. Output that a worker still prints for it is dropped. NULL is fine; returns NULL.
 */
struct console *console_free(struct console *c);

/*
 * Handles one line without its end, which may be written to. Not allowed while the session is busy.
 */
void console_line(struct console *c, char *line, mono_t now);
/* Called at the time of console_next(). */
void console_tick(struct console *c, mono_t now);
mono_t console_next(const struct console *c); /* MONO_NEVER: no time is waited for */
/* Called before the manager is freed: copies in progress are dropped with a message to the user. */
void console_sm_gone(struct console *c);
