// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keywords and values of partitions.conf (partitions-conf.md 3 and 4). A keyword may be abbreviated
 * to any beginning, as in OpenSM, with a finding that names the whole word.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/partitions/partitions_internal.h"
#include "ib/codes.h"
#include "util/mem.h"
#include "util/str.h"

/* In the order in which abbreviations are matched; the last two cannot be abbreviated. */
static const char *const flag_words[] = {
	[FLAG_MTU] = "mtu",	   [FLAG_RATE] = "rate",     [FLAG_SCOPE] = "scope",
	[FLAG_QKEY] = "Q_Key",	   [FLAG_TCLASS] = "TClass", [FLAG_SL] = "sl",
	[FLAG_FLOW] = "FlowLabel", [FLAG_IPOIB] = "ipoib",   [FLAG_DEFMEMBER] = "defmember",
	[FLAG_INDX0] = "indx0",	   [FLAG_API] = "api",
};

static const struct {
	const char *word;
	enum partition_member member;
} member_words[] = {
	{ "full", PARTITION_FULL },
	{ "both", PARTITION_BOTH },
	{ "limited", PARTITION_LIMITED },
};

/* By enum partition_ports; PARTITION_GUID has no keyword, so NONE is in its place. */
static const char *const ports_words[] = {
	[PARTITION_GUID] = "NONE",	 [PARTITION_ALL] = "ALL",
	[PARTITION_ALL_CAS] = "ALL_CAS", [PARTITION_ALL_SWITCHES] = "ALL_SWITCHES",
	[PARTITION_ALL_ROUTERS] = "ALL_ROUTERS", [PARTITION_SELF] = "SELF",
};

/* --- Text ----------------------------------------------------------------------------------- */

struct flag words_flag(const struct line *line, char *text)
{
	struct flag f = { .value = text };

	f.word = str_trim(strsep(&f.value, "="));
	if (f.value)
		f.value = str_trim(f.value);
	f.at = line_place(line, f.word);
	f.value_at = line_place(line, f.value ? f.value : f.word);
	return f;
}

/* Is `word` equal to `whole` or a beginning of it? */
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

const char *words_flag_name(enum flag_id id)
{
	return flag_words[id];
}

enum flag_id words_flag_id(const struct flag *flag, bool of_group, struct conf_report *r)
{
	unsigned n = of_group ? FLAG_N_GROUP : FLAG_UNKNOWN;
	char quoted[CONF_QUOTE_MAX];
	const char *near;

	for (unsigned i = 0; i < n; i++) {
		if (i >= FLAG_INDX0 ? strcmp(flag->word, flag_words[i]) != 0
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

int words_ports(const char *word, const struct conf_place *at, enum partition_ports *ret,
		bool *ret_none, struct conf_report *r)
{
	for (unsigned i = 0; i < ARRAY_SIZE(ports_words); i++) {
		if (!begins(word, ports_words[i]))
			continue;
		remark_short(word, ports_words[i], at, r);
		*ret = i == PARTITION_GUID ? PARTITION_ALL : (enum partition_ports)i;
		*ret_none = i == PARTITION_GUID;
		return 0;
	}
	return -ENOENT;
}

const char *words_near_ports(const char *word)
{
	char upper[16];
	size_t n = 0;

	for (; word[n] && n < sizeof(upper) - 1; n++)
		upper[n] = (char)toupper((unsigned char)word[n]);
	upper[n] = '\0';
	return str_nearest(upper, ports_words, ARRAY_SIZE(ports_words));
}

/* --- Values --------------------------------------------------------------------------------- */

/* Prints the rate of a code in Gb/s, as "2.5" or "100". Returns the length. */
static int rate_gigabits(unsigned code, char *ret, size_t len)
{
	unsigned tenths = ib_rate_bandwidth(code);

	return snprintf(ret, len, tenths % 10 ? "%u.%u" : "%u", tenths / 10, tenths % 10);
}

/* The code of a rate (15.2.5.16) as "2.5G", "100Gb", "100 Gb/s", "100Gbps" in any case; 0: none. */
static unsigned rate_by_name(const char *text)
{
	static const char *const units[] = { "g", "gb", "gbit", "gb/s", "gbps", "gbit/s" };
	size_t digits = strspn(text, "0123456789.");
	const char *unit = text + digits;
	char gigabits[16];

	while (isspace((unsigned char)*unit))
		unit++;
	for (unsigned i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcasecmp(unit, units[i]) != 0)
			continue;
		for (unsigned code = IB_RATE_MIN; code <= IB_RATE_MAX; code++) {
			int n = rate_gigabits(code, gigabits, sizeof(gigabits));

			if ((size_t)n == digits && !strncmp(gigabits, text, digits))
				return code;
		}
	}
	return 0;
}

static int parse_rate(const struct flag *flag, uint32_t *ret, struct conf_report *r)
{
	unsigned named = rate_by_name(flag->value), other;
	uint64_t n = named;
	char gigabits[16];

	if (!named && (str_to_u64(flag->value, 0, IB_RATE_MAX, &n) < 0 || n < IB_RATE_MIN))
		return -EINVAL;
	*ret = (uint32_t)n;
	other = ib_rate_of_bandwidth((unsigned)n * 10);
	if (named || !other || other == n)
		return 0;
	/* The code may also be meant as the Gb/s of another one. */
	rate_gigabits((unsigned)n, gigabits, sizeof(gigabits));
	conf_report_at(r, CONF_NOTE, &flag->value_at,
		       "rate %" PRIu64 " is the code of %s Gb/s; for %" PRIu64
		       " Gb/s write %" PRIu64 "G",
		       n, gigabits, n, n);
	return 0;
}

static int parse_mtu(const struct flag *flag, uint32_t *ret)
{
	uint64_t n;

	if (str_to_u64(flag->value, 0, 4096, &n) < 0)
		return -EINVAL;
	for (uint8_t code = IB_MTU_256; code <= IB_MTU_4096; code++) {
		if (n != code && n != ib_mtu_bytes(code))
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
				      : "2.5G, 5G, 10G ... 2400G or a code of 2-26",
		       result);
	return -EINVAL;
}

/* The other flags: a number out of bounds is a warning and changes nothing. */
static const struct {
	uint32_t min, max;
} bounds[FLAG_N_GROUP] = {
	[FLAG_SCOPE] = { 1, 15 }, [FLAG_QKEY] = { 0, UINT32_MAX }, [FLAG_TCLASS] = { 0, 0xFF },
	[FLAG_SL] = { 0, 15 },	  [FLAG_FLOW] = { 0, 0xFFFFF },
};

static void set_bounded(enum flag_id id, const struct flag *flag, struct group_flags *ret,
			struct conf_report *r)
{
	char quoted[CONF_QUOTE_MAX];
	uint64_t n;

	if (str_to_u64(flag->value, 0, bounds[id].max, &n) < 0 || n < bounds[id].min)
		conf_report_at(r, CONF_WARNING, &flag->value_at,
			       "%s is no %s; expected %" PRIu32 "-%" PRIu32 "; the flag is ignored",
			       conf_quote(flag->value, strlen(flag->value), quoted), flag_words[id],
			       bounds[id].min, bounds[id].max);
	else if (id == FLAG_SCOPE)
		ret->scopes |= (uint16_t)(1u << n);
	else
		ret->of[id] = (uint32_t)n;
}

int words_group_flag(enum flag_id id, const struct flag *flag, struct group_flags *ret,
		     enum conf_severity severity, const char *result, struct conf_report *r)
{
	int e = 0;

	assert(id < FLAG_N_GROUP);
	if (!flag->value || !*flag->value) {
		conf_report_at(r, CONF_WARNING, &flag->at, "%s has no value; the flag is ignored",
			       flag_words[id]);
		return 0;
	}
	if (id == FLAG_MTU)
		e = parse_mtu(flag, &ret->of[id]);
	else if (id == FLAG_RATE)
		e = parse_rate(flag, &ret->of[id], r);
	else
		set_bounded(id, flag, ret, r);
	return e < 0 ? refuse_group_value(id, flag, severity, result, r) : 0;
}
