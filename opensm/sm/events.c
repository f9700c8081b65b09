// SPDX-License-Identifier: BSD-2-Clause
/*
 * What happened, told to whoever listens: sm_hooks.event().
 *
 * Steps of a sweep, tables and traps are told where they happen. Nodes, links and managers are compared
 * with what was told of them last, once reading has settled: whatever discovery forgets and finds again
 * on its way is no news. Order within one sweep:
 *
 *   SWEEP_START, links and nodes, DISCOVERED, ROUTES, LFT ..., SUBNET_UP, SWEEP_DONE
 */
#include "sm/events.h"

#include <stdio.h>
#include <string.h>

#include "ib/notices.h"
#include "sm/elect.h"
#include "sm/traps.h"
#include "util/mem.h"

static void raise_event(struct sm *sm, struct sm_event *e)
{
	e->at = sm->now;
	if (sm->hooks.event)
		sm->hooks.event(sm->hooks.arg, e);
}

void event_plain(struct sm *sm, enum sm_event_kind kind)
{
	struct sm_event e = { .kind = kind };

	raise_event(sm, &e);
}

void event_state(struct sm *sm, enum sm_state from, enum sm_state to)
{
	struct sm_event e = { .kind = SM_EVENT_STATE, .state = { .from = from, .to = to } };

	raise_event(sm, &e);
}

void event_sweep(struct sm *sm, enum sm_event_kind event, const char *kind, bool through)
{
	struct sm_event e = {
		.kind = event,
		.sweep = {
			.kind = kind,
			.why = sm->sweep_why,
			.n_gets = (unsigned)(mad_sent(sm->mad, MAD_GET) - sm->sweep_gets),
			.n_sets = (unsigned)(mad_sent(sm->mad, MAD_SET) - sm->sweep_sets),
			.errors = sm->errors,
			.ms = (unsigned)((sm->now - sm->sweep_started) / MONO_MS),
			.through = through,
		},
	};

	raise_event(sm, &e);
}

void event_routes(struct sm *sm, bool reroute)
{
	struct sm_event e = {
		.kind = SM_EVENT_ROUTES,
		.routes = {
			.engine = sm->routes->engine,
			.reroute = reroute,
			.ms = (unsigned)((sm->now - sm->routing_started) / MONO_MS),
			.unreachable = (unsigned)MIN(sm->unreachable, (uint64_t)UINT32_MAX),
			.lanes = sm->routes->lanes ? sm->routes->lanes->n_vls : 1,
		},
	};

	raise_event(sm, &e);
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

	raise_event(owner, &e);
}

void event_trap(struct sm *sm, const struct port *p, const uint8_t *notice, const char *name)
{
	char who[PLACE_STRLEN], text[PLACE_STRLEN + 100];
	uint8_t whole[NT_BYTES] = { 0 };
	struct sm_event e = {
		.kind = SM_EVENT_TRAP,
		.trap = { .notice = whole, .from = p->lid, .text = text },
	};

	if (!sm->hooks.event)
		return;
	memcpy(whole, notice, SMP_DATA_SIZE);
	ib_bits_put(ib_at(whole, NT_ISSUER_GID), 0, 64, sm->conf->subnet_prefix);
	ib_bits_put(ib_at(whole, NT_ISSUER_GID), 64, 64, p->guid);
	snprintf(text, sizeof(text), "trap %u (%s) from %s", (unsigned)ib_get(notice, NT_TRAP),
		 name, fabric_place_str(p, who));
	raise_event(sm, &e);
}

/* ---- nodes and links ------------------------------------------------------------------------ */

/* What it was cabled to: best a switch that is still there, which can be asked. */
static void note_behind(const struct sm *sm, const struct node *n, struct sm_event *e)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];
		const struct node *far = p->met_guid ? fabric_find_node(sm->fabric, p->met_guid) : NULL;
		bool is_good = far && node_is_switch(far);

		if (!p->met_guid || (e->node.behind_guid && !is_good))
			continue;
		e->node.behind_guid = p->met_guid;
		e->node.behind_port = p->met_port;
		if (is_good)
			return;
	}
}

static void tell_node(struct sm *sm, const struct node *n, bool came)
{
	struct sm_event e = {
		.kind = SM_EVENT_NODE,
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
	raise_event(sm, &e);
}

static void tell_link(struct sm *sm, const struct port *p, guid_t far, uint8_t far_port, bool up)
{
	struct sm_event e = {
		.kind = SM_EVENT_LINK,
		.link = { .guid = { p->node->guid, far }, .port = { p->num, far_port }, .up = up },
	};

	raise_event(sm, &e);
}

/* The other end of the link that was told of at `p`; NULL if it is not there any more. */
static struct port *told_end(const struct sm *sm, const struct port *p)
{
	struct node *n = fabric_find_node(sm->fabric, p->told_guid);

	return n && p->told_port <= n->n_ports ? &n->ports[p->told_port] : NULL;
}

void event_link_out(struct sm *sm, struct port *p)
{
	struct port *far;

	if (!p->told_guid)
		return;
	far = told_end(sm, p);
	tell_link(sm, p, p->told_guid, p->told_port, false);
	p->told_guid = 0;
	if (far)
		far->told_guid = 0;
}

static bool is_told(const struct port *p)
{
	return fabric_link_is_up(p) && p->told_guid == p->peer->node->guid &&
	       p->told_port == p->peer->num;
}

static void note_link(struct port *p, const struct port *far)
{
	p->told_guid = far->node->guid;
	p->told_port = far->num;
}

void event_node_gone(struct sm *sm, struct node *n)
{
	if (!n->told)
		return;
	for (unsigned i = 1; i <= n->n_ports; i++)
		event_link_out(sm, &n->ports[i]);
	tell_node(sm, n, false);
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

static void tell_what_came(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (!n->told)
			tell_node(sm, n, true);
		n->told = true;
	}
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			if (!fabric_link_is_up(p) || p->told_guid)
				continue;
			note_link(p, p->peer);
			note_link(p->peer, p);
			tell_link(sm, p, p->told_guid, p->told_port, true);
		}
	}
}

void event_picture(struct sm *sm)
{
	if (!sm->hooks.event)
		return;
	tell_what_went(sm);
	tell_what_came(sm);
	for (unsigned i = 0; i < sm->n_remote; i++)
		event_manager(sm, &sm->remote[i]);
}

/* ---- managers -------------------------------------------------------------------------------- */

/* What is told of a manager; 0: nothing. */
static unsigned view_of(const struct sm *sm, const struct remote_sm *r, const struct port *p)
{
	if (!r->guid || !r->known || !p || !(fabric_cap_mask(p) & IB_CAP(IB_CAP_IS_SM)))
		return 0;
	return 1u + r->trust + 4u * r->state + 16u * r->priority;
}

void event_manager(struct sm *sm, struct remote_sm *r)
{
	const struct port *p = fabric_find_port(sm->fabric, r->guid);
	unsigned view = view_of(sm, r, p);
	char where[REMOTE_STRLEN], text[REMOTE_STRLEN + 120];
	struct sm_event e = {
		.kind = SM_EVENT_MANAGER,
		.manager = { .guid = r->guid,
			     .state = r->state,
			     .priority = r->priority,
			     .gone = !view,
			     .text = text },
	};

	if (!sm->hooks.event || view == r->event_told || (r->asking && p))
		return;
	r->event_told = view;
	remote_where(p, r->guid, where);
	if (view)
		snprintf(text, sizeof(text), "%s: %s, priority %u, %s", where,
			 sm_state_name(r->state), r->priority, remote_trust_name(r->trust));
	else
		snprintf(text, sizeof(text), "%s: no subnet manager is there any more", where);
	raise_event(sm, &e);
}
