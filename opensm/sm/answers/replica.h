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

/* Questions of a replica that machines above it answer. */
struct replica_questions {
	/* Does this standby have all rows of the ledger that a master must have? */
	bool (*has_rows)(const struct sm *sm, guid_t guid);
	/* Does this standby have a copy of our configuration? */
	bool (*has_rest)(const struct sm *sm, guid_t guid);
	/* Has this manager rows of keys that may be sent to a standby? */
	bool (*has_keys)(const struct sm *sm);
};

/* `questions` must stay valid until replica_free(). */
void replica_new(struct sm *sm, const struct replica_questions *questions);
void replica_free(struct sm *sm);
/*
 * Called after every change of state. In STANDBY the master is elect_polled(), which may change
 * without a change of our state.
 */
void replica_state_changed(struct sm *sm);
/*
 * Takes a GMP of class SA that is no request to our SA. True: it belonged to the replica, and is
 * done with.
 */
bool replica_receive(struct sm *sm, struct transport_event *ev);
void replica_tick(struct sm *sm);
mono_t replica_next(const struct sm *sm);
/*
 * Restores, before the first view of a new master, what was copied from the old one. False: there
 * is no whole copy.
 */
bool replica_restore(struct sm *sm);
/* The time at which the copy in hand was asked for; MONO_NEVER: there is no copy. */
mono_t replica_copied_at(const struct sm *sm);
/* In STANDBY: does the master's SA know us as a manager of its kind, so that its copy is whole? */
bool replica_master_is_ours(const struct sm *sm);
/*
 * In DISCOVERING, when the neighbouring node is locked by an unknown M_Key: asks the master that
 * our own port names for its keys, which arrive over the channel. Returns the reason why it cannot
 * be asked; NULL: it is asked.
 */
const char *replica_seek_keys(struct sm *sm);
/* In STANDBY: does the master report every change to us? Its Notices reach standby_notice(). */
bool replica_is_subscribed(const struct sm *sm);
/*
 * As MASTER: may this greater manager have the fabric now? A standby of ours first gets a moment to
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
/* A hook of the SA (struct sa_hooks): a manager of ours has registered with it. */
void replica_manager_seen(void *sm, guid_t port_guid, const uint8_t *record);
/*
 * The group of settings that an option belongs to, 1..SMC_DIGESTS; 0: managers may differ in this
 * option.
 */
unsigned config_group_of(enum conf_id id);
