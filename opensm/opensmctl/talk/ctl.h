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

#include "client/js.h"

/* Exit codes. */
enum { CTL_OK = 0, CTL_REFUSED = 1, CTL_USAGE = 2, CTL_NO_DAEMON = 3 };

/* Instead of running a command. */
enum ctl_wish { CTL_RUN, CTL_HELP, CTL_VERSION, CTL_SCHEMA };

struct client;

/* What calls of one round of --watch have met. */
struct ctl_seen {
	int pid; /* greatest process id of daemons; 0: none answered */
};

struct ctl {
	bool json, pretty, oneline;
	bool wide;	/* --wide: nothing is cut or left out */
	unsigned watch; /* --watch: seconds between two rounds; 0: one round */
	enum ctl_wish wish;
	bool timestamps;      /* monitor */
	bool color;	      /* escape sequences may be written */
	unsigned stats;	      /* how often -s was said */
	const char *instance; /* -i: a name, or the path of a socket; NULL: the one there is */
	/* several are shown one after the other: the name of this one; NULL: one only */
	const char *turn;
	struct json_object *answers; /* several with -j: collects what ctl_print_json() is given */
	/* the terminal: columns and rows; 0: no limit. ctl_measure() */
	unsigned width, height;
	bool is_terminal;
	struct ctl_seen *seen; /* --watch: filled by calls; NULL: not asked for */
	const char *run_dir;
	struct client *client; /* NULL: not connected yet */
	int exit_code;	       /* exit code after ctl_call() returned NULL */
	/* with -j what was said on stderr, until ctl_print_error(); NULL: it is said at once */
	struct json_object *messages;
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

/* What completion offers for a word, of what daemons know. */
enum ctl_offer {
	OFFER_NOTHING,
	OFFER_NODES,
	OFFER_SWITCHES,
	OFFER_PLACES, /* nodes, and NODE/PORT */
	OFFER_PARTITIONS,
	OFFER_GROUPS,
	OFFER_OPTIONS,	/* of opensm.conf */
	OFFER_FINDINGS, /* of topology diff */
	OFFER_MARKED,	/* what is out of service */
	OFFER_REASONS,	/* why it is */
	OFFER_ALARMS,	/* objects of alarms */
	OFFER_FILES,
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
	} kind;
	const char *option;    /* "--why", and then "--why TEXT" or "--why=TEXT"; NULL: none */
	const char *parameter; /* parameter of the call */
	const char *const *among; /* of CTL_TEXT: for completion alone */
	enum ctl_offer offers;
	const char *missing; /* said where there is none; NULL: the call does without */
	uint64_t most;
	bool any_base;	  /* 0x and 0 in front mean hexadecimal and octal */
	const char *what; /* of a number: "port (0 to 254)" */
	/* `value`: the text behind `option`. Returns CTL_OK, or CTL_USAGE: it was reported. */
	int (*read)(const struct ctl *c, const char *value, struct json_object *parameters);
};

struct ctl_command {
	const char *name;
	const char *arguments; /* arguments in the usage line: "[heavy|light]"; "": none */
	const char *help;      /* one line */
	const char *words;     /* for completion: "heavy light"; NULL: none */
	enum ctl_scope scope;
	bool shows; /* CTL_ACTS, and shows something: --watch */
	bool once;  /* no --watch: it goes on itself, or writes a file */
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
	const char *document; /* schema of what -j shows; NULL: that of the method */
	/* For people. `asked`: parameters of the call. */
	void (*print)(struct ctl *c, struct json_object *answer, struct json_object *asked);
	bool (*fails)(const struct ctl *c, struct json_object *answer); /* exit code 1; NULL: no */
};

/* Each in the file of its subject, and those of commands.c. */
extern const struct ctl_command ctl_status, ctl_alarms, ctl_instances, ctl_monitor, ctl_drain,
	ctl_isolate, ctl_restore, ctl_marks, ctl_health, ctl_ledger, ctl_options, ctl_security,
	ctl_congestion, ctl_check, ctl_reload, ctl_report, ctl_topology, ctl_nodes, ctl_ports,
	ctl_routes, ctl_path, ctl_partitions, ctl_groups, ctl_sa, ctl_managers, ctl_smp, ctl_qos,
	ctl_history;
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
/* What it takes, by the first of these words that is no option; NULL: no words. */
const struct ctl_word *ctl_takes(const struct ctl_command *command, int argc, char **argv);
/* Runs it, on one instance. Returns the exit code. */
int ctl_do(struct ctl *c, const struct ctl_command *command, int argc, char **argv);
/* Calls its method with `parameters`, which are taken, and shows the answer. The exit code. */
int ctl_show(struct ctl *c, const struct ctl_command *command, struct json_object *parameters);

/* ---- options: options.c ---- */

/*
 * Takes options off the front of the words, where they may be abbreviated. The number of words that
 * were taken; -1: an error was printed.
 */
int ctl_front_options(struct ctl *c, int argc, char **argv);
/*
 * Takes options out of the words behind the name of a command, which keeps those of `takes` (NULL:
 * it has none). The number of words that are left, with NULL behind; -1: an error was printed.
 */
int ctl_back_options(struct ctl *c, const struct ctl_word *takes, int argc, char **argv);
/* Sets c->json if any word asks for JSON: errors about the words are JSON then, too. */
void ctl_look_for_json(struct ctl *c, int argc, char **argv);
/* The option that a word with dashes may mean; NULL: none is near. */
const char *ctl_nearest_option(const char *word);
/* Prints the options that begin so, "--json", a line each. */
void ctl_offer_options(const char *beginning);
/* Prints the lines of the help about options. */
void ctl_print_options(void);

/* ---- errors: errors.c ---- */

/* "opensmctl: TEXT"; returns CTL_REFUSED. */
int ctl_refuse(const struct ctl *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * The same of an error that has a name: "NotFound"; `more` (NULL: none; not put) has further
 * members. Returns CTL_REFUSED; of NoDaemon CTL_NO_DAEMON.
 */
#define CTL_NO_DAEMON_NAME "NoDaemon"
int ctl_fail(const struct ctl *c, const char *name, struct json_object *more, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/*
 * Reports a wrong command line as ctl_fail() does, and how `command` is used; NULL: where help is
 * found. Returns CTL_USAGE.
 */
int ctl_usage(const struct ctl *c, const struct ctl_command *command, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Refuses a word that the command does not take. */
int ctl_too_many(const struct ctl *c, const struct ctl_command *command, const char *word);
/*
 * With -j: what was said until now, {"error": {"name", "text", "exit_status", ...}}, and
 * {"warning": ...} if `status` is CTL_OK; NULL: nothing was said. To be put.
 */
struct json_object *ctl_take_error(struct ctl *c, int status);
/* Prints it on stderr, a line. */
void ctl_print_error(struct ctl *c, int status);

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

/* ---- the terminal: screen.c, watch.c ---- */

/* Finds c->width, c->height and c->is_terminal: COLUMNS, LINES, or what the terminal says. */
void ctl_measure(struct ctl *c);
/* Columns that a text takes: characters, without escape sequences. */
size_t ctl_columns(const char *text);
/* Bytes of the first `columns` characters, of all if there are fewer. */
size_t ctl_bytes(const char *text, size_t columns);
/* Bytes of a text that stand in its first line of `columns` characters: whole words if possible. */
size_t ctl_fold(const char *text, size_t columns);
/* Prints lines; the rest of those that are too wide stands `indent` columns to the right. */
void ctl_print_folded(const struct ctl *c, char *text, size_t indent);

/* Output on stdout is kept, until ctl_captured() returns it, to be freed. False: it cannot be. */
struct ctl_captured {
	int fd, stdout_fd;
};
bool ctl_capture(struct ctl_captured *ret);
char *ctl_captured(struct ctl_captured *from);

/* --watch: runs the command again and again. Returns the exit code. */
int ctl_watch(struct ctl *c, const struct ctl_command *command, int argc, char **argv);

/* --complete, in opensmctl/complete.c: the last word is under the cursor. */
int ctl_complete(struct ctl *c, int argc, char **argv);

/* ---- schemas: schema.c ---- */

/* The schemas of all documents by name, an object; made by control/schemas/make_schemas.c. */
extern const char ctl_schemas[];
/* --schema: prints that of the command's document; of NULL all. Returns the exit code. */
int ctl_print_schema(const struct ctl *c, const struct ctl_command *command, int argc, char **argv);

/* ---- text for people ---- */

enum ctl_color { CTL_PLAIN, CTL_GOOD, CTL_BAD, CTL_WARN, CTL_NAME, CTL_DIM };
/* The escape sequence, "" without -c; CTL_PLAIN ends a colour. */
const char *ctl_color(const struct ctl *c, enum ctl_color color);
/* "2 h 13 min"; returns `ret`. */
const char *ctl_duration(int64_t seconds, char ret[static 32]);
/*
 * The one form of times for people, local time with its distance from UTC:
 * "2026-11-30T07:35:00+01:00". Returns `ret`.
 */
#define CTL_TIME_STRLEN 40
const char *ctl_time(int64_t seconds, char ret[static CTL_TIME_STRLEN]);
/* The form of JSON, "2026-11-30T06:35:00Z". Returns `ret`. */
const char *ctl_time_utc(int64_t seconds, char ret[static CTL_TIME_STRLEN]);
int64_t ctl_seconds(const char *time); /* of that form, perhaps with a fraction; 0: it is none */
/* A member of that form for people; "": there is none. Returns `ret`. */
const char *ctl_time_of(struct json_object *o, const char *key, char ret[static CTL_TIME_STRLEN]);
/* A count with its noun: "1 node", "3 nodes". Returns `ret`. */
const char *ctl_plural(int64_t n, const char *one, char ret[static 64]);

/* Kind of text that a column shows for the member `key`. */
enum column_kind {
	COLUMN_STR,
	COLUMN_TIME, /* "2026-11-30T06:35:00Z" as ctl_time() has it */
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
	bool folds;    /* a sentence: folded where there is little room */
	unsigned drop; /* left out where there is no room: 1 first; 0: never */
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
