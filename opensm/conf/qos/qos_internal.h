// SPDX-License-Identifier: BSD-2-Clause
/* Shared by the files of conf/qos: the state of reading qos-policy.conf. */
#pragma once

#include "conf/qos/qos_policy.h"

/* --- qos_lex.c: words and values ------------------------------------------------------------- */

#define LEX_WORD_MAX 32

struct lex {
	const char *at, *end;
	const char *line_start;
	unsigned line;
	const char *file;
	struct conf_report *report;
	size_t n_ranges; /* number of ranges read so far */
};

/* Part of a line, without blanks at its ends. */
struct slice {
	const char *from, *to;
	struct conf_place at;
};

/* A word, in any case; `len` 0: end of the file, or a character that no word begins with. */
struct word {
	char text[LEX_WORD_MAX + 1]; /* the word, cut at LEX_WORD_MAX */
	size_t len;
	const char *from; /* its place in the text */
	struct conf_place at;
};

struct conf_place lex_place(const struct lex *x, const char *p);
/* The next word, after blanks, ends of lines and comments. */
struct word lex_word(struct lex *x);
/* The next word of this line; `len` 0: there is none. */
struct word lex_word_here(struct lex *x);
bool lex_at_end(struct lex *x); /* only blanks and comments are left */
/* Takes one character if it is the next one on this line after blanks. */
bool lex_take(struct lex *x, char c);
/*
 * The rest of the line without its comment, or the text before `stop` (0: none), which is not read.
 */
struct slice lex_rest(struct lex *x, char stop);
void lex_skip_line(struct lex *x);
/* The text at a place, for a finding: a few characters, or "the end of the line". */
const char *lex_quote(const struct lex *x, const char *from, char ret[static CONF_QUOTE_MAX]);
const char *slice_quote(const struct slice *s, char ret[static CONF_QUOTE_MAX]);

/* Reads ranges as "12-0x20, 5", and sorts and merges them. False: an error was added. */
bool lex_ranges(struct lex *x, const struct slice *s, uint64_t most, struct qos_ranges *ret);
/* Reads ranges of P_Keys; bit 15 is ignored. */
bool lex_pkeys(struct lex *x, const struct slice *s, struct qos_ranges *ret);
bool lex_number(struct lex *x, const struct slice *s, uint64_t least, uint64_t most,
		uint64_t *ret);
/* Reads names separated by commas; blanks are removed, except in double quotes. */
bool lex_names(struct lex *x, const struct slice *s, struct qos_strings *ret);
bool lex_name(struct lex *x, const struct slice *s, char **ret); /* a single name */
char *slice_text(const struct slice *s);
/* Cuts the next item off a comma list. False: the list is empty. */
bool slice_next(struct slice *rest, struct slice *ret);

void qos_ranges_add(struct qos_ranges *r, uint64_t first, uint64_t last);
void qos_ranges_merge(struct qos_ranges *r);

/* --- qos_parse.c: the grammar ----------------------------------------------------------------- */

/* A rule as it is in the file; names are not resolved yet. */
struct raw_rule {
	struct qos_rule rule;
	struct conf_place at, level_at, sources_at, destinations_at;
	char *level;
	struct qos_strings sources, destinations;
};

struct parser {
	struct lex lex;
	struct qos_policy *policy;
	struct conf_report *report;
	size_t groups_cap, levels_cap, vlarbs_cap, sl2vls_cap;
	/* ulps: rules of qos-ulps, whose levels and groups are resolved */
	struct raw_rule *rules, *ulps;
	size_t n_rules, rules_cap, n_ulps, ulps_cap;
	struct conf_place *group_at, *level_at; /* places in the file, by group and by level */
	size_t group_at_cap, level_at_cap;
	bool has_ulp_default;
	uint8_t ulp_default;
	struct conf_place ulp_default_at, setup_at;
	unsigned n_errors; /* number of errors in the report before this file */
};

/* An entry of a block: "WORD : VALUE". */
struct entry {
	const char *word;
	bool once, needed;
	bool (*read)(struct parser *p, const struct slice *value, void *block);
};

struct block {
	const char *name; /* "port-group" ... "end-port-group" */
	const struct entry *entries;
	unsigned n;
};

/* Reads up to "end-NAME", `at` being the place of NAME. False: errors were added. */
bool parse_block(struct parser *p, const struct block *b, const struct conf_place *at,
		 void *target);
/* Is `word` "end-NAME"? */
bool parse_is_end(const char *word, const char *name);
/* Adds the error "EXPECTED, found WORD" at an unexpected word, and skips its line. */
void parse_unexpected(struct parser *p, const struct word *w, const char *expected);
struct qos_group *parse_add_group(struct parser *p, const struct conf_place *at);
struct qos_level *parse_add_level(struct parser *p, const struct conf_place *at);
struct raw_rule *parse_add_rule(struct parser *p, bool of_ulp, const struct conf_place *at);

/* --- qos_ulps.c, qos_setup.c: sections; the word that begins one has been read ---------------- */

void parse_ulps(struct parser *p, const struct conf_place *at);
void parse_setup(struct parser *p, const struct conf_place *at);

/* --- qos_resolve.c ---------------------------------------------------------------------------- */

/* Replaces names by indexes, sorts the rules, and makes sure that there is a default level. */
void resolve_names(struct parser *p);

/* --- qos_index.c ------------------------------------------------------------------------------ */

/* Makes the index. False: too much memory would be needed. */
bool index_make(struct qos_policy *p);
struct qos_index *index_free(struct qos_index *x);
