// SPDX-License-Identifier: BSD-2-Clause
/*
 * As long as this manager may not write what rows of the ledger decide (sm/ledger/settle.h), P_Keys
 * that tenants may have stay as devices have them; and whether devices agree with the rows, which a
 * manager compares that cannot be sure of its rows, and finds no other one to ask.
 */
#include "sm/admin/tenancy.h"
#include "sm/admin/tenancy_internal.h"
#include "sm/base/news.h"
#include "util/mem.h"

/* A row says that it was removed: that is taken from devices whatever others know. */
static bool is_removed(const struct sm *sm, uint16_t pkey, guid_t guid)
{
	const struct ledger_key member = tenancy_member_key(pkey, guid);
	const struct ledger_key partition = tenancy_partition_key(pkey);
	const struct ledger_row *row = ledger_find(settle_ledger(sm), &member);
	const struct ledger_row *of = ledger_find(settle_ledger(sm), &partition);

	return (row && ledger_row_value(row).removed) || (of && ledger_row_value(of).removed);
}

static enum tenants_held held_now(const struct sm *sm)
{
	switch (settle_state(sm)) {
	case SETTLE_ASKING:
	case SETTLE_KEEPING:
		return TENANTS_HELD;
	case SETTLE_TAKING:
		return TENANTS_TAKEN;
	case SETTLE_FOREIGN:
	case SETTLE_WRITING:
		break;
	}
	return TENANTS_FREE;
}

void tenancy_settled(struct sm *sm, bool is_other_state)
{
	sm->m.tenancy->settled = true;
	if (!is_other_state || sm->state != SM_MASTER)
		return;
	partition_hold_tenants(sm, held_now(sm), is_removed);
	if (partition_is_planned(sm) && partition_is_held(sm) != (held_now(sm) != TENANTS_FREE))
		tell_news(sm, NEWS_TABLES, .text = "P_Keys of tenants may be written, or not");
}

void tenancy_doubt_devices(struct sm *sm)
{
	FABRIC_EACH_END_PORT(sm->fabric, p)
		observe_distrust_pkeys(sm->fabric, p);
}

/* ---- do devices agree with the rows? --------------------------------------------------------- */

static bool file_gives(const struct partition *p, guid_t guid)
{
	for (size_t i = 0; i < p->n_items; i++) {
		if (p->items[i].ports != PARTITION_GUID || p->items[i].guid == guid)
			return true;
	}
	return false;
}

/* A P_Key that a device holds. */
static bool is_explained(struct sm *sm, uint16_t base, guid_t guid)
{
	const struct partitions *file = partition_of_file(sm);
	const struct partition *filed = file ? partitions_find(file, base) : NULL;
	const struct ledger_key key = tenancy_member_key(base, guid);

	if (base == PKEY_DEFAULT || (filed && (!filed->api || file_gives(filed, guid))))
		return true;
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

/* P_Keys that the table of tenants gives the port, and that it lacks. */
static size_t count_missing(struct sm *sm, guid_t guid, const uint16_t *keys, unsigned n_keys)
{
	size_t n_rights, n = 0;
	const struct tenant_right *rights =
		tenants_of_port(partition_tenants(sm), guid, &n_rights);

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

size_t tenancy_unexplained(struct sm *sm)
{
	size_t n = 0;

	FABRIC_EACH_END_PORT(sm->fabric, p) {
		if (p->guid && p->known && !p->quarantined && port_is_live(p))
			n += count_unexplained(sm, p);
	}
	return n;
}
