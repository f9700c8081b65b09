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
/* Called before a node is removed: its managers get another chance to answer when it is back. */
void elect_node_goes(struct sm *sm, struct node *n);
/* sm->conf was replaced; `before`: the old one. */
void elect_reconfigured(struct sm *sm, const struct conf *before);
void elect_inherit(struct sm *sm, uint8_t priority);
/* A hook of sync/: is `sm` MASTER? */
bool elect_may_write(void *sm);
/* Called after discovery. True: this sweep goes on, as MASTER. */
bool elect_decide(struct sm *sm);
/*
 * Makes the next tick decide again, as facts known of other managers may mean something else now (a
 * successor has its copy).
 */
void elect_decide_again(struct sm *sm);
/*
 * Called when something was heard of the SM on this end port (trap 144 with IsSM set, or with
 * ChangeFlags 0x0008: its priority changed, handover.md 8): asks for its SMInfo and acts upon the
 * answer. Has an effect only as MASTER; at most one question per port is under way, so a storm of
 * traps costs nothing.
 */
void elect_look_at(struct sm *sm, struct port *p);
/* Asks a port with IsSM set for SMInfo; discovery waits for it, unless the port never answers. */
void elect_ask(struct sm *sm, struct port *p);
/* elect_ask() for all ports with IsSM set. */
void elect_ask_all(struct sm *sm);
/* Answers Get and Set of SMInfo, from any sender. */
void elect_answer(struct sm *sm, const struct transport_addr *from, const uint8_t *mad);
/* At the end of the process: hands over to the greatest STANDBY by one SMP; waits for nothing. */
void elect_good_bye(struct sm *sm);
void elect_tick(struct sm *sm);
mono_t elect_next(const struct sm *sm);

/* ---- what others may know ---- */

/*
 * The manager that is polled: as STANDBY the master, as MASTER another master that has to hand over
 * first; 0: none.
 */
guid_t elect_polled(const struct sm *sm);
/*
 * Was, or is, another master at work beside us? elect_rival_dealt_with() ends that, once all that
 * it may have written is doubted.
 */
bool elect_rival_seen(const struct sm *sm);
/* MASTER: there are signs of another master; the caller wants a heavy sweep, which finds it. */
void elect_met_rival(struct sm *sm);
void elect_rival_dealt_with(struct sm *sm);
/* Was another manager master since the start of this process? Did we hand over at its end? */
bool elect_others_ruled(const struct sm *sm);
bool elect_handed_over(const struct sm *sm);
/* Is this port GUID in allowed_sm_guids? */
bool elect_is_listed(const struct sm *sm, guid_t port_guid);
/* May a manager on this port be master: is it in allowed_sm_guids, or is that list empty? */
bool elect_is_allowed(const struct sm *sm, guid_t port_guid);
/*
 * As MASTER: another trusted manager that said MASTER last; 0: none. `steps_down`: only one that is
 * expected to hand over, not one that failed to.
 */
guid_t elect_rival(const struct sm *sm, bool steps_down);
/* Is a trusted manager known on this end port? */
bool elect_is_manager(const struct sm *sm, guid_t port_guid);
/*
 * Has the manager on this end port proved that it knows our sm_key, which is a secret? Keys are
 * sent to no other. False also if sm_key is 0 or well known.
 */
bool elect_has_proved(const struct sm *sm, guid_t port_guid);
/* Fills in trusted managers, ourselves first. Returns their number, <= MAX_REMOTE_SMS + 1. */
unsigned elect_managers(const struct sm *sm, struct view_sm *ret);
/*
 * The n-th other manager (from 0) that may take over later: known and trusted, though a question to
 * it may be under way. 0: there are no more.
 */
guid_t elect_successor_at(const struct sm *sm, unsigned n);
/* Fills in all of elect_successor_at(), and MASTERs. Returns their number, <= MAX_REMOTE_SMS. */
unsigned elect_successors(const struct sm *sm, guid_t *ret);
/* The LID of the master in our own port's PortInfo, as last polled; 0: not known. */
lid_t elect_master_lid(const struct sm *sm, uint8_t *ret_sl);
/*
 * The n-th other manager (from 0) in sight: trusted, not NOT-ACTIVE, and it has answered the last
 * question, or is being asked and answered the one before. 0: there are no more.
 */
guid_t elect_in_sight(const struct sm *sm, unsigned n);
/* Called when reading has settled: raises SM_EVENT_MANAGER for changes of managers. */
void elect_tell_managers(struct sm *sm);
