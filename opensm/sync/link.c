// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sets of a run to ports of links: FDR10, PortInfo, and the states from INIT to ACTIVE. plan/link
 * makes the wanted PortInfo; this file compares, sends, and remembers values that a device does not
 * keep.
 */
#include <string.h>

#include "sync/sync_internal.h"
#include "util/mem.h"

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

/* Should FDR10, a vendor speed, be on? Option fdr10: 1: if both ends support it; 2: no. */
static bool want_fdr10(const struct sync *s, const struct port *p)
{
	return s->plan.conf->fdr10 == 1 && (p->ext_supported & EPI_SPEED_FDR10) &&
	       (p->peer->ext_supported & EPI_SPEED_FDR10);
}

bool link_observe_speed(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod,
			const uint8_t *payload)
{
	observe_ext_enabled(p, payload);
	return true;
}

void link_forget_speed(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod)
{
	observe_ext_lost(p);
}

void link_write_speed(struct sync *s, struct port *p)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 }, enabled = p->ext_enabled & ~EPI_SPEED_FDR10;

	if (!p->ext_known || !s->plan.conf->fdr10 || !p->peer || !p->peer->ext_known)
		return;
	if (want_fdr10(s, p))
		enabled |= EPI_SPEED_FDR10;
	if (enabled == p->ext_enabled)
		return;
	ib_put(info, EPI_SPEED_SUPPORTED, p->ext_supported);
	ib_put(info, EPI_SPEED_ENABLED, enabled);
	sync_set(s, p,
		 &(struct mad_request){
			 .attr = IB_ATTR_MLNX_EXT_PORT_INFO, .mod = p->num, .payload = info });
}

/* ---- what a PortInfo shall say --------------------------------------------------------------- */

static void want_m_key(const struct sync *s, const struct port *p, struct link_facts *f)
{
	const struct key_ring *keys = s->plan.keys, *later = s->plan.keys_later;

	f->keeps_m_key = keys && (key_ring_is_empty(keys) ||
				  (later && p->guid && p->m_key == key_ring_key(later, p->guid)));
	f->shown = p->node->shown;
	if (!keys)
		f->m_key = s->plan.conf->m_key;
	else if (p->guid && !f->keeps_m_key)
		f->m_key = key_ring_key(keys, p->guid);
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

	want_m_key(s, p, &facts);
	facts.enforcing = pkeys_enforcement(s, p, &facts.enforce);
	if (p->peer) {
		peer = link_end_of(p->peer);
		facts.peer = &peer;
	}
	link_plan(&facts, ret);
}

/* Fields that differ, without those that the device did not keep last time. */
static link_fields worth_writing(const struct port *p, const struct link_want *want)
{
	link_fields differs = link_differs(want, p->info);

	if (p->sync.unstored && link_hash(want, p->sync.unstored) == p->sync.unstored_hash)
		differs &= ~p->sync.unstored;
	return differs;
}

/*
 * Is ClientReregister due: did the port lose its registrations, or does the SM have another LID
 * (14.4.11)?
 */
static bool reregister_is_due(const struct sync *s, const struct port *p)
{
	if (!port_is_end(p) || s->plan.conf->no_clients_rereg ||
	    !(ib_get(p->info, PI_CAP_MASK) & IB_CAP(IB_CAP_CLIENT_REREGISTER)))
		return false;
	return port_state(p) == IB_PORT_INIT || p->sync.registered != s->plan.registry ||
	       ib_get(p->info, PI_MASTER_SM_LID) != s->plan.sm_lid ||
	       ib_get(p->info, PI_LID) != p->lid ||
	       ib_get(p->info, PI_GID_PREFIX) != s->plan.conf->subnet_prefix;
}

/* The modifier: port number, and the bit for extended speeds (14.2.5.6). */
static uint32_t port_info_mod(const struct port *p)
{
	bool extended =
		(fabric_cap_mask(p) & IB_CAP(IB_CAP_EXTENDED_SPEEDS)) && !p->node->no_ext_modifier;

	return p->num | (extended ? PI_MOD_EXTENDED_SPEEDS : 0);
}

/* Makes a Set of `info` that moves the port to `state`, and leaves other fields unchanged. */
static struct mad_request write_form(const struct port *p, const uint8_t *info,
				     enum ib_port_state state, uint8_t *out)
{
	memcpy(out, info, SMP_DATA_SIZE);
	ib_put(out, PI_PORT_STATE, state);
	ib_put(out, PI_PHYS_STATE, IB_PHYS_NO_CHANGE);
	ib_put(out, PI_LINK_DOWN_DEFAULT, 0); /* 0: no change (14.2.5.6) */
	ib_put(out, PI_CLIENT_REREGISTER, 0);
	return (struct mad_request){ .attr = IB_ATTR_PORT_INFO,
				     .mod = port_info_mod(p),
				     .payload = out };
}

static bool command_phys(struct sync *s, struct port *p, enum ib_phys_state phys,
			 mad_done_fn on_done, void *owner, void *arg)
{
	uint8_t out[SMP_DATA_SIZE];
	struct mad_request rq;

	if (!p->known)
		return false;
	rq = write_form(p, p->info, IB_PORT_DOWN, out);
	ib_put(out, PI_PHYS_STATE, phys);
	return sync_command(s, p, &rq, on_done, owner, arg);
}

bool sync_switch_off(struct sync *s, struct port *p, mad_done_fn on_done, void *owner, void *arg)
{
	return command_phys(s, p, IB_PHYS_DISABLED, on_done, owner, arg);
}

bool sync_switch_on(struct sync *s, struct port *p, mad_done_fn on_done, void *owner, void *arg)
{
	return command_phys(s, p, IB_PHYS_POLLING, on_done, owner, arg);
}

bool sync_take_down(struct sync *s, struct port *p, mad_done_fn on_done, void *owner, void *arg)
{
	return command_phys(s, p, IB_PHYS_NO_CHANGE, on_done, owner, arg);
}

/* ---- the rows -------------------------------------------------------------------------------- */

void sync_link_trained(struct port *p)
{
	p->sync.unstored = 0;
}

static void take_port_info(struct sync *s, struct port *p, const uint8_t *payload)
{
	struct delta d = observe_port_info(s->fabric, p, payload);

	if (d.kinds & DELTA(DELTA_TRAINED))
		sync_link_trained(p);
	if (port_state(p) < d.before && s->hooks.link_fell)
		s->hooks.link_fell(s->hooks.arg, &d);
}

static link_fields differing(const struct sync *s, const struct port *p, struct link_want *want)
{
	port_want(s, p, want);
	return link_differs(want, p->info);
}

bool link_observe(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod,
		  const uint8_t *payload)
{
	struct link_want want;

	p->sync.registered = s->plan.registry;
	take_port_info(s, p, payload);
	p->sync.unstored = 0;
	return !differing(s, p, &want);
}

bool link_observe_state(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod,
			const uint8_t *payload)
{
	take_port_info(s, p, payload);
	return true;
}

/* Puts PortInfo and key in doubt: a Set may have been carried out, and its answer lost. */
void link_doubt(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod)
{
	observe_doubt(p);
}

void sync_registered(struct port *p, uint32_t registry)
{
	p->sync.registered = registry;
}

uint8_t *link_tries(const struct sync_row *row, struct port *p)
{
	return &p->sync.refusals;
}

/*
 * Remembers a field that was not kept, which is written again when its value changes; for an
 * essential field this is a fault.
 */
void link_note_unstored(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod)
{
	struct link_want want;
	link_fields fields = differing(s, p, &want);

	if (fields & link_essential()) {
		s->outcome.refused++;
		s->outcome.failed_example = p->node;
		s->outcome.failed_attr = IB_ATTR_PORT_INFO;
		s->outcome.failed_status = 0;
		fields &= ~link_essential();
	}
	p->sync.unstored = fields;
	p->sync.unstored_hash = fields ? link_hash(&want, fields) : 0;
	if (!fields)
		return;
	s->outcome.unstored_ports++;
	s->outcome.unstored |= fields;
	if (!s->outcome.unstored_example)
		s->outcome.unstored_example = p;
}

static bool is_arming(const struct sync *s)
{
	return s->stage == ST_KEYS || s->stage == ST_ARM;
}

/* Handles a Set of the state alone, of a port that refused parameters. */
static void on_state_alone(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;

	if (sync_answered(s, p, r))
		take_port_info(s, p, r->payload);
	else if (r->end == MAD_END_BAD_STATUS)
		sync_count_fault(s, p, r);
	else if (r->end == MAD_END_TIMEOUT)
		link_doubt(s, NULL, p, r->mod);
}

/* Does the port have the values that the Set was to write? */
static bool was_taken(struct sync *s, struct port *p)
{
	struct link_want want;

	return s->stage == ST_ACTIVE ? port_state(p) == IB_PORT_ACTIVE : !differing(s, p, &want);
}

static void on_refused_read(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;
	const struct sync_row *row = sync_row_of(s, IB_ATTR_PORT_INFO);
	uint8_t out[SMP_DATA_SIZE];
	struct mad_request rq;

	s->in_flight--;
	if (r->end != MAD_END_ANSWERED) {
		link_doubt(s, row, p, r->mod);
		s->outcome.refused++;
		return;
	}
	take_port_info(s, p, r->payload);
	if (s->stage == ST_ACTIVE && port_state(p) == IB_PORT_INIT) {
		/* the link went down and up after it was ARMED: the next run begins with INIT */
		s->outcome.timeouts++;
		return;
	}
	if (!was_taken(s, p)) {
		s->outcome.refused++;
		sync_tell_fault(s, p, false);
		if (row->tries && sync_tries_are_over(row, row->tries(row, p), VERDICT_REFUSED))
			row->give_up(s, row, p, r->mod);
	}
	if (!is_arming(s) || !port_has_state(p) || port_state(p) != IB_PORT_INIT)
		return;
	rq = write_form(p, p->info, IB_PORT_ARMED, out);
	sync_send(s, p, &rq, on_state_alone, p);
}

/*
 * Reads a port that refused a Set before that counts: it may be the second try of one that was
 * carried out, as a state that is already reached is refused (7.2.7).
 */
bool link_look_into(struct sync *s, struct port *p, const struct mad_result *r)
{
	if (is_arming(s))
		p->sync.registered = s->plan.registry;
	if (!sync_get(s, p, IB_ATTR_PORT_INFO, port_info_mod(p), on_refused_read))
		return false;
	sync_note_fault(s, p, r);
	return true;
}

/* ---- ARM and ACTIVE ----------------------------------------------------------------------- */

/* PortInfo in doubt after a lost answer is read before it is compared. */
static void on_doubt_read(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;

	if (sync_answered(s, p, r)) {
		take_port_info(s, p, r->payload);
		link_arm(s, p);
	} else if (mad_doubts_key(r)) {
		observe_mkey_doubt(p);
	}
}

/* Must the port wait for tables? Old entries could loop over the new cable. */
static bool waits_for_tables(const struct sync *s, const struct port *p)
{
	return s->outcome.tables_kept && node_is_switch(p->node) && p->peer &&
	       node_is_switch(p->peer->node);
}

static void write_parameters(struct sync *s, struct port *p, const uint8_t *info,
			     enum ib_port_state state)
{
	uint8_t out[SMP_DATA_SIZE];
	struct mad_request rq = write_form(p, info, state, out);

	ib_put(out, PI_CLIENT_REREGISTER, reregister_is_due(s, p));
	if (port_is_end(p))
		observe_mkey_set(p, ib_get(out, PI_M_KEY));
	sync_set(s, p, &rq);
}

static bool are_tables_settled(const struct sync *s, const struct port *p)
{
	return pkeys_are_settled(s, p) && slvl_is_settled(s, p);
}

/*
 * Before there are routes only such links are ARMED: routes decide the SL to the manager, which end
 * ports are given; hosts may start late while their links are in INIT.
 */
static bool is_between_switches(const struct port *p)
{
	return !port_is_end(p) && p->peer && !port_is_end(p->peer);
}

bool link_is_due(const struct sync *s)
{
	return !s->is_ahead || s->plan.arms_ahead;
}

void link_arm(struct sync *s, struct port *p)
{
	enum ib_port_state step = IB_PORT_NO_CHANGE;
	struct link_want want;

	if (!sync_port_is_ours(p) || (s->is_ahead && !is_between_switches(p)))
		return;
	if (p->doubt) {
		sync_get(s, p, IB_ATTR_PORT_INFO, port_info_mod(p), on_doubt_read);
		return;
	}
	if (port_state(p) < IB_PORT_ACTIVE && (p->out.held || waits_for_tables(s, p)))
		return;
	if (port_has_state(p) && port_state(p) == IB_PORT_INIT) {
		if (!are_tables_settled(s, p))
			return;
		if (s->hooks.may_arm && !s->hooks.may_arm(s->hooks.arg, p))
			return;
		step = IB_PORT_ARMED;
	}
	port_want(s, p, &want);
	if (step == IB_PORT_NO_CHANGE && !worth_writing(p, &want) && !reregister_is_due(s, p))
		return;
	write_parameters(s, p, want.info, step);
}

/*
 * Writes the key of port 0, which protects all SMPs to the switch: later ones must have the new
 * key.
 */
void link_write_key(struct sync *s, struct node *n)
{
	struct port *p = &n->ports[0];
	struct link_facts f = { 0 };

	if (!node_is_switch(n) || !p->known)
		return;
	want_m_key(s, p, &f);
	if (!f.keeps_m_key && f.m_key != ib_get(p->info, PI_M_KEY))
		link_arm(s, p);
}

void link_activate(struct sync *s, struct port *p)
{
	uint8_t out[SMP_DATA_SIZE];
	struct mad_request rq;

	if (p->doubt || !port_has_state(p) || port_state(p) != IB_PORT_ARMED)
		return;
	if (p->silent || p->out.held || sync_leaves_out(s, p->node))
		return;
	if (p->peer && (port_state(p->peer) < IB_PORT_ARMED || sync_leaves_out(s, p->peer->node)))
		return;
	if (waits_for_tables(s, p) || (s->hooks.may_arm && !s->hooks.may_arm(s->hooks.arg, p)))
		return;
	/* Other P_Keys or SL2VL tables may be wanted by now, and not be written yet. */
	if (!are_tables_settled(s, p) || (p->peer && !are_tables_settled(s, p->peer)))
		return;
	if (s->hooks.may_activate && !s->hooks.may_activate(s->hooks.arg, p)) {
		s->outcome.ports_held++;
		return;
	}
	rq = write_form(p, p->info, IB_PORT_ACTIVE, out);
	sync_set(s, p, &rq);
}
