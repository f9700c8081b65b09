// SPDX-License-Identifier: BSD-2-Clause
/* The rules of choose.h, one function each. */
#include "launch/choose.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "util/mem.h"
#include "util/str.h"

#define STEM "opensm.conf"
#define PREFIX_BASE 0xfe80000000000000ULL
#define PREFIXES_MAX 100 /* two decimal digits */
#define PRIORITY_MAX 15
#define BLANKS " \t\r\n"

/* What the rules work on. */
struct chooser {
	const struct choose_input *in;
	struct choice *out;
	struct conf_report *r;
	bool redhat;
};

/* ---- plans --------------------------------------------------------------------------------- */

void plan_clear(struct plan *p)
{
	free(p->name);
	free(p->conf);
	free(p->fault);
	*p = (struct plan){ 0 };
}

void choose_clear(struct choice *c)
{
	for (size_t i = 0; i < c->n; i++)
		plan_clear(&c->plans[i]);
	free(c->plans);
	*c = (struct choice){ 0 };
}

bool plan_equal(const struct plan *a, const struct plan *b)
{
	return str_equal(a->name, b->name) && str_equal(a->conf, b->conf) && a->guid == b->guid &&
	       a->prefix == b->prefix && a->priority == b->priority &&
	       str_equal(a->fault, b->fault);
}

bool plan_is_named(const struct plan *p)
{
	return !str_equal(p->name, CHOOSE_UNNAMED);
}

static struct plan *plan_add(struct chooser *c, char *name)
{
	struct choice *out = c->out;

	GROW(out->plans, out->n + 1, out->cap);
	out->plans[out->n] = (struct plan){ .name = name, .priority = -1 };
	return &out->plans[out->n++];
}

struct plan *choice_find(const struct choice *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (str_equal(c->plans[i].name, name))
			return &c->plans[i];
	return NULL;
}

/* ---- settings ------------------------------------------------------------------------------ */

/* A setting, and in `*ret_file` the file it is from. NULL: none. */
static const struct ini_item *setting(const struct chooser *c, const char *name,
					       const char **ret_file)
{
	for (size_t i = 0; i < ARRAY_SIZE(c->in->files); i++) {
		const struct sysconfig *f = c->in->files[i];
		const struct ini_item *s = f ? sysconfig_find(f, name) : NULL;

		if (s) {
			*ret_file = f->file;
			return s;
		}
	}
	return NULL;
}

/* The value without blanks around it, to be freed. */
static char *trimmed(const struct ini_item *s)
{
	char *copy = xstrdup(s->value + strspn(s->value, BLANKS));
	size_t n = strlen(copy);

	while (n && strchr(BLANKS, copy[n - 1]))
		copy[--n] = '\0';
	return copy;
}

/* True for `yes`; a value that is neither is a finding, and `otherwise` holds. */
static bool read_flag(const struct chooser *c, const char *name, const char *yes, const char *no,
		      bool otherwise)
{
	const char *file;
	const struct ini_item *s = setting(c, name, &file);
	_cleanup_free_ char *value = s ? trimmed(s) : NULL;
	char quoted[CONF_QUOTE_MAX];

	if (!value)
		return otherwise;
	if (strcasecmp(value, yes) == 0 || strcasecmp(value, no) == 0)
		return strcasecmp(value, yes) == 0;
	conf_report_add(c->r, CONF_WARNING, file, s->line, s->column,
			"%s is %s; expected %s or %s; %s holds", name,
			conf_quote(value, strlen(value), quoted), yes, no, otherwise ? yes : no);
	return otherwise;
}

/* PRIORITY for every plan there is. */
static void give_priority(struct chooser *c)
{
	const char *file;
	const struct ini_item *s = setting(c, SYSCONFIG_PRIORITY, &file);
	_cleanup_free_ char *value = s ? trimmed(s) : NULL;
	char quoted[CONF_QUOTE_MAX];
	uint64_t priority;
	bool good;

	if (!value)
		return;
	good = str_to_u64(value, 0, PRIORITY_MAX, &priority) == 0;
	for (size_t i = 0; i < c->out->n; i++) {
		struct plan *p = &c->out->plans[i];

		if (good)
			p->priority = (int)priority;
		else if (!p->fault)
			p->fault = xasprintf("%s:%u:%u: PRIORITY is %s; expected a number of 0-%u",
					     file, s->line, s->column,
					     conf_quote(value, strlen(value), quoted),
					     PRIORITY_MAX);
	}
}

/* ---- rule 1: numbered files ---------------------------------------------------------------- */

/* What can be part of the names of files, sockets and lines. */
static bool is_printable_name(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isgraph((unsigned char)*c))
			return false;
	return true;
}

static bool all_digits(const char *text)
{
	return text[0] && text[strspn(text, "0123456789")] == '\0';
}

/* "1" of "opensm.conf.1"; NULL if the name has another shape. */
static const char *number_of(const struct chooser *c, const char *name)
{
	const char *tail = name + strlen(STEM) + 1;

	if (!str_starts(name, STEM "."))
		return NULL;
	if (c->redhat)
		return isdigit((unsigned char)*tail) && is_printable_name(tail) ? tail : NULL;
	return all_digits(tail) ? tail : NULL;
}

/* By value: 2 before 10; what is equal in value, by its text. */
static int compare_names(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	const char *m = *x + strlen(STEM) + 1, *n = *y + strlen(STEM) + 1;
	size_t m_len, n_len;

	m += strspn(m, "0");
	n += strspn(n, "0");
	m_len = strspn(m, "0123456789");
	n_len = strspn(n, "0123456789");
	if (m_len != n_len)
		return m_len < n_len ? -1 : 1;
	if (strncmp(m, n, m_len) != 0)
		return strncmp(m, n, m_len);
	return strcmp(*x, *y);
}

/* Names that are neither the base file nor numbered, but look like it. */
static void warn_of_leftovers(const struct chooser *c)
{
	for (size_t i = 0; i < c->in->n_names; i++) {
		const char *name = c->in->names[i];
		char quoted[CONF_QUOTE_MAX];

		if (str_starts(name, STEM) && name[strlen(STEM)] && !number_of(c, name))
			conf_report_add(
				c->r, CONF_WARNING, NULL, 0, 0,
				"%s in %s does not name an instance: expected digits only after "
				"\"" STEM ".\"; it is not read",
				conf_quote(name, strlen(name), quoted), c->in->conf_dir);
	}
}

/* PORTS=ALL is what Debian's file says as it comes: no administrator has set that. */
static bool is_as_shipped(const struct ini_item *s)
{
	return str_equal(s->name, SYSCONFIG_PORTS) && strcasecmp(s->value, "ALL") == 0;
}

/* Numbered files decide alone: one line if what they put aside holds settings. */
static void warn_of_ignored(const struct chooser *c)
{
	const char *const names[] = { SYSCONFIG_GUIDS, SYSCONFIG_PRIORITY, SYSCONFIG_PORTS };
	_cleanup_free_ char *ignored = NULL, *base = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *file;
		const struct ini_item *s = setting(c, names[i], &file);
		char *longer;

		if (!s || is_as_shipped(s) || (c->redhat && i == 1))
			continue;
		longer = xasprintf("%s%s%s (%s:%u)", ignored ? ignored : "", ignored ? ", " : "",
				   names[i], file, s->line);
		free(ignored);
		ignored = longer;
	}
	if (c->in->base_settings)
		base = xasprintf("%s%u settings of %s/" STEM, ignored ? " and " : "",
				 c->in->base_settings, c->in->conf_dir);
	if (ignored || base)
		conf_report_add(c->r, CONF_WARNING, NULL, 0, 0,
				"there are numbered files " STEM
				".N, so %s%s count for no instance",
				ignored ? ignored : "", base ? base : "");
}

static bool by_numbered(struct chooser *c)
{
	const char **found = xcalloc(c->in->n_names + 1, sizeof(*found));
	size_t n = 0;

	for (size_t i = 0; i < c->in->n_names; i++)
		if (number_of(c, c->in->names[i]))
			found[n++] = c->in->names[i];
	qsort(found, n, sizeof(*found), compare_names);
	for (size_t i = 0; i < n; i++) {
		struct plan *p = plan_add(c, xstrdup(number_of(c, found[i])));

		p->conf = xasprintf("%s/%s", c->in->conf_dir, found[i]);
	}
	free(found);
	if (!n)
		return false;
	c->out->rule = CHOOSE_NUMBERED;
	c->out->rule_text = "numbered configuration files";
	warn_of_ignored(c);
	if (c->redhat)
		give_priority(c);
	return true;
}

/* ---- rules 2 and 3: GUIDs ------------------------------------------------------------------ */

/* A plan for a GUID; a second one for the same GUID is said and left out: NULL. */
static struct plan *add_guid(struct chooser *c, uint64_t guid, const char *origin)
{
	_cleanup_free_ char *name = xasprintf("0x%016" PRIx64, guid);
	struct plan *p;

	if (choice_find(c->out, name)) {
		conf_report_add(c->r, CONF_WARNING, NULL, 0, 0,
				"%s names GUID %s twice; there is one instance for it", origin,
				name);
		return NULL;
	}
	p = plan_add(c, take(name));
	p->guid = guid;
	return p;
}

/* A word that is no GUID is an instance that cannot start: it must not be lost in silence. */
static void add_faulty(struct chooser *c, const char *origin, const char *word, size_t len)
{
	_cleanup_free_ char *copy = xmemdup(word, len + 1);
	char quoted[CONF_QUOTE_MAX], *name = xmalloc(len + 1);

	copy[len] = '\0';
	str_printable(copy, len, name, len + 1);
	for (char *s = name; *s; s++)
		if (*s == '/' || *s == ' ' || *s == '"')
			*s = '_';
	if (!name[0] || name[0] == '.' || choice_find(c->out, name)) {
		free(name);
		name = xasprintf("word-%zu", c->out->n + 1);
	}
	plan_add(c, name)->fault =
		xasprintf("%s: found %s; expected a port GUID, such as 0x0002c90300001234", origin,
			  conf_quote(word, len, quoted));
}

/* One plan per word; `staggered`: each with a prefix of its own. */
static void add_words(struct chooser *c, const struct ini_item *s, const char *file,
		      bool staggered)
{
	_cleanup_free_ char *origin =
		xasprintf("%s:%u:%u: %s", file, s->line, s->column, s->name);
	const char *word = s->value;
	unsigned position = 0;
	size_t len;

	for (;; word += len, position++) {
		_cleanup_free_ char *copy = NULL;
		struct plan *p;
		uint64_t guid;

		word += strspn(word, BLANKS);
		len = strcspn(word, BLANKS);
		if (!len)
			return;
		copy = xmemdup(word, len + 1);
		copy[len] = '\0';
		if (str_to_u64(copy, 16, UINT64_MAX, &guid) < 0 || !guid) {
			add_faulty(c, origin, word, len);
			continue;
		}
		p = add_guid(c, guid, origin);
		if (!p || !staggered)
			continue;
		/* Two decimal digits, read as hexadecimal ones (users.md 2.1, rule 4). */
		p->prefix = PREFIX_BASE + (position / 10 << 4) + position % 10;
		if (position >= PREFIXES_MAX)
			p->fault = xasprintf("%s: more than %u words; there is no prefix for this "
					     "one",
					     origin, PREFIXES_MAX);
	}
}

static bool by_guids(struct chooser *c)
{
	const char *file;
	const struct ini_item *s = setting(c, SYSCONFIG_GUIDS, &file);

	if (!s)
		return false;
	c->out->rule = CHOOSE_GUIDS;
	c->out->rule_text = "GUIDS in the sysconfig file";
	add_words(c, s, file, true);
	give_priority(c);
	return true;
}

static bool by_ports(struct chooser *c)
{
	const char *file;
	const struct ini_item *s = setting(c, SYSCONFIG_PORTS, &file);
	_cleanup_free_ char *value = s ? trimmed(s) : NULL;

	if (!s)
		return false;
	c->out->rule = CHOOSE_PORTS;
	if (strcasecmp(value, "NONE") == 0) {
		c->out->rule = CHOOSE_NO_PORTS;
		c->out->rule_text = "PORTS=NONE";
	} else if (strcasecmp(value, "ALL") == 0) {
		c->out->rule_text = "PORTS=ALL";
		c->out->all_ports = true;
		for (size_t i = 0; i < c->in->n_ports; i++)
			add_guid(c, c->in->ports[i], "PORTS=ALL");
	} else {
		c->out->rule_text = "PORTS, a list of GUIDs";
		add_words(c, s, file, false);
	}
	give_priority(c);
	return true;
}

/* ---- rule 4, and all of them --------------------------------------------------------------- */

static bool by_nothing(struct chooser *c)
{
	plan_add(c, xstrdup(CHOOSE_UNNAMED));
	c->out->rule = CHOOSE_ONE;
	c->out->rule_text = "one instance";
	give_priority(c);
	return true;
}

void choose(const struct choose_input *in, struct choice *ret, struct conf_report *r)
{
	struct chooser c = { .in = in, .out = ret, .r = r };

	assert(in->conf_dir && (in->names || !in->n_names) && (in->ports || !in->n_ports));
	*ret = (struct choice){ .rule = CHOOSE_ONE };
	c.redhat = read_flag(&c, SYSCONFIG_ORDER, "redhat", "files", false);
	ret->strict = read_flag(&c, SYSCONFIG_STRICT, "yes", "no", true);
	warn_of_leftovers(&c);
	if (c.redhat && by_guids(&c))
		return;
	if (by_numbered(&c) || by_guids(&c) || by_ports(&c))
		return;
	by_nothing(&c);
}
