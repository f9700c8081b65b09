// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which port is in which partition: of the items of a partition that match a port, the last one
 * decides, and rights made at run time stand behind all of them.
 *
 * Items for kinds of ports (ALL, ALL_CAS, SELF ...) are settled once per kind and partition, items
 * for GUIDs once per GUID. What a port wants is then three lists, each by partition_order(): of its
 * kind, of its GUID, of run time. So a port costs its keys.
 */
#include <assert.h>
#include <string.h>

#include "conf/tenants/tenants.h"
#include "ib/attrs.h"
#include "plan/pkey_internal.h"
#include "util/bisect.h"
#include "util/mem.h"

#define NO_ITEM UINT32_MAX

/* Node type, and whether it is the SM's own port. */
enum { N_TYPES = 3, N_KINDS = N_TYPES * 2 };

/* A GUID item that counts: the last one for this GUID and partition. */
struct named {
	uint32_t partition;
	uint32_t item;
	uint32_t next; /* of the GUID, by partition; NO_ITEM: none */
};

/* The item of a partition that counts for a kind of ports. */
struct kind_item {
	uint32_t partition, item;
};

struct pkey_rights {
	struct partitions *partitions; /* one reference */
	struct {
		struct kind_item *items; /* by partition */
		size_t n, cap;
		bool has_indx0; /* an item for ports of this kind says indx0 */
	} kinds[N_KINDS];
	struct named *named;
	size_t n_named;
	struct guidmap *first; /* GUID: its first in `named`, + 1 */
};

static unsigned kind_of(const struct pkey_port *port)
{
	unsigned type = 0;

	if (port->node_type == IB_NODE_SWITCH)
		type = 1;
	else if (port->node_type == IB_NODE_ROUTER)
		type = 2;
	return port->is_sm ? type * 2 + 1 : type * 2;
}

static bool item_matches_kind(enum partition_ports ports, unsigned kind)
{
	switch (ports) {
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

static void settle_kind(struct pkey_rights *r, uint32_t partition, unsigned kind)
{
	const struct partition *p = &r->partitions->list[partition];
	uint32_t last = NO_ITEM;

	for (size_t k = 0; k < p->n_items; k++) {
		if (!item_matches_kind(p->items[k].ports, kind))
			continue;
		last = (uint32_t)k;
		r->kinds[kind].has_indx0 |= p->items[k].indx0;
	}
	if (last == NO_ITEM)
		return;
	GROW(r->kinds[kind].items, r->kinds[kind].n + 1, r->kinds[kind].cap);
	r->kinds[kind].items[r->kinds[kind].n++] = (struct kind_item){ partition, last };
}

static uint32_t first_named(const struct pkey_rights *r, guid_t guid)
{
	const void *found = guid ? guidmap_get(r->first, guid) : NULL;

	return found ? (uint32_t)((uintptr_t)found - 1) : NO_ITEM;
}

/* From the last item to the first: chains grow at their heads, and the last item stays. */
static void settle_named(struct pkey_rights *r)
{
	const struct partitions *all = r->partitions;
	size_t cap = 0;

	for (size_t i = all->n; i-- > 0;) {
		for (size_t k = all->list[i].n_items; k-- > 0;) {
			const struct partition_item *item = &all->list[i].items[k];
			uint32_t next = first_named(r, item->guid);

			if (item->ports != PARTITION_GUID || !item->guid ||
			    (next != NO_ITEM && r->named[next].partition == i))
				continue;
			GROW(r->named, r->n_named + 1, cap);
			r->named[r->n_named++] = (struct named){ (uint32_t)i, (uint32_t)k, next };
			guidmap_put(r->first, item->guid, (void *)(uintptr_t)r->n_named);
		}
	}
}

struct pkey_rights *pkey_rights_new(const struct partitions *p)
{
	struct pkey_rights *r = xcalloc(1, sizeof(*r));

	assert(p);
	r->partitions = partitions_ref(p);
	r->first = guidmap_new();
	for (uint32_t i = 0; i < p->n; i++)
		for (unsigned kind = 0; kind < N_KINDS; kind++)
			settle_kind(r, i, kind);
	settle_named(r);
	return r;
}

struct pkey_rights *pkey_rights_free(struct pkey_rights *r)
{
	if (r) {
		for (unsigned kind = 0; kind < N_KINDS; kind++)
			free(r->kinds[kind].items);
		free(r->named);
		guidmap_free(r->first);
		partitions_unref(r->partitions);
		free(r);
	}
	return NULL;
}

void pkey_kinds_clear(struct pkey_kinds *kinds)
{
	pkey_intern_clear(&kinds->numbers);
	free(kinds->words);
	*kinds = (struct pkey_kinds){ 0 };
}

/* --- One port ------------------------------------------------------------------------------- */

/* The lists of a port, each at its next entry. */
struct reader {
	const struct pkey_rights *rights;
	const struct kind_item *kind, *kind_end;
	uint32_t named; /* NO_ITEM: the end */
	const struct tenant_right *run, *run_end;
};

/* One partition of a port. */
struct part {
	uint16_t pkey;
	const struct partition_item *item; /* of the file; NULL: none */
	const struct tenant_right *run;	   /* made at run time, decides; NULL: none */
};

static const struct tenant_right *run_rights(const struct tenants *tenants,
					     const struct pkey_port *port, size_t *ret_n)
{
	*ret_n = 0;
	return tenants && port->guid ? tenants_of_port(tenants, port->guid, ret_n) : NULL;
}

static struct reader read_port(const struct pkey_rights *r, const struct tenants *tenants,
			       const struct pkey_port *port)
{
	unsigned kind = kind_of(port);
	struct reader ret = { .rights = r, .kind = r->kinds[kind].items };
	size_t n;

	ret.kind_end = ret.kind ? ret.kind + r->kinds[kind].n : NULL;
	ret.named = first_named(r, port->guid);
	ret.run = run_rights(tenants, port, &n);
	ret.run_end = ret.run ? ret.run + n : NULL;
	return ret;
}

/* The partition of the file that is next; UINT32_MAX: none. */
static uint32_t next_of_file(const struct reader *r)
{
	uint32_t kind = r->kind != r->kind_end ? r->kind->partition : UINT32_MAX;
	uint32_t named = r->named != NO_ITEM ? r->rights->named[r->named].partition : UINT32_MAX;

	return MIN(kind, named);
}

/* The item that decides in the next partition of the file. */
static const struct partition_item *next_item(struct reader *r, uint32_t partition)
{
	uint32_t item = 0;

	if (r->kind != r->kind_end && r->kind->partition == partition)
		item = (r->kind++)->item;
	if (r->named != NO_ITEM && r->rights->named[r->named].partition == partition) {
		item = MAX(item, r->rights->named[r->named].item);
		r->named = r->rights->named[r->named].next;
	}
	return &r->rights->partitions->list[partition].items[item];
}

/* False: there are no more. */
static bool next_part(struct reader *r, struct part *ret)
{
	const struct partition *list = r->rights->partitions->list;
	uint32_t partition = next_of_file(r);
	bool has_file = partition != UINT32_MAX, has_run = r->run != r->run_end;
	unsigned of_file = has_file ? partition_order(list[partition].pkey) : UINT32_MAX;
	unsigned of_run = has_run ? partition_order(r->run->pkey) : UINT32_MAX;

	*ret = (struct part){ 0 };
	if (has_file && of_file <= of_run) {
		ret->pkey = list[partition].pkey;
		ret->item = next_item(r, partition);
	}
	if (has_run && of_run <= of_file) {
		ret->pkey = r->run->pkey & PKEY_BASE;
		ret->run = r->run++;
	}
	return has_file || has_run;
}

bool pkey_is_still(const struct tenants *tenants, const struct pkey_port *port)
{
	size_t n;

	run_rights(tenants, port, &n);
	return n > 0;
}

static void add_word(struct pkey_kinds *kinds, size_t *n, uint32_t word)
{
	GROW(kinds->words, *n + 1, kinds->words_cap);
	kinds->words[(*n)++] = word;
}

/* The item that decides for a port of this kind which this one names. */
static const struct partition_item *deciding(const struct pkey_rights *r, unsigned kind,
					     const struct named *named)
{
	const struct kind_item *items = r->kinds[kind].items;
	size_t n = r->kinds[kind].n;
	size_t at = BISECT(i, 0, n, items[i].partition < named->partition);
	uint32_t item = named->item;

	if (at < n && items[at].partition == named->partition)
		item = MAX(item, items[at].item);
	return &r->partitions->list[named->partition].items[item];
}

/* Two words for each partition that names the port. */
static void add_named_words(const struct pkey_rights *r, const struct pkey_port *port,
			    struct pkey_kinds *kinds, size_t *n)
{
	unsigned kind = kind_of(port), n_indx0 = r->kinds[kind].has_indx0 ? 1 : 0;
	size_t first = *n;

	for (uint32_t at = first_named(r, port->guid); at != NO_ITEM; at = r->named[at].next) {
		uint32_t partition = r->named[at].partition;
		const struct partition_item *item = deciding(r, kind, &r->named[at]);

		add_word(kinds, n, partition << 8 | (uint32_t)item->member << 1 | item->indx0);
		add_word(kinds, n, item->indx0 ? item->seq : 0);
		if (item->indx0)
			n_indx0++;
	}
	/* The order of indx0 matters where there are two. */
	for (size_t i = first + 1; i < *n && n_indx0 < 2; i += 2)
		kinds->words[i] = 0;
}

uint32_t pkey_rights_kind(const struct pkey_rights *r, const struct tenants *tenants,
			  const struct pkey_port *port, struct pkey_kinds *kinds)
{
	size_t n = 0, n_run;
	const struct tenant_right *run = run_rights(tenants, port, &n_run);

	add_word(kinds, &n, kind_of(port));
	add_named_words(r, port, kinds, &n);
	/* Bit 31 tells these words from those of the file. */
	for (size_t i = 0; i < n_run; i++)
		add_word(kinds, &n,
			 1u << 31 | (run[i].pkey & PKEY_BASE) << 2 | (uint32_t)run[i].full << 1 |
				 run[i].index0);
	return pkey_intern_put(&kinds->numbers, kinds->words, n * sizeof(*kinds->words));
}

static void add_key(struct pkey_wants *w, uint16_t key)
{
	GROW(w->keys, w->n + 1, w->cap);
	w->keys[w->n++] = key;
}

/* Our own port, as hosts that are limited members of 0x7fff can only talk to full members. */
static bool is_always_full(const struct pkey_port *port, uint16_t pkey)
{
	return port->is_sm && pkey == PKEY_DEFAULT;
}

/* The limited key goes before the full one. */
static void add_part(struct pkey_wants *w, const struct pkey_port *port, const struct part *part,
		     bool allow_both)
{
	enum partition_member member = part->item ? part->item->member : PARTITION_LIMITED;

	if (part->run)
		member = part->run->full ? PARTITION_FULL : PARTITION_LIMITED;
	if (member == PARTITION_LIMITED && is_always_full(port, part->pkey))
		member = PARTITION_FULL;
	if (member == PARTITION_LIMITED || (member == PARTITION_BOTH && allow_both))
		add_key(w, part->pkey);
	if (member != PARTITION_LIMITED)
		add_key(w, (uint16_t)(part->pkey | PKEY_FULL));
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

/* An index0 made at run time goes before all, then the last indx0 of the file. */
static uint64_t claim_of(const struct part *part)
{
	if (part->run)
		return part->run->index0 ? UINT64_MAX : 0;
	return part->item->indx0 ? 1 + (uint64_t)part->item->seq : 0;
}

void pkey_rights_wants(const struct pkey_rights *r, const struct pkey_job *job,
		       const struct pkey_port *port, struct pkey_wants *ret)
{
	struct reader at = read_port(r, job->tenants, port);
	uint64_t strongest = 0;
	struct part part;

	ret->n = 0;
	ret->owner0 = 0;
	ret->is_still = at.run != at.run_end;
	while (next_part(&at, &part)) {
		size_t first = ret->n;

		add_part(ret, port, &part, job->allow_both);
		if (claim_of(&part) && claim_of(&part) >= strongest) {
			strongest = claim_of(&part);
			ret->owner0 = ret->keys[first];
		}
	}
	if (!default_key(ret) && is_always_full(port, PKEY_DEFAULT))
		add_key(ret, PKEY_DEFAULT | PKEY_FULL);
	if (!ret->owner0)
		ret->owner0 = default_key(ret);
}
