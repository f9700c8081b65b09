// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nodes, their ports, and the growth of their counters. A counter below its last reading was
 * cleared by another program: its whole value is growth since. The first reading of a port is where
 * its counting begins.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "perf/perf_internal.h"
#include "util/mem.h"

void perf_totals_init(struct perf_totals *t)
{
	*t = (struct perf_totals){ .by_guid = guidmap_new(), .sorted = true };
}

static void entry_clear(struct perf_entry *e)
{
	free(e->ports);
	free(e->past);
}

static void entry_free(struct perf_entry *e)
{
	entry_clear(e);
	free(e);
}

void perf_totals_clear(struct perf_totals *t)
{
	for (unsigned i = 0; i < t->n; i++)
		entry_free(t->entries[i]);
	free(t->entries);
	guidmap_free(t->by_guid);
	*t = (struct perf_totals){ 0 };
}

struct perf_entry *perf_totals_find(const struct perf_totals *t, guid_t guid)
{
	return guidmap_get(t->by_guid, guid);
}

static void entry_start(struct perf_entry *e, const struct node *n, int64_t realtime)
{
	*e = (struct perf_entry){ .node = { .guid = n->guid, .n_ports = n->n_ports } };
	e->ports = xcalloc(n->n_ports + 1u, sizeof(*e->ports));
	e->past = xcalloc(n->n_ports + 1u, sizeof(*e->past));
	e->node.ports = e->ports;
	for (unsigned i = 0; i <= n->n_ports; i++)
		e->ports[i].reset_at = realtime;
}

static struct perf_entry *add_entry(struct perf_totals *t, guid_t guid)
{
	struct perf_entry *e = xcalloc(1, sizeof(*e));

	guidmap_put(t->by_guid, guid, e);
	GROW(t->entries, t->n + 1, t->cap);
	t->entries[t->n++] = e;
	t->sorted = false;
	return e;
}

static void forget_caps(struct perf_entry *e)
{
	for (unsigned i = 0; i <= e->node.n_ports; i++) {
		e->past[i].caps = (struct perf_caps){ 0 };
		memset(e->past[i].misses, 0, sizeof(e->past[i].misses));
	}
}

struct perf_entry *perf_totals_meet(struct perf_totals *t, const struct node *n, const char *name,
				    int64_t realtime)
{
	struct perf_entry *e = perf_totals_find(t, n->guid);

	assert(n && name);
	if (!e)
		e = add_entry(t, n->guid);
	if (!e->ports || e->node.n_ports != n->n_ports) {
		entry_clear(e); /* another number of ports: another device */
		entry_start(e, n, realtime);
	}
	if (strncmp(e->node.name, name, sizeof(e->node.name)))
		snprintf(e->node.name, sizeof(e->node.name), "%s", name);
	e->is_switch = node_is_switch(n);
	e->node.has_port0 = port_is_enhanced0(&n->ports[0]);
	e->node.active = true; /* until the next sweep has met all */
	if (e->met + 1 != t->sweep)
		forget_caps(e);
	e->met = t->sweep;
	return e;
}

static int by_guid(const void *a, const void *b)
{
	guid_t x = (*(struct perf_entry *const *)a)->node.guid;
	guid_t y = (*(struct perf_entry *const *)b)->node.guid;

	return x < y ? -1 : x > y;
}

void perf_totals_sort(struct perf_totals *t)
{
	if (!t->sorted && t->n)
		qsort(t->entries, t->n, sizeof(*t->entries), by_guid);
	t->sorted = true;
}

unsigned perf_totals_drop(struct perf_totals *t)
{
	unsigned kept = 0, before = t->n;

	for (unsigned i = 0; i < t->n; i++) {
		if (t->entries[i]->node.active) {
			t->entries[kept++] = t->entries[i];
			continue;
		}
		guidmap_remove(t->by_guid, t->entries[i]->node.guid);
		entry_free(t->entries[i]);
	}
	t->n = kept;
	return before - kept;
}

/* Adds to `totals` how far `now` is beyond `before`, unless that is no reading yet (`*known`). */
static bool add_growth(bool *known, const uint64_t *now, uint64_t *before, uint64_t *totals,
		       uint64_t *ret, unsigned n)
{
	bool counts = *known;

	for (unsigned i = 0; i < n; i++) {
		uint64_t from = counts ? before[i] : now[i];

		ret[i] = now[i] >= from ? now[i] - from : now[i];
		totals[i] += ret[i];
		before[i] = now[i];
	}
	*known = true;
	return counts;
}

bool perf_add_errors(struct perf_entry *e, uint8_t port, const uint64_t now[PERF_ERRORS],
		     int64_t realtime, uint64_t ret[PERF_ERRORS])
{
	struct perf_past *past = &e->past[port];

	assert(port <= e->node.n_ports);
	e->ports[port].errors_at = realtime;
	return add_growth(&past->has_errors, now, past->errors, e->ports[port].errors, ret,
			  PERF_ERRORS);
}

bool perf_add_data(struct perf_entry *e, uint8_t port, const uint64_t now[PERF_DATA],
		   int64_t realtime, uint64_t ret[PERF_DATA])
{
	struct perf_past *past = &e->past[port];

	assert(port <= e->node.n_ports);
	e->ports[port].valid = true;
	e->ports[port].data_at = realtime;
	return add_growth(&past->has_data, now, past->data, e->ports[port].data, ret, PERF_DATA);
}

void perf_was_cleared(struct perf_entry *e, uint8_t port, uint32_t select)
{
	struct perf_past *past = &e->past[port];

	for (unsigned i = 0; i < PERF_ERRORS; i++)
		if (select & perf_error_bit(i))
			past->errors[i] = 0;
	for (unsigned i = 0; i < PERF_UNICAST_XMIT_PKTS; i++)
		if (select & perf_data_bit(i))
			past->data[i] = 0;
}

const struct perf_node *perf_node_at(const struct perf *p, unsigned n)
{
	return n < p->totals.n ? &p->totals.entries[n]->node : NULL;
}

const struct perf_node *perf_node_find(const struct perf *p, guid_t guid, const char *name)
{
	const struct perf_entry *e = guid ? perf_totals_find(&p->totals, guid) : NULL;

	if (guid)
		return e ? &e->node : NULL;
	for (unsigned i = 0; i < p->totals.n; i++)
		if (strcmp(p->totals.entries[i]->node.name, name) == 0)
			return &p->totals.entries[i]->node;
	return NULL;
}
