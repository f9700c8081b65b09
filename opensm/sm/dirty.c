// SPDX-License-Identifier: BSD-2-Clause
/*
 * Changes whose place is known.
 */
#include "sm/impl.h"

void dirty_switch(struct sm *sm, struct node *n, const char *why)
{
	sweep_want(sm, SWEEP_HEAVY, why);
}

void dirty_port(struct sm *sm, struct port *p, const char *why)
{
	sweep_want(sm, SWEEP_HEAVY, why);
}
