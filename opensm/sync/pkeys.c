// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Key tables of ports (14.2.5.7): what plan/pkey wants of end ports and of the switch ports that
 * face them, minus what they hold.
 *
 * While ports are live nobody may get more than the old or the new plan gives. So there are two
 * passes over the fabric with a barrier between:
 *
 *   TRIM            live ports lose what is not in their new table; a full key whose limited form is
 *                   becomes that. What is unknown is read first.
 *   PKEYS, CHECKS   every table as wanted: end ports, then switch ports
 *
 * As long as a live port keeps what it shall lose, because it does not answer, the second pass waits
 * for the next run; not for ever, or one device could hold up all the others.
 *
 * Ports in INIT have no traffic: their tables are written without being read, all blocks of an end
 * port, the used ones of a switch port.
 */
#include <string.h>

#include "sync/impl.h"
#include "util/mem.h"

/* Runs that wait for one port. */
#define MAX_UNANSWERED 2

_Static_assert(PKEY_BLOCK == PKEYS_PER_BLOCK, "keys of a block");

struct want {
	struct pkey_table table;
	unsigned blocks; /* written even if nothing is known of them */
	unsigned all;	 /* blocks of the port: those above are emptied if they hold something */
};

static unsigned blocks_of(const struct port *p)
{
	return (fabric_pkey_cap(p) + PKEY_BLOCK - 1) / PKEY_BLOCK;
}

/* False: this table is left as it is. */
static bool want_of(const struct sync *s, const struct port *p, struct want *ret)
{
	const struct port *end = port_is_end(p) ? p : p->peer;
	const struct pkey_plan *plan = s->plan.pkeys;
	size_t i;

	if (!plan || !end || !port_is_end(end) || !sync_port_is_ours(p))
		return false;
	i = pkey_plan_find(plan, end->guid);
	ret->all = ret->blocks = blocks_of(p);
	if (i == SIZE_MAX || !ret->all)
		return false;
	if (end == p) {
		ret->table = pkey_plan_table(plan, plan->ports[i].table);
		return true;
	}
	if (plan->ports[i].peer_table == PKEY_NO_TABLE)
		return false;
	ret->table = pkey_plan_table(plan, plan->ports[i].peer_table);
	ret->blocks = MIN(MAX(pkey_table_blocks(ret->table), 1u), ret->all);
	return true;
}

static void fill(const struct want *want, unsigned block, uint8_t *ret)
{
	uint16_t keys[PKEY_BLOCK];

	pkey_table_block(want->table, block, keys);
	for (unsigned i = 0; i < PKEY_BLOCK; i++)
		ib_bits_put(ret, i * 16, 16, keys[i]);
}

static uint32_t hash_of(const struct want *want)
{
	uint64_t h = 0x9E3779B97F4A7C15ull;

	for (unsigned i = 0; i < want->table.n; i++)
		h = (h ^ want->table.keys[i]) * 0x100000001B3ull;
	h ^= h >> 32;
	return (uint32_t)h ? (uint32_t)h : 1;
}

/* The device was shown this want, and does not keep it. */
static bool is_given_up(const struct port *p, const struct want *want)
{
	return p->pkeys && p->pkeys->given_up && p->pkeys->given_up == hash_of(want);
}

/* A block that is to be written; `ret` is what it shall hold. */
static bool block_differs(const struct sync *s, const struct port *p, const struct want *want,
			  unsigned block, uint8_t *ret)
{
	const uint8_t *have = fabric_pkey_block(s->fabric, p, block);

	fill(want, block, ret);
	if (!have)
		return block < want->blocks;
	return memcmp(have, ret, SMP_DATA_SIZE) != 0;
}

static void send_block(struct sync *s, struct port *p, unsigned block, const uint8_t *payload,
		       mad_done_fn on_done)
{
	struct dr_path path;
	const struct mad_request rq = {
		.attr = IB_ATTR_PKEY_TABLE,
		.mod = fabric_pkey_mod(p, block),
		.path = &path,
		.payload = payload,
	};

	if (fabric_port_path(s->fabric, p, &path) < 0 || !sync_send(s, p, &rq, on_done, p))
		return;
	cell_table_grow(&p->pkeys, block + 1);
	p->pkeys->unproven = true;
}

/* What became of a Set, whatever it was meant for. True: it was answered well. */
static bool take_answer(struct sync *s, struct port *p, const struct mad_result *r)
{
	unsigned block = r->mod & 0xFFFF;

	cell_table_grow(&p->pkeys, block + 1);
	if (!sync_ended_well(s, p->node, r)) {
		if (r->end != MAD_END_BAD_STATUS)
			cell_table_forget(s->fabric->cells, p->pkeys, block);
		return false;
	}
	fabric_observe_pkeys(s->fabric, p, block, r->payload);
	p->pkeys->refusals = p->pkeys->unanswered = 0;
	return true;
}

/* ---- TRIM ----------------------------------------------------------------------------------- */

/* A live port that may hold what it shall lose: what others shall get waits, a few times. */
static void note_open(struct sync *s, struct port *p)
{
	if (p->pkeys->unanswered < MAX_UNANSWERED) {
		p->pkeys->unanswered++;
		s->trims_open++;
	}
}

static void on_trim(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;

	if (!take_answer(s, p, r) && r->end == MAD_END_TIMEOUT)
		note_open(s, p);
}

static bool table_has(struct pkey_table table, uint16_t key)
{
	for (unsigned i = 0; i < table.n; i++) {
		if (table.keys[i] == key)
			return true;
	}
	return false;
}

/* What is left of a key: itself, its limited form, or nothing. */
static uint16_t shared_key(struct pkey_table table, uint16_t key)
{
	if (!(key & PKEY_BASE))
		return 0;
	if (table_has(table, key))
		return key;
	return (key & PKEY_FULL) && table_has(table, key & PKEY_BASE) ? key & PKEY_BASE : 0;
}

/* What is left of a block. True: it holds nothing beyond that. */
static bool trim(const struct want *want, const uint8_t *have, uint8_t *ret)
{
	for (unsigned i = 0; i < PKEY_BLOCK; i++)
		ib_bits_put(ret, i * 16, 16,
			    shared_key(want->table, (uint16_t)ib_bits_get(have, i * 16, 16)));
	return !memcmp(have, ret, SMP_DATA_SIZE);
}

/* True: a Set had to be sent. */
static bool trim_known(struct sync *s, struct port *p, const struct want *want, unsigned block)
{
	uint8_t wanted[SMP_DATA_SIZE], left[SMP_DATA_SIZE];

	if (!block_differs(s, p, want, block, wanted) ||
	    trim(want, fabric_pkey_block(s->fabric, p, block), left))
		return false;
	send_block(s, p, block, left, on_trim);
	return true;
}

static void on_trim_read(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	unsigned block = r->mod & 0xFFFF;
	struct want want;

	s->in_flight--;
	cell_table_grow(&p->pkeys, block + 1);
	if (r->end == MAD_END_ANSWERED) {
		fabric_observe_pkeys(s->fabric, p, block, r->payload);
		if (want_of(s, p, &want))
			trim_known(s, p, &want, block);
	} else if (r->end == MAD_END_TIMEOUT) {
		s->outcome.timeouts++;
		s->outcome.failed_example = p->node;
		s->outcome.failed_attr = r->attr;
		s->outcome.failed_status = 0;
		note_open(s, p);
	}
}

static bool read_block(struct sync *s, struct port *p, unsigned block)
{
	struct dr_path path;
	const struct mad_request rq = {
		.attr = IB_ATTR_PKEY_TABLE,
		.mod = fabric_pkey_mod(p, block),
		.path = &path,
	};

	if (fabric_port_path(s->fabric, p, &path) < 0)
		return false;
	sync_ask(s, p, &rq, on_trim_read, p);
	return true;
}

static void trim_port(struct sync *s, struct port *p)
{
	struct want want;
	unsigned asked = 0;

	if (!want_of(s, p, &want) || !port_is_live(p) || is_given_up(p, &want))
		return;
	for (unsigned block = 0; block < want.all; block++) {
		if (fabric_pkey_block(s->fabric, p, block))
			asked += trim_known(s, p, &want, block);
		else if (block < want.blocks)
			asked += read_block(s, p, block);
	}
	if (!asked && p->pkeys)
		p->pkeys->unanswered = 0;
}

bool pkeys_feed_trim(struct sync *s)
{
	return s->plan.pkeys && sync_feed_ports(s, trim_port);
}

/* ---- PKEYS and CHECKS ----------------------------------------------------------------------- */

static void give_up(struct sync *s, struct port *p, const struct want *want)
{
	if (!is_given_up(p, want)) {
		s->outcome.unkept_tables++;
		s->outcome.unkept_example = p;
		s->outcome.unkept_attr = IB_ATTR_PKEY_TABLE;
	}
	p->pkeys->given_up = hash_of(want);
}

static void on_table(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	bool good = take_answer(s, p, r);
	uint8_t wanted[SMP_DATA_SIZE];
	struct want want;

	if (!want_of(s, p, &want))
		return;
	if (good ? block_differs(s, p, &want, r->mod & 0xFFFF, wanted)
		 : r->end == MAD_END_BAD_STATUS && ++p->pkeys->refusals >= MAX_REFUSALS)
		give_up(s, p, &want);
}

static void write_port(struct sync *s, struct port *p)
{
	uint8_t wanted[SMP_DATA_SIZE];
	struct want want;

	if (!want_of(s, p, &want) || is_given_up(p, &want))
		return;
	for (unsigned block = 0; block < want.all; block++) {
		if (block_differs(s, p, &want, block, wanted))
			send_block(s, p, block, wanted, on_table);
	}
}

static void write_end(struct sync *s, struct port *p)
{
	if (port_is_end(p))
		write_port(s, p);
}

static void write_check(struct sync *s, struct port *p)
{
	if (!port_is_end(p))
		write_port(s, p);
}

bool pkeys_feed_ends(struct sync *s)
{
	return s->plan.pkeys && !s->trims_open && sync_feed_ports(s, write_end);
}

bool pkeys_feed_checks(struct sync *s)
{
	return s->plan.pkeys && !s->trims_open && sync_feed_ports(s, write_check);
}

/* ---- what ARM wants to know ------------------------------------------------------------------ */

bool pkeys_are_settled(const struct sync *s, const struct port *p)
{
	uint8_t wanted[SMP_DATA_SIZE];
	struct want want;

	if (!want_of(s, p, &want) || is_given_up(p, &want))
		return true;
	for (unsigned block = 0; block < want.all; block++) {
		if (block_differs(s, p, &want, block, wanted))
			return false;
	}
	return true;
}

bool pkeys_enforcement(const struct sync *s, const struct port *p, uint8_t *ret)
{
	const struct pkey_plan *plan = s->plan.pkeys;
	bool on = ib_get(p->info, PI_PART_ENF_IN) || ib_get(p->info, PI_PART_ENF_OUT);
	size_t i;

	if (!plan || port_is_end(p) || !p->peer)
		return false;
	*ret = PKEY_ENFORCE_OFF;
	if (!port_is_end(p->peer))
		return true; /* between switches */
	i = pkey_plan_find(plan, p->peer->guid);
	if (i == SIZE_MAX)
		return false;
	*ret = plan->ports[i].peer_enforce;
	return on || !*ret || pkeys_are_settled(s, p);
}
