// SPDX-License-Identifier: BSD-2-Clause
/*
 * In SMInfo managers of ours tell each other in which epoch the M_Keys of single ports are.
 *
 * Where two parts of a subnet grow together whose managers both rotated keys meanwhile, the one in
 * the earlier epoch cannot read a switch of the other part, nor find the other manager. That one
 * can: keys of former epochs are known to it. Its question brings the epoch.
 *
 * An epoch is a count, and no secret. Which seed it is of is said by a mark, which only managers
 * with the same sm_key can compare.
 */
#pragma once

#include "sm/sm_internal.h"

/* Writes the epoch into SMInfo, in front of its proof; writes nothing without a seed. */
void key_epoch_put(const struct sm *sm, uint8_t info[SMP_DATA_SIZE]);
/*
 * Takes an SMInfo that another manager has proved. True: its epoch of a seed known here is later
 * than ours, and is used from now on.
 */
bool key_epoch_told(struct sm *sm, const uint8_t *info);
