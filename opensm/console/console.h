// SPDX-License-Identifier: BSD-2-Clause
/*
 * The console: lines in, text out, in the shapes of OpenSM's (console.md). One struct console is
 * one session. It knows no descriptor and no clock: daemon/listen_console.c feeds it.
 *
 *   console_new -> "OpenSM $ "    console_line("version") -> "OpenSM 4.0.0 build ...\nOpenSM $ "
 *
 * Output that grows with the fabric is printed by a worker from a copy, which is taken in turns of
 * console_tick(): until then the session is busy and takes no line, and all other clients are
 * served.
 *
 * A session that may not act may look: each command that changes something, writes a file, or shows
 * a key is refused to it, in words.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "api/daemon_api.h"
#include "plugin/plugin.h"

#define CONSOLE_PROMPT	 "OpenSM $ "
/* Longest line taken. */
#define CONSOLE_LINE_MAX 4096

struct console;

struct console_config {
	const struct daemon_api *api;     /* must outlive it */
	const struct plugins *plugins; /* so must these; NULL: none */
	bool local;		   /* on the terminal of the process: `quit` does nothing */
	bool may_act;
	const char *client; /* for the log: "127.0.0.1:40022 (uid 0)"; copied */
	/* Text for the user, malloc()ed, which becomes the callee's. */
	void (*write)(void *arg, char *text, size_t len);
	/* True: no line may come until it is false again. */
	void (*busy)(void *arg, bool busy);
	/* The user wants to leave. The session may not be freed within. */
	void (*quit)(void *arg);
	void *arg;
};

/* Writes the prompt. */
struct console *console_new(const struct console_config *config);
/* Output that a worker prints for it is dropped. NULL is fine; returns NULL. */
struct console *console_free(struct console *c);

/* One line without its end, which may be written to. Not while it is busy. */
void console_line(struct console *c, char *line, mono_t now);
/* The time of console_next() has come. */
void console_tick(struct console *c, mono_t now);
mono_t console_next(const struct console *c); /* MONO_NEVER: it waits for no time */
/* Before the manager is freed: what is copied of it is dropped, and the user told. */
void console_sm_gone(struct console *c);
