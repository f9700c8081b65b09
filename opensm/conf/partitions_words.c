// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keywords and values of partitions.conf (partitions-conf.md 3 and 4). Any beginning of a keyword
 * stands for it, as others read it; whoever writes so is told the whole word.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/partitions_private.h"
#include "util/mem.h"
#include "util/str.h"

/* In the order in which beginnings are compared; of "indx0" no beginning counts. */
static const char *const flag_words[] = {
	[FLAG_MTU] = "mtu",	   [FLAG_RATE] = "rate",     [FLAG_SCOPE] = "scope",
	[FLAG_QKEY] = "Q_Key",	   [FLAG_TCLASS] = "TClass", [FLAG_SL] = "sl",
	[FLAG_FLOW] = "FlowLabel", [FLAG_IPOIB] = "ipoib",   [FLAG_DEFMEMBER] = "defmember",
	[FLAG_INDX0] = "indx0",
};

static const struct {
	const char *word;
	enum partition_member member;
} member_words[] = {
	{ "full", PARTITION_FULL },
	{ "both", PARTITION_BOTH },
	{ "limited", PARTITION_LIMITED },
};

static const char *const who_words[] = {
	"NONE", "ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF",
};
static const enum partition_who whos[] = {
	PARTITION_ALL /* not used */, PARTITION_ALL,	     PARTITION_ALL_CAS,
	PARTITION_ALL_SWITCHES,	      PARTITION_ALL_ROUTERS, PARTITION_SELF,
};

/* --- Text ----------------------------------------------------------------------------------- */

char *words_trim(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

char *words_cut(char **rest, char sep)
{
	char *word = *rest, *end;

	if (!word)
		return NULL;
	end = strchr(word, sep);
	if (end)
		*end = '\0';
	*rest = end ? end + 1 : NULL;
	return word;
}

struct flag words_flag(const struct line *line, char *text)
{
	struct flag f = { .value = text };

	f.word = words_trim(words_cut(&f.value, '='));
	if (f.value)
		f.value = words_trim(f.value);
	f.at = line_place(line, f.word);
	f.value_at = line_place(line, f.value ? f.value : f.word);
	return f;
}

/* `word` is `whole` or a beginning of it. */
static bool begins(const char *word, const char *whole)
{
	return *word && str_starts(whole, word);
}

static void remark_short(const char *word, const char *whole, const struct conf_place *at,
			 struct conf_report *r)
{
	if (strcmp(word, whole) != 0)
		conf_report_at(r, CONF_WARNING, at, "\"%s\" is read as %s; write the whole word",
			       word, whole);
}

void words_remark_base(const char *word, const struct conf_place *at, struct conf_report *r)
{
	bool octal = word[0] == '0' && isdigit((unsigned char)word[1]);

	if (octal || (strlen(word) == 16 && strspn(word, "0123456789") == 16))
		conf_report_at(r, CONF_WARNING, at, "\"%s\" is read as %s; did you mean 0x%s?",
			       word, octal ? "octal" : "decimal", word);
}

/* --- Keywords ------------------------------------------------------------------------------- */

enum flag_id words_flag_id(const struct flag *flag, bool of_group, struct conf_report *r)
{
	unsigned n = of_group ? FLAG_N_GROUP : FLAG_UNKNOWN;
	char quoted[CONF_QUOTE_MAX];
	const char *near;

	for (unsigned i = 0; i < n; i++) {
		if (i == FLAG_INDX0 ? strcmp(flag->word, "indx0") != 0
				    : !begins(flag->word, flag_words[i]))
			continue;
		remark_short(flag->word, flag_words[i], &flag->at, r);
		return (enum flag_id)i;
	}
	if (!*flag->word && !flag->value) {
		conf_report_at(r, CONF_WARNING, &flag->at,
			       "no flag after the comma; the comma is ignored");
		return FLAG_UNKNOWN;
	}
	near = str_nearest(flag->word, flag_words, n);
	conf_report_at(r, CONF_WARNING, &flag->at, "%s is no flag of a %s%s%s%s; it is ignored",
		       conf_quote(flag->word, strlen(flag->word), quoted),
		       of_group ? "multicast group" : "partition", near ? " (did you mean " : "",
		       near ? near : "", near ? "?)" : "");
	return FLAG_UNKNOWN;
}

int words_member(const char *word, const struct conf_place *at, const char *otherwise,
		 enum partition_member *ret, struct conf_report *r)
{
	char quoted[CONF_QUOTE_MAX];

	for (unsigned i = 0; i < ARRAY_SIZE(member_words); i++) {
		if (!begins(word, member_words[i].word))
			continue;
		remark_short(word, member_words[i].word, at, r);
		*ret = member_words[i].member;
		return 0;
	}
	conf_report_at(r, CONF_WARNING, at, "%s; expected full, limited or both; %s",
		       *word ? conf_quote(word, strlen(word), quoted) : "no membership after \"=\"",
		       otherwise);
	return -EINVAL;
}

int words_who(const char *word, const struct conf_place *at, enum partition_who *ret,
	      bool *ret_nobody, struct conf_report *r)
{
	for (unsigned i = 0; i < ARRAY_SIZE(who_words); i++) {
		if (!begins(word, who_words[i]))
			continue;
		remark_short(word, who_words[i], at, r);
		*ret = whos[i];
		*ret_nobody = i == 0;
		return 0;
	}
	return -ENOENT;
}

const char *words_near_who(const char *word)
{
	char upper[16];
	size_t n = 0;

	for (; word[n] && n < sizeof(upper) - 1; n++)
		upper[n] = (char)toupper((unsigned char)word[n]);
	upper[n] = '\0';
	return str_nearest(upper, who_words, ARRAY_SIZE(who_words));
}

/* --- Values --------------------------------------------------------------------------------- */

/* Codes of rates (15.2.5.16), and what people call them. */
static const struct {
	uint8_t code;
	const char *gigabits;
} rates[] = {
	{ 2, "2.5" },  { 3, "10" },   { 4, "30" },   { 5, "5" },    { 6, "20" },    { 7, "40" },
	{ 8, "60" },   { 9, "80" },   { 10, "120" }, { 11, "14" },  { 12, "56" },   { 13, "112" },
	{ 14, "168" }, { 15, "25" },  { 16, "100" }, { 17, "200" }, { 18, "300" },  { 19, "28" },
	{ 20, "50" },  { 21, "400" }, { 22, "600" }, { 23, "800" }, { 24, "1200" },
};

/* "100G", "100Gb", "100Gb/s", "100Gbps" in any case: the index of the rate, or -1. */
static int rate_by_name(const char *text)
{
	static const char *const units[] = { "g", "gb", "gbit", "gb/s", "gbps", "gbit/s" };
	size_t digits = strspn(text, "0123456789.");
	const char *unit = text + digits;
	bool known = false;

	while (isspace((unsigned char)*unit))
		unit++;
	for (unsigned i = 0; i < ARRAY_SIZE(units); i++)
		known |= strcasecmp(unit, units[i]) == 0;
	for (unsigned i = 0; known && i < ARRAY_SIZE(rates); i++)
		if (strlen(rates[i].gigabits) == digits &&
		    strncmp(rates[i].gigabits, text, digits) == 0)
			return (int)i;
	return -1;
}

static const char *gigabits_of(unsigned code)
{
	for (unsigned i = 0; i < ARRAY_SIZE(rates); i++)
		if (rates[i].code == code)
			return rates[i].gigabits;
	return "?";
}

static int parse_rate(const struct flag *flag, uint8_t *ret, struct conf_report *r)
{
	int named = rate_by_name(flag->value);
	uint64_t n;

	if (named >= 0) {
		*ret = rates[named].code;
		return 0;
	}
	if (str_to_u64(flag->value, 0, 24, &n) < 0 || n < 2)
		return -EINVAL;
	/* Codes that are also the gigabits of another one. */
	if (n == 10 || n == 14 || n == 20)
		conf_report_at(r, CONF_NOTE, &flag->value_at,
			       "rate %" PRIu64 " is the code of %s Gb/s; for %" PRIu64
			       " Gb/s write %" PRIu64 "G",
			       n, gigabits_of((unsigned)n), n, n);
	*ret = (uint8_t)n;
	return 0;
}

static int parse_mtu(const struct flag *flag, uint8_t *ret)
{
	uint64_t n;

	if (str_to_u64(flag->value, 0, 4096, &n) < 0)
		return -EINVAL;
	for (uint8_t code = 1; code <= 5; code++) {
		if (n != code && n != 128u << code)
			continue;
		*ret = code;
		return 0;
	}
	return -EINVAL;
}

static int refuse_group_value(enum flag_id id, const struct flag *flag, enum conf_severity severity,
			      const char *result, struct conf_report *r)
{
	char quoted[CONF_QUOTE_MAX];

	conf_report_at(r, severity, &flag->value_at, "%s is no %s; expected %s; %s",
		       conf_quote(flag->value, strlen(flag->value), quoted), flag_words[id],
		       id == FLAG_MTU ? "256, 512, 1024, 2048, 4096 or a code of 1-5"
				      : "2.5G, 5G, 10G ... 1200G or a code of 2-24",
		       result);
	return -EINVAL;
}

/* The other flags: a number within bounds, or else a warning and nothing changes. */
static const struct {
	uint32_t min, max;
} bounds[FLAG_N_GROUP] = {
	[FLAG_SCOPE] = { 1, 15 }, [FLAG_QKEY] = { 0, UINT32_MAX }, [FLAG_TCLASS] = { 0, 0xFF },
	[FLAG_SL] = { 0, 15 },	  [FLAG_FLOW] = { 0, 0xFFFFF },
};

static bool parse_bounded(enum flag_id id, const struct flag *flag, uint32_t *ret,
			  struct conf_report *r)
{
	char quoted[CONF_QUOTE_MAX];
	uint64_t n;

	if (str_to_u64(flag->value, 0, bounds[id].max, &n) == 0 && n >= bounds[id].min) {
		*ret = (uint32_t)n;
		return true;
	}
	conf_report_at(r, CONF_WARNING, &flag->value_at,
		       "%s is no %s; expected %" PRIu32 "-%" PRIu32 "; the flag is ignored",
		       conf_quote(flag->value, strlen(flag->value), quoted), flag_words[id],
		       bounds[id].min, bounds[id].max);
	return false;
}

static void set_bounded(enum flag_id id, const struct flag *flag, struct group_flags *ret,
			struct conf_report *r)
{
	uint32_t n;

	if (!parse_bounded(id, flag, &n, r))
		return;
	switch (id) {
	case FLAG_SCOPE:
		ret->scopes |= (uint16_t)(1u << n);
		break;
	case FLAG_QKEY:
		ret->qkey = n;
		break;
	case FLAG_TCLASS:
		ret->tclass = (uint8_t)n;
		break;
	case FLAG_SL:
		ret->sl = (uint8_t)n;
		break;
	case FLAG_FLOW:
		ret->flow = n;
		break;
	case FLAG_MTU:
	case FLAG_RATE:
	case FLAG_IPOIB:
	case FLAG_DEFMEMBER:
	case FLAG_INDX0:
	case FLAG_UNKNOWN:
		break;
	}
}

int words_group_flag(enum flag_id id, const struct flag *flag, struct group_flags *ret,
		     enum conf_severity severity, const char *result, struct conf_report *r)
{
	int e = 0;

	if (!flag->value || !*flag->value) {
		conf_report_at(r, CONF_WARNING, &flag->at, "%s has no value; the flag is ignored",
			       flag_words[id]);
		return 0;
	}
	if (id == FLAG_MTU)
		e = parse_mtu(flag, &ret->mtu);
	else if (id == FLAG_RATE)
		e = parse_rate(flag, &ret->rate, r);
	else
		set_bounded(id, flag, ret, r);
	return e < 0 ? refuse_group_value(id, flag, severity, result, r) : 0;
}
