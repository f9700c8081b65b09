// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which port is in which partition: of the items of a partition that match a port, the last one
 * decides.
 *
 * Items for kinds of ports (ALL, ALL_CAS, SELF ...) are settled once per kind and partition, items
 * for GUIDs once per port that they name. So the cost is that of the items, plus that of the keys of
 * the ports that are named.
 */
#include <string.h>

#include "ib/attrs.h"
#include "plan/pkey_private.h"
#include "util/mem.h"

#define NO_ITEM UINT32_MAX

/* Node type, and whether it is the SM's own port. */
enum { N_TYPES = 3, N_KINDS = N_TYPES * 2 };

/* A GUID item that counts: the last one for this port and partition. */
struct named {
	uint32_t port;
	uint32_t partition;
	uint32_t item;
};

struct members {
	const struct pkey_job *job;
	uint32_t *by_kind;   /* [kind * n_partitions + partition]: item, or NO_ITEM */
	struct named *named; /* by port, then by partition */
	uint32_t *first;     /* per port: where it begins in `named`; one more at the end */
	struct intern kinds;
	uint32_t *scratch;	  /* of members_kind() */
	bool kind_indx0[N_KINDS]; /* an item for ports of this kind says indx0 */
};

static unsigned kind_of(const struct pkey_port *port)
{
	unsigned type = 0;

	if (port->node_type == IB_NODE_SWITCH)
		type = 1;
	else if (port->node_type == IB_NODE_ROUTER)
		type = 2;
	return type * 2 + port->is_sm;
}

static bool item_matches_kind(enum partition_who who, unsigned kind)
{
	switch (who) {
	case PARTITION_ALL:
		return true;
	case PARTITION_ALL_CAS:
		return kind / 2 == 0;
	case PARTITION_ALL_SWITCHES:
		return kind / 2 == 1;
	case PARTITION_ALL_ROUTERS:
		return kind / 2 == 2;
	case PARTITION_SELF:
		return kind % 2;
	case PARTITION_GUID:
		break;
	}
	return false;
}

/* --- Preparation ---------------------------------------------------------------------------- */

static void settle_item(struct members *m, size_t partition, uint32_t number)
{
	const struct partitions *all = m->job->partitions;
	const struct partition_item *item = &all->list[partition].items[number];

	for (unsigned kind = 0; kind < N_KINDS; kind++) {
		if (!item_matches_kind(item->who, kind))
			continue;
		m->by_kind[kind * all->n + partition] = number;
		m->kind_indx0[kind] |= item->indx0;
	}
}

static void settle_kinds(struct members *m)
{
	const struct partitions *all = m->job->partitions;

	m->by_kind = xcalloc(N_KINDS * all->n, sizeof(*m->by_kind));
	memset(m->by_kind, 0xFF, N_KINDS * all->n * sizeof(*m->by_kind));
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->list[i].n_items; k++)
			settle_item(m, i, (uint32_t)k);
}

/* The port that an item names, or NO_ITEM. */
static uint32_t named_port(const struct guidmap *ports, const struct partition_item *item)
{
	const void *found = item->who == PARTITION_GUID ? guidmap_get(ports, item->guid) : NULL;

	return found ? (uint32_t)((uintptr_t)found - 1) : NO_ITEM;
}

/* Counts into first[port + 1], then turns counts into beginnings. */
static void count_named(struct members *m, const uint32_t *port_of, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (port_of[i] != NO_ITEM)
			m->first[port_of[i] + 1]++;
	for (size_t i = 0; i < m->job->n_ports; i++)
		m->first[i + 1] += m->first[i];
}

/* Of several items for one port and partition, the last stays. */
static void drop_earlier(struct members *m)
{
	uint32_t kept = 0, begin = 0;

	for (size_t port = 0; port < m->job->n_ports; port++) {
		uint32_t end = m->first[port + 1], start = kept;

		for (uint32_t i = begin; i < end; i++) {
			if (kept > start && m->named[kept - 1].partition == m->named[i].partition)
				kept--;
			m->named[kept++] = m->named[i];
		}
		begin = end;
		m->first[port] = start;
	}
	m->first[m->job->n_ports] = kept;
}

static void settle_named(struct members *m, const struct guidmap *ports)
{
	const struct partitions *all = m->job->partitions;
	_cleanup_free_ uint32_t *port_of = NULL, *next = NULL;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->list[i].n_items;
	port_of = xcalloc(n + 1, sizeof(*port_of));
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->list[i].n_items; k++)
			port_of[at++] = named_port(ports, &all->list[i].items[k]);
	m->first = xcalloc(m->job->n_ports + 1, sizeof(*m->first));
	count_named(m, port_of, n);
	m->named = xcalloc(m->first[m->job->n_ports] + (size_t)1, sizeof(*m->named));
	next = xmemdup(m->first, (m->job->n_ports + 1) * sizeof(*next));
	at = 0;
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->list[i].n_items; k++, at++)
			if (port_of[at] != NO_ITEM)
				m->named[next[port_of[at]]++] =
					(struct named){ port_of[at], (uint32_t)i, (uint32_t)k };
	drop_earlier(m);
}

static void count_members(const struct members *m, uint32_t *n_members)
{
	size_t n = m->job->partitions->n, of_kind[N_KINDS] = { 0 };

	for (size_t i = 0; i < m->job->n_ports; i++)
		of_kind[kind_of(&m->job->ports[i])]++;
	for (unsigned kind = 0; kind < N_KINDS; kind++)
		for (size_t i = 0; i < n; i++)
			if (m->by_kind[kind * n + i] != NO_ITEM)
				n_members[i] += (uint32_t)of_kind[kind];
	for (size_t i = 0; i < m->first[m->job->n_ports]; i++) {
		const struct named *named = &m->named[i];
		unsigned kind = kind_of(&m->job->ports[named->port]);

		n_members[named->partition] += m->by_kind[kind * n + named->partition] == NO_ITEM;
	}
}

struct members *members_new(const struct pkey_job *job, const struct guidmap *ports,
			    uint32_t *n_members)
{
	struct members *m = xcalloc(1, sizeof(*m));

	m->job = job;
	settle_kinds(m);
	settle_named(m, ports);
	m->scratch = xcalloc(job->partitions->n * 2 + 1, sizeof(*m->scratch));
	count_members(m, n_members);
	return m;
}

struct members *members_free(struct members *m)
{
	if (m) {
		free(m->by_kind);
		free(m->named);
		free(m->first);
		free(m->scratch);
		pkey_intern_clear(&m->kinds);
		free(m);
	}
	return NULL;
}

void members_freep(struct members **m)
{
	*m = members_free(*m);
}

/* --- One port ------------------------------------------------------------------------------- */

/* The item that decides, or NULL; `named` is the next of the port's, and moves on. */
static const struct partition_item *deciding(const struct members *m, unsigned kind,
					     size_t partition, uint32_t *named, uint32_t end)
{
	const struct partitions *all = m->job->partitions;
	uint32_t item = m->by_kind[kind * all->n + partition];

	if (*named < end && m->named[*named].partition == partition) {
		if (item == NO_ITEM || m->named[*named].item > item)
			item = m->named[*named].item;
		(*named)++;
	}
	return item == NO_ITEM ? NULL : &all->list[partition].items[item];
}

/* What sets ports apart: the kind, and what the items that name the port come to. */
uint32_t members_kind(struct members *m, size_t port)
{
	unsigned kind = kind_of(&m->job->ports[port]), n_indx0 = m->kind_indx0[kind];
	size_t n = 0;

	m->scratch[n++] = kind;
	for (uint32_t at = m->first[port]; at < m->first[port + 1];) {
		uint32_t partition = m->named[at].partition;
		const struct partition_item *item =
			deciding(m, kind, partition, &at, m->first[port + 1]);

		m->scratch[n++] = partition << 8 | (uint32_t)item->member << 1 | item->indx0;
		m->scratch[n++] = item->indx0 ? item->seq : 0;
		n_indx0 += item->indx0;
	}
	/* The order of indx0 matters where there are two. */
	for (size_t i = 2; i < n && n_indx0 < 2; i += 2)
		m->scratch[i] = 0;
	return pkey_intern_put(&m->kinds, m->scratch, n * sizeof(*m->scratch));
}

static void add_key(struct pkey_wants *w, uint16_t key)
{
	w->keys[w->n++] = key;
}

/* The limited key goes before the full one. */
static void add_partition(struct pkey_wants *w, uint16_t pkey, enum partition_member member,
			  bool allow_both)
{
	if (member == PARTITION_LIMITED || (member == PARTITION_BOTH && allow_both))
		add_key(w, pkey);
	if (member != PARTITION_LIMITED)
		add_key(w, (uint16_t)(pkey | PKEY_FULL));
}

/* The default key if there is no other owner: full if there is a choice. */
static uint16_t default_key(const struct pkey_wants *w)
{
	uint16_t key = 0;

	for (size_t i = 0; i < w->n; i++)
		if ((w->keys[i] & PKEY_BASE) == PKEY_DEFAULT)
			key = MAX(key, w->keys[i]);
	return key;
}

void members_wants(const struct members *m, size_t port, struct pkey_wants *ret)
{
	const struct partitions *all = m->job->partitions;
	unsigned kind = kind_of(&m->job->ports[port]);
	uint32_t named = m->first[port], last_indx0 = 0;

	ret->n = 0;
	ret->owner0 = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct partition_item *item =
			deciding(m, kind, i, &named, m->first[port + 1]);
		size_t first = ret->n;

		if (!item)
			continue;
		add_partition(ret, all->list[i].pkey, item->member, m->job->allow_both);
		if (item->indx0 && item->seq >= last_indx0) {
			last_indx0 = item->seq;
			ret->owner0 = ret->keys[first];
		}
	}
	if (!ret->owner0)
		ret->owner0 = default_key(ret);
}
