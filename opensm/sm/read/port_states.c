// SPDX-License-Identifier: BSD-2-Clause
#include "sm/read/port_states.h"

#include "sm/base/about.h"
#include "sm/read/discover_internal.h"

#define DOUBTS_MAX 3

bool port_states_has(const struct sm *sm, const struct node *n)
{
	const uint8_t *info = n->ports[0].info;

	return n->n_ports < PST_PORTS && n->states_doubted < DOUBTS_MAX &&
	       !node_quirk(sm, n, QUIRK_NO_STATE_TABLE) &&
	       (ib_get(info, PI_CAP_MASK) & IB_CAP(IB_CAP_CAPMASK2)) &&
	       (ib_get(info, PI_CAP_MASK2) & IB_CAP(IB_CAP2_PORT_STATE_TABLE));
}

static bool are_same(const struct node *n, const uint8_t *table)
{
	for (unsigned i = 1; i <= n->n_ports; i++)
		if (ib_bits_get(table, PST_STATE(i), PST_STATE_W) != port_state(&n->ports[i]))
			return false;
	return true;
}

bool port_states_same(struct sm *sm, struct node *n, const struct mad_result *r)
{
	unsigned before = n->states_doubted;

	if (r->end == MAD_END_ANSWERED && are_same(n, r->payload)) {
		n->states_doubted = 0;
		return true;
	}
	/* Silence says nothing about the table; the next light sweep has the switch for it. */
	if (r->end == MAD_END_BAD_STATUS)
		n->states_doubted = DOUBTS_MAX;
	else if (r->end == MAD_END_ANSWERED && before < DOUBTS_MAX)
		n->states_doubted++;
	if (before < DOUBTS_MAX && n->states_doubted == DOUBTS_MAX)
		log_port(&n->ports[0], LOG_ID_NONE, LOGB_INFO,
			 "%s: its ports are read one by one",
			 r->end == MAD_END_ANSWERED
				 ? "SwitchPortStateTable is not as PortInfo of its ports"
				 : "offers SwitchPortStateTable and refuses it");
	return false;
}
