// SPDX-License-Identifier: BSD-2-Clause
/*
 * Options of opensmctl itself. In front of the object they may be abbreviated, as in iproute2: the
 * first that begins so; behind it, between the words of the command, only letters and whole names
 * are options, and what the command takes itself stays its own (report -o FILE).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

#define WATCH_MOST    3600 /* seconds */
#define WATCH_DEFAULT 2

/* ---- the options ----------------------------------------------------------------------------- */

static bool take_json(struct ctl *c, const char *value)
{
	c->json = true;
	return true;
}

static bool take_pretty(struct ctl *c, const char *value)
{
	c->json = c->pretty = true;
	return true;
}

static bool take_oneline(struct ctl *c, const char *value)
{
	c->oneline = true;
	return true;
}

static bool take_stats(struct ctl *c, const char *value)
{
	c->stats++;
	return true;
}

static bool take_timestamps(struct ctl *c, const char *value)
{
	c->timestamps = true;
	return true;
}

static bool take_color(struct ctl *c, const char *how)
{
	if (!how || !how[0] || str_starts("always", how))
		c->color = true;
	else if (str_starts("auto", how))
		c->color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	else if (str_starts("never", how))
		c->color = false;
	else
		return false;
	return true;
}

static bool take_instance(struct ctl *c, const char *name)
{
	c->instance = name;
	return name && name[0];
}

static bool take_wide(struct ctl *c, const char *value)
{
	c->wide = true;
	return true;
}

static bool take_watch(struct ctl *c, const char *value)
{
	uint64_t seconds = WATCH_DEFAULT;

	if (value && (str_to_u64(value, 10, WATCH_MOST, &seconds) < 0 || !seconds))
		return false;
	c->watch = (unsigned)seconds;
	return true;
}

static bool take_version(struct ctl *c, const char *value)
{
	c->wish = CTL_VERSION;
	return true;
}

static bool take_schema(struct ctl *c, const char *value)
{
	c->wish = CTL_SCHEMA;
	return true;
}

static bool take_help(struct ctl *c, const char *value)
{
	c->wish = CTL_HELP;
	return true;
}

/* Does a value stand behind the option? */
enum value {
	NO_VALUE,
	EQUALS,	   /* "=VALUE" may */
	MAY_COUNT, /* "=N" may, or a word that is a number */
	NEEDED,	   /* "=VALUE", or the next word */
};

static const struct option {
	const char *name;
	char letter; /* '\0': none */
	enum value value;
	bool (*apply)(struct ctl *c, const char *value);
	const char *wants; /* said where apply() returns false */
	const char *shown, *help;
} options[] = {
	{ "json", 'j', NO_VALUE, take_json, "no value", "-j, --json",
	  "JSON instead of text; errors, too" },
	{ "pretty", 'p', NO_VALUE, take_pretty, "no value", "-p, --pretty", "the same, indented" },
	{ "oneline", 'o', NO_VALUE, take_oneline, "no value", "-o, --oneline",
	  "one line per record, no headings, a TAB between columns" },
	{ "wide", 'w', NO_VALUE, take_wide, "no value", "-w, --wide",
	  "all columns, nothing cut, however narrow the terminal is" },
	{ "watch", '\0', MAY_COUNT, take_watch, "seconds, from 1 to 3600", "--watch [SECONDS]",
	  "shows it again every 2 s, or so many, until interrupted" },
	{ "stats", 's', NO_VALUE, take_stats, "no value", "-s, --stats",
	  "more figures; may be repeated" },
	{ "timestamp", '\0', NO_VALUE, take_timestamps, "no value", "-ts, --timestamp",
	  "time of each event, in front of it" },
	{ "ts", '\0', NO_VALUE, take_timestamps, "no value", NULL, NULL },
	{ "color", 'c', EQUALS, take_color, "auto, always or never",
	  "-c, --color[=auto|always|never]", "colours" },
	{ "instance", 'i', NEEDED, take_instance, "the name of an instance", "-i, --instance NAME",
	  "the instance to ask, where there are several: a name, the path of a\n"
	  "                         socket, or all. Default: commands that show ask all" },
	{ "schema", '\0', NO_VALUE, take_schema, "no value", "--schema",
	  "the JSON schema of what -j shows; without an object all schemas" },
	{ "version", 'V', NO_VALUE, take_version, "no value", "-V, --version", "the version" },
	{ "Version", '\0', NO_VALUE, take_version, "no value", NULL, NULL },
	{ "help", 'h', NO_VALUE, take_help, "no value", "-h, --help", "this" },
};

void ctl_offer_options(const char *beginning)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		_cleanup_free_ char *option = xasprintf("--%s", options[i].name);

		if (options[i].shown && str_starts(option, beginning))
			puts(option);
	}
}

void ctl_print_options(void)
{
	printf("\nOPTIONS, in front of the object or behind it:\n");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].shown)
			printf(strlen(options[i].shown) > 21 ? "  %s\n%24s %s\n"
							     : "  %-21s%s  %s\n",
			       options[i].shown, "", options[i].help);
}

/* ---- one of the words ------------------------------------------------------------------------ */

/* Name of the option without dashes and value; 0 bytes: "--". */
static const char *name_of(const char *word, size_t *ret_len)
{
	const char *name = word + (word[1] == '-' ? 2 : 1);

	*ret_len = strcspn(name, "=");
	return name;
}

/* The first option that begins so; NULL: none. */
static const struct option *find_begun(const char *word)
{
	size_t len;
	const char *name = name_of(word, &len);

	for (size_t i = 0; len && i < ARRAY_SIZE(options); i++)
		if (!strncmp(options[i].name, name, len) ||
		    (len == 1 && options[i].letter == name[0]))
			return &options[i];
	return NULL;
}

/* "-j", "-json", "--json" */
static const struct option *find_whole(const char *word)
{
	size_t len;
	const char *name = name_of(word, &len);

	for (size_t i = 0; len && i < ARRAY_SIZE(options); i++)
		if ((strlen(options[i].name) == len && !strncmp(options[i].name, name, len)) ||
		    (word[1] != '-' && len == 1 && options[i].letter == name[0]))
			return &options[i];
	return NULL;
}

static bool is_count(const char *word)
{
	return word && word[0] && strspn(word, "0123456789") == strlen(word);
}

void ctl_look_for_json(struct ctl *c, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		const struct option *o =
			argv[i][0] == '-' && argv[i][1] ? find_whole(argv[i]) : NULL;

		if (o && (o->apply == take_json || o->apply == take_pretty))
			c->json = true;
	}
}

/* Applies the option argv[0]. The number of words it has; -1: an error was printed. */
static int take_option(struct ctl *c, const struct option *o, int argc, char **argv)
{
	size_t len;
	const char *name = name_of(argv[0], &len), *value = name[len] ? name + len + 1 : NULL;
	bool is_next = !value && argc > 1 &&
		       (o->value == NEEDED || (o->value == MAY_COUNT && is_count(argv[1])));

	if (is_next)
		value = argv[1];
	if ((value && o->value == NO_VALUE) || !o->apply(c, value)) {
		ctl_look_for_json(c, argc, argv);
		ctl_usage(c, NULL, "--%s takes %s%s%s%s", o->name, o->wants, value ? ", not '" : "",
			  value ? value : "", value ? "'" : "");
		return -1;
	}
	return is_next ? 2 : 1;
}

/* ---- in front of the object ------------------------------------------------------------------ */

const char *ctl_nearest_option(const char *word)
{
	const char *names[ARRAY_SIZE(options)];
	size_t len;
	_cleanup_free_ char *name = xstrdup(name_of(word, &len));

	name[len] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		names[i] = options[i].name;
	return str_nearest(name, names, ARRAY_SIZE(options));
}

static void refuse_option(struct ctl *c, const char *word)
{
	const char *near = ctl_nearest_option(word);

	ctl_usage(c, NULL, "there is no option '%s'%s%s%s", word, near ? "; did you mean '--" : "",
		  near ? near : "", near ? "'?" : "");
}

int ctl_front_options(struct ctl *c, int argc, char **argv)
{
	int i = 0;

	while (i < argc && argv[i][0] == '-' && argv[i][1]) {
		const struct option *o = find_begun(argv[i]);
		int n;

		if (!strcmp(argv[i], "--"))
			return i + 1;
		if (!o) {
			ctl_look_for_json(c, argc, argv);
			refuse_option(c, argv[i]);
			return -1;
		}
		n = take_option(c, o, argc - i, argv + i);
		if (n < 0)
			return -1;
		i += n;
	}
	return i;
}

/* ---- behind it ------------------------------------------------------------------------------- */

static const struct ctl_word *among(const struct ctl_word *takes, const char *word)
{
	size_t len = strcspn(word, "=");

	for (; takes && takes->kind; takes++)
		if (takes->option && strlen(takes->option) == len &&
		    !strncmp(takes->option, word, len))
			return takes;
	return NULL;
}

/* Number of words of an option of the command that starts at `argv`. */
static int own_words(const struct ctl_word *w, int argc, char **argv)
{
	bool has_value = w->kind == CTL_TEXT || w->kind == CTL_TIME || w->kind == CTL_NUMBER;

	return has_value && !strchr(argv[0], '=') && argc > 1 ? 2 : 1;
}

int ctl_back_options(struct ctl *c, const struct ctl_word *takes, int argc, char **argv)
{
	int kept = 0, n;

	for (int i = 0; i < argc; i += n) {
		bool is_option = argv[i][0] == '-' && argv[i][1];
		const struct ctl_word *own = is_option ? among(takes, argv[i]) : NULL;
		const struct option *o = is_option && !own ? find_whole(argv[i]) : NULL;

		if (o) {
			n = take_option(c, o, argc - i, argv + i);
			if (n < 0)
				return -1;
			continue;
		}
		n = own ? own_words(own, argc - i, argv + i) : 1;
		for (int k = 0; k < n; k++)
			argv[kept++] = argv[i + k];
	}
	argv[kept] = NULL;
	return kept;
}
