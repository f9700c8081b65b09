// SPDX-License-Identifier: BSD-2-Clause
/*
 * A fabric under construction by a generator: switches, hosts per switch, cables between switches.
 */
#pragma once

#include "sim/netfile/netfile.h"

#define DRAFT_MAX_SWITCHES 65536u

struct draft;

struct draft *draft_new(void);
/* Adds "<name><number>". Returns its index: 0, 1 ... */
unsigned draft_switch(struct draft *d, const char *name, unsigned number);
void draft_hosts(struct draft *d, unsigned sw, unsigned hosts);
void draft_link(struct draft *d, unsigned a, unsigned b);
/*
 * Ends the draft. Hosts get the first ports of their switch, cables the next ones in the order of
 * their calls. NULL: no switch at all, or one needs more than 254 ports.
 */
struct netfile *draft_finish(struct draft *d);
