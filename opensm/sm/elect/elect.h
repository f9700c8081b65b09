// SPDX-License-Identifier: BSD-2-Clause
/*
 * Election: which manager is master (IBA 14.4.1, handover.md 3 and 4).
 *
 *              start                                    sm_inactive, Set DISABLE
 *                |                                     .--------------------------.
 *                v         no better one               |                          v
 *     .--> DISCOVERING ----------------> MASTER     STANDBY <--Set STANDBY-- NOT-ACTIVE
 *     |     ^    |  ^-- own port down ----'  ^ |     ^  | ^
 *     |     |    '---- a master, or a greater one ---'  | |
 *     |     |                                | |        | |
 *     |     '--- Set DISCOVER, the polled SM is gone ---' |
 *     |                                      | |          |
 *     |                      Set HANDOVER ---' '--- a greater one: Set HANDOVER to it
 *     '-- no manager becomes master
 *
 *   MASTER, and a lower MASTER is met (two fabrics became one): its half is not touched until it
 *   has
 *   handed over, is gone, or has let as many polls pass as it may miss.
 *
 * Greater: higher priority, then lower port GUID.
 */
#pragma once

#include "opensm/transport.h"
#include "sm/sm.h"
#include "view/view.h"

struct elect;

/* Subnet managers beside us that are looked at. */
#define MAX_REMOTE_SMS 64

/* Modifiers of Set(SMInfo), 14.4.1.3. */
enum sm_info_set {
	SMI_HANDOVER = 1,
	SMI_ACKNOWLEDGE,
	SMI_DISABLE,
	SMI_STANDBY,
	SMI_DISCOVER,
};

/*
 * `may_succeed`: may this greater manager have the fabric now? If it has to wait for something,
 * NEWS_SUCCESSOR_READY says when that is over.
 */
void elect_new(struct sm *sm, bool (*may_succeed)(const struct sm *sm, guid_t guid));
void elect_free(struct sm *sm);
/*
 * The only function that enters another state. Never while a sweep is between its first Set and its
 * last.
 */
void elect_enter(struct sm *sm, enum sm_state next);
/* Its managers get another chance to answer when it is back. */
void elect_node_goes(struct sm *sm, struct node *n);
/* sm->conf was replaced; `before`: the old one. */
void elect_reconfigured(struct sm *sm, const struct conf *before);
void elect_inherit(struct sm *sm, uint8_t priority);
/* A hook of sync/: `sm` is MASTER. */
bool elect_may_write(void *sm);
/* After discovery: true if this sweep goes on, as MASTER. */
bool elect_decide(struct sm *sm);
/*
 * Facts known of other managers may mean something else now (a successor has its copy): the next
 * tick decides again.
 */
void elect_decide_again(struct sm *sm);
/*
 * Something was heard of the SM on this end port (trap 144 with IsSM set, or with ChangeFlags
 * 0x0008: its priority changed, handover.md 8): its SMInfo is asked for now, and what it says is
 * acted upon. Only a MASTER cares; at most one question per port is out, so a storm of traps costs
 * nothing.
 */
void elect_look_at(struct sm *sm, struct port *p);
/* Get SMInfo from a port that says IsSM; discovery waits for it, unless it never answers. */
void elect_ask(struct sm *sm, struct port *p);
/* The same for all ports that say so. */
void elect_ask_all(struct sm *sm);
/* Get and Set of SMInfo, from any sender. */
void elect_answer(struct sm *sm, const struct transport_addr *from, const uint8_t *mad);
/* The end: the greatest STANDBY gets what we were master of. Sends one SMP, waits for nothing. */
void elect_good_bye(struct sm *sm);
void elect_tick(struct sm *sm);
mono_t elect_next(const struct sm *sm);

/* ---- what others may know ---- */

/*
 * The manager that is watched: as STANDBY the master, as MASTER another one that has to hand over
 * first; 0: none.
 */
guid_t elect_polled(const struct sm *sm);
/*
 * Another master was, or is, at work beside us; elect_rival_dealt_with(): all that it may have
 * written is doubted.
 */
bool elect_rival_seen(const struct sm *sm);
/* MASTER: there are signs of another master; the caller wants a heavy sweep, which finds it. */
void elect_met_rival(struct sm *sm);
void elect_rival_dealt_with(struct sm *sm);
/* Another manager was master since the start of this process; we handed over at its end. */
bool elect_others_ruled(const struct sm *sm);
bool elect_handed_over(const struct sm *sm);
/* allowed_sm_guids has this port GUID. */
bool elect_is_listed(const struct sm *sm, guid_t port_guid);
/* A manager on this port may rule: it is in allowed_sm_guids, or that is empty. */
bool elect_is_allowed(const struct sm *sm, guid_t port_guid);
/*
 * As MASTER: another MASTER that is believed, as it said last; 0: none. `steps_down`: one that is
 * waited for, not one that was and did not step down.
 */
guid_t elect_rival(const struct sm *sm, bool steps_down);
/* There is a manager on this end port, known, and to be obeyed. */
bool elect_is_manager(const struct sm *sm, guid_t port_guid);
/*
 * The manager on this end port has proved that it knows our sm_key, which is a secret: one of ours,
 * and no other one is sent a key. False, too, where everyone knows sm_key.
 */
bool elect_has_proved(const struct sm *sm, guid_t port_guid);
/* All of those, ourselves first. Returns their number, at most MAX_REMOTE_SMS + 1. */
unsigned elect_managers(const struct sm *sm, struct view_sm *ret);
/*
 * The n-th manager beside us (from 0) that may take over one day: it is there and believed, though
 * a question to it may be out. 0: there are no more.
 */
guid_t elect_successor_at(const struct sm *sm, unsigned n);
/* All of these, MASTERs too. Returns their number, at most MAX_REMOTE_SMS. */
unsigned elect_successors(const struct sm *sm, guid_t *ret);
/* The LID of the master that our own port names, as read by the last poll; 0: not known. */
lid_t elect_master_lid(const struct sm *sm, uint8_t *ret_sl);
/*
 * The n-th manager beside us (from 0) that is in sight: believed, not NOT-ACTIVE, and it has
 * answered its last question, or is being asked and did not fail to answer before. 0: there are no
 * more.
 */
guid_t elect_in_sight(const struct sm *sm, unsigned n);
/* Reading has settled: what is new of managers is told (SM_EVENT_MANAGER). */
void elect_tell_managers(struct sm *sm);
