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

#define STEM	     "opensm.conf"
#define PREFIX_BASE  0xfe80000000000000ULL
#define PREFIXES_MAX 100 /* two decimal digits */
#define PRIORITY_MAX 15
#define BLANKS	     " \t\r\n"

/* State shared by the rules. */
struct chooser {
	const struct choose_input *in;
	struct choice *out;
	struct conf_report *r;
	bool redhat;
};

/* ---- instances ----------------------------------------------------------------------------- */

void choose_clear(struct choice *c)
{
	for (size_t i = 0; i < c->n; i++)
		instance_free(c->items[i]);
	free(c->items);
	*c = (struct choice){ 0 };
}

static struct instance *add(struct chooser *c, char *name)
{
	struct choice *out = c->out;

	GROW(out->items, out->n + 1, out->cap);
	out->items[out->n] = instance_new(name);
	out->items[out->n]->strict = out->strict;
	return out->items[out->n++];
}

struct instance *choice_find(const struct choice *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (str_equal(c->items[i]->name, name))
			return c->items[i];
	return NULL;
}

/* ---- settings ------------------------------------------------------------------------------ */

static const struct sysconfig_setting *setting(const struct chooser *c, enum sysconfig_name name)
{
	return sysconfig_get(&c->in->settings, name);
}

/* The value without blanks around it, to be freed; NULL: there is none. */
static char *trimmed(const struct sysconfig_setting *s)
{
	char *copy;
	size_t n;

	if (!s)
		return NULL;
	copy = xstrdup(s->value + strspn(s->value, BLANKS));
	n = strlen(copy);
	while (n && strchr(BLANKS, copy[n - 1]))
		copy[--n] = '\0';
	return copy;
}

/* True for `yes`; a value that is neither is a finding, and `otherwise` holds. */
static bool read_flag(const struct chooser *c, enum sysconfig_name name, const char *yes,
		      const char *no, bool otherwise)
{
	const struct sysconfig_setting *s = setting(c, name);
	_cleanup_free_ char *value = trimmed(s);
	char quoted[CONF_QUOTE_MAX];

	if (!value)
		return otherwise;
	if (strcasecmp(value, yes) == 0 || strcasecmp(value, no) == 0)
		return strcasecmp(value, yes) == 0;
	conf_report_add(c->r, CONF_WARNING, s->file, s->line, s->column,
			"%s is %s; expected %s or %s; %s holds", s->name,
			conf_quote(value, strlen(value), quoted), yes, no, otherwise ? yes : no);
	return otherwise;
}

/* PRIORITY for every instance there is. */
static void give_priority(struct chooser *c)
{
	const struct sysconfig_setting *s = setting(c, SYSCONFIG_PRIORITY);
	_cleanup_free_ char *value = trimmed(s);
	char quoted[CONF_QUOTE_MAX];
	uint64_t priority = 0;
	bool good = value && str_to_u64(value, 0, PRIORITY_MAX, &priority) == 0;

	for (size_t k = 0; value && k < c->out->n; k++) {
		struct instance *i = c->out->items[k];

		i->priority_given = good;
		i->priority = (unsigned)priority;
		if (!good && !i->fault)
			i->fault =
				xasprintf("%s:%u:%u: PRIORITY is %s; expected a number of 0-%u",
					  s->file, s->line, s->column,
					  conf_quote(value, strlen(value), quoted), PRIORITY_MAX);
	}
}

/* ---- rule 1: numbered files ---------------------------------------------------------------- */

/* Can the text be part of file names, sockets and lines? */
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
static bool is_as_shipped(enum sysconfig_name name, const char *value)
{
	return name == SYSCONFIG_PORTS && strcasecmp(value, "ALL") == 0;
}

/* Warns of settings that are ignored, as numbered files decide alone. */
static void warn_of_ignored(const struct chooser *c)
{
	_cleanup_free_ char *ignored = NULL, *base = NULL;

	for (enum sysconfig_name name = SYSCONFIG_GUIDS; name <= SYSCONFIG_PORTS; name++) {
		const struct sysconfig_setting *s = setting(c, name);
		char *longer;

		if (!s || is_as_shipped(name, s->value) ||
		    (c->redhat && name == SYSCONFIG_PRIORITY))
			continue;
		longer = xasprintf("%s%s%s (%s:%u)", ignored ? ignored : "", ignored ? ", " : "",
				   s->name, s->file, s->line);
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
	for (size_t i = 0; i < c->in->n_names; i++) {
		const char *name = c->in->names[i], *number = number_of(c, name);

		if (number)
			add(c, xstrdup(number))->conf = xasprintf("%s/%s", c->in->conf_dir, name);
	}
	if (!c->out->n)
		return false;
	c->out->rule = "numbered configuration files";
	warn_of_ignored(c);
	return true;
}

/* ---- rules 2 and 3: GUIDs ------------------------------------------------------------------ */

/* Adds an instance for a GUID; NULL: the GUID has one already, which is reported. */
static struct instance *add_guid(struct chooser *c, uint64_t guid, const char *origin)
{
	_cleanup_free_ char *name = xasprintf("0x%016" PRIx64, guid);
	struct instance *i;

	if (choice_find(c->out, name)) {
		conf_report_add(c->r, CONF_WARNING, NULL, 0, 0,
				"%s names GUID %s twice; there is one instance for it", origin,
				name);
		return NULL;
	}
	i = add(c, take(name));
	i->guid = guid;
	i->guid_given = true;
	return i;
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
	add(c, name)->fault =
		xasprintf("%s: found %s; expected a port GUID, such as 0x0002c90300001234", origin,
			  conf_quote(word, len, quoted));
}

/* Adds an instance per word; `staggered`: each with a subnet prefix of its own. */
static void add_words(struct chooser *c, const struct sysconfig_setting *s, bool staggered)
{
	_cleanup_free_ char *origin =
		xasprintf("%s:%u:%u: %s", s->file, s->line, s->column, s->name);
	const char *word = s->value;
	unsigned position = 0;
	size_t len;

	for (;; word += len, position++) {
		_cleanup_free_ char *copy = NULL;
		struct instance *i;
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
		i = add_guid(c, guid, origin);
		if (!i || !staggered)
			continue;
		/* Two decimal digits, read as hexadecimal ones (users.md 2.1, rule 4). */
		i->prefix = PREFIX_BASE + (position / 10 << 4) + position % 10;
		if (position >= PREFIXES_MAX)
			i->fault = xasprintf("%s: more than %u words; there is no prefix for this "
					     "one",
					     origin, PREFIXES_MAX);
	}
}

static bool by_guids(struct chooser *c)
{
	const struct sysconfig_setting *s = setting(c, SYSCONFIG_GUIDS);

	if (!s)
		return false;
	c->out->rule = "GUIDS in the sysconfig file";
	add_words(c, s, true);
	return true;
}

static bool by_ports(struct chooser *c)
{
	const struct sysconfig_setting *s = setting(c, SYSCONFIG_PORTS);
	_cleanup_free_ char *value = trimmed(s);

	if (!s)
		return false;
	if (strcasecmp(value, "NONE") == 0) {
		c->out->rule = "PORTS=NONE";
	} else if (strcasecmp(value, "ALL") == 0) {
		c->out->rule = "PORTS=ALL";
		c->out->all_ports = true;
		for (size_t i = 0; i < c->in->n_ports; i++)
			add_guid(c, c->in->ports[i], "PORTS=ALL");
	} else {
		c->out->rule = "PORTS, a list of GUIDs";
		add_words(c, s, false);
	}
	return true;
}

/* ---- all of them, with rule 4 -------------------------------------------------------------- */

void choose(const struct choose_input *in, struct choice *ret, struct conf_report *r)
{
	struct chooser c = { .in = in, .out = ret, .r = r };
	bool numbered;

	assert(in->conf_dir && (in->names || !in->n_names) && (in->ports || !in->n_ports));
	*ret = (struct choice){ 0 };
	c.redhat = read_flag(&c, SYSCONFIG_ORDER, "redhat", "files", false);
	ret->strict = read_flag(&c, SYSCONFIG_STRICT, "yes", "no", true);
	warn_of_leftovers(&c);
	numbered = !(c.redhat && by_guids(&c)) && by_numbered(&c);
	if (!ret->rule && !by_guids(&c) && !by_ports(&c)) {
		ret->rule = "one instance";
		add(&c, xstrdup(INSTANCE_UNNAMED));
	}
	if (c.redhat || !numbered)
		give_priority(&c);
}
