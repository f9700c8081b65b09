// SPDX-License-Identifier: BSD-2-Clause
/*
 * Life, look-up and comparison of partitions, and the partitions in force without a file. The
 * reader of the file: partitions_parse.c.
 */
#include "conf/partitions/partitions.h"

#include <string.h>

#include "util/bisect.h"
#include "util/mem.h"

#define DEFAULT_MTU  4 /* 2048 bytes */
#define DEFAULT_RATE 3 /* 10 Gb/s */
#define IPOIB_QKEY   0x0b1bu

/* --- Life ----------------------------------------------------------------------------------- */

struct partitions *partitions_ref(const struct partitions *p)
{
	struct partitions *shared = as_owner(p);

	if (shared)
		atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
	return shared;
}

struct partitions *partitions_unref(const struct partitions *shared)
{
	struct partitions *p = as_owner(shared);

	if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) > 1)
		return NULL;
	for (size_t i = 0; i < p->n; i++)
		free(p->list[i].items);
	free(p->list);
	free(p->groups);
	free(p->file);
	free(p->text);
	free(p);
	return NULL;
}

/* --- Broadcast groups ----------------------------------------------------------------------- */

/* ff12:401b:PPPP::ffff:ffff */
static void broadcast_mgid(uint16_t pkey, uint8_t ret[16])
{
	static const uint8_t model[16] = { 0xff, 0x12, 0x40, 0x1b, [12] = 0xff, 0xff, 0xff, 0xff };

	memcpy(ret, model, sizeof(model));
	ret[4] = (uint8_t)((pkey | PKEY_FULL) >> 8);
	ret[5] = (uint8_t)pkey;
}

struct partition_group partitions_broadcast(const struct conf *conf, uint16_t pkey, uint8_t mtu,
					    uint8_t rate, uint8_t sl)
{
	struct partition_group g = {
		.pkey = (uint16_t)(pkey | PKEY_FULL),
		.qkey = IPOIB_QKEY,
		.mtu = mtu,
		.rate = rate,
		.sl = sl,
		.life = conf->subnet_timeout,
		.scope = 2,
	};

	broadcast_mgid(pkey, g.mgid);
	return g;
}

const struct partition_group *partitions_find_broadcast(const struct partitions *p, uint16_t pkey)
{
	uint8_t mgid[16];

	broadcast_mgid(pkey, mgid);
	for (size_t i = 0; i < p->n_groups; i++)
		if (memcmp(p->groups[i].mgid, mgid, sizeof(mgid)) == 0)
			return &p->groups[i];
	return NULL;
}

/* --- Without a file ------------------------------------------------------------------------- */

static struct partitions *only_default(enum partitions_origin origin,
				       const struct partition_item *items, size_t n)
{
	struct partitions *p = xcalloc(1, sizeof(*p));

	atomic_init(&p->refs, 1);
	p->origin = origin;
	p->list = xcalloc(1, sizeof(*p->list));
	p->n = 1;
	p->list[0] = (struct partition){ .pkey = PKEY_DEFAULT, .name = "Default", .n_items = n };
	p->list[0].items = xmemdup(items, n * sizeof(*items));
	return p;
}

static const struct partition_item all_limited[] = {
	{ .ports = PARTITION_ALL, .member = PARTITION_LIMITED },
	{ .ports = PARTITION_SELF, .member = PARTITION_FULL, .seq = 1 },
};

struct partitions *partitions_builtin(const struct conf *conf)
{
	static const struct partition_item every_port = { .ports = PARTITION_ALL,
							 .member = PARTITION_FULL };
	bool is_limited = strcmp(conf->default_membership, "limited") == 0;
	struct partitions *p =
		is_limited ? only_default(PARTITIONS_BUILTIN, all_limited, ARRAY_SIZE(all_limited))
			   : only_default(PARTITIONS_BUILTIN, &every_port, 1);
	const struct partition_group broadcast =
		partitions_broadcast(conf, PKEY_DEFAULT, DEFAULT_MTU, DEFAULT_RATE, 0);

	p->groups = xmemdup(&broadcast, sizeof(broadcast));
	p->n_groups = 1;
	return p;
}

struct partitions *partitions_limited(const struct conf *conf)
{
	return only_default(PARTITIONS_LIMITED, all_limited, ARRAY_SIZE(all_limited));
}

/* --- Questions ------------------------------------------------------------------------------ */

const char *partitions_text(const struct partitions *p, size_t *ret_len)
{
	*ret_len = p->len;
	return p->text;
}

const struct partition *partitions_find(const struct partitions *p, uint16_t pkey)
{
	unsigned order = partition_order(pkey);
	size_t at = BISECT(i, 0, p->n, partition_order(p->list[i].pkey) < order);

	return at < p->n && partition_order(p->list[at].pkey) == order ? &p->list[at] : NULL;
}

static bool items_equal(const struct partition_item *a, const struct partition_item *b)
{
	return a->guid == b->guid && a->seq == b->seq && a->ports == b->ports &&
	       a->member == b->member && a->indx0 == b->indx0;
}

static bool partition_equal(const struct partition *a, const struct partition *b)
{
	if (a->pkey != b->pkey || a->sl != b->sl || a->api != b->api || a->n_items != b->n_items ||
	    strcmp(a->name, b->name) != 0)
		return false;
	for (size_t i = 0; i < a->n_items; i++)
		if (!items_equal(&a->items[i], &b->items[i]))
			return false;
	return true;
}

static bool groups_equal(const struct partition_group *a, const struct partition_group *b)
{
	return memcmp(a->mgid, b->mgid, sizeof(a->mgid)) == 0 && a->pkey == b->pkey &&
	       a->partition == b->partition && a->qkey == b->qkey && a->flow == b->flow &&
	       a->mtu == b->mtu && a->rate == b->rate && a->sl == b->sl && a->tclass == b->tclass &&
	       a->hop == b->hop && a->life == b->life && a->scope == b->scope;
}

bool partitions_equal(const struct partitions *a, const struct partitions *b)
{
	if (a->n != b->n || a->n_groups != b->n_groups)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!partition_equal(&a->list[i], &b->list[i]))
			return false;
	for (size_t i = 0; i < a->n_groups; i++)
		if (!groups_equal(&a->groups[i], &b->groups[i]))
			return false;
	return true;
}

const char *partition_member_name(enum partition_member m)
{
	switch (m) {
	case PARTITION_LIMITED:
		return "limited";
	case PARTITION_FULL:
		return "full";
	case PARTITION_BOTH:
		return "both";
	}
	return "?";
}
