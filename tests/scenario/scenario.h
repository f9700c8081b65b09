// SPDX-License-Identifier: BSD-2-Clause
/* One scenario while it runs; shared by the runner's files. README.md has the grammar. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/lib/rig.h"

/* Returns what a function that failed returned. */
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

/* What a manager told since `mark` (story.c). */
struct story {
	char *text;                /* words with commas between; NULL: nothing */
	size_t len, cap;
#define STORY_TEXT 800
	char trap[STORY_TEXT];     /* the sentence of the last trap */
	char sentence[STORY_TEXT]; /* of the last other event that has one */
	char sweep[STORY_TEXT];    /* what the last sweep did, and all since `mark` wrote of LFTs */
	unsigned n_blocks, n_tops; /* of LFTs, since `mark` */
	uint32_t more;             /* nodes and links that are to follow the last event at once */
};

struct scenario {
	struct script *script;     /* the file; for tap() */
	const char *file;
	unsigned line;
	const char *text;          /* of the line, as written */
	char error[800];           /* why a command is wrong, or an expectation not met */
	uint64_t seed;
	struct netfile *net;       /* until the simulation starts */
	uint64_t wear;             /* of the fabric, gen_wear(); 0: clean */
	/* nodes that wear spares: words of the file; NULL behind the last */
	const char *const *spare;
	struct {
		unsigned end_ports; /* more than there were */
		unsigned left_out;  /* things that no manager can use */
		double size;        /* ratio of nodes */
	} worn;
	struct rig *rig;           /* made by the first command that needs it */
	struct conf *conf;         /* for managers started from now on */
	uint64_t marked_sets, marked_lane_sets, marked_gets;
	uint64_t marked[N_TALLIES]; /* of tallies[] */
	uint32_t marked_heavy;
	mono_t marked_at;
	uint64_t kept_key;         /* by `keep-key` */
	uint64_t drawn;            /* the last number that `+` stood for */
	struct {
		char name[32];
		uint64_t fingerprint;
	} remembered[8];
	unsigned n_remembered;
	struct record *record;     /* NULL: nothing is recorded */
	bool shows_log;
	bool wants_front;          /* the file has `ctl`, `rest` or `state` */
	struct front *front;       /* with the rig; NULL: not wanted */
	char *said;                /* by the last program of `ctl` or `rest`; NULL: none ran */
	bool keeps_state;          /* managers started from now on have a folder for their files */
	char *log;                 /* records since `mark`, a line each; NULL: none */
	size_t log_len, log_cap;
	struct story stories[RIG_MAX_SMS]; /* by the manager's place in the rig */
	bool wants_story;          /* the file has `story` or `told` */
	unsigned of_case;          /* the case that is run, from 1; 0: the file has none */
	unsigned met_cases;        /* lines `case` that were met */
	bool over;                 /* an expectation failed: the rest is not run */
};

struct words {
	unsigned n;
	const char *w[MAX_WORDS];
};

struct command {
	const char *name;  /* NULL: behind the last */
	unsigned min, max; /* words, the name included */
	int (*run)(struct scenario *s, const struct words *w);
};
extern const struct command manager_commands[]; /* managers.c */
extern const struct command port_commands[];    /* ports.c */

/* Counts and prints one TAP line for the present line of the scenario. */
void tap(struct scenario *s, bool ok);

/* 0, or -EINVAL with s->error: not a sentence of the grammar. */
int scenario_command(struct scenario *s, const struct words *w);
/* `within`, `expect`, `hold`, `quiet`: the commands that test something. */
int scenario_expect(struct scenario *s, const struct words *w);

/* For rig->event. */
void story_event(struct rig_sm *sm, const struct sm_event *event);

/* `mark`: tallies of `since` begin here. */
void scenario_mark_tallies(struct scenario *s);

int scenario_storm(struct scenario *s, const struct words *w);

/*
 * With {NODE} and {NODE:PORT} as GUIDs, {/NAME} as the path of a file of `file`; to be freed. NULL:
 * there is no such node.
 */
char *scenario_expand(struct scenario *s, const char *word);
/* The same of all words from `first` on, with blanks between. */
char *scenario_join(struct scenario *s, const struct words *w, unsigned first);

/* -EINVAL */
int fault(struct scenario *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* starts it if need be; NULL + error: no fabric yet */
struct sim *scenario_sim(struct scenario *s);
/* Sets of SL2VL and VL arbitration tables until now. */
uint64_t scenario_lane_sets(struct scenario *s);
int parse_time(struct scenario *s, const char *word, mono_t *ret);       /* 3s 20ms 5us 2m */
int parse_number(struct scenario *s, const char *word, uint64_t max, uint64_t *ret);
/* Some bits of a block of a table, as NODE TABLE MODIFIER BIT WIDTH. */
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
/* running manager on a node */
int parse_sm(struct scenario *s, const char *word, unsigned *ret);
