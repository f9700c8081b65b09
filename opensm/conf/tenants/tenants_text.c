// SPDX-License-Identifier: BSD-2-Clause
/* Tables and entries as text: the writer. The reader: tenants_parse.c. */
#include <assert.h>
#include <string.h>

#include "conf/tenants/tenants_file.h"
#include "conf/tenants/tenants_internal.h"
#include "conf/tenants/tenants_scan.h"
#include "util/hash.h"

struct text {
	char *bytes;
	size_t len, cap;
};

/* Bytes that any one of the things below needs at most. */
#define ROOM 64

static char *text_room(struct text *t)
{
	GROW(t->bytes, t->len + ROOM, t->cap);
	return t->bytes + t->len;
}

static void add_word(struct text *t, const char *word)
{
	size_t len = strlen(word);

	assert(len <= ROOM);
	memcpy(text_room(t), word, len);
	t->len += len;
}

static void add_hex(struct text *t, uint64_t n, unsigned digits)
{
	char *to = text_room(t);

	*to++ = '0';
	*to++ = 'x';
	for (unsigned i = 0; i < digits; i++)
		*to++ = "0123456789abcdef"[n >> 4 * (digits - 1 - i) & 0xF];
	t->len += 2 + digits;
}

static void add_decimal(struct text *t, uint64_t n)
{
	char digits[20], *to = text_room(t);
	unsigned len = 0;

	do {
		digits[len++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	t->len += len;
	while (len)
		*to++ = digits[--len];
}

/* In quotes; a quote and a backslash in it have a backslash before them. */
static void add_quoted(struct text *t, const char *name)
{
	add_word(t, "\"");
	for (; *name; name++) {
		const char letter[] = { *name, '\0' };

		if (*name == '"' || *name == '\\')
			add_word(t, "\\");
		add_word(t, letter);
	}
	add_word(t, "\"");
}

static void add_fields(struct text *t, const struct tenant_fields *f)
{
	add_word(t, f->ipoib ? " ipoib true mtu " : " ipoib false mtu ");
	add_decimal(t, f->mtu);
	add_word(t, " rate ");
	add_decimal(t, f->rate);
	add_word(t, " sl ");
	add_decimal(t, f->sl);
	add_word(t, " name ");
	add_quoted(t, f->name);
}

static void add_member(struct text *t, const struct tenant_member *m)
{
	add_word(t, "+");
	add_hex(t, m->guid, 16);
	add_word(t, m->full ? "=full" : "=limited");
	if (m->index0)
		add_word(t, ",index0");
}

/* --- Entries -------------------------------------------------------------------------------- */

static void add_row(struct text *t, const struct tenant_row *row)
{
	switch (row->kind) {
	case TENANT_ROW_PARTITION:
		add_fields(t, &row->fields);
		break;
	case TENANT_ROW_GONE:
		add_word(t, " gone");
		break;
	case TENANT_ROW_MEMBER:
		add_word(t, " ");
		add_member(t, &row->member);
		break;
	case TENANT_ROW_LEFT:
		add_word(t, " -");
		add_hex(t, row->member.guid, 16);
		break;
	}
}

char *tenants_entry_text(const struct tenant_entry *e, uint64_t chain, size_t *ret_len)
{
	struct text t = { 0 };

	assert(e->n_rows && e->generation && e->at >= 0 && ret_len);
	add_decimal(&t, e->generation);
	add_word(&t, " ");
	add_decimal(&t, (uint64_t)e->at);
	for (size_t i = 0; i < e->n_rows; i++) {
		assert(!e->rows[i].generation);
		if (!i || e->rows[i].pkey != e->rows[i - 1].pkey) {
			add_word(&t, " ");
			add_hex(&t, e->rows[i].pkey, 4);
		}
		add_row(&t, &e->rows[i]);
	}
	add_word(&t, " chain ");
	add_hex(&t, chain, 16);
	add_word(&t, "\n");
	*text_room(&t) = '\0';
	*ret_len = t.len;
	return t.bytes;
}

/* --- Tables --------------------------------------------------------------------------------- */

static void add_head(struct text *t, const struct tenants *table)
{
	add_word(t, TENANTS_MAGIC);
	add_hex(t, table->lineage, 16);
	add_word(t, " generation ");
	add_decimal(t, table->generation);
	add_word(t, " time ");
	add_decimal(t, (uint64_t)table->changed_at);
	add_word(t, " chain ");
	add_hex(t, table->chain, 16);
	add_word(t, "\n");
}

static void add_partition(struct text *t, const struct tenant_partition *p)
{
	add_hex(t, p->pkey, 4);
	add_word(t, " generation ");
	add_decimal(t, p->generation);
	add_fields(t, &p->fields);
	add_word(t, "\n");
	for (size_t i = 0; i < p->n_members; i++) {
		add_member(t, &p->members[i]);
		add_word(t, "\n");
	}
}

char *tenants_text(const struct tenants *table, size_t *ret_len)
{
	struct text t = { 0 };
	uint64_t digest;

	assert(table && ret_len);
	add_head(&t, table);
	for (size_t i = 0; i < table->n; i++)
		add_partition(&t, &table->list[i]->p);
	digest = hash_bytes(HASH_START, t.bytes, t.len);
	add_word(&t, "end ");
	add_hex(&t, digest, 16);
	add_word(&t, "\n");
	*text_room(&t) = '\0';
	*ret_len = t.len;
	return t.bytes;
}
