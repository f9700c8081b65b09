// SPDX-License-Identifier: BSD-2-Clause
#include "sm/trust/cc_traps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/words.h"
#include "ib/cc.h"
#include "ib/notices.h"
#include "sm/base/keys.h"
#include "sm/base/lids.h"
#include "sm/trust/senders.h"
#include "sm/trust/traps.h"
#include "sm/sm_internal.h"
#include "util/mem.h"

/*
 * Least time between bursts of answers to one device: further traps are counted, and not answered.
 */
#define ANSWERS_IN   MONO_S
#define ANSWERS_MOST 4u

struct cc_traps {
	struct senders answered;
};
MACHINE_MEMORY_WITH(cc_traps, .answered.window = ANSWERS_IN);

static bool is_on(const struct sm *sm)
{
	return sm->state == SM_MASTER && sm->conf->congestion_control &&
	       sm->conf->cc_key_enable == 2;
}

/* The CC_Key that the device should have; as in congestion/. */
static uint64_t key_of(const struct sm *sm, const struct port *p)
{
	if (keys_are_single(sm) && !key_ring_is_empty(keys_ring(sm)))
		return key_ring_class_key(keys_ring(sm), KEY_CLASS_CC, p->guid, 0);
	return sm->conf->cc_key;
}

/*
 * Answers at once, or the device repeats the trap; with its key, or the answer would be the next
 * violation.
 */
static void send_repress(struct sm *sm, const struct transport_event *ev, const struct port *from)
{
	struct transport_addr to = { .lid = from->lid, .qp = 1, .qkey = MAD_QP1_QKEY };
	uint8_t answer[MAD_SIZE];

	if (senders_count(&sm->m.cc_traps->answered, from->guid, sm->now)->n > ANSWERS_MOST)
		return;
	memcpy(answer, ev->mad, sizeof(answer));
	ib_put(answer, SMP_METHOD, MAD_TRAP_REPRESS);
	ib_put(answer, SMP_STATUS, 0);
	ib_put(answer, SMP_M_KEY, key_of(sm, from));
	to.sl = sm_path_sl(sm, to.lid);
	mad_send_gmp(sm->mad, &to, answer, sizeof(answer), 0);
}

static void tell_sender(struct sm *sm, struct port *by, const struct port *at)
{
	char text[2 * PLACE_STRLEN + 200], where[PLACE_STRLEN], device[PLACE_STRLEN];

	snprintf(text, sizeof(text),
		 "%s: sends congestion control MADs with a wrong CC_Key, the first to %s (trap 0 "
		 "of that class); those that follow are counted: opensmctl ports --violations",
		 fabric_place_str(by, where), fabric_place_str(at, device));
	traps_tell_offence(sm, by, LOG_ID_TRAP_KEY, VIOLATION_CC_KEY, text);
}

/*
 * Counts a violation. Our own MADs have wrong keys if another manager has set others: no offence.
 */
static void count_violation(struct sm *sm, const struct port *at, const uint8_t *notice)
{
	struct port *by = lids_port_at(sm, (lid_t)ib_get(notice, CKV_LID));

	if (!by || by->node == sm->fabric->own)
		return;
	if (violation_count(sm, VIOLATION_CC_KEY, by) && traps_may_accuse(sm, at) &&
	    violation_may_tell(sm, VIOLATION_CC_KEY, by))
		tell_sender(sm, by, at);
}

/* Is the trap about its sender? If not, it is forged. */
static bool is_of_its_sender(const struct sm *sm, const struct port *from, const uint8_t *notice)
{
	lid_t issuer = (lid_t)ib_get(notice, NT_ISSUER_LID);

	return !issuer || lids_port_at(sm, issuer) == from;
}

void cc_traps_receive(struct sm *sm, const struct transport_event *ev)
{
	const uint8_t *notice = ev->mad + CC_DATA;
	struct port *from = lids_port_at(sm, ev->from.lid);

	if (!is_on(sm) || !from || ib_get(ev->mad, SMP_CLASS_VERSION) != CC_CLASS_VERSION ||
	    ib_get(ev->mad, SMP_ATTR_ID) != CC_ATTR_NOTICE)
		return;
	send_repress(sm, ev, from);
	if (!ib_get(notice, NT_IS_GENERIC) || ib_get(notice, NT_TRAP) != CC_TRAP_KEY)
		return;
	if (is_of_its_sender(sm, from, notice))
		count_violation(sm, from, notice);
	else
		violation_count(sm, VIOLATION_TRAP, from);
}
