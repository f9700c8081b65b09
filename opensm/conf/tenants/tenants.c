// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of run-time partitions: life and look-up. A member is found in two ways: in the sorted
 * members of its partition, and in the partitions of its port, a hash by GUID. Only tenants_play.c
 * changes them.
 */
#include "conf/tenants/tenants.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "conf/tenants/tenants_internal.h"
#include "util/bisect.h"

#define DEFAULT_MTU  4 /* 2048 bytes */
#define DEFAULT_RATE 2 /* 2.5 Gb/s */

/* --- Life ----------------------------------------------------------------------------------- */

struct tenants *tenants_new(void)
{
	struct tenants *t = xcalloc(1, sizeof(*t));

	t->ports = guidmap_new();
	return t;
}

struct held *held_free(struct held *h)
{
	if (h)
		free(h->p.members);
	free(h);
	return NULL;
}

struct tenants *tenants_free(struct tenants *t)
{
	void *rights;

	if (!t)
		return NULL;
	for (size_t i = 0; i < t->n; i++)
		held_free(t->list[i]);
	for (size_t pos = 0; guidmap_next(t->ports, &pos, NULL, &rights);)
		free(rights);
	guidmap_free(t->ports);
	free(t->list);
	free(t);
	return NULL;
}

void tenant_entry_clear(struct tenant_entry *e)
{
	free(e->rows);
	*e = (struct tenant_entry){ 0 };
}

/* --- Of the table --------------------------------------------------------------------------- */

uint64_t tenants_generation(const struct tenants *t)
{
	return t->generation;
}

int64_t tenants_changed_at(const struct tenants *t)
{
	return t->changed_at;
}

size_t tenants_members(const struct tenants *t)
{
	return t->n_members;
}

/* --- Of a partition ------------------------------------------------------------------------- */

struct tenant_fields tenants_default_fields(uint16_t pkey)
{
	struct tenant_fields f = { .ipoib = true, .mtu = DEFAULT_MTU, .rate = DEFAULT_RATE };

	snprintf(f.name, sizeof(f.name), "api_pkey_0x%x", pkey);
	return f;
}

bool tenants_fields_equal(const struct tenant_fields *a, const struct tenant_fields *b)
{
	return strcmp(a->name, b->name) == 0 && a->ipoib == b->ipoib && a->mtu == b->mtu &&
	       a->rate == b->rate && a->sl == b->sl;
}

size_t tenants_place(const struct tenants *t, uint16_t pkey)
{
	return BISECT(i, (size_t)0, t->n, t->list[i]->p.pkey < pkey);
}

struct held *tenants_held(const struct tenants *t, uint16_t pkey)
{
	size_t at = tenants_place(t, pkey);

	return at < t->n && t->list[at]->p.pkey == pkey ? t->list[at] : NULL;
}

const struct tenant_partition *tenants_at(const struct tenants *t, size_t n)
{
	return n < t->n ? &t->list[n]->p : NULL;
}

const struct tenant_partition *tenants_find(const struct tenants *t, uint16_t pkey)
{
	const struct held *h = tenants_held(t, pkey);

	return h ? &h->p : NULL;
}

size_t held_place(const struct tenant_partition *p, guid_t guid)
{
	return BISECT(i, (size_t)0, p->n_members, p->members[i].guid < guid);
}

const struct tenant_member *tenants_member(const struct tenant_partition *p, guid_t guid)
{
	size_t at = held_place(p, guid);

	return at < p->n_members && p->members[at].guid == guid ? &p->members[at] : NULL;
}

/* --- Of a port ------------------------------------------------------------------------------ */

const struct tenant_right *tenants_of_port(const struct tenants *t, guid_t guid, size_t *ret_n)
{
	const struct rights *r = guidmap_get(t->ports, guid);

	*ret_n = r ? r->n : 0;
	return r ? r->list : NULL;
}

uint16_t tenants_at_index0(const struct tenants *t, guid_t guid)
{
	size_t n;
	const struct tenant_right *rights = tenants_of_port(t, guid, &n);

	for (size_t i = 0; i < n; i++)
		if (rights[i].index0)
			return rights[i].pkey;
	return 0;
}

guid_t tenants_each_port(const struct tenants *t, size_t *at)
{
	guid_t guid;

	return guidmap_next(t->ports, at, &guid, NULL) ? guid : 0;
}
