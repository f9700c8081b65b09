// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the console. */
#pragma once

#include <stdio.h>

#include "console/console.h"

/* A session; out: the answer to the line that is being served. */
struct console {
	struct console_config config;
	FILE *out;
	char *text;
	size_t len;
	bool looping; /* status loop */
	mono_t loop_at;
	struct console_job *job; /* being printed; NULL: none */
	struct console_copying *copying; /* what is to be printed next; NULL: nothing */
};

/* The rest of a line. */
struct console_words {
	char *at;
};
/* The next word, cut out of the line; NULL: there is none. Blank, tab, CR and LF separate. */
char *console_word(struct console_words *w);
/* All that is left, without blanks before it, up to CR, LF or tab; NULL: nothing. */
char *console_rest(struct console_words *w);

enum {
	CONSOLE_ACTS = 1,   /* refused, as a whole, to a session that may not act */
	CONSOLE_HIDDEN = 2, /* not in `help` without a name */
};

/* `now`: when the line came. */
typedef void console_run_fn(struct console *c, struct console_words *w, mono_t now);

struct console_command {
	const char *name;
	const char *syntax; /* its line in `help` */
	const char *detail; /* more lines for `help NAME`; NULL: none */
	console_run_fn *run; /* NULL: nothing happens */
	unsigned flags;
};
extern const struct console_command console_commands[]; /* ends with a row without a name */

/* As `help NAME`. */
void console_detail(struct console *c, const char *name);
/* False, and printed: this session may not do `what`. True: it is logged. */
bool console_may(struct console *c, const char *what);
/* The manager; NULL, and printed: there is none, for no port is open. */
struct sm *console_sm(struct console *c);
/* The same for a command whose words are `good`; else `fault` is printed, and `help COMMAND`. */
struct sm *console_sm_if(struct console *c, bool good, const char *fault, const char *command);
/* Something was asked of it: it looks soon. */
void console_wake(struct console *c);
/* The name of a node: of the map of names, else its description. */
const char *console_name(const struct console *c, const struct node *n);

/*
 * Prints long output on a worker: print(snapshot, out) there, drop(snapshot) on the main
 * thread after it, session or not. The snapshot holds nothing of the manager.
 */
void console_print(struct console *c, void *snapshot, void (*print)(void *snapshot, FILE *out),
		   void (*drop)(void *snapshot));

/* Likewise, of the fabric as it stands: a view, which is copied in turns before it is printed. */
struct console_viewer {
	void *snapshot;
	const struct routes *routes; /* of the view; NULL: without */
	/* On the main thread, when the view is whole: its one reference is the snapshot's. */
	void (*copied)(void *snapshot, struct view *v, const struct sm *sm);
	void (*print)(void *snapshot, FILE *out);
	void (*drop)(void *snapshot); /* also of a snapshot that has no view yet */
};
void console_print_view(struct console *c, const struct console_viewer *viewer);

/* ---- the commands ---- */

console_run_fn console_loglevel, console_permodlog, console_priority; /* console_manager.c */
console_run_fn console_resweep, console_reroute, console_sweep, console_logflush;
console_run_fn console_dump_conf, console_update_desc, console_version;
console_run_fn console_status;				  /* console.c */
void console_status_print(struct console *c);		  /* console_status.c */
console_run_fn console_querylid, console_portstatus;	  /* console_ports.c */
console_run_fn console_switchbalance, console_lidbalance; /* console_balance.c */
console_run_fn console_dump_portguid;			  /* console_guids.c */
console_run_fn console_perfmgr;				  /* console_perf.c */
const char *console_perf_state(const struct perf_status *st);
const char *console_perf_sweep(const struct perf_status *st);
