// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of marks as builds before the ledger stored it in the file link_marks; read once, by
 * rows/marks_rows.c:
 *
 *	opensm link marks 1
 *	generation 12
 *	0x0002c90300a1b2c3 5 drain - 1764193781 0 root replacing the cable
 *	0x0002c90300a1b2c4 255 isolate forced 1764193781 1764200981 root
 *	end 0x1122334455667788
 *
 * A row: node GUID, port, kind, forced or -, since, until (seconds since 1970; 0: without end),
 * user, and the reason up to the end of the line. Rows are in the order of GUID and port. The last
 * line has the FNV-1a hash of all bytes before it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/marks/marks_table.h"
#include "util/hash.h"
#include "util/str.h"

#define HEAD	"opensm link marks 1\n"
#define END_LEN 23 /* "end 0x" + 16 digits + "\n" */

static bool read_time(const char *word, int64_t *ret)
{
	uint64_t n;

	if (!word || str_to_u64(word, 10, INT64_MAX, &n) < 0)
		return false;
	*ret = (int64_t)n;
	return true;
}

static bool read_port(char **rest, struct link_mark *m)
{
	const char *guid = strsep(rest, " "), *port = strsep(rest, " ");
	uint64_t node, n;

	if (!port || strlen(guid) != 18 || !str_starts(guid, "0x") ||
	    str_to_u64(guid + 2, 16, UINT64_MAX, &node) < 0 ||
	    str_to_u64(port, 10, MARK_WHOLE_SWITCH, &n) < 0)
		return false;
	m->node = node;
	m->port = (uint8_t)n;
	return node && n;
}

static bool read_kind(char **rest, struct link_mark *m)
{
	const char *kind = strsep(rest, " "), *forced = strsep(rest, " ");

	if (!forced || (strcmp(forced, "forced") && strcmp(forced, "-")))
		return false;
	m->forced = forced[0] == 'f';
	m->kind = MARK_DRAIN;
	if (!strcmp(kind, mark_kind_name(MARK_ISOLATE)))
		m->kind = MARK_ISOLATE;
	return !strcmp(kind, mark_kind_name(m->kind));
}

/* Reads user and reason. False: they are not as mark_set_texts() makes them. */
static bool read_texts(char *rest, struct link_mark *m)
{
	struct link_mark again = { 0 };
	const char *by = strsep(&rest, " ");

	if (!by || !by[0] || strlen(by) > MARK_BY_MAX ||
	    (rest && (!rest[0] || strlen(rest) > MARK_WHY_MAX)))
		return false;
	mark_set_texts(m, by, rest);
	mark_set_texts(&again, by, rest);
	return !strcmp(m->by, by) && !strcmp(m->why, rest ? rest : "");
}

static bool read_row(char *line, struct link_mark *ret)
{
	char *rest = line;

	*ret = (struct link_mark){ 0 };
	return read_port(&rest, ret) && read_kind(&rest, ret) &&
	       read_time(strsep(&rest, " "), &ret->since) &&
	       read_time(strsep(&rest, " "), &ret->until) && read_texts(rest, ret);
}

static bool read_rows(char *rest, struct mark_table *t)
{
	char *line;

	while ((line = strsep(&rest, "\n")) && *line) {
		struct link_mark m;

		if (!read_row(line, &m))
			return false;
		if (t->n && mark_compare(&t->all[t->n - 1], &m) >= 0)
			return false;
		if (!mark_table_put(t, &m))
			return false;
	}
	return line && !rest; /* `line` is the empty one after the last newline */
}

/* Finds the last line, with the hash, and cuts it off. */
static bool cut_end(char *text, size_t len)
{
	char end[END_LEN + 1];
	size_t at = len - END_LEN;

	if (len < sizeof(HEAD) + END_LEN || text[at - 1] != '\n')
		return false;
	snprintf(end, sizeof(end), "end 0x%016" PRIx64 "\n", hash_bytes(HASH_START, text, at));
	if (strcmp(text + at, end))
		return false;
	text[at] = '\0';
	return true;
}

static bool read_generation(char **rest, uint64_t *ret)
{
	const char *line = strsep(rest, "\n");

	return line && str_starts(line, "generation ") &&
	       str_to_u64(line + strlen("generation "), 10, UINT64_MAX, ret) == 0;
}

int mark_table_read(const char *text, size_t len, struct mark_table **ret)
{
	_cleanup_(mark_table_freep) struct mark_table *t = xcalloc(1, sizeof(*t));
	_cleanup_free_ char *copy = NULL;
	char *rest;

	if (len > MARKS_TEXT_MAX || memchr(text, '\0', len))
		return -EBADMSG;
	copy = xcalloc(len + 1, 1);
	memcpy(copy, text, len);
	if (!str_starts(copy, HEAD) || !cut_end(copy, len))
		return -EBADMSG;
	rest = copy + strlen(HEAD);
	if (!read_generation(&rest, &t->generation) || !read_rows(rest, t))
		return -EBADMSG;
	*ret = take(t);
	return 0;
}
