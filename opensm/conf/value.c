// SPDX-License-Identifier: BSD-2-Clause
/*
 * Converts one value from text and back, by the type of its row. Faults are described here; callers
 * add their place. Rules between values: verify.c.
 */
#include "conf/value.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/cc_ports.h"
#include "util/mem.h"
#include "util/str.h"

#define UNSET "(null)"

/* Large enough for every member. */
union value {
	bool flag;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	int32_t i32;
	uint64_t u64;
	conf_string string;
	struct conf_mask256 mask;
	struct conf_cct_entry entry;
	struct conf_cct list;
	struct conf_cc_ports ports;
	struct conf_per_sl per_sl;
};

/* The state of parsing one value. */
struct parse {
	const struct conf_option *option;
	const char *text;
	union value value; /* starts as the old value */
	enum conf_severity severity;
	char *remark; /* description of a fault or oddity; NULL: none */
	bool secret;  /* set if the text must not be printed */
};

void *value_at(struct conf *c, enum conf_id id)
{
	return (char *)c + conf_option(id)->offset;
}

const void *value_of(const struct conf *c, enum conf_id id)
{
	return (const char *)c + conf_option(id)->offset;
}

/* --- Parsing -------------------------------------------------------------------------------- */

#define remark(p, level, ...)                                                                      \
	do {                                                                                       \
		free((p)->remark);                                                                 \
		(p)->severity = (level);                                                           \
		(p)->remark = xasprintf(__VA_ARGS__);                                              \
	} while (0)

static int reject_text(struct parse *p, int error, const char *expected)
{
	char quoted[CONF_QUOTE_MAX];

	remark(p, CONF_ERROR, "%s%s; expected %s",
	       p->text[0] && p->secret ? "this value"
	       : p->text[0]	       ? conf_quote(p->text, strlen(p->text), quoted)
				       : "no value",
	       error == -ERANGE ? " is out of range" : "", expected);
	return error;
}

static const struct {
	const char *word;
	bool value;
} flag_words[] = {
	{ "true", true }, { "false", false }, { "yes", true }, { "no", false },
	{ "on", true },	  { "off", false },   { "1", true },   { "0", false },
};

static int parse_flag(struct parse *p)
{
	for (unsigned i = 0; i < ARRAY_SIZE(flag_words); i++) {
		const char *exact = flag_words[i].value ? "TRUE" : "FALSE";

		if (strcasecmp(p->text, flag_words[i].word) != 0)
			continue;
		p->value.flag = flag_words[i].value;
		if (strcmp(p->text, exact) != 0)
			remark(p, CONF_NOTE,
			       "\"%s\" is read as %s (others read all but TRUE as FALSE)", p->text,
			       exact);
		return 0;
	}
	return reject_text(p, -EINVAL, "TRUE or FALSE");
}

/* Is `n` in a range "LOW-HIGH,VALUE,..."? LOW may be negative. */
static bool range_has(const char *range, int64_t n)
{
	char *end;

	if (strcmp(range, "any") == 0)
		return true;
	for (; *range; range = *end == ',' ? end + 1 : end) {
		int64_t low = strtoll(range, &end, 10), high = low;

		if (*end == '-')
			high = strtoll(end + 1, &end, 10);
		if (n >= low && n <= high)
			return true;
	}
	return false;
}

static int reject_number(struct parse *p, int error)
{
	_cleanup_free_ char *expected = NULL;

	if (strcmp(p->option->range, "any") == 0)
		expected = xstrdup("a number of at most 64 bits (hexadecimal begins with 0x)");
	else
		expected = xasprintf("a number of %s", p->option->range);
	return reject_text(p, error, expected);
}

/* A leading zero means octal, which few people expect. */
static void remark_octal(struct parse *p, uint64_t n)
{
	if (p->text[0] != '0' || !isdigit((unsigned char)p->text[1]) || n <= 7)
		return;
	if (p->secret)
		remark(p, CONF_NOTE, "this value begins with 0 and is read as octal");
	else
		remark(p, CONF_NOTE, "\"%s\" begins with 0 and is read as octal: %" PRIu64, p->text,
		       n);
}

static void store_number(struct parse *p, int64_t n)
{
	switch (p->option->size) {
	case 1:
		p->value.u8 = (uint8_t)n;
		break;
	case 2:
		p->value.u16 = (uint16_t)n;
		break;
	case 4:
		p->value.u32 = (uint32_t)n;
		break;
	default:
		p->value.u64 = (uint64_t)n;
		break;
	}
}

static int parse_number(struct parse *p)
{
	bool negative = p->option->type == CONF_I32 && p->text[0] == '-';
	uint64_t n;
	int r = str_to_u64(p->text + negative, 0, UINT64_MAX, &n);

	if (r < 0)
		return reject_number(p, r);
	/* Every bounded range fits 63 bits. */
	if (p->option->type != CONF_U64 && n > INT64_MAX)
		return reject_number(p, -ERANGE);
	if (!range_has(p->option->range, negative ? -(int64_t)n : (int64_t)n))
		return reject_number(p, -ERANGE);
	store_number(p, negative ? -(int64_t)n : (int64_t)n);
	remark_octal(p, n);
	return 0;
}

/* Refuses a text that is none of the words "a|b|c"; the finding names the nearest one. */
static int check_choice(struct parse *p)
{
	_cleanup_free_ char *copy = xstrdup(p->option->range);
	_cleanup_free_ char *expected = NULL;
	const char *words[8], *nearest;
	char *rest = copy;
	size_t n = 0;

	for (char *word; n < ARRAY_SIZE(words) && (word = strsep(&rest, "|"));)
		words[n++] = word;
	for (size_t i = 0; i < n; i++)
		if (strcmp(words[i], p->text) == 0)
			return 0;
	nearest = str_nearest(p->text, words, n);
	expected = nearest ? xasprintf("%s (did you mean %s?)", p->option->range, nearest)
			   : xstrdup(p->option->range);
	return reject_text(p, -EINVAL, expected);
}

static bool is_choice(const struct conf_option *o)
{
	return o->type == CONF_STRING && strchr(o->range, '|');
}

/* Parses "(null)": unset, or the default of a key that is always set. */
static int parse_unset(struct parse *p)
{
	bool needed = is_choice(p->option) || strcmp(p->option->range, "needed path") == 0;

	p->value.string = NULL;
	if (!needed)
		return 0;
	p->value.string = xstrdup(p->option->default_text);
	remark(p, CONF_NOTE, "(null) stands for the default, %s", p->option->default_text);
	return 0;
}

static int parse_string(struct parse *p)
{
	if (strcmp(p->text, UNSET) == 0)
		return parse_unset(p);
	for (const char *s = p->text; *s; s++)
		if ((unsigned char)*s < 0x20 && *s != '\t')
			return reject_text(p, -EINVAL, "text without control characters");
	if (is_choice(p->option)) {
		int r = check_choice(p);

		if (r < 0)
			return r;
	} else if (!p->text[0] && strcmp(p->option->range, "text") != 0) {
		return reject_text(p, -EINVAL, "a path, or (null)");
	}
	p->value.string = xstrdup(p->text);
	return 0;
}

static int parse_mask(struct parse *p)
{
	const char *digits = p->text;
	size_t len;

	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		digits += 2;
	len = strlen(digits);
	if (!len || len > 64 || strspn(digits, "0123456789abcdefABCDEF") != len)
		return reject_text(p, -EINVAL, "1 to 64 hexadecimal digits");
	p->value.mask = (struct conf_mask256){ 0 };
	for (size_t i = 0; i < len; i++) {
		char c = digits[len - 1 - i];
		unsigned digit = isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;

		p->value.mask.bytes[31 - i / 2] |= (uint8_t)(digit << 4 * (i & 1));
	}
	return 0;
}

/* Parses "SHIFT:MULTIPLIER"; `text` is changed. */
static int parse_entry_text(char *text, struct conf_cct_entry *ret)
{
	char *colon = strchr(text, ':');
	uint64_t shift, multiplier;

	if (!colon)
		return -EINVAL;
	*colon = '\0';
	if (str_to_u64(text, 0, 3, &shift) < 0 || str_to_u64(colon + 1, 0, 0x3FFF, &multiplier) < 0)
		return -EINVAL;
	ret->shift = (uint8_t)shift;
	ret->multiplier = (uint16_t)multiplier;
	return 0;
}

static int parse_entry(struct parse *p)
{
	_cleanup_free_ char *copy = xstrdup(p->text);

	if (parse_entry_text(copy, &p->value.entry) < 0)
		return reject_text(p, -EINVAL, "SHIFT:MULTIPLIER (0-3, 0-16383)");
	return 0;
}

static int parse_list(struct parse *p)
{
	_cleanup_free_ char *copy = xstrdup(p->text);
	struct conf_cct list = { 0 };
	char *rest = copy;

	if (strcmp(p->text, UNSET) == 0) {
		p->value.list = list;
		return 0;
	}
	for (char *word; (word = strsep(&rest, ",")); list.n++)
		if (list.n == CONF_CCT_MAX ||
		    parse_entry_text(str_trim(word), &list.entries[list.n]) < 0)
			return reject_text(p, -EINVAL,
					   "up to 128 SHIFT:MULTIPLIER (0-3, 0-16383) and commas");
	p->value.list = list;
	return 0;
}

static int parse_ports(struct parse *p)
{
	if (cc_ports_parse(p->text, &p->value.ports) < 0)
		return reject_text(p, -EINVAL, CC_PORTS_EXPECTED);
	return 0;
}

static int parse_per_sl(struct parse *p)
{
	_cleanup_free_ char *copy = xstrdup(p->text), *expected = NULL;
	size_t end = strcspn(copy, " \t");
	bool pair = copy[end] != '\0';
	uint64_t sl, n;

	copy[end] = '\0';
	if (pair && str_to_u64(copy, 0, 15, &sl) == 0 &&
	    str_to_u64(str_trim(copy + end + 1), 0, INT64_MAX, &n) == 0 &&
	    range_has(p->option->range, (int64_t)n)) {
		p->value.per_sl.values[sl] = (uint16_t)n;
		return 0;
	}
	expected = xasprintf("an SL of 0-15, a blank and a number of %s", p->option->range);
	return reject_text(p, -EINVAL, expected);
}

static int parse_any(struct parse *p)
{
	switch (p->option->type) {
	case CONF_BOOL:
		return parse_flag(p);
	case CONF_U8:
	case CONF_U16:
	case CONF_U32:
	case CONF_I32:
	case CONF_U64:
		return parse_number(p);
	case CONF_STRING:
		return parse_string(p);
	case CONF_MASK256:
		return parse_mask(p);
	case CONF_CCT_ENTRY:
		return parse_entry(p);
	case CONF_CCT_LIST:
		return parse_list(p);
	case CONF_CC_PORTS:
		return parse_ports(p);
	case CONF_SL_U16:
	case CONF_SL_U8:
		return parse_per_sl(p);
	}
	return -EINVAL;
}

static void report_value(const struct conf *c, enum conf_id id, const struct parse *p, bool kept,
			 const struct conf_place *at, struct conf_report *r)
{
	_cleanup_free_ char *old = kept ? conf_value_shown(c, id) : NULL;

	conf_report_at(r, p->severity, at, "%s: %s%s%s", p->option->name, p->remark,
		       kept ? "; keeps " : "", kept ? old : "");
}

int conf_set(struct conf *c, enum conf_id id, const char *text, const struct conf_place *at,
	     struct conf_report *r)
{
	struct parse p = { .option = conf_option(id), .text = text, .secret = conf_is_secret(id) };
	int e;

	assert(id < CONF_N_OPTIONS && text && at);
	memcpy(&p.value, value_at(c, id), p.option->size);
	e = parse_any(&p);
	/* An error of the profile is reported by conf_profile_apply(), which chooses one. */
	if (p.remark)
		report_value(c, id, &p, e < 0 && id != CONF_ID_security_profile, at, r);
	free(p.remark);
	if (e < 0)
		return e;
	value_free(c, id);
	memcpy(value_at(c, id), &p.value, p.option->size);
	if (!at->file)
		c->file_line[id] = 0;
	c->profiled[id] = false;
	return 0;
}

/* --- Writing -------------------------------------------------------------------------------- */

/* A copy of the value: members are aligned as their own type, not as the union. */
static union value value_load(const struct conf *c, enum conf_id id)
{
	union value v;

	memcpy(&v, value_of(c, id), conf_option(id)->size);
	return v;
}

/* A number of any width; 0 for other types. */
static uint64_t value_number(const struct conf *c, enum conf_id id)
{
	union value v = value_load(c, id);
	enum conf_type type = conf_option(id)->type;

	if (type == CONF_BOOL)
		return v.flag;
	if (type == CONF_I32)
		return (uint64_t)v.i32;
	if (type > CONF_U64) /* not a number */
		return 0;
	switch (conf_option(id)->size) {
	case 1:
		return v.u8;
	case 2:
		return v.u16;
	case 4:
		return v.u32;
	}
	return v.u64;
}

static char *number_text(enum conf_format format, int64_t n)
{
	switch (format) {
	case CONF_FORMAT_X2:
		return xasprintf("0x%02" PRIx64, n);
	case CONF_FORMAT_X16:
		return xasprintf("0x%016" PRIx64, n);
	case CONF_FORMAT_XU:
		return xasprintf("0x%" PRIX64, n);
	case CONF_FORMAT_X2U:
		return xasprintf("0x%02" PRIX64, n);
	case CONF_FORMAT_X4U:
		return xasprintf("0x%04" PRIX64, n);
	case CONF_FORMAT_DEC:
	case CONF_FORMAT_TEXT:
		break;
	}
	return xasprintf("%" PRId64, n);
}

static char *mask_text(const struct conf_mask256 *mask)
{
	enum { LEN = 2 + 64 + 1 };
	char *text = xcalloc(1, LEN);

	snprintf(text, LEN, "0x");
	for (unsigned i = 0; i < sizeof(mask->bytes); i++)
		snprintf(text + 2 + 2 * i, 3, "%02X", mask->bytes[i]);
	return text;
}

static char *list_text(const struct conf_cct *list)
{
	size_t cap = list->n * sizeof("3:16383") + 1, at = 0;
	char *text;

	if (!list->n)
		return xstrdup(UNSET);
	text = xcalloc(1, cap);
	for (unsigned i = 0; i < list->n; i++)
		at += (size_t)snprintf(text + at, cap - at, "%s%u:%u", i ? "," : "",
				       list->entries[i].shift, list->entries[i].multiplier);
	return text;
}

static char *per_sl_text(const struct conf_per_sl *per_sl)
{
	char text[16 * sizeof("15 65535, ")];
	size_t at = 0;

	for (unsigned sl = 0; sl < 16; sl++)
		if (per_sl->values[sl])
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u %u",
					       at ? ", " : "", sl, per_sl->values[sl]);
	return xstrdup(at ? text : "0 0");
}

char *conf_value_text(const struct conf *c, enum conf_id id)
{
	const struct conf_option *o = conf_option(id);
	union value v = value_load(c, id);

	switch (o->type) {
	case CONF_BOOL:
		return xstrdup(v.flag ? "TRUE" : "FALSE");
	case CONF_U8:
	case CONF_U16:
	case CONF_U32:
	case CONF_I32:
	case CONF_U64:
		return number_text(o->format, (int64_t)value_number(c, id));
	case CONF_STRING:
		return xstrdup(v.string ? v.string : UNSET);
	case CONF_MASK256:
		return mask_text(&v.mask);
	case CONF_CCT_ENTRY:
		return xasprintf("%u:%u", v.entry.shift, v.entry.multiplier);
	case CONF_CCT_LIST:
		return list_text(&v.list);
	case CONF_CC_PORTS:
		return cc_ports_text(&v.ports);
	case CONF_SL_U16:
	case CONF_SL_U8:
		break;
	}
	return per_sl_text(&v.per_sl);
}

char *conf_value_shown(const struct conf *c, enum conf_id id)
{
	return conf_is_secret(id) ? xstrdup("(not shown)") : conf_value_text(c, id);
}

/* --- Copies --------------------------------------------------------------------------------- */

void value_free(struct conf *c, enum conf_id id)
{
	conf_string *s = value_at(c, id);

	if (conf_option(id)->type != CONF_STRING)
		return;
	free(*s);
	*s = NULL;
}

void value_own(struct conf *c, enum conf_id id)
{
	conf_string *s = value_at(c, id);

	if (conf_option(id)->type == CONF_STRING && *s)
		*s = xstrdup(*s);
}

void conf_value_copy(struct conf *to, const struct conf *from, enum conf_id id)
{
	if (to == from)
		return;
	value_free(to, id);
	memcpy(value_at(to, id), value_of(from, id), conf_option(id)->size);
	value_own(to, id);
}

void value_set_default(struct conf *c, enum conf_id id)
{
	struct parse p = { .option = conf_option(id), .text = conf_option(id)->default_text };

	value_free(c, id);
	memset(value_at(c, id), 0, p.option->size);
	if (parse_any(&p) < 0)
		abort(); /* options.def is wrong, and test-conf fails */
	free(p.remark);
	memcpy(value_at(c, id), &p.value, p.option->size);
}

bool conf_value_equal(const struct conf *a, const struct conf *b, enum conf_id id)
{
	const struct conf_option *o = conf_option(id);
	_cleanup_free_ char *text = NULL, *other = NULL;

	if (o->type == CONF_STRING)
		return str_equal(value_load(a, id).string, value_load(b, id).string);
	if (memcmp(value_of(a, id), value_of(b, id), o->size) == 0)
		return true;
	text = conf_value_text(a, id);
	other = conf_value_text(b, id);
	return strcmp(text, other) == 0; /* padding may differ */
}

bool conf_value_is_default(const struct conf *c, enum conf_id id)
{
	const struct conf_option *o = conf_option(id);
	_cleanup_free_ char *text = conf_value_text(c, id);

	/* The text of "" or "(null)" is that of an unset string; only the pointer differs. */
	if (o->type == CONF_STRING && strcmp(o->default_text, UNSET) == 0)
		return !value_load(c, id).string;
	return strcmp(text, o->default_text) == 0;
}

bool conf_value_is_default_path(const struct conf *c, enum conf_id id)
{
	const char *base = strrchr(conf_option(id)->default_text, '/');
	_cleanup_free_ char *value = NULL, *debian = NULL;

	if (conf_value_is_default(c, id) || !base)
		return conf_value_is_default(c, id);
	value = conf_value_text(c, id);
	debian = xasprintf("/etc/opensm%s", base);
	return strcmp(value, debian) == 0;
}
