// SPDX-License-Identifier: BSD-2-Clause
/*
 * A table and its entries from a file, or from another manager. Lines are understood word by word
 * in tenants_scan.c; here is what lines come to.
 *
 *   head --> partition --> member ... --> partition --> ... --> end --> entry --> entry ...
 *
 * A fault before the end leaves nothing; one behind it leaves what stands before. What is cut off
 * without a fault is the beginning of an entry at the end of the text, and zero bytes behind it, as
 * file systems leave them where a machine fell while it wrote.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/tenants/tenants_file.h"
#include "conf/tenants/tenants_scan.h"
#include "util/hash.h"

/* Member rows that are kept before they go into the table. */
#define BATCH_ROWS 4096

/* What happens now, by whether the table above was whole. */
#define NOW_WHAT                                                                              \
	"; %s, and partitions cannot be changed until the file is repaired, or removed to start " \
	"without it"

struct parse {
	const char *text, *end; /* without zero bytes at the end */
	bool has_zeros;
	bool has_table; /* up to its end */
	const char *next; /* line */
	struct conf_place at;
	struct conf_report *report;
	struct tenants *t;
	struct tenant_entry batch; /* of the table; generation, time and chain are its own */
	uint64_t chain;
	size_t cap, n_members, n_index0;
};

static const char *what_counts(const struct parse *p)
{
	return p->has_table ? "the lines above are used" : "nothing of it is used";
}

static int report_fault(struct parse *p, const struct line_scan *s, const char *found,
			const char *expected)
{
	p->at.column = s ? (unsigned)(s->at - s->line) + 1 : 1;
	conf_report_at(p->report, CONF_ERROR, &p->at, "%s; expected %s" NOW_WHAT, found, expected,
		       what_counts(p));
	return -EBADMSG;
}

static int report_scan(struct parse *p, const struct line_scan *s)
{
	char quoted[CONF_QUOTE_MAX], literal[64];
	const char *quote = s->is_literal ? "\"" : "";

	conf_quote(s->at, (size_t)(s->end - s->at), quoted);
	snprintf(literal, sizeof(literal), "%s%s%s", quote, s->expected, quote);
	return report_fault(p, s, s->at < s->end ? quoted : "the end of the line", literal);
}

/* The next line, whether it has a newline or not. False: there is none. */
static bool next_line(struct parse *p, struct line_scan *ret, bool *ret_whole)
{
	const char *newline;

	if (p->next == p->end)
		return false;
	newline = memchr(p->next, '\n', (size_t)(p->end - p->next));
	*ret = (struct line_scan){ .line = p->next, .at = p->next, .end = newline ?: p->end };
	*ret_whole = newline;
	p->next = newline ? newline + 1 : p->end;
	p->at.line++;
	return true;
}

/* --- The table ------------------------------------------------------------------------------ */

static int parse_head(struct parse *p, struct line_scan *s)
{
	uint64_t lineage;

	if (!scan_literal(s, TENANTS_MAGIC) || !scan_hex(s, 16, &lineage) ||
	    !scan_literal(s, " generation ") ||
	    !scan_decimal(s, TENANT_GENERATION_MAX, &p->batch.generation) ||
	    !scan_literal(s, " time ") || !scan_time(s, &p->batch.at) ||
	    !scan_literal(s, " chain ") || !scan_hex(s, 16, &p->chain) || !scan_end(s))
		return report_scan(p, s);
	p->t = tenants_new(lineage);
	return 0;
}

static void play_batch(struct parse *p)
{
	tenants_play(p->t, &p->batch, p->chain);
	p->batch.n_rows = 0;
}

static struct tenant_row *add_row(struct parse *p, const struct tenant_row *row)
{
	if (p->batch.n_rows == BATCH_ROWS)
		play_batch(p);
	GROW(p->batch.rows, p->batch.n_rows + 1, p->cap);
	p->batch.rows[p->batch.n_rows] = *row;
	return &p->batch.rows[p->batch.n_rows++];
}

/* `last`: the row before; kind TENANT_ROW_GONE: there is none. */
static int parse_partition(struct parse *p, struct line_scan *s, struct tenant_row *last)
{
	struct tenant_row row = { .kind = TENANT_ROW_PARTITION };

	if (!scan_pkey(s, &row.pkey) || !scan_literal(s, " generation ") ||
	    !scan_decimal(s, p->batch.generation, &row.generation) ||
	    !scan_fields(s, &row.fields) || !scan_end(s))
		return report_scan(p, s);
	if (!row.generation)
		return report_fault(p, NULL, "generation 0", "one above 0");
	if (row.pkey <= last->pkey)
		return report_fault(p, NULL, "a P_Key that is not above the one before",
				    "partitions in their order");
	*last = row;
	add_row(p, &row);
	return 0;
}

static int parse_member(struct parse *p, struct line_scan *s, struct tenant_row *last)
{
	guid_t before = last->kind == TENANT_ROW_MEMBER ? last->member.guid : 0;

	if (!scan_member(s, &last->member) || !scan_end(s))
		return report_scan(p, s);
	if (last->kind == TENANT_ROW_GONE)
		return report_fault(p, NULL, "a member before any partition", "a partition");
	if (last->member.guid <= before)
		return report_fault(p, NULL, "a GUID that is not above the one before",
				    "members in their order");
	if (++p->n_members > TENANT_MEMBERS_MAX)
		return report_fault(p, NULL, "more members than there can be", "the end");
	p->n_index0 += last->member.index0 ? 1 : 0;
	last->kind = TENANT_ROW_MEMBER;
	add_row(p, last);
	return 0;
}

static size_t count_index0(const struct tenants *t)
{
	const struct tenant_partition *part;
	size_t n = 0;

	for (size_t i = 0; (part = tenants_at(t, i)); i++)
		for (size_t k = 0; k < part->n_members; k++)
			n += part->members[k].index0 ? 1 : 0;
	return n;
}

static int parse_end(struct parse *p, struct line_scan *s)
{
	uint64_t is, digest = hash_bytes(HASH_START, p->text, (size_t)(s->line - p->text));
	char found[64], expected[64];

	if (!scan_literal(s, "end ") || !scan_hex(s, 16, &is) || !scan_end(s))
		return report_scan(p, s);
	snprintf(found, sizeof(found), "the digest is 0x%016" PRIx64, is);
	snprintf(expected, sizeof(expected), "0x%016" PRIx64 " of what stands above", digest);
	if (is != digest)
		return report_fault(p, NULL, found, expected);
	play_batch(p);
	if (count_index0(p->t) != p->n_index0)
		return report_fault(p, NULL, "a port with two P_Keys at index 0", "one");
	p->has_table = true;
	return 0;
}

/* Up to its end, or -EBADMSG. */
static int parse_table(struct parse *p)
{
	struct tenant_row last = { .kind = TENANT_ROW_GONE };
	struct line_scan s;
	bool whole, first = true;
	int e = 0;

	while (next_line(p, &s, &whole)) {
		bool at_end = s.at < s.end && *s.at == 'e';

		if (!whole)
			return report_fault(p, NULL, "a last line without its newline",
					    "a whole table");
		if (first)
			e = parse_head(p, &s);
		else if (at_end)
			return parse_end(p, &s);
		else if (s.at < s.end && *s.at == '+')
			e = parse_member(p, &s, &last);
		else
			e = parse_partition(p, &s, &last);
		if (e < 0)
			return e;
		first = false;
	}
	p->at.line++;
	return report_fault(p, NULL, "the end of the text", "the end of the table (\"end\")");
}

/* --- Entries -------------------------------------------------------------------------------- */

static int play_entry(struct parse *p, const struct tenant_entry *e, uint64_t chain)
{
	char why[200];

	if (!tenants_follows(p->t, e, chain, why, sizeof(why))) {
		p->at.column = 1;
		conf_report_at(p->report, CONF_ERROR, &p->at, "%s" NOW_WHAT, why,
			       what_counts(p));
		return -EBADMSG;
	}
	tenants_play(p->t, e, chain);
	return 0;
}

static void remark_cut(struct parse *p, size_t len)
{
	p->at.column = 0;
	conf_report_at(p->report, CONF_WARNING, &p->at,
		       "%zu bytes of a change were written when the machine fell, not all of it; "
		       "they are cut off, as the change was never acknowledged",
		       len);
}

/* The last line, without its newline. */
static int parse_rest(struct parse *p, struct line_scan *s)
{
	struct tenant_entry e = { 0 };
	uint64_t chain;
	bool is_entry = scan_entry(s, &e, &chain);

	tenant_entry_clear(&e);
	if (!is_entry && !s->is_short)
		return report_scan(p, s);
	if (is_entry && p->has_zeros)
		return report_fault(p, s, "a zero byte", "a newline");
	remark_cut(p, (size_t)(s->end - s->line));
	return 0;
}

static int parse_entries(struct parse *p, size_t *ret_good_len)
{
	struct line_scan s;
	bool whole;

	while (next_line(p, &s, &whole)) {
		struct tenant_entry e = { 0 };
		uint64_t chain;
		int error;

		if (!whole)
			return parse_rest(p, &s);
		if (!scan_entry(&s, &e, &chain))
			return report_scan(p, &s);
		error = play_entry(p, &e, chain);
		tenant_entry_clear(&e);
		if (error < 0)
			return error;
		*ret_good_len = (size_t)(p->next - p->text);
	}
	p->at.line++;
	if (p->has_zeros)
		remark_cut(p, 0);
	return 0;
}

int tenants_parse(const char *text, size_t len, const char *file, struct conf_report *r,
		  struct tenants **ret, size_t *ret_good_len)
{
	struct parse p = { .text = text, .end = text + len, .next = text, .report = r };
	int e;

	assert((text || !len) && r && ret && ret_good_len);
	p.at.file = file;
	while (p.end > text && !p.end[-1])
		p.end--;
	p.has_zeros = p.end < text + len;
	*ret = NULL;
	*ret_good_len = 0;
	e = parse_table(&p);
	tenant_entry_clear(&p.batch);
	if (e < 0) {
		tenants_free(p.t);
		return e;
	}
	*ret = p.t;
	*ret_good_len = (size_t)(p.next - text);
	return parse_entries(&p, ret_good_len);
}
