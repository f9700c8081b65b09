// SPDX-License-Identifier: BSD-2-Clause
/*
 * The configuration of a running manager, and the files it names.
 *
 *   IN FORCE --SIGHUP while a sweep runs--> WAITING --the sweep ends--> IN FORCE
 */
#pragma once

#include "mad/mad.h"
#include "sm/sm.h"

struct reload;

/*
 * `layered`: what is in force with an own configuration, one reference: with what a master had
 * below it (share.h). `own` is in force now, with that.
 */
typedef struct conf *reload_layered_fn(struct sm *sm, const struct conf *own);
void reload_new(struct sm *sm, const struct conf *own, reload_layered_fn *layered);
/* Between two sweeps: what SIGHUP left for now comes into force. */
void reload_take(struct sm *sm);
/* At the start of a heavy sweep: files that changed on the disk are read again, and told. */
void reload_files(struct sm *sm);
/* The configuration of a master was stored. */
void reload_copied(struct sm *sm);
void reload_free(struct sm *sm);
/* The options of a configuration that concern MADs. */
struct mad_params sm_mad_params(const struct conf *c);
