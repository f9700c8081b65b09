// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests of administrators while the manager runs, from console and control socket. Each is noted
 * or queued, and carried out by the next dispatch; equal requests are carried out once.
 */
#include "sm/sm_internal.h"

static void tell_status(struct sm *sm)
{
	if (sm->hooks.status)
		sm->hooks.status(sm->hooks.arg, sm_status_line(sm));
}

void sm_set_sweeping(struct sm *sm, bool enabled)
{
	if (enabled == !sm->sweeping_off)
		return;
	sm->sweeping_off = !enabled;
	log_info(enabled ? "sweeping is switched on again"
			 : "sweeping is switched off: changes are read when sweeping is on again");
	tell_status(sm);
}

bool sm_sweeping_enabled(const struct sm *sm)
{
	return !sm->sweeping_off;
}

/* A standby watches; where there are no light sweeps, a heavy one replaces it. */
void sm_request_light(struct sm *sm)
{
	bool heavy = sm->state == SM_STANDBY || sweep_all_heavy(sm);

	sweep_want_now(sm, heavy ? SWEEP_HEAVY : SWEEP_LIGHT, "asked for");
}

void sm_request_reroute(struct sm *sm)
{
	if (sm->state == SM_MASTER)
		sweep_want(sm, SWEEP_REROUTE, "asked for");
}

void sm_request_descriptions(struct sm *sm)
{
	if (sm->state == SM_NOT_ACTIVE)
		return;
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (!n->misses && !mad_target_silent(sm->mad, &n->target))
			discover_renew_desc(sm, n);
	}
}

void sm_flags(const struct sm *sm, struct sm_flags *ret)
{
	*ret = (struct sm_flags){
		.serving = sm->state == SM_MASTER && admin_view(sm),
		.first_sweep = sm->state == SM_MASTER && !sm->first_sweep_done,
		.from_standby = standby_takes_over(sm),
		.starting = sm->sweep != SWEEP_NONE && !sm->fabric->own_port,
		.init_errors = sweep_left_errors(sm),
	};
}
