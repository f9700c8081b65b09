// SPDX-License-Identifier: BSD-2-Clause
#include "sm/sweep/stale.h"

#include "fabric/observe.h"
#include "sm/base/about.h"
#include "sm/base/lids.h"
#include "sm/sm_internal.h"

void stale_renew(struct sm *sm)
{
	const struct node *first = NULL;
	unsigned n_switches = 0;

	if (sm->first_sweep_done || lids_are_ours(sm))
		return;
	FABRIC_EACH_NODE(sm->fabric, n) {
		if (!node_is_switch(n) || !lft_have_block(&n->lft, 0) ||
		    !node_quirk(sm, n, QUIRK_STALE_TABLES))
			continue;
		observe_lft_lost(n, 0);
		first = first ? first : n;
		n_switches++;
	}
	if (first)
		log_on(about_node(LOG_ID_NONE, first), LOGB_INFO,
		       "another manager may have left tables for adaptive routing in %u switches, "
		       "first '%s': one block of each forwarding table is written anew, which "
		       "ends their use (quirk stale_tables)",
		       n_switches, node_name(first));
}
