// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an administrator asks for while the manager runs: console and control socket end up here. Each
 * request is noted, or queued, and done by the next dispatch; nothing is done twice because two ask.
 */
#include "sm/elect.h"

#define PRIORITY_MAX 15

static void tell_status(struct sm *sm)
{
	if (sm->hooks.status)
		sm->hooks.status(sm->hooks.arg, sm_status_line(sm));
}

void sm_set_priority(struct sm *sm, unsigned priority)
{
	unsigned before = elect_priority(sm);

	if (priority > PRIORITY_MAX || priority == sm->priority)
		return;
	log_info("sm_priority is %u now, and was %u: asked for", priority, sm->priority);
	sm->priority = priority;
	elect_priority_changed(sm, before);
}

unsigned sm_priority(const struct sm *sm)
{
	return sm->priority;
}

void sm_set_sweeping(struct sm *sm, bool enabled)
{
	if (enabled == !sm->sweeping_off)
		return;
	sm->sweeping_off = !enabled;
	log_info(enabled ? "sweeping is switched on again"
			 : "sweeping is switched off: whatever happens is looked at when it is on "
			   "again");
	tell_status(sm);
}

bool sm_sweeping_enabled(const struct sm *sm)
{
	return !sm->sweeping_off;
}

/* A standby watches, and where there are no light sweeps a heavy one is the next best thing. */
void sm_request_light(struct sm *sm)
{
	bool heavy = sm->state == SM_STANDBY || sweep_all_heavy(sm);

	sweep_want(sm, heavy ? SWEEP_HEAVY : SWEEP_LIGHT, "asked for");
	sm->hold_until = 0;
}

void sm_request_reroute(struct sm *sm)
{
	if (sm->state == SM_MASTER)
		sweep_want(sm, SWEEP_REROUTE, "asked for");
}

/* A node that is asked right now may have answered before it was renamed: it is asked again. */
void sm_request_descriptions(struct sm *sm)
{
	if (sm->state == SM_NOT_ACTIVE)
		return;
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (n->misses || mad_target_silent(sm->mad, &n->target))
			continue;
		if (n->desc_asked)
			n->desc_again = true;
		else
			discover_ask_desc_again(sm, n);
	}
}

void sm_flags(const struct sm *sm, struct sm_flags *ret)
{
	*ret = (struct sm_flags){
		.serving = sm->state == SM_MASTER && sm->view,
		.first_sweep = sm->state == SM_MASTER && !sm->first_sweep_done,
		.from_standby = sm->takeover,
		.starting = sm->sweep != SWEEP_NONE && !sm->fabric->own_port,
		.init_errors = sm->errors_told,
	};
}

/* Rows outlive whoever they tell of. */
static const struct remote_sm *present_at(const struct sm *sm, unsigned n)
{
	for (unsigned i = 0; i < sm->n_remote; i++) {
		const struct port *p = fabric_find_port(sm->fabric, sm->remote[i].guid);

		if (p && (fabric_cap_mask(p) & IB_CAP(IB_CAP_IS_SM)) && !n--)
			return &sm->remote[i];
	}
	return NULL;
}

bool sm_manager_at(const struct sm *sm, unsigned n, struct sm_manager *ret)
{
	const struct remote_sm *r = present_at(sm, n);

	if (!r)
		return false;
	*ret = (struct sm_manager){
		.guid = r->guid,
		.state = r->state,
		.priority = r->priority,
		.known = r->known,
		.polled = sm->polled == r->guid,
		.trust = r->trust == SM_TRUSTED ? NULL : remote_trust_name(r->trust),
	};
	remote_where(fabric_find_port(sm->fabric, r->guid), r->guid, ret->where);
	return true;
}
