// SPDX-License-Identifier: BSD-2-Clause
/*
 * MADs that arrive unasked: SMInfo requests, traps, and GMPs for the SA, for its client, for
 * counters and for congestion control.
 *
 * Everything in here came from another node: fields are bounded before use, records are limited,
 * and whatever arrives, a sweep that runs is finished and applied before the next one starts.
 */
#include <string.h>

#include "sm/out_of_use/counters.h"
#include "sm/sm_internal.h"

static void answer_unsupported(struct sm *sm, const struct transport_addr *from, const uint8_t *mad)
{
	uint8_t answer[MAD_SIZE];

	memcpy(answer, mad, sizeof(answer));
	smp_make_response(answer, MAD_STATUS_BAD_METHOD_ATTR, smp_data(mad));
	mad_send_once(sm->mad, from, answer);
}

void inbox_receive(void *owner, const struct transport_addr *from, const uint8_t *mad, mono_t now)
{
	struct sm *sm = owner;
	unsigned mad_class = ib_get(mad, SMP_CLASS);

	sm->now = now;
	if (mad_class != MAD_CLASS_SMI_DR && mad_class != MAD_CLASS_SMI_LID)
		return;
	switch (ib_get(mad, SMP_METHOD)) {
	case MAD_GET:
	case MAD_SET:
		if (ib_get(mad, SMP_ATTR_ID) == IB_ATTR_SM_INFO)
			elect_answer(sm, from, mad);
		else
			answer_unsupported(sm, from, mad);
		break;
	case MAD_TRAP:
		if (ib_get(mad, SMP_ATTR_ID) == IB_ATTR_NOTICE)
			traps_receive(sm, from, mad);
		break;
	default:
		break;
	}
}

void inbox_gmp(void *owner, struct transport_event *ev, mono_t now)
{
	struct sm *sm = owner;
	unsigned mad_class = ib_get(ev->mad, SMP_CLASS);

	sm->now = now;
	if (mad_class == MAD_CLASS_PERF && !counters_receive(sm, ev) && sm->hooks.perf)
		sm->hooks.perf(sm->hooks.arg, ev, now);
	if (mad_class == MAD_CLASS_CC && ev->kind == TRANSPORT_MAD &&
	    ib_get(ev->mad, SMP_METHOD) == MAD_TRAP)
		cc_traps_receive(sm, ev);
	else if (mad_class == MAD_CLASS_CC && sm->hooks.congestion)
		sm->hooks.congestion(sm->hooks.arg, ev, now);
	if (mad_class == MAD_CLASS_SA && !channel_receive(sm, ev) && !replica_receive(sm, ev))
		admin_receive(sm, ev);
}
