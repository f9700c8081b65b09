// SPDX-License-Identifier: BSD-2-Clause
#include "sm/links/marks_table.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/hash.h"
#include "util/str.h"

#define HEAD	   "opensm link marks 1\n"
#define ROW_STRLEN 256
#define END_LEN	   23 /* "end 0x" + 16 digits + "\n" */

static const char *const kind_names[] = { [MARK_DRAIN] = "drain", [MARK_ISOLATE] = "isolate" };

const char *mark_kind_name(enum mark_kind kind)
{
	assert(kind < ARRAY_SIZE(kind_names));
	return kind_names[kind];
}

/* ---- the table ------------------------------------------------------------------------------- */

struct mark_table *mark_table_copy(const struct mark_table *t)
{
	struct mark_table *copy = xcalloc(1, sizeof(*copy));

	*copy = (struct mark_table){ .generation = t->generation, .n = t->n, .cap = t->n };
	copy->all = xcalloc(t->n + 1u, sizeof(*copy->all));
	for (uint32_t i = 0; i < t->n; i++)
		copy->all[i] = t->all[i];
	return copy;
}

struct mark_table *mark_table_free(struct mark_table *t)
{
	if (t)
		free(t->all);
	free(t);
	return NULL;
}

static int compare_places(const struct link_mark *m, guid_t node, unsigned port)
{
	if (m->node != node)
		return m->node < node ? -1 : 1;
	return (int)m->port - (int)port;
}

/* The first place that is not in front of this port. */
static uint32_t place_of(const struct mark_table *t, guid_t node, unsigned port)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (compare_places(&t->all[mid], node, port) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

uint32_t mark_table_find(const struct mark_table *t, guid_t node, unsigned port)
{
	uint32_t i = place_of(t, node, port);

	return i < t->n && !compare_places(&t->all[i], node, port) ? i : UINT32_MAX;
}

bool mark_table_put(struct mark_table *t, const struct link_mark *m)
{
	uint32_t i = place_of(t, m->node, m->port);

	assert(m->node && m->port);
	if (i < t->n && !compare_places(&t->all[i], m->node, m->port)) {
		t->all[i] = *m;
		return true;
	}
	if (t->n >= MARKS_MAX)
		return false;
	GROW(t->all, t->n + 1u, t->cap);
	memmove(&t->all[i + 1], &t->all[i], (t->n - i) * sizeof(*t->all));
	t->all[i] = *m;
	t->n++;
	return true;
}

void mark_table_remove(struct mark_table *t, uint32_t place)
{
	assert(place < t->n);
	t->n--;
	memmove(&t->all[place], &t->all[place + 1], (t->n - place) * sizeof(*t->all));
}

void mark_set_texts(struct link_mark *m, const char *by, const char *why)
{
	char text[MARK_WHY_MAX + 1];
	char *trimmed;

	str_printable(by ? by : "", by ? strlen(by) : 0, m->by, sizeof(m->by));
	for (char *c = m->by; *c; c++)
		if (*c == ' ')
			*c = '_';
	if (!m->by[0])
		snprintf(m->by, sizeof(m->by), "-");
	str_printable(why ? why : "", why ? strlen(why) : 0, text, sizeof(text));
	trimmed = str_trim(text);
	snprintf(m->why, sizeof(m->why), "%s", trimmed);
}

/* ---- text ------------------------------------------------------------------------------------ */

static size_t row_text(const struct link_mark *m, char ret[ROW_STRLEN])
{
	int len = snprintf(ret, ROW_STRLEN,
			   "0x%016" PRIx64 " %u %s %s %" PRId64 " %" PRId64 " %s%s%s\n", m->node,
			   m->port, mark_kind_name(m->kind), m->forced ? "forced" : "-", m->since,
			   m->until, m->by, m->why[0] ? " " : "", m->why);

	assert(len > 0 && len < ROW_STRLEN);
	return (size_t)len;
}

char *mark_table_text(const struct mark_table *t, size_t *ret_len)
{
	size_t cap = sizeof(HEAD) + 40 + (size_t)t->n * ROW_STRLEN + END_LEN + 1;
	char *text = xcalloc(cap, 1), row[ROW_STRLEN];
	size_t len = (size_t)snprintf(text, cap, HEAD "generation %" PRIu64 "\n", t->generation);

	for (uint32_t i = 0; i < t->n; i++) {
		size_t n = row_text(&t->all[i], row);

		memcpy(text + len, row, n);
		len += n;
	}
	len += (size_t)snprintf(text + len, cap - len, "end 0x%016" PRIx64 "\n",
				hash_bytes(HASH_START, text, len));
	assert(len < cap && len <= MARKS_TEXT_MAX);
	*ret_len = len;
	return text;
}

uint64_t mark_table_digest(const struct mark_table *t)
{
	size_t len;
	_cleanup_free_ char *text = mark_table_text(t, &len);

	return hash_bytes(HASH_START, text, len);
}

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
	if (!strcmp(kind, kind_names[MARK_ISOLATE]))
		m->kind = MARK_ISOLATE;
	return !strcmp(kind, mark_kind_name(m->kind));
}

/* True if they are as mark_set_texts() makes them. */
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
		if (t->n && compare_places(&t->all[t->n - 1], m.node, m.port) >= 0)
			return false;
		if (!mark_table_put(t, &m))
			return false;
	}
	return line && !rest; /* the empty one behind the last line break */
}

/* The line behind all that the hash is of; cut off. */
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

int mark_table_store(const char *path, const struct mark_table *t)
{
	_cleanup_(file_replace_abortp) struct file_replace *f = file_replace_open(path, false);
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (!f)
		return -errno;
	text = mark_table_text(t, &len);
	if (fwrite(text, 1, len, file_replace_stream(f)) != len)
		return -EIO;
	return file_replace_commit(take(f), true);
}
