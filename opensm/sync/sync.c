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

#include "util/mem.h"

/* Requests kept queued ahead of the window. */
#define FEED_DEPTH   256
/* A Set refused so often in a row is not repeated until what is wanted changes. */
#define MAX_REFUSALS 3

enum stage { ST_IDLE, ST_CLEAR, ST_DRAIN, ST_TABLES, ST_TOP, ST_SPEED, ST_ARM, ST_ACTIVE, ST_END };

struct sync {
	struct fabric *fabric;
	struct mad_engine *mad;
	struct sync_hooks hooks;
	struct plan plan;
	enum stage stage;
	uint32_t node, item; /* the generator's place */
	struct routed {
		struct node *node;
		uint32_t sw; /* in the topo of the routes */
	} * routed;
	uint32_t n_routed;
	unsigned in_flight;
	struct sync_outcome outcome;
};

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

/* The one door through which every Set of the daemon leaves. */
static void sync_send(struct sync *s, struct port *p, const struct mad_request *what,
		      mad_done_fn on_done, void *arg)
{
	struct mad_request rq = *what;

	if (!s->hooks.may_write(s->hooks.arg))
		return;
	rq.method = MAD_SET;
	rq.m_key = port_of_sma(p)->m_key;
	rq.target = &p->node->target;
	s->in_flight++;
	s->outcome.sets++;
	mad_submit(s->mad, &rq, on_done, s, arg);
}

bool sync_command(struct sync *s, struct port *p, const struct mad_request *what,
		  mad_done_fn on_done, void *owner, void *arg)
{
	struct mad_request rq = *what;

	if (!s->hooks.may_write(s->hooks.arg))
		return false;
	rq.method = MAD_SET;
	rq.m_key = port_of_sma(p)->m_key;
	rq.target = &p->node->target;
	mad_submit(s->mad, &rq, on_done, owner, arg);
	return true;
}

/* Bookkeeping every completion shares. True if the request was answered well. */
static bool ended_well(struct sync *s, struct node *n, const struct mad_result *r)
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

static bool node_is_left_out(const struct sync *s, const struct node *n)
{
	return mad_target_silent(s->mad, &n->target);
}

/* ---- CLEAR ---------------------------------------------------------------------------------- */

static void on_clear(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct node *n = r->arg;

	if (!ended_well(s, n, r))
		return;
	memcpy(n->switch_info, r->payload, SI_BYTES);
	n->change_uncleared = false;
}

/* Before anything is written: whatever happens to the switch from now on shows again. */
static bool feed_clear(struct sync *s)
{
	uint8_t want[SMP_DATA_SIZE] = { 0 };
	struct node *n;

	if (s->node >= s->fabric->n_nodes)
		return false;
	n = s->fabric->nodes[s->node++];
	if (n->change_uncleared && !node_is_left_out(s, n)) {
		const struct mad_request rq = { .attr = IB_ATTR_SWITCH_INFO,
						.path = &n->path,
						.payload = want };

		memcpy(want, n->switch_info, SI_BYTES);
		sync_send(s, &n->ports[0], &rq, on_clear, n);
	}
	return true;
}

/* ---- TABLES ------------------------------------------------------------------------------- */

static void on_lft(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct node *n = r->arg;

	if (ended_well(s, n, r))
		lft_have_set(&n->lft, r->mod, r->payload);
	else
		lft_have_forget(&n->lft, r->mod);
}

static const uint8_t *wanted_block(const struct sync *s, const struct routed *at, uint32_t block)
{
	return routes_row(s->plan.routes, at->sw) + (size_t)block * LFT_BLOCK_LIDS;
}

static void send_lft_block(struct sync *s, struct node *n, uint32_t block, const uint8_t *entries)
{
	const struct mad_request rq = {
		.attr = IB_ATTR_LFT,
		.mod = block,
		.path = &n->path,
		.payload = entries,
	};

	n->lft.unproven = true;
	sync_send(s, &n->ports[0], &rq, on_lft, n);
}

static void queue_lft_block(struct sync *s, const struct routed *at, uint32_t block)
{
	const uint8_t *have = lft_have_block(&at->node->lft, block);
	const uint8_t *want = wanted_block(s, at, block);

	if (!have || memcmp(have, want, LFT_BLOCK_LIDS))
		send_lft_block(s, at->node, block, want);
}

/* Entries that change and could loop meanwhile lead nowhere first; the others stay for now. */
static void drain_lft_block(struct sync *s, const struct routed *at, uint32_t block)
{
	const struct transition *t = s->plan.transition;
	const uint8_t *have = lft_have_block(&at->node->lft, block);
	const uint8_t *want = wanted_block(s, at, block);
	uint8_t drained[LFT_BLOCK_LIDS];

	if (!have)
		return;
	for (unsigned i = 0; i < LFT_BLOCK_LIDS; i++) {
		uint32_t lid = block * LFT_BLOCK_LIDS + i;
		bool drain = lid <= t->top && t->drain[lid] && have[i] != want[i];

		drained[i] = drain ? LFT_NO_PORT : have[i];
	}
	if (memcmp(have, drained, LFT_BLOCK_LIDS))
		send_lft_block(s, at->node, block, drained);
}

/* Block by block over all switches: neighbours fill in step, and no SMA gets a burst. */
static bool feed_blocks(struct sync *s,
			void (*fn)(struct sync *s, const struct routed *at, uint32_t block))
{
	uint32_t blocks = s->n_routed ? s->plan.routes->row_size / LFT_BLOCK_LIDS : 0;
	const struct routed *at;

	if (s->item >= blocks)
		return false;
	at = &s->routed[s->node];
	if (!node_is_left_out(s, at->node))
		fn(s, at, s->item);
	if (++s->node == s->n_routed) {
		s->node = 0;
		s->item++;
	}
	return true;
}

/* ---- TOP ---------------------------------------------------------------------------------- */

static void on_switch_info(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct node *n = r->arg;

	if (!ended_well(s, n, r))
		return;
	memcpy(n->switch_info, r->payload, SI_BYTES);
	n->lft_top_written = ib_get(r->payload, SI_LINEAR_FDB_TOP);
}

static bool feed_top(struct sync *s)
{
	uint8_t want[SMP_DATA_SIZE] = { 0 };
	struct node *n;

	if (s->node >= s->n_routed)
		return false;
	n = s->routed[s->node++].node;
	if (node_is_left_out(s, n))
		return true;
	memcpy(want, n->switch_info, SI_BYTES);
	ib_put(want, SI_LINEAR_FDB_TOP,
	       MIN((unsigned)s->plan.routes->top, (unsigned)ib_get(want, SI_LINEAR_FDB_CAP) - 1u));
	ib_put(want, SI_LIFE_TIME, s->plan.conf->packet_life_time & 0x1F);
	ib_put(want, SI_PORT_STATE_CHANGE, 0); /* written 0: stays as it is (14.2.5.4) */
	if (ib_get(want, SI_LINEAR_FDB_TOP) != ib_get(n->switch_info, SI_LINEAR_FDB_TOP) ||
	    ib_get(want, SI_LIFE_TIME) != ib_get(n->switch_info, SI_LIFE_TIME)) {
		const struct mad_request rq = { .attr = IB_ATTR_SWITCH_INFO,
						.path = &n->path,
						.payload = want };

		sync_send(s, &n->ports[0], &rq, on_switch_info, n);
	}
	return true;
}

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

/* Ports that are ours to set up: port 0 and ports whose cable leads to somebody known. */
static bool port_is_ours(const struct port *p)
{
	if (!p->known)
		return false;
	if (node_is_switch(p->node) && p->num == 0)
		return true;
	return p->peer && p->peer->known && !p->quarantined && !p->peer->quarantined &&
	       port_state(p) > IB_PORT_DOWN;
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

	if (ended_well(s, p->node, r))
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

	if (!p->ext_known || !s->plan.conf->fdr10 || !port_is_ours(p) || !p->peer ||
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
	};

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
	return port_state(p) == IB_PORT_INIT ||
	       ib_get(p->info, PI_MASTER_SM_LID) != s->plan.sm_lid ||
	       ib_get(p->info, PI_LID) != p->lid ||
	       ib_get(p->info, PI_GID_PREFIX) != s->plan.conf->subnet_prefix;
}

static void on_arm(void *owner, const struct mad_result *r);

/* Sends PortInfo `info` with state `state`; the write form differs from the read form here only. */
static void send_port_info(struct sync *s, struct port *p, const uint8_t *info,
			   enum ib_port_state state, mad_done_fn on_done)
{
	uint8_t out[SMP_DATA_SIZE];
	struct dr_path path;
	bool extended =
		(fabric_cap_mask(p) & IB_CAP(IB_CAP_EXTENDED_SPEEDS)) && !p->node->no_ext_modifier;
	const struct mad_request rq = {
		.attr = IB_ATTR_PORT_INFO,
		.mod = p->num | (extended ? PI_MOD_EXTENDED_SPEEDS : 0),
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

/* Takes in what a PortInfo Set was answered. ClientReregister is a command, not a state. */
static void observe_port_info(struct port *p, const uint8_t *payload)
{
	memcpy(p->info, payload, SMP_DATA_SIZE);
	ib_put(p->info, PI_CLIENT_REREGISTER, 0);
	p->known = true;
	p->doubt = false;
	fabric_learn_mkey(p);
}

/*
 * A refused PortInfo Set may be the second try of one that was taken, its answer lost: a state that
 * is reached already is refused (7.2.7). So the port is asked what it is before anything is said.
 */
static void read_port_info(struct sync *s, struct port *p, mad_done_fn on_done)
{
	struct dr_path path;
	bool extended =
		(fabric_cap_mask(p) & IB_CAP(IB_CAP_EXTENDED_SPEEDS)) && !p->node->no_ext_modifier;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_PORT_INFO,
		.mod = p->num | (extended ? PI_MOD_EXTENDED_SPEEDS : 0),
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (fabric_port_path(s->fabric, p, &path) < 0)
		return;
	s->in_flight++;
	mad_submit(s->mad, &rq, on_done, s, p);
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

	if (ended_well(s, p->node, r))
		observe_port_info(p, r->payload);
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
	observe_port_info(p, r->payload);
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

	if (ended_well(s, p->node, r)) {
		port_want(s, p, &want);
		observe_port_info(p, r->payload);
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
		observe_port_info(p, r->payload);
		arm_port(s, p);
	} else if (r->end == MAD_END_TIMEOUT) {
		fabric_doubt_mkey(p);
		s->outcome.timeouts++;
		s->outcome.failed_example = p->node;
		s->outcome.failed_attr = r->attr;
	}
}

static void arm_port(struct sync *s, struct port *p)
{
	enum ib_port_state step = IB_PORT_NO_CHANGE;
	struct link_want want;

	if (!port_is_ours(p))
		return;
	if (p->doubt) {
		read_port_info(s, p, on_doubt_read);
		return;
	}
	port_want(s, p, &want);
	if (port_has_state(p) && port_state(p) == IB_PORT_INIT)
		step = link_next_state(IB_PORT_INIT, IB_PORT_ARMED);
	if (step == IB_PORT_NO_CHANGE && !worth_writing(p, &want))
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
	observe_port_info(p, r->payload);
	if (port_state(p) == IB_PORT_ACTIVE)
		s->outcome.refused--;
}

static void on_active(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct port *p = r->arg;

	if (ended_well(s, p->node, r))
		observe_port_info(p, r->payload);
	else if (r->end == MAD_END_BAD_STATUS)
		read_port_info(s, p, on_active_reread);
	else if (r->end == MAD_END_TIMEOUT)
		cast_doubt(p);
}

static void activate_port(struct sync *s, struct port *p)
{
	if (!port_is_ours(p) || p->doubt || !port_has_state(p) || port_state(p) != IB_PORT_ARMED)
		return;
	if (p->silent || node_is_left_out(s, p->node))
		return;
	if (p->peer && (port_state(p->peer) < IB_PORT_ARMED || node_is_left_out(s, p->peer->node)))
		return;
	s->outcome.ports_activated++;
	send_port_info(s, p, p->info, IB_PORT_ACTIVE, on_active);
}

static bool feed_ports(struct sync *s, void (*fn)(struct sync *s, struct port *p))
{
	struct node *n;

	if (s->node >= s->fabric->n_nodes)
		return false;
	n = s->fabric->nodes[s->node++];
	if (node_is_left_out(s, n))
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
		return feed_clear(s);
	case ST_DRAIN:
		return s->plan.transition && feed_blocks(s, drain_lft_block);
	case ST_TABLES:
		return feed_blocks(s, queue_lft_block);
	case ST_TOP:
		return feed_top(s);
	case ST_SPEED:
		return feed_ports(s, set_fdr10);
	case ST_ARM:
		return feed_ports(s, arm_port);
	case ST_ACTIVE:
		return feed_ports(s, activate_port);
	case ST_IDLE:
	case ST_END:
		break;
	}
	return false;
}

static void map_switches(struct sync *s)
{
	s->n_routed = 0;
	if (!s->plan.routes)
		return;
	s->routed = xrealloc(s->routed, MAX(s->fabric->n_switches, 1u), sizeof(*s->routed));
	FABRIC_EACH_NODE(s->fabric, n) {
		uint32_t sw = node_is_switch(n) ? topo_find_switch(s->plan.routes->topo, n->guid)
						: TOPO_NONE;

		if (sw != TOPO_NONE)
			s->routed[s->n_routed++] = (struct routed){ .node = n, .sw = sw };
	}
}

void sync_start(struct sync *s, const struct plan *plan)
{
	s->plan = *plan;
	memset(&s->outcome, 0, sizeof(s->outcome));
	map_switches(s);
	stage_enter(s, ST_CLEAR);
}

void sync_feed(struct sync *s)
{
	while (s->stage != ST_IDLE) {
		while (mad_pending(s->mad) < FEED_DEPTH) {
			if (feed_stage(s))
				continue;
			if (s->in_flight)
				return;
			stage_enter(s, s->stage + 1);
			if (s->stage != ST_END)
				continue;
			stage_enter(s, ST_IDLE);
			s->hooks.ended(s->hooks.arg, &s->outcome);
			break;
		}
		if (mad_pending(s->mad) >= FEED_DEPTH)
			return;
	}
}

void sync_stop(struct sync *s)
{
	stage_enter(s, ST_IDLE);
	mad_cancel(s->mad, s, NULL);
	s->in_flight = 0;
}
