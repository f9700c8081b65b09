// SPDX-License-Identifier: BSD-2-Clause
/*
 * The light sweep: one SwitchInfo per switch shows if anything changed since the last sweep; nodes
 * that did not answer are asked again from time to time. Repairs nothing. It also audits some
 * blocks of tables in turn (audit.c) where nothing else has changed, so that tables lost with power
 * are not taken for another manager's.
 *
 * Every node is asked for its description within ASK_SWEEPS light sweeps or ASK_TIME, whichever is
 * less: this alone finds a host whose agent is silent while its link is up, or a name whose trap
 * 144 got lost. With the default sweep_interval of 10 s a sweep asks a sixth: 187 Gets with 1,024
 * hosts on 96 switches, 2,214 with 11,664 on 1,620, beside two for each switch. Where ports have
 * M_Keys with a lease they are asked within half of it, each port of a host.
 *
 * A silent node is not asked for up to 60 s; a light sweep asks half of these all the same, so that
 * one that answers again is noticed by one of the next two sweeps. Unanswered questions take time,
 * 64 of them a transaction_timeout: if there are so many that this would fill the time between two
 * sweeps, a sweep asks fewer.
 */
#include <string.h>

#include "health/judge.h"
#include "sm/base/about.h"
#include "sm/read/discover_internal.h"
#include "sm/read/light_internal.h"
#include "util/hash.h"
#include "util/mem.h"

MACHINE_MEMORY_WITH(light, .told = { .interval = 10 * MONO_S, .burst = 10 });

/* Number of light sweeps in which the ports of every switch are read once. */
#define PORT_ROUNDS    64
/* One of this many turns of a switch reads PortInfo even if it has a table of port states. */
#define STATE_TURNS    4
/* Number of light sweeps, and time, in which every node is asked for its description once. */
#define ASK_SWEEPS     10
#define ASK_TIME       60 /* s */
/* Silent nodes that a sweep asks out of turn: all if there are at most WAKES, else half, */
#define WAKES	       64u
#define WAKES_A_SECOND 128u /* and at most so many for each second of sweep_interval */
#define ROUNDS_MAX     1024u

/* Logs the first change; the others are in the places that are dirty now. */
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

/*
 * Must the switch be read? A faulty one shows the same change each time: it answers SwitchInfo and
 * not PortInfo or tables, or cannot clear PortStateChange. It is read the 1st, 2nd, 4th, 8th time
 * ... and every 64th.
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
		news = switch_info_news(sm, n, r->payload);
		if (!news)
			n->looks_in_vain = 0;
		if (news && is_worth_a_look(sm, n))
			found_at_switch(sm, news, n);
		else
			audit_switch(sm, n);
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

/*
 * The number of sweeps in which each silent node is asked once out of its turn. A power of two, so
 * that none is skipped when the number falls.
 */
static uint32_t rounds_of_waking(const struct sm *sm)
{
	uint32_t silent = sm->m.light->silent_before, rounds = silent > WAKES ? 2 : 1;
	uint32_t most = MAX(WAKES_A_SECOND * MIN(sm->conf->sweep_interval, ASK_TIME), WAKES);

	while (rounds < ROUNDS_MAX && silent / rounds > most)
		rounds *= 2;
	return rounds;
}

/* Asks a silent node in its turn, which depends only on `guid` and `num`. */
static void wake(struct sm *sm, struct mad_target *target, guid_t guid, unsigned num)
{
	struct light *l = sm->m.light;
	uint32_t place = hash_fold(
		hash_bytes(hash_bytes(HASH_START, &guid, sizeof(guid)), &num, sizeof(num)));

	l->silent++;
	if ((place + l->wake_turn) % l->wake_rounds == 0)
		mad_target_wake(target);
}

static void ask_switch(struct sm *sm, struct node *n)
{
	if (mad_target_silent(sm->mad, &n->target))
		wake(sm, &n->target, n->guid, 0);
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
	discover_cancel_probes(sm, p); /* questions to it with other keys */
	log_change(sm, "the silent node behind it answers now", p);
	discover_heard_behind(sm, p);
}

static void ask_silent(struct sm *sm, struct port *p)
{
	struct dr_path path;
	uint64_t more[DISCOVER_KEYS];
	unsigned n = 0;
	struct mad_request rq;

	if (!p->silent || !discover_probe_is(sm, p, &path, &rq))
		return;
	wake(sm, p->behind, p->node->guid, p->num);
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

/*
 * Must leases be renewed? Any host can start the timer of a port by a wrong key; a valid SMP stops
 * it.
 */
static bool has_leases(const struct sm *sm)
{
	return sm->conf->m_key_protection_level && sm->conf->m_key_lease_period;
}

/* The time, in seconds, within which each end port is asked once. */
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

/*
 * Asks the other ports of a host, each of which has a timer; the first was asked for the
 * description.
 */
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

static void audit_names(struct sm *sm)
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

static void on_port_states(struct sm *sm)
{
	sm->m.light->pending--;
}

/* Has the ports of a switch read, as it is its turn. */
static void doubt_in_turn(struct sm *sm, struct node *n)
{
	observe_ports_in_doubt(n);
	tell_news(sm, NEWS_SWITCH, .node = n, .text = "ports are looked at in turn", .flag = true);
}

/*
 * Reads ports of one switch in PORT_ROUNDS whatever it reports, whole or by its table of states:
 * another manager, or a repeated Set, may have cleared PortStateChange.
 */
static void look_at_ports(struct sm *sm)
{
	const bool whole = sm->stats.light_sweeps / PORT_ROUNDS % STATE_TURNS == 0;

	FABRIC_EACH_NODE(sm->fabric, n) {
		if (!node_is_switch(n) || !n->switch_known || !n->ports[0].known || n->misses ||
		    n->target.failures ||
		    n->guid % PORT_ROUNDS != sm->stats.light_sweeps % PORT_ROUNDS)
			continue;
		if (whole || !state_table_is_used(sm, n))
			doubt_in_turn(sm, n);
		else if (state_table_ask(sm, n, on_port_states))
			sm->m.light->pending++;
	}
}

void light_start(struct sm *sm)
{
	audit_begin(sm);
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
	audit_names(sm);
	audit_own_port(sm);
}

void light_audit(struct sm *sm)
{
	audit_begin(sm);
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (node_is_switch(n) || (n == sm->fabric->own && !sm->fabric->n_switches))
			audit_switch(sm, n);
	}
	audit_names(sm);
	audit_own_port(sm);
}

bool light_busy(const struct sm *sm)
{
	return sm->m.light->pending || discover_busy(sm);
}

/* Notes that Sets reached the right devices, as no link has changed since. */
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
