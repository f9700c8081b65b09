// SPDX-License-Identifier: BSD-2-Clause
/* CongestionLog (A10.4.3.5): counts begin anew with each reading, so they are added up here. */
#include <string.h>

#include "congestion/congestion_internal.h"

static void take_flow(struct cc_port *p, uint64_t from, uint64_t to, uint64_t sl)
{
	if (from && p->n_flows < CC_FLOWS)
		p->flows[p->n_flows++] =
			(struct cc_flow){ .from = (lid_t)from, .to = (lid_t)to, .sl = (uint8_t)sl };
}

static void take_switch(struct cc *cc, struct cc_port *p, const uint8_t *log)
{
	for (unsigned num = 0; num < 255; num++) {
		if (ib_bits_get(log, CSL_PORTS + 255 - num, 1))
			p->marked[num / 8] |= (uint8_t)(1u << num % 8);
	}
	for (unsigned i = 0; i < CC_SWITCH_EVENTS; i++) {
		const uint8_t *at = log + CSL_BYTES + (size_t)i * CSE_BYTES;
		struct cc_entry *from = cc_entry_of_lid(cc, (lid_t)ib_get(at, CSE_SLID));

		take_flow(p, ib_get(at, CSE_SLID), ib_get(at, CSE_DLID), ib_get(at, CSE_SL));
		if (from && !from->port.is_switch && from->port.state == CC_SETTLED)
			cc_enqueue(cc, from, CC_TODO(CC_STEP_LOG));
	}
}

static void take_ca(struct cc_port *p, const uint8_t *log)
{
	for (unsigned i = 0; i < CC_CA_EVENTS; i++) {
		const uint8_t *at = log + CAL_BYTES + (size_t)i * CAE_BYTES;

		take_flow(p, ib_get(at, CAE_LOCAL_LID), ib_get(at, CAE_REMOTE_LID),
			  ib_get(at, CAE_SL));
	}
}

void cc_take_log(struct cc *cc, struct cc_entry *e, const uint8_t *log)
{
	uint64_t events = ib_get(log, CSL_EVENTS);

	if (!events)
		return;
	e->port.marks += events;
	e->port.n_flows = 0;
	if (e->port.is_switch)
		take_switch(cc, &e->port, log);
	else
		take_ca(&e->port, log);
}
