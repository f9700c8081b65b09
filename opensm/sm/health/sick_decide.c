// SPDX-License-Identifier: BSD-2-Clause
/*
 * The action on a link with findings: as options and the administrator's list want it, within the
 * cap, and not where the link is the last way. Its cost is computed before the decision; if the
 * fabric changes later, out_of_use spares the last path.
 */
#include "sm/base/news.h"
#include "sm/health/sick_internal.h"
#include "util/mem.h"

#define CAP_LEAST 10u
#define CAP_SHARE 200u /* inverse of the part of links that may be isolated */
#define IN_ORDER  "in order again"

_Static_assert((int)HEALTH_DISABLE == (int)CONF_HEALTH_DISABLE, "in the same order");

/* ---- the wanted action ----------------------------------------------------------------------- */

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
static enum health_action action_of(const struct conf *conf, unsigned conds, bool host)
{
	enum health_action most = HEALTH_IGNORE, one;

	for (unsigned i = 0; i < HEALTH_CONDS; i++)
		if ((conds & 1u << i) && health_action_read(action_word(conf, i, host), &one))
			most = MAX(most, one);
	return most;
}

const struct conf_health_port *sick_line_of(const struct sm *sm, const struct health_verdict *v)
{
	const struct conf_health_ports *p = &sm->m.sick->policy;
	const struct conf_health_port *a, *b;

	if (!p->n)
		return NULL;
	a = conf_health_ports_find(p, v->end[0].node, v->end[0].port);
	b = conf_health_ports_find(p, v->end[1].node, v->end[1].port);
	return !a || (b && b->healthy) ? b : a;
}

static enum health_action manual_action(const struct sm *sm, const struct health_verdict *v)
{
	const struct conf_health_port *line = sick_line_of(sm, v);
	const struct conf *c = sm->conf;
	enum health_action one = HEALTH_IGNORE;

	if (!(v->on & 1u << HEALTH_MANUAL))
		return HEALTH_IGNORE;
	if (line && line->action != CONF_HEALTH_NONE)
		return (enum health_action)line->action;
	health_action_read(v->host ? c->hm_ca_manual_action : c->hm_sw_manual_action, &one);
	return one;
}

/*
 * Finds the wanted action: by findings and by the administrator's list, unless options forbid it.
 */
static void find_action(const struct sm *sm, struct sick_case *c, const struct health_verdict *v)
{
	enum health_action manual = manual_action(sm, v);
	bool forbidden = sm->conf->hm_dry_run || (v->host && !sm->conf->hm_isolate_host_links);

	c->manual = manual >= HEALTH_ISOLATE;
	c->action =
		c->manual && forbidden ? manual : MAX(manual, action_of(sm->conf, v->on, v->host));
}

/* ---- what becomes of a case ------------------------------------------------------------------ */

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
		isolate(sm, c, sick_switch_end(sm, health_verdict(k->judge, c->link)));
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

void sick_enter(struct sm *sm, struct sick_case *c)
{
	const struct health_verdict *v = health_verdict(sm->m.sick->judge, c->link);
	enum sick_state next;

	if (is_of_another(c, v))
		become(sm, c, SICK_UNDECIDED);
	find_action(sm, c, v);
	next = decide(sm, c, sick_switch_end(sm, v));
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

/* ---- verdicts -------------------------------------------------------------------------------- */

/* Handles a changed verdict. */
static void look_at_case(struct sm *sm, uint32_t link)
{
	struct sick *k = sm->m.sick;
	uint32_t i;

	sick_note_change(k);
	sick_save_soon(sm);
	if (health_verdict(k->judge, link)->on) {
		sick_enter(sm, sick_need_case(k, link));
		return;
	}
	i = sick_case_of(k, link);
	if (i != SICK_NO_CASE)
		drop_case(sm, i, IN_ORDER);
}

void sick_judge_link(struct sm *sm, uint32_t link)
{
	struct sick *k = sm->m.sick;

	/* Checks that were switched off and on again leave findings without a case. */
	if (health_judge(k->judge, link, sick_time(sm)) ||
	    (health_verdict(k->judge, link)->on && sick_case_of(k, link) == SICK_NO_CASE))
		look_at_case(sm, link);
}

void sick_call(struct sm *sm, uint32_t link, bool manual)
{
	health_set_manual(sm->m.sick->judge, link, manual);
	health_judge(sm->m.sick->judge, link, sick_time(sm));
	look_at_case(sm, link);
}

void sick_forget(struct sm *sm, uint32_t link, const char *why)
{
	struct sick *k = sm->m.sick;
	uint32_t i = sick_case_of(k, link);

	if (i != SICK_NO_CASE)
		drop_case(sm, i, why);
	health_clear(k->judge, link);
	sick_note_change(k);
	k->save_at = sm->now;
}

void sick_decide_all(struct sm *sm)
{
	struct sick *k = sm->m.sick;

	for (uint32_t i = k->n; i-- > 0;) {
		if (!sm->conf->hm_unhealthy_ports_checks)
			drop_case(sm, i, "links are not checked any more");
		else if (!health_verdict(k->judge, k->all[i].link)->on)
			drop_case(sm, i, IN_ORDER);
		else if (k->all[i].state != SICK_SPARED)
			sick_enter(sm, &k->all[i]);
	}
}
