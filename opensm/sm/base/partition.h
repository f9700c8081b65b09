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

struct pkey_trial;

void partition_new(struct sm *sm, const struct sm_paths *paths);
void partition_free(struct sm *sm);
/* Called when another file was read: the next sweep puts it in force. */
void partition_file_came(struct sm *sm);
bool partition_has_news(const struct sm *sm);
/* Puts the partitions of sm->files in force, if possible. False: this sweep cannot go on. */
bool partition_load(struct sm *sm);
void partition_bequeath(const struct sm *sm, struct sm_heritage *ret);
void partition_inherit(struct sm *sm, const struct sm_heritage *h);
/* Plans the P_Key tables of the known ports; sm_pkeys() returns the plan. */
void partition_plan(struct sm *sm);
/* The P_Key plan in force; NULL: tables stay as they are. */
const struct pkey_plan *partition_wanted(const struct sm *sm);

/*
 * ---- partitions at run time (tenants/tenancy.c) ----
 *
 * The table of tenants is here because P_Key tables are planned from it; tenancy*.c alone change
 * it. While it is held, P_Keys of tenants stay where they are on devices.
 */

/* The partitions of the file alone; NULL where sm_partitions() is. */
const struct partitions *partition_of_file(const struct sm *sm);
/*
 * The `i`th newest partitions of the file that were in force earlier, while tenants are held: this
 * manager may have written them. NULL: no more.
 */
const struct partitions *partition_of_former_file(const struct sm *sm, size_t i);
/* The table of tenants; never NULL. */
struct tenants *partition_tenants(const struct sm *sm);
/* Makes sm_partitions() anew after partitions of the table of tenants have changed. */
void partition_join(struct sm *sm);
enum tenants_held {
	TENANTS_FREE,	/* devices get what the table says */
	TENANTS_TAKEN,	/* devices keep their P_Keys, except keys that are removed meanwhile */
	TENANTS_HELD,	/* devices keep their P_Keys as they were read */
	TENANTS_FROZEN, /* no P_Key table is written at all */
};
/* With TENANTS_TAKEN: was this membership removed meanwhile? */
typedef bool partition_removed_fn(const struct sm *sm, uint16_t pkey, guid_t guid);
/* Applies from the next plan on; TENANTS_FROZEN at once. */
void partition_hold_tenants(struct sm *sm, enum tenants_held held,
			    partition_removed_fn *is_removed);
/* Are P_Key tables planned, but not to be written before the next plan? */
bool partition_is_unwritten(const struct sm *sm);
/* Is the state other than TENANTS_FREE, or were the tables in force planned so? */
bool partition_is_held(const struct sm *sm);
/* False: P_Key tables stay as they are (partition_config_error keep), or are not planned yet. */
bool partition_is_planned(const struct sm *sm);
/* Plans one port anew within the plan. A port that is not in the plan waits for the next sweep. */
void partition_plan_port(struct sm *sm, const struct port *p);
/* Replaces the plan if it contains many ports that are gone. Not to be called while sync runs. */
void partition_tidy(struct sm *sm);
/* Fills in the keys that the port would get now; `ret` is to be cleared. */
void partition_try_port(const struct sm *sm, const struct port *p, struct pkey_trial *ret);
/* Fills in the keys of a host port known only by its GUID; `ret` is to be cleared. */
void partition_try_guid(const struct sm *sm, guid_t guid, struct pkey_trial *ret);
