// SPDX-License-Identifier: BSD-2-Clause
/*
 * One line a table: how long its keys and values are, and which of two values that did not know
 * each other is in force. The rule is the one that gives less access: a port is rather not in a
 * partition than in it, a link rather out of service. "Later" is the greater number, not the clock
 * of a host; of equal numbers the greater writer. So every manager chooses the same value.
 */
#include "ledger/ledger_tables.h"

#include <assert.h>
#include <string.h>

#include "ledger/ledger.h"
#include "util/bisect.h"
#include "util/mem.h"

#define MARK_BYTES   9u /* at least: kind, until */
#define HEALTH_BYTES 8u /* at least: the count */

/* ---- which of two is in force: < 0: `a` ------------------------------------------------------ */

/* True stands before false. */
static int first_if(bool a, bool b)
{
	return COMPARE(b, a);
}

static int longer_first(const struct ledger_value *a, const struct ledger_value *b)
{
	size_t len = MIN(a->len, b->len);

	return (len ? memcmp(b->bytes, a->bytes, len) : 0) ?: COMPARE(b->len, a->len);
}

/* The end of every rule: the later; what is left differs in its content alone. */
static int later(const struct ledger_value *a, const struct ledger_value *b)
{
	return COMPARE(b->dot.number, a->dot.number) ?: COMPARE(b->dot.by.guid, a->dot.by.guid)
	       ?: COMPARE(b->dot.by.instance, a->dot.by.instance)
	       ?: first_if(a->removed, b->removed) ?: longer_first(a, b) ?: COMPARE(b->at, a->at);
}

static int by_removal(const struct ledger_value *a, const struct ledger_value *b)
{
	return first_if(a->removed, b->removed) ?: later(a, b);
}

static bool is_limited(const struct ledger_value *v)
{
	return v->removed || !(v->bytes[0] & LEDGER_MEMBER_FULL);
}

static int by_access(const struct ledger_value *a, const struct ledger_value *b)
{
	return first_if(a->removed, b->removed) ?: first_if(is_limited(a), is_limited(b))
	       ?: later(a, b);
}

/* The number in the first 8 bytes behind `at`. */
static uint64_t number_at(const struct ledger_value *v, size_t at)
{
	uint64_t n = 0;

	for (size_t i = at; i < at + sizeof(n) && i < v->len; i++)
		n = n << 8 | v->bytes[i];
	return n;
}

static unsigned mark_kind(const struct ledger_value *v)
{
	return v->removed ? 0 : v->bytes[0];
}

/* Without end is later than any time. */
static uint64_t mark_until(const struct ledger_value *v)
{
	uint64_t until = number_at(v, 1);

	return v->removed ? 0 : until ? until : UINT64_MAX;
}

static int by_service(const struct ledger_value *a, const struct ledger_value *b)
{
	return COMPARE(mark_kind(b), mark_kind(a)) ?: COMPARE(mark_until(b), mark_until(a))
	       ?: later(a, b);
}

static int by_count(const struct ledger_value *a, const struct ledger_value *b)
{
	return first_if(!a->removed, !b->removed) ?: COMPARE(number_at(b, 0), number_at(a, 0))
	       ?: later(a, b);
}

/* The later epoch, as ports may have keys of it; then the later turn, the number behind it. */
static int by_epoch(const struct ledger_value *a, const struct ledger_value *b)
{
	return first_if(!a->removed, !b->removed)
	       ?: COMPARE(number_at(b, LEDGER_SEED_EPOCH), number_at(a, LEDGER_SEED_EPOCH))
	       ?: COMPARE(number_at(b, LEDGER_SEED_EPOCH + 4), number_at(a, LEDGER_SEED_EPOCH + 4))
	       ?: later(a, b);
}

/* ---- what may be a value --------------------------------------------------------------------- */

static bool is_any(const uint8_t *bytes, size_t len)
{
	return true;
}

static bool is_member(const uint8_t *bytes, size_t len)
{
	return (len == 1 || len == 10) && bytes[0] <= (LEDGER_MEMBER_FULL | LEDGER_MEMBER_INDEX0);
}

static bool is_mark(const uint8_t *bytes, size_t len)
{
	return len >= MARK_BYTES &&
	       (bytes[0] == LEDGER_MARK_DRAIN || bytes[0] == LEDGER_MARK_ISOLATE);
}

static bool is_health(const uint8_t *bytes, size_t len)
{
	return len >= HEALTH_BYTES;
}

/* ---- the tables ------------------------------------------------------------------------------ */

#define NO  false
#define YES true
/* Name, clock, lengths of keys, greatest value, secret, wanted, keeps one; rule, what is one. */

static const struct ledger_table_row tables[LEDGER_TABLES] = {
	[LEDGER_PARTITION] = { "partition", CLOCK_TENANTS, 2, 2, 128, NO, YES, NO, by_removal,
			       is_any },
	[LEDGER_MEMBER] = { "member", CLOCK_TENANTS, 10, 10, 10, NO, YES, NO, by_access,
			    is_member },
	[LEDGER_MARK] = { "mark", CLOCK_MARKS, 9, 9, 256, NO, YES, NO, by_service, is_mark },
	[LEDGER_SEED] = { "seed", CLOCK_KEYS, 8, 8, 64, YES, YES, NO, by_epoch, is_any },
	[LEDGER_EPOCH] = { "epoch", CLOCK_KEYS, 8, 8, 16, YES, YES, NO, later, is_any },
	[LEDGER_CABLE] = { "cable", CLOCK_FABRIC, 9, 9, 64, NO, NO, NO, later, is_any },
	[LEDGER_HEALTH] = { "health", CLOCK_FABRIC, 9, 9, 8448, NO, NO, NO, by_count, is_health },
	[LEDGER_CONFIG] = { "config", CLOCK_CONFIG, 1, LEDGER_KEY_MAX, 12u << 20, NO, YES, YES,
			    later, is_any },
};

const struct ledger_table_row *ledger_table(enum ledger_table table)
{
	assert((unsigned)table < LEDGER_TABLES);
	return &tables[table];
}

static bool is_printable(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] < ' ' || bytes[i] > '~')
			return false;
	}
	return true;
}

bool ledger_table_is_key(enum ledger_table table, const uint8_t *bytes, size_t len)
{
	const struct ledger_table_row *t = ledger_table(table);
	bool is_name = t->key_min != t->key_max;

	return len >= t->key_min && len <= t->key_max && (!is_name || is_printable(bytes, len));
}
