// SPDX-License-Identifier: BSD-2-Clause
/*
 * Audits: tables that no sweep reads are read again in turn, a few cells in each light sweep, or
 * after a heavy one where all sweeps are heavy. What wrote there (another manager, a host that no
 * M_Key stops, a Set that was under way for too long) is found, told, counted and written over.
 *
 *   kind    cells                                    of
 *   LFT     blocks of the forwarding table           each switch
 *   PORTS   blocks of P_Keys and GUIDs               its ports, and the hosts there
 *   LANES   SL2VL rows, blocks of VL arbitration     its ports, and the hosts there
 *
 * Cost. A turn reads 60 cells in all with the default sweep_interval of 10 s, and never less than
 * one at each switch: LFT, PORTS, LFT, LANES, and so on; none twice. A fabric of 8 switches with 64
 * hosts of 2 blocks has all its P_Keys read within 16 light sweeps. One of 1,620 switches sends
 * 1,620 Gets in a light sweep: P_Keys of 36 ports and 18 hosts of 2 blocks take 220 of these, or 37
 * minutes; their 1,500 cells of LANES 17 h. P_Keys of our own port are read each time (256 of
 * them): without them no host reaches the SA.
 *
 * Only cells of which something is known are read: a device without VL arbitration, or one that
 * refuses the table, was never asked for it. One that does not answer is asked less and less often.
 *
 *   KNOWN --other content--> DOUBTED: all cells of this kind, at this switch, are read at once
 *     ^                        |
 *     |                        |--as known: a Set was on its way
 *     '--written again---------'--other content again: taken in, counted, told; a sweep writes
 *
 * A table that is found changed again and again (a device that says one thing and does another, a
 * host that does not give up) is written the 1st, 2nd, 4th, 8th ... time: a liar costs some twenty
 * Sets in a year, and what an attack left behind is repaired in the end. Our own port: at the
 * latest every 64th time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/read/discover_internal.h"
#include "sm/read/light_internal.h"
#include "util/mem.h"

/* Cells read in a turn, for each second of sweep_interval. */
#define AUDITS_A_SECOND 6u
#define INTERVAL_MAX	60u
/* Least number of turns between sweeps that look for another manager because of a finding. */
#define LOOK_TURNS	64u
/*
 * Most blocks of P_Keys of our own port read in a turn; of more, the first one and others in turn.
 */
#define OWN_BLOCKS	8u
/* Our own port is written at the latest when it was found changed so many times in a row. */
#define OWN_TIMES	64u
/* Most turns of a table that are skipped after one without an answer. */
#define REST_MAX	64u

/* In this order; the next kind takes the place of one that has no cells. */
enum audit_kind { AUDIT_LFT, AUDIT_LANES, AUDIT_PORTS, AUDIT_KINDS };

_Static_assert((int)AUDIT_KINDS == (int)NODE_AUDITS, "struct node has a place for each kind");

/* ---- log ------------------------------------------------------------------------------------- */

static uint64_t entry_of(const uint8_t *cell, unsigned i, unsigned bits)
{
	return ib_bits_get(cell, i * bits, bits);
}

/* Logs the entries, of `bits` each, that differ in a cell of 64 bytes. */
static void log_difference(struct sm *sm, const struct port *p, const char *table, unsigned block,
			   unsigned bits, const uint8_t *was, const uint8_t *found)
{
	unsigned n = 0, first = 0, digits = bits / 4, more;
	char others[LOG_OTHERS_STRLEN];

	for (unsigned i = SMP_DATA_SIZE * 8 / bits; i-- > 0;) {
		if (entry_of(was, i, bits) == entry_of(found, i, bits))
			continue;
		first = i;
		n++;
	}
	if (!log_allow(&sm->m.light->told, sm->now, &more))
		return;
	log_port(p, LOG_ID_TABLE_CHANGED, LOGB_ERROR,
		 "its %s block %u was changed by another: entry %u is 0x%0*" PRIx64
		 " and was 0x%0*" PRIx64 ", %u of %u differ; what is wanted is written again%s",
		 table, block, first, (int)digits, entry_of(found, first, bits), (int)digits,
		 entry_of(was, first, bits), n, SMP_DATA_SIZE * 8 / bits,
		 log_others(more, others));
}

/*
 * Counts a change, and has the table written at once. Only a subnet manager writes there: if it is
 * near, the heavy sweep that the next turn asks for finds it.
 */
static void note_found(struct sm *sm, unsigned table)
{
	sm->stats.tables_changed[table]++;
	sm->m.light->found_change = true;
	sm->m.light->others_wrote = true;
	sm->m.light->others_seen = sm->stats.heavy_sweeps;
	tell_news(sm, NEWS_TABLES, .text = "a table was changed by another");
}

/* ---- forwarding tables ----------------------------------------------------------------------- */

static void read_all(struct sm *sm, struct node *n, enum audit_kind kind);

static void on_lft(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;
	const uint8_t *have = lft_have_block(&n->lft, r->mod);
	uint8_t was[LFT_BLOCK_LIDS];

	sm->m.light->pending--;
	/* a Set of a patch may have arrived whose answer has not */
	if (r->end != MAD_END_ANSWERED || !have || sync_patch_open(sm->sync))
		return;
	memcpy(was, have, sizeof(was));
	if (!observe_lft_block(n, r->mod, r->payload))
		return;
	log_difference(sm, &n->ports[0], ib_attr_name(r->attr), r->mod, 8, was, r->payload);
	note_found(sm, SM_TABLE_LFT);
	want_sweep(sm, SWEEP_HEAVY, "the light sweep found a table changed");
	read_all(sm, n, AUDIT_LFT);
}

static void ask_lft(struct sm *sm, struct node *n, uint32_t block)
{
	if (!lft_have_block(&n->lft, block))
		return;
	sm->m.light->pending++;
	discover_get(sm, n, IB_ATTR_LFT, block, on_lft);
}

/* ---- tables of ports ------------------------------------------------------------------------- */

static enum audit_kind kind_of(enum port_table table)
{
	return port_tables[table].is_of_lanes ? AUDIT_LANES : AUDIT_PORTS;
}

/* The switch with which a port is audited; its own node if there is no switch. */
static struct node *auditor_of(struct port *p)
{
	bool at_switch = !node_is_switch(p->node) && p->peer && node_is_switch(p->peer->node);

	return at_switch ? p->peer->node : p->node;
}

/* The port at the other end of the cable, if it is a host's. */
static struct port *host_at(struct port *p)
{
	return p->peer && port_is_end(p->peer) ? p->peer : NULL;
}

/* Counts in how many turns in a row the table was found changed. True: it is written this time. */
static bool is_worth_a_set(struct sm *sm, const struct port *p, struct cell_table *t,
			   unsigned block)
{
	uint8_t turn = (uint8_t)sm->m.light->turn;

	if (!t->disproofs || t->disproved_in != turn)
		t->disproofs = t->disproofs == UINT16_MAX ? UINT16_MAX / 2 + 1 : t->disproofs + 1;
	t->disproved_in = turn;
	t->disproved = (uint16_t)block;
	return !(t->disproofs & (t->disproofs - 1)) ||
	       (p == sm->fabric->own_port && t->disproofs % OWN_TIMES == 0);
}

/* Skips turns of a table after questions without an answer: one, then two, four ... */
static void note_unread(struct cell_table *t)
{
	t->unread = (uint8_t)MIN(t->unread + 1u, 7u);
	t->rest = (uint8_t)MIN(1u << (t->unread - 1u), REST_MAX);
}

/* Does the answer differ from the known cell, so that something must be done? */
static bool is_disproved(struct sm *sm, const struct mad_result *r)
{
	struct port *p = r->arg;
	enum port_table table = port_table_of(r->attr);
	unsigned block = port_tables[table].block(r->mod);
	struct cell_table *t = p->tables[table];

	sm->m.light->pending--;
	if (!t)
		return false;
	if (r->end != MAD_END_ANSWERED) {
		if (r->end != MAD_END_CANCELLED)
			note_unread(t);
		return false;
	}
	t->unread = t->rest = 0;
	if (!cell_table_id(t, block) || cell_table_is_out(t, block))
		return false;
	if (!fabric_cell_is(sm->fabric, p, table, block, r->payload))
		return is_worth_a_set(sm, p, t, block);
	if (t->disproved == block)
		t->disproofs = 0;
	return false;
}

static void on_cell(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;

	if (is_disproved(sm, r))
		read_all(sm, auditor_of(r->arg), kind_of(port_table_of(r->attr)));
}

static void on_doubted_cell(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;
	enum port_table table = port_table_of(r->attr);
	unsigned block = port_tables[table].block(r->mod);
	uint8_t was[SMP_DATA_SIZE];

	if (!is_disproved(sm, r))
		return;
	memcpy(was, fabric_cell(sm->fabric, p, table, block), sizeof(was));
	observe_block(sm->fabric, p, table, block, r->payload);
	log_difference(sm, p, ib_attr_name(r->attr), block, port_tables[table].entry_bits, was,
		       fabric_cell(sm->fabric, p, table, block));
	note_found(sm, table);
}

/* Reads a cell, unless it is unknown, its path is unknown, or its node does not answer. */
static void ask_cell(struct sm *sm, struct port *p, enum port_table table, unsigned block,
		     mad_done_fn fn)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = port_tables[table].attr,
		.mod = port_tables[table].mod(p, block),
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (!fabric_cell(sm->fabric, p, table, block) || p->node->misses ||
	    mad_target_silent(sm->mad, rq.target) ||
	    fabric_port_path(sm->fabric, p, &path) < 0)
		return;
	sm->m.light->pending++;
	mad_submit(sm->mad, &rq, fn, sm, p);
}

/* Reads a cell, unless turns of its table are skipped. */
static void ask_in_turn(struct sm *sm, struct port *p, enum port_table table, unsigned block)
{
	if (p->tables[table]->rest)
		p->tables[table]->rest--;
	else
		ask_cell(sm, p, table, block, on_cell);
}

/* ---- places: cells of a kind at a switch, in an order --------------------------------------- */

/*
 * The number of cells of a port; `at` below it: `*ret_table` and `*ret_block` are those of that
 * one.
 */
static uint32_t port_places(const struct port *p, enum audit_kind kind, uint32_t at,
			    enum port_table *ret_table, unsigned *ret_block)
{
	uint32_t n = 0;

	for (enum port_table i = 0; p && i < N_PORT_TABLES; i++) {
		uint32_t here = p->tables[i] && kind_of(i) == kind ? p->tables[i]->n : 0;

		if (at >= n && at - n < here) {
			*ret_table = i;
			*ret_block = at - n;
		}
		n += here;
	}
	return n;
}

/* The number of cells of a node; sets port, table and block of the one at `at`. */
static uint32_t node_places(struct node *n, enum audit_kind kind, uint32_t at,
			    struct port **ret_port, enum port_table *ret_table, unsigned *ret_block)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i <= n->n_ports; i++) {
		struct port *const ends[] = { &n->ports[i], host_at(&n->ports[i]) };

		for (unsigned end = 0; end < ARRAY_SIZE(ends); end++) {
			uint32_t here = port_places(ends[end], kind, at - sum, ret_table,
						    ret_block);

			if (at >= sum && at - sum < here)
				*ret_port = ends[end];
			sum += here;
		}
	}
	return sum;
}

static uint32_t count_places(struct node *n, enum audit_kind kind)
{
	enum port_table table;
	struct port *p;
	unsigned block;

	return kind == AUDIT_LFT ? n->lft.n_blocks
				 : node_places(n, kind, UINT32_MAX, &p, &table, &block);
}

static void ask_place(struct sm *sm, struct node *n, enum audit_kind kind, uint32_t at)
{
	enum port_table table = N_PORT_TABLES;
	struct port *p = NULL;
	unsigned block = 0;

	if (kind == AUDIT_LFT) {
		ask_lft(sm, n, at);
		return;
	}
	node_places(n, kind, at, &p, &table, &block);
	if (p)
		ask_in_turn(sm, p, table, block);
}

static void read_port(struct sm *sm, struct port *p, enum audit_kind kind)
{
	for (enum port_table i = 0; p && i < N_PORT_TABLES; i++) {
		for (unsigned block = 0; kind_of(i) == kind && p->tables[i] &&
					 block < p->tables[i]->n; block++)
			ask_cell(sm, p, i, block, on_doubted_cell);
	}
}

/* Reads all cells of a kind, once per turn: a program that wrote one may have written more. */
static void read_all(struct sm *sm, struct node *n, enum audit_kind kind)
{
	if (n->audits[kind].doubted == sm->m.light->turn)
		return;
	n->audits[kind].doubted = sm->m.light->turn;
	for (uint32_t block = 0; kind == AUDIT_LFT && block < n->lft.n_blocks; block++)
		ask_lft(sm, n, block);
	for (unsigned i = 0; kind != AUDIT_LFT && i <= n->n_ports; i++) {
		read_port(sm, &n->ports[i], kind);
		read_port(sm, host_at(&n->ports[i]), kind);
	}
}

/* ---- a turn ---------------------------------------------------------------------------------- */

void audit_begin(struct sm *sm)
{
	struct light *l = sm->m.light;

	l->turn++;
	l->others_wrote = l->others_wrote && l->others_seen == sm->stats.heavy_sweeps;
	if (!l->others_wrote || l->turn < l->look_from)
		return;
	l->others_wrote = false;
	l->look_from = l->turn + LOOK_TURNS;
	want_sweep(sm, SWEEP_HEAVY, "tables were changed: another manager may be near");
}

/* The number of cells read at each switch in this turn. */
static uint32_t share_of(const struct sm *sm)
{
	uint32_t all = AUDITS_A_SECOND * MIN(sm->conf->sweep_interval, INTERVAL_MAX);

	return MAX(all / MAX(sm->fabric->n_switches, 1u), 1u);
}

void audit_switch(struct sm *sm, struct node *n)
{
	static const enum audit_kind order[] = { AUDIT_LFT, AUDIT_PORTS, AUDIT_LFT, AUDIT_LANES };
	uint32_t share = share_of(sm);
	uint32_t all[AUDIT_KINDS], left[AUDIT_KINDS];

	if (n->misses || mad_target_silent(sm->mad, &n->target))
		return;
	for (enum audit_kind i = 0; i < AUDIT_KINDS; i++)
		all[i] = left[i] = count_places(n, i);
	for (uint32_t i = 0; i < share; i++) {
		enum audit_kind kind = order[(sm->m.light->turn * share + i) % ARRAY_SIZE(order)];

		for (unsigned k = 0; k < AUDIT_KINDS && !left[kind]; k++)
			kind = (kind + 1) % AUDIT_KINDS;
		if (!left[kind])
			return;
		left[kind]--;
		ask_place(sm, n, kind, n->audits[kind].read++ % all[kind]);
	}
}

void audit_own_port(struct sm *sm)
{
	struct port *own = sm->fabric->own_port;
	const struct cell_table *t = own ? own->tables[TABLE_PKEYS] : NULL;

	for (unsigned i = 0; t && i < MIN(t->n, OWN_BLOCKS); i++) {
		unsigned in_turn = sm->m.light->turn * (OWN_BLOCKS - 1) + i - 1;

		ask_cell(sm, own, TABLE_PKEYS,
			 t->n <= OWN_BLOCKS ? i
			 : i		    ? 1 + in_turn % (t->n - 1u)
					    : 0,
			 on_cell);
	}
}
