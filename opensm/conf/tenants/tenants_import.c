// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the file of former builds, line by line. A line without its newline was being written when
 * the host failed; it was never acknowledged, and is ignored. Reading ends at the first faulty
 * line.
 */
#include "conf/tenants/tenants_import.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "conf/tenants/tenants_internal.h"
#include "conf/text/lines.h"
#include "util/mem.h"

#define MAGIC	   "opensm-tenants"
#define FORMAT	   1
#define BATCH_ROWS 4096u /* rows that are collected before they are put into the table */

/* The unread part of a line. */
struct scan {
	const char *at, *end;
};

struct import {
	struct conf_place place; /* of the line */
	struct conf_report *report;
	struct tenants *t;
	struct tenant_entry batch; /* rows above line "end" that are not in the table yet */
	size_t cap;
	uint16_t pkey; /* P_Key of the partition whose members are read; 0: none */
	uint64_t pkey_generation, generation; /* generation of that partition, and of the table */
	bool has_head, has_table;
};

/* ---- words ---------------------------------------------------------------------------------- */

/* Takes a literal, after blanks. */
static bool take_word(struct scan *s, const char *word)
{
	size_t len = strlen(word);
	const char *at = s->at;

	while (at < s->end && *at == ' ')
		at++;
	if ((size_t)(s->end - at) < len || memcmp(at, word, len) != 0)
		return false;
	s->at = at + len;
	return true;
}

static int digit_of(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 16;
}

static bool take_digits(struct scan *s, unsigned base, uint64_t max, uint64_t *ret)
{
	const char *start = s->at;
	uint64_t n = 0;

	for (; s->at < s->end && digit_of(*s->at) < (int)base; s->at++) {
		uint64_t digit = (uint64_t)digit_of(*s->at);

		if (digit > max || n > (max - digit) / base)
			return false;
		n = n * base + digit;
	}
	*ret = n;
	return s->at > start;
}

static bool take_number(struct scan *s, uint64_t max, uint64_t *ret)
{
	return take_word(s, "") && take_digits(s, 10, max, ret);
}

static bool take_hex(struct scan *s, uint64_t max, uint64_t *ret)
{
	return take_word(s, "0x") && take_digits(s, 16, max, ret);
}

static bool take_pkey(struct scan *s, uint16_t *ret)
{
	uint64_t n;

	if (!take_hex(s, PKEY_BASE, &n) || !n)
		return false;
	*ret = (uint16_t)n;
	return true;
}

static bool take_byte(struct scan *s, const char *word, uint8_t *ret)
{
	uint64_t n;

	if (!take_word(s, word) || !take_number(s, UINT8_MAX, &n))
		return false;
	*ret = (uint8_t)n;
	return true;
}

/* Takes a quoted name, in which '\' escapes quotes and '\'. */
static bool take_name(struct scan *s, char ret[PARTITION_NAME_MAX + 1])
{
	size_t len = 0;

	if (!take_word(s, "\""))
		return false;
	for (; s->at < s->end && *s->at != '"'; s->at++) {
		if (*s->at == '\\' && ++s->at == s->end)
			return false;
		if (*s->at < ' ' || *s->at > '~' || len == PARTITION_NAME_MAX)
			return false;
		ret[len++] = *s->at;
	}
	ret[len] = '\0';
	return len && take_word(s, "\"");
}

static bool take_fields(struct scan *s, struct tenant_fields *ret)
{
	*ret = (struct tenant_fields){ 0 };
	if (!take_word(s, "ipoib"))
		return false;
	ret->ipoib = take_word(s, "true");
	return (ret->ipoib || take_word(s, "false")) && take_byte(s, "mtu", &ret->mtu) &&
	       take_byte(s, "rate", &ret->rate) && take_byte(s, "sl", &ret->sl) &&
	       tenants_fields_are_fine(ret->mtu, ret->rate, ret->sl) && take_word(s, "name") &&
	       take_name(s, ret->name);
}

static bool take_guid(struct scan *s, guid_t *ret)
{
	return take_hex(s, UINT64_MAX, ret) && *ret;
}

/* Takes a member; its "+" was taken. */
static bool take_member(struct scan *s, struct tenant_member *ret)
{
	*ret = (struct tenant_member){ 0 };
	if (!take_guid(s, &ret->guid) || !take_word(s, "="))
		return false;
	ret->full = take_word(s, "full");
	if (!ret->full && !take_word(s, "limited"))
		return false;
	ret->index0 = take_word(s, ",index0");
	return true;
}

/* ---- the table ------------------------------------------------------------------------------ */

static bool read_head(struct import *m, struct scan *s)
{
	uint64_t format, at, ignored;

	if (!take_word(s, MAGIC) || !take_number(s, FORMAT, &format) || format != FORMAT ||
	    !take_word(s, "lineage") || !take_hex(s, UINT64_MAX, &ignored) ||
	    !take_word(s, "generation") ||
	    !take_number(s, TENANT_GENERATION_MAX, &m->generation) || !take_word(s, "time") ||
	    !take_number(s, INT64_MAX, &at))
		return false;
	m->batch.generation = m->generation;
	m->batch.at = (int64_t)at;
	m->has_head = true;
	return true;
}

static void play_batch(struct import *m)
{
	tenants_play(m->t, &m->batch);
	m->batch.n_rows = 0;
}

static bool has_room(const struct import *m, size_t n_rows)
{
	return tenants_members(m->t) + m->batch.n_rows + n_rows <= TENANT_MEMBERS_MAX;
}

static void add_row(struct import *m, const struct tenant_row *row)
{
	if (m->batch.n_rows == BATCH_ROWS)
		play_batch(m);
	APPEND(m->batch.rows, m->batch.n_rows, m->cap) = *row;
}

static bool read_member(struct import *m, struct scan *s)
{
	struct tenant_row row = { .kind = TENANT_ROW_MEMBER, .pkey = m->pkey,
				  .generation = m->pkey_generation };

	if (!m->pkey || !take_word(s, "+") || !take_member(s, &row.member) || s->at != s->end ||
	    !has_room(m, 1))
		return false;
	add_row(m, &row);
	return true;
}

static bool read_partition(struct import *m, struct scan *s)
{
	struct tenant_row row = { .kind = TENANT_ROW_PARTITION };

	if (!take_pkey(s, &row.pkey) || !take_word(s, "generation") ||
	    !take_number(s, m->generation, &row.generation) || !take_fields(s, &row.fields) ||
	    s->at != s->end)
		return false;
	m->pkey = row.pkey;
	m->pkey_generation = row.generation;
	add_row(m, &row);
	return true;
}

static bool read_end(struct import *m, struct scan *s)
{
	if (!take_word(s, "end"))
		return false;
	play_batch(m);
	m->has_table = true;
	return true;
}

/* ---- changes behind the table --------------------------------------------------------------- */

static bool take_row(struct scan *s, struct tenant_row *ret)
{
	if (take_word(s, "+")) {
		ret->kind = TENANT_ROW_MEMBER;
		return take_member(s, &ret->member);
	}
	if (take_word(s, "-")) {
		ret->kind = TENANT_ROW_LEFT;
		return take_guid(s, &ret->member.guid);
	}
	ret->kind = TENANT_ROW_GONE;
	if (take_word(s, "gone"))
		return true;
	ret->kind = TENANT_ROW_PARTITION;
	return take_fields(s, &ret->fields);
}

/* Takes the rows up to "chain"; a row without a P_Key has that of the row before. */
static bool take_rows(struct scan *s, struct tenant_entry *ret)
{
	size_t cap = 0;
	uint16_t pkey = 0;

	while (!take_word(s, "chain")) {
		struct tenant_row row = { 0 };
		struct scan before = *s;

		if (!take_pkey(s, &pkey))
			*s = before;
		row.pkey = pkey;
		if (!pkey || !take_row(s, &row))
			return false;
		APPEND(ret->rows, ret->n_rows, cap) = row;
	}
	return ret->n_rows > 0;
}

static bool read_entry(struct import *m, struct scan *s)
{
	struct tenant_entry e = { 0 };
	uint64_t at;
	bool is_fine = take_number(s, TENANT_GENERATION_MAX, &e.generation) &&
		       e.generation > m->generation && take_number(s, INT64_MAX, &at) &&
		       take_rows(s, &e) && has_room(m, e.n_rows);

	if (is_fine) {
		e.at = (int64_t)at;
		m->generation = e.generation;
		tenants_play(m->t, &e);
	}
	tenant_entry_clear(&e);
	return is_fine;
}

/* ---- the file ------------------------------------------------------------------------------- */

static bool read_line(struct import *m, struct scan *s)
{
	if (!m->has_head)
		return read_head(m, s);
	if (m->has_table)
		return read_entry(m, s);
	if (s->at < s->end && *s->at == '+')
		return read_member(m, s);
	return s->at < s->end && *s->at == 'e' ? read_end(m, s) : read_partition(m, s);
}

/* Reads lines up to the first faulty one, whose address is returned, or to the end. */
static const char *read_lines(struct import *m, const char *text, const char *end)
{
	const char *line = text, *newline;

	while (line < end && (newline = memchr(line, '\n', (size_t)(end - line)))) {
		struct scan s = { line, newline };

		m->place.line++;
		if (!read_line(m, &s))
			return line;
		line = newline + 1;
	}
	m->place.line += line < end;
	return line;
}

int tenants_import_text(const char *text, size_t len, const char *file, struct conf_report *r,
			struct tenants **ret)
{
	struct import m = { .report = r, .place.file = file, .t = tenants_new() };
	const char *end;

	assert((text || !len) && r && ret);
	end = read_lines(&m, text, text + len);
	if (!m.has_head) {
		m.place.line = m.place.column = 1;
		conf_report_at(r, CONF_ERROR, &m.place,
			       "expected \"" MAGIC " 1 lineage ...\": this is no such table");
		tenants_free(m.t);
		tenant_entry_clear(&m.batch);
		return -EBADMSG;
	}
	if (!m.has_table)
		play_batch(&m);
	if (end < text + len || !m.has_table)
		conf_report_at(r, CONF_WARNING, &m.place,
			       "this is damaged from here on (%zu bytes): what stands above counts",
			       (size_t)(text + len - end));
	tenant_entry_clear(&m.batch);
	*ret = m.t;
	return 0;
}

int tenants_import(const char *path, struct conf_report *r, struct tenants **ret)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int e = lines_load_most(path, TENANTS_FILE_MAX, r, &text, &len);

	return e < 0 ? e : tenants_import_text(text, len, path, r, ret);
}
