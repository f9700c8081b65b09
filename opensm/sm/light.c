// SPDX-License-Identifier: BSD-2-Clause
/*
 * The light sweep: one SwitchInfo per switch tells whether anything changed since the last sweep;
 * what did not answer so far is asked again, in its own time. Finds changes, repairs nothing.
 *
 * It also audits: one block per switch is read per sweep, in turn, of its forwarding table and, every
 * other time, of the P_Key and GUID tables at its ports; every fourth time, where lanes are, one of SL2VL or VL
 * arbitration instead. Whatever wrote there (another manager, a Set
 * that was under way for too long) is found out in the end. A 30th of all nodes is asked for its description
 * (at least one node): a trap 144 may get lost, or be taken for part of a storm, and names are told by nothing
 * else. So every name is right after 30 sweeps, 5 minutes by default, for 1,800 Gets per sweep at 54,000 nodes,
 * where SwitchInfo and tables take 10,000.
 */
#include <limits.h>
#include <string.h>

#include "sm/say.h"
#include "util/mem.h"

/* Light sweeps in which the ports of every switch are read once. */
#define PORT_ROUNDS   64
/* Times in a row that a table may be found changed before it is left alone. */
#define MAX_DISPROOFS 3
/* Sweeps in which every node is asked for its description once, unless the fabric is smaller than that. */
#define NAME_SWEEPS   30

/* Said of the first; all of them are found in the places that are dirty now. */
static void tell(struct sm *sm, const char *what, const struct port *p)
{
	if (!sm->light_found_change)
		log_port(p, LOG_ID_NONE, LOGB_INFO, "%s", what);
	sm->light_found_change = true;
}

static void found_at_switch(struct sm *sm, const char *what, struct node *n)
{
	tell(sm, what, &n->ports[0]);
	dirty_switch(sm, n, "the light sweep found a change");
}

static void found_in_tables(struct sm *sm, const char *what, const struct port *p)
{
	tell(sm, what, p);
	/* Only a subnet manager writes tables: one may be near that nobody told us of. */
	sweep_want(sm, SWEEP_HEAVY, "the light sweep found a table changed");
}

/* What a SwitchInfo says that calls for a look; NULL: nothing. */
static const char *news_of(const struct sm *sm, const struct node *n, const uint8_t *switch_info)
{
	if (ib_get(switch_info, SI_PORT_STATE_CHANGE))
		return "a port changed its state";
	if (ib_get(switch_info, SI_LINEAR_FDB_TOP) != ib_get(n->switch_info, SI_LINEAR_FDB_TOP))
		return "its forwarding table was reset";
	return n->ports[0].seen != sm->sweep_no ? "was silent and answers now" : NULL;
}

/*
 * A half-dead switch has the same news each time: it answers SwitchInfo and not PortInfo, or does not let us
 * clear PortStateChange. It is looked at the 1st, 2nd, 4th, 8th time ... and every 64th.
 */
static bool is_worth_a_look(const struct sm *sm, struct node *n)
{
	if (!n->change_uncleared && n->ports[0].seen == sm->sweep_no)
		return true;
	n->looks_in_vain++;
	return !(n->looks_in_vain & (n->looks_in_vain - 1)) || n->looks_in_vain % 64 == 0;
}

static void on_switch_info(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;
	const char *news;

	sm->discover_pending--;
	switch (r->end) {
	case MAD_END_ANSWERED:
		news = news_of(sm, n, r->payload);
		if (!news)
			n->looks_in_vain = 0;
		else if (is_worth_a_look(sm, n))
			found_at_switch(sm, news, n);
		break;
	case MAD_END_TIMEOUT:
	case MAD_END_BAD_STATUS:
		sm->light_missed = true;
		if (!n->misses && n->ports[0].seen == sm->sweep_no) {
			tell(sm, "does not answer SwitchInfo", &n->ports[0]);
			sweep_want(sm, SWEEP_HEAVY, "a switch does not answer");
		}
		break;
	case MAD_END_CANCELLED:
		break;
	}
}

static void on_audit(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;
	const uint8_t *have = lft_have_block(&n->lft, r->mod);

	sm->discover_pending--;
	if (r->end != MAD_END_ANSWERED || !have || !memcmp(have, r->payload, LFT_BLOCK_LIDS))
		return;
	lft_have_set(&n->lft, r->mod, r->payload);
	found_in_tables(sm, "its forwarding table was changed by somebody else", &n->ports[0]);
}

static void audit_lft(struct sm *sm, struct node *n, unsigned turn)
{
	uint32_t block = n->lft.n_blocks ? turn % n->lft.n_blocks : 0;

	if (!lft_have_block(&n->lft, block))
		return;
	sm->discover_pending++;
	discover_get(sm, n, IB_ATTR_LFT, block, on_audit);
}

static struct cell_table **audited_table(struct port *p, uint16_t attr)
{
	return attr == IB_ATTR_PKEY_TABLE ? &p->pkeys : &p->guids;
}

/* A device that says one thing and does another is not written to for ever. */
static void note_disproof(struct port *p, struct cell_table *t)
{
	t->disproofs += t->disproofs < MAX_DISPROOFS;
	if (t->disproofs == MAX_DISPROOFS)
		log_port(p, LOG_ID_REFUSED_SET, LOGB_ERROR,
			 "its tables were found changed %u times in a row; they are not looked "
			 "after any more until other ones are wanted",
			 MAX_DISPROOFS);
}

static void on_cell_audit(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;
	struct cell_table **t = audited_table(p, r->attr);
	unsigned block = r->mod & 0xFFFF;
	bool same;

	sm->discover_pending--;
	if (r->end != MAD_END_ANSWERED || !cell_table_get(sm->fabric->cells, *t, block) ||
	    (*t)->disproofs == MAX_DISPROOFS)
		return;
	same = r->attr == IB_ATTR_PKEY_TABLE
		       ? fabric_observe_pkeys(sm->fabric, p, block, r->payload)
		       : fabric_observe_guids(sm->fabric, p, block, r->payload);
	if (same) {
		(*t)->disproofs = 0;
		return;
	}
	note_disproof(p, *t);
	found_in_tables(sm, "its P_Keys or GUIDs were changed by somebody else", p);
}

static void ask_cell(struct sm *sm, struct port *p, uint16_t attr, unsigned block)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = attr,
		.mod = attr == IB_ATTR_PKEY_TABLE ? fabric_pkey_mod(p, block) : block,
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (mad_target_silent(sm->mad, rq.target) || fabric_port_path(sm->fabric, p, &path) < 0)
		return;
	sm->discover_pending++;
	mad_submit(sm->mad, &rq, on_cell_audit, sm, p);
}

/* Asks for known block number *turn of a port's tables; else takes those it has off *turn. */
static bool audit_port(struct sm *sm, struct port *p, unsigned *turn)
{
	static const uint16_t attrs[] = { IB_ATTR_PKEY_TABLE, IB_ATTR_GUID_INFO };

	for (size_t i = 0; p && i < ARRAY_SIZE(attrs); i++) {
		const struct cell_table *t = *audited_table(p, attrs[i]);

		for (unsigned block = 0; t && block < t->n; block++) {
			if (!t->have[block] || (*turn)--)
				continue;
			ask_cell(sm, p, attrs[i], block);
			return true;
		}
	}
	return false;
}

/* The tables at a switch: its own, those of its ports, and of the hosts there. */
static bool audit_ports(struct sm *sm, struct node *n, unsigned *turn)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];
		struct port *host = p->peer && port_is_end(p->peer) ? p->peer : NULL;

		if (audit_port(sm, p, turn) || audit_port(sm, host, turn))
			return true;
	}
	return false;
}

/* Blocks known there, of all ports. */
static unsigned count_cells(struct sm *sm, struct node *n)
{
	unsigned left = UINT_MAX;

	audit_ports(sm, n, &left);
	return UINT_MAX - left;
}

/* ---- SL2VL and VL arbitration: so many cells that they get a turn of their own ---- */

static void on_lane_audit(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;
	bool arb = r->attr == IB_ATTR_VLARB;
	struct cell_table *t = arb ? p->vlarb : p->sl2vl;
	unsigned block = arb ? (r->mod >> 16) - 1 : r->mod >> 8;

	sm->discover_pending--;
	if (r->end != MAD_END_ANSWERED || !cell_table_get(sm->fabric->cells, t, block) ||
	    t->disproofs == MAX_DISPROOFS)
		return;
	if (arb ? fabric_observe_vlarb(sm->fabric, p, block + 1, r->payload)
		: fabric_observe_sl2vl(sm->fabric, p, block, r->payload)) {
		t->disproofs = 0;
		return;
	}
	note_disproof(p, t);
	found_in_tables(sm, "its SL2VL or VL arbitration was changed by somebody else", p);
}

static bool ask_lane_cell(struct sm *sm, struct port *p, uint16_t attr, unsigned block)
{
	struct cell_table *t = attr == IB_ATTR_VLARB ? p->vlarb : p->sl2vl;
	unsigned num = node_is_switch(p->node) ? p->num : 0;
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = attr,
		.mod = attr == IB_ATTR_VLARB ? (block + 1) << 16 | num : block << 8 | num,
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (!cell_table_get(sm->fabric->cells, t, block) || mad_target_silent(sm->mad, rq.target) ||
	    fabric_port_path(sm->fabric, p, &path) < 0)
		return false;
	sm->discover_pending++;
	mad_submit(sm->mad, &rq, on_lane_audit, sm, p);
	return true;
}

static unsigned n_rows(const struct port *p)
{
	return p && p->sl2vl ? p->sl2vl->n : 0;
}

static unsigned n_lane_cells(const struct port *p)
{
	return n_rows(p) + (p && p->vlarb ? p->vlarb->n : 0);
}

/* One cell of a port of the switch, or of the host there, in turn. False: none is known there. */
static bool audit_lanes(struct sm *sm, struct node *n, unsigned turn)
{
	struct port *p = &n->ports[turn % (n->n_ports + 1u)];
	struct port *host = p->peer && port_is_end(p->peer) ? p->peer : NULL;
	unsigned own = n_lane_cells(p), all = own + n_lane_cells(host);

	turn /= n->n_ports + 1u;
	if (!all)
		return false;
	turn %= all;
	if (turn >= own) {
		turn -= own;
		p = host;
	}
	return turn < n_rows(p) ? ask_lane_cell(sm, p, IB_ATTR_SL2VL, turn)
				: ask_lane_cell(sm, p, IB_ATTR_VLARB, turn - n_rows(p));
}

static void audit(struct sm *sm, struct node *n)
{
	unsigned known = count_cells(sm, n), sweep = sm->stats.light_sweeps, turn = sweep / 2;

	if (sweep % 4 == 3 && audit_lanes(sm, n, sweep / 4))
		return;
	if (!known) {
		audit_lft(sm, n, sweep);
	} else if (sweep % 2 == 0) {
		audit_lft(sm, n, turn);
	} else {
		turn %= known;
		audit_ports(sm, n, &turn);
	}
}

static void ask_switch(struct sm *sm, struct node *n)
{
	audit(sm, n);
	sm->discover_pending++;
	discover_get(sm, n, IB_ATTR_SWITCH_INFO, 0, on_switch_info);
}

static void on_silent_answer(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	sm->discover_pending--;
	if (r->end != MAD_END_ANSWERED)
		return;
	tell(sm, "who was silent behind it answers now", p);
	dirty_port(sm, p, "somebody silent answers");
}

static void ask_silent(struct sm *sm, struct port *p)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_NODE_INFO,
		.path = &path,
		.m_key = discover_probe_mkey(sm, p),
		.target = &p->behind,
	};

	if (!p->silent || dr_path_extend(&p->node->path, p->num, &path) < 0)
		return;
	sm->discover_pending++;
	mad_submit(sm->mad, &rq, on_silent_answer, sm, p);
}

static void ask_host(struct sm *sm, struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];
		struct dr_path path;

		if (!p->known || !p->peer || fabric_port_path(sm->fabric, p, &path) < 0)
			continue;
		if (!n->desc_known)
			discover_ask_desc(sm, p, &path);
		if (p != sm->fabric->own_port &&
		    (ib_get(p->info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM)))
			elect_ask(sm, p);
	}
}

void light_audit_names(struct sm *sm)
{
	const struct fabric *f = sm->fabric;
	uint32_t n = (f->n_nodes + NAME_SWEEPS - 1) / NAME_SWEEPS;

	for (; n; n--) {
		struct node *node = f->nodes[sm->name_turn++ % f->n_nodes];

		if (!node->misses && !mad_target_silent(sm->mad, &node->target))
			discover_ask_desc_again(sm, node);
	}
}

/*
 * PortStateChange tells nothing if somebody else has cleared it (a manager that met us and went, a Set
 * that was repeated): one switch in PORT_ROUNDS is read whole, whatever it says.
 */
static void look_at_ports(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (!node_is_switch(n) || !n->switch_known || !n->ports[0].known || n->misses ||
		    n->target.failures ||
		    n->guid % PORT_ROUNDS != sm->stats.light_sweeps % PORT_ROUNDS)
			continue;
		n->cleared_late = true;
		dirty_switch(sm, n, "ports are looked at in turn");
	}
}

void light_start(struct sm *sm)
{
	look_at_ports(sm);
	sm->light_found_change = sm->light_missed = false;
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (!node_is_switch(n)) {
			ask_host(sm, n);
			continue;
		}
		ask_switch(sm, n);
		if (!n->desc_known)
			discover_ask_desc(sm, &n->ports[0], &n->path);
		for (unsigned i = 1; i <= n->n_ports; i++)
			ask_silent(sm, &n->ports[i]);
	}
	light_audit_names(sm);
}

/* No link changed since: what was written went where it should. */
void light_prove(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		lft_have_prove(&n->lft);
		for (unsigned i = 0; i <= n->n_ports; i++)
			fabric_prove_cells(&n->ports[i]);
	}
}
