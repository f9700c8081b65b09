// SPDX-License-Identifier: BSD-2-Clause
/* What Set, Delete and Get of MCMemberRecord share: mcmember.c and mcquery.c. */
#pragma once

#include "sa/impl.h"
#include "sa/mgroup.h"

/* MTU and rate that a request names must be real, whatever the selectors (sa.md 6.1, step 1). */
uint16_t mcm_check_values(uint64_t mask, const uint8_t *asked);
/* Is the group's MTU and rate as the selectors say? (Step 8.) */
bool mcm_selectors_hold(uint64_t mask, const uint8_t *asked, const uint8_t *group);
/*
 * The interface id of a PortGID of this subnet; fe80::/64 counts as its prefix. False: the prefix is
 * another one.
 */
bool mcm_port_id(const struct view *v, const uint8_t *asked, guid_t *ret_id);

/* mcquery.c */
uint16_t mcquery_check(const struct sa_query *q);
enum sa_step mcquery_next(struct sa_query *q, uint8_t *ret);
