// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions: what the file said when it was read last (reload.c) is put in force, the last good
 * one is kept and saved, and P_Key tables are planned from it.
 *
 *   file good -> in force, saved as partitions.good
 *   file bad  -> what is in force stays; at a first start partitions.good; without one
 *                partition_config_error decides: default (all ports limited), keep (tables stay as
 *                they are), refuse (nothing is set up)
 *   no file, or nothing in it
 *             -> at a start: one open partition. Once there was a file, good or bad, things stay as
 *                they are, so that an editor that replaces the file does not open the fabric for a
 *                moment. If partition_config_file names another file than the default, that it is
 *                missing at a start is as if it were bad.
 */
#pragma once

#include "sm/sm.h"

struct partitioning;
struct pkey_trial;

void partition_new(struct sm *sm, const struct sm_paths *paths);
void partition_free(struct sm *sm);
/* Another file was read: the next sweep puts it in force. */
void partition_file_came(struct sm *sm);
bool partition_has_news(const struct sm *sm);
/* Partitions as sm->files say are put in force, if they can be. False: this sweep cannot go on. */
bool partition_load(struct sm *sm);
void partition_bequeath(const struct sm *sm, struct sm_heritage *ret);
void partition_inherit(struct sm *sm, const struct sm_heritage *h);
/* P_Key tables for the ports as known now: sm_pkeys(). */
void partition_plan(struct sm *sm);
/* As planned last; NULL: tables stay as they are. */
const struct pkey_plan *partition_wanted(const struct sm *sm);

/*
 * ---- partitions at run time (tenants/tenancy.c) ----
 *
 * The table of tenants is here because P_Key tables are planned from it; tenancy*.c alone change
 * it. While it is held, P_Keys of tenants stay where they are on devices.
 */

/* The partitions of the file alone; NULL as sm_partitions(). */
const struct partitions *partition_of_file(const struct sm *sm);
/*
 * The `i`th that was in force earlier since tenants are held: this manager may have written what it
 * says. The newest is 0; NULL: no more.
 */
const struct partitions *partition_of_former_file(const struct sm *sm, size_t i);
/* Never NULL. */
struct tenants *partition_tenants(const struct sm *sm);
/* Partitions of the table came, went, or have other fields: sm_partitions() is made anew. */
void partition_join(struct sm *sm);
enum tenants_held {
	TENANTS_FREE,  /* devices get what the table says */
	TENANTS_TAKEN, /* devices keep what they hold, but for keys that are removed meanwhile */
	TENANTS_HELD,  /* devices keep what they hold, as it was read */
	TENANTS_FROZEN, /* no P_Key table is written at all */
};
/* Was the port's membership removed meanwhile? Of TENANTS_TAKEN. */
typedef bool partition_removed_fn(const struct sm *sm, uint16_t pkey, guid_t guid);
/* From the next plan on; TENANTS_FROZEN: at once. */
void partition_hold_tenants(struct sm *sm, enum tenants_held held,
			    partition_removed_fn *is_removed);
/* P_Key tables are planned, but nothing is written before the next plan is made. */
bool partition_is_unwritten(const struct sm *sm);
/* Anything but TENANTS_FREE, or the tables in force were planned so. */
bool partition_is_held(const struct sm *sm);
/* False: tables stay as they are (partition_config_error keep), or are not planned yet. */
bool partition_is_planned(const struct sm *sm);
/*
 * One port is planned anew, within the plan. One that is not in the plan waits for the next sweep.
 */
void partition_plan_port(struct sm *sm, const struct port *p);
/* The plan is replaced, if it holds much that no port has any more. Not while sync runs. */
void partition_tidy(struct sm *sm);
/* The keys of a port under that trial; to be cleared. */
void partition_try_port(const struct sm *sm, const struct port *p, struct pkey_trial *ret);
/* The keys of a port of a host of which nothing but its GUID is known; to be cleared. */
void partition_try_guid(const struct sm *sm, guid_t guid, struct pkey_trial *ret);
