// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the console. */
#pragma once

#include <stdio.h>

#include "ctl/console.h"

/* A session; out: what is said to the line that is being served. */
struct console {
	struct console_config config;
	char *who;
	FILE *out;
	char *text;
	size_t len;
	bool looping; /* status loop */
	mono_t loop_at;
	struct console_job *job; /* being printed; NULL: none */
};

/* What is left of a line. */
struct console_words {
	char *at;
};
/* The next word, cut out of the line; NULL: there is none. Blank, tab, CR and LF separate. */
char *console_word(struct console_words *w);
/* All that is left, without blanks before it, up to CR, LF or tab; NULL: nothing. */
char *console_rest(struct console_words *w);

enum {
	CONSOLE_ACTS = 1,   /* refused, as a whole, to who may not act */
	CONSOLE_HIDDEN = 2, /* not in `help` without a name */
};

struct console_command {
	const char *name;
	const char *syntax; /* its line in `help` */
	const char *detail; /* more lines for `help NAME`; NULL: none */
	/* now: of the line. NULL: nothing happens */
	void (*run)(struct console *c, struct console_words *w, mono_t now);
	unsigned flags;
};
extern const struct console_command console_commands[]; /* ends with a row without a name */

/* As `help NAME`. */
void console_detail(struct console *c, const char *name);
/* False, and said: this session may not do `what`. True: it is logged who does it. */
bool console_may(struct console *c, const char *what);
/* The manager; NULL, and said: there is none, for no port is open. */
struct sm *console_sm(struct console *c);
/* Something was asked of it: it looks soon. */
void console_wake(struct console *c);
/* What a node is called: by the map of names, else by itself. */
const char *console_name(const struct console *c, const struct node *n);

/*
 * Prints what takes longer on a worker: print(snapshot, out) there, drop(snapshot) on the main thread after it,
 * session or not. The snapshot holds nothing of the manager.
 */
void console_print(struct console *c, void *snapshot, void (*print)(void *snapshot, FILE *out),
		   void (*drop)(void *snapshot));

/* ---- the commands ---- */

/* console_manager.c */
void console_loglevel(struct console *c, struct console_words *w, mono_t now);
void console_permodlog(struct console *c, struct console_words *w, mono_t now);
void console_priority(struct console *c, struct console_words *w, mono_t now);
void console_resweep(struct console *c, struct console_words *w, mono_t now);
void console_reroute(struct console *c, struct console_words *w, mono_t now);
void console_sweep(struct console *c, struct console_words *w, mono_t now);
void console_logflush(struct console *c, struct console_words *w, mono_t now);
void console_dump_conf(struct console *c, struct console_words *w, mono_t now);
void console_update_desc(struct console *c, struct console_words *w, mono_t now);
void console_version(struct console *c, struct console_words *w, mono_t now);
/* console_status.c */
void console_status(struct console *c, struct console_words *w, mono_t now);
void console_status_print(struct console *c);
/* console_ports.c */
void console_querylid(struct console *c, struct console_words *w, mono_t now);
void console_portstatus(struct console *c, struct console_words *w, mono_t now);
/* console_balance.c */
void console_switchbalance(struct console *c, struct console_words *w, mono_t now);
void console_lidbalance(struct console *c, struct console_words *w, mono_t now);
/* console_guids.c */
void console_dump_portguid(struct console *c, struct console_words *w, mono_t now);
/* console_perf.c */
const char *console_perf_state(const struct perf_status *st);
const char *console_perf_sweep(const struct perf_status *st);
void console_perfmgr(struct console *c, struct console_words *w, mono_t now);
