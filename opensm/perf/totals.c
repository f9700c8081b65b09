// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nodes, their ports, and what their counters grew by. A counter that shows less than before was cleared by
 * somebody: what it shows now has come since. The first reading of a port is where its counting begins.
 */
#include <stdio.h>
#include <string.h>

#include "perf/private.h"
#include "util/mem.h"

void perf_totals_init(struct perf_totals *t)
{
	*t = (struct perf_totals){ .by_guid = guidmap_new(), .sorted = true };
}

static void entry_free(struct perf_entry *e)
{
	free(e->ports);
	free(e->past);
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

static struct perf_entry *entry_new(const struct node *n, int64_t realtime)
{
	struct perf_entry *e = xcalloc(1, sizeof(*e));

	e->node.guid = n->guid;
	e->node.n_ports = n->n_ports;
	e->ports = xcalloc(n->n_ports + 1u, sizeof(*e->ports));
	e->past = xcalloc(n->n_ports + 1u, sizeof(*e->past));
	e->node.ports = e->ports;
	for (unsigned i = 0; i <= n->n_ports; i++)
		e->ports[i].reset_at = realtime;
	return e;
}

/* A device that comes back with another number of ports is another device. */
static void replace(struct perf_totals *t, struct perf_entry *old, struct perf_entry *e)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->entries[i] == old)
			t->entries[i] = e;
	entry_free(old);
}

struct perf_entry *perf_totals_meet(struct perf_totals *t, const struct node *n, const char *name,
				    int64_t realtime)
{
	struct perf_entry *e = perf_totals_find(t, n->guid);

	if (!e || e->node.n_ports != n->n_ports) {
		struct perf_entry *old = e;

		e = entry_new(n, realtime);
		guidmap_put(t->by_guid, n->guid, e);
		if (old) {
			replace(t, old, e);
		} else {
			GROW(t->entries, t->n + 1, t->cap);
			t->entries[t->n++] = e;
			t->sorted = false;
		}
	}
	snprintf(e->node.name, sizeof(e->node.name), "%s", name);
	e->node.has_port0 = port_is_enhanced0(&n->ports[0]);
	e->node.active = true;
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

/* Adds what `now` has more than `before` to `totals`. */
static void add(const uint64_t *now, uint64_t *before, uint64_t *totals, uint64_t *ret, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		ret[i] = now[i] >= before[i] ? now[i] - before[i] : now[i];
		totals[i] += ret[i];
	}
	memcpy(before, now, n * sizeof(*now));
}

bool perf_add_errors(struct perf_entry *e, uint8_t port, const uint64_t now[PERF_ERRORS],
		     int64_t realtime, uint64_t ret[PERF_ERRORS])
{
	struct perf_past *past = &e->past[port];
	bool counts = past->has_errors;

	if (!counts)
		memcpy(past->errors, now, sizeof(past->errors));
	add(now, past->errors, e->ports[port].errors, ret, PERF_ERRORS);
	past->has_errors = true;
	e->ports[port].errors_at = realtime;
	return counts;
}

bool perf_add_data(struct perf_entry *e, uint8_t port, const uint64_t now[PERF_DATA],
		   int64_t realtime, uint64_t ret[PERF_DATA])
{
	struct perf_past *past = &e->past[port];
	bool counts = past->has_data;

	if (!counts)
		memcpy(past->data, now, sizeof(past->data));
	add(now, past->data, e->ports[port].data, ret, PERF_DATA);
	past->has_data = true;
	e->ports[port].valid = true;
	e->ports[port].data_at = realtime;
	return counts;
}

void perf_was_cleared(struct perf_entry *e, uint8_t port)
{
	struct perf_past *past = &e->past[port];

	memset(past->errors, 0, sizeof(past->errors));
	if (!e->ports[port].extended)
		memset(past->data, 0, sizeof(past->data));
}
