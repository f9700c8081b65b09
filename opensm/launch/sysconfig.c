// SPDX-License-Identifier: BSD-2-Clause
/* The settings of a host, and findings about lines that are none. */
#include "launch/sysconfig.h"

#include <errno.h>
#include <string.h>

#include "ini/ini.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define LIMIT (1U << 20)

static const char *const ours[SYSCONFIG_N] = {
	[SYSCONFIG_GUIDS] = "GUIDS",   [SYSCONFIG_PRIORITY] = "PRIORITY",
	[SYSCONFIG_PORTS] = "PORTS",   [SYSCONFIG_ORDER] = "LAUNCH_ORDER",
	[SYSCONFIG_STRICT] = "STRICT",
};

const struct sysconfig_setting *sysconfig_get(const struct sysconfig *s, enum sysconfig_name name)
{
	return s->of[name].value ? &s->of[name] : NULL;
}

void sysconfig_clear(struct sysconfig *s)
{
	for (unsigned i = 0; i < SYSCONFIG_N; i++)
		free(s->of[i].value);
	*s = (struct sysconfig){ 0 };
}

/* A line may set several names, and may have others joined to it. */
static bool names_ours(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (strstr(line, ours[i]))
			return true;
	return false;
}

/* False: one of our settings may depend on the line. */
static bool is_harmless(const char *path, const struct ini_item *item, struct conf_report *r)
{
	bool needed = !item->name[0] || names_ours(item->line_text);
	_cleanup_free_ char *fault = ini_fault(item);

	conf_report_add(r, needed ? CONF_ERROR : CONF_WARNING, path, item->line, item->column,
			"%s; %s", fault, needed ? "nothing is started" : "the setting is ignored");
	return !needed;
}

/* An unknown name that looks like one of ours. */
static void warn_of_near_name(const char *path, const struct ini_item *item, struct conf_report *r)
{
	const char *nearest = str_nearest(item->name, ours, ARRAY_SIZE(ours));

	if (nearest)
		conf_report_add(r, CONF_WARNING, path, item->line, 1,
				"%s means nothing here; did you mean %s? It is ignored", item->name,
				nearest);
	else if (str_equal(item->name, "OPTIONS"))
		conf_report_add(r, CONF_WARNING, path, item->line, 1,
				"OPTIONS is not passed on; expected settings in opensm.conf; it is "
				"ignored");
}

/* `why`: it is no file of settings. Returns `fault`. */
static int refuse(const char *path, const char *why, int fault, struct conf_report *r)
{
	conf_report_add(r, CONF_ERROR, path, 0, 0,
			"cannot be read: %s; expected a file of NAME=value; nothing is started",
			why);
	return fault;
}

/* The last assignment in a file counts, and a blank one sets nothing. */
static void take_setting(struct sysconfig *s, unsigned name, const char *path,
			 const struct ini *ini)
{
	const struct ini_item *last = NULL;

	for (size_t i = 0; i < ini->n; i++)
		if (ini->items[i].value && str_equal(ini->items[i].name, ours[name]))
			last = &ini->items[i];
	if (!s->of[name].value && last && last->value[strspn(last->value, " \t")])
		s->of[name] = (struct sysconfig_setting){ .name = ours[name],
							  .value = xstrdup(last->value),
							  .file = path,
							  .line = last->line,
							  .column = last->column };
}

static bool is_ours(const char *name)
{
	for (unsigned i = 0; i < SYSCONFIG_N; i++)
		if (str_equal(ours[i], name))
			return true;
	return false;
}

int sysconfig_read_text(const char *path, const char *text, size_t len, struct sysconfig *s,
			struct conf_report *r)
{
	_cleanup_(ini_clear) struct ini ini;
	int result = ini_read(text, len, INI_SHELL, &ini);

	if (result < 0)
		return refuse(path, ini_refusal(result), result, r);
	for (size_t i = 0; i < ini.n; i++) {
		const struct ini_item *item = &ini.items[i];

		if (!item->value)
			result = is_harmless(path, item, r) ? result : -EINVAL;
		else if (!is_ours(item->name))
			warn_of_near_name(path, item, r);
	}
	for (unsigned name = 0; name < SYSCONFIG_N; name++)
		take_setting(s, name, path, &ini);
	return result;
}

int sysconfig_read(const char *path, struct sysconfig *s, struct conf_report *r)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int result = file_read(path, LIMIT, &text, &len);

	if (result == -ENOENT)
		return 0;
	if (result < 0)
		return refuse(path, strerror(-result), result, r);
	return sysconfig_read_text(path, text, len, s, r);
}
