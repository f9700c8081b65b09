// SPDX-License-Identifier: BSD-2-Clause
/*
 * The configuration goes from the master to its standbys, so that a failover does not change the
 * fabric: options of the groups of replica_config.c, and the files that options name. Keys do not:
 * of each there is a mark that tells whether it differs.
 *
 *   master    sm->conf, sm->files --changed--> one text (conf/copied/) --> a row of the ledger
 *   standby   the row --> CACHE/from-master/ (job) --> between defaults and own file --> sm->conf
 *
 * What is in force, `sm->conf`, is made of the own configuration (defaults, file, command line) and
 * the copy wherever either changes: share_layered(). The copy is kept on the disk, and counts after
 * a restart, until another one comes. It is not used where it is damaged.
 *
 * Each standby says in a row of its own what came of it, and in what it differs, for people
 * (`opensmctl managers --diff`).
 */
#pragma once

#include "sm/ledger/settle.h"
#include "sm/sm.h"

/*
 * Called before all other machines are made: sm->conf becomes `own` with the stored copy. Takes
 * references.
 */
void share_new(struct sm *sm, const struct conf *own, const struct sm_paths *paths);
void share_free(struct sm *sm);
/* Sets `own` from now on. Returns the configuration in force with it, one reference. */
struct conf *share_layered(struct sm *sm, const struct conf *own);
/* The configuration last given to share_layered(). */
const struct conf *share_own(const struct sm *sm);
/* settle_changed_fn of its rows. */
void share_take_rows(struct sm *sm, const struct ledger_key *keys, size_t n);
/*
 * As MASTER: has this standby our configuration, or will it never have it? Only then, or after the
 * time limit of a successor, the fabric is handed over to it.
 */
bool share_is_with(const struct sm *sm, guid_t guid);
void share_state_changed(struct sm *sm);
/* Called when another sm->conf came into force in place of `before`. */
void share_reconfigured(struct sm *sm, const struct conf *before);
void share_tick(struct sm *sm);
mono_t share_next(const struct sm *sm);
