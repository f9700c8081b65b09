// SPDX-License-Identifier: BSD-2-Clause
/* Lists and sorts the LIDs of end ports. */
#include "route/sp/dest_order.h"

#include <assert.h>

#include "route/core/aside.h"
#include "util/bisect.h"
#include "util/mem.h"

struct entry {
	uint32_t at, lid, crowd; /* LIDs on the switch */
	unsigned class;
};

static int by_class_and_crowd(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return COMPARE(x->class, y->class) ?: COMPARE(y->crowd, x->crowd)
	       ?: COMPARE(x->at, y->at) ?: COMPARE(x->lid, y->lid);
}

static void set_class(const struct topo *t, const struct route_guids *guids, uint8_t *class,
		      uint8_t value)
{
	for (uint32_t i = 0; i < guids->n; i++) {
		uint32_t h = topo_find_host(t, guids->guids[i]);

		if (h != TOPO_NONE)
			class[h] = value;
	}
}

/* `asides`: with the LIDs of these switches. */
static uint32_t list_entries(const struct topo *t, const uint8_t *class, const uint32_t *crowd,
			     const bool *asides, struct entry *entries)
{
	uint32_t n = 0;

	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const struct topo_host *host = &t->hosts[h];

		for (unsigned k = 0; host->sw != TOPO_NONE && host->lid && k < 1u << host->lmc; k++)
			if (host->lid + k <= LID_MAX_UCAST)
				entries[n++] = (struct entry){
					.at = host->sw, .lid = host->lid + k,
					.crowd = crowd[host->sw], .class = class[h],
				};
	}
	for (uint32_t s = 0; asides && s < t->n_switches; s++)
		if (asides[s] && t->switches[s].lid)
			entries[n++] = (struct entry){ .at = s, .lid = t->switches[s].lid,
						       .class = DEST_ORDER_CLASSES - 1 };
	SORT(entries, n, by_class_and_crowd);
	return n;
}

static struct dest_order *order(const struct topo *t, const struct route_options *o,
				const bool *asides)
{
	_cleanup_free_ uint8_t *class = xmalloc(t->n_hosts);
	_cleanup_free_ uint32_t *crowd = xcalloc(t->n_switches, sizeof(*crowd));
	_cleanup_free_ struct entry *entries = xcalloc(topo_count_lids(t), sizeof(*entries));
	struct dest_order *r = xcalloc(1, sizeof(*r));

	assert(t && o);
	r->sources = arena_keep(&r->memory, topo_count_senders(t));
	ARENA_ARRAY(&r->memory, r->has_sources, t->n_switches);
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const struct topo_host *host = &t->hosts[h];

		class[h] = DEST_ORDER_CLASSES - 1;
		if (host->sw == TOPO_NONE || !host->lid)
			continue;
		crowd[host->sw] += 1u << host->lmc;
		r->has_sources[host->sw] = true;
	}
	set_class(t, &o->io, class, 1);
	set_class(t, &o->cn, class, 0);
	r->n = list_entries(t, class, crowd, asides, entries);
	ARENA_ARRAYS(&r->memory, r->n, r->at, r->lids);
	for (uint32_t i = 0; i < r->n; i++) {
		r->at[i] = entries[i].at;
		r->lids[i] = entries[i].lid;
		for (unsigned c = entries[i].class; c < DEST_ORDER_CLASSES; c++)
			r->end[c] = i + 1;
	}
	return r;
}

struct dest_order *dest_order_new(const struct topo *t, const struct route_options *o)
{
	return order(t, o, NULL);
}

struct dest_order *dest_order_with_asides(const struct topo *t, const struct route_options *o)
{
	_cleanup_free_ bool *asides = aside_find_switches(t);

	return order(t, o, t->n_asides ? asides : NULL);
}

ARENA_FREE(dest_order_free, struct dest_order)
