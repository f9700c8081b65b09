// SPDX-License-Identifier: BSD-2-Clause
/*
 * A standby as a client of the master's SA: what is registered there, and how the master is
 * configured.
 *
 *   REST --time, or a Report--> where is the master's SA? --> configuration --> tables --> reports
 *     ^                                                                          --> own record --.
 *     \--- the next step was not answered: again later, the last whole copy is kept --------------'
 */
#pragma once

#include "opensm/transport.h"
#include "sm/sm.h"

struct replica;

/* Questions of a replica that machines above answer. */
struct replica_questions {
	/* Does this standby have all rows of the ledger that a master must have? */
	bool (*has_rows)(const struct sm *sm, guid_t guid);
	/* Our configuration? */
	bool (*has_rest)(const struct sm *sm, guid_t guid);
	/* Are there keys of absent ports that it needs? */
	bool (*has_keys)(const struct sm *sm);
};

/* `questions` outlive it. */
void replica_new(struct sm *sm, const struct replica_questions *questions);
void replica_free(struct sm *sm);
/*
 * After every change of state. In STANDBY elect_polled() is the master; it may change while we
 * stand by.
 */
void replica_state_changed(struct sm *sm);
/*
 * A GMP of class SA arrived that is no request to us. True: it was for the replica, and is done
 * with.
 */
bool replica_receive(struct sm *sm, struct transport_event *ev);
void replica_tick(struct sm *sm);
mono_t replica_next(const struct sm *sm);
/*
 * Taking over, before the first view: what the master knew becomes ours. False: nothing (whole)
 * was known.
 */
bool replica_restore(struct sm *sm);
/* When the copy was asked for that we would take over with; MONO_NEVER: there is none. */
mono_t replica_copied_at(const struct sm *sm);
/* In STANDBY: the master's SA knows us as a manager of its kind, so that its copy is whole. */
bool replica_master_is_ours(const struct sm *sm);
/*
 * In DISCOVERING, when the node next to us is locked: the master that our own port names is asked
 * for its keys, which come over the channel. Returns what is in the way of that, in words; NULL:
 * it is asked.
 */
const char *replica_seek_keys(struct sm *sm);
/* In STANDBY: the master tells us of every change (its Notices reach standby_notice()). */
bool replica_is_subscribed(const struct sm *sm);
/*
 * As MASTER: may this greater one have the fabric now? One of ours that stands by gets a moment to
 * copy what is registered here; elect_tick() decides again when that is over.
 */
bool replica_may_succeed(const struct sm *sm, guid_t guid);
/* A standby has stored what is stored here: if it waits for the fabric, it is looked at again. */
void replica_look_at_successor(struct sm *sm);
/*
 * As MASTER: does this request to our SA prove that the manager on port `asker` sent it, and knows
 * sm_key and sa_key? (struct sa_hooks)
 */
bool replica_knows_keys(const struct sm *sm, guid_t asker, const uint8_t *mad);
/* One of them has registered with our SA: struct sa_hooks. */
void replica_manager_seen(void *sm, guid_t port_guid, const uint8_t *record);
/* The group of settings that an option belongs to; 0: it may differ. Else 1..SMC_DIGESTS. */
unsigned config_group_of(enum conf_id id);
