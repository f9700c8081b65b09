// SPDX-License-Identifier: BSD-2-Clause
/* Makes one struct of the partitions of the file and of the table, in the order of P_Key tables. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "conf/tenants/tenants_internal.h"
#include "util/bisect.h"


static struct partition copy_of_file(const struct partition *p)
{
	struct partition copy = *p;

	copy.items = xmemdup(p->items, p->n_items * sizeof(*p->items));
	return copy;
}

static struct partition copy_of_table(const struct tenant_partition *p, const struct conf *conf)
{
	struct partition copy = { .pkey = p->pkey, .api = true };

	memcpy(copy.name, p->fields.name, sizeof(copy.name));
	copy.sl = conf->qos ? p->fields.sl : 0;
	return copy;
}

static int compare_partitions(const void *va, const void *vb)
{
	const struct partition *a = va, *b = vb;

	return COMPARE(partition_order(a->pkey), partition_order(b->pkey));
}

static void join_lists(struct partitions *ret, const struct tenants *t,
		       const struct partitions *file, const struct conf *conf)
{
	ret->list = xcalloc(file->n + t->n, sizeof(*ret->list));
	for (size_t i = 0; i < file->n; i++)
		ret->list[ret->n++] = copy_of_file(&file->list[i]);
	for (size_t i = 0; i < t->n; i++)
		if (!partitions_find(file, t->list[i]->p.pkey))
			ret->list[ret->n++] = copy_of_table(&t->list[i]->p, conf);
	qsort(ret->list, ret->n, sizeof(*ret->list), compare_partitions);
}

static void add_group(struct partitions *ret, const struct partition_group *g)
{
	const struct partition *p = partitions_find(ret, g->pkey);

	ret->groups[ret->n_groups] = *g;
	ret->groups[ret->n_groups++].partition = (uint16_t)(p - ret->list);
}

/* Groups of the file come first, so that the table does not change their MLIDs. */
static void join_groups(struct partitions *ret, const struct tenants *t,
			const struct partitions *file, const struct conf *conf)
{
	ret->groups = xcalloc(file->n_groups + ret->n, sizeof(*ret->groups));
	for (size_t i = 0; i < file->n_groups; i++)
		add_group(ret, &file->groups[i]);
	for (size_t i = 0; i < ret->n && ret->n_groups < PARTITION_GROUPS_MAX; i++) {
		const struct tenant_partition *p = tenants_find(t, ret->list[i].pkey);
		struct partition_group g;

		if (!p || !p->fields.ipoib || partitions_find(file, p->pkey))
			continue;
		g = partitions_broadcast(conf, p->pkey, p->fields.mtu, p->fields.rate,
					 ret->list[i].sl);
		add_group(ret, &g);
	}
}

struct partitions *tenants_join(const struct tenants *t, const struct partitions *file,
				const struct conf *conf)
{
	_cleanup_(partitions_unrefp) struct partitions *without = NULL;
	struct partitions *ret = xcalloc(1, sizeof(*ret));

	assert(t && conf);
	if (!file)
		file = without = partitions_builtin(conf);
	atomic_init(&ret->refs, 1);
	ret->origin = file->origin;
	ret->file = file->file ? xstrdup(file->file) : NULL;
	join_lists(ret, t, file, conf);
	join_groups(ret, t, file, conf);
	return ret;
}
