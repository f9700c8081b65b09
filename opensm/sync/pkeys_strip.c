// SPDX-License-Identifier: BSD-2-Clause
/*
 * The P_Key table of a switch port whose far end is not planned: it does not answer, or its GUID is
 * in doubt, and its link is up all the same. Keys that it may not have any more are taken out, and
 * nothing is put in.
 *
 *   READ: blocks that are not known --> WRITE: those that hold too much --> READ again --> done
 *
 * The table is read back as in pkeys_now.c; MAX_TURNS bounds what another manager writes meanwhile.
 */
#include <assert.h>
#include <string.h>

#include "sync/sync_internal.h"
#include "util/mem.h"

#define MAX_TURNS  4
#define MAX_BLOCKS (PKEY_CAP_MAX / PKEY_BLOCK)

struct pkeys_strip {
	struct pkeys_strip *next;
	struct sync *sync;
	struct port *port;
	uint16_t *keys; /* allowed */
	uint16_t n_keys;
	unsigned turns, n_out;
	enum pkeys_state fault;
	sync_strip_fn *done;
	void *arg;
};

static unsigned blocks_of(const struct port *p)
{
	return MIN((fabric_pkey_cap(p) + PKEY_BLOCK - 1) / PKEY_BLOCK, MAX_BLOCKS);
}

static void note_fault(struct pkeys_strip *t, enum mad_end end)
{
	if (end == MAD_END_TIMEOUT)
		t->fault = PKEYS_SILENT;
	else if (end == MAD_END_CANCELLED)
		t->fault = PKEYS_CANCELLED;
	else if (end == MAD_END_BAD_STATUS)
		t->fault = PKEYS_REFUSED;
}

static void on_read(void *owner, const struct mad_result *r)
{
	struct pkeys_strip *t = owner;

	t->n_out--;
	if (r->end == MAD_END_ANSWERED)
		observe_block(t->sync->fabric, t->port, TABLE_PKEYS,
			      port_tables[TABLE_PKEYS].block(r->mod), r->payload);
	note_fault(t, r->end);
}

/* A block that was written is unknown until it is read back. */
static void on_written(void *owner, const struct mad_result *r)
{
	struct pkeys_strip *t = owner;
	unsigned block = port_tables[TABLE_PKEYS].block(r->mod);

	t->n_out--;
	observe_block_back(t->port, TABLE_PKEYS, block);
	observe_block_lost(t->sync->fabric, t->port, TABLE_PKEYS, block);
	note_fault(t, r->end);
}

static void read_block(struct pkeys_strip *t, unsigned block)
{
	const struct mad_request rq = {
		.attr = IB_ATTR_PKEY_TABLE,
		.mod = port_tables[TABLE_PKEYS].mod(t->port, block),
	};

	if (door_get(&t->sync->door, t->port, &rq, on_read, t, NULL))
		t->n_out++;
	else
		t->fault = PKEYS_CANCELLED;
}

static void write_block(struct pkeys_strip *t, unsigned block, const uint8_t *payload)
{
	const struct mad_request rq = {
		.attr = IB_ATTR_PKEY_TABLE,
		.mod = port_tables[TABLE_PKEYS].mod(t->port, block),
		.payload = payload,
	};

	if (cell_table_is_out(t->port->tables[TABLE_PKEYS], block))
		return;
	if (!door_set(&t->sync->door, t->port, &rq, on_written, t, NULL)) {
		t->fault = PKEYS_CANCELLED;
		return;
	}
	observe_block_sent(t->port, TABLE_PKEYS, block);
	t->n_out++;
}

/* True: the block holds more than is allowed; `ret` is what may stay. */
static bool strip_block(const struct pkeys_strip *t, const uint8_t *have,
			uint8_t ret[SMP_DATA_SIZE])
{
	const struct pkey_table allowed = { t->keys, t->n_keys };

	for (unsigned i = 0; i < PKEY_BLOCK; i++)
		ib_bits_put(ret, i * 16, 16,
			    pkeys_allowed(allowed, (uint16_t)ib_bits_get(have, i * 16, 16)));
	return memcmp(have, ret, SMP_DATA_SIZE) != 0;
}

/* As far as it goes without waiting. True: it has come to its end. */
static bool go_on(struct pkeys_strip *t)
{
	uint8_t left[SMP_DATA_SIZE];
	bool waits = false;

	if (t->fault != PKEYS_CONFIRMED)
		return true;
	for (unsigned block = 0; block < blocks_of(t->port); block++) {
		const uint8_t *have = fabric_cell(t->sync->fabric, t->port, TABLE_PKEYS, block);

		waits |= cell_table_is_out(t->port->tables[TABLE_PKEYS], block);
		if (!have)
			read_block(t, block);
		else if (strip_block(t, have, left))
			write_block(t, block, left);
	}
	if (!t->n_out && t->fault == PKEYS_CONFIRMED)
		return !waits;
	if (t->fault == PKEYS_CONFIRMED && ++t->turns > 2 * MAX_TURNS)
		t->fault = PKEYS_REFUSED;
	return t->fault != PKEYS_CONFIRMED && !t->n_out;
}

static void end_strip(struct pkeys_strip **at)
{
	struct pkeys_strip *t = *at;

	*at = t->next;
	t->done(t->arg, t->fault);
	free(t->keys);
	free(t);
}

void pkeys_feed_strips(struct sync *s)
{
	struct pkeys_strip **at = &s->pkeys_strips;

	while (*at) {
		if (!(*at)->n_out && go_on(*at))
			end_strip(at);
		else
			at = &(*at)->next;
	}
}

void sync_strip_pkeys(struct sync *s, struct port *p, struct pkey_table allowed,
		      sync_strip_fn *done, void *arg)
{
	struct pkeys_strip *t = xcalloc(1, sizeof(*t)), **at = &s->pkeys_strips;

	assert(s && p && !port_is_end(p) && done);
	t->sync = s;
	t->port = p;
	t->keys = xcalloc(allowed.n + 1u, sizeof(*t->keys));
	if (allowed.n)
		memcpy(t->keys, allowed.keys, allowed.n * sizeof(*t->keys));
	t->n_keys = allowed.n;
	t->done = done;
	t->arg = arg;
	while (*at)
		at = &(*at)->next;
	*at = t;
}

void pkeys_forget_strips(struct sync *s, const struct node *n)
{
	struct pkeys_strip **at = &s->pkeys_strips;

	while (*at) {
		if (n && (*at)->port->node != n) {
			at = &(*at)->next;
			continue;
		}
		mad_cancel(s->mad, *at, NULL);
		(*at)->fault = PKEYS_CANCELLED;
		end_strip(at);
	}
}
