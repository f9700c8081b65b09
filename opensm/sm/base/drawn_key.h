// SPDX-License-Identifier: BSD-2-Clause
/*
 * A key for trusted requests that is drawn at random when the manager starts, for configurations
 * that ask for one (conf_draws_sa_key()). It is in no file, log or message; root sees it through
 * the control socket. And an SM_Key that is drawn once and kept in a file (randomize_sm_key).
 */
#pragma once

#include "sm/sm_internal.h"

/*
 * `len` random bytes, 1 to 256: the kernel's, and in tests those of hooks.draw. False: there are
 * none.
 */
bool sm_draw(const struct sm *sm, void *ret, size_t len);

/* At the start of the manager, once its SA is there. */
void drawn_key_new(struct sm *sm, const struct sm_paths *paths);
void drawn_key_free(struct sm *sm);
/* The SM_Key: of the configuration, or the random one in CACHE/sm_key (randomize_sm_key). */
uint64_t sm_sm_key(const struct sm *sm);
