// SPDX-License-Identifier: BSD-2-Clause
/*
 * The picture that a standby keeps warm.
 */
#include "sm/impl.h"

void standby_notice(struct sm *sm, const uint8_t *notice)
{
}
