// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Key tables of one port, written outside of runs and read back (14.2.5.7), in two kinds:
 *
 *   confirm   an end port: first the table of the switch port that faces it, then its own, as they
 *             are planned. A key that is taken away is so stopped at the switch before the end port
 *             is asked to forget it
 *   remove    a switch port whose far end is not planned: it does not answer, or its GUID is in
 *             doubt, and its link is up all the same. Keys that it may not have are taken out, and
 *             nothing is put in
 *
 *   of each side:   READ: blocks that were written, or whose content has to be known
 *                    |    ^
 *                    v    |   MAX_TURNS times: another manager may write meanwhile
 *                   WRITE: blocks that differ --none--> done
 *
 * A block that a run has on the wire is waited for.
 */
#include <assert.h>
#include <string.h>

#include "sync/sync_internal.h"
#include "util/mem.h"

#define MAX_TURNS  8 /* each turn reads or writes */
#define MAX_BLOCKS (PKEY_CAP_MAX / PKEY_BLOCK)

struct pkeys_task {
	struct pkeys_task *next;
	struct sync *sync;
	struct port *port; /* the end port; of REMOVE, the switch port */
	enum { CONFIRM, REMOVE } kind;
	struct pkey_table allowed; /* of REMOVE: keys that may stay; owned */
	bool at_end;		   /* set if the end port is being handled, not the switch port */
	unsigned turns, n_out;
	/* node whose port was asked last; `peer` may be another one by now */
	const struct node *asked;
	bool waits;		  /* set while a run has a Set of a block under way */
	enum pkeys_state fault;	  /* fault of the present side; PKEYS_CONFIRMED: none */
	uint64_t written[(MAX_BLOCKS + 63) / 64]; /* blocks to be read back */
	struct sync_pkeys result;
	sync_pkeys_fn *done;
	void *arg;
};

static struct port *side_of(const struct pkeys_task *t)
{
	return t->kind == REMOVE || t->at_end ? t->port : t->port->peer;
}

static const struct sync_row *row_of(void)
{
	return sync_plain_row(IB_ATTR_PKEY_TABLE);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void note_fault(struct pkeys_task *t, enum verdict v)
{
	if (v == VERDICT_SILENT)
		t->fault = PKEYS_SILENT;
	else if (v == VERDICT_CANCELLED)
		t->fault = PKEYS_CANCELLED;
	else if (v == VERDICT_REFUSED && t->fault == PKEYS_CONFIRMED)
		t->fault = PKEYS_REFUSED;
}

static void on_written(void *owner, const struct mad_result *r)
{
	struct pkeys_task *t = owner;
	struct port *p = r->arg;
	const struct sync_row *row = row_of();
	enum verdict v;

	t->n_out--;
	observe_block_back(p, TABLE_PKEYS, port_tables[TABLE_PKEYS].block(r->mod));
	v = sync_verdict(r, r->end == MAD_END_ANSWERED &&
				    row->observe(t->sync, row, p, r->mod, r->payload));
	if (row->unknown & AFTER(v))
		row->forget(t->sync, row, p, r->mod);
	/* Another want may have replaced the one that was sent; the number of turns ends that. */
	if (v == VERDICT_REFUSED && t->kind == CONFIRM &&
	    sync_tries_are_over(row, row->tries(row, p), v))
		row->give_up(t->sync, row, p, r->mod);
	note_fault(t, v);
}

static void on_read(void *owner, const struct mad_result *r)
{
	struct pkeys_task *t = owner;
	struct port *p = r->arg;
	const struct sync_row *row = row_of();
	enum verdict v = sync_verdict(r, true);

	t->n_out--;
	if (v == VERDICT_STORED)
		row->observe(t->sync, row, p, r->mod, r->payload);
	else
		row->forget(t->sync, row, p, r->mod);
	note_fault(t, v);
}

/* ---- one side -------------------------------------------------------------------------------- */

/* Sends a Set of a block; `payload` NULL: a Get. */
static void ask(struct pkeys_task *t, struct port *p, unsigned block, const uint8_t *payload)
{
	const struct mad_request rq = {
		.attr = IB_ATTR_PKEY_TABLE,
		.mod = port_tables[TABLE_PKEYS].mod(p, block),
		.payload = payload,
	};
	bool sent = t->turns < MAX_TURNS &&
		    (payload ? smp_set(&t->sync->sender, p, &rq, on_written, t, p)
			     : smp_get(&t->sync->sender, p, &rq, on_read, t, p));

	t->asked = p->node;
	if (!sent) {
		t->fault = t->turns < MAX_TURNS ? PKEYS_CANCELLED : PKEYS_REFUSED;
		return;
	}
	t->n_out++;
	if (!payload)
		return;
	observe_block_sent(p, TABLE_PKEYS, block);
	t->written[block / 64] |= 1ull << block % 64;
}

static bool is_to_read(const struct pkeys_task *t, const struct port *p, unsigned block)
{
	if (t->written[block / 64] >> block % 64 & 1)
		return true;
	return t->kind == REMOVE && !fabric_cell(t->sync->fabric, p, TABLE_PKEYS, block);
}

/* Does the block have more keys than allowed? `ret`: the allowed part. */
static bool holds_more(const struct pkeys_task *t, const struct port *p, unsigned block,
		       uint8_t ret[SMP_DATA_SIZE])
{
	const uint8_t *have = fabric_cell(t->sync->fabric, p, TABLE_PKEYS, block);

	for (unsigned i = 0; i < PKEY_BLOCK; i++)
		ib_bits_put(ret, i * 16, 16,
			    pkeys_allowed(t->allowed, (uint16_t)ib_bits_get(have, i * 16, 16)));
	return memcmp(have, ret, SMP_DATA_SIZE) != 0;
}

static bool differs(const struct pkeys_task *t, const struct port *p, const struct want *w,
		    unsigned block, uint8_t ret[SMP_DATA_SIZE])
{
	return t->kind == REMOVE ? holds_more(t, p, block, ret)
				 : cells_differ(t->sync, row_of(), p, w, block, ret);
}

static void read_side(struct pkeys_task *t, struct port *p, unsigned blocks)
{
	for (unsigned block = 0; block < blocks; block++)
		if (is_to_read(t, p, block))
			ask(t, p, block, NULL);
	memset(t->written, 0, sizeof(t->written));
}

static void write_side(struct pkeys_task *t, struct port *p, const struct want *w, unsigned blocks)
{
	uint8_t wanted[SMP_DATA_SIZE];

	for (unsigned block = 0; block < blocks; block++) {
		if (!differs(t, p, w, block, wanted))
			continue;
		if (t->kind == CONFIRM && cells_are_given_up(t->sync, row_of(), p, w))
			t->fault = PKEYS_REFUSED;
		else
			ask(t, p, block, wanted);
	}
}

/*
 * Handles the present side as far as possible without waiting. True: it is done, with result `ret`.
 */
static bool go_on_side(struct pkeys_task *t, enum pkeys_state *ret)
{
	struct port *p = side_of(t);
	struct want w = { 0 };
	unsigned blocks;

	*ret = t->fault;
	if (t->fault != PKEYS_CONFIRMED)
		return true;
	if (!p || (t->kind == CONFIRM && !pkeys_want(t->sync, p, &w))) {
		*ret = PKEYS_NOTHING;
		return true;
	}
	/* a known block is out of date while a run has a Set of it under way */
	t->waits = p->tables[TABLE_PKEYS] && p->tables[TABLE_PKEYS]->n_out;
	if (t->waits)
		return false;
	blocks = MIN((fabric_pkey_cap(p) + PKEY_BLOCK - 1) / PKEY_BLOCK, MAX_BLOCKS);
	read_side(t, p, blocks);
	if (!t->n_out && t->fault == PKEYS_CONFIRMED)
		write_side(t, p, &w, blocks);
	t->turns++;
	*ret = t->fault;
	return !t->n_out;
}

/* ---- the task -------------------------------------------------------------------------------- */

static void start_side(struct pkeys_task *t, bool at_end)
{
	t->at_end = at_end;
	t->turns = 0;
	t->fault = PKEYS_CONFIRMED;
	memset(t->written, 0, sizeof(t->written));
}

/* Handles the sides in turn. True: all are done. */
static bool go_on_task(struct pkeys_task *t)
{
	enum pkeys_state state;

	while (!t->n_out && go_on_side(t, &state)) {
		if (t->at_end) {
			t->result.end_port = state;
			return true;
		}
		t->result.switch_port = state;
		if (t->kind == REMOVE)
			return true;
		start_side(t, true);
	}
	return false;
}

/* Ends a task; `at`: its link in the task list, to which new tasks are appended. */
static void end_task(struct pkeys_task **at)
{
	struct pkeys_task *t = *at;

	*at = t->next;
	t->done(t->arg, &t->result);
	free(as_owner(t->allowed.keys));
	free(t);
}

void pkeys_feed_now(struct sync *s)
{
	struct pkeys_task **at = &s->pkeys_tasks;

	while (*at) {
		if (!(*at)->n_out && go_on_task(*at))
			end_task(at);
		else
			at = &(*at)->next;
	}
}

/* Marks the end port; only the existence of the entry matters. */
void sync_pkeys_replanned(struct sync *s, guid_t end)
{
	if (!s->replanned)
		s->replanned = guidmap_new();
	guidmap_put(s->replanned, end, s);
}

bool pkeys_are_overtaken(const struct sync *s, const struct port *p, uint32_t mod)
{
	const struct port *end = port_is_end(p) ? p : p->peer;

	return s->replanned && end && end->guid && guidmap_get(s->replanned, end->guid);
}

static struct pkeys_task *add_task(struct sync *s, struct port *p, sync_pkeys_fn *done, void *arg)
{
	struct pkeys_task *t = xcalloc(1, sizeof(*t)), **at = &s->pkeys_tasks;

	assert(s && p && done);
	t->sync = s;
	t->port = p;
	t->done = done;
	t->arg = arg;
	start_side(t, false);
	while (*at)
		at = &(*at)->next;
	return *at = t;
}

void sync_confirm_pkeys(struct sync *s, struct port *end, sync_pkeys_fn *done, void *arg)
{
	assert(port_is_end(end));
	add_task(s, end, done, arg)->kind = CONFIRM;
}

void sync_remove_pkeys(struct sync *s, struct port *p, struct pkey_table allowed,
		       sync_pkeys_fn *done, void *arg)
{
	struct pkeys_task *t = add_task(s, p, done, arg);

	assert(!port_is_end(p));
	t->kind = REMOVE;
	t->result.end_port = PKEYS_NOTHING;
	t->allowed = (struct pkey_table){ xmemdup(allowed.keys, allowed.n * sizeof(*allowed.keys)),
					  allowed.n };
}

static void cancel_task(struct pkeys_task **at)
{
	struct pkeys_task *t = *at;

	mad_cancel(t->sync->mad, t, NULL);
	if (!t->at_end)
		t->result.switch_port = PKEYS_CANCELLED;
	t->result.end_port = PKEYS_CANCELLED;
	end_task(at);
}

void pkeys_forget_now(struct sync *s, const struct node *n)
{
	struct pkeys_task **at = &s->pkeys_tasks;

	while (*at) {
		const struct pkeys_task *t = *at;

		if (!n || t->port->node == n || (t->n_out && t->asked == n))
			cancel_task(at);
		else
			at = &(*at)->next;
	}
}
