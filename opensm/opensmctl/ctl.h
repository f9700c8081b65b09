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

/* Exit codes. */
enum { CTL_OK = 0, CTL_REFUSED = 1, CTL_USAGE = 2, CTL_NO_DAEMON = 3 };

struct client;

struct ctl {
	bool json, pretty, oneline;
	bool timestamps;      /* monitor */
	bool color;	      /* escape sequences may be written */
	unsigned stats;	      /* how often -s was said */
	const char *instance; /* -i: a name, or the path of a socket; NULL: the one there is */
	const char *run_dir;
	struct client *client; /* NULL: not connected yet */
	int exit_code;	       /* why ctl_call() came back with nothing */
};

struct ctl_command {
	const char *name;
	const char *arguments; /* as in the usage line: "[heavy|light]"; "" none */
	const char *help;      /* one line */
	const char *words;     /* for completion: "heavy light"; NULL: none */
	/* argv[0] is the first word behind the command. Returns the exit code. */
	int (*run)(struct ctl *c, int argc, char **argv);
};

/* Each ends with a row without a name; in the order of the help. */
extern const struct ctl_command manager_commands[]; /* the manager: commands.c */
extern const struct ctl_command show_commands[];    /* the subnet: show.c */

/* ---- the conversation ---- */

/*
 * Calls org.opensm.METHOD. `parameters` (NULL: none) is taken. Returns the answer's parameters, to be put.
 * NULL: why not was told on stderr, and c->exit_code says what to exit with.
 */
struct json_object *ctl_call(struct ctl *c, const char *method, struct json_object *parameters);
/*
 * The same for a call with several answers: `on_reply` is told each. False from it ends the call early.
 * Returns the exit code.
 */
int ctl_call_more(struct ctl *c, const char *method, struct json_object *parameters,
		  bool (*on_reply)(void *arg, struct json_object *reply), void *arg);

/* ---- usage ---- */

/* "opensmctl: TEXT", and where help is; returns CTL_USAGE. */
int ctl_usage(const struct ctl_command *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* "opensmctl: TEXT"; returns CTL_REFUSED. */
int ctl_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * The word of `words` (NULL at the end) that `text` is, or begins alone: its index. -1: none, -2: several.
 * This is how commands are abbreviated.
 */
int ctl_match(const char *text, const char *const *words);

/* ---- JSON of answers: what is missing or of another type counts as "", 0, false, NULL ---- */

struct json_object *js_get(struct json_object *o, const char *key);
const char *js_str(struct json_object *o, const char *key);
int64_t js_int(struct json_object *o, const char *key);
double js_num(struct json_object *o, const char *key);
bool js_bool(struct json_object *o, const char *key);
/* There, and not null. */
bool js_has(struct json_object *o, const char *key);
size_t js_len(struct json_object *array);
struct json_object *js_at(struct json_object *array, size_t n);

/* As -j and -p want it, with a newline. Not put. */
void ctl_print_json(const struct ctl *c, struct json_object *value);

/* ---- text for people ---- */

enum ctl_color { CTL_PLAIN, CTL_GOOD, CTL_BAD, CTL_WARN, CTL_NAME, CTL_DIM };
/* The escape sequence, "" without -c; CTL_PLAIN ends a colour. */
const char *ctl_color(const struct ctl *c, enum ctl_color color);
/* "2 h 13 min"; returns `ret`. */
const char *ctl_duration(int64_t seconds, char ret[static 32]);
/* A count with its noun: "1 node", "3 nodes". Returns `ret`. */
const char *ctl_plural(int64_t n, const char *one, char ret[static 64]);

/*
 * Aligned columns. A head that ends in '>' is of a column of numbers, aligned to the right. With -o: no
 * heads, a TAB between cells. Empty cells are shown as "-".
 */
struct table;
struct table *table_new(const struct ctl *c, const char *const *heads); /* NULL at the end */
/* The next cell of the row; the first one of a row begins it. */
void table_cell(struct table *t, enum ctl_color color, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Prints it to stdout and frees it. */
void table_print(struct table *t);
