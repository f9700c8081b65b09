// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports that may hold a P_Key to which they have no right, judged by what is known of devices: a
 * manager that was restarted, or took over, gives the same answer as the one that took the key
 * away.
 *
 * A port does not hold the key if its own table is known and lacks it, or if the switch port that
 * faces it checks P_Keys and is known to lack it. A block that was read and became unknown again,
 * as a Set was not answered, is taken to hold the keys it held, and those taken away since (struct
 * target: keys): a port that keeps failing affects no other keys. Blocks that were never read are
 * read on demand (sm_tenancy_open()): tables of links without a known far end, and blocks of a
 * switch port after those in use.
 */
#include <string.h>

#include "fabric/observe.h"
#include "sm/tenants/tenancy_internal.h"
#include "sm/base/news.h"
#include "sm/read/discover.h"
#include "util/mem.h"

enum held { HELD_NOT, HELD_UNKNOWN, HELD };

/* Equal blocks are stored once, so the answer for one holds for all with the same address. */
#define MEMO 64

struct question {
	struct sm *sm;
	uint16_t base;
	struct {
		const uint8_t *cell;
		bool holds;
	} memo[MEMO];
	unsigned n; /* number of ports that may hold the key */
};

/* ---- tables ---------------------------------------------------------------------------------- */

static bool cell_holds(struct question *q, const uint8_t *cell)
{
	size_t at = (uintptr_t)cell / 64 % MEMO;
	bool holds = false;

	if (q->memo[at].cell == cell)
		return q->memo[at].holds;
	for (unsigned i = 0; i < PKEY_BLOCK && !holds; i++)
		holds = (ib_bits_get(cell, i * 16, 16) & PKEY_BASE) == q->base;
	q->memo[at].cell = cell;
	q->memo[at].holds = holds;
	return holds;
}

static unsigned blocks_of(const struct port *p)
{
	return (fabric_pkey_cap(p) + PKEY_BLOCK - 1) / PKEY_BLOCK;
}

static enum held table_holds(struct question *q, const struct port *p)
{
	enum held ret = HELD_NOT;

	for (unsigned block = 0; block < blocks_of(p); block++) {
		const uint8_t *cell = fabric_cell(q->sm->fabric, p, TABLE_PKEYS, block);

		if (!cell)
			ret = HELD_UNKNOWN;
		else if (cell_holds(q, cell))
			return HELD;
	}
	return ret;
}

/* ---- keys of a target ------------------------------------------------------------------------ */

static bool has_key(const struct target *target, uint16_t base)
{
	for (size_t i = 0; i < target->n_keys; i++) {
		if (target->keys[i] == base)
			return true;
	}
	return false;
}

void held_note_key(struct target *target, uint16_t pkey)
{
	uint16_t base = pkey & PKEY_BASE;

	if (!base || has_key(target, base))
		return;
	GROW(target->keys, target->n_keys + 1, target->cap_keys);
	target->keys[target->n_keys++] = base;
}

void held_note_table(struct target *target, const struct port *p)
{
	struct sm *sm = target->sm;
	_cleanup_free_ uint16_t *keys = xcalloc(fabric_pkey_cap(p) + 1u, sizeof(*keys));
	unsigned n = fabric_pkeys(sm->fabric, p, keys);

	target->is_read = n > 0;
	target->file = partitions_ref(partition_of_file(sm));
	for (unsigned i = 0; i < n; i++)
		held_note_key(target, keys[i]);
}

void held_clear(struct target *target)
{
	partitions_unref(target->file);
	free(target->keys);
}

/* May the table of the target, which is unknown now, hold the key? */
static bool target_may_hold(const struct question *q, const struct target *target)
{
	return !target->is_read || target->file != partition_of_file(q->sm) ||
	       has_key(target, q->base);
}

/* ---- ports ----------------------------------------------------------------------------------- */

static bool is_planned(const struct question *q, const struct port *end)
{
	const struct pkey_plan *plan = sm_pkeys(q->sm);
	size_t at = plan ? pkey_plan_find(plan, end->guid) : SIZE_MAX;
	struct pkey_table table;

	if (at == SIZE_MAX || plan->ports[at].table == PKEY_NO_TABLE)
		return false;
	table = pkey_plan_table(plan, plan->ports[at].table);
	for (unsigned i = 0; i < table.n; i++) {
		if ((table.keys[i] & PKEY_BASE) == q->base)
			return true;
	}
	return false;
}

static void count(struct question *q, const struct port *p)
{
	struct tenancy *t = q->sm->m.tenancy;

	if (q->n++ >= t->unread_from && t->n_unread < HELD_UNREAD_MAX)
		t->unread[t->n_unread++] = (struct place){ p->node->guid, p->num };
}

bool held_checks_pkeys(const struct port *p)
{
	return p && p->known && fabric_pkey_cap(p) && ib_get(p->info, PI_PART_ENF_IN) &&
	       ib_get(p->info, PI_PART_ENF_OUT);
}

/* Can traffic with the key pass the switch port, if the own table of `end` may have it? */
static bool may_pass(struct question *q, const struct port *end, enum held own, enum held facing)
{
	const struct target *target = guidmap_get(q->sm->m.tenancy->targets, end->guid);

	if (facing == HELD_NOT && held_checks_pkeys(end->peer))
		return false;
	if (!target)
		return true;
	if (target->state == TARGET_SILENT)
		return !target->is_read;
	return own == HELD || target_may_hold(q, target);
}

/*
 * Counts an end port that may hold the key. One in INIT has no traffic, and is written before
 * ACTIVE.
 */
static void ask_end(struct question *q, const struct port *end)
{
	const struct port *at = end->peer && !port_is_end(end->peer) ? end->peer : NULL;
	enum held own, facing;

	if (!end->known || !port_is_live(end) || is_planned(q, end))
		return;
	own = table_holds(q, end);
	facing = at ? table_holds(q, at) : HELD_NOT;
	if (facing == HELD || (own != HELD_NOT && may_pass(q, end, own, facing)))
		count(q, end);
}

/* Counts a port whose link is up to an unknown device. */
static void ask_blind(struct question *q, const struct port *p)
{
	if (!p->known || p->peer || !port_is_live(p))
		return;
	if (!held_checks_pkeys(p) || table_holds(q, p) != HELD_NOT)
		count(q, p);
}

static void ask_node(struct question *q, const struct node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (!node_is_switch(n) && i == 0)
			continue;
		if (port_is_end(p))
			ask_end(q, p);
		else
			ask_blind(q, p);
	}
}

/* ---- tables that were not read --------------------------------------------------------------- */

struct held_read {
	struct sm *sm;
	struct place place;
	uint16_t block;
};

static struct port *port_at(const struct fabric *f, const struct place *place)
{
	struct node *n = fabric_find_node(f, place->node);

	return n && place->port <= n->n_ports ? &n->ports[place->port] : NULL;
}

/* Has the block a key to which the end port, or the one that the port faces, has no right? */
static bool has_foreign_key(struct sm *sm, const struct port *p, const uint8_t *block)
{
	const struct port *end = port_is_end(p) ? p : p->peer;
	struct question q = { .sm = sm };

	for (unsigned i = 0; end && i < PKEY_BLOCK; i++) {
		q.base = ib_bits_get(block, i * 16, 16) & PKEY_BASE;
		if (q.base && !is_planned(&q, end))
			return true;
	}
	return false;
}

/*
 * Stores a block, unless it was written in the meantime. One that differs from the plan, and that a
 * run of sync could not read, is written by another run.
 */
static void on_block(void *arg, const uint8_t *payload)
{
	struct held_read *read = arg;
	struct sm *sm = read->sm;
	struct port *p = port_at(sm->fabric, &read->place);

	sm->m.tenancy->n_reads--;
	if (p && payload && read->block < blocks_of(p) &&
	    !cell_table_is_out(p->tables[TABLE_PKEYS], read->block) &&
	    !fabric_cell(sm->fabric, p, TABLE_PKEYS, read->block)) {
		observe_block(sm->fabric, p, TABLE_PKEYS, read->block, payload);
		if (has_foreign_key(sm, p, payload))
			tell_news(sm, NEWS_TABLES, .text = "a P_Key table has other keys");
	}
	free(read);
}

static void read_block(struct sm *sm, struct port *p, unsigned block)
{
	struct held_read *read = xcalloc(1, sizeof(*read));

	*read = (struct held_read){ sm, { p->node->guid, p->num }, (uint16_t)block };
	if (discover_read_cell(sm, p, IB_ATTR_PKEY_TABLE, port_tables[TABLE_PKEYS].mod(p, block),
			       on_block, read) == 0)
		sm->m.tenancy->n_reads++;
	else
		free(read);
}

static void read_port(struct sm *sm, struct port *p)
{
	for (unsigned block = 0; p->known && block < blocks_of(p); block++) {
		if (!fabric_cell(sm->fabric, p, TABLE_PKEYS, block))
			read_block(sm, p, block);
	}
}

/* Reads the blocks that the last question lacked, after all earlier reads have ended. */
void held_tick(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;

	if (sm->state != SM_MASTER || t->n_reads)
		return;
	for (unsigned i = 0; i < t->n_unread; i++) {
		struct port *p = port_at(sm->fabric, &t->unread[i]);

		if (p)
			read_port(sm, p);
		if (p && p->peer && !port_is_end(p->peer))
			read_port(sm, p->peer);
	}
	t->n_unread = 0;
}

mono_t held_next(const struct sm *sm)
{
	const struct tenancy *t = sm->m.tenancy;

	return sm->state == SM_MASTER && t->n_unread && !t->n_reads ? 0 : MONO_NEVER;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The number of ports that a change waits for, or that are tried again, whatever the key. */
static unsigned open_targets(const struct tenancy *t)
{
	size_t pos = 0;
	unsigned n = 0;
	guid_t guid;
	void *value;

	while (guidmap_next(t->targets, &pos, &guid, &value)) {
		const struct target *target = value;

		if (target->state == TARGET_DUE || target->state == TARGET_RUNNING ||
		    target->state == TARGET_FAILED)
			n++;
	}
	return n;
}

/* Makes the next question read the next ports, if there are more than are read at once. */
static void turn_on(struct tenancy *t, unsigned n)
{
	t->unread_from += HELD_UNREAD_MAX;
	if (t->unread_from >= n)
		t->unread_from = 0;
}

unsigned sm_tenancy_open(struct sm *sm, uint16_t pkey)
{
	struct tenancy *t = sm->m.tenancy;
	struct question q = { .sm = sm, .base = pkey & PKEY_BASE };

	if (!q.base)
		return open_targets(t);
	if (!tenancy_is_at_work(sm))
		return 1;
	t->n_unread = 0;
	FABRIC_EACH_NODE(sm->fabric, n)
		ask_node(&q, n);
	turn_on(t, q.n);
	return q.n;
}
