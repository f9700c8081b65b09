// SPDX-License-Identifier: BSD-2-Clause
#include "keys/key_lines.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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
	guid_t guid, far;
	size_t at;
	uint32_t rank; /* see rank_places() */
	uint8_t port, far_port;
};

static struct place place_of(const struct key_line *line, size_t at)
{
	return (struct place){
		.guid = line->guid,
		.far = line->far,
		.at = at,
		.port = line->port,
		.far_port = line->far_port,
	};
}

static int compare(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return (a->port > b->port) - (a->port < b->port);
}

/* Cables of one far end stand together. */
static int compare_far(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	if (a->far != b->far)
		return a->far < b->far ? -1 : 1;
	if (a->far_port != b->far_port)
		return a->far_port < b->far_port ? -1 : 1;
	return compare(va, vb);
}

static int compare_rank(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return compare(va, vb);
}

static bool is_before(const struct key_line *a, const struct key_line *b)
{
	const struct place at_a = place_of(a, 0), at_b = place_of(b, 0);

	return compare(&at_a, &at_b) < 0;
}

static struct place *sort(const struct key_line *lines, size_t n)
{
	struct place *places = n ? xcalloc(n, sizeof(*places)) : NULL;

	for (size_t i = 0; i < n; i++)
		places[i] = place_of(&lines[i], i);
	if (n)
		qsort(places, n, sizeof(*places), compare);
	return places;
}

/* All lines of a port have the least rank of them; `places` by GUID and port. */
static void share_ranks(struct place *places, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (places[i].guid == places[i - 1].guid)
			places[i].rank = MIN(places[i].rank, places[i - 1].rank);
	for (size_t i = n; i-- > 1;)
		if (places[i].guid == places[i - 1].guid)
			places[i - 1].rank = places[i].rank;
}

/*
 * Which lines are kept if there are too many. One host can be any number of hosts, one after the
 * other, and choose their GUIDs; but all of them are behind the switch port that it is cabled to.
 * So of each far end one line comes first, then of each a second one, and so on; those without a
 * cable come last.
 */
static void rank_places(struct place *places, size_t n)
{
	qsort(places, n, sizeof(*places), compare_far);
	for (size_t i = 0; i < n; i++) {
		bool same = i && places[i].far == places[i - 1].far &&
			    places[i].far_port == places[i - 1].far_port;

		places[i].rank = !places[i].far ? UINT32_MAX : same ? places[i - 1].rank + 1 : 0;
	}
	qsort(places, n, sizeof(*places), compare);
	share_ranks(places, n);
	qsort(places, n, sizeof(*places), compare_rank);
}

/* Of a port all lines, or none. */
static size_t count_kept(const struct place *places, size_t n)
{
	size_t kept = MIN(n, (size_t)KEY_LINES_MAX);

	while (kept && kept < n && places[kept].guid == places[kept - 1].guid)
		kept--;
	return kept;
}

/* How many are kept; they stand in front, by GUID and port. */
static size_t choose(struct place *places, size_t n)
{
	size_t kept;

	if (n <= KEY_LINES_MAX)
		return n;
	rank_places(places, n);
	kept = count_kept(places, n);
	qsort(places, kept, sizeof(*places), compare);
	return kept;
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

size_t key_lines_renew(struct key_lines *l, const struct key_line *lines, size_t n)
{
	_cleanup_free_ struct place *places = sort(lines, n);
	size_t kept = choose(places, n), at = 0;
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
