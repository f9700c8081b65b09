// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Key tables of one end port, written outside of runs and read back: first that of the switch
 * port that faces it, then its own (14.2.5.7). A key that is taken away is so stopped at the switch
 * before the end port is asked to forget it.
 *
 *   WRITE: blocks that differ are Set --> READ: these are asked for --> as wanted: the other side
 *     ^                                                                  |
 *     '------------ something else is there, or is wanted by now --------'  MAX_TURNS times
 *
 * A block that a run has on the wire is waited for.
 */
#include <assert.h>
#include <string.h>

#include "sync/sync_internal.h"
#include "util/mem.h"

#define MAX_TURNS  4
#define MAX_BLOCKS (PKEY_CAP_MAX / PKEY_BLOCK)

enum turn_step { TURN_WRITE, TURN_READ };

struct pkeys_task {
	struct pkeys_task *next;
	struct sync *sync;
	struct port *end;
	bool at_end; /* the side at work: else the switch port */
	enum turn_step step;
	unsigned turns, n_out;
	const struct node *asked; /* whose port was asked last: `peer` may be another by now */
	bool waits;		  /* a block is on the wire for a run */
	enum pkeys_state fault;	  /* of this side; PKEYS_CONFIRMED: none */
	uint64_t written[(MAX_BLOCKS + 63) / 64];
	struct sync_pkeys result;
	sync_pkeys_fn *done;
	void *arg;
};

static struct port *side_of(const struct pkeys_task *t)
{
	return t->at_end ? t->end : t->end->peer;
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
	/* Other content may be what was wanted when the Set left: the number of turns ends that. */
	if (v == VERDICT_REFUSED && sync_tries_are_over(row, row->tries(row, p), v))
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

static bool send_block(struct pkeys_task *t, struct port *p, unsigned block, const uint8_t *wanted)
{
	const struct mad_request rq = {
		.attr = IB_ATTR_PKEY_TABLE,
		.mod = port_tables[TABLE_PKEYS].mod(p, block),
		.payload = wanted,
	};

	if (!door_set(&t->sync->door, p, &rq, on_written, t, p))
		return false;
	t->asked = p->node;
	observe_block_sent(p, TABLE_PKEYS, block);
	t->written[block / 64] |= 1ull << block % 64;
	t->n_out++;
	return true;
}

static void write_side(struct pkeys_task *t, struct port *p, const struct want *w)
{
	uint8_t wanted[SMP_DATA_SIZE];

	for (unsigned block = 0; block < w->all && block < MAX_BLOCKS; block++) {
		if (!cells_differ(t->sync, row_of(), p, w, block, wanted))
			continue;
		if (cells_are_given_up(t->sync, row_of(), p, w))
			t->fault = PKEYS_REFUSED;
		else if (!send_block(t, p, block, wanted))
			t->fault = PKEYS_CANCELLED;
	}
}

static void read_side(struct pkeys_task *t, struct port *p)
{
	t->asked = p->node;
	for (unsigned block = 0; block < MAX_BLOCKS; block++) {
		const struct mad_request rq = {
			.attr = IB_ATTR_PKEY_TABLE,
			.mod = port_tables[TABLE_PKEYS].mod(p, block),
		};

		if (!(t->written[block / 64] >> block % 64 & 1))
			continue;
		if (door_get(&t->sync->door, p, &rq, on_read, t, p))
			t->n_out++;
		else
			t->fault = PKEYS_CANCELLED;
	}
	memset(t->written, 0, sizeof(t->written));
}

static bool has_written(const struct pkeys_task *t)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(t->written); i++)
		any |= t->written[i];
	return any != 0;
}

/*
 * As far as it goes without waiting. True: this side has come to its end; `ret` says how.
 */
static bool go_on_side(struct pkeys_task *t, enum pkeys_state *ret)
{
	struct port *p = side_of(t);
	struct want w;

	if (t->fault != PKEYS_CONFIRMED) {
		*ret = t->fault;
		return true;
	}
	if (!p || !pkeys_want(t->sync, p, &w)) {
		*ret = PKEYS_NOTHING;
		return true;
	}
	if (t->step == TURN_WRITE && has_written(t)) {
		t->step = TURN_READ;
		read_side(t, p);
		return false;
	}
	t->step = TURN_WRITE;
	/* A known block is out of date while a run has a Set of it on the wire. */
	t->waits = p->tables[TABLE_PKEYS] && p->tables[TABLE_PKEYS]->n_out;
	if (t->waits)
		return false;
	if (cells_are_settled(t->sync, row_of(), p)) {
		*ret = cells_are_given_up(t->sync, row_of(), p, &w) ? PKEYS_REFUSED
								    : PKEYS_CONFIRMED;
		return true;
	}
	if (++t->turns > MAX_TURNS) {
		*ret = PKEYS_REFUSED;
		return true;
	}
	write_side(t, p, &w);
	return false;
}

/* ---- the task -------------------------------------------------------------------------------- */

static void start_side(struct pkeys_task *t, bool at_end)
{
	t->at_end = at_end;
	t->step = TURN_WRITE;
	t->turns = 0;
	t->fault = PKEYS_CONFIRMED;
	memset(t->written, 0, sizeof(t->written));
}

/* True: both sides have come to their end. */
static bool go_on_task(struct pkeys_task *t)
{
	enum pkeys_state state;

	/* Two sides, each with a Set and a Get that may fail at once. */
	for (unsigned i = 0; i < 8 && !t->n_out; i++) {
		if (!go_on_side(t, &state)) {
			if (t->n_out || t->waits)
				return false;
			continue;
		}
		if (t->at_end) {
			t->result.end_port = state;
			return true;
		}
		t->result.switch_port = state;
		start_side(t, true);
	}
	return false;
}

/* `at`: the link in the task list. New tasks are appended. */
static void end_task(struct pkeys_task **at)
{
	struct pkeys_task *t = *at;

	*at = t->next;
	t->done(t->arg, &t->result);
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

/* The mark is never looked at but for its being there. */
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

void sync_confirm_pkeys(struct sync *s, struct port *end, sync_pkeys_fn *done, void *arg)
{
	struct pkeys_task *t = xcalloc(1, sizeof(*t)), **at = &s->pkeys_tasks;

	assert(s && end && port_is_end(end) && done);
	t->sync = s;
	t->end = end;
	t->done = done;
	t->arg = arg;
	start_side(t, false);
	while (*at)
		at = &(*at)->next;
	*at = t;
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

		if (!n || t->end->node == n || (t->n_out && t->asked == n))
			cancel_task(at);
		else
			at = &(*at)->next;
	}
}
