// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cables of the fabric, for a standby that has the seed of M_Keys and has seen no port yet: the
 * key of a port is made of its GUID, and at level 2 a port tells that to none without the key.
 *
 * A list of (GUID, port, GUID, port), as in the file neighbors, over the stream CHANNEL_CABLES.
 */
#pragma once

#include "sm/sm.h"

/* As MASTER; the caller frees. */
uint8_t *key_cables_pack(const struct sm *sm, size_t *ret_len);
/* Messages of the channel are taken in; as long as this manager is DISCOVERING. */
void key_cables_listen(struct sm *sm);
