// SPDX-License-Identifier: BSD-2-Clause
/*
 * The algebra of states: join and write. A value stands in the join if it stands in both states, or
 * if the other one does not know its dot. Both walk through entries in the order of writers.
 */
#include <assert.h>

#include "ledger/ledger_row.h"
#include "util/bisect.h"

static uint64_t number_of(const struct ledger_entry *e)
{
	return e->value.dot.number;
}

/* ---- short contexts -------------------------------------------------------------------------- */

/* The entry of the value in force. */
static const struct ledger_entry *in_force(const struct ledger_state *s, enum ledger_table table)
{
	const struct ledger_entry *best = NULL;

	for (const struct ledger_entry *e = s->entries; e < s->entries + s->n; e++) {
		if (e->stands &&
		    (!best || ledger_table(table)->prefer(&e->value, &best->value) < 0))
			best = e;
	}
	return best;
}

/* The greatest numbers first; of equal ones, in the order of writers. */
static int compare_numbers(const void *va, const void *vb)
{
	const struct ledger_entry *const *a = va, *const *b = vb;

	return COMPARE(number_of(*b), number_of(*a)) ?: COMPARE(*a, *b);
}

static void sort_by_number(const struct ledger_state *s,
			   const struct ledger_entry *ret[LEDGER_ENTRIES_MAX])
{
	for (unsigned i = 0; i < s->n; i++)
		ret[i] = &s->entries[i];
	SORT(ret, s->n, compare_numbers);
}

/* Drops entries that are known by the floor. */
static void drop_below_floor(struct ledger_state *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++) {
		if (s->entries[i].stands || number_of(&s->entries[i]) > s->floor)
			s->entries[n++] = s->entries[i];
	}
	s->n = n;
}

/*
 * Keeps the value in force and the other entries with the greatest numbers, `max` in all. What goes
 * is known by the floor from now on, as far as that stays below every value which is kept.
 */
static void prune(struct ledger_state *s, unsigned max, enum ledger_table table)
{
	const struct ledger_entry *order[LEDGER_ENTRIES_MAX], *best;
	uint64_t floor = 0, limit = UINT64_MAX;
	bool keep[LEDGER_ENTRIES_MAX] = { false };
	unsigned n = 0, kept = 1;

	if (s->n <= max)
		return;
	best = in_force(s, table);
	sort_by_number(s, order);
	keep[best - s->entries] = true;
	for (unsigned i = 0; i < s->n && kept < max; i++) {
		if (order[i] != best) {
			keep[order[i] - s->entries] = true;
			kept++;
		}
	}
	for (unsigned i = 0; i < s->n; i++) {
		struct ledger_entry e = s->entries[i];

		if (!keep[i]) {
			floor = MAX(floor, number_of(&e));
			continue;
		}
		if (e.stands)
			limit = MIN(limit, number_of(&e) - 1);
		s->entries[n++] = e;
	}
	s->n = n;
	s->floor = MAX(s->floor, MIN(floor, limit));
	drop_below_floor(s);
}

/* ---- join ------------------------------------------------------------------------------------ */

/* `known`: all numbers of the entry's writer up to it are known to the other state. */
static void append(struct ledger_state *s, const struct ledger_entry *e, uint64_t known)
{
	struct ledger_entry *to = &s->entries[s->n];

	*to = *e;
	to->stands = e->stands && number_of(e) > known;
	if (to->stands || number_of(e) > s->floor)
		s->n++;
}

/* Two entries of one writer. */
static void append_both(struct ledger_state *s, const struct ledger_entry *a,
			const struct ledger_entry *b, enum ledger_table table)
{
	if (a->stands && b->stands)
		append(s, ledger_table(table)->prefer(&a->value, &b->value) <= 0 ? a : b, 0);
	else
		append(s, a, UINT64_MAX);
}

/* The values beside the one in force are known only. */
static void keep_one(struct ledger_state *s, enum ledger_table table)
{
	const struct ledger_entry *best = in_force(s, table);

	for (unsigned i = 0; i < s->n; i++)
		s->entries[i].stands = &s->entries[i] == best;
	drop_below_floor(s);
}

void ledger_state_join(struct ledger_state *ret, struct ledger_entries a, struct ledger_entries b,
		       enum ledger_table table)
{
	uint64_t floor_a = a.floor, floor_b = b.floor;
	struct ledger_entry ea, eb;
	bool has_a = ledger_entries_next(&a, &ea), has_b = ledger_entries_next(&b, &eb);

	ret->floor = MAX(floor_a, floor_b);
	ret->n = 0;
	while (has_a || has_b) {
		int order = !has_a  ? 1
			    : !has_b ? -1
				     : ledger_writer_compare(&ea.value.dot.by, &eb.value.dot.by);

		if (order == 0 && number_of(&ea) == number_of(&eb))
			append_both(ret, &ea, &eb, table);
		else if (order < 0 || (order == 0 && number_of(&ea) > number_of(&eb)))
			append(ret, &ea, MAX(floor_b, order ? 0 : number_of(&eb)));
		else
			append(ret, &eb, MAX(floor_a, order ? 0 : number_of(&ea)));
		if (order <= 0)
			has_a = ledger_entries_next(&a, &ea);
		if (order >= 0)
			has_b = ledger_entries_next(&b, &eb);
	}
	if (ledger_table(table)->keeps_one && ret->n)
		keep_one(ret, table);
	prune(ret, LEDGER_WRITERS_MAX, table);
}

/* ---- write ----------------------------------------------------------------------------------- */

void ledger_state_write(struct ledger_state *ret, struct ledger_entries before,
			const struct ledger_value *value, enum ledger_table table)
{
	const struct ledger_entry written = { *value, true };
	struct ledger_entry e;
	bool is_in = false;

	ret->floor = before.floor;
	ret->n = 0;
	while (ledger_entries_next(&before, &e)) {
		int order = ledger_writer_compare(&value->dot.by, &e.value.dot.by);

		assert(number_of(&e) < value->dot.number);
		if (order <= 0 && !is_in) {
			ret->entries[ret->n++] = written;
			is_in = true;
		}
		if (order != 0)
			append(ret, &e, UINT64_MAX);
	}
	if (!is_in)
		ret->entries[ret->n++] = written;
	assert(ret->floor < value->dot.number);
	prune(ret, LEDGER_CONTEXT_WRITERS, table);
}
