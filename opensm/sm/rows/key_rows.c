// SPDX-License-Identifier: BSD-2-Clause
#include "sm/rows/key_rows.h"

#include <assert.h>
#include <string.h>

#include "fabric/store.h"
#include "ib/layout.h"
#include "sm/rows/key_absent.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/ledger/edits.h"
#include "sm/read/discover.h"
#include "sm/sm_internal.h"
#include "util/bisect.h"
#include "util/mem.h"
#include "util/told.h"

#define KEYS_MAX    32768u
#define CABLES_MAX  262144u	  /* most rows: the cables of 4,096 switches of 64 ports */
#define EDITS_MAX   8192u	  /* most edits of one commit; the rest follows */
#define RETRY	    (60 * MONO_S) /* pause after a disk fault */
#define EPOCH_BYTES 8u
#define END_BYTES   9u
#define CABLE_BYTES 10u /* far end; FAR_IS_HOST or 0 */
#define FAR_IS_HOST 1u

enum { TOLD_MANY };

struct key_rows {
	unsigned n_sweeps; /* number of sweeps with changes when rows were last compared */
	bool is_due;	   /* set if rows may differ from the facts */
	bool is_busy;	   /* a commit is under way */
	mono_t retry_at;
	struct told told;
};
MACHINE_MEMORY(key_rows);

/* ---- bytes ----------------------------------------------------------------------------------- */

/* One end of a cable. */
struct end {
	guid_t guid;
	uint8_t port;
};

struct cable {
	struct end near, far; /* `near` is the key of the row */
	bool is_far_host;     /* `far` is a host's port, which has only one cable */
};

static struct ledger_key epoch_key(guid_t guid)
{
	struct ledger_key key = { .table = LEDGER_EPOCH, .len = 8 };

	ib_bits_put(key.bytes, 0, 64, guid);
	return key;
}

static void put_end(uint8_t to[END_BYTES], const struct end *e)
{
	ib_bits_put(to, 0, 64, e->guid);
	to[8] = e->port;
}

static struct end end_at(const uint8_t from[END_BYTES])
{
	return (struct end){ .guid = ib_bits_get(from, 0, 64), .port = from[8] };
}

static struct ledger_key cable_key(const struct end *near)
{
	struct ledger_key key = { .table = LEDGER_CABLE, .len = END_BYTES };

	put_end(key.bytes, near);
	return key;
}

static bool end_can_be(const struct end *e)
{
	return e->guid && e->port && e->port < UINT8_MAX;
}

/* Reads a cable. False: the row is removed, or faulty. */
static bool read_cable(const struct ledger_row *row, struct cable *ret)
{
	struct ledger_value v = ledger_row_value(row);

	if (v.removed || v.len != CABLE_BYTES)
		return false;
	*ret = (struct cable){ end_at(ledger_row_key(row)->bytes), end_at(v.bytes),
			       v.bytes[END_BYTES] & FAR_IS_HOST };
	return end_can_be(&ret->near) && end_can_be(&ret->far);
}

/* Reads an epoch. 0: the row is removed, or faulty. */
static uint64_t read_epoch(const struct ledger_row *row)
{
	struct ledger_value v = ledger_row_value(row);

	return v.removed || v.len != EPOCH_BYTES ? 0 : ib_bits_get(v.bytes, 0, 64);
}

/* ---- what differs ---------------------------------------------------------------------------- */

struct key_edits {
	const struct sm *sm;
	struct edits rows;
};

static bool is_full(const struct key_edits *all)
{
	return all->rows.n >= EDITS_MAX;
}

static void write_row(struct key_edits *all, const struct ledger_key *key, const uint8_t *bytes,
		      uint32_t len)
{
	struct ledger_value v;

	if (!ledger_get(settle_ledger(all->sm), key, &v) || v.len != len ||
	    memcmp(v.bytes, bytes, len) != 0)
		edits_put(&all->rows, key, edits_number(all->sm, &all->rows, key->table), bytes,
			  len);
}

static void remove_row(struct key_edits *all, const struct ledger_row *row)
{
	const struct ledger_key *key = ledger_row_key(row);

	edits_remove(&all->rows, key, edits_number(all->sm, &all->rows, key->table));
}

static void tell_many(struct sm *sm, bool many)
{
	if (told_change(&sm->m.key_rows->told, TOLD_MANY, many) == TOLD_BEGINS)
		log_on(ABOUT(.id = LOG_ID_REPLICA), LOGB_ERROR,
		       "guid2mkey has the keys of more than %u ports that are not there: standbys "
		       "are not sent the rest. Stop all managers of this subnet, then take the "
		       "lines of hosts that do not come back out of guid2mkey on each",
		       KEYS_MAX);
}

static void remove_epochs(struct key_edits *all, const struct absent_keys *absent)
{
	const struct ledger *l = settle_ledger(all->sm);
	const struct ledger_row *row;

	for (size_t pos = 0; !is_full(all) && (row = ledger_next(l, LEDGER_EPOCH, &pos));) {
		guid_t guid = ib_bits_get(ledger_row_key(row)->bytes, 0, 64);

		if (!ledger_row_value(row).removed && !absent_keys_at(absent, guid))
			remove_row(all, row);
	}
}

static void edit_epochs(struct sm *sm, struct key_edits *all)
{
	struct absent_keys absent;
	uint8_t bytes[EPOCH_BYTES];

	absent_keys_find(sm, KEYS_MAX, &absent);
	tell_many(sm, absent.left_out > 0);
	remove_epochs(all, &absent);
	for (size_t i = 0; i < absent.n && !is_full(all); i++) {
		const struct ledger_key key = epoch_key(absent.keys[i].guid);

		ib_bits_put(bytes, 0, 64, absent.keys[i].key);
		write_row(all, &key, bytes, sizeof(bytes));
	}
	explicit_bzero(bytes, sizeof(bytes));
	absent_keys_clear(&absent);
}

static struct end end_of(const struct port *p)
{
	return (struct end){ node_is_switch(p->node) ? p->node->guid : p->guid, p->num };
}

/* Is this the end that is the key of the cable's row? */
static bool is_near(const struct port *p)
{
	bool is_switch = node_is_switch(p->node);
	struct end a, b;

	if (!p->peer || is_switch != node_is_switch(p->peer->node))
		return p->peer && is_switch;
	a = end_of(p);
	b = end_of(p->peer);
	return a.guid < b.guid || (a.guid == b.guid && a.port < b.port);
}

/* The port of an end; NULL: this manager does not see it. */
static struct port *port_at(const struct sm *sm, const struct end *e)
{
	struct node *n = fabric_find_node(sm->fabric, e->guid);

	if (n && node_is_switch(n))
		return e->port <= n->n_ports ? &n->ports[e->port] : NULL;
	return fabric_find_port(sm->fabric, e->guid);
}

static bool is_cabled(const struct sm *sm, const struct end *e)
{
	const struct port *p = port_at(sm, e);

	return p && p->peer;
}

/* Has this end another cable now? A port of a host with several planes has a number in each. */
static bool has_other(const struct sm *sm, const struct end *e, const struct end *far)
{
	const struct port *p = port_at(sm, e);
	struct end now;

	if (!p || !p->peer)
		return false;
	now = end_of(p->peer);
	return now.guid != far->guid || (node_is_switch(p->peer->node) && now.port != far->port);
}

static bool has_many_cables(const struct sm *sm)
{
	return ledger_rows_there(settle_ledger(sm), LEDGER_CABLE) >= CABLES_MAX;
}

/*
 * Is the row obsolete? `many`: there are too many, so those of cables whose ends are both gone are.
 */
static bool is_void(const struct sm *sm, const struct cable *c, bool many)
{
	return has_other(sm, &c->near, &c->far) || has_other(sm, &c->far, &c->near) ||
	       (many && !port_at(sm, &c->near) && !port_at(sm, &c->far));
}

/*
 * Removes obsolete rows. If the near end has another cable now, edit_cables() writes the row again,
 * and its edit decides.
 */
static void remove_cables(struct key_edits *all)
{
	const struct ledger *l = settle_ledger(all->sm);
	bool many = has_many_cables(all->sm);
	const struct ledger_row *row;
	struct cable c;

	for (size_t pos = 0; !is_full(all) && (row = ledger_next(l, LEDGER_CABLE, &pos));) {
		if (read_cable(row, &c) && is_void(all->sm, &c, many))
			remove_row(all, row);
	}
}

static void edit_cable(struct key_edits *all, const struct port *p)
{
	const struct end near = end_of(p), far = end_of(p->peer);
	const struct ledger_key key = cable_key(&near);
	uint8_t bytes[CABLE_BYTES];

	if (!end_can_be(&near) || !end_can_be(&far) ||
	    (has_many_cables(all->sm) && !ledger_find(settle_ledger(all->sm), &key)))
		return;
	put_end(bytes, &far);
	bytes[END_BYTES] = node_is_switch(p->peer->node) ? 0 : FAR_IS_HOST;
	write_row(all, &key, bytes, sizeof(bytes));
}

static void edit_cables(struct key_edits *all)
{
	remove_cables(all);
	FABRIC_EACH_NODE(all->sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports && !is_full(all); i++) {
			if (is_near(&n->ports[i]))
				edit_cable(all, &n->ports[i]);
		}
	}
}

/* ---- as MASTER ------------------------------------------------------------------------------- */

static void on_stored(struct sm *sm, void *arg, int error)
{
	struct key_rows *k = sm->m.key_rows;

	k->is_busy = false;
	if (error == 0)
		return;
	k->is_due = true;
	k->retry_at = sm->now + RETRY;
}

/* Are there keys, or rows of keys? Without keys absent ports may still have one. */
static bool has_subject(const struct sm *sm)
{
	return keys_ring(sm) || ledger_rows_there(settle_ledger(sm), LEDGER_EPOCH);
}

static bool may_look(const struct sm *sm)
{
	const struct key_rows *k = sm->m.key_rows;

	return k->is_due && !k->is_busy && settle_may_write(sm) && sm->sweep == SWEEP_NONE &&
	       has_subject(sm);
}

static void look(struct sm *sm)
{
	struct key_edits all = { .sm = sm };

	sm->m.key_rows->is_due = false;
	edit_epochs(sm, &all);
	if (keys_ring(sm))
		edit_cables(&all);
	sm->m.key_rows->is_due = is_full(&all);
	if (all.rows.n) {
		sm->m.key_rows->is_busy = true;
		edits_commit(sm, &all.rows, on_stored, NULL);
	}
	edits_clear(&all.rows);
}

void key_rows_sweep_ended(struct sm *sm)
{
	struct key_rows *k = sm->m.key_rows;
	unsigned n = sm->stats.heavy_sweeps + sm->stats.dirty_sweeps;

	k->is_due |= n != k->n_sweeps;
	k->n_sweeps = n;
}

void key_rows_tick(struct sm *sm)
{
	if (may_look(sm) && sm->now >= sm->m.key_rows->retry_at)
		look(sm);
}

mono_t key_rows_next(const struct sm *sm)
{
	return may_look(sm) ? MAX(sm->m.key_rows->retry_at, sm->now) : MONO_NEVER;
}

bool key_rows_have_keys(const struct sm *sm)
{
	return keys_may_be_sent(sm) && ledger_rows_there(settle_ledger(sm), LEDGER_EPOCH);
}

/* ---- rows that come -------------------------------------------------------------------------- */

/*
 * Writes the files. `lacks`: nodes are missing here; ports that were locked may be open now, so a
 * sweep looks for them.
 */
static void rows_taken(struct sm *sm, bool lacks)
{
	if (sm->state == SM_NOT_ACTIVE) /* rows were read from the disk at the start */
		return;
	lids_write(sm);
	if (lacks && (sm->state == SM_DISCOVERING || sm->state == SM_MASTER))
		want_sweep_now(sm, SWEEP_HEAVY, "another manager knows of ports that are not here");
}

/*
 * Has the port, as this manager saw it (at the start, by its file), the newest key? With an older
 * one, it may have got that of the row since, and have left.
 */
static bool has_newest_key(const struct sm *sm, guid_t guid)
{
	uint64_t wanted = keys_wanted(sm, guid), has;

	if (!wanted)
		return false;
	if (sm->state == SM_NOT_ACTIVE)
		return store_mkey(sm->store, guid, &has) && has == wanted;
	return absent_key_is_here(sm, guid) && fabric_find_port(sm->fabric, guid)->m_key == wanted;
}

/* Takes the key of an absent port; 0: the port is back, with the key that it should have. */
static void take_epoch(struct sm *sm, guid_t guid, uint64_t key)
{
	bool is_newest = has_newest_key(sm, guid);

	if (key)
		store_set_mkey(sm->store, guid, is_newest ? keys_wanted(sm, guid) : key);
	else if (!is_newest)
		store_set_mkey_former(sm->store, guid);
}

/* The switch port that the end port is behind, or was by the file neighbors; NULL: unknown. */
static struct port *place_of(const struct sm *sm, guid_t guid)
{
	const struct port *p = fabric_find_port(sm->fabric, guid);
	struct end at;

	if (p && p->peer)
		return p->peer;
	return store_neighbor_of(sm->store, guid, &at.guid, &at.port) ? port_at(sm, &at) : NULL;
}

/* Makes this the likeliest M_Key of the port: the next request uses it. */
static void ask_with(struct sm *sm, guid_t guid, uint64_t key)
{
	struct port *p = fabric_find_port(sm->fabric, guid), *behind = place_of(sm, guid);

	if (p && key)
		observe_mkey_tried(p, key);
	if (behind)
		discover_behind_again(behind);
}

/*
 * Follows a row: another manager cannot reach the port, or has met it. In the first case this
 * manager believes what it sees itself; in the second it looks where the port should be.
 */
static void follow_row(struct sm *sm, guid_t guid, uint64_t key)
{
	if (sm->state == SM_NOT_ACTIVE ||
	    (key ? absent_key_is_here(sm, guid) : has_newest_key(sm, guid)))
		return;
	ask_with(sm, guid, key ? key : keys_wanted(sm, guid));
	if (!key && place_of(sm, guid))
		tell_port(sm, place_of(sm, guid), "another manager has met what is behind it");
}

void key_rows_take_epochs(struct sm *sm, const struct ledger_key *keys, size_t n)
{
	bool lacks = false;

	for (size_t i = 0; i < n; i++) {
		const struct ledger_row *row = ledger_find(settle_ledger(sm), &keys[i]);
		guid_t guid = ib_bits_get(keys[i].bytes, 0, 64);
		uint64_t key = row ? read_epoch(row) : 0;

		if (!guid || !row)
			continue;
		take_epoch(sm, guid, key);
		follow_row(sm, guid, key);
		lacks |= key && !absent_key_is_here(sm, guid);
	}
	rows_taken(sm, lacks);
}

struct arrived {
	uint64_t number;
	struct cable cable;
};

static int by_number(const void *a, const void *b)
{
	return COMPARE(((const struct arrived *)a)->number, ((const struct arrived *)b)->number);
}

/*
 * Looks at a cable of an arrived row. A standby may not have been told of the link, and its next
 * round may be minutes away.
 */
static void look_at_cable(struct sm *sm, const struct cable *c)
{
	struct port *p = port_at(sm, &c->near);

	if (sm->state != SM_STANDBY || !p || port_state(p) == IB_PORT_DOWN ||
	    (p->peer && !has_other(sm, &c->near, &c->far)))
		return;
	observe_cable_gone(p);
	discover_behind_again(p);
	tell_port(sm, p, "another manager has met another node behind it");
}

static void remember_cable(struct sm *sm, const struct cable *c)
{
	if (c->is_far_host)
		store_set_only_neighbor(sm->store, c->far.guid, c->far.port, c->near.guid,
					c->near.port);
	else
		store_set_neighbor(sm->store, c->near.guid, c->near.port, c->far.guid, c->far.port);
}

static void take_cable(struct sm *sm, const struct cable *c)
{
	look_at_cable(sm, c);
	if (!is_cabled(sm, &c->near) && !is_cabled(sm, &c->far))
		remember_cable(sm, c);
}

/* Takes rows of cables; of two cables at one port the later one holds. */
void key_rows_take_cables(struct sm *sm, const struct ledger_key *keys, size_t n)
{
	_cleanup_free_ struct arrived *all = xcalloc(n + 1, sizeof(*all));
	size_t n_all = 0;
	bool lacks = false;

	for (size_t i = 0; i < n; i++) {
		const struct ledger_row *row = ledger_find(settle_ledger(sm), &keys[i]);

		if (row && read_cable(row, &all[n_all].cable))
			all[n_all++].number = ledger_row_value(row).dot.number;
	}
	SORT(all, n_all, by_number);
	for (size_t i = 0; i < n_all; i++) {
		lacks |= !port_at(sm, &all[i].cable.near) || !port_at(sm, &all[i].cable.far);
		take_cable(sm, &all[i].cable);
	}
	rows_taken(sm, lacks);
}

/* ---- cables that lead to silence ------------------------------------------------------------- */

static bool leads_to_silence(const struct port *p)
{
	return p && port_leads_to_silence(p);
}

static bool is_remembered(const struct sm *sm, const struct cable *c)
{
	struct end far;

	return store_neighbor(sm->store, c->near.guid, c->near.port, &far.guid, &far.port) &&
	       far.guid == c->far.guid && far.port == c->far.port;
}

/* Does the end answer, with another cable? */
static bool is_taken(const struct port *p, const struct port *other)
{
	return p && p->peer && p->peer != other && !leads_to_silence(p);
}

static void drop_cable(struct port *p, const struct port *other)
{
	if (p && p->peer != other)
		observe_cable_gone(p);
	if (p)
		discover_behind_again(p);
}

static void recall_cable(struct sm *sm, const struct cable *c)
{
	struct port *near = port_at(sm, &c->near), *far = port_at(sm, &c->far);
	bool is_bare = !(near && near->peer) && !(far && far->peer);

	if ((!leads_to_silence(near) && !leads_to_silence(far)) || is_taken(near, far) ||
	    is_taken(far, near) || (near && far && near->peer == far) ||
	    (is_bare && is_remembered(sm, c)))
		return;
	drop_cable(near, far);
	drop_cable(far, near);
	remember_cable(sm, c);
}

void key_rows_recall_cables(struct sm *sm)
{
	const struct ledger *l = settle_ledger(sm);
	const struct ledger_row *row;
	struct cable c;

	for (size_t pos = 0; (row = ledger_next(l, LEDGER_CABLE, &pos));) {
		if (read_cable(row, &c))
			recall_cable(sm, &c);
	}
}

void key_rows_state_changed(struct sm *sm)
{
	sm->m.key_rows->is_due = false;
	sm->m.key_rows->n_sweeps = 0;
}
