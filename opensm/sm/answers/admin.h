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

struct admin;

void admin_new(struct sm *sm, const struct sm_paths *paths);
void admin_free(struct sm *sm);
/* A MAD of class SA, or one of ours that came back. */
void admin_receive(struct sm *sm, struct transport_event *ev);
/*
 * Before the first view: takes in what was registered with the process before this one, unless a
 * standby's copy was taken (`copied`).
 */
void admin_restore(struct sm *sm, bool copied);
/* A new view, made from the fabric as it is now. */
void admin_publish(struct sm *sm);
/*
 * P_Keys of these end ports are planned otherwise since the last view: hosts are answered by that
 * from now on, at the cost of these ports. `partitions`: partitions came, went, or have other
 * fields.
 */
void admin_publish_pkeys(struct sm *sm, const guid_t *guids, size_t n, bool partitions);
/* The view published last; NULL: hosts are not answered. */
const struct view *admin_view(const struct sm *sm);
/*
 * We are about to hand over: what came into service, or went, since the last view is reported now.
 * One report per subscriber leaves at once; a master after us tells of every port in its first view
 * anyway.
 */
void admin_last_words(struct sm *sm);
/* The same before long, between sweeps: names changed, and nothing that sweeps look at. */
void admin_publish_soon(struct sm *sm);
/* As MASTER hosts register anew; else no request is answered. */
void admin_state_changed(struct sm *sm);
/* The registry of hosts, as ports remember it (port.registered). */
uint32_t admin_registry(const struct sm *sm);
/* The database goes to its file, if it changed; `final`: nothing will be registered after this. */
void admin_save(struct sm *sm, bool final);
/* Requests that wait for the first view. */
unsigned admin_waiting(const struct sm *sm);
/* The database is on its way to its file; the last time that failed. */
bool admin_saves(const struct sm *sm);
bool admin_save_failed(const struct sm *sm);
void admin_tick(struct sm *sm);
/* 0: there is more to do at once. */
mono_t admin_next(const struct sm *sm);
