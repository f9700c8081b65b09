// SPDX-License-Identifier: BSD-2-Clause
/*
 * A standby as a client of the master's SA.
 */
#include "sm/impl.h"

void replica_new(struct sm *sm)
{
}

void replica_free(struct sm *sm)
{
}

void replica_state_changed(struct sm *sm)
{
}

bool replica_receive(struct sm *sm, struct transport_event *ev)
{
	return false;
}

void replica_tick(struct sm *sm)
{
}

mono_t replica_next(const struct sm *sm)
{
	return MONO_NEVER;
}

bool replica_restore(struct sm *sm)
{
	return false;
}
