// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between the files of partitions*.c: a struct partitions while it is being built.
 *
 *   partitions_parse.c   lines, headers, port lists
 *   partitions_words.c   keywords by prefix, values
 *   partitions_groups.c  the rules for multicast groups
 *   partitions_build.c   P_Keys, items and groups put together
 *   partitions.c         the finished thing
 */
#pragma once

#include "conf/text/lines.h"
#include "conf/partitions/partitions.h"
#include "util/mem.h"

enum flag_id {
	FLAG_MTU,
	FLAG_RATE,
	FLAG_SCOPE,
	FLAG_QKEY,
	FLAG_TCLASS,
	FLAG_SL,
	FLAG_FLOW,
	FLAG_N_GROUP, /* those above: of headers and mgid lines */
	FLAG_IPOIB = FLAG_N_GROUP,
	FLAG_DEFMEMBER,
	FLAG_INDX0,
	FLAG_API,
	FLAG_UNKNOWN,
};

/* Values that a header gives and its mgid lines inherit. */
struct group_flags {
	uint32_t of[FLAG_N_GROUP]; /* but FLAG_SCOPE */
	uint16_t scopes; /* bit n: scope n; 0: none given */
};

/* --- partitions_build.c --------------------------------------------------------------------- */

#define NO_PARTITION SIZE_MAX

struct build;

/* P_Keys for which the reading `before` (NULL: none) asked are given to no other partition. */
struct build *build_new(const struct conf *conf, const struct build *before);
struct build *build_free(struct build *b);
FREEP(build_free, struct build)

/*
 * The partition of a header: by P_Key; by name if `pkey` is 0; else a new one, with a P_Key that
 * is not in use if `pkey` is 0. Sets the SL. NO_PARTITION: no P_Key is left, an error was added.
 */
size_t build_partition(struct build *b, const char *name, uint16_t pkey, uint8_t sl,
		       const struct conf_place *at, struct conf_report *r);
uint16_t build_pkey(const struct build *b, size_t partition);
/* It may be changed at run time. */
void build_api(struct build *b, size_t partition);
void build_item(struct build *b, size_t partition, const struct partition_item *item);
/* Line of the group with this MGID; 0: there is none. */
unsigned build_group_line(const struct build *b, const uint8_t mgid[16]);
/* A group that was not there. False: there are as many as there can be. */
bool build_group(struct build *b, size_t partition, const struct partition_group *group,
		 unsigned line);
/* Partitions whose P_Key was not in the file. */
size_t build_n_generated(const struct build *b);
/* What was built, as one reference; what has no ports is left out with a warning. */
struct partitions *build_finish(struct build *b, const char *file, struct conf_report *r);

/* --- partitions_words.c --------------------------------------------------------------------- */

/* "word = value", blanks gone. */
struct flag {
	char *word;
	char *value; /* NULL: no '=' */
	struct conf_place at, value_at;
};

/* Splits at the first '='; `text` is a part of line->text. */
struct flag words_flag(const struct line *line, char *text);
/* "mtu" ... "indx0" */
const char *words_flag_name(enum flag_id id);
/* A warning for a word that was shortened. FLAG_UNKNOWN: a warning was added; empty: likewise. */
enum flag_id words_flag_id(const struct flag *flag, bool of_group, struct conf_report *r);
/*
 * Gives a group flag its value. A value that cannot be is a warning, and leaves it as it was; an
 * MTU or a rate that cannot be is -EINVAL with a finding of this `severity`, whose end is `result`.
 */
int words_group_flag(enum flag_id id, const struct flag *flag, struct group_flags *ret,
		     enum conf_severity severity, const char *result, struct conf_report *r);
/* An unknown word is a warning (with `otherwise`: what holds now), and -EINVAL. */
int words_member(const char *word, const struct conf_place *at, const char *otherwise,
		 enum partition_member *ret, struct conf_report *r);
/* -ENOENT: no such word (no finding). */
int words_ports(const char *word, const struct conf_place *at, enum partition_ports *ret,
		bool *ret_none, struct conf_report *r);
/* The keyword that `word` may have been meant to be; NULL: none. */
const char *words_near_ports(const char *word);
/* A leading zero means octal, sixteen digits without 0x were meant as a GUID. */
void words_remark_base(const char *word, const struct conf_place *at, struct conf_report *r);

/* --- partitions_groups.c -------------------------------------------------------------------- */

#define IPOIB_QKEY 0x0b1bu

/* The definition that is being read. */
struct definition {
	size_t partition; /* NO_PARTITION: its header is faulty */
	struct group_flags flags;
	enum partition_member member;
	bool ipoib, indx0, api;
	unsigned line;
};

/* The IPv4 broadcast group of a definition with `ipoib`. */
void groups_broadcast(struct build *b, const struct conf *conf, const struct definition *def,
		      const struct conf_place *at, struct conf_report *r);
/* An mgid line, cut at its ';'. */
void groups_line(struct build *b, const struct conf *conf, const struct definition *def,
		 const struct line *line, char *text, struct conf_report *r);
