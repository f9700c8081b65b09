// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events for the owner: sm_hooks.event(). Steps of a sweep, tables and traps are reported where
 * they happen. Nodes, links and managers are compared with what was last reported, after reading
 * has ended, so nodes that discovery forgets and finds again are not reported.
 *
 * Order within one sweep: SWEEP_START, links and nodes, DISCOVERED, ROUTES, LFT ..., SUBNET_UP,
 * SWEEP_DONE
 */
#include "sm/base/events.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "ib/notices.h"
#include "health/judge.h"
#include "sm/base/changes.h"
#include "sm/marks/marks_table.h"
#include "sm/trust/trap_text.h"
#include "util/mem.h"

void event_raise(struct sm *sm, struct sm_event *e)
{
	assert(e->kind < SM_EVENT_KINDS);
	e->at = sm->now;
	if (sm->hooks.event)
		sm->hooks.event(sm->hooks.arg, e);
}

void event_plain(struct sm *sm, enum sm_event_kind kind)
{
	struct sm_event e = { .kind = kind };

	event_raise(sm, &e);
}

void event_state(struct sm *sm, enum sm_state from, enum sm_state to)
{
	struct sm_event e = { .kind = SM_EVENT_STATE, .state = { .from = from, .to = to } };

	event_raise(sm, &e);
}

void event_security(struct sm *sm, const char *what, guid_t port_guid, lid_t lid, const char *text)
{
	struct sm_event e = {
		.kind = SM_EVENT_SECURITY,
		.security = { .what = what, .port_guid = port_guid, .lid = lid, .text = text },
	};

	event_raise(sm, &e);
}

void event_drift(struct sm *sm, bool begins, const char *cause, const char *text)
{
	struct sm_event e = { .kind = SM_EVENT_DRIFT,
			      .drift = { .begins = begins, .cause = cause, .text = text } };

	event_raise(sm, &e);
}

void event_health(struct sm *sm, const char *what, const struct health_end end[2],
		  const char *text)
{
	struct sm_event e = { .kind = SM_EVENT_HEALTH,
			      .health = { .what = what,
					  .guid = { end[0].node, end[1].node },
					  .port = { end[0].port, end[1].port },
					  .text = text } };

	event_raise(sm, &e);
}

void event_mark(struct sm *sm, const char *what, const struct link_mark *m, const char *text)
{
	struct sm_event e = { .kind = SM_EVENT_MARK,
			      .mark = { .what = what,
					.guid = m->node,
					.port = m->port,
					.whole_switch = m->port == MARK_WHOLE_SWITCH,
					.by = m->by,
					.text = text } };

	event_raise(sm, &e);
}

void event_alarm(struct sm *sm, const struct alarm *a, bool begins)
{
	struct sm_event e = { .kind = SM_EVENT_ALARM, .alarm = { begins, a } };

	event_raise(sm, &e);
}

void event_patch(struct sm *sm, const guid_t guid[2], const uint8_t port[2],
		 const struct patch_tally *tally, const char *text)
{
	struct sm_event e = { .kind = SM_EVENT_PATCH,
			      .patch = { .guid = { guid[0], guid[1] },
					 .port = { port[0], port[1] },
					 .tally = tally,
					 .text = text } };

	event_raise(sm, &e);
}

void event_table(void *owner, const struct node *n, bool top, unsigned value)
{
	struct sm_event e = {
		.kind = SM_EVENT_LFT,
		.lft = {
			.node_guid = n->guid,
			.top_changed = top,
			.top = top ? value : 0,
			.block = top ? 0 : value,
		},
	};

	event_raise(owner, &e);
}

void event_trap(struct sm *sm, const struct port *p, const uint8_t *notice, const char *name)
{
	char from[PLACE_STRLEN], text[PLACE_STRLEN + 100];
	uint8_t whole[NT_BYTES] = { 0 };
	struct sm_event e = {
		.kind = SM_EVENT_TRAP,
		.trap = { .notice = whole, .from = p->lid, .text = text },
	};

	assert(p && notice && name);
	if (!sm->hooks.event)
		return;
	memcpy(whole, notice, SMP_DATA_SIZE);
	ib_bits_put(ib_at(whole, NT_ISSUER_GID), 0, 64, sm->conf->subnet_prefix);
	ib_bits_put(ib_at(whole, NT_ISSUER_GID), 64, 64, p->guid);
	snprintf(text, sizeof(text), "trap %u (%s) from %s", (unsigned)ib_get(notice, NT_TRAP),
		 name, fabric_place_str(p, from));
	event_raise(sm, &e);
}

/* ---- nodes and links ------------------------------------------------------------------------ */

/* Notes the other end of a cable of the node, preferably a switch that is present. */
static void note_behind(const struct sm *sm, const struct node *n, struct sm_event *e)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];
		const struct node *far =
			p->met_guid ? fabric_find_node(sm->fabric, p->met_guid) : NULL;
		bool is_good = far && node_is_switch(far);

		if (!p->met_guid || (e->node.behind_guid && !is_good))
			continue;
		e->node.behind_guid = p->met_guid;
		e->node.behind_port = p->met_port;
		if (is_good)
			return;
	}
}

static void tell_node(struct sm *sm, const struct node *n, bool came, uint32_t more)
{
	struct sm_event e = {
		.kind = SM_EVENT_NODE,
		.more = more,
		.node = { .node_guid = n->guid,
			  .desc = node_name(n),
			  .type = n->type,
			  .came = came },
	};

	for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports && !e.node.port_guid; i++) {
		e.node.port_guid = n->ports[i].guid;
		e.node.lid = n->ports[i].lid;
	}
	if (!came)
		note_behind(sm, n, &e);
	if (came)
		changes_node_came(sm, n);
	event_raise(sm, &e);
}

static void tell_link(struct sm *sm, const struct port *p, guid_t far, uint8_t far_port, bool up,
		      uint32_t more)
{
	struct sm_event e = {
		.kind = SM_EVENT_LINK,
		.more = more,
		.link = { .guid = { p->node->guid, far }, .port = { p->num, far_port }, .up = up },
	};

	changes_link(sm, p, far, far_port, up);
	event_raise(sm, &e);
}

/* The other end of the link that was reported at `p`; NULL: it is gone. */
static struct port *told_end(const struct sm *sm, const struct port *p)
{
	struct node *n = fabric_find_node(sm->fabric, p->told.guid);

	return n && p->told.port <= n->n_ports ? &n->ports[p->told.port] : NULL;
}

void event_link_out(struct sm *sm, struct port *p)
{
	struct port *far;

	if (!p->told.guid)
		return;
	far = told_end(sm, p);
	tell_link(sm, p, p->told.guid, p->told.port, false, 0);
	p->told.guid = 0;
	if (far)
		far->told.guid = 0;
}

static bool is_told(const struct port *p)
{
	return fabric_link_is_up(p) && p->told.guid == p->peer->node->guid &&
	       p->told.port == p->peer->num;
}

static void note_link(struct port *p, const struct port *far)
{
	p->told.guid = far->node->guid;
	p->told.port = far->num;
}

void event_node_gone(struct sm *sm, struct node *n)
{
	if (!n->told)
		return;
	for (unsigned i = 1; i <= n->n_ports; i++)
		event_link_out(sm, &n->ports[i]);
	tell_node(sm, n, false, 0);
}

static void tell_what_went(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			if (!is_told(&n->ports[i]))
				event_link_out(sm, &n->ports[i]);
		}
	}
}

static bool is_new_link(const struct port *p)
{
	return fabric_link_is_up(p) && !p->told.guid;
}

/* Is this the end that is reported for a new link? */
static bool is_counted(const struct port *p)
{
	guid_t here = p->node->guid, far;

	if (!is_new_link(p) || !is_new_link(p->peer))
		return is_new_link(p);
	far = p->peer->node->guid;
	return here < far || (here == far && p->num <= p->peer->num);
}

static uint32_t count_what_came(const struct sm *sm)
{
	uint32_t came = 0;

	FABRIC_EACH_NODE(sm->fabric, n) {
		came += !n->told;
		for (unsigned i = 1; i <= n->n_ports; i++)
			came += is_counted(&n->ports[i]);
	}
	return came;
}

static void tell_what_came(struct sm *sm)
{
	uint32_t more = count_what_came(sm);

	if (!more)
		return;
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (!n->told)
			tell_node(sm, n, true, --more);
		n->told = true;
	}
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			if (!is_new_link(p))
				continue;
			note_link(p, p->peer);
			note_link(p->peer, p);
			tell_link(sm, p, p->told.guid, p->told.port, true, more ? --more : 0);
		}
	}
}

void event_picture(struct sm *sm)
{
	tell_what_went(sm);
	tell_what_came(sm);
	changes_settled(sm);
}
