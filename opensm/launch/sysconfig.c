// SPDX-License-Identifier: BSD-2-Clause
/* Reads the file, and keeps what was read. The shell's quoting: shell.c. */
#include "launch/sysconfig.h"

#include <errno.h>
#include <string.h>

#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define LIMIT (1U << 20)

static const char *const ours[] = { SYSCONFIG_GUIDS, SYSCONFIG_PRIORITY, SYSCONFIG_PORTS,
				    SYSCONFIG_ORDER, SYSCONFIG_STRICT };

bool sysconfig_is_ours(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (str_equal(ours[i], name))
			return true;
	return false;
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

const struct sysconfig_setting *sysconfig_find(const struct sysconfig *s, const char *name)
{
	for (size_t i = s->n; i-- > 0;) {
		const struct sysconfig_setting *item = &s->items[i];

		if (str_equal(item->name, name))
			return is_blank(item->value) ? NULL : item;
	}
	return NULL;
}

void sysconfig_clear(struct sysconfig *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i].name);
		free(s->items[i].value);
	}
	free(s->items);
	free(s->file);
	*s = (struct sysconfig){ 0 };
}

/* An unknown name that looks like one of ours. */
static void warn_of_near_names(const struct sysconfig *s, struct conf_report *r)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sysconfig_setting *item = &s->items[i];
		const char *nearest;

		if (sysconfig_is_ours(item->name))
			continue;
		nearest = str_nearest(item->name, ours, ARRAY_SIZE(ours));
		if (nearest)
			conf_report_add(r, CONF_WARNING, s->file, item->line, 1,
					"%s means nothing here; did you mean %s? It is ignored",
					item->name, nearest);
		else if (str_equal(item->name, "OPTIONS"))
			conf_report_add(
				r, CONF_WARNING, s->file, item->line, 1,
				"OPTIONS is not passed on; expected settings in opensm.conf; "
				"it is ignored");
	}
}

int sysconfig_read(const char *path, struct sysconfig *ret, struct conf_report *r)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int result = file_read(path, LIMIT, &text, &len);

	*ret = (struct sysconfig){ 0 };
	if (result == -ENOENT)
		return 0;
	if (result < 0) {
		conf_report_add(
			r, CONF_ERROR, path, 0, 0,
			"cannot be read: %s; expected a file of NAME=value; nothing is started",
			strerror(-result));
		return result;
	}
	result = sysconfig_read_text(path, text, len, ret, r);
	warn_of_near_names(ret, r);
	return result;
}
