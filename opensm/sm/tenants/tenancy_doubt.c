// SPDX-License-Identifier: BSD-2-Clause
/*
 * While this manager may not write what the rows of the ledger give (sm/ledger/settle.h), P_Keys
 * that may be of tenants stay in devices. A manager that is not sure of its rows, and finds no
 * other to ask, compares devices with them. If they differ, an administrator may have rows made
 * from the devices: sm_ledger_adopt().
 */
#include <assert.h>
#include <errno.h>

#include "sm/tenants/tenancy.h"
#include "sm/tenants/tenancy_internal.h"
#include "sm/base/news.h"
#include "sm/sm_ledger.h"
#include "util/mem.h"

static bool is_removed(const struct sm *sm, uint16_t pkey, guid_t guid)
{
	const struct ledger_key member = tenancy_member_key(pkey, guid);
	const struct ledger_key partition = tenancy_partition_key(pkey);
	const struct ledger_row *row = ledger_find(settle_ledger(sm), &member);
	const struct ledger_row *of = ledger_find(settle_ledger(sm), &partition);
	struct ledger_value v;

	if (of && ledger_row_value(of).removed)
		return true;
	return row && !tenancy_member_value(sm, row, &v);
}

static bool is_recent(const struct sm *sm, const struct ledger_key *key)
{
	const struct ledger_row *row = ledger_find(settle_ledger(sm), key);
	const struct ledger_dot ours = settle_dot(sm, settle_asking_from(sm));
	struct ledger_dot dot = row ? ledger_row_value(row).dot : (struct ledger_dot){ 0 };

	return dot.by.guid == ours.by.guid && dot.by.instance == ours.by.instance &&
	       dot.number >= ours.number;
}

/*
 * Was the P_Key removed after other managers were asked? Such a key is taken from devices before
 * they have answered. If it was removed earlier, one of them may have given it again since.
 */
static bool is_removed_meanwhile(const struct sm *sm, uint16_t pkey, guid_t guid)
{
	const struct ledger_key member = tenancy_member_key(pkey, guid);
	const struct ledger_key partition = tenancy_partition_key(pkey);

	return is_removed(sm, pkey, guid) &&
	       (is_recent(sm, &member) || is_recent(sm, &partition));
}

static enum tenants_held held_now(const struct sm *sm)
{
	switch (settle_state(sm)) {
	case SETTLE_ASKING:
		return settle_is_fresh(sm) ? TENANTS_HELD : TENANTS_FROZEN;
	case SETTLE_KEEPING:
		return TENANTS_HELD;
	case SETTLE_TAKING:
		return TENANTS_TAKEN;
	case SETTLE_FOREIGN:
	case SETTLE_WRITING:
		break;
	}
	return settle_waits(sm) ? TENANTS_FROZEN : TENANTS_FREE;
}

void tenancy_settled(struct sm *sm, bool is_other_state)
{
	sm->m.tenancy->settled = true;
	if (!is_other_state || sm->state != SM_MASTER)
		return;
	partition_hold_tenants(sm, held_now(sm), is_removed_meanwhile);
	if (partition_is_held(sm))
		sm->m.tenancy->is_behind_hold = true;
	else if (sm->sweep == SWEEP_NONE)
		sm->m.tenancy->is_behind_hold = false; /* no table was held back */
	if (!partition_is_planned(sm) || held_now(sm) == TENANTS_FROZEN || !partition_is_held(sm))
		return;
	/* Without sweeps, which an administrator has stopped, the tables are planned here. */
	if (sm->sweeping_off && sm->sweep == SWEEP_NONE) {
		tenancy_plan_stored(sm);
		sm->m.tenancy->is_behind_hold = false;
	} else {
		tell_news(sm, NEWS_TABLES, .text = "P_Keys of tenants may be written, or not");
	}
}

void tenancy_sweep_ended(struct sm *sm)
{
	sm->m.tenancy->is_behind_hold &= partition_is_held(sm);
}

const char *doubt_why_unconfirmed(const struct sm *sm)
{
	if (sm->state != SM_MASTER)
		return "it is stored, but this manager is not the master any more";
	if (settle_state(sm) == SETTLE_TAKING)
		return "it is stored, and the next sweep takes it from devices; that is confirmed "
		       "when the silent manager has answered, or is stopped";
	return settle_closed(sm);
}

void tenancy_doubt_devices(struct sm *sm)
{
	FABRIC_EACH_END_PORT(sm->fabric, p)
		observe_distrust_pkeys(sm->fabric, p);
}

/* ---- do devices agree with the rows? --------------------------------------------------------- */

/* Does the file make the port a member? `file` may be NULL. */
static bool file_gives(const struct partitions *file, uint16_t base, guid_t guid)
{
	const struct partition *p = file ? partitions_find(file, base) : NULL;

	if (!p || !p->api)
		return p;
	for (size_t i = 0; i < p->n_items; i++) {
		if (p->items[i].ports != PARTITION_GUID || p->items[i].guid == guid)
			return true;
	}
	return false;
}

/* Does a file or a row account for a P_Key that a device holds? */
static bool is_explained(struct sm *sm, uint16_t base, guid_t guid)
{
	const struct ledger_key key = tenancy_member_key(base, guid);
	const struct partitions *former;

	if (base == PKEY_DEFAULT || file_gives(partition_of_file(sm), base, guid))
		return true;
	for (size_t i = 0; (former = partition_of_former_file(sm, i)); i++) {
		if (file_gives(former, base, guid))
			return true;
	}
	return ledger_find(settle_ledger(sm), &key) || is_removed(sm, base, guid);
}

static bool has_base(const uint16_t *keys, unsigned n, uint16_t base)
{
	for (unsigned i = 0; i < n; i++) {
		if ((keys[i] & PKEY_BASE) == base)
			return true;
	}
	return false;
}

/* The number of P_Keys of the table of tenants that are not in the table of the port. */
static size_t count_missing(struct sm *sm, guid_t guid, const uint16_t *keys, unsigned n_keys)
{
	size_t n_rights, n = 0;
	const struct tenant_right *rights = tenants_of_port(partition_tenants(sm), guid, &n_rights);

	for (size_t i = 0; i < n_rights; i++)
		n += !has_base(keys, n_keys, rights[i].pkey);
	return n;
}

static size_t count_unexplained(struct sm *sm, const struct port *p)
{
	_cleanup_free_ uint16_t *keys = xcalloc(fabric_pkey_cap(p) + 1u, sizeof(*keys));
	unsigned n_keys = fabric_pkeys(sm->fabric, p, keys);
	size_t n = 0;

	for (unsigned i = 0; i < n_keys; i++) {
		uint16_t base = keys[i] & PKEY_BASE;

		n += base && !is_explained(sm, base, p->guid);
	}
	return n_keys ? n + count_missing(sm, p->guid, keys, n_keys) : 0;
}

/* Does the P_Key table of the port tell anything? */
static bool is_telling(const struct port *p)
{
	return p->guid && p->known && !p->quarantined && port_is_live(p);
}

size_t tenancy_unexplained(struct sm *sm)
{
	size_t n = 0;

	FABRIC_EACH_END_PORT(sm->fabric, p) {
		if (is_telling(p))
			n += count_unexplained(sm, p);
	}
	return n;
}

bool tenancy_is_of_manager(const struct sm *sm, guid_t guid)
{
	return guid == sm->tr->port_guid || elect_is_manager(sm, guid) || elect_is_listed(sm, guid);
}

guid_t tenancy_moves_index0(const struct sm *sm, const struct change *c)
{
	for (size_t i = 0; i < c->rq.n_members; i++) {
		const struct tenant_member *m = &c->rq.members[i];

		if ((m->index0 || (c->rq.pkey == PKEY_DEFAULT && !m->full)) &&
		    tenancy_is_of_manager(sm, m->guid))
			return m->guid;
	}
	return 0;
}

/* ---- rows of what devices hold --------------------------------------------------------------- */

/* A P_Key of a device that no file and no row accounts for. */
struct adopted {
	uint16_t pkey;
	struct tenant_member member;
};

/* A running sm_ledger_adopt(), or sm_ledger_forget(), which has no rows. */
struct adoption {
	sm_ledger_done_fn *done; /* NULL: the caller is gone */
	void *arg;
	struct sm_ledger_ended result;
	struct adopted *list; /* sorted by P_Key and GUID, each once */
	size_t n, cap;
	struct ledger_key *keys; /* keys of the rows that are made */
	size_t n_keys, cap_keys;
	bool is_over; /* set if the next tick answers it */
};

static struct adoption *adoption_drop(struct adoption *a)
{
	free(a->list);
	free(a->keys);
	free(a);
	return NULL;
}

static int by_member(const void *a, const void *b)
{
	const struct adopted *x = a, *y = b;

	if (x->pkey != y->pkey)
		return x->pkey < y->pkey ? -1 : 1;
	return x->member.guid < y->member.guid ? -1 : x->member.guid > y->member.guid;
}

/* Is index 0 of the port free: of other rows, and of the default P_Key of managers? */
static bool may_have_index0(const struct sm *sm, guid_t guid)
{
	return !tenants_at_index0(partition_tenants(sm), guid) && !tenancy_is_of_manager(sm, guid);
}

static void adopt_port(struct sm *sm, struct adoption *a, const struct port *p)
{
	_cleanup_free_ uint16_t *keys = xcalloc(fabric_pkey_cap(p) + 1u, sizeof(*keys));
	unsigned n_keys = fabric_pkeys(sm->fabric, p, keys);
	size_t before = a->n;

	for (unsigned i = 0; i < n_keys; i++) {
		uint16_t base = keys[i] & PKEY_BASE;

		if (!base || is_explained(sm, base, p->guid))
			continue;
		APPEND(a->list, a->n, a->cap) =
			(struct adopted){ base,
					  { .guid = p->guid,
					    .full = keys[i] & PKEY_FULL,
					    .index0 = !i && may_have_index0(sm, p->guid) } };
	}
	a->result.n_ports += a->n > before;
	a->result.n_missing += n_keys ? count_missing(sm, p->guid, keys, n_keys) : 0;
}

/* Sorts; a P_Key that a device holds as full and as limited is full. */
static void sort_adopted(struct adoption *a)
{
	size_t kept = 0;

	if (a->n)
		qsort(a->list, a->n, sizeof(*a->list), by_member);
	for (size_t i = 0; i < a->n; i++) {
		if (!kept || by_member(&a->list[kept - 1], &a->list[i])) {
			a->list[kept++] = a->list[i];
			continue;
		}
		a->list[kept - 1].member.full |= a->list[i].member.full;
		a->list[kept - 1].member.index0 |= a->list[i].member.index0;
	}
	a->n = kept;
}

/* Makes edits as if these members were added by request. Returns 0 or -ENOSPC. */
static int edit_adopted(struct sm *sm, struct edits *all, const struct adopted *list, size_t n)
{
	struct change c = { .rq = { .action = TENANT_ADD, .pkey = list[0].pkey, .n_members = n } };
	_cleanup_free_ struct tenant_member *members = xcalloc(n, sizeof(*members));
	char why[300];

	for (size_t i = 0; i < n; i++)
		members[i] = list[i].member;
	c.rq.members = members;
	if (tenants_judge(partition_tenants(sm), partition_of_file(sm), &c.rq, 0, &c.entry, why,
			  sizeof(why)) != TENANT_FINE)
		return -ENOSPC;
	c.entry.generation = settle_next_number(sm, LEDGER_MEMBER);
	tenants_inverse(partition_tenants(sm), &c.entry, &c.inverse);
	rows_note_removals(sm, &c);
	edits_of_change(sm, all, &c);
	tenant_entry_clear(&c.entry);
	tenant_entry_clear(&c.inverse);
	return 0;
}

static int edit_all_adopted(struct sm *sm, const struct adoption *a, struct edits *ret)
{
	for (size_t i = 0, end = 0; i < a->n; i = end) {
		int r;

		while (end < a->n && a->list[end].pkey == a->list[i].pkey &&
		       end - i < TENANT_REQUEST_MAX)
			end++;
		r = edit_adopted(sm, ret, a->list + i, end - i);
		if (r < 0)
			return r;
	}
	return tenants_members(partition_tenants(sm)) + a->n > TENANT_MEMBERS_MAX ? -ENOSPC : 0;
}

static void count_rows(struct adoption *a, const struct edits *all)
{
	for (size_t i = 0; i < all->n; i++) {
		APPEND(a->keys, a->n_keys, a->cap_keys) = all->list[i].key;
		if (all->list[i].removed)
			continue;
		if (all->list[i].key.table == LEDGER_PARTITION)
			a->result.n_partitions++;
		else
			a->result.n_members++;
	}
}

static void end_adoption(struct sm *sm)
{
	struct adoption *a = take(sm->m.tenancy->adoption);

	if (a->done)
		a->done(a->arg, &a->result);
	adoption_drop(a);
}

/*
 * Called when the rows are stored: the table of tenants gets them before anything may be written.
 */
static void on_adopted(struct sm *sm, void *arg, int error)
{
	struct adoption *a = sm->m.tenancy->adoption;

	if (error == 0) {
		tenancy_derive(sm, a->keys, a->n_keys);
		settle_explained(sm);
	}
	a->result.error = error;
	a->is_over = true;
}

/* Starts to leave the state KEEPING. -errno: another state, or already started. */
static int start_adoption(struct sm *sm, sm_ledger_done_fn *done, void *arg)
{
	struct adoption *a;

	if (settle_state(sm) != SETTLE_KEEPING)
		return -EALREADY;
	if (sm->m.tenancy->adoption)
		return -EBUSY;
	a = xcalloc(1, sizeof(*a));
	a->done = done;
	a->arg = arg;
	a->result.n_unexplained = settle_unexplained(sm);
	sm->m.tenancy->adoption = a;
	return 0;
}

static void collect_adopted(struct sm *sm, struct adoption *a)
{
	FABRIC_EACH_END_PORT(sm->fabric, p) {
		if (is_telling(p))
			adopt_port(sm, a, p);
	}
	sort_adopted(a);
}

static int commit_adopted(struct sm *sm, struct adoption *a)
{
	struct edits edits = { 0 };
	int r = edit_all_adopted(sm, a, &edits);

	if (r == 0) {
		count_rows(a, &edits);
		edits_commit(sm, &edits, on_adopted, NULL);
	}
	edits_clear(&edits);
	return r;
}

int sm_ledger_adopt(struct sm *sm, sm_ledger_done_fn *done, void *arg)
{
	struct tenancy *t = sm->m.tenancy;
	int r;

	assert(done);
	r = settle_fault(sm) ? -EROFS : start_adoption(sm, done, arg);
	if (r < 0)
		return r;
	collect_adopted(sm, t->adoption);
	r = commit_adopted(sm, t->adoption);
	if (r < 0)
		t->adoption = adoption_drop(t->adoption);
	return r;
}

int sm_ledger_forget(struct sm *sm, sm_ledger_done_fn *done, void *arg)
{
	int r;

	assert(done);
	r = start_adoption(sm, done, arg);
	if (r < 0)
		return r;
	settle_forget_devices(sm);
	sm->m.tenancy->adoption->is_over = true;
	return 0;
}

void sm_ledger_abandon(struct sm *sm, const void *arg)
{
	struct adoption *a = sm->m.tenancy->adoption;

	if (a && a->arg == arg)
		a->done = NULL;
}

bool adoption_is_over(const struct sm *sm)
{
	return sm->m.tenancy->adoption && sm->m.tenancy->adoption->is_over;
}

void adoption_tick(struct sm *sm)
{
	if (adoption_is_over(sm))
		end_adoption(sm);
}

void adoption_free(struct sm *sm)
{
	struct adoption *a = sm->m.tenancy->adoption;

	if (!a)
		return;
	if (!a->is_over)
		a->result.error = -ECANCELED;
	end_adoption(sm);
}
