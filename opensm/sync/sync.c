// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stages and barriers. Each stage is a generator over nodes, ports or blocks that queues those
 * that differ; the engine's window paces it, so memory does not grow with the fabric.
 *
 * Knows stages and verdicts. The effects of a verdict are in the row of the attribute (rows.c);
 * which value is right is decided in plan/ and route/.
 */
#include "sync/sync.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sync/sync_internal.h"
#include "util/mem.h"

/* Requests kept queued ahead of the window. */
#define FEED_DEPTH	256
/* Number of times that a run returns to alias GUIDs that were requested during the run. */
#define MAX_LATE_PASSES 3

struct sync *sync_new(struct fabric *f, struct mad_engine *mad, const struct sync_hooks *hooks)
{
	struct sync *s = xcalloc(1, sizeof(*s));

	assert(f && mad && hooks && hooks->may_write);
	s->fabric = f;
	s->mad = mad;
	s->hooks = *hooks;
	s->now.blocks = guidmap_new();
	TAILQ_INIT(&s->now.waiting);
	s->sender = (struct smp_sender){ f, mad, hooks->may_write, hooks->arg };
	return s;
}

struct sync *sync_free(struct sync *s)
{
	if (!s)
		return NULL;
	sync_stop(s);
	guids_free(s->guid_wants);
	guidmap_free(s->replanned);
	s->plan.qos = NULL;
	slvl_start(s);
	free(s->routed);
	guidmap_free(s->now.blocks);
	free(s);
	return NULL;
}

bool sync_running(const struct sync *s)
{
	return s->stage != ST_IDLE;
}

/* ---- requests of a run ----------------------------------------------------------------------- */

void sync_note_fault(struct sync *s, const struct port *p, const struct mad_result *r)
{
	s->outcome.failed_example = p->node;
	s->outcome.failed_attr = r->attr;
	s->outcome.failed_status = r->status;
}

void sync_tell_fault(const struct sync *s, struct port *p, bool silent)
{
	if (s->hooks.set_fault)
		s->hooks.set_fault(s->hooks.arg, p, silent);
}

void sync_count_fault(struct sync *s, struct port *p, const struct mad_result *r)
{
	if (r->end == MAD_END_TIMEOUT)
		s->outcome.timeouts++;
	else
		s->outcome.refused++;
	sync_note_fault(s, p, r);
	sync_tell_fault(s, p, r->end == MAD_END_TIMEOUT);
}

static bool is_given_up_now(struct sync *s, const struct sync_row *row, struct port *p,
			    uint32_t mod, enum verdict v)
{
	return row->tries && sync_tries_are_over(row, row->tries(row, p), v) && row->give_up &&
	       !(row->is_overtaken && row->is_overtaken(s, p, mod));
}

/* Handles the end of every Set of a run. */
static void on_set(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	const struct sync_row *row = sync_row_of(s, r->attr);
	enum verdict v;

	s->in_flight--;
	if (row->table < N_PORT_TABLES)
		observe_block_back(p, row->table, port_tables[row->table].block(r->mod));
	if (r->end == MAD_END_BAD_STATUS && row->look_into && row->look_into(s, p, r))
		return;
	v = sync_verdict(r,
			 r->end == MAD_END_ANSWERED && row->observe(s, row, p, r->mod, r->payload));
	if (row->unknown & AFTER(v))
		row->forget(s, row, p, r->mod);
	if (v == VERDICT_SILENT || (v == VERDICT_REFUSED && !(row->is_quiet && row->is_quiet(s))))
		sync_count_fault(s, p, r);
	if (is_given_up_now(s, row, p, r->mod, v))
		row->give_up(s, row, p, r->mod);
	if (row->ended)
		row->ended(s, p, r, v);
}

bool sync_set(struct sync *s, struct port *p, const struct mad_request *what)
{
	return sync_send(s, p, what, on_set, p);
}

bool sync_send(struct sync *s, struct port *p, const struct mad_request *what, mad_done_fn on_done,
	       void *arg)
{
	if (!smp_set(&s->sender, p, what, on_done, s, arg))
		return false;
	s->in_flight++;
	s->outcome.sets++;
	return true;
}

bool sync_get(struct sync *s, struct port *p, uint16_t attr, uint32_t mod, mad_done_fn on_done)
{
	const struct mad_request rq = { .attr = attr, .mod = mod };

	if (!smp_get(&s->sender, p, &rq, on_done, s, p))
		return false;
	s->in_flight++;
	return true;
}

bool sync_answered(struct sync *s, struct port *p, const struct mad_result *r)
{
	s->in_flight--;
	if (r->end == MAD_END_TIMEOUT)
		sync_count_fault(s, p, r);
	return r->end == MAD_END_ANSWERED;
}

/* ---- commands -------------------------------------------------------------------------------- */

bool sync_command(struct sync *s, struct port *p, const struct mad_request *what,
		  mad_done_fn on_done, void *owner, void *arg)
{
	assert(s && p && what);
	return smp_set(&s->sender, p, what, on_done, owner, arg);
}

bool sync_last_command(struct sync *s, struct port *p, const struct mad_request *what)
{
	assert(s && p && what);
	return smp_set_once(&s->sender, p, what);
}

/* ---- the run ------------------------------------------------------------------------------ */

bool sync_leaves_out(const struct sync *s, struct node *n)
{
	bool silent = mad_target_silent(s->mad, &n->target);

	n->sync.passed_over = silent;
	return silent;
}

bool sync_port_is_ours(const struct port *p)
{
	if (!p->known)
		return false;
	if (node_is_switch(p->node) && p->num == 0)
		return true;
	return p->peer && p->peer->known && !p->quarantined && !p->peer->quarantined &&
	       port_state(p) > IB_PORT_DOWN;
}

enum ports { PORTS_ALL, PORTS_END, PORTS_FACING };

/* A stage writes a table of ports (`attr`), visits ports or nodes, or takes steps of its own. */
static const struct stage_row {
	const char *what;		      /* noun for the written tables */
	bool (*is_due)(const struct sync *s); /* NULL: always */
	bool ahead;			      /* set if the stage needs no routes */
	enum ib_attr attr;
	enum ports of;
	void (*port)(struct sync *s, struct port *p);
	void (*node)(struct sync *s, struct node *n);
	bool (*step)(struct sync *s); /* false: exhausted */
} stages[ST_END] = {
	[ST_CLEAR] = { "PortStateChange", .node = lft_clear },
	[ST_TRIM] = { "P_Keys that go", .is_due = pkeys_are_planned, .ahead = true,
		      .port = pkeys_trim },
	[ST_LANES] = { "SL2VL and VL arbitration tables", .is_due = slvl_is_wanted,
		       .node = slvl_write },
	[ST_DRAIN] = { "entries that could loop", .step = lft_feed_drain },
	[ST_TABLES] = { "forwarding tables", .step = lft_feed_blocks },
	[ST_REFUSERS] = { "forwarding tables that were refused", .node = lft_ask_refuser },
	[ST_TOP] = { "LinearFDBTop", .node = lft_write_top },
	[ST_LEFTOVERS] = { "SL2VL and VL arbitration tables of before", .is_due = slvl_is_left,
			   .node = slvl_write },
	[ST_PKEYS] = { "P_Keys of end ports", .is_due = pkeys_are_trimmed, .ahead = true,
		       .attr = IB_ATTR_PKEY_TABLE, .of = PORTS_END },
	[ST_CHECKS] = { "P_Keys of switch ports", .is_due = pkeys_are_trimmed, .ahead = true,
			.attr = IB_ATTR_PKEY_TABLE, .of = PORTS_FACING },
	[ST_GUIDS] = { "alias GUIDs", .is_due = guids_are_wanted, .attr = IB_ATTR_GUID_INFO,
		       .of = PORTS_ALL },
	[ST_SPEED] = { "speeds", .is_due = link_is_due, .ahead = true, .port = link_write_speed },
	[ST_KEYS] = { "M_Keys of switches", .node = link_write_key },
	[ST_ARM] = { "PortInfo", .is_due = link_is_due, .ahead = true, .port = link_arm },
	[ST_ACTIVE] = { "ports that become ACTIVE", .port = link_activate },
};

static void visit_port(struct sync *s, const struct stage_row *stage, struct port *p)
{
	if (!sync_port_is_ours(p) || (stage->of == PORTS_END && !port_is_end(p)) ||
	    (stage->of == PORTS_FACING && port_is_end(p)))
		return;
	if (stage->attr)
		cells_write(s, sync_row_of(s, stage->attr), p);
	else if (stage->port)
		stage->port(s, p);
}

void sync_doing(const struct sync *s, char ret[SYNC_DOING_STRLEN])
{
	uint64_t done = s->node, all = s->fabric->n_nodes;
	const struct stage_row *stage = &stages[s->stage];

	ret[0] = '\0';
	if (!sync_running(s))
		return;
	if (stage->step)
		lft_place(s, &done, &all);
	snprintf(ret, SYNC_DOING_STRLEN, "%s, %" PRIu64 " of %" PRIu64 " %s", stage->what, done,
		 all, stage->step ? "blocks" : "nodes");
}

/* Runs one step of a stage; false: the stage is exhausted. */
static bool feed_stage(struct sync *s, const struct stage_row *stage)
{
	struct node *n;

	if ((s->is_ahead && !stage->ahead) || (stage->is_due && !stage->is_due(s)))
		return false;
	if (stage->step)
		return stage->step(s);
	if (s->node >= s->fabric->n_nodes)
		return false;
	n = s->fabric->nodes[s->node++];
	if (sync_leaves_out(s, n))
		return true;
	if (stage->node)
		stage->node(s, n);
	for (unsigned i = node_is_switch(n) ? 0 : 1; !stage->node && i <= n->n_ports; i++)
		visit_port(s, stage, &n->ports[i]);
	return true;
}

static void stage_enter(struct sync *s, enum stage next)
{
	s->stage = next;
	s->node = s->item = 0;
}

static void begin_run(struct sync *s, const struct plan *plan, bool ahead)
{
	assert(plan && plan->conf && s->stage == ST_IDLE);
	lft_now_stop(s, NULL);
	s->plan = *plan;
	s->is_ahead = ahead;
	s->n_routed = 0;
	s->epoch = 0;
	s->again = s->is_again = false;
	memset(&s->outcome, 0, sizeof(s->outcome));
	s->guids_late = false;
	s->late_passes = 0;
	s->trims_open = 0;
	s->replanned = guidmap_free(s->replanned);
	stage_enter(s, ST_CLEAR);
}

void sync_start(struct sync *s, const struct plan *plan)
{
	begin_run(s, plan, false);
	lft_start(s);
	slvl_start(s);
}

void sync_start_ahead(struct sync *s, const struct plan *plan)
{
	begin_run(s, plan, true);
}

/*
 * The next stage: alias GUIDs wanted during the run are written before it ends, but not endlessly.
 */
static enum stage stage_after(struct sync *s)
{
	enum stage next = s->stage + 1;

	if (s->stage == ST_TABLES && (lft_next_epoch(s) || lft_writes_again(s)))
		return ST_TABLES;
	if (next != ST_END || !s->guids_late || s->late_passes == MAX_LATE_PASSES)
		return next;
	s->guids_late = false;
	s->late_passes++;
	return ST_GUIDS;
}

/* Ends the run, and sends GUIDs that it left open. */
static void end_run(struct sync *s)
{
	stage_enter(s, ST_IDLE);
	while (s->guids_late && feed_stage(s, &stages[ST_GUIDS]))
		;
	s->guids_late = false;
	s->hooks.ended(s->hooks.arg, &s->outcome);
}

void sync_use_pkeys(struct sync *s, const struct pkey_plan *pkeys)
{
	s->plan.pkeys = pkeys;
}

void sync_feed(struct sync *s)
{
	pkeys_feed_now(s);
	lft_now_feed(s);
	while (s->stage != ST_IDLE && mad_pending(s->mad) < FEED_DEPTH) {
		if (feed_stage(s, &stages[s->stage]))
			continue;
		if (s->in_flight)
			return;
		stage_enter(s, stage_after(s));
		if (s->stage == ST_END)
			end_run(s);
	}
}

void sync_forget(struct sync *s, struct node *n)
{
	assert(s && n);
	mad_cancel(s->mad, s, &n->target);
	lft_now_stop(s, n);
	pkeys_forget_now(s, n);
}

void sync_stop(struct sync *s)
{
	stage_enter(s, ST_IDLE);
	mad_cancel(s->mad, s, NULL);
	lft_now_stop(s, NULL);
	pkeys_forget_now(s, NULL);
	s->in_flight = 0;
}
