// SPDX-License-Identifier: BSD-2-Clause
/*
 * The light sweep: one SwitchInfo per switch tells whether anything changed since the last sweep;
 * what did not answer so far is asked again, in its own time. Finds changes, repairs nothing.
 *
 * It also audits: one block per switch is read per sweep, in turn, of its forwarding table and,
 * every other time, of the P_Key and GUID tables at its ports; every fourth time, where lanes are,
 * one of SL2VL or VL arbitration instead; and one block of the P_Keys of our own port each time.
 * Whatever wrote there (another manager, a host without an M_Key in its way, a Set that was under
 * way for too long) is found out in the end.
 *
 * Every node is asked for its description within ASK_SWEEPS light sweeps or ASK_TIME, whichever is
 * less: nothing else tells of a host whose agent is silent while its link is up, or of a name if
 * its trap 144 got lost. With the default sweep_interval of 10 s a sweep asks a sixth: 187 Gets
 * with 1,024 hosts on 96 switches, 2,214 with 11,664 on 1,620, beside two for each switch.
 *
 * Where ports have M_Keys with a lease they are asked within half of it, each port of a host.
 *
 * What is silent rests for up to 60 s between questions; a light sweep asks half of those all the
 * same, so that what answers again is noticed by the next sweep or the one after it. Questions that
 * are not answered take their time, 64 of them a transaction_timeout: where so many are silent that
 * this would fill the time between two sweeps, one sweep asks fewer.
 */
#include <limits.h>
#include <string.h>

#include "health/judge.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/read/discover_internal.h"
#include "sm/read/port_states.h"
#include "util/hash.h"
#include "util/mem.h"

/* Light sweeps in which the ports of every switch are read once. */
#define PORT_ROUNDS   64
/* Of so many turns of a switch one reads PortInfo even if it has a table of port states. */
#define STATE_TURNS   4
/* Times in a row that a table may be found changed before it is left alone. */
#define MAX_DISPROOFS 3
/* Light sweeps, and time, in which every node is asked for its description once. */
#define ASK_SWEEPS    10
#define ASK_TIME      60 /* s */
/* Silent nodes that a sweep asks out of turn: all of so many, else half of those there are, */
#define WAKES	       64u
#define WAKES_A_SECOND 128u /* at most, for each second of sweep_interval */
#define ROUNDS_MAX     1024u

struct light {
	unsigned pending;
	bool found_change, missed;	/* in this sweep */
	uint32_t name_turn;		/* nodes asked for their names so far */
	uint32_t wake_turn;		/* which of the silent nodes are asked out of their turn, */
	uint32_t wake_rounds;		/* and within how many sweeps all of them */
	uint32_t silent, silent_before; /* of these there are, in this sweep and the one before */
};

void light_new(struct sm *sm, const struct sm_paths *paths)
{
	sm->m.light = xcalloc(1, sizeof(*sm->m.light));
}

void light_free(struct sm *sm)
{
	free(sm->m.light);
	sm->m.light = NULL;
}

/* Logged of the first; all of them are found in the places that are dirty now. */
static void log_change(struct sm *sm, const char *what, const struct port *p)
{
	if (!sm->m.light->found_change)
		log_port(p, LOG_ID_NONE, LOGB_INFO, "%s", what);
	sm->m.light->found_change = true;
}

static void found_at_switch(struct sm *sm, const char *what, struct node *n)
{
	log_change(sm, what, &n->ports[0]);
	tell_switch(sm, n, "the light sweep found a change");
}

static void found_in_tables(struct sm *sm, const char *what, const struct port *p)
{
	log_change(sm, what, p);
	/* Only a subnet manager writes tables: one may be near that is not known. */
	want_sweep(sm, SWEEP_HEAVY, "the light sweep found a table changed");
}

/* The reason why a SwitchInfo calls for reading the switch; NULL: none. */
static const char *news_of(const struct sm *sm, const struct node *n, const uint8_t *switch_info)
{
	if (ib_get(switch_info, SI_PORT_STATE_CHANGE))
		return "a port changed its state";
	if (ib_get(switch_info, SI_LINEAR_FDB_TOP) != ib_get(n->switch_info, SI_LINEAR_FDB_TOP))
		return "its forwarding table was reset";
	if (n->sync.passed_over)
		return "was silent when tables were written";
	return n->ports[0].seen != sm->sweep_no ? "was silent and answers now" : NULL;
}

/*
 * A half-dead switch has the same news each time: it answers SwitchInfo and not PortInfo or tables,
 * or does not let us clear PortStateChange. It is looked at the 1st, 2nd, 4th, 8th time ... and
 * every 64th.
 */
static bool is_worth_a_look(const struct sm *sm, struct node *n)
{
	if (!n->change_uncleared && !n->sync.passed_over && n->ports[0].seen == sm->sweep_no)
		return true;
	n->looks_in_vain++;
	return !(n->looks_in_vain & (n->looks_in_vain - 1)) || n->looks_in_vain % 64 == 0;
}

static void on_switch_info(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;
	const char *news;

	sm->m.light->pending--;
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
		sm->m.light->missed = true;
		if (r->end == MAD_END_TIMEOUT)
			tell_news(sm, NEWS_BAD_ANSWER, .port = &n->ports[0],
				  .number = HEALTH_UNRESPONSIVE);
		if (!n->misses && n->ports[0].seen == sm->sweep_no) {
			log_change(sm, "does not answer SwitchInfo", &n->ports[0]);
			want_sweep(sm, SWEEP_HEAVY, "a switch does not answer");
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

	sm->m.light->pending--;
	if (r->end == MAD_END_ANSWERED && lft_have_block(&n->lft, r->mod) &&
	    observe_lft_block(n, r->mod, r->payload))
		found_in_tables(sm, "its forwarding table was changed by another", &n->ports[0]);
}

static void audit_lft(struct sm *sm, struct node *n, unsigned turn)
{
	uint32_t block = n->lft.n_blocks ? turn % n->lft.n_blocks : 0;

	if (!lft_have_block(&n->lft, block))
		return;
	sm->m.light->pending++;
	discover_get(sm, n, IB_ATTR_LFT, block, on_audit);
}

/* A device that says one thing and does another is not written to for ever. */
static void note_disproof(struct port *p, struct cell_table *t)
{
	if (t->disproofs < MAX_DISPROOFS)
		t->disproofs++;
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
	enum port_table table = port_table_of(r->attr);
	unsigned block = port_tables[table].block(r->mod);

	sm->m.light->pending--;
	if (r->end != MAD_END_ANSWERED || !fabric_cell(sm->fabric, p, table, block) ||
	    p->tables[table]->disproofs == MAX_DISPROOFS)
		return;
	if (observe_block(sm->fabric, p, table, block, r->payload)) {
		p->tables[table]->disproofs = 0;
		return;
	}
	note_disproof(p, p->tables[table]);
	found_in_tables(sm,
			port_tables[table].is_of_lanes
				? "its SL2VL or VL arbitration was changed by another"
				: "its P_Keys or GUIDs were changed by another",
			p);
}

/* False: nothing is known there, or the port cannot be asked, or does not answer. */
static bool ask_cell(struct sm *sm, struct port *p, enum port_table table, unsigned block)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = port_tables[table].attr,
		.mod = port_tables[table].mod(p, block),
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (!fabric_cell(sm->fabric, p, table, block) || p->node->misses ||
	    mad_target_silent(sm->mad, rq.target) ||
	    fabric_port_path(sm->fabric, p, &path) < 0)
		return false;
	sm->m.light->pending++;
	mad_submit(sm->mad, &rq, on_cell_audit, sm, p);
	return true;
}

/* Asks for known block number *turn of a port's tables; else takes those it has off *turn. */
static bool audit_port(struct sm *sm, struct port *p, unsigned *turn)
{
	for (enum port_table i = 0; p && i < N_PORT_TABLES; i++) {
		const struct cell_table *t = port_tables[i].is_of_lanes ? NULL : p->tables[i];

		for (unsigned block = 0; t && block < t->n; block++) {
			if (!cell_table_id(t, block) || (*turn)--)
				continue;
			ask_cell(sm, p, i, block);
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

/*
 * Places for cells in the tables of lanes of a port; `turn` below that: the one there is asked
 * for, *ret_asked: it was.
 */
static unsigned lane_cells(struct sm *sm, struct port *p, unsigned turn, bool *ret_asked)
{
	unsigned n = 0;

	for (enum port_table i = 0; p && i < N_PORT_TABLES; i++) {
		unsigned here = port_tables[i].is_of_lanes && p->tables[i] ? p->tables[i]->n : 0;

		if (turn >= n && turn - n < here)
			*ret_asked = ask_cell(sm, p, i, turn - n);
		n += here;
	}
	return n;
}

/* One cell of a port of the switch, or of the host there, in turn. False: none is known there. */
static bool audit_lanes(struct sm *sm, struct node *n, unsigned turn)
{
	struct port *p = &n->ports[turn % (n->n_ports + 1u)];
	struct port *host = p->peer && port_is_end(p->peer) ? p->peer : NULL;
	bool asked = false;
	unsigned own = lane_cells(sm, p, UINT_MAX, &asked);
	unsigned all = own + lane_cells(sm, host, UINT_MAX, &asked);

	turn /= n->n_ports + 1u;
	if (!all)
		return false;
	turn %= all;
	lane_cells(sm, turn < own ? p : host, turn < own ? turn : turn - own, &asked);
	return asked;
}

/* Without the P_Keys of our own port no host reaches the SA: they are checked in each sweep. */
static void audit_own_port(struct sm *sm)
{
	struct port *own = sm->fabric->own_port;
	const struct cell_table *t = own ? own->tables[TABLE_PKEYS] : NULL;

	if (t && t->n)
		ask_cell(sm, own, TABLE_PKEYS, sm->stats.light_sweeps % t->n);
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

/*
 * A sweep in so many asks each of the silent ones out of its turn: each second one, or fewer. A
 * power of two: those that had their turn with more rounds are not skipped when these become fewer.
 */
static uint32_t rounds_of_waking(const struct sm *sm)
{
	uint32_t silent = sm->m.light->silent_before, rounds = silent > WAKES ? 2 : 1;
	uint32_t most = MAX(WAKES_A_SECOND * MIN(sm->conf->sweep_interval, ASK_TIME), WAKES);

	while (rounds < ROUNDS_MAX && silent / rounds > most)
		rounds *= 2;
	return rounds;
}

/* `guid` and `num` are the same in each sweep: what else is silent does not change the turn. */
static void wake(struct sm *sm, struct mad_target *target, guid_t guid, unsigned num)
{
	struct light *l = sm->m.light;
	uint32_t place = hash_fold(hash_bytes(hash_bytes(HASH_START, &guid, sizeof(guid)), &num,
					      sizeof(num)));

	l->silent++;
	if ((place + l->wake_turn) % l->wake_rounds == 0)
		mad_target_wake(target);
}

static void ask_switch(struct sm *sm, struct node *n)
{
	if (mad_target_silent(sm->mad, &n->target))
		wake(sm, &n->target, n->guid, 0);
	audit(sm, n);
	sm->m.light->pending++;
	discover_get(sm, n, IB_ATTR_SWITCH_INFO, 0, on_switch_info);
}

static void on_silent_answer(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	sm->m.light->pending--;
	if (mad_doubts_key(r))
		discover_doubt_behind(sm, p, r->m_key);
	if (r->end != MAD_END_ANSWERED)
		return;
	discover_key_found(sm, p, r->m_key);
	mad_cancel(sm->mad, sm, &p->behind); /* questions to it with other keys */
	log_change(sm, "the silent node behind it answers now", p);
	tell_port(sm, p, "a silent node answers");
}

static void ask_silent(struct sm *sm, struct port *p)
{
	struct dr_path path;
	uint64_t more[DISCOVER_KEYS];
	unsigned n = 0;
	struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_NODE_INFO,
		.path = &path,
		.m_key = discover_probe_mkey(sm, p),
		.target = &p->behind,
	};

	if (!p->silent || dr_path_extend(&p->node->path, p->num, &path) < 0)
		return;
	wake(sm, &p->behind, p->node->guid, p->num);
	if (sm->m.light->silent <= WAKES)
		n = discover_other_mkeys(sm, p, rq.m_key, more);
	sm->m.light->pending += 1 + n;
	mad_submit(sm->mad, &rq, on_silent_answer, sm, p);
	for (unsigned i = 0; i < n; i++) {
		rq.m_key = more[i];
		mad_submit(sm->mad, &rq, on_silent_answer, sm, p);
	}
}

static void ask_host(struct sm *sm, struct node *n)
{
	bool silent = node_is_mute(n) || n->sync.passed_over;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];
		struct dr_path path;

		if (!p->known || !p->peer || fabric_port_path(sm->fabric, p, &path) < 0)
			continue;
		if (silent)
			wake(sm, &n->target, n->guid, 0);
		if (!n->desc_known || silent)
			discover_ask_desc(sm, p, &path);
		if (p != sm->fabric->own_port &&
		    (ib_get(p->info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM)))
			tell_news(sm, NEWS_MANAGER_MET, .port = p);
	}
}

/* ---- leases of M_Keys (14.2.4.2) ---- */

/* Any host can run the timer of a port, by a wrong key. A good SMP stops it. */
static bool has_leases(const struct sm *sm)
{
	return sm->conf->m_key_protection_level && sm->conf->m_key_lease_period;
}

/* Seconds within which each end port hears of us once. */
static unsigned ask_time(const struct sm *sm)
{
	return has_leases(sm) ? MIN(sm->conf->m_key_lease_period / 2u, ASK_TIME) : ASK_TIME;
}

static void on_touched(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;

	sm->m.light->pending--;
	if (mad_doubts_key(r))
		keys_doubt(sm, r->arg, r->m_key);
}

/* Each port of a host has a timer; the first one was asked for the description of the node. */
static void touch_other_ports(struct sm *sm, struct node *n)
{
	bool first = true;

	for (unsigned i = 1; !node_is_switch(n) && i <= n->n_ports; i++) {
		struct port *p = &n->ports[i];
		struct dr_path path;
		const struct mad_request rq = {
			.method = MAD_GET,
			.attr = IB_ATTR_NODE_DESC,
			.path = &path,
			.m_key = p->m_key,
			.target = &n->target,
		};

		if (fabric_port_path(sm->fabric, p, &path) < 0)
			continue;
		if (!first) {
			sm->m.light->pending++;
			mad_submit(sm->mad, &rq, on_touched, sm, p);
		}
		first = false;
	}
}

void light_audit_names(struct sm *sm)
{
	const struct fabric *f = sm->fabric;
	unsigned sweeps =
		MIN(MAX(ask_time(sm) / MAX(sm->conf->sweep_interval, 1u), 1u), ASK_SWEEPS);

	for (uint32_t n = (f->n_nodes + sweeps - 1) / sweeps; n; n--) {
		struct node *node = f->nodes[sm->m.light->name_turn++ % f->n_nodes];

		if (node->misses || mad_target_silent(sm->mad, &node->target))
			continue;
		discover_ask_desc_again(sm, node);
		if (has_leases(sm))
			touch_other_ports(sm, node);
	}
}

static void doubt_ports(struct sm *sm, struct node *n)
{
	observe_ports_in_doubt(n);
	tell_switch(sm, n, "ports are looked at in turn");
}

static void on_port_states(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;

	sm->m.light->pending--;
	if (!port_states_same(sm, r->arg, r))
		doubt_ports(sm, r->arg);
}

/*
 * PortStateChange tells nothing if another has cleared it (a manager that met us and went, a
 * Set that was repeated): one switch in PORT_ROUNDS is read whole, whatever it says, or asked for
 * the states of its ports in one table.
 */
static void look_at_ports(struct sm *sm)
{
	const bool whole = sm->stats.light_sweeps / PORT_ROUNDS % STATE_TURNS == 0;

	FABRIC_EACH_NODE(sm->fabric, n) {
		if (!node_is_switch(n) || !n->switch_known || !n->ports[0].known || n->misses ||
		    n->target.failures ||
		    n->guid % PORT_ROUNDS != sm->stats.light_sweeps % PORT_ROUNDS)
			continue;
		if (whole || !port_states_has(sm, n)) {
			doubt_ports(sm, n);
			continue;
		}
		sm->m.light->pending++;
		discover_get(sm, n, IB_ATTR_PORT_STATE_TABLE, 0, on_port_states);
	}
}

void light_start(struct sm *sm)
{
	look_at_ports(sm);
	sm->m.light->found_change = sm->m.light->missed = false;
	sm->m.light->wake_turn++;
	sm->m.light->silent_before = sm->m.light->silent;
	sm->m.light->silent = 0;
	sm->m.light->wake_rounds = rounds_of_waking(sm);
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
	audit_own_port(sm);
}

bool light_busy(const struct sm *sm)
{
	return sm->m.light->pending || discover_busy(sm);
}

/* No link changed since: what was written went where it should. */
void light_settle(struct sm *sm)
{
	if (sm->m.light->found_change || sm->m.light->missed)
		return;
	FABRIC_EACH_NODE(sm->fabric, n) {
		observe_tables_proved(n);
		for (unsigned i = 0; i <= n->n_ports; i++)
			observe_blocks_proved(&n->ports[i]);
	}
}
