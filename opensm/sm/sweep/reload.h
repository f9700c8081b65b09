// SPDX-License-Identifier: BSD-2-Clause
/*
 * The configuration of a running manager, and the files it names.
 *
 *   IN FORCE --SIGHUP while a sweep runs--> WAITING --the sweep ends--> IN FORCE
 */
#pragma once

#include "mad/mad.h"
#include "sm/sm.h"

/*
 * Returns the configuration in force for `own`, this manager's: `own` with the options copied from
 * a master below it (share.h), as one reference. reload_new() puts it in force.
 */
typedef struct conf *reload_layered_fn(struct sm *sm, const struct conf *own);
void reload_new(struct sm *sm, const struct conf *own, reload_layered_fn *layered);
/* Between two sweeps: puts a configuration in force that SIGHUP asked for. */
void reload_take(struct sm *sm);
/* At the start of a heavy sweep: reads changed files again, and logs the changes. */
void reload_files(struct sm *sm);
/* Called when the configuration of a master was stored. */
void reload_copied(struct sm *sm);
/* Did the last SIGHUP find a fault, so that the configuration of before stays? */
bool reload_is_held(const struct sm *sm);
void reload_free(struct sm *sm);
/* The settings of the MAD layer that a configuration gives. */
struct mad_params sm_mad_params(const struct conf *c);
