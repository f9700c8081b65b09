// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the console. */
#pragma once

#include <stdio.h>

#include "console/console.h"

/* A session; `out`: the answer to the present line. */
struct console {
	struct console_config config;
	FILE *out;
	char *text;
	size_t len;
	/* command whose help follows the answer, as its words were not understood; NULL: none */
	const char *help;
	bool looping; /* set while `status loop` repeats */
	mono_t loop_at;
	struct console_job *job; /* the job that prints; NULL: none */
	struct console_copying *copying; /* the copy in progress for the next print; NULL: none */
};

/* The rest of a line, whose words are taken one by one. */
struct console_words {
	char *at;
};
/* Takes the next word; NULL: there is none. Blank, tab, CR and LF separate words. */
char *console_word(struct console_words *w);
/* Takes the rest, without leading blanks, up to CR, LF or tab; NULL: it is empty. */
char *console_rest(struct console_words *w);

enum {
	CONSOLE_ACTS = 1,   /* refused to a session without the right to act */
	CONSOLE_HIDDEN = 2, /* not listed by `help` without a name */
};

/* `now`: arrival time of the line. */
typedef void console_run_fn(struct console *c, struct console_words *w, mono_t now);

struct console_command {
	const char *name;
	const char *syntax; /* line in `help` */
	const char *detail; /* further lines of `help NAME`; NULL: none */
	console_run_fn *run; /* function of the command; NULL: it has no effect */
	unsigned flags;
};
extern const struct console_command console_commands[]; /* ends with a row without a name */

/* May this session do `what`? True: it is logged. False: a refusal is printed. */
bool console_may(struct console *c, const char *what);
/* The manager; NULL: no port is open, which is printed. */
struct sm *console_sm(struct console *c);
/*
 * The manager, if the words of the command are `good`; else `fault` is printed, the help of the
 * command follows, and NULL is returned.
 */
struct sm *console_sm_if(struct console *c, bool good, const char *fault, const char *command);
/* Lets the daemon handle a request to the manager soon. */
void console_wake(struct console *c);
/* The name of a node from the node-name map, else its description. */
const char *console_name(const struct console *c, const struct node *n);

/*
 * Prints long output on a worker: print(snapshot, out) there, then drop(snapshot) on the main
 * thread, even if the session has ended. The snapshot holds nothing of the manager.
 */
void console_print(struct console *c, void *snapshot, void (*print)(void *snapshot, FILE *out),
		   void (*drop)(void *snapshot));

/*
 * Long output about the fabric as it stands: a view, which is copied in turns before it is printed.
 */
struct console_viewer {
	void *snapshot;
	const struct routes *routes; /* routes for the view; NULL: none */
	/*
	 * Called on the main thread when the view is complete; its one reference belongs to the
	 * snapshot.
	 */
	void (*copied)(void *snapshot, struct view *v, const struct sm *sm);
	void (*print)(void *snapshot, FILE *out);
	void (*drop)(void *snapshot); /* called even if no view was made */
};
void console_print_view(struct console *c, const struct console_viewer *viewer);
/* Copies for one turn. A complete view is passed to the worker. */
void console_copy_some(struct console *c);
void console_drop_copying(struct console *c);
/* The session ends: long output in progress is dropped. */
void console_drop_output(struct console *c);

/* ---- the commands ---- */

console_run_fn console_loglevel, console_permodlog, console_priority; /* console_manager.c */
console_run_fn console_resweep, console_reroute, console_sweep, console_logflush;
console_run_fn console_dump_conf, console_update_desc, console_version;
console_run_fn console_status;				  /* console_status.c */
/* Prints the status once more while it repeats itself. */
void console_status_again(struct console *c, mono_t now);
/* Answers a line while the status repeats itself: "q" ends that, another line gets the hint. */
void console_status_hint(struct console *c, struct console_words *w);
console_run_fn console_querylid, console_portstatus;	  /* console_ports.c */
console_run_fn console_switchbalance, console_lidbalance; /* console_balance.c */
console_run_fn console_dump_portguid;			  /* console_guids.c */
console_run_fn console_perfmgr;				  /* console_perf.c */
const char *console_perf_state(const struct perf_status *st);
const char *console_perf_sweep(const struct perf_status *st);
