// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a command of opensmctl has to hand: options, the call, and how answers are shown.
 *
 *   static int cmd_groups(struct ctl *c, int argc, char **argv)
 *   {
 *           struct json_object *all = ctl_call(c, "Groups", NULL);
 *
 *           if (!all)
 *                   return c->exit_code;
 *           if (c->json)
 *                   ctl_print_json(c, js_get(all, "groups"));
 *           else
 *                   show(c, js_get(all, "groups"));
 *           json_object_put(all);
 *           return CTL_OK;
 *   }
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opensmctl/format/js.h"

/* Exit codes. */
enum { CTL_OK = 0, CTL_REFUSED = 1, CTL_USAGE = 2, CTL_NO_DAEMON = 3 };

struct client;

struct ctl {
	bool json, pretty, oneline;
	bool timestamps;      /* monitor */
	bool color;	      /* escape sequences may be written */
	unsigned stats;	      /* how often -s was said */
	const char *instance; /* -i: a name, or the path of a socket; NULL: the one there is */
	/* several are shown one after the other: the name of this one; NULL: one only */
	const char *turn;
	struct json_object *answers; /* several with -j: collects what ctl_print_json() is given */
	const char *run_dir;
	struct client *client; /* NULL: not connected yet */
	int exit_code;	       /* why ctl_call() came back with nothing */
};

/* What a command does where there are several instances and none is named. */
enum ctl_scope {
	CTL_ACTS,	/* nothing: which one is meant must be said */
	CTL_SHOWS,	/* shows each under a head of its own */
	CTL_SHOWS_BARE, /* the same without arguments; with them it acts */
	/* shows each, and writes the heads itself: other programs read what it writes */
	CTL_HEADS,
	CTL_SEES_ALL,	/* its own business */
};

struct ctl_command {
	const char *name;
	const char *arguments; /* as in the usage line: "[heavy|light]"; "" none */
	const char *help;      /* one line */
	const char *words;     /* for completion: "heavy light"; NULL: none */
	enum ctl_scope scope;
	/* argv[0] is the first word behind the command, argv[argc] NULL. Returns the exit code. */
	int (*run)(struct ctl *c, int argc, char **argv);
	/* With these arguments it is CTL_ACTS, whatever `scope`; NULL: with none. */
	bool (*acts)(int argc, char **argv);
};

/* The row of a command of the manager, by its whole name. */
const struct ctl_command *ctl_row(const char *name);

/* Each ends with a row without a name; in the order of the help. */
extern const struct ctl_command manager_commands[]; /* the manager: commands.c */
extern const struct ctl_command show_commands[];    /* the subnet: show.c */

/* ---- the conversation ---- */

/*
 * Calls org.opensm.METHOD. `parameters` (NULL: none) is taken. Returns the answer's parameters, to
 * be put. NULL: why not was told on stderr, and c->exit_code says what to exit with.
 */
struct json_object *ctl_call(struct ctl *c, const char *method, struct json_object *parameters);
/*
 * A call without parameters that may fail: then {"absent": why}, "" where the daemon has no such
 * method. NULL: the connection was lost, which was told.
 */
struct json_object *ctl_call_if_there(struct ctl *c, const char *method);
/* The same for the daemon behind the socket `path`, whatever instance `c` is about. */
struct json_object *ctl_call_at(const struct ctl *c, const char *path, const char *method,
				int *ret_exit);
/*
 * The same for a call with several answers: `on_reply` is told each. False from it ends the call
 * early. Returns the exit code.
 */
int ctl_call_more(struct ctl *c, const char *method, struct json_object *parameters,
		  bool (*on_reply)(void *arg, struct json_object *reply), void *arg);

/*
 * The two halves of it, for calls to several daemons at once: the question, 0 or -errno, which was
 * reported; and the next answer, if there is a whole one (to be put). 0; -EAGAIN: not yet; other
 * -errno: the call has ended, which was reported.
 */
int ctl_begin_more(struct ctl *c, const char *method, struct json_object *parameters);
int ctl_next_more(struct ctl *c, struct json_object **ret);

/* ---- several instances: several.c ---- */

/* Runs the command on the instance that is meant, or on all where it shows them. The exit code. */
int ctl_run(struct ctl *c, const struct ctl_command *command, int argc, char **argv);

/* ---- usage ---- */

/* "opensmctl: TEXT", and where help is; returns CTL_USAGE. */
int ctl_usage(const struct ctl_command *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* "opensmctl: TEXT"; returns CTL_REFUSED. */
int ctl_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * The word of `words` (NULL at the end) that `text` is, or begins alone: its index. -1: none, -2:
 * several. This is how commands are abbreviated.
 */
int ctl_match(const char *text, const char *const *words);

/*
 * As -j and -p want it, with a newline; of one of several instances later, with the others. Not
 * put.
 */
void ctl_print_json(const struct ctl *c, struct json_object *value);

/* ---- text for people ---- */

enum ctl_color { CTL_PLAIN, CTL_GOOD, CTL_BAD, CTL_WARN, CTL_NAME, CTL_DIM };
/* The escape sequence, "" without -c; CTL_PLAIN ends a colour. */
const char *ctl_color(const struct ctl *c, enum ctl_color color);
/* "2 h 13 min"; returns `ret`. */
const char *ctl_duration(int64_t seconds, char ret[static 32]);
/* A count with its noun: "1 node", "3 nodes". Returns `ret`. */
const char *ctl_plural(int64_t n, const char *one, char ret[static 64]);

/* What a column shows of a record's member `key`. */
enum column_kind {
	COLUMN_STR,
	COLUMN_INT,
	COLUMN_NATURAL, /* nothing for 0 */
	COLUMN_GBPS,  /* "12.5", "400" */
	COLUMN_LEN,   /* of an array */
	COLUMN_PLACE, /* ctl_place() of the member; without a key, of the record */
	COLUMN_INDEX, /* the number of the record, from 0 */
};

/* Aligned columns of a table; a row without a head ends the list. At most 16. */
struct column {
	const char *head; /* that ends in '>': a column of numbers, aligned to the right */
	enum column_kind kind;
	const char *key;
	enum ctl_color color;
	const char *otherwise; /* where the record has no such member; NULL: "", 0 or "-" */
	bool optional;	       /* not shown where the first record has no such member */
	enum ctl_color (*tint)(struct json_object *record); /* instead of `color` */
	char *(*text)(struct json_object *record); /* instead of the member; to be freed */
};

/*
 * Prints an array of records to stdout. With -o: no heads, a TAB between cells, and of several
 * instances the name first. Empty cells are shown as "-".
 */
void ctl_print_table(const struct ctl *c, const struct column *columns,
		     struct json_object *records);
/* "spine1/3" of an object with name and port, "spine1" of port 0; "-" of none. To be freed. */
char *ctl_place(struct json_object *o);
/* "12.5", "400". Returns `ret`. */
char *ctl_gbps(double gbps, char ret[static 32]);
/* "stored here and by 2 of 2 standbys", of the answer to a change. Returns `ret`. */
#define CTL_COPIES_STRLEN 80
const char *ctl_copies(struct json_object *answer, char ret[CTL_COPIES_STRLEN]);
