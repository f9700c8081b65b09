// SPDX-License-Identifier: BSD-2-Clause
/*
 * Alias GUIDs: GUIDInfo blocks of end ports (14.2.5.5), as wanted from outside.
 *
 * Wants are kept by port GUID, so that a port finds them when it comes back. Blocks of which nothing
 * is wanted are neither read nor written.
 */
#include <string.h>

#include "sync/impl.h"
#include "util/mem.h"

_Static_assert(GUID_BLOCK == GUIDS_PER_BLOCK, "entries of a block");

/* PortInfo:GUIDCap has 8 bits. */
#define MAX_BLOCKS 32

struct guid_want {
	unsigned n;
	struct guid_block {
		bool wanted;
		uint32_t sent; /* hash of what is on its way; 0: nothing */
		guid_t guids[GUID_BLOCK];
	} * blocks;
};

static struct guid_want *want_free(struct guid_want *want)
{
	free(want->blocks);
	free(want);
	return NULL;
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

/* Known to be there; entry 0 of block 0, which is the port's own, does not count. */
static bool is_held(const struct sync *s, const struct port *p, unsigned block,
		    const uint8_t *wanted)
{
	const uint8_t *have = fabric_guid_block(s->fabric, p, block);
	size_t skip = block == 0 ? sizeof(guid_t) : 0;

	return have && !memcmp(have + skip, wanted + skip, SMP_DATA_SIZE - skip);
}

static void fill(const struct guid_want *want, const struct port *p, unsigned block, uint8_t *ret)
{
	unsigned cap = ib_get(p->info, PI_GUID_CAP);

	for (unsigned i = 0; i < GUID_BLOCK; i++)
		ib_bits_put(ret, i * 64, 64,
			    block * GUID_BLOCK + i < cap ? want->blocks[block].guids[i] : 0);
	if (block == 0)
		ib_bits_put(ret, 0, 64, p->guid);
}

static uint32_t hash_of(const void *bytes, size_t n)
{
	const uint8_t *at = bytes;
	uint64_t h = 0x9E3779B97F4A7C15ull;

	for (size_t i = 0; i < n; i++)
		h = (h ^ at[i]) * 0x100000001B3ull;
	h ^= h >> 32;
	return (uint32_t)h ? (uint32_t)h : 1;
}

/* Of all that is wanted of a port: tells whether a want that was given up has changed. */
static uint32_t want_hash(const struct guid_want *want)
{
	uint32_t hash = 1;

	for (unsigned i = 0; i < want->n; i++) {
		if (want->blocks[i].wanted)
			hash = hash * 31 +
			       hash_of(want->blocks[i].guids, sizeof(want->blocks[i].guids));
	}
	return hash ? hash : 1;
}

static void give_up(struct sync *s, struct port *p, const struct guid_want *want)
{
	uint32_t hash = want_hash(want);

	if (p->guids->given_up != hash) {
		s->outcome.unkept_tables++;
		s->outcome.unkept_example = p;
		s->outcome.unkept_attr = IB_ATTR_GUID_INFO;
	}
	p->guids->given_up = hash;
}

static struct guid_want *want_of(const struct sync *s, const struct port *p)
{
	return s->guid_wants ? guidmap_get(s->guid_wants, p->guid) : NULL;
}

/* Forgets the port if nothing is wanted of it and nothing on its way to it. */
static void release(struct sync *s, guid_t port_guid, struct guid_want *want)
{
	for (unsigned i = 0; i < want->n; i++) {
		if (want->blocks[i].wanted || want->blocks[i].sent)
			return;
	}
	guidmap_remove(s->guid_wants, port_guid);
	want_free(want);
}

static void send_block(struct sync *s, struct port *p, unsigned block);

/* At once, or in the stage of the run: who changes his mind all the time must not hold up a stage. */
static void want_more(struct sync *s, struct port *p, unsigned block)
{
	if (s->stage == ST_IDLE)
		send_block(s, p, block);
	else if (s->stage >= ST_GUIDS)
		s->guids_late = true;
}

/* What the answer shows is what the port holds, whether we like it or not. */
static bool take_answer(struct sync *s, struct port *p, const struct mad_result *r)
{
	bool good = sync_ended_well(s, p->node, r);

	cell_table_grow(&p->guids, r->mod + 1);
	if (!good) {
		cell_table_forget(s->fabric->cells, p->guids, r->mod);
		p->guids->refusals += r->end == MAD_END_BAD_STATUS;
		return false;
	}
	fabric_observe_guids(s->fabric, p, r->mod, r->payload);
	p->guids->refusals = 0;
	return true;
}

static void on_guids(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	struct guid_want *want = want_of(s, p);
	unsigned block = r->mod;
	bool good = take_answer(s, p, r);
	uint8_t wanted[SMP_DATA_SIZE];
	uint32_t sent;

	if (!want)
		return;
	sent = want->blocks[block].sent;
	want->blocks[block].sent = 0;
	fill(want, p, block, wanted);
	if (sent != hash_of(wanted, sizeof(wanted)) && r->end != MAD_END_CANCELLED)
		want_more(s, p, block); /* something else is wanted meanwhile */
	else if ((good && !is_held(s, p, block, wanted)) || p->guids->refusals >= MAX_REFUSALS)
		give_up(s, p, want);
	if (!good && r->end != MAD_END_CANCELLED && !sync_running(s))
		s->hooks.unsettled(s->hooks.arg);
	release(s, p->guid, want);
}

/* Room for this block, and reachable: a port that is down holds nothing. */
static bool can_hold(const struct port *p, unsigned block)
{
	return port_is_end(p) && p->known && port_state(p) > IB_PORT_DOWN &&
	       block * GUID_BLOCK < ib_get(p->info, PI_GUID_CAP);
}

static void send_block(struct sync *s, struct port *p, unsigned block)
{
	struct guid_want *want = want_of(s, p);
	uint8_t wanted[SMP_DATA_SIZE];
	struct dr_path path;
	const struct mad_request rq = {
		.attr = IB_ATTR_GUID_INFO,
		.mod = block,
		.path = &path,
		.payload = wanted,
	};

	if (!want->blocks[block].wanted || want->blocks[block].sent || !can_hold(p, block))
		return;
	fill(want, p, block, wanted);
	if (is_held(s, p, block, wanted) || (p->guids && p->guids->given_up == want_hash(want)))
		return;
	if (fabric_port_path(s->fabric, p, &path) < 0 || !sync_send(s, p, &rq, on_guids, p))
		return;
	want->blocks[block].sent = hash_of(wanted, sizeof(wanted));
	cell_table_grow(&p->guids, block + 1);
	p->guids->unproven = true;
}

static void feed_port(struct sync *s, struct port *p)
{
	const struct guid_want *want = want_of(s, p);

	if (!want || !sync_port_is_ours(p))
		return;
	for (unsigned block = 0; block < want->n; block++)
		send_block(s, p, block);
}

bool guids_feed(struct sync *s)
{
	return s->guid_wants && sync_feed_ports(s, feed_port);
}

void guids_run_ended(struct sync *s)
{
	while (s->guids_late && guids_feed(s))
		;
	s->guids_late = false;
	s->node = 0;
}

static struct guid_block *make_want(struct sync *s, guid_t port_guid, unsigned block)
{
	struct guid_want *want;

	if (!s->guid_wants)
		s->guid_wants = guidmap_new();
	want = guidmap_get(s->guid_wants, port_guid);
	if (!want) {
		want = xcalloc(1, sizeof(*want));
		guidmap_put(s->guid_wants, port_guid, want);
	}
	if (block >= want->n) {
		want->blocks = xrealloc(want->blocks, block + 1, sizeof(*want->blocks));
		memset(want->blocks + want->n, 0, (block + 1 - want->n) * sizeof(*want->blocks));
		want->n = block + 1;
	}
	return &want->blocks[block];
}

static void drop_want(struct sync *s, guid_t port_guid, unsigned block)
{
	struct guid_want *want = s->guid_wants ? guidmap_get(s->guid_wants, port_guid) : NULL;

	if (!want || block >= want->n)
		return;
	want->blocks[block].wanted = false;
	release(s, port_guid, want);
}

void sync_want_guids(struct sync *s, guid_t port_guid, unsigned block,
		     const guid_t guids[GUID_BLOCK])
{
	struct port *p = fabric_find_port(s->fabric, port_guid);
	struct guid_block *want;

	if (block >= MAX_BLOCKS || !port_guid)
		return;
	if (!guids) {
		drop_want(s, port_guid, block);
		return;
	}
	want = make_want(s, port_guid, block);
	want->wanted = true;
	memcpy(want->guids, guids, sizeof(want->guids));
	if (s->stage != ST_IDLE || (p && sync_port_is_ours(p) && !sync_leaves_out(s, p->node)))
		want_more(s, p, block);
}
