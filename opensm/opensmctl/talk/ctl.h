// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a command of opensmctl has to hand: options, the call, and how answers are shown.
 *
 *   static void print_groups(struct ctl *c, struct json_object *answer, struct json_object *asked)
 *   {
 *           ctl_print_table(c, group_columns, js_get(answer, "groups"));
 *   }
 *
 *   const struct ctl_command ctl_groups = {
 *           .name = "groups",
 *           .arguments = "[MGID|MLID]",
 *           .help = "multicast groups; of one its members and its tree",
 *           .scope = CTL_SHOWS,
 *           .method = "Groups",
 *           .takes = (const struct ctl_word[]){ { CTL_TEXT, .parameter = "group" }, { 0 } },
 *           .member = "groups",
 *           .print = print_groups,
 *   };
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
	struct client *client;	   /* NULL: not connected yet */
	int exit_code;		   /* exit code after ctl_call() returned NULL */
	struct json_object *words; /* words of a command with `takes`; for with() */
};

/* Behaviour of a command if there are several instances and none is named. */
enum ctl_scope {
	CTL_ACTS,	/* does nothing: the user must name an instance */
	CTL_SHOWS,	/* shows all, each under a heading */
	CTL_SHOWS_BARE, /* CTL_SHOWS without words, CTL_ACTS with words */
	/* shows all, and writes its own headings, as other programs read the output */
	CTL_HEADS,
	CTL_SEES_ALL, /* its own business */
};

/* A word that a call takes. A row without a kind ends the list. */
struct ctl_word {
	enum {
		CTL_NO_WORD,
		CTL_TEXT,   /* any text: after `option`, or the next word that is no option */
		CTL_TIME,   /* "90s", "15m", "2h", "3d": seconds */
		CTL_NUMBER, /* as CTL_TEXT: a number up to `most`, decimal unless `any_base` */
		CTL_FLAG,   /* `option` alone */
		CTL_OFF,    /* `option` alone: the parameter is false */
		CTL_ALL,    /* all further words that are no options, an array */
		CTL_READ,   /* any text that begins with `option`, read by read() */
		CTL_ONE_OF, /* a word of `among`, which may be abbreviated if there is no text */
		CTL_JSON,   /* `option` alone, with the effect of -j */
	} kind;
	const char *option;    /* "--why", and then "--why TEXT" or "--why=TEXT"; NULL: none */
	const char *parameter; /* parameter of the call */
	const char *const *among;
	const char *missing; /* said where there is none; NULL: the call does without */
	uint64_t most;
	bool any_base;	  /* 0x and 0 in front mean hexadecimal and octal */
	const char *what; /* of a number: "port (0 to 254)" */
	/* `value`: the text behind `option`. Returns CTL_OK, or CTL_USAGE: it was reported. */
	int (*read)(const char *value, struct json_object *parameters);
};
/* --json */
extern const struct ctl_word ctl_json_word[];

struct ctl_command {
	const char *name;
	const char *arguments; /* arguments in the usage line: "[heavy|light]"; "": none */
	const char *help;      /* one line */
	const char *words;     /* for completion: "heavy light"; NULL: none */
	enum ctl_scope scope;
	/* Commands named by the first word: "adopt" of "ledger adopt". A row { 0 } ends them. */
	const struct ctl_command *subs;
	/* argv[0] is the first word behind the command, argv[argc] NULL. Returns the exit code. */
	int (*run)(struct ctl *c, int argc, char **argv);
	/* Instead of run(): its words, by `takes` and `as`, are c->words. */
	int (*with)(struct ctl *c);

	/* Without run() it is one call. */
	const char *method;
	const char *as;		      /* the parameter that has the command's name; NULL: none */
	const struct ctl_word *takes; /* NULL: no words */
	const char *excess;	      /* said beside a word that it does not take; NULL: nothing */
	const char *member;	      /* member of the answer that -j shows; NULL: all */
	/* For people. `asked`: parameters of the call. */
	void (*print)(struct ctl *c, struct json_object *answer, struct json_object *asked);
	bool (*fails)(const struct ctl *c, struct json_object *answer); /* exit code 1; NULL: no */
};

/* Each in the file of its subject, and those of commands.c. */
extern const struct ctl_command ctl_status, ctl_alarms, ctl_instances, ctl_monitor, ctl_drain,
	ctl_isolate, ctl_restore, ctl_marks, ctl_health, ctl_ledger, ctl_options, ctl_security,
	ctl_congestion, ctl_check, ctl_reload, ctl_report, ctl_topology, ctl_nodes, ctl_ports,
	ctl_routes, ctl_path, ctl_partitions, ctl_groups, ctl_sa, ctl_managers, ctl_smp, ctl_qos;
/* All, in the order of the help; NULL at the end. */
extern const struct ctl_command *const ctl_commands[];

/* ---- alarms.c ---- */

/* The table of an answer of Alarms. */
void ctl_print_alarms(const struct ctl *c, struct json_object *answer);
/* "3 faults, 1 degraded, 2 planned". Returns `ret`. */
#define CTL_ALARM_COUNTS 120
char *ctl_alarm_counts(struct json_object *answer, char ret[CTL_ALARM_COUNTS]);

/* ---- the conversation ---- */

/*
 * Calls org.opensm.METHOD. `parameters` (NULL: none) is taken. Returns the answer's parameters, to
 * be put. NULL: an error was printed on stderr, and c->exit_code is set.
 */
struct json_object *ctl_call(struct ctl *c, const char *method, struct json_object *parameters);
/*
 * Makes a call without parameters that may fail: then the answer is {"absent": why}, "" if the
 * daemon has no such method. NULL: the connection was lost, which was printed.
 */
struct json_object *ctl_call_if_there(struct ctl *c, const char *method);
/* Calls the daemon behind the socket `path`, whatever instance `c` is about. */
struct json_object *ctl_call_at(const struct ctl *c, const char *path, const char *method,
				int *ret_exit);
/*
 * Makes a call with several answers: `on_reply` is called with each, and false from it ends the
 * call early. Returns the exit code.
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

/* ---- commands: command.c ---- */

/*
 * The command that these words name: `command`, or one of its subs, for which *ret_skip is 1. Names
 * of subs may be abbreviated where the first word is not any text.
 */
const struct ctl_command *ctl_meant(const struct ctl_command *command, int argc, char **argv,
				    int *ret_skip);
/* Runs it, on one instance. Returns the exit code. */
int ctl_do(struct ctl *c, const struct ctl_command *command, int argc, char **argv);
/* Calls its method with `parameters`, which are taken, and shows the answer. The exit code. */
int ctl_show(struct ctl *c, const struct ctl_command *command, struct json_object *parameters);

/* ---- usage ---- */

/* "opensmctl: TEXT", and where help is; returns CTL_USAGE. */
int ctl_usage(const struct ctl_command *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Refuses a word that the command does not take. */
int ctl_too_many(const struct ctl_command *command, const char *word);
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

/* Kind of text that a column shows for the member `key`. */
enum column_kind {
	COLUMN_STR,
	COLUMN_TIME, /* seconds since 1970 in local time; "-" for 0 */
	COLUMN_LIST, /* elements with commas between */
	COLUMN_LINK, /* "4x NDR" of the record, "" without a link */
	COLUMN_INT,
	COLUMN_NATURAL, /* a number; nothing for 0 */
	COLUMN_GBPS,	/* "12.5", "400" */
	COLUMN_LEN,	/* length of an array */
	/* "leaf1/5" of an object with node and port: of the member `key`; NULL: of the record */
	COLUMN_PLACE,
	COLUMN_INDEX, /* the number of the record, from 0 */
};

/* Aligned columns of a table; a row without a head ends the list. At most 16. */
struct column {
	/* a heading that ends in '>' is that of a column of numbers, aligned to the right */
	const char *head;
	enum column_kind kind;
	const char *key;
	enum ctl_color color;
	const char *otherwise; /* text for records without the member; NULL: "", 0 or "-" */
	/* set if the column is left out when the first record has no such member */
	bool optional;
	enum ctl_color (*tint)(struct json_object *record); /* instead of `color` */
	char *(*text)(struct json_object *record);	    /* instead of the member; to be freed */
};

/*
 * Prints an array of records to stdout. With -o: no heads, a TAB between cells, and of several
 * instances the name first. Empty cells are shown as "-".
 */
void ctl_print_table(const struct ctl *c, const struct column *columns,
		     struct json_object *records);
/* "spine1/3" of an object with name and port, "spine1" of port 0; "-" of none. To be freed. */
char *ctl_place(struct json_object *o);
/* "4x NDR" of an object with width and speed; "" without a link. Returns `ret`. */
char *ctl_link(struct json_object *o, char ret[static 32]);
/* "1, 2, 3": elements of an array; of more than fit in `cap` bytes the first. Returns `ret`. */
char *ctl_list(struct json_object *array, const char *between, char *ret, size_t cap);
/* "12.5", "400". Returns `ret`. */
char *ctl_gbps(double gbps, char ret[static 32]);
/* "stored here and by 2 of 2 standbys", of the answer to a change. Returns `ret`. */
#define CTL_COPIES_STRLEN 80
const char *ctl_copies(struct json_object *answer, char ret[CTL_COPIES_STRLEN]);
