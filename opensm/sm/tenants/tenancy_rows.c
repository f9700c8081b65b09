// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of tenants and rows of the ledger: a change as edits of rows; rows that came from
 * elsewhere (the disk at the start, another manager) as an entry that is played.
 *
 *   partition   P_Key: ipoib, MTU, rate, SL, name
 *   member      P_Key, port GUID: full, index 0
 *
 * Rows of members whose partition is removed, or was made anew since, are "orphans": made in one
 * half of a split subnet while the other one removed the partition. They count for nothing, and go
 * when the partition is made again. The row of a partition says which removal it was made behind,
 * and so do the rows of its members: all managers tell orphans apart, in whatever order rows come.
 *
 * Two halves may each give a port another P_Key at index 0: then the smaller P_Key has it.
 */
#include <assert.h>
#include <string.h>

#include "sm/answers/admin.h"
#include "sm/tenants/tenancy.h"
#include "sm/tenants/tenancy_internal.h"
#include "sm/base/news.h"
#include "sm/read/adopt.h"
#include "util/hash.h"
#include "util/mem.h"

/* ---- bytes ----------------------------------------------------------------------------------- */

struct ledger_key tenancy_partition_key(uint16_t pkey)
{
	struct ledger_key key = { .table = LEDGER_PARTITION, .len = 2 };

	ib_bits_put(key.bytes, 0, 16, pkey);
	return key;
}

struct ledger_key tenancy_member_key(uint16_t pkey, guid_t guid)
{
	struct ledger_key key = { .table = LEDGER_MEMBER, .len = 10 };

	ib_bits_put(key.bytes, 0, 16, pkey);
	ib_bits_put(key.bytes, 16, 64, guid);
	return key;
}

static uint16_t pkey_of(const struct ledger_key *key)
{
	return (uint16_t)ib_bits_get(key->bytes, 0, 16);
}

static guid_t guid_of(const struct ledger_key *key)
{
	return ib_bits_get(key->bytes, 16, 64);
}

#define FIELDS_BYTES 4 /* bytes besides the name and those of put_removal() */

/*
 * The end of a row with the number of a removal. Rows written before any removal lack it, as do all
 * rows of the first version.
 */
#define REMOVAL_BYTES 9 /* 0, which ends a name, and the number */

static uint32_t put_removal(uint8_t *to, uint64_t behind)
{
	if (behind)
		ib_bits_put(to, 8, 64, behind);
	return behind ? REMOVAL_BYTES : 0;
}

/*
 * The number of the removal; `at`: offset after the flags of a member, or the name of a partition.
 */
static uint64_t removal_at(const struct ledger_value *v, size_t at)
{
	return v->len == at + REMOVAL_BYTES ? ib_bits_get(v->bytes + at, 8, 64) : 0;
}

static size_t name_end(const struct ledger_value *v)
{
	return v->len < FIELDS_BYTES ? v->len
				     : FIELDS_BYTES + strnlen((const char *)v->bytes + FIELDS_BYTES,
							      v->len - FIELDS_BYTES);
}

static uint32_t pack_fields(const struct tenant_fields *f, uint8_t *to)
{
	size_t len = strnlen(f->name, sizeof(f->name));

	to[0] = f->ipoib;
	to[1] = f->mtu;
	to[2] = f->rate;
	to[3] = f->sl;
	memcpy(to + FIELDS_BYTES, f->name, len);
	len += FIELDS_BYTES;
	return (uint32_t)len + put_removal(to + len, f->behind);
}

/* Reads the fields. False: no manager of this version wrote them. */
static bool read_fields(const struct ledger_value *v, struct tenant_fields *ret)
{
	size_t end = name_end(v);

	*ret = (struct tenant_fields){ 0 };
	if (end < FIELDS_BYTES || end - FIELDS_BYTES >= sizeof(ret->name) ||
	    (end < v->len && !removal_at(v, end)) || v->bytes[0] > 1 ||
	    !tenants_fields_are_fine(v->bytes[1], v->bytes[2], v->bytes[3]))
		return false;
	ret->ipoib = v->bytes[0];
	ret->mtu = v->bytes[1];
	ret->rate = v->bytes[2];
	ret->sl = v->bytes[3];
	ret->behind = removal_at(v, end);
	memcpy(ret->name, v->bytes + FIELDS_BYTES, end - FIELDS_BYTES);
	return ret->name[0] != '\0';
}

/* ---- a change as edits ----------------------------------------------------------------------- */

void edit_partition(struct edits *all, uint16_t pkey, const struct tenant_fields *f,
		    uint64_t number)
{
	const struct ledger_key key = tenancy_partition_key(pkey);
	uint8_t bytes[FIELDS_BYTES + sizeof(f->name) + REMOVAL_BYTES] = { 0 };

	edits_put(all, &key, number, bytes, pack_fields(f, bytes));
}

void edit_member(struct edits *all, uint16_t pkey, const struct tenant_member *m, uint64_t behind,
		 uint64_t number)
{
	const struct ledger_key key = tenancy_member_key(pkey, m->guid);
	uint8_t bytes[1 + REMOVAL_BYTES] = { 0 };

	bytes[0] = (uint8_t)((m->full ? LEDGER_MEMBER_FULL : 0) |
			     (m->index0 ? LEDGER_MEMBER_INDEX0 : 0));
	edits_put(all, &key, number, bytes, 1 + put_removal(bytes + 1, behind));
}

/* Removes orphans: a new partition has only the members that the request names. */
static void remove_orphans(struct sm *sm, struct edits *all, uint16_t pkey, uint64_t number)
{
	struct tenancy *t = sm->m.tenancy;
	size_t kept = 0;

	for (size_t i = 0; i < t->n_orphans; i++) {
		if (pkey_of(&t->orphans[i]) == pkey)
			edits_remove(all, &t->orphans[i], number);
		else
			t->orphans[kept++] = t->orphans[i];
	}
	t->n_orphans = kept;
}

/* Removes the members that the partition had before, by the inverse. */
static void remove_members(struct edits *all, const struct change *c, uint16_t pkey)
{
	for (size_t i = 0; i < c->inverse.n_rows; i++) {
		const struct tenant_row *row = &c->inverse.rows[i];
		struct ledger_key key;

		if (row->kind != TENANT_ROW_MEMBER || row->pkey != pkey)
			continue;
		key = tenancy_member_key(pkey, row->member.guid);
		edits_remove(all, &key, c->entry.generation);
	}
}

static bool was_absent(const struct change *c, uint16_t pkey)
{
	for (size_t i = 0; i < c->inverse.n_rows; i++) {
		if (c->inverse.rows[i].kind == TENANT_ROW_GONE && c->inverse.rows[i].pkey == pkey)
			return true;
	}
	return false;
}

static uint64_t number_of(const struct ledger_dot *dot)
{
	const uint64_t parts[] = { dot->by.guid, dot->by.instance, dot->number };

	return hash_bytes(HASH_START, parts, sizeof(parts)) ?: 1;
}

/* The number of the removal after which change `c` makes the partition. */
static uint64_t removal_before(const struct sm *sm, const struct change *c, uint16_t pkey)
{
	const struct ledger_key key = tenancy_partition_key(pkey);
	const struct ledger_row *row = ledger_find(settle_ledger(sm), &key);
	struct ledger_dot dot = settle_dot(sm, c->entry.generation);

	if (!row)
		return 0;
	/* If the ledger has no removal, it is in this batch, under the number of the change. */
	if (ledger_row_value(row).removed)
		dot = ledger_row_value(row).dot;
	return number_of(&dot);
}

void rows_note_removals(const struct sm *sm, struct change *c)
{
	for (size_t i = 0; i < c->entry.n_rows; i++) {
		struct tenant_row *row = &c->entry.rows[i];

		if (row->kind == TENANT_ROW_PARTITION && was_absent(c, row->pkey))
			row->fields.behind = removal_before(sm, c, row->pkey);
	}
}

/* The number of the removal that the partition came after, in the entry or in the table. */
static uint64_t behind_of(const struct sm *sm, const struct tenant_row *partition, uint16_t pkey)
{
	const struct tenant_partition *p;

	if (partition && partition->pkey == pkey)
		return partition->fields.behind;
	p = tenants_find(partition_tenants(sm), pkey);
	return p ? p->fields.behind : 0;
}

void edits_of_change(struct sm *sm, struct edits *all, const struct change *c)
{
	const struct tenant_entry *e = &c->entry;
	const struct tenant_row *partition = NULL;
	uint64_t behind;

	for (size_t i = 0; i < e->n_rows; i++) {
		const struct tenant_row *row = &e->rows[i];
		struct ledger_key key;

		switch (row->kind) {
		case TENANT_ROW_PARTITION:
			if (was_absent(c, row->pkey))
				remove_orphans(sm, all, row->pkey, e->generation);
			edit_partition(all, row->pkey, &row->fields, e->generation);
			partition = row;
			break;
		case TENANT_ROW_GONE:
			remove_members(all, c, row->pkey);
			key = tenancy_partition_key(row->pkey);
			edits_remove(all, &key, e->generation);
			break;
		case TENANT_ROW_MEMBER:
			behind = behind_of(sm, partition, row->pkey);
			edit_member(all, row->pkey, &row->member, behind, e->generation);
			break;
		case TENANT_ROW_LEFT:
			key = tenancy_member_key(row->pkey, row->member.guid);
			edits_remove(all, &key, e->generation);
			break;
		}
	}
}

/* ---- rows as an entry ------------------------------------------------------------------------ */

struct derived {
	struct sm *sm;
	struct tenant_entry e;
	size_t cap;
	bool partitions; /* set if a partition came, went, or has other fields */
};

static struct tenant_row *derive_row(struct derived *d, enum tenant_row_kind kind, uint16_t pkey,
				     const struct ledger_value *v)
{
	struct tenant_row *row = &APPEND(d->e.rows, d->e.n_rows, d->cap);

	*row = (struct tenant_row){ .kind = kind, .pkey = pkey, .generation = v->dot.number };
	d->e.at = MAX(d->e.at, v->at);
	return row;
}

static bool is_orphan(const struct sm *sm, uint16_t pkey, const struct ledger_value *member)
{
	const struct ledger_key key = tenancy_partition_key(pkey);
	const struct ledger_row *row = ledger_find(settle_ledger(sm), &key);
	struct ledger_value v;

	if (!row)
		return removal_at(member, 1) != 0;
	v = ledger_row_value(row);
	return v.removed || removal_at(&v, name_end(&v)) != removal_at(member, 1);
}

bool tenancy_member_value(const struct sm *sm, const struct ledger_row *row,
			  struct ledger_value *ret)
{
	const struct ledger_table_row *table = ledger_table(LEDGER_MEMBER);
	uint16_t pkey = pkey_of(ledger_row_key(row));
	struct ledger_value v;
	bool found = false;

	*ret = ledger_row_value(row);
	if (ret->removed)
		return false;
	for (unsigned n = 0; ledger_row_value_at(row, n, &v); n++) {
		if (is_orphan(sm, pkey, &v) || (found && table->prefer(&v, ret) > 0))
			continue;
		*ret = v;
		found = true;
	}
	return found;
}

static void add_orphan(struct tenancy *t, const struct ledger_key *key)
{
	APPEND(t->orphans, t->n_orphans, t->cap_orphans) = *key;
}

/* Does another partition, whose P_Key is smaller, keep index 0 of the port? */
static bool keeps_index0(const struct sm *sm, guid_t guid, uint16_t pkey)
{
	uint16_t holder = tenants_at_index0(partition_tenants(sm), guid);

	return holder && holder < pkey;
}

static void derive_member(struct derived *d, const struct ledger_key *key)
{
	const struct ledger_row *row = ledger_find(settle_ledger(d->sm), key);
	uint16_t pkey = pkey_of(key);
	struct ledger_value v;
	struct tenant_member *m;

	if (!row)
		return;
	if (!tenancy_member_value(d->sm, row, &v)) {
		derive_row(d, TENANT_ROW_LEFT, pkey, &v)->member.guid = guid_of(key);
		if (!v.removed)
			add_orphan(d->sm->m.tenancy, key);
		return;
	}
	m = &derive_row(d, TENANT_ROW_MEMBER, pkey, &v)->member;
	m->guid = guid_of(key);
	m->full = v.bytes[0] & LEDGER_MEMBER_FULL;
	m->index0 = (v.bytes[0] & LEDGER_MEMBER_INDEX0) && !keeps_index0(d->sm, m->guid, pkey);
}

/* Derives the orphans of a partition again, which may be members of it now. */
static void derive_orphans(struct derived *d, uint16_t pkey)
{
	struct tenancy *t = d->sm->m.tenancy;
	size_t n = t->n_orphans, kept = 0;
	struct ledger_key *orphans = t->orphans;

	t->orphans = NULL;
	t->n_orphans = t->cap_orphans = 0;
	for (size_t i = 0; i < n; i++) {
		if (pkey_of(&orphans[i]) == pkey)
			derive_member(d, &orphans[i]);
		else
			orphans[kept++] = orphans[i];
	}
	for (size_t i = 0; i < kept; i++)
		add_orphan(t, &orphans[i]);
	free(orphans);
}

/* Makes orphans of members that the deleting half did not know: their rows stay. */
static void note_orphans(struct derived *d, uint16_t pkey)
{
	const struct tenant_partition *p = tenants_find(partition_tenants(d->sm), pkey);
	struct ledger_value v;

	for (size_t i = 0; p && i < p->n_members; i++) {
		const struct ledger_key key = tenancy_member_key(pkey, p->members[i].guid);

		if (ledger_get(settle_ledger(d->sm), &key, &v))
			add_orphan(d->sm->m.tenancy, &key);
	}
}

/* Derives members of a former partition with this P_Key. */
static void derive_members(struct derived *d, uint16_t pkey, uint64_t behind)
{
	const struct tenant_partition *p = tenants_find(partition_tenants(d->sm), pkey);

	for (size_t i = 0; p && p->fields.behind != behind && i < p->n_members; i++) {
		const struct ledger_key key = tenancy_member_key(pkey, p->members[i].guid);

		derive_member(d, &key);
	}
}

static void derive_partition(struct derived *d, const struct ledger_key *key)
{
	const struct ledger_row *row = ledger_find(settle_ledger(d->sm), key);
	uint16_t pkey = pkey_of(key);
	struct tenant_fields fields;
	struct ledger_value v;

	if (!row)
		return;
	d->partitions = true;
	v = ledger_row_value(row);
	if (v.removed) {
		note_orphans(d, pkey);
		derive_row(d, TENANT_ROW_GONE, pkey, &v);
		return;
	}
	if (!read_fields(&v, &fields))
		return;
	derive_row(d, TENANT_ROW_PARTITION, pkey, &v)->fields = fields;
	derive_orphans(d, pkey);
	derive_members(d, pkey, fields.behind);
}

/* By partition, its own row before those of members; members by GUID, so that many are merged. */
static int by_place(const void *a, const void *b)
{
	const struct tenant_row *x = a, *y = b;
	bool x_member = x->member.guid != 0, y_member = y->member.guid != 0;

	if (x->pkey != y->pkey)
		return x->pkey < y->pkey ? -1 : 1;
	if (x_member != y_member)
		return y_member ? -1 : 1;
	return x->member.guid < y->member.guid ? -1 : x->member.guid > y->member.guid;
}

/* Gives index 0 of a port, if several rows want it, to the smallest P_Key. */
static void settle_index0(struct tenant_entry *e)
{
	struct guidmap *first = guidmap_new();

	for (size_t i = 0; i < e->n_rows; i++) {
		struct tenant_row *row = &e->rows[i];
		const struct tenant_row *at;

		if (row->kind != TENANT_ROW_MEMBER || !row->member.index0)
			continue;
		at = guidmap_get(first, row->member.guid);
		if (!at)
			guidmap_put(first, row->member.guid, row);
		else
			row->member.index0 = at->pkey == row->pkey;
	}
	guidmap_free(first);
}

/* Gives all rows of a partition its generation, the number of its last change. */
static void raise_generations(const struct sm *sm, struct tenant_entry *e)
{
	for (size_t i = 0; i < e->n_rows;) {
		const struct tenant_partition *p =
			tenants_find(partition_tenants(sm), e->rows[i].pkey);
		uint64_t generation = p ? p->generation : 0;
		size_t end = i;

		for (; end < e->n_rows && e->rows[end].pkey == e->rows[i].pkey; end++)
			generation = MAX(generation, e->rows[end].generation);
		while (i < end)
			e->rows[i++].generation = generation;
	}
}

/* Takes the changes that are being stored out of the table, or puts them back. */
static void play_batch(struct sm *sm, bool out)
{
	const struct changes *batch = &sm->m.tenancy->batch;
	_cleanup_free_ struct change **all = xcalloc(batch->n + 1, sizeof(struct change *));
	unsigned n = 0;

	for (struct change *c = batch->first; c; c = c->next) {
		if (c->entry.n_rows)
			all[n++] = c;
	}
	for (unsigned i = 0; i < n; i++)
		tenants_play(partition_tenants(sm),
			     out ? &all[n - 1 - i]->inverse : &all[i]->entry);
}

void tenancy_plan_stored(struct sm *sm)
{
	play_batch(sm, true);
	partition_plan(sm);
	play_batch(sm, false);
}

/* Forgets the P_Keys that were read of these ports: the master writes them about now. */
static void distrust_ports(struct sm *sm, const struct tenant_entry *e)
{
	for (size_t i = 0; i < e->n_rows; i++) {
		struct port *p = fabric_find_port(sm->fabric, e->rows[i].member.guid);

		if (p)
			adopt_distrust_pkeys(sm, p);
	}
}

static void publish_derived(struct derived *d)
{
	struct sm *sm = d->sm;
	_cleanup_free_ guid_t *guids = xcalloc(d->e.n_rows + 1, sizeof(*guids));
	size_t n = 0;

	if (d->partitions)
		partition_join(sm);
	if (sm->state != SM_MASTER) {
		distrust_ports(sm, &d->e);
		return;
	}
	for (size_t i = 0; i < d->e.n_rows; i++) {
		if (d->e.rows[i].member.guid)
			guids[n++] = d->e.rows[i].member.guid;
	}
	admin_publish_pkeys(sm, guids, n, d->partitions);
	tell_news(sm, NEWS_TABLES, .text = "another manager knew of changes of partitions");
}

void tenancy_derive(struct sm *sm, const struct ledger_key *keys, size_t n)
{
	struct derived d = { .sm = sm };
	struct tenants *table = partition_tenants(sm);

	sm->m.tenancy->was_derived = true;
	for (size_t i = 0; i < n; i++) {
		if (keys[i].table == LEDGER_PARTITION)
			derive_partition(&d, &keys[i]);
		else
			derive_member(&d, &keys[i]);
	}
	d.e.at = MAX(d.e.at, tenants_changed_at(table));
	d.e.generation =
		MAX(tenants_generation(table), ledger_number(settle_ledger(sm), LEDGER_MEMBER));
	if (d.e.n_rows)
		qsort(d.e.rows, d.e.n_rows, sizeof(*d.e.rows), by_place);
	settle_index0(&d.e);
	raise_generations(sm, &d.e);
	tenants_play(table, &d.e);
	if (d.e.n_rows)
		publish_derived(&d);
	tenant_entry_clear(&d.e);
}

void tenancy_derive_edits(struct sm *sm)
{
	const struct edits *all = &sm->m.tenancy->edits;
	_cleanup_free_ struct ledger_key *keys = xcalloc(all->n + 1, sizeof(*keys));

	for (size_t i = 0; i < all->n; i++)
		keys[i] = all->list[i].key;
	tenancy_derive(sm, keys, all->n);
}

void rows_free(struct tenancy *t)
{
	free(t->orphans);
	edits_clear(&t->edits);
}
