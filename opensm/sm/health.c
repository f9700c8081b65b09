// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links that come and go, and ports that complain too much.
 */
#include "sm/impl.h"

void health_new(struct sm *sm)
{
}

void health_free(struct sm *sm)
{
}

void health_link_seen(struct sm *sm, struct port *p, unsigned before)
{
}

void health_complaint(struct sm *sm, struct port *p, unsigned trap)
{
}

void health_forget(struct sm *sm, struct node *n)
{
}

void health_tick(struct sm *sm)
{
}

mono_t health_next(const struct sm *sm)
{
	return MONO_NEVER;
}

unsigned health_left_out(const struct sm *sm, char *ret, size_t cap)
{
	if (cap)
		ret[0] = '\0';
	return 0;
}
