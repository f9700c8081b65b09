// SPDX-License-Identifier: BSD-2-Clause
#include "keys/key_lines.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "keys/key_shares.h"
#include "util/bisect.h"

/* By GUID and port; equal lines have the version of when they came. */
struct row {
	struct key_line line;
	uint64_t version;
};

struct key_lines {
	struct row *rows;
	size_t n;
	uint64_t version;
};

struct key_lines *key_lines_new(void)
{
	return xcalloc(1, sizeof(struct key_lines));
}

static void forget_rows(struct key_lines *l)
{
	free_wiped(l->rows, l->n * sizeof(*l->rows));
	l->rows = NULL;
	l->n = 0;
}

struct key_lines *key_lines_free(struct key_lines *l)
{
	if (!l)
		return NULL;
	forget_rows(l);
	free(l);
	return NULL;
}

/* ---- what is absent -------------------------------------------------------------------------- */

/* Where a line is. qsort() may copy what it sorts, and does not overwrite the copy: no keys. */
struct place {
	guid_t guid;
	size_t at;
	uint8_t port;
};

static int compare(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	return COMPARE(a->guid, b->guid) ?: COMPARE(a->port, b->port);
}

static bool is_before(const struct key_line *a, const struct key_line *b)
{
	return (COMPARE(a->guid, b->guid) ?: COMPARE(a->port, b->port)) < 0;
}

/* The lines that are kept, by GUID and port. */
static struct place *choose(const struct key_line *lines, size_t n, const struct key_map *map,
			    size_t *ret_kept)
{
	struct place *places = n ? xcalloc(n, sizeof(*places)) : NULL;
	_cleanup_free_ bool *keep = NULL;
	size_t kept = 0;

	if (n > KEY_LINES_MAX) {
		keep = xcalloc(n, sizeof(*keep));
		key_shares(lines, n, map, KEY_LINES_MAX, keep);
	}
	for (size_t i = 0; i < n; i++)
		if (!keep || keep[i])
			places[kept++] = (struct place){ lines[i].guid, i, lines[i].port };
	SORT(places, kept, compare);
	*ret_kept = kept;
	return places;
}

static bool is_equal(const struct key_line *a, const struct key_line *b)
{
	return a->guid == b->guid && a->port == b->port && a->key == b->key && a->far == b->far &&
	       a->far_port == b->far_port;
}

/* `at`: of the rows of before, those that are not behind the line. */
static uint64_t version_of(const struct key_lines *l, const struct key_line *line, size_t *at)
{
	while (*at < l->n && is_before(&l->rows[*at].line, line))
		++*at;
	return *at < l->n && is_equal(&l->rows[*at].line, line) ? l->rows[*at].version
								: l->version + 1;
}

/* Where a line of a port came or changed, all lines of the port are later. */
static void keep_together(struct row *rows, size_t n)
{
	size_t first = 0;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].line.guid != rows[first].line.guid)
			first = i;
		rows[first].version = MAX(rows[first].version, rows[i].version);
	}
	for (size_t i = 1; i < n; i++) {
		if (rows[i].line.guid == rows[i - 1].line.guid)
			rows[i].version = rows[i - 1].version;
	}
}

size_t key_lines_renew(struct key_lines *l, const struct key_line *lines, size_t n,
		       const struct key_map *map)
{
	size_t kept, at = 0;
	_cleanup_free_ struct place *places = choose(lines, n, map, &kept);
	struct row *rows = kept ? xcalloc(kept, sizeof(*rows)) : NULL;
	bool changed = false;

	for (size_t i = 0; i < kept; i++) {
		const struct key_line *line = &lines[places[i].at];

		rows[i] = (struct row){ .line = *line, .version = version_of(l, line, &at) };
		changed |= rows[i].version > l->version;
	}
	keep_together(rows, kept);
	forget_rows(l);
	l->rows = rows;
	l->n = kept;
	l->version += changed ? 1 : 0;
	return n - kept;
}

size_t key_lines_count(const struct key_lines *l)
{
	return l->n;
}

uint64_t key_lines_version(const struct key_lines *l)
{
	return l->version;
}

/* ---- text ------------------------------------------------------------------------------------ */

static uint8_t *put_be(uint8_t *to, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		*to++ = (uint8_t)(v >> 8 * (bytes - 1 - i));
	return to;
}

static uint64_t get_be(const uint8_t **from, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | *(*from)++;
	return v;
}

static size_t count_after(const struct key_lines *l, uint64_t after)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += l->rows[i].version > after;
	return n;
}

uint8_t *key_lines_text(const struct key_lines *l, uint64_t after, size_t *ret_len)
{
	size_t n = after < l->version ? count_after(l, after) : 0;
	uint8_t *text = n ? xcalloc(n, KEY_LINE_BYTES) : NULL, *to = text;

	for (size_t i = 0; text && i < l->n; i++) {
		const struct key_line *line = &l->rows[i].line;

		if (l->rows[i].version <= after)
			continue;
		to = put_be(put_be(to, line->guid, 8), line->key, 8);
		to = put_be(put_be(to, line->far, 8), line->port, 1);
		to = put_be(to, line->far_port, 1);
	}
	*ret_len = n * KEY_LINE_BYTES;
	return text;
}

struct key_line key_lines_at(const uint8_t *text, size_t n)
{
	const uint8_t *at = text + n * KEY_LINE_BYTES;
	struct key_line line = { .guid = get_be(&at, 8) };

	line.key = get_be(&at, 8);
	line.far = get_be(&at, 8);
	line.port = (uint8_t)get_be(&at, 1);
	line.far_port = (uint8_t)get_be(&at, 1);
	return line;
}

static bool is_port(uint8_t port)
{
	return port && port != UINT8_MAX;
}

/* 0 is no key, and all ones asks for a random one. */
bool key_line_can_be(const struct key_line *line)
{
	if (!line->guid || !line->key || line->key == UINT64_MAX)
		return false;
	return line->far ? is_port(line->port) && is_port(line->far_port)
			 : !line->port && !line->far_port;
}

size_t key_lines_check(const uint8_t *text, size_t len)
{
	size_t n = len / KEY_LINE_BYTES;

	if (len % KEY_LINE_BYTES || n > KEY_LINES_MAX)
		return 0;
	for (size_t i = 0; i < n; i++) {
		struct key_line line = key_lines_at(text, i);

		if (!key_line_can_be(&line))
			return 0;
	}
	return n;
}
