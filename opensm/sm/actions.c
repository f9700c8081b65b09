// SPDX-License-Identifier: BSD-2-Clause
/* What an administrator asks for while the manager runs: console and control socket end up here. */
#include "sm/impl.h"

void sm_set_priority(struct sm *sm, unsigned priority)
{
}

unsigned sm_priority(const struct sm *sm)
{
	return sm->conf->sm_priority;
}

void sm_set_sweeping(struct sm *sm, bool enabled)
{
}

bool sm_sweeping_enabled(const struct sm *sm)
{
	return true;
}

void sm_request_light(struct sm *sm)
{
}

void sm_request_reroute(struct sm *sm)
{
}

void sm_request_descriptions(struct sm *sm)
{
}

bool sm_manager_at(const struct sm *sm, unsigned n, struct sm_manager *ret)
{
	return false;
}
