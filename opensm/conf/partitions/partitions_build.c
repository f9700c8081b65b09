// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions, items and groups while a file is read: found by P_Key, by name and by MGID, put in
 * order at the end (partitions-conf.md 4 and 5). Not for syntax.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/partitions/partitions_internal.h"
#include "util/hash.h"
#include "util/mem.h"

#define N_BASES 0x8000u

struct part {
	struct partition p;
	size_t cap;
	unsigned line; /* line of the first definition; 0: a built-in partition */
};

struct made {
	struct partition_group g;
	size_t part;
	unsigned line;
};

struct build {
	const struct conf *conf;
	struct part *parts;
	size_t n_parts, parts_cap;
	struct made *groups;
	size_t n_groups, groups_cap;
	uint32_t *slots; /* hash table of MGIDs: index into groups + 1 */
	size_t n_slots;	 /* a power of two, more than twice n_groups */
	uint32_t n_items;
	size_t n_generated;
	uint16_t by_base[N_BASES]; /* index into parts + 1, by base P_Key */
	bool asked[N_BASES];	   /* set if a header has the P_Key */
	bool claimed[N_BASES];	   /* set if a header had the P_Key in the first reading */
};

struct build *build_new(const struct conf *conf, const struct build *before)
{
	struct build *b = xcalloc(1, sizeof(*b));

	b->conf = conf;
	if (before)
		memcpy(b->claimed, before->asked, sizeof(b->claimed));
	b->n_slots = 64;
	b->slots = xcalloc(b->n_slots, sizeof(*b->slots));
	return b;
}

struct build *build_free(struct build *b)
{
	if (b) {
		for (size_t i = 0; i < b->n_parts; i++)
			free(b->parts[i].p.items);
		free(b->parts);
		free(b->groups);
		free(b->slots);
		free(b);
	}
	return NULL;
}

/* --- Partitions ----------------------------------------------------------------------------- */

uint16_t build_pkey(const struct build *b, size_t partition)
{
	assert(partition < b->n_parts);
	return b->parts[partition].p.pkey;
}

static const char *quote_name(const struct part *part, char ret[static CONF_QUOTE_MAX])
{
	return conf_quote(part->p.name, strlen(part->p.name), ret);
}

static size_t find_name(const struct build *b, const char *name)
{
	for (size_t i = 0; *name && i < b->n_parts; i++)
		if (strcmp(b->parts[i].p.name, name) == 0)
			return i;
	return NO_PARTITION;
}

static size_t add_partition(struct build *b, const char *name, uint16_t pkey, unsigned line)
{
	struct part *part;

	GROW(b->parts, b->n_parts + 1, b->parts_cap);
	part = &b->parts[b->n_parts++];
	*part = (struct part){ .p.pkey = pkey, .line = line };
	if (*name)
		snprintf(part->p.name, sizeof(part->p.name), "%s", name);
	else
		snprintf(part->p.name, sizeof(part->p.name), "%04x", pkey);
	b->by_base[pkey] = (uint16_t)b->n_parts;
	return b->n_parts - 1;
}

/* The lowest P_Key that is free and that no header had in the first reading; 0: none. */
static uint16_t free_base(const struct build *b)
{
	for (unsigned base = 1; base < PKEY_DEFAULT; base++)
		if (!b->by_base[base] && !b->claimed[base])
			return (uint16_t)base;
	return 0;
}

static size_t add_generated(struct build *b, const char *name, const struct conf_place *at,
		       struct conf_report *r)
{
	uint16_t base = free_base(b);
	char quoted[CONF_QUOTE_MAX];
	size_t i;

	if (!base) {
		conf_report_at(
			r, CONF_ERROR, at,
			"no P_Key is left for this partition; write one; the file is not used");
		return NO_PARTITION;
	}
	i = add_partition(b, name, base, at->line);
	b->n_generated++;
	conf_report_at(r, CONF_WARNING, at,
		       "partition %s has no P_Key and gets 0x%04x, which may change with the file; "
		       "write NAME=0x%04x to keep it",
		       quote_name(&b->parts[i], quoted), base, base);
	return i;
}

static void remark_merged(const struct part *part, const char *name, const struct conf_place *at,
			  struct conf_report *r)
{
	char quoted[CONF_QUOTE_MAX], other[CONF_QUOTE_MAX];

	if (*name && strcmp(name, part->p.name) != 0 && part->line)
		conf_report_at(r, CONF_ERROR, at,
			       "P_Key 0x%04x is partition %s already, in line %u: as %s its "
			       "members would be merged with those; expected another P_Key, or "
			       "the same name; the file is not used",
			       part->p.pkey, quote_name(part, quoted), part->line,
			       conf_quote(name, strlen(name), other));
	else if (*name && strcmp(name, part->p.name) != 0)
		conf_report_at(r, CONF_WARNING, at,
			       "P_Key 0x%04x is partition %s; what follows is added to it, the "
			       "name %s is not used",
			       part->p.pkey, quote_name(part, quoted),
			       conf_quote(name, strlen(name), other));
	else if (part->line)
		conf_report_at(r, CONF_NOTE, at,
			       "partition %s (0x%04x) is defined in line %u; what follows is added "
			       "to it",
			       quote_name(part, quoted), part->p.pkey, part->line);
}

/* Sets the SL; called for every header, also for one that gives no SL. */
static void set_sl(struct build *b, struct part *part, uint8_t sl, const struct conf_place *at,
		   struct conf_report *r)
{
	char quoted[CONF_QUOTE_MAX];

	if (sl && !b->conf->qos)
		conf_report_at(r, CONF_NOTE, at, "sl=%u: qos is off; uses SL 0", sl);
	sl = b->conf->qos ? sl : 0;
	if (part->p.sl && part->p.sl != sl)
		conf_report_at(r, CONF_WARNING, at,
			       "partition %s had SL %u; this definition makes it %u",
			       quote_name(part, quoted), part->p.sl, sl);
	part->p.sl = sl;
}

size_t build_partition(struct build *b, const char *name, uint16_t pkey, uint8_t sl,
		       const struct conf_place *at, struct conf_report *r)
{
	size_t i = pkey ? b->by_base[pkey] - (size_t)1 : find_name(b, name);

	if (pkey)
		b->asked[pkey] = true;
	if (i != NO_PARTITION) {
		remark_merged(&b->parts[i], name, at, r);
		if (!b->parts[i].line)
			b->parts[i].line = at->line;
	} else {
		i = pkey ? add_partition(b, name, pkey, at->line) : add_generated(b, name, at, r);
	}
	if (i != NO_PARTITION)
		set_sl(b, &b->parts[i], sl, at, r);
	return i;
}

size_t build_n_generated(const struct build *b)
{
	return b->n_generated;
}

void build_api(struct build *b, size_t partition)
{
	assert(partition < b->n_parts);
	b->parts[partition].p.api = true;
}

void build_item(struct build *b, size_t partition, const struct partition_item *item)
{
	struct part *part = &b->parts[partition];

	assert(partition < b->n_parts);
	GROW(part->p.items, part->p.n_items + 1, part->cap);
	part->p.items[part->p.n_items] = *item;
	part->p.items[part->p.n_items++].seq = b->n_items++;
}

/* --- Groups --------------------------------------------------------------------------------- */

/* The slot of this MGID, or the free slot for it. */
static uint32_t *find_slot(const struct build *b, const uint8_t mgid[16])
{
	for (size_t at = hash_fold(hash_bytes(HASH_START, mgid, 16));; at++) {
		uint32_t *slot = &b->slots[at & (b->n_slots - 1)];

		if (!*slot || memcmp(b->groups[*slot - 1].g.mgid, mgid, 16) == 0)
			return slot;
	}
}

static void grow_slots(struct build *b)
{
	free(b->slots);
	b->n_slots *= 2;
	b->slots = xcalloc(b->n_slots, sizeof(*b->slots));
	for (size_t i = 0; i < b->n_groups; i++)
		*find_slot(b, b->groups[i].g.mgid) = (uint32_t)i + 1;
}

unsigned build_group_line(const struct build *b, const uint8_t mgid[16])
{
	uint32_t slot = *find_slot(b, mgid);

	return slot ? b->groups[slot - 1].line : 0;
}

bool build_group(struct build *b, size_t partition, const struct partition_group *group,
		 unsigned line)
{
	assert(partition < b->n_parts);
	if (b->n_groups == PARTITION_GROUPS_MAX)
		return false;
	GROW(b->groups, b->n_groups + 1, b->groups_cap);
	b->groups[b->n_groups] = (struct made){ .g = *group, .part = partition, .line = line };
	*find_slot(b, group->mgid) = (uint32_t)++b->n_groups;
	if (b->n_groups * 2 >= b->n_slots)
		grow_slots(b);
	return true;
}

/* --- The end -------------------------------------------------------------------------------- */

static int compare_parts(const void *va, const void *vb)
{
	const struct part *const *a = va, *const *b = vb;

	return (int)partition_order((*a)->p.pkey) - (int)partition_order((*b)->p.pkey);
}

/* Is the partition made? Without ports it is if members can be added at run time. */
static bool is_made(const struct part *part)
{
	return part->p.n_items || part->p.api;
}

/* Moves partitions to `p` in order; by_base becomes their index in p->list + 1. */
static void give_partitions(struct build *b, struct partitions *p)
{
	_cleanup_free_ struct part **sorted = xcalloc(b->n_parts + 1, sizeof(struct part *));
	size_t n = 0;

	for (size_t i = 0; i < b->n_parts; i++) {
		b->by_base[b->parts[i].p.pkey] = 0;
		if (is_made(&b->parts[i]))
			sorted[n++] = &b->parts[i];
	}
	qsort(sorted, n, sizeof(*sorted), compare_parts);
	p->list = xcalloc(n + 1, sizeof(*p->list));
	p->n = n;
	for (size_t i = 0; i < n; i++) {
		p->list[i] = sorted[i]->p;
		p->list[i].line = sorted[i]->line;
		sorted[i]->p.items = NULL;
		b->by_base[p->list[i].pkey] = (uint16_t)(i + 1);
	}
}

static void give_groups(struct build *b, struct partitions *p)
{
	p->groups = xcalloc(b->n_groups + 1, sizeof(*p->groups));
	for (size_t i = 0; i < b->n_groups; i++) {
		const struct made *m = &b->groups[i];
		uint16_t place = b->by_base[b->parts[m->part].p.pkey];

		if (!place)
			continue;
		p->groups[p->n_groups] = m->g;
		p->groups[p->n_groups++].partition = (uint16_t)(place - 1);
	}
}

static void remark_empty(const struct part *part, const char *file, struct conf_report *r)
{
	char quoted[CONF_QUOTE_MAX];

	conf_report_add(r, CONF_WARNING, file, part->line, 0,
			"partition %s (0x%04x) has no ports; neither it nor its multicast groups "
			"are made",
			quote_name(part, quoted), part->p.pkey);
}

bool partition_names_several(const struct partition *p)
{
	enum partition_ports first = p->n_items ? p->items[0].ports : PARTITION_SELF;

	return p->n_items > 1 || (first != PARTITION_SELF && first != PARTITION_GUID);
}

/* The last item for a port decides: a later ALL overrides all before it. */
bool partition_has_full(const struct partition *p,
			bool (*is_limited)(const void *arg, guid_t guid), const void *arg)
{
	bool ret = false;

	for (size_t i = 0; i < p->n_items; i++) {
		const struct partition_item *item = &p->items[i];

		if (item->ports == PARTITION_ALL)
			ret = false;
		if (item->member != PARTITION_LIMITED &&
		    !(item->ports == PARTITION_GUID && is_limited && is_limited(arg, item->guid)))
			ret = true;
	}
	return ret;
}

static void remark_all_limited(const struct part *part, const char *file, struct conf_report *r)
{
	char quoted[CONF_QUOTE_MAX];

	if (!part->line || part->p.api || !partition_names_several(&part->p) ||
	    partition_has_full(&part->p, NULL, NULL))
		return;
	conf_report_add(r, CONF_WARNING, file, part->line, 0,
			"no member of partition %s (0x%04x) is full: limited members cannot talk "
			"to each other%s; write =full behind those that serve the others, or "
			"ALL=full",
			quote_name(part, quoted), part->p.pkey,
			part->p.pkey == PKEY_DEFAULT
				? ", only to the subnet manager, whose own port is always full here"
				: "");
}

struct partitions *build_finish(struct build *b, const char *file, struct conf_report *r)
{
	struct partitions *p = xcalloc(1, sizeof(*p));

	atomic_init(&p->refs, 1);
	for (size_t i = 0; i < b->n_parts; i++) {
		if (!is_made(&b->parts[i]))
			remark_empty(&b->parts[i], file, r);
		else
			remark_all_limited(&b->parts[i], file, r);
	}
	give_partitions(b, p);
	give_groups(b, p);
	return p;
}
