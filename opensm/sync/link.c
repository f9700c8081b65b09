// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a run writes to ports of links: FDR10, PortInfo, and the way from INIT to ACTIVE.
 *
 * What a PortInfo should say is plan/link; this file compares, sends, and remembers what a device
 * does not keep.
 */
#include <string.h>

#include "sync/impl.h"
#include "util/mem.h"

/* ---- ARM and ACTIVE ----------------------------------------------------------------------- */

static struct link_end link_end_of(const struct port *p)
{
	return (struct link_end){
		.info = p->info,
		.node_type = p->node->type,
		.num = p->num,
		.enhanced0 = port_is_enhanced0(p),
		.cap_mask = fabric_cap_mask(p),
	};
}

static bool port_has_state(const struct port *p)
{
	return !node_is_switch(p->node) || p->num > 0 || port_is_enhanced0(p);
}

/* FDR10 is Mellanox' own: on if both ends can (option fdr10: 1), or off (2). */
static bool want_fdr10(const struct sync *s, const struct port *p)
{
	return s->plan.conf->fdr10 == 1 && (p->ext_supported & EPI_SPEED_FDR10) &&
	       (p->peer->ext_supported & EPI_SPEED_FDR10);
}

static void on_fdr10(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;

	if (sync_ended_well(s, p->node, r))
		p->ext_enabled = ib_get(r->payload, EPI_SPEED_ENABLED);
	else
		p->ext_known = false;
}

static void set_fdr10(struct sync *s, struct port *p)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 };
	struct dr_path path;
	const struct mad_request rq = {
		.attr = IB_ATTR_MLNX_EXT_PORT_INFO,
		.mod = p->num,
		.path = &path,
		.payload = info,
	};
	uint8_t enabled = p->ext_enabled & ~EPI_SPEED_FDR10;

	if (!p->ext_known || !s->plan.conf->fdr10 || !sync_port_is_ours(p) || !p->peer ||
	    !p->peer->ext_known)
		return;
	if (want_fdr10(s, p))
		enabled |= EPI_SPEED_FDR10;
	if (enabled == p->ext_enabled || fabric_port_path(s->fabric, p, &path) < 0)
		return;
	ib_put(info, EPI_SPEED_SUPPORTED, p->ext_supported);
	ib_put(info, EPI_SPEED_ENABLED, enabled);
	sync_send(s, p, &rq, on_fdr10, p);
}

static void port_want(const struct sync *s, const struct port *p, struct link_want *ret)
{
	struct link_end peer = { 0 };
	struct link_facts facts = {
		.self = link_end_of(p),
		.lid = p->lid,
		.lmc = p->lmc,
		.sm_lid = s->plan.sm_lid,
		.conf = s->plan.conf,
		.sm_sl = slvl_sm_sl(s, p),
		.high_limit = slvl_high_limit(s, p),
	};

	facts.enforcing = pkeys_enforcement(s, p, &facts.enforce);
	if (p->peer) {
		peer = link_end_of(p->peer);
		facts.peer = &peer;
	}
	link_plan(&facts, ret);
}

/* Fields that differ and are worth writing: what the device did not keep last time is not. */
static link_fields worth_writing(const struct port *p, const struct link_want *want)
{
	link_fields differs = link_differs(want, p->info);

	if (p->unstored && link_hash(want, p->unstored) == p->unstored_hash)
		differs &= ~p->unstored;
	return differs;
}

/* Takes in what differs after an answer: a field not kept is remembered, an essential one is a fault. */
static void note_unstored(struct sync *s, struct port *p, const struct link_want *want,
			  link_fields fields)
{
	if (fields & link_essential()) {
		s->outcome.refused++;
		s->outcome.failed_example = p->node;
		s->outcome.failed_attr = IB_ATTR_PORT_INFO;
		s->outcome.failed_status = 0;
		fields &= ~link_essential();
	}
	p->unstored = fields;
	p->unstored_hash = fields ? link_hash(want, fields) : 0;
	if (!fields)
		return;
	s->outcome.unstored_ports++;
	s->outcome.unstored |= fields;
	if (!s->outcome.unstored_example)
		s->outcome.unstored_example = p;
}

/* ClientReregister: the port lost what it registered, or the SM it registered with moved (14.4.11). */
static bool reregister_is_due(const struct sync *s, const struct port *p)
{
	if (!port_is_end(p) || s->plan.conf->no_clients_rereg ||
	    !(ib_get(p->info, PI_CAP_MASK) & IB_CAP(IB_CAP_CLIENT_REREGISTER)))
		return false;
	return port_state(p) == IB_PORT_INIT || p->registered != s->plan.registry ||
	       ib_get(p->info, PI_MASTER_SM_LID) != s->plan.sm_lid ||
	       ib_get(p->info, PI_LID) != p->lid ||
	       ib_get(p->info, PI_GID_PREFIX) != s->plan.conf->subnet_prefix;
}

static void on_arm(void *owner, const struct mad_result *r);

/* Port, and whether we know of extended speeds (14.2.5.6). */
static uint32_t port_info_mod(const struct port *p)
{
	bool extended =
		(fabric_cap_mask(p) & IB_CAP(IB_CAP_EXTENDED_SPEEDS)) && !p->node->no_ext_modifier;

	return p->num | (extended ? PI_MOD_EXTENDED_SPEEDS : 0);
}

/* Sends PortInfo `info` with state `state`; the write form differs from the read form here only. */
static void send_port_info(struct sync *s, struct port *p, const uint8_t *info,
			   enum ib_port_state state, mad_done_fn on_done)
{
	uint8_t out[SMP_DATA_SIZE];
	struct dr_path path;
	const struct mad_request rq = {
		.attr = IB_ATTR_PORT_INFO,
		.mod = port_info_mod(p),
		.path = &path,
		.payload = out,
	};

	if (fabric_port_path(s->fabric, p, &path) < 0)
		return;
	memcpy(out, info, sizeof(out));
	ib_put(out, PI_PORT_STATE, state);
	ib_put(out, PI_PHYS_STATE, IB_PHYS_NO_CHANGE);
	ib_put(out, PI_LINK_DOWN_DEFAULT, 0); /* 0: no change (14.2.5.6) */
	ib_put(out, PI_CLIENT_REREGISTER, on_done == on_arm && reregister_is_due(s, p));
	if (port_is_end(p) && on_done == on_arm)
		p->m_key_other = ib_get(out, PI_M_KEY);
	sync_send(s, p, &rq, on_done, p);
}

bool sync_switch_off(struct sync *s, struct port *p, mad_done_fn on_done, void *owner, void *arg)
{
	uint8_t out[SMP_DATA_SIZE];
	struct dr_path path;
	const struct mad_request rq = {
		.attr = IB_ATTR_PORT_INFO,
		.mod = port_info_mod(p),
		.path = &path,
		.payload = out,
	};

	if (!p->known || fabric_port_path(s->fabric, p, &path) < 0)
		return false;
	memcpy(out, p->info, sizeof(out));
	ib_put(out, PI_PORT_STATE, IB_PORT_DOWN);
	ib_put(out, PI_PHYS_STATE, IB_PHYS_DISABLED);
	ib_put(out, PI_LINK_DOWN_DEFAULT, 0); /* 0: no change (14.2.5.6) */
	return sync_command(s, p, &rq, on_done, owner, arg);
}

/* Takes in what a PortInfo Set was answered. ClientReregister is a command, not a state. */
static void observe_port_info(struct sync *s, struct port *p, const uint8_t *payload)
{
	bool was_live = port_is_live(p);
	unsigned before = port_state(p);

	memcpy(p->info, payload, SMP_DATA_SIZE);
	ib_put(p->info, PI_CLIENT_REREGISTER, 0);
	p->known = true;
	p->doubt = false;
	fabric_learn_mkey(p);
	if (port_state(p) < before && s->hooks.link_fell)
		s->hooks.link_fell(s->hooks.arg, p, before);
	if (was_live && !port_is_live(p))
		fabric_forget_cells(s->fabric, p); /* rebooted meanwhile: its tables come first */
}

/*
 * A refused PortInfo Set may be the second try of one that was taken, its answer lost: a state that
 * is reached already is refused (7.2.7). So the port is asked what it is before anything is said.
 */
static void read_port_info(struct sync *s, struct port *p, mad_done_fn on_done)
{
	struct dr_path path;
	const struct mad_request rq = {
		.attr = IB_ATTR_PORT_INFO,
		.mod = port_info_mod(p),
		.path = &path,
	};

	if (fabric_port_path(s->fabric, p, &path) == 0)
		sync_ask(s, p, &rq, on_done, p);
}

/* A Set may have been taken, its answer lost: with it the key may have changed. */
static void cast_doubt(struct port *p)
{
	p->doubt = true;
	fabric_doubt_mkey(p);
}

static void on_arm_plain(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;

	if (sync_ended_well(s, p->node, r))
		observe_port_info(s, p, r->payload);
	else if (r->end == MAD_END_TIMEOUT)
		cast_doubt(p);
}

/* What a refused ARM came to. If the port is still in INIT its parameters were refused: state alone, for now. */
static void on_arm_reread(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	struct link_want want;

	s->in_flight--;
	if (r->end != MAD_END_ANSWERED) {
		cast_doubt(p);
		return;
	}
	observe_port_info(s, p, r->payload);
	port_want(s, p, &want);
	if (!link_differs(&want, p->info))
		s->outcome.refused--; /* it had been taken, its answer was lost */
	else if (++p->refusals >= MAX_REFUSALS)
		note_unstored(s, p, &want, link_differs(&want, p->info));
	if (port_has_state(p) && port_state(p) == IB_PORT_INIT)
		send_port_info(s, p, p->info, IB_PORT_ARMED, on_arm_plain);
}

static void on_arm(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	struct link_want want;

	if (r->end == MAD_END_ANSWERED || r->end == MAD_END_BAD_STATUS)
		p->registered = s->plan.registry;
	if (sync_ended_well(s, p->node, r)) {
		port_want(s, p, &want);
		observe_port_info(s, p, r->payload);
		p->refusals = 0;
		note_unstored(s, p, &want, link_differs(&want, p->info));
	} else if (r->end == MAD_END_BAD_STATUS) {
		read_port_info(s, p, on_arm_reread);
	} else if (r->end == MAD_END_TIMEOUT) {
		cast_doubt(p);
	}
}

static void arm_port(struct sync *s, struct port *p);

/* What is in doubt after a lost answer is read before it is compared. */
static void on_doubt_read(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;

	s->in_flight--;
	if (r->end == MAD_END_ANSWERED) {
		observe_port_info(s, p, r->payload);
		arm_port(s, p);
	} else if (r->end == MAD_END_TIMEOUT) {
		fabric_doubt_mkey(p);
		s->outcome.timeouts++;
		s->outcome.failed_example = p->node;
		s->outcome.failed_attr = r->attr;
	}
}

/* Entries from before the cable was here could lead round over it. */
static bool waits_for_tables(const struct sync *s, const struct port *p)
{
	return s->outcome.tables_kept && node_is_switch(p->node) && p->peer &&
	       node_is_switch(p->peer->node);
}

static void arm_port(struct sync *s, struct port *p)
{
	enum ib_port_state step = IB_PORT_NO_CHANGE;
	struct link_want want;

	if (!sync_port_is_ours(p))
		return;
	if (p->doubt) {
		read_port_info(s, p, on_doubt_read);
		return;
	}
	if (port_state(p) < IB_PORT_ACTIVE && (p->held || waits_for_tables(s, p)))
		return;
	if (port_has_state(p) && port_state(p) == IB_PORT_INIT) {
		if (!pkeys_are_settled(s, p) || !slvl_is_settled(s, p))
			return;
		step = link_next_state(IB_PORT_INIT, IB_PORT_ARMED);
	}
	port_want(s, p, &want);
	if (step == IB_PORT_NO_CHANGE && !worth_writing(p, &want) && !reregister_is_due(s, p))
		return;
	s->outcome.ports_armed += step == IB_PORT_ARMED;
	send_port_info(s, p, want.info, step, on_arm);
}

/* An ARMED port that saw data is ACTIVE already and refuses the Set; ACTIVE or not, it is no fault of ours. */
static void on_active_reread(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;

	s->in_flight--;
	p->doubt = r->end != MAD_END_ANSWERED;
	if (p->doubt)
		return;
	observe_port_info(s, p, r->payload);
	if (port_state(p) == IB_PORT_ACTIVE)
		s->outcome.refused--;
}

static void on_active(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;

	if (sync_ended_well(s, p->node, r))
		observe_port_info(s, p, r->payload);
	else if (r->end == MAD_END_BAD_STATUS)
		read_port_info(s, p, on_active_reread);
	else if (r->end == MAD_END_TIMEOUT)
		cast_doubt(p);
}

static void activate_port(struct sync *s, struct port *p)
{
	if (!sync_port_is_ours(p) || p->doubt || !port_has_state(p) ||
	    port_state(p) != IB_PORT_ARMED)
		return;
	if (p->silent || p->held || sync_leaves_out(s, p->node))
		return;
	if (p->peer && (port_state(p->peer) < IB_PORT_ARMED || sync_leaves_out(s, p->peer->node)))
		return;
	if (s->hooks.may_activate && !s->hooks.may_activate(s->hooks.arg, p)) {
		s->outcome.ports_held++;
		return;
	}
	s->outcome.ports_activated++;
	send_port_info(s, p, p->info, IB_PORT_ACTIVE, on_active);
}

bool link_feed_speed(struct sync *s)
{
	return sync_feed_ports(s, set_fdr10);
}

bool link_feed_arm(struct sync *s)
{
	return sync_feed_ports(s, arm_port);
}

bool link_feed_active(struct sync *s)
{
	return sync_feed_ports(s, activate_port);
}
