// SPDX-License-Identifier: BSD-2-Clause
/* The settings of a host, and findings about lines that are none. */
#include "launch/sysconfig.h"

#include <errno.h>
#include <string.h>

#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define LIMIT (1U << 20)

static const char *const ours[] = { SYSCONFIG_GUIDS, SYSCONFIG_PRIORITY, SYSCONFIG_PORTS,
				    SYSCONFIG_ORDER, SYSCONFIG_STRICT };

static bool is_ours(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (str_equal(ours[i], name))
			return true;
	return false;
}

const struct ini_item *sysconfig_find(const struct sysconfig *s, const char *name)
{
	for (size_t i = s->ini.n; i-- > 0;) {
		const struct ini_item *item = &s->ini.items[i];

		if (str_equal(item->name, name) && item->value)
			return item->value[strspn(item->value, " \t")] ? item : NULL;
	}
	return NULL;
}

void sysconfig_clear(struct sysconfig *s)
{
	ini_clear(&s->ini);
	free(s->file);
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
static bool is_harmless(const struct sysconfig *s, const struct ini_item *item,
			struct conf_report *r)
{
	bool needed = !item->name[0] || names_ours(item->line_text);
	_cleanup_free_ char *fault = ini_fault(item);

	conf_report_add(r, needed ? CONF_ERROR : CONF_WARNING, s->file, item->line, item->column,
			"%s; %s", fault, needed ? "nothing is started" : "the setting is ignored");
	return !needed;
}

/* An unknown name that looks like one of ours. */
static void warn_of_near_name(const struct sysconfig *s, const struct ini_item *item,
			      struct conf_report *r)
{
	const char *nearest = str_nearest(item->name, ours, ARRAY_SIZE(ours));

	if (nearest)
		conf_report_add(r, CONF_WARNING, s->file, item->line, 1,
				"%s means nothing here; did you mean %s? It is ignored", item->name,
				nearest);
	else if (str_equal(item->name, "OPTIONS"))
		conf_report_add(r, CONF_WARNING, s->file, item->line, 1,
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

int sysconfig_read_text(const char *path, const char *text, size_t len, struct sysconfig *ret,
			struct conf_report *r)
{
	int result = ini_read(text, len, INI_SHELL, &ret->ini);

	ret->file = xstrdup(path);
	if (result < 0)
		return refuse(path, ini_refusal(result), result, r);
	for (size_t i = 0; i < ret->ini.n; i++) {
		const struct ini_item *item = &ret->ini.items[i];

		if (!item->value)
			result = is_harmless(ret, item, r) ? result : -EINVAL;
		else if (!is_ours(item->name))
			warn_of_near_name(ret, item, r);
	}
	return result;
}

int sysconfig_read(const char *path, struct sysconfig *ret, struct conf_report *r)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int result = file_read(path, LIMIT, &text, &len);

	*ret = (struct sysconfig){ 0 };
	if (result == -ENOENT)
		return 0;
	if (result < 0)
		return refuse(path, strerror(-result), result, r);
	return sysconfig_read_text(path, text, len, ret, r);
}
