// SPDX-License-Identifier: BSD-2-Clause
/*
 * The words of the file of tenants. There is one way to write each thing, so that a changed byte is
 * a fault or another value, which then does not fit the chain value of the line.
 */
#include "conf/tenants/tenants_scan.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "conf/tenants/tenants_file.h"
#include "conf/tenants/tenants_internal.h"
#include "ib/codes.h"

#define SL_MAX	     15

static bool is_at_end(const struct line_scan *s)
{
	return s->at == s->end;
}

/* The byte at `at`; 0: the line is over. */
static char peek(const struct line_scan *s)
{
	return is_at_end(s) ? '\0' : *s->at;
}

static bool fail(struct line_scan *s, const char *expected)
{
	s->expected = expected;
	s->is_short = is_at_end(s);
	return false;
}

static bool fail_literal(struct line_scan *s, const char *expected)
{
	s->is_literal = true;
	return fail(s, expected);
}

bool scan_literal(struct line_scan *s, const char *literal)
{
	for (const char *wanted = literal; *wanted; wanted++, s->at++)
		if (is_at_end(s) || *s->at != *wanted)
			return fail_literal(s, literal);
	return true;
}

bool scan_hex(struct line_scan *s, unsigned digits, uint64_t *ret)
{
	static const char letters[] = "0123456789abcdef";
	uint64_t n = 0;

	if (!scan_literal(s, "0x"))
		return false;
	for (unsigned i = 0; i < digits; i++, s->at++) {
		const char *letter = is_at_end(s) ? NULL : memchr(letters, *s->at, 16);

		if (!letter)
			return fail(s, digits == 4 ? "4 digits 0-9a-f" : "16 digits 0-9a-f");
		n = n << 4 | (uint64_t)(letter - letters);
	}
	*ret = n;
	return true;
}

bool scan_decimal(struct line_scan *s, uint64_t max, uint64_t *ret)
{
	const char *start = s->at;
	uint64_t n = 0;

	for (; !is_at_end(s) && *s->at >= '0' && *s->at <= '9'; s->at++) {
		uint64_t digit = (uint64_t)(*s->at - '0');

		if ((s->at > start && !n) || n > max / 10 || digit > max - n * 10)
			return fail(s, "a smaller number, without zeros before it");
		n = n * 10 + digit;
	}
	if (s->at == start)
		return fail(s, "a number");
	*ret = n;
	return true;
}

bool scan_time(struct line_scan *s, int64_t *ret)
{
	uint64_t n;

	if (!scan_decimal(s, INT64_MAX, &n))
		return false;
	*ret = (int64_t)n;
	return true;
}

bool scan_pkey(struct line_scan *s, uint16_t *ret)
{
	const char *start = s->at;
	uint64_t n;

	if (!scan_hex(s, 4, &n))
		return false;
	if (n < 1 || n > PKEY_BASE) {
		s->at = start;
		return fail(s, "a P_Key of 0x0001-0x7fff");
	}
	*ret = (uint16_t)n;
	return true;
}

bool scan_end(struct line_scan *s)
{
	return is_at_end(s) || fail(s, "the end of the line");
}

/* --- Fields --------------------------------------------------------------------------------- */

static bool scan_bounded(struct line_scan *s, uint8_t min, uint8_t max, uint8_t *ret)
{
	const char *start = s->at;
	uint64_t n;

	if (!scan_decimal(s, max, &n))
		return false;
	if (n < min && !is_at_end(s))
		s->at = start;
	if (n < min)
		return fail(s, "a greater number");
	*ret = (uint8_t)n;
	return true;
}

static bool scan_bool(struct line_scan *s, bool *ret)
{
	*ret = peek(s) == 't';
	return scan_literal(s, *ret ? "true" : "false");
}

static bool scan_name(struct line_scan *s, char ret[PARTITION_NAME_MAX + 1])
{
	unsigned len = 0;

	if (!scan_literal(s, "\""))
		return false;
	for (; peek(s) != '"'; s->at++) {
		bool escaped = peek(s) == '\\';

		if (escaped)
			s->at++;
		if (peek(s) < ' ' || peek(s) > '~' || len == PARTITION_NAME_MAX ||
		    (escaped && *s->at != '"' && *s->at != '\\'))
			return fail(s, "a name of 1 to 31 printable characters in quotes");
		ret[len++] = *s->at;
	}
	ret[len] = '\0';
	return len ? scan_literal(s, "\"") : fail(s, "a name");
}

bool scan_fields(struct line_scan *s, struct tenant_fields *ret)
{
	*ret = (struct tenant_fields){ 0 };
	return scan_literal(s, " ipoib ") && scan_bool(s, &ret->ipoib) &&
	       scan_literal(s, " mtu ") &&
	       scan_bounded(s, IB_MTU_256, IB_MTU_4096, &ret->mtu) &&
	       scan_literal(s, " rate ") && scan_bounded(s, IB_RATE_MIN, IB_RATE_MAX, &ret->rate) &&
	       scan_literal(s, " sl ") && scan_bounded(s, 0, SL_MAX, &ret->sl) &&
	       scan_literal(s, " name ") && scan_name(s, ret->name);
}

/* --- Members -------------------------------------------------------------------------------- */

static bool scan_guid(struct line_scan *s, guid_t *ret)
{
	const char *start = s->at;

	if (!scan_hex(s, 16, ret))
		return false;
	if (!*ret) {
		s->at = start;
		return fail(s, "the GUID of a port");
	}
	return true;
}

bool scan_member(struct line_scan *s, struct tenant_member *ret)
{
	*ret = (struct tenant_member){ 0 };
	if (!scan_literal(s, "+") || !scan_guid(s, &ret->guid) || !scan_literal(s, "="))
		return false;
	ret->full = peek(s) == 'f';
	if (!scan_literal(s, ret->full ? "full" : "limited"))
		return false;
	ret->index0 = peek(s) == ',';
	return !ret->index0 || scan_literal(s, ",index0");
}

static bool scan_left(struct line_scan *s, struct tenant_member *ret)
{
	*ret = (struct tenant_member){ 0 };
	return scan_literal(s, "-") && scan_guid(s, &ret->guid);
}

/* --- Entries -------------------------------------------------------------------------------- */

/* That behind the blank. */
static char next_letter(const struct line_scan *s)
{
	return s->at + 1 < s->end ? s->at[1] : '\0';
}

static bool scan_row(struct line_scan *s, struct tenant_row *ret)
{
	switch (next_letter(s)) {
	case '+':
		ret->kind = TENANT_ROW_MEMBER;
		return scan_literal(s, " ") && scan_member(s, &ret->member);
	case '-':
		ret->kind = TENANT_ROW_LEFT;
		return scan_literal(s, " ") && scan_left(s, &ret->member);
	case 'g':
		ret->kind = TENANT_ROW_GONE;
		return scan_literal(s, " gone");
	case 'i':
		ret->kind = TENANT_ROW_PARTITION;
		return scan_fields(s, &ret->fields);
	default:
		return scan_literal(s, " ") && fail(s, "ipoib, gone, a member or chain");
	}
}

/* Rows up to the chain value. */
static bool scan_rows(struct line_scan *s, struct tenant_entry *ret)
{
	uint16_t pkey = 0;
	size_t cap = 0;

	while (next_letter(s) != 'c' || !ret->n_rows) {
		struct tenant_row row = { .pkey = pkey };

		if (next_letter(s) == '0' || !pkey) {
			if (!scan_literal(s, " ") || !scan_pkey(s, &row.pkey))
				return false;
			if (row.pkey == pkey)
				return fail(s, "another P_Key than before");
			pkey = row.pkey;
		}
		if (!scan_row(s, &row))
			return false;
		GROW(ret->rows, ret->n_rows + 1, cap);
		ret->rows[ret->n_rows++] = row;
	}
	return true;
}

static bool read_entry(struct line_scan *s, struct tenant_entry *ret, uint64_t *ret_chain)
{
	return scan_decimal(s, TENANT_GENERATION_MAX, &ret->generation) &&
	       (ret->generation || fail(s, "a generation above 0")) && scan_literal(s, " ") &&
	       scan_time(s, &ret->at) && scan_rows(s, ret) && scan_literal(s, " chain ") &&
	       scan_hex(s, 16, ret_chain) && scan_end(s);
}

bool scan_entry(struct line_scan *s, struct tenant_entry *ret, uint64_t *ret_chain)
{
	struct tenant_entry e = { 0 };

	if (!read_entry(s, &e, ret_chain)) {
		tenant_entry_clear(&e);
		return false;
	}
	*ret = e;
	return true;
}

int tenants_entry_parse(const char *line, size_t len, struct tenant_entry *ret,
			uint64_t *ret_chain)
{
	struct line_scan s = { .line = line, .at = line, .end = line + len };

	assert((line || !len) && ret && ret_chain);
	return scan_entry(&s, ret, ret_chain) ? 0 : -EBADMSG;
}
