// SPDX-License-Identifier: BSD-2-Clause
/*
 * Subnet administration in the manager: MADs go in, views are published, what hosts register
 * reaches the fabric.
 *
 *   NO VIEW (requests of the last second wait) --admin_publish()--> VIEW (requests are answered)
 *      ^                                                             |
 *      '------------------- not the master any more ------------------'
 */
#pragma once

#include "opensm/transport.h"
#include "sm/sm.h"

void admin_new(struct sm *sm, const struct sm_paths *paths);
void admin_free(struct sm *sm);
/* Takes a MAD of class SA that arrived, or a MAD of ours that the transport returned unanswered. */
void admin_receive(struct sm *sm, struct transport_event *ev);
/*
 * Loads, before the first view, the registrations that the previous process saved, unless a
 * standby's copy was taken (`copied`).
 */
void admin_restore(struct sm *sm, bool copied);
/* Publishes a new view, made from the fabric as it is now. */
void admin_publish(struct sm *sm);
/*
 * Publishes the newly planned P_Keys of `n` end ports without a new view of the whole fabric.
 * `partitions`: partitions were added or removed, too, or have other fields.
 */
void admin_publish_pkeys(struct sm *sm, const guid_t *guids, size_t n, bool partitions);
/* The view published last; NULL: requests of hosts are not answered yet. */
const struct view *admin_view(const struct sm *sm);
/*
 * Called before a handover: reports the ports that came into service or left it since the last
 * view. One report per subscriber is sent at once; the next master reports every port in its first
 * view anyway.
 */
void admin_last_words(struct sm *sm);
/* Publishes a view before long, between sweeps, for changes of names alone. */
void admin_publish_soon(struct sm *sm);
/* Called after each change of state: as MASTER hosts register anew; else no request is answered. */
void admin_state_changed(struct sm *sm);
/* The number of the SA's registry (port.registered); a new one each time we become master. */
uint32_t admin_registry(const struct sm *sm);
/*
 * Writes the SA database to its file if it has changed; `final`: nothing is registered after this.
 */
void admin_save(struct sm *sm, bool final);
/* The number of requests that wait for the first view. */
unsigned admin_waiting(const struct sm *sm);
/* Is the database being written to its file? Did the last write fail? */
bool admin_saves(const struct sm *sm);
bool admin_save_failed(const struct sm *sm);
void admin_tick(struct sm *sm);
/* The time of the next admin_tick(); 0: at once. */
mono_t admin_next(const struct sm *sm);
