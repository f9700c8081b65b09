// SPDX-License-Identifier: BSD-2-Clause
/*
 * The judge is told what happens to links. A link is judged after news on it; those with findings
 * also in turn, so that their probation ends. The action on findings: sick_decide.c.
 */
#include "sm/health/sick_internal.h"

#include <assert.h>
#include <stdlib.h>

#include "ib/codes.h"
#include "sm/base/news.h"
#include "util/mem.h"

MACHINE_MEMORY(sick);

#define TURN         (10 * MONO_S)
#define SAVE_EVERY   (300 * MONO_S)
#define LINKS_A_TURN 2048u
#define ILLEGAL_SECS 86400u

/* ---- options --------------------------------------------------------------------------------- */

static struct health_rules rules_of(const struct conf *conf)
{
	return (struct health_rules){
		.events = {
			[HEALTH_REBOOT] = { conf->hm_num_reboots, conf->hm_reboots_period_secs,
					    false },
			[HEALTH_FLAPPING] = { conf->hm_num_flapping_sweeps,
					      conf->hm_num_flapping_sweeps_window, true },
			[HEALTH_NOISY] = { conf->hm_num_traps, conf->hm_num_traps_period_secs,
					   false },
			[HEALTH_UNRESPONSIVE] = { conf->hm_num_no_resp_sweeps,
						  conf->hm_num_no_resp_sweeps_window, true },
			[HEALTH_SETERR] = { conf->hm_num_set_err_sweeps,
					    conf->hm_num_set_err_sweeps_window, true },
			[HEALTH_ILLEGAL] = { conf->hm_num_illegal, ILLEGAL_SECS, false },
			[HEALTH_LINK_DOWN] = { conf->hm_num_link_downed,
					       conf->hm_link_downed_period_secs, false },
		},
		.ber_short = conf->hm_ber_short_secs,
		.ber_long = conf->hm_ber_long_secs,
		.ber_least = conf->hm_ber_least_errors,
		.pdr_exponent = conf->hm_packet_drop_exponent,
		.stall_percent = conf->hm_credit_stall_percent,
		.probation = conf->hm_probation_secs,
	};
}

/* ---- cases ----------------------------------------------------------------------------------- */

unsigned sm_sick_links(const struct sm *sm, enum sick_state state)
{
	const struct sick *k = sm->m.sick;
	unsigned n = 0;

	for (uint32_t i = 0; i < k->n; i++)
		n += k->all[i].state == state;
	return n;
}

/* ---- log and events -------------------------------------------------------------------------- */

static bool is_watching(const struct sm *sm)
{
	return sm->state == SM_MASTER && sm->conf->hm_unhealthy_ports_checks;
}

static bool is_isolated(const struct sick *k, uint32_t link)
{
	uint32_t i = sick_case_of(k, link);

	return i != SICK_NO_CASE && k->all[i].state == SICK_ISOLATED;
}

static void tell_link(struct sm *sm, uint32_t link, enum health_cond cond)
{
	if (link == UINT32_MAX || is_isolated(sm->m.sick, link) || sick_is_exempt(sm, link))
		return;
	health_event(sm->m.sick->judge, link, cond, sick_time(sm));
	sick_note_change(sm->m.sick);
	sick_judge_link(sm, link);
}

static void tell_judge(struct sm *sm, struct port *p, enum health_cond cond)
{
	tell_link(sm, sick_link_at(sm, p), cond);
}

/* The last port on the known path to this switch; NULL: there is none. */
static struct port *way_to(const struct sm *sm, const struct node *n)
{
	struct node *at = sm->fabric->own;
	struct port *p = NULL;

	for (unsigned i = 1; at && i <= n->path.length; i++) {
		p = n->path.hop[i] <= at->n_ports ? &at->ports[n->path.hop[i]] : NULL;
		at = p && p->peer ? p->peer->node : NULL;
	}
	return at == n ? p : NULL;
}

void sick_bad_answer(struct sm *sm, struct port *p, unsigned cond, bool behind)
{
	struct port *at = behind || !node_is_switch(p->node) ? p : way_to(sm, p->node);

	assert(cond < HEALTH_EVENTS);
	if (is_watching(sm) && at && at->num)
		tell_link(sm, sick_link_of(sm, at->node->guid, at->num), cond);
}

/* Tells the judge of a link that fell, but not if it was taken down for a mark. */
void sick_link_seen(struct sm *sm, struct port *p, unsigned before)
{
	if (is_watching(sm) && before > IB_PORT_INIT && port_state(p) == IB_PORT_INIT &&
	    !out_of_use_has(p, OUT_ISOLATED))
		tell_judge(sm, p, HEALTH_FLAPPING);
}

void sick_complaint(struct sm *sm, struct port *p)
{
	if (is_watching(sm))
		tell_judge(sm, p, HEALTH_NOISY);
}

void sick_node_goes(struct sm *sm, struct node *n)
{
	for (unsigned i = 1; i <= n->n_ports && is_watching(sm); i++)
		if (n->ports[i].peer)
			tell_judge(sm, &n->ports[i], HEALTH_REBOOT);
}

static uint64_t bits_of(const struct port *p)
{
	const struct ib_speed *s = ib_speed_of(ib_link_speed(p->info, fabric_speed_sets(p), false));

	return s && port_state(p) > IB_PORT_DOWN
		       ? (uint64_t)(s->data * 1e6) * ib_link_width(p->info)
		       : 0;
}

void sm_port_counts(struct sm *sm, guid_t node, unsigned port, const struct port_counts *c)
{
	const struct health_end e = { node, (uint8_t)port };
	struct port *p = sick_port_at(sm, &e);
	uint32_t link = p && is_watching(sm) ? sick_link_at(sm, p) : UINT32_MAX;

	if (link == UINT32_MAX || sick_is_exempt(sm, link))
		return;
	if (is_isolated(sm->m.sick, link))
		health_quiet(sm->m.sick->judge, link, sick_time(sm) + HEALTH_QUIET_SECS);
	health_counts(sm->m.sick->judge, link, node, port, c, bits_of(p), sick_time(sm));
	sick_note_change(sm->m.sick);
	sick_judge_link(sm, link);
}

bool sm_sick_clear(struct sm *sm, guid_t node, unsigned port)
{
	uint32_t link = health_find(sm->m.sick->judge, node, port);

	if (link != UINT32_MAX)
		sick_forget(sm, link, "it is called healthy: what was known is forgotten");
	return link != UINT32_MAX;
}

bool sm_sick_at(const struct sm *sm, unsigned n, struct sick_shown *ret)
{
	const struct sick *k = sm->m.sick;

	if (n >= k->n)
		return false;
	*ret = (struct sick_shown){ .verdict = health_verdict(k->judge, k->all[n].link),
				    .state = k->all[n].state,
				    .action = k->all[n].action };
	for (unsigned i = 0; i < 2; i++)
		ret->port[i] = sick_port_at(sm, &ret->verdict->end[i]);
	health_why(k->judge, k->all[n].link, ret->why);
	return true;
}

static void make_cases(struct sick *k)
{
	k->n = k->n_isolated = k->n_hidden = 0;
	if (k->n_by_link)
		memset(k->by_link, 0, k->n_by_link * sizeof(*k->by_link));
	for (uint32_t i = 0; i < health_n_links(k->judge); i++)
		if (health_verdict(k->judge, i)->on)
			sick_need_case(k, i);
}

/* ---- the machine ----------------------------------------------------------------------------- */

void sick_new(struct sm *sm, const struct sm_paths *paths)
{
	struct health_rules rules = rules_of(sm->conf);
	struct sick *k = sm->m.sick;

	k->judge = health_new(&rules);
	k->log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 6 };
	k->version = 1;
}

bool sick_is_hidden(const struct sm *sm, const struct port *p)
{
	const struct sick *k = sm->m.sick;
	uint32_t i = k->n_hidden ? sick_case_of(k, health_find(k->judge, p->node->guid, p->num))
				 : SICK_NO_CASE;

	return i != SICK_NO_CASE && k->all[i].hidden && sm->state == SM_MASTER;
}

void sick_free(struct sm *sm)
{
	struct sick *k = sm->m.sick;

	health_free(k->judge);
	free(k->all);
	free(k->by_link);
	conf_health_ports_clear(&k->policy);
}

struct health *sick_judge(const struct sm *sm)
{
	return sm->m.sick->judge;
}

mono_t sick_due(const struct sm *sm)
{
	const struct sick *k = sm->m.sick;

	if (!is_watching(sm) || !sm->first_sweep_done || !k->changed || k->saving)
		return MONO_NEVER;
	return MAX(k->save_at, sm->now);
}

uint64_t sick_storing(struct sm *sm)
{
	struct sick *k = sm->m.sick;

	assert(!k->saving);
	k->save_at = sm->now + SAVE_EVERY;
	k->saving = true;
	k->changed = false;
	return k->version;
}

void sick_stored(struct sm *sm, uint64_t version, bool more)
{
	struct sick *k = sm->m.sick;

	k->saving = false;
	if (!more) {
		k->saved = version;
		return;
	}
	k->changed = true;
	k->save_at = sm->now;
}

void sick_not_stored(struct sm *sm)
{
	sm->m.sick->saving = false;
	sm->m.sick->changed = true;
}

/* Takes stored cases; as MASTER, the next sweep decides on them. */
void sick_took(struct sm *sm)
{
	struct sick *k = sm->m.sick;

	k->is_of_others = true;
	k->off_at = sm->now;
	sick_note_change(k);
	if (sm->state != SM_MASTER) {
		make_cases(k);
		return;
	}
	for (uint32_t i = 0; i < health_n_links(k->judge); i++) {
		if (health_verdict(k->judge, i)->on)
			sick_need_case(k, i);
	}
}

void sick_settle(struct sm *sm)
{
	struct sick *k = sm->m.sick;

	if (sm->state != SM_MASTER)
		return;
	sick_policy_settle(sm);
	for (uint32_t i = 0; i < k->n; i++) {
		struct port *p = sick_switch_end(sm, health_verdict(k->judge, k->all[i].link));

		if (k->all[i].state == SICK_UNDECIDED)
			sick_enter(sm, &k->all[i]);
		else if (k->all[i].state == SICK_ISOLATED && p)
			out_of_use_give(sm, p, OUT_HEALTH, false);
	}
}

void sick_sweep_ended(struct sm *sm)
{
	struct sick *k = sm->m.sick;
	struct health_rules rules = rules_of(sm->conf);

	if (sm->state != SM_MASTER)
		return;
	health_set_rules(k->judge, &rules);
	health_sweep(k->judge);
	sick_decide_all(sm);
	k->look = true;
	k->check_ways = true;
	k->off_at = sm->now;
}

/* Reacts to a new state: another manager may have changed routes. */
void sick_state_changed(struct sm *sm)
{
	struct sick *k = sm->m.sick;

	k->look = false;
	for (uint32_t i = 0; i < k->n && sm->state == SM_MASTER; i++)
		if (k->all[i].state == SICK_SPARED)
			k->all[i].state = SICK_UNDECIDED;
}

static bool may_look(const struct sm *sm)
{
	return sm->m.sick->look && sm->sweep == SWEEP_NONE && !out_of_use_is_looking(sm);
}

/* Continues the actions on links that are down by now. */
static void go_on(struct sm *sm)
{
	struct sick *k = sm->m.sick;

	k->look = false;
	for (uint32_t i = 0; k->n_isolated && i < k->n; i++) {
		struct sick_case *c = &k->all[i];

		if (c->state == SICK_ISOLATED && !c->hidden && !c->off)
			sick_go_on(sm, c);
	}
}

static void judge_in_turn(struct sm *sm)
{
	struct sick *k = sm->m.sick;
	uint32_t n = health_n_links(k->judge), most = MIN(n, LINKS_A_TURN);

	k->turn_at = sm->now + TURN;
	for (uint32_t i = 0; i < most; i++) {
		k->cursor = k->cursor + 1 < n ? k->cursor + 1 : 0;
		if (health_verdict(k->judge, k->cursor)->on)
			sick_judge_link(sm, k->cursor);
	}
}

void sick_tick(struct sm *sm)
{
	struct sick *k = sm->m.sick;

	if (!is_watching(sm) || !sm->first_sweep_done)
		return;
	if (sm->now >= k->turn_at)
		judge_in_turn(sm);
	if (may_look(sm))
		go_on(sm);
	if (sm->sweep == SWEEP_NONE)
		sick_off_tick(sm);
}

mono_t sick_next(const struct sm *sm)
{
	const struct sick *k = sm->m.sick;
	mono_t next = MONO_NEVER;

	if (!is_watching(sm) || !sm->first_sweep_done || !(k->n || k->changed))
		return MONO_NEVER;
	if (k->n)
		next = MAX(k->turn_at, sm->now);
	if (sm->sweep == SWEEP_NONE)
		next = mono_min(next, sick_off_next(sm));
	if (k->n_isolated && may_look(sm))
		next = sm->now;
	return next;
}
