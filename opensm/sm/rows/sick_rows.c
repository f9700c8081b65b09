// SPDX-License-Identifier: BSD-2-Clause
#include "sm/rows/sick_rows.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/ledger.h"
#include "sm/ledger/edits.h"
#include "sm/ledger/former_file.h"
#include "sm/sm_internal.h"
#include "util/mem.h"

#define ROWS_AT_ONCE 1024u /* most rows of one commit; the rest follows when these are stored */

struct sick_rows {
	uint64_t version; /* version that is being stored */
	bool more;	  /* set if the commit does not have all differences */
};
MACHINE_MEMORY(sick_rows);

/* ---- keys ------------------------------------------------------------------------------------ */

static struct ledger_key key_of(struct health_end at)
{
	struct ledger_key key = { .table = LEDGER_HEALTH, .len = 9 };

	ib_bits_put(key.bytes, 0, 64, at.node);
	key.bytes[8] = at.port;
	return key;
}

static struct health_end end_of(const struct ledger_key *key)
{
	return (struct health_end){ ib_bits_get(key->bytes, 0, 64), key->bytes[8] };
}

/* ---- what differs from rows ------------------------------------------------------------------ */

static void edit_changed(const struct sm *sm, struct edits *all, struct health_end at)
{
	const struct ledger_key key = key_of(at);
	struct ledger_value v;
	uint8_t bytes[HEALTH_ROW_MAX];
	size_t len = health_pack(sick_judge(sm), at, bytes);

	if (len && !(ledger_get(settle_ledger(sm), &key, &v) &&
		     health_rows_agree(v.bytes, v.len, bytes, len)))
		edits_put(all, &key, edits_number(sm, all, LEDGER_HEALTH), bytes, len);
}

/* Edits a row of whose link nothing is known any more. A row of a later version is left alone. */
static void edit_gone(const struct sm *sm, struct edits *all, const struct ledger_row *row)
{
	const struct ledger_value v = ledger_row_value(row);
	uint8_t bytes[HEALTH_ROW_MAX];

	if (!v.removed && health_row_is_ours(v.bytes, v.len) &&
	    !health_pack(sick_judge(sm), end_of(ledger_row_key(row)), bytes))
		edits_remove(all, ledger_row_key(row), edits_number(sm, all, LEDGER_HEALTH));
}

/* Finds rows that differ from the judge. True: there are more. */
static bool find_differences(const struct sm *sm, struct edits *all)
{
	struct health *judge = sick_judge(sm);
	const struct ledger_row *row;
	struct health_end at;
	uint32_t place = 0;
	size_t pos = 0;

	while ((row = ledger_next(settle_ledger(sm), LEDGER_HEALTH, &pos)))
		edit_gone(sm, all, row);
	while (health_next_row(judge, &place, &at)) {
		if (all->n >= ROWS_AT_ONCE)
			return true;
		edit_changed(sm, all, at);
	}
	return false;
}

/* ---- storing --------------------------------------------------------------------------------- */

static void on_stored(struct sm *sm, void *arg, int error)
{
	struct sick_rows *r = sm->m.sick_rows;

	if (error < 0) {
		sick_not_stored(sm);
		return;
	}
	sick_stored(sm, r->version, r->more);
	if (!r->more)
		former_end(sm, LEDGER_HEALTH, true);
}

/* Stores the differences. Without a cache folder the rows last only as long as this process. */
static void store(struct sm *sm)
{
	struct sick_rows *r = sm->m.sick_rows;
	struct edits all = { 0 };

	r->version = sick_storing(sm);
	r->more = !settle_closed(sm) && find_differences(sm, &all);
	if (all.n)
		edits_commit(sm, &all, on_stored, NULL);
	else
		on_stored(sm, NULL, 0);
	edits_clear(&all);
}

void sick_rows_tick(struct sm *sm)
{
	if (sm->now >= sick_due(sm) && !settle_unready(sm))
		store(sm);
}

mono_t sick_rows_next(const struct sm *sm)
{
	return settle_unready(sm) ? MONO_NEVER : sick_due(sm);
}

/* ---- taking in ------------------------------------------------------------------------------- */

/* Called if another manager wrote these rows; at the start, for all rows. */
void sick_rows_take(struct sm *sm, const struct ledger_key *keys, size_t n)
{
	struct ledger_value v;

	for (size_t i = 0; i < n; i++) {
		if (ledger_get(settle_ledger(sm), &keys[i], &v))
			health_take(sick_judge(sm), end_of(&keys[i]), v.bytes, v.len);
		else
			health_take(sick_judge(sm), end_of(&keys[i]), NULL, 0);
	}
	sick_took(sm);
}

static int read_former(struct sm *sm, const char *text, size_t len)
{
	int error = health_read(sick_judge(sm), text, len);

	if (error == 0)
		sick_took(sm);
	return error;
}

const struct former_file sick_rows_former = {
	.name = "link_health",
	.limit = HEALTH_TEXT_MAX,
	.read = read_former,
	.stored = "what was counted against links is in the ledger from now on",
	.beside = "it counts for nothing, as the ledger has rows of health",
	.bad = "what was known of the health of links is forgotten",
};
