// SPDX-License-Identifier: BSD-2-Clause
#include "sm/marks/marks_table.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "ib/layout.h"
#include "ledger/ledger_tables.h"
#include "util/str.h"

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

int mark_compare(const struct link_mark *a, const struct link_mark *b)
{
	return compare_places(a, b->node, b->port);
}

/* The index of the first mark that is not before this port. */
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

/* ---- the value of a row ---------------------------------------------------------------------- */

enum { AT_UNTIL = 1, AT_FORCED = 9, AT_SINCE = 10, AT_BY = 18 };

static void put_time(uint8_t *to, int64_t t)
{
	ib_bits_put(to, 0, 64, (uint64_t)t);
}

/* Reads a time; one before 1970, or beyond any clock, is unknown. */
static int64_t get_time(const uint8_t *from)
{
	uint64_t t = ib_bits_get(from, 0, 64);

	return t > INT64_MAX ? 0 : (int64_t)t;
}

uint32_t mark_pack(const struct link_mark *m, uint8_t to[MARK_BYTES_MAX])
{
	size_t by = strnlen(m->by, MARK_BY_MAX), why = strnlen(m->why, MARK_WHY_MAX);

	to[0] = m->kind == MARK_ISOLATE ? LEDGER_MARK_ISOLATE : LEDGER_MARK_DRAIN;
	put_time(to + AT_UNTIL, m->until);
	to[AT_FORCED] = m->forced;
	put_time(to + AT_SINCE, m->since);
	to[AT_BY] = (uint8_t)by;
	memcpy(to + AT_BY + 1, m->by, by);
	memcpy(to + AT_BY + 1 + by, m->why, why);
	return (uint32_t)(AT_BY + 1 + by + why);
}

static void unpack_texts(const uint8_t *from, size_t len, struct link_mark *m)
{
	char by[MARK_BY_MAX + 1] = "", why[MARK_WHY_MAX + 1] = "";
	size_t by_len = len ? from[0] : 0;

	if (len && by_len <= MARK_BY_MAX && by_len < len && len - 1 - by_len <= MARK_WHY_MAX) {
		memcpy(by, from + 1, by_len);
		memcpy(why, from + 1 + by_len, len - 1 - by_len);
	}
	mark_set_texts(m, by, why);
}

bool mark_unpack(guid_t node, unsigned port, const uint8_t *bytes, size_t len,
		 struct link_mark *ret)
{
	if (!node || !port || port > MARK_WHOLE_SWITCH || len < AT_FORCED ||
	    (bytes[0] != LEDGER_MARK_DRAIN && bytes[0] != LEDGER_MARK_ISOLATE))
		return false;
	*ret = (struct link_mark){
		.node = node,
		.port = (uint8_t)port,
		.kind = bytes[0] == LEDGER_MARK_ISOLATE ? MARK_ISOLATE : MARK_DRAIN,
		.until = get_time(bytes + AT_UNTIL),
		.forced = len > AT_FORCED && bytes[AT_FORCED],
		.since = len >= AT_BY ? get_time(bytes + AT_SINCE) : 0,
	};
	unpack_texts(bytes + MIN(len, (size_t)AT_BY), len - MIN(len, (size_t)AT_BY), ret);
	return true;
}
