// SPDX-License-Identifier: BSD-2-Clause
/*
 * The node name map: GUID "name" per line (qos.md 9). The first line for a GUID counts.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "conf/text/lines.h"
#include "conf/lists/lists.h"
#include "util/guidmap.h"
#include "util/mem.h"
#include "util/str.h"

#define DEFAULT_MAP OPENSM_CONF_DIR "/ib-node-name-map"

struct conf_names {
	struct guidmap *map; /* values: char *, owned */
};

struct names_reader {
	struct conf_names *names;
	struct conf_report *report;
};

static struct conf_names *names_new(void)
{
	struct conf_names *names = xcalloc(1, sizeof(*names));

	names->map = guidmap_new();
	return names;
}

/* Reads a name, which is quoted or ends before a comment. NULL: there is none. To be freed. */
static char *read_quoted(struct names_reader *reader, const struct line *line, char *rest)
{
	struct conf_place at = line_place(line, rest);
	bool quoted = *rest == '"';
	char *end, *name;
	size_t cap;

	rest += quoted;
	end = rest + strcspn(rest, "\"#");
	if (quoted && *end != '"')
		conf_report_at(reader->report, CONF_WARNING, &at,
			       "no closing quote; the name ends %s",
			       *end ? "before '#'" : "with the line");
	cap = (size_t)(end - rest) + 1;
	name = xmalloc(cap);
	str_printable(rest, cap - 1, name, cap);
	if (*name)
		return name;
	conf_report_at(reader->report, CONF_ERROR, &at,
		       "no name; expected one in quotes after the GUID; the line is ignored");
	free(name);
	return NULL;
}

static void read_name(void *arg, struct line *line)
{
	struct names_reader *reader = arg;
	_cleanup_free_ char *name = NULL;
	const char *first;
	char *rest;
	guid_t guid;

	if (conf_line_guid(line, reader->report, &guid, &rest) <= 0)
		return;
	name = read_quoted(reader, line, rest);
	if (!name)
		return;
	first = guidmap_get(reader->names->map, guid);
	if (first)
		conf_report_at(reader->report, CONF_WARNING, &line->at,
			       "0x%016llx has a name already, \"%.60s\"; the line is ignored",
			       (unsigned long long)guid, first);
	else
		guidmap_put(reader->names->map, guid, take(name));
}

int conf_names_read_text(const char *path, const char *text, size_t len, struct conf_names **ret,
			 struct conf_report *r)
{
	struct names_reader reader = { .names = names_new(), .report = r };

	*ret = reader.names;
	return lines_split(path, text, len, r, read_name, &reader);
}

const char *conf_names_path(const struct conf *c)
{
	if (c->node_name_map_name)
		return c->node_name_map_name;
	return access(DEFAULT_MAP, F_OK) == 0 ? DEFAULT_MAP : NULL;
}

const char *conf_names_find(const struct conf_names *names, guid_t guid)
{
	return names && guid ? guidmap_get(names->map, guid) : NULL;
}

size_t conf_names_count(const struct conf_names *names)
{
	return names ? guidmap_count(names->map) : 0;
}

struct conf_names *conf_names_free(struct conf_names *names)
{
	size_t pos = 0;
	guid_t guid;
	void *name;

	if (!names)
		return NULL;
	while (guidmap_next(names->map, &pos, &guid, &name))
		free(name);
	guidmap_free(names->map);
	free(names);
	return NULL;
}
