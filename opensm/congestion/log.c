// SPDX-License-Identifier: BSD-2-Clause
/* CongestionLog (A10.4.3.5): counts begin anew with each reading, so they are added up here. */
#include <string.h>

#include "congestion/congestion_internal.h"

static void take_flow(struct cc_port *p, lid_t from, lid_t to, uint8_t sl)
{
	unsigned i = 0;

	while (i < p->n_flows &&
	       (p->flows[i].from != from || p->flows[i].to != to || p->flows[i].sl != sl))
		i++;
	if (!from || i == CC_FLOWS)
		return;
	if (i == p->n_flows)
		p->flows[p->n_flows++] = (struct cc_flow){ .from = from, .to = to, .sl = sl };
	p->flows[i].events++;
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

		take_flow(p, (lid_t)ib_get(at, CSE_SLID), (lid_t)ib_get(at, CSE_DLID),
			  (uint8_t)ib_get(at, CSE_SL));
		if (from && !from->port.is_switch && from->port.state == CC_SETTLED)
			cc_enqueue(cc, from, CC_TODO(CC_STEP_LOG));
	}
}

static void take_ca(struct cc_port *p, const uint8_t *log)
{
	for (unsigned i = 0; i < CC_CA_EVENTS; i++) {
		const uint8_t *at = log + CAL_BYTES + (size_t)i * CAE_BYTES;

		take_flow(p, (lid_t)ib_get(at, CAE_LOCAL_LID), (lid_t)ib_get(at, CAE_REMOTE_LID),
			  (uint8_t)ib_get(at, CAE_SL));
	}
}

void cc_take_log(struct cc *cc, struct cc_entry *e, const uint8_t *log)
{
	uint64_t events = ib_get(log, CSL_EVENTS);

	if (!events)
		return;
	e->port.marks += events;
	e->port.n_flows = 0;
	e->port.flows_at = cc->now;
	if (e->port.is_switch)
		take_switch(cc, &e->port, log);
	else
		take_ca(&e->port, log);
}
