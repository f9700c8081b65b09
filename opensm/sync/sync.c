// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stages and barriers. Each stage is a generator over nodes, ports or blocks that queues what
 * differs; the engine's window paces it, so memory does not grow with the fabric.
 *
 * Knows cells, stages and verdicts. What a PortInfo should say is plan/link, which LFT is right is
 * route/; this file only compares and sends.
 */
#include "sync/sync.h"

#include <string.h>

#include "sync/impl.h"
#include "util/mem.h"

/* Requests kept queued ahead of the window. */
#define FEED_DEPTH 256

struct sync *sync_new(struct fabric *f, struct mad_engine *mad, const struct sync_hooks *hooks)
{
	struct sync *s = xcalloc(1, sizeof(*s));

	s->fabric = f;
	s->mad = mad;
	s->hooks = *hooks;
	return s;
}

struct sync *sync_free(struct sync *s)
{
	if (!s)
		return NULL;
	sync_stop(s);
	guids_free(s->guid_wants);
	s->plan.qos = NULL;
	slvl_start(s);
	free(s->routed);
	free(s);
	return NULL;
}

bool sync_running(const struct sync *s)
{
	return s->stage != ST_IDLE;
}

static void stage_enter(struct sync *s, enum stage next)
{
	s->stage = next;
	s->node = s->item = 0;
}

/* The door of a run; sync_command() is the only other one. */
bool sync_send(struct sync *s, struct port *p, const struct mad_request *what, mad_done_fn on_done,
	       void *arg)
{
	struct mad_request rq = *what;

	if (!s->hooks.may_write(s->hooks.arg))
		return false;
	rq.method = MAD_SET;
	rq.m_key = port_of_sma(p)->m_key;
	rq.target = &p->node->target;
	s->in_flight++;
	s->outcome.sets++;
	mad_submit(s->mad, &rq, on_done, s, arg);
	return true;
}

void sync_ask(struct sync *s, struct port *p, const struct mad_request *what, mad_done_fn on_done,
	      void *arg)
{
	struct mad_request rq = *what;

	rq.method = MAD_GET;
	rq.m_key = port_of_sma(p)->m_key;
	rq.target = &p->node->target;
	s->in_flight++;
	mad_submit(s->mad, &rq, on_done, s, arg);
}

bool sync_command(struct sync *s, struct port *p, const struct mad_request *what,
		  mad_done_fn on_done, void *owner, void *arg)
{
	struct mad_request rq = *what;

	if (!s->hooks.may_write(s->hooks.arg))
		return false;
	rq.method = MAD_SET;
	if (!rq.m_key)
		rq.m_key = port_of_sma(p)->m_key;
	rq.target = &p->node->target;
	mad_submit(s->mad, &rq, on_done, owner, arg);
	return true;
}

/* Bookkeeping every completion shares. True if the request was answered well. */
bool sync_ended_well(struct sync *s, struct node *n, const struct mad_result *r)
{
	s->in_flight--;
	switch (r->end) {
	case MAD_END_ANSWERED:
		return true;
	case MAD_END_BAD_STATUS:
		s->outcome.refused++;
		s->outcome.failed_status = r->status;
		break;
	case MAD_END_TIMEOUT:
		s->outcome.timeouts++;
		s->outcome.failed_status = 0;
		break;
	case MAD_END_CANCELLED:
		return false;
	}
	s->outcome.failed_example = n;
	s->outcome.failed_attr = r->attr;
	return false;
}

bool sync_leaves_out(const struct sync *s, const struct node *n)
{
	return mad_target_silent(s->mad, &n->target);
}

/* Ports that are ours to set up: port 0 and ports whose cable leads to somebody known. */
bool sync_port_is_ours(const struct port *p)
{
	if (!p->known)
		return false;
	if (node_is_switch(p->node) && p->num == 0)
		return true;
	return p->peer && p->peer->known && !p->quarantined && !p->peer->quarantined &&
	       port_state(p) > IB_PORT_DOWN;
}

bool sync_feed_ports(struct sync *s, void (*fn)(struct sync *s, struct port *p))
{
	struct node *n;

	if (s->node >= s->fabric->n_nodes)
		return false;
	n = s->fabric->nodes[s->node++];
	if (sync_leaves_out(s, n))
		return true;
	for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++)
		fn(s, &n->ports[i]);
	return true;
}

/* ---- the run ------------------------------------------------------------------------------ */

/* One step of the stage's generator; false when it is exhausted. */
static bool feed_stage(struct sync *s)
{
	switch (s->stage) {
	case ST_CLEAR:
		return tables_feed_clear(s);
	case ST_TRIM:
		return pkeys_feed_trim(s);
	case ST_LANES:
		return slvl_feed(s);
	case ST_DRAIN:
		return tables_feed_drain(s);
	case ST_TABLES:
		return tables_feed_blocks(s);
	case ST_REFUSERS:
		return tables_feed_refusers(s);
	case ST_TOP:
		return tables_feed_top(s);
	case ST_LEFTOVERS:
		return slvl_feed_leftovers(s);
	case ST_PKEYS:
		return pkeys_feed_ends(s);
	case ST_CHECKS:
		return pkeys_feed_checks(s);
	case ST_GUIDS:
		return guids_feed(s);
	case ST_SPEED:
		return link_feed_speed(s);
	case ST_ARM:
		return link_feed_arm(s);
	case ST_ACTIVE:
		return link_feed_active(s);
	case ST_IDLE:
	case ST_END:
		break;
	}
	return false;
}

void sync_start(struct sync *s, const struct plan *plan)
{
	s->plan = *plan;
	memset(&s->outcome, 0, sizeof(s->outcome));
	s->guids_late = false;
	s->late_passes = 0;
	s->trims_open = 0;
	tables_start(s);
	slvl_start(s);
	stage_enter(s, ST_CLEAR);
}

/* What is wanted while the run goes on is written before it ends; if that never stops, after it. */
static enum stage stage_after(struct sync *s)
{
	enum stage next = s->stage + 1;

	if (s->stage == ST_TABLES && tables_next_epoch(s))
		return ST_TABLES;
	if (next != ST_END || !s->guids_late || s->late_passes == MAX_LATE_PASSES)
		return next;
	s->guids_late = false;
	s->late_passes++;
	return ST_GUIDS;
}

void sync_feed(struct sync *s)
{
	while (s->stage != ST_IDLE) {
		while (mad_pending(s->mad) < FEED_DEPTH) {
			if (feed_stage(s))
				continue;
			if (s->in_flight)
				return;
			stage_enter(s, stage_after(s));
			if (s->stage != ST_END)
				continue;
			stage_enter(s, ST_IDLE);
			guids_run_ended(s);
			s->hooks.ended(s->hooks.arg, &s->outcome);
			break;
		}
		if (mad_pending(s->mad) >= FEED_DEPTH)
			return;
	}
}

void sync_forget(struct sync *s, struct node *n)
{
	mad_cancel(s->mad, s, &n->target);
}

void sync_stop(struct sync *s)
{
	stage_enter(s, ST_IDLE);
	mad_cancel(s->mad, s, NULL);
	s->in_flight = 0;
}
