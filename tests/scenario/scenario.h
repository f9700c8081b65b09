// SPDX-License-Identifier: BSD-2-Clause
/* One scenario while it runs; shared by the runner's files. README.md has the grammar. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/lib/rig.h"
#include "tests/lib/tap.h"

/* Returns from the function if `call` fails, with its result. */
#define CHECK(call)                                                                                \
	do {                                                                                       \
		int check_r_ = (call);                                                             \
		if (check_r_ < 0)                                                                  \
			return check_r_;                                                           \
	} while (0)

#define SIM(s) (s)->rig->sim

#define MAX_WORDS 40
#define MAX_SEEDS 16
#define N_TALLIES 32

struct script;
struct front;

static inline bool is(const char *word, const char *expected)
{
	return !strcmp(word, expected);
}

/* Events of a manager since `mark` (story.c). */
struct story {
	char *text;                /* words separated by commas; NULL: none */
	size_t len, cap;
#define STORY_TEXT 800
	char trap[STORY_TEXT];     /* sentence of the last trap */
	char sentence[STORY_TEXT]; /* sentence of the last other event that has one */
	char sweep[STORY_TEXT];    /* work of the last sweep, and all LFT writes since `mark` */
	unsigned n_blocks, n_tops; /* LFT blocks and tops written since `mark` */
	/* number of nodes and links that immediately follow the last event */
	uint32_t more;
};

/* Answer to `ask`. */
struct asked {
	bool is_there;
	enum sm_tenancy_end end;
};

struct scenario {
	struct script *script;     /* the script, for tap() */
	const char *file;
	unsigned line;
	const char *text;          /* text of the line, as written */
	char error[800];           /* reason why a command is wrong, or an expectation failed */
	uint64_t seed;
	struct netfile *net;       /* the fabric, until the simulation starts */
	uint64_t wear;             /* seed of gen_wear(); 0: the fabric stays as it is */
	/* nodes that gen_wear() spares: words of the file; ends with NULL */
	const char *const *spare;
	struct {
		unsigned end_ports; /* end ports added by gen_wear() */
		unsigned left_out;  /* number of things that no manager can use */
		double size;        /* nodes now, as a ratio to nodes before */
	} worn;
	struct rig *rig;           /* created by the first command that needs it */
	struct conf *conf;         /* configuration of managers started from now on */
	struct conf *options;      /* `conf` without a file; NULL: no file was read */
	uint64_t marked_sets, marked_lane_sets, marked_gets;
	uint64_t marked[N_TALLIES]; /* values of tallies[] at `mark` */
	uint32_t marked_heavy;
	mono_t marked_at;
	uint64_t kept_key;         /* key stored by `keep-key` */
	struct hosts *hosts;       /* clients of subnet administration; NULL: none */
	struct kept_keys *kept_keys; /* keys stored by `keep-keys`; NULL: none */
	struct tap taps[RIG_MAX_SMS]; /* at the ports of managers, by the index in the rig */
	struct asked asked;        /* last change of partitions by `ask` */
	unsigned asked_of;         /* index of the manager that was asked */
	char marked_text[420];     /* answer to the last mark by `ask`; "nothing": it is awaited */
	uint64_t varied;           /* number of `vary` in this run, for which $ stands */
	uint64_t drawn;            /* last number that replaced `+` */
	struct {
		char name[32];
		uint64_t fingerprint;
	} remembered[8];
	unsigned n_remembered;
	struct record *record;     /* NULL: no record is written */
	bool shows_log;
	bool wants_front;          /* set if the file has `ctl`, `rest` or `state` */
	struct front *front;       /* exists with the rig; NULL: not wanted */
	/* output of the last program of `ctl` or `rest`; NULL: none ran */
	char *said;
	/* set if managers started from now on have a folder for their files */
	bool keeps_state;
	char *log;                 /* log records since `mark`, a line each; NULL: none */
	size_t log_len, log_cap;
	struct story stories[RIG_MAX_SMS]; /* by the index of the manager in the rig */
	bool wants_story;          /* set if the file has `story` or `told` */
	unsigned of_case;          /* number of the case to run, from 1; 0: the file has no cases */
	unsigned met_cases;        /* number of `case` lines passed */
	bool over;                 /* set after a failed expectation: the rest is not run */
};

struct words {
	unsigned n;
	const char *w[MAX_WORDS];
};

struct command {
	const char *name;  /* NULL ends the table */
	unsigned min, max; /* number of words, including the name */
	int (*run)(struct scenario *s, const struct words *w);
};
extern const struct command manager_commands[]; /* managers.c */
extern const struct command port_commands[];    /* ports.c */
extern const struct command peer_commands[];    /* peers.c */
extern const struct command host_commands[];    /* hosts.c */

/* Counts and prints one TAP line for the present line of the scenario. */
void tap(struct scenario *s, bool ok);

/* Runs a command. 0, or -EINVAL with s->error: it is not in the grammar. */
int scenario_command(struct scenario *s, const struct words *w);
/* Runs `within`, `expect`, `hold`, `quiet`: the commands that test a condition. */
int scenario_expect(struct scenario *s, const struct words *w);

/* A function for rig->between: faults of `channel`, and what is recorded. */
struct transport *peers_between(struct rig_sm *sm);
/* Ends all clients; called before the rig is freed. */
void hosts_end(struct scenario *s);
/* Frees what commands of peers.c keep. */
void peers_end(struct scenario *s);

/* A function for rig->event. */
void story_event(struct rig_sm *sm, const struct sm_event *event);

/* Starts the tallies of `since`, for `mark`. */
void scenario_mark_tallies(struct scenario *s);

int scenario_storm(struct scenario *s, const struct words *w);

/*
 * Expands {NODE} and {NODE:PORT} to GUIDs, {/NAME} to the path of a file of `file`; to be freed.
 * NULL: there is no such node.
 */
char *scenario_expand(struct scenario *s, const char *word);
/* Expands all words from `first` on, joined by blanks. */
char *scenario_join(struct scenario *s, const struct words *w, unsigned first);

/* Sets s->error and returns -EINVAL. */
int fault(struct scenario *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Starts the simulation if necessary; NULL with s->error: there is no fabric yet. */
struct sim *scenario_sim(struct scenario *s);
/* Number of violations of M_Keys at all end ports so far. */
uint64_t scenario_key_violations(const struct scenario *s);
/* Number of Sets of SL2VL and VL arbitration tables so far. */
uint64_t scenario_lane_sets(struct scenario *s);
int parse_time(struct scenario *s, const char *word, mono_t *ret);       /* 3s 20ms 5us 2m */
int parse_number(struct scenario *s, const char *word, uint64_t max, uint64_t *ret);
/* Bits of a block of a table, written NODE TABLE MODIFIER BIT WIDTH. */
struct table_bits {
	int node;
	uint16_t attr;
	uint32_t mod;
	unsigned bit, width;
};
int parse_table_bits(struct scenario *s, const char *const *words, struct table_bits *ret);
int parse_attr(struct scenario *s, const char *word, uint16_t *ret);   /* lft, pkeys ... */
int parse_key(struct scenario *s, const char *word, uint64_t *ret); /* or `kept` */
int parse_percent(struct scenario *s, const char *word, double *ret);    /* 10% or 10 */
int parse_node(struct scenario *s, const char *word, int *ret);
int parse_node_or_all(struct scenario *s, const char *word, int *ret);   /* all: -1 */
/* NODE or NODE:PORT; without a port *ret_port is 0 on switches, 1 elsewhere. */
int parse_port(struct scenario *s, const char *word, int *ret_node, unsigned *ret_port);
/* The manager that runs on a node. */
int parse_sm(struct scenario *s, const char *word, unsigned *ret);
