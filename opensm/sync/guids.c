// SPDX-License-Identifier: BSD-2-Clause
/*
 * Alias GUIDs: GUIDInfo blocks of end ports (14.2.5.5). Wanted blocks are kept by port GUID, so
 * that a port gets them when it comes back. Other blocks are neither read nor written.
 */
#include <assert.h>
#include <string.h>

#include "sync/sync_internal.h"
#include "util/mem.h"

_Static_assert(GUID_BLOCK == GUIDS_PER_BLOCK, "entries of a block");

/* PortInfo:GUIDCap has 8 bits. */
#define MAX_BLOCKS 32

struct guid_want {
	struct guid_block {
		bool changed; /* set if the block has changed after its Set was sent */
		guid_t guids[GUID_BLOCK];
	} * blocks[MAX_BLOCKS]; /* NULL: the block is not wanted */
};

static void want_free(struct guid_want *want)
{
	for (unsigned i = 0; i < MAX_BLOCKS; i++)
		free(want->blocks[i]);
	free(want);
}

struct guidmap *guids_free(struct guidmap *wants)
{
	size_t pos = 0;
	guid_t guid;
	void *want;

	while (wants && guidmap_next(wants, &pos, &guid, &want))
		want_free(want);
	return guidmap_free(wants);
}

static struct guid_want *find_want(const struct sync *s, guid_t port_guid)
{
	return s->guid_wants ? guidmap_get(s->guid_wants, port_guid) : NULL;
}

static struct guid_block *find_block(const struct sync *s, guid_t port_guid, unsigned block)
{
	struct guid_want *want = find_want(s, port_guid);

	return want && block < MAX_BLOCKS ? want->blocks[block] : NULL;
}

/* ---- the row --------------------------------------------------------------------------------- */

/* Finds the wanted blocks of a port, but not of one that is down, which holds nothing. */
bool guids_want(const struct sync *s, const struct port *p, struct want *ret)
{
	ret->guids = find_want(s, p->guid);
	if (!ret->guids || !port_is_end(p) || port_state(p) == IB_PORT_DOWN)
		return false;
	ret->all = ret->sure = MAX_BLOCKS;
	return true;
}

bool guids_fill(const struct sync *s, const struct port *p, const struct want *w, unsigned block,
		uint8_t *ret)
{
	unsigned cap = (unsigned)ib_get(p->info, PI_GUID_CAP), first = block * GUID_BLOCK;
	const struct guid_block *b = w->guids->blocks[block];

	if (!b || first >= cap)
		return false;
	for (unsigned i = 0; i < GUID_BLOCK; i++)
		ib_bits_put(ret, i * 64, 64, first + i < cap ? b->guids[i] : 0);
	if (block == 0)
		ib_bits_put(ret, 0, 64, p->guid);
	return true;
}

/* Writes a block at once, or in the stage of the run: endless changes must not delay the run. */
static void want_more(struct sync *s, struct port *p, unsigned block)
{
	if (s->stage == ST_IDLE)
		cells_write_block(s, sync_row_of(s, IB_ATTR_GUID_INFO), p, block);
	else if (s->stage >= ST_GUIDS)
		s->guids_late = true;
}

bool guids_are_overtaken(const struct sync *s, const struct port *p, uint32_t mod)
{
	const struct guid_block *b = find_block(s, p->guid, mod);

	return !b || b->changed;
}

void guids_ended(struct sync *s, struct port *p, const struct mad_result *r, enum verdict v)
{
	struct guid_block *b = find_block(s, p->guid, r->mod);
	bool lost = v == VERDICT_REFUSED || v == VERDICT_SILENT;

	if (!b)
		return;
	if (b->changed && v != VERDICT_CANCELLED)
		want_more(s, p, r->mod);
	b->changed = false;
	if (lost && !sync_running(s))
		s->hooks.unsettled(s->hooks.arg);
}

bool guids_are_wanted(const struct sync *s)
{
	return s->guid_wants;
}

/* ---- wants ----------------------------------------------------------------------------------- */

static struct guid_block *make_block(struct sync *s, guid_t port_guid, unsigned block)
{
	struct guid_want *want = find_want(s, port_guid);

	if (!s->guid_wants)
		s->guid_wants = guidmap_new();
	if (!want) {
		want = xcalloc(1, sizeof(*want));
		guidmap_put(s->guid_wants, port_guid, want);
	}
	if (!want->blocks[block])
		want->blocks[block] = xcalloc(1, sizeof(*want->blocks[block]));
	return want->blocks[block];
}

/* Removes a block; forgets the port if it was the last. */
static void drop_block(struct sync *s, guid_t port_guid, unsigned block)
{
	struct guid_want *want = find_want(s, port_guid);

	if (!want)
		return;
	free(want->blocks[block]);
	want->blocks[block] = NULL;
	for (unsigned i = 0; i < MAX_BLOCKS; i++) {
		if (want->blocks[i])
			return;
	}
	want_free(guidmap_remove(s->guid_wants, port_guid));
}

void sync_want_guids(struct sync *s, guid_t port_guid, unsigned block,
		     const guid_t guids[GUID_BLOCK])
{
	struct port *p = fabric_find_port(s->fabric, port_guid);
	struct guid_block *b;
	bool is_new;

	assert(s && port_guid);
	if (block >= MAX_BLOCKS || !port_guid)
		return;
	if (!guids) {
		drop_block(s, port_guid, block);
		return;
	}
	is_new = !find_block(s, port_guid, block);
	b = make_block(s, port_guid, block);
	if (p && cell_table_is_out(p->tables[TABLE_GUIDS], block))
		b->changed |= is_new || memcmp(b->guids, guids, sizeof(b->guids));
	memcpy(b->guids, guids, sizeof(b->guids));
	if (s->stage != ST_IDLE || (p && sync_port_is_ours(p) && !sync_leaves_out(s, p->node)))
		want_more(s, p, block);
}
