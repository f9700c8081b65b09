// SPDX-License-Identifier: BSD-2-Clause
/*
 * A key for trusted requests that is drawn at random when the manager starts, for configurations
 * that ask for one (conf_draws_sa_key()). It is in no file, log or message; root sees it through
 * the control socket.
 */
#pragma once

#include "sm/sm_internal.h"

/* At the start of the manager, once its SA is there. */
void drawn_key_new(struct sm *sm);
void drawn_key_free(struct sm *sm);
