// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traps (traps.md 2, 3): answered, forwarded to subscribers, acted upon.
 */
#include <string.h>

#include "ib/records.h"
#include "sm/impl.h"

/* DataDetails of trap 144 (14.2.5.1). */
#define TRAP144_CHANGE_FLAGS   160 /* bit offset, 16 bits */
#define TRAP144_FLAG_NODE_DESC 0x0001
#define TRAP144_FLAG_WIDTH     0x0002
#define TRAP144_FLAG_SPEED     0x0004
#define TRAP144_CAP_MASK       128 /* bit offset, 32 bits */

/* IBA 14.2.5.1: answered at once with the same notice, or the source repeats it. */
static void repress(struct sm *sm, const struct transport_addr *from, const uint8_t *mad)
{
	uint8_t answer[MAD_SIZE];

	memcpy(answer, mad, sizeof(answer));
	ib_put(answer, SMP_METHOD, MAD_TRAP_REPRESS);
	ib_put(answer, SMP_STATUS, 0);
	mad_send_once(sm->mad, from, answer);
}

/* Nothing that routes or tables depend on: the description, or enabled width and speed (which we set). */
static bool is_harmless(const struct port *p, const uint8_t *notice)
{
	const unsigned harmless = TRAP144_FLAG_NODE_DESC | TRAP144_FLAG_WIDTH | TRAP144_FLAG_SPEED;
	unsigned flags = ib_bits_get(notice, TRAP144_CHANGE_FLAGS, 16);

	return p && p->known && flags && !(flags & ~harmless) &&
	       ib_bits_get(notice, TRAP144_CAP_MASK, 32) == ib_get(p->info, PI_CAP_MASK);
}

static void on_local_change(struct sm *sm, lid_t lid, const uint8_t *notice)
{
	struct port *p = prepare_port_at(sm, lid);
	struct dr_path path;

	if (!is_harmless(p, notice))
		sweep_want(sm, SWEEP_HEAVY, "trap 144: a port changed");
	else if ((ib_bits_get(notice, TRAP144_CHANGE_FLAGS, 16) & TRAP144_FLAG_NODE_DESC) &&
		 fabric_port_path(sm->fabric, p, &path) == 0)
		discover_ask_desc(sm, p, &path);
}

static void on_link_change(struct sm *sm, lid_t lid)
{
	struct port *p = prepare_port_at(sm, lid);

	if (p && node_is_switch(p->node))
		dirty_switch(sm, p->node, "trap 128: a link changed");
	else
		sweep_want(sm, SWEEP_LIGHT, "trap 128 from an unknown switch");
}

void traps_receive(struct sm *sm, const struct transport_addr *from, const uint8_t *mad)
{
	const uint8_t *notice = smp_data(mad);
	unsigned trap = ib_get(notice, NT_TRAP), suppressed;

	if (sm->state != SM_MASTER)
		return;
	repress(sm, from, mad);
	sa_forward_trap(sm->sa, from, notice, sm->now);
	if (!ib_get(notice, NT_IS_GENERIC))
		return;
	if (log_allow(&sm->trap_log, sm->now, &suppressed))
		log_verbose("trap %u from LID %u%s", trap, from->lid,
			    suppressed ? " (and others)" : "");
	if (!sm->conf->sweep_on_trap)
		return;
	switch (trap) {
	case 128:
		on_link_change(sm, from->lid);
		break;
	case 144:
		on_local_change(sm, from->lid, notice);
		break;
	case 129:
	case 130:
	case 131:
	case 256:
	case 257:
	case 258:
	case 259:
		sweep_want(sm, SWEEP_LIGHT, "an error trap");
		break;
	default:
		break;
	}
}
