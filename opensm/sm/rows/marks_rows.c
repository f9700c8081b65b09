// SPDX-License-Identifier: BSD-2-Clause
#include "sm/rows/marks_rows.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ledger/ledger.h"
#include "sm/ledger/edits.h"
#include "sm/ledger/former_file.h"
#include "sm/base/about.h"
#include "sm/sm_internal.h"
#include "util/bisect.h"
#include "util/mem.h"

/* ---- rows as a table ------------------------------------------------------------------------- */

static struct ledger_key key_of(const struct link_mark *m)
{
	struct ledger_key key = { .table = LEDGER_MARK, .len = 9 };

	ib_bits_put(key.bytes, 0, 64, m->node);
	key.bytes[8] = m->port;
	return key;
}

static void add_row(struct mark_table *t, const struct ledger_row *row)
{
	const struct ledger_value v = ledger_row_value(row);
	const struct ledger_key *key = ledger_row_key(row);
	struct link_mark m;

	if (!v.removed &&
	    mark_unpack(ib_bits_get(key->bytes, 0, 64), key->bytes[8], v.bytes, v.len, &m))
		APPEND(t->all, t->n, t->cap) = m;
}

static int by_place(const void *a, const void *b)
{
	return mark_compare(a, b);
}

/* A table of the marks in rows; to be freed. */
static struct mark_table *table_of_rows(const struct sm *sm)
{
	const struct ledger *l = settle_ledger(sm);
	struct mark_table *t = xcalloc(1, sizeof(*t));
	const struct ledger_row *row;
	size_t pos = 0;

	while ((row = ledger_next(l, LEDGER_MARK, &pos)))
		add_row(t, row);
	SORT(t->all, t->n, by_place);
	t->generation = ledger_number(l, LEDGER_MARK);
	return t;
}

/* ---- a table as edits of rows ---------------------------------------------------------------- */

static void edit_put(struct edits *all, const struct link_mark *before,
		     const struct link_mark *next, uint64_t number)
{
	uint8_t was[MARK_BYTES_MAX], bytes[MARK_BYTES_MAX];
	uint32_t n_was = before ? mark_pack(before, was) : 0, n = mark_pack(next, bytes);
	const struct ledger_key key = key_of(next);

	if (n != n_was || memcmp(was, bytes, n))
		edits_put(all, &key, number, bytes, n);
}

static void edit_removed(struct edits *all, const struct link_mark *m, uint64_t number)
{
	const struct ledger_key key = key_of(m);

	edits_remove(all, &key, number);
}

static void edit_differences(struct edits *all, const struct mark_table *before,
			     const struct mark_table *next, uint64_t number)
{
	for (uint32_t i = 0, k = 0; i < before->n || k < next->n;) {
		int order = i >= before->n ? 1
			    : k >= next->n ? -1
					   : mark_compare(&before->all[i], &next->all[k]);

		if (order < 0)
			edit_removed(all, &before->all[i], number);
		else
			edit_put(all, order ? NULL : &before->all[i], &next->all[k], number);
		i += order <= 0;
		k += order >= 0;
	}
}

/* ---- the file of a former build -------------------------------------------------------------- */

static void begin_with(struct sm *sm, struct mark_table *t)
{
	if (t->n)
		log_verbose("marks: %u links or switches are out of service, generation %" PRIu64,
			    t->n, t->generation);
	marks_take(sm, t, NULL);
}

static int read_former(struct sm *sm, const char *text, size_t len)
{
	struct mark_table *t;
	int error = mark_table_read(text, len, &t);

	if (error == 0)
		begin_with(sm, t);
	return error;
}

const struct former_file marks_rows_former = {
	.name = MARKS_FILE,
	.limit = MARKS_TEXT_MAX,
	.read = read_former,
	.stored = "links out of service are in the ledger from now on",
	.beside = "it counts for nothing, as the ledger has rows of marks",
	.bad = "no link is marked; links that were taken out of service are used again",
};

void marks_rows_settled(struct sm *sm)
{
	if (former_waits(sm, LEDGER_MARK) && !settle_unready(sm))
		marks_store(sm);
}

/* ---- changes --------------------------------------------------------------------------------- */

static void on_committed(struct sm *sm, void *arg, int error)
{
	if (error < 0) {
		marks_committed(sm, NULL, settle_fault(sm) ?: strerror(-error));
		return;
	}
	/* the marks of the file were among those without rows */
	former_end(sm, LEDGER_MARK, true);
	marks_committed(sm, table_of_rows(sm), NULL);
}

void marks_rows_commit(struct sm *sm, const struct mark_table *next)
{
	_cleanup_(mark_table_freep) struct mark_table *before = table_of_rows(sm);
	struct edits all = { 0 };

	assert(!settle_unready(sm));
	edit_differences(&all, before, next, settle_next_number(sm, LEDGER_MARK));
	edits_commit(sm, &all, on_committed, NULL);
	edits_clear(&all);
}

struct settle_reach marks_rows_reach(const struct sm *sm, uint64_t generation)
{
	return settle_reach(sm, LEDGER_MARK, generation);
}

/* Called if another manager wrote these rows; at the start, for all rows. */
void marks_rows_take(struct sm *sm, const struct ledger_key *keys, size_t n)
{
	former_end(sm, LEDGER_MARK, false);
	marks_take(sm, table_of_rows(sm), "as another manager has it");
}

void marks_rows_listen(struct sm *sm)
{
	if (ledger_rows(settle_ledger(sm), LEDGER_MARK))
		begin_with(sm, table_of_rows(sm));
}
