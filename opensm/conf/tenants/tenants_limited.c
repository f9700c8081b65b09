// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds partitions whose members, by file and table, are all limited, so cannot talk to each other.
 */
#include <assert.h>

#include "conf/tenants/tenants.h"

static bool is_limited(const void *arg, guid_t guid)
{
	const struct tenant_member *m = tenants_member(arg, guid);

	return m && !m->full;
}

/* Members of the table override all items of the file. */
static bool is_all_limited(const struct partition *file, const struct tenant_partition *table)
{
	size_t n = table ? table->n_members : 0;

	for (size_t i = 0; i < n; i++)
		if (table->members[i].full)
			return false;
	if (!file->n_items)
		return n > 1;
	return (n || partition_names_several(file)) &&
	       !partition_has_full(file, table ? is_limited : NULL, table);
}

size_t tenants_all_limited(const struct tenants *t, const struct partitions *all, uint16_t *ret,
			   size_t cap)
{
	size_t n = 0;

	assert(ret || !cap);
	for (size_t i = 0; all && i < all->n; i++) {
		const struct partition *p = &all->list[i];

		if (is_all_limited(p, t ? tenants_find(t, p->pkey) : NULL) && n++ < cap)
			ret[n - 1] = p->pkey;
	}
	return n;
}
