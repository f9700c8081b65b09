// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Key tables (14.2.5.7) of end ports and of the switch ports that face them: the tables of
 * plan/pkey, minus what the ports hold.
 *
 * While ports are live, none may get more than the old or the new plan gives. So there are two
 * passes over the fabric with a barrier between:
 *
 *   TRIM            live ports lose keys that are not in their new table; a full key whose
 *                   limited form is becomes that; a limited one stays, also where the full form
 *                   will come. Unknown blocks are read first.
 *   PKEYS, CHECKS   every table as wanted: end ports, then switch ports
 *
 * As long as a live port keeps keys that it shall lose, because it does not answer, the second pass
 * waits for the next run; not for ever, or one device could hold up all the others.
 *
 * Ports in INIT have no traffic: their tables are written without being read. All blocks are, of
 * switch ports too: a switch keeps the table of a port whatever the host behind it does, and keys
 * of a block after the used ones would be in force again with the link.
 */
#include <string.h>

#include "sync/sync_internal.h"
#include "util/mem.h"

/* Number of runs that wait for one port. */
#define MAX_UNANSWERED 2

_Static_assert(PKEY_BLOCK == PKEYS_PER_BLOCK, "keys of a block");

/* ---- the rows of PKEYS and CHECKS ------------------------------------------------------------ */

/* Finds the wanted table: all blocks, also unknown ones. */
bool pkeys_want(const struct sync *s, const struct port *p, struct want *ret)
{
	const struct port *end = port_is_end(p) ? p : p->peer;
	const struct pkey_plan *plan = s->plan.pkeys;
	uint32_t table;
	size_t i;

	if (!plan || !end || !port_is_end(end) || !sync_port_is_ours(p))
		return false;
	i = pkey_plan_find(plan, end->guid);
	ret->all = ret->sure = (fabric_pkey_cap(p) + PKEY_BLOCK - 1) / PKEY_BLOCK;
	if (i == SIZE_MAX || !ret->all)
		return false;
	table = end == p ? plan->ports[i].table : plan->ports[i].peer_table;
	if (table == PKEY_NO_TABLE)
		return false;
	ret->keys = pkey_plan_table(plan, table);
	return true;
}

bool pkeys_fill(const struct sync *s, const struct port *p, const struct want *w, unsigned block,
		uint8_t *ret)
{
	uint16_t keys[PKEY_BLOCK];

	pkey_table_block(w->keys, block, keys);
	for (unsigned i = 0; i < PKEY_BLOCK; i++)
		ib_bits_put(ret, i * 16, 16, keys[i]);
	return true;
}

static const struct sync_row *row_of(const struct sync *s)
{
	return sync_row_of(s, IB_ATTR_PKEY_TABLE);
}

/* ---- TRIM ----------------------------------------------------------------------------------- */

/*
 * Counts a live port that may hold keys which it should lose: new keys of other ports wait for it,
 * for a few runs.
 */
static void note_open(struct sync *s, struct port *p)
{
	uint8_t *unanswered = &p->tables[TABLE_PKEYS]->unanswered;

	if (*unanswered < MAX_UNANSWERED) {
		*unanswered += !s->is_ahead; /* the run that follows asks again */
		s->trims_open++;
	}
}

void pkeys_trim_ended(struct sync *s, struct port *p, const struct mad_result *r, enum verdict v)
{
	if (v == VERDICT_SILENT)
		note_open(s, p);
}

uint16_t pkeys_allowed(struct pkey_table table, uint16_t key)
{
	uint16_t limited = key & PKEY_BASE, left = 0;

	for (unsigned i = 0; i < table.n && limited; i++) {
		if (table.keys[i] == key)
			return key;
		if ((table.keys[i] & PKEY_BASE) == limited)
			left = limited;
	}
	return left;
}

/* Removes keys that the table does not allow from a known block. True: a Set was sent. */
static bool trim_known(struct sync *s, struct port *p, const struct want *w, unsigned block)
{
	const uint8_t *have = fabric_cell(s->fabric, p, TABLE_PKEYS, block);
	uint8_t left[SMP_DATA_SIZE];

	if (!have || !cells_differ(s, row_of(s), p, w, block, left))
		return false;
	for (unsigned i = 0; i < PKEY_BLOCK; i++)
		ib_bits_put(left, i * 16, 16,
			    pkeys_allowed(w->keys, (uint16_t)ib_bits_get(have, i * 16, 16)));
	if (!memcmp(have, left, SMP_DATA_SIZE))
		return false;
	cells_send(s, row_of(s), p, block, left);
	return true;
}

static void on_trim_read(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	unsigned block = port_tables[TABLE_PKEYS].block(r->mod);
	struct want w;

	observe_block_missing(p, TABLE_PKEYS, block);
	if (sync_answered(s, p, r)) {
		observe_block(s->fabric, p, TABLE_PKEYS, block, r->payload);
		if (pkeys_want(s, p, &w))
			trim_known(s, p, &w, block);
	} else if (r->end == MAD_END_TIMEOUT || r->end == MAD_END_CANCELLED) {
		note_open(s, p);
	}
}

static bool trim_block(struct sync *s, struct port *p, const struct want *w, unsigned block)
{
	if (fabric_cell(s->fabric, p, TABLE_PKEYS, block))
		return trim_known(s, p, w, block);
	return sync_get(s, p, IB_ATTR_PKEY_TABLE, port_tables[TABLE_PKEYS].mod(p, block),
			on_trim_read);
}

void pkeys_trim(struct sync *s, struct port *p)
{
	struct want w;
	bool asked = false;

	if (!port_is_live(p) || !pkeys_want(s, p, &w) || cells_are_given_up(s, row_of(s), p, &w))
		return;
	for (unsigned block = 0; block < w.all; block++)
		asked |= trim_block(s, p, &w, block);
	if (!asked && p->tables[TABLE_PKEYS])
		p->tables[TABLE_PKEYS]->unanswered = 0;
}

/* ---- stages ---------------------------------------------------------------------------------- */

bool pkeys_are_planned(const struct sync *s)
{
	return s->plan.pkeys;
}

bool pkeys_are_trimmed(const struct sync *s)
{
	return s->plan.pkeys && !s->trims_open;
}

/* ---- questions of ARM ------------------------------------------------------------------------ */

bool pkeys_are_settled(const struct sync *s, const struct port *p)
{
	return cells_are_settled(s, row_of(s), p);
}

bool pkeys_enforcement(const struct sync *s, const struct port *p, uint8_t *ret)
{
	const struct pkey_plan *plan = s->plan.pkeys;
	bool on = ib_get(p->info, PI_PART_ENF_IN) || ib_get(p->info, PI_PART_ENF_OUT);
	size_t i;

	if (!plan || port_is_end(p) || !p->peer)
		return false;
	*ret = PKEY_ENFORCE_OFF;
	if (!port_is_end(p->peer))
		return true; /* a cable between switches, where P_Keys are not checked */
	i = pkey_plan_find(plan, p->peer->guid);
	if (i == SIZE_MAX)
		return false;
	*ret = plan->ports[i].peer_enforce;
	return on || !*ret || pkeys_are_settled(s, p);
}
