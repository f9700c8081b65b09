// SPDX-License-Identifier: BSD-2-Clause
/*
 * A command that is one call: its words become parameters by the table of the row, and the answer
 * is shown as the row says.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

#define NEAREST_WORDS 64

/* ---- words ----------------------------------------------------------------------------------- */

struct reader {
	struct ctl *c;
	const struct ctl_command *command; /* command, for its usage */
	const struct ctl_word *takes;
	const struct ctl_command *meant; /* the subcommand, or `command` */
	struct json_object *ret;
};

/* "90", "90s", "15m", "2h", "3d": seconds. False: neither. */
static bool read_duration(const char *word, int64_t *ret)
{
	static const struct {
		char unit;
		unsigned seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	size_t digits = strspn(word, "0123456789");
	char text[12];
	uint64_t n;

	if (!digits || digits >= sizeof(text) || (word[digits] && word[digits + 1]))
		return false;
	memcpy(text, word, digits);
	text[digits] = '\0';
	if (str_to_u64(text, 10, UINT32_MAX, &n) < 0 || !n)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (word[digits] != units[i].unit && (word[digits] || i))
			continue;
		*ret = (int64_t)(n * units[i].seconds);
		return *ret <= UINT32_MAX;
	}
	return false;
}

static bool takes_any_text(const struct ctl_word *takes)
{
	for (; takes->kind; takes++)
		if (takes->kind == CTL_TEXT && !takes->option)
			return true;
	return false;
}

static int place_among(const struct reader *r, const struct ctl_word *w, const char *text)
{
	int i = ctl_match(text, w->among);

	return i >= 0 && takes_any_text(r->takes) && strcmp(text, w->among[i]) ? -1 : i;
}

/* Does a value come behind the option? */
static bool has_value(const struct ctl_word *w)
{
	return w->kind == CTL_TEXT || w->kind == CTL_TIME || w->kind == CTL_NUMBER;
}

/* An option may be written with one dash, as those of opensmctl itself. */
static bool is_option(const struct ctl_word *w, const char *text)
{
	const char *option = w->option;
	size_t len;

	if (text[0] == '-' && text[1] != '-' && option[1] == '-')
		option++;
	len = strlen(option);
	return str_starts(text, option) && (!text[len] || (text[len] == '=' && has_value(w)));
}

/* Does the row take this word? */
static bool is_taken(const struct reader *r, const struct ctl_word *w, const char *text)
{
	if (w->kind == CTL_READ)
		return str_starts(text, w->option);
	if (w->option)
		return is_option(w, text);
	if (w->kind != CTL_ALL && js_has(r->ret, w->parameter))
		return false;
	return w->kind == CTL_ONE_OF ? place_among(r, w, text) >= 0 : text[0] != '-';
}

/* 0, or the exit code after an error was printed. */
static int take_value(const struct reader *r, const struct ctl_word *w, const char *text)
{
	int64_t seconds;
	uint64_t n;

	if (has_value(w) && w->kind != CTL_TIME && !text)
		return ctl_usage(r->c, r->command, "%s takes a value", w->option);
	switch (w->kind) {
	case CTL_FLAG:
	case CTL_OFF:
		json_object_object_add(r->ret, w->parameter,
				       json_object_new_boolean(w->kind == CTL_FLAG));
		return CTL_OK;
	case CTL_ALL:
		json_object_array_add(js_get(r->ret, w->parameter), json_object_new_string(text));
		return CTL_OK;
	case CTL_READ:
		return w->read(r->c, text + strlen(w->option), r->ret);
	case CTL_NUMBER:
		if (str_to_u64(text, w->any_base ? 0 : 10, w->most, &n) < 0)
			return ctl_usage(r->c, r->command, "'%s' is no %s", text, w->what);
		json_object_object_add(r->ret, w->parameter, json_object_new_int64((int64_t)n));
		return CTL_OK;
	case CTL_ONE_OF:
		text = w->among[place_among(r, w, text)];
		break;
	case CTL_TIME:
		if (!text || !read_duration(text, &seconds))
			return ctl_usage(r->c, r->command,
					 "%s takes a time such as 90s, 15m, 2h or 3d", w->option);
		json_object_object_add(r->ret, w->parameter, json_object_new_int64(seconds));
		return CTL_OK;
	case CTL_TEXT:
	case CTL_NO_WORD:
		break;
	}
	json_object_object_add(r->ret, w->parameter, json_object_new_string(text));
	return CTL_OK;
}

/* ---- words that are not understood ----------------------------------------------------------- */

/* The nearest of what may stand behind the command; to be freed. NULL: none is near. */
static char *nearest(const struct ctl_command *command, const char *word)
{
	_cleanup_free_ char *copy = xstrdup(command->words ? command->words : "");
	const char *words[NEAREST_WORDS], *near;
	char *rest = copy, *one;
	size_t n = 0;

	while ((one = strsep(&rest, " ")) && n < NEAREST_WORDS)
		if (one[0])
			words[n++] = one;
	near = str_nearest(word, words, n);
	if (near)
		return strcmp(near, word) != 0 ? xstrdup(near) : NULL;
	near = word[0] == '-' ? ctl_nearest_option(word) : NULL;
	return near ? xasprintf("--%s", near) : NULL;
}

int ctl_too_many(const struct ctl *c, const struct ctl_command *command, const char *word)
{
	_cleanup_free_ char *near = nearest(command, word);

	return ctl_usage(c, command, "unexpected argument '%s'%s%s%s", word,
			 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* A verb that is written wrong was taken for a name: the word behind it is one too many. */
static int refuse_word(const struct reader *r, const char *first, const char *word)
{
	_cleanup_free_ char *near =
		r->meant == r->command && r->command->subs ? nearest(r->command, first) : NULL;

	if (near && first != word)
		return ctl_usage(r->c, r->command, "there is no '%s %s'; did you mean '%s %s'?",
				 r->command->name, first, r->command->name, near);
	if (r->meant->excess && word[0] != '-')
		return ctl_usage(r->c, NULL, "unexpected argument '%s': %s", word,
				 r->meant->excess);
	return ctl_too_many(r->c, r->command, word);
}

/* *at: on the word, then on the last one that was taken. */
static int take_word(const struct reader *r, char **argv, int *at)
{
	const char *text = argv[*at], *equals;
	const struct ctl_word *w = r->takes;

	while (w->kind && !is_taken(r, w, text))
		w++;
	if (!w->kind)
		return refuse_word(r, argv[0], text);
	if (w->option && has_value(w)) {
		equals = strchr(text, '=');
		text = equals ? equals + 1 : argv[*at + 1];
		*at += !equals && text;
	}
	return take_value(r, w, text);
}

static bool is_missing(const struct reader *r, const struct ctl_word *w)
{
	struct json_object *v = js_get(r->ret, w->parameter);

	return !v || (w->kind == CTL_ALL && !js_len(v));
}

static int missing(const struct reader *r, const struct ctl_word *w)
{
	if (r->meant == r->command)
		return ctl_usage(r->c, r->command, "%s", w->missing);
	return ctl_usage(r->c, r->command, "%s %s: %s", r->command->name, r->meant->name,
			 w->missing);
}

static int read_words(const struct reader *r, int argc, char **argv)
{
	for (const struct ctl_word *w = r->takes; w->kind; w++)
		if (w->kind == CTL_ALL)
			json_object_object_add(r->ret, w->parameter, json_object_new_array());
	for (int i = 0; i < argc; i++) {
		int e = take_word(r, argv, &i);

		if (e != CTL_OK)
			return e;
	}
	for (const struct ctl_word *w = r->takes; w->kind; w++)
		if (w->missing && is_missing(r, w))
			return missing(r, w);
	return CTL_OK;
}

/* Says of a name that the daemon does not know which verb may have been meant. */
static void suggest_verb(const struct reader *r, const char *word)
{
	_cleanup_free_ char *near = r->meant == r->command && r->command->subs && word
					    ? nearest(r->command, word)
					    : NULL;

	if (near)
		ctl_refuse(r->c, "did you mean '%s %s'?", r->command->name, near);
}

/* ---- the call -------------------------------------------------------------------------------- */

int ctl_show(struct ctl *c, const struct ctl_command *command, struct json_object *parameters)
{
	struct json_object *asked = parameters ? parameters : json_object_new_object();
	struct json_object *sent = json_object_object_length(asked) ? json_object_get(asked) : NULL;
	struct json_object *answer = ctl_call(c, command->method, sent);
	int r = answer ? CTL_OK : c->exit_code;

	if (answer && c->json)
		ctl_print_json(c, command->member ? js_get(answer, command->member) : answer);
	else if (answer)
		command->print(c, answer, asked);
	if (answer && command->fails && command->fails(c, answer))
		r = CTL_REFUSED;
	json_object_put(answer);
	json_object_put(asked);
	return r;
}

const struct ctl_command *ctl_meant(const struct ctl_command *command, int argc, char **argv,
				    int *ret_skip)
{
	bool is_exact = command->takes && takes_any_text(command->takes);
	const struct ctl_command *found = NULL;
	const char *word = argc ? argv[0] : "";
	int n = 0;

	for (const struct ctl_command *s = command->subs; word[0] && s && s->name; s++) {
		if (!strcmp(s->name, word)) {
			*ret_skip = 1;
			return s;
		}
		if (is_exact || word[0] == '-' || !str_starts(s->name, word))
			continue;
		found = s;
		n++;
	}
	*ret_skip = n == 1;
	return n == 1 ? found : command;
}

const struct ctl_word *ctl_takes(const struct ctl_command *command, int argc, char **argv)
{
	int skip;

	while (argc && argv[0][0] == '-') {
		argc--;
		argv++;
	}
	return ctl_meant(command, argc, argv, &skip)->takes;
}

/* Its words are c->words meanwhile. */
static int do_with(struct ctl *c, const struct ctl_command *command, struct json_object *words)
{
	int r;

	c->words = words;
	r = command->with(c);
	c->words = NULL;
	json_object_put(words);
	return r;
}

int ctl_do(struct ctl *c, const struct ctl_command *command, int argc, char **argv)
{
	static const struct ctl_word none[] = { { 0 } };
	int skip;
	const struct ctl_command *meant = ctl_meant(command, argc, argv, &skip);
	struct reader r = { .c = c, .command = command };
	int e;

	assert(meant->run || meant->with || (meant->method && meant->print));
	if (meant->run)
		return meant->run(c, argc - skip, argv + skip);
	r.takes = meant->takes ? meant->takes : none;
	r.meant = meant;
	r.ret = json_object_new_object();
	if (meant->as)
		json_object_object_add(r.ret, meant->as, json_object_new_string(meant->name));
	if (read_words(&r, argc - skip, argv + skip) != CTL_OK) {
		json_object_put(r.ret);
		return CTL_USAGE;
	}
	if (meant->with)
		return do_with(c, meant, r.ret);
	e = ctl_show(c, meant, r.ret);
	if (e == CTL_REFUSED && c->exit_code == CTL_REFUSED)
		suggest_verb(&r, argc ? argv[0] : NULL);
	return e;
}
