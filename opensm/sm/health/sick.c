// SPDX-License-Identifier: BSD-2-Clause
/*
 * Findings of the judge, and the action on each. A link is judged after news on it; those with
 * findings also in turn, so that their probation ends. An isolated link has a reason not to be used
 * (out_of_use.h). Its cost is computed before the decision; if the fabric changes later, out_of_use
 * spares the last path.
 */
#include "sm/health/sick_internal.h"

#include <assert.h>
#include <stdlib.h>

#include "ib/codes.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "util/mem.h"

MACHINE_MEMORY(sick);

#define TURN	      (10 * MONO_S)
#define SAVE_EVERY    (300 * MONO_S)
#define SAVE_SOON     (10 * MONO_S) /* delay before a finding is stored */
#define LINKS_A_TURN  2048u
#define CAP_LEAST     10u
#define CAP_SHARE     200u /* inverse of the part of links that may be isolated */
#define ILLEGAL_SECS  86400u
#define NO_CASE	      UINT32_MAX
#define IN_ORDER      "in order again"
#define NO_CLOCK      10000000 /* value of an unknown time: buckets are numbered from 1 */

/* ---- options --------------------------------------------------------------------------------- */

struct health_rules sick_rules(const struct conf *conf)
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

static const char *action_word(const struct conf *conf, unsigned cond, bool host)
{
#define OF(name) (host ? conf->hm_ca_##name##_action : conf->hm_sw_##name##_action)
	switch (cond) {
	case HEALTH_REBOOT:
		return OF(reboot);
	case HEALTH_FLAPPING:
		return OF(flapping);
	case HEALTH_UNRESPONSIVE:
		return OF(unresponsive);
	case HEALTH_NOISY:
		return OF(noisy);
	case HEALTH_SETERR:
		return OF(seterr);
	case HEALTH_ILLEGAL:
		return OF(illegal);
	case HEALTH_LINK_DOWN:
		return OF(link_downed);
	case HEALTH_BER:
		return OF(symbol_ber);
	case HEALTH_PDR:
		return OF(packet_drop);
	case HEALTH_STALL:
		return OF(credit_stall);
	default:
		return "ignore";
	}
#undef OF
}

/* The most severe action that the options have for these findings. */
enum health_action sick_action(const struct conf *conf, unsigned conds, bool host)
{
	enum health_action most = HEALTH_IGNORE, one;

	for (unsigned i = 0; i < HEALTH_CONDS; i++)
		if ((conds & 1u << i) && health_action_read(action_word(conf, i, host), &one))
			most = MAX(most, one);
	return most;
}

void sick_note_change(struct sick *k)
{
	k->changed = true;
	k->version++;
}

/* ---- cases ----------------------------------------------------------------------------------- */

int64_t sick_time(const struct sm *sm)
{
	int64_t at = sm_realtime(sm);

	return at ? at : NO_CLOCK + sm->now / MONO_S;
}

uint32_t sick_case_of(const struct sick *k, uint32_t link)
{
	return link < k->n_by_link && k->by_link[link] ? k->by_link[link] - 1 : NO_CASE;
}

struct port *sick_port_at(const struct sm *sm, const struct health_end *e)
{
	struct node *n = fabric_find_node(sm->fabric, e->node);

	return n && e->port && e->port <= n->n_ports ? &n->ports[e->port] : NULL;
}

/* The switch port of the link; NULL: the cable is not present. */
static struct port *switch_end(const struct sm *sm, const struct health_verdict *v)
{
	for (unsigned i = 0; i < 2; i++) {
		struct port *p = sick_port_at(sm, &v->end[i]);

		if (p && p->peer && node_is_switch(p->node) &&
		    p->peer->node->guid == v->end[!i].node && p->peer->num == v->end[!i].port)
			return p;
	}
	return NULL;
}

unsigned sm_sick_links(const struct sm *sm, enum sick_state state)
{
	const struct sick *k = sm->m.sick;
	unsigned n = 0;

	for (uint32_t i = 0; i < k->n; i++)
		n += k->all[i].state == state;
	return n;
}

unsigned sm_sick_cap(const struct sm *sm)
{
	unsigned links = health_n_links(sm->m.sick->judge);

	return sm->conf->hm_max_isolated ? sm->conf->hm_max_isolated
					 : MAX(CAP_LEAST, links / CAP_SHARE);
}

/* Ends the action on a link. The cable may not be present, being disabled or not read. */
static void let_go(struct sm *sm, struct sick_case *c)
{
	struct port *p = c->state == SICK_ISOLATED ? sick_port_at(sm, &c->at) : NULL;

	sm->m.sick->n_hidden -= c->hidden;
	c->hidden = false;
	if (!p)
		return;
	health_quiet(sm->m.sick->judge, c->link, sick_time(sm) + HEALTH_QUIET_SECS);
	out_of_use_take(sm, p, OUT_HEALTH);
	if (sm->state == SM_MASTER)
		tell_port(sm, p, "a link is in order again, or may be used");
}

/* Isolates a link; `p` NULL: its port was disabled earlier. */
static void isolate(struct sm *sm, struct sick_case *c, struct port *p)
{
	const struct health_off *off = sick_off_of(sm->m.sick, c->link);

	c->at = p ? (struct health_end){ p->node->guid, p->num } : off->at;
	c->off = off;
	if (p && out_of_use_give(sm, p, OUT_HEALTH, false))
		tell_port(sm, p, "a link is isolated for its health");
}

/* Decides by options, cap and guards as they are now. */
static enum sick_state decide(const struct sm *sm, const struct sick_case *c, struct port *p)
{
	const struct health_verdict *v = health_verdict(sm->m.sick->judge, c->link);
	struct mark_cost cost;

	if (c->action < HEALTH_ISOLATE)
		return SICK_REPORTED;
	if (v->host && !sm->conf->hm_isolate_host_links && !c->manual)
		return SICK_HOST_LINK;
	if (sm->conf->hm_dry_run && !c->manual)
		return SICK_DRY_RUN;
	if (c->state == SICK_ISOLATED || (!p && sick_off_of(sm->m.sick, c->link)))
		return SICK_ISOLATED;
	if (!p)
		return SICK_UNDECIDED;
	if (!c->manual && sm->m.sick->n_isolated >= sm_sick_cap(sm))
		return SICK_CAPPED;
	sm_mark_cost(sm, NULL, MARK_ISOLATE, p->node, p->num, &cost);
	if (cost.own || cost.manager || cost.pairs_lost || cost.hosts || cost.switches)
		return SICK_SPARED;
	return SICK_ISOLATED;
}

static void become(struct sm *sm, struct sick_case *c, enum sick_state next)
{
	struct sick *k = sm->m.sick;
	char words[SICK_WORDS_STRLEN];

	if (c->state == SICK_ISOLATED)
		let_go(sm, c);
	k->n_isolated -= c->state == SICK_ISOLATED;
	c->state = next;
	k->n_isolated += next == SICK_ISOLATED;
	if (next == SICK_ISOLATED)
		isolate(sm, c, switch_end(sm, health_verdict(k->judge, c->link)));
	if (next != SICK_UNDECIDED && c->action != HEALTH_IGNORE)
		sick_tell(sm, c->link, sm_sick_state_name(next),
			  sm_sick_words(next, c->action, words));
}

/* Has another cable been found at the port that was isolated for the former one? */
static bool is_of_another(const struct sick_case *c, const struct health_verdict *v)
{
	for (unsigned i = 0; i < 2; i++)
		if (v->end[i].node == c->at.node && v->end[i].port == c->at.port)
			return false;
	return c->state == SICK_ISOLATED;
}

/* Ends an action that may be stronger or weaker than the wanted one. */
static void go_back(struct sm *sm, struct sick_case *c)
{
	struct port *p = sick_port_at(sm, &c->at);

	if (c->hidden && c->action != HEALTH_NO_DISCOVER) {
		sm->m.sick->n_hidden--;
		c->hidden = false;
		if (p)
			tell_port(sm, p, "a link may be read again");
	}
}

/*
 * Finds the wanted action: by findings and by the administrator's list, unless options forbid it.
 */
static void find_action(const struct sm *sm, struct sick_case *c, const struct health_verdict *v)
{
	enum health_action manual = sick_manual_action(sm, v);
	bool forbidden = sm->conf->hm_dry_run || (v->host && !sm->conf->hm_isolate_host_links);

	c->manual = manual >= HEALTH_ISOLATE;
	c->action = c->manual && forbidden ? manual
					   : MAX(manual, sick_action(sm->conf, v->on, v->host));
}

static void enter(struct sm *sm, struct sick_case *c)
{
	const struct health_verdict *v = health_verdict(sm->m.sick->judge, c->link);
	enum sick_state next;

	if (is_of_another(c, v))
		become(sm, c, SICK_UNDECIDED);
	find_action(sm, c, v);
	next = decide(sm, c, switch_end(sm, v));
	if (next != c->state)
		become(sm, c, next);
	else if (next == SICK_ISOLATED)
		go_back(sm, c);
}

void sick_spare(struct sm *sm, struct sick_case *c)
{
	become(sm, c, SICK_SPARED);
}

static void drop_case(struct sm *sm, uint32_t i, const char *why)
{
	struct sick *k = sm->m.sick;

	if (k->all[i].action != HEALTH_IGNORE)
		sick_tell(sm, k->all[i].link, SICK_RETURNED, why);
	let_go(sm, &k->all[i]);
	k->n_isolated -= k->all[i].state == SICK_ISOLATED;
	k->by_link[k->all[i].link] = 0;
	k->all[i] = k->all[--k->n];
	if (i < k->n)
		k->by_link[k->all[i].link] = i + 1;
}

static void need_place(struct sick *k, uint32_t link)
{
	uint32_t n = MAX(2 * k->n_by_link, MAX(link + 1, 64u));

	if (link < k->n_by_link)
		return;
	k->by_link = xrealloc(k->by_link, n, sizeof(*k->by_link));
	memset(k->by_link + k->n_by_link, 0, (n - k->n_by_link) * sizeof(*k->by_link));
	k->n_by_link = n;
}

static struct sick_case *need_case(struct sick *k, uint32_t link)
{
	uint32_t i = sick_case_of(k, link);

	if (i != NO_CASE)
		return &k->all[i];
	GROW(k->all, k->n + 1, k->cap);
	need_place(k, link);
	k->by_link[link] = k->n + 1;
	k->all[k->n] = (struct sick_case){ .link = link, .state = SICK_UNDECIDED };
	return &k->all[k->n++];
}

void sick_save_soon(struct sm *sm)
{
	sm->m.sick->save_at = mono_min(sm->m.sick->save_at, sm->now + SAVE_SOON);
}

/* Handles a changed verdict. */
static void look_at_case(struct sm *sm, uint32_t link)
{
	struct sick *k = sm->m.sick;
	uint32_t i;

	sick_note_change(k);
	sick_save_soon(sm);
	if (health_verdict(k->judge, link)->on) {
		enter(sm, need_case(k, link));
		return;
	}
	i = sick_case_of(k, link);
	if (i != NO_CASE)
		drop_case(sm, i, IN_ORDER);
}

static void judge(struct sm *sm, uint32_t link)
{
	struct sick *k = sm->m.sick;

	/* Checks that were switched off and on again leave findings without a case. */
	if (health_judge(k->judge, link, sick_time(sm)) ||
	    (health_verdict(k->judge, link)->on && sick_case_of(k, link) == NO_CASE))
		look_at_case(sm, link);
}

/* ---- log and events -------------------------------------------------------------------------- */

static bool is_watching(const struct sm *sm)
{
	return sm->state == SM_MASTER && sm->conf->hm_unhealthy_ports_checks;
}

/* The number of the link at a port; UINT32_MAX: there is no cable. */
static uint32_t link_at(struct sm *sm, const struct port *p)
{
	struct health_end a = { p->node->guid, p->num }, b;

	if (!p->num || !p->peer || p->peer == p || !p->peer->num)
		return UINT32_MAX;
	b = (struct health_end){ p->peer->node->guid, p->peer->num };
	return health_link(sm->m.sick->judge, a, b,
			   !node_is_switch(p->node) || !node_is_switch(p->peer->node));
}

uint32_t sick_link_of(struct sm *sm, guid_t node, unsigned port)
{
	const struct health_end e = { node, (uint8_t)port };
	struct port *p = sick_port_at(sm, &e);
	uint32_t link = p ? link_at(sm, p) : UINT32_MAX;

	return link != UINT32_MAX ? link : health_find(sm->m.sick->judge, node, port);
}

void sick_call(struct sm *sm, uint32_t link, bool manual)
{
	health_set_manual(sm->m.sick->judge, link, manual);
	health_judge(sm->m.sick->judge, link, sick_time(sm));
	look_at_case(sm, link);
}

static bool is_isolated(const struct sick *k, uint32_t link)
{
	uint32_t i = sick_case_of(k, link);

	return i != NO_CASE && k->all[i].state == SICK_ISOLATED;
}

static void tell_link(struct sm *sm, uint32_t link, enum health_cond cond)
{
	if (link == UINT32_MAX || is_isolated(sm->m.sick, link) || sick_is_exempt(sm, link))
		return;
	health_event(sm->m.sick->judge, link, cond, sick_time(sm));
	sick_note_change(sm->m.sick);
	judge(sm, link);
}

static void tell_judge(struct sm *sm, struct port *p, enum health_cond cond)
{
	tell_link(sm, link_at(sm, p), cond);
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
	uint32_t link = p && is_watching(sm) ? link_at(sm, p) : UINT32_MAX;

	if (link == UINT32_MAX || sick_is_exempt(sm, link))
		return;
	if (is_isolated(sm->m.sick, link))
		health_quiet(sm->m.sick->judge, link, sick_time(sm) + HEALTH_QUIET_SECS);
	health_counts(sm->m.sick->judge, link, node, port, c, bits_of(p), sick_time(sm));
	sick_note_change(sm->m.sick);
	judge(sm, link);
}

void sick_forget(struct sm *sm, uint32_t link, const char *why)
{
	struct sick *k = sm->m.sick;
	uint32_t i = sick_case_of(k, link);

	if (i != NO_CASE)
		drop_case(sm, i, why);
	health_clear(k->judge, link);
	sick_note_change(k);
	k->save_at = sm->now;
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
			need_case(k, i);
}

/* ---- the machine ----------------------------------------------------------------------------- */

void sick_new(struct sm *sm, const struct sm_paths *paths)
{
	struct health_rules rules = sick_rules(sm->conf);
	struct sick *k = sm->m.sick;

	k->judge = health_new(&rules);
	k->log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 6 };
	k->version = 1;
}

bool sick_is_hidden(const struct sm *sm, const struct port *p)
{
	const struct sick *k = sm->m.sick;
	uint32_t i = k->n_hidden ? sick_case_of(k, health_find(k->judge, p->node->guid, p->num))
				 : NO_CASE;

	return i != NO_CASE && k->all[i].hidden && sm->state == SM_MASTER;
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
			need_case(k, i);
	}
}

/* Decides on all cases, unless options forbid it now. */
static void decide_all(struct sm *sm)
{
	struct sick *k = sm->m.sick;

	for (uint32_t i = k->n; i-- > 0;) {
		if (!sm->conf->hm_unhealthy_ports_checks)
			drop_case(sm, i, "links are not checked any more");
		else if (!health_verdict(k->judge, k->all[i].link)->on)
			drop_case(sm, i, IN_ORDER);
		else if (k->all[i].state != SICK_SPARED)
			enter(sm, &k->all[i]);
	}
}

void sick_settle(struct sm *sm)
{
	struct sick *k = sm->m.sick;

	if (sm->state != SM_MASTER)
		return;
	sick_policy_settle(sm);
	for (uint32_t i = 0; i < k->n; i++) {
		struct port *p = switch_end(sm, health_verdict(k->judge, k->all[i].link));

		if (k->all[i].state == SICK_UNDECIDED)
			enter(sm, &k->all[i]);
		else if (k->all[i].state == SICK_ISOLATED && p)
			out_of_use_give(sm, p, OUT_HEALTH, false);
	}
}

void sick_sweep_ended(struct sm *sm)
{
	struct sick *k = sm->m.sick;
	struct health_rules rules = sick_rules(sm->conf);

	if (sm->state != SM_MASTER)
		return;
	health_set_rules(k->judge, &rules);
	health_sweep(k->judge);
	decide_all(sm);
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
			judge(sm, k->cursor);
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
