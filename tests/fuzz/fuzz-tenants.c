// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes as the file of tenants of former builds: what counts of it is in range and in
 * order; a fault has one finding that says where; and what is cut off of the end changes nothing
 * of what stands above.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/tenants/tenants_import.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require_at(bool holds, int line)
{
	if (holds)
		return;
	fprintf(stderr, "line %d does not hold\n", line);
	abort();
}

#define require(holds) require_at(holds, __LINE__)

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

/* --- The file ------------------------------------------------------------------------------- */

/* NULL: it is none of tenants. */
static struct tenants *import(const char *text, size_t len, bool *ret_whole)
{
	struct conf_report r = { 0 };
	struct tenants *t = NULL;
	int e = tenants_import_text(text, len, "tenants", &r, &t);

	require((e == 0 && t && !r.errors && r.n <= 1) ||
		(e == -EBADMSG && !t && r.errors == 1 && r.n == 1));
	for (size_t i = 0; i < r.n; i++) {
		require(r.findings[i].line);
		for (const char *s = r.findings[i].text; *s; s++)
			require((unsigned char)*s >= ' ' && (unsigned char)*s < 0x7F);
	}
	*ret_whole = !r.n;
	conf_report_clear(&r);
	return t;
}

static void require_equal(const struct tenants *a, const struct tenants *b)
{
	const struct tenant_partition *p, *q;

	require(tenants_generation(a) == tenants_generation(b));
	require(tenants_members(a) == tenants_members(b));
	for (size_t i = 0; (p = tenants_at(a, i)); i++) {
		q = tenants_at(b, i);
		require(q && p->pkey == q->pkey && p->n_members == q->n_members);
		for (size_t k = 0; k < p->n_members; k++)
			require(p->members[k].guid == q->members[k].guid);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_free_ char *text = xmalloc(len + 2);
	_cleanup_(tenants_freep) struct tenants *t = NULL, *longer = NULL;
	bool whole;

	memcpy(text, input, len);
	t = import(text, len, &whole);
	if (!t)
		return 0;
	require_table(t);
	/* A line that no build wrote, behind it. */
	memcpy(text + len, "!\n", 2);
	longer = import(text, len + 2, &whole);
	if (len && text[len - 1] == '\n') {
		require(longer && !whole);
		require_equal(t, longer);
	}
	return 0;
}
