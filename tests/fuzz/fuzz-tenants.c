// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes as the file of tenants, and as one entry of another manager. What is accepted is
 * in range and in order, and its text is the very bytes that were read; what is not has one error
 * that says where; any entry can be played, and taken back.
 *
 * Digests and chain values of an input are put right first where its lines have them in the place
 * of zeros ("0x0000000000000000"), so that mutations come behind them.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/tenants/tenants_file.h"
#include "util/hash.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* --- A table -------------------------------------------------------------------------------- */

static void require_fields(const struct tenant_fields *f)
{
	require(f->name[0] && strnlen(f->name, sizeof(f->name)) <= PARTITION_NAME_MAX);
	require(f->mtu >= 1 && f->mtu <= 5 && f->rate >= 2 && f->rate <= 24 && f->sl <= 15);
}

static void require_rights(const struct tenants *t)
{
	size_t at = 0, total = 0, n;

	for (guid_t guid; (guid = tenants_each_port(t, &at)); total += n) {
		const struct tenant_right *r = tenants_of_port(t, guid, &n);
		unsigned at_0 = 0;

		require(n);
		for (size_t i = 0; i < n; i++) {
			const struct tenant_partition *p = tenants_find(t, r[i].pkey);
			const struct tenant_member *m = p ? tenants_member(p, guid) : NULL;

			require(m && m->full == r[i].full && m->index0 == r[i].index0);
			require(!i || partition_order(r[i - 1].pkey) < partition_order(r[i].pkey));
			at_0 += r[i].index0 ? 1 : 0;
		}
		require(at_0 <= 1);
	}
	require(total == tenants_members(t));
}

static void require_table(const struct tenants *t)
{
	const struct tenant_partition *p;
	uint16_t last = 0;

	for (size_t i = 0; (p = tenants_at(t, i)); i++) {
		require(p->pkey > last && p->pkey <= PKEY_BASE);
		require(p->generation && p->generation <= tenants_generation(t));
		require_fields(&p->fields);
		for (size_t k = 1; k < p->n_members; k++)
			require(p->members[k - 1].guid < p->members[k].guid);
		last = p->pkey;
	}
	require_rights(t);
}

static void require_text(const struct tenants *t, const char *text, size_t len)
{
	size_t len_is;
	_cleanup_free_ char *is = tenants_text(t, &len_is);

	require(len_is == len && memcmp(is, text, len) == 0);
}

/* --- The file ------------------------------------------------------------------------------- */

static void try_text(const char *text, size_t len)
{
	_cleanup_(tenants_freep) struct tenants *t = NULL, *again = NULL;
	struct conf_report r = { 0 };
	_cleanup_free_ char *whole = NULL;
	size_t good, len_whole;
	int e = tenants_parse(text, len, "tenants", &r, &t, &good);

	require((e == 0 && t && !r.errors) || (e == -EBADMSG && r.errors == 1));
	require(good <= len && (t != NULL) == (good > 0) && (!good || text[good - 1] == '\n'));
	for (size_t i = 0; i < r.n; i++)
		for (const char *s = r.findings[i].text; *s; s++)
			require((unsigned char)*s >= ' ' && (unsigned char)*s < 0x7F);
	require(!r.errors || r.findings[r.n - 1].line);
	conf_report_clear(&r);
	if (!t)
		return;
	require_table(t);
	whole = tenants_text(t, &len_whole);
	require(tenants_parse(whole, len_whole, "tenants", &r, &again, &good) == 0 && !r.n);
	require_text(again, whole, len_whole);
}

static void write_hex(char *to, uint64_t n)
{
	char digits[17];

	snprintf(digits, sizeof(digits), "%016llx", (unsigned long long)n);
	memcpy(to, digits, 16);
}

/* The zeros of the line that ends at `end`, if there are. */
static char *zeros_of(char *line, char *end)
{
	bool are = end - line >= 18 && memcmp(end - 18, "0x0000000000000000", 18) == 0;

	return are ? end - 16 : NULL;
}

static void put_digest_right(char *text, char *end)
{
	char *line = text;

	for (char *next; (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1) {
		char *zeros = zeros_of(line, next);

		if (!zeros || memcmp(line, "end ", 4) != 0)
			continue;
		write_hex(zeros, hash_bytes(HASH_START, text, (size_t)(line - text)));
		return;
	}
}

/* Each line in its turn: its chain value follows from the table above. */
static void put_chains_right(char *text, char *end)
{
	struct conf_report none = { 0 };

	for (unsigned turn = 0; turn < 8; turn++) {
		_cleanup_(tenants_freep) struct tenants *t = NULL;
		struct tenant_entry e = { 0 };
		uint64_t chain;
		size_t good;
		char *line, *next, *zeros;

		tenants_parse(text, (size_t)(end - text), "x", &none, &t, &good);
		conf_report_clear(&none);
		line = text + good;
		next = t ? memchr(line, '\n', (size_t)(end - line)) : NULL;
		zeros = next ? zeros_of(line, next) : NULL;
		if (!zeros || tenants_entry_parse(line, (size_t)(next - line), &e, &chain) < 0)
			return;
		write_hex(zeros, tenants_chain_after(t, &e));
		tenant_entry_clear(&e);
	}
}

/* --- One entry ------------------------------------------------------------------------------ */

static void require_rows(const struct tenant_entry *e)
{
	require(e->n_rows && e->generation && e->at >= 0);
	for (size_t i = 0; i < e->n_rows; i++) {
		const struct tenant_row *row = &e->rows[i];

		require(row->pkey >= 1 && row->pkey <= PKEY_BASE && !row->generation);
		if (row->kind == TENANT_ROW_PARTITION)
			require_fields(&row->fields);
		else if (row->kind != TENANT_ROW_GONE)
			require(row->member.guid);
	}
}

/* On a table that has something of what the entry may name. */
static void try_entry(const char *line, size_t len)
{
	_cleanup_(tenants_freep) struct tenants *t = tenants_new(1);
	struct tenant_row some[] = {
		{ .kind = TENANT_ROW_MEMBER, .pkey = 5, .member = { 1, true, true } },
		{ .kind = TENANT_ROW_MEMBER, .pkey = 5, .member = { 2, true, false } },
		{ .kind = TENANT_ROW_MEMBER, .pkey = 6, .member = { 1, true, false } },
	};
	struct tenant_entry first = { 1, 1, some, ARRAY_SIZE(some) }, e = { 0 }, back = { 0 };
	_cleanup_free_ char *text = NULL, *before = NULL;
	size_t len_text, len_before;
	uint64_t chain;

	if (tenants_entry_parse(line, len, &e, &chain) < 0)
		return;
	require_rows(&e);
	text = tenants_entry_text(&e, chain, &len_text);
	require(len_text == len + 1 && memcmp(text, line, len) == 0);
	tenants_play(t, &first, 77);
	before = tenants_text(t, &len_before);
	tenants_inverse(t, &e, &back);
	tenants_play(t, &e, chain);
	require_rights(t);
	tenants_play(t, &back, 77);
	require_text(t, before, len_before);
	tenant_entry_clear(&e);
	tenant_entry_clear(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_free_ char *text = xmemdup(input, len);
	const char *line = text;

	try_text(text, len);
	put_digest_right(text, text + len);
	put_chains_right(text, text + len);
	try_text(text, len);
	while (line < text + len) {
		const char *end = memchr(line, '\n', (size_t)(text + len - line)) ?: text + len;

		try_entry(line, (size_t)(end - line));
		line = end + 1;
	}
	return 0;
}
