// SPDX-License-Identifier: BSD-2-Clause
/*
 * Marks of secret options, by which managers of ours tell each other whether their keys are equal:
 * HMAC-SHA-256 under sm_key, which all of them have. Programs with sa_key see marks, too: these
 * neither find a key by them nor prove a guess, as long as they do not know sm_key.
 */
#pragma once

#include "conf/conf.h"

/*
 * The mark of a secret option; 0: none, as for sm_key itself, and while sm_key is 0 or 1 (well
 * known).
 */
uint64_t key_mark(const struct conf *c, enum conf_id id);
/* The first 16 bits of key_mark(), for a configuration that is sent (copied_mark_fn). */
uint16_t key_mark_short(const struct conf *c, enum conf_id id);
