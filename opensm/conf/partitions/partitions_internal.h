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
	FLAG_N_GROUP, /* number of the flags of groups, which mgid lines may have too */
	FLAG_IPOIB = FLAG_N_GROUP,
	FLAG_DEFMEMBER,
	FLAG_INDX0,
	FLAG_API,
	FLAG_UNKNOWN,
};

/* Values that a header gives and its mgid lines inherit. */
struct group_flags {
	uint32_t of[FLAG_N_GROUP]; /* values by flag; FLAG_SCOPE is not used */
	uint16_t scopes; /* bit n: scope n; 0: none given */
};

/* --- partitions_build.c --------------------------------------------------------------------- */

#define NO_PARTITION SIZE_MAX

struct build;

/*
 * A new build that generates no P_Key that `before`, an earlier reading of the file, asked for
 * (NULL: there was none).
 */
struct build *build_new(const struct conf *conf, const struct build *before);
struct build *build_free(struct build *b);
FREEP(build_free, struct build)

/*
 * The partition of a header: by P_Key, or by name if `pkey` is 0. If there is none yet, a new one,
 * with a generated P_Key if `pkey` is 0. Sets the SL. NO_PARTITION: no P_Key is left, an error was
 * added.
 */
size_t build_partition(struct build *b, const char *name, uint16_t pkey, uint8_t sl,
		       const struct conf_place *at, struct conf_report *r);
uint16_t build_pkey(const struct build *b, size_t partition);
/* Allows changes of the partition at run time. */
void build_api(struct build *b, size_t partition);
void build_item(struct build *b, size_t partition, const struct partition_item *item);
/* Line of the group with this MGID; 0: there is none. */
unsigned build_group_line(const struct build *b, const uint8_t mgid[16]);
/* Adds a group whose MGID is new. False: the number of groups is at its limit. */
bool build_group(struct build *b, size_t partition, const struct partition_group *group,
		 unsigned line);
/* The number of partitions whose P_Key was generated. */
size_t build_n_generated(const struct build *b);
/* The result, one reference; partitions without ports are left out with a warning. */
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
/*
 * The flag of a word, with a warning if the word is an abbreviation. FLAG_UNKNOWN: there is none,
 * also if the word is empty; a warning was added.
 */
enum flag_id words_flag_id(const struct flag *flag, bool of_group, struct conf_report *r);
/*
 * Sets a group flag. An invalid value is a warning, and the flag keeps its old value; an invalid
 * MTU or rate is -EINVAL with a finding of this `severity` that ends in `result`.
 */
int words_group_flag(enum flag_id id, const struct flag *flag, struct group_flags *ret,
		     enum conf_severity severity, const char *result, struct conf_report *r);
/* Reads a membership. An unknown word is a warning, which ends in `otherwise`, and -EINVAL. */
int words_member(const char *word, const struct conf_place *at, const char *otherwise,
		 enum partition_member *ret, struct conf_report *r);
/* Reads a keyword for ports. -ENOENT: there is no such keyword (no finding). */
int words_ports(const char *word, const struct conf_place *at, enum partition_ports *ret,
		bool *ret_none, struct conf_report *r);
/* The keyword most similar to `word`; NULL: none. */
const char *words_near_ports(const char *word);
/* Warns of a number with a leading zero, which is octal, and of 16 digits without 0x. */
void words_remark_base(const char *word, const struct conf_place *at, struct conf_report *r);

/* --- partitions_groups.c -------------------------------------------------------------------- */

#define IPOIB_QKEY 0x0b1bu

/* The definition that is being read. */
struct definition {
	size_t partition; /* NO_PARTITION if its header is faulty */
	struct group_flags flags;
	enum partition_member member;
	bool ipoib, indx0, api;
	unsigned line;
};

/* Makes the IPv4 broadcast group of a definition with flag `ipoib`. */
void groups_broadcast(struct build *b, const struct conf *conf, const struct definition *def,
		      const struct conf_place *at, struct conf_report *r);
/* Reads an mgid line, which ends before its ';'. */
void groups_line(struct build *b, const struct conf *conf, const struct definition *def,
		 const struct line *line, char *text, struct conf_report *r);
