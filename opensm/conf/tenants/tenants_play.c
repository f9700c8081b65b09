// SPDX-License-Identifier: BSD-2-Clause
/*
 * Applies entries to the table. Any valid entry can be applied, in any order: a member of a
 * partition that does not exist makes one with default fields, and a P_Key that is set at index 0
 * of a port is removed from index 0 in another partition. Tables with the same entries are
 * therefore equal.
 *
 * Many members in order are merged into a partition; a few are inserted one by one.
 */
#include <assert.h>
#include <string.h>

#include "conf/tenants/tenants_internal.h"
#include "util/bisect.h"

/* Number of member rows from which on a merge of all members is faster than insertions. */
#define MERGE_MIN 32

/* --- Rights --------------------------------------------------------------------------------- */

static size_t right_place(const struct rights *r, uint16_t pkey)
{
	unsigned order = partition_order(pkey);

	return BISECT(i, (size_t)0, (size_t)r->n, partition_order(r->list[i].pkey) < order);
}

/* The rights of `guid`, with room for one more partition. */
static struct rights *roomy_rights(struct tenants *t, guid_t guid)
{
	struct rights *r = guidmap_get(t->ports, guid);
	uint32_t n = r ? r->n : 0, cap = r ? r->cap * 2 : 2;

	if (r && n < r->cap)
		return r;
	r = xrealloc(r, 1, sizeof(*r) + cap * sizeof(r->list[0]));
	r->n = n;
	r->cap = cap;
	guidmap_put(t->ports, guid, r);
	return r;
}

/* Clears index0 of the port's member in another partition. */
static void leave_index0(struct tenants *t, guid_t guid, uint16_t pkey, uint64_t generation)
{
	struct rights *r = guidmap_get(t->ports, guid);

	for (size_t i = 0; r && i < r->n; i++) {
		struct held *h;

		if (!r->list[i].index0 || r->list[i].pkey == pkey)
			continue;
		r->list[i].index0 = false;
		h = tenants_held(t, r->list[i].pkey);
		h->p.members[held_place(&h->p, guid)].index0 = false;
		h->p.generation = generation;
	}
}

static void set_right(struct tenants *t, uint16_t pkey, const struct tenant_member *m,
		      uint64_t generation)
{
	struct rights *r = roomy_rights(t, m->guid);
	size_t at = right_place(r, pkey);

	if (m->index0)
		leave_index0(t, m->guid, pkey, generation);
	if (at == r->n || r->list[at].pkey != pkey) {
		memmove(&r->list[at + 1], &r->list[at], (r->n - at) * sizeof(r->list[0]));
		r->n++;
	}
	r->list[at] = (struct tenant_right){ pkey, m->full, m->index0 };
}

static void drop_right(struct tenants *t, uint16_t pkey, guid_t guid)
{
	struct rights *r = guidmap_get(t->ports, guid);
	size_t at = right_place(r, pkey);

	assert(at < r->n && r->list[at].pkey == pkey);
	r->n--;
	memmove(&r->list[at], &r->list[at + 1], (r->n - at) * sizeof(r->list[0]));
	if (!r->n)
		free(guidmap_remove(t->ports, guid));
}

/* --- Members -------------------------------------------------------------------------------- */

static void play_member(struct tenants *t, struct held *h, const struct tenant_row *row,
			uint64_t generation)
{
	struct tenant_partition *p = &h->p;
	size_t at = held_place(p, row->member.guid);
	bool found = at < p->n_members && p->members[at].guid == row->member.guid;
	size_t behind = p->n_members - at;

	if (row->kind == TENANT_ROW_LEFT) {
		if (!found)
			return;
		drop_right(t, p->pkey, row->member.guid);
		memmove(&p->members[at], &p->members[at + 1],
			(behind - 1) * sizeof(*p->members));
		p->n_members--;
		t->n_members--;
		return;
	}
	if (!found) {
		GROW(p->members, p->n_members + 1, h->cap);
		memmove(&p->members[at + 1], &p->members[at], behind * sizeof(*p->members));
		p->n_members++;
		t->n_members++;
	}
	p->members[at] = row->member;
	set_right(t, p->pkey, &row->member, generation);
}

/* Merges rows, which are sorted by GUID, each once. */
static void merge_members(struct tenants *t, struct held *h, const struct tenant_row *rows,
			  size_t n_rows, uint64_t generation)
{
	struct tenant_partition *p = &h->p;
	struct tenant_member *merged = xcalloc(p->n_members + n_rows, sizeof(*merged));
	size_t n = 0, old = 0;

	for (size_t i = 0; i < n_rows; i++) {
		guid_t guid = rows[i].member.guid;
		bool found;

		while (old < p->n_members && p->members[old].guid < guid)
			merged[n++] = p->members[old++];
		found = old < p->n_members && p->members[old].guid == guid;
		old += found ? 1 : 0;
		if (rows[i].kind == TENANT_ROW_MEMBER) {
			merged[n++] = rows[i].member;
			set_right(t, p->pkey, &rows[i].member, generation);
		} else if (found) {
			drop_right(t, p->pkey, guid);
		}
	}
	while (old < p->n_members)
		merged[n++] = p->members[old++];
	h->cap = p->n_members + n_rows;
	t->n_members = t->n_members - p->n_members + n;
	free(p->members);
	p->members = merged;
	p->n_members = n;
}

/* --- Partitions ----------------------------------------------------------------------------- */

static struct held *make_held(struct tenants *t, uint16_t pkey)
{
	struct held *h = tenants_held(t, pkey);
	size_t at = tenants_place(t, pkey);

	if (h)
		return h;
	h = xcalloc(1, sizeof(*h));
	h->p.pkey = pkey;
	h->p.fields = tenants_default_fields(pkey);
	t->n_ipoib += h->p.fields.ipoib ? 1 : 0;
	GROW(t->list, t->n + 1, t->cap);
	memmove(&t->list[at + 1], &t->list[at], (t->n - at) * sizeof(*t->list));
	t->list[at] = h;
	t->n++;
	return h;
}

static void drop_held(struct tenants *t, uint16_t pkey)
{
	struct held *h = tenants_held(t, pkey);
	size_t at = tenants_place(t, pkey);

	if (!h)
		return;
	for (size_t i = 0; i < h->p.n_members; i++)
		drop_right(t, pkey, h->p.members[i].guid);
	t->n_members -= h->p.n_members;
	t->n_ipoib -= h->p.fields.ipoib ? 1 : 0;
	t->n--;
	memmove(&t->list[at], &t->list[at + 1], (t->n - at) * sizeof(*t->list));
	held_free(h);
}

static void set_fields(struct tenants *t, struct held *h, const struct tenant_fields *fields)
{
	t->n_ipoib -= h->p.fields.ipoib ? 1 : 0;
	t->n_ipoib += fields->ipoib ? 1 : 0;
	h->p.fields = *fields;
}

/* --- Entries -------------------------------------------------------------------------------- */

static bool is_of_member(const struct tenant_row *row)
{
	return row->kind == TENANT_ROW_MEMBER || row->kind == TENANT_ROW_LEFT;
}

/* The number of rows from rows[0] on that can be merged: of one partition, sorted by GUID. */
static size_t merge_len(const struct tenant_row *rows, size_t n)
{
	size_t len = 1;

	while (len < n && is_of_member(&rows[len]) && rows[len].pkey == rows[0].pkey &&
	       rows[len].generation == rows[0].generation &&
	       rows[len].member.guid > rows[len - 1].member.guid)
		len++;
	return len;
}

/* Does the row come after all members, so that an insertion moves none? */
static bool is_behind(const struct tenant_partition *p, const struct tenant_row *row)
{
	return !p->n_members || p->members[p->n_members - 1].guid < row->member.guid;
}

/* Applies the first rows, of members. Returns their number. */
static size_t play_members(struct tenants *t, const struct tenant_row *rows, size_t n,
			   uint64_t generation)
{
	struct held *h = tenants_held(t, rows[0].pkey);
	size_t len = merge_len(rows, n);

	if (!h && rows[0].kind == TENANT_ROW_LEFT)
		return 1;
	h = make_held(t, rows[0].pkey);
	h->p.generation = generation;
	if (len >= MERGE_MIN && !is_behind(&h->p, &rows[0])) {
		merge_members(t, h, rows, len, generation);
		return len;
	}
	for (size_t i = 0; i < len; i++)
		play_member(t, h, &rows[i], generation);
	return len;
}

static size_t play_rows(struct tenants *t, const struct tenant_row *rows, size_t n,
			uint64_t generation)
{
	struct held *h;

	switch (rows[0].kind) {
	case TENANT_ROW_PARTITION:
		h = make_held(t, rows[0].pkey);
		set_fields(t, h, &rows[0].fields);
		h->p.generation = generation;
		break;
	case TENANT_ROW_GONE:
		drop_held(t, rows[0].pkey);
		break;
	case TENANT_ROW_MEMBER:
	case TENANT_ROW_LEFT:
		return play_members(t, rows, n, generation);
	}
	return 1;
}

void tenants_play(struct tenants *t, const struct tenant_entry *e)
{
	for (size_t i = 0; i < e->n_rows;) {
		const struct tenant_row *row = &e->rows[i];

		assert(row->pkey >= 1 && row->pkey <= PKEY_BASE);
		assert(!is_of_member(row) || row->member.guid);
		i += play_rows(t, row, e->n_rows - i, row->generation ?: e->generation);
	}
	t->generation = e->generation;
	t->changed_at = e->at;
}

/* --- Back ----------------------------------------------------------------------------------- */

struct inverse {
	const struct tenants *t;
	struct tenant_entry *ret;
	size_t cap;
};

static struct tenant_row *add_row(struct inverse *v, enum tenant_row_kind kind,
				  const struct tenant_partition *p)
{
	struct tenant_entry *e = v->ret;

	GROW(e->rows, e->n_rows + 1, v->cap);
	e->rows[e->n_rows] = (struct tenant_row){ .kind = kind, .pkey = p->pkey };
	e->rows[e->n_rows].fields = p->fields;
	e->rows[e->n_rows].generation = p->generation;
	return &e->rows[e->n_rows++];
}

/* Adds a row that the partition does not exist, unless the last row is the same. */
static void restore_absence(struct inverse *v, uint16_t pkey)
{
	const struct tenant_partition absent = { .pkey = pkey };
	const struct tenant_entry *e = v->ret;
	const struct tenant_row *last = e->n_rows ? &e->rows[e->n_rows - 1] : NULL;

	if (!last || last->kind != TENANT_ROW_GONE || last->pkey != pkey)
		add_row(v, TENANT_ROW_GONE, &absent);
}

static void restore_member(struct inverse *v, const struct tenant_partition *p, guid_t guid)
{
	const struct tenant_member *m = tenants_member(p, guid);
	struct tenant_row *row = add_row(v, m ? TENANT_ROW_MEMBER : TENANT_ROW_LEFT, p);

	row->member = m ? *m : (struct tenant_member){ .guid = guid };
}

static void restore_row(struct inverse *v, const struct tenant_row *row)
{
	const struct tenant_partition *p = tenants_find(v->t, row->pkey), *other;

	if (row->kind == TENANT_ROW_MEMBER && row->member.index0) {
		other = tenants_find(v->t, tenants_at_index0(v->t, row->member.guid));
		if (other && other != p)
			restore_member(v, other, row->member.guid);
	}
	if (!p) {
		restore_absence(v, row->pkey);
		return;
	}
	if (is_of_member(row)) {
		restore_member(v, p, row->member.guid);
		return;
	}
	add_row(v, TENANT_ROW_PARTITION, p);
	for (size_t i = 0; row->kind == TENANT_ROW_GONE && i < p->n_members; i++)
		restore_member(v, p, p->members[i].guid);
}

/* Adds the present state of everything that `e` changes; the order of the rows does not matter. */
void tenants_inverse(const struct tenants *t, const struct tenant_entry *e,
		     struct tenant_entry *ret)
{
	struct inverse v = { .t = t, .ret = ret };

	assert(t && e && ret && ret != e);
	*ret = (struct tenant_entry){ .generation = t->generation, .at = t->changed_at };
	for (size_t i = 0; i < e->n_rows; i++)
		restore_row(&v, &e->rows[i]);
}
